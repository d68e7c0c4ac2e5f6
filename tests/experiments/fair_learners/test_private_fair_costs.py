"""Time and memory of private and fair learners: what is measured, of which method, and what is recorded."""

import pytest

from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.fair_learners import constrained, costs, methods
from dpfair_lib.experiments.sources import Source

FIRST, SECOND = "sensitive-attribute/ours, parity", "replace-one/functional mechanism"


def task_of(method):
    """Return the first task of a method on COMPAS, on a stand-in of few rows."""
    tasks = costs.experiment("private-fair-costs-compas", data="compas").tasks
    return next(one for one in tasks if one["method"] == method) | {"source": Source("compas", standin=900)}


def test_every_method_is_measured_on_every_split():
    tasks = costs.experiment("private-fair-costs-lsac", data="lsac").tasks
    found = {(task["split"], task["method"]) for task in tasks}
    names = {f"{one.protection}/{one.name}" for one in methods.METHODS + constrained.METHODS}
    assert found == {(split, name) for split in range(costs.SPLITS) for name in names | {costs.WITHOUT}}
    assert len(found) == len(tasks)


@pytest.mark.parametrize(("method", "settings"), [(FIRST, 4), (SECOND, 5)])
def test_a_method_has_fitted_few_rows_before_it_is_measured_on_all(method, settings, monkeypatch):
    rows, one = [], costs.FITTED[method]

    def fit(bases, test, epsilon, candidate):
        rows.append((len(bases.train.labels), len(test.labels), epsilon))
        yield from one.fit(bases, test, epsilon, candidate)

    monkeypatch.setitem(costs.FITTED, method, one._replace(fit=fit))
    row = costs.measure(**task_of(method))
    few = costs.WARM_ROWS
    assert rows == [(few * 4 // 5, few // 5, costs.EPSILON), (720, 180, costs.EPSILON)]
    assert f"{row['protection']}/{row['method']}" == method
    assert (row["split"], row["fits"]) == (0, settings)
    assert 0 <= row["seconds"] < 60
    assert row["mebibytes"] is None or 0 <= row["mebibytes"] < 1000


def test_what_has_no_privacy_is_measured_as_a_whole():
    row = costs.measure(**task_of(costs.WITHOUT))
    assert (row["protection"], row["method"], row["fits"]) == ("none", "fair, no privacy", 14)


def test_what_costs_more_than_its_epsilon_is_refused(monkeypatch):
    monkeypatch.setattr(costs, "EPSILON", 0.5)
    one = costs.FITTED[SECOND]
    dearer = one._replace(fit=lambda bases, test, epsilon, chosen: one.fit(bases, test, 2 * epsilon, chosen))
    monkeypatch.setitem(costs.FITTED, SECOND, dearer)
    with pytest.raises(RuntimeError, match=r"functional mechanism: found .*, expected ε = 0.5"):
        costs.measure(**task_of(SECOND))


@pytest.mark.parametrize("name", costs.EXPERIMENTS)
def test_the_record_has_every_method_on_every_split(name):
    rows, provenance = read_record(name)
    assert provenance["parameters"]["epsilon"] == costs.EPSILON
    counts = rows.groupby(["protection", "method"])["split"].nunique()
    assert {"/".join(one) for one in counts.index} == {*costs.FITTED, costs.WITHOUT}
    assert (counts == costs.SPLITS).all()
    assert (rows["seconds"] > 0).all()
    assert (rows["mebibytes"] >= 0).all()
