"""Missing values: refused, a label of their own, or public; in files and tables, and said in the statement."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest
from small_files import names_in, run

from dpfair_lib import Randomizer, generalized_randomized_response, subset_selection
from dpfair_lib.local import LabelError, randomize_file, randomize_frame
from dpfair_lib.local.releases import record_path, releases_of

# a becomes b, b becomes missing, missing becomes a: whoever is taken for another is seen
TURN = Randomizer([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
SWAP = Randomizer([[0.0, 1.0], [1.0, 0.0]])
VALUES = ["a", None, "b", "b", None, "a", "a"] * 3
TURNED = ["b", "a", None, None, "a", "b", "b"] * 3
SWAPPED = ["b", None, "a", "a", None, "b", "b"] * 3


def written(path, values, **options):
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"g": values, "x": range(len(values))}, **options), path)
    else:
        lines = [f"{value or ''},{i}" for i, value in enumerate(values)]
        path.write_text("\n".join(["g,x", *lines]) + "\n")
    return path


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)["g"].to_pylist()
    return [line.split(",")[0] or None for line in path.read_text().splitlines()[1:]]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("missing", "channel", "expected"), [("label", TURN, TURNED), ("public", SWAP, SWAPPED)]
)
def test_in_files_missing_values_become_what_is_asked(tmp_path, suffix, missing, channel, expected):
    source, target = written(tmp_path / f"in.{suffix}", VALUES), tmp_path / f"out.{suffix}"
    with pytest.raises(LabelError, match="found a missing value in row 2"):
        randomize_file(source, target, "g", SWAP, labels=["a", "b"])
    assert names_in(tmp_path) == [f"in.{suffix}"]
    randomize_file(source, target, "g", channel, labels=["a", "b"], missing=missing)
    assert read(target) == expected
    assert releases_of(target)["g"][0]["missing"] == missing


@pytest.mark.parametrize(
    ("kind", "labels", "to"),
    [
        (object, ["a", "b"], object), ("str", ["a", "b"], "str"), ("category", ["a", "b"], None),
        ("Int8", [1, 2], "Int8"), (float, [1, 2], float), ("boolean", [False, True], "boolean"),
        (object, [False, True], object),
    ],
)  # fmt: skip
def test_in_pandas_columns(kind, labels, to):
    names = dict(zip(["a", "b", None], [*labels, None], strict=True))
    frame = pd.DataFrame({"g": pd.Series([names[v] for v in VALUES], dtype=kind)})
    frame.index = frame.index[::-1]
    for missing, channel, expected in (("label", TURN, TURNED), ("public", SWAP, SWAPPED)):
        out = randomize_frame(frame, "g", channel, labels=labels, missing=missing)["g"]
        assert list(out.astype(object).where(out.notna(), None)) == [names[v] for v in expected]
        assert list(out.index) == list(frame.index)
        assert out.dtype == (to or pd.CategoricalDtype(labels))


@pytest.mark.parametrize(
    ("dtype", "labels", "becomes"), [("int64", [0, 1], "float64"), (bool, [False, True], object)]
)
def test_the_type_of_the_reports_does_not_tell_whether_a_value_was_missing(dtype, labels, becomes):
    frame = pd.DataFrame({"g": np.array([0, 1, 1], dtype=dtype)})
    out = randomize_frame(frame, "g", TURN, labels=labels, missing="label")["g"]
    assert out.dtype == becomes
    assert out.isna().tolist() == [False, True, True]
    whole = Randomizer(np.eye(3)[[1, 0, 2]])  # no report is missing, and the type is the same
    assert randomize_frame(frame, "g", whole, labels=labels, missing="label")["g"].dtype == becomes


def test_numbers_that_no_float_holds_are_refused():
    frame = pd.DataFrame({"g": [0, 0]})
    with pytest.raises(ValueError, match="expected numbers that a float holds exactly"):
        randomize_frame(frame, "g", TURN, labels=[0, 2**60 + 1], missing="label")


def test_in_arrow_dictionaries_and_columns_that_may_not_be_empty(tmp_path):
    codes = pa.array([0, None, 1], pa.int8())
    table = pa.table({"g": pa.DictionaryArray.from_arrays(codes, pa.array(["b", "a"]))})
    out = randomize_frame(table, "g", TURN, labels=["a", "b"], missing="label")["g"].combine_chunks()
    assert out.to_pylist() == [None, "a", "b"]
    assert out.dictionary.to_pylist() == ["a", "b"]
    # missing may also stand in the dictionary
    inside = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), pa.array(["b", None, "a"]))
    for missing, channel, expected in (
        ("label", TURN, [None, "a", "b"]),
        ("public", SWAP, ["a", None, "b"]),
    ):
        out = randomize_frame(pa.table({"g": inside}), "g", channel, labels=["a", "b"], missing=missing)
        assert out["g"].to_pylist() == expected
    schema = pa.schema([pa.field("g", pa.string(), nullable=False), pa.field("x", pa.int64())])
    source = written(tmp_path / "in.parquet", ["a", "b"], schema=schema)
    randomize_file(source, tmp_path / "out.parquet", "g", TURN, labels=["a", "b"], missing="label")
    assert pq.read_table(tmp_path / "out.parquet")["g"].to_pylist() == ["b", None]
    assert pq.read_schema(tmp_path / "out.parquet").field("g").nullable


def test_a_label_that_no_narrow_index_holds_is_not_needed_for_missing_ones():
    labels = [f"{i:03d}" for i in range(128)]  # an int8 counts to 127
    codes = pa.array([0, None], pa.int8())
    table = pa.table({"g": pa.DictionaryArray.from_arrays(codes, pa.array(["000"]))})
    swap = Randomizer(np.eye(129)[[128, *range(1, 128), 0]])
    out = randomize_frame(table, "g", swap, labels=labels, missing="label")["g"]
    assert out.to_pylist() == [None, "000"]


def test_what_pandas_noted_of_a_type_without_missing_values_is_not_passed_on(tmp_path):
    noted = []
    for values in ([True, False], [True, None]):
        source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
        pd.DataFrame({"g": values}).to_parquet(source)
        randomize_file(source, target, "g", TURN, labels=["false", "true"], missing="label", overwrite=True)
        record_path(source).unlink()
        noted.append(json.loads(pq.read_schema(target).metadata[b"pandas"])["columns"][0]["numpy_type"])
        assert pd.read_parquet(target)["g"].dtype == object
    assert noted == ["object", "object"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_sets_of_labels(tmp_path, suffix):
    source = written(tmp_path / f"in.{suffix}", VALUES * 20)
    channel = subset_selection(4, 1.0, size=2)
    randomize_file(source, tmp_path / f"l.{suffix}", "g", channel, labels=["a", "b", "c"], missing="label")
    sets = read(tmp_path / f"l.{suffix}")
    split = {tuple(one.split("|")) if suffix == "csv" else tuple(one) for one in sets}
    gone = "" if suffix == "csv" else None
    assert split == {(x, y) for i, x in enumerate("abc") for y in [*"abc"[i + 1 :], gone]}
    record_path(source).unlink()
    channel = subset_selection(3, 1.0, size=2)
    randomize_file(source, tmp_path / f"p.{suffix}", "g", channel, labels=["a", "b", "c"], missing="public")
    assert [one is None for one in read(tmp_path / f"p.{suffix}")] == [one is None for one in VALUES * 20]


def test_a_missing_report_of_a_file_of_one_column_is_no_empty_line(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('g\na\n\nb\n""\n')
    randomize_file(source, target, "g", TURN, labels=["a", "b"], missing="label")
    assert target.read_text() == 'g\nb\na\n""\na\n'
    assert pd.read_csv(target)["g"].isna().tolist() == [False, False, True, False]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_missing_values_that_are_a_label_have_the_distribution_of_the_channel(tmp_path, suffix):
    n, channel = 30_000, generalized_randomized_response(3, 1.0)
    source, target = written(tmp_path / f"in.{suffix}", ["a", "b", None] * n), tmp_path / f"out.{suffix}"
    randomize_file(source, target, "g", channel, labels=["a", "b"], missing="label")
    reports = np.array([{"a": 0, "b": 1, None: 2}[one] for one in read(target)]).reshape(n, 3)
    exact = channel.realized().matrix.astype(float)
    for value in range(3):
        for report in range(3):
            count = int((reports[:, value] == report).sum())
            interval = binomtest(count, n).proportion_ci(1 - 1e-6 / 9, "exact")
            assert interval.low <= exact[value, report] <= interval.high


def test_the_statement_and_the_output_say_what_became_of_them(tmp_path, capsys):
    source = written(tmp_path / "in.csv", VALUES)
    common = ("--column", "g", "--labels", "a,b", "--epsilon", 1)
    assert run(source, tmp_path / "r.csv", *common) == 1
    assert "g: found a missing value in row 2" in capsys.readouterr().err
    said = {}
    for missing in ("label", "public"):
        record_path(source).unlink(missing_ok=True)
        assert run(source, tmp_path / f"{missing}.csv", *common, "--missing", missing) == 0
        said[missing] = capsys.readouterr().out
        made = releases_of(tmp_path / f"{missing}.csv")["g"][0]
        assert (made["missing"], made["labels"]) == (missing, ["a", "b"])
        assert said[missing].split(": ", 1)[1].replace("\n  ", "; ").strip() == made["text"]
    assert "a missing value of g is a label of its own, randomised like the others" in said["label"]
    assert "whose g" not in said["label"]
    assert "whose g is missing" in said["public"]
    assert "missing values of g are kept as they are" in said["public"]
    assert "whose g is missing" in releases_of(tmp_path / "public.csv")["g"][0]["statement"]["public"]


def test_the_optimal_channel_asks_for_the_share_and_rate_of_those_whose_value_is_missing(tmp_path, capsys):
    source, population = written(tmp_path / "in.csv", VALUES), tmp_path / "population.csv"
    common = (source, tmp_path / "out.csv", "--column", "g", "--epsilon", 1, "--mechanism", "optimal")
    asked = ("--missing", "label", "--population", population)
    population.write_text("label,share,rate\na,0.5,0.2\nb,0.5,0.4\n")
    assert run(*common, *asked) == 2
    assert (
        "found 'b' as the last label beside --missing label, expected an empty one" in capsys.readouterr().err
    )
    population.write_text("label,share,rate\na,0.5,0.2\nb,0.3,0.4\n,0.2,0.9\n")
    assert run(*common, *asked) == 0
    made = releases_of(tmp_path / "out.csv")["g"][0]
    assert made["labels"] == ["a", "b"]
    assert len(made["channel"]) == 3
    options = ("--labels", "a,b", "--shares", "0.5,0.3,0.2", "--rates", "0.2,0.4,0.9")
    record_path(source).unlink()
    assert run(*common, "--missing", "label", *options, "--overwrite") == 0
    assert releases_of(tmp_path / "out.csv")["g"][0]["channel"] == made["channel"]


def test_what_does_not_fit_is_refused():
    frame = pd.DataFrame({"g": ["a", None]})
    with pytest.raises(
        ValueError, match="missing: found 'drop', expected one of 'refuse', 'label', 'public'"
    ):
        randomize_frame(frame, "g", SWAP, labels=["a", "b"], missing="drop")
    with pytest.raises(
        ValueError, match=r"labels: found 2, expected 1: .* without the last, which stands for missing"
    ):
        randomize_frame(frame, "g", SWAP, labels=["a", "b"], missing="label")
    for missing, channel in (("label", TURN), ("public", SWAP)):
        strange = pd.DataFrame({"g": ["a", None, "z"]})
        with pytest.raises(LabelError, match="found 'z' in row 3"):
            randomize_frame(strange, "g", channel, labels=["a", "b"], missing=missing)
        with pytest.raises(LabelError, match="found 'z' in row 3"):
            randomize_frame(
                pa.table({"g": ["a", None, "z"]}), "g", channel, labels=["a", "b"], missing=missing
            )
