import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from benchmarks import __main__ as command
from benchmarks import (
    coverage,
    dp_sgd,
    dynamics,
    gpu,
    gpu_coverage,
    local,
    margins,
    solver_grid,
    solver_large,
    solver_robust,
)
from benchmarks.recorded_timings import provenance, write_sections
from benchmarks.timing import Contender, check, interleave, rows, target
from dpfair_lib import timings
from dpfair_lib.learners import fused_backend

MISSING = {"title": "a GPU", "measured": False, "why": "no GPU"}


def suite(least=1.0):
    return SimpleNamespace(
        TITLE="sums", UNIT="one sum", AXES={"rows": (10, 100)},
        contenders=lambda rows: {
            "ours": Contender(lambda: sum(range(rows)), runs=2), "theirs": Contender(lambda: sum(range(50 * rows)))
        },
        targets=lambda found: [target("theirs", found[2]["median"], found[3]["median"], least)],
        checks=lambda: [check("difference", 0.0, 1e-12)],
    )  # fmt: skip


def test_contenders_take_turns_and_the_first_round_does_not_count():
    calls = []
    contenders = {name: Contender(lambda name=name: calls.append(name)) for name in "abc"}
    seconds = interleave(contenders, 3)
    assert "".join(calls) == "abc" * 4
    assert {name: len(values) for name, values in seconds.items()} == dict.fromkeys("abc", 3)


def test_times_are_for_one_run_and_ratios_to_the_first():
    found = rows("rows", 7, {"ours": [2.0, 1.0, 4.0], "theirs": [6.0, 5.0, 100.0]})
    assert [(row["median"], row["ratio"]) for row in found] == [(2.0, 1.0), (6.0, 3.0)]
    assert found[1]["seconds"] == [6.0, 5.0, 100.0]
    contenders = {str(runs): Contender(lambda: sum(range(10**5)), runs) for runs in (1, 1000)}
    alone, shared = interleave(contenders, 3).values()
    assert min(alone) > 20 * min(shared)


def test_a_section_replaces_itself_and_leaves_the_others(tmp_path):
    path = tmp_path / "bench.json"
    write_sections({"gpu": MISSING, "sums": command.measure(suite(), 2)}, path)
    before = timings.read_timings(path)
    write_sections({"sums": command.measure(suite(least=1e9), 3)}, path)
    after = timings.read_timings(path)
    assert after["gpu"] == before["gpu"]
    assert (before["sums"]["repeats"], after["sums"]["repeats"]) == (2, 3)
    assert [line["met"] for section in (before, after) for line in section["sums"]["targets"]] == [
        True,
        False,
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["bench.json"]


def test_a_record_that_would_be_wrong_is_not_written(tmp_path):
    path = tmp_path / "bench.json"
    write_sections({"gpu": MISSING}, path)
    section = command.measure(suite(), 1)
    del section["repeats"]
    with pytest.raises(ValueError, match="section 'sums': found no repeats"):
        write_sections({"sums": section}, path)
    assert list(timings.read_timings(path)) == ["gpu"]
    assert [file.name for file in tmp_path.iterdir()] == ["bench.json"]
    path.write_text("{")
    with pytest.raises(ValueError, match="broken JSON"):
        write_sections({"gpu": MISSING}, path)
    assert path.read_text() == "{"


def test_the_command_writes_what_was_named_and_no_gpu(tmp_path, monkeypatch, capsys):
    path = tmp_path / "bench.json"
    monkeypatch.setattr(command, "SUITES", {"sums": suite(), "others": suite()})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    command.main(["sums", "--repeats", "1", "--record", str(path)])
    assert list(timings.read_timings(path)) == ["sums", "gpu", "gpu_coverage", "gpu_arrays"]
    assert not timings.read_timings(path)["gpu"]["measured"]
    assert "target: theirs" in capsys.readouterr().out
    measured = {**timings.read_timings(path)["sums"], "title": "measured elsewhere"}
    write_sections({"gpu": measured}, path)
    command.main(["gpu", "--record", str(path)])
    assert "found no GPU" in capsys.readouterr().out
    assert timings.read_timings(path)["gpu"]["title"] == "measured elsewhere"
    for wrong in (["nothing"], ["sums", "--repeats", "0"]):
        with pytest.raises(SystemExit):
            command.main([*wrong, "--record", str(path)])
        assert "found" in capsys.readouterr().err


def test_a_rehearsal_is_kept_out_of_the_book(monkeypatch, capsys):
    monkeypatch.setattr(command, "SUITES", {"sums": suite()})
    with pytest.raises(SystemExit):
        command.main(["sums", "--repeats", "1"])
    assert "--repeats: found 1 for the record that the book shows" in capsys.readouterr().err


def test_provenance_names_machine_versions_and_commit():
    found = provenance(2)
    assert found["machine"]["processor"]
    assert found["machine"]["cores"] >= 1
    assert found["versions"]["torch"] == torch.__version__
    assert found["commit"] == "unknown" or len(found["commit"].split()[0]) == 40


def test_what_the_gpu_would_be_asked_runs_on_the_processor(monkeypatch):
    for constant, small in gpu.REHEARSAL.items():
        monkeypatch.setattr(gpu, constant, small)
    cpu = torch.device("cpu")
    found = gpu.measure(cpu, 1, replicates=2, count=1)
    assert [row["name"] for row in found["rows"]] == ["fused, 32 bits", "fused, 64 bits"]
    assert found["checks"][0]["met"]
    for done, width in zip(found["achieved"], (4, 8), strict=True):
        # what the parts move is what the whole is said to move: 18 bytes and 13 numbers per model and row
        moved = sum(part["bytes"] * part["time"] for part in done["parts"])
        assert moved == pytest.approx(2 * dp_sgd.ROWS * (18 + 13 * width))
        flops = sum(part["flops"] * part["time"] for part in done["parts"])
        assert flops == pytest.approx(4 * 2 * dp_sgd.ROWS * (dp_sgd.FEATURES + 1))
        assert done["flops_share"] is None
        assert "of a step" in done["bound"]
    assert [line["rows"] for line in found["crossing"]] == list(gpu.CROSSING)


def test_the_size_is_that_of_the_targets():
    assert (dp_sgd.ROWS, dp_sgd.FEATURES, dp_sgd.BATCH, dp_sgd.EPOCHS, dp_sgd.THREADS) == (
        24_000,
        103,
        1024,
        50,
        2,
    )
    assert dp_sgd.STEPS == 50 * len(range(0, 24_000 - 1024 + 1, 1024)) == 1150
    assert dp_sgd.LEAST == {dp_sgd.LOADED: 20, dp_sgd.FIXED: 2}
    assert dp_sgd.data()[0].shape == (24_000, 103)


def test_the_check_of_dp_sgd_can_fail(monkeypatch):
    monkeypatch.setattr(dp_sgd, "STEPS", 5)
    assert dp_sgd.checks()[0]["met"]
    train = fused_backend.train
    monkeypatch.setattr(
        fused_backend, "train", lambda *given, **options: train(*given, **options) * (1 + 1e-9)
    )
    assert not dp_sgd.checks()[0]["met"]


def test_the_quicker_arrangement_counts():
    found = [{"name": dp_sgd.OURS, "median": 1.0}]
    for kind in dp_sgd.LEAST:
        found += [
            {"name": f"{kind}, {arrangement}", "median": time}
            for arrangement, time in zip(dp_sgd.ARRANGEMENTS, (30.0, 3.0), strict=True)
        ]
    assert [(line["ratio"], line["met"]) for line in dp_sgd.targets(found)] == [(3.0, False), (3.0, True)]


def test_data_are_reproducible():
    assert np.array_equal(dp_sgd.data(50, 3)[0], dp_sgd.data(50, 3)[0])
    assert json.dumps(MISSING)


def test_the_grid_of_the_solver_is_resumed_where_it_was_ended(tmp_path, monkeypatch):
    path, calls = tmp_path / "solver.json", []
    for constant, small in {"GROUPS": (3, 5), "INSTANCES": 2, "EPSILONS": ("1", "ln k + 1")}.items():
        monkeypatch.setattr(solver_grid, constant, small)
    cells = solver_grid.cells

    def ends(k, epsilon, *given):
        calls.append((k, epsilon))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return cells(k, epsilon, *given)

    monkeypatch.setattr(solver_grid, "cells", ends)
    with pytest.raises(KeyboardInterrupt):
        command.main(["solver_grid", "--record", str(path)])
    assert len(timings.read_timings(path)["solver_grid"]["rows"]) == 2 * 4
    assert not timings.read_timings(path)["solver_grid"]["whole"]
    command.main(["solver_grid", "--record", str(path)])
    assert calls == [(3, "1"), (3, "ln k + 1"), (5, "1"), (5, "1"), (5, "ln k + 1")]
    section = timings.read_timings(path)["solver_grid"]
    assert section["whole"]
    assert [row["value"] for row in section["rows"]] == [3] * 8 + [5] * 8
    monkeypatch.setattr(solver_grid, "code", lambda: "other")
    command.main(["solver_grid", "--record", str(path)])  # times of other code are not kept
    assert len(calls) == 5 + 4


def test_the_grid_of_the_solver_tells_gaps_and_the_limit_of_time(monkeypatch):
    found = solver_grid.measure(lambda _: None, groups=(9,), instances=3)
    assert len(found["rows"]) == 4 * 4
    assert all(row["ended"]["closed"] == 3 and row["open"] == 0 for row in found["rows"])
    assert all(len(row["seconds"]) == 3 and row["worst"] == max(row["seconds"]) for row in found["rows"])
    assert found["checks"][0]["met"]
    monkeypatch.setattr(solver_grid, "EPSILONS", ("ln k + 1",))
    stopped = solver_grid.measure(lambda _: None, groups=(9,), instances=3, limit=1e-6)
    channels = [row for row in stopped["rows"] if row["budget"] is not None]
    assert all(row["ended"]["time"] == row["open"] == 3 for row in channels)
    assert stopped["checks"][0]["found"] > 1e-3
    assert not stopped["checks"][0]["met"]


def test_many_groups_are_resumed_instance_by_instance_and_judged_by_their_gaps(monkeypatch):
    for constant, changed in {"ALLOWED": {7: 60.0}, "EPSILONS": ("1",)}.items():
        monkeypatch.setattr(solver_large, constant, changed)
    saved = []
    found = solver_large.measure(saved.append, groups=(7,), instances=2)
    assert [len(part["rows"][0]["seconds"]) for part in saved] == [1, 2]
    assert found["whole"]
    assert not saved[0]["whole"]
    assert found["targets"][0]["met"]
    assert found["checks"][0]["met"]
    again = solver_large.measure(saved.append, kept=saved[0]["rows"], groups=(7,), instances=2)
    assert len(saved) == 3
    assert again["rows"][0]["deltas"] == found["rows"][0]["deltas"]
    monkeypatch.setattr(solver_large, "TOLERANCE", 2.0)
    loose = solver_large.measure(saved.append, groups=(7,), instances=1)
    assert not loose["checks"][0]["met"]


def test_channels_of_a_set_are_resumed_one_by_one_and_judged_by_the_gap_that_is_proved_again(monkeypatch):
    for constant, changed in {
        "GROUPS": (4,),
        "ALLOWED": {4: 60.0},
        "EPSILONS": ("1",),
        "SETS": ("ball",),
    }.items():
        monkeypatch.setattr(solver_robust, constant, changed)
    saved = []
    found = solver_robust.measure(saved.append, groups=(4,), instances=2)
    assert [len(part["rows"][0]["seconds"]) for part in saved] == [1, 2]
    assert found["whole"]
    assert not saved[0]["whole"]
    assert all(line["met"] for line in (*found["targets"], *found["checks"]))
    again = solver_robust.measure(saved.append, kept=saved[0]["rows"], groups=(4,), instances=2)
    assert len(saved) == 3
    assert again["rows"][0]["deltas"] == found["rows"][0]["deltas"]
    monkeypatch.setattr(solver_robust, "lower_bound", lambda *_: 0)  # a certificate that proves nothing
    empty = solver_robust.measure(saved.append, groups=(4,), instances=1)
    assert not empty["checks"][0]["met"]
    search = solver_robust.robust_randomizer

    def less_truthful(laws, level, *, error, **how):
        return search(laws, level, error=error + 0.02, **how)

    monkeypatch.setattr(solver_robust, "robust_randomizer", less_truthful)
    with pytest.raises(RuntimeError, match="instance 0: the channel breaks a constraint"):
        solver_robust.measure(saved.append, groups=(4,), instances=1)


def test_shares_of_the_grid_are_of_three_kinds():
    shares = [solver_grid.instance(40, number)[0] for number in range(6)]
    assert all(p.sum() == pytest.approx(1) for p in shares)
    assert [np.ptp(p) == 0 for p in shares] == [True, False, False, True, False, False]
    assert [bool((np.diff(p) < 0).all()) for p in shares[1:3]] == [False, True]


def test_targets_of_local_reports_count_what_is_there():
    medians = {"GRR": 0.01, "GRR, one-hot": 0.02, "SS, bit vectors": 0.2}
    found = [{"name": name, "value": 10**6, "median": median} for name, median in medians.items()]
    assert [line["met"] for line in local.targets(found)] == [True, False]
    found.append({"name": "multi-freq-ldpy, grr loop", "value": 10**6, "median": 0.09})
    assert local.targets(found)[-1] == {
        "what": "multi-freq-ldpy, grr loop, over GRR", "ratio": pytest.approx(9), "least": 10, "met": False
    }  # fmt: skip


def test_direct_searches_find_what_one_pass_counts(monkeypatch):
    monkeypatch.setattr(margins, "_seconds", lambda _: 0.0)
    lines = margins.checks()
    assert all(line["met"] for line in lines)
    wrong = margins.exact_terms
    monkeypatch.setattr(margins, "exact_terms", lambda *given: wrong(*given) * 1.001)
    assert not all(line["met"] for line in margins.checks())


@pytest.mark.parametrize("mean", [margins.by_array, margins.by_row])
@pytest.mark.parametrize("search", [margins.published_search, margins.full_search])
def test_every_search_ends_at_the_share_of_rows_within(mean, search):
    values = []

    def value(t):
        values.append(t)
        return mean(np.array([0.05, 0.1, 0.2, 0.3]), 0.1, t)

    assert search(value) == pytest.approx(0.5, abs=1e-6)
    assert (len(values) == 5) == (search is margins.published_search)


def test_both_means_are_the_truncated_one():
    distances, t = np.array([0.05, 0.1, 0.2]), 3.0
    expected = (np.exp(0.15) + 1) / 3
    assert margins.by_array(distances, 0.1, t) == pytest.approx(expected)
    assert margins.by_row(distances, 0.1, t) == pytest.approx(expected)


def test_targets_of_margins_are_rates_and_ratios():
    most, few = 1_600_000, margins.MOST_BY_ROW
    medians = {
        (margins.OURS, most): 0.02, (margins.SEARCH, most): 8.0, (margins.BY_ARRAY, most): 0.4,
        (margins.OURS, few): 0.01, (margins.BY_ROW, few): 4.0,
    }  # fmt: skip
    found = [{"name": name, "value": rows, "median": median} for (name, rows), median in medians.items()]
    assert [(line["ratio"], line["met"]) for line in margins.targets(found)] == [
        (pytest.approx(400), True), (pytest.approx(20), False), (pytest.approx(400), True), (pytest.approx(2), True)
    ]  # fmt: skip


def test_a_coverage_study_covers_and_agrees_with_all_scores():
    assert set(coverage.study(3_000).values()) == {1.0}
    for notion, levels in coverage.whole(3_000).items():
        assert levels == pytest.approx(coverage.ours(3_000)[notion], abs=1e-12)


def test_peak_memory_is_that_of_the_process():
    held = np.ones(2**26)  # half a GiB
    assert coverage.peak_memory() > held.nbytes / 2**30 == 0.5


def test_what_the_gpu_would_count_runs_on_the_processor():
    found = gpu_coverage.measure(torch.device("cpu"), 1, records=3_000, models=120, block=5_000)
    assert found["checks"][0]["met"]
    assert found["pairs_per_second"] == 360_000 / found["rows"][0]["median"]
    assert found["card"] == "cpu"


def test_the_dynamics_have_as_many_subgroups_as_asked_for_and_both_releases():
    named = dynamics.groups(250)
    assert len({tuple(sorted(group.items())) for group in named}) == 250
    for contender in dynamics.contenders(rows=200, subgroups=10, rounds=3).values():
        fitted = contender.call()
        assert fitted.privacy_statement_.guarantee
        assert len(fitted.selection_) == 27


def test_a_record_of_fewer_instances_of_many_groups_is_gone_on_with(monkeypatch, tmp_path):
    for constant, changed in {"ALLOWED": {7: 60.0}, "EPSILONS": ("1",), "GROUPS": (7,), "FEWER": {}}.items():
        monkeypatch.setattr(solver_large, constant, changed)
    record, seconds = tmp_path / "record.json", []
    for instances in (1, 2):
        monkeypatch.setattr(solver_large, "INSTANCES", instances)
        section = command.measure_solver(solver_large, record)
        write_sections({solver_large.SECTION: section}, record)
        seconds.append(section["rows"][0]["seconds"])
    assert len(seconds[1]) == 2
    assert seconds[1][:1] == seconds[0]
    monkeypatch.setattr(solver_large, "code", lambda: "other")
    anew = command.measure_solver(solver_large, record)
    assert anew["rows"][0]["seconds"][0] != seconds[0][0]


def test_the_code_that_is_timed_is_all_that_the_solver_imports():
    """Else a record would not say that its code has changed."""
    script = "import sys, dpfair_lib.local.optimal.search, dpfair_lib.local.optimal.fair_error; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    prefix = "dpfair_lib.local.optimal."
    names = {f"{name.removeprefix(prefix)}.py" for name in loaded if name.startswith(prefix)}
    assert names
    assert not names & solver_grid.NOT_TIMED
