"""The bounds of the mean absolute fairness are the mean of each group's nearest and farthest value."""

import numpy as np
import pytest

import dpfair_lib as dpf


@pytest.mark.parametrize("bound", ["markov", "exact", "signed"])
@pytest.mark.parametrize("radius", [1e-4, 0.02, 0.3])
def test_the_aggregate_is_bounded_group_by_group(bound, radius):
    rng = np.random.default_rng(8)
    X, group = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    X[:, 0] += group  # selected far more often in one group
    scores = X @ np.array([1.0, -0.5, 0.25])
    y = (scores + rng.normal(size=300) > 0).astype(int)
    made = dpf.fairness_certificate(
        scores, y, X=X, sensitive_features=group, notion="demographic_parity", radius=radius, bound=bound
    )
    nearest = [
        0.0 if low <= 0 <= high else min(abs(low), abs(high))
        for low, high in zip(made.lower, made.upper, strict=True)
    ]
    farthest = [max(abs(low), abs(high)) for low, high in zip(made.lower, made.upper, strict=True)]
    assert made.aggregate_lower == pytest.approx(np.mean(nearest))
    assert made.aggregate_upper == pytest.approx(np.mean(farthest))
    assert (made.aggregate_lower > 0) or radius > 1e-4 or bound == "markov"
