import pytest

from dpfair_lib.datasets.pins import pinned
from dpfair_lib.experiments.sources import Source, describe_table, on_data

SMALL = Source("adult", standin=60)


def test_a_stand_in_has_the_rows_asked_for_and_is_drawn_once():
    first = SMALL.dataset()
    assert len(first.y) == len(first.X) == 60
    assert Source("adult", standin=60).dataset() is first
    assert len(Source("adult", standin=61).dataset().y) == 61


def test_a_task_names_its_data_and_passes_the_rest_on():
    def rows(dataset, *, times):
        yield from ({"rows": len(dataset.y), "time": at} for at in range(times))

    assert on_data(rows, source=SMALL, times=2) == [{"rows": 60, "time": 0}, {"rows": 60, "time": 1}]
    with pytest.raises(TypeError, match="times"):
        on_data(rows, source=SMALL)


def test_a_table_is_described_from_its_pins_without_being_there(monkeypatch, tmp_path):
    monkeypatch.setenv("DPFAIR_DATA", str(tmp_path))
    pins = pinned()["compas"]
    assert describe_table("compas") == {"name": "compas", "checksum": pins.table, "rows": pins.rows}
    with pytest.raises(KeyError):
        describe_table("none")
