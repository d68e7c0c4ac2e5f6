"""The order in which things are said changes nothing: neither that of the rows, nor that of a mapping or of labels.

An ε for each group goes by the sorted labels, so that a mapping in another order must not give it to another group.
The order of the rows is nobody's to see, unless the release is of the rows themselves, as people's own reports are.
Beside the secure samplers nothing is random here: they are frozen, and all that they are asked for is compared.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from cases import cases, parts
from checks import caught, frozen
from picture import differences, picture

import dpfair_lib as dpf

CASES = {case.name: case for case in cases()}
ASKING = [case for case in CASES.values() if case.asked is not None]
STATED = [case for case in ASKING if case.relation is not None and not case.batches and not case.by_position]
LABELS = ("groups", "classes")
"""Parameters that are sequences of labels, whose order has no meaning; that of hypotheses, say, has one."""


def reversed_parameters(subject):
    """Return those parameters of an estimator that have another order of the same meaning."""
    given = subject.get_params(deep=False)
    found = {name: dict(reversed(one.items())) for name, one in given.items() if isinstance(one, Mapping)}
    return found | {name: given[name][::-1] for name in LABELS if given.get(name) is not None}


def seen(case, data, **changes):
    """Return what the samplers are asked for, and the picture of the release that they lead to."""
    noise, seed = ("secure", None) if case.asked is not None else ("study", 0)
    subject = case.make(noise, seed)
    if changes:
        subject.set_params(**changes)
    with frozen(case, noise) as calls:
        held = parts(case.run(subject, data))
        held.pop("_levels", None)  # the parameter itself
    asked = [(call.kind, call.scale, call.values.astype(float)) for call in calls]
    return asked, {path: one for name, part in held.items() for path, one in picture(part, name).items()}


def check_alike(first, second, near=0.0):
    """Raise unless the samplers are asked for the same, and the releases are the same."""
    (asked, held), (other_asked, other_held) = first, second
    assert [one[:2] for one in asked] == [one[:2] for one in other_asked]
    for (*_, values), (*_, others) in zip(asked, other_asked, strict=True):
        assert np.allclose(values, others, rtol=1e-12, atol=near)
    assert differences(held, other_held) == []


TURNED = [
    (case, name)
    for case in CASES.values()
    if not case.batches and hasattr(subject := case.make("study", 0), "get_params")
    for name in reversed_parameters(subject)
]


def check_parameter(case, name):
    changed = reversed_parameters(case.make("study", 0))[name]
    check_alike(seen(case, case.data()), seen(case, case.data(), **{name: changed}))


@pytest.mark.parametrize(("case", "name"), TURNED, ids=str)
def test_a_parameter_in_another_order_makes_the_same_release(case, name):
    check_parameter(case, name)


def test_every_mapping_is_turned():
    mappings = {"group_sizes", "group_frequencies", "levels", "bounds", "categories"}
    assert {name for _, name in TURNED} == {*mappings, *LABELS}


def turned(data):
    """Return the rows in another order: backwards, from the middle on."""
    n = len(next(iter(data.values())))
    order = np.roll(np.arange(n)[::-1], n // 2 - 1)
    return {
        name: column.iloc[order].reset_index(drop=True)
        if isinstance(column, pd.DataFrame)
        else np.asarray(column)[order]
        for name, column in data.items()
    }


def nearness(case):
    """Return how far numbers may be apart: a solver's last digits depend on the order; what is counted does not."""
    solved = {
        dpf.OutputPerturbation,
        dpf.ObjectivePerturbation,
        dpf.PrivatePipeline,
        dpf.PrivateFairClassifier,
    }
    return 1e-9 if solved & set(case.covers) else 1e-15


def check_rows(case):
    for data in [case.data(), *(pair[1] for pair in list(case.pairs().values())[::17])]:
        if not any(isinstance(column, list) for column in data.values()):
            check_alike(seen(case, data), seen(case, turned(data)), nearness(case))


UNDECLARED = [
    (case, name)
    for case in STATED
    if hasattr(subject := case.make("study", 0), "get_params")
    and not isinstance(subject, dpf.ExponentialFairLearner)
    for name in LABELS
    if subject.get_params().get(name) is not None
    and "0.5" not in case.name  # halves are labels where declared only
]


def check_undeclared(case, name):
    """Raise unless labels that are found in the rows are listed in an order that is not the rows'."""
    check_alike(
        *(seen(case, data, **{name: None}) for data in (case.data(), turned(case.data()))), nearness(case)
    )


@pytest.mark.parametrize(("case", "name"), UNDECLARED, ids=str)
def test_labels_that_are_found_are_in_no_order_of_the_rows(case, name):
    # which there are is public; whose comes first is not
    check_undeclared(case, name)


@pytest.mark.parametrize("case", STATED, ids=str)
def test_rows_in_another_order_make_the_same_release(case):
    check_rows(case)


def test_what_follows_an_order_is_caught(monkeypatch):
    with monkeypatch.context() as planted:
        # the groups in the order in which they are declared, not sorted
        planted.setattr(dpf.PrivateFairPostprocessor, "_declared_groups", lambda _, sizes: list(sizes))
        assert caught(check_parameter, CASES["rates add-remove laplace (0.4, 0.9)"], "group_sizes")

    fit = dpf.EqualizedOddsPostprocessor.fit

    def as_they_come(self, y_pred, *arguments, sensitive_features, **options):
        fitted = fit(self, y_pred, *arguments, sensitive_features=sensitive_features, **options)
        fitted.default_ = list(dict.fromkeys(np.asarray(sensitive_features).tolist()))
        return fitted

    monkeypatch.setattr(dpf.EqualizedOddsPostprocessor, "fit", as_they_come)
    assert caught(check_rows, CASES["odds replace-one geometric"])


def test_groups_as_they_come_are_caught(monkeypatch):
    rows = dpf.EqualizedOddsPostprocessor._rows

    def as_they_come(self, y_pred, y, sensitive_features, y_true):
        groups, codes, labels = rows(self, y_pred, y, sensitive_features, y_true)
        if codes[0] and self.groups is None:
            groups, codes = groups[::-1], 1 - codes
        return groups, codes, labels

    monkeypatch.setattr(dpf.EqualizedOddsPostprocessor, "_rows", as_they_come)
    assert caught(check_undeclared, CASES["odds replace-one geometric"], "groups")
    check_rows(CASES["odds replace-one geometric"])  # where they are declared all is well
