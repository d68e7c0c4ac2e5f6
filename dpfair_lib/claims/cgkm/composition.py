"""CGKM, Proposition 2: two releases with coins of their own are (2ε, 2δ)-DP, the second chosen as one likes."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.privacy.composition import basic_composition, optimal_composition_delta_from_odds
from dpfair_lib.privacy.finite_laws import composed, hockey_stick

LAWS = {
    2: np.array([(i, 8 - i) for i in range(9)]) / 8,
    3: np.array([law for law in itertools.product(range(5), repeat=3) if sum(law) == 4]) / 4,
}
LEVELS = tuple(itertools.product((1.5, 2.0, 3.0), (0.0, 0.125, 0.25)))


def check(
    *,
    join: Callable[..., Any] = composed,
    total: Callable[..., tuple[float, float]] = basic_composition,
    search: Search,
) -> Evidence:
    """Judge all pairs of private pairs of laws, in both orders, and the worst adaptive choice after each."""
    for outcomes, (odds, delta) in itertools.product(LAWS, LEVELS):
        search.part("two releases")
        first, second = private_pairs(LAWS[outcomes], odds, delta)
        spent = total(math.log(odds), delta, 2)
        case: dict[str, Any] = {"odds": odds, "delta": delta, "outcomes": outcomes}
        # axes: first release, second release, outcome of the first, outcome of the second
        laws = [
            join(
                law[:, None, :],
                np.broadcast_to(law[None, :, None, :], (len(law), len(law), outcomes, outcomes)),
            )
            for law in (first, second)
        ]
        for law in laws:
            search.observe(-abs(law.sum(axis=(2, 3)) - 1).ravel(), case, tolerance=1e-12)
        together = [law.reshape(len(law), len(law), -1) for law in laws]
        search.equal(math.exp(spent[0]), odds**2, case, tolerance=1e-12)
        worst = hockey_stick(together[0], together[1], odds**2)
        search.observe((spent[1] - worst).ravel(), case, tolerance=1e-12)
        search.part("the second chosen after seeing the first")
        gains = np.maximum(laws[0] - odds**2 * laws[1], 0).sum(axis=-1)  # per outcome of the first
        adaptive = gains.max(axis=1).sum(axis=-1)
        search.observe(spent[1] - adaptive, case, tolerance=1e-12)
        search.part("no more than the exact composition")
        exact = optimal_composition_delta_from_odds(Fraction(odds), Fraction(delta), 2, Fraction(odds) ** 2)
        search.equal(exact, 1 - (1 - Fraction(delta)) ** 2, case)
        search.observe(float(exact) - adaptive, case, tolerance=1e-12)
        if delta > 0 and outcomes == 2:  # laws in eighths reach it
            most = float(adaptive.max())
            search.sharper(float(exact) - most, 2 * delta - most, case, tolerance=1e-12)
    search.exhausts(
        "pairs of distributions on two outcomes in eighths and on three in quarters, private at nine levels, "
        "any after any",
        # two sums and a distance of each pair of pairs, an adaptive choice after each, against two bounds
        cases=sum(3 * pairs**2 + 2 * pairs + 2 for pairs in _pairs_counted()),
    )
    _more_releases(total, search)
    _coins_of_their_own(search)
    return search.evidence()


@functools.cache
def _pairs_counted() -> list[int]:
    """Return how many pairs of laws are private at each level, in whole numbers."""
    found = []
    for laws, (odds, delta) in itertools.product(LAWS.values(), LEVELS):
        units = [[int(8 * value) for value in law] for law in laws.tolist()]
        twice, allowed = int(2 * odds), int(16 * delta)  # all odds are halves, all δ are eighths
        found.append(
            sum(
                sum(max(2 * p - twice * q, 0) for p, q in zip(one, two, strict=True)) <= allowed
                and sum(max(2 * q - twice * p, 0) for p, q in zip(one, two, strict=True)) <= allowed
                for one, two in itertools.product(units, repeat=2)
            )
        )
    return found


def _more_releases(total: Callable[..., tuple[float, float]], search: Search) -> None:
    """As many times ε and δ as there are releases; the worst mechanisms together need no more."""
    search.part("more releases")
    for (odds, delta), releases in itertools.product(LEVELS, (1, 2, 3, 7)):
        case = {"odds": odds, "delta": delta, "releases": releases}
        epsilon, failure = total(math.log(odds), delta, releases)
        search.equal(epsilon, releases * math.log(odds), case, tolerance=1e-12)
        search.equal(failure, releases * delta, case, tolerance=1e-12)
        exact = optimal_composition_delta_from_odds(
            Fraction(odds), Fraction(delta), releases, Fraction(odds) ** releases
        )
        search.observe(failure - float(exact), case, tolerance=1e-12)


def private_pairs(laws: np.ndarray, odds: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return all ordered pairs of laws that are (ε, δ)-close in both directions."""
    first = np.repeat(laws, len(laws), axis=0)
    second = np.tile(laws, (len(laws), 1))
    near = (hockey_stick(first, second, odds) <= delta) & (hockey_stick(second, first, odds) <= delta)
    return first[near], second[near]


def _coins_of_their_own(search: Search) -> None:
    """A fair coin, and the coin plus the secret bit: each reveals nothing, both together reveal the bit."""
    coin = np.array([0.5, 0.5])
    together = [np.array([[0.5, 0], [0, 0.5]]), np.array([[0, 0.5], [0.5, 0]])]  # coin, coin plus bit
    for law in together:
        search.equal(float(abs(law.sum(axis=0) - coin).max() + abs(law.sum(axis=1) - coin).max()), 0, {})
    shared = hockey_stick(together[0].ravel(), together[1].ravel(), 1)
    search.equal(float(shared), 1, {"coins": "shared"})
    search.fact("shared_coins", float(shared), "δ of two releases with ε = δ = 0 that share their coins")


FAULTS: dict[str, dict[str, Any]] = {
    "two releases whatever their number": {"total": lambda e, d, k: basic_composition(e, d, min(k, 2))},
    "ε counted once": {"total": lambda e, d, k: (e, k * d)},
    "δ counted once": {"total": lambda e, d, k: (k * e, d)},
    "the second law used for both": {
        "join": lambda first, second: composed(0 * first + second[..., 0, :], second)
    },
    "outcomes told together only if equal": {
        "join": lambda first, second: composed(first, second) * np.eye(second.shape[-1])
    },
}


CLAIM = Claim(
    id="cgkm.composition",
    where="Proposition 2, Appendix A",
    statement="Releasing the outputs of two (ε, δ)-DP algorithms on the same data is (2ε, 2δ)-DP.",
    verdict="holds",
    finding="True, and the second algorithm may be chosen after seeing the first's output; exactly, δ becomes 1 − "
    "(1 − δ)². It needs coins of their own for the two: with shared coins two releases that tell nothing "
    "can tell everything together.",
    chapter="cgkm-tools",
    headline="Holds, and more exactly: δ becomes 1 − (1 − δ)² rather than 2δ, if the releases have coins "
    "of their own.",
    kind="sharper",
    impact="none",
    because="The proposition holds as printed; the exact δ is smaller.",
    check=check,
    faults=FAULTS,
)
