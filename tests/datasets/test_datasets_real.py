"""The real files, where they are: sizes, counts, pins, facts, and what the data cards say."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.datasets import DataError, load, load_table, measure_pins, pins, standin, synthetic
from dpfair_lib.datasets.loading import SPECS

SHAPES = {
    "adult": (45_222, 102), "credit": (30_000, 85), "compas": (5_278, 7),
    "adult-26k": (45_849, 98), "lsac": (20_427, 14), "celeba": (202_599, 38),
    "acs-income": (1_369_838, 9),
}  # fmt: skip
CARDS = Path(__file__).parents[2] / "book" / "data"


@pytest.fixture(params=sorted(SPECS))
def name(request, real_data):
    real_data(request.param)
    return request.param


def test_shape_and_stand_in_agree(name):
    data, drawn = load(name, download=False), synthetic(name, random_state=0)
    assert data.X.shape == SHAPES[name]
    assert data.feature_names == drawn.feature_names
    assert data.numeric_features == drawn.numeric_features
    numeric = {
        "adult": 6,
        "credit": 14,
        "compas": 3,
        "adult-26k": 2,
        "lsac": 2,
        "celeba": 38,
        "acs-income": 9,
    }
    assert len(data.numeric_features) == numeric[name]
    assert data.X.dtypes.equals(drawn.X.dtypes)
    assert (data.y.dtype, data.y.name) == (drawn.y.dtype, drawn.y.name)
    assert data.sensitive_features.dtype == drawn.sensitive_features.dtype
    cells = [d.y.groupby([d.sensitive_features, d.y]).size().to_dict() for d in (data, drawn)]
    assert cells[0] == cells[1]
    assert data.card.source == "$DPFAIR_DATA"


def test_recorded_pins_and_facts_are_those_of_the_files(name, real_data):
    measured, facts = measure_pins.measure(SPECS[name], real_data(name), pins.pinned()[name].files)
    assert measured == pins.pinned()[name]
    assert facts == standin.recorded()[name]


def test_record_writes_the_files_that_are_there(name, real_data, tmp_path):
    known = {name: pins.pinned()[name].files}
    measure_pins.write(tmp_path, {name: SPECS[name]}, root=real_data(name).parent, files=known)
    assert (tmp_path / "pins.toml").read_text() == pins.render({name: pins.pinned()[name]})
    assert (tmp_path / "standin.toml").read_text() == standin.render({name: standin.recorded()[name]})


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


def test_one_changed_amount_in_credit_is_seen(real_data, put, tmp_path):
    real_data("credit")
    table = load_table("credit", download=False)
    table.loc[12_345, "BILL_AMT4"] += 1
    put(tmp_path, {"credit-card-clients.csv": table.to_csv(index=False)})
    with pytest.raises(DataError, match="what differs: 'BILL_AMT4';"):
        load("credit", root=tmp_path)


@pytest.mark.parametrize("card", sorted(SPECS))
def test_page_of_the_book_has_the_recorded_figures(card):
    text = (CARDS / f"{card}.md").read_text(encoding="utf-8")
    spec, pinned, facts = SPECS[card], pins.pinned()[card], standin.recorded()[card]
    assert pinned.table in text
    assert spec.homepage in text
    assert spec.licence in text
    assert spec.citation.split("doi:")[-1] in text
    assert all(file.name in text for layout in spec.layouts for file in layout)
    assert all(digest in text for digest in pinned.files.values())
    assert f"{pinned.rows:,}" in text
    assert all(f"{cell['rows']:,}" in text for cell in facts["cells"])


def test_lsac_coded_as_in_the_figures_is_the_published_reduction(real_data):
    from dpfair_lib.experiments.thesis.randomised_training import coded_table

    reduced = real_data("lsac") / "db_LSAC.csv"
    if not reduced.is_file():
        pytest.skip("$DPFAIR_DATA/lsac does not have db_LSAC.csv")
    table = pd.read_csv(reduced)
    coded_table.cache_clear()
    coded = coded_table("lsac-family-income")
    assert (coded.a == table["fam_inc"]).all()
    assert (coded.y == table["pass_bar"]).all()
    others = [table[name].to_numpy()[:, None] == range(table[name].nunique()) for name in
              ("gender", "fulltime", "race1", "lsat", "ugpa")]  # fmt: skip
    assert (np.hstack(others) == coded.X).all()


def test_lsac_leaves_out_rows_with_an_empty_cell_and_adult_26k_is_found_beside_adult(real_data):
    real_data("lsac")
    assert load_table("lsac", download=False)["empty_cells"].eq(0).sum() == 20_427
    folder = real_data("adult-26k")
    assert load("adult-26k", sensitive=["race", "gender"], root=folder).sensitive_features.nunique() == 10
