"""CGKM, after Theorem 1: α-fair, accurate and (ε, δ)-private, all three on every law that allows the first two."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    constant_error,
    error_by_definition,
    gap_by_definition,
    laws,
)
from dpfair_lib.compatibility.impossibility.acceptable import (
    acceptable_table,
    hypothesis_grid,
    neighbor_table,
    statistical_distance,
)
from dpfair_lib.compatibility.impossibility.criteria import beats_constants, fair_within
from dpfair_lib.compatibility.impossibility.feasibility import keeps_promises
from dpfair_lib.compatibility.impossibility.ladder import least_chain_delta
from dpfair_lib.compatibility.impossibility.mechanism_programs import largest_mass
from dpfair_lib.compatibility.impossibility.opposites import (
    nested_in_a_group,
    nested_laws,
    opposite_coins,
    opposite_laws,
    servable,
    usable_within,
)
from dpfair_lib.populations import Population

ALPHAS = (Fraction(0), Fraction(1, 10), Fraction(9, 10))
ZETAS = (Fraction(1, 50), Fraction(1, 7))
DELTAS = (Fraction(0), Fraction(99, 100), Fraction(1))
ACCURATE = beats_constants()

Laws = tuple[Population, Population]


def judge_all_three(
    usable: Callable[..., Any],
    coins: Callable[..., Laws],
    opposite: Callable[..., Laws],
    nested: Callable[..., Laws],
    serves: Callable[..., bool],
    ladder: Callable[..., Any],
    search: Search,
) -> None:
    """Judge which classes can be served at which δ, and what a margin of many steps changes."""
    _usable(usable, search)
    _accurate(coins, search)
    _opposite(opposite, search)
    _opposite_on_three_points(opposite, search)
    _nested(nested, search)
    _classes(serves, search)
    _with_a_margin(ladder, search)


def _chosen(alpha: Fraction, n: int = 2) -> np.ndarray:
    """Return the deterministic hypotheses on n points that can be α-fair and accurate somewhere."""
    grid = hypothesis_grid(n)
    return grid[usable_within(grid, alpha)]


@functools.cache
def _acceptable_somewhere(alpha: Fraction) -> np.ndarray:
    """Return which of the 16 hypotheses are acceptable on some law in sevenths, by enumeration."""
    met = acceptable_table(laws(7), hypothesis_grid(2), fair_within("opportunity", alpha), ACCURATE)
    return np.asarray(met.any(axis=0))


@once
def _usable(usable: Callable[..., Any], search: Search) -> None:
    """With a threshold everything but the constants, the group and its complement is acceptable somewhere."""
    search.part("all three: usable hypotheses")
    for alpha in (Fraction(0), Fraction(1, 2)):
        found = _acceptable_somewhere(alpha)
        search.agree(usable(hypothesis_grid(2), alpha), found, {"alpha": alpha, "h": np.arange(16)})
        for h, somewhere in zip(hypothesis_grid(2), found, strict=True):
            search.agree(usable(h, alpha), somewhere, {"alpha": alpha, "h": h.tolist()})


@once
def _accurate(coins: Callable[..., Laws], search: Search) -> None:
    """For accuracy alone: coins with a small surplus, on which any two that are not constant exclude each other."""
    search.part("accurate and private, with δ")
    for h, g in itertools.permutations([f for f in hypothesis_grid(2) if 0 < f.sum() < 4], 2):
        case = {"h": h.tolist(), "g": g.tolist()}
        zeta = ZETAS[int((h < g).any())]
        first, second = coins(h, g, zeta)
        search.equal(statistical_distance(first, second), zeta, case)
        one, other = (law.table[..., 1] - law.table[..., 0] for law in (first, second))
        search.agree(bool((one == -other).all()), True, case)
        met = acceptable_table((first, second), np.stack([h, g]), None, ACCURATE)
        search.agree(met.ravel(), np.array([True, False, False, True]), case)


@once
def _opposite(opposite: Callable[..., Laws], search: Search) -> None:
    """Two laws ζ apart: h is α-fair and accurate on the one, g on the other, nothing accurate on both."""
    search.part("all three: opposite laws")
    judged = 0
    for alpha in ALPHAS:
        for h, g in itertools.permutations(_chosen(alpha), 2):
            _one_pair(opposite, h, g, alpha, search)
            judged += 1
    search.exhausts(
        "all ordered pairs of usable hypotheses on two points, thresholds 0, 1/10 and 9/10, ζ = 1/50 or 1/7",
        cases=5 * (8 * 7 + 2 * 12 * 11),
    )


@once
def _opposite_on_three_points(opposite: Callable[..., Laws], search: Search) -> None:
    """Where hypotheses on three points are not nested in a group, exact fairness has opposite laws too."""
    three = list(itertools.permutations(_chosen(Fraction(0), 3), 2))[::47]
    for h, g in three:
        if not nested_in_a_group(h, g):
            _one_pair(opposite, h, g, Fraction(0), search)


def _one_pair(
    opposite: Callable[..., Laws], h: np.ndarray, g: np.ndarray, alpha: Fraction, search: Search
) -> None:
    case = {"h": h.tolist(), "g": g.tolist(), "alpha": alpha}
    room, opposed, served = _pair_found(opposite, h.tobytes(), g.tobytes(), len(h), alpha)
    search.observe(room, case)
    search.agree(opposed, True, case)
    for slack, accurate in served:
        search.observe(slack, case)
        search.agree(accurate, True, case)


@functools.cache
def _pair_found(
    opposite: Callable[..., Laws], h_bytes: bytes, g_bytes: bytes, points: int, alpha: Fraction
) -> tuple[Fraction, bool, list[tuple[Fraction, bool]]]:
    """Return ζ less the laws' distance, whether they are opposite, and for either hypothesis on its law two things.

    These are α less its gap, and whether it beats the constants.
    """
    h, g = (np.frombuffer(given, dtype=np.int64).reshape(points, 2) for given in (h_bytes, g_bytes))
    zeta = ZETAS[int((h < g).any())]
    first, second = opposite(h, g, zeta, alpha)
    one, other = (law.table[..., 1] - law.table[..., 0] for law in (first, second))
    opposed = bool((one * abs(other).sum() == -other * abs(one).sum()).all())
    served = []
    for f, law in ((h, first), (g, second)):
        table, values = law.table.tolist(), f.tolist()
        accurate = error_by_definition(table, values) < constant_error(table)
        served.append((alpha - gap_by_definition(table, values), accurate))
    return zeta - statistical_distance(first, second), opposed, served


@once
def _nested(nested: Callable[..., Laws], search: Search) -> None:
    """The pairs without opposite laws at α = 0: on one law only the larger is fair, on the other it is inaccurate."""
    search.part("all three: nested hypotheses")
    chosen = _chosen(Fraction(0), 3)
    pairs = [
        (top, below)
        for top, below in itertools.permutations(chosen, 2)
        if (below <= top).all() and nested_in_a_group(top, below)
    ]
    for top, below in pairs:
        zeta = ZETAS[int(top[0].all())]
        case = {"top": top.tolist(), "below": below.tolist(), "zeta": zeta}
        first, second = nested(top, below, zeta)
        search.observe(zeta - statistical_distance(first, second), case)
        met = acceptable_table((first, second), np.stack([top, below]), fair_within("opportunity"), ACCURATE)
        search.agree(met.ravel(), np.array([True, False, False, True]), case)
    search.equal(len(pairs), 12, {"points": 3})


def _two_laws(members: np.ndarray, alpha: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """Return what is acceptable, and who neighbours whom, on the two laws for a class (one law for a single member)."""
    chosen = members[usable_within(members, alpha)]
    first, *rest = (
        opposite_laws(*_pair(chosen), ZETAS[0], alpha) if len(chosen) > 1 else _alone(chosen[0], alpha)
    )
    family = [first, *rest]
    met = acceptable_table(family, members, fair_within("opportunity", alpha), ACCURATE)
    near = neighbor_table(family, ZETAS[0]) if rest else np.zeros((1, 1), dtype=bool)
    return met, near


def _pair(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return chosen[0], chosen[-1]


def _alone(h: np.ndarray, alpha: Fraction) -> list[Population]:
    """Return one law on which h is acceptable."""
    other = next(g for g in _chosen(alpha) if (g != h).any())
    return [opposite_laws(h, other, ZETAS[0], alpha)[0]]


@functools.cache  # nothing examined enters it
def _solved(alpha: Fraction) -> list[tuple[np.ndarray, dict[Fraction, bool], bool]]:
    """Return classes, at which δ a program over mechanisms on two laws is feasible, and whether none is on both."""
    chosen, found = _chosen(alpha), []
    classes = [[i] for i in range(len(chosen))]
    classes += [list(pair) for pair in itertools.combinations(range(len(chosen)), 2)] + [
        list(range(len(chosen)))
    ]
    for members in classes[:: 3 if alpha else 1] + classes[-1:]:
        met, near = _two_laws(chosen[members], alpha)
        feasible = {
            delta: largest_mass(
                met, near, factor=math.e, delta=float(delta), at=0, favoured=np.ones(len(members), dtype=bool)
            )
            is not None
            for delta in DELTAS
        }
        found.append((chosen[members], feasible, not met.all(axis=0).any()))
    return found


@functools.cache  # nothing examined enters it
def _excluded(numbers: tuple[int, ...]) -> bool:
    """Return whether either law has an acceptable member of a class at α = 0, and no member is on both."""
    met, _ = _two_laws(_chosen(Fraction(0))[list(numbers)], Fraction(0))
    return bool(met.any(axis=1).all() and not met.all(axis=0).any())


@once
def _classes(serves: Callable[..., bool], search: Search) -> None:
    """Two laws forbid every δ < 1 as soon as two hypotheses are usable; a second witness by linear programs."""
    search.part("all three: classes")
    refused = 0
    for alpha in ALPHAS[:2]:
        for members, feasible, disjoint in _solved(alpha):
            case = {"class": members.tolist(), "alpha": alpha}
            search.agree(disjoint, len(members) > 1, case)
            for delta, found in feasible.items():
                search.agree(serves(members, alpha, delta), found, case | {"delta": delta})
            refused += len(members) > 1
    # all classes of two points at α = 0: what is acceptable on the one law is not on the other
    for size in range(2, 9):
        for numbers in itertools.combinations(range(8), size):
            search.agree(_excluded(numbers), True, {"class": numbers})
            refused += 1
    search.exhausts("all 247 classes of two or more usable hypotheses on two points, α = 0", cases=247)
    search.fact(
        "classes_refused",
        refused,
        "classes with two usable hypotheses for which two distributions exclude every δ < 1",
    )


@once
def _with_a_margin(ladder: Callable[..., Any], search: Search) -> None:
    """Accuracy asked only where some h stays acceptable for many steps: coins climb, and a constant is what is left."""
    search.part("all three: with a margin")
    zeta, alpha, factor = Fraction(1, 24), Fraction(1, 2), Fraction(3)
    pair = np.array([[[0, 0], [1, 1]], [[1, 1], [0, 0]]])  # x and 1 − x
    family = _biased()
    fair = fair_within("opportunity", alpha)
    met, near = acceptable_table(family, pair, fair, ACCURATE), neighbor_table(family, zeta)
    for steps in (2, 4):
        delta = least_chain_delta(steps, factor=factor)
        climbing = ladder(steps, factor=factor, delta=delta)
        away = np.stack([_steps_away(near, met[:, at]) for at in (0, 1)], axis=1)
        chance = np.array([[climbing[min(int(k), steps)] for k in row] for row in away], dtype=object)
        mechanism = np.stack(
            [
                chance[:, 0],
                (1 - chance[:, 0]) * chance[:, 1],
                (1 - chance[:, 0]) * (1 - chance[:, 1]),
            ],
            axis=1,
        )
        case = {"zeta": zeta, "steps": steps, "delta": delta}
        returned = np.concatenate([pair, np.ones((1, 2, 2), dtype=int)])
        fairly = acceptable_table(family, returned, fair, None)
        search.agree(keeps_promises(mechanism, fairly, near, factor**2, 2 * delta), True, case)
        # accurate with certainty as far from the border
        search.equal(mechanism[(away >= steps).any(axis=1), 2], Fraction(0), case)


def _biased() -> list[Population]:
    """Return a path of laws on which the label follows x less and less, and then 1 − x."""
    family = []
    for twelfths in range(-12, 13):
        table = np.full((2, 2, 2), Fraction(1, 8), dtype=object)
        table[1, :, 1] += Fraction(twelfths, 96)
        table[0, :, 0] += Fraction(twelfths, 96)
        table[1, :, 0] -= Fraction(twelfths, 96)
        table[0, :, 1] -= Fraction(twelfths, 96)
        family.append(Population.from_table(table))
    return [law for law in family if (law.table.sum(axis=0) > 0).all()]


def _steps_away(near: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the number of steps from each law to the nearest one that is not `inside`."""
    steps = np.where(inside, len(inside), 0)
    for _ in range(len(inside)):
        reached = np.where(near, steps[None, :], len(inside)).min(axis=1) + 1
        steps = np.minimum(steps, np.where(inside, reached, 0))
    return steps


def _same_sign(h: np.ndarray, g: np.ndarray, zeta: Fraction, alpha: Fraction) -> Laws:
    first, _ = opposite_laws(h, g, zeta, alpha)
    return first, first


def _where_they_were(h: np.ndarray, g: np.ndarray, zeta: Fraction, alpha: Fraction) -> Laws:
    """Leave the positives of the small group where they suit h."""
    first, _ = opposite_laws(h, g, zeta, alpha)
    flipped = first.table.copy()
    surplus = flipped[..., 1] - flipped[..., 0]
    flipped[..., 0] += surplus
    flipped[..., 1] -= surplus
    return first, Population.from_table(flipped)


FAULTS: dict[str, dict[str, Any]] = {
    "usable: not constant": {
        "usable": lambda h, _: ~h.all(axis=(-2, -1)) & h.any(axis=(-2, -1)),
    },
    "usable: selects in each group": {"usable": lambda h, _: usable_within(h, 0)},
    "the first coin twice": {"coins": lambda *of: (opposite_coins(*of)[0],) * 2},
    "coins of the other hypothesis": {"coins": lambda *of: opposite_coins(*of)[::-1]},
    "the first law twice": {"opposite": _same_sign},
    "positives left where they were": {"opposite": _where_they_were},
    "laws too far apart": {"opposite": lambda h, g, _, alpha: opposite_laws(h, g, Fraction(1), alpha)},
    "nested laws exchanged": {"nested": lambda *pair: nested_laws(*pair)[::-1]},
    "nested: the first law twice": {"nested": lambda *pair: (nested_laws(*pair)[0],) * 2},
    "a small δ helps": {"serves": lambda members, alpha, delta: servable(members, alpha, delta) or delta > 0},
    "a threshold and a small δ help": {
        "serves": lambda members, alpha, delta: servable(members, alpha, delta) or (delta > 0 and alpha > 0)
    },
    "two usable hypotheses can be served": {
        "serves": lambda members, alpha, delta: len(members) < 3 or servable(members, alpha, delta)
    },
}
