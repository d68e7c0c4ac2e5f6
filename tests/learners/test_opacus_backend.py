import numpy as np
import pytest
from forty_rows import CPU, X, Y, seeds, settings
from scipy.special import expit
from scipy.stats import chi2, kstest

from dpfair_lib.learners.opacus_backend import train


def by_hand(x, y, steps, batches, clip=True, intercept_in_norm=True):
    """DP-SGD without noise, one record after the other."""
    weights = np.zeros(x.shape[1] + 1)
    for rows in batches:
        total = np.zeros_like(weights)
        for row in rows:
            record = np.append(x[row], 1.0 if steps.fit_intercept else 0.0)
            gradient = (expit(record @ weights) - y[row]) * record
            norm = np.linalg.norm(gradient if intercept_in_norm else gradient[:-1]) + 1e-6
            total += gradient * (min(1.0, steps.max_grad_norm / norm) if clip else 1.0)
        weights -= steps.learning_rate * total / (steps.sample_rate * len(x))
    return weights


@pytest.mark.parametrize("intercept", [True, False])
def test_each_record_is_clipped_as_by_hand(intercept):
    steps = settings(count=4, fit_intercept=intercept)
    everyone = [range(40)] * 4
    found = train(X, Y, steps, seeds(1), CPU)[0]
    assert found == pytest.approx(by_hand(X, Y, steps, everyone), abs=1e-12)
    # and clipping matters here, as does the intercept's part of the norm
    assert found != pytest.approx(by_hand(X, Y, steps, everyone, clip=False), abs=1e-3)
    if intercept:
        assert found != pytest.approx(by_hand(X, Y, steps, everyone, intercept_in_norm=False), abs=1e-3)
    else:
        assert found[-1] == 0


def test_no_record_moves_the_sum_further_than_the_clipping_norm():
    steps, record = settings(count=1), np.array([[3.0, -2.0, 50.0]])
    # the expected batch size is the same public number with and without the record
    without = train(X, Y, steps, seeds(1), CPU)[0] * 40
    moved = train(np.vstack([X, record]), np.append(Y, 1), steps, seeds(1), CPU)[0] * 41 - without
    assert np.linalg.norm(moved) == pytest.approx(1.5, abs=1e-6)
    assert np.linalg.norm(moved) <= 1.5
    assert abs(moved[-1]) > 0.01  # of which the intercept is a part


def test_poisson_batches_and_the_expected_batch_size():
    steps, (seed,) = settings(sample_rate=0.3, count=6), seeds(1, 7)
    batches = np.random.default_rng(np.random.SeedSequence(7).spawn(1)[0].spawn(2)[0])
    drawn = [np.flatnonzero(batches.random(40) < 0.3) for _ in range(6)]
    assert len({len(rows) for rows in drawn}) > 1
    assert train(X, Y, steps, [seed], CPU)[0] == pytest.approx(by_hand(X, Y, steps, drawn), abs=1e-12)


def test_noise_has_its_standard_deviation_also_in_empty_batches():
    # at this rate every batch is empty: the model is the noise, over the expected batch size
    rate, multiplier, clip = 1e-12, 2.0, 1.5
    steps = settings(noise_multiplier=multiplier, sample_rate=rate, max_grad_norm=clip, count=1)
    wide = np.ones((10, 30))
    draws = train(wide, np.arange(10) % 2, steps, seeds(100), CPU) * rate * 10
    assert draws.shape == (100, 31)
    scaled = draws / (multiplier * clip)
    low, high = chi2.ppf([1e-6, 1 - 1e-6], scaled.size)
    assert low < (scaled**2).sum() < high
    assert kstest(scaled.ravel(), "norm").pvalue > 1e-4
    low, high = chi2.ppf([1e-6, 1 - 1e-6], 100)
    assert low < (scaled[:, -1] ** 2).sum() < high  # the intercept is noised like the rest
    # every step draws anew
    twice = (
        train(wide, np.arange(10) % 2, settings(**{**vars(steps), "count": 2}), seeds(100), CPU) * rate * 10
    )
    second = (twice - draws) / (multiplier * clip)
    assert abs(np.corrcoef(second.ravel(), scaled.ravel())[0, 1]) < 0.1
    low, high = chi2.ppf([1e-6, 1 - 1e-6], second.size)
    assert low < (second**2).sum() < high
