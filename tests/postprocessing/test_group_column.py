import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import dpfair_lib as dpf

RNG = np.random.default_rng(0)
N = 300
GROUP = RNG.integers(0, 2, size=N)
FEATURE = RNG.normal(size=N) + GROUP
Y = np.where(RNG.normal(size=N) + FEATURE > 0.5, "yes", "no")
TABLE = pd.DataFrame({"score": FEATURE, "sex": np.where(GROUP, "f", "m"), "old": GROUP[::-1]})


def halves(X):
    """Return a group for each row, from the row alone, whatever X is."""
    raw = np.atleast_2d(np.asarray(getattr(X, "toarray", lambda: X)()))
    table = np.real(raw).astype(float)
    return (np.nan_to_num(table, posinf=0, neginf=0).sum(axis=1) * 1000 * np.pi // 1 % 2).astype(int)


DRAWN = "labels are drawn at each call, and noise at each fit"
EXPECTED = dict.fromkeys(
    (
        "check_classifier_data_not_an_array", "check_classifiers_train", "check_estimators_pickle",
        "check_fit_idempotent", "check_supervised_y_2d",
    ),
    DRAWN,
)  # fmt: skip


class Recorder(LogisticRegression):
    """A classifier that keeps what it was given."""

    def fit(self, X, y, sensitive_features):
        self.seen_ = X, sensitive_features
        return super().fit(np.asarray(X)[:, :1].astype(float), y)

    def predict(self, X):
        return super().predict(np.asarray(X)[:, :1].astype(float))


def test_the_groups_are_those_of_the_columns():
    model = dpf.GroupColumn(Recorder(), "sex").fit(TABLE, Y)
    features, groups = model.estimator_.seen_
    assert features is TABLE
    assert (np.ravel(groups) == TABLE["sex"]).all()
    assert model.feature_names_in_.tolist() == ["score", "sex", "old"]
    assert model.n_features_in_ == 3
    features, groups = dpf.GroupColumn(Recorder(), ["sex", "old"], keep=False).fit(TABLE, Y).estimator_.seen_
    assert list(features) == ["score"]
    assert list(groups) == ["sex", "old"]
    array = np.column_stack([FEATURE, GROUP])
    features, groups = dpf.GroupColumn(Recorder(), 1, keep=False).fit(array, Y).estimator_.seen_
    assert features.shape == (N, 1)
    assert (np.ravel(groups) == GROUP).all()
    assert (dpf.GroupColumn(Recorder(), halves).fit(array, Y).estimator_.seen_[1] == halves(array)).all()


def test_a_private_and_fair_classifier_can_be_searched_over():
    X = TABLE.assign(score=FEATURE / 10)[["score", "sex"]]
    # the rates of shared rows have ε = 50: secure noise moves one by 0.05 with a probability below 1e-100. By the
    # default share they have ε = 0.5, and 2.6 of 1,000 gaps are above the limit below
    model = dpf.PrivateFairClassifier(feature_bound=1.0, epsilon=100.0, delta=1e-3, share=0.5)
    wrapped = dpf.GroupColumn(model, "sex", keep=False)
    found = GridSearchCV(wrapped, {"estimator__rows": ["shared", "split"]}, cv=3).fit(X, Y)
    best = found.best_estimator_
    assert best.estimator_.privacy_statement_.epsilon == 100.0
    chances = best.predict_proba(X)
    assert dpf.demographic_parity_difference(None, chances[:, 1], sensitive_features=X["sex"]) < 0.1
    assert best.score(X, Y) == pytest.approx(np.where(Y == "yes", chances[:, 1], chances[:, 0]).mean())
    assert (best.predict(X, random_state=1) == best.predict(X, random_state=1)).all()
    assert (cross_val_score(wrapped, X, Y, cv=3) > 0.5).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"group": "age"}, r"group: found 'age', expected columns among \['score', 'sex', 'old'\]"),
        ({"group": 3}, "group: found 3"),
        ({"group": ["sex", -1]}, "group: found -1"),
        ({"group": True}, "group: found True"),
        ({"keep": 1}, "keep: found 1, expected True or False"),
        ({"group": ["score", "sex", "old"], "keep": False}, "keep: found False and no other column"),
    ],
)
def test_bad_parameters_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        dpf.GroupColumn(Recorder(), "sex").set_params(**changed).fit(TABLE, Y)


def test_other_features_than_in_fit_are_refused():
    model = dpf.GroupColumn(Recorder(), "sex").fit(TABLE, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(TABLE[["sex", "score", "old"]])


def test_scikit_learns_own_checks_pass():
    model = dpf.PrivateFairClassifier(feature_bound=9.0, epsilon=1e6, delta=1e-3)
    check_estimator(dpf.GroupColumn(model, halves), expected_failed_checks=EXPECTED, on_skip=None)


def test_a_grid_search_scores_a_post_processed_classifier_by_a_metric_of_fairness():
    """The scorer hands the groups to the metric alone; without the wrapper `predict` would miss them."""
    y, fair = (
        (Y == "yes").astype(int),
        dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor()),
    )
    scorer = make_scorer(dpf.demographic_parity_difference, greater_is_better=False)
    grid = {"estimator__postprocessor__gamma": [0.0, 1.0]}
    table = TABLE[["score", "sex"]]
    with config_context(enable_metadata_routing=True):
        scorer.set_score_request(sensitive_features=True)
        search = GridSearchCV(
            dpf.GroupColumn(fair, "sex", keep=False), grid, cv=3, scoring=scorer, refit=False
        )
        search.fit(table, y, sensitive_features=table["sex"])
        alone = GridSearchCV(
            fair, {"estimator__C": [1.0]}, cv=3, scoring=scorer, refit=False, error_score="raise"
        )
        fair.set_fit_request(sensitive_features=True)
        with pytest.raises(TypeError, match="sensitive_features"):
            alone.fit(table[["score"]], y, sensitive_features=table["sex"])
    tight, loose = search.cv_results_["mean_test_score"]
    assert loose < tight - 0.1
