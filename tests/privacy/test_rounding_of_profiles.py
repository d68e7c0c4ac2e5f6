"""Profiles, their inverses and conversions are rounded outwards: against long arithmetic, at extremes too.

Each case names what it is compared with, and beside it the same formula rounded to nearest, which the same draws must
reject.
"""

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfair_lib.compatibility.perturbed_leader.privacy_over_rounds import loss_epsilon, round_epsilons
from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import rho_for, round_noise
from dpfair_lib.local import Randomizer, generalized_randomized_response, subset_selection
from dpfair_lib.privacy import (
    GaussianMechanism,
    RandomizedResponse,
    accounting,
    composed_zcdp,
    dp_sgd_epsilon,
    gaussian,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sigma,
    optimal_composition_delta,
    optimal_composition_epsilon,
    prv_interval,
    rounding,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_from_pure,
)
from dpfair_lib.privacy.gaussian import _near_log_delta, _smallest

LONG = 60
TINY = mpmath.mpf(10) ** -305  # below it floats have fewer digits


def num(value):
    return (
        mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpmath.mpf(value)
    )


def power(draw, low, high):
    return 10 ** draw.uniform(low, high)


def some_delta(draw):
    return draw.choice([power(draw, -12, -0.3), power(draw, -300, -1), draw.uniform(0.3, 0.99)])


def gaussian_exact(epsilon, sigma):
    with mpmath.workdps(120):
        mu, e = 1 / num(sigma), num(epsilon)
        return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def zcdp_exact(rho, epsilon):
    """The least over all orders, and where it is, by bisection on the slope in x = α − 1."""
    r, e = num(rho), num(epsilon)
    low, high = mpmath.mpf(-600), mpmath.mpf(900)
    for _ in range(150):
        middle = (low + high) / 2
        rising = (2 * mpmath.exp(middle) + 1) * r - e - mpmath.log1p(mpmath.exp(-middle)) >= 0
        low, high = (low, middle) if rising else (middle, high)
    x = mpmath.exp(high)
    return min(mpmath.exp(x * ((x + 1) * r - e) - mpmath.log(x) - (x + 1) * mpmath.log1p(1 / x)), 1), x


def composed_exact(epsilon, delta, k, at):
    e, a = num(epsilon), num(at)
    excess = mpmath.fsum(
        mpmath.binomial(k, lies) * (mpmath.exp((k - lies) * e) - mpmath.exp(a + lies * e))
        for lies in range(k + 1)
        if (k - 2 * lies) * Fraction(epsilon) > Fraction(at)
    )
    failing = -mpmath.expm1(k * mpmath.log1p(-num(delta)))
    return failing + (1 - failing) * excess / (1 + mpmath.exp(e)) ** k


def composed_near(epsilon, delta, k, at):
    from scipy.stats import binom

    lies = np.arange(k + 1)
    chance = binom.pmf(lies, k, 1 / (1 + math.exp(epsilon)))
    pure = float(chance @ -np.expm1(np.minimum(at - (k - 2 * lies) * epsilon, 0)))
    failing = -math.expm1(k * math.log1p(-delta))
    return failing + (1 - failing) * pure


def level_of(high, low):
    return abs(mpmath.log(num(Fraction(high) / Fraction(low))))


def near_levels(epsilon, k):
    truth = 1 / (1 + (k - 1) * math.exp(-epsilon))
    return truth, math.exp(-epsilon) * truth


# Each case draws arguments and gives what is claimed with the exact value that it must not be below, the same of the
# formula rounded to nearest, and how far above the exact value the claim may be.


def sigma_case(draw):
    epsilon, delta = power(draw, -6, 2), some_delta(draw)
    sigma = gaussian_sigma(epsilon, delta, 1.0, "analytic")
    near = _smallest(
        lambda x: _near_log_delta(epsilon, x, 1.0), math.log(delta), sigma / 2, sigma, margin=2e-16
    )
    return (delta, gaussian_exact(epsilon, sigma)), (delta, gaussian_exact(epsilon, near)), 1e-11


def epsilon_case(draw):
    sigma, delta = power(draw, -1.5, 1.5), some_delta(draw)
    epsilon = gaussian_epsilon(delta, sigma, 1.0)
    if not epsilon:
        return epsilon_case(draw)
    near = _smallest(lambda x: _near_log_delta(x, sigma, 1.0), math.log(delta), 0.0, epsilon, margin=2e-16)
    return (delta, gaussian_exact(epsilon, sigma)), (delta, gaussian_exact(near, sigma)), 1e-11


def delta_case(draw):
    sigma = power(draw, -3, 3)
    a = draw.choice([draw.uniform(-6, 36), power(draw, -8, 1)])
    epsilon = draw.choice([power(draw, -12, 2), max((a + 1 / (2 * sigma)) / sigma, 0.0)])
    exact, near = gaussian_exact(epsilon, sigma), math.exp(_near_log_delta(epsilon, sigma, 1.0))
    return (gaussian_delta(epsilon, sigma, 1.0), exact), (near, exact), 1e-12


def gaussian_rho_case(draw):
    sigma = power(draw, -3, 3)
    exact = Fraction(3) ** 2 / Fraction(sigma) ** 2 / 2
    return (GaussianMechanism(sigma, 3.0).rho, exact), ((3 / sigma) ** 2 / 2, exact), 3e-16


def pure_rho_case(draw):
    epsilon = power(draw, -140, 140)
    exact = Fraction(epsilon) ** 2 / 2
    return (zcdp_from_pure(epsilon), exact), (epsilon**2 / 2, exact), 3e-16


def sum_case(draw):
    rhos = [power(draw, -3, 3) for _ in range(draw.randint(2, 6))]
    exact = sum(map(Fraction, rhos))
    return (composed_zcdp(*rhos), exact), (math.fsum(rhos), exact), 3e-16


def zcdp_delta_case(draw):
    rho = draw.choice([power(draw, -4, 1), power(draw, -100, 2)])
    epsilon = draw.choice([rho * power(draw, -1, 3), power(draw, -3, 2)])
    exact, order = zcdp_exact(rho, epsilon)
    x = float(order)
    near = x * ((x + 1) * rho - epsilon) - math.log(x) - (x + 1) * math.log1p(1 / x)
    return (zcdp_delta(rho, epsilon), exact), (math.exp(near), exact), 1e-11


def zcdp_tight_case(draw):
    rho, delta = power(draw, -6, 2), some_delta(draw)
    epsilon = zcdp_epsilon(rho, delta, "tight")
    if not epsilon:
        return zcdp_tight_case(draw)
    near = epsilon * (1 - 2.0**-48)  # the same some roundings lower
    return (delta, zcdp_exact(rho, epsilon)[0]), (delta, zcdp_exact(rho, near)[0]), 1e-10


def zcdp_printed_case(draw):
    rho, delta = draw.choice([power(draw, -4, 1), power(draw, -320, 3)]), some_delta(draw)
    exact = num(rho) + 2 * mpmath.sqrt(-num(rho) * mpmath.log(num(delta)))
    near = rho + 2 * math.sqrt(-rho * math.log(delta))
    return (zcdp_epsilon(rho, delta, "printed"), exact), (near, exact), 4e-15


def composition_case(draw):
    k, epsilon = draw.choice([1, 2, 5, draw.randint(6, 60)]), power(draw, -4, 1)
    delta = draw.choice([0.0, power(draw, -300, -2), power(draw, -12, -1)])
    # at a tie, just below the last one, and anywhere
    at = draw.choice([
        (k - 2 * draw.randint(0, k // 2)) * epsilon, math.nextafter(k * epsilon, 0), draw.random() * k * epsilon,
    ])  # fmt: skip
    exact = composed_exact(epsilon, delta, k, at)
    claimed = optimal_composition_delta(epsilon, delta, k, at)
    return (claimed, exact), (composed_near(epsilon, delta, k, at), exact), 1e-13


def composed_epsilon_case(draw):
    k, epsilon, delta = draw.randint(1, 60), power(draw, -3, 0.5), draw.choice([0.0, power(draw, -12, -4)])
    total = k * delta + power(draw, -6, -0.5) * (1 - k * delta)
    found = optimal_composition_epsilon(epsilon, delta, k, total)
    if not found:
        return composed_epsilon_case(draw)
    low, high = 0.0, k * epsilon
    while (middle := (low + high) / 2) not in (low, high):
        enough = composed_near(epsilon, delta, k, middle) <= total
        low, high = (low, middle) if enough else (middle, high)
    return (
        (total, composed_exact(epsilon, delta, k, found)), (total, composed_exact(epsilon, delta, k, high)), 1e-8
    )  # fmt: skip


def response_case(draw):
    k, epsilon = draw.choice([2, 3, 7, 100]), draw.choice([power(draw, -12, 1), draw.uniform(0, 700)])
    law = RandomizedResponse(epsilon, k)
    exact, near = level_of(law.truth_probability, law.lie_probability), level_of(*near_levels(epsilon, k))
    return (epsilon, exact), (epsilon, near), max(1e-14, 1e-15 / epsilon)


def channel_case(draw):
    k, epsilon = draw.choice([2, 3, 7]), draw.choice([power(draw, -8, 1), draw.uniform(0, 700)])
    channel = draw.choice(
        [generalized_randomized_response(k, epsilon), subset_selection(k, epsilon, size=k - 1)]
    )
    assert channel.epsilon <= epsilon
    exact = level_of(channel.matrix.max(), channel.matrix.min())
    return (
        (channel.epsilon, exact),
        (epsilon, level_of(*near_levels(epsilon, k))),
        max(1e-14, 1e-15 / epsilon),
    )


def any_channel_case(draw):
    k = draw.choice([2, 4])
    matrix = np.array([[draw.random() for _ in range(k)] for _ in range(k)])
    matrix = 1 + 1e-9 * matrix if draw.random() < 0.5 else matrix
    channel = Randomizer(matrix / matrix.sum(axis=1, keepdims=True))
    columns = channel.matrix.T.tolist()
    exact = max(level_of(max(column), min(column)) for column in columns)
    near = math.log(max(max(column) / min(column) for column in columns))
    return (channel.epsilon, exact), (near, exact), 1e-15


def response_delta_case(draw):
    k, epsilon = draw.choice([2, 5, 100]), power(draw, -3, 2)
    at = draw.choice([0.0, epsilon * draw.random(), math.nextafter(epsilon, 0)])
    e, a = num(epsilon), num(at)
    exact = (mpmath.exp(e) - mpmath.exp(a)) / (mpmath.exp(e) + k - 1)
    near = -math.expm1(at - epsilon) / (1 + (k - 1) * math.exp(-epsilon))
    return (RandomizedResponse(epsilon, k).delta(at), exact), (near, exact), 4e-15


def leader_case(draw):
    rounds, epsilon, delta = draw.randint(1, 300), power(draw, -4, 3), some_delta(draw)
    noised = draw.choice(["sum", "losses"])
    squares = sum(t * t for t in range(1, rounds + 1)) if noised == "sum" else rounds
    log = -mpmath.log(num(delta))

    def spent(each):
        rho = squares * num(each) ** 2 / 2
        return rho + 2 * mpmath.sqrt(rho * log)

    root = math.sqrt(-math.log(delta) + epsilon) + math.sqrt(-math.log(delta))
    near = math.sqrt(2 / squares) * epsilon / root
    each = loss_epsilon(epsilon, delta, rounds, noised, "proved")
    return (epsilon, spent(each)), (epsilon, spent(near)), 1e-14


def rounds_case(draw):
    epsilon, rounds = power(draw, -4, 3), draw.randint(2, 300)
    exact = rounds * Fraction(epsilon)
    return (round_epsilons(epsilon, rounds, "sum")[-1], exact), (rounds * epsilon, exact), 3e-16


CASES = [
    sigma_case, epsilon_case, delta_case, gaussian_rho_case, pure_rho_case, sum_case, zcdp_delta_case, zcdp_tight_case,
    zcdp_printed_case, composition_case, composed_epsilon_case, response_case, channel_case, any_channel_case,
    response_delta_case, leader_case, rounds_case,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_claimed_is_never_below_the_exact_value(case):
    draw, short = random.Random(0), 0
    with mpmath.workdps(LONG):
        for _ in range(60):
            (claimed, exact), (near, exact_of_near), close = case(draw)
            exact = num(exact)
            assert exact <= num(claimed)
            assert num(claimed) <= exact * (1 + num(close)) or exact < TINY
            short += num(near) < num(exact_of_near)
    assert short >= 5  # what is rounded to nearest is rejected by these draws


@pytest.mark.parametrize("inverse", ["sigma", "epsilon"])
def test_the_level_that_a_search_keeps_below_is_rounded_down(inverse, monkeypatch):
    # by itself: elsewhere the roundings of the profile are so wide that they would cover it
    kept, nearest = [], 0

    def search(function, target, low, high, *, margin):  # noqa: ARG001
        kept.append(target)
        return high

    monkeypatch.setattr(gaussian, "_smallest", search)
    draw = random.Random(0)
    with mpmath.workdps(LONG):
        for _ in range(40):
            delta = some_delta(draw)
            level = mpmath.log(num(delta))
            found = len(kept)
            if inverse == "sigma":
                gaussian_sigma(0.5, delta, 1.0, "analytic")
            else:
                gaussian_epsilon(delta, 0.1, 1.0)
            assert all(num(target) <= level for target in kept[found:])
            nearest += num(math.log(delta)) > level
    assert len(kept) >= 20
    assert nearest >= 5  # rounded to nearest it is above in some of these draws


def test_where_floats_end_nothing_is_called_pure():
    for claimed in (gaussian_delta(1e5, 1.0, 1.0), zcdp_delta(1e-3, 1e3), zcdp_delta(5e-324, 1e-100)):
        assert 0 < claimed < 1e-320
    assert 0 < zcdp_epsilon(5e-324, 0.7, "printed") < 1e-161
    assert 0 < zcdp_from_pure(1e-300) < 1e-322
    assert zcdp_from_pure(1e300) == math.inf
    assert gaussian_delta(0.0, 1e-3, 1.0) == 1.0
    assert RandomizedResponse(40.0, 2).truth_probability < 1  # else the answers would be the truth
    assert RandomizedResponse(1e-300, 3).truth_probability == RandomizedResponse(1e-300, 3).lie_probability
    assert rounding.two_levels(math.inf, 1, 4) == (1.0, 0.0)


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 8.0])
@pytest.mark.parametrize("rounds", [1, 7, 1000])
def test_the_rounds_of_the_dynamics_cost_no_more_than_their_budget(epsilon, rounds):
    noise = round_noise(epsilon, 1e-6, 997, rounds=rounds, dual_bound=3.3)
    with mpmath.workdps(LONG):
        losses = ((2 + mpmath.sqrt(2) * num(3.3)) / 997 / num(noise.sigma)) ** 2 / 2
        audits = (num(Fraction(2, 997)) / num(noise.audit_scale)) ** 2 / 2
        assert rounds * (losses + audits) <= noise.rho <= rho_for(epsilon, 1e-6)
        assert noise.rho <= rounds * (losses + audits) * (1 + 1e-14)


@pytest.mark.parametrize(("sigma", "steps"), [(0.7, 1), (0.7, 20), (20.0, 3), (1.2018575450837652, 1000)])
@pytest.mark.parametrize("accountant", ["pld", "rdp"])
def test_the_accountants_are_above_the_exact_epsilon_without_sampling(sigma, steps, accountant, monkeypatch):
    # at rate 1 all steps together are one Gaussian release, of √T times the sensitivity
    for delta in (1e-3, 1e-6, 1e-10):
        exact = gaussian_epsilon(delta, sigma / math.sqrt(steps), 1.0)
        assert dp_sgd_epsilon(sigma, 1.0, steps, delta, accountant) >= exact
    if (steps, accountant) == (1000, "pld"):  # convolutions alone under-claim here
        monkeypatch.setattr(accounting, "convolution_error", lambda _: 0.0)
        assert accounting._pld.__wrapped__(sigma, 1.0, steps, 1e-10, "add-remove", 1.0) < exact


def test_the_convolution_of_very_many_steps_is_covered():
    # the error of δ grows with the steps; that of a tail whose true δ is nothing is all that is seen there
    from dp_accounting.pld import privacy_loss_distribution

    for steps in (10_000, 300_000):
        one = privacy_loss_distribution.from_gaussian_mechanism(
            math.sqrt(steps), value_discretization_interval=1e-3
        )
        found = accounting._dense(one).self_compose(steps).get_delta_for_epsilon(np.linspace(9, 14, 6))
        assert np.abs(
            found - gaussian_delta(np.linspace(9, 14, 6), 1.0, 1.0)
        ).max() < accounting.convolution_error(steps)
    with pytest.raises(ValueError, match=r"do not resolve a delta below 1\.1e-09"):
        dp_sgd_epsilon(1e4, 0.1, 5_000_000, 1e-9, "pld")


@pytest.mark.parametrize(("sigma", "delta"), [(1.5, 1e-6), (30.0, 0.3)])
def test_the_certified_interval_holds_the_exact_epsilon(sigma, delta):
    found, exact = prv_interval(sigma, 1.0, 4, delta), gaussian_epsilon(delta, sigma / 2, 1.0)
    assert 0 <= found.lower <= exact <= found.upper <= exact + 0.03
    assert exact > 0 or found.upper < 0.03  # an upper end below 0 would be no bound
