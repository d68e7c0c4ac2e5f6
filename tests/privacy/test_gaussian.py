import math
import random

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    GaussianMechanism,
    classical_sigma_formula,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_sigma,
)


def reference(epsilon, sigma, sensitivity):
    with mpmath.workdps(250):
        mu, e = mpmath.mpf(sensitivity) / mpmath.mpf(sigma), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def cases():
    draw = random.Random(0)
    while True:
        mu = 10 ** draw.uniform(-6, 4)
        edge = draw.choice([draw.uniform(-5, 37), 10 ** draw.uniform(-8, 1.56)])
        epsilon = draw.choice([mu * (edge + mu / 2), 10 ** draw.uniform(-300, -1)])
        if epsilon >= 0:
            yield epsilon, 3 / mu


def test_profile_to_ten_digits_wherever_it_is_a_float():
    worst, smallest, checked = 0.0, 1.0, 0
    for epsilon, sigma in cases():
        exact = reference(epsilon, sigma, 3.0)
        if exact < 1e-305:
            continue
        worst = max(worst, float(abs(mpmath.mpf(gaussian_delta(epsilon, sigma, 3.0)) / exact - 1)))
        smallest, checked = min(smallest, float(exact)), checked + 1
        if checked == 500:
            break
    assert worst < 1e-12
    assert smallest < 1e-250  # the search did reach the region it is about


def test_the_textbook_expression_would_fail_that_test():
    # a planted fault: the difference of two products, which cancel
    from scipy.special import ndtr

    mu = 1e-5
    epsilon = 35 * mu
    naive = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    assert abs(naive / float(reference(epsilon, 1 / mu, 1.0)) - 1) > 1e-9


@pytest.mark.parametrize(("epsilon", "sigma"), [(1.0, 100.0), (1e4, 1e-2), (50.0, 0.2), (3.0, 1.0)])
def test_logarithm_goes_on_where_floats_end(epsilon, sigma):
    with mpmath.workdps(80):
        mu, e = 1 / mpmath.mpf(sigma), mpmath.mpf(epsilon)
        exact = mpmath.log(mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu))
        assert abs(gaussian_log_delta(epsilon, sigma, 1.0) / exact - 1) < 1e-13


def test_ends_of_the_profile():
    assert gaussian_delta(0.0, 1.0, 1.0) == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-14)
    # pytest.approx adds 1e-12 to a relative tolerance unasked, which is more than this number
    assert gaussian_delta(0.0, 1e12, 1.0) == pytest.approx(1e-12 / math.sqrt(2 * math.pi), rel=1e-12, abs=0)
    assert gaussian_delta(math.inf, 1.0, 1.0) == 0
    assert gaussian_delta(1e300, 1e-300, 1.0) == pytest.approx(1.0)
    assert gaussian_log_delta(math.inf, 1.0, 1.0) == -math.inf
    # below all floats, and yet not 0: Gaussian noise is purely private at no ε
    assert 0 < gaussian_delta(1e300, 1e300, 1.0) < 1e-322
    assert 0 < gaussian_delta(1e300, 1e3, 1.0) < 1e-322
    assert -math.inf < gaussian_log_delta(1e200, 1.0, 1.0) < -1e299


def test_profile_is_the_divergence_of_the_two_densities():
    for epsilon, sigma in ((0.0, 2.0), (0.7, 1.0), (2.0, 0.6)):
        with mpmath.workdps(30):
            edge = mpmath.mpf(1) / 2 - mpmath.mpf(epsilon) * sigma**2  # the loss exceeds ε to its left

            def excess(x, epsilon=epsilon, sigma=sigma):
                return mpmath.npdf(x, 0, sigma) - mpmath.exp(epsilon) * mpmath.npdf(x, 1, sigma)

            exact = mpmath.quad(excess, [edge - 30 * sigma, edge - 8 * sigma, edge - 2 * sigma, edge])
        assert gaussian_delta(epsilon, sigma, 1.0) == pytest.approx(float(exact), rel=1e-12)


EPSILON = st.floats(1e-6, 1e4)
DELTA = st.floats(1e-300, 0.99)


@given(EPSILON, DELTA, st.floats(1e-3, 1e3))
def test_analytic_noise_is_enough_and_no_more(epsilon, delta, sensitivity):
    sigma = gaussian_sigma(epsilon, delta, sensitivity, "analytic")
    assert gaussian_log_delta(epsilon, sigma, sensitivity) <= math.log(delta)
    assert gaussian_delta(epsilon, sigma * (1 - 1e-9), sensitivity) > delta
    if epsilon < 1:
        assert sigma <= gaussian_sigma(epsilon, delta, sensitivity, "classical")


@given(st.floats(1e-2, 1e2), st.floats(1e-300, 0.5))
def test_epsilon_is_the_inverse(sigma, delta):
    epsilon = gaussian_epsilon(delta, sigma, 1.0)
    assert gaussian_log_delta(epsilon, sigma, 1.0) <= math.log(delta)
    if epsilon > 0:
        assert gaussian_delta(epsilon * (1 - 1e-9), sigma, 1.0) > delta * (1 - 1e-12)
        assert gaussian_sigma(epsilon, delta, 1.0, "analytic") == pytest.approx(sigma, rel=1e-6)
    else:
        assert gaussian_delta(0.0, sigma, 1.0) <= delta


@given(st.floats(1e-4, 0.9999), st.floats(1e-300, 0.99))
def test_classical_noise_is_private_where_it_is_proved(epsilon, delta):
    sigma = gaussian_sigma(epsilon, delta, 1.0, kind="classical")
    assert sigma == pytest.approx(classical_sigma_formula(epsilon, delta, 1.0), rel=1e-14)
    assert sigma > classical_sigma_formula(epsilon, delta, 1.0)  # rounded up
    assert gaussian_delta(epsilon, sigma, 1.0) <= delta


def test_classical_noise_is_not_private_beyond():
    assert gaussian_delta(30.0, classical_sigma_formula(30.0, 1e-5, 1.0), 1.0) > 1e-5
    for epsilon in (1.0, 30.0):
        with pytest.raises(
            ValueError, match="expected a number below 1, where the classical formula is proved"
        ):
            gaussian_sigma(epsilon, 1e-5, 1.0, kind="classical")


@given(st.floats(0, 30), st.floats(0.1, 10), st.integers(2, 6))
def test_releases_compose_as_one_with_less_noise(epsilon, sigma, releases):
    # k releases of noise σ are one release, moved by Δ√k
    joint = gaussian_delta(epsilon, sigma, math.sqrt(releases))
    assert joint == pytest.approx(
        gaussian_delta(epsilon, sigma / math.sqrt(releases), 1.0), rel=1e-9, abs=1e-300
    )
    assert joint >= gaussian_delta(epsilon, sigma, 1.0)


def test_mechanism_agrees_with_the_functions():
    mechanism = GaussianMechanism(2.0, 3.0)
    assert mechanism.delta(1.0) == gaussian_delta(1.0, 2.0, 3.0)
    assert mechanism.epsilon(1e-5) == gaussian_epsilon(1e-5, 2.0, 3.0)
    assert mechanism.rho == 9 / 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_sigma(0, 1e-5, 1, "analytic"), "epsilon: found 0"),
        (lambda: gaussian_sigma(1, 0, 1, "analytic"), r"delta: found 0, expected a number in \(0, 1\)"),
        (lambda: gaussian_sigma(1, 1e-5, 1, "exact"), "kind: found 'exact'"),
        (lambda: gaussian_delta(1, -1, 1), "sigma: found -1"),
        (lambda: gaussian_epsilon(1e-5, 1, 0), "sensitivity: found 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_least_epsilon_is_taken():
    assert gaussian_sigma(1e-100, 1e-5, 1.0, "analytic") > 0


@pytest.mark.parametrize("epsilon", [1e-100, 1.0, 1e100])
def test_of_two_numbers_the_one_out_of_its_range_is_named(epsilon):
    for sensitivity in (1e-101, 1e101):
        with pytest.raises(ValueError, match="sensitivity: found"):
            gaussian_sigma(epsilon, 1e-5, sensitivity, "analytic")
    assert gaussian_sigma(epsilon, 1e-5, 1.0, "analytic") > 0  # the ends are served
    with pytest.raises(ValueError, match="epsilon: found 1e-101"):
        gaussian_sigma(1e-101, 1e-5, 1.0, "analytic")
