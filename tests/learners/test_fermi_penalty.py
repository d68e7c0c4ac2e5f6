import math

import numpy as np
import pytest
import torch
from fermi_small import P_S, WITH_ONES, N, S, Y, by_definition, gradients, models
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from dpfair_lib.learners.fermi_penalty import (
    clipped_w_sum,
    maximizer,
    penalty,
    renyi_information,
    residuals,
)  # fmt: skip

# -- the penalty


def test_penalty_is_its_definition():
    weights, W = models()
    p = expit(weights @ WITH_ONES.T)
    for model in range(2):
        f = torch.as_tensor(np.column_stack([1 - p[model], p[model]]))
        mean = np.mean([by_definition(f[i], int(S[i]), torch.as_tensor(W[model]), P_S) for i in range(N)])
        assert penalty(p, S, P_S, W)[model] == pytest.approx(mean, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_largest_penalty_is_the_renyi_information(entropy, k):
    rng = np.random.default_rng(entropy)
    n = 50
    s = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    p, frequencies = rng.uniform(0.01, 0.99, (1, n)), np.bincount(s) / n
    # the χ² divergence of the joint law from the product, cell by cell
    joint = np.array([[np.mean(f * (s == a)) for a in range(k)] for f in (1 - p[0], p[0])])
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    divergence = ((joint - product) ** 2 / product).sum()
    assert renyi_information(p, s, frequencies)[0] == pytest.approx(divergence, abs=1e-12)
    best = maximizer(p, s, frequencies)
    assert penalty(p, s, frequencies, best)[0] == pytest.approx(divergence, abs=1e-12)
    assert clipped_w_sum(p, s, frequencies, best, math.inf) == pytest.approx(0, abs=1e-10)
    assert (best**2).sum() <= 2 / frequencies.min() + 1e-12
    moved = best + rng.normal(size=best.shape) * 0.1
    assert penalty(p, s, frequencies, moved)[0] < divergence


def test_information_is_zero_just_under_independence():
    p = np.array([[0.2, 0.8, 0.2, 0.8], [0.2, 0.7, 0.2, 0.8]])
    s, halves = np.array([0, 0, 1, 1]), np.array([0.5, 0.5])
    same, different = renyi_information(p, s, halves)
    assert same == pytest.approx(0, abs=1e-15)
    assert different > 1e-4


def test_gradients_are_those_of_torch():
    weights, W = models()
    strengths = np.array([0.0, 1.7])
    p = expit(weights @ WITH_ONES.T)
    ours = residuals(p, Y, S, P_S, strengths, W)
    for model in range(2):
        theirs = [gradients(weights[model], W[model], i, strengths[model]) for i in range(N)]
        for i, (of_theta, _) in enumerate(theirs):
            assert ours[model, i] * WITH_ONES[i] == pytest.approx(of_theta, abs=1e-12)
        for clip in (math.inf, 2.0, 0.3):
            clipped = [g * min(1.0, clip / np.linalg.norm(g)) for _, g in theirs]
            assert clipped_w_sum(p, S, P_S, W, clip)[model] == pytest.approx(
                np.sum(clipped, axis=0), abs=1e-10
            )
