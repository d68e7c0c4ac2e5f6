import math

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.private_certificate import noise_margin, settled_counts
from dpfair_lib.privacy.laplace import DiscreteLaplaceMechanism


def universe(seed=0, n=4000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    w = np.array([1.0, -1.0, 0.5])
    y = (X @ w + rng.normal(size=n) > 0).astype(int)
    return X, w, y, rng.integers(0, 2, n), rng


def test_a_record_within_its_cell_moves_the_counts_by_two_at_most():
    kinds, reach = [-2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0, np.inf], 1.0
    codes = np.array([0, 0, 1])
    largest = 0
    for before in kinds:
        for after in kinds:
            first, second = (
                settled_counts(np.array([one, 2.0, -2.0]), codes, 2, reach) for one in (before, after)
            )
            largest = max(largest, abs(first - second).sum())
    assert largest == 2


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
@pytest.mark.parametrize("failure", [0.4, 0.01, 1e-7])
def test_margin_is_the_least(scale, failure):
    ratio = math.exp(-1 / scale)
    tail = lambda m: ratio ** (m + 1) / (1 + ratio)  # noqa: E731 - P(noise > m)
    m = noise_margin(scale, failure)
    assert tail(m) <= failure * (1 + 1e-12)
    assert m == 0 or tail(m - 1) > failure
    law = DiscreteLaplaceMechanism(scale=scale, sensitivity=1)
    assert law.tail(m + 1) == pytest.approx(2 * tail(m), rel=1e-9) or law.tail(m) == pytest.approx(
        2 * tail(m), rel=1e-9
    )


@pytest.mark.parametrize("notion", NOTIONS)
def test_intervals_hold_for_the_model_without_noise(notion):
    X, w, y, s, rng = universe()
    truth = np.array(
        list(dpf.group_fairness(y, (X @ w > 0).astype(int), sensitive_features=s, notion=notion).values())
    )
    for _ in range(30):
        released = w + 0.01 * rng.normal(size=3)
        made = dpf.private_certificate(
            X @ released, y, X=X, sensitive_features=s, notion=notion, sigma=0.01, zeta=0.01, epsilon=1.0,
            noise="study", rng=rng,
        )  # fmt: skip
        plain = dpf.noise_certificate(
            X @ released, y, X=X, sensitive_features=s, notion=notion, sigma=0.01, zeta=0.005, reach="markov"
        )
        assert (made.lower <= truth).all()
        assert (truth <= made.upper).all()
        assert (made.upper - made.lower).sum() > 0.5 * (plain.upper - plain.lower).sum()
    assert made.privacy_statement.epsilon == 1.0
    assert made.privacy_statement.relation == "replace-within-group"


def test_secure_noise_and_bad_arguments():
    X, w, y, s, rng = universe(n=200)
    common = {"X": X, "sensitive_features": s, "notion": "accuracy", "sigma": 0.01, "zeta": 0.1}
    assert dpf.private_certificate(X @ w, y, epsilon=1.0, **common).lower < 1
    with pytest.raises(ValueError, match="epsilon: found"):
        dpf.private_certificate(X @ w, y, epsilon=0, **common)
    with pytest.raises(ValueError, match="rng: found"):
        dpf.private_certificate(X @ w, y, epsilon=1.0, rng=rng, **common)
    with pytest.raises(ValueError, match="sensitive_features: found"):
        dpf.private_certificate(X @ w, y, epsilon=1.0, **{**common, "sensitive_features": y})
    with pytest.raises(ValueError, match="scores: found"):
        dpf.private_certificate(np.zeros((200, 2)), y, epsilon=1.0, **common)
