"""The least Gaussian release that is never harder to tell apart: every test of Laplace noise and of stated ε."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.privacy import Mechanism
from dpfair_lib.privacy.budgets.filters import gaussian_distance

RATIOS = [10.0**power for power in np.linspace(-7, 1.8, 81)]
PURE: tuple[Literal["laplace", "stated"], ...] = ("laplace", "stated")
POINTS = 700
ROUNDED = 1e-9  # of logarithms of errors


def check(*, search: Search, distance: Callable[..., float] = gaussian_distance) -> Evidence:
    """No test errs less than a test of the Gaussian release does, and in the middle the two are equal."""
    for ratio in RATIOS:
        _laplace(distance, ratio, search)
        _stated(distance, ratio, search)
    _small(distance, search)
    _what_is_needed(distance, search)
    return search.evidence()


def _laplace(distance: Callable[..., float], ratio: float, search: Search) -> None:
    """All tests that select above a threshold; their errors are the curve of Laplace noise.

    Both curves are symmetric, so the tests whose first error is the larger one suffice.
    """
    search.part("Laplace noise")
    found = distance(Mechanism("laplace", ratio))
    # 1/2 − Φ(−μ/2) = 1/2 − e^(−a/2)/2
    _touches(found, -math.expm1(-ratio / 2), -ratio / 2, {"ratio": ratio}, search)
    threshold = ratio / 2 - np.linspace(0, ratio / 2 + 30, POINTS)
    inside = threshold >= 0
    first = np.where(inside, -math.log(2) - threshold, np.log1p(-np.exp(np.minimum(threshold, 0)) / 2))
    second = -math.log(2) + threshold - ratio
    _beside(found, first, second, {"ratio": ratio, "threshold": threshold}, search)


def _stated(distance: Callable[..., float], ratio: float, search: Search) -> None:
    """Randomised response at ε: the errors of its tests lie on two lines, which meet in the middle."""
    search.part("stated ε")
    found = distance(Mechanism("stated", ratio))
    _touches(
        found, math.tanh(ratio / 2), math.log(2) - ratio - math.log1p(math.exp(-ratio)), {"ε": ratio}, search
    )
    middle = -ratio - math.log1p(math.exp(-ratio))  # of the logarithm of the error
    share = np.linspace(0, 1, POINTS, endpoint=False)  # of the way from there to (1, 0)
    first = np.log(math.exp(middle) + share * -math.expm1(middle))
    _beside(found, first, middle + np.log1p(-share), {"ε": ratio, "share": share}, search)


def _touches(found: float, apart: float, logarithm: float, case: dict[str, Any], search: Search) -> None:
    """Judge that the two errors of the middle test are equal: Φ(−μ/2) = (1 − apart)/2, whose double is e^logarithm."""
    from scipy.special import erf, log_ndtr

    if apart < 0.5:  # where the errors are near 1/2, their distance from it counts
        # below a ratio of 1e-4 the library takes the tangent, which is above the least μ by a quarter of the ratio
        tolerance = 2e-8 if apart > 1e-4 else 1e-4
        search.equal(float(erf(found / math.sqrt(8))) / apart, 1, case, tolerance=tolerance)
    else:
        search.equal(float(log_ndtr(-found / 2)) + math.log(2), logarithm, case, tolerance=ROUNDED)


def _beside(
    found: float, first: np.ndarray, second: np.ndarray, case: dict[str, Any], search: Search
) -> None:
    """Judge that at each first error (its logarithm is given) the Gaussian release has no larger second one."""
    search.observe(second - _second_error(found, first), case, tolerance=ROUNDED)


def _second_error(distance: float, first: Any) -> Any:
    """Return the logarithm of the least second error of tests of N(0, 1) against N(μ, 1)."""
    from scipy.special import log_ndtr, ndtri_exp

    return log_ndtr(-ndtri_exp(first) - distance)


def _small(distance: Callable[..., float], search: Search) -> None:
    search.part("small ratios")
    for kind in PURE:
        quotient = distance(Mechanism(kind, 1e-6)) / 1e-6
        search.equal(quotient, math.sqrt(math.pi / 2), {"kind": kind}, tolerance=1e-6)
    search.equal(distance(Mechanism("gaussian", 0.7)), 0.7, {"kind": "gaussian"})
    search.fact("factor", round(quotient, 4), "μ as a multiple of ε, at ε = 10⁻⁶")


def _what_is_needed(distance: Callable[..., float], search: Search) -> None:
    search.part("a smaller distance")
    for kind, middle in zip(PURE, (-0.5 - math.log(2), -1 - math.log1p(math.exp(-1))), strict=True):
        less = float(_second_error(0.999 * distance(Mechanism(kind, 1.0)), middle))
        name = {"laplace": "Laplace noise of ratio 1", "stated": "a release of which ε = 1 is known"}[kind]
        search.needs(f"the distance of {name}: with 0.999 of it", slack=middle - less, case={"kind": kind})


def _as(kind: Any) -> Callable[[Mechanism], float]:
    return lambda mechanism: gaussian_distance(Mechanism(kind, mechanism.ratio))


FAULTS: dict[str, dict[str, Any]] = {
    "the ratio itself": {"distance": _as("gaussian")},
    "all noise as Laplace noise": {"distance": _as("laplace")},
    "only ε known of all noise": {"distance": _as("stated")},
    "the line through small ratios": {"distance": lambda mechanism: math.sqrt(math.pi / 2) * mechanism.ratio},
    "a thousandth less": {"distance": lambda mechanism: 0.999 * gaussian_distance(mechanism)},
    "a thousandth more": {"distance": lambda mechanism: 1.001 * gaussian_distance(mechanism)},
}


CLAIM = Claim(
    id="ours.gaussian-distance",
    where="Composition, Result 3",
    statement="The least μ for which N(μ, 1) and N(0, 1) are never harder to tell apart is 2Φ⁻¹(1 − e^(−a/2)/2) for "
    "Laplace noise of ratio a, and 2Φ⁻¹(1 − 1/(1 + e^ε)) for a release of which ε alone is known.",
    verdict="holds",
    finding="Both curves of errors touch that of the Gaussian release in the middle and nowhere cross it. For small "
    "arguments μ is about √(π/2) times the argument.",
    headline="In the currency of Gaussian releases, a release with a small pure ε costs about √(π/2) times ε, and "
    "nothing less will do.",
    kind="theorem",
    chapter="composition",
    check=check,
    faults=FAULTS,
)
