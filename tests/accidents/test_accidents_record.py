"""A record that is killed, has no room, may not write, or is started twice: finished tasks are kept, and it goes on."""

import os
import re
import signal
import time
from pathlib import Path

import pytest
import study
from accidents import full_disk, names_in, obey_modes, processes, read_only, run, start, wait_until

from dpfair_lib.experiments import __main__ as command
from dpfair_lib.experiments import resumable_runs, sweeps

PROGRAM = study.__file__


@pytest.fixture(autouse=True)
def _digests_that_are_quick(monkeypatch):
    monkeypatch.setattr(resumable_runs, "code_of", study.of_a_test)
    monkeypatch.setattr(sweeps, "code", study.of_a_test)


@pytest.fixture(autouse=True)
def _the_command_as_it_was(monkeypatch):
    """Put back, at the end of a test, what `study.main` puts in its place."""
    for name in ("EXPERIMENTS", "run_and_record"):
        monkeypatch.setattr(command, name, getattr(command, name))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("STUDY", str(tmp_path / "study"))
    study.begin(tmp_path / "study", 0)
    return tmp_path / "study"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Give the record that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    study.begin(folder, 0)
    assert run(PROGRAM, env=os.environ | {"STUDY": str(folder), "DPFAIR_WORKERS": "1"})[0] == 0
    return (folder / "results/study.json").read_bytes()


def parts(folder):
    return sorted((folder / "parts").glob("study/*/[0-9]*.json"))


def begun(folder):
    """Return the tasks that were begun, and by which processes."""
    lines = [line.split() for line in (folder / "begun").read_text().splitlines()]
    return [int(at) for at, _ in lines], {int(process) for _, process in lines}


def started(folder, at_least=3):
    """Start it with slow tasks, and wait until some of them have finished."""
    study.begin(folder, 0.5)
    process = start(PROGRAM)
    wait_until(lambda: len(parts(folder)) >= at_least or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def goes_on(folder, kept, whole):
    """Run the same command again: it does what is not there, and the record is the uninterrupted one."""
    study.begin(folder, 0)
    (folder / "begun").unlink()
    status, out, err = run(PROGRAM)
    assert (status, err) == (0, "")
    assert f"study: {len(kept)} of {study.TASKS} tasks are there from before" in out
    assert sorted(begun(folder)[0]) == [at for at in range(study.TASKS) if at not in kept]
    assert (folder / "results/study.json").read_bytes() == whole
    assert names_in(folder) == ["begun", "results/study.json", "seconds"]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes under /proc")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_killed_record_goes_on(folder, whole, monkeypatch, workers):
    monkeypatch.setenv("DPFAIR_WORKERS", workers)
    process = started(folder)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = [int(path.stem) for path in parts(folder)]
    assert 3 <= len(kept) < study.TASKS
    assert not (folder / "results").exists()
    wait_until(lambda: not processes(f"STUDY={folder}"), 20), "nobody computes for a record that nobody makes"
    assert [int(path.stem) for path in parts(folder)] == kept
    goes_on(folder, kept, whole)


def test_a_killed_worker_ends_the_record_and_it_goes_on(folder, whole, monkeypatch):
    monkeypatch.setenv("DPFAIR_WORKERS", "2")
    process = started(folder)
    os.kill(max(begun(folder)[1]), signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "A worker process managed by the executor was unexpectedly terminated" in err
    kept = [int(path.stem) for path in parts(folder)]
    assert 3 <= len(kept) < study.TASKS
    goes_on(folder, kept, whole)


def test_a_record_is_made_by_one_process_at_a_time(folder, whole):
    process = started(folder, 1)
    process.send_signal(signal.SIGSTOP)
    before = names_in(folder)
    status, _, err = run(PROGRAM)
    assert status == 1
    assert f"[Errno 11] study is being recorded by process {process.pid} now; wait for it" in err
    assert names_in(folder) == before
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert (folder / "results/study.json").read_bytes() == whole


@pytest.mark.parametrize(("room", "name"), [(20, "00000.json"), (500, "results/study.json")])
def test_a_full_disk_is_named_and_finished_tasks_are_kept(folder, whole, room, name):
    with (
        pytest.raises(SystemExit, match="File too large; not written, and as it was before") as caught,
        full_disk(room),
    ):
        study.main([])
    assert name in str(caught.value)
    kept = [int(path.stem) for path in parts(folder)]
    assert len(kept) == (study.TASKS if room == 500 else 0)
    assert not [path for path in names_in(folder) if "partial" in path]
    (folder / "begun").unlink(missing_ok=True)
    study.main([])
    assert len(kept) + (len(begun(folder)[0]) if (folder / "begun").exists() else 0) == study.TASKS
    assert (folder / "results/study.json").read_bytes() == whole


def test_a_folder_that_may_not_be_written_is_named(folder, whole):
    (folder / "results").mkdir()
    with read_only(folder / "results"):
        status, _, err = run(PROGRAM, before=obey_modes)
    assert status == 1
    assert "[Errno 13] Permission denied; not written, and as it was before: " in err
    assert "results/study.json" in err
    assert "Traceback" not in err
    assert len(parts(folder)) == study.TASKS
    goes_on_without_work(folder, whole)


def goes_on_without_work(folder, whole):
    (folder / "begun").unlink()
    study.main([])
    assert not (folder / "begun").exists()
    assert (folder / "results/study.json").read_bytes() == whole


def test_a_clock_that_is_set_back_changes_nothing(folder, whole, monkeypatch, capsys):
    """What counts is what a file holds, not when it was written."""
    clock = iter(range(10**9, 0, -(10**6)))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    with pytest.raises(SystemExit, match=r"results/study\.json"), full_disk(500):
        study.main([])
    for future, path in enumerate(parts(folder)):
        os.utime(path, (2**33 * (future % 2), 2**33 * (future % 2)))
    goes_on_without_work(folder, whole)
    (folder / "results/study.json").touch()
    os.utime(folder / "results/study.json", (2**33, 2**33))
    study.main([])
    said = capsys.readouterr().out
    assert "study: recorded by this code from this data, and whole; left as it is" in said
    assert all(0 <= int(seconds) < 100 for seconds in re.findall(r"about (-?[0-9]+) s to go", said))
    assert len(re.findall(r"about (-?[0-9]+) s to go", said)) == study.TASKS
