from fractions import Fraction

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS, fairness_levels, form_coefficients


def rows(seed, labels=2, groups=2, n=200):
    rng = np.random.default_rng(seed)
    cells = labels * groups
    y = np.concatenate([np.repeat(np.arange(labels), groups), rng.integers(0, labels, n - cells)])
    s = np.concatenate([np.tile(np.arange(groups), labels), rng.integers(0, groups, n - cells)])
    return y, rng.integers(0, labels, n), s


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_form_and_definition_agree_on_rows(notion, groups):
    y, pred, s = rows(groups, groups=groups)
    form = dpf.fairness_coefficients(y, sensitive_features=s, notion=notion)
    levels = dpf.group_fairness(y, pred, sensitive_features=s, notion=notion)
    assert tuple(levels) == form.groups
    if notion == "accuracy":
        accuracies = [np.mean(y == pred)]
    elif notion == "accuracy_parity":
        accuracies = [np.mean(y[s == r] == pred[s == r]) for r in form.groups]
    else:
        accuracies = [np.mean(pred[(y == label) & (s == r)] == label) for label, r in form.groups]
    assert form.levels(accuracies) == pytest.approx(list(levels.values()), abs=1e-12)


def test_factors_against_the_usual_gaps():
    y, pred, s = rows(5)
    mean = {
        n: np.mean(np.abs(list(dpf.group_fairness(y, pred, sensitive_features=s, notion=n).values())))
        for n in NOTIONS
    }
    two = {"sensitive_features": s}
    assert mean["demographic_parity"] == pytest.approx(dpf.demographic_parity_difference(y, pred, **two) / 2)
    assert mean["accuracy_parity"] == pytest.approx(dpf.accuracy_parity_difference(y, pred, **two) / 2)
    assert mean["equalized_odds"] == pytest.approx(dpf.mean_equalized_odds_difference(y, pred, **two) / 2)
    assert mean["equal_opportunity"] == pytest.approx(dpf.equal_opportunity_difference(y, pred, **two) / 4)
    assert mean["accuracy"] == pytest.approx(np.mean(y == pred))


def test_names_of_labels_and_groups_and_labels_that_are_never_true():
    y, s = ["no", "yes", "no", "yes"], ["a", "a", "b", "b"]
    levels = dpf.group_fairness(
        y, ["maybe", "yes", "no", "no"], sensitive_features=s, notion="equalized_odds"
    )
    assert levels == {("no", "a"): -0.5, ("no", "b"): 0.5, ("yes", "a"): 0.5, ("yes", "b"): -0.5}
    assert dpf.group_fairness(y, y, sensitive_features=s, notion="accuracy") == {"everyone": 1.0}


def test_predictions_of_another_type_are_named():
    with pytest.raises(ValueError, match="y_pred: found labels such as 'no', expected"):
        dpf.group_fairness([0, 1], ["no", "yes"], sensitive_features=[0, 0], notion="accuracy")


def test_fractions_stay_exact():
    joint = np.array([[Fraction(1, 6), Fraction(1, 3)], [Fraction(1, 4), Fraction(1, 4)]])
    constant, matrix = form_coefficients(joint, "demographic_parity", (0, 1))
    assert constant.tolist() == [Fraction(1, 10), Fraction(-1, 14), Fraction(-1, 10), Fraction(1, 14)]
    assert matrix[0].tolist() == [Fraction(7, 30), Fraction(-1, 3), Fraction(-7, 20), Fraction(1, 4)]
    table = np.zeros((2, 2, 2), dtype=int) + 1
    assert fairness_levels(table, "accuracy", None).tolist() == [0.5]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"notion": "parity"}, "notion: found 'parity'"),
        ({"y_true": [0, 1, 0, 0]}, "no row of group 1 with label 1"),
        ({"desirable": 3, "notion": "equal_opportunity"}, "desirable: found 3"),
        ({"desirable": 1}, "desirable: found 1 with notion='equalized_odds'"),
        ({"sensitive_features": [0, 1]}, "lengths differ"),
        ({"sensitive_features": [0, 0, 1, None]}, "missing value"),
    ],
)
def test_bad_input_is_named(change, message):
    call = {"y_true": [0, 1, 0, 1], "sensitive_features": [0, 0, 1, 1], "notion": "equalized_odds"} | change
    with pytest.raises(ValueError, match=message):
        dpf.fairness_coefficients(call.pop("y_true"), **call)


def test_demographic_parity_has_a_form_for_two_labels_only():
    y, pred, s = rows(3, labels=3)
    assert len(dpf.group_fairness(y, pred, sensitive_features=s, notion="demographic_parity")) == 6
    with pytest.raises(ValueError, match="found 3 labels, expected two"):
        dpf.fairness_coefficients(y, sensitive_features=s, notion="demographic_parity")
