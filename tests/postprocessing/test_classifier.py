import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from test_group_column import EXPECTED, halves

import dpfair_lib as dpf

RNG = np.random.default_rng(0)
N = 400
GROUP = np.where(RNG.integers(0, 2, size=N), "f", "m")
X = np.column_stack([RNG.normal(size=N) + (GROUP == "f"), RNG.normal(size=N)])
Y = np.where(X[:, 0] + RNG.normal(size=N) > 0.5, "yes", "no")
POSTPROCESSORS = {
    "fair": (dpf.FairPostprocessor(), dpf.demographic_parity_difference),
    "private": (dpf.PrivateFairPostprocessor(1e6), dpf.demographic_parity_difference),
    "odds": (dpf.EqualizedOddsPostprocessor(gamma=0.0), dpf.equalized_odds_difference),
}


@pytest.mark.parametrize("name", POSTPROCESSORS)
def test_it_is_the_postprocessor_on_the_labels_of_the_classifier(name):
    postprocessor, metric = POSTPROCESSORS[name]
    model = dpf.PostprocessedClassifier(LogisticRegression(), postprocessor).fit(
        X, Y, sensitive_features=GROUP
    )
    y_pred = LogisticRegression().fit(X, Y).predict(X)
    before = metric(Y, y_pred, sensitive_features=GROUP, pos_label="yes")
    chances = model.predict_proba(X, sensitive_features=GROUP)
    assert metric((Y == "yes").astype(int), chances[:, 1], sensitive_features=GROUP) < 1e-3 < 0.1 < before
    if name != "private":
        by_hand = clone(postprocessor).fit(y_pred == "yes", Y == "yes", sensitive_features=GROUP)
        expected = by_hand.predict_proba(y_pred == "yes", sensitive_features=GROUP)
        np.testing.assert_allclose(chances, expected)
    drawn = model.predict(X, sensitive_features=GROUP, random_state=3)
    assert set(drawn) == {"no", "yes"}
    assert ((drawn == "yes") <= (chances[:, 1] > 0)).all()
    right = np.where(Y == "yes", chances[:, 1], chances[:, 0]).mean()
    assert model.score(X, Y, sensitive_features=GROUP) == pytest.approx(right)


@pytest.mark.parametrize("scores", ["predict_proba", "decision_function"])
def test_scores_say_whose_label_changes(scores):
    learner = LogisticRegression().fit(X, Y)
    model = dpf.PostprocessedClassifier(learner, dpf.FairPostprocessor(), prefit=True, scores=scores)
    model.fit(X, Y, sensitive_features=GROUP)
    assert model.estimator_ is learner
    chances, certain = model.predict_proba(X, sensitive_features=GROUP)[:, 1], learner.decision_function(X)
    for group in ("f", "m"):
        mine = group == GROUP
        assert (np.diff(chances[mine][np.argsort(certain[mine])]) >= 0).all()


def test_a_pipeline_can_end_in_one_and_be_searched_over_with_metadata_routing():
    with config_context(enable_metadata_routing=True):
        fair = dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor())
        for method in ("fit", "predict", "predict_proba", "score"):
            getattr(fair, f"set_{method}_request")(sensitive_features=True)
        pipeline = make_pipeline(StandardScaler(), fair)
        pipeline.fit(X, Y, sensitive_features=GROUP)
        chances = pipeline.predict_proba(X, sensitive_features=GROUP)
        assert dpf.demographic_parity_difference(None, chances[:, 1], sensitive_features=GROUP) < 1e-9
        given = {"sensitive_features": GROUP}
        assert (cross_val_score(pipeline, X, Y, cv=3, params=given) > 0.55).all()
        grid = {"postprocessedclassifier__postprocessor__gamma": [0.0, 0.5]}
        found = GridSearchCV(pipeline, grid, cv=3).fit(X, Y, **given)
        assert found.best_params_ == {"postprocessedclassifier__postprocessor__gamma": 0.5}


def test_a_postprocessor_alone_can_be_scored_and_searched_over_with_metadata_routing():
    y_pred, truth = (LogisticRegression().fit(X, Y).predict(X) == "yes").astype(int), (Y == "yes").astype(int)
    with config_context(enable_metadata_routing=True):
        fair = dpf.FairPostprocessor().set_fit_request(sensitive_features=True)
        fair.set_score_request(sensitive_features=True)
        found = GridSearchCV(fair, {"gamma": [0.0, 0.5]}, cv=3)
        found.fit(y_pred.reshape(-1, 1), truth, sensitive_features=GROUP)
    assert found.best_params_ == {"gamma": 0.5}


def test_scikit_learns_own_checks_pass():
    model = dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor())
    check_estimator(dpf.GroupColumn(model, halves), expected_failed_checks=EXPECTED, on_skip=None)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"prefit": "yes"}, "prefit: found 'yes', expected True or False"),
        (
            {"scores": "proba"},
            "scores: found 'proba', expected one of None, 'predict_proba', 'decision_function'",
        ),
        ({"estimator__C": -1.0}, "The 'C' parameter of LogisticRegression"),
        ({"postprocessor__gamma": 2.0}, "gamma: found 2"),
    ],
)
def test_bad_parameters_are_named(changed, message):
    model = dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor()).set_params(**changed)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, sensitive_features=GROUP)


def test_rows_groups_and_labels_have_to_fit():
    model = dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor())
    with pytest.raises(ValueError, match="y: found 3 classes, expected 2"):
        model.fit(X, np.arange(N) % 3, sensitive_features=GROUP)
    groups = pd.Series(GROUP).sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match="sensitive_features: found other row labels than those of X"):
        model.fit(pd.DataFrame(X), Y, sensitive_features=groups)
    with pytest.raises(TypeError, match="sensitive_features"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.set_params(prefit=True).fit(X, Y, sensitive_features=GROUP)
    other = dpf.PostprocessedClassifier(
        LogisticRegression().fit(X, Y == "yes"), dpf.FairPostprocessor(), prefit=True
    )
    with pytest.raises(ValueError, match="y: found label 'yes' at position"):
        other.fit(X, Y, sensitive_features=GROUP)


@pytest.mark.parametrize("name", POSTPROCESSORS)
def test_without_a_classifier_it_takes_and_gives_labels_as_words(name):
    postprocessor, metric = POSTPROCESSORS[name]
    y_pred = LogisticRegression().fit(X, Y).predict(X)
    alone = dpf.PostprocessedClassifier(None, postprocessor).fit(y_pred, Y, sensitive_features=GROUP)
    chances = alone.predict_proba(y_pred, sensitive_features=GROUP)
    assert metric((Y == "yes").astype(int), chances[:, 1], sensitive_features=GROUP) < 1e-3
    if name != "private":
        behind = dpf.PostprocessedClassifier(LogisticRegression(), postprocessor)
        expected = behind.fit(X, Y, sensitive_features=GROUP).predict_proba(X, sensitive_features=GROUP)
        assert np.array_equal(chances, expected)
    drawn = alone.predict(y_pred, sensitive_features=GROUP, random_state=0)
    assert set(drawn) == {"no", "yes"}
    column = pd.DataFrame({"label": y_pred, "sex": GROUP})
    wrapped = dpf.GroupColumn(alone, "sex", keep=False).fit(column, Y)
    assert wrapped.predict(column).shape == (N,)
    assert clone(alone).get_params()["estimator"] is None
    with pytest.raises(ValueError, match="y_pred: found label 'maybe' at position 0"):
        alone.predict(np.where(np.arange(N) == 0, "maybe", y_pred), sensitive_features=GROUP)


@pytest.mark.parametrize("changed", [{"prefit": True}, {"scores": "predict_proba"}])
def test_without_a_classifier_there_is_nothing_fitted_and_no_score(changed):
    alone = dpf.PostprocessedClassifier(None, dpf.FairPostprocessor(), **changed)
    with pytest.raises(ValueError, match=r"estimator: found None beside prefit=.*expected prefit=False"):
        alone.fit(Y, Y, sensitive_features=GROUP)
