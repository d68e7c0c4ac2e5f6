import copy
import json

import pytest

from dpfair_lib import timings


@pytest.fixture
def record():
    row = {"axis": "rows", "value": 10}
    return {
        "sums": {
            "title": "sums", "measured": True, "unit": "one sum", "python": "3.11", "threads": 1, "repeats": 3,
            "machine": {"processor": "some", "cores": 2, "memory_gib": 8.0, "system": "Linux"},
            "versions": {"numpy": "2"}, "commit": "0" * 40 + " with changes", "load": [0.1, 2.0],
            "rows": [
                {**row, "name": "ours", "seconds": [0.002, 0.001, 0.004], "median": 0.002, "ratio": 1.0},
                {**row, "name": "theirs", "seconds": [0.006, 0.005, 0.1], "median": 0.006, "ratio": 3.0},
            ],
            "targets": [{"what": "theirs", "ratio": 3.0, "least": 20.0, "met": False}],
            "checks": [{"what": "difference", "found": 1e-15, "limit": 1e-12, "met": True}],
            "parts": [{"part": "all", "time": 0.002}, {"part": "half", "time": 0.001}],
        },
        "gpu": {"title": "a GPU", "measured": False, "why": "there is none"},
    }  # fmt: skip


def write(record, path):
    path.write_text(json.dumps(record))
    return path


def test_tables_show_what_the_record_holds(record, tmp_path):
    sections = timings.read_timings(write(record, tmp_path / "bench.json"))
    table = timings.comparison(sections["sums"])
    assert table.loc[("10", "theirs")].tolist() == ["6.00", "5.00", "100", "3.00"]
    found = timings.verdicts(sections)
    assert found[""].tolist() == ["missed", "met", "not measured"]
    assert found["asked"].tolist() == ["at least 20 ×", "at most 1e-12", "–"]
    assert timings.machines(sections).loc["sums", "commit"] == "0000000000 with changes"
    assert timings.versions(sections)["benchmarks"].to_dict() == {
        ("Python", "3.11"): "all",
        ("numpy", "2"): "all",
    }
    assert timings.growth(sections["sums"], "rows").loc[10].tolist() == [0.002, 0.006]
    assert timings.parts(sections["sums"])["share"].tolist() == ["100%", "50%"]
    assert timings.gpu(sections["gpu"])["why"].tolist() == ["there is none"]


def test_a_measured_gpu_is_shown_with_its_shares(record):
    section = {
        **record["sums"], "card": "some card",
        "achieved": [
            {"flops": 5e12, "bytes": 2e12, "flops_share": 0.5, "bytes_share": None, "bound": "mask: 70% of a step"}
        ] * 2,
        "crossing": [{"rows": 1 << 20, "masked": 5.25e-5, "gathered": 1e-4}],
    }  # fmt: skip
    assert timings.crossing(section).loc["1,048,576"].to_dict() == {
        "masked, µs": "52.5",
        "gathered, µs": "100",
    }
    shown = timings.gpu(section)
    assert shown["TFLOP/s"].iloc[0] == "5.00 (50% of the ceiling)"
    assert shown["TB/s"].iloc[0] == "2.00"


def changed(record, change):
    record = copy.deepcopy(record)
    change(record["sums"])
    return record


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["rows"][0].update(median=0.001), "ours: found median 0.001, expected 0.002"),
        (lambda s: s["rows"][1].update(ratio=30.0), "theirs: found ratio 30.0, expected"),
        (lambda s: s["rows"][1].update(seconds=[]), "expected one or more positive ones"),
        (lambda s: s["rows"][1].pop("name"), "found a row without name"),
        (lambda s: s["targets"][0].update(met=True), "found met = True at 3.0, where 20.0 is asked"),
        (lambda s: s["checks"][0].update(met=False), "found met = False at 1e-15"),
        (lambda s: s.pop("machine"), "found no machine"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(record, tmp_path, change, message):
    path = write(changed(record, change), tmp_path / "bench.json")
    with pytest.raises(ValueError, match=message):
        timings.read_timings(path)


def test_a_record_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="`make bench` makes it"):
        timings.read_timings(tmp_path / "bench.json")
    for text in ("{", "[]", '{"a": 1}'):
        (tmp_path / "bench.json").write_text(text)
        with pytest.raises(ValueError, match="found"):
            timings.read_timings(tmp_path / "bench.json")


def test_the_stored_record_is_whole():
    sections = timings.read_timings()
    assert {"fairness", "postprocessing", "privacy", "dp_sgd", "growth", "gpu"} <= set(sections)


def test_the_stored_record_is_no_rehearsal():
    """Five repetitions of everything."""
    sections = timings.read_timings()
    assert {
        "fairness",
        "postprocessing",
        "privacy",
        "local",
        "solver",
        "dp_sgd",
        "growth",
    } <= set(sections)
    for name, section in sections.items():
        for row in section.get("rows", ()):
            assert len(row["seconds"]) >= 5, (name, row["name"])


def test_the_stored_record_of_the_solver_has_twenty_instances_in_every_cell():
    section = timings.read_timings(timings.SOLVER_RECORD)["solver_grid"]
    assert section["whole"]
    assert {row["value"] for row in section["rows"]} == {10, 20, 50, 100, 200}
    assert all(len(row["seconds"]) == section["repeats"] == 20 for row in section["rows"])
    assert section["tolerance"] == 1e-8
    assert all(sum(row["ended"].values()) == 20 for row in section["rows"])
    assert all(line["met"] for line in section["targets"])


def test_the_stored_record_of_many_groups_proves_what_is_asked():
    section = timings.read_timings(timings.LARGE_SOLVER_RECORD)["solver_large"]
    assert 500 in {row["value"] for row in section["rows"]}
    assert all(line["met"] for line in section["targets"])
    assert all(line["met"] for line in section["checks"])
    for row in section["rows"]:
        assert row["relative_worst"] == max(
            gap / delta for gap, delta in zip(row["gaps"], row["deltas"], strict=True)
        )
        assert min(row["deltas"]) > 0


def test_the_stored_record_of_the_robust_solver_proves_every_channel():
    section = timings.read_timings(timings.ROBUST_SOLVER_RECORD)["solver_robust"]
    assert section["whole"]
    assert {row["value"] for row in section["rows"]} == {5, 10, 20, 50}
    assert {(row["epsilon"], row["set"]) for row in section["rows"]} == {
        (epsilon, kind) for epsilon in ("1", "ln k + 1") for kind in ("box", "ball")
    }
    assert all(line["met"] for line in (*section["targets"], *section["checks"]))
    for row in section["rows"]:
        assert max(row["gaps"]) == row["gap_worst"] <= 1.1 * section["tolerance"]
        assert min(row["deltas"]) > 100 * row["gap_worst"]


def test_instances_are_shown_by_size_with_what_was_not_closed():
    row = {"value": 10, "epsilon": "1", "median": 0.5, "worst": 2.0, "gap_worst": 1e-9, "open": 0}
    rows = [row | {"budget": None}, row | {"budget": 0.5, "open": 2, "gap_worst": 1e-3}]
    table = timings.instances({"rows": rows})
    assert table.index.tolist() == [(10, "1")]
    assert table.iloc[0].tolist() == ["0.500 / 2.00", "0.500 / 2.00; 2 open, gap 1e-03", "1e-03"]
