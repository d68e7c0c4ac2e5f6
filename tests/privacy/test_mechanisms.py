import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    DiscreteLaplaceMechanism,
    ExponentialMechanism,
    GaussianMechanism,
    LaplaceMechanism,
    RandomizedResponse,
    pure_profile,
)

EPSILON = st.floats(0, 20)
SCALE = st.floats(1e-2, 1e2)


def relative_error(value, reference):
    if reference == 0:
        return 0.0 if value == 0 else math.inf
    return float(abs(mpmath.mpf(value) / reference - 1))


def laplace_reference(epsilon, scale, sensitivity):
    """Quadrature of (p − e^ε q)₊, split where the integrand has its kinks."""
    with mpmath.workdps(40):
        b, d, e = mpmath.mpf(scale), mpmath.mpf(sensitivity), mpmath.mpf(epsilon)
        edge = (d - e * b) / 2  # the loss exceeds ε to its left
        if edge <= 0:
            return mpmath.mpf(0)

        def excess(x):
            return (mpmath.exp(-abs(x) / b) - mpmath.exp(e - abs(x - d) / b)) / (2 * b)

        pieces = [x for x in (-80 * b, -10 * b, mpmath.mpf(0)) if x < edge] + [edge]
        return mpmath.quad(excess, pieces)


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.1, 0.999999, 2.5, 9.0])
def test_laplace_profile_is_the_integral(scale, epsilon):
    delta = LaplaceMechanism(scale, 1.0).delta(epsilon)
    assert relative_error(delta, laplace_reference(epsilon, scale, 1.0)) < 1e-10
    wrong = max(0.0, 1 - math.exp(epsilon - 1 / scale))  # a planted fault: the half in the exponent dropped
    if delta > 0:
        assert relative_error(wrong, laplace_reference(epsilon, scale, 1.0)) > 1e-3


def test_laplace_profile_next_to_its_end():
    with mpmath.workdps(60):
        pure = mpmath.mpf(1.0) / mpmath.mpf(0.3)
        epsilon = math.nextafter(float(pure), 0)
        exact = -mpmath.expm1((mpmath.mpf(epsilon) - pure) / 2)
        assert relative_error(LaplaceMechanism(0.3, 1.0).delta(epsilon), exact) < 1e-15


def discrete_excess(epsilon, scale, sensitivity):
    """Term by term, over all integers that matter."""
    with mpmath.workdps(40):
        b, e = mpmath.mpf(scale), mpmath.mpf(epsilon)
        r = mpmath.exp(-1 / b)
        total = mpmath.mpf(0)
        for k in range(-int(100 * scale) - 50, sensitivity + int(100 * scale) + 50):
            total += max(r ** abs(k) - mpmath.exp(e) * r ** abs(k - sensitivity), 0)
        return total * (1 - r) / (1 + r)


@pytest.mark.parametrize(("scale", "sensitivity"), [(0.5, 1), (2.0, 1), (2.0, 3), (4.0, 8), (0.7, 5)])
@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 0.2, 0.49, 1.0, 1.999, 3.3])
def test_discrete_laplace_profile_is_the_sum(scale, sensitivity, epsilon):
    delta = DiscreteLaplaceMechanism(scale, sensitivity).delta(epsilon)
    assert relative_error(delta, discrete_excess(epsilon, scale, sensitivity)) < 1e-10


def test_discrete_laplace_profile_in_rationals():
    # r = 1/2 and e^ε = 2^j: every term is a fraction, and ε lies on the kinks of the profile
    scale, r = 1 / math.log(2), Fraction(1, 2)
    for sensitivity, power in itertools.product((1, 2, 3, 6), range(7)):
        exact = sum(
            max(r ** abs(k) - 2**power * r ** abs(k - sensitivity), 0) for k in range(-200, 200)
        ) * (1 - r) / (1 + r)  # fmt: skip
        delta = DiscreteLaplaceMechanism(scale, sensitivity).delta(power * math.log(2))
        assert delta == pytest.approx(float(exact), rel=1e-12, abs=1e-15)


def test_the_continuous_profile_is_the_limit_of_the_discrete_one():
    for epsilon in (0.0, 0.3, 0.9):
        fine = DiscreteLaplaceMechanism(1e5, 10**5).delta(epsilon)
        assert fine == pytest.approx(LaplaceMechanism(1.0, 1.0).delta(epsilon), abs=1e-5)


@given(EPSILON, EPSILON, SCALE, st.integers(1, 9))
def test_profiles_fall_in_epsilon_and_end_at_the_pure_guarantee(first, second, scale, sensitivity):
    low, high = sorted((first, second))
    for mechanism in (
        LaplaceMechanism(scale, sensitivity), DiscreteLaplaceMechanism(scale, sensitivity),
        GaussianMechanism(scale, sensitivity), RandomizedResponse(scale, sensitivity + 1),
        ExponentialMechanism(scale, sensitivity),
    ):  # fmt: skip
        assert 0 <= mechanism.delta(high) <= mechanism.delta(low) <= 1 + 1e-15
        if isinstance(mechanism.epsilon, float):
            assert mechanism.delta(mechanism.epsilon * (1 + 1e-15)) <= 1e-15
            # no purely private mechanism has a larger profile than binary randomised response
            assert mechanism.delta(low) <= pure_profile(mechanism.epsilon, low) * (1 + 1e-12)


@given(SCALE, st.integers(1, 8), EPSILON)
def test_a_larger_move_is_less_private(scale, sensitivity, epsilon):
    for kind in (LaplaceMechanism, DiscreteLaplaceMechanism, GaussianMechanism):
        assert kind(scale, sensitivity).delta(epsilon) <= kind(scale, sensitivity + 1).delta(epsilon) + 1e-15


def test_profiles_take_arrays():
    at = np.array([[0.0, 0.5], [1.0, math.inf]])
    for mechanism in (LaplaceMechanism(1, 2), DiscreteLaplaceMechanism(1, 2), GaussianMechanism(1, 2)):
        profile = mechanism.delta(at)
        assert profile.shape == (2, 2)
        assert profile[0, 1] == mechanism.delta(0.5)
        assert profile[1, 1] == 0


@given(SCALE, st.floats(1e-6, 1 - 1e-6))
def test_laws_of_the_error_invert_their_quantiles(scale, probability):
    for mechanism in (LaplaceMechanism(scale, 1), GaussianMechanism(scale, 1)):
        assert mechanism.cdf(mechanism.quantile(probability)) == pytest.approx(probability, rel=1e-9)
        bound = mechanism.error_bound(probability)
        assert mechanism.tail(bound) == pytest.approx(probability, rel=1e-9)
        assert mechanism.cdf(-bound) + 1 - mechanism.cdf(bound) == pytest.approx(
            probability, rel=1e-9, abs=1e-12
        )
    counted = DiscreteLaplaceMechanism(scale, 1)
    k = counted.quantile(probability)
    assert counted.cdf(k - 1) < probability <= counted.cdf(k)
    t = counted.error_bound(probability)
    assert counted.tail(t) <= probability < counted.tail(t - 1)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 7.0])
def test_whole_quantiles_where_a_rounded_logarithm_is_one_off(scale):
    mechanism = DiscreteLaplaceMechanism(scale, 1)
    for k in range(-15, 16):  # where floats tell the chances apart
        assert mechanism.quantile(float(mechanism.cdf(k))) == k
        assert mechanism.error_bound(float(mechanism.tail(abs(k)))) == abs(k)


def test_whole_quantiles_of_noise_that_is_nearly_always_nothing():
    mechanism = DiscreteLaplaceMechanism(1e-3, 1)
    assert [mechanism.quantile(p) for p in (1e-9, 0.5, 1 - 1e-9)] == [0, 0, 0]
    assert mechanism.error_bound(1e-9) == 0


def test_scales_beyond_what_floats_resolve():
    for ask in (DiscreteLaplaceMechanism(1e13, 1).quantile, DiscreteLaplaceMechanism(1e13, 1).error_bound):
        with pytest.raises(ValueError, match="expected at most 1e12 for an exact integer"):
            ask(0.3)
    for kind in (LaplaceMechanism, DiscreteLaplaceMechanism):
        assert kind(1e-320, 1).delta(3.0) == 1


def test_exponential_mechanism_with_losses_beyond_the_exponential():
    mechanism = ExponentialMechanism(4000.0, 1.0)
    np.testing.assert_array_equal(mechanism.losses([1, 0], [0, 1]), [2000, -2000])
    assert mechanism.delta_between([1, 0], [0, 1], 1.0) == 1


def test_discrete_laplace_law_is_the_sum_of_its_masses():
    mechanism = DiscreteLaplaceMechanism(1.7, 1)
    k = np.arange(-120, 121)
    mass = mechanism.pmf(k)
    assert mass.sum() == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(np.cumsum(mass), mechanism.cdf(k), atol=1e-14)
    for t in (-1, 0, 0.5, 1, 3, 7.9):
        assert mechanism.tail(t) == pytest.approx(mass[abs(k) > t].sum(), rel=1e-10)


def test_norm_of_gaussian_errors():
    mechanism = GaussianMechanism(2.0, 1.0)
    assert mechanism.norm_tail(3.0, 1) == pytest.approx(mechanism.tail(3.0), rel=1e-12)
    assert mechanism.norm_tail(3.0, 2) == pytest.approx(math.exp(-9 / 8), rel=1e-12)
    with pytest.raises(ValueError, match="dimension: found 0"):
        mechanism.norm_tail(3.0, 0)


@given(st.floats(1e-3, 12), st.integers(2, 9), EPSILON)
def test_randomised_response_profile_by_its_matrix(epsilon, k, at):
    mechanism = RandomizedResponse(epsilon, k)
    matrix = mechanism.matrix()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-14)
    assert math.log(matrix[0, 0] / matrix[1, 0]) == pytest.approx(epsilon, rel=1e-9)
    sums = [np.maximum(p - math.exp(at) * q, 0).sum() for p, q in itertools.permutations(matrix, 2)]
    assert mechanism.delta(at) == pytest.approx(max(sums), rel=1e-9, abs=1e-13)
    assert max(sums) == pytest.approx(min(sums), abs=1e-13)


def test_wrong_reports_are_binomial():
    mechanism = RandomizedResponse(math.log(3), 2)  # one in four is wrong
    exact = [math.comb(3, j) * 0.25**j * 0.75 ** (3 - j) for j in range(4)]
    np.testing.assert_allclose(mechanism.error_pmf(3), exact, rtol=1e-12)
    assert mechanism.tail(1, 3) == pytest.approx(exact[2] + exact[3], rel=1e-12)
    assert mechanism.cdf(0, 3) == pytest.approx(exact[0], rel=1e-12)
    assert mechanism.quantile(0.5, 3) == 1
    three = RandomizedResponse(math.log(3), 3)  # two in five are wrong
    np.testing.assert_allclose(three.error_pmf(2), [0.36, 0.48, 0.16], rtol=1e-12)
    assert (three.cdf(1, 2), three.tail(1, 2)) == (pytest.approx(0.84), pytest.approx(0.16))


UTILITIES = st.lists(st.floats(-3, 3), min_size=2, max_size=6)


@given(UTILITIES, st.data(), st.floats(0.05, 6), st.floats(0, 4))
def test_exponential_mechanism_by_its_probabilities(utilities, data, epsilon, at):
    moves = data.draw(st.lists(st.floats(-1, 1), min_size=len(utilities), max_size=len(utilities)))
    mechanism = ExponentialMechanism(epsilon, 1.0)
    first, second = np.array(utilities), np.array(utilities) + np.array(moves)
    p, q = (np.exp(u * epsilon / 2) / np.exp(u * epsilon / 2).sum() for u in (first, second))
    np.testing.assert_allclose(mechanism.probabilities(first), p, rtol=1e-12)
    losses = mechanism.losses(first, second)
    np.testing.assert_allclose(losses, np.log(p / q), atol=1e-12)
    assert abs(losses).max() <= epsilon * (1 + 1e-12)
    assert np.ptp(losses) <= epsilon * (1 + 1e-12)
    between = mechanism.delta_between(first, second, at)
    assert between == pytest.approx(np.maximum(p - math.exp(at) * q, 0).sum(), abs=1e-12)
    assert between <= mechanism.delta(at) + 1e-12
    assert mechanism.delta(at) <= pure_profile(epsilon, at) + 1e-15


@pytest.mark.parametrize(("epsilon", "at"), [(1.0, 0.0), (1.0, 0.5), (3.0, 1.0), (0.1, 0.05)])
def test_two_outcomes_reach_the_worst_profile(epsilon, at):
    mechanism = ExponentialMechanism(epsilon, 1.0)
    offsets = np.linspace(-40, 40, 8001)  # the difference of the two utilities, which then moves by 2Δ
    reached = max(mechanism.delta_between([u + 1, 0], [u, 1], at) for u in offsets / epsilon / 4)
    assert reached <= mechanism.delta(at) + 1e-14
    assert reached == pytest.approx(mechanism.delta(at), rel=1e-4)
    assert reached < pure_profile(epsilon, at) * 0.999 or at == 0


@given(UTILITIES, st.floats(0.1, 5), st.floats(0.01, 0.9))
def test_exponential_mechanism_rarely_chooses_badly(utilities, epsilon, failure):
    mechanism = ExponentialMechanism(epsilon, 1.0)
    assert mechanism.tail(utilities, mechanism.error_bound(len(utilities), failure)) <= failure
    t = mechanism.quantile(utilities, 1 - failure)
    assert mechanism.cdf(utilities, t) >= (1 - failure) * (1 - 1e-12)
    assert mechanism.cdf(utilities, 0.5) + mechanism.tail(utilities, 0.5) == pytest.approx(1)


def test_exponential_mechanism_refuses_a_pair_beyond_its_sensitivity():
    with pytest.raises(ValueError, match=r"found a utility that moves by 2\.0, expected at most"):
        ExponentialMechanism(1.0, 1.0).losses([0.0, 0.0], [2.0, 0.0])


@settings(max_examples=30)
@given(st.floats(-5, -0.1))
def test_negative_epsilon_is_refused(epsilon):
    for mechanism in (LaplaceMechanism(1, 1), DiscreteLaplaceMechanism(1, 1), GaussianMechanism(1, 1)):
        with pytest.raises(ValueError, match="epsilon: found"):
            mechanism.delta(epsilon)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LaplaceMechanism(0, 1), "scale: found 0, expected a positive finite number"),
        (lambda: LaplaceMechanism(1, math.inf), "sensitivity: found inf"),
        (lambda: DiscreteLaplaceMechanism(1, 1.5), r"sensitivity: found 1\.5, expected an integer"),
        (lambda: RandomizedResponse(1, 1), "k: found 1, expected an integer of at least 2"),
        (lambda: ExponentialMechanism(-1, 1), "epsilon: found -1"),
        (lambda: LaplaceMechanism(1, 1).quantile(1), r"probability: found 1, expected a number in \(0, 1\)"),
        (lambda: LaplaceMechanism(1, 1).error_bound(0), "failure: found 0"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_quantile_that_rounded_chances_do_not_reach_is_the_worst():
    mechanism, reached = ExponentialMechanism(1.0, 1.0), 0
    for seed in range(5):
        utilities = np.random.default_rng(seed).uniform(size=100_000)
        assert mechanism.quantile(utilities, 1 - 2**-53) >= mechanism.quantile(utilities, 0.999) > 0.9
        chances = np.sort(mechanism.probabilities(utilities))[::-1]
        reached += np.cumsum(chances)[-1] >= 1 - 1e-15
    assert reached < 5  # in one of them they add up to less
