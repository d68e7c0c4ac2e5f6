"""The command ``dpfair choose``: which private and fair learner the record recommends, and what to expect of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpfair_lib._commands import DONE, REFUSED, add_common, say

if TYPE_CHECKING:
    import pandas as pd

PROTECTS = {"record": "replace-one", "presence": "add-remove", "group": "sensitive-attribute"}
"""Words of the command line, and the relations that they stand for."""
NOTIONS = "parity", "opportunity", "odds"
LEVEL = 0.95
NOT_COVERED = (
    "linear models and two large groups only; the loss is error plus gap; parameters and dial were chosen on CelebA; "
    "the numbers describe the recorded data sets and may not describe yours; what else is computed from the same "
    "rows, such as a scaler or a search, has to be paid for beside it"
)
ESTIMATORS = {
    "constant": ("the more frequent label for everybody",),
    "Algorithm 2": ("PrivateFairPostprocessor",),
    "ours, parity": ("PrivateFairPostprocessor",),
    "ours, opportunity": ("PrivateFairPostprocessor",),
    "odds by counts": ("EqualizedOddsPostprocessor",),
    "thresholds": ("ExponentialFairLearner",),
    "functional mechanism": ("FairFunctionalClassifier",),
    "DP-FERMI": ("DPFermiClassifier",),
    "group clipping": ("DPGroupClippingClassifier",),
    "global scaling": ("DPGlobalScalingClassifier",),
    "odds by reports": ("ReportedOddsPostprocessor",),
    "no fairness": (),
}
"""Method → what makes it, beside the classifier of `BASES` where labels are changed or nothing is done."""
BASES = {
    "replace-one": "ObjectivePerturbation", "add-remove": "DPLogisticRegression",
    "sensitive-attribute": "any classifier that has not seen the group",
}  # fmt: skip
ALONE = "constant", "functional mechanism", "DP-FERMI", "group clipping", "global scaling"
"""Methods without a classifier before them."""


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
        Exit status: 1 if nothing was measured at an ε as small as this one, or the records are not there.
    """
    from dpfair_lib.experiments.recorded_results import RESULTS

    try:
        found = advice(
            *recorded(RESULTS if folder is None else folder), args.protect, args.notion, args.epsilon
        )
    except (ValueError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    if args.json:
        say(found)
    else:
        print("\n".join(lines_of(found)))
    return DONE


def recorded(
    folder: Path,
) -> tuple[dict[str, pd.DataFrame], dict[str, int], dict[str, pd.DataFrame]]:
    """Return by data set that is recorded its rows, its number of training rows, and the rows of its tuning.

    Parameters
    ----------
    folder : Path
        Where the records are.

    Raises
    ------
    FileNotFoundError
        If there is none, or that of a tuning is missing.
    """
    from dpfair_lib.experiments.ours.private_fair_settings import held_rows
    from dpfair_lib.experiments.ours.private_learners_settings import STANDS_FOR
    from dpfair_lib.experiments.recorded_results import read_record

    rows, sizes, held = {}, {}, {}
    for data in STANDS_FOR:
        if (folder / f"private-fair-{data}.json").exists():
            rows[data], provenance = read_record(f"private-fair-{data}", folder=folder)
            kept, held[data] = provenance["parameters"], held_rows(data, folder)
            whole = min(provenance["data"]["rows"], kept["most_rows"])
            sizes[data] = whole - round(kept["test_share"] * whole)
    if not rows:
        raise FileNotFoundError(f"{folder}: found no record private-fair-*, expected at least one")
    return rows, sizes, held


def advice(
    rows: Mapping[str, pd.DataFrame], sizes: Mapping[str, int], held: Mapping[str, pd.DataFrame], protect: str,
    notion: str, epsilon: float,
) -> dict[str, Any]:  # fmt: skip
    """Return what the record recommends, and what it measured of that.

    Parameters
    ----------
    rows : mapping
        Data set → its rows.
    sizes : mapping
        Data set → number of training rows.
    held : mapping
        Data set → the rows of its tuning.
    protect : str
        A key of `PROTECTS`.
    notion : str
        One of `NOTIONS`.
    epsilon : float
        ε; the largest recorded one that is not above it decides.

    Returns
    -------
    dict
        Everything in plain types, as ``--json`` shows it.

    Raises
    ------
    ValueError
        If ε is below all recorded ones, or not a number.
    """
    from dpfair_lib.experiments.ours import private_fair_summary as summary
    from dpfair_lib.experiments.ours.private_fair_settings import EPSILONS, dials

    below = [at for at in EPSILONS if at <= epsilon]
    if not below:
        raise ValueError(
            f"epsilon: found {epsilon:g}, expected {min(EPSILONS):g} or more; nothing was measured below it"
        )
    case = summary.Case(PROTECTS[protect], notion, max(below))
    settings = {data: dials(held[data], data, notion) for data in rows}
    usable = {data: summary.candidates(rows[data], settings[data], case) for data in rows}
    name, each = summary.rule(usable, notion), 1 - (1 - LEVEL) / len(rows)
    measured: dict[str, Any] = {}
    for data, found in usable.items():
        verdicts = {one.method: one for one in summary.against_nothing_clever(found, notion, level=each)}
        error, gap = (summary.interval(found[name][key], LEVEL) for key in ("error", notion))
        measured[data] = {
            "rows": sizes[data], "error": error, "gap": gap,
            "beside nothing clever": verdicts[name].verdict if name in verdicts else "the same",
        }  # fmt: skip
    helps = [one["rows"] for one in measured.values() if one["beside nothing clever"] == "better"]
    return {
        "use": name, "protect": protect, "notion": notion, "measured at epsilon": case.level,
        "nothing clever": name in summary.NOTHING_CLEVER, "data": measured,
        "least rows where it helps": min(helps) if helps else None,
        "made by": made_by(name, case.protection), "not covered": NOT_COVERED,
    }  # fmt: skip


def made_by(name: str, relation: str) -> list[str]:
    """Return the estimators of a method, in the order in which they are fitted.

    Parameters
    ----------
    name : str
        The method.
    relation : str
        What is protected.
    """
    return [*([] if name in ALONE else [BASES[relation]]), *ESTIMATORS[name]]


def lines_of(found: Mapping[str, Any]) -> list[str]:
    """Return advice as lines of text.

    Parameters
    ----------
    found : mapping
        From `advice`.
    """
    clever = "; nothing clever is best" if found["nothing clever"] else ""
    lines = [
        f"use: {found['use']} (measured at ε = {found['measured at epsilon']:g}){clever}",
        f"made by: {', then '.join(found['made by'])}",
        "data            rows   error            gap              beside nothing clever",
    ]
    for data, one in found["data"].items():
        error, gap = (f"{mean:.3f} ± {half:.3f}" for mean, half in (one["error"], one["gap"]))
        lines.append(f"{data:<12}{one['rows']:>8,}   {error:<17}{gap:<17}{one['beside nothing clever']}")
    least = found["least rows where it helps"]
    lines.append(
        f"least rows where it is better than nothing clever: {'none of these' if least is None else f'{least:,}'}"
    )
    return [*lines, f"not covered: {found['not covered']}"]
