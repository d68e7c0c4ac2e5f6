"""Draws against an exact law: yes-or-no questions with exact probabilities, binomial bounds, exact power.

How often n independent draws fall into an event of probability p is Binomial(n, p), whatever the law. A law is
rejected if one of its events comes more or less often than that allows, at a failure probability that is divided
evenly: the 1e-6 of the whole harness among the tests named in `TESTS`, and a test's share among the two sides of its
events. Nothing is asymptotic; the power against another law is a sum of binomial probabilities too.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

FAILURE = 1e-6
"""Of all tests of fit in one run of the suite together."""
TESTS = (
    *(f"{noise} {kind}" for noise in ("secure", "study") for kind in ("laplace", "gaussian", "geometric", "choice")),
    "response", "subsets from a table", "subsets one by one", "binary optimum", "any channel", "file",
    "secure discrete gaussian", "batches, system", "secure steps",
    "output perturbation, analytic", "output perturbation, classical", "output perturbation, laplace",
    "scaling constants", "steps, fused", "steps, opacus", "penalised steps", "batches", "batches, fused",
    "batches, opacus", "batches, penalised", "support vectors", "perturbed leader",
)  # fmt: skip
"""Every test of fit there is; each may be made once, at FAILURE / len(TESTS)."""

DRAWS = 100_000
AT = np.array([-6, -3, -2, -1, -0.3, 0, 0.3, 1, 2, 3, 6])
BEYOND = np.array([0.5, 1.5, 2, 4])


class Law(NamedTuple):
    """Exact probabilities of some events, and how to count them among draws."""

    chances: np.ndarray
    hits: Callable[[Any], np.ndarray]


def additive(cdf: Callable[[np.ndarray], Any], at: np.ndarray, beyond: np.ndarray) -> Law:
    """Noise on a number: is it at most a, is its size above t? On integers no t may be whole."""
    chances = np.concatenate([cdf(at), cdf(-beyond) + 1 - cdf(beyond)])

    def hits(errors: np.ndarray) -> np.ndarray:
        below = [(errors <= a).sum() for a in at]
        return np.array(below + [(abs(errors) > t).sum() for t in beyond])

    return Law(chances, hits)


def laplace(scale: float, asked_of: float | None = None) -> Law:
    """Return the law of Laplace noise; the events are those asked of another scale, if one is given."""
    unit = asked_of or scale
    return additive(
        lambda x: np.where(x < 0, np.exp(-abs(x) / scale) / 2, 1 - np.exp(-abs(x) / scale) / 2),
        AT * unit, BEYOND * unit,
    )  # fmt: skip


def gaussian(sigma: float, asked_of: float | None = None) -> Law:
    """As `laplace`."""
    unit = asked_of or sigma
    return additive(lambda x: ndtr(x / sigma), AT * unit, BEYOND * unit)


def geometric(scale: float, asked_of: float | None = None) -> Law:
    """P(k) = (1 − r)/(1 + r) r^|k| with r = e^(−1/b); P(K ≤ k) = r^(−k)/(1 + r) for k < 0, and by symmetry."""
    r = np.exp(-1 / scale)

    def cdf(x: np.ndarray) -> np.ndarray:
        k = np.floor(x)
        return np.where(k < 0, r ** abs(k), 1 + r - r ** (abs(k) + 1)) / (1 + r)

    return additive(cdf, np.arange(-9, 10), np.unique(np.floor(BEYOND * (asked_of or scale)) + 0.5))


def discrete_gaussian(scale: float, asked_of: float | None = None) -> Law:
    """P(k) ∝ e^(−k²/(2s²))."""
    k = np.arange(-np.ceil(20 * scale) - 1, np.ceil(20 * scale) + 2)
    chances = np.exp(-(k**2) / (2 * scale**2))
    below = np.cumsum(chances / chances.sum())

    def cdf(x: np.ndarray) -> np.ndarray:
        return below[np.searchsorted(k, np.floor(x))]

    return additive(cdf, np.arange(-7, 8), np.unique(np.floor(BEYOND * (asked_of or scale)) + 0.5))


def finite(chances: Any) -> Law:
    """Outcomes numbered from 0: does a draw have this one?"""
    p = np.asarray(chances, dtype=float)
    return Law(p, lambda drawn: np.bincount(drawn, minlength=len(p)))


def rejected(name: str, law: Law, draws: Any) -> bool:
    """Whether the draws contradict the law; if they have it, with probability at most FAILURE / len(TESTS)."""
    n, each = len(draws), _each(name, law)
    hits = law.hits(draws)
    too_few, too_many = binom.cdf(hits, n, law.chances) < each, binom.sf(hits - 1, n, law.chances) < each
    return bool((too_few | too_many).any())


def power(name: str, law: Law, other: Law, n: int = DRAWS) -> float:
    """The least probability with which n draws of the other law are rejected: that of the best single event."""
    each = _each(name, law)
    low, high = binom.ppf(each, n, law.chances), binom.isf(each, n, law.chances)
    # the quantiles are accepted; one step beyond is not, or it is to be on the safe side
    return float((binom.cdf(low - 2, n, other.chances) + binom.sf(high + 1, n, other.chances)).max())


def _each(name: str, law: Law) -> float:
    assert name in TESTS, f"{name} has no share of the failure probability"
    return FAILURE / len(TESTS) / (2 * len(law.chances))
