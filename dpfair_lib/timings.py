"""The record of the benchmarks, results/bench.json: reading it, and the tables that a page shows of it.

The record has one section for each benchmark, with the machine, versions and commit of its own, since benchmarks may
be run again one by one, and on other machines.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

RECORD = Path(__file__).resolve().parents[1] / "results" / "bench.json"
SOLVER_RECORD = RECORD.with_name("solver.json")
LARGE_SOLVER_RECORD = RECORD.with_name("solver-large.json")
ROBUST_SOLVER_RECORD = RECORD.with_name("solver-robust.json")
EPSILONS = ("½", "1", "2", "ln k + 1")
"""Names of the privacy budgets of the solver's record."""
ALWAYS = ("title", "measured")
MEASURED = (
    "unit", "machine", "python", "versions", "commit", "threads", "repeats", "rows", "targets", "checks", "load"
)  # fmt: skip
ROW = ("axis", "value", "name", "seconds", "median", "ratio")

Sections = dict[str, dict[str, Any]]


def read_timings(path: Path = RECORD) -> Sections:
    """Return the sections of the record.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict
        Name of the benchmark → its section: ``title``, ``measured``, and if it was measured ``unit`` (what one
        time is for), ``machine``, ``python``, ``versions``, ``commit``, ``threads``, ``repeats``, ``load``
        (the load average at start and end), ``rows`` (a size and a contender each, with the ``seconds`` of every
        repetition, their ``median``, and its ``ratio`` to that of the first contender, ours), ``targets`` and
        ``checks``.

    Raises
    ------
    FileNotFoundError
        If there is no record.
    ValueError
        If it is no whole record, or a median, a ratio or a verdict is not that of its times.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such record; `make bench` makes it")
    try:
        sections = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: found broken JSON ({error}), expected a record of timings") from None
    if not isinstance(sections, dict):
        raise ValueError(f"{path}: found {type(sections).__name__}, expected sections by name")
    for name, section in sections.items():
        if problem := _problem(section):
            raise ValueError(f"{path}: section {name!r}: {problem}")
    return sections


def _problem(section: Any) -> str:
    """Say what is wrong with a section; nothing if nothing is."""
    if not isinstance(section, dict):
        return f"found {type(section).__name__}, expected fields by name"
    wanted = (*ALWAYS, *MEASURED) if section.get("measured") else (*ALWAYS, "why")
    if missing := [field for field in wanted if field not in section]:
        return f"found no {', '.join(missing)}"
    ours: dict[Any, float] = {}
    for row in section.get("rows", ()):
        if missing := [field for field in ROW if field not in row]:
            return f"found a row without {', '.join(missing)}"
        if not row["seconds"] or not all(0 < second < math.inf for second in row["seconds"]):
            return f"{row['name']}: found times {row['seconds']}, expected one or more positive ones"
        if len(row["seconds"]) > section["repeats"]:
            return f"{row['name']}: found {len(row['seconds'])} times, expected at most {section['repeats']}"
        first = ours.setdefault((row["axis"], row["value"]), row["median"])
        for field, true in (("median", statistics.median(row["seconds"])), ("ratio", row["median"] / first)):
            if not math.isclose(row[field], true, rel_tol=1e-9):
                return f"{row['name']}: found {field} {row[field]}, expected {true}, by the times beside it"
    for line in section.get("targets", ()):
        if line["met"] != (line["ratio"] >= line["least"]):
            return f"{line['what']}: found met = {line['met']} at {line['ratio']}, where {line['least']} is asked"
    for line in section.get("checks", ()):
        if line["met"] != (line["found"] <= line["limit"]):
            return f"{line['what']}: found met = {line['met']} at {line['found']}, where {line['limit']} is allowed"
    return ""


def machines(sections: Mapping[str, Any]) -> pd.DataFrame:
    """Return where each benchmark ran: one row for each that was measured."""
    return pd.DataFrame([
        {
            "benchmark": name, "processor": f"{section['machine']['processor']}, {section['machine']['cores']} cores",
            "card": section.get("card", "–"), "threads": section["threads"],
            "load, start and end": "{:.1f}, {:.1f}".format(*section["load"]),
            "repetitions": section["repeats"], "commit": _short(section["commit"]),
        }
        for name, section in sections.items() if section["measured"]
    ]).set_index("benchmark")  # fmt: skip


def versions(sections: Mapping[str, Any]) -> pd.DataFrame:
    """Return the versions that the benchmarks ran with: a row for each, with the benchmarks that had it."""
    used: dict[tuple[str, str], list[str]] = {}
    measured = {name: section for name, section in sections.items() if section["measured"]}
    for name, section in measured.items():
        for package, version in {"Python": section["python"], **section["versions"]}.items():
            used.setdefault((package, version), []).append(name)
    rows = [
        {
            "package": package,
            "version": version,
            "benchmarks": "all" if len(names) == len(measured) else ", ".join(names),
        }
        for (package, version), names in sorted(used.items())
    ]
    return pd.DataFrame(rows).set_index(["package", "version"])


def comparison(section: Mapping[str, Any]) -> pd.DataFrame:
    """Return sizes and contenders of one benchmark: median, quickest and slowest time in milliseconds, ratio to ours.

    Parameters
    ----------
    section : mapping
        A measured section.

    Returns
    -------
    DataFrame
        Indexed by size and contender; three digits, which is more than times repeat to.
    """
    return pd.DataFrame([
        {
            row["axis"]: f"{row['value']:,}", "contender": row["name"], "median, ms": _digits(1e3 * row["median"]),
            "quickest": _digits(1e3 * min(row["seconds"])), "slowest": _digits(1e3 * max(row["seconds"])),
            "× ours": _digits(row["ratio"]),
        }
        for row in section["rows"]
    ]).set_index([section["rows"][0]["axis"], "contender"])  # fmt: skip


def verdicts(sections: Mapping[str, Any]) -> pd.DataFrame:
    """Return every target and every check of correctness, met or missed; "not measured" where that is so."""
    lines = []
    for name, section in sections.items():
        if not section["measured"]:
            lines.append(
                {"benchmark": name, "what": section["title"], "found": "–", "asked": "–", "": "not measured"}
            )
            continue
        for line in section["targets"]:
            lines.append({
                "benchmark": name, "what": line["what"], "found": f"{_digits(line['ratio'])} ×",
                "asked": f"at least {line['least']:g} ×", "": "met" if line["met"] else "missed",
            })  # fmt: skip
        for line in section["checks"]:
            lines.append({
                "benchmark": name, "what": line["what"], "found": f"{line['found']:.1g}",
                "asked": f"at most {line['limit']:g}", "": "met" if line["met"] else "missed",
            })  # fmt: skip
    return pd.DataFrame(lines, columns=["benchmark", "what", "found", "asked", ""]).set_index("benchmark")


def parts(section: Mapping[str, Any]) -> pd.DataFrame:
    """Return where the time of one run goes: the parts of a section, each timed alone, and the whole (the first)."""
    table = pd.DataFrame(section["parts"])
    share = table["time"] / table["time"].iloc[0]
    shown = {
        "part": table["part"],
        "ms": [_digits(1e3 * t) for t in table["time"]],
        "share": share.map("{:.0%}".format),
    }
    return pd.DataFrame(shown).set_index("part")


def gpu(section: Mapping[str, Any]) -> pd.DataFrame:
    """Return what a GPU did: seconds, operations and bytes a second with their share of the ceilings, longest part.

    Parameters
    ----------
    section : mapping
        The section "gpu", measured or not.

    Returns
    -------
    DataFrame
        One row per precision; one that says "not measured", and why, if that is so.
    """
    if not section["measured"]:
        line = {"GPU": "not measured", "why": section["why"]}
        return pd.DataFrame([line]).set_index("GPU")
    return pd.DataFrame([
        {
            "GPU": section["card"], "precision": row["name"], "median, s": _digits(row["median"]),
            "TFLOP/s": _digits(done["flops"] / 1e12) + _share(done["flops_share"]),
            "TB/s": _digits(done["bytes"] / 1e12) + _share(done["bytes_share"]), "longest part": done["bound"],
        }
        for row, done in zip(section["rows"], section["achieved"], strict=True)
    ]).set_index(["GPU", "precision"])  # fmt: skip


def crossing(section: Mapping[str, Any]) -> pd.DataFrame:
    """Return what a step of one model took on a GPU with masked and with gathered batches, by the number of rows.

    Parameters
    ----------
    section : mapping
        The section "gpu", measured.

    Returns
    -------
    DataFrame
        Microseconds; one row per number of rows.
    """
    return pd.DataFrame([
        {"rows": f"{line['rows']:,}", **{f"{name}, µs": _digits(1e6 * line[name]) for name in ("masked", "gathered")}}
        for line in section["crossing"]
    ]).set_index("rows")  # fmt: skip


def _share(share: float | None) -> str:
    return "" if share is None else f" ({share:.0%} of the ceiling)"


def growth(section: Mapping[str, Any], axis: str) -> pd.DataFrame:
    """Return the median seconds along one axis of a benchmark: one row per size, one column per contender."""
    rows = [row for row in section["rows"] if row["axis"] == axis]
    table = pd.DataFrame(rows, columns=["value", "name", "median"])
    names = list(dict.fromkeys(table["name"]))
    return table.pivot(index="value", columns="name", values="median")[names]


def instances(section: Mapping[str, Any]) -> pd.DataFrame:
    """Return what random instances took and proved, one row for each cell of the record.

    Parameters
    ----------
    section : mapping
        A section whose rows are for one size, ``epsilon`` and ``budget`` each (None where the least fair error was
        looked for), with processor seconds of several instances.

    Returns
    -------
    DataFrame
        Median and worst seconds, by size and ε, and by budget; with the worst gap where one was not closed.
    """

    def shown(row: Mapping[str, Any]) -> str:
        left = f"; {row['open']} open, gap {row['gap_worst']:.0e}" if row["open"] else ""
        return f"{_digits(row['median'])} / {_digits(row['worst'])}{left}"

    table: dict[tuple[int, str], dict[str, Any]] = {}
    for row in section["rows"]:
        line = table.setdefault((row["value"], row["epsilon"]), {"k": row["value"], "ε": row["epsilon"]})
        line["least fair error" if row["budget"] is None else f"budget {row['budget']:g}"] = shown(row)
        line["worst gap"] = max(line.get("worst gap", 0.0), row["gap_worst"])
    found = pd.DataFrame(list(table.values())).set_index(["k", "ε"])
    found["worst gap"] = found.pop("worst gap").map("{:.0e}".format)
    return found


def _digits(number: float) -> str:
    """Write a number with three digits, without an exponent."""
    places = max(0, 2 - math.floor(math.log10(abs(number)))) if number else 0
    return f"{number:,.{min(places, 6)}f}"


def _short(commit: str) -> str:
    name, _, rest = commit.partition(" ")
    return f"{name[:10]} {rest}".strip()
