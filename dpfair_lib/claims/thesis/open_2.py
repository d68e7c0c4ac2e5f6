"""Thesis § 6.2.2: each level of the k-ary program is a polytope, and its optimum can be irrational."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.local.channels import all_channels
from dpfair_lib.claims.shared.local.exact_programs import as_fractions, exact_program, printed_objective
from dpfair_lib.claims.shared.local.multiplier_bounds import judge_bound
from dpfair_lib.claims.thesis.open_2_surds import Surd, solve
from dpfair_lib.local.optimal.certificate import Multipliers, lower_bound, priced
from dpfair_lib.local.optimal.closed_forms import perfect_channel
from dpfair_lib.local.optimal.linear_program import completed
from dpfair_lib.local.optimal.program import Program
from dpfair_lib.local.truthful import private_by_truth, truthful_columns, truthful_rows

X = Fraction(1, 2)


def within_level(program: Program, channel: np.ndarray, t: Any) -> bool:
    """Judge by linear inequalities whether |N_j| ≤ t·D_j for all j, that is, whether Δ ≤ t."""
    excess, mass = program.excess @ channel, program.overall * (program.p @ channel)
    return bool((excess <= t * mass).all() and (-excess <= t * mass).all())


def check(
    *,
    member: Callable[..., bool] = within_level,
    ratio: Callable[..., Any] = Program.ratio,
    bound: Callable[..., Any] = lower_bound,
    search: Search,
) -> Evidence:
    """Judge that levels are polytopes, hence convex, in fractions, and one optimum of 3 groups in Q(√13)."""
    _levels(member, search)
    _middles(ratio, search)
    _irrational(ratio, bound, search)
    return search.evidence()


@once
def _levels(member: Any, search: Search) -> None:
    """Channels of a program and their mixtures: Δ ≤ t is linear, and Δ is quasi-convex."""
    rng = search.rng
    for _ in range(25 * search.effort):
        k = int(rng.integers(2, 5))
        shares = tuple(int(share) for share in rng.integers(1, 20, size=k))
        rates = tuple(Fraction(int(rate), 12) for rate in rng.integers(0, 13, size=k))
        if len(set(rates)) == 1:
            continue
        program = exact_program(shares, rates, Fraction(1, int(rng.integers(2, 12))))
        channels = [random_channel(program, rng) for _ in range(4)] + [perfect_channel(program)]
        values = [printed_objective(program, channel) for channel in channels]
        case = {"shares": shares, "rates": rates, "x": program.x}
        search.part("feasible channels")
        for channel in channels:
            relaxed = replace(program, error=Fraction(1))
            search.sanity(-relaxed.violation(channel), case)
        search.part("a level is a system of linear inequalities")
        for channel, value in zip(channels, values, strict=True):
            for t in (value, value * Fraction(999, 1000), value * Fraction(1001, 1000), *values):
                search.agree(member(program, channel, t), value <= t, {**case, "channel": channel, "t": t})
        search.part("mixtures are no worse than the worse of the two")
        for (one, first), (two, second) in itertools.combinations(zip(channels, values, strict=True), 2):
            share = Fraction(int(rng.integers(1, 12)), 12)
            mixed = printed_objective(program, share * one + (1 - share) * two)
            search.observe(max(first, second) - mixed, {**case, "share": share})


@once
def _middles(ratio: Any, search: Search) -> None:
    """All pairs of small feasible channels of 3 groups: Δ at the middle is at most the larger Δ, in whole numbers."""
    search.part("middles of all pairs")
    shares, rates = np.array([6, 3, 1]), np.array([4, 0, 2])  # in tenths, in sixths
    channels, as_given = _in_ninths()
    reports = np.einsum("i,nij->nj", shares, channels)
    overall = int(shares @ rates)
    excess = 10 * np.einsum("i,nij->nj", shares * rates, channels) - overall * reports
    mass = overall * reports
    program = Program(
        np.array([Fraction(int(s), 10) for s in shares], dtype=object),
        np.array([Fraction(int(r), 6) for r in rates], dtype=object),
        X,
        Fraction(1),
    )
    values = [ratio(program, channel) for channel in as_given]
    order = np.argsort(np.array(values, dtype=float), kind="stable")
    up = np.array([value.numerator for value in values])
    down = np.array([value.denominator for value in values])
    for at, i in enumerate(order):  # i is the worse one of each pair
        others = order[: at + 1]
        middle, below = abs(excess[others] + excess[i]), mass[others] + mass[i]
        search.observe((up[i] * below - down[i] * middle).min(axis=1), {"channel": channels[others]})
    pairs = len(channels) * (len(channels) + 1) // 2
    search.exhausts("all pairs of truthful private channels of 3 groups with entries in 9ths", cases=pairs)


@functools.cache  # nothing examined enters it
def _in_ninths() -> tuple[np.ndarray, list[np.ndarray]]:
    """Truthful channels of 3 groups with entries in 9ths and e^ε = 4, as whole numbers and as fractions."""
    channels = all_channels(3, 9)
    channels = channels[
        private_by_truth(channels, Fraction(1, 4)) & truthful_columns(channels) & truthful_rows(channels)
    ]
    return channels, [as_fractions(channel, 9) for channel in channels]


def random_channel(program: Program, rng: np.random.Generator) -> np.ndarray:
    """Return a truthful ε-LDP channel: a diagonal in fractions, shrunk until it is one of a channel, completed."""
    k, x = program.k, program.x
    diagonal = np.array([Fraction(int(n), 64) for n in rng.integers(8, 64, size=k)], dtype=object)
    floor = np.array([Fraction(1, k)] * k, dtype=object)
    diagonal = np.maximum(diagonal, floor)
    diagonal = np.maximum(diagonal, x * diagonal.max())
    used = (1 - x) * diagonal.max() + x * diagonal.sum()
    if used > 1:  # towards the uniform diagonal, which leaves room
        base = (1 - x) * floor[0] + x
        diagonal = floor + (diagonal - floor) * (1 - base) / (used - base)
    slacks = np.array([[Fraction(int(n), 64) for n in row] for row in rng.integers(0, 16, size=(k, k))])
    return completed(program, diagonal, slacks)


def irrational_instance() -> tuple[Program, Surd]:
    """Return three groups of shares 1/2, 1/3, 1/6 and rates 0, 1/2, 1 with e^ε = 2, ζ = 1/2, and their least Δ."""
    p = np.array([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], dtype=object)
    p1 = np.array([Fraction(0), Fraction(1, 2), Fraction(1)], dtype=object)
    return Program(p, p1, X, Fraction(1, 2)), Surd(Fraction(-1, 12), Fraction(1, 12), 13)


def irrational_channel(program: Program, t: Surd) -> np.ndarray:
    """Return the channel in which nine constraints are tight, the third report's fairness at level t among them."""
    p, excess = program.p, program.excess
    unit = [[Surd(i == j, 0, 13) for j in range(9)] for i in range(9)]

    def entry(i: int, j: int) -> np.ndarray:
        return np.array(unit[3 * i + j], dtype=object)

    equations = [sum(entry(i, j) for j in range(3)) for i in range(3)]
    equations += [entry(0, 1) - entry(1, 1) * X, entry(2, 1) - entry(1, 1) * X, entry(1, 2) - entry(2, 2) * X]
    equations += [entry(2, 0) - entry(2, 2), sum(entry(i, i) * p[i] for i in range(3))]
    equations += [sum(entry(i, 2) * (excess[i] - t * program.overall * p[i]) for i in range(3))]
    right = [1, 1, 1, 0, 0, 0, 0, 1 - program.error, 0]
    matrix = [list(np.atleast_1d(row)) for row in equations]
    return solve(matrix, [Surd(value, 0, 13) for value in right]).reshape(3, 3)


def irrational_multipliers(program: Program, t: Surd) -> Multipliers:
    """Return the multipliers under which all that is not tight in that channel costs nothing."""
    zero, one = Surd(0, 0, 13), Surd(1, 0, 13)

    def multipliers(values: Any) -> Multipliers:
        below, truth, first, second, third, cap = values
        caps = np.full((3, 3), zero, dtype=object)
        row_caps = caps.copy()
        row_caps[2, 0] = cap
        above = np.array([zero, zero, one], dtype=object)
        rows = np.array([first, second, third], dtype=object)
        return Multipliers(t, above, np.array([below, zero, zero], dtype=object), truth, rows, caps, row_caps)

    def costs(values: Any) -> list[Any]:
        m = multipliers(values)
        cost, caps = priced(program, m), m.row_caps
        through = [cost[j, j] + X * sum(cost[i, j] for i in range(3) if i != j) for j in range(3)]
        truths = [
            through[j] - m.truth * program.p[j] + X * caps[:, j].sum() - caps[j].sum() for j in range(3)
        ]
        return [*truths, cost[0, 2], cost[1, 0], cost[2, 0] + caps[2, 0]]

    base = costs([zero] * 6)
    columns = [costs([one if i == c else zero for i in range(6)]) for c in range(6)]
    matrix = [[columns[c][row] - base[row] for c in range(6)] for row in range(6)]
    return multipliers(solve(matrix, [-value for value in base]))


@functools.cache  # nothing examined enters it
def _irrational_optimum() -> tuple[Program, Surd, np.ndarray, Multipliers]:
    program, t = irrational_instance()
    return program, t, irrational_channel(program, t), irrational_multipliers(program, t)


@once
def _irrational(ratio: Any, bound: Any, search: Search) -> None:
    """The least Δ of rational data is (√13 − 1)/12: a feasible channel has it, and multipliers prove it least."""
    search.part("an irrational optimum")
    program, t, channel, proof = _irrational_optimum()
    case = {"p": program.p, "p1": program.p1, "x": X, "error": program.error}
    for sign in (ratio(program, channel) - t, bound(program, proof) - t, 12 * t * t + 2 * t - 1):
        search.equal(sign.sign, 0, case)
    search.equal((-program.violation(channel)).sign if program.violation(channel) > 0 else 0, 0, case)
    for error in (program.error, program.error + Fraction(1, 20)):  # they prove something of any program
        judge_bound(bound, replace(program, error=error), proof, search)
    search.fact("optimum", "(√13 − 1)/12", "irrational optimum")
    search.fact("optimum_in_digits", round(float(t), 6), "irrational optimum in digits")
    search.answers(
        "each level Δ ≤ t is a system of linear inequalities, and no formula rational in the data exists",
        left="whether the degree k − 1, at most which the least Δ has over the data, is attained for every k above 6",
    )


FAULTS: dict[str, dict[str, Any]] = {
    "the level itself taken for the bound": {"bound": lambda _, m: m.t},
    "a level proved by no condition": {
        "bound": lambda program, m: lower_bound(program, m) if max(m.above + m.below) > 0 else m.t
    },
    "column truthfulness not paid": {
        "bound": lambda program, m: lower_bound(program, replace(m, column_caps=0 * m.column_caps))
    },
    "one side of the level only": {
        "member": lambda program, q, t: bool(
            (program.excess @ q <= t * program.overall * (program.p @ q)).all()
        )
    },
    "level taken for the difference of rates": {
        "member": lambda program, q, t: bool(program.difference(q) <= t)
    },
    "denominators of the data": {
        "member": lambda program, q, t: bool(
            (abs(program.excess @ q) <= t * program.overall * program.p).all()
        )
    },
    "ratio without P(Y = 1)": {"ratio": lambda program, q: program.ratio(q) * program.overall},
    "row truthfulness not paid": {
        "bound": lambda program, m: lower_bound(program, replace(m, row_caps=0 * m.row_caps))
    },
    "budget not paid": {"bound": lambda program, m: lower_bound(program, replace(m, truth=0 * m.truth))},
}


CLAIM = Claim(
    id="thesis.open-2",
    where="thesis § 6.2.2",
    statement="Left open: does program (5.5.9) have, "
    "for k > 2, a closed-form solution as for k = 2, or an equivalent convex program?",
    statement_uses=("thesis.thm-14", "thesis.program-5.5.9"),
    verdict="holds",
    finding="Answered. Δ ≤ t is linear in the channel, as |N_a| ≤ t·D_a with D_a > 0: a quasi-convex program, "
    "solved by linear programs in polynomial time. No formula rational in the data exists: p = (1/2, 1/3, 1/6), "
    "rates 0, 1/2, 1, e^ε = 2, ζ = 1/2 give (√13 − 1)/12.",
    kind="answered",
    impact="none",
    because="The thesis leaves the question open and solves the program by branch and bound, which finds "
    "the same optimum with more effort.",
    headline="No formula rational in the data exists: one optimum is (√13 − 1)/12. Every level is a "
    "polytope, so linear programs solve it in polynomial time.",
    chapter="thesis-optimum",
    check=check,
    faults=FAULTS,
)
