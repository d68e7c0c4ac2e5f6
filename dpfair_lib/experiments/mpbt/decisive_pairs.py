"""Two data sets that differ in one label and whose logistic minimisers are far apart, and how far any two can be."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from dpfair_lib.privacy.minimisers import logistic_perturbation_sensitivity, minimiser_reach

_STEPS = 120  # of bisection: to the last digit
_TRIED = 200  # components of the others that are tried


def decisive_rows(bound: float, n: int, component: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of norm ``bound`` in three dimensions, and the labels of one data set of the pair.

    The first row is the one whose label changes. An even number of others have the given component along it and
    opposite ones across, so that what is across cancels. If one is left, it lies along the third axis.
    """
    rows, across = np.zeros((n, 3)), np.sqrt(bound**2 - component**2)
    others = even_others(n)
    rows[0, 0], rows[others + 1 :, 2] = bound, bound
    rows[1 : others + 1, 0] = component
    rows[1 : others + 1, 1] = across * np.tile([1.0, -1.0], others // 2)
    return rows, np.ones(n)


def even_others(n: int) -> int:
    """Return the largest even number below n."""
    return (n - 1) // 2 * 2


def decisive_moves(bound: float, n: int, modulus: float, components: np.ndarray) -> np.ndarray:
    """Return how far the minimiser moves when the label of the first of `decisive_rows` changes, for each component.

    Along the first axis the minimisers are the roots of nμw = msσ(−sw) + Λσ(−Λw) and nμw = msσ(−sw) − Λσ(Λw), with m
    others of component s; along the others both minimisers are equal.

    Parameters
    ----------
    bound : float
        Λ, the norm of the rows.
    n : int
        Number of records, 3 or more.
    modulus : float
        μ: the mean loss + μ‖w‖²/2 is minimised.
    components : ndarray
        s, from 0 to Λ.
    """
    s, others = np.asarray(components, dtype=float), even_others(n)
    ends = []
    for sign in (1.0, -1.0):
        low, high = np.full(s.shape, -bound / modulus), np.full(s.shape, bound / modulus)
        for _ in range(_STEPS):
            w = (low + high) / 2
            pull = (others * s * expit(-s * w) + sign * bound * expit(-sign * bound * w)) / n
            below = modulus * w < pull
            low, high = np.where(below, w, low), np.where(below, high, w)
        ends.append(low)
    return ends[0] - ends[1]


def decisive_move(bound: float, n: int, modulus: float) -> float:
    """Return the largest of `decisive_moves` over a range of components."""
    tried = np.concatenate([[0.0], np.geomspace(bound / (50 * n), bound, _TRIED)])
    return float(decisive_moves(bound, n, modulus, tried).max())


def farthest_move(bound: float, n: int, modulus: float) -> float:
    """Return a distance that two logistic minimisers do not exceed if one record differs.

    The sensitivity of the logistic loss, or twice the reach of any minimiser, whichever is less.
    """
    sensitivity = logistic_perturbation_sensitivity(lipschitz=bound, strong_convexity=modulus, n=n)
    return min(sensitivity, 2 * minimiser_reach(bound**2 / modulus) / bound)
