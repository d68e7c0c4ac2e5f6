"""Thesis § 5.7.3: the least error budget in closed form, and what freedom is left at it: often none but GRR."""

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
from dpfair_lib.claims.shared.local.channels import all_channels
from dpfair_lib.local.optimal.linear_program import completed
from dpfair_lib.local.optimal.program import Program, most_truthful
from dpfair_lib.local.truthful import private_by_truth, truthful_columns, truthful_rows

RATIOS = (Fraction(0), Fraction(1, 8), Fraction(1, 3), Fraction(1, 2), Fraction(4, 5), Fraction(1))
FLOATS = 1e-14  # what floats may miss
PROGRAM = 1e-9  # and the solver
SHARES = ((1, 1, 1, 1), (3, 2, 1, 1), (8, 4, 1, 2), (1, 12, 30, 1), (1, 1, 50, 100))


def response_is_the_only_one(p: np.ndarray, x: Any) -> bool:
    """Whether randomised response alone attains the least error: p_min > e^(−ε)/(1 + (k − 1)·e^(−ε))."""
    return bool(p.min() * (1 + (len(p) - 1) * x) > x)


def least_binary_diagonal(p: np.ndarray, x: Any) -> list[Any]:
    """Return the most truthful diagonal for two groups: GRR's, or (1 − x/2, ½), the larger group first served."""
    large = int(p[1] > p[0])
    if p[large] * (1 + x) < 1:
        return [1 / (1 + x)] * 2
    diagonal = [Fraction(1, 2)] * 2
    diagonal[large] = 1 - x / 2
    return diagonal


def check(
    *,
    most: Callable[..., tuple[Any, np.ndarray]] = most_truthful,
    alone: Callable[..., bool] = response_is_the_only_one,
    binary: Callable[..., list[Any]] = least_binary_diagonal,
    search: Search,
) -> Evidence:
    """Judge the least error against all small channels and against vertices, and the uniqueness by an identity."""
    for k, parts in ((2, 24), (3, 9)):
        _against_channels(k, parts, most, alone, search)
    _random_vertices(most, search)
    _more_groups(most, search)
    _in_floats(most, search)
    _binary(most, binary, search)
    return search.evidence()


def _against_channels(k: int, parts: int, most: Any, alone: Any, search: Search) -> None:
    """No channel is more truthful; the loss against GRR is a weighted sum of what is above the base."""
    channels = all_channels(k, parts)
    channels = channels[truthful_columns(channels) & truthful_rows(channels)]
    diagonals = np.diagonal(channels, axis1=-2, axis2=-1)
    for x, shares in itertools.product(RATIOS, SHARES):
        p = fractions(shares[:k])
        private = private_by_truth(channels, x)
        truths, chosen = diagonals[private], channels[private]
        if not len(chosen):
            continue
        case = {"channel": chosen, "p": p, "x": x}
        truth, diagonal = most(p, x)
        total = sum(shares[:k])
        # whole numbers on both sides: truth·parts·total·(its denominator)
        claimed, reached = Fraction(truth), truths @ np.array(shares[:k])
        search.part(f"no channel of {k} groups is more truthful")
        search.observe(claimed.numerator * parts * total - claimed.denominator * reached, case)
        search.part(f"and this one is as truthful, {k} groups")
        program = Program(p, p, x, 1 - truth)
        channel = completed(program, diagonal, np.zeros((k, k), dtype=object) + Fraction(0))
        search.observe(-program.violation(channel), {"p": p, "x": x})
        # completing a diagonal also mends it: it must not have had to
        search.equal(abs(np.diagonal(channel) - diagonal).max(), 0, {"p": p, "x": x})
        if x < 1:
            search.part(f"what is lost against randomised response, {k} groups")
            weights = (p - x / (1 - x + k * x)) / (1 - x)
            slack = x.denominator * chosen.sum(axis=2) - _base(chosen, x)
            lost = Fraction(parts) / (1 - x + k * x) - np.array(
                [Fraction(int(r), total) for r in reached[:200]]
            )
            search.equal(
                lost, slack[:200].astype(object) @ weights / x.denominator, {"channel": chosen[:200]}
            )
            none_lost = (claimed.numerator * parts * total == claimed.denominator * reached).sum()
            search.part(f"randomised response alone, {k} groups")
            search.agree(alone(p, x), weights.min() > 0, {"p": p, "x": x})
            others = int(none_lost) - int(bool((slack == 0).all(axis=1).any()))
            if alone(p, x):
                search.equal(truth, 1 / (1 - x + k * x), {"p": p, "x": x})
                search.equal(others, 0, {"p": p, "x": x})
            elif weights.min() < 0:
                search.observe(1 if truth > 1 / (1 - x + k * x) else -1, {"p": p, "x": x})
    search.exhausts(
        f"all truthful channels of {k} groups with entries in {parts}ths, wherever they are private",
        cases=len(SHARES) * sum(private_truthful(k, parts, x) for x in RATIOS),
    )


def private_truthful(k: int, parts: int, x: Fraction) -> int:
    """Count the private truthful channels of two or three groups in such parts, diagonal by diagonal.

    Given the diagonal, the rows are independent. The lie of i that says j is at least x times the truth of j, and
    at most the truth of i and that of j; the lies of i add up to what its truth leaves.
    """
    assert k in (2, 3)
    count = 0
    for truths in itertools.product(range(parts + 1), repeat=k):
        ways = 1
        for i, truth in enumerate(truths):
            left = parts - truth
            ends = [(math.ceil(x * t), min(t, truth)) for j, t in enumerate(truths) if j != i]
            low, high = ends[0]
            if k == 2:
                least, most = left, left
            else:
                least, most = left - ends[1][1], left - ends[1][0]
            ways *= max(0, min(high, most) - max(low, least) + 1)
        count += ways
    return count


def _base(channels: np.ndarray, x: Fraction) -> np.ndarray:
    """Return, for each row i, x.denominator·(q_ii + x·Σ_(j≠i) q_jj): the part that truth and privacy force."""
    truth = np.diagonal(channels, axis1=-2, axis2=-1)
    return (x.denominator - x.numerator) * truth + x.numerator * truth.sum(axis=1, keepdims=True)


def fractions(shares: tuple[int, ...]) -> np.ndarray:
    """Return shares as fractions of their sum."""
    return np.array([Fraction(share, sum(shares)) for share in shares], dtype=object)


@once
def _random_vertices(most: Any, search: Search) -> None:
    """Three groups: the linear program in the diagonal and its maximum, by all of its vertices."""
    search.part("vertices of the diagonal's program, 3 groups")
    for _ in range(6 * search.effort):
        p = fractions(tuple(int(share) for share in search.rng.integers(1, 60, size=3)))
        x = Fraction(1, int(search.rng.integers(1, 12)))
        search.equal(most(p, x)[0], best_vertex(p, x), {"p": p, "x": x})


@once
def _more_groups(most: Any, search: Search) -> None:
    """Four to eight groups, some of them tiny: against linear programs in all k² entries."""
    search.part("all channels of 4 to 8 groups")
    for at in range(15):
        p, x = _instance(at)
        search.equal(float(most(p, x)[0]), _most_by_program(at), {"p": p, "x": x}, tolerance=PROGRAM)


def _instance(at: int) -> tuple[np.ndarray, float]:
    rng, k = np.random.default_rng(at), 4 + at % 5
    p = rng.dirichlet(np.ones(k))
    p[at % k :] /= 100  # all kinks have their turn
    return p / p.sum(), float(rng.uniform())


@functools.cache  # nothing examined enters it
def _most_by_program(at: int) -> float:
    """Return the largest Σ p_i·q_ii over truthful ε-LDP channels, every condition as it is printed."""
    from scipy.optimize import linprog

    p, x = _instance(at)
    k = len(p)
    entry = np.eye(k * k).reshape(k, k, k * k)
    below = [
        row
        for i, j in itertools.permutations(range(k), 2)
        for row in (entry[i, j] - entry[i, i], entry[i, j] - entry[j, j], x * entry[j, j] - entry[i, j])
    ]
    truth = sum(share * entry[i, i] for i, share in enumerate(p))
    found = linprog(
        -truth, np.array(below), np.zeros(len(below)), entry.sum(axis=1), np.ones(k), bounds=(0, 1)
    )
    return float(-found.fun)


@once
def _in_floats(most: Any, search: Search) -> None:
    """Floats against fractions of the same numbers, for e^(−ε) down to 10^(−15): no digit is lost."""
    search.part("floats against fractions")
    for k, exponent in itertools.product((2, 3, 5, 10), range(1, 16)):
        p = search.rng.dirichlet(np.ones(k))
        if k == 3:
            p = np.array([0.9, 0.06, 0.04])
        x = 10.0**-exponent
        truth, diagonal = most(p, x)
        exact, best = most_truthful(np.array([Fraction(float(share)) for share in p]), Fraction(x))
        case = {"p": p, "x": x}
        search.equal(float(truth), float(exact), case, tolerance=FLOATS)
        distance = max(abs(one - float(two)) for one, two in zip(diagonal, best, strict=True))
        search.equal(float(distance), 0.0, case, tolerance=FLOATS)


def best_vertex(p: np.ndarray, x: Fraction) -> Fraction:
    """Return the largest p·M over 1/3 ≤ M_i, x·M_j ≤ M_i, (1 − x)·M_i + x·ΣM ≤ 1: by Cramer's rule at all triples."""
    rows: list[tuple[list[Fraction], Fraction]] = []
    for i in range(3):
        unit = [Fraction(int(i == j)) for j in range(3)]
        rows.append((unit, Fraction(1, 3)))
        rows.append(([-(1 - x) * u - x for u in unit], Fraction(-1)))
        rows += [([u - x * (j == m) for m, u in enumerate(unit)], Fraction(0)) for j in range(3) if j != i]
    best = Fraction(0)
    for triple in itertools.combinations(rows, 3):
        (a, b, c), right = [row[0] for row in triple], [row[1] for row in triple]
        whole = _determinant(a, b, c)
        if whole == 0:
            continue
        system = list(zip((a, b, c), right, strict=True))
        point = [
            _determinant(*([r if m == j else v for m, v in enumerate(row)] for row, r in system)) / whole
            for j in range(3)
        ]
        if all(sum(u * v for u, v in zip(row, point, strict=True)) >= least for row, least in rows):
            best = max(best, sum(share * value for share, value in zip(p, point, strict=True)))
    return best


def _determinant(a: list[Fraction], b: list[Fraction], c: list[Fraction]) -> Fraction:
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )


@once
def _binary(most: Any, binary: Any, search: Search) -> None:
    """Two groups: GRR, or the larger group truthful; Theorem 14's channel serves the smaller one and errs more."""
    search.part("two groups against Theorem 14")
    for share, x in itertools.product(range(1, 24), [Fraction(n, 12) for n in range(1, 12)]):
        p = fractions((share, 24 - share))
        truth = most(p, x)[0]
        case = {"p": p, "x": x}
        search.equal(p @ np.array(binary(p, x), dtype=object), truth, case)
        printed = min(p) * (1 - x / 2) + max(p) / 2  # Theorem 14: 1 − e^(−ε)/2 for the smaller group
        search.observe(truth - printed - Fraction(1, 10**6), case)


def _room_by_subtraction(p: np.ndarray, x: Any) -> tuple[Any, np.ndarray]:
    """Take the room for all groups from 1 − U, in floats: an error of 1e-16 there is one of 1e-16/x in the room."""
    truth, diagonal = most_truthful(p, x)
    if p.dtype == object:
        return truth, diagonal
    top = diagonal.max()
    low = max(1 / len(p), x * top)
    room = (1 - top) / x + top - len(p) * low
    heights = diagonal.copy()
    for place, group in enumerate(np.argsort(-p, kind="stable")):
        heights[group] = low + min(top - low, max(room - place * (top - low), 0.0))
    return p @ heights, heights


FAULTS: dict[str, dict[str, Any]] = {
    "always randomised response": {
        "most": lambda p, x: (1 / (1 - x + len(p) * x), np.full(len(p), 1 / (1 - x + len(p) * x)))
    },
    "a hundredth too much": {
        "most": lambda p, x: (most_truthful(p, x)[0] + Fraction(1, 100), most_truthful(p, x)[1])
    },
    "a millionth too much for more than three groups": {
        "most": lambda p, x: (
            most_truthful(p, x)[0] + Fraction(int(len(p) > 3), 10**6),
            most_truthful(p, x)[1],
        )
    },
    "diagonal of another value": {
        "most": lambda p, x: (most_truthful(p, x)[0], most_truthful(p[::-1], x)[1] * 2)
    },
    "room from the difference 1 − U": {"most": _room_by_subtraction},
    "alone whenever no group is below 1/k²": {
        "alone": lambda p, _: bool(p.min() >= Fraction(1, len(p) ** 2))
    },
    "alone at the threshold of two groups": {"alone": lambda p, x: bool(p.min() * (1 + x) > x / 2)},
    "alone only if every group is larger than e^(−ε)": {"alone": lambda p, x: bool(p.min() > x)},
    "the smaller group told truly": {"binary": lambda p, x: least_binary_diagonal(p[::-1], x)},
}


CLAIM = Claim(
    id="thesis.zeta-min",
    where="thesis § 5.7.3",
    statement="Program (5.5.9) stays feasible down to a smallest error ζ; "
    "OPT for k > 2 is its solution at that ζ and the given ε.",
    statement_uses=("thesis.program-5.5.9",),
    verdict="holds",
    finding="ζ_min has a closed form and does not depend on Y. If every p_i > 1/(e^ε + k − 1), one channel attains "
    "it, GRR: OPT is GRR, and at large ε can differ only by a rounded ζ. For k = 2 it is GRR or tells the "
    "larger group truly with probability 1 − e^(−ε)/2; for ε > 0 it is never Theorem 14's channel.",
    kind="as-printed",
    impact="none",
    because="The program behaves as said. What the closed form means for the figures is judged at Figures "
    "5.1–5.10.",
    headline="The least error has a closed form. At that error OPT is plain randomised response as soon as "
    "every group's share exceeds 1/(e^ε + k − 1).",
    chapter="thesis-front",
    check=check,
    faults=FAULTS,
)
