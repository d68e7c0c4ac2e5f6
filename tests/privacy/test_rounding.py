"""What is claimed is never below the exact value, and noise never narrower: in exact or long arithmetic."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.central.released_rates import release_epsilon
from dpfair_lib.local import Randomizer, generalized_randomized_response
from dpfair_lib.privacy import PrivacyStatement, compose, rounding
from dpfair_lib.privacy.amplification import amplified
from dpfair_lib.privacy.composition import advanced_composition, basic_composition, divided_epsilon
from dpfair_lib.privacy.laplace import DiscreteLaplaceMechanism, LaplaceMechanism
from dpfair_lib.privacy.rounding import noise_scale

CLOSE = Fraction(1, 2**46)  # how much more than the exact value is claimed at most, relatively
POSITIVE = st.floats(1e-300, 1e300)
EPSILON = st.floats(1e-6, 60)


def exactly(value):
    return (
        mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpmath.mpf(value)
    )


def above(claimed, exact, close=CLOSE):
    """Whether a claim is at least the exact value, and close to it."""
    return exact <= exactly(claimed) <= exact * (1 + exactly(close))


@given(st.fractions())
def test_the_nearest_float_on_either_side(value):
    high, low = rounding.above(value), rounding.below(value)
    assert low <= value <= high
    assert high in (low, math.nextafter(low, math.inf))


def test_the_ends_of_the_floats():
    most = np.finfo(float).max
    assert (rounding.above(10**400), rounding.above(-(10**400))) == (math.inf, -most)
    assert (rounding.below(10**400), rounding.below(-(10**400))) == (most, -math.inf)
    assert rounding.above(Fraction(1, 10**400)) == 5e-324
    assert rounding.sum_above([1.0, math.inf]) == rounding.product_above(2.0, math.inf) == math.inf


@given(st.lists(POSITIVE, min_size=1, max_size=9))
def test_sums_and_products_are_the_least_floats_above(values):
    exact = sum(map(Fraction, values))
    total = rounding.sum_above(values)
    assert math.nextafter(total, 0) < exact <= total or total == math.inf
    product = rounding.product_above(values[0], values[-1])
    assert product == math.inf or product >= Fraction(values[0]) * Fraction(values[-1])


def test_the_power_0_is_exact():
    assert rounding.exp_below(0) == rounding.exp_above(0) == rounding.exp_below(-0.0) == 1


@given(st.floats(-700, 700))
def test_exponentials(exponent):
    with mpmath.workdps(40):
        exact = mpmath.exp(mpmath.mpf(exponent))
        assert rounding.exp_below(exponent) <= exact <= rounding.exp_above(exponent)
        assert above(rounding.exp_above(exponent), exact)


@given(st.one_of(st.floats(1, 1e308), st.fractions(1, 3), st.integers(1, 10**400)))
def test_logarithms(ratio):
    with mpmath.workdps(450):
        exact = mpmath.log(exactly(Fraction(ratio)))
        claimed = mpmath.mpf(rounding.log_above(ratio))
        assert (
            exact
            <= claimed
            <= exact + max(exact, mpmath.mpf(2) ** -1070) * mpmath.mpf(2) ** -48 + mpmath.mpf(2) ** -1070
        )


@given(st.sampled_from([1, 2, 3, 7, Fraction(2, 3)]), st.floats(1e-307, 1e300))
def test_a_noise_scale_never_costs_more_than_it_may(sensitivity, epsilon):
    scale = noise_scale(sensitivity, epsilon)
    assert Fraction(sensitivity) / Fraction(scale) <= Fraction(epsilon)
    assert Fraction(sensitivity) / Fraction(math.nextafter(scale, 0)) > Fraction(epsilon)


def test_division_alone_under_claims_and_is_noticed():
    draws = np.random.default_rng(0).uniform(0.01, 10, 1000)
    short = sum(Fraction(1) / Fraction(1 / epsilon) > Fraction(epsilon) for epsilon in draws.tolist())
    assert short > 300  # what is mended: of scales rounded to nearest, nearly half are too small
    assert not sum(Fraction(1) / Fraction(noise_scale(1, e)) > Fraction(e) for e in draws.tolist())


@given(st.floats(1e-3, 1e3), st.integers(1, 50))
def test_a_mechanism_has_no_delta_at_its_epsilon(scale, sensitivity):
    for mechanism in (LaplaceMechanism(scale, sensitivity), DiscreteLaplaceMechanism(scale, sensitivity)):
        assert mechanism.delta(mechanism.epsilon) == 0
        assert Fraction(mechanism.epsilon) >= Fraction(sensitivity) / Fraction(scale)
        assert mechanism.delta(math.nextafter(mechanism.epsilon, 0) * (1 - 1e-15)) > 0


@given(EPSILON, st.floats(0, 1e-3), st.floats(1e-12, 1))
def test_amplification(epsilon, delta, fraction):
    with mpmath.workdps(60):
        found, found_delta = amplified(epsilon, delta, fraction)
        exact = mpmath.log1p(mpmath.mpf(fraction) * mpmath.expm1(mpmath.mpf(epsilon)))
        assert (
            exact
            <= found
            <= max(exact * (1 + mpmath.mpf(2) ** -44), mpmath.mpf(0))
            + mpmath.mpf(2) ** -44 * 60 * (epsilon >= 30)
        )
        assert found_delta >= Fraction(delta) * Fraction(fraction)


@given(st.floats(1e-4, 5), st.floats(0, 1e-5), st.integers(1, 1000), st.floats(1e-12, 0.1))
def test_composition(epsilon, delta, k, slack):
    with mpmath.workdps(40):
        e, d, s = map(mpmath.mpf, (epsilon, delta, slack))
        basic = basic_composition(epsilon, delta, k)
        assert above(basic[0], k * e)
        assert basic[1] >= k * d
        advanced = advanced_composition(epsilon, delta, k, slack)
        assert above(advanced[0], mpmath.sqrt(-2 * k * mpmath.log(s)) * e + k * e * mpmath.expm1(e))
        assert above(advanced[1], k * d + s)
        log = -mpmath.log(s)
        printed = divided_epsilon(epsilon, slack, k, "printed") if epsilon < 8 * log else 0.0
        concentrated = divided_epsilon(epsilon, slack, k, "concentrated")
        assert printed <= e / mpmath.sqrt(8 * k * log)
        # spent k times, what was divided is at most the whole
        assert k * mpmath.mpf(concentrated) ** 2 / 2 + concentrated * mpmath.sqrt(2 * k * log) <= e


@given(st.lists(EPSILON, min_size=2, max_size=5), st.integers(1, 200))
def test_releases_of_groups(epsilons, size):
    exact = sum(map(Fraction, sorted(epsilons)[-2:]))
    assert Fraction(release_epsilon(epsilons, "replace-one")) >= exact
    assert release_epsilon(list(map(Fraction, epsilons)), "replace-one") == exact
    with mpmath.workdps(40):
        counted = release_epsilon(epsilons[:2], "replace-one", least_sizes=[size, size])
        first, second = map(mpmath.mpf, epsilons[:2])
        excess = max(mpmath.log1p(mpmath.mpf(1) / size) - e / (size + 1) for e in (first, second))
        assert first + second + max(excess, 0) <= counted
    statements = [PrivacyStatement(e, 0.0, "replace-one") for e in epsilons]
    assert Fraction(compose(*statements).epsilon) >= sum(map(Fraction, epsilons))


@given(st.integers(2, 6), st.floats(1e-6, 30))
def test_a_channel_claims_no_less_than_its_matrix(k, epsilon):
    matrix = generalized_randomized_response(k, epsilon).matrix
    with mpmath.workdps(40):
        for channel in (
            Randomizer(matrix),
            Randomizer(np.array([[0.6, 0.4], [0.3, 0.7]]) if k == 2 else matrix),
        ):
            entries = channel.matrix
            exact = max(
                Fraction(a) / Fraction(b) for column in entries.T.tolist() for a in column for b in column
            )
            assert above(channel.epsilon, mpmath.log(exactly(exact)), close=Fraction(1, 2**30))
    assert Randomizer([[0.5, 0.5], [0.5, 0.5]]).epsilon == 0


@pytest.mark.parametrize("epsilon", [5e-324, 1e-309])
def test_an_epsilon_too_small_for_a_scale_is_named(epsilon):
    with pytest.raises(ValueError, match="epsilon: found"):
        noise_scale(1, epsilon)


@pytest.mark.parametrize("value", [3.5, 1e-300, 1e300, 1.0])
def test_what_is_lowered_is_just_below(value):
    assert 0 < rounding.lowered(value) < value
    assert rounding.lowered(value) == pytest.approx(value, rel=1e-14, abs=0)
    assert rounding.lowered(-value) < -value
