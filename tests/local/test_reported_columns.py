"""Several columns at once, and what their reports cost together."""

import json
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_files import names_in, run

from dpfair_lib import Randomizer, generalized_randomized_response, subset_selection
from dpfair_lib.local import (
    LabelError,
    ReportedColumn,
    SecondReportWarning,
    audit_channel,
    files,
    files_csv,
    randomize_columns,
)
from dpfair_lib.local.releases import record_path, releases_of, reports_from, statement_path
from dpfair_lib.local.reported_columns import cleaning, drawing, joint_record, statement_of
from dpfair_lib.privacy.noise_source import NoiseSource

SWAP = Randomizer([[0.0, 1.0], [1.0, 0.0]])
TURN = Randomizer(np.eye(3)[[1, 2, 0]])
GROUP = ReportedColumn("group", generalized_randomized_response(3, 1.0), ["a", "b", "c"])
VOTE = ReportedColumn("vote", generalized_randomized_response(2, 0.5), ["no", "yes"])


def people(path, n=30):
    frame = pd.DataFrame({"vote": ["no", "yes", "no"] * n, "x": range(3 * n), "group": ["a", "b", "c"] * n})
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("block", [9, 1 << 20])
def test_every_column_is_replaced_and_the_others_stay(tmp_path, monkeypatch, suffix, block):
    monkeypatch.setattr(files_csv, "BLOCK", block)
    source, target = people(tmp_path / f"in.{suffix}"), tmp_path / f"out.{suffix}"
    # not in the order of the file
    columns = [ReportedColumn("group", TURN, ["a", "b", "c"]), ReportedColumn("vote", SWAP, ["no", "yes"])]
    randomize_columns(source, target, columns)
    after = pd.read_parquet(target) if suffix == "parquet" else pd.read_csv(target)
    assert list(after.columns) == ["vote", "x", "group"]
    assert after["group"].tolist() == ["b", "c", "a"] * 30
    assert after["vote"].tolist() == ["yes", "no", "yes"] * 30
    assert after["x"].tolist() == list(range(90))


def known_of_columns(tmp_path, columns, **other):
    """Return what pandas' metadata of the reports say of each column, where an ``other`` value may have occurred."""
    values = {"group": ["a", "b"] * 20, "vote": ["no", "yes"] * 20, "x": ["p", "q"] * 20} | other
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pd.DataFrame({name: pd.Categorical(column) for name, column in values.items()}).to_parquet(source)
    randomize_columns(source, target, columns, overwrite=True)
    said = json.loads(pq.read_schema(target).metadata[b"pandas"])["columns"]
    return {about["name"]: about for about in said if about["name"] in values}


@pytest.mark.parametrize("order", [(GROUP, VOTE), (VOTE, GROUP)])
@pytest.mark.filterwarnings("ignore::dpfair_lib.local.SecondReportWarning")
def test_no_column_leaves_in_the_metadata_how_many_values_it_had(tmp_path, order, monkeypatch):
    def told():
        plain, some = known_of_columns(tmp_path, order), {"group": ["a"] * 40, "vote": ["no"] * 40}
        # each column in turn has one value only, which nothing but its reports may tell
        found = [known_of_columns(tmp_path, order, **{name: column}) for name, column in some.items()]
        return [name for name, one in zip(some, found, strict=True) if one != plain]

    assert told() == []
    # planted: the first column's metadata are cleaned alone
    monkeypatch.setattr(files, "cleaning", lambda columns: cleaning(columns[:1]))
    assert told() == [order[1].name]


def test_the_joint_epsilon_is_that_of_the_channel_of_all_columns():
    """Held against the largest ratio of the product of the channels, entry by entry."""
    first, second = (np.array(one.randomizer.realized().matrix, dtype=object) for one in (GROUP, VOTE))
    both = [[p * q for p in row for q in other] for row in first for other in second]
    worst = max(a / b for column in zip(*both, strict=True) for a in column for b in column)
    parts = [one.randomizer.realized_epsilon for one in (GROUP, VOTE)]
    assert math.log(worst) == pytest.approx(sum(parts), rel=1e-14)
    assert audit_channel(both).epsilon == pytest.approx(sum(parts), rel=1e-12)
    # one column alone, the others as they were
    alone = max(first[i][y] / first[j][y] for i in range(3) for j in range(3) for y in range(3))
    assert math.log(alone) == pytest.approx(parts[0], rel=1e-14)


@pytest.mark.parametrize("missing", ["refuse", "label", "public"])
def test_a_statement_of_one_column_says_what_is_public(missing):
    labels = ["a", "b"] if missing == "label" else ["a", "b", "c"]
    one = ReportedColumn("group", generalized_randomized_response(3, 1.0), labels, missing=missing)
    public = statement_of(one, "secure").public
    assert set(one.randomizer.privacy_statement(attribute="group").public) <= set(public)
    assert ("whose group is missing" in public) == (missing == "public")


def test_an_error_names_the_row_of_the_whole_table():
    """Also where the rows come in pieces, and the row is in a later one."""
    draw = drawing([VOTE], NoiseSource.given(np.random.default_rng(0)))
    for rows in (4, 3):
        assert draw(pa.table({"vote": ["no"] * rows})).num_rows == rows
    with pytest.raises(LabelError, match="vote: found 'never' in row 9, expected"):
        draw(pa.table({"vote": ["no", "never"]}))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_statement_of_all_columns(tmp_path, suffix):
    source, target = people(tmp_path / f"in.{suffix}"), tmp_path / f"out.{suffix}"
    statement = randomize_columns(source, target, [GROUP, VOTE])
    parts = [one.randomizer.realized_epsilon for one in (GROUP, VOTE)]
    assert [part.epsilon for part in statement.parts] == parts
    assert sum(parts) <= statement.epsilon <= sum(parts) * (1 + 1e-15)
    assert (statement.relation, statement.delta, statement.guarantee) == ("local", 0, True)
    assert statement.unit == "person's values of group, vote"
    assert "all that is known of a person beside group, vote" in statement.public
    stored = json.loads(statement_path(target).read_text())
    assert stored["joint"]["columns"] == ["group", "vote"]
    assert stored["joint"]["epsilon"] == statement.epsilon
    assert {column: made[0]["statement"]["epsilon"] for column, made in stored["columns"].items()} == dict(
        zip(["group", "vote"], parts, strict=True)
    )
    if suffix == "parquet":
        assert json.loads(pq.read_metadata(target).metadata[b"dpfair_lib.privacy"]) == stored
    assert {column: [line["epsilon"] for line in lines] for column, lines in reports_from(source).items()} == {
        "group": [parts[0]], "vote": [parts[1]],
    }  # fmt: skip


def test_columns_reported_one_after_the_other_have_a_joint_statement_too(tmp_path):
    source, between, target = people(tmp_path / "in.csv"), tmp_path / "one.csv", tmp_path / "two.csv"
    randomize_columns(source, between, [GROUP])
    assert "joint" not in json.loads(statement_path(between).read_text())
    randomize_columns(between, target, [VOTE])
    joint = json.loads(statement_path(target).read_text())["joint"]
    at_once = (
        randomize_columns(source, tmp_path / "both.csv", [VOTE]).epsilon + GROUP.randomizer.realized_epsilon
    )
    assert joint["epsilon"] == pytest.approx(at_once, rel=1e-14)
    with pytest.warns(SecondReportWarning):
        randomize_columns(source, target, [GROUP, VOTE], overwrite=True)
    joint = json.loads(statement_path(target).read_text())["joint"]
    assert joint["epsilon_with_earlier_reports"] == pytest.approx(2 * joint["epsilon"], rel=1e-14)
    with pytest.warns(SecondReportWarning):
        seeded = randomize_columns(source, target, [GROUP, VOTE], overwrite=True, seed=1)
    assert not seeded.guarantee
    joint = json.loads(statement_path(target).read_text())["joint"]
    assert (joint["epsilon"], joint["epsilon_with_earlier_reports"]) == (None, None)


def test_an_error_in_one_column_leaves_nothing(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("group,vote\n" + "a,no\n" * 500 + "a,maybe\n")
    with pytest.raises(LabelError, match="vote: found 'maybe' in row 501, expected one of 'no', 'yes'"):
        randomize_columns(source, tmp_path / "out.csv", [GROUP, VOTE])
    with pytest.raises(ValueError, match=r"found no single 'sex' in in\.csv"):
        randomize_columns(source, tmp_path / "out.csv", [GROUP, ReportedColumn("sex", SWAP, ["f", "m"])])
    assert names_in(tmp_path) == ["in.csv"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([], "columns: found .*, expected a list of ReportedColumn"),
        (GROUP, "columns: found .*, expected a list of ReportedColumn"),
        (["group"], "columns: found .*, expected a list of ReportedColumn"),
        ([GROUP, VOTE, GROUP], "columns: found 'group' twice"),
    ],
)
def test_lists_of_columns_that_are_none(tmp_path, columns, message):
    with pytest.raises(ValueError, match=message):
        randomize_columns(tmp_path / "in.csv", tmp_path / "out.csv", columns)


def test_a_column_is_checked_when_it_is_made():
    with pytest.raises(ValueError, match="column: found ''"):
        ReportedColumn("", SWAP, ["a", "b"])
    with pytest.raises(ValueError, match="randomizer: found None"):
        ReportedColumn("g", None, ["a", "b"])
    with pytest.raises(ValueError, match="labels: found 3, expected 2"):
        ReportedColumn("g", SWAP, ["a", "b", "c"])


BOTH = ("--column", "group", "--labels", "a,b,c", "--column", "vote", "--labels", "no,yes")


def test_the_command_with_several_columns(tmp_path, capsys):
    source = people(tmp_path / "in.csv")
    assert (
        run(source, tmp_path / "out.csv", *BOTH, "--epsilon", 1, "--epsilon", 0.5, "--mechanism", "grr") == 0
    )
    printed = capsys.readouterr().out
    assert "out.csv: ε = 1.5 (pure), local, per person's values of group, vote" in printed
    assert "\ngroup: ε = 1" in printed
    assert "\nvote: ε = 0.5" in printed
    record_path(source).unlink()
    options = (
        "--epsilon",
        1,
        "--epsilon",
        0.5,
        "--mechanism",
        "ss",
        "--mechanism",
        "grr",
        "--json",
        "--overwrite",
    )
    assert run(source, tmp_path / "out.csv", *BOTH, *options) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["statement"]["epsilon"] == pytest.approx(1.5, rel=1e-8)
    assert told["columns"] == {
        "group": {"labels": ["a", "b", "c"], "missing": "refuse"},
        "vote": {"labels": ["no", "yes"], "missing": "refuse"},
    }
    assert told["statement_file"] == str(statement_path(tmp_path / "out.csv"))
    assert told["warnings"] == []
    made = releases_of(tmp_path / "out.csv")
    size = subset_selection(3, 1.0).size
    assert (made["group"][0]["labels_per_report"], made["vote"][0]["mechanism"]) == (
        size, "generalised randomised response",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*BOTH, "--epsilon", 1), "--epsilon: found 1, expected 2: one for each --column"),
        ((*BOTH[:-2], "--epsilon", 1, "--epsilon", 1), "--labels: found 1, expected 2: one for each --column"),
        (
            (*BOTH, "--epsilon", 1, "--epsilon", 1, "--missing", "label", "--missing", "label", "--missing", "label"),
            "--missing: found 3, expected one for all columns, or 2",
        ),
        ((*BOTH, "--epsilon", 1, "--epsilon", 1, "--mechanism", "ss", "--size", 1), "--size: found beside 2 columns"),
        (
            ("--column", "vote", "--labels", "no,yes", "--epsilon", 1) * 2,
            "columns: found 'vote' twice, expected each column once",
        ),
        ((*BOTH, "--epsilon", 1, "--epsilon", 1, "--seed", -1), "--seed: found -1"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_the_columns(tmp_path, capsys, options, message):
    source = people(tmp_path / "in.csv")
    assert run(source, tmp_path / "out.csv", *options) == 2
    assert message in capsys.readouterr().err
    assert names_in(tmp_path) == ["in.csv"]


def test_optimal_channels_for_several_columns(tmp_path):
    source = people(tmp_path / "in.csv")
    for column, text in (
        ("group", "a,0.5,0.2\nb,0.3,0.4\nc,0.2,0.9\n"),
        ("vote", "no,0.5,0.2\nyes,0.5,0.4\n"),
    ):
        (tmp_path / f"{column}.csv").write_text("label,share,rate\n" + text)
    options = ("--mechanism", "optimal", "--epsilon", 1, "--epsilon", 0.5)
    files = ("--population", tmp_path / "group.csv", "--population", tmp_path / "vote.csv")
    assert run(source, tmp_path / "out.csv", "--column", "group", "--column", "vote", *options, *files) == 0
    made = releases_of(tmp_path / "out.csv")
    assert [len(made[column][0]["channel"]) for column in ("group", "vote")] == [3, 2]


def test_missing_values_of_two_columns_that_are_public(tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"g": ["a", None, "b"], "v": [None, "no", "yes"]}), source)
    columns = [
        ReportedColumn("g", SWAP, ["a", "b"], missing="public"),
        ReportedColumn("v", generalized_randomized_response(2, 1.0), ["no", "yes"], missing="public"),
    ]
    statement = randomize_columns(source, target, columns)
    assert {"whose g is missing", "whose v is missing"} <= set(statement.public)
    assert not statement.guarantee, "the first channel swaps, and tells all"
    assert statement.note
    out = pq.read_table(target)
    assert out["g"].to_pylist() == ["b", None, "a"]
    assert out["v"].is_null().to_pylist() == [True, False, False]


def test_the_joint_record_counts_every_release_of_every_column():
    # a column may have been reported twice: reports of reports, of which the first are known to somebody, too
    def of(**changed):
        releases = {"a": [(1.0, 1.5), (0.25, 0.25)], "b": [(0.5, 2.5)]}
        return joint_record({
            column: [
                {
                    "statement": {"epsilon": epsilon, "guarantee": changed.get("seeded") != (column, at)},
                    "epsilon_with_earlier_reports": None if changed.get("unknown") == (column, at) else earlier,
                }
                for at, (epsilon, earlier) in enumerate(made)
            ]
            for column, made in releases.items()
        })  # fmt: skip

    assert (of()["epsilon"], of()["epsilon_with_earlier_reports"]) == (1.75, 4.25)
    for place in (("a", 0), ("a", 1), ("b", 0)):
        assert of(seeded=place)["epsilon"] is None
        assert of(unknown=place)["epsilon_with_earlier_reports"] is None
