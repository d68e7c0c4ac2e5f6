import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import Randomizer
from dpfair_lib.local import (
    LabelError,
    generalized_randomized_response,
    randomize_frame,
    subset_selection,
)

LABELS = ["a", "b", "c"]
TRUTH = generalized_randomized_response(3, 60.0)  # a lie has the probability 2^(−31)
GRR = generalized_randomized_response(3, 0.5)
KINDS = {
    "object": lambda values: pd.Series(values, dtype=object),
    "str": lambda values: pd.Series(values, dtype="str"),
    "category": lambda values: pd.Series(values, dtype="category"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("randomizer", [TRUTH, GRR, Randomizer(np.full((3, 3), 1 / 3))])
def test_pandas_frames_keep_all_but_the_values(kind, randomizer):
    values = list("abcb") * 25
    frame = pd.DataFrame({"x": np.arange(100), "race": KINDS[kind](values)}, index=np.arange(100) * 7)
    frame["race"] = KINDS[kind](values).to_numpy() if kind != "category" else pd.Categorical(values)
    before = frame.copy()
    drawn = randomize_frame(frame, "race", randomizer, labels=LABELS)
    pd.testing.assert_frame_equal(frame, before)  # a pure function
    assert list(drawn.columns) == ["x", "race"]
    pd.testing.assert_series_equal(drawn["x"], frame["x"])
    assert isinstance(drawn["race"].dtype, type(frame["race"].dtype))
    assert set(drawn["race"]) <= set(LABELS)
    assert (list(drawn["race"]) == values) == (randomizer is TRUTH)


@pytest.mark.parametrize("known", [["a", "b", "c"], ["c", "a", "b"], ["b", "a", "c", "d"], ["a", "b"]])
def test_the_categories_of_reports_are_the_labels_whatever_those_of_the_values_are(known):
    labels, kind = ["b", "c", "a"], pd.CategoricalDtype(known, ordered=True)
    frame = pd.DataFrame({"race": pd.Categorical(["a", "b", "b"], dtype=kind)})
    tables = [frame, pa.table({"race": pa.array(frame["race"])})]
    drawn = [randomize_frame(table, "race", TRUTH, labels=labels) for table in tables]
    assert list(drawn[0]["race"].cat.categories) == labels
    assert drawn[1].column(0).chunk(0).dictionary.to_pylist() == labels


@pytest.mark.parametrize(
    ("values", "labels"),
    [([3, 5, 9, 5], [9, 3, 5]), ([True, False, True], [False, True]), ([3, 5, 9, 5], [3, 5, 9])],
)
def test_numbers_and_truth_values_are_labels_too(values, labels):
    truth = generalized_randomized_response(len(labels), 60.0)
    frame = pd.DataFrame({"a": values})
    pd.testing.assert_frame_equal(randomize_frame(frame, "a", truth, labels=labels), frame)
    table = pa.table({"a": values})
    assert randomize_frame(table, "a", truth, labels=labels).equals(table)


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
    ],
)
@pytest.mark.parametrize("chunks", [0, 1, 3])
def test_arrow_tables_keep_all_but_the_values(kind, chunks):
    piece = pa.table({"race": pa.array(list("bcab") * 10).cast(kind), "x": range(40)})
    table = pa.concat_tables([piece] * chunks) if chunks else piece.slice(0, 0)
    assert (
        randomize_frame(table, "race", TRUTH, labels=LABELS)["race"].to_pylist() == table["race"].to_pylist()
    )
    drawn = randomize_frame(table, "race", GRR, labels=LABELS)
    assert drawn.schema.equals(table.schema)
    assert drawn.drop(["race"]).equals(table.drop(["race"]))
    for batch in table.slice(5, 20).to_batches():  # a slice begins within its buffers
        out = randomize_frame(batch, "race", TRUTH, labels=LABELS)
        assert isinstance(out, pa.RecordBatch)
        assert out["race"].to_pylist() == batch["race"].to_pylist()


def test_a_dictionary_tells_nothing_of_the_data():
    # its own order is that of first appearance, and its length the number of values that occur
    table = pa.table({"race": pa.array(["c", "b", "c"]).dictionary_encode()})
    drawn = randomize_frame(table, "race", TRUTH, labels=LABELS)["race"].chunk(0)
    assert drawn.dictionary.to_pylist() == LABELS
    assert drawn.to_pylist() == ["c", "b", "c"]
    frame = randomize_frame(pd.DataFrame({"a": pd.Categorical(["c", "b"])}), "a", TRUTH, labels=LABELS)
    assert list(frame["a"].cat.categories) == LABELS


def test_sets_are_lists_of_labels_in_both_kinds_of_tables():
    sets = subset_selection(3, 0.5, size=2)
    values = list("abc") * 30
    frame = randomize_frame(pd.DataFrame({"a": values}), "a", sets, labels=LABELS)
    table = randomize_frame(pa.table({"a": values}), "a", sets, labels=LABELS)
    assert table.schema.field("a").type == pa.list_(pa.string())
    for reports in (frame["a"].tolist(), table["a"].to_pylist()):
        assert all(len(report) == 2 and sorted(report) == report for report in reports)
    empty = randomize_frame(pa.table({"a": pa.array([], pa.string())}), "a", sets, labels=LABELS)
    assert empty.schema == table.schema


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "", None]), min_size=1, max_size=30))
def test_a_value_that_is_no_label_is_told_with_its_row(values):
    bad = [row for row, value in enumerate(values, 1) if value not in LABELS]
    for table in (
        pd.DataFrame({"a": pd.Series(values, dtype=object)}),
        pd.DataFrame({"a": pd.Series(values, dtype="str")}),
        pa.table({"a": pa.array(values, pa.string())}),
        pa.table({"a": pa.array(values, pa.string()).dictionary_encode()}),
    ):
        if not bad:
            assert len(randomize_frame(table, "a", GRR, labels=LABELS)) == len(values)
            continue
        with pytest.raises(LabelError) as told:
            randomize_frame(table, "a", GRR, labels=LABELS)
        assert told.value.row == bad[0]
        found = values[bad[0] - 1]
        assert ("a missing value" if found is None else f"found {found!r}") in str(told.value)


def test_a_seed_draws_the_same_and_the_system_does_not():
    frame = pd.DataFrame({"a": list("abc") * 100})

    def drawn(**options):
        return randomize_frame(frame, "a", GRR, labels=LABELS, **options)["a"].tolist()

    study = {"noise": "study"}
    assert drawn(**study, rng=np.random.default_rng(3)) == drawn(**study, rng=np.random.default_rng(3))
    assert drawn() != drawn()


def test_partitions_of_dask_are_drawn_one_by_one():
    frame = pd.DataFrame({"race": list("abc") * 2000, "x": np.arange(6000)})
    with dask.config.set(scheduler="threads"):
        parts = dd.from_pandas(frame, npartitions=4)
        drawn = parts.map_partitions(randomize_frame, "race", GRR, labels=LABELS, meta=parts._meta).compute()
        frame = parts.compute()  # Dask has a type of strings of its own
        again = parts.map_partitions(
            randomize_frame, "race", TRUTH, labels=LABELS, meta=parts._meta
        ).compute()
    pd.testing.assert_series_equal(drawn["x"], frame["x"])
    pd.testing.assert_frame_equal(again, frame)
    truth = GRR.matrix[0, 0]
    kept = [(drawn["race"] == frame["race"])[at : at + 1500].mean() for at in range(0, 6000, 1500)]
    np.testing.assert_allclose(kept, truth, atol=0.08)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"column": "b"}, r"column: found no single 'b', expected one of \['a'\]"),
        ({"labels": ["a", "b"]}, "labels: found 2, expected 3"),
        ({"labels": "abc"}, "labels: found 'abc', expected a list"),
        ({"labels": ["a", "b", "b"]}, "expected a list of distinct labels"),
        ({"labels": []}, "expected a list of distinct labels"),
        ({"noise": "fast"}, "noise: found 'fast'"),
        ({"noise": "study"}, r"rng: found None, expected a numpy\.random\.Generator"),
        ({"rng": np.random.default_rng(0)}, "rng: found a generator beside noise='secure'"),
        ({"randomizer": Randomizer([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])}, "reports of another kind"),
        ({"frame": [1]}, "frame: found list"),
    ],
)
@pytest.mark.parametrize("kind", [pd.DataFrame, pa.table])
def test_bad_input_is_refused(kind, change, message):
    call = {"frame": kind({"a": list("abc")}), "column": "a", "randomizer": GRR, "labels": LABELS, **change}
    with pytest.raises(ValueError, match=message):
        randomize_frame(call.pop("frame"), call.pop("column"), call.pop("randomizer"), **call)


def test_columns_of_other_types_are_refused():
    with pytest.raises(ValueError, match="a: found the type double, expected strings"):
        randomize_frame(pa.table({"a": [1.0, 2.0]}), "a", GRR, labels=LABELS)
    with pytest.raises(ValueError, match=r"labels: found .* cannot be of the type int64"):
        randomize_frame(pa.table({"a": [1, 2]}), "a", GRR, labels=LABELS)
    with pytest.raises(ValueError, match="some of which are equal as int64"):
        randomize_frame(pa.table({"a": [1, 2]}), "a", GRR, labels=["1", "01", "2"])


@pytest.mark.parametrize("kind", ["table", "batch"])
def test_how_many_categories_pandas_found_is_not_passed_on(kind):
    randomizer = generalized_randomized_response(3, 1.0)
    kept = []
    for values in (["a", "b"], ["a", "a"]):
        made = pa.Table.from_pandas(pd.DataFrame({"race": pd.Categorical(values), "x": [1, 2]}))
        table = made if kind == "table" else made.to_batches()[0]
        after = randomize_frame(table, "race", randomizer, labels=["a", "b", "c"])
        assert type(after) is type(table)
        kept.append(after.schema.metadata)
    assert kept[0] == kept[1]
    assert b"num_categories" in made.schema.metadata[b"pandas"]
    assert b"num_categories" not in kept[0][b"pandas"]


def arrays_behind(column):
    """Return the array of a column, and every array of which that is a view."""
    found, array = [], column.to_numpy()
    while isinstance(array, np.ndarray):
        found.append(array)
        array = array.base
    return found


def test_no_column_is_a_view_of_the_table_that_still_holds_the_values():
    rows = np.column_stack([np.arange(8), np.arange(8) % 2, 3 * np.arange(8)])
    frame = pd.DataFrame(rows, columns=["x", "group", "z"])
    made = randomize_frame(frame, "group", generalized_randomized_response(2, 1.0), labels=[0, 1])
    assert any(array.size == 24 for array in arrays_behind(frame["x"])), "the given table is one array"
    assert not [array for name in made for array in arrays_behind(made[name]) if array.size > 16]
    assert not any(np.shares_memory(made[name].to_numpy(), rows) for name in made)
