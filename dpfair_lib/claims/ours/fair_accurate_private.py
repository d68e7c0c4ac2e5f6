"""Fair, accurate and private with δ > 0: how near two distributions must be to exclude all three, and for which δ."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.ours.fair_accurate_private_universes import (
    FACTORS,
    FAILURES,
    FIFTH,
    HALF,
    MIXED,
    NEARLY,
    ONE,
    ZERO,
    demands,
    promised,
    reference,
    universes,
)
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility import two_answer_graphs as graphs
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import error_by_definition, gap_by_definition
from dpfair_lib.compatibility.impossibility.acceptable import statistical_distance
from dpfair_lib.compatibility.impossibility.feasibility import keeps_promises
from dpfair_lib.compatibility.impossibility.opening_gaps import (
    flipped_pair,
    largest_gap,
    least_distance,
    least_steps,
    opening_pair,
)
from dpfair_lib.compatibility.impossibility.thresholds import (
    accepted,
    climb,
    least_delta,
    served,
    star_served,
    two_answers,
)
from dpfair_lib.populations import Population


def check(
    *,
    search: Search,
    rungs: Callable[..., Any] = climb,
    serves: Callable[..., bool] = served,
    least: Callable[..., Any] = least_delta,
    learner: Callable[..., Any] = two_answers,
    star: Callable[..., bool] = star_served,
    fits: Callable[..., Any] = accepted,
    widest: Callable[..., Any] = largest_gap,
    distance: Callable[..., float] = least_distance,
    steps: Callable[..., int] = least_steps,
    opening: Callable[..., Any] = opening_pair,
    flipped: Callable[..., Any] = flipped_pair,
) -> Evidence:
    """Judge the threshold in δ, the distances of the demands, and what more answers change."""
    _climb(rungs, serves, least, search)
    _graphs(serves, least, learner, search)
    _widest(widest, search)
    _pairs(widest, distance, opening, flipped, search)
    demands(fits, steps, search)
    universes(fits, least, learner, search)
    _star(star, search)
    _needed(search)
    return search.evidence()


@once
def _climb(
    rungs: Callable[..., Any], serves: Callable[..., bool], least: Callable[..., Any], search: Search
) -> None:
    """The closed form says when a climb from β reaches 1 − β, on either side of the threshold and on it."""
    search.part("climb")
    for factor, failure, count in itertools.product(FACTORS, FAILURES, range(1, 8)):
        threshold = least(count, factor=factor, failure=failure)
        for delta in (threshold * NEARLY, threshold, min(threshold / NEARLY, ONE)):
            case = {"factor": factor, "failure": failure, "steps": count, "delta": delta}
            q = _by_hand(failure, count, factor, delta)
            search.equal(rungs(failure, count, factor=factor, delta=delta)[-1], q, case)
            able = serves(count, factor=factor, delta=delta, failure=failure)
            search.agree(able, bool(q >= 1 - failure), case)
            search.agree(able, bool(delta >= threshold), case)


def _by_hand(start: Fraction, count: int, factor: Fraction, delta: Fraction) -> Fraction:
    """Climb by the two conditions of privacy: for the event, and for its complement."""
    q = start
    for _ in range(count):
        above = factor * q + delta
        q = min(above, (factor - 1 + q + delta) / factor, ONE)
    return q


@once
def _graphs(
    serves: Callable[..., bool], least: Callable[..., Any], learner: Callable[..., Any], search: Search
) -> None:
    """All graphs of four distributions, whatever each rejects: by an exact linear program, and by the distance."""
    search.part("all graphs of four")
    cases = 0
    for number, (near, wants) in enumerate(graphs.labelled(4)):
        factor, failure = FACTORS[number % 3], FAILURES[number // 3 % 3]
        away = graphs.steps_to(near, wants == 1)
        apart = min((int(k) for k in away[wants == 2] if k >= 0), default=0)
        threshold = least(apart, factor=factor, failure=failure) if apart else 0 * ONE
        for delta in (threshold * NEARLY, threshold):
            case = {"near": near.tolist(), "rejects": wants.tolist(), "factor": factor, "failure": failure}
            found = graphs.feasible(near, wants, factor, delta, failure)
            able = not apart or serves(apart, factor=factor, delta=delta, failure=failure)
            search.agree(able, found, case | {"delta": delta})
            cases += 1
        mechanism = learner(away, factor=factor, delta=threshold, failure=failure)
        search.agree(promised(mechanism, near, wants, factor, threshold, failure), True, case)
    search.exhausts("all graphs of four distributions, with all rejections", cases=2 * 2**6 * 3**4)
    search.equal(cases, 2 * 2**6 * 3**4, {"part": "counted apart"})


@once
def _widest(widest: Callable[..., Any], search: Search) -> None:
    """All pairs of distributions of eight people: from no start does a gap open farther than the formula says."""
    search.part("how far a gap opens")
    judged = touched = 0
    for start, ratio, above, below in graphs.opened_gaps(8):
        limit = widest(start, ratio)
        slack = limit - Fraction(above, below)
        search.observe(slack, {"start": start, "ratio": ratio, "gap": Fraction(above, below)})
        judged, touched = judged + 1, touched + (slack == 0 and limit < 1)
    search.agree(touched > 0, True, {"attained below 1": touched})
    search.exhausts(
        "eight people, by starting rates, floor and distance: the widest gap", cases=graphs.opened_count(8)
    )
    search.fact(
        "attained", touched, "of these: settings in which eight people attain the widest gap, below 1"
    )


@once
def _pairs(
    widest: Callable[..., Any],
    distance: Callable[..., float],
    opening: Callable[..., Any],
    flipped: Callable[..., Any],
    search: Search,
) -> None:
    """The two nearest pairs, from the definitions; and the least distance is where the gap first opens so far."""
    search.part("nearest pairs")
    grid = itertools.product(
        (0 * ONE, ONE / 10, HALF), (ONE / 50, ONE / 5, 9 * ONE / 20), (ONE / 20, ONE / 3)
    )
    for (start, ratio, floor), h in zip(grid, itertools.cycle(MIXED), strict=False):
        before, after = opening(h, start, ratio, floor)
        case = {"h": h.tolist(), "start": start, "ratio": ratio, "floor": floor}
        gaps = [gap_by_definition(law.table, h.tolist()) for law in (before, after)]
        search.equal(gaps[0], start, case)
        search.equal(gaps[1], widest(start, ratio), case)
        search.equal(statistical_distance(before, after), ratio * floor, case)
        search.observe(min(law.table[..., 1].sum(axis=0).min() for law in (before, after)) - floor, case)
        search.observe(_advantage(before, h) - floor, case)
        found = distance(float(start), float(gaps[1] - start), float(floor))
        search.equal(found, float(ratio * floor), case, tolerance=1e-12)
        moved = min(ratio * floor, 1 - 2 * floor)
        first, second = flipped(h, moved, floor)
        search.equal(statistical_distance(first, second), moved, case)
        for law, sign in ((first, 1), (second, -1)):
            search.equal(gap_by_definition(law.table, h.tolist()), 0, case)
            search.equal(_advantage(law, h), sign * moved, case)
            search.observe(law.table[..., 1].sum(axis=0).min() - floor, case)
    for begins, slack in ((0.0, 0.0), (0.5, 0.0), (0.25, 0.75), (0.0, 1.5)):
        found = distance(begins, slack, 0.2)
        search.agree(found == (0.0 if slack == 0 else float("inf")), True, {"start": begins, "slack": slack})


def _advantage(law: Population, h: np.ndarray) -> Fraction:
    """Return by how much the constant 0 errs more often than h."""
    return error_by_definition(law.table, ZERO.tolist()) - error_by_definition(law.table, h.tolist())


@once
def _star(star: Callable[..., bool], search: Search) -> None:
    """Several distributions around one in their midst: a learner for as many answers, at and below its threshold."""
    search.part("more than two answers")
    for answers, length, factor, failure in itertools.product((1, 2, 3, 5), (0, 1, 2, 3), FACTORS, FAILURES):
        for delta in (0 * ONE, ONE / 7, ONE / 3, HALF, 2 * ONE / 3, 4 * ONE / 5, ONE):
            case = {"answers": answers, "steps": length, "factor": factor, "failure": failure, "delta": delta}
            able = star(answers, length, factor=factor, delta=delta, failure=failure)
            q = _by_hand(failure, length, factor, delta)
            search.agree(able, bool(answers * (1 - q) <= 1), case)
            if able:
                mechanism, near = graphs.star_learner(answers, length, factor, delta, failure)
                free = np.ones(mechanism.shape, dtype=bool)
                search.agree(keeps_promises(mechanism, free, near, factor, delta), True, case)
                own = (
                    [mechanism[1 + ray * length + length - 1, ray] for ray in range(answers)]
                    if length
                    else []
                )
                search.agree(all(q >= 1 - failure for q in own), True, case)
    for answers, length, rate in ((3, 1, 2.0), (4, 2, 1.5)):
        for level, able in graphs.around_star_threshold(answers, length, rate):
            case = {"answers": answers, "steps": length, "delta": level}
            search.agree(star(answers, length, factor=rate, delta=level), able, case)


def _needed(search: Search) -> None:
    """What cannot be left out."""
    search.part("what cannot be left out")
    group = ONE / 7  # 1/S(3) at e^ε = 2
    reached = _by_hand(0 * ONE, 3, 2 * ONE, group)
    search.needs(
        "the halves: at 1/S(m), where group privacy alone would allow it",
        slack=reached - 1,
        case={"steps": 3, "e^ε": 2},
    )
    search.needs("the floor under the positives: with one positive in a group", slack=1 - 2, case={
        "people": 10, "steps with one positive": reference(10, 1, (0 * ONE, 3 * FIFTH, ONE / 10))[1],
        "with two": reference(10, 2, (0 * ONE, 3 * FIFTH, ONE / 10))[1],
    })  # fmt: skip
    three = 3 * (1 - _by_hand(0 * ONE, 1, 2 * ONE, HALF))
    search.needs(
        "that there are two answers: three around one in their midst, two steps apart each",
        slack=1 - three, case={"δ": HALF, "e^ε": 2},
    )  # fmt: skip


def _group_privacy(steps: int, *, factor: Any, delta: Any, failure: Any = 0) -> bool:
    return bool(failure * (factor**steps + 1) + delta * sum(factor**j for j in range(steps)) >= 1)


def _against_all(*of: Any, threshold: Any, slack: Any, tolerance: Any) -> Any:
    """Compare with every hypothesis, unfair ones too."""
    fair = accepted(*of, threshold=threshold, slack=slack, tolerance=ONE)
    return fair & accepted(*of, threshold=ONE, slack=0 * ONE, tolerance=tolerance)


def _few_moved(start: Any, ratio: Any) -> Any:
    return min(1 + start / (1 + ratio) - 1 / (1 + ratio) ** 2, ONE)


def _distance_of_few(start: float, slack: float, floor: float) -> float:
    if start + slack >= 1:
        return math.inf
    return floor * (2 / (start + math.sqrt(start**2 + 4 * (1 - start - slack))) - 1)


def _steps_of_a_group(*demand: Any, floor: Any, zeta: Any) -> int:
    """Let the gap open by what moves within one group alone."""
    return int(min(demand[2], demand[1] * floor) / zeta) + 1


FAULTS: dict[str, dict[str, Any]] = {
    "climb without the other event": {
        "rungs": lambda start, steps, *, factor, delta: [
            min(start * factor**k + delta * sum(factor**j for j in range(k)), 1) for k in range(steps + 1)
        ]
    },
    "climb from 0": {"rungs": lambda start, *rest, **how: climb(0 * start, *rest, **how)},
    "group privacy for the threshold": {"serves": _group_privacy},
    "strict at the threshold": {"serves": lambda steps, *, delta, **how: delta > least_delta(steps, **how)},
    "least δ without failures": {"least": lambda steps, *, factor, **_: least_delta(steps, factor=factor)},
    "least δ of a step more": {"least": lambda steps, **how: least_delta(steps + 1, **how)},
    "learner that never fails": {
        "learner": lambda away, **how: two_answers(away, **(how | {"failure": Fraction(0)}))
    },
    "learner one step ahead": {
        "learner": lambda away, **how: two_answers(np.where(away > 0, away + 1, away), **how)
    },
    "star: two answers at a time": {
        "star": lambda answers, *rest, **how: star_served(min(answers, 2), *rest, **how)
    },
    "star: twice the way": {"star": lambda answers, steps, **how: star_served(answers, 2 * steps, **how)},
    "accepted without the slack": {
        "fits": lambda *of, **how: accepted(*of, **(how | {"slack": Fraction(0)}))
    },
    "accepted against unfair ones": {"fits": _against_all},
    "accepted without tolerance": {
        "fits": lambda *of, **how: accepted(*of, **(how | {"tolerance": Fraction(0)}))
    },
    "gap opens by ρ": {"widest": lambda start, ratio: min(start + ratio, ONE)},
    "gap opens as if few moved": {"widest": _few_moved},
    "gap opens by 2ρ": {"widest": lambda start, ratio: min(start + 2 * ratio, ONE)},
    "distance: floor forgotten": {"distance": lambda start, slack, _: least_distance(start, slack, 0.2)},
    "distance as if few moved": {"distance": _distance_of_few},
    "steps of accuracy alone": {"steps": lambda *demand, zeta, **_: int(demand[2] / zeta) + 1},
    "steps of one group": {"steps": _steps_of_a_group},
    "pair that stays": {"opening": lambda *of: (opening_pair(*of)[0],) * 2},
    "pair in the opposite direction": {"opening": lambda *of: opening_pair(*of)[::-1]},
    "labels of one distribution": {"flipped": lambda *of: (flipped_pair(*of)[0],) * 2},
    "labels: floor halved": {"flipped": lambda h, moved, floor: flipped_pair(h, moved, floor / 2)},
}


CLAIM = Claim(
    id="ours.fair-accurate-private",
    where="Fair, accurate and private with δ > 0, Results 1 to 4",
    statement="Two answers are served with (ε, δ)-DP and failure β if and only if β(t^j + t^k) + δ(S_j + S_k) ≥ 1, "
    "where t = e^ε, S_j = 1 + … + t^(j−1), and j, k are the halves of the least number of steps between opposite "
    "rejections. For a hypothesis and the constant 0 these steps exceed the distance τ for accuracy, min(τ, r*) for "
    "accuracy and fairness. Fairness alone excludes nothing.",
    statement_uses=("cgkm.remarks",),
    verdict="holds",
    finding="r* is the distance at which a gap of α can open to α + s while each group keeps a mass μ of positives. "
    "At α = 0 it is μ(1/√(1 − s) − 1) for s ≤ ½ and μ(2√s − 1) for ½ ≤ s < 1. It is 0 for a hard threshold, s = 0: for "
    "τ ≤ μ two neighbours then exclude all three unless β(1 + t) + δ ≥ 1.",
    headline="A hard threshold lets two neighbours exclude fairness, accuracy and privacy; a slack in both keeps "
    "opposite demands apart, and with enough steps a tiny δ is enough.",
    kind="theorem",
    chapter="fair-accurate-private",
    check=check,
    faults=FAULTS,
)
