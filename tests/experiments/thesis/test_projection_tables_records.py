"""The recorded trials of Tables 5.1–5.4, as checks and chapters read them."""

import pytest

from dpfair_lib.experiments.thesis.projection_tables_records import DATA, PUBLISHED, published, times, trials


@pytest.mark.parametrize("data", DATA)
def test_the_published_splits_are_the_first_of_all(data):
    rows, every = published(data), trials(data)
    assert sorted(rows["split"].unique()) == list(range(PUBLISHED))
    assert every["split"].nunique() > PUBLISHED
    assert len(rows) * every["split"].nunique() == len(every) * PUBLISHED


def test_one_time_is_of_opt_and_all_are_positive():
    rows = times()
    assert (rows["step"] == "OPT").sum() == 1
    assert (rows["seconds"] > 0).all()
