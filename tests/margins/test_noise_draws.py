import math

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.noise_draws import noisy_fairness
from dpfair_lib.margins.projections import (
    order_statistic,
)


def levels(scores, y, s, notion):
    return np.array(
        list(dpf.group_fairness(y, (scores > 0).astype(int), sensitive_features=s, notion=notion).values())
    )


def left_out(statistic, values, zeta):
    """How many of exchangeable values are above the bound made of the others, exactly."""
    return sum(value > statistic(np.delete(values, at), zeta) for at, value in enumerate(values))


@pytest.mark.parametrize("zeta", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("draws", [99, 100, 137, 500])
def test_order_statistic_over_exchangeable_values(zeta, draws):
    values = np.random.default_rng(draws).permutation(draws + 1).astype(float)
    assert left_out(order_statistic, values, zeta) == math.floor(zeta * (draws + 1) + 1e-9)


@pytest.mark.parametrize(
    "fault",
    [
        lambda values, zeta: np.quantile(values, 1 - zeta),  # interpolated among the draws alone
        lambda values, zeta: np.sort(values)[math.ceil((1 - zeta) * len(values)) - 2],  # one too low
    ],
)
def test_other_order_statistics_fail(fault):
    values = np.random.default_rng(0).permutation(100).astype(float)
    assert left_out(fault, values, 0.01) > 0.01 * 100


@pytest.mark.parametrize("notion", NOTIONS)
def test_noisy_levels_are_the_notions(notion):
    rng = np.random.default_rng(4)
    X, y, s = rng.normal(size=(300, 3)), rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    w = np.array([1.0, -0.4, 0.2])
    found = noisy_fairness(w, y, X=X, sensitive_features=s, sigma=0.5, draws=3, rng=np.random.default_rng(9))[
        notion
    ]
    noise = 0.5 * np.random.default_rng(9).normal(size=(3, 3))
    for level, vector in zip(found, [w, *(w + noise)], strict=True):
        assert level == pytest.approx(levels(X @ vector, y, s, notion), abs=1e-12)


def test_one_draw_is_enough_none_is_refused_and_only_the_notions_asked_for_are_there():
    rng = np.random.default_rng(0)
    given = {
        "y": rng.integers(0, 2, 60),
        "X": rng.normal(size=(60, 2)),
        "sensitive_features": rng.integers(0, 2, 60),
    }
    more = {"sigma": 0.5, "rng": rng}
    found = noisy_fairness([1.0, 2.0], **given, **more, draws=1, notions=(NOTIONS[0],))
    assert [*found] == [NOTIONS[0]]
    assert found[NOTIONS[0]].shape[0] == 2
    assert [*noisy_fairness([1.0, 2.0], **given, **more, draws=1)] == [*NOTIONS]
    with pytest.raises(ValueError, match="draws: found 0"):
        noisy_fairness([1.0, 2.0], **given, **more, draws=0)
