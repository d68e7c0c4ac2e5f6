import math

import numpy as np
import pytest

from dpfair_lib.margins.step_noise import descent_sigma, noisy_logistic_descent, step_sensitivity
from dpfair_lib.privacy.minimisers import gradient_radius


def test_sensitivity_of_a_step_by_hand():
    # at weights 0: the logistic slope is ½, the hinge's 1, the squared loss's 2
    for loss, slope in (("logistic", 0.5), ("huberised-hinge", 1.0), ("squared", 2.0)):
        found = step_sensitivity(0.0, lipschitz=3.0, n=10, loss=loss)
        assert found == pytest.approx(2 * 3 * slope / 10, rel=1e-12)
    long = step_sensitivity(50.0, lipschitz=1.0, n=1, loss="logistic")
    assert 1.9 < long < 2
    assert step_sensitivity(50.0, lipschitz=1.0, n=1, loss="huberised-hinge") == pytest.approx(2, rel=1e-12)


def test_noise_has_the_rho_of_its_step():
    sigma = descent_sigma(1.0, 0.2, lipschitz=2.0, n=5)
    assert step_sensitivity(1.0, lipschitz=2.0, n=5) ** 2 / (2 * sigma**2) == pytest.approx(0.2, rel=1e-12)


def by_hand(rows, noise, rho, norm, mu, radius, by_length):
    h = np.zeros(rows.shape[1])
    for z in noise:
        share = gradient_radius(norm * np.linalg.norm(h)) if by_length else 1
        sigma = 2 * norm * share / len(rows) / math.sqrt(2 * rho / len(noise))
        slope = mu * h - sum(row / (1 + math.exp(row @ h)) for row in rows) / len(rows)
        h = h - (slope + sigma * z) / (norm**2 / 4 + mu)
        h *= min(1, radius / np.linalg.norm(h))
    return h


@pytest.mark.parametrize("by_length", [True, False])
def test_descent_is_that_of_one_run_at_a_time(by_length):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6, 2)) / 4
    noise = rng.normal(size=(3, 4, 2))
    known = {"lipschitz": 1.5, "strong_convexity": 0.2, "radius": 0.8}
    found = noisy_logistic_descent(rows, noise, 0.7, **known, by_length=by_length)
    for one, draws in zip(found, noise, strict=True):
        np.testing.assert_allclose(one, by_hand(rows, draws, 0.7, 1.5, 0.2, 0.8, by_length), rtol=1e-10)


def test_less_noise_by_length():
    noise = np.ones((1, 2))
    rows = np.zeros((4, 2))
    known = {"lipschitz": 1.0, "strong_convexity": 1.0, "radius": 1e9}
    first, second = (noisy_logistic_descent(rows, noise, 1.0, **known, by_length=by) for by in (True, False))
    np.testing.assert_allclose(first / second, 0.5, rtol=1e-9)
    assert (noisy_logistic_descent(rows, noise, 1.0, **known) == first).all()  # as it is by default


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match="loss: found 'hinge'"):
        step_sensitivity(0.0, lipschitz=1.0, n=1, loss="hinge")
    with pytest.raises(ValueError, match="length: found -1"):
        step_sensitivity(-1.0, lipschitz=1.0, n=1)
    with pytest.raises(ValueError, match="rho: found 0"):
        descent_sigma(1.0, 0.0, lipschitz=1.0, n=1)
