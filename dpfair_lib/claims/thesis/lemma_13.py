"""Thesis, Lemma 13: a channel never raises the unfairness of a law; by how much ε-LDP lowers it; a data set in hand."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.local.contraction import contraction, keeps_unfairness, realized_difference_law
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import response_matrix

KINDS = ("difference", "ratio")
RATES = (Fraction(0), Fraction(1, 3), Fraction(1))
LEVELS = (Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(1, 10), Fraction(0))


def check(
    *,
    push: Callable[..., Any] = Randomizer.pushforward,
    factor: Callable[..., Any] = contraction,
    keeps: Callable[..., bool] = keeps_unfairness,
    law: Callable[..., Any] = realized_difference_law,
    search: Search,
) -> Evidence:
    """Judge the lemma, its sharper form and its case of equality, in law; and what happens to a data set."""
    _binary_channels(push, factor, keeps, search)
    _other_channels(push, factor, keeps, search)
    _sharp(push, factor, search)
    _data_set_in_hand(law, search)
    return search.evidence()


@once
def _binary_channels(push: Any, factor: Any, keeps: Any, search: Search) -> None:
    search.part("all small binary channels")
    quarters = [Fraction(i, 4) for i in range(5)]
    channels = [[[a, 1 - a], [b, 1 - b]] for a, b in itertools.product(quarters, repeat=2)]
    worlds = [([s, 1 - s], list(r)) for s in quarters for r in itertools.product(RATES, repeat=2)]
    for matrix in channels:
        _judge(np.array(matrix), worlds, push, factor, keeps, search)
    search.exhausts(
        "all binary channels, group shares in quarters, rates 0, 1/3 and 1, for Δ and Δ′",
        cases=len(channels) * len(worlds),
    )


@once
def _other_channels(push: Any, factor: Any, keeps: Any, search: Search) -> None:
    search.part("GRR on three values, and other channels")
    worlds = [
        ([Fraction(i, 4), Fraction(j, 4), Fraction(4 - i - j, 4)], list(rates))
        for i, j in ((1, 1), (0, 2))
        for rates in itertools.product(RATES, repeat=3)
    ]
    for x in LEVELS:
        _judge(response_matrix(3, x), worlds, push, factor, keeps, search)
    for _ in range(30 * search.effort):
        _judge(*_random_world(search.rng), push, factor, keeps, search)


def _judge(matrix: Any, worlds: Any, push: Any, factor: Any, keeps: Any, search: Search) -> None:
    """No report's rate is farther out than before; what is left is at most tanh(ε/2); strict unless `keeps`."""
    channel = Randomizer(matrix)
    ratio = channel.likelihood_ratio
    most = factor(Fraction(0) if ratio == math.inf else 1 / ratio)
    for p, p1 in worlds:
        pz, p1z = push(channel, p, p1)
        for kind in KINDS:
            if kind == "ratio" and not any(s * r for s, r in zip(p, p1, strict=True)):
                continue  # Δ divides by P(Y = 1) = 0
            case = {"channel": matrix.tolist(), "p": p, "p1": p1, "kind": kind}
            before, after = _before(tuple(p), tuple(p1), kind), _unfairness(pz, p1z, kind)
            search.observe(most * before - after, case)
            search.agree(after == before, keeps(matrix, p, p1, kind), case)


def _unfairness(p: Any, p1: Any, kind: str) -> Any:
    """Δ or Δ′ by its definition, over what occurs; a huge number for what a fault makes of a law that is none."""
    occurs = [(s, r) for s, r in zip(p, p1, strict=True) if s > 0]
    overall, rates = sum(s * r for s, r in occurs), [r for _, r in occurs]
    if sum(p) != 1 or (overall == 0 and kind == "ratio"):
        return Fraction(10**6)
    return max(rates) - min(rates) if kind == "difference" else max(abs(r / overall - 1) for r in rates)


@functools.cache  # the same populations go through every channel
def _before(p: tuple[Any, ...], p1: tuple[Any, ...], kind: str) -> Any:
    return _unfairness(p, p1, kind)


def _random_world(rng: np.random.Generator) -> tuple[np.ndarray, list[Any]]:
    k, m = (int(n) for n in rng.integers(3, 6, size=2))
    rows = rng.integers(0, 8, size=(k, m)) + np.eye(k, m, dtype=int)[:, ::-1]
    rows[rows.sum(axis=1) == 0] = 1
    matrix = np.array([[Fraction(int(w), int(row.sum())) for w in row] for row in rows])
    weights = [int(w) for w in rng.integers(0, 5, size=k)]
    weights[0] += 1
    shares = [Fraction(w, sum(weights)) for w in weights]
    rates = [[Fraction(int(r), 6) for r in rng.integers(0, 7, size=k)] for _ in range(2)]
    return matrix, [(shares, r) for r in rates]


@once
def _sharp(push: Any, factor: Any, search: Search) -> None:
    """Randomised response on two equal groups leaves exactly tanh(ε/2), of Δ and of Δ′."""
    search.part("the factor is attained")
    half, rates = [Fraction(1, 2)] * 2, [Fraction(1, 5), Fraction(3, 5)]
    for x in (Fraction(i, 24) for i in range(25)):
        pz, p1z = push(Randomizer(response_matrix(2, x)), half, rates)
        for kind in KINDS:
            before, left = _unfairness(half, rates, kind), _unfairness(pz, p1z, kind)
            case = {"x": x, "kind": kind}
            if x > 0:  # without any noise the lemma is an equality too
                search.sharper(factor(x) * before - left, before - left, case)
            else:
                search.equal(left, factor(x) * before, case)


@once
def _data_set_in_hand(law: Any, search: Search) -> None:
    """The law of Δ′ among n drawn reports, against all 2^n outcomes; how often it exceeds what it was."""
    search.part("a data set in hand")
    for counts, x in itertools.product(
        (((1, 1), (1, 1)), ((2, 1), (1, 2)), ((3, 0), (1, 1)), ((0, 2), (2, 0))),
        (Fraction(1, 3), Fraction(0)),
    ):
        matrix = response_matrix(2, x)
        expected: dict[Fraction, Fraction] = {}
        people = [(i, y) for i in (0, 1) for y in (0, 1) for _ in range(counts[i][y])]
        for reports in itertools.product((0, 1), repeat=len(people)):
            chance = math.prod(matrix[i, z] for (i, _), z in zip(people, reports, strict=True))
            groups = [[y for (_, y), z in zip(people, reports, strict=True) if z == j] for j in (0, 1)]
            rates = [Fraction(sum(g), len(g)) for g in groups if g]
            gap = max(rates) - min(rates)
            expected[gap] = expected.get(gap, Fraction(0)) + chance
        found: dict[Fraction, Fraction] = {}
        for gap, chance in zip(*law(counts, matrix), strict=True):
            found[gap] = found.get(gap, Fraction(0)) + chance
        for gap in expected.keys() | found.keys():
            case = {"counts": counts, "x": x, "difference": gap}
            search.equal(found.get(gap, Fraction(0)), expected.get(gap, Fraction(0)), case)
    gaps, chances = law(((1, 1), (1, 1)), response_matrix(2, Fraction(1, 3)))
    raised = sum(chance for gap, chance in zip(gaps, chances, strict=True) if gap > 0)
    search.fact(
        "raised", str(raised), "four people without any difference, e^ε = 3: chance that the reports show one"
    )


def _transposed(self: Randomizer, p: Any, p1: Any) -> tuple[np.ndarray, np.ndarray]:
    matrix = self.matrix.T
    if matrix.shape[0] != self.k:
        return Randomizer.pushforward(self, p, p1)
    joint, pz = (np.array(p) * np.array(p1)) @ matrix, np.array(p) @ matrix
    return pz, joint / np.where(pz > 0, pz, 1)


def _not_divided(self: Randomizer, p: Any, p1: Any) -> tuple[np.ndarray, np.ndarray]:
    pz, p1z = Randomizer.pushforward(self, p, p1)
    return pz, pz * p1z


def _values_that_nobody_has(matrix: Any, p: Any, p1: Any, kind: Any) -> bool:
    """Counts values of probability 0 among the senders of a report."""
    shares = np.array([max(s, Fraction(1, 1000)) for s in p], dtype=object)
    return keeps_unfairness(matrix, shares / shares.sum(), p1, kind)


def _labels_redrawn(counts: Any, matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    (a, b), (c, d) = counts
    return realized_difference_law(((b, a), (c, d)), matrix)


FAULTS: dict[str, dict[str, Any]] = {
    "channel transposed": {"push": _transposed},
    "joint probability taken for the rate": {"push": _not_divided},
    "factor tanh(ε/2) squared": {"factor": lambda x: contraction(x) ** 2},
    "factor 1 − e^(−ε)": {"factor": lambda x: 1 - x},
    "factor 1, as in the lemma": {"factor": lambda x: x * 0 + 1},
    "strict at every finite ε": {"keeps": lambda matrix, *_: bool((np.array(matrix) == 0).any())},
    "values that nobody has counted as senders": {"keeps": _values_that_nobody_has},
    "labels of one group exchanged": {"law": _labels_redrawn},
}


CLAIM = Claim(
    id="thesis.lemma-13",
    where="thesis Lemma 13, § 5.3; proof App. B",
    statement="For binary Y and A of any size k, GRR on A never raises Δ′, "
    "the largest difference of P(Y = 1 | A = a) between two values: Δ′(D_GRR) ≤ Δ′(D).",
    statement_uses=("thesis.grr-ldp",),
    verdict="holds",
    finding="True of distributions, for Δ and Δ′ and any channel. Sharper: every ε-LDP channel leaves at "
    "most the factor tanh(ε/2) of either, attained by randomised response on two equal groups; so finite ε "
    "makes it strict unless all rates agree. Not true of a data set in hand: its reports can show a larger "
    "difference than it had.",
    kind="sharper",
    impact="none",
    because="The lemma holds as printed. The thesis uses it for distributions; that a data set in hand can "
    "show more is not said against it.",
    headline="Randomised response never raises the difference of rates, and any ε-LDP channel leaves at "
    "most tanh(ε/2) of it. One drawn data set can still show more.",
    chapter="thesis-lemma-13",
    check=check,
    faults=FAULTS,
)
