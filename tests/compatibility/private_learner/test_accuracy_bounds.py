import math

import numpy as np
import pytest

from dpfair_lib.compatibility.private_learner.accuracy_bounds import (
    _losses,
    choice_bound,
    failure_bound,
    printed_sample_size,
    printed_terms,
    pure_failure_bound,
    sample_size,
    simulated_failure,
)
from dpfair_lib.compatibility.private_learner.choice_law import choice_probabilities
from dpfair_lib.compatibility.private_learner.sample_losses import sample_losses

QUARTERS = (0.25, 0.25)


def test_the_choice_bound_uses_the_scale_at_the_low_end_of_the_noisy_count():
    assert choice_bound(1.0, 100, 1000, 1, 0.5, 0.5) == pytest.approx(math.exp(-0.25 * 101 / 2) + 0.5)
    assert choice_bound(1.0, 0, 1000, 3, 0.5, 1e-3) == pytest.approx(3 * math.exp(-0.25 / 1.001) + 1e-3)


def test_printed_terms_by_hand():
    terms = printed_terms(10_000, QUARTERS, 10, 0.5, 0.1, 1.0)
    log = math.log(20 * 10 / 0.1)
    assert terms["sample"] == pytest.approx(144 * log * 16)
    assert terms["choice"] == pytest.approx(144 * log * (20_000 / 2399 + 1) / 0.5)
    assert terms["noise"] == pytest.approx(144 * log * (100 + math.log(10)) / 10_000)
    assert terms["count"] == pytest.approx(32)


def test_sample_sizes_are_where_the_bounds_reach_beta():
    arguments = (QUARTERS, 20, 0.3, 0.05, 0.5)
    n = sample_size(*arguments, 1e-4)
    assert (
        failure_bound(n, QUARTERS, 20, 0.3, 0.5, 1e-4)
        <= 0.05
        < failure_bound(n - 20, QUARTERS, 20, 0.3, 0.5, 1e-4)
    )
    pure = sample_size(*arguments, 0.0)
    assert (
        pure_failure_bound(pure, QUARTERS, 20, 0.3, 0.5)
        <= 0.05
        < pure_failure_bound(pure - 1, QUARTERS, 20, 0.3, 0.5)
    )
    printed = printed_sample_size(*arguments)
    assert printed >= max(printed_terms(printed, QUARTERS, 20, 0.3, 0.05, 0.5).values())
    assert pure < n < printed
    with pytest.raises(ValueError, match=r"delta: found 0\.1, expected less than beta"):
        sample_size(*arguments, 0.1)


@pytest.mark.parametrize("rule", ["printed", "repaired", "pure"])
def test_simulated_failures_fall_and_stay_below_the_bound(rule):
    table = np.array([[[0.3, 0.05], [0.2, 0.05]], [[0.05, 0.15], [0.05, 0.15]]])
    hypotheses = np.array([[[0, 0], [1, 1]], [[1, 1], [0, 0]], [[0, 0], [1, 0]]], dtype=float)
    settings = {"alpha": 0.2, "epsilon": 0.5, "delta": 1e-4, "samples": 40, "rule": rule}
    few, many = (
        simulated_failure(table, hypotheses, n, rng=np.random.default_rng(0), **settings) for n in (40, 4000)
    )
    assert many < few
    positives = (0.2, 0.2)
    if rule == "repaired":
        assert many <= failure_bound(4000, positives, 3, 0.2, 0.5, 1e-4)


def test_simulated_failures_are_those_of_the_law_on_the_same_samples():
    table = np.array([[[0.3, 0.02], [0.2, 0.08]], [[0.05, 0.05], [0.05, 0.25]]])
    hypotheses = np.array([[[0, 0], [1, 1]], [[1, 1], [0, 0]], [[0, 0], [1, 0]]], dtype=float)
    found = simulated_failure(
        table, hypotheses, 50, alpha=0.1, epsilon=0.5, delta=1e-2, samples=30, rng=np.random.default_rng(1)
    )
    losses, missed = _losses(table, hypotheses), []
    for counts in np.random.default_rng(1).multinomial(50, table.ravel(), size=30):
        x, a, y = (np.repeat(axis.ravel(), counts) for axis in np.indices(table.shape))
        sample = sample_losses(hypotheses[:, x, a], y, a)
        of_sample = _losses(counts.reshape(table.shape) / 50, hypotheses)
        chances = choice_probabilities(of_sample, min(sample.counts), 50, epsilon=0.5, delta=1e-2)
        missed.append(chances[losses > losses.min() + 0.1].sum())
    assert found == pytest.approx(np.mean(missed), rel=1e-12)
