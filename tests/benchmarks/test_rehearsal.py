import importlib
import json
import pkgutil
from types import SimpleNamespace

import pytest
import torch

import benchmarks
from benchmarks import __main__ as command
from benchmarks import fairness
from dpfair_lib import timings

KNOWN = {**command.SUITES, **command.SOLVER_SUITES, **command.GPU_SUITES}


@pytest.mark.parametrize("name", KNOWN)
def test_every_suite_runs_whole_at_a_small_size(name, tmp_path, monkeypatch):
    for constant, small in KNOWN[name].REHEARSAL.items():
        monkeypatch.setattr(KNOWN[name], constant, small)
    monkeypatch.setattr(command, "gpu_device", lambda: torch.device("cpu"))
    threads = torch.get_num_threads()
    try:
        command.main([name, "--repeats", "1", "--record", str(tmp_path / "bench.json")])
    finally:
        torch.set_num_threads(threads)
    section = timings.read_timings(tmp_path / "bench.json")[name]
    assert section["measured"]
    assert section["rows"]
    missed = [line["what"] for line in section["checks"] if not line["met"]]
    assert not [what for what in missed if "processor seconds" not in what]  # of a machine that may be busy


def test_no_suite_is_left_out_of_the_rehearsal():
    found = {
        module.name: importlib.import_module(f"benchmarks.{module.name}")
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if module.name
        not in {
            "__main__",
            "ldpy_worker",
            "diffprivlib_worker",
            "dpmm_worker",
            "dpmm_audit_worker",
        }  # need peers
    }
    suites = {name for name, module in found.items() if hasattr(module, "TITLE")}
    assert suites == set(KNOWN)
    assert {"ci_times", "recorded_timings", "timing"} == set(found) - suites
    assert all(KNOWN[name].REHEARSAL for name in suites)


def test_a_suite_that_fails_does_not_skip_the_others(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "gpu_device", lambda: None)
    for constant, small in fairness.REHEARSAL.items():
        monkeypatch.setattr(fairness, constant, small)

    def fails(**_):
        raise TypeError("a new field")

    broken = SimpleNamespace(TITLE="broken", UNIT="one", AXES={"rows": (1,)}, contenders=fails)
    monkeypatch.setattr(command, "SUITES", {"broken": broken, "fairness": fairness})
    path = tmp_path / "bench.json"
    with pytest.raises(SystemExit, match="failed: broken") as stopped:
        command.main(["--repeats", "1", "--record", str(path)])
    assert stopped.value.code not in (0, None)
    assert set(json.loads(path.read_text())) == {"fairness", "gpu", "gpu_coverage", "gpu_arrays"}
    assert "a new field" in capsys.readouterr().err
