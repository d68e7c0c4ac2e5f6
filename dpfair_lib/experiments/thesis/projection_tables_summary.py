"""Summary of Tables 5.1–5.4: our means and the printed ones, and comparisons at equal fairness gaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t

from dpfair_lib.experiments.intervals import mean_interval
from dpfair_lib.experiments.printed import printed_projections

GAPS = {"demographic_parity": "parity", "mean_equalized_odds": "odds"}
OPT = {"variant": "Theorem 14", "notion": "training"}  # as §§ 5.7.1 and 5.7.2 say
PRINTED_TRIALS = 10
ROUNDING = 0.00005  # half of the last printed digit
OVERLAP = 3 / 7  # test rows over training rows


def trials_of(rows: pd.DataFrame, method: str, **chosen: object) -> pd.DataFrame:
    """Return one configuration's trials, a line per split.

    Parameters
    ----------
    rows : DataFrame
        Of `projection_tables.run_trial`, of one data set.
    method : str
        "Non-Fair", "OPT" or "Fair Projection".
    **chosen
        Values of ``variant``, ``notion`` and ``level``.

    Raises
    ------
    ValueError
        If a split has no such trial, or two.
    """
    kept = rows["method"] == method
    for name, value in chosen.items():
        kept &= rows[name] == value
    found = rows[kept].set_index("split").sort_index()
    if found.index.tolist() != sorted(set(rows["split"])):
        raise ValueError(f"rows: found {len(found)} trials of {method} {chosen}, expected one for each split")
    return found


class Beside(NamedTuple):
    """A printed number less the printed one of Non-Fair, and ours: mean, standard error, how far apart they may lie."""

    printed: float
    ours: float
    error: float
    reach: float


def change_beside_printed(
    rows: pd.DataFrame,
    line: pd.Series,
    measure: str,
    *,
    comparisons: int = 1,
    opt: dict[str, str] | None = None,
) -> Beside:
    """Compare what OPT changes, against Non-Fair on the same split, with what is printed.

    The split is the same for both: differences between splits cancel, and chance is that of the randomised reports.

    Parameters
    ----------
    rows : DataFrame
        Trials of one data set.
    line : Series
        A row of `printed_projections`, of OPT.
    measure : {"accuracy", "gap"}
        Which number.
    comparisons : int
        How many numbers are compared at once, to hold together by 95 %.
    opt : dict, optional
        Which channel and rows were randomised; `OPT` by default.

    Returns
    -------
    Beside
        ``reach`` is Student's quantile times s·√(1/n + 1/10), plus the rounding of two printed numbers.
    """
    of = measure if measure == "accuracy" else GAPS[line["notion"]]
    plain = trials_of(rows, "Non-Fair")[of]
    change = (trials_of(rows, "OPT", level=line["level"], **(opt or OPT))[of] - plain).to_numpy()
    table = printed_projections().query("table == @line['table'] and method == 'Non-Fair'")
    deviation, n = float(change.std(ddof=1)), len(change)
    quantile = t.ppf(1 - 0.025 / comparisons, n - 1)
    return Beside(
        float(line[measure] - table[measure].iloc[0]), float(change.mean()), deviation / math.sqrt(n),
        float(quantile * deviation * math.sqrt(1 / n + 1 / PRINTED_TRIALS) + 2 * ROUNDING),
    )  # fmt: skip


class Matched(NamedTuple):
    """OPT's accuracy less that of Fair Projection at OPT's gap."""

    difference: float
    half_width: float
    half_width_new_data: float
    tolerance: float
    slope: float


def at_equal_gap(
    rows: pd.DataFrame, notion: str, divergence: str, level: float, *, opt: dict[str, str] | None = None,
    prefix: str = "", confidence: float = 0.95,
) -> Matched:  # fmt: skip
    """Compare OPT with the point of Fair Projection's curve that has OPT's gap.

    The curve joins the mean points (gap, accuracy) of neighbouring tolerances. It is met where the mean gap is OPT's.
    That gap is a mean over trials too, and its chance counts: with the slope m of the curve there, a trial contributes
    (accuracy − m·gap) of OPT, less the same of the point.

    Parameters
    ----------
    rows : DataFrame
        Trials of one data set.
    notion : {"demographic_parity", "mean_equalized_odds"}
        Which gap, and which projection.
    divergence : {"kl", "ce"}
        Which projection.
    level : float
        ε of OPT.
    opt : dict, optional
        Which channel and rows were randomised; `OPT` by default.
    prefix : {"", "drawn "}
        "drawn ": labels of Fair Projection are drawn with its probabilities, as its constraints mean it.
    confidence : float
        Of the interval.

    Returns
    -------
    Matched
        The mean difference; the half-width of its interval over splits of these rows, and for new data; the tolerance.

    Raises
    ------
    ValueError
        If OPT's gap is outside the curve.
    """
    gap = GAPS[notion]
    mine = trials_of(rows, "OPT", level=level, **(opt or OPT))
    fair = rows[
        (rows["method"] == "Fair Projection") & (rows["variant"] == divergence) & (rows["notion"] == notion)
    ]
    curve = fair.groupby("level")[prefix + gap].mean().sort_index()
    tolerances, means = curve.index.tolist(), curve.tolist()
    at = crossing(means, float(mine[gap].mean()))
    low, high = (
        fair[fair["level"] == tolerances[place]].set_index("split").sort_index() for place in (at, at + 1)
    )
    weight = (float(mine[gap].mean()) - means[at]) / (means[at + 1] - means[at])
    rise = float((high[prefix + "accuracy"] - low[prefix + "accuracy"]).mean())
    slope = rise / (means[at + 1] - means[at])

    def adjusted(point: pd.DataFrame, prefix: str) -> np.ndarray:
        return (point[prefix + "accuracy"] - slope * point[prefix + gap]).to_numpy()

    paired = adjusted(mine, "") - (1 - weight) * adjusted(low, prefix) - weight * adjusted(high, prefix)
    difference, half = mean_interval(paired, level=confidence)
    _, wider = mean_interval(paired, level=confidence, test_to_train=OVERLAP)
    tolerance = (1 - weight) * tolerances[at] + weight * tolerances[at + 1]
    return Matched(difference, half, wider, tolerance, slope)


def crossing(means: Sequence[float], wanted: float) -> int:
    """Return the first place where the means go from at most to above what is wanted.

    Raises
    ------
    ValueError
        If they never do.
    """
    for at in range(len(means) - 1):
        if means[at] <= wanted < means[at + 1]:
            return at
    raise ValueError(
        f"found the gap {wanted:.4f}, expected one within the curve, {min(means):.4f} to {max(means):.4f}"
    )


def point_at_gap(rows: pd.DataFrame, notion: str, divergence: str, wanted: float) -> tuple[float, float]:
    """Return the mean accuracy of Fair Projection where its mean gap is as wanted, and how well it is known.

    Parameters
    ----------
    rows : DataFrame
        Trials of one data set.
    notion, divergence : str
        Which gap and which projection.
    wanted : float
        The gap.

    Returns
    -------
    accuracy, leeway : float
        On the line between the neighbouring tolerances, and the difference of the accuracies at these.

    Raises
    ------
    ValueError
        If the curve does not have that gap.
    """
    fair = rows[
        (rows["method"] == "Fair Projection") & (rows["variant"] == divergence) & (rows["notion"] == notion)
    ]
    means = fair.groupby("level")[["accuracy", GAPS[notion]]].mean().sort_index()
    gaps = means[GAPS[notion]].tolist()
    at = crossing(gaps, wanted)
    weight = (wanted - gaps[at]) / (gaps[at + 1] - gaps[at])
    low, high = means["accuracy"].iloc[at], means["accuracy"].iloc[at + 1]
    return float((1 - weight) * low + weight * high), float(abs(high - low))


def loss_beside_printed(rows: pd.DataFrame, line: pd.Series) -> Beside:
    """Compare the accuracy that Fair Projection loses at a printed gap with the printed loss.

    Nothing is drawn, so that on the published splits only the tolerance and the rounding are open.

    Parameters
    ----------
    rows : DataFrame
        Trials of one data set on the published splits.
    line : Series
        A row of `printed_projections`, of Fair Projection.

    Returns
    -------
    Beside
        Without error; ``reach`` is the leeway of `point_at_gap` plus the rounding of two printed numbers.
    """
    found, leeway = point_at_gap(rows, line["notion"], line["variant"], line["gap"])
    table = printed_projections().query("table == @line['table'] and method == 'Non-Fair'")
    change = found - float(trials_of(rows, "Non-Fair")["accuracy"].mean())
    return Beside(float(line["accuracy"] - table["accuracy"].iloc[0]), change, 0.0, leeway + 2 * ROUNDING)
