"""A private choice among models: every fit is counted, the parts are disjoint, and no count is kept."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import dpfair_lib as dpf
from dpfair_lib import privacy
from dpfair_lib.preparation import selection as module
from dpfair_lib.privacy import compose

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6000, 2))
Y = (X[:, 0] > 0).astype(int)
STUDY = {"noise": "study", "random_state": 0}


def candidate(bounds, epsilon=0.5, **noise):
    """A pipeline that learns from the first column only if the bounds fit."""
    return dpf.PrivatePipeline([
        ("scale", dpf.PublicScaler({0: bounds, 1: bounds})),
        ("learn", dpf.ObjectivePerturbation(feature_bound=1.5, epsilon=epsilon, delta=1e-6, **noise)),
    ])  # fmt: skip


def test_the_better_candidate_is_chosen_and_all_fits_are_counted():
    chosen = dpf.PrivateSelection([candidate((100, 200)), candidate((-3, 3))], epsilon=0.8).fit(X, Y)
    assert chosen.best_index_ == 1
    assert chosen.score(X, Y) == chosen.best_estimator_.score(X, Y)
    assert np.array_equal(chosen.predict(X), chosen.best_estimator_.predict(X))
    assert np.array_equal(chosen.predict_proba(X), chosen.best_estimator_.predict_proba(X))
    assert np.array_equal(chosen.decision_function(X), chosen.best_estimator_.decision_function(X))
    assert chosen.classes_.tolist() == [0, 1]
    check_statement(chosen, 1.0)


def check_statement(chosen, epsilon):
    statement = chosen.privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (epsilon, 2e-6, "replace-one")
    fits, choice = statement.parts
    assert fits == compose(*([chosen.best_estimator_.privacy_statement_] * 2))
    assert choice.epsilon == chosen.epsilon
    assert {"which rows are held out", "the number of rows"} <= set(statement.public)
    assert statement.guarantee


def test_the_larger_of_fits_and_choice_is_the_cost():
    for own, whole in ((0.2, 1.0), (1.0, 1.0), (3.0, 3.0)):
        check_statement(dpf.PrivateSelection([candidate((-3, 3))] * 2, epsilon=own).fit(X, Y), whole)


def test_the_tight_total_of_the_fits():
    learner = dpf.OutputPerturbation(regularization=0.1, feature_bound=3.0, epsilon=0.5, delta=1e-6)
    many = [learner] * 8
    summed = dpf.PrivateSelection(many, epsilon=0.1).fit(X, Y).privacy_statement_
    tight = dpf.PrivateSelection(many, epsilon=0.1, delta=1e-5).fit(X, Y).privacy_statement_
    assert summed.epsilon == 4.0
    assert tight.epsilon < 2.0
    assert tight.delta == 1e-5


def test_a_total_of_the_chosen_fit_alone_is_caught(monkeypatch):
    monkeypatch.setattr(module, "compose", lambda *parts, **options: compose(*parts[-2:][-1:], **options) if not options.get("parallel") else compose(*parts, **options))  # fmt: skip  # noqa: E501
    chosen = dpf.PrivateSelection([candidate((-3, 3))] * 2, epsilon=0.2).fit(X, Y)
    with pytest.raises(AssertionError):
        check_statement(chosen, 1.0)


def test_parts_are_disjoint_and_by_position(monkeypatch):
    seen = []
    fit, predict = dpf.ObjectivePerturbation.fit, dpf.ObjectivePerturbation.predict
    monkeypatch.setattr(
        dpf.ObjectivePerturbation, "fit", lambda s, X, y: seen.append(X[:, 0]) or fit(s, X, y)
    )
    monkeypatch.setattr(
        dpf.ObjectivePerturbation, "predict", lambda s, X: seen.append(X[:, 0]) or predict(s, X)
    )
    numbered = np.column_stack([np.arange(6000.0), X[:, 0]])
    learner = dpf.ObjectivePerturbation(feature_bound=1.5, epsilon=0.5, delta=1e-6)
    dpf.PrivateSelection([learner], epsilon=1.0, holdout_every=4).fit(numbered, Y)
    trained, held = seen
    assert held.tolist() == list(range(3, 6000, 4))
    assert sorted([*trained, *held]) == list(range(6000))


def test_frames_and_lists():
    frame = pd.DataFrame(X, columns=["p", "q"], index=np.arange(6000) + 7)
    learner = dpf.ObjectivePerturbation(feature_bound=1.5, epsilon=0.5, delta=1e-6, **STUDY)
    found = [
        dpf.PrivateSelection([learner], epsilon=1.0, **STUDY).fit(rows, y).predict_proba(X)
        for rows, y in ((X, Y), (frame.to_numpy().tolist(), Y.tolist()))
    ]
    assert np.allclose(*found, rtol=0, atol=1e-12)
    fitted = dpf.PrivateSelection([learner], epsilon=1.0, **STUDY).fit(frame, pd.Series(Y, index=frame.index))
    assert np.allclose(fitted.predict_proba(frame), found[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"candidates": []}, r"candidates: found \[\], expected a list"),
        ({"candidates": None}, "candidates: found None"),
        (
            {"candidates": [LogisticRegression()]},
            "candidates: found a LogisticRegression, which does not declare",
        ),
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"holdout_every": 1}, "holdout_every: found 1, expected a whole number of at least 2"),
        ({"holdout_every": 7000}, "X: found 6000 rows, expected at least holdout_every = 7000"),
        ({"random_state": 1}, "random_state: found 1 beside noise='secure'"),
        ({"delta": 1e-300}, "delta: found 1e-300"),
    ],
)
def test_bad_parameters(changes, message):
    given = {"candidates": [candidate((-3, 3))], "epsilon": 1.0} | changes
    with pytest.raises(ValueError, match=message):
        dpf.PrivateSelection(**given).fit(X, Y)


def test_add_remove_is_refused():
    one = dpf.PrivatePipeline(
        [("scale", dpf.PrivateScaler({0: (-3, 3)}, epsilon=1.0, relation="add-remove"))]
    )
    with (
        dpf.Budget(9.0, 0.0, "add-remove") as budget,
        pytest.raises(ValueError, match="candidates: found the relation 'add-remove'"),
    ):
        dpf.PrivateSelection([one], epsilon=1.0).fit(X, Y)
    assert budget.spent == ()  # it was refused before a candidate was fitted


def test_nothing_is_kept_but_the_choice():
    chosen = dpf.PrivateSelection([candidate((-3, 3))] * 2, epsilon=1.0).fit(X, Y)
    kept = vars(chosen).keys() - chosen.get_params(deep=False).keys()
    assert kept == {"best_index_", "best_estimator_", "n_features_in_", "privacy_statement_"}


def test_study_noise_of_the_choice_or_of_a_fit_has_no_guarantee():
    for noise in (
        {"candidates": [candidate((-3, 3), **STUDY)]},
        {"candidates": [candidate((-3, 3))], **STUDY},
    ):
        statement = dpf.PrivateSelection(epsilon=1.0, **noise).fit(X, Y).privacy_statement_
        assert not statement.guarantee
        assert privacy.STUDY_NOTE in statement.note


def test_a_grid_search_around_a_learner_does_not_leave_its_epsilon_unqualified():
    from sklearn.model_selection import GridSearchCV

    learner = dpf.ObjectivePerturbation(feature_bound=1.5, epsilon=1.0, delta=1e-6)
    search = GridSearchCV(learner, {"feature_bound": [1.0, 1.5]}, cv=2).fit(X, Y)
    said = str(search.best_estimator_.privacy_statement_)
    assert said.startswith("ε = 1,")
    assert "not counted: other fits on these rows, such as those of a scaler or of a grid search" in said
    whole = GridSearchCV(candidate((-3, 3)), {"learn__feature_bound": [1.0, 1.5]}, cv=2).fit(X, Y)
    assert "not counted: other fits" in str(whole.best_estimator_.privacy_statement_)


def test_a_huge_entry_of_a_held_out_row_does_not_warn():
    # every warning is an error here; a learner alone warns where its user hands it such a row
    learners = [dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=9.0, delta=1e-2, classes=(0, 1))] * 2
    rows, labels = X[:40].copy(), Y[:40]
    for at in (4, 9, 14):
        rows[at] = [1.7e308, -1.7e308]
    chosen = dpf.PrivateSelection(learners, epsilon=1.0, holdout_every=5).fit(rows, labels)
    assert np.isfinite(chosen.best_estimator_.coef_).all()
    # the planted fault: scores of such rows overflow if nothing hides it
    weights = np.array([[9.0, -9.0]])
    with pytest.raises(RuntimeWarning, match="overflow"):
        _ = rows @ weights.T
