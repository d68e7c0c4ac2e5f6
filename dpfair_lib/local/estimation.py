"""Statistics of the true values, estimated from randomised reports of a channel that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib._arrays import Space, space_of
from dpfair_lib._validation import as_binary, check_lengths, same_rows
from dpfair_lib.fairness.intervals import rate_interval
from dpfair_lib.local.inverse import confused_shares, in_words, rank_and_condition, unbiased_weights
from dpfair_lib.local.randomizer import Randomizer, as_channel, as_values

About = Literal["population", "people"]
SLACK = 1e-9
"""Added to both ends of each interval of reports: more than all rounding here."""


@dataclass(frozen=True, eq=False)
class FrequencyEstimate:
    """The result of `estimate_frequencies`: one entry for each of the k true values.

    Attributes
    ----------
    estimate : ndarray of shape (k,)
        Shares of at least 0 that sum to 1: the nearest ones to ``unbiased``. They are never farther from the truth.
    unbiased : ndarray of shape (k,)
        The shares of the reports, solved with the channel. Their mean is the truth; one may lie outside [0, 1].
    standard_error : ndarray of shape (k,)
        Of ``unbiased``, estimated without bias as a variance; NaN for one report from a population.
    low, high : ndarray of shape (k,)
        With probability at least the level, all k shares lie between these ends together. If the channel does not
        explain the reports, they are 0 and 1.
    explained : bool
        Whether some shares would give each report about as often as it came. If not, the reports were very likely made
        by another channel: for reports of this one, it happens with probability 1 − level at most.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> found = dpf.estimate_frequencies([0, 0, 1, 0, 1, 0], [[0.75, 0.25], [0.25, 0.75]])
    >>> found.unbiased.round(3), found.explained
    (array([0.833, 0.167]), True)
    """

    estimate: np.ndarray
    unbiased: np.ndarray
    standard_error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    explained: bool


@dataclass(frozen=True, eq=False)
class RateEstimate:
    """The result of `estimate_rates`.

    Attributes
    ----------
    rates : ndarray of shape (k,)
        P(Y = 1 | A = i), estimated; NaN where no person seems to have the value.
    low, high : ndarray of shape (k,)
        Ends of intervals for the rates.
    gap : float
        The largest estimated rate less the smallest: the demographic parity difference of the true groups. For small
        samples it is too large on average.
    gap_low, gap_high : float
        Ends of an interval for the gap. With probability at least the level, it and all rates lie within together.
    explained : bool
        As in `FrequencyEstimate`, for both labels.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> found = dpf.estimate_rates([0, 0, 1, 1] * 50, [1, 0, 0, 0] * 50, [[0.8, 0.2], [0.2, 0.8]])
    >>> found.rates.round(3), round(found.gap, 3)
    (array([0.6, 0. ]), 0.6)
    """

    rates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gap: float
    gap_low: float
    gap_high: float
    explained: bool


def estimate_frequencies(
    reports: Any, channel: Any, *, level: float = 0.95, about: About = "population"
) -> FrequencyEstimate:
    """Return the shares of the true values among people who gave randomised reports, with intervals that hold.

    Every report is made from its person's value alone, by the channel, independently of all others.

    Parameters
    ----------
    reports : array of shape (n,)
        Each person's report, an integer in 0, …, m − 1.
    channel : array of shape (k, m), or Randomizer
        What made the reports; of a `Randomizer`, the channel that ``apply`` really draws from.
    level : float
        In (0, 1): the probability with which all k intervals hold together.
    about : {"population", "people"}
        Whose shares: those of a population of which the people are independent draws, or those of the people
        themselves. The intervals of the reports invert binomial tails for a population. For given people, whose reports
        follow different laws, they invert Chernoff's bound.

    Returns
    -------
    FrequencyEstimate
        The estimates.

    Raises
    ------
    ValueError
        If no estimate exists, since the channel's rows are dependent: the error names two sets of shares that give the
        same reports. If a report has probability 0 for every value; if an argument is malformed.

    References
    ----------
    Warner (1965) for two values. The intervals are ours: each report's share has an exact interval, and a share of
    values lies between its extremes under all of them.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> channel = dpf.generalized_randomized_response(3, epsilon=2.0)
    >>> values = np.repeat([0, 1, 2], [6000, 3000, 1000])
    >>> found = dpf.estimate_frequencies(channel.apply(values, np.random.default_rng(0)), channel)
    >>> bool((abs(found.estimate - [0.6, 0.3, 0.1]) < 0.03).all())
    True
    >>> bool(((found.low < [0.6, 0.3, 0.1]) & (found.high > [0.6, 0.3, 0.1])).all())
    True
    """
    matrix, space = _invertible(channel), space_of(reports=reports)
    counts = space.counts(_as_reports(reports, matrix, space), matrix.shape[1])
    return _frequencies(counts, matrix, inside_unit(level, "level"), one_of(about, "about", _METHODS))


@same_rows
def estimate_rates(
    reports: Any, y: Any, channel: Any, *, level: float = 0.95, about: About = "population"
) -> RateEstimate:
    """Return the rate of y = 1 for each true value, and the gap between them, from randomised reports of the values.

    The reports depend on the values alone, not on y.

    Parameters
    ----------
    reports : array of shape (n,)
        Each person's report, an integer in 0, …, m − 1.
    y : array of shape (n,)
        Labels or decisions 0 and 1, as they are.
    channel : array of shape (k, m), or Randomizer
        As in `estimate_frequencies`.
    level : float
        In (0, 1): the probability with which all intervals hold together.
    about : {"population", "people"}
        As in `estimate_frequencies`.

    Returns
    -------
    RateEstimate
        The estimates.

    Raises
    ------
    ValueError
        As `estimate_frequencies`; if the lengths differ or y has other entries.

    References
    ----------
    Ours: Bayes' rule over the intervals of `estimate_frequencies` for either label.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 20000)
    >>> hired = (rng.random(20000) < np.where(group == 1, 0.6, 0.3)).astype(int)
    >>> channel = dpf.generalized_randomized_response(2, epsilon=1.0)
    >>> found = dpf.estimate_rates(channel.apply(group, rng), hired, channel)
    >>> bool(found.gap_low < 0.3 < found.gap_high), bool(abs(found.gap - 0.3) < 0.05)
    (True, True)
    """
    matrix, space = _invertible(channel), space_of(reports=reports, y=y)
    y = as_binary(y, "y", space)
    reports = _as_reports(reports, matrix, space)
    check_lengths(reports=reports, y=y)
    counts = [space.counts_where(reports, y == label, matrix.shape[1]) for label in (0, 1)]
    people, positive = y.shape[0], int(counts[1].sum())
    method, k = _METHODS[one_of(about, "about", _METHODS)], len(matrix)
    # one part of the allowance for each label's shares, and one for the share of y = 1 unless that is known
    parts = 3 if about == "population" else 2
    within = 1 - (1 - inside_unit(level, "level")) / parts
    share = low_share = high_share = positive / people
    if about == "population":
        ends = rate_interval(positive, people, level=within, method=method)
        low_share, high_share = max(float(ends[0][0]) - SLACK, 0.0), min(float(ends[1][0]) + SLACK, 1.0)
    none, one = (_frequencies(own, matrix, within, about) if own.any() else _nothing(k) for own in counts)
    rates = _bayes(share, one.estimate, none.estimate, np.nan)
    low = _bayes(low_share, one.low, none.high, 0.0)
    high = _bayes(high_share, one.high, none.low, 1.0)
    low, high = np.maximum(low - SLACK, 0), np.minimum(high + SLACK, 1)
    apart, reach = low[:, None] - high[None, :], high[:, None] - low[None, :]
    np.fill_diagonal(apart, 0.0)
    np.fill_diagonal(reach, 0.0)
    gap = float(np.nanmax(rates) - np.nanmin(rates))
    return RateEstimate(
        rates, low, high, gap, float(apart.max()), float(reach.max()), one.explained and none.explained
    )


_METHODS: dict[str, Literal["clopper-pearson", "chernoff"]] = {
    "population": "clopper-pearson",
    "people": "chernoff",
}


def _bayes(share: float, of_one: np.ndarray, of_none: np.ndarray, empty: float) -> np.ndarray:
    """P(Y = 1 | A = i) from P(Y = 1), P(A = i | Y = 1) and P(A = i | Y = 0); `empty` where nobody has the value."""
    ones, nones = share * of_one, (1 - share) * of_none
    occurs = ones + nones > 0
    return np.where(occurs, ones, empty) / np.where(occurs, ones + nones, 1)


def _nothing(k: int) -> FrequencyEstimate:
    """What no report at all says about k shares."""
    zero = np.zeros(k)
    return FrequencyEstimate(zero, zero, zero, zero, zero + 1, explained=True)


def _frequencies(counts: np.ndarray, matrix: np.ndarray, level: float, about: str) -> FrequencyEstimate:
    (k, m), n = matrix.shape, int(counts.sum())
    shares, weights = counts / n, unbiased_weights(matrix)
    unbiased = shares @ weights
    if about == "population":
        spread = np.diag(shares) - np.outer(shares, shares)
        divisor = n - 1
    else:
        spread = np.diag(shares) - matrix.T @ np.diag(unbiased) @ matrix
        divisor = n
    variances = np.maximum(np.diag(weights.T @ spread @ weights), 0)
    errors = np.sqrt(variances / divisor) if divisor else np.full(k, np.nan)
    # two reports have one binomial count; of more, each has its part of the allowance
    events = m if m > 2 else 1
    low, high = rate_interval(counts, n, level=1 - (1 - level) / events, method=_METHODS[about])
    ends = share_bounds(matrix, low - SLACK, high + SLACK)
    shares_low, shares_high = ends if ends is not None else (np.zeros(k), np.ones(k))
    return FrequencyEstimate(
        nearest_shares(unbiased), unbiased, errors, shares_low, shares_high, explained=ends is not None
    )


def share_bounds(matrix: Any, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the extremes of each share of inputs for which the shares of reports lie within given ends.

    For any weights y of the reports, and shares s with low ≤ sQ ≤ high,

        s_i = sQy + s(e_i − Qy) ≤ Σ_j max(y_j low_j, y_j high_j) + max over inputs of (e_i − Qy).

    A linear program finds good weights. The bound is then computed from the weights, so it holds however the program
    rounded.

    Parameters
    ----------
    matrix : ndarray of shape (k, m)
        The channel Q.
    low, high : ndarray of shape (m,)
        Ends for the shares of the reports.

    Returns
    -------
    (ndarray, ndarray) or None
        Ends for the k shares, in [0, 1]; None if no shares are possible.
    """
    from scipy.optimize import linprog

    matrix = np.asarray(matrix, dtype=float)
    k, m = matrix.shape
    # how far the ends must be moved apart before some shares fit
    fits = linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=np.block([[matrix.T, -np.ones((m, 1))], [-matrix.T, -np.ones((m, 1))]]),
        b_ub=np.append(high, -np.asarray(low)),
        A_eq=np.append(np.ones(k), 0.0)[None, :],
        b_eq=[1.0],
    )
    if fits.status != 0 or fits.fun > SLACK:
        return None
    # weights y = u − v with u, v ≥ 0, and t at least every e_i − Qy
    constraints = np.hstack([-matrix, matrix, -np.ones((k, 1))])
    costs = np.concatenate([high, -np.asarray(low), [1.0]])
    sides = [(0, None)] * (2 * m) + [(None, None)]
    ends = []
    for sign in (-1.0, 1.0):
        bounds = []
        for wanted in sign * np.eye(k):
            found = linprog(costs, A_ub=constraints, b_ub=-wanted, bounds=sides)
            weights = found.x[:m] - found.x[m:-1] if found.status == 0 else np.zeros(m)
            reached = np.maximum(weights * low, weights * high).sum() + (wanted - matrix @ weights).max()
            bounds.append(reached + SLACK * (1 + abs(weights).max()) * 1e-3)
        ends.append(sign * np.array(bounds))
    return np.clip(ends[0], 0, 1), np.clip(ends[1], 0, 1)


def nearest_shares(values: np.ndarray) -> np.ndarray:
    """Return the shares of at least 0 with sum 1 that are nearest to some numbers.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Any numbers.

    Returns
    -------
    ndarray of shape (k,)
        The projection: all values less one number, and 0 where that is negative.
    """
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(values) + 1)
    return np.maximum(values - excess[np.flatnonzero(ordered > excess)[-1]], 0)


def _invertible(channel: Any) -> np.ndarray:
    """Return the channel's matrix as floats, or refuse it with two distributions that it confuses."""
    matrix = channel.realized().matrix if isinstance(channel, Randomizer) else as_channel(channel, "channel")
    if rank_and_condition(matrix)[0] < len(matrix):
        one, other = map(in_words, confused_shares(matrix) or ((), ()))
        raise ValueError(
            f"channel: found dependent rows: {one} gives the same distribution of reports as {other}, so no number of "
            "reports tells them apart; expected independent rows"
        )
    return matrix.astype(float)


def _as_reports(values: Any, matrix: np.ndarray, space: Space) -> Any:
    m = matrix.shape[1]
    array = space.astype(as_values(values, m, space, "reports"), space.whole)
    never = np.flatnonzero(~(matrix > 0).any(axis=0) & (space.counts(array, m) > 0))
    if len(never):
        raise ValueError(
            f"reports: found the report {never[0]}, expected only reports that the channel can make"
        )
    return array
