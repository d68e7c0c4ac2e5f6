import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    DiscreteLaplaceMechanism,
    GaussianMechanism,
    LaplaceMechanism,
)

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


def test_discrete_laplace_law_is_the_sum_of_its_masses():
    mechanism = DiscreteLaplaceMechanism(1.7, 1)
    k = np.arange(-120, 121)
    mass = mechanism.pmf(k)
    assert mass.sum() == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(np.cumsum(mass), mechanism.cdf(k), atol=1e-14)
    for t in (-1, 0, 0.5, 1, 3, 7.9):
        assert mechanism.tail(t) == pytest.approx(mass[abs(k) > t].sum(), rel=1e-10)
