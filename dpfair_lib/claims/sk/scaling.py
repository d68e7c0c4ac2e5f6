"""SK, § 4 and § 5: the noise does not know the unit of the features; what the sensitivity of the vectors really is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.svm.support_vectors import POSITIONS, nearest_opposites, neighbours
from dpfair_lib.svm.leaks import gap_noise_tail, list_change, noisy_list_epsilon
from dpfair_lib.svm.line import LineSVM, hard_margin, soft_margin

LARGEST = 4
UNITS = {Fraction(1, 10**6): "millionths", Fraction(1): "ones", Fraction(10**6): "millions"}
RANGES = tuple(UNITS)


def check(
    *,
    line: Callable[..., LineSVM] = hard_margin,
    soft: Callable[..., LineSVM] = soft_margin,
    change: Callable[..., Any] = list_change,
    tail: Callable[..., float] = gap_noise_tail,
    search: Search,
) -> Evidence:
    """Judge the printed sensitivity on all small data sets in three units, and defend the one that has the unit."""
    _sensitivity(line, change, search)
    _other_unit(line, soft, search)
    _predictions(tail, search)
    return search.evidence()


def _sensitivity(line: Any, change: Any, search: Search) -> None:
    """Features in [0, R]: at the same number and labels the list moves by at most kR, nearly attained; not by 2/k."""
    search.part("sensitivity of the list")
    largest = Fraction(0)
    for rest, one, two in neighbours(LARGEST):
        if not _comparable(rest, one, two):
            continue
        expected, here = _sides(rest, one, two), {"rest": rest, "one": one, "two": two}
        lists = [_list(line, (*rest, record)) for record in (one, two)]
        search.agree(lists == expected, True, here)
        k = len(expected[0])
        for size in RANGES:
            unit = size / (POSITIONS - 1)
            first, second = ([x * unit for x in found] for found in expected)
            moved = change(first, second)
            case = here | {"size": size}
            search.observe(k * size - moved, case)
            search.equal(moved, sum(abs(a - b) for a, b in zip(first, second, strict=True)), case)
            search.against(
                list_slack(rest, one, two, size), case, verify=list_slack, reading="sensitivity of the list"
            )
            largest = max(largest, moved / size / k)
    search.exhausts(
        "all pairs of data sets of two to four records that differ in one and keep the number and the labels of their "
        "support vectors: four positions, three units",
        cases=10 * sum(1 for pair in neighbours(LARGEST) if _comparable(*pair)),
    )
    search.fact("largest_change", str(largest), "largest change over kR, four positions")
    for positions in (10, 1000):
        # one negative on either side of two positives: nobody's label changes
        last = positions - 1
        ends = [hard_margin([x, 1, last - 1], [0, 1, 1]) for x in (0, last)]
        search.agree([end.support for end in ends] == [(0, 1), (0, 2)], True, {"positions": positions})
        moved = Fraction(change([0, 1], [last, last - 1]), 2 * last)
        search.equal(moved, 1 - Fraction(1, last), {"positions": positions})
        search.fact(f"change_{positions}", str(moved), f"on {positions} positions at least")


def _list(line: Any, records: Any) -> list[int]:
    """Return the support vectors, those of label 0 first."""
    support = line([x for x, _ in records], [y for _, y in records]).support
    return [records[i][0] for i in sorted(support, key=lambda i: records[i][::-1])]


def _comparable(rest: Any, one: Any, two: Any) -> bool:
    sides = [nearest_opposites((*rest, record)) for record in (one, two)]
    counts = [None if pair is None else [len(side) for side in pair] for pair in sides]
    return counts[0] is not None and counts[0] == counts[1]


def _sides(rest: Any, one: Any, two: Any) -> list[list[int]]:
    found = []
    for record in (one, two):
        sides = nearest_opposites((*map(tuple, rest), tuple(record)))
        assert sides is not None
        found.append(sides[0] + sides[1])
    return found


def list_slack(rest: Any, one: Any, two: Any, size: Fraction) -> Fraction:
    """Return the printed sensitivity 2/k less the change of the list, by distances alone."""
    first, second = _sides(rest, one, two)
    unit = Fraction(size) / (POSITIONS - 1)
    return Fraction(2, len(first)) - unit * sum(abs(a - b) for a, b in zip(first, second, strict=True))


def _other_unit(line: Any, soft: Any, search: Search) -> None:
    """Features times s: the same support vectors, w/s and b; a soft margin needs C/s² for it."""
    search.part("another unit")
    for records in (((0, 0), (1, 0), (3, 1), (4, 1)), ((0, 1), (2, 1), (2, 1), (5, 0)), ((0, 0), (3, 1))):
        x, y = [r[0] for r in records], [r[1] for r in records]
        for s in (Fraction(1, 10**6), Fraction(7, 2), Fraction(10**6)):
            scaled, case = [v * s for v in x], {"x": x, "y": y, "s": s}
            pairs = [(line(x, y), line(scaled, y))]
            mixed = [*y[:-1], 1 - y[-1]] if len(set(y[:-1])) == 2 else y
            pairs.append((soft(x, mixed, Fraction(1, 3)), soft(scaled, mixed, Fraction(1, 3) / s**2)))
            for here, there in pairs:
                search.equal(there.weight * s, here.weight, case)
                search.equal(there.intercept, here.intercept, case)
                search.agree(there.support == here.support, True, case)
            # and so the promise is s times what it was
            here_and_there = [Fraction(noisy_list_epsilon(v, v[::-1], 1)) for v in (x, scaled)]
            search.equal(here_and_there[1], s * here_and_there[0], case)


def _predictions(tail: Any, search: Search) -> None:
    """One support vector of each label, and 997 of 1000 records at one place: the unit decides whether they flip."""
    search.part("predictions")
    m = 1000
    for size, epsilon in itertools.product(RANGES, (100, 7)):
        t, scale = float(size) * 3 / 14, 1 / epsilon
        found = tail(t, scale)
        if epsilon == 100:
            slack = flip_slack(m, size, epsilon)
            search.against(slack, {"m": m, "size": size, "epsilon": epsilon}, verify=flip_slack,
                           reading="move of the joint law")  # fmt: skip
            search.fact(
                f"flip_{UNITS[size]}",
                found,
                f"features in [0, {float(size):g}], ε = {epsilon}, k = 2: P(all positives at 7R/8 flip)",
            )
        search.observe(found - max(0.5 - t / (4 * scale), 0), {"t": t, "scale": scale}, tolerance=1e-15)
    for t, scale in itertools.product((0.0, 1e-6, 0.3, 1.0, 2.0), (0.01, 0.5, 1.0, 3.0)):
        search.equal(tail(t, scale), _tail_by_quadrature(t / scale), {"t": t, "scale": scale}, tolerance=1e-7)


@cache
def _tail_by_quadrature(t: float) -> float:
    """Return P(V − V′ ≥ t) for two numbers of scale 1, by a sum over V of its density times the tail of −V′."""
    v = np.linspace(-40, 40, 400_001)
    density = np.exp(-abs(v)) / 2 * (v[1] - v[0])
    over = np.where(v - t >= 0, 1 - np.exp(-abs(v - t)) / 2, np.exp(-abs(v - t)) / 2)
    return float((density * over).sum())


def flip_slack(m: int, size: Fraction, epsilon: int) -> Fraction:
    """Return β less a lower bound on the chance that the law moves by more than 2 ln(2/β)/(kε), for β = 1/16.

    Support vectors R/4 and 3R/4, so w = 4/R, b = −2 and α = 8/R². At x = 7R/8 the score is 3/2 and moves by
    αx(V − V′) = 7(V − V′)/R, with noise of scale 1/ε. It changes sign for V′ − V > 3R/14: with probability at least
    ½ − (3R/14)·ε/4, as the density of the difference is at most ε/4. Then (m − 3)/m of the law moves.
    """
    size = Fraction(size)
    low, high, x = size / 4, size * 3 / 4, size * 7 / 8
    weight = 2 / (high - low)
    score, alpha = weight * (x - (low + high) / 2), weight / (high - low)
    assert alpha * (high - low) == weight
    assert score == Fraction(3, 2)
    moved = Fraction(m - 3, m) > 2 * 5 * Fraction(7, 10) / (2 * epsilon)  # ln 32 = 5 ln 2 < 5·0.7
    chance = Fraction(1, 2) - score / (alpha * x) * Fraction(epsilon, 4)
    return Fraction(1, 16) - (max(chance, Fraction(0)) if moved else 0)


FAULTS: dict[str, dict[str, Any]] = {
    "duplicates on the margin left out": {
        "line": lambda x, y: (lambda s: LineSVM(s.weight, s.intercept, s.support[:2]))(hard_margin(x, y))
    },
    "margin of width 1": {
        "line": lambda x, y: (
            (lambda s: LineSVM(s.weight / 2, s.intercept / 2, s.support))(hard_margin(x, y))
            if max(x) > 10**5
            else hard_margin(x, y)
        )
    },
    "the price not in the unit": {"soft": lambda x, y, C: soft_margin(x, y, min(C, 1))},
    "the largest coordinate": {"change": lambda f, g: max(abs(a - b) for a, b in zip(f, g, strict=True))},
    "squares": {"change": lambda f, g: sum((a - b) ** 2 for a, b in zip(f, g, strict=True))},
    "tail of one Laplace number": {"tail": lambda t, scale: math.exp(-t / scale) / 2},
    "tail of a scale of 1/100": {"tail": lambda t, scale: gap_noise_tail(t, 0.01 + 0 * scale)},
    "tail of the scale's square": {"tail": lambda t, scale: gap_noise_tail(t, scale**2)},
    "threshold and scale exchanged": {"tail": lambda t, scale: gap_noise_tail(scale, max(t, 1e-6))},
    "tail of twice the scale": {"tail": lambda t, scale: gap_noise_tail(t, 2 * scale)},
}


UNIT_SHOWN = """import numpy as np
rng, R, epsilon, beta = np.random.default_rng(0), 1e-6, 100, 1 / 16  # features in [0, R], k = 2
low, high = R / 4, 3 * R / 4  # the support vectors; 997 of 1000 records lie at 7R/8 and are positive
V, W = rng.laplace(scale=1 / epsilon, size=(2, 100_000))  # 2/(kε)
w, alpha, b, x = 4 / R, 8 / R**2, -2, 7 * R / 8
score = alpha * (high + V - low - W) * x + b
flips = (score < 0).mean()
assert flips > beta and 0.997 > 2 * np.log(2 / beta) / (2 * epsilon)  # the law moves by 0.997"""

CLAIM = Claim(
    id="sk.scaling",
    where="Algorithm 1, § 4; § 5, on the output data",
    statement="Whatever the range of the features, perturbing the k support vectors has sensitivity 2/k and "
    "two outputs, so it moves the joint distribution by at most 2 ln(2/β)/(kε) with high probability.",
    statement_uses=("sk.alg-1-privacy",),
    proof_uses=("cgkm.laplace",),
    verdict="corrected",
    finding="At the same number and labels the list moves by up to kR per feature of range R, nearly attained; "
    "2/k has no unit. Features in millionths: 997 of 1000 records flip with probability near ½; in "
    "millions nothing flips, and ε is 10⁶ times larger. Noise has to be in the unit of the features.",
    headline="The sensitivity 2/k has no unit: with features in millionths, 997 of 1000 records flip with probability "
    "near ½.",
    witness="Features in units of 1/{size}; the records (position, label) {rest:and} stay. One changes from {one} to "
    "{two}, and the list of support vectors moves further than the printed sensitivity 2/k.",
    kind="replaced",
    impact="conclusion",
    because="The scale of the noise and the second tail of § 5 rest on 2/k, and a change of unit breaks both.",
    shown_by="flip_millionths",
    chapter="sk-alg-1",
    errata=(
        Erratum(
            where="§ 4, Algorithm 1; § 5, on the output data",
            printed="the support vectors have sensitivity 2/k, and moving them moves the distribution by at "
            "most 2 ln(2/β)/(kε)",
            correct="features of range R move the list by up to kR each; the noise has to be in the features' unit",
            band="result",
            why="Noise of scale 2/(kε) is huge beside features in millionths and nothing beside features in millions.",
            shown=UNIT_SHOWN,
        ),
    ),
    check=check,
    faults=FAULTS,
)
