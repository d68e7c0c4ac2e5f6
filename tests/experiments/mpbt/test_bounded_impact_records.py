"""The records of MPBT's experiments, as the chapters read them."""

import pytest

from dpfair_lib.experiments.mpbt.bounded_impact_records import (
    cut_n,
    data_sets,
    points,
    provenance,
    recorded,
    table_of,
)


@pytest.mark.parametrize("data", ["celeba", "acs-income"])
def test_the_records_are_read_with_what_they_were_made_with(data):
    assert data in data_sets()
    assert recorded("table", data) is recorded("table", data)
    assert provenance("table", data)["parameters"]["n"] == cut_n(data)
    assert {key[0] for key in points(data)} == {"as run", "as stated"}
    rows = table_of(data, "as run", cut_n(data))
    assert len(rows) == 9
    assert set(rows["fit"]) == {"as run"}
    assert len(table_of(data, "as run", 1)) == 0
