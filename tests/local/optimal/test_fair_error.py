import itertools
import math
import types
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from optima import draw, exactly, flaws
from scipy.optimize import linprog

from dpfair_lib import optimal_randomizer
from dpfair_lib.local import fair_error_bounds, smallest_error, smallest_fair_error
from dpfair_lib.local.optimal.certificate import lagrangian_bound
from dpfair_lib.local.optimal.closed_forms import perfect_truth
from dpfair_lib.local.optimal.program import Program, as_program

P, P1 = [0.5, 0.3, 0.15, 0.05], [0.2, 0.6, 0.35, 0.9]


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.5, 1.0, 3.0, 8.0, math.inf])
def test_it_lies_between_the_least_error_and_the_closed_form(epsilon):
    found = smallest_fair_error(P, P1, epsilon)
    assert smallest_error(P, epsilon) <= found <= 1 - perfect_truth(4, math.exp(-epsilon)) + 1e-9
    if epsilon == 0:
        assert found == pytest.approx(0.75)


@pytest.mark.parametrize("seed", range(6))
def test_unfairness_ends_there(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 8))
    p, p1, epsilon = rng.dirichlet(np.ones(k)), rng.uniform(size=k), float(rng.uniform(0.3, 4))
    least = smallest_fair_error(p, p1, epsilon)
    assert optimal_randomizer(p, p1, epsilon, error=least + 1e-9).value <= 1e-6
    before = max(least - 1e-3, smallest_error(p, epsilon))
    assert optimal_randomizer(p, p1, epsilon, error=before).certificate.lower > 1e-6


def test_two_groups_have_to_guess():
    assert smallest_fair_error([0.2, 0.8], [0.1, 0.7], 2.0) == pytest.approx(0.5)


def test_equal_rates_cost_nothing():
    assert smallest_fair_error(P, [0.4] * 4, 1.0) == pytest.approx(smallest_error(P, 1.0))
    # 0.6·0.3 + 0.3·0.3 + 0.1·0.3 is not 0.3 in floats
    assert smallest_fair_error([0.6, 0.3, 0.1], [0.3] * 3, 1.0) == smallest_error([0.6, 0.3, 0.1], 1.0)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="p1: found P"):
        smallest_fair_error(P, [0.0] * 4, 1.0)
    with pytest.raises(ValueError, match="epsilon"):
        smallest_fair_error(P, P1, -1.0)


@pytest.mark.parametrize("epsilon", [18.0, 25.0, 30.0, 36.0, 100.0, 700.0])
def test_the_least_error_keeps_its_digits_at_large_budgets(epsilon):
    x = math.exp(-epsilon)
    for p in ([0.5, 0.5], [0.5, 0.3, 0.2], [0.9, 0.06, 0.04]):
        response = 1 - 1 / (1 + (len(p) - 1) * x)
        assert smallest_error(p, epsilon) == pytest.approx(response, abs=1e-15)
    channel = optimal_randomizer([0.5, 0.5], [0.2, 0.6], epsilon)
    assert channel.certificate.error <= x + 1e-15
    assert channel.value == pytest.approx(0.5, abs=1e-7)


def test_beyond_700_only_infinity_is_a_budget():
    with pytest.raises(ValueError, match="epsilon: found 701"):
        smallest_error([0.5, 0.5], 701)
    with pytest.raises(ValueError, match="epsilon: found 701"):
        optimal_randomizer([0.5, 0.5], [0.2, 0.6], 701)


def test_the_time_limit_of_the_fair_error():
    rng = np.random.default_rng(0)
    p, p1 = rng.dirichlet(np.full(40, 2.0)), rng.uniform(0.05, 0.6, 40)
    stopped, found = fair_error_bounds(p, p1, 3.0, time_limit=1e-9), fair_error_bounds(p, p1, 3.0)
    assert stopped.gap > 1e-3 > found.gap
    assert stopped.lower <= found.upper
    assert found.lower <= stopped.upper


def both_sides(p, p1, epsilon, error):
    """Return a proved lower bound of the least Δ a little below an error budget, and an upper one at it."""
    before = optimal_randomizer(p, p1, epsilon, error=error - 1e-6)
    return before.certificate.lower, optimal_randomizer(p, p1, epsilon, error=error).value


@pytest.mark.parametrize("seed", range(8))
def test_the_fair_error_is_where_unfairness_ends(seed):
    rng = np.random.default_rng(seed)
    k, epsilon = int(rng.integers(3, 40)), float(rng.uniform(0.3, 5))
    p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
    found = fair_error_bounds(p, p1, epsilon)
    assert found.gap <= 1e-9
    certificate = types.SimpleNamespace(lower=0.0)
    channel = types.SimpleNamespace(
        matrix=found.channel.matrix, value=found.unfairness, certificate=certificate
    )
    assert flaws(channel, p, p1, epsilon, found.upper) == []
    assert found.unfairness <= 1e-10
    lower, upper = both_sides(p, p1, epsilon, found.upper)
    assert upper <= 2e-9 < 1e-8 < lower
    # a figure on either wrong side would be noticed
    assert both_sides(p, p1, epsilon, found.upper - 2e-6)[1] > 2e-9
    assert both_sides(p, p1, epsilon, found.upper + 2e-6)[0] == 0


def test_the_proof_of_the_fair_error_holds_in_rational_arithmetic():
    rng = np.random.default_rng(1)
    for k in (2, 3, 5, 7):
        p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
        found = fair_error_bounds(p, p1, 1.2)
        program, m = as_program(p, p1, 1.2, 1.0), found.multipliers
        shares = exactly(program.p)
        exact = Program(shares / shares.sum(), exactly(program.p1), Fraction(program.x), Fraction(1))
        fields = {
            name: exactly(getattr(m, name)) for name in ("above", "below", "rows", "column_caps", "row_caps")
        }
        proved = 1 + lagrangian_bound(exact, replace(m, t=Fraction(0), truth=Fraction(1), **fields))
        assert found.lower <= proved <= found.upper + 1e-9
        assert proved + 1e-8 > found.upper  # a proof of more would be noticed


@pytest.mark.parametrize("seed", range(4))
def test_the_fair_error_is_that_of_a_plain_program(seed):
    rng = np.random.default_rng(seed)
    k, epsilon = 3 + 2 * seed, float(rng.uniform(0.3, 3))
    p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
    x, entry = math.exp(-epsilon), np.eye(k * k).reshape(k, k, k * k)
    limits = [
        row
        for i, j in itertools.permutations(range(k), 2)
        for row in (x * entry[j, j] - entry[i, j], entry[i, j] - entry[j, j], entry[i, j] - entry[i, i])
    ]
    biased = [sum(p[i] * (p1[i] - p @ p1) * entry[i, j] for i in range(k)) for j in range(k)]
    plain = linprog(
        -sum(p[i] * entry[i, i] for i in range(k)), A_ub=np.array(limits), b_ub=np.zeros(len(limits)),
        A_eq=np.array([*entry.sum(axis=1), *biased]), b_eq=np.repeat([1.0, 0.0], k), bounds=(0, 1),
    )  # fmt: skip
    assert smallest_fair_error(p, p1, epsilon) == pytest.approx(1 + plain.fun, abs=1e-8)


def test_two_groups_have_to_guess_exactly():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p, p1 = rng.dirichlet([2.0, 2.0]), rng.uniform(0.05, 0.6, 2)
        found = fair_error_bounds(p, p1, float(rng.uniform(0.1, 6)))
        assert found.lower <= 0.5 <= found.upper + 1e-12
        assert found.gap <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_fifty_groups_at_the_usual_budget_raise_nothing(seed):
    """Where `smallest_fair_error` once raised ArithmeticError: k = 50, ε = ln k + 1."""
    rng = np.random.default_rng(seed)
    found = fair_error_bounds(rng.dirichlet(np.full(50, 2.0)), rng.uniform(0.05, 0.6, 50), math.log(50) + 1)
    assert found.gap <= 1e-9


@pytest.mark.parametrize("first", [0, 500])
def test_no_fair_error_raises(first):
    for seed in range(first, first + 80):
        p, p1, epsilon = draw(seed, k=2 + seed % 21)
        found = fair_error_bounds(p, p1, epsilon, time_limit=2.0)
        assert smallest_error(p, epsilon) - 1e-12 <= found.lower <= found.upper <= 1
        assert found.unfairness <= 1e-10
        # multipliers grow like one over the smallest excess, and what rounding may have done grows with them
        if (p * abs(p1 - p @ p1) >= 1e-7).all() and epsilon <= 12:
            assert found.gap <= 1e-7, seed
