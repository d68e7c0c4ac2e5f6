"""Noise and open failure under one common limit: at most twice δ, and nearly as much."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.privacy import Mechanism, gaussian_delta, gaussian_sigma
from dpfair_lib.privacy.budgets.adaptive_releases import adaptive_delta
from dpfair_lib.privacy.budgets.filters import gaussian_distance

UNITS, MOST = (0.25, 0.4), 6
MENUS = (
    ((1, 0.0), (1, 0.01)),
    ((2, 0.0), (1, 0.004), (1, 0.02)),
    ((1, 0.0), (4, 0.0), (2, 0.01)),
    ((3, 0.0), (1, 0.03)),
    ((4, 0.0), (1, 0.05), (1, 0.001)),
)
LEVELS = tuple(itertools.product((0.5, 1.0, 2.0), (0.02, 0.05, 0.1)))
SHARES = np.linspace(0.02, 0.98, 25)
SETTINGS = ((1.0, 0.05), (1.0, 1e-3), (1.0, 1e-5), (3.0, 1e-5), (3.0, 1e-8), (0.2, 1e-4))
EDGES = np.linspace(-10, 10, 2001)


def check(
    *,
    search: Search,
    worst: Callable[..., float] = adaptive_delta,
    distance: Callable[..., float] = gaussian_distance,
    profile: Callable[..., float] = gaussian_delta,
    sigma: Callable[..., float] = gaussian_sigma,
) -> Evidence:
    """Every way to choose stays within twice δ; two Gaussian releases, or one and a failure, come near it."""
    _every_way_to_choose(worst, distance, profile, search)
    _noise_or_failure(profile, sigma, search)
    return search.evidence()


@once
def _every_way_to_choose(
    worst: Callable[..., float], distance: Callable[..., float], profile: Callable[..., float], search: Search
) -> None:
    """All lists for which the δ of the noise and that of the failures add up to at most δ."""
    search.part("every way to choose")
    largest = 0.0
    for menu, (epsilon, delta), unit in itertools.product(MENUS, LEVELS, UNITS):
        squares = [distance(Mechanism("stated", m * unit)) ** 2 for m, _ in menu]

        @functools.cache
        def together(
            counts: tuple[int, ...], menu: Any = menu, squares: Any = squares, at: float = epsilon
        ) -> float:
            square = sum(n * one for n, one in zip(counts, squares, strict=True))
            failing = sum(n * fails for n, (_, fails) in zip(counts, menu, strict=True))
            return failing + (profile(at, 2 / math.sqrt(square), 2.0) if square else 0.0)

        limits = functools.partial(_within, together=together, delta=delta)
        found = worst(menu, epsilon, limits, unit=unit, most=MOST)
        search.observe(2 * delta - found, {"ε": epsilon, "δ": delta, "releases": menu}, tolerance=1e-12)
        # a list of one release is chosen by nothing, and a pure or failing release alone is known exactly
        alone = worst(menu, epsilon, functools.partial(_one, limits=limits), unit=unit, most=1)
        exact = max(
            (_exactly(m * unit, fails, epsilon) for (m, fails), own in _single(menu, limits) if own),
            default=0.0,
        )
        search.equal(alone, exact, {"ε": epsilon, "δ": delta, "releases": menu}, tolerance=1e-12)
        for (m, fails), own in _single(menu, limits):  # the limits cover what one release reveals
            if own:
                search.observe(
                    delta - _exactly(m * unit, fails, epsilon),
                    {"ε": epsilon, "δ": delta, "m": m},
                    tolerance=1e-12,
                )
        largest = max(largest, found / delta)
    search.exhausts(
        "all ways to choose up to six releases from ten menus of noise and failure, at nine levels",
        cases=len(MENUS) * len(LEVELS) * len(UNITS),
    )
    search.fact(
        "responses", round(largest, 3), "largest multiple of δ that randomised responses and failures reach"
    )


def _within(counts: tuple[int, ...], *, together: Callable[..., float], delta: float) -> bool:
    return together(counts) <= delta


def _one(counts: tuple[int, ...], *, limits: Callable[..., bool]) -> bool:
    return sum(counts) == 1 and limits(counts)


def _single(menu: Any, limits: Callable[..., bool]) -> list[tuple[tuple[int, float], bool]]:
    return [
        (one, limits(tuple(int(place == at) for place in range(len(menu))))) for at, one in enumerate(menu)
    ]


def _exactly(own: float, fails: float, epsilon: float) -> float:
    """Return δ at ε of one release that fails openly, or is randomised response of an ε of its own."""
    rises = 1 / (1 + math.exp(-own))
    return fails + (1 - fails) * rises * max(-math.expm1(epsilon - own), 0.0)


@once
def _noise_or_failure(profile: Callable[..., float], sigma: Callable[..., float], search: Search) -> None:
    """First Gaussian noise, then for each result the better of more noise and open failure.

    The first result is sorted into bins, which reveals no more. So each sum is a lower bound on what the two reveal.
    """
    search.part("noise, then the better of noise and failure")
    most, where = 0.0, SETTINGS[0]
    for epsilon, delta in SETTINGS:
        for moved in (1.0, 3.0):
            whole = moved / sigma(epsilon, delta, moved, "analytic")
            for share in SHARES:
                found = _revealed(epsilon, delta, whole, float(share), profile)
                case = {"ε": epsilon, "δ": delta, "share of the first": float(share)}
                search.observe(2 * delta - found, case, tolerance=1e-12)
                search.observe(found - delta, case | {"claim": "no less than δ"}, tolerance=1e-3 * delta)
                if found / delta > most:
                    most, where = found / delta, (epsilon, delta)
    search.fact("largest", round(most, 3), "largest multiple of δ that noise and failure are shown to reach")
    search.part("what cannot be left out")
    case = {"ε": where[0], "δ": where[1]}
    search.needs("the factor 2: with 1.96", slack=(1.96 - most) * where[1], case=case)
    search.needs(
        "limits of their own: with δ itself as the common limit", slack=(1 - most) * where[1], case=case
    )


def _revealed(
    epsilon: float, delta: float, whole: float, share: float, profile: Callable[..., float]
) -> float:
    from scipy.special import log_ndtr, ndtr

    first, rest = whole * math.sqrt(share), whole * math.sqrt(1 - share)
    fails = delta - profile(epsilon, 1 / first, 1.0)
    # under the first data set the result is N(μ, 1), under the other N(0, 1); written from the first's mean
    chance, other = np.diff(ndtr(EDGES)), np.diff(ndtr(EDGES + first))
    # where both are near 1 differences of the lower tails would lose all digits
    high = EDGES[:-1] > 0
    chance[high] = -np.diff(ndtr(-EDGES))[high]
    high = EDGES[:-1] + first > 0
    other[high] = -np.diff(ndtr(-EDGES - first))[high]
    kept = (chance > 0) & (other > 0)
    left = epsilon - np.log(chance[kept] / other[kept])
    noise = ndtr(rest / 2 - left / rest) - np.exp(left + log_ndtr(-rest / 2 - left / rest))
    openly = fails + (1 - fails) * np.maximum(-np.expm1(left), 0)
    return float((chance[kept] * np.maximum(noise, openly)).sum())


FAULTS: dict[str, dict[str, Any]] = {
    "failures three times as likely": {
        "worst": lambda menu, *rest, **how: adaptive_delta([(m, 3 * fails) for m, fails in menu], *rest, **how)
    },
    "every release reveals twice as much": {
        "worst": lambda menu, *rest, unit, most: adaptive_delta(menu, *rest, unit=2 * unit, most=most)
    },
    "half of each distance": {"distance": lambda mechanism: gaussian_distance(mechanism) / 4},
    "a profile of half of the noise": {
        "profile": lambda epsilon, deviation, moved: gaussian_delta(epsilon, deviation / 2, moved)
    },
    "a profile of twice the noise": {
        "profile": lambda epsilon, deviation, moved: gaussian_delta(epsilon, 2 * deviation, moved)
    },
    "noise for twice the δ": {"sigma": lambda epsilon, delta, *rest: gaussian_sigma(epsilon, 2.1 * delta, *rest)},
    "noise for half of the δ": {"sigma": lambda epsilon, delta, *rest: gaussian_sigma(epsilon, delta / 2, *rest)},
}  # fmt: skip


CLAIM = Claim(
    id="ours.no-exchange",
    where="Composition, Result 4",
    statement="Let releases be chosen by the earlier results: Gaussian ones, and ones that fail openly. If the list "
    "stops before the δ of all noise and the chances of all failures together exceed δ, it is (ε, 2δ)-private, and in "
    "general not (ε, 1.96 δ)-private.",
    statement_uses=("ours.grown-lists",),
    verdict="holds",
    finding="One Gaussian release, then the better of more noise and open failure, comes near twice δ. So the two need "
    "limits of their own, which are set beforehand.",
    headline="If noise and open failure may be exchanged on the way, releases reveal up to twice δ: each needs a limit "
    "of its own.",
    kind="theorem",
    chapter="composition",
    check=check,
    faults=FAULTS,
)
