import itertools
from fractions import Fraction

import fairlearn.metrics
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

import dpfair_lib.fairness
from dpfair_lib import demographic_parity_difference
from dpfair_lib.fairness import (
    accuracy_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
    label_rates,
    mean_equalized_odds_difference,
)

THIRD = Fraction(1, 3)
EVERY = (
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
    mean_equalized_odds_difference,
    accuracy_parity_difference,
)


def rows(seed, n, k):
    """Random labels, predictions and groups without an empty cell."""
    rng = np.random.default_rng(seed)
    n += 2 * k
    y, pred, groups = rng.integers(0, 2, size=n), rng.integers(0, 2, size=n), rng.integers(0, k, size=n)
    y[: 2 * k], groups[: 2 * k] = np.tile([0, 1], k), np.repeat(np.arange(k), 2)
    return y, pred, groups


@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(0, 50), st.integers(1, 4))
def test_equal_to_fairlearn_on_labels_with_weights_and_both_methods(weighted, method, seed, n, k):
    y, pred, groups = rows(seed, n, k)
    weight = np.random.default_rng(seed).uniform(0.1, 3, size=len(y)) if weighted else None
    same = {"sensitive_features": groups, "method": method, "sample_weight": weight}
    for metric in (
        "demographic_parity_difference", "equal_opportunity_difference", "equalized_odds_difference"
    ):  # fmt: skip
        for more in (
            [{}] if metric != "equalized_odds_difference" else [{"agg": "worst_case"}, {"agg": "mean"}]
        ):
            ours = getattr(dpfair_lib.fairness, metric)(y, pred, **same, **more)
            theirs = getattr(fairlearn.metrics, metric)(y, pred, **same, **more)
            assert ours == pytest.approx(theirs, abs=1e-12), metric


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(0, 50), st.integers(1, 4))
def test_accuracy_is_fairlearns_derived_metric(seed, n, k):
    y, pred, groups = rows(seed, n, k)
    ours = accuracy_parity_difference(y, pred, sensitive_features=groups)
    theirs = fairlearn.metrics.accuracy_score_difference(y, pred, sensitive_features=groups)
    assert ours == pytest.approx(theirs, abs=1e-12)


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
    assert demographic_parity_difference(y, pred, sensitive_features=groups) == Fraction(1, 14)
    assert equal_opportunity_difference(y, pred, sensitive_features=groups) == Fraction(4, 21)
    assert mean_equalized_odds_difference(y, pred, sensitive_features=groups) == Fraction(11, 42)
    assert accuracy_parity_difference(y, pred, sensitive_features=groups) == Fraction(11, 42)
    assert isinstance(accuracy_parity_difference(y, pred, sensitive_features=groups), Fraction)


def test_difference_of_expected_rates_is_at_most_the_expected_difference():
    y, groups = np.array([1, 1, 0, 1, 0]), np.array([0, 0, 0, 1, 1])
    pred = np.array([THIRD, Fraction(1, 2), Fraction(1, 5), Fraction(5, 12), Fraction(1, 2)], dtype=object)
    for metric in EVERY:
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
    for metric in EVERY:
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


def test_to_overall_of_the_mean_of_both_rates_is_its_definition():
    y, pred, groups = rows(3, 30, 3)
    distances = np.zeros(3)
    for label in (0, 1):
        rates = list(label_rates(y, pred, sensitive_features=groups, label=label).values())
        distances += abs(np.array(rates) - pred[y == label].mean()) / 2
    ours = mean_equalized_odds_difference(y, pred, sensitive_features=groups, method="to_overall")
    assert ours == pytest.approx(distances.max(), abs=1e-12)
    assert ours < mean_equalized_odds_difference(y, pred, sensitive_features=groups)


def test_accuracy_with_weights_and_to_overall_by_hand():
    y, pred, groups = [1, 1, 0, 0], np.array([1, 0, 0, Fraction(1)]), ["a", "a", "b", "b"]
    weight = [Fraction(3), Fraction(1), Fraction(1), Fraction(1)]
    same = {"sensitive_features": groups, "sample_weight": np.array(weight, dtype=object)}
    assert accuracy_parity_difference(y, pred, **same) == Fraction(1, 4)  # 3/4 and 1/2
    assert accuracy_parity_difference(y, pred, **same, method="to_overall") == Fraction(1, 6)  # overall 2/3
    assert mean_equalized_odds_difference([1, 0, 1, 0], pred, **same) == Fraction(1, 1)


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
def test_labels_may_be_any_two_and_groups_several_columns(metric):
    y, pred, groups = rows(7, 40, 4)
    expected = metric(y, pred, sensitive_features=groups)
    frame = pd.DataFrame({"sex": groups % 2, "age": np.where(groups > 1, "old", "young")})
    words = np.array(["no", "yes"])
    for names, positive in ((words, "yes"), (np.array([-1, 1]), 1), (words.astype(object), "yes")):
        found = metric(names[y], names[pred], sensitive_features=frame, pos_label=positive)
        assert found == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match=r"y_\w+: found entries that are not numbers, such as '(no|yes)'"):
        metric(words[y], words[pred], sensitive_features=frame)


def test_the_other_label_may_be_the_positive_one():
    y, pred, groups = rows(1, 40, 2)
    same = {"sensitive_features": groups}
    rates = label_rates(y, pred, **same, label=0)
    assert equal_opportunity_difference(y, pred, **same, pos_label=0) == pytest.approx(
        abs(rates[0] - rates[1])
    )


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
def test_calls_of_the_old_form_raise(metric):
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y_pred'"):
        metric([0, 1], sensitive_features=[0, 1])
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'sensitive_features'"):
        metric([0, 1], [0, 1])
    with pytest.raises(TypeError, match="pred"):
        metric(pred=[0, 1], sensitive_features=[0, 1])


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
def test_rows_with_other_labels_are_refused(metric):
    y, pred, groups = (pd.Series(column) for column in rows(2, 20, 2))
    assert metric(y, pred, sensitive_features=groups) >= 0
    with pytest.raises(ValueError, match="y_pred: found other row labels than those of y_true"):
        metric(y, pred.iloc[::-1], sensitive_features=groups)
    with pytest.raises(ValueError, match="sample_weight: found other row labels"):
        metric(y, pred, sensitive_features=groups, sample_weight=pred.sample(frac=1, random_state=0))


def test_labels_are_not_needed_for_demographic_parity_but_have_to_fit():
    same = {"sensitive_features": [0, 0, 1, 1]}
    assert demographic_parity_difference(None, [1, 0, 1, 1], **same) == 0.5
    assert demographic_parity_difference([7, 8, 9, 10], [1, 0, 1, 1], **same) == 0.5
    with pytest.raises(ValueError, match="lengths differ"):
        demographic_parity_difference([1], [1, 0, 1, 1], **same)
    with pytest.raises(ValueError, match="y_true: found None, expected labels"):
        accuracy_parity_difference(None, [1, 0, 1, 1], **same)


def test_unknown_choices_are_refused():
    y, pred, groups = rows(2, 20, 2)
    for metric in EVERY:
        with pytest.raises(ValueError, match="method: found 'overall', expected one of"):
            metric(y, pred, sensitive_features=groups, method="overall")
    with pytest.raises(ValueError, match="agg: found 'max', expected one of"):
        equalized_odds_difference(y, pred, sensitive_features=groups, agg="max")


def test_in_a_frame_of_fairlearn_and_in_a_scorer_of_scikit_learn():
    y, pred, groups = rows(5, 400, 2)
    others = np.random.default_rng(9).integers(0, 2, size=len(y))
    frame = fairlearn.metrics.MetricFrame(
        metrics=equal_opportunity_difference, y_true=y, y_pred=pred, sensitive_features=others,
        sample_params={"sensitive_features": groups},
    )  # fmt: skip
    for value in (0, 1):
        mine = others == value
        expected = equal_opportunity_difference(y[mine], pred[mine], sensitive_features=groups[mine])
        assert frame.by_group[value] == pytest.approx(expected)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(demographic_parity_difference, greater_is_better=False)
        scorer.set_score_request(sensitive_features=True)
        scores = cross_val_score(
            DummyClassifier(strategy="uniform", random_state=0), groups[:, None], y, scoring=scorer, cv=3,
            params={"sensitive_features": groups},
        )  # fmt: skip
    assert (scores < 0).all()
    assert (scores > -0.5).all()
