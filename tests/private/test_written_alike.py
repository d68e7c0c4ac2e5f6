"""How one row writes a label or a group does not show in what a fitted estimator holds, where both are learned."""

from decimal import Decimal

import numpy as np
import pytest
from checks import caught
from picture import differences, picture

import dpfair_lib as dpf
from dpfair_lib import _validation
from dpfair_lib.learners import linear

TENTH = Decimal("0.1")
STUDY = {"noise": "study", "random_state": 0}
STEPS = {"delta": 1e-3, "max_grad_norm": 1.0, "sample_rate": 0.5, "steps": 2, "learning_rate": 0.1} | STUDY
BOUNDED = {"feature_bound": 2.0, "epsilon": 1.0, "delta": 1e-3} | STUDY
LEARNERS = {
    "output": lambda: dpf.OutputPerturbation(regularization=0.5, **BOUNDED),
    "objective": lambda: dpf.ObjectivePerturbation(**BOUNDED),
    "logistic": lambda: dpf.DPLogisticRegression(epsilon=1.0, **STEPS),
    "svm": lambda: dpf.DPLinearSVM(epsilon=1.0, **STEPS),
    "global": lambda: dpf.DPGlobalScalingClassifier(epsilon=1.0, scale_norm=2.0, **STEPS),
}
FAIR = {
    "fair": lambda: dpf.PrivateFairClassifier(**BOUNDED),
    "gradient": lambda: dpf.PrivateExponentiatedGradient(notion="equal_opportunity", rounds=2, **BOUNDED),
    "functional": lambda: dpf.FairFunctionalClassifier(penalty=1.0, **BOUNDED),
    "rates": lambda: dpf.PrivateFairPostprocessor(1.0, **STUDY),
    "odds": lambda: dpf.EqualizedOddsPostprocessor(gamma=0.1, epsilon=1.0, **STUDY),
}
GROUPS = {
    "words": (["a", "b"], np.str_("a")), "truth": ([1, 0], True), "a whole float": ([1, 0], 1.0),
    "NumPy's": ([1, 0], np.int8(1)), "a decimal": ([1, 0], Decimal(1)),
    "zeros at the end": ([TENTH, 0], Decimal("0.10")),
}  # fmt: skip
LISTED = {
    "a whole float": ([1, 0], 1.0), "truth": ([1, 0], True), "a wide float": ([1, 0], np.longdouble(1)),
    "NumPy's": ([1, 0], np.uint8(1)), "a whole number": ([1.0, 0.0], 1), "a half": ([0.5, 0], np.float16(0.5)),
}  # fmt: skip
LABELS = {"words": GROUPS["words"]}  # scikit-learn refuses labels that are objects and no words


def objects(pair, other=None):
    """Return a column of objects, 20 values in turn; the first may be written otherwise."""
    column = np.empty(20, dtype=object)
    column[:] = pair * 10
    if other is not None:
        column[0] = other
    return column


def check_alike(make, data, **written):
    """Raise unless a row that is written otherwise leaves the same labels and groups, types and all."""
    names = ("classes_", "groups_")
    seen = []
    for more in ({}, written):
        found = vars(make().fit(**data | more))
        held = {name: found[name] for name in names if name in found}
        assert held
        seen.append({key: value for name, each in held.items() for key, value in picture(each, name).items()})
    assert differences(*seen) == []


def label_case(name, kind):
    pair, other = LABELS[kind]
    X = np.linspace(-1, 1, 40).reshape(20, 2)
    return LEARNERS[name], {"X": X, "y": objects(pair)}, {"y": objects(pair, other)}


def group_case(name, kind):
    pair, other = GROUPS[kind]
    X, truth = np.linspace(-1, 1, 40).reshape(20, 2), np.tile([0, 0, 1, 1], 5)
    rows = (
        {"X": X, "y": truth}
        if hasattr(FAIR[name](), "feature_bound")
        else {"y_pred": truth[::-1], "y": truth}
    )
    return (
        FAIR[name],
        rows | {"sensitive_features": objects(pair)},
        {"sensitive_features": objects(pair, other)},
    )


def listed_label_case(name, kind):
    pair, other = LISTED[kind]
    X = np.linspace(-1, 1, 40).reshape(20, 2)
    return LEARNERS[name], {"X": X, "y": pair * 10}, {"y": [other, *(pair * 10)[1:]]}


def listed_group_case(name, kind):
    make, data, _ = group_case(name, "words")
    pair, other = LISTED[kind]
    return (
        make,
        data | {"sensitive_features": pair * 10},
        {"sensitive_features": [other, *(pair * 10)[1:]]},
    )


CASES = [(label_case, name, kind) for name in LEARNERS for kind in LABELS]
CASES += [(group_case, name, kind) for name in FAIR for kind in GROUPS]
CASES += [(listed_label_case, name, kind) for name in LEARNERS for kind in LISTED if kind != "a half"]
CASES += [(listed_group_case, name, kind) for name in FAIR for kind in LISTED]


@pytest.mark.parametrize(("case", "name", "kind"), CASES)
def test_how_a_row_is_written_does_not_show(case, name, kind):
    make, data, written = case(name, kind)
    check_alike(make, data, **written)


@pytest.mark.parametrize(("case", "name"), [(listed_label_case, "logistic"), (listed_group_case, "rates")])
def test_kinds_of_lists_are_found(case, name, monkeypatch):
    monkeypatch.setattr(_validation, "labels_of_list", lambda values: values)
    monkeypatch.setattr(linear, "labels_of_list", lambda values: values)
    make, data, written = case(name, "a whole float")

    def check():
        check_alike(make, data, **written)

    assert caught(check)


@pytest.mark.parametrize(("case", "name"), [(label_case, "logistic"), (group_case, "rates")])
def test_labels_as_a_row_has_written_them_are_found(case, name, monkeypatch):
    monkeypatch.setattr(_validation, "written_alike", lambda labels: labels)
    monkeypatch.setattr(linear, "written_alike", lambda labels: labels)
    make, data, written = case(name, "words")

    def check():
        check_alike(make, data, **written)

    assert caught(check)
