"""Tables of Arrow and polars go in wherever those of pandas do, and give the same."""

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import dpfair_lib as dpf

RNG = np.random.default_rng(0)
N = 200
X = RNG.uniform(-1, 1, (N, 2))
Y, GROUP = (X[:, 0] > 0).astype(int), np.where(RNG.random(N) < 0.5, "a", "b")
PREDICTED = np.where(RNG.random(N) < 0.2, 1 - Y, Y)
STUDY = {"noise": "study", "random_state": 0}
BOUNDED = {"feature_bound": 1.5, "epsilon": 1.0, "delta": 1e-5, **STUDY}
LEARNER = dpf.ObjectivePerturbation(**BOUNDED)
BEHIND = dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor())
BOUNDS = {"x": (-1, 1), "z": (-1, 1)}


def fitted(model):
    return lambda X, y, _: model.fit(X, y).predict(X)


def adjusted(model):
    return lambda X, y, a: model.fit(X, y, sensitive_features=a).predict(
        X, sensitive_features=a, random_state=0
    )


def changed(model):
    def run(_, y, a):
        y_pred = LIKE[type(a)](PREDICTED)
        model.fit(y_pred, y, sensitive_features=a)
        return model.predict(y_pred, sensitive_features=a, random_state=0)

    return run


LIKE = {pd.Series: pd.Series, pa.StringArray: pa.array, polars.Series: polars.Series}
CASES = {
    "output perturbation": fitted(dpf.OutputPerturbation(regularization=0.1, **BOUNDED)),
    "objective perturbation": fitted(LEARNER),
    "a selection": fitted(dpf.PrivateSelection([LEARNER], epsilon=1.0, **STUDY)),
    "a pipeline": fitted(dpf.PrivatePipeline([("scale", dpf.PublicScaler(BOUNDS)), ("learn", LEARNER)])),
    "a scaler": lambda X, _, __: np.asarray(dpf.PublicScaler(BOUNDS).fit(X).transform(X)),
    "a private scaler": lambda X, _, __: np.asarray(
        dpf.PrivateScaler(BOUNDS, epsilon=1.0, **STUDY).fit(X).transform(X)
    ),
    "a column of groups": lambda X, y, _: dpf.GroupColumn(BEHIND, "z").fit(X, y).predict_proba(X),
    "a classifier and its post-processor": adjusted(BEHIND),
    "a private and fair classifier": adjusted(dpf.PrivateFairClassifier(**BOUNDED)),
    "fair labels": changed(dpf.FairPostprocessor()),
    "privately fair labels": changed(dpf.PrivateFairPostprocessor(1.0, **STUDY)),
    "equalized odds": changed(dpf.EqualizedOddsPostprocessor(gamma=0.1)),
    "a trained model": lambda X, y, a: dpf.DPFermiClassifier(
        penalty=1.0, epsilon=2.0, delta=1e-5, steps=3, batch_size=20, frequency_epsilon=0.5, **STUDY
    ).fit(X, y, sensitive_features=a).coef_,
    "a certificate": lambda X, y, a: str(dpf.certify_model(
        LogisticRegression(C=0.01, fit_intercept=False).fit(X, y), X, y, sensitive_features=a,
        notion="equalized_odds", epsilon=1.0, delta=1e-5, zeta=0.1, feature_bound=2.0,
    )),
    "a metric": lambda _, y, a: dpf.demographic_parity_difference(None, y, sensitive_features=a),
    "a metric of several columns": lambda X, y, _: dpf.demographic_parity_difference(
        None, y, sensitive_features=halves(X)
    ),
}  # fmt: skip


def halves(table):
    """Return a table of two groups in each column, of the same kind."""
    columns = {name: np.asarray(table[name]) > 0 for name in ("x", "z")}
    return KINDS[type(table)][0](columns)


KINDS = {
    pd.DataFrame: (pd.DataFrame, pd.Series),
    pa.Table: (pa.table, pa.array),
    polars.DataFrame: (polars.DataFrame, polars.Series),
}


def given(kind):
    """Return the rows, their labels and groups as tables and columns of one kind."""
    table, column = KINDS[kind]
    return table({"x": X[:, 0], "z": X[:, 1]}), column(Y), column(GROUP)


def check(case, kind):
    wanted, found = (CASES[case](*given(one)) for one in (pd.DataFrame, kind))
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))


@pytest.mark.parametrize("kind", [pa.Table, polars.DataFrame], ids=["Arrow", "polars"])
@pytest.mark.parametrize("case", CASES)
def test_tables(case, kind):
    check(case, kind)


def test_another_order_of_columns_is_noticed(monkeypatch):
    monkeypatch.setitem(
        KINDS, pa.Table, (lambda columns: pa.table(dict(reversed(columns.items()))), pa.array)
    )
    with pytest.raises(AssertionError):
        check("objective perturbation", pa.Table)


def test_what_is_no_estimator_does_not_look_like_one():
    kinds = [kind for name in dir(dpf) if isinstance(kind := getattr(dpf, name), type)]
    like = {kind for kind in kinds if issubclass(kind, BaseEstimator) or hasattr(kind, "get_params")}
    assert like == {kind for kind in kinds if hasattr(kind, "fit")}
    assert len(like) > 15
