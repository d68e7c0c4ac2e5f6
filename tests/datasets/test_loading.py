"""Where files are looked for, which forms are accepted, and what becomes of the columns."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.datasets import load, load_table
from dpfair_lib.datasets.loading import categories_of, load_spec, prepare


def test_both_forms_give_the_same(tiny, tiny_pins, table, parts, put, tmp_path):
    two = load_spec(tiny(), tiny_pins, root=put(tmp_path / "two", parts))
    one = load_spec(tiny(), tiny_pins, root=put(tmp_path / "one", {"whole.csv": table.to_csv(index=False)}))
    pd.testing.assert_frame_equal(one.X, two.X)
    pd.testing.assert_series_equal(one.y, two.y)
    assert one.card == two.card


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t[t.columns[::-1]],
        lambda t: t.rename(columns=str.upper),
        lambda t: t.assign(ID=range(6)),
        lambda t: t.assign(age=t["age"].astype(float)),
        lambda t: t.rename(columns={"outcome": "Result of the year"}),
    ],
    ids=["columns moved", "capital letters", "further column", "whole numbers as 1.0", "known other name"],
)
def test_equal_tables_are_accepted(change, tiny, tiny_pins, table, put, tmp_path):
    spec = tiny(renamed={"result_of_the_year": "outcome"})
    root = put(tmp_path / "in", {"whole.csv": change(table).to_csv(index=False)})
    assert load_spec(spec, tiny_pins, root=root).card.checksum == tiny_pins.table


def test_line_ends_spaces_and_mark_do_not_matter(tiny, tiny_pins, table, put, tmp_path):
    text = "\ufeff" + table.to_csv(index=False).replace(",", ", ").replace("\n", "\r\n") + "\r\n"
    assert len(load_spec(tiny(), tiny_pins, root=put(tmp_path / "in", {"whole.csv": text})).y) == 6


def test_features_are_all_columns_but_label_and_sensitive(tiny, tiny_pins, table, parts, put, tmp_path):
    data = load_spec(tiny(), tiny_pins, root=put(tmp_path / "in", parts))
    assert data.feature_names == ["age", "score", "town_Down", "town_Up", "code_1", "code_2", "code_10"]
    assert list(data.X.columns) == data.feature_names
    assert data.numeric_features == ["age", "score"]
    assert set(data.X.dtypes) == {np.dtype("float64")}
    assert data.X["score"].tolist() == table["score"].tolist()
    assert data.X["code_10"].tolist() == [0, 0, 1, 0, 0, 0]
    assert data.y.tolist() == table["outcome"].tolist()
    assert data.y.dtype == np.int64
    assert data.sensitive_features.tolist() == ["female", "male", "male", "female", "female", "male"]
    assert data.sensitive_features.name == "sex"
    assert not data.card.synthetic


def test_one_sensitive_column_leaves_the_other_a_feature(tiny, tiny_pins, parts, put, tmp_path):
    data = load_spec(tiny(), tiny_pins, sensitive="town", root=put(tmp_path / "in", parts))
    assert data.feature_names[2:4] == ["sex_f", "sex_m"]
    assert data.sensitive_features.tolist()[:2] == ["Up", "Down"]


def test_several_sensitive_columns_give_their_product(tiny, tiny_pins, parts, put, tmp_path):
    data = load_spec(tiny(), tiny_pins, sensitive=["town", "sex"], root=put(tmp_path / "in", parts))
    assert data.sensitive_features.tolist()[:3] == ["Up & female", "Down & male", "Up & male"]
    assert data.sensitive_features.name == "town & sex"
    assert data.feature_names == ["age", "score", "code_1", "code_2", "code_10"]


@pytest.mark.parametrize("sensitive", ["Sex", "age", [], ["sex", "sex"], ["sex", "code"]])
def test_unknown_sensitive_column(sensitive, tiny, tiny_pins, tmp_path):
    with pytest.raises(ValueError, match=r"sensitive: found .* expected .*'sex', 'town'"):
        load_spec(tiny(), tiny_pins, sensitive=sensitive, root=tmp_path)


@pytest.mark.parametrize("call", [load, load_table])
def test_unknown_name(call):
    with pytest.raises(ValueError, match="name: found 'adults', expected one of adult, adult-26k, credit"):
        call("adults")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("adult", "adult.data + adult.test"),
        ("credit", "clients.xls"),
        ("compas", "compas-scores-two-years.csv"),
        ("adult-26k", "db_adult_processed_26k.csv or adult_26k_arcolezi.csv"),
        ("lsac", "bar_pass_prediction.csv"),
        ("celeba", "celeba.csv.zip or celeba.csv or list_attr_celeba.txt"),
        ("acs-income", "acs_income_2018_49states.csv or csv_pal.zip + csv_pak.zip + … + csv_ppr.zip"),
    ],
)
def test_public_names_say_what_is_lacking(name, files):
    with pytest.raises(FileNotFoundError, match=files.replace("+", r"\+")):
        load(name, download=False)
    with pytest.raises(FileNotFoundError, match=files.replace("+", r"\+")):
        load_table(name, download=False)


@pytest.mark.parametrize("numeric", [("age", "score"), ("score",)])
def test_features_of_one_block_are_the_callers_to_change(tiny, table, numeric):
    spec = tiny(categorical=("sex", "town"))
    spec = replace(spec, columns={name: spec.columns[name] for name in (*numeric, "sex", "town", "outcome")})
    before = table.copy()
    data = prepare(table, spec, ("sex", "town"), categories_of(table, spec), None)
    assert data.feature_names == list(numeric)
    data.X.loc[0, "score"] = 7.0
    assert data.X.loc[0, "score"] == 7
    pd.testing.assert_frame_equal(table, before)
