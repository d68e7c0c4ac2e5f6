import numpy as np
import pytest

from dpfair_lib.compatibility.private_learner.accuracy_bounds import (
    _losses,
)
from dpfair_lib.compatibility.private_learner.sample_losses import sample_losses


def test_losses_under_a_law_are_those_of_a_sample_with_its_counts():
    rng = np.random.default_rng(0)
    counts, hypotheses = rng.integers(1, 5, size=(3, 2, 2)), rng.integers(0, 2, size=(7, 3, 2))
    x, a, y = (np.repeat(axis.ravel(), counts.ravel()) for axis in np.indices(counts.shape))
    sample = sample_losses(hypotheses[:, x, a], y, a).total
    assert _losses(counts / counts.sum(), hypotheses) == pytest.approx(sample.astype(float))
    counts[:, 1, 1] = 0  # no positives in a group: only the error counts
    wrong = (hypotheses[:, x, a] != y)[:, (a == 0) | (y == 0)].mean(axis=1)
    assert _losses(counts / counts.sum(), hypotheses) == pytest.approx(wrong)
