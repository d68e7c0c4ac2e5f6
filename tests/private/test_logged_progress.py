"""What is logged of progress tells nothing of the rows: every count is logged here, and neighbours' logs are equal."""

import numpy as np
import pytest
from cases import cases
from checks import check_neighbours, observed

import dpfair_lib as dpf
from dpfair_lib import _progress
from dpfair_lib._progress import Progress
from dpfair_lib.learners import exact_steps

CASES = cases()
COUNTED = {
    dpf.DPLogisticRegression,
    dpf.DPLinearSVM,
    dpf.DPFermiClassifier,
    dpf.DPGlobalScalingClassifier,
    dpf.DPGroupClippingClassifier,
    dpf.DPLagrangianClassifier,
    dpf.DPNetworkClassifier,
    dpf.PrivateNoRegretFair,
    dpf.PrivateSelection,
}


def counting(case):
    return any(issubclass(kind, tuple(COUNTED)) for kind in case.covers if isinstance(kind, type))


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(_progress, "AFTER", -1.0)
    monkeypatch.setattr(_progress, "EVERY", -1.0)


SECURE = [case for case in CASES if case.secure and counting(case)]
STUDY = [case for case in CASES if not case.local and not case.apart and case.pairs() and counting(case)]


def logged(case, noise):
    said = observed(case, case.data(), noise, [])["logged and printed"]
    return [line for line in said if line.startswith("dpfair_lib.progress: ")]


@pytest.mark.parametrize("case", SECURE, ids=str)
def test_secure_neighbours_log_the_same_progress(case):
    assert logged(case, "secure")
    check_neighbours(case, "secure")


@pytest.mark.parametrize("case", STUDY, ids=str)
def test_study_neighbours_log_the_same_progress(case):
    assert logged(case, "study")
    check_neighbours(case, "study")


def test_every_estimator_that_counts_is_looked_at():
    seen = {kind for case in (*SECURE, *STUDY) for kind in case.covers if isinstance(kind, type)}
    assert seen >= COUNTED
    verbose = {
        kind for name in dir(dpf)
        if hasattr(kind := getattr(dpf, name), "get_params") and "verbose" in kind._get_param_names()
    }  # fmt: skip
    assert verbose == COUNTED


def test_what_counts_nothing_logs_nothing():
    quiet = [case for case in CASES if case.secure and not case.local and not counting(case)]
    for case in quiet:
        said = logged(case, "secure")
        assert not said or any("Pipeline" in str(kind) or "Selection" in str(kind) for kind in case.covers), (
            case
        )


@pytest.mark.parametrize("total", ["rows of a label", "rows in the batches"])
def test_a_count_that_the_rows_decide_is_noticed(monkeypatch, total):
    case = next(case for case in SECURE if case.covers[0] is dpf.DPLogisticRegression)
    usual, summed = exact_steps.train, exact_steps.exact_sum

    def train(X, y, steps):
        if total == "rows of a label":
            Progress("rows", int(np.sum(y))).add()
        return usual(X, y, steps)

    def exact_sum(chosen, integers, width):
        found = summed(chosen, integers, width)
        if total == "rows in the batches":
            Progress("rows", int(abs(found).sum() % 1000)).add()
        return found

    monkeypatch.setattr(exact_steps, "train", train)
    monkeypatch.setattr(exact_steps, "exact_sum", exact_sum)
    with pytest.raises(AssertionError):
        check_neighbours(case, "secure")
