from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.datasets import DataError, adult, load, load_table, pins, standin
from dpfair_lib.datasets.loading import load_spec
from dpfair_lib.datasets.spec import File


def _drawn(spec, n):
    return standin.draw(spec, standin.recorded()[spec.name], n=n, rng=np.random.default_rng(1))


@pytest.fixture
def adult_table():
    table = _drawn(adult.SPEC, 300)
    table.loc[[3, 250], "occupation"] = "?"
    return table


@pytest.fixture
def small_adult():
    layouts = (
        (File("adult.data", 200, adult.read_part), File("adult.test", 100, adult.read_part)),
        (File("adult.csv", 300, adult.read_whole),),
    )
    return replace(adult.SPEC, layouts=layouts)


def _as_uci(table):
    def lines(part, dot):
        rows = part.astype({"income": "str"}).assign(income=part["income"] + dot)
        return "\n".join(", ".join(map(str, row)) for row in rows.itertuples(index=False)) + "\n\n"

    return {
        "adult.data": lines(table[:200], ""),
        "adult.test": "|1x3 Cross validator\n" + lines(table[200:], "."),
    }


def test_adult_as_published(small_adult, adult_table, put, tmp_path):
    pinned = pins.measure(small_adult, adult_table)
    data = load_spec(small_adult, pinned, root=put(tmp_path / "in", _as_uci(adult_table)))
    kept = adult_table.drop(index=[3, 250]).reset_index(drop=True)
    assert data.y.tolist() == (kept["income"] == ">50K").astype(int).tolist()
    assert data.sensitive_features.tolist() == kept["sex"].tolist()
    assert data.X["age"].tolist() == kept["age"].tolist()
    assert "occupation_?" not in data.X


def test_adult_as_one_csv_with_either_label_style(small_adult, adult_table, put, tmp_path):
    pinned = pins.measure(small_adult, adult_table)
    dotted = adult_table.assign(income=adult_table["income"] + ["" if at < 200 else "." for at in range(300)])
    for at, form in enumerate((adult_table, dotted)):
        root = put(tmp_path / str(at), {"adult.csv": form.to_csv(index=False)})
        assert load_spec(small_adult, pinned, root=root).card.checksum == pinned.table


def test_adult_with_test_part_first_is_refused(small_adult, adult_table, put, tmp_path):
    pinned = pins.measure(small_adult, adult_table)
    turned = pd.concat([adult_table[200:], adult_table[:200]])
    with pytest.raises(DataError, match="order of the rows"):
        load_spec(small_adult, pinned, root=put(tmp_path / "in", {"adult.csv": turned.to_csv(index=False)}))


def test_adult_cut_off_names_the_part(small_adult, adult_table, put, tmp_path):
    files = _as_uci(adult_table)
    files["adult.test"] = "\n".join(files["adult.test"].splitlines()[:51])
    with pytest.raises(DataError, match=r"adult\.test: expected 100 rows, found 50"):
        load_spec(small_adult, pins.measure(small_adult, adult_table), root=put(tmp_path / "in", files))


def test_adult_files_are_the_publishers(real_data):
    import pooch

    folder, known = real_data("adult"), pins.pinned()["adult"].files
    if not all((folder / file).is_file() for file in known):
        pytest.skip("$DPFAIR_DATA/adult has the table in another form")
    for file, digest in known.items():
        assert pooch.file_hash(str(folder / file), "sha256") == digest


def test_adult_by_other_groups(real_data):
    real_data("adult")
    race = load("adult", sensitive="race", download=False)
    assert race.X.shape[1] == 102 - 5 + 2
    assert race.sensitive_features.value_counts()["White"] == 38_903
    both = load("adult", sensitive=["sex", "race"], download=False)
    assert both.X.shape[1] == 102 - 5
    assert both.sensitive_features.nunique() == 10
    assert "Female & Asian-Pac-Islander" in set(both.sensitive_features)


def test_adult_rows_keep_their_order(real_data):
    real_data("adult")
    data, table = load("adult", download=False), load_table("adult", download=False)
    assert table.shape == (48_842, 15)
    assert (table == "?").any(axis=1).sum() == 3_620
    assert data.X["fnlwgt"].tolist() == table[(table != "?").all(axis=1)]["fnlwgt"].tolist()
    assert data.X["fnlwgt"].iloc[0] == 77_516


def test_adult_as_one_csv_and_with_parts_exchanged(real_data, put, tmp_path):
    real_data("adult")
    table = load_table("adult", download=False)
    put(tmp_path / "one", {"adult.csv": table.to_csv(index=False)})
    assert load("adult", root=tmp_path / "one").card.source == "root"
    turned = pd.concat([table[32_561:], table[:32_561]])
    put(tmp_path / "turned", {"adult.csv": turned.to_csv(index=False)})
    with pytest.raises(DataError, match="order of the rows"):
        load("adult", root=tmp_path / "turned")
