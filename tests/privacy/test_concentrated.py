import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    GaussianMechanism,
    composed_zcdp,
    gaussian_delta,
    gaussian_epsilon,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_from_pure,
)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_pure_mechanism_is_concentrated(epsilon):
    truth, lie = math.exp(epsilon) / (1 + math.exp(epsilon)), 1 / (1 + math.exp(epsilon))
    rho = zcdp_from_pure(epsilon)
    for order in (1.0001, 1.5, 2, 5, 50):
        moment = truth**order * lie ** (1 - order) + lie**order * truth ** (1 - order)
        assert math.log(moment) / (order - 1) <= rho * order + 1e-9


@given(st.floats(1e-4, 10), st.floats(0, 30))
def test_concentrated_profile_covers_gaussian_noise(rho, epsilon):
    sigma = math.sqrt(1 / (2 * rho))
    assert GaussianMechanism(sigma, 1.0).rho == pytest.approx(rho)
    assert gaussian_delta(epsilon, sigma, 1.0) <= zcdp_delta(rho, epsilon) * (1 + 1e-12)


@given(st.floats(1e-4, 10), st.floats(0.01, 30))
def test_concentrated_profile_is_the_least_over_orders(rho, epsilon):
    orders = 1 + np.geomspace(1e-4, 1e4, 4000)
    log_delta = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    on_grid = min(1.0, math.exp(max(log_delta.min(), -700)))
    if on_grid > 1e-280:
        assert zcdp_delta(rho, epsilon) <= on_grid * (1 + 1e-12)
        assert zcdp_delta(rho, epsilon) >= on_grid * 0.98


@given(st.floats(1e-4, 10), st.floats(1e-12, 0.4))
def test_concentrated_epsilon_between_gaussian_and_printed(rho, delta):
    tight, printed = zcdp_epsilon(rho, delta, "tight"), zcdp_epsilon(rho, delta, "printed")
    assert gaussian_epsilon(delta, math.sqrt(1 / (2 * rho)), 1.0) <= tight * (1 + 1e-9)
    assert tight <= printed
    assert printed == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1 / delta)), rel=1e-14)
    assert zcdp_delta(rho, tight) <= delta * (1 + 1e-9)


def test_concentrated_budgets_add_up():
    assert composed_zcdp(0.1, 0.2, 0.3) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="rhos: found none"):
        composed_zcdp()


@pytest.mark.parametrize("rho", [600.25, 600.5, 601.5, 1e4])
def test_where_the_least_is_at_the_order_one_delta_is_one(rho):
    # the slope is (2e^−600 + 1)ρ − ε − 600 at the end of the search, from 0 on positive everywhere
    assert zcdp_delta(rho, 0.0) == 1.0
    assert zcdp_delta(rho + 0.25, 0.25) == 1.0
