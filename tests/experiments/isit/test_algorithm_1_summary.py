import numpy as np
import pytest

from dpfair_lib.experiments.isit.algorithm_1_summary import sampling_gap


@pytest.mark.parametrize("by_score", [False, True])
def test_sampling_gap_agrees_with_simulation(by_score):
    rng = np.random.default_rng(0)
    rates, n_fit, n_test, cut = (0.5, 0.25), (900, 1600), (900, 1600), 0.0
    gaps = []
    for _ in range(3000):
        new = []
        fitted = [rng.normal(cut, 1, size=n) + shift for n, shift in zip(n_fit, (0.0, -0.6745), strict=True)]
        tested = [rng.normal(cut, 1, size=n) + shift for n, shift in zip(n_test, (0.0, -0.6745), strict=True)]
        target = sum((scores > cut).mean() for scores in fitted) / 2
        for old, scores in zip(fitted, tested, strict=True):
            if by_score:
                new.append((scores > np.quantile(old, 1 - target)).mean())
                continue
            before, now = (old > cut).mean(), (scores > cut).mean()
            new.append(
                now * target / before if before > target else 1 - (1 - now) * (1 - target) / (1 - before)
            )
        gaps.append(abs(new[0] - new[1]))
    expected = sampling_gap(rates, sum(rates) / 2, n_fit, n_test, by_score=by_score)
    assert np.mean(gaps) == pytest.approx(expected, rel=0.06)
    other = sampling_gap(rates, sum(rates) / 2, n_fit, n_test, by_score=not by_score)
    assert np.mean(gaps) != pytest.approx(other, rel=0.06)  # the two formulas are told apart
