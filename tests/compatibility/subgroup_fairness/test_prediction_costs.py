from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.compatibility.subgroup_fairness.prediction_costs import learner_costs, subgroup_payoff


@given(st.data())
def test_payoff_is_linear_with_these_costs(data):
    n, g = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 3))
    bits = st.lists(st.integers(0, 1), min_size=n, max_size=n)
    labels = data.draw(bits.filter(lambda y: 0 in y))
    groups = data.draw(st.lists(bits, min_size=g, max_size=g))
    mu = np.array([Fraction(m, 3) for m in data.draw(st.lists(st.integers(-20, 20), min_size=g, max_size=g))])
    h = np.array([Fraction(p, 4) for p in data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))])
    vector = learner_costs(labels, groups, mu)
    assert vector @ h + Fraction(sum(labels), n) == subgroup_payoff(labels, groups, mu, h)
    assert sum(abs(vector)) <= 1 + sum(abs(mu)) / 2


def test_costs_of_floats():
    assert learner_costs([1, 0, 0], [[0, 1, 0]], [2.0]) == pytest.approx([-1 / 3, 0, 2 / 3])


@pytest.mark.parametrize(
    ("labels", "groups", "match"),
    [
        ([1, 1], [[0, 1]], "labels: found no label 0"),
        ([1, 0], [[0, 1, 1]], "groups: found shape"),
        ([1, 0], [[0, 1], [1, 1]], "groups: found shape"),
    ],
)
def test_what_cannot_be_is_refused(labels, groups, match):
    with pytest.raises(ValueError, match=match):
        learner_costs(labels, groups, [1.0])


def test_payoff_needs_a_false_positive_rate():
    with pytest.raises(ValueError, match="labels: found no label 0"):
        subgroup_payoff([1], [[1]], [1.0], [0])
