from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.central.flips import fit_flip_rule, interpolate


@pytest.mark.parametrize(
    "weights", [np.ones(4), np.array([0.5, 0.5, 2.0, 2.0]), np.array([Fraction(1, 3)] * 4)]
)
def test_a_group_at_the_common_rate_flips_nobody_whatever_its_scores(weights):
    labels = np.array([1, 0, 1, 0])
    rule = fit_flip_rule(labels, np.array([0.0, 1.0, 2.0, 3.0]), weights, Fraction(1, 2))
    assert rule.label in (0, 1)
    for scores in (np.array([-1e308, 0.0, 5.0, 1e308]), np.zeros(4)):
        assert (rule.flip_probability(labels, scores) == 0).all()
        assert (rule.flip_probability(1 - labels, scores) == 0).all()


@pytest.mark.parametrize("label", [0, 1])
def test_a_group_with_nobody_to_flip_flips_nobody(label):
    rule = fit_flip_rule(np.full(3, label), np.arange(3.0), np.ones(3), Fraction(label))
    assert rule.label in (0, 1)
    assert (rule.flip_probability(np.full(3, label), np.array([-1.0, 0.5, 9.0])) == 0).all()


def test_interpolation_is_linear_between_the_points():
    x, y = np.array([0.0, 1.0, 3.0]), np.array([1.0, 3.0, 2.0])
    assert interpolate(np.array([0.0, 0.5, 1.0, 2.0, 3.0]), x, y).tolist() == [1.0, 2.0, 3.0, 2.5, 2.0]
