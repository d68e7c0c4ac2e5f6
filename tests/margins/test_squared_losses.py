"""The sensitivity of squared losses, against exact minimisers of neighbouring data sets."""

import numpy as np
import pytest
from scipy.optimize import minimize

from dpfair_lib.margins.squared_losses import (
    squared_gradient_radius,
    squared_perturbation_sensitivity,
    squared_reach,
)
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity


def ridge(X, y, modulus):
    """The exact minimiser of the mean of (1 − y⟨h, x⟩)² plus μ‖h‖²/2."""
    return np.linalg.solve(X.T @ X / len(X) + modulus / 2 * np.eye(X.shape[1]), X.T @ y / len(X))


def hinge(X, y, modulus):
    """The minimiser of the squared hinge, to a gradient of 10⁻¹⁰."""

    def both(h):
        left = np.maximum(0, 1 - y * (X @ h))
        return (left**2).mean() + modulus * h @ h / 2, -2 * (left * y) @ X / len(X) + modulus * h

    return minimize(both, np.zeros(X.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10}).x


def tables(norm, rng):
    """Yield neighbours: random rows, rows on one line, and pairs whose replaced record pulls the other way."""
    for n in (1, 2, 5):
        for _ in range(30):
            X = rng.normal(size=(n + 1, 2))
            X *= (
                norm * rng.choice([1.0, 0.2, 0.7], size=(n + 1, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
            )
            yield X, rng.choice([-1.0, 1.0], size=n + 1)
        for short in (1.0, 0.5, 0.1, 0.02):
            X = np.tile([short * norm, 0.0], (n + 1, 1))
            X[-2:, 0] = norm
            yield X, np.r_[np.ones(n), -1.0]


@pytest.mark.parametrize("solve", [ridge, hinge])
@pytest.mark.parametrize("modulus", [0.05, 0.5, 2.0, 20.0])
@pytest.mark.parametrize("norm", [1.0, 3.0])
def test_no_replaced_record_moves_the_minimiser_further(solve, modulus, norm):
    rng, moved, longest = np.random.default_rng(0), [], []
    for X, y in tables(norm, rng):
        first, second = solve(X[:-1], y[:-1], modulus), solve(np.delete(X, -2, 0), np.delete(y, -2), modulus)
        bound = squared_perturbation_sensitivity(lipschitz=norm, strong_convexity=modulus, n=len(X) - 1)
        moved.append(np.linalg.norm(first - second) / bound)
        longest.append(norm * np.linalg.norm(first) / squared_reach(norm**2 / modulus))
    assert max(moved) <= 1 + 1e-6
    assert max(longest) <= 1 + 1e-6


@pytest.mark.parametrize("kappa", [0.01, 0.3, 0.5, 2.0, 50.0])
def test_the_reach_is_attained(kappa):
    """Every row the same, of norm 1 up to κ = ½, and of that norm at which all margins are ½ beyond."""
    length = 1.0 if kappa <= 0.5 else 1 / np.sqrt(2 * kappa)
    h = ridge(np.array([[length]]), np.ones(1), 1 / kappa)
    assert squared_reach(kappa) == pytest.approx(h[0], rel=1e-12)


@pytest.mark.parametrize("solve", [ridge, hinge])
def test_planted_wrong_sensitivities_are_exceeded(solve):
    """The two labels of one record: weights of opposite signs, (4/μ)/(1 + 2/μ) apart at Λ = 1."""
    X = np.ones((1, 1))
    for modulus in (4.0, 100.0):
        apart = abs(solve(X, np.ones(1), modulus) - solve(X, -np.ones(1), modulus))[0]
        assert apart == pytest.approx(4 / modulus / (1 + 2 / modulus), rel=1e-6)
        given = {"strong_convexity": modulus, "n": 1}
        assert apart <= squared_perturbation_sensitivity(lipschitz=1.0, **given)
        # planted: the derivative's 2 left out
        assert apart > output_perturbation_sensitivity(lipschitz=1.0, **given)
    # planted: one of the two records left out
    assert apart > squared_perturbation_sensitivity(lipschitz=1.0, **given) / 2


@pytest.mark.parametrize("solve", [ridge, hinge])
def test_the_residual_of_an_empty_model_is_not_enough(solve):
    """Short rows make long weights; a long row then has a residual above 1, and moves the weights across."""
    kappa, n, s = 8.0, 1000, -0.6
    X, y = np.zeros((n + 1, 2)), np.ones(n + 1)
    X[:, 0] = 1 / np.sqrt(2 * kappa)
    X[-2:] = [[s, 0.8], [s, -0.8]]
    apart = np.linalg.norm(solve(X[:-1], y[:-1], 1 / kappa) - solve(np.delete(X, -2, 0), y[:-1], 1 / kappa))
    given = {"strong_convexity": 1 / kappa, "n": n}
    assert apart <= squared_perturbation_sensitivity(lipschitz=1.0, **given)
    assert apart > output_perturbation_sensitivity(lipschitz=2.0, **given)  # planted: R left out


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match="ratio: found -1"):
        squared_reach(-1)
    with pytest.raises(ValueError, match="lipschitz: found 0"):
        squared_perturbation_sensitivity(lipschitz=0, strong_convexity=1.0, n=1)


def test_the_sharp_radius_by_a_grid():
    s = np.linspace(0, 1, 200_001)
    for reach in (0.0, 0.2, 1.0, 7.0):
        found = squared_gradient_radius(reach)
        assert found == pytest.approx(((1 + reach * s) * np.sqrt(1 - s**2)).max(), rel=1e-9)
        assert 1 <= found <= 1 + reach + 1e-12


def test_a_ball_lowers_the_bound_and_none_does_not():
    known = {"lipschitz": 2.0, "strong_convexity": 0.1, "n": 10}
    every = squared_perturbation_sensitivity(**known)
    assert squared_perturbation_sensitivity(**known, radius=100.0) == every
    small = squared_perturbation_sensitivity(**known, radius=1e-9)
    assert small == pytest.approx(4 * 2 / (0.1 * 10), rel=1e-8)
    with pytest.raises(ValueError, match="radius: found 0"):
        squared_perturbation_sensitivity(**known, radius=0)
