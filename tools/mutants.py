"""Change the library in small ways, one at a time and in memory only, and count the changes that no test notices.

The sample is drawn by a seed, from every room and for every kind of change. A run resumes where the last one
ended; what it found is in ``results/mutants.json``, and survivors that change no result are in ``mutants.toml``.
"""

import argparse
import functools
import hashlib
import importlib.metadata
import json
import math
import platform
import re
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection
from itertools import accumulate
from pathlib import Path
from typing import Any

import mutant_runs as runs
from mutant_runs import LIBRARY, ROOT, Tests
from mutant_sites import Mutant, chance, mutants, mutated

from dpfair_lib._files import write_whole  # of no room that is changed

ROOMS = ["privacy", "central", "learners", "local", "margins", "preparation", "svm", "compatibility"]
NOT_TRACED = {"pages", "tools", "benchmarks", "datasets"}  # they run nothing of the rooms
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "opendp", "hypothesis", "pytest")
FIELDS = (*Mutant._fields, "outcome", "by", "seconds", "module", "tests", "class", "reason", "first", "seed")
TRACES = ROOT / "_build" / "mutants"
CLASSES = ("equivalent", "message", "limit", "looser")  # of survivors that change no result
GONE = 0.25  # of the mutants that are to be killed again: with more, the record is too old to say anything
Row = dict[str, Any]


def main() -> int:
    """Draw the sample, run what is not yet known, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    option = parser.add_argument
    option("--rooms", nargs="+", choices=ROOMS, default=ROOMS, metavar="ROOM")
    option("--sample", type=int, default=120, metavar="N", help="mutants of each room; 0 runs nothing")
    option("--each", type=int, metavar="N", help="instead: N mutants of each module that has fewer recorded")
    option("--lived", action="store_true", help="instead: those that lived, with other tests")
    option("--seed", type=int, default=2)
    option("--jobs", type=int, default=2, metavar="N", help="run at a time (%(default)s)")
    option("--modules", default="", metavar="REGEX", help="of --each or --lived, only such paths")
    option("--tests", nargs="+", metavar="NAME", help="only these folders or files of tests")
    option("--most", type=float, default=math.inf, metavar="SECONDS", help="of tests for each, the quickest")
    option("--again", type=int, metavar="N", help="only see that N recorded mutants are still killed")
    option("--record", type=Path, default=ROOT / "results" / "mutants.json", metavar="FILE")
    args = parser.parse_args()
    rows, head = read(args.record)
    if args.again:
        return again(rows, args.again, args.seed, args.jobs)
    if args.sample:
        size = {"of each module without": args.each} if args.each else {"sample of each room": args.sample}
        head |= provenance() | ({} if args.lived else {"seed": args.seed, **size})
        head["mutants in all"] = {room: len(population(room)) for room in ROOMS}
        due = chosen(args, rows)
        control(due)
        print(f"{len(rows)} recorded, {len(due)} to run", flush=True)
        for (row, tests), code, found in runs.each(map(task, due), args.jobs):
            outcome, by = judged(code, found)
            key = of_row(row).key
            print(f"{outcome:9} {key[:200]!r} {by}", flush=True)
            if outcome != "error":
                now = {"outcome": outcome, "by": by, "seconds": tests.get(by, 0.0)}
                rows[key] = (
                    {"first": outcome} | row | now
                )  # the first outcome stays, whatever tests are written
                write(args.record, rows, head)
    write(args.record, rows, head)
    counts = Counter((row["file"].partition("/")[0], row["class"]) for row in rows.values())
    print(*(f"{room:13} {name:10} {number}" for (room, name), number in sorted(counts.items())), sep="\n")
    print(*(f"lives: {key}" for key, row in rows.items() if row["class"] == "survived"), sep="\n")
    print(*(f"mutants.toml: no such mutant, remove it: {key}" for key in unused(excused(), rows)), sep="\n")
    return 0


@functools.cache
def population(room: str) -> list[Mutant]:
    """List every mutant of a room."""
    files = sorted((LIBRARY / room).rglob("*.py"))
    return [m for file in files for m in mutants(file.relative_to(LIBRARY).as_posix(), file.read_text())]


def drawn(members: list[Mutant], seed: int) -> list[Mutant]:
    """Order a room's mutants so that its beginning is a sample: every operator once, then in proportion."""
    ranked, seen, sizes = [], Counter[str](), Counter(mutant.operator for mutant in members)
    for mutant in sorted(members, key=lambda mutant: chance(f"{seed} {mutant.key.partition('/')[2]}")):
        ranked.append((seen[mutant.operator] / sizes[mutant.operator], mutant))
        seen[mutant.operator] += 1
    return [mutant for _, mutant in sorted(ranked, key=lambda pair: pair[0])]


def chosen(args: argparse.Namespace, rows: dict[str, Row]) -> list[tuple[Row, Tests, str]]:
    """Return what is to run: new mutants, edited modules', and those that lived other tests; forget the gone."""
    traces, reasons, due = traced(args.tests, args.jobs), excused(), []
    for room in args.rooms:
        known = {key: of_row(row) for key, row in rows.items() if row["file"].startswith(f"{room}/")}
        sample = [*known.values(), *drawn(population(room), args.seed)]
        size = args.sample
        if args.each:
            sample = lacking(room, rows, args.each, args.seed, args.modules)
        if args.lived:
            those = [m for m in known.values() if rows[m.key]["outcome"] == "survived"]
            sample = [m for m in those if m.key not in reasons and re.search(args.modules, m.file)]
        if args.each or args.lived:
            size, known = len(sample), {}
        kept: dict[str, Mutant] = {}
        for mutant in sample:
            change = mutated(mutant, source(mutant.file)) if len(kept) < size else None
            if change is None or mutant.key in kept:
                continue
            kept[mutant.key] = mutant
            new = {"by": "", "seconds": 0.0, "seed": args.seed}
            row = new | mutant._asdict() | rows.get(mutant.key, {})
            tests = covering(mutant, change[1], traces)
            quick = quickest(tests, args.most) | {name: tests[name] for name in tests if name == row["by"]}
            state = {
                "module": digest(source(mutant.file)),
                "tests": digest(
                    *sorted(quick), *(source(name.partition("::")[0], ROOT) for name in sorted(quick))
                ),
            }
            same = row.get("module") == state["module"]
            if not same or (
                row["outcome"] == "survived" and row["tests"] != state["tests"] and mutant.key not in reasons
            ):
                due.append((row | state, quick, change[0]))
        for key in known.keys() - kept.keys():
            del rows[key]
    return due


def lacking(room: str, rows: dict[str, Row], each: int, seed: int, modules: str = "") -> list[Mutant]:
    """Return mutants of the modules of which too few are recorded: of each, as many as are lacking."""
    recorded, sample = Counter(row["file"] for row in rows.values()), []
    for file in dict.fromkeys(mutant.file for mutant in population(room)):
        if re.search(modules, file):
            order = drawn([mutant for mutant in population(room) if mutant.file == file], seed)
            new = [mutant for mutant in order if mutant.key not in rows]
            sample += new[: max(each - recorded[file], 0)]
    return sample


def covering(mutant: Mutant, lines: tuple[int, int], traces: list[Any]) -> Tests:
    """Return the tests that run a mutant's lines, with their seconds; else all of its module, or of its room.

    Of a module that was edited since it was traced, all tests that use it count.
    """
    found, using, room = Tests(), Tests(), Tests()
    folder = f"tests/{mutant.file.partition('/')[0]}/"
    for trace in traces:
        digest_then, by_line = trace["lines"].get(mutant.file, ("", {}))
        own = {name for names in by_line.values() for name in names if name}
        near = {
            name for line, names in by_line.items() if lines[0] <= int(line) <= lines[1] for name in names
        }
        near = near if digest_then == digest(source(mutant.file)) else own
        using |= {name: second for name, second in trace["tests"].items() if name in own}
        room |= {name: second for name, second in trace["tests"].items() if name.startswith(folder)}
        found |= {name: second for name, second in trace["tests"].items() if name in near or "" in near}
        if mutant.operator == "default":  # which the tests of the whole surface read, and run nothing
            found |= {
                name: second for name, second in trace["tests"].items() if name.startswith("tests/test_")
            }
    return found or using or room


def quickest(tests: Tests, most: float) -> Tests:
    """Return the quickest of the tests, as many as fit into some seconds."""
    ordered = sorted(tests.items(), key=lambda pair: pair[1])
    totals = accumulate(seconds for _, seconds in ordered)
    return {name: own for (name, own), total in zip(ordered, totals, strict=True) if total <= most}


def traced(folders: list[str] | None, jobs: int) -> list[Any]:
    """Return, for each file of tests, which lines its tests run; trace those that have changed."""
    TRACES.mkdir(parents=True, exist_ok=True)
    kept = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        room = path.relative_to(ROOT / "tests").parts[0]  # "local" for tests/local/optimal, too
        room = room if room != path.name else "tests"
        if {room, path.stem} & {*folders} if folders else room not in NOT_TRACED:
            own = digest(str(path), *(file.read_text() for file in sorted(path.parent.glob("*.py"))))
            kept[path] = TRACES / f"{path.stem}-{own}.json"
    due = (
        (file, functools.partial(runs.trace, str(path))) for path, file in kept.items() if not file.exists()
    )
    for file, _, found in runs.each(due, jobs):
        if not isinstance(found, dict):
            raise RuntimeError(f"{file.stem} cannot be traced:\n{found}")
        print(f"{file.stem}: {len(found['tests'])} tests", flush=True)
        found["lines"] = {name: (digest(source(name)), lines) for name, lines in found["lines"].items()}
        write_whole(file, json.dumps(found))
    return [json.loads(file.read_text()) for file in kept.values()]


def task(due: tuple[Row, Tests, str]) -> tuple[Any, Any]:
    """Make the task of a mutant: first what killed it before, then its own room's tests, then all others."""
    row, tests, text = due
    batches: list[Tests] = [{}, {}, {}]
    for name, seconds in tests.items():
        own = name.startswith(f"tests/{row['file'].partition('/')[0]}/")
        batches[0 if name == row["by"] else 1 if own else 2][name] = seconds
    return (row, tests), functools.partial(
        runs.kill, row["file"], text, [batch for batch in batches if batch]
    )


def control(due: list[tuple[Row, Tests, str]]) -> None:
    """Check that the library as it is passes a quick test of every file, run as a mutant is, in two batches."""
    quick = {name.partition("::")[0]: name for _, tests, _ in due for name in list(tests)[:3]}
    names = list(quick.values())
    batches = [dict.fromkeys(part, 10.0) for part in (names[::2], names[1::2]) if part]
    same = functools.partial(runs.kill, "__init__.py", source("__init__.py"), batches)
    for _, _, result in runs.each(iter([("", same)]), 1):
        if result != {"by": ""}:
            raise RuntimeError(f"the unchanged library does not pass: {result}")


def judged(code: int, result: Any) -> tuple[str, str]:
    """Return the outcome of a mutant, and what brought it about."""
    if isinstance(result, dict):
        return ("killed" if result["by"] else "survived"), result["by"]
    if code < 0:
        return ("timeout", "") if -code in {signal.SIGXCPU, signal.SIGALRM} else ("killed", f"signal {-code}")
    return "error", result


def again(rows: dict[str, Row], size: int, seed: int, jobs: int) -> int:
    """Check that mutants of the record are still killed, each by the test that killed it, if that was quick."""
    known = {
        k: r for k, r in rows.items() if r["outcome"] == "killed" and "::" in r["by"] and r["seconds"] < 1
    }
    drawn = sorted(known, key=lambda key: chance(f"{seed} again {key}"))[:size]
    due, living = [], []
    for row in (known[key] for key in drawn):
        change = mutated(of_row(row), source(row["file"]))
        if change:
            tests, folder = {row["by"]: row["seconds"]}, f"tests/{row['file'].partition('/')[0]}"
            due.append((row, functools.partial(runs.kill, row["file"], change[0], [tests], folder)))
    for row, code, result in runs.each(iter(due), jobs):
        if judged(code, result)[0] in {"survived", "error"}:
            living.append(f"lives: {of_row(row).key}\n  was killed by {row['by']}")
    gone = len(drawn) - len(due)
    print(
        f"mutants: {len(due) - len(living)} of {len(due)} killed again, {gone} no longer in the code",
        *living,
        sep="\n",
    )
    stale = len(drawn) < size or gone > GONE * size
    if stale:
        print("Too few of them are recorded and in the code: record a new sample with `make mutants`.")
    return int(bool(living) or stale)


def read(record: Path) -> tuple[dict[str, Row], Row]:
    """Return the recorded rows by their mutants' keys, and what stands above them."""
    head = json.loads(record.read_text()) if record.exists() else {"columns": FIELDS, "rows": []}
    columns, lines = head.pop("columns"), head.pop("rows")
    rows = [dict(zip(columns, line, strict=True)) for line in lines]
    return {of_row(row).key: {"first": row["outcome"], "seed": None} | row for row in rows}, head


def write(record: Path, rows: dict[str, Row], head: Row) -> None:
    """Record the rows, each survivor with its class and reason, in one step."""
    reasons, lines = excused(), []
    for key, row in sorted(rows.items()):
        named = reasons.get(key) if row["outcome"] == "survived" else None
        row["class"], row["reason"] = named or (row["outcome"], "")
        lines.append("  " + json.dumps([row[field] for field in FIELDS], ensure_ascii=False))
    top = json.dumps({**head, "columns": FIELDS, "rows": []}, indent=1)
    write_whole(record, top[:-4] + "[\n" + ",\n".join(lines) + "\n ]\n}\n")


def excused() -> dict[str, tuple[str, str]]:
    """Return the survivors that change no result: their class and the reason, by key."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["survivor"]
    if wrong := [entry for entry in entries if entry["class"] not in CLASSES or not entry["reason"]]:
        raise ValueError(
            f"mutants.toml: found {wrong[0]}, expected a reason and a class of {', '.join(CLASSES)}"
        )
    return {entry["key"]: (entry["class"], entry["reason"]) for entry in entries}


def unused(keys: Collection[str], rows: Collection[str]) -> list[str]:
    """Return the keys that name no recorded mutant, and none that today's code gives: nothing ever reads them."""
    files = {key.partition(":")[0] for key in keys}
    made = {mutant.key for file in files for mutant in mutants(file, source(file))}
    return [key for key in keys if key not in made and key not in rows]


def provenance() -> Row:
    """Return the commit and the versions."""
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"commit": git.stdout.strip(), "versions": {"python": platform.python_version(), **versions}}


def of_row(row: Row) -> Mutant:
    """Return the mutant of a row."""
    return Mutant(*(row[field] for field in Mutant._fields))


@functools.cache
def source(file: str, root: Path = LIBRARY) -> str:
    """Return a file's text, which is none if there is no such file."""
    return (root / file).read_text() if (root / file).exists() else ""


def digest(*texts: str) -> str:
    """Return the start of the SHA-256 of texts, in their order; the record holds these, so the form stays."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
