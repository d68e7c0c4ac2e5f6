"""Each row is mapped by itself, whatever it holds; nothing that a cell holds raises or warns."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch
from rows import ODD, odd_table, transformers
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import dpfair_lib as dpf
from dpfair_lib.preparation import cells
from dpfair_lib.preparation.cells import Preparation, Scaled, as_floats, columns_of
from dpfair_lib.preparation.scaling import PublicScaler


def alike(one, two):
    """Whether two tables hold the same in each cell, missing values included."""
    first, second = (np.asarray(table, dtype=object).ravel().tolist() for table in (one, two))
    return len(first) == len(second) and all(
        a is b
        or (isinstance(a, str) and a == b)
        or (isinstance(a, float) and isinstance(b, float) and (a == b or (a != a and b != b)))
        for a, b in zip(first, second, strict=True)
    )


def check_row_wise(fitted, table):
    """Raise unless each row's result is that of the row alone, and of rows in another order."""
    whole = fitted.transform(table)
    order = np.random.default_rng(0).permutation(len(table))
    assert alike(fitted.transform(table.iloc[order]), whole.iloc[order])
    for at in range(len(table)):
        assert alike(fitted.transform(table.iloc[at : at + 1]), whole.iloc[at : at + 1])


@pytest.mark.parametrize("name", transformers())
def test_rows_are_mapped_one_by_one(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = transformers()[name].fit(odd_table())
        check_row_wise(fitted, odd_table())


def test_a_transform_that_mixes_rows_is_caught(monkeypatch):
    def centred(_, values):
        found = as_floats(values)
        return [found - found[np.isfinite(found)].sum()]

    monkeypatch.setattr(Scaled, "apply", centred)
    fitted, table = transformers()["public scaler"].fit(odd_table()), odd_table()
    with np.errstate(all="ignore"), pytest.raises(AssertionError):
        check_row_wise(fitted, table)


@pytest.mark.parametrize("name", transformers())
def test_every_transformer_says_that_it_is_row_wise_and_what_it_costs(name):
    fitted = transformers("secure")[name].fit(odd_table())
    assert fitted.row_wise is True
    statement = fitted.privacy_statement_
    assert statement.guarantee
    assert "the columns" in statement.public
    assert statement.free == (not name.startswith("private"))
    assert statement.epsilon == (1.0 if name.startswith("private") else 0.0)


@pytest.mark.parametrize("name", transformers())
def test_clones_and_parameters(name):
    made = transformers()[name]
    copy = clone(made)
    assert copy.get_params() == made.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(odd_table())
    first, second = (one.fit(odd_table()).transform(odd_table()) for one in (made, copy))
    assert alike(first, second)


@pytest.mark.parametrize("name", transformers())
def test_names_of_columns(name):
    fitted = transformers()[name].fit(odd_table())
    made = fitted.transform(odd_table())
    assert fitted.get_feature_names_out().tolist() == list(made.columns)
    assert fitted.n_features_in_ == 3
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    assert alike(made[["c"]], odd_table()[["c"]])  # not declared, so as it was
    assert list(made.index) == list(odd_table().index)


def test_what_numbers_are():
    found = as_floats(np.array([*ODD, Fraction(1, 2)], dtype=object))
    expected = [np.nan, np.nan, np.nan, np.nan, 0.5, np.nan, np.nan, np.nan, np.nan, np.nan, np.inf, -np.inf, np.inf,
                -np.inf, 1.0, 0.0, np.nan, np.nan, np.inf, np.nan, 3.0, 0.0, 5e-324, 0.5]  # fmt: skip
    assert np.array_equal(found, expected, equal_nan=True)
    for kind in (bool, np.int8, np.uint64, np.float32):
        assert np.array_equal(as_floats(np.array([0, 1], dtype=kind)), [0.0, 1.0])


def test_columns_of_frames_arrays_lists_and_tensors():
    plain = np.arange(6.0).reshape(3, 2)
    expected = PublicScaler({1: (0, 10)}).fit(plain).transform(plain)
    assert expected.dtype == float
    assert np.allclose(expected[:, 1], [0.1, 0.3, 0.5])
    for form in (plain.tolist(), torch.tensor(plain), plain.astype(np.float32), plain.astype(object)):
        made = PublicScaler({1: (0, 10)}).fit(form).transform(form)
        assert np.array_equal(made.astype(float), expected)
    # a word in one row changes no other row's cells
    mixed = [[1, 2.0], ["a", None]]
    assert PublicScaler({1: (0, 10)}).fit_transform(mixed)[0].tolist() == [1, 0.2]


@pytest.mark.parametrize("X", [[1, 2], np.zeros(3), 5, None, np.zeros((2, 2, 2))])
def test_what_is_no_table_is_refused(X):
    with pytest.raises(ValueError, match=r"X: found shape .*, expected two dimensions"):
        columns_of(X)


def test_bad_tables_and_bounds():
    scaler = dpf.PublicScaler({"a": (0, 1)})
    with pytest.raises(ValueError, match=r"X: found no column 'a', expected one of \[0, 1\]"):
        scaler.fit(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="X: found two columns of one name"):
        scaler.fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    scaler.fit(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    with pytest.raises(ValueError, match="feature names"):
        scaler.transform(pd.DataFrame({"a": [1.0], "d": [2.0]}))
    for bounds in [
        {0: (1, 0)}, {0: (0, 0)}, {0: (0, np.inf)}, {0: (-1.7e308, 1.7e308)}, {0: (0, 5e-324)}, {0: 3}, {0: "ab"},
        {0: (0, np.nan)}, {0: (0, 1, 2)}, {}, None, [(0, 1)],
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=r"bounds.*: found .*, expected"):
            dpf.PublicScaler(bounds).fit(np.zeros((2, 1)))


def test_a_transformer_of_ones_own_only_says_what_happens_to_cells():
    class Doubled:
        def names(self, column):
            return [column]

        def apply(self, values):
            return [2 * as_floats(values)]

    class Doubling(Preparation):
        def _learn(self, columns):
            return dict.fromkeys(columns, Doubled()), cells.without_cost()

    assert Doubling().fit_transform(np.ones((2, 2))).tolist() == [[2.0, 2.0]] * 2
    with pytest.raises(TypeError, match="abstract"):
        Preparation()


def test_columns_of_arrow_tables_have_their_names():
    import pyarrow as pa

    frame = odd_table().assign(n=np.arange(len(odd_table())) / 10)[["n"]].assign(m=1.0)
    scaler = PublicScaler({"n": (0, 10)})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    expected = scaler.fit(frame).transform(frame).to_numpy()
    assert np.array_equal(scaler.fit(table).transform(table), expected)
    assert scaler.feature_names_in_.tolist() == ["n", "m"]
    with pytest.raises(ValueError, match=r"X: found no column 'x', expected one of \['n', 'm'\]"):
        PublicScaler({"x": (0, 10)}).fit(table)
    twice = pa.table([[1.0], [2.0]], names=["n", "n"])
    with pytest.raises(ValueError, match="X: found two columns of one name"):
        scaler.fit(twice)


def test_a_pipeline_and_a_choice_take_arrow_tables():
    import pyarrow as pa

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"n": rng.uniform(0, 10, 400), "m": rng.uniform(0, 1, 400)})
    y = (frame["n"] > 5).astype(int)
    learner = dpf.ObjectivePerturbation(
        feature_bound=1.5, epsilon=50.0, delta=1e-3, noise="study", random_state=0
    )
    steps = [("scale", PublicScaler({"n": (0, 10), "m": (0, 1)})), ("learn", learner)]
    selection = dpf.PrivateSelection(
        [dpf.PrivatePipeline(steps)] * 2, epsilon=1.0, noise="study", random_state=0
    )
    answers = []
    for X, labels in ((frame, y), (pa.Table.from_pandas(frame, preserve_index=False), pa.array(y))):
        answers.append(selection.fit(X, labels).predict(X))
    assert np.array_equal(*answers)
    assert (answers[0] == y).mean() > 0.8


def test_a_wide_float_that_no_float_holds_does_not_warn():
    wide = np.array([1.5, np.inf, -np.inf], dtype=np.longdouble)
    if np.finfo(np.longdouble).maxexp > np.finfo(float).maxexp:
        wide[1:] = [np.finfo(np.longdouble).max, -np.finfo(np.longdouble).max]
    assert as_floats(wide).tolist() == [1.5, np.inf, -np.inf]
