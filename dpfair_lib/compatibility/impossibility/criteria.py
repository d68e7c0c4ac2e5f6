"""Criteria for hypotheses on a distribution: fairness up to a threshold, and beating every constant.

Distributions are tables of weights, shape (..., n_x, k, 2), entry [x, a, y]; hypotheses are tables of
probabilities of a 1, shape (..., n_x, k), in units of 1/one. Leading axes broadcast. Nothing is divided, so that
whole numbers and `Fraction` entries are judged exactly, and weights need not sum to 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

Criterion = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""Says of each (table, hypothesis) whether it is met; the third argument is what stands for a probability of 1."""

Notion = Literal["opportunity", "odds", "parity"]
NOTIONS: tuple[Notion, ...] = get_args(Notion)
_LARGE = 2**20
_LABELS: dict[Notion, tuple[tuple[int, ...], ...]] = {
    "opportunity": ((1,),),
    "odds": ((0,), (1,)),
    "parity": ((0, 1),),
}


def cell_rates(table: np.ndarray, h: np.ndarray, labels: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight that h selects among people of these labels, and their weight, for each group.

    Parameters
    ----------
    table : array of shape (..., n_x, k, 2)
        Weights.
    h : array of shape (..., n_x, k)
        Hypotheses.
    labels : tuple of int
        (1,) for true positive rates, (0,) for false positive rates, (0, 1) for selection rates.

    Returns
    -------
    selected, everyone : array of shape (..., k)
        Their quotient is the conditional rate γ.

    Raises
    ------
    ValueError
        If a group has nobody of these labels: its rate is not defined.
    """
    weights = table[..., list(labels)].sum(axis=-1)
    everyone = weights.sum(axis=-2)
    if not (everyone > 0).all():
        group = np.argwhere(~(everyone > 0))[0][-1]
        raise ValueError(
            f"table: found a group ({group}) with nobody of label {labels}, expected P(Y, A) > 0: "
            "its rate is not defined"
        )
    return (weights * h).sum(axis=-2), everyone


def fair_within(notion: Notion, threshold: Fraction | int = 0) -> Criterion:
    """Return the criterion that two groups' rates differ by at most ``threshold``.

    Parameters
    ----------
    notion : {"opportunity", "odds", "parity"}
        Which rates: true positive rates (equal opportunity), true and false positive rates (equalized odds), or
        selection rates (demographic parity).
    threshold : Fraction or int
        0 for exact fairness.

    Returns
    -------
    Criterion
        For `acceptable_hypotheses` and `pure_dp_feasible`.

    Raises
    ------
    ValueError
        If there is no such notion, or if the threshold is not an exact number in [0, 1].

    References
    ----------
    Cummings et al. (2019), Definitions 4 and 5 and the remarks after Theorem 1.

    Examples
    --------
    The first hypothesis selects the positive people of one group only.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.compatibility import fair_within
    >>> population = dpf.Population([Fraction(1, 4)] * 4, x=[0, 1, 0, 1], a=[0, 0, 1, 1], y=[0, 1, 0, 1])
    >>> hypotheses = [[[0, 0], [1, 0]], [[0, 0], [1, 1]]]
    >>> dpf.acceptable_hypotheses(population, hypotheses, fair_within("opportunity"), None)
    array([False,  True])
    """
    if notion not in NOTIONS:
        raise ValueError(f"notion: found {notion!r}, expected one of {', '.join(NOTIONS)}")
    if isinstance(threshold, bool) or not isinstance(threshold, int | Fraction) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold: found {threshold!r}, expected a whole number or Fraction in [0, 1]")
    above, below = Fraction(threshold).as_integer_ratio()

    def criterion(table: np.ndarray, h: np.ndarray, one: int = 1) -> np.ndarray:
        met: Any = True
        if below > _LARGE:  # 64 bits might not hold the products
            table = table.astype(object)
        for difference, weight in _differences(table, h, notion):
            met = met & (below * abs(difference) <= above * one * weight)
        return np.asarray(met, dtype=bool)

    return criterion


def _differences(table: np.ndarray, h: np.ndarray, notion: Notion) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the differences of rates, multiplied by the product of both weights, and that product."""
    for labels in _LABELS[notion]:
        selected, everyone = cell_rates(table, h, labels)
        for a, b in itertools.combinations(range(table.shape[-2]), 2):
            cross = selected[..., a] * everyone[..., b] - selected[..., b] * everyone[..., a]
            yield cross, everyone[..., a] * everyone[..., b]


def opportunity_gap(table: np.ndarray, h: np.ndarray) -> Any:
    """Return Γ, the difference of the true positive rates of two groups, as an exact number or an array.

    Parameters
    ----------
    table : array of shape (..., n_x, 2, 2)
        Weights, of `Fraction` where the gap is to be exact.
    h : array of shape (..., n_x, 2)
        Hypotheses.

    Raises
    ------
    ValueError
        If a group has no positives.
    """
    selected, everyone = cell_rates(table, h, (1,))
    rates = selected / everyone
    return abs(rates[..., 0] - rates[..., 1])


def worst_gap(h: np.ndarray) -> Any:
    """Return the largest gap of true positive rates that h has on any distribution with positives in both groups.

    It is the largest |h(x, 0) − h(x′, 1)|, attained where the positives of each group are at one point; for selection
    rates, or false positive rates, it is the same number.

    Parameters
    ----------
    h : array of shape (n_x, 2)

    Returns
    -------
    number
        0 for constants, 1 for every other deterministic h.
    """
    return abs(h[:, None, 0] - h[None, :, 1]).max()


def beats_constants(*, strict: bool = True) -> Criterion:
    """Return the criterion that a hypothesis errs less often than both constant classifiers.

    If not strict, it may err as often as they do. A hypothesis satisfies the criterion if and only if most people whom
    it selects are positive and most whom it rejects are negative: with σ = P(·, Y = 1) − P(·, Y = 0) this is Σ h·σ > 0
    and Σ (1 − h)·σ < 0. A randomised constant errs at least as often as the better of the two constants.

    References
    ----------
    Cummings et al. (2019), § 3, opening paragraph.

    Examples
    --------
    One person in two is positive. The feature says who; the constant 1 errs as often as the constant 0.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.compatibility import beats_constants
    >>> population = dpf.Population([Fraction(1, 4)] * 4, x=[0, 1, 0, 1], a=[0, 0, 1, 1], y=[0, 1, 0, 1])
    >>> hypotheses = [[[0, 0], [1, 1]], [[1, 1], [1, 1]]]
    >>> dpf.acceptable_hypotheses(population, hypotheses, None, beats_constants())
    array([ True, False])
    >>> dpf.acceptable_hypotheses(population, hypotheses, None, beats_constants(strict=False))
    array([ True,  True])
    """

    def criterion(table: np.ndarray, h: np.ndarray, one: int = 1) -> np.ndarray:
        surplus = table[..., 1] - table[..., 0]
        selected = (h * surplus).sum(axis=(-2, -1))
        rejected = one * surplus.sum(axis=(-2, -1)) - selected
        if strict:
            return np.asarray((selected > 0) & (rejected < 0), dtype=bool)
        return np.asarray((selected >= 0) & (rejected <= 0), dtype=bool)

    return criterion


def is_usable(h: np.ndarray) -> np.ndarray:
    """Return whether a deterministic h can be exactly fair and beat every constant, on some distribution.

    It can if and only if it is not constant and selects somebody in each group: a group that h rejects wholly
    has the true positive rate 0, which the other group must then have too.

    Parameters
    ----------
    h : array of shape (..., n_x, k)
        Zeros and ones.

    Returns
    -------
    bool or array of bool
    """
    h = np.asarray(h)
    return np.asarray(h.any(axis=-2).all(axis=-1) & ~h.all(axis=(-2, -1)))
