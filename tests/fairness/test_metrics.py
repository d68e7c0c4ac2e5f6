import itertools
from fractions import Fraction

import fairlearn.metrics
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import demographic_parity_difference
from dpfair_lib.fairness import (
    accuracy_parity_difference,
    equal_opportunity_difference,
    label_rates,
    mean_equalized_odds_difference,
)

THIRD = Fraction(1, 3)
OF_LABELS = (equal_opportunity_difference, mean_equalized_odds_difference, accuracy_parity_difference)


def rows(seed, n, k):
    """Random labels, predictions and groups without an empty cell."""
    rng = np.random.default_rng(seed)
    n += 2 * k
    y, pred, groups = rng.integers(0, 2, size=n), rng.integers(0, 2, size=n), rng.integers(0, k, size=n)
    y[: 2 * k], groups[: 2 * k] = np.tile([0, 1], k), np.repeat(np.arange(k), 2)
    return y, pred, groups


@given(st.integers(0, 10_000), st.integers(0, 50), st.integers(1, 4))
def test_equal_to_fairlearn_on_labels(seed, n, k):
    y, pred, groups = rows(seed, n, k)
    for ours, theirs in [
        (demographic_parity_difference(pred, sensitive_features=groups), "demographic_parity_difference"),
        (equal_opportunity_difference(y, pred, sensitive_features=groups), "equal_opportunity_difference"),
        (accuracy_parity_difference(y, pred, sensitive_features=groups), "accuracy_score_difference"),
    ]:
        expected = getattr(fairlearn.metrics, theirs)(y, pred, sensitive_features=groups)
        assert ours == pytest.approx(expected, abs=1e-12), theirs


@given(st.integers(0, 10_000), st.integers(0, 50), st.integers(1, 5))
def test_mean_equalized_odds_against_its_definition_and_fairlearns_two(seed, n, k):
    y, pred, groups = rows(seed, n, k)
    ours = mean_equalized_odds_difference(y, pred, sensitive_features=groups)
    tpr, fpr = (list(label_rates(y, pred, sensitive_features=groups, label=i).values()) for i in (1, 0))
    pairs = itertools.product(range(k), repeat=2)
    defined = max((abs(tpr[a] - tpr[b]) + abs(fpr[a] - fpr[b])) / 2 for a, b in pairs)
    assert ours == pytest.approx(defined, abs=1e-12)
    worst, mean = (
        fairlearn.metrics.equalized_odds_difference(y, pred, sensitive_features=groups, agg=agg)
        for agg in ("worst_case", "mean")
    )
    assert worst / 2 - 1e-12 <= ours <= worst + 1e-12
    most = {1: 1, 2: 1, 3: 1.5}.get(k, 2)  # how much larger their mean can be
    assert mean / most - 1e-12 <= ours <= mean + 1e-12


@pytest.mark.parametrize(
    ("tpr", "fpr", "ours", "their_mean"),
    [
        ([0, 1], [0, 1], 1, 1),
        ([0, 3, 1], [0, 1, 3], Fraction(2, 3), 1),  # in thirds
        ([0, 2, 1, 1], [1, 1, 0, 2], Fraction(1, 2), 1),  # in halves
    ],
)
def test_their_mean_can_be_as_much_larger_as_stated(tpr, fpr, ours, their_mean):
    k, unit = len(tpr), Fraction(1, max(tpr))
    pred = np.array([rate * unit for rate in tpr + fpr], dtype=object)
    y, groups = [1] * k + [0] * k, list(range(k)) * 2
    assert mean_equalized_odds_difference(y, pred, sensitive_features=groups) == ours
    assert (max(tpr) - min(tpr) + max(fpr) - min(fpr)) * unit / 2 == their_mean


def test_probabilities_give_the_difference_of_expected_rates():
    pred = np.array([THIRD, Fraction(2, 3), Fraction(1, 7), 1], dtype=object)
    y, groups = [1, 0, 1, 0], ["a", "a", "b", "b"]
    assert demographic_parity_difference(pred, sensitive_features=groups) == Fraction(1, 14)
    assert equal_opportunity_difference(y, pred, sensitive_features=groups) == Fraction(4, 21)
    assert mean_equalized_odds_difference(y, pred, sensitive_features=groups) == Fraction(11, 42)
    assert accuracy_parity_difference(y, pred, sensitive_features=groups) == Fraction(11, 42)
    assert isinstance(accuracy_parity_difference(y, pred, sensitive_features=groups), Fraction)


def test_difference_of_expected_rates_is_at_most_the_expected_difference():
    y, groups = np.array([1, 1, 0, 1, 0]), np.array([0, 0, 0, 1, 1])
    pred = np.array([THIRD, Fraction(1, 2), Fraction(1, 5), Fraction(5, 12), Fraction(1, 2)], dtype=object)
    for metric in (lambda _, *rest, **kw: demographic_parity_difference(*rest, **kw), *OF_LABELS):
        mean = Fraction(0)
        for labels in itertools.product((Fraction(0), Fraction(1)), repeat=5):
            chance = Fraction(1)
            for drawn, p in zip(labels, pred, strict=True):
                chance *= p if drawn else 1 - p
            mean += chance * metric(y, np.array(labels, dtype=object), sensitive_features=groups)
        assert metric(y, pred, sensitive_features=groups) < mean
    # and both groups' true positive rates are 5/12 in expectation
    assert equal_opportunity_difference(y, pred, sensitive_features=groups) == 0


def test_one_group_has_no_gap():
    assert demographic_parity_difference([0, 1, 1], sensitive_features=["a"] * 3) == 0
    for metric in OF_LABELS:
        assert metric([0, 1, 1], [0, 0, 1], sensitive_features=["a"] * 3) == 0


def test_a_group_without_positives_is_refused_where_fairlearn_counts_rate_0():
    y, pred, groups = [1, 0, 0], [1, 0, 1], [0, 0, 1]
    assert fairlearn.metrics.equal_opportunity_difference(y, pred, sensitive_features=groups) == 1
    with pytest.raises(ValueError, match="y_true: found no label 1 in group 1"):
        equal_opportunity_difference(y, pred, sensitive_features=groups)
    with pytest.raises(ValueError, match="y_true: found no label 1 in group 1"):
        mean_equalized_odds_difference(y, pred, sensitive_features=groups)
    assert accuracy_parity_difference(y, pred, sensitive_features=groups) == 1


@pytest.mark.parametrize(("label", "missing"), [(0, 1), (1, 0)])
def test_labels_of_one_class_are_refused_where_a_rate_needs_both(label, missing):
    y = [label] * 4
    arguments = {"sensitive_features": [0, 0, 1, 1]}
    with pytest.raises(ValueError, match=f"y_true: found no label {missing}, expected at least one"):
        mean_equalized_odds_difference(y, [0, 1, 1, 1], **arguments)
    if label == 1:  # nothing is missing
        assert equal_opportunity_difference(y, [0, 1, 1, 1], **arguments) == 0.5
    else:
        with pytest.raises(ValueError, match="y_true: found no label 1, expected at least one"):
            equal_opportunity_difference(y, [0, 1, 1, 1], **arguments)
    assert accuracy_parity_difference(y, [0, 1, 1, 1], **arguments) == 0.5
