"""The k-ary optimum: closed cases, agreement of methods and of cruder searches, certificates, bad input."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from dpfair_lib import (
    data_unfairness_from_rates,
    generalized_randomized_response,
    optimal_randomizer,
    smallest_error,
)
from dpfair_lib.local import Randomizer, verify_certificate
from dpfair_lib.local.optimal.closed_forms import perfect_truth
from dpfair_lib.local.optimal.program import as_program

P, P1 = [0.5, 0.3, 0.15, 0.05], [0.2, 0.6, 0.35, 0.9]


@pytest.mark.parametrize("epsilon", [18.0, 20.0, 30.0])
def test_at_large_budgets_the_channel_is_feasible_and_the_gap_told(epsilon):
    rng = np.random.default_rng(5)
    for _ in range(10):
        p, p1 = rng.dirichlet(np.full(6, 0.05)) + 1e-9, rng.uniform(size=6)
        p /= p.sum()
        error = smallest_error(p, epsilon) + rng.uniform() * 0.3
        channel = optimal_randomizer(p, p1, epsilon, error=error)
        assert channel.certificate.violation <= 1e-14
        assert 0 <= channel.certificate.lower <= channel.value + 1e-12
        assert verify_certificate(channel, p, p1, epsilon, error=error) >= 0


@st.composite
def instances(draw, most=8):
    k = draw(st.integers(2, most))
    weights = draw(st.lists(st.sampled_from([1e-4, 1e-3, 0.01, 0.3, 1.0, 5.0]), min_size=k, max_size=k))
    rates = draw(st.lists(st.sampled_from([0.0, 1e-6, 0.2, 0.5, 0.51, 0.9, 1.0]), min_size=k, max_size=k))
    epsilon = draw(st.sampled_from([0.0, 0.01, 0.7, 2.0, 5.0, 12.0, math.inf]))
    slack = draw(st.sampled_from([0.0, 1e-9, 1e-3, 0.05, 0.3, 1.0]))
    p = np.array(weights) / sum(weights)
    p1 = np.array(rates)
    if p @ p1 < 1e-3:  # else unfairness is in the thousands, and no absolute gap is within floats
        p1[np.argmax(p)] = 0.5
    least = smallest_error(p, epsilon)
    return p, p1, epsilon, min(least + slack * (1 - least), 1.0)


@settings(max_examples=60, derandomize=True)
@given(instances())
def test_methods_agree_and_prove_it(instance):
    p, p1, epsilon, error = instance
    values = []
    for method in ("columns", "dinkelbach", "bisection"):
        channel = optimal_randomizer(p, p1, epsilon, error=error, method=method)
        scale = max(1.0, channel.value)
        assert verify_certificate(channel, p, p1, epsilon, error=error) <= 1e-8 * scale
        assert channel.epsilon <= epsilon + 1e-9
        values.append(channel.value)
    assert max(values) - min(values) <= 1e-8 * max(1.0, *values)


@settings(max_examples=60, derandomize=True)
@given(instances())
def test_value_is_the_unfairness_of_the_reports(instance):
    p, p1, epsilon, error = instance
    channel = optimal_randomizer(p, p1, epsilon, error=error)
    reports = channel.pushforward(p, p1)
    found = data_unfairness_from_rates(*reports, "ratio")
    assert channel.value == pytest.approx(found, abs=1e-9, rel=1e-8)
    assert 1 - channel.truth_probability(p) <= error + 1e-9


def test_grid_finds_nothing_better_for_two_groups():
    p, p1, epsilon = np.array([0.7, 0.3]), np.array([0.3, 0.8]), 1.5
    least = smallest_error(p, epsilon)
    for error in np.linspace(least, 0.5, 6):
        best = optimal_randomizer(p, p1, epsilon, error=error).value
        program = as_program(p, p1, epsilon, error)
        grid = np.linspace(0.5, 1, 201)
        found = [
            program.ratio(matrix)
            for a, b in itertools.product(grid, grid)
            if program.violation(matrix := np.array([[a, 1 - a], [1 - b, b]])) <= 1e-12
        ]
        if found:  # at the least error a grid may miss the only channel
            assert best - 1e-9 <= min(found) <= best + 0.05


def test_grid_finds_nothing_better_for_three_groups():
    p, p1, epsilon, steps = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.6, 0.9]), 1.2, 12
    error = smallest_error(p, epsilon) + 0.1
    best = optimal_randomizer(p, p1, epsilon, error=error).value
    program = as_program(p, p1, epsilon, error)
    rows = [np.array([a, b, steps - a - b]) / steps for a in range(steps + 1) for b in range(steps + 1 - a)]
    of_group = [[row for row in rows if row[i] == row.max() and row.min() > 0] for i in range(3)]
    channels = (np.array(matrix) for matrix in itertools.product(*of_group))
    found = [program.ratio(channel) for channel in channels if program.violation(channel) <= 1e-12]
    assert found
    assert best - 1e-9 <= min(found) <= best + 0.05


@pytest.mark.parametrize("k", [3, 4, 6])
def test_local_search_finds_nothing_better(k):
    rng = np.random.default_rng(k)
    p, p1, epsilon = rng.dirichlet(np.ones(k)), rng.uniform(size=k), 2.0
    least = smallest_error(p, epsilon)
    error = 0.6 * least + 0.4 * (1 - perfect_truth(k, math.exp(-epsilon)))
    program, best = as_program(p, p1, epsilon, error), optimal_randomizer(p, p1, epsilon, error=error)
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    rows, unit = np.arange(k * k).reshape(k, k), np.eye(k * k)
    bounds = np.array(
        [unit[rows[i, j]] - program.x * unit[rows[j, j]] for i, j in pairs]
        + [unit[rows[i, i]] - unit[rows[i, j]] for i, j in pairs]
        + [unit[rows[j, j]] - unit[rows[i, j]] for i, j in pairs]
    )
    conditions = [
        {"type": "ineq", "fun": lambda q: bounds @ q, "jac": lambda _: bounds},
        {"type": "ineq", "fun": lambda q: error - program.mistakes(q.reshape(k, k))},
        {"type": "eq", "fun": lambda q: q.reshape(k, k).sum(axis=1) - 1},
    ]
    reached = []
    for _ in range(4):
        start = linprog(
            rng.normal(size=k * k),
            A_ub=np.vstack([-bounds, -np.diag(p).ravel()]),
            b_ub=np.r_[np.zeros(len(bounds)), error - 1],
            A_eq=np.kron(np.eye(k), np.ones(k)),
            b_eq=np.ones(k),
        ).x
        found = minimize(
            lambda q: program.ratio(q.reshape(k, k)), start, method="SLSQP", constraints=conditions
        ).x.reshape(k, k)
        if program.violation(found) <= 1e-9:
            reached.append(program.ratio(found))
    assert reached
    assert best.value <= min(reached) + 1e-7


def test_difference_of_rates():
    p, p1, epsilon = np.array([0.6, 0.25, 0.15]), np.array([0.3, 0.8, 0.5]), 2.0
    error = smallest_error(p, epsilon) + 0.1
    channel = optimal_randomizer(p, p1, epsilon, error=error, objective="difference", tol=1e-3)
    assert verify_certificate(channel, p, p1, epsilon, error=error) <= 1e-3
    reports = channel.pushforward(p, p1)
    assert channel.value == pytest.approx(data_unfairness_from_rates(*reports, "difference"), abs=1e-12)
    ratio = optimal_randomizer(p, p1, epsilon, error=error)
    assert channel.value <= data_unfairness_from_rates(*ratio.pushforward(p, p1), "difference") + 1e-3
    withheld = forged(channel, multipliers=channel.certificate.multipliers[1:])
    with pytest.raises(ValueError, match="lower"):  # a share that no cell speaks of: no proof any more
        verify_certificate(withheld, p, p1, epsilon, error=error)


def test_default_budget_is_the_least():
    epsilon = 4.0
    channel = optimal_randomizer(P, P1, epsilon)
    assert 1 - channel.truth_probability(P) == pytest.approx(smallest_error(P, epsilon), abs=1e-10)
    # every group is larger than a lie of randomised response is likely: nothing else attains the least error
    assert channel.matrix == pytest.approx(generalized_randomized_response(4, epsilon).matrix, abs=1e-9)


def test_ends_of_epsilon():
    assert optimal_randomizer(P, P1, 0).matrix == pytest.approx(np.full((4, 4), 0.25))
    assert optimal_randomizer(P, P1, math.inf).matrix == pytest.approx(np.eye(4), abs=1e-15)
    assert smallest_error(P, 0) == pytest.approx(0.75)
    assert smallest_error(P, math.inf) == 0


@pytest.mark.parametrize(
    ("method", "objective"),
    [(method, "ratio") for method in ("columns", "dinkelbach", "bisection")] + [("columns", "difference")],
)
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 2.0, 50.0, math.inf])
def test_ends_are_defined_for_every_method(method, objective, epsilon):
    p = [0.5, 0.3, 0.2]
    least = smallest_error(p, epsilon)
    for p1 in ([0.4, 0.4, 0.4], [1, 1, 1], [0, 1, 0], [1e-12, 0, 0]):
        for error in (least, min(least + 0.2, 1), 1.0):
            channel = optimal_randomizer(
                p, p1, epsilon, error=error, method=method, objective=objective, tol=1e-2, time_limit=2.0
            )
            assert np.isfinite(channel.matrix).all()
            assert 0 <= channel.value < math.inf
            assert 0 <= channel.certificate.gap < math.inf
            assert channel.certificate.violation <= 1e-14
            verify_certificate(channel, p, p1, epsilon, error=error)
        if np.ptp(p1) == 0 or epsilon == 0:
            assert channel.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("method", ["columns", "dinkelbach", "bisection", "branch-and-bound"])
def test_a_budget_below_the_least_error_is_refused_by_every_method(method):
    for epsilon in (0.0, 2.0, math.inf):
        least = smallest_error(P, epsilon)
        if least > 0:
            with pytest.raises(ValueError, match=f"expected at least {least:.12g}"):
                optimal_randomizer(P, P1, epsilon, error=0.99 * least, method=method)


@pytest.mark.parametrize(
    ("p", "epsilon", "message"),
    [
        ([0.5, 0.5, 0], 1.0, "p: found probability 0 at position 2"),
        ([0.5, 0.6], 1.0, "p: found a sum of 1.1"),
        ([-0.5, 1.5], 1.0, "p: found -0.5"),
        ([1.0], 1.0, "at least 2"),
        ([0.5, 0.5], -1, "epsilon: found -1"),
        ([0.5, 0.5], math.nan, "epsilon: found nan"),
    ],
)
def test_least_error_refuses_bad_input(p, epsilon, message):
    with pytest.raises(ValueError, match=message):
        smallest_error(p, epsilon)


def test_time_limit_leaves_a_feasible_channel_and_its_gap():
    rng = np.random.default_rng(0)
    p, p1 = rng.dirichlet(np.ones(60)), rng.uniform(size=60)
    error = smallest_error(p, 5.0) + 0.02
    channel = optimal_randomizer(p, p1, 5.0, error=error, time_limit=0.05)
    gap = verify_certificate(channel, p, p1, 5.0, error=error)
    assert gap == pytest.approx(channel.certificate.gap)
    assert gap > 0


def forged(channel, **changes):
    certificate = replace(channel.certificate, **changes)
    return Randomizer(channel.matrix, value=certificate.value, certificate=certificate)


def test_wrong_certificates_are_rejected():
    arguments = (P, P1, 2.0)
    error = smallest_error(P, 2.0) + 0.05
    channel = optimal_randomizer(*arguments, error=error)
    assert verify_certificate(channel, *arguments, error=error) <= 1e-8
    proof = channel.certificate.multipliers[0]
    for changes in (
        {"value": channel.value - 1e-6},
        {"lower": channel.certificate.lower + 1e-6},
        {"error": channel.certificate.error - 1e-6},
        {"epsilon": channel.certificate.epsilon - 1e-6},
        {"violation": -1.0},
        {"multipliers": ()},
        {"multipliers": (replace(proof, t=proof.t + 1e-5),)},
        {"multipliers": (replace(proof, truth=1.01 * proof.truth),)},
        {"multipliers": (replace(proof, rows=proof.rows + 1e-4),)},
        {"multipliers": (replace(proof, above=2 * proof.above),)},
        {"multipliers": (replace(proof, above=proof.above - 1),)},
        {"multipliers": (replace(proof, row_caps=proof.row_caps * math.nan),)},
    ):
        with pytest.raises(ValueError, match="found"):
            verify_certificate(forged(channel, **changes), *arguments, error=error)
    smaller = error - 0.01  # the right channel, for a budget that it exceeds
    excess = channel.certificate.error - smaller
    claimed = forged(channel, lower=0.0, multipliers=(), violation=excess)
    with pytest.raises(ValueError, match="constraint"):
        verify_certificate(claimed, *arguments, error=smaller)
    with pytest.raises(ValueError, match="certificate"):
        verify_certificate(Randomizer(channel.matrix), *arguments, error=error)


def test_no_multipliers_prove_too_much():
    rng = np.random.default_rng(0)
    error = smallest_error(P, 2.0) + 0.05
    best = optimal_randomizer(P, P1, 2.0, error=error)
    proof = best.certificate.multipliers[0]
    for _ in range(300):
        bent = replace(
            proof,
            t=proof.t * rng.uniform(0.5, 1.5),
            above=proof.above * rng.uniform(0, 2, 4),
            below=proof.below * rng.uniform(0, 2, 4),
            truth=proof.truth * rng.uniform(0, 2),
            rows=proof.rows * rng.uniform(0.5, 1.5, 4),
            row_caps=rng.exponential(0.01, (4, 4)),
        )
        claimed = forged(best, multipliers=(bent,), lower=best.value + 1e-6)
        with pytest.raises(ValueError, match="lower"):
            verify_certificate(claimed, P, P1, 2.0, error=error, tol=1e-7)


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((P, [0.2, 0.6, 0.35, 1.1], 1.0), {}, "p1: found 1.1"),
        ((P, [-0.1, 0.6, 0.35, 1.0], 1.0), {}, "p1: found -0.1"),
        ((P, [math.nan, 0.6, 0.35, 1.0], 1.0), {}, "p1: found nan"),
        ((P, [0, 0, 0, 0], 1.0), {}, r"P\(Y = 1\) = 0"),
        (([0.5, 0.5, 0, 0], P1, 1.0), {}, "p: found probability 0 at position 2"),
        (([0.5, 0.4], [0.1, 0.2], 1.0), {}, "p: found a sum of 0.9"),
        (([1.0], [0.1], 1.0), {}, "at least 2"),
        ((P, P1[:3], 1.0), {}, "lengths differ"),
        ((P, P1, -1.0), {}, "epsilon: found -1.0"),
        ((P, P1, math.nan), {}, "epsilon: found nan"),
        ((P, P1, 1.0), {"error": 0.1}, "expected at least 0.4727"),
        ((P, P1, 1.0), {"error": 1.2}, "error: found 1.2"),
        ((P, P1, 1.0), {"method": "magic"}, "method: found 'magic'"),
        ((P, P1, 1.0), {"objective": "both"}, "objective: found 'both'"),
        ((P, P1, 1.0), {"tol": 0}, "tol: found 0"),
        ((P, P1, 1.0), {"time_limit": -1}, "time_limit: found -1"),
    ],
)
def test_bad_input(arguments, keywords, message):
    with pytest.raises(ValueError, match=message):
        optimal_randomizer(*arguments, **keywords)


def test_least_error_in_the_message_is_the_least_error():
    with pytest.raises(ValueError, match="smallest error") as caught:
        optimal_randomizer(P, P1, 1.0, error=0.1)
    assert f"{smallest_error(P, 1.0):.12g}" in str(caught.value)
