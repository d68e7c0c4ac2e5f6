"""Exact laws of perturbed minimisers, against each other and against draws of the noise."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dpfair_lib.learners.losses import loss_values
from dpfair_lib.learners.objective_laws import (
    delta_by_noise,
    delta_on_a_line,
    log_density,
    minimisers,
    noise_of,
)

LOSSES = ["logistic", "huberised-hinge"]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_noise_of_the_minimiser_is_that_of_the_objective(loss):
    signed, modulus = np.array([1.0, -0.3, 0.6]), 0.4
    for b in (-3.0, -0.2, 0.0, 1.7):
        found = minimize_scalar(
            lambda w, b=b: loss_values(signed * w, loss).sum() + modulus / 2 * w * w + b * w, tol=1e-12
        )
        assert noise_of(np.array([found.x]), signed[:, None], modulus, loss) == pytest.approx([b], abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_minimisers_undo_the_noise(loss):
    rng = np.random.default_rng(0)
    rows, noise = rng.uniform(-2, 2, (6, 2)), 30 * rng.normal(size=(50, 2))
    weights = minimisers(noise, rows, 0.01, loss)
    assert noise_of(weights, rows, 0.01, loss) == pytest.approx(noise, rel=1e-8, abs=1e-8)
    with pytest.raises(ArithmeticError, match="found a gradient of"):
        minimisers(noise, rows, 0.01, loss, steps=1)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_density_integrates_to_one(loss):
    rows = np.array([[1.0, 0.2], [-0.5, 0.8], [0.3, -0.9]])
    axis, step = np.linspace(-25, 25, 1001, retstep=True)
    weights = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    density = np.exp(log_density(weights, rows, 0.5, 2.0, loss)) / (2 * math.pi * 2.0**2)
    assert density.sum() * step**2 == pytest.approx(1, rel=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_two_ways_agree(loss):
    rng = np.random.default_rng(1)
    for opposite in (-1.0, -0.3, 0.0, 0.4):
        first = np.concatenate([[[1.0]], rng.uniform(-1, 1, (2, 1))])
        second = np.concatenate([[[opposite]], first[1:]])
        found = [
            delta_on_a_line(first, second, 0.1, 2.0, 0.7, loss=loss, cells=8000),
            delta_by_noise(first, second, 0.1, 2.0, 0.7, loss=loss, points=20_000),
        ]
        assert found[0] > 1e-4
        assert found[0] == pytest.approx(found[1], rel=2e-3)


def test_draws_of_the_noise_fall_as_the_law_says():
    # the weights of two data sets, at the noise drawn; how often they are in the set where the first is likelier
    first, second, sigma, modulus = np.array([[1.0], [0.4]]), np.array([[-1.0], [0.4]]), 1.0, 0.5
    draws = np.random.default_rng(2).normal(scale=sigma, size=(40_000, 1))
    likelier = []
    for rows in (first, second):
        weights = minimisers(draws, rows, modulus)
        ratio = log_density(weights, first, modulus, sigma) - log_density(weights, second, modulus, sigma)
        likelier.append((ratio > 0.2).mean())
    difference = likelier[0] - math.exp(0.2) * likelier[1]
    # five standard deviations of the difference of the two shares
    assert difference == pytest.approx(delta_on_a_line(first, second, 0.2, sigma, modulus), abs=0.02)


def test_fewer_cells_show_less():
    first, second = np.array([1.0, 0.5]), np.array([-1.0, 0.5])
    shown = [delta_on_a_line(first, second, 0.3, 1.0, 1.0, cells=cells) for cells in (10, 100, 1000)]
    assert 0 < shown[0] < shown[1] < shown[2]
    assert delta_on_a_line(first, first, 0.0, 1.0, 1.0) == 0
