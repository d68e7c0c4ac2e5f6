"""Change the library in small ways, one at a time and in memory only, and count the changes that no test notices.

The sample is drawn by a seed, from every room and for every kind of change. A run goes on where the last one
ended; what it found is in ``results/mutants.json``, and survivors that change no result are in ``mutants.toml``.
"""

import argparse
import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import mutant_runs as runs
from mutant_runs import LIBRARY, ROOT, digest
from mutant_sites import Mutant, chance, mutants, mutated

ROOMS = ["privacy", "central", "learners", "local", "margins", "svm", "compat"]
RECORD = ROOT / "results" / "mutants.json"
EXCUSED = Path(__file__).with_suffix(".toml")
TRACES = ROOT / "_build" / "mutants"
NOT_TRACED = {"pages", "tools", "benchmarks", "datasets"}  # they run nothing of the rooms
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "opendp", "hypothesis", "pytest")
FIELDS = (
    "file", "function", "operator", "before", "after", "nth",
    "outcome", "by", "seconds", "module", "tests", "class", "reason",
)  # fmt: skip
CLASSES = ("equivalent", "message", "limit", "looser")  # of survivors that change no result
GONE = 0.25  # of the mutants that are to be killed again: with more, the record is too old to say anything
Row = dict[str, Any]


def main() -> int:
    """Draw the sample, run what is not yet known, and print the score."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS, metavar="ROOM")
    parser.add_argument(
        "--sample", type=int, default=120, metavar="N", help="mutants of each room (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="run at a time (%(default)s)")
    parser.add_argument(
        "--tests", nargs="+", metavar="FOLDER", help="only these folders of tests, and 'ledger'"
    )
    parser.add_argument(
        "--most", type=float, default=math.inf, metavar="SECONDS",
        help="of tests for each mutant, the quickest; what lives is run again without this limit",
    )  # fmt: skip
    parser.add_argument(
        "--again", type=int, metavar="N", help="only see that N recorded mutants are still killed"
    )
    parser.add_argument(
        "--score", action="store_true", help="run nothing: print the score, with the reasons as they are"
    )
    parser.add_argument(
        "--record", type=Path, default=RECORD, metavar="FILE", help="where it is, and goes on"
    )
    args = parser.parse_args()
    if args.score:
        rows = read(args.record)
        write(args.record, rows, json.loads(args.record.read_text()))
        print(summary(rows))
        return 0
    if args.again:
        return again(read(args.record), args.again, args.seed, args.jobs)
    everything = {m.key: m for room in ROOMS for m in population(room)}
    counts = Counter(mutant.room for mutant in everything.values())
    head = {
        "seed": args.seed,
        "sample of each room": args.sample,
        "mutants in all": dict(counts),
    } | provenance()
    known = read(args.record)
    rows = {key: row for key, row in known.items() if row["file"].partition("/")[0] not in args.rooms}
    traces = traced(args.tests, args.jobs)
    runs.warm(sorted({name for trace in traces.values() for name in trace["modules"]}))
    sample = [m for m in drawn(everything.values(), args.sample, args.seed) if m.room in args.rooms]
    sample.sort(key=lambda mutant: args.rooms.index(mutant.room))
    due, reasons = [], excused()
    for mutant in sample:
        row = known.get(mutant.key, {"by": ""})
        tests = covering(mutant, traces)
        tests = {name: own for name, own in tests.items() if name == row["by"]} | quickest(tests, args.most)
        state = {"module": digest(LIBRARY / mutant.file), "tests": digest_of(tests)}
        if "outcome" in row:
            rows[mutant.key] = row | {"seconds": tests.get(row["by"], 0.0)}  # until it has run again
        same = row.get("module") == state["module"]
        argued = mutant.key in reasons  # whatever the tests are
        if not same or (row["outcome"] == "survived" and row["tests"] != state["tests"] and not argued):
            due.append((mutant, tests, state, row["by"]))
    control(traces)
    print(f"{len(everything)} mutants, {len(sample)} drawn, {len(due)} to run", flush=True)
    for (mutant, tests, state), status, result in runs.each(tasks(due), args.jobs):
        outcome, by = judged(status, result)
        row = {**mutant._asdict(), "outcome": outcome, "by": by, "seconds": tests.get(by, 0.0), **state}
        print(f"{outcome:9} {mutant.key[:200]!r} {by}", flush=True)
        if outcome != "error":
            rows[mutant.key] = row
            write(args.record, rows, head)
    write(args.record, rows, head)
    print(summary(rows))
    return 0


def population(room: str) -> list[Mutant]:
    """List every mutant of a room."""
    files = sorted((LIBRARY / room).rglob("*.py"))
    return [m for file in files for m in mutants(file.relative_to(LIBRARY).as_posix(), file.read_text())]


def drawn(everything: Iterable[Mutant], size: int, seed: int) -> list[Mutant]:
    """Draw some of each room: in proportion to the operators, and every operator at least once."""
    strata: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in sorted(everything, key=lambda mutant: chance(f"{seed} {mutant.key}")):
        strata.setdefault((mutant.room, mutant.operator), []).append(mutant)
    ranked: dict[str, list[tuple[float, Mutant]]] = {}
    for (room, _), members in strata.items():
        ranked.setdefault(room, []).extend((at / len(members), m) for at, m in enumerate(members))
    return [m for members in ranked.values() for _, m in sorted(members, key=lambda pair: pair[0])[:size]]


def traced(folders: list[str] | None, jobs: int) -> dict[str, Any]:
    """Return, for each file of tests, which statements its tests run; trace those that changed since."""
    paths = sorted(p for p in (ROOT / "tests").rglob("test_*.py") if _folder(p) not in NOT_TRACED)
    paths = [p for p in [*paths, Path(__file__).with_name("ledger_verdicts.py")] if _wanted(p, folders)]
    TRACES.mkdir(parents=True, exist_ok=True)
    found, due = {}, []
    for path in paths:
        name = str(path.relative_to(ROOT))
        kept = TRACES / f"{name.replace('/', '-')}.json"
        trace = json.loads(kept.read_text()) if kept.exists() else {}
        if trace.get("own") == _own(path):
            found[name] = trace
        else:
            due.append(((name, kept, _own(path)), runs.trace(path, ROOMS)))
    runs.warm(
        ["torch", "hypothesis.extra.numpy", "sklearn.linear_model", "pandas", "scipy.stats", "opendp.mod"]
    )
    for (name, kept, own), _, trace in runs.each(iter(due), jobs):
        if isinstance(trace, str):
            print(f"{name} cannot be traced:\n{trace}")
        else:
            print(f"traced {name}: {len(trace['tests'])} tests, failed: {trace['failed']}", flush=True)
            found[name] = {"own": own, **trace}
            _write_whole(kept, json.dumps(found[name]))
    return found


def _wanted(path: Path, folders: list[str] | None) -> bool:
    return folders is None or ("ledger" if path.parent.name == "tools" else _folder(path)) in folders


def _folder(path: Path) -> str:
    """Return the folder in tests/ that a file of tests is in, however deep; "tests" if it is in none."""
    parts = path.relative_to(ROOT).parts
    return parts[1] if len(parts) > 2 else parts[0]


def _own(path: Path) -> str:
    helpers = sorted(file for file in path.parent.glob("*.py") if not file.name.startswith("test_"))
    return digest(path, *(helpers if path.parent.name != "tools" else []))


def covering(mutant: Mutant, traces: dict[str, Any]) -> runs.Tests:
    """Return the tests that run a mutant's statement, with their seconds.

    A statement that was edited since the tests were traced is run by those that run its function.
    """
    imports = _tests(mutant.file.__eq__, traces)
    if mutant.operator == "default":  # which the tests of the whole surface read, and run nothing
        surface = {name: own for name, own in imports.items() if name.startswith("tests/test_")}
        return _tests(mutant.place.__eq__, traces) | surface
    return (
        _tests(mutant.place.__eq__, traces)
        or _tests(lambda found: found.startswith(f"{mutant.file}:{mutant.function}:"), traces)
        or imports
    )


def _tests(wanted: Callable[[str], bool], traces: dict[str, Any]) -> runs.Tests:
    found = {}
    for trace in traces.values():
        numbers = {at for at, place in enumerate(trace["places"]) if wanted(place)}
        if numbers:
            shared = not numbers.isdisjoint(trace["shared"])
            for name, test in trace["tests"].items():
                if shared or not numbers.isdisjoint(test["places"]):
                    found[name] = test["seconds"]
    return found


def quickest(tests: runs.Tests, most: float) -> runs.Tests:
    """Return the quickest of the tests, as many as fit into some seconds."""
    ordered = dict(sorted(tests.items(), key=lambda pair: pair[1]))
    totals = accumulate(ordered.values())
    return {name: own for (name, own), total in zip(ordered.items(), totals, strict=True) if total <= most}


def digest_of(tests: runs.Tests) -> str:
    """Return a digest of tests and of the files that they are in."""
    files = sorted({ROOT / name.partition("::")[0] for name in tests})
    return digest(*files)[:8] + f"{int(chance(' '.join(sorted(tests))) * 2**32):08x}"


def control(traces: dict[str, Any]) -> None:
    """See that the library as it is passes a quick test of every file, run as a mutant is."""
    quick = [
        min((test["seconds"], name) for name, test in trace["tests"].items())
        for trace in traces.values()
        if trace["tests"]
    ]
    tests = {name: seconds for seconds, name in quick}
    text = (LIBRARY / "__init__.py").read_text()
    for _, _, result in runs.each(iter([("", runs.kill("__init__.py", text, [tests, tests]))]), 1):
        if result != {"by": ""}:
            raise RuntimeError(f"the unchanged library does not pass: {result}")


def tasks(due: list[tuple[Mutant, runs.Tests, Row, str]]) -> Iterator[tuple[Any, Any]]:
    """Make the task of each mutant: first what killed it before, then its own room's tests, then all others."""
    for mutant, tests, state, killer in due:
        text = mutated(mutant, (LIBRARY / mutant.file).read_text())
        own = {name: tests[name] for name in tests if name.startswith(f"tests/{mutant.room}/")}
        quick = dict(sorted(own.items(), key=lambda pair: pair[1])[:30])
        before = {killer: tests[killer]} if killer in tests else {}
        rest = [
            {n: s for n, s in tests.items() if n not in own and ("ledger" in n) == last} for last in (0, 1)
        ]
        batches = [before, quick, {n: s for n, s in own.items() if n not in quick}, *rest]
        yield (mutant, tests, state), runs.kill(mutant.file, str(text), [batch for batch in batches if batch])


def judged(status: int, result: Any) -> tuple[str, str]:
    """Return the outcome of a mutant, and what brought it about."""
    if os.WIFSIGNALED(status):
        late = os.WTERMSIG(status) == runs.signal.SIGXCPU
        return ("timeout", "") if late else ("killed", f"signal {os.WTERMSIG(status)}")
    if isinstance(result, str):
        return "error", result
    return ("killed", result["by"]) if result["by"] else ("survived", "")


def again(recorded: dict[str, Row], size: int, seed: int, jobs: int) -> int:
    """See that mutants of the record are still killed, each by the test that killed it, if that was quick."""
    known = {
        k: r for k, r in recorded.items() if r["outcome"] == "killed" and "::" in r["by"] and r["seconds"] < 1
    }
    chosen = sorted(known, key=lambda key: chance(f"{seed} again {key}"))[:size]
    due, gone = [], 0
    for key in chosen:
        row = known[key]
        mutant, path = Mutant(*(row[field] for field in Mutant._fields[:-1])), LIBRARY / row["file"]
        text = mutated(mutant, path.read_text()) if path.exists() else None
        if text is None:
            gone += 1
            continue
        tests = {row["by"]: row["seconds"]}
        due.append(((mutant, row["by"]), runs.kill(mutant.file, text, [tests], f"tests/{mutant.room}")))
    runs.warm(
        ["torch", "hypothesis.extra.numpy", "sklearn.linear_model", "pandas", "scipy.stats", "opendp.mod"]
    )
    living = []
    for (mutant, by), status, result in runs.each(iter(due), jobs):
        if judged(status, result)[0] in {"survived", "error"}:
            living.append(f"{mutant.key}\n  was killed by {by}")
    print(f"mutants: {len(due) - len(living)} of {len(due)} killed again, {gone} no longer in the code")
    for line in living:
        print(f"lives: {line}")
    stale = len(chosen) < size or gone > GONE * size
    if stale:
        print("Too few of them are recorded and in the code: record a new sample with `make mutants`.")
    return int(bool(living) or stale)


def read(record: Path) -> dict[str, Row]:
    """Return the recorded rows by their mutants' keys."""
    found = json.loads(record.read_text()) if record.exists() else {"columns": FIELDS, "rows": []}
    rows = [{"seconds": 0.0} | dict(zip(found["columns"], line, strict=True)) for line in found["rows"]]
    return {Mutant(*(row[field] for field in FIELDS[:6])).key: row for row in rows}


def provenance() -> Row:
    """Return the commit and the versions."""
    git = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"commit": git, "versions": {"python": platform.python_version(), **versions}}


def write(record: Path, rows: dict[str, Row], head: Row) -> None:
    """Record the rows, each survivor with its class and reason, in one step."""
    reasons = excused()
    for key, row in rows.items():
        named = reasons.get(key) if row["outcome"] == "survived" else None
        row["class"], row["reason"] = named or (row["outcome"], "")
    lines = [
        json.dumps([row[field] for field in FIELDS], ensure_ascii=False) for _, row in sorted(rows.items())
    ]
    top = {**head, "columns": FIELDS, "rows": []}
    body = ",\n".join(f"  {line}" for line in lines)
    _write_whole(record, json.dumps(top, indent=1)[:-4] + f"[\n{body}\n ]\n}}\n")


def _write_whole(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text)
    partial.replace(path)


def excused() -> dict[str, tuple[str, str]]:
    """Return the survivors that change no result: their class and the reason, by key."""
    entries = tomllib.loads(EXCUSED.read_text())["survivor"] if EXCUSED.exists() else []
    if wrong := [entry for entry in entries if entry["class"] not in CLASSES or not entry["reason"]]:
        raise ValueError(
            f"{EXCUSED.name}: found {wrong[0]}, expected a reason and a class of {', '.join(CLASSES)}"
        )
    return {entry["key"]: (entry["class"], entry["reason"]) for entry in entries}


def summary(rows: dict[str, Row]) -> str:
    """Count the classes by room, and list what survived without a reason."""
    counts = Counter((row["file"].partition("/")[0], row["class"]) for row in rows.values())
    lines = [f"{room:9} {name:10} {number}" for (room, name), number in sorted(counts.items())]
    return "\n".join([*lines, *(f"lives: {key}" for key, row in rows.items() if row["class"] == "survived")])


if __name__ == "__main__":
    sys.exit(main())
