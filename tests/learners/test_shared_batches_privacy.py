"""What replicates that share their batches cost together: 1/√R of the noise multiplier.

A step releases S_r + σC Z_r for r = 1, …, R, where S_r = Σ_{i ∈ B} g_i^r over one Poisson batch B. In a row they are
the sum over B of vectors (g_i^1, …, g_i^R) of norm at most √R C, with noise of standard deviation σC on every entry:
a step of DP-SGD with clipping norm √R C and multiplier σC / (√R C) = σ/√R. At the start all models are equal, so are
the gradients of a record, and the norm is reached. Independent batches are R steps of multiplier σ instead.
"""

import math

import numpy as np
import pytest
import torch

from dpfair_lib import DPLogisticRegression
from dpfair_lib.learners import fused_backend, opacus_backend
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import dp_sgd_epsilon

CASES = [(2.0, 0.1, 1, 2), (1.5, 0.3, 4, 2), (3.0, 0.05, 20, 3), (2.0, 1.0, 3, 3)]  # σ, q, steps, R
DELTA = 1e-5


def loss_law(multiplier, rate, replicates, *, added):
    """Return values and probabilities of one step's privacy loss, on a grid over all R released sums.

    With C = 1, a record whose R gradients are all 1 and no other in the batch: P = (1 − q) N(0, σ²I) + q N(1, σ²I) and
    Q = N(0, σ²I). R-dimensional cells, the density at their middle; nothing is said of √R here.
    """
    width = 10 * multiplier + 1
    points = {2: 400, 3: 100}[replicates]
    line = np.linspace(-width, width + 1, points)
    grid = np.stack(np.meshgrid(*[line] * replicates, indexing="ij"), axis=-1).reshape(-1, replicates)
    squares = (grid**2).sum(axis=1), ((grid - 1) ** 2).sum(axis=1)
    cell = ((line[1] - line[0]) / (multiplier * math.sqrt(2 * math.pi))) ** replicates
    without, present = (np.exp(-square / (2 * multiplier**2)) * cell for square in squares)
    mixed = (1 - rate) * without + rate * present
    ratio = (squares[0] - squares[1]) / (2 * multiplier**2)
    loss = np.logaddexp(np.log1p(-rate) if rate < 1 else -np.inf, math.log(rate) + ratio)
    return (loss, mixed) if added else (-loss, without)


def composed_epsilon(law, steps, delta):
    """Return ε at δ after some steps, by convolving a law of losses rounded to a grid; second witness, no bound."""
    loss, mass = law
    spacing, size = 2e-4, 1 << 19
    low = math.floor(loss[mass > 1e-18].min() / spacing)  # what is below is moved up to it
    at = np.maximum(np.round(loss / spacing).astype(int) - low, 0)
    assert mass[at * steps >= size].sum() < 1e-12  # what the convolution would carry round
    at = np.minimum(at, size // steps - 1)
    once = np.bincount(at, weights=mass, minlength=size)
    many = np.fft.irfft(np.fft.rfft(once) ** steps, size)
    values = spacing * (np.arange(size) + low * steps)
    many, values = many[values >= 0], values[values >= 0]
    # δ(ε) = Σ_{v ≥ ε} P(v) (1 − e^(ε − v)), at every ε of the grid
    above, weighted = (np.cumsum(part[::-1])[::-1] for part in (many, many * np.exp(-values)))
    excess = above - np.exp(values) * weighted
    at = int(np.argmax(excess <= delta))
    return float(np.interp(-delta, -excess[at - 1 : at + 1], values[at - 1 : at + 1]))


@pytest.mark.parametrize(("multiplier", "rate", "steps", "replicates"), CASES)
def test_together_they_cost_one_at_a_smaller_multiplier(multiplier, rate, steps, replicates):
    exact = max(
        composed_epsilon(loss_law(multiplier, rate, replicates, added=added), steps, DELTA)
        for added in (True, False)
    )
    stated = dp_sgd_epsilon(multiplier / math.sqrt(replicates), rate, steps, DELTA, "pld")
    assert stated == pytest.approx(exact, rel=2e-3)
    # what might be mistaken for it
    for wrong in (
        dp_sgd_epsilon(multiplier, rate, steps, DELTA, "pld"),
        dp_sgd_epsilon(multiplier / replicates, rate, steps, DELTA, "pld"),
    ):
        assert abs(wrong - exact) > 0.1 * exact
    if rate < 1:  # independent batches: all replicates' steps one after the other
        apart = dp_sgd_epsilon(multiplier, rate, steps * replicates, DELTA, "pld")
        assert apart < 0.98 * exact
    else:  # where every record is in every batch there is nothing to share
        apart = dp_sgd_epsilon(multiplier, rate, steps * replicates, DELTA, "pld")
        assert apart == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("backend", [fused_backend.train, opacus_backend.train])
def test_a_record_moves_all_sums_together_by_root_r_clipping_norms(backend):
    rng, replicates = np.random.default_rng(0), 5
    x, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    record = np.array([[300.0, -200.0, 100.0]])
    steps = Steps(
        noise_multiplier=2.0, max_grad_norm=1.5, sample_rate=1.0, count=1, learning_rate=1.0, fit_intercept=True,
        expected_batch_size=1.0,
    )  # fmt: skip
    without, present = (
        backend(rows, labels, steps, np.random.SeedSequence(0).spawn(replicates), torch.device("cpu"),
                shared_batches=True)
        for rows, labels in ((x, y), (np.vstack([x, record]), np.append(y, 1)))
    )  # fmt: skip
    assert np.linalg.norm(present - without) == pytest.approx(1.5 * math.sqrt(replicates), rel=1e-6)


def test_the_statement_says_so():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    note = DPLogisticRegression(
        noise_multiplier=2.0, delta=DELTA, max_grad_norm=1.5, sample_rate=0.25, steps=5, learning_rate=0.1,
        noise="study", random_state=0, replicates=7, shared_batches=True,
    ).fit(x, y).privacy_statement_.note  # fmt: skip
    assert "together they cost what one does at 1/√7 of the noise multiplier" in note
