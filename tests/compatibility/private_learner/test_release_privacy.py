import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from dpfair_lib.compatibility.private_learner.choice_law import (
    inverse_scale,
    learner_delta,
    printed_delta,
    shift,
)
from dpfair_lib.compatibility.private_learner.release_privacy import release_delta, release_epsilon
from dpfair_lib.privacy import LaplaceMechanism

LOSSES = ([0.0, 0.4, 0.2], [0.4, 0.0, 0.1])


def by_quad(losses, smallest, n, *, at, epsilon, delta, rule):
    """The integral from its definition: softmax of the losses, Laplace densities, an adaptive rule."""
    centers = [m - shift(epsilon, delta, rule) for m in smallest]

    def excess(noisy):
        densities = []
        for loss, center in zip(losses, centers, strict=True):
            weights = np.exp(
                -float(inverse_scale(noisy, n, rule)) * epsilon / 2 * (np.array(loss) - min(loss))
            )
            law = weights / weights.sum()
            densities.append(epsilon / 2 * math.exp(-epsilon * abs(noisy - center)) * law)
        return float(np.maximum(densities[0] - math.exp(at) * densities[1], 0).sum())

    low, high = min(centers) - 40 / epsilon, max(centers) + 40 / epsilon
    cuts = sorted({*np.linspace(low, high, 300), *centers, 1.0})
    return sum(quad(excess, *ends, limit=200, epsabs=1e-13)[0] for ends in itertools.pairwise(cuts))


@pytest.mark.parametrize(
    ("smallest", "n", "epsilon", "delta", "rule"),
    [
        ((3, 2), 16, 0.5, 1e-3, "repaired"),
        ((1, 0), 16, 2.5, 0.1, "repaired"),
        ((2, 1), 400, 1.0, printed_delta(400), "printed"),
    ],
)
def test_it_is_the_integral_of_its_definition(smallest, n, epsilon, delta, rule):
    settings = {"epsilon": epsilon, "delta": delta, "rule": rule}
    for at in (0.3, 2 * epsilon):
        found = release_delta(LOSSES, smallest, n, at=at, **settings)
        assert found == pytest.approx(by_quad(LOSSES, smallest, n, at=at, **settings), rel=1e-8, abs=1e-13)
        assert found >= learner_delta(LOSSES, smallest, n, at=at, **settings) - 1e-13


def test_one_hypothesis_leaves_the_noisy_count_alone():
    for at in (0.0, 0.4, 0.99, 1.0, 3.0):
        found = release_delta(([0.1], [0.9]), (7, 6), 30, at=at, epsilon=1.0, delta=1e-4)
        assert found == pytest.approx(LaplaceMechanism(1.0, 1.0).delta(at), abs=1e-13)


def test_no_count_of_equal_hypotheses_changes_anything():
    split = release_delta(([0.1, 0.1, 0.6], [0.2, 0.2, 0.5]), (4, 3), 20, at=0.8, epsilon=0.7, delta=1e-3)
    one = release_delta(([0.1, 0.6], [0.2, 0.5]), (4, 3), 20, at=0.8, epsilon=0.7, delta=1e-3, copies=[2, 1])
    assert split == pytest.approx(one, rel=1e-12)


def test_classes_along_leading_axes_are_judged_one_by_one():
    stacked = tuple(np.array([loss, loss[::-1]]) for loss in LOSSES)
    together = release_delta(stacked, (3, 2), 16, at=0.4, epsilon=0.5, delta=1e-3)
    assert together.shape == (2,)
    for row, found in enumerate(together):
        alone = release_delta((stacked[0][row], stacked[1][row]), (3, 2), 16, at=0.4, epsilon=0.5, delta=1e-3)
        assert found == pytest.approx(alone, rel=1e-10)


def test_epsilon_and_delta_belong_together():
    settings = {"epsilon": 0.5, "delta": 1e-3}
    needed = release_epsilon(LOSSES, (3, 2), 16, to=1e-5, **settings)
    assert release_delta(LOSSES, (3, 2), 16, at=needed, **settings) == pytest.approx(1e-5, rel=1e-4)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="epsilon: found 0"):
        release_delta(LOSSES, (3, 2), 16, at=1.0, epsilon=0, delta=1e-3)
    with pytest.raises(ValueError, match="at: found nan"):
        release_delta(LOSSES, (3, 2), 16, at=math.nan, epsilon=1.0, delta=1e-3)
    with pytest.raises(ValueError, match="to: found 0"):
        release_epsilon(LOSSES, (3, 2), 16, to=0, epsilon=1.0, delta=1e-3)
