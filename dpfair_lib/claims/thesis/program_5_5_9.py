"""Thesis, (5.5.8)–(5.5.9): the printed program is the one meant, it is not convex, and this is its optimum."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.local.channels import all_channels
from dpfair_lib.claims.shared.local.exact_programs import (
    as_fractions,
    exact_program,
    in_floats,
    printed_objective,
)
from dpfair_lib.claims.shared.local.multiplier_bounds import judge_bound
from dpfair_lib.local.optimal.certificate import Multipliers, lower_bound
from dpfair_lib.local.optimal.closed_forms import first_channel, north_west
from dpfair_lib.local.optimal.columns import by_columns
from dpfair_lib.local.optimal.interior_point import by_interior
from dpfair_lib.local.optimal.program import Program
from dpfair_lib.local.truthful import private_by_truth, truthful_columns, truthful_rows

Optimum = tuple[np.ndarray, Multipliers | None]
SHARES = ((1, 1, 1), (6, 3, 1))
PAIRS = 300  # of channels whose middle is looked at
RATES = ((Fraction(1, 4), Fraction(1, 2), Fraction(1)), (Fraction(2, 3), Fraction(0), Fraction(1, 3)))


def inside(program: Program) -> Optimum:
    """Return the channel of the library's usual method, which goes through the inside, and what proves it."""
    start, deadline = first_channel(program), time.monotonic() + 60
    return by_interior(program, start, tol=1e-9, deadline=deadline)[:2]


def optimum(program: Program) -> Optimum:
    """Return the channel of the linear program that grows, and what proves it."""
    start, flow = first_channel(program), north_west(program.excess)
    deadline = time.monotonic() + 60
    return by_columns(program, start, (flow > 0) | (flow.T > 0), tol=1e-9, deadline=deadline)[:2]


def check(
    *,
    constraints: Callable[..., Any] = lambda q, x: (
        private_by_truth(q, x) & truthful_columns(q) & truthful_rows(q)
    ),
    objective: Callable[..., Any] = Program.ratio,
    solve: Callable[[Program], Optimum] = optimum,
    interior: Callable[[Program], Optimum] = inside,
    bound: Callable[..., Any] = lower_bound,
    search: Search,
) -> Evidence:
    """Judge constraints and objective as printed on all small channels, and the optimum against some of them."""
    x = Fraction(1, 3)
    for k, parts in ((2, 24), (3, 9)):
        search.part(f"constraints, {k} groups")
        channels = all_channels(k, parts)
        printed = printed_constraints(channels, parts, x)
        search.agree(constraints(channels, x), printed, {"channel": channels})
        other = Fraction(1, 5)
        search.agree(
            constraints(channels, other), printed_constraints(channels, parts, other), {"channel": channels}
        )
        search.exhausts(f"all channels of {k} groups with entries in {parts}ths", cases=2 * len(channels))
        some = channels[printed]
        feasible = [as_fractions(channel, parts) for channel in some[:: 1 + len(some) // 250]]
        for name, shares, rates in zip(("equal", "unequal"), SHARES, RATES, strict=True):
            program = exact_program(shares[:k], rates[:k], x)
            bent = _objective_and_optimum(program, feasible, objective, solve, bound, search)
            search.fact(
                f"bent_{k}_{name}",
                bent,
                f"of {PAIRS} pairs of channels of {k} groups of {name} size, objective above the chord at the middle",
            )
    search.fact("chords", PAIRS, "pairs of channels whose middle was looked at, each time")
    _random_instances(solve, bound, search)
    _through_the_inside(interior, solve, bound, search)
    return search.evidence()


def in_fractions(m: Multipliers) -> Multipliers:
    """Return the solver's multipliers as the fractions that the floats are: any that are ≥ 0 prove something."""

    def exact(values: Any) -> np.ndarray:
        flat = [Fraction(float(value)) for value in np.ravel(values)]
        return np.array(flat, dtype=object).reshape(np.shape(values))

    return replace(
        m,
        t=Fraction(float(m.t)),
        truth=Fraction(float(m.truth)),
        above=exact(m.above),
        below=exact(m.below),
        rows=exact(m.rows),
        column_caps=exact(m.column_caps),
        row_caps=exact(m.row_caps),
    )


def printed_constraints(channels: np.ndarray, parts: int, x: Fraction) -> np.ndarray:
    """Judge the constraints of (5.5.9) but the budget, in the off-diagonal entries alone; channels in parts."""
    k = channels.shape[-1]
    feasible = np.ones(len(channels), dtype=bool)
    lies = {(i, j): channels[:, i, j] for i, j in itertools.permutations(range(k), 2)}
    truth = [parts - sum(lies[i, a] for a in range(k) if a != i) for i in range(k)]
    for (i, j), lie in lies.items():
        feasible &= x.numerator * truth[j] <= x.denominator * lie
        feasible &= (truth[i] >= 0) & (lie >= 0) & (truth[i] >= lie) & (truth[j] >= lie)
    return feasible


def _objective_and_optimum(
    program: Program, feasible: list[np.ndarray], objective: Any, solve: Any, bound: Any, search: Search
) -> int:
    """Judge both; return at how many middles of two channels the objective is above the chord."""
    search.part(f"objective and optimum, {program.k} groups")
    case = {"p": program.p, "p1": program.p1, "x": program.x, "error": program.error}
    least = _bracketed(program, solve, bound, search, case)
    values = [printed_objective(program, channel) for channel in feasible]
    for channel, value in zip(feasible, values, strict=True):
        search.equal(objective(program, channel), value, {**case, "channel": channel})
        if program.mistakes(channel) <= program.error:
            search.observe(value - least, {**case, "channel": channel})
    pairs = search.rng.integers(len(feasible), size=(PAIRS, 2))
    middles = [printed_objective(program, (feasible[i] + feasible[j]) / 2) for i, j in pairs]
    return sum(
        bool(value > (values[i] + values[j]) / 2) for (i, j), value in zip(pairs, middles, strict=True)
    )


def rounded(m: Multipliers) -> Multipliers:
    """Return multipliers with denominators that stay small."""

    def short(values: Any) -> np.ndarray:
        return np.vectorize(lambda value: value.limit_denominator(1000), otypes=[object])(values)

    names = ("above", "below", "rows", "column_caps", "row_caps")
    parts: dict[str, Any] = {name: short(getattr(m, name)) for name in names}
    return replace(m, t=m.t.limit_denominator(1000), truth=m.truth.limit_denominator(1000), **parts)


@once
def _random_instances(solve: Any, bound: Any, search: Search) -> None:
    search.part("random instances of 3 to 5 groups")
    for _ in range(5 * search.effort):
        k = int(search.rng.integers(3, 6))
        shares = tuple(int(share) for share in search.rng.integers(1, 30, size=k))
        rates = tuple(Fraction(int(rate), 12) for rate in search.rng.integers(0, 13, size=k))
        if len(set(rates)) > 1:
            program = exact_program(shares, rates, Fraction(1, int(search.rng.integers(2, 60))))
            _bracketed(program, solve, bound, search, {"shares": shares, "rates": rates, "x": program.x})


@once
def _through_the_inside(interior: Any, solve: Any, bound: Any, search: Search) -> None:
    """The usual method by its own multipliers, in fractions, and against the other method: 2 to 20 groups."""
    search.part("the usual method")
    rng = np.random.default_rng(int(search.rng.integers(2**31)))
    for k in (2, 3, 3, 4, 6, 20):
        shares = tuple(int(share) for share in rng.integers(1, 30, size=k))
        rates = (Fraction(1, 2), *(Fraction(int(rate), 13) for rate in rng.integers(0, 14, size=k - 1)))
        program = exact_program(shares, rates, Fraction(1, int(rng.integers(2, 60))))
        case = {"shares": shares, "rates": rates, "x": program.x}
        matrix, _, _ = _proved(program, interior, bound, search, case)
        if k <= 6:
            other, _ = solve(in_floats(program))
            apart = float(in_floats(program).ratio(matrix)) - float(in_floats(program).ratio(other))
            search.observe(-abs(apart), case, tolerance=1e-8)


def _proved(
    program: Program, solve: Any, bound: Any, search: Search, case: Any
) -> tuple[np.ndarray, Multipliers | None, Fraction]:
    """Judge that a channel is feasible and as fair as its multipliers prove; return them and what they prove."""
    floats = in_floats(program)
    matrix, proof = solve(floats)
    search.observe(-float(floats.violation(matrix)), case, tolerance=1e-9)
    least = Fraction(0) if proof is None else Fraction(bound(program, in_fractions(proof)))
    search.observe(float(least) - float(floats.ratio(matrix)), case, tolerance=1e-8)
    search.observe(float(floats.ratio(matrix)) - float(least), case, tolerance=1e-9)
    return matrix, proof, least


def _bracketed(program: Program, solve: Any, bound: Any, search: Search, case: Any) -> Fraction:
    """Judge a solver's channel and proof, and what multipliers about these prove; return what they prove."""
    _, proof, least = _proved(program, solve, bound, search, case)
    if proof is not None:
        judge_bound(bound, program, rounded(in_fractions(proof)), search)
    return least


def _over_budget(program: Program) -> Optimum:
    return optimum(replace(program, error=min(1.02 * program.error, 1.0)))


def _loosely_proved(program: Program) -> Optimum:
    """Multipliers that prove a bound, but not this one."""
    matrix, proof = inside(program)
    return matrix, None if proof is None else replace(proof, truth=1.01 * proof.truth)


def _inside_over_budget(program: Program) -> Optimum:
    return inside(replace(program, error=min(1.02 * program.error, 1.0)))


def _as_private_as_it_likes(program: Program) -> Optimum:
    """The inside of a program whose ε is a tenth larger."""
    return inside(replace(program, x=program.x * 0.9))


def _one_step(program: Program) -> Optimum:
    return first_channel(program), optimum(program)[1]


def _slacks_for_free(program: Program, multipliers: Multipliers) -> Any:
    """Forget what slacks of negative cost could still gain."""
    return lower_bound(program, replace(multipliers, rows=multipliers.rows - Fraction(1, 1000))) + Fraction(
        1, 100
    )


def _larger_masses(program: Program, m: Multipliers) -> Any:
    """Take a report's mass to be at least P(Y = 1)/k, whatever the privacy level."""
    found, largest = lower_bound(program, m), m.t
    shrunk = m.sides[0] * m.above + m.sides[1] * m.below
    sound = (shrunk * (program.x + (1 - program.x) * program.p)).sum() / shrunk.sum() if shrunk.sum() else 1
    return found if found >= largest or found == 0 else m.t + (found - m.t) * sound


FAULTS: dict[str, dict[str, Any]] = {
    "the level itself taken for the bound": {"bound": lambda _, m: m.t},
    "a level proved by no condition": {
        "bound": lambda program, m: lower_bound(program, m) if max(m.above + m.below) > 0 else m.t
    },
    "truthful columns for free": {
        "bound": lambda program, m: lower_bound(program, replace(m, column_caps=0 * m.column_caps))
    },
    "truthful rows for free": {
        "bound": lambda program, m: lower_bound(program, replace(m, row_caps=0 * m.row_caps))
    },
    "reports of too large a mass": {"bound": _larger_masses},
    "both sides taken for those of Δ": {
        "bound": lambda program, m: lower_bound(program, replace(m, sides=(1, 1)))
    },
    "truth of rows forgotten": {"constraints": lambda q, x: private_by_truth(q, x) & truthful_columns(q)},
    "truth of columns forgotten": {"constraints": lambda q, x: private_by_truth(q, x) & truthful_rows(q)},
    "e^(−ε) of a third, whatever it is": {
        "constraints": lambda q, x: (
            private_by_truth(q, max(x, Fraction(1, 3))) & truthful_columns(q) & truthful_rows(q)
        )
    },
    "privacy within rows": {
        "constraints": lambda q, x: (
            private_by_truth(np.swapaxes(q, -1, -2), x) & truthful_columns(q) & truthful_rows(q)
        )
    },
    "no bars in the objective": {
        "objective": lambda program, q: ((program.excess @ q) / (program.overall * (program.p @ q))).max()
    },
    "difference in place of the ratio": {"objective": Program.difference},
    "budget exceeded": {"solve": _over_budget},
    "stopped at the first channel": {"solve": _one_step},
    "the inside of a larger budget": {"interior": _inside_over_budget},
    "the inside of a larger ε": {"interior": _as_private_as_it_likes},
    "the inside never entered": {"interior": lambda program: (first_channel(program), inside(program)[1])},
    "multipliers that prove less": {"interior": _loosely_proved},
    "a bound that claims too much": {"bound": _slacks_for_free},
}


CLAIM = Claim(
    id="thesis.program-5.5.9",
    where="thesis (5.5.8)–(5.5.9), § 5.5; § 6.2.2",
    statement="The truthful ε-LDP channel of error ≤ ζ with least Δ solves (5.5.9), a min–max "
    "linear fractional program in the off-diagonal entries: not convex, solved by branch and bound.",
    statement_uses=("thesis.reduction-5.5.7",),
    verdict="holds",
    finding="(5.5.9) is the program meant, and its objective is not convex. It is quasi-convex, though: linear "
    "programs solve it to any accuracy, with a proof, and branch and bound is not needed.",
    kind="as-printed",
    impact="none",
    because="The printed program is the one meant and has the printed optimum. That linear programs find "
    "it, with a proof, changes the effort alone.",
    headline="The program is right and, as said, not convex. But it is quasi-convex: linear programs find "
    "its optimum with a proof, and no branch and bound is needed.",
    chapter="thesis-optimum",
    check=check,
    faults=FAULTS,
)
