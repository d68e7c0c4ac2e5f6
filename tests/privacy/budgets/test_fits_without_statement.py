"""Within a budget a fit that states no cost is refused before it sees a row: one rule for every estimator."""

import inspect
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import dpfair_lib as dpf
from dpfair_lib import _fitting, local, postprocessing, svm
from dpfair_lib._fitting import states_cost
from dpfair_lib.privacy import PrivacyStatement, released_values
from dpfair_lib.privacy.budgets import open_budgets
from dpfair_lib.privacy.budgets.open_budgets import charged_as_one

GROUPS, LABELS, TRUTH = [0, 0, 1, 1] * 5, [0, 1, 1, 0] * 5, [1, 1, 0, 0] * 5
ROWS = np.linspace(0, 1, 20)[:, None]
UNSTATED = {
    "FairPostprocessor": (dpf.FairPostprocessor, {"y_pred": LABELS, "sensitive_features": GROUPS}),
    "FairProjection": (
        lambda: dpf.FairProjection("demographic_parity", tolerance=0.5),
        {"y_proba": np.tile([0.4, 0.6], 10), "y": LABELS, "sensitive_features": GROUPS},
    ),
    "ReportedOddsPostprocessor": (
        lambda: dpf.ReportedOddsPostprocessor(local.generalized_randomized_response(2, 1.0), gamma=0.3),
        {"y_pred": LABELS, "y_true": TRUTH, "reports": GROUPS},
    ),
}
"""Estimators that state no cost of their own: what makes one, and rows that it can be fitted on."""
WRAPPERS = {"GroupColumn", "PostprocessedClassifier"}
"""Estimators that hand all rows to others, whose fits are judged."""


def public_estimators():
    places = [dpf, svm, local, postprocessing]
    found = {name: getattr(place, name) for place in places for name in getattr(place, "__all__", dir(place))}
    return {name: each for name, each in found.items() if inspect.isclass(each) and hasattr(each, "fit")}


class Unseen:
    """Rows that nobody may look at."""

    def __getattribute__(self, name):
        raise AssertionError(f"rows were looked at: {name}")


def check_refused(estimator, names):
    """Raise unless a fit within a budget is refused without a look at the rows, and leaves nothing behind."""
    before = dict(vars(estimator))
    with dpf.Budget(1.0, 1e-3, "replace-one", allow_unguaranteed=True) as budget:
        try:
            estimator.fit(**{name: Unseen() for name in names})
        except ValueError as error:
            assert str(error).startswith(f"estimator: found {type(estimator).__name__} within a Budget")  # noqa: PT017
        else:
            raise AssertionError("it was fitted")
    assert budget.spent == ()
    assert vars(estimator) == before


def test_every_public_estimator_states_its_cost_is_a_wrapper_or_is_refused():
    found = public_estimators()
    assert len(found) > 20
    silent = {
        name for name, each in found.items() if name not in WRAPPERS and not states_cost(each.__new__(each))
    }
    assert silent == set(UNSTATED)
    for name, each in found.items():  # the rule is in what decorates each fit
        assert hasattr(each.fit, "__wrapped__"), name


@pytest.mark.parametrize("name", UNSTATED)
def test_what_states_no_cost_is_refused_before_it_sees_a_row(name):
    make, rows = UNSTATED[name]
    check_refused(make(), rows)


@pytest.mark.parametrize("name", UNSTATED)
def test_on_released_values_and_outside_a_budget_it_is_fitted(name):
    make, rows = UNSTATED[name]
    make().fit(**rows)
    with dpf.Budget(1.0, 1e-3, "replace-one") as budget:
        with released_values():
            make().fit(**rows)
        assert budget.spent == ()
        with pytest.raises(ValueError, match="within a Budget"):
            make().fit(**rows)
    make().fit(**rows)


def test_a_rule_that_is_forgotten_is_found(monkeypatch):
    make, rows = UNSTATED["FairPostprocessor"]
    for name, fault in {"refuse_unstated": lambda _: None, "_asked": list}.items():
        with monkeypatch.context() as patched:
            patched.setattr(open_budgets, name, fault)
            with pytest.raises(AssertionError):
                check_refused(make(), rows)
    with monkeypatch.context() as patched:
        patched.setattr(_fitting, "states_cost", lambda _: True)
        with pytest.raises(AssertionError, match="rows were looked at"):
            check_refused(make(), rows)


def test_within_what_was_charged_as_a_whole_it_is_part_of_it():
    make, rows = UNSTATED["FairPostprocessor"]
    with (
        dpf.Budget(1.0, 0.0, "replace-one") as budget,
        charged_as_one(PrivacyStatement(0.5, 0.0, "replace-one")),
    ):
        make().fit(**rows)
    assert [one.epsilon for one in budget.spent] == [0.5]


def test_released_values_are_those_of_one_thread():
    make, rows = UNSTATED["FairPostprocessor"]
    said = []

    def other():
        try:
            make().fit(**rows)
        except ValueError as error:
            said.append(str(error))

    with dpf.Budget(1.0, 0.0, "replace-one"), released_values():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(said) == 1


def test_released_values_end_with_their_context():
    make, rows = UNSTATED["FairPostprocessor"]
    with dpf.Budget(1.0, 0.0, "replace-one"):
        with pytest.raises(RuntimeError, match="stop"), released_values():
            raise RuntimeError("stop")
        with pytest.raises(ValueError, match="within a Budget"):
            make().fit(**rows)


def private_learner():
    return dpf.ObjectivePerturbation(feature_bound=1.5, epsilon=0.5, delta=1e-6, classes=[0, 1])


WITHIN = {
    "a public learner": (LogisticRegression(), dpf.PrivateFairPostprocessor(0.5), False),
    "a public post-processor": (private_learner(), dpf.FairPostprocessor(), False),
    "both private": (private_learner(), dpf.PrivateFairPostprocessor(0.5), True),
    "no learner": (None, dpf.PrivateFairPostprocessor(0.5), True),
}


@pytest.mark.parametrize("name", WITHIN)
def test_a_wrapper_is_judged_by_what_it_fits(name):
    learner, after, allowed = WITHIN[name]
    model = dpf.PostprocessedClassifier(learner, after)
    column = dpf.GroupColumn(model, 0)
    assert states_cost(model) is states_cost(column) is allowed
    if not allowed:
        check_refused(model, ("X", "y", "sensitive_features"))
        check_refused(column, ("X", "y"))
        return
    with dpf.Budget(9.0, 0.1, "replace-within-group") as budget:
        model.fit(LABELS if learner is None else ROWS, TRUTH, sensitive_features=GROUPS)
    assert [one.epsilon for one in budget.spent] == [0.5] * (1 if learner is None else 2)


def test_a_learner_that_was_fitted_before_is_not_fitted():
    learner = LogisticRegression().fit(ROWS, TRUTH)
    model = dpf.PostprocessedClassifier(learner, dpf.PrivateFairPostprocessor(0.5), prefit=True)
    with dpf.Budget(9.0, 0.1, "replace-within-group") as budget:
        model.fit(ROWS, TRUTH, sensitive_features=GROUPS)
    assert len(budget.spent) == 1


def test_the_first_fit_of_a_process_imports_budgets_only_where_one_may_be_open():
    code = """
import sys
import dpfair_lib as dpf
fair = dpf.FairPostprocessor().fit([1, 0, 1, 1], sensitive_features=list("aabb"))
print("dpfair_lib.privacy" in sys.modules)
"""
    assert open_budgets.__name__ == _fitting.BUDGETS
    assert _fitting.OPENED_ELSEWHERE == open_budgets._VARIABLE
    alone = {name: value for name, value in os.environ.items() if name != open_budgets._VARIABLE}
    for more, returns, printed in (({}, 0, "False"), ({open_budgets._VARIABLE: "1"}, 1, "")):
        done = subprocess.run(
            [sys.executable, "-c", code], env=alone | more, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.strip()) == (returns, printed)
        assert ("found one open in process 1" in done.stderr) == bool(more)


def test_in_another_process_it_is_refused_too(monkeypatch):
    monkeypatch.setenv(open_budgets._VARIABLE, "1")
    make, rows = UNSTATED["FairPostprocessor"]
    with pytest.raises(RuntimeError, match="found one open in process 1"):
        make().fit(**rows)
