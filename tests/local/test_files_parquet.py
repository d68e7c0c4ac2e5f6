import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_files import GRR, LABELS, a_table, names_in

from dpfair_lib.local import (
    files_parquet,
    generalized_randomized_response,
    randomize_file,
)
from dpfair_lib.local.releases import KEY, record_path, statement_path


def others(table):
    return table.drop(["race"])


@pytest.mark.parametrize("compression", ["snappy", "none", "zstd"])
@pytest.mark.parametrize("store_schema", [True, False])
def test_parquet_keeps_schema_order_and_values_of_all_other_columns(tmp_path, compression, store_schema):
    table, source, target = a_table(), tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(table, source, row_group_size=300, compression=compression, store_schema=store_schema)
    before, told = pq.read_table(source), []
    statement = randomize_file(
        source, target, "race", GRR, labels=LABELS, progress=lambda *now: told.append(now)
    )
    after, about = pq.read_table(target), pq.read_metadata(target)
    assert after.schema.equals(before.schema)
    assert [after.field(i).metadata for i in range(10)] == [before.field(i).metadata for i in range(10)]
    assert others(after).equals(others(before))
    assert set(after["race"].to_pylist()) == set(LABELS)
    assert after["race"] != before["race"]
    kept = {key: value for key, value in after.schema.metadata.items() if key != KEY}
    assert kept == (before.schema.metadata or {})
    assert about.num_row_groups == 4
    assert (
        about.row_group(1).column(0).compression
        == pq.read_metadata(source).row_group(1).column(0).compression
    )
    assert told == [(300, 1000), (600, 1000), (900, 1000), (1000, 1000)]
    assert str(statement) == json.loads(statement_path(target).read_text())["columns"]["race"][0]["text"]
    assert json.loads(about.metadata[KEY]) == json.loads(statement_path(target).read_text())
    assert names_in(tmp_path) == [
        "in.parquet", "in.parquet.reports.json", "out.parquet", "out.parquet.privacy.json"
    ]  # fmt: skip


def test_a_dictionary_has_the_labels_in_their_public_order(tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    frame = pd.DataFrame({"race": pd.Categorical(["Other"] * 5), "x": range(5)})
    frame.to_parquet(source)
    randomize_file(source, target, "race", GRR, labels=LABELS)
    out = pq.read_table(target)
    assert pa.types.is_dictionary(out.schema.field("race").type)
    back = pd.read_parquet(target)
    assert isinstance(back["race"].dtype, pd.CategoricalDtype)
    assert set(back["race"]) <= set(LABELS)
    pd.testing.assert_series_equal(back["x"], frame["x"])


def test_the_row_groups_of_a_report_do_not_tell_the_values(tmp_path, monkeypatch):
    # without a dictionary the longer label takes more bytes, and pieces are cut by bytes
    monkeypatch.setattr(files_parquet, "BYTES", 1 << 15)
    long = "a label of sixty characters or so, so that one of it is told"
    groups = []
    for value in ("a", long):
        source, target = tmp_path / f"{len(value)}.parquet", tmp_path / f"{len(value)}-reports.parquet"
        table = pa.table({"race": [value] + ["a"] * 2999, "name": [f"{i:016d}" for i in range(3000)]})
        pq.write_table(table, source, use_dictionary=False)
        randomize_file(source, target, "race", generalized_randomized_response(2, 1.0), labels=["a", long])
        about = pq.read_metadata(target)
        groups.append([about.row_group(i).num_rows for i in range(about.num_row_groups)])
    assert len(groups[0]) > 1
    assert groups[0] == groups[1]


def test_how_many_categories_pandas_found_is_not_passed_on(tmp_path):
    kept = []
    for values in (["Black", "Other"], ["Black", "Black"]):
        frame = pd.DataFrame({"race": pd.Categorical(values), "sex": pd.Categorical(["F", "M"])})
        frame.to_parquet(tmp_path / "a.parquet")
        randomize_file(
            tmp_path / "a.parquet", tmp_path / "b.parquet", "race", GRR, labels=LABELS, overwrite=True
        )
        record_path(tmp_path / "a.parquet").unlink()
        after = pq.read_schema(tmp_path / "b.parquet")
        kept.append((after.metadata[b"pandas"], pq.read_metadata(tmp_path / "b.parquet").metadata[b"pandas"]))
        assert list(pd.read_parquet(tmp_path / "b.parquet").race.cat.categories) == LABELS
    assert kept[0] == kept[1]
    of_column = {one["name"]: one["metadata"] for one in json.loads(kept[0][0])["columns"]}
    assert of_column == {"race": {"ordered": False}, "sex": {"num_categories": 2, "ordered": False}}
