"""The bound that multipliers prove holds, the right ones attain the least value, and wrong ones are refused."""

import itertools
import random

import numpy as np
import pytest
from scipy.optimize import linprog

from dpfair_lib.local.optimal.linear_bound import Constraint, linear_bound


def drawn(rng):
    """A program in four variables between 0 and 1, feasible at a corner."""
    corner = [rng.randint(0, 1) for _ in range(4)]
    rows = []
    for _ in range(3):
        form = {i: rng.randint(-5, 5) for i in range(4)}
        there, equation = sum(a * corner[i] for i, a in form.items()), rng.random() < 0.3
        rows.append(Constraint(form, there - rng.randint(0, 3) * (not equation), equation))
    return {i: rng.randint(-5, 5) for i in range(4)}, rows


def least(objective, rows):
    """What HiGHS finds, with its multipliers."""
    matrix = np.array([[row.coefficients[i] for i in range(4)] for row in rows], dtype=float)
    sides, equal = np.array([row.least for row in rows]), np.array([row.equation for row in rows])
    return linprog([objective[i] for i in range(4)], A_ub=-matrix[~equal], b_ub=-sides[~equal],
                   A_eq=matrix[equal], b_eq=sides[equal], bounds=(0, 1))  # fmt: skip


def test_no_multipliers_prove_more_than_the_least_value():
    rng = random.Random(1)
    for _ in range(300):
        objective, rows = drawn(rng)
        found = least(objective, rows).fun
        for _ in range(5):
            ys = [rng.randint(-4 if row.equation else 0, 4) for row in rows]
            assert linear_bound(objective, rows, ys) <= found + 1e-9


def test_the_solver_s_multipliers_prove_the_least_value():
    rng, unit = random.Random(2), 2**40
    for _ in range(100):
        objective, rows = drawn(rng)
        found = least(objective, rows)
        equal, ys = [row.equation for row in rows], np.zeros(len(rows))
        ys[equal], ys[~np.array(equal)] = found.eqlin.marginals, -found.ineqlin.marginals
        whole = [round(float(y) * unit) for y in ys]
        bound = linear_bound({i: a * unit for i, a in objective.items()}, rows, whole)
        assert bound / unit == pytest.approx(found.fun, abs=1e-6)


def test_a_bound_that_forgets_the_rest_or_the_signs_would_be_wrong():
    """Two planted faults, and a corner that shows each."""
    objective, row = {0: 1}, Constraint({0: -1}, -1)
    assert [linear_bound(objective, [row], [y]) for y in (0, 1)] == [0, -1]
    with pytest.raises(ValueError, match="found -1 at position 0"):  # it would "prove" 1, but 0 is reached
        linear_bound(objective, [row], [-1])
    assert linear_bound({0: -1}, [], []) == -1  # without the negative coefficients it would be 0


@pytest.mark.parametrize("ys", [[], [1, 1], [1, 1, 1]])
def test_another_number_of_multipliers_is_refused(ys):
    rows = [Constraint({0: 1}, 0)] if len(ys) != 1 else []
    with pytest.raises(ValueError, match=f"found {len(ys)}, expected {len(rows)}"):
        linear_bound({0: 1}, rows, ys)


@pytest.mark.parametrize("y", [1.0, True, None, "1"])
def test_what_is_no_whole_number_is_refused(y):
    with pytest.raises(ValueError, match="expected a whole number"):
        linear_bound({0: 1}, [Constraint({0: 1}, 0)], [y])


def test_an_equation_takes_both_signs():
    rows = [Constraint({0: 1, 1: 1}, 1, equation=True)]
    bounds = [linear_bound({0: 2, 1: 3}, rows, [y]) for y in range(-3, 5)]
    assert (
        max(bounds) == 2 == min(2 * a + 3 * b for a, b in itertools.product((0, 1), repeat=2) if a + b == 1)
    )
