"""Few points have the integrals of the law that they stand for."""

import math

import numpy as np
import pytest

from dpfair_lib.central.gap_law import RateLaw
from dpfair_lib.central.several_groups.law_points import SpreadLaw, few_points, fine_points

LAWS = [
    RateLaw.of(0.3, 200, 0.4, "laplace"),
    RateLaw.of(0.01, 60, 3.0, "laplace"),
    RateLaw.of(0.5, 5, 80.0, "laplace"),
    RateLaw.of(0.97, 400, 0.2, "geometric"),
    RateLaw.of(0.6, 1000, math.inf, "laplace"),
    RateLaw.of(0.0, 30, 1.0, "laplace"),
]


@pytest.mark.parametrize("law", LAWS, ids=range(len(LAWS)))
def test_the_fine_points_have_the_distribution_function(law):
    points, masses = fine_points(law)
    assert (np.diff(points) > 0).all()
    assert masses.sum() == pytest.approx(1, abs=1e-9)
    for count in np.arange(0, law.n, max(law.n // 9, 1)):
        above = float(law.survival(np.array([(count + 1e-9 * law.lattice) / law.n]))[0])
        assert masses[points > (count + 1e-9) / law.n].sum() == pytest.approx(above, abs=1e-6)


@pytest.mark.parametrize("law", LAWS, ids=range(len(LAWS)))
def test_few_points_integrate_polynomials_and_smooth_functions(law):
    points, masses = fine_points(law)
    at, weights = few_points(points, masses, 0.02)
    assert len(at) <= min(len(points), 3 * 51 + 2)
    assert (weights >= 0).all()
    for power in range(6):
        assert float(weights @ at**power) == pytest.approx(float(masses @ points**power), abs=1e-12)
    assert float(weights @ np.sin(9 * at)) == pytest.approx(float(masses @ np.sin(9 * points)), abs=1e-9)
    # a power that three points do not have, over one interval: it is not simply all of them
    if len(points) > 100:
        one, mass = few_points(points, masses, 2.0)
        assert len(one) <= 5
        assert abs(float(mass @ one**6) - float(masses @ points**6)) > 1e-12


def test_a_spread_law_has_the_same_masses_and_means():
    law = RateLaw.of(0.03, 40, 0.7, "geometric")
    spread, (at, masses) = SpreadLaw(law), law.atoms()
    # half of a unit beyond an inner count everything up to it is counted
    between = (np.arange(1, 39) + 0.5) / 40
    assert spread.tail(between, strict=True) == pytest.approx(law.tail(between, strict=True), abs=1e-15)
    middle = spread.tail(np.array([7 / 40]), strict=True)
    assert middle == pytest.approx((law.above[7] + law.above[8]) / 2, abs=1e-15)
    # the two ends stay points
    ends = np.array([-0.1, 0.0, 1.0, 1.1])
    for strict in (True, False):
        assert spread.tail(ends, strict=strict) == pytest.approx(law.tail(ends, strict=strict), abs=1e-15)
    points, weights = spread.fine_points()
    assert (np.diff(points) > 0).all()
    for power, extra in ((0, 0.0), (1, 0.0), (2, masses[1:-1].sum() / (12 * 40**2))):
        assert float(weights @ points**power) == pytest.approx(float(masses @ at**power) + extra, abs=1e-14)
    assert spread.tail(np.array([spread.below_one()]), strict=True) == law.above[40]
