"""Fair, accurate and private with δ > 0: the demands on all distributions of few people, and learners there."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.compatibility import two_answer_graphs as graphs
from dpfair_lib.compatibility.impossibility.acceptable import hypothesis_grid
from dpfair_lib.compatibility.impossibility.feasibility import keeps_promises

ONE = Fraction(1)
HALF, FIFTH = ONE / 2, ONE / 5
FACTORS = (Fraction(1), Fraction(3, 2), Fraction(3))
FAILURES = (Fraction(0), Fraction(1, 50), Fraction(1, 5))
NEARLY = Fraction(999, 1000)
MIXED = tuple(h for h in hypothesis_grid(2) if (h.sum(axis=0) == 1).all())
"""The four hypotheses on two points that select and reject in each group."""
ZERO = np.zeros((2, 2), dtype=np.int64)

Demand = tuple[Fraction, Fraction, Fraction]
"""Threshold α, slack s, tolerance τ."""
TRIPLES: tuple[tuple[int, int, Demand], ...] = (
    (10, 1, (0 * ONE, 0 * ONE, ONE / 10)),
    (10, 1, (0 * ONE, 3 * FIFTH, ONE / 10)),
    (10, 2, (0 * ONE, 0 * ONE, FIFTH)),
    (10, 2, (0 * ONE, ONE / 4, FIFTH)),
    (10, 2, (0 * ONE, 3 * FIFTH, ONE / 10)),
    (10, 2, (ONE / 4, HALF, FIFTH)),
    (10, 3, (0 * ONE, ONE / 4, FIFTH)),
    (10, 3, (0 * ONE, 3 * FIFTH, 3 * ONE / 10)),
    (10, 3, (ONE / 10, HALF, 3 * ONE / 10)),
    (10, 3, (0 * ONE, 9 * ONE / 10, 3 * ONE / 10)),
    (10, 3, (0 * ONE, ONE, 3 * ONE / 10)),
    (12, 4, (ONE / 20, ONE / 4, ONE / 3)),
)
"""People, the fewest positives of a group, and the demand."""
BETWEEN_PEOPLE = ((10, 2, (ONE / 4, HALF, FIFTH)),)
"""Where ten people cannot have the rates of the nearest pair, so that they need more steps than distributions do."""


def promised(
    mechanism: np.ndarray, near: np.ndarray, wants: np.ndarray, factor: Any, delta: Any, failure: Any
) -> bool:
    """Return whether the learner is private and fails with at most β, exactly."""
    private = keeps_promises(mechanism, np.ones(mechanism.shape, dtype=bool), near, factor, delta)
    first, second = mechanism[wants == 1, 0], mechanism[wants == 2, 1]
    return bool(private and (first <= failure).all() and (second <= failure).all())


@functools.cache  # nothing examined enters it
def reference(people: int, floor: int, demand: Demand) -> tuple[np.ndarray, int]:
    """Return which of h = x and the constant 0 is accepted, from counts, and the steps between rejections; 0: none."""
    counts = graphs.counted(people, floor)
    threshold, slack, tolerance = demand
    fair, allowed = (graphs.gap_at_most(counts, most) for most in (threshold, threshold + slack))
    ahead = counts[:, 0] + counts[:, 2] - counts[:, 4]  # of h against the constant 0
    high = ahead * tolerance.denominator > tolerance.numerator * people
    low = -ahead * tolerance.denominator > tolerance.numerator * people
    met = np.stack([allowed & ~low, ~(fair & high)], axis=1)
    return met, graphs.least_between(counts[~met[:, 0]], counts[~met[:, 1]])


@once
def demands(fits: Callable[..., Any], steps: Callable[..., int], search: Search) -> None:
    """All distributions of ten people in five kinds: how many replaced people lie between opposite rejections."""
    search.part("distances of the demands")
    judged, sizes, equal = 0, 0, 0
    for people, floor, demand in TRIPLES:
        threshold, slack, tolerance = demand
        _, found = reference(people, floor, demand)
        case = {
            "people": people,
            "floor": floor,
            "threshold": threshold,
            "slack": slack,
            "tolerance": tolerance,
        }
        expected = steps(threshold, slack, tolerance, floor=Fraction(floor, people), zeta=Fraction(1, people))
        search.observe(found - expected, case)
        if (people, floor, demand) not in BETWEEN_PEOPLE:
            search.equal(found, expected, case)
        judged, equal = judged + 1, equal + (found == expected)
        sizes += len(graphs.counted(people, floor))
    # accuracy alone, fairness alone, and all three with a hard threshold, on the same distributions
    for people, floor, most in ((10, 1, 0), (10, 1, 2), (10, 2, 4), (10, 3, 3)):
        case = {"people": people, "floor": floor, "tolerance": Fraction(most, people)}
        search.equal(reference(people, floor, (ONE, 0 * ONE, Fraction(most, people)))[1], most + 1, case)
        search.equal(reference(people, floor, (0 * ONE, 0 * ONE, ONE))[1], 0, case | {"alone": "fairness"})
    for people, floor, threshold in itertools.product(
        (10,), (1, 2, 3), (0 * ONE, ONE / 10, HALF, 9 * ONE / 10)
    ):
        hard = (threshold, 0 * ONE, Fraction(floor, people))
        search.equal(reference(people, floor, hard)[1], 1, {"people": people, "hard": threshold})
        search.equal(
            steps(*hard, floor=Fraction(floor, people), zeta=Fraction(1, people)), 1, {"hard": threshold}
        )
    search.equal(steps(HALF, FIFTH, ONE / 4, floor=ONE / 4, zeta=ONE), 1, {"people": 1})
    search.fact(
        "demands", judged, "demands of all three, whose least steps were found by going through all pairs"
    )
    search.fact(
        "demands_met",
        equal,
        "of these: as many steps as the formula says; in the other one ten people need more",
    )
    search.fact("pairs_of", sizes, "distributions of ten or twelve people, all demands together")
    for people, floor, demand in TRIPLES[:6]:
        laws = graphs.as_populations(people, floor)
        met = fits(
            laws, np.stack([MIXED[0], ZERO]), threshold=demand[0], slack=demand[1], tolerance=demand[2]
        )
        by_count = graphs.counted(people, floor)
        search.equal(len(by_count), len(laws), {"people": people})
        search.agree(met.ravel(), reference(people, floor, demand)[0].ravel(), {"demand": list(demand)})


@once
def universes(
    fits: Callable[..., Any], least: Callable[..., Any], learner: Callable[..., Any], search: Search
) -> None:
    """All distributions of five people, two points and two groups: the learner at the least δ, and none below it."""
    search.part("all distributions of five people")
    laws = graphs.whole_universe(5)
    near = graphs.replaced_one(laws)
    for number, (h, demand) in enumerate(itertools.product(MIXED, graphs.DEMANDS)):
        factor, failure = FACTORS[number % 3], FAILURES[number // 3 % 3]
        met = fits(laws, np.stack([h, ZERO]), threshold=demand[0], slack=demand[1], tolerance=demand[2])
        case = {"h": h.tolist(), "demand": list(demand), "factor": factor, "failure": failure}
        search.agree(met.any(axis=1), np.ones(len(laws), dtype=bool), case)
        wants = np.where(~met[:, 0], 1, np.where(~met[:, 1], 2, 0))
        away = graphs.steps_to(near, wants == 1)
        apart = min((int(k) for k in away[wants == 2] if k >= 0), default=0)
        threshold = least(apart, factor=factor, failure=failure) if apart else 0 * ONE
        mechanism = learner(away, factor=factor, delta=threshold, failure=failure)
        search.agree(promised(mechanism, near, wants, factor, threshold, failure), True, case)
        if threshold:
            below = graphs.feasible(near, wants, factor, threshold * NEARLY, failure)
            search.agree(below, False, case)
    search.exhausts(
        "all distributions of five people on two points and two groups with positives in both, four hypotheses",
        cases=4 * len(graphs.DEMANDS) * (graphs.universe_size(5) + 1),
    )
    search.fact("universe", len(laws), "distributions of five people, between which privacy was required")
    search.fact("replacements", int(near.sum()) // 2, "pairs of these that differ in one person")
