"""The real files, where they are: sizes, counts, pins, facts, and what the data cards say."""

from pathlib import Path

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
