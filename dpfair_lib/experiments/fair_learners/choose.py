"""The command ``dpfair choose``: which private and fair learner the record recommends, and what to expect of it."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpfair_lib._commands import DONE, REFUSED, add_common, say

PROTECTS = {"record": "replace-one", "presence": "add-remove", "group": "sensitive-attribute"}
"""Words of the command line, and the relations that they stand for."""
NOTIONS = "parity", "opportunity", "odds"
LEVEL = 0.95
MOST_ROWS = 10**12
"""More than there are people; beyond, logarithms and δ leave the range of floats."""
NOT_COVERED = (
    "linear models and two large groups only; the loss is error plus gap; parameters and dial were chosen on CelebA; "
    "the numbers describe the recorded data sets and may not describe yours; what else is computed from the same "
    "rows, such as a scaler or a search, has to be paid for beside it"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``choose`` to its parser.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of the subcommand.
    """
    parser.add_argument(
        "--protect", required=True, choices=PROTECTS,
        help="a whole record that is replaced, a record and whether it is there, or one person's group alone",
    )  # fmt: skip
    parser.add_argument("--notion", required=True, choices=NOTIONS, help="the gap that counts")
    parser.add_argument("--epsilon", required=True, type=float, help="ε of all that is released")
    parser.add_argument("--rows", required=True, type=int, help="number of training rows")
    parser.add_argument("--smallest-group", type=int, help="rows of the smaller of the two groups")
    parser.add_argument(
        "--groups-held-by", choices=("one", "nobody"), default="one",
        help="whether one party holds the groups, or each person sends a randomised report (with --protect group)",
    )  # fmt: skip
    parser.add_argument(
        "--no-group-when-deciding",
        action="store_true",
        help="decisions may not ask for a person's group",
    )
    add_common(parser)


def run(args: argparse.Namespace, *, folder: Path | None = None) -> int:
    """Print what the record recommends.

    Parameters
    ----------
    args : argparse.Namespace
        What `add_arguments` parsed.
    folder : Path, optional
        Where the records are; the book's own by default.

    Returns
    -------
    int
        Exit status: 1 if an argument is out of its range, or the records are not there.
    """
    from dpfair_lib.experiments.fair_learners import guide
    from dpfair_lib.experiments.recorded_results import RESULTS

    try:
        folder = RESULTS if folder is None else folder
        situation = guide.Situation(
            PROTECTS[args.protect], args.groups_held_by, not args.no_group_when_deciding
        )
        known = guide.evidence(folder, (args.notion,))
        found = advice(known, situation, args.notion, args.epsilon, args.rows, args.smallest_group)
    except (ValueError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    if args.json:
        say(found)
    else:
        print("\n".join(lines_of(found)))
    return DONE


def advice(
    known: Any, situation: Any, notion: str, epsilon: float, rows: int, smallest: int | None = None
) -> dict[str, Any]:
    """Return what the record recommends, and what it measured of that.

    Parameters
    ----------
    known : guide.Evidence
        What is recorded.
    situation : guide.Situation
        Who is protected, who holds the groups, whether a decision may ask for one.
    notion : str
        One of `NOTIONS`.
    epsilon : float
        ε; the largest recorded one that is not above it decides.
    rows : int
        Number of training rows. The settings of the recorded data set with the nearest number are taken.
    smallest : int, optional
        Rows of the smaller of the two groups.

    Returns
    -------
    dict
        Everything in plain types, as ``--json`` shows it.

    Raises
    ------
    ValueError
        If ε is below all recorded ones or not finite, a size cannot be, or the situation cannot be.
    """
    from dpfair_lib.experiments.fair_learners import guide, recipes, summary
    from dpfair_lib.experiments.fair_learners.settings import EPSILONS
    from dpfair_lib.experiments.fair_learners.trials import CONSTANT

    _check(situation, rows, smallest)
    below = [at for at in EPSILONS if at <= epsilon < math.inf]
    if not below:
        raise ValueError(
            f"epsilon: found {epsilon:g}, expected a finite number, {min(EPSILONS):g} or more; nothing was measured "
            "below it"
        )
    at = max(below)
    found = guide.usable(known, situation, notion, at)
    name = guide.rule(found, notion)
    verdicts = guide.helps(found, name, notion, level=LEVEL)
    measured = {
        data: {
            "rows": known.sizes[data],
            "error": summary.interval(those[name]["error"], LEVEL),
            "gap": summary.interval(those[name][notion], LEVEL),
            "error of the constant": summary.interval(those[CONSTANT]["error"], LEVEL),
            "beside nothing clever": one.verdict if (one := verdicts[data]) else "the same",
            "difference of losses": (one.difference, one.half_width) if one else (0.0, 0.0),
        }
        for data, those in found.items()
    }  # fmt: skip
    like = min(known.sizes, key=lambda data: abs(math.log(known.sizes[data] / rows)))
    key = situation.protection, name, at
    dial = known.dials[like, notion].get(key)
    lines = recipes.recipe(name, situation.protection, epsilon, rows, dial, known.parameters[like])
    least = guide.least_rows(verdicts, known.sizes)
    tests = guide.judged(guide.questions(known, [situation], [notion])) if len(known.rows) > 1 else None
    clever = name not in summary.NOTHING_CLEVER
    return {
        "use": name, "protection": situation.protection, "notion": notion, "measured at epsilon": at,
        "nothing clever": not clever, "rows": rows, "data": measured, "least rows where it helps": least,
        "void": _void(least, rows, max(known.sizes.values())) + _no_bound(name, notion, rows, smallest, epsilon)
        if clever else [],
        "judged": {"tests": 0 if tests is None else len(tests), "significant regrets": _significant(tests)},
        "code": [*recipes.imports(lines), *lines], "assumed": recipes.ASSUMED, "settings of": like,
        "delta": recipes.delta(situation.protection, rows),
        "not covered": NOT_COVERED,
    }  # fmt: skip


def _check(situation: Any, rows: int, smallest: int | None) -> None:
    if rows < 2:
        raise ValueError(f"rows: found {rows}, expected 2 or more, as δ is 1/rows²")
    if rows > MOST_ROWS:
        found = "a number of more than 15 digits" if rows >= 10**15 else f"{rows:,}"
        raise ValueError(f"rows: found {found}, expected at most {MOST_ROWS:,}")
    if smallest is not None and not 1 <= smallest <= rows // 2:
        raise ValueError(
            f"smallest-group: found {smallest}, expected 1 to {rows // 2}: the smaller of two groups has half of the "
            f"{rows} rows at most"
        )
    if situation.holder == "nobody" and situation.protection != PROTECTS["group"]:
        raise ValueError("groups-held-by: found 'nobody', expected 'one' unless the group alone is protected")


def _significant(tests: Any) -> int:
    return 0 if tests is None else int((tests["holm"] <= 1 - LEVEL).sum())


def _void(least: int | None, rows: int, most: int) -> list[str]:
    """Return what says nothing at this number of rows."""
    found = []
    if least is None:
        found.append("that it helps: no recorded data set shows it")
    elif rows < least:
        found.append(f"that it helps: it was not shown for fewer than {least:,} rows")
    if rows > most:
        found.append(f"error and gap: nothing was measured for more than {most:,} rows")
    return found


def _no_bound(name: str, notion: str, rows: int, smallest: int | None, epsilon: float) -> list[str]:
    """Return that the bound on the gap of a method that counts says nothing for groups of these sizes, if so."""
    from dpfair_lib import parity_bound
    from dpfair_lib.experiments.fair_learners.methods import CHANGED

    if smallest is None or name not in CHANGED:
        return []
    bound = parity_bound((smallest, rows - smallest), epsilon, 1 - LEVEL)
    if bound < 1:
        return []
    if notion == "parity":
        return [
            "Algorithm 2's bound on the parity gap: for groups of these sizes it is "
            f"{bound:.3g}, even with all of ε for each count"
        ]
    return [
        "a bound like Algorithm 2's on the gap of true positive rates: for groups of these sizes it is "
        f"{bound:.3g}, even if all had label 1, with all of ε for each count"
    ]


def lines_of(found: Mapping[str, Any]) -> list[str]:
    """Return advice as lines of text.

    Parameters
    ----------
    found : mapping
        From `advice`.
    """
    least, regrets = found["least rows where it helps"], found["judged"]["significant regrets"]
    distrust = (
        f"do not rely on it: {regrets} of {found['judged']['tests']} regrets are significant, see below"
    )
    lines = [
        _headline(found), *([distrust] if regrets else []), "",
        "data            rows   error            gap              constant's error   loss beside nothing clever",
    ]  # fmt: skip
    for data, one in found["data"].items():
        error, gap, constant = (
            f"{mean:.3f} ± {half:.3f}"
            for mean, half in (one["error"], one["gap"], one["error of the constant"])
        )
        mean, half = one["difference of losses"]
        word = one["beside nothing clever"]
        beside = word if word == "the same" else f"{mean:+.3f} ± {half:.3f}, {word}"
        lines.append(f"{data:<12}{one['rows']:>8,}   {error:<17}{gap:<17}{constant:<19}{beside}")
    helps = f"least recorded rows where it is better than nothing clever: {f'{least:,}' if least else 'none'}"
    return [
        *lines, "",
        *([] if found["nothing clever"] else [helps]),
        *(f"void: {one}" for one in found["void"]),
        f"derived without each data set in turn and judged on it, at each ε: {regrets} of {found['judged']['tests']} "
        f"regrets are significant, corrected for their number",
        f"not covered: {found['not covered']}", "",
        f"# {found['assumed']}", f"# {found['use']}, settings as for {found['settings of']}", _delta(found),
        *found["code"],
    ]  # fmt: skip


def _delta(found: Mapping[str, Any]) -> str:
    square = float(found["rows"]) ** -2.0
    why = "" if found["delta"] == square else ", more than 1/rows², which the accountant does not resolve"
    return f"# where noise is Gaussian, δ = {found['delta']:.3g}{why}"


def _headline(found: Mapping[str, Any]) -> str:
    name, at = found["use"], f"measured at ε = {found['measured at epsilon']:g}"
    if found["nothing clever"]:
        return f"use: {name} ({at}); do nothing clever"
    least = found["least rows where it helps"]
    if least is None:
        return f"use: nothing clever; {name} has the least mean loss ({at}), but nothing recorded shows that it helps"
    void = f"; nothing shows that it helps with {found['rows']:,} rows" if found["rows"] < least else ""
    return f"use: {name} ({at}){void}"
