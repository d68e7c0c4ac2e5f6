import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpfair_lib import FairPostprocessor, demographic_parity_difference, selection_rates


def example(seed=0, n=400):
    rng = np.random.default_rng(seed)
    groups = rng.choice(["one", "two"], size=n, p=[0.3, 0.7])
    scores = rng.beta(2 + 2 * (groups == "two"), 3, size=n)
    y_true = (rng.uniform(size=n) < scores).astype(int)
    return (scores > 0.5).astype(int), groups, y_true, scores


def expected_accuracy(fair, y_pred, groups, y_true, scores=None):
    positive = fair.predict_proba(y_pred, sensitive_features=groups, scores=scores)[:, 1]
    return np.where(y_true == 1, positive, 1 - positive).mean()


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(4, 60), st.sampled_from(["midpoint", "accuracy"]), st.booleans())
def test_parity_and_least_change_on_the_fitted_rows(seed, n, rate, by_score):
    rng = np.random.default_rng(seed)
    groups = np.append(rng.integers(0, 2, size=n), [0, 1])
    y_pred, y_true = rng.integers(0, 2, size=(2, n + 2))
    y_true[:2] = 0, 1  # labels of one kind are refused
    scores = rng.integers(-3, 4, size=n + 2) if by_score else None
    fair = FairPostprocessor(rate).fit(y_pred, sensitive_features=groups, y_true=y_true, scores=scores)
    positive = fair.predict_proba(y_pred, sensitive_features=groups, scores=scores)[:, 1]
    rates = selection_rates(positive, sensitive_features=groups)
    assert rates[0] == pytest.approx(fair.target_rate_, abs=1e-12)
    assert rates[1] == pytest.approx(fair.target_rate_, abs=1e-12)
    change = sum(abs(positive - y_pred)[groups == group].mean() for group in (0, 1))
    gap = demographic_parity_difference(y_true, y_pred, sensitive_features=groups)
    assert change == pytest.approx(gap, abs=1e-12)


def test_most_accurate_rate_beats_every_other_rate():
    y_pred, groups, y_true, scores = example()
    for score in (None, scores):
        best = FairPostprocessor("accuracy").fit(
            y_pred, sensitive_features=groups, y_true=y_true, scores=score
        )
        top = expected_accuracy(best, y_pred, groups, y_true, score)
        low, high = sorted(best.rates_.values())
        for rate in np.linspace(low, high, 41):
            other = FairPostprocessor(rate).fit(y_pred, sensitive_features=groups, scores=score)
            assert expected_accuracy(other, y_pred, groups, y_true, score) <= top + 1e-12


def test_of_equally_accurate_rates_the_one_nearest_the_midpoint_is_taken():
    # every flip is as often right as wrong, so that all common rates from 0 to 1 are equally accurate
    y_pred, groups = np.repeat([1, 0], 4), np.repeat([0, 1], 4)
    fair = FairPostprocessor("accuracy").fit(y_pred, sensitive_features=groups, y_true=[0, 1] * 4)
    assert fair.target_rate_ == 0.5


def test_scores_help_on_this_example():
    y_pred, groups, y_true, scores = example()
    plain = FairPostprocessor().fit(y_pred, sensitive_features=groups)
    by_score = FairPostprocessor().fit(y_pred, sensitive_features=groups, scores=scores)
    assert (
        expected_accuracy(by_score, y_pred, groups, y_true, scores)
        > expected_accuracy(plain, y_pred, groups, y_true) + 0.01
    )


def test_close_scores_are_told_apart():
    y_pred, groups = np.repeat([1, 0], 4), np.repeat([0, 1], 4)
    scores = 0.5 + 1e-9 * np.arange(8)
    fair = FairPostprocessor(0.5).fit(y_pred, sensitive_features=groups, scores=scores)
    positive = fair.predict_proba(y_pred, sensitive_features=groups, scores=scores)[:, 1]
    np.testing.assert_array_equal(positive, [0, 0, 1, 1, 0, 0, 1, 1])


def test_rounding_never_leaves_the_candidates():
    # rates such as 1/49 do not add up exactly in floats: 49 · (1/49) < 1
    for n in range(2, 200):
        for y_pred, rate in ((np.r_[np.ones(n), 0], 0.0), (np.r_[np.zeros(n), 1], 1.0)):
            groups = np.r_[np.zeros(n), 1]
            fair = FairPostprocessor(rate).fit(y_pred, sensitive_features=groups, scores=np.arange(n + 1) / 7)
            positive = fair.predict_proba(y_pred, sensitive_features=groups, scores=np.arange(n + 1) / 7)[
                :, 1
            ]
            np.testing.assert_allclose(positive, rate, atol=1e-12)
            assert ((positive >= 0) & (positive <= 1)).all()


@pytest.mark.parametrize("selected", [0, 1])
def test_both_groups_at_an_edge_change_nothing(selected):
    y_pred, groups = np.full(10, selected), np.repeat([0, 1], 5)
    scores = np.linspace(-1, 1, 10)
    for score in (None, scores):
        fair = FairPostprocessor().fit(y_pred, sensitive_features=groups, scores=score)
        drawn = fair.predict(y_pred, sensitive_features=groups, random_state=0, scores=score)
        np.testing.assert_array_equal(drawn, y_pred)


def test_equal_rates_change_nothing_even_with_scores():
    y_pred, groups, scores = np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1]), np.array([3.0, 2.0, 1.0, -1.0])
    fair = FairPostprocessor().fit(y_pred, sensitive_features=groups, scores=scores)
    proba = fair.predict_proba(y_pred, sensitive_features=groups, scores=scores)
    np.testing.assert_array_equal(proba[:, 1], y_pred)


def test_the_same_for_numpy_pandas_torch_and_lists():
    y_pred, groups, _, scores = example(n=50)
    reference = FairPostprocessor().fit(y_pred, sensitive_features=groups, scores=scores)
    expected = reference.predict_proba(y_pred, sensitive_features=groups, scores=scores)
    for kind in (
        (pd.Series(y_pred), pd.Series(groups), pd.Series(scores)),
        (torch.tensor(y_pred), list(groups), torch.tensor(scores, requires_grad=True)),
        (y_pred.reshape(-1, 1), pd.DataFrame({"a": groups}), list(scores)),
        (y_pred.astype(bool), pd.Categorical(groups), scores.astype(object)),
    ):
        fair = FairPostprocessor().fit(kind[0], sensitive_features=kind[1], scores=kind[2])
        got = fair.predict_proba(kind[0], sensitive_features=kind[1], scores=kind[2])
        np.testing.assert_allclose(got, expected, atol=1e-15)


def test_draws_follow_the_probabilities_and_the_seed():
    y_pred, groups, _, _ = example(n=2000)
    fair = FairPostprocessor().fit(y_pred, sensitive_features=groups)
    probability = fair.predict_proba(y_pred, sensitive_features=groups)[:, 1]
    one, again = (fair.predict(y_pred, sensitive_features=groups, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one, again)
    rng = np.random.default_rng(0)
    mean = np.mean(
        [fair.predict(y_pred, sensitive_features=groups, random_state=rng) for _ in range(400)], axis=0
    )
    # the largest of 2000 deviations of means of 400 coins; beyond 6 standard errors once in 10^5 runs
    assert np.abs(mean - probability).max() < 6 * 0.5 / 20


def test_clone_and_pipeline():
    _, groups, y_true, scores = example()
    copy = clone(FairPostprocessor(rate="accuracy"))
    assert copy.get_params() == {
        "rate": "accuracy", "notion": "demographic_parity", "gamma": 0.0, "objective": "change_rates"
    }  # fmt: skip
    model = LogisticRegression().fit(scores.reshape(-1, 1), y_true)
    pipeline = make_pipeline(FunctionTransformer(model.predict), copy)
    pipeline.fit(scores.reshape(-1, 1), y_true, fairpostprocessor__sensitive_features=groups)
    drawn = pipeline.predict(scores.reshape(-1, 1), sensitive_features=groups, random_state=0)
    direct = FairPostprocessor("accuracy").fit(
        model.predict(scores.reshape(-1, 1)), sensitive_features=groups, y_true=y_true
    )
    assert pipeline[-1].target_rate_ == direct.target_rate_
    assert set(np.unique(drawn)) == {0, 1}


Y, A = [0, 1, 1, 0], ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("rate", "arguments", "message"),
    [
        ("midpoint", {"y_pred": [0, 1, 2, 0]}, r"y_pred: found 2\.0 at position 2, expected labels 0 and 1"),
        ("midpoint", {"y_pred": [0, 1, np.nan, 0]}, r"y_pred: found nan at position 2"),
        ("midpoint", {"y_pred": [[0, 1], [1, 0]]}, r"y_pred: found shape \(2, 2\)"),
        ("midpoint", {"y_pred": [0, 1, 1]}, "lengths differ: y_pred has 3, sensitive_features has 4"),
        ("midpoint", {"y_pred": []}, "y_pred: found an empty array"),
        ("midpoint", {"y_pred": ["0", "1", "1", "0"]}, "y_pred: found entries that are not numbers"),
        (
            "midpoint",
            {"sensitive_features": ["a"] * 4},
            r"sensitive_features: found 1 group \['a'\], expected at least 2",
        ),
        ("midpoint", {"sensitive_features": ["a", None, "b", "b"]}, "missing value at position 1"),
        ("midpoint", {"sensitive_features": [0.0, np.nan, 1.0, 1.0]}, "missing value at position 1"),
        ("midpoint", {"sensitive_features": np.array(["a", 1, "b", 2], dtype=object)}, "expected one type"),
        ("midpoint", {"scores": [0.1, np.inf, 0.2, 0.3]}, "scores: found inf at position 1"),
        ("accuracy", {}, "y_true: found None, expected the true labels"),
        ("accuracy", {"y_true": [0, 1, 1]}, "y_true has 3"),
        ("accuracy", {"y_true": [1, 1, 1, 1]}, "y_true: found only the label 1, expected both"),
        (np.array([0.3, 0.4]), {}, "rate: found array"),
        ("middle", {}, "rate: found 'middle', expected 'midpoint', 'accuracy' or a number"),
        (0.9, {"y_pred": [0, 1, 0, 0]}, r"rate: found 0\.9, expected a number between .* 0\.0 and 0\.5"),
        (float("nan"), {}, "rate: found nan"),
        (None, {}, "rate: found None, expected 'midpoint', 'accuracy' or a number"),
        (True, {}, "rate: found True, expected 'midpoint', 'accuracy' or a number"),
        ("midpoint", {"y": Y, "y_true": Y}, "y_true: found labels in both y and y_true"),
    ],
)
def test_bad_input_to_fit_is_named(rate, arguments, message):
    with pytest.raises(ValueError, match=message):
        FairPostprocessor(rate).fit(**({"y_pred": Y, "sensitive_features": A} | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"sensitive_features": ["a", "a", "b", "z"]},
            r"sensitive_features: found group 'z' at position 3, expected one of \['a', 'b'\]",
        ),
        ({"scores": [1, 2, 3, 4]}, "scores: found scores, expected None"),
        ({"y_pred": [0, 1]}, "lengths differ"),
        ({"y_pred": [0, 1, 0.5, 1]}, r"y_pred: found 0\.5 at position 2"),
    ],
)
def test_bad_input_to_predict_is_named(arguments, message):
    fair = FairPostprocessor().fit(Y, sensitive_features=A)
    with pytest.raises(ValueError, match=message):
        fair.predict_proba(**({"y_pred": Y, "sensitive_features": A} | arguments))


def test_scores_of_fit_are_required_at_prediction():
    fair = FairPostprocessor().fit(Y, sensitive_features=A, scores=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="scores: found None, expected scores, as in fit"):
        fair.predict(Y, sensitive_features=A, random_state=0)


def test_one_group_alone_can_be_predicted():
    fair = FairPostprocessor().fit([1, 1, 0, 0], sensitive_features=A)
    np.testing.assert_allclose(fair.predict_proba([1, 1], sensitive_features=["a", "a"])[:, 1], 0.5)
