"""Ours: the fairest channel under the worst law of a set; plain response where nothing is known."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import drawn_once, known, once
from dpfair_lib.claims.ours import unknown_law_balls as balls
from dpfair_lib.claims.ours.unknown_law_balls import unfairness
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.local.optimal.search import optimal_randomizer
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import generalized_randomized_response
from dpfair_lib.local.robust.ball import CellBall, Laws
from dpfair_lib.local.robust.closed_forms import unfairness_of_level
from dpfair_lib.local.robust.laws import CellBounds
from dpfair_lib.local.robust.proof import Proof, lower_bound
from dpfair_lib.local.robust.search import robust_randomizer
from dpfair_lib.local.robust.worst_law import WorstLaw, worst_unfairness

PARTS = 8  # cells of a law go in these
ENDS = (0, 2, 8)  # of a cell, in these parts
Rows = tuple[tuple[int, ...], ...]
CHANNELS: tuple[Rows, ...] = (((5, 1), (2, 4)), ((3, 3), (1, 5)), ((2, 1, 3), (4, 1, 1)))  # rows in sixths
ROUNDED = 1e-12
SOLVED = 4e-6  # more than the distance at which the search stops
known_worst = known(worst_unfairness)  # a fault that concerns balls leaves boxes as they are


def check(
    *,
    worst: Callable[..., WorstLaw] = known_worst,
    of_level: Callable[..., Any] = unfairness_of_level,
    bound: Callable[..., Fraction] = lower_bound,
    best: Callable[..., Randomizer] = robust_randomizer,
    search: Search,
) -> Evidence:
    """Judge the worst law of boxes and balls, what is best where nothing is known, and the search with its bound."""
    _every_law(worst, search)
    _mixtures(worst, search)
    _nothing_known(of_level, search)
    _plain_response(of_level, search)
    _searched(best, bound, search)
    balls.every_law(worst, search)
    balls.searched(best, bound, search)
    _what_is_needed(search)
    balls.needs_the_sum(worst, search)
    return search.evidence()


class _Box(NamedTuple):
    """Bounds in eighths, the set of laws, and for each channel the most unfair of so many laws in eighths inside."""

    low: np.ndarray
    high: np.ndarray
    laws: CellBounds
    inside: int
    most: list[tuple[Rows, float]]


@functools.cache  # nothing examined enters it
def _boxes() -> list[_Box]:
    every = balls.laws(2, PARTS)
    positives = every[:, :, 1].sum(axis=1)
    laws, found = every[(positives > 0) & (positives < PARTS)], []
    pairs = [(a, b) for a, b in itertools.combinations_with_replacement(ENDS, 2)]
    for ends in itertools.product(pairs, repeat=4):
        low, high = (np.array([pair[at] for pair in ends]).reshape(2, 2) for at in (0, 1))
        inside = ((laws >= low) & (laws <= high)).all(axis=(1, 2))
        missing = (low[:, y].sum() == 0 and high[:, 1 - y].sum() >= PARTS for y in (0, 1))
        if inside.sum() < 2 or any(missing):
            continue  # no two laws in eighths, or a label that can be missing
        most = [(rows, unfairness(np.array(rows) / 6, laws[inside] / PARTS).max()) for rows in CHANNELS]
        found.append(_Box(low, high, CellBounds(low / PARTS, high / PARTS), int(inside.sum()), most))
    return found


@once
def _every_law(worst: Callable[..., WorstLaw], search: Search) -> None:
    """No law of a box, in eighths, is worse than the worst law; which is in the box, and as bad as it is said to be."""
    search.part("every law of a box")
    judged = 0
    for low, high, box, inside, of_channels in _boxes():
        for rows, most in of_channels:
            matrix = np.array(rows) / 6
            found, case = worst(matrix, box), {"low": low.tolist(), "high": high.tolist(), "channel": rows}
            search.observe(found.unfairness - most, case, tolerance=ROUNDED)
            search.agree(box.contains(found.cells), True, case)
            again = unfairness(matrix, found.cells[None])[0]
            search.equal(again, found.unfairness, case, tolerance=1e-9)
            judged += inside
    search.fact("boxes", len(_boxes()), "boxes of distributions of two groups, each with three channels")
    search.fact("laws", judged, "distributions that were compared with the worst one")


@drawn_once
def _random_boxes(search: Search) -> list[tuple[CellBounds, np.ndarray, np.ndarray, float]]:
    """Return boxes, two channels for each, and how unfair the first one is under the worst of forty laws of the box."""
    rng, found = search.rng, []
    for trial in range(60 * search.effort):
        k = int(rng.integers(2, 6))
        cells = rng.dirichlet(np.ones(2 * k)).reshape(k, 2)
        spread = cells * rng.uniform(0, 0.9, size=(k, 2))
        share = cells[:, 1].sum()
        between = (share * 0.95, min(share * 1.1, 0.99)) if trial % 3 == 0 else (0.0, 1.0)
        box = CellBounds(cells - spread, np.minimum(cells + spread, 1.0), between)
        one, two = (rng.dirichlet(np.ones(k) * 2, size=k) * 0.98 + 0.02 / k for _ in range(2))
        found.append((box, one, two, unfairness(one, _random_laws(box, cells, rng)).max()))
    return found


@once
def _mixtures(worst: Callable[..., WorstLaw], search: Search) -> None:
    """A mixture of two channels is at most as unfair as the worse one; a third of the boxes bounds P(Y = 1) too."""
    search.part("mixtures, and random laws of more groups")
    for trial, (box, one, two, most) in enumerate(_random_boxes(search)):
        mixed = worst((one + 2 * two) / 3, box).unfairness
        case = {"k": len(one), "trial": trial}
        first = worst(one, box).unfairness
        search.observe(max(first, worst(two, box).unfairness) - mixed, case, tolerance=1e-9)
        search.observe(first - most, case, tolerance=1e-9)


def _random_laws(box: CellBounds, inside: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return laws of the box: from one inside, probability is moved between two cells of the same label."""
    laws = np.repeat(inside[None], 40, axis=0)
    for law in laws:
        for _ in range(3 * len(inside)):
            y = int(rng.integers(2))
            i, j = rng.integers(len(inside), size=2)
            step = min(box.high[i, y] - law[i, y], law[j, y] - box.low[j, y]) * rng.random()
            law[i, y] += step * (i != j)
            law[j, y] -= step * (i != j)
    return laws


@once
def _nothing_known(of_level: Callable[..., Any], search: Search) -> None:
    """The closed form against the worst of all laws with this P(Y = 1) whose labels each come from one group."""
    search.part("nothing known but P(Y = 1)")
    count = 0
    shares = [Fraction(i, 6) for i in range(1, 6)]
    for column in itertools.combinations_with_replacement(range(1, 7), 3):
        ratio = Fraction(max(column), min(column))
        for share in shares:
            worst = max(
                abs(Fraction(a) / (share * a + (1 - share) * b) - 1)
                for a, b in itertools.product(column, repeat=2)
            )
            search.equal(of_level(ratio, share), worst, {"column": column, "P(Y = 1)": share})
            count += 1
    search.exhausts("columns of three entries in sixths, P(Y = 1) in sixths", cases=math.comb(8, 3) * 5)
    for share, ratio in itertools.product(shares, (Fraction(3, 2), Fraction(7))):
        case = {"P(Y = 1)": share, "ratio": ratio}
        search.observe(of_level(ratio + Fraction(1, 9), share) - of_level(ratio, share), case)
        search.observe(of_level(ratio, share / 2) - of_level(ratio, share), case)


@once
def _plain_response(of_level: Callable[..., Any], search: Search) -> None:
    """No channel of three values in twelfths that is so truthful is fairer where nothing is known, and one as fair."""
    search.part("plain response")
    rows = np.array([(a, b, 12 - a - b) for a in range(1, 11) for b in range(1, 12 - a)])
    by_truth = {T: [rows[rows[:, i] >= T] for i in range(3)] for T in (5, 6, 8)}
    for T, (first, second, third) in by_truth.items():
        sizes = (len(first), len(second), len(third))
        at = np.indices(sizes).reshape(3, -1)
        channels = np.stack([first[at[0]], second[at[1]], third[at[2]]], axis=1)
        high, low = channels.max(axis=1), channels.min(axis=1)
        # ratios of whole numbers below 12: equal as floats only if equal
        level = (high / low).max(axis=1)
        plain = Fraction(2 * T, 12 - T)
        case = {"truth in twelfths": T, "channels": len(channels)}
        search.observe(float(level.min()) - float(plain), case, tolerance=ROUNDED)
        equal = channels[level <= float(plain) * (1 + ROUNDED)]
        flat = np.full((3, 3), (12 - T) / 2)
        np.fill_diagonal(flat, T)
        expected = 1 if T % 2 == 0 else 0  # in twelfths plain response exists for even truths
        search.equal(len(equal), expected, case)
        search.agree(bool((equal == flat).all()), True, case)
        for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
            fairest = of_level(Fraction(float(level.min())).limit_denominator(100), share)
            search.observe(fairest - of_level(plain, share), case | {"P(Y = 1)": share})
    search.exhausts("three levels of truth, all channels of three values in positive twelfths", cases=3)


@functools.cache
def _problems() -> tuple[tuple[CellBounds, float, float], ...]:
    rng = np.random.default_rng(5)
    found = []
    for k, (share, epsilon) in itertools.product((2, 3, 5), ((0.0, 1.0), (0.1, 0.5), (0.3, 2.0))):
        p, rates = rng.dirichlet(np.full(k, 3.0)), rng.uniform(0.1, 0.6, k)
        cells = np.stack([p * (1 - rates), p * rates], axis=1)
        box = CellBounds(cells * (1 - share), np.minimum(cells * (1 + share), 1.0))
        truth = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
        found.append((box, epsilon, 1 - 0.6 * truth - 0.4 / k))
    return tuple(found)


@once
def _searched(best: Callable[..., Randomizer], bound: Callable[..., Fraction], search: Search) -> None:
    """The value is that of the worst law; the bound is below it and near; both agree with the optimum for one law."""
    search.part("the search and its proof")
    for at, (box, epsilon, error) in enumerate(_problems()):
        tol = (1e-6, 3e-6)[at % 2]
        channel = best(box, epsilon, error=error, tol=tol, time_limit=60.0 * (1 + at))
        proof, case = channel.certificate.proof, {"problem": at}
        again = worst_unfairness(channel, box).unfairness
        search.equal(again, channel.value, case, tolerance=ROUNDED)
        low = float(bound(box, epsilon, error, proof))
        search.observe(channel.value - low, case)
        search.observe(2 * tol - (channel.value - low), case)
        search.observe(math.exp(epsilon) - channel.likelihood_ratio, case)
        truth = _least_truth(np.diag(np.asarray(channel.matrix, dtype=float)), box)
        search.observe(error - (1 - truth), case, tolerance=ROUNDED)
        for wrong in balls.other_proofs(proof):
            search.observe(channel.value - float(bound(box, epsilon, error, wrong)), case)
        search.agree(balls.refused(bound, box, epsilon, error, proof), True, case)
        if (box.high - box.low < ROUNDED).all():
            p, rates = box.low.sum(axis=1), box.low[:, 1] / box.low.sum(axis=1)
            known = optimal_randomizer(p / p.sum(), rates, epsilon, error=error)
            search.equal(channel.value, known.value, case, tolerance=SOLVED)


def _least_truth(diagonal: np.ndarray, box: CellBounds) -> float:
    """Return the least truth by a way of its own: the vertices of the shares, where all but one are at an end."""
    low, high = box.shares
    least = math.inf
    for ends in itertools.product((0, 1), repeat=len(low)):
        for free in range(len(low)):
            shares = np.where(np.array(ends) == 1, high, low)
            shares[free] += 1 - shares.sum()
            if low[free] - ROUNDED <= shares[free] <= high[free] + ROUNDED:
                least = min(least, float(shares @ diagonal))
    return least


def _what_is_needed(search: Search) -> None:
    """A law outside the box; labels that may be arbitrarily rare; truth on average only."""
    box = CellBounds.around([0.5, 0.5], [0.4, 0.6], 0.01)
    channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    outside = np.array([[[0.45, 0.05], [0.05, 0.45]]])
    search.needs(
        "that the distribution is in the box",
        slack=worst_unfairness(channel, box).unfairness - float(unfairness(channel, outside)[0]),
        case={"law": outside[0].tolist()},
    )
    rare = max(unfairness_of_level(Fraction(3), Fraction(1, 10**digits)) for digits in range(1, 10))
    search.needs(
        "that P(Y = 1) is at least some positive number: without one the supremum R − 1 is not attained",
        slack=rare - 2,
        case={"R": 3, "P(Y = 1)": "down to 10⁻⁹"},
    )
    # truth above ½ on average, as most people are in the first group: a smaller level than plain response has
    rows = ((52, 24, 24), (29, 43, 28), (29, 28, 43))
    level = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    on_average = Fraction(9, 10) * Fraction(52, 100) + Fraction(1, 10) * Fraction(43, 100)
    search.observe(on_average - Fraction(1, 2), {"rows": rows})
    search.needs(
        "that every value is told truthfully so often: on average is not enough",
        slack=unfairness_of_level(level, Fraction(1, 4)) - unfairness_of_level(Fraction(2), Fraction(1, 4)),
        case={"rows": rows},
    )


def _at_the_ends(channel: Any, laws: Laws) -> WorstLaw:
    """Look at the two ends of P(Y = 1) of a box alone."""
    if isinstance(laws, CellBall):
        return worst_unfairness(channel, laws)
    found = []
    for share in laws.positives:
        pinned = CellBounds(laws.low, laws.high, (share - 1e-15, share + 1e-15))
        found.append(worst_unfairness(channel, pinned))
    return max(found, key=lambda worst: worst.unfairness)


def _on_balls(other: Callable[[CellBall], Laws]) -> Callable[..., WorstLaw]:
    """Take another set of laws for each ball."""
    return lambda channel, laws: known_worst(channel, other(laws) if isinstance(laws, CellBall) else laws)


def _box_round(ball: CellBall) -> CellBounds:
    """Each cell may differ by half of the radius."""
    half, share = ball.radius / 2, float(ball.cells[:, 1].sum())
    ends = np.maximum(ball.cells - half, 0.0), np.minimum(ball.cells + half, 1.0)
    return CellBounds(*ends, (share - half, share + half))


def _of_the_middle(channel: Any, laws: Laws) -> WorstLaw:
    """The law in the middle stands for all."""
    cells = laws.middle
    return WorstLaw(float(unfairness(np.asarray(channel, dtype=float), cells[None])[0]), 0, 1, cells)


def _as_if_known(laws: Laws, epsilon: float, *, error: float, **stops: float) -> Randomizer:
    """The optimum for the law in the middle."""
    middle = CellBounds(laws.middle, laws.middle)
    return robust_randomizer(middle, epsilon, error=error, **stops)


def _plain(laws: Laws, epsilon: float, *, error: float, **stops: float) -> Randomizer:
    """Plain response as truthful as it must be, with the proof of the optimum."""
    truth, proof = 1 - error, robust_randomizer(laws, epsilon, error=error, **stops).certificate
    plain = generalized_randomized_response(laws.k, math.log((laws.k - 1) * truth / (1 - truth)))
    return Randomizer(plain.matrix, value=worst_unfairness(plain, laws).unfairness, certificate=proof)


def _any_side(laws: Laws, epsilon: float, error: float, proof: Proof) -> Fraction:
    """Take the sign of what stands for a side, and count reports round: nothing is refused."""
    conditions = tuple(
        (j % laws.k, 1 if side > 0 else -1, w, cells) for j, side, w, cells in proof.conditions
    )
    return lower_bound(laws, epsilon, error, replace(proof, conditions=conditions))


FAULTS: dict[str, dict[str, Any]] = {
    "the ends of P(Y = 1) alone": {"worst": _at_the_ends},
    "the law in the middle for the worst one": {"worst": _of_the_middle},
    "a law outside the box": {
        "worst": lambda channel, laws: worst_unfairness(channel, laws)._replace(cells=1.5 * laws.middle)
    },
    "a ball of half the radius": {"worst": _on_balls(lambda ball: CellBall(ball.cells, ball.radius / 2))},
    "the box round a ball": {"worst": _on_balls(_box_round)},
    "one side alone": {
        "of_level": lambda ratio, share: (1 - share) * (ratio - 1) / (1 + share * (ratio - 1))
    },
    "the level less one": {"of_level": lambda ratio, share: ratio - 1 + 0 * share},
    "the labels exchanged": {"of_level": lambda ratio, share: unfairness_of_level(ratio, 1 - share)},
    "the level of the program taken for its bound": {"bound": lambda *case: Fraction(case[-1].t)},
    "the search's own bound, rounded up": {"bound": lambda *case: lower_bound(*case) + Fraction(1, 10**4)},
    "no privacy in the bound": {"bound": lambda laws, _, *rest: lower_bound(laws, 50.0, *rest)},
    "any number for a side": {"bound": _any_side},
    "the optimum for the law in the middle": {"best": _as_if_known},
    "plain response for the optimum": {"best": _plain},
    "an error that is larger": {
        "best": lambda laws, epsilon, *, error, **stops: robust_randomizer(
            laws, epsilon, error=error + 0.02, **stops
        )
    },
}

CLAIM = Claim(
    id="ours.unknown-law",
    where="The distribution that is not known, Results 1–4",
    statement="Let only bounds on the distribution of (A, Y) be known, with P(Y = 1) in a closed interval inside (0, "
    "1). The largest Δ over all that fit is quasi-convex in the channel, and attained where the cells of either label "
    "are filled in the order of one column. In a ball of radius r, r/2 is taken in that order and put on one group for "
    "each label. If only P(Y = 1) = τ is known, it is (1 − τ)(R − 1)/(1 + min(τ, 1 − τ)(R − "
    "1)), with R the largest ratio in a column. Among channels that tell every value truthfully with probability T or "
    "more, 1/k < T < 1, plain response has the least, and no other channel. For bounds on the cells, or a ball, "
    "distributions of the set with multipliers give a lower bound for all private, truthful channels of a given error. "
    "Every level below the optimum is proved by some.",
    verdict="holds",
    finding="Proved. The worst distribution was compared with all in eighths of every box and with those of balls on "
    "grids, plain response with all channels of three values in twelfths, and the search with an exact lower bound.",
    headline="Who knows nothing of the distribution can do no better than plain response; who knows it within bounds "
    "often can, with a proof of how much.",
    kind="theorem",
    chapter="unknown-law",
    check=check,
    faults=FAULTS,
)
