"""Summary of Tables II–XIII: our means and the printed ones, gaps expected by chance, paired comparisons."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib._validation import as_count, as_numbers, as_single_rate
from dpfair_lib.experiments.intervals import mean_interval
from dpfair_lib.experiments.printed import printed_tables

PRINTED_TRIALS = 10
ROUNDING = 0.00005  # half of the last printed digit
MEASURES = ("accuracy", "gap")
PLACES = ("split", "setting", "method", "target", "strength", "accountant")
"""What says which trial a row is of."""


def with_measures(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `twelve_tables.run_trial` with ``gap`` and ``drawn_gap`` as further columns.

    The drawn gap and accuracy are those of the one draw of the flips, as the sources measured them, or the exact
    ones where nothing is drawn.
    """
    drawn = rows["drawn_accuracy"].notna()
    gap = (rows["rate_0"] - rows["rate_1"]).abs()
    drawn_gap = (rows["drawn_rate_0"] - rows["drawn_rate_1"]).abs()
    return rows.assign(
        gap=gap,
        drawn_gap=drawn_gap.where(drawn, gap),
        drawn_accuracy=rows["drawn_accuracy"].where(drawn, rows["accuracy"]),
    )


def select(
    rows: pd.DataFrame, method: str, *, setting: str, target: float | None = None,
    strength: float | None = None, accountant: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Return one configuration's trials, by split.

    Parameters
    ----------
    rows : DataFrame
        From `with_measures`, of one data set.
    method, setting : str
        Which.
    target, strength, accountant : optional
        ε′, λ and accountant, where the configuration has them.

    Returns
    -------
    DataFrame
        A line per split, sorted.

    Raises
    ------
    ValueError
        If there is no such trial, or a split has two.
    """
    found = rows[(rows["method"] == method) & (rows["setting"] == setting)]
    for name, value in (("target", target), ("strength", strength), ("accountant", accountant)):
        if value is not None:
            found = found[found[name] == value]
    return _by_split(found, f"{method}, {setting}, ε′ = {target}, λ = {strength}, {accountant}")


def _by_split(found: pd.DataFrame, wanted: str) -> pd.DataFrame:
    found = found.set_index("split").sort_index()
    if found.empty or found.index.has_duplicates:
        raise ValueError(f"rows: found {len(found)} trials ({wanted}), expected one for each split")
    return found


def printed_spread(values: Any, *, comparisons: int = 1, level: float = 0.95) -> float:
    """Return how far a printed mean of ten trials may lie from ours if it was made as ours was.

    Parameters
    ----------
    values : array of shape (n,)
        Our trials.
    comparisons : int
        How many numbers are compared at once; each gets its share of the failure probability.
    level : float
        Probability with which all lie within.

    Returns
    -------
    float
        Student's quantile times s √(1/n + 1/10), plus half of the last printed digit.

    Raises
    ------
    ValueError
        If there are fewer than two trials, or a value is not finite.
    """
    from scipy.stats import t

    values = as_numbers(values, "values").astype(float)
    if len(values) < 2:
        raise ValueError(f"values: found {len(values)} trial, expected at least 2 for a spread")
    quantile = t.ppf(1 - (1 - level) / (2 * comparisons), len(values) - 1)
    return float(quantile * values.std(ddof=1) * math.sqrt(1 / len(values) + 1 / PRINTED_TRIALS) + ROUNDING)


def beside_printed(
    rows: pd.DataFrame, *, accountant: str | None = None, test_to_train: float = 0.0
) -> pd.DataFrame:
    """Return every printed row of Tables II–XIII, or of one accountant's four, with our mean and interval.

    Parameters
    ----------
    rows : DataFrame
        From `with_measures`, with the column ``data``.
    accountant : str, optional
        "PRV", "moments" or "GDP".
    test_to_train : float
        As in `mean_interval`; 1/3 for redrawn test rows.

    Returns
    -------
    DataFrame
        The columns of `printed_tables`, the printed numbers named ``printed accuracy, printed gap``; and for both
        ``accuracy, ± accuracy, spread accuracy``: our mean as the sources measured it, the half-width of its 95 %
        interval, and the most that a printed mean of ten trials may differ, by 95 % for all rows together.
    """
    printed = printed_tables()
    comparisons = len(printed) * len(MEASURES)
    lines = []
    rows = rows[rows["setting"] == "as run"]
    of = {data: rows[rows["data"] == data] for data in printed["data"].unique()}
    chosen = printed if accountant is None else printed[printed["accountant"] == accountant]
    for line in chosen.to_dict("records"):
        fermi = line["method"] == "DP-FERMI"
        trials = select(
            of[line["data"]], line["method"], setting="as run", target=line["epsilon"],
            strength=line["strength"] if fermi else None, accountant=None if fermi else line["accountant"],
        )  # fmt: skip
        for name in MEASURES:
            values = trials[f"drawn_{name}"]
            line[f"printed {name}"] = line.pop(name)
            line[name], line[f"± {name}"] = mean_interval(values, test_to_train=test_to_train)
            line[f"spread {name}"] = printed_spread(values, comparisons=comparisons)
        lines.append(line)
    return pd.DataFrame(lines)


def chance_gap(rate: float, sizes: Sequence[int]) -> float:
    """Return the gap to expect of a classifier that selects both groups at the same rate, on test rows alone.

    Parameters
    ----------
    rate : float
        Selection rate in the population, in [0, 1].
    sizes : (int, int)
        Test rows of the two groups, each at least 1.

    Returns
    -------
    float
        E|K₀/n₀ − K₁/n₁| for binomial counts: the integral over x of F(x)(1 − G(x)) + G(x)(1 − F(x)), exactly.

    Raises
    ------
    ValueError
        If the rate is outside [0, 1], or there are not two sizes of at least 1.
    """
    rate = float(as_single_rate(rate, "rate"))
    if len(sizes) != 2:
        raise ValueError(f"sizes: found {len(sizes)} numbers, expected 2")
    first, second = (as_count(size, "sizes", 1) for size in sizes)
    of_first, of_second, steps = _common_counts(first, second)
    below, also = _binomial_cdf(first, rate)[of_first], _binomial_cdf(second, rate)[of_second]
    chance = below * (1 - also) + also * (1 - below)
    return float(chance[:-1] @ steps) / (first * second)


@functools.lru_cache(maxsize=64)
def _common_counts(first: int, second: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each group's count below the points where one of them changes, and the distances of these points.

    The points are at a common denominator, so that equal rates are equal numbers.
    """
    at = np.unique(np.concatenate([np.arange(first + 1) * second, np.arange(second + 1) * first]))
    return at // second, at // first, np.diff(at)


def _binomial_cdf(n: int, rate: float) -> np.ndarray:
    """Return P(K ≤ k) for k from 0 to n, 0 or 1 where Hoeffding's bound leaves e⁻⁸⁰⁰ below or e⁻¹⁰⁰ above."""
    from scipy.stats import binom

    low = max(math.floor(n * rate - math.sqrt(400 * n)), 0)
    high = min(math.ceil(n * rate + math.sqrt(50 * n)), n)
    inside = binom.cdf(np.arange(low, high + 1), n, rate)
    return np.concatenate([np.zeros(low), inside, np.ones(n - high)])


def chance_share(rows: pd.DataFrame, sizes: Sequence[int]) -> float:
    """Return how much of one configuration's squared gap is the test rows' own chance.

    Parameters
    ----------
    rows : DataFrame
        From `select`.
    sizes : (int, int)
        Test rows of the two groups.

    Returns
    -------
    float
        The variance by chance at the trial's rate of all test rows, over the squared gap, both summed over the
        trials: squares add up, gaps do not. NaN if there never is a gap.
    """
    pooled = _pooled_rates(rows, sizes)
    variance = float((pooled * (1 - pooled)).mean() * (1 / sizes[0] + 1 / sizes[1]))
    square = float((rows["drawn_gap"] ** 2).mean())
    return variance / square if square else math.nan


def mean_chance_gap(rows: pd.DataFrame, sizes: Sequence[int]) -> float:
    """Return the mean of `chance_gap` at each trial's rate of all test rows; arguments as in `chance_share`."""
    return float(np.mean([chance_gap(rate, sizes) for rate in _pooled_rates(rows, sizes)]))


def _pooled_rates(rows: pd.DataFrame, sizes: Sequence[int]) -> np.ndarray:
    """Return the selection rate of all test rows, of the draw where there is one."""
    drawn = rows["drawn_rate_0"].notna()
    first, second = (
        rows[f"drawn_rate_{at}"].where(drawn, rows[f"rate_{at}"]).to_numpy(float) for at in (0, 1)
    )
    return (sizes[0] * first + sizes[1] * second) / sum(sizes)


def paired_difference(
    rows: pd.DataFrame, measure: str, target: float, strength: float, *, setting: str, accountant: str,
    factor: float = 1.0, test_to_train: float = 0.0,
) -> tuple[float, float]:  # fmt: skip
    """Return DP-FERMI's mean less a multiple of Algorithm 2's, paired over the splits, and the half-width.

    Parameters
    ----------
    rows : DataFrame
        From `with_measures`, of one data set.
    measure : {"accuracy", "gap"}
        As the sources measured it, with one draw of the flips.
    target, strength : float
        ε′ and λ.
    setting, accountant : str
        Of Algorithm 2; the setting is DP-FERMI's too.
    factor : float
        How often Algorithm 2's number counts.
    test_to_train : float
        As in `mean_interval`.
    """
    fair = select(rows, "Algorithm 2", setting=setting, target=target, accountant=accountant)
    penalised = select(rows, "DP-FERMI", setting=setting, target=target, strength=strength)
    name = f"drawn_{measure}"
    return mean_interval(penalised[name] - factor * fair[name], test_to_train=test_to_train)


class EqualAccuracy(NamedTuple):
    """Algorithm 2 against DP-FERMI mixed to the same accuracy."""

    weights: dict[float, float]
    accuracy: tuple[float, float]
    gap: tuple[float, float]

    @property
    def winner(self) -> str:
        """Whose gap is smaller, if the interval excludes 0: "Algorithm 2", "the mixture" or "neither"."""
        mean, half = self.gap
        return "neither" if abs(mean) <= half else "Algorithm 2" if mean > 0 else "the mixture"


def at_equal_accuracy(
    rows: pd.DataFrame, target: float, *, setting: str, accountant: str, comparisons: int = 1,
    test_to_train: float = 0.0,
) -> EqualAccuracy | None:  # fmt: skip
    """Compare the gaps of the two methods at the same accuracy, paired over the splits.

    The competitor draws a λ, or the constant classifier, before anything is trained: that costs no privacy, and
    accuracy and gap are the weighted means. Of all such mixtures that are as accurate as Algorithm 2 on the first half
    of the splits, the one of smallest gap is chosen there, and compared on the other half. Two of them are enough.

    Parameters
    ----------
    rows : DataFrame
        From `with_measures`, of one data set; with the constant classifier.
    target : float
        ε′.
    setting, accountant : str
        Of Algorithm 2; the setting is DP-FERMI's too.
    comparisons : int
        How many such comparisons are made at once; each gets its share of the failure probability.
    test_to_train : float
        As in `mean_interval`.

    Returns
    -------
    EqualAccuracy or None
        λ → weight, the constant's being what is left; mean and half-width of the interval, 95 % for all comparisons
        together, of the mixture's less Algorithm 2's accuracy and gap. None if no mixture is as accurate.
    """
    rows = rows[[*PLACES, *MEASURES]]
    constant = select(rows, "constant", setting="no privacy")["accuracy"]
    rows = rows[(rows["setting"] == setting) & (rows["target"] == target)]
    fair = select(rows, "Algorithm 2", setting=setting, accountant=accountant)
    splits = fair.index[fair.index.isin(constant.index)]
    chosen, tested = splits[: len(splits) // 2], splits[len(splits) // 2 :]
    fair, constant = fair.loc[splits], constant.loc[splits]
    penalised = rows[rows["method"] == "DP-FERMI"]
    of_strength: Any = penalised[["split", "strength", *MEASURES]].groupby("strength")
    models = {
        float(strength): _by_split(found, f"DP-FERMI, {setting}, λ = {strength}")
        for strength, found in of_strength
    }
    wanted = float((fair.loc[chosen, "accuracy"] - constant[chosen]).mean())
    places = {
        strength: (
            float((model.loc[chosen, "accuracy"] - constant[chosen]).mean()),
            float(model.loc[chosen, "gap"].mean()),
        )
        for strength, model in models.items()
    }
    weights = least_gap_mixture(places, wanted)
    if weights is None:
        return None
    rest = 1 - sum(weights.values())
    mixed = {
        name: sum(
            (weight * models[strength].loc[tested, name] for strength, weight in weights.items()),
            0 * constant[tested],
        )
        for name in MEASURES
    }
    differences = (
        mixed["accuracy"] + rest * constant[tested] - fair.loc[tested, "accuracy"],
        mixed["gap"] - fair.loc[tested, "gap"],
    )
    accuracy, gap = (
        mean_interval(values, level=1 - 0.05 / comparisons, test_to_train=test_to_train)
        for values in differences
    )
    return EqualAccuracy(weights, accuracy, gap)


def least_gap_mixture(places: Mapping[float, tuple[Any, Any]], wanted: Any) -> dict[float, Any] | None:
    """Return the weights of the mixture of smallest gap whose gain in accuracy is at least the one wanted.

    Parameters
    ----------
    places : mapping
        λ → gain in accuracy over the constant classifier, and gap. The constant itself is at (0, 0).
    wanted : number
        Gain that the mixture must have.

    Returns
    -------
    dict or None
        λ → weight, of one or two λ or of none; the constant has the rest. None if no λ gains enough.
    """
    if wanted <= 0:
        return {}
    above = [(gain, gap, name) for name, (gain, gap) in places.items() if gain >= wanted]
    below = [(0 * wanted, 0 * wanted, None)] + [
        (x, gap, name) for name, (x, gap) in places.items() if x < wanted
    ]
    best = None
    for (high, gap, name), (low, other, partner) in itertools.product(above, below):
        weight = (wanted - low) / (high - low)
        value = weight * gap + (1 - weight) * other
        if best is None or value < best[0]:
            best = value, {name: weight} | ({} if partner is None else {partner: 1 - weight})
    return None if best is None else best[1]
