import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.svm.equalized_odds_program import (
    OddsProgram,
    certify,
    expected_errors,
    lower_bound,
    positive_rates,
    rates_after,
    solve,
    verify,
)

EXACT = np.vectorize(Fraction, otypes=[object])


def random_program(rng, groups, gamma=None):
    counts = rng.integers(0, 30, size=(2, groups, 2)).astype(float)
    pairs = tuple(itertools.combinations(range(groups), 2))
    return OddsProgram(counts, pairs, rng.uniform(0, 0.3, (2, len(pairs))) if gamma is None else gamma)


def solved_exactly(columns, right):
    """Solve a square system of fractions by elimination; None if it is singular."""
    size = len(right)
    table = [[*row, value] for row, value in zip(columns, right, strict=True)]
    for at in range(size):
        pivot = next((row for row in range(at, size) if table[row][at] != 0), None)
        if pivot is None:
            return None
        table[at], table[pivot] = table[pivot], table[at]
        table[at] = [value / table[at][at] for value in table[at]]
        for row in range(size):
            if row != at and table[row][at] != 0:
                factor = table[row][at]
                table[row] = [x - factor * y for x, y in zip(table[row], table[at], strict=True)]
    return [row[-1] for row in table]


def optimum_by_vertices(program):
    """The least errors over all vertices of the feasible polytope, two groups, in fractions."""
    exact = OddsProgram(EXACT(program.counts.astype(int)), program.pairs, EXACT(program.limits))
    rows = exact.rows().reshape(2, 4)
    limits = exact.limits.reshape(-1)
    planes = [([Fraction(int(i == j)) for j in range(4)], Fraction(b)) for i in range(4) for b in (0, 1)]
    planes += [(list(row), sign * limit) for row, limit in zip(rows, limits, strict=True) for sign in (1, -1)]
    best = None
    for chosen in itertools.combinations(planes, 4):
        point = solved_exactly([list(plane[0]) for plane in chosen], [plane[1] for plane in chosen])
        if point is None or not all(0 <= x <= 1 for x in point):
            continue
        rule = np.array(point, dtype=object).reshape(2, 2)
        if (abs(exact.differences(rule)) <= exact.limits).all():
            errors = expected_errors(exact.counts, rule)
            best = errors if best is None else min(best, errors)
    return best


@pytest.mark.parametrize("limit", [Fraction(0), Fraction(1, 20), Fraction(1)])
def test_solution_is_the_best_vertex(limit):
    rng = np.random.default_rng(4)
    for _ in range(4):
        program = random_program(rng, 2, np.full((2, 1), float(limit)))
        exact = optimum_by_vertices(replace(program, limits=np.full((2, 1), limit)))
        assert solve(program).errors == pytest.approx(float(exact), abs=1e-9)


@pytest.mark.parametrize("groups", [2, 3, 6])
def test_certificate_is_tight_and_can_be_recomputed_in_fractions(groups):
    rng = np.random.default_rng(groups)
    for _ in range(5):
        program = random_program(rng, groups)
        solution = solve(program)
        assert verify(program, solution) <= 1e-12
        exact = OddsProgram(EXACT(program.counts.astype(int)), program.pairs, EXACT(program.limits))
        bound = lower_bound(exact, EXACT(solution.multipliers))
        assert isinstance(bound, Fraction)
        assert float(bound) == pytest.approx(solution.lower, abs=1e-9)


def test_a_lower_bound_is_one_whatever_the_multipliers():
    rng = np.random.default_rng(7)
    for _ in range(50):
        program = random_program(rng, 3)
        best = solve(program).errors
        assert lower_bound(program, rng.exponential(20, size=(2, *program.limits.shape))) <= best + 1e-9
    with pytest.raises(ValueError, match="multipliers: found one below 0"):
        lower_bound(program, -np.ones((2, *program.limits.shape)))


def test_false_numbers_are_noticed():
    program = random_program(np.random.default_rng(1), 2, np.full((2, 1), 0.02))
    solution = solve(program)
    for wrong in ({"errors": solution.errors - 1}, {"lower": solution.lower + 1}):
        with pytest.raises(ValueError, match="solution: found"):
            verify(program, replace(solution, **wrong))
    greedy = certify(program, np.array([[0.0, 0.0], [1.0, 1.0]]), solution.multipliers)
    with pytest.raises(ValueError, match="found a limit missed"):
        verify(program, greedy)
    with pytest.raises(ValueError, match="expected probabilities"):
        certify(program, np.full((2, 2), 1.5), solution.multipliers)
    worse = certify(program, np.full((2, 2), 0.5), solution.multipliers)
    assert verify(program, worse) > 0.01


def test_rates_of_an_empty_row_are_a_half_and_rows_are_the_differences():
    counts = np.array([[[0, 3], [1, 2]], [[0, 1], [3, 2]]])
    assert positive_rates(counts) == pytest.approx(np.array([[0.5, 0.75], [0.25, 0.5]]))
    assert positive_rates(EXACT(counts))[0, 0] == Fraction(1, 2)
    assert all(isinstance(rate, Fraction) for rate in positive_rates(EXACT(counts)).ravel())
    rng = np.random.default_rng(0)
    program = OddsProgram(counts.astype(float), ((0, 1),), np.zeros((2, 1)))
    rule = rng.uniform(size=(2, 2))
    by_rows = (program.rows() * rule).sum(axis=(2, 3))
    assert program.differences(rule) == pytest.approx(by_rows)
    rates = rates_after(positive_rates(counts), rule)
    assert by_rows[:, 0] == pytest.approx(rates[:, 0] - rates[:, 1])


# The public code as run without noise (SaeedSharifiMa/FairDP, with CVXOPT): counts, γ, its share of errors, its rule.
AS_RUN = [
    ([[[600, 773], [420, 1039]], [[380, 399], [119, 270]]], 0.0, 0.37975, [[1.0, 1.0], [1.0, 1.0]]),
    ([[[573, 569], [746, 358]], [[578, 488], [319, 370]]], 0.02, 0.443436, [[0.176033, 0.0], [0.0, 0.225801]]),
    ([[[447, 324], [919, 341]], [[468, 650], [340, 510]]], 0.1, 0.3833, [[0.0, 0.02984], [0.766091, 1.0]]),
    ([[[1258, 624], [395, 138]], [[310, 567], [435, 275]]], 0.0, 0.4008, [[0.0, 0.0], [0.0, 0.0]]),
    ([[[398, 1226], [208, 405]], [[213, 645], [672, 232]]], 0.02, 0.369962, [[1.0, 1.0], [1.0, 0.97381]]),
    ([[[309, 425], [833, 358]], [[700, 557], [280, 538]]], 0.1, 0.38233, [[1.0, 0.0], [0.037233, 0.922495]]),
]  # fmt: skip


@pytest.mark.parametrize("case", AS_RUN, ids=lambda case: f"{case[1]}")
def test_it_agrees_with_the_public_code_as_run(case):
    counts, gamma, error, rule = case
    program = OddsProgram(np.array(counts, dtype=float), ((0, 1),), np.full((2, 1), gamma))
    solution = solve(program)
    rows = program.counts.sum()
    assert solution.errors / rows == pytest.approx(error, abs=1e-5)
    assert solution.rule == pytest.approx(np.array(rule), abs=1e-4)


def test_a_wider_limit_would_not_agree_with_the_public_code():
    counts, gamma, error, _ = AS_RUN[1]
    program = OddsProgram(np.array(counts, dtype=float), ((0, 1),), np.full((2, 1), gamma + 0.02))
    assert solve(program).errors / program.counts.sum() < error - 1e-4
