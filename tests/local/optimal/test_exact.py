"""`certificate="exact"`: feasible without rounding, with a proved bound, and bound to its program."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from optima import draw

import dpfair_lib as dpf
from dpfair_lib import optimal_randomizer, smallest_error
from dpfair_lib.local import Randomizer, verify_certificate
from dpfair_lib.local.optimal.exact import ROOM, exact_program, rounded_channel

P, P1 = [0.5, 0.3, 0.2], [0.2, 0.5, 0.7]
CLOSE = Fraction(1, 10**9)


def flaws(channel, p, epsilon, budget):
    """Which constraints a channel breaks, in fractions; written from the program's text."""
    q, k = channel.matrix, len(p)
    x = Fraction(math.exp(-epsilon))
    pairs = list(itertools.product(range(k), repeat=2))
    yield from (f"row {i}" for i in range(k) if sum(q[i]) != 1)
    yield from (f"sign {i}{j}" for i, j in pairs if q[i, j] < 0)
    yield from (f"privacy {i}{j}" for i, j in pairs for h in range(k) if x * q[i, j] > q[h, j])
    yield from (f"truth {i}{j}" for i, j in pairs if q[i, j] > q[i, i] or q[i, j] > q[j, j])
    shares = [Fraction(share) for share in p]
    if sum(shares[i] * (1 - q[i, i]) for i in range(k)) > budget * sum(shares):
        yield "budget"


@pytest.mark.parametrize("first", [0, 500])
def test_every_channel_is_feasible_and_nearly_optimal(first):
    gaps = []
    for seed in range(first, first + 25):
        p, p1, epsilon = draw(seed)
        channel = optimal_randomizer(p, p1, epsilon, certificate="exact", time_limit=20.0)
        found = channel.certificate
        assert channel.exact
        assert not list(flaws(channel, p, epsilon, found.error_budget)), seed
        assert 0 <= found.error_budget - Fraction(smallest_error(p, epsilon)) <= 2 * ROOM, seed
        assert verify_certificate(channel, p, p1, epsilon) == float(found.gap)
        gaps.append(found.gap)
    assert sorted(gaps)[len(gaps) // 2] <= CLOSE


@pytest.mark.parametrize("k", [3, 5, 10, 20])
@pytest.mark.parametrize("spent", [0.0, 0.3])
def test_the_gap_is_at_most_1e_9(k, spent):
    for seed in range(3):
        rng = np.random.default_rng([k, seed])
        p, p1, epsilon = rng.dirichlet(np.full(k, 3.0)), rng.random(k), rng.uniform(0.5, 3)
        least = smallest_error(p, epsilon)
        error = None if not spent else least + spent * (1 - 1 / (2 + (k - 2) * math.exp(-epsilon)) - least)
        channel = optimal_randomizer(p, p1, epsilon, error=error, certificate="exact")
        assert channel.certificate.gap <= CLOSE
        floats = optimal_randomizer(p, p1, epsilon, error=error)
        if spent:
            assert float(channel.value) == pytest.approx(floats.value, abs=3e-9)


def test_the_irrational_optimum_lies_between_the_bounds():
    p, p1 = [Fraction(1, n) for n in (2, 3, 6)], [Fraction(n, 2) for n in range(3)]
    found = optimal_randomizer(p, p1, math.log(2), error=0.5, certificate="exact").certificate
    assert (found.weights, found.positives, found.rate_unit) == ((3, 2, 1), (0, 1, 2), 2)
    # (√13 − 1)/12 lies between, compared without a root
    assert (12 * found.lower + 1) ** 2 < 13 < (12 * found.value + 1) ** 2


@pytest.mark.parametrize(("epsilon", "value"), [(0.0, 0), (math.inf, Fraction(31, 39))])
def test_the_ends_of_epsilon(epsilon, value):
    channel = optimal_randomizer(P, P1, epsilon, certificate="exact")
    assert abs(channel.value - value) <= CLOSE
    assert channel.epsilon <= epsilon


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-17, 2e-16, 1e-15, 1e-14, 0.5, 37.0, 700.0])
def test_the_range_of_x_holds_it_also_for_the_smallest_epsilon(epsilon):
    program, low = exact_program(P, P1, epsilon)
    with localcontext(prec=700):
        x = (-Decimal(epsilon)).exp()
        ends = [Decimal(end.numerator) / Decimal(end.denominator) for end in (low, program.x)]
        assert ends[0] < x < ends[1]
    channel = optimal_randomizer(P, P1, epsilon, certificate="exact")
    assert verify_certificate(channel, P, P1, epsilon) <= CLOSE


def test_equal_rates_need_no_proof():
    found = optimal_randomizer(P, [0.4, 0.4, 0.4], 1.0, certificate="exact").certificate
    assert found.value == found.lower == 0


def test_its_level_is_at_most_the_one_asked_for():
    for epsilon in (0.01, 0.5, 2.0, 9.0):
        assert optimal_randomizer(P, P1, epsilon, certificate="exact").epsilon <= epsilon


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([0.4, 0.4, 0.2], P1, 1.0, None), "p"),
        ((P, [0.2, 0.5, 0.6], 1.0, None), "p1"),
        ((P, P1, 1.1, None), "epsilon"),
        ((P, P1, 1.0, 0.6), "error"),
    ],
)
def test_a_certificate_of_another_program_is_refused(arguments, name):
    channel = optimal_randomizer(P, P1, 1.0, certificate="exact")
    *rest, error = arguments
    with pytest.raises(ValueError, match=f"a program with another {name}$"):
        verify_certificate(channel, *rest, error=error)


def test_another_channel_is_refused():
    channel = optimal_randomizer(P, P1, 1.0, certificate="exact")
    coins = Randomizer([[Fraction(1, 3)] * 3] * 3, value=channel.value, certificate=channel.certificate)
    cheaper = Randomizer(channel.matrix, value=channel.value / 2, certificate=channel.certificate)
    for forged in (coins, cheaper):
        with pytest.raises(ValueError, match="another matrix or value"):
            verify_certificate(forged, P, P1, 1.0)


def test_only_delta_has_an_exact_certificate():
    with pytest.raises(ValueError, match='expected objective "ratio"'):
        optimal_randomizer(P, P1, 1.0, objective="difference", certificate="exact")
    with pytest.raises(ValueError, match="certificate: found 'kernel'"):
        optimal_randomizer(P, P1, 1.0, certificate="kernel")


def test_a_budget_near_the_least_is_raised_and_another_is_kept():
    least = smallest_error(P, 1.0)
    near, far = (exact_program(P, P1, 1.0, error)[0].error for error in (least, 0.5))
    assert 0 < near - Fraction(least) <= 2 * ROOM
    assert far == Fraction(1, 2)


def test_rounding_keeps_a_channel_on_its_grid_and_inside():
    program, _ = exact_program(P, P1, 1.0, 0.5)
    response = dpf.generalized_randomized_response(3, 1.0).matrix
    entries, unit = rounded_channel(program, response)
    assert all(sum(row) == unit for row in entries)
    assert np.abs(np.array(entries, dtype=float) / unit - response).max() < 1e-12
