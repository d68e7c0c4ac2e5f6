"""Equalized odds and its guarantees against enumeration, at their edges, and with inputs of different lengths."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.svm import SVC

import dpfair_lib as dpf
from dpfair_lib.svm.equalized_odds_program import OddsProgram, certify, expected_errors, lower_bound, solve
from dpfair_lib.svm.guarantees import gap_excess
from dpfair_lib.svm.perturbation import flippable_share, joint_counts


@pytest.mark.parametrize("groups", [2, 3])
def test_the_lower_bound_is_the_least_lagrangian_over_all_rules(groups):
    rng = np.random.default_rng(groups)
    pairs = tuple(itertools.combinations(range(groups), 2))
    for _ in range(20):
        counts = rng.integers(0, 30, size=(2, groups, 2)).astype(float)
        program = OddsProgram(counts, pairs, rng.uniform(0.01, 0.3, (2, len(pairs))))
        above, below = multipliers = rng.exponential(10, size=(2, 2, len(pairs)))
        found = []
        for corner in itertools.product(
            [0.0, 1.0], repeat=2 * groups
        ):  # a linear function is least at a corner
            rule = np.array(corner).reshape(2, groups)
            gaps = program.differences(rule)
            price = (above * (gaps - program.limits) + below * (-gaps - program.limits)).sum()
            found.append(expected_errors(counts, rule) + price)
        assert lower_bound(program, multipliers) == pytest.approx(min(found), rel=1e-12, abs=1e-9)


def test_a_violation_is_how_far_the_worst_pair_is_beyond_its_limit_or_nothing():
    counts = np.array([[[9.0, 1.0], [8.0, 2.0]], [[2.0, 8.0], [4.0, 6.0]]])
    rule = np.array([[0.0, 0.0], [1.0, 1.0]])
    gaps = abs(OddsProgram(counts, ((0, 1),), np.zeros((2, 1))).differences(rule))
    for limit, due in ((0.0, gaps.max()), (gaps.min(), gaps.max() - gaps.min()), (1.0, 0.0)):
        program = OddsProgram(counts, ((0, 1),), np.full((2, 1), limit))
        assert certify(program, rule, np.zeros((2, 2, 1))).violation == pytest.approx(due, abs=1e-15)
    assert solve(OddsProgram(counts, ((0, 1),), np.ones((2, 1)))).violation == 0


@pytest.mark.parametrize("radius", [Fraction(0), Fraction(1), Fraction(7, 3)])
def test_the_excess_is_given_right_up_to_twice_the_radius(radius):
    for more in (Fraction(1, 1000), Fraction(1), 2 * radius + Fraction(1, 7)):
        assert gap_excess(2 * radius + more, radius) == 4 * radius / more
    with pytest.raises(ValueError, match="expected more than twice the radius"):
        gap_excess(2 * radius, radius)


@pytest.mark.parametrize("short", ["predicted", "y", "sensitive_features"])
def test_counts_want_inputs_of_one_length(short):
    given = {"predicted": [0, 1, 1, 0], "y": [0, 1, 0, 0], "sensitive_features": ["f", "m", "f", "m"]}
    counts, groups = joint_counts(**given, classes=[0, 1])
    assert groups == ["f", "m"]
    assert counts.tolist() == [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]
    given[short] = given[short][:3]
    with pytest.raises(ValueError, match=rf"lengths differ: .*{short} has 3"):
        joint_counts(**given, classes=[0, 1])


@pytest.mark.parametrize("short", ["y_pred", "sensitive_features"])
def test_predictions_want_inputs_of_one_length(short):
    y_pred, y_true, group = np.arange(12) % 2, np.arange(12) // 2 % 2, np.arange(12) // 6
    rule = dpf.EqualizedOddsPostprocessor(gamma=0.1).fit(y_pred, y_true, sensitive_features=group)
    given = {"y_pred": y_pred, "sensitive_features": group}
    given[short] = given[short][:7]
    with pytest.raises(ValueError, match=rf"lengths differ: .*{short} has 7"):
        rule.predict_proba(**given)


def test_where_the_noise_can_move_everyone_the_flippable_share_is_the_largest_cell():
    rng = np.random.default_rng(3)
    y, group = np.arange(20) % 2, (np.arange(20) < 13).astype(int)
    svc = SVC(kernel="linear").fit(rng.normal(size=(20, 2)) + y[:, None], y)
    X = rng.normal(size=(20, 2)) + 1.0
    share = flippable_share(svc, X, y, sensitive_features=group, epsilon=1e-6, failure=0.05)
    cells = [np.sum((group == a) & (y == label)) for a in (0, 1) for label in (0, 1)]
    assert share == max(cells) / 20 > min(cells) / 20
