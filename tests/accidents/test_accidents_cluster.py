"""A cluster that loses a worker, its last worker, or its scheduler: the same results, or an error that says so."""

import os
import re
import sys
import time
from threading import Thread, Timer

import numpy as np
import pytest
import study
from accidents import ROOT, start, wait_until
from distributed import Client

from dpfair_lib.experiments import cluster, resumable_runs, run_tasks, sweeps
from dpfair_lib.experiments.experiment import Experiment
from dpfair_lib.experiments.resumable_runs import run_and_record

TASKS = study.TASK_LIST


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder, **settings):
        paths = os.pathsep.join([str(ROOT), str(ROOT / "tests/accidents"), *filter(None, sys.path)])
        self.environment = os.environ | settings | {
            "STUDY": str(folder), "PYTHONPATH": paths, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
        }  # fmt: skip
        self.folder, self.workers = folder, []
        about = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", about
        )
        wait_until(lambda: about.exists() and about.read_text().endswith("}"))
        self.address = re.search(r"tcp://[0-9.]+:[0-9]+", about.read_text())[0]

    def _start(self, what, *arguments):
        return start("-m", f"distributed.cli.dask_{what}", *arguments, env=self.environment)

    def hire(self):
        worker = self._start(
            "worker",
            self.address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--local-directory",
            self.folder,
        )
        self.workers.append(worker)
        return worker

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.communicate()


@pytest.fixture
def hired(tmp_path, monkeypatch):
    """Return a function that makes a cluster with some workers, and sends the tasks there."""
    monkeypatch.setattr(resumable_runs, "code_of", study.of_a_test)
    monkeypatch.setattr(sweeps, "code", study.of_a_test)
    monkeypatch.setattr(cluster, "LOOK", 0.2)
    made = []

    def make(count, seconds, **settings):
        study.begin(tmp_path / "study", seconds)
        local = Cluster(tmp_path / "study", **settings)
        made.append(local)
        for _ in range(count):
            local.hire()
        with Client(local.address, set_as_default=False) as client:
            client.wait_for_workers(count)
        monkeypatch.setenv("DPFAIR_DASK", local.address)
        return local

    yield make
    for local in made:
        local.close()


def begun(local):
    return [int(line.split()[0]) for line in (local.folder / "begun").read_text().splitlines()]


def busy(local, worker):
    path = local.folder / "begun"
    return path.exists() and str(worker.pid) in path.read_text().split()


def test_what_a_killed_worker_had_under_way_is_done_by_another(hired):
    local = hired(2, 0.1)
    mark = local.folder / "held_up"

    def kill(_at, _rows):
        for worker in local.workers:
            if mark.exists() and mark.read_text() == str(worker.pid):
                worker.kill()

    found = list(run_tasks(study.draw_held_up, TASKS, finished=kill))
    assert [worker.poll() is None for worker in local.workers].count(False) == 1
    assert found == [[study_row(**task)] for task in TASKS]


def test_the_last_worker_is_missed_at_once_and_another_one_goes_on(hired):
    local = hired(1, 0.3)
    results = run_tasks(study.draw, TASKS)
    first = next(results)
    local.workers[0].kill()
    killed = time.monotonic()
    with pytest.warns(
        RuntimeWarning, match=r"the last worker at 'tcp://.*' is gone, [1-9] of 8 tasks have finished"
    ):
        rest = _while_one_is_hired(local, results)
    assert [first, *rest] == [[study_row(**task)] for task in TASKS]
    assert time.monotonic() - killed < cluster.LOST


def study_row(at):
    return {"at": at, "draw": np.random.default_rng(at).normal(), "count": at}


def _while_one_is_hired(local, results):
    timer = Timer(2.0, local.hire)
    timer.start()
    try:
        return list(results)
    finally:
        timer.join()


def test_without_a_worker_the_record_ends_with_an_error_and_goes_on_later(hired, monkeypatch):
    monkeypatch.setattr(cluster, "LOST", 2.0)
    local = hired(1, 0.2)
    said = []

    def say(line):
        said.append(line)
        if " 3 of 8 tasks, " in line:
            local.workers[0].kill()

    monkeypatch.setattr(resumable_runs, "say", say)
    experiment = Experiment("study", {}, {}, study.draw, TASKS)
    folders = {"results": local.folder / "results", "parts": local.folder / "parts"}
    with (
        pytest.warns(RuntimeWarning, match="another one is waited for, 2 s long"),
        pytest.raises(
            ConnectionError,
            match=r"found no worker at 'tcp://.*' for 2 s after the last one was lost, expected one",
        ) as caught,
    ):
        run_and_record(experiment, **folders)
    kept = len(list(folders["parts"].rglob("[0-9]*.json")))
    assert kept >= 3
    assert f"; {kept} of 8 tasks have finished" in str(caught.value)
    local.hire()
    study.begin(local.folder, 0)
    (local.folder / "begun").unlink()
    run_and_record(experiment, **folders)
    assert len(set(begun(local))) == len(TASKS) - kept
    assert f"study: {kept} of 8 tasks are there from before" in said


def test_a_lost_scheduler_is_named(hired):
    local = hired(1, 0.3)
    results = run_tasks(study.draw, TASKS)
    next(results)
    local.scheduler.kill()
    killed = time.monotonic()
    with pytest.raises(ConnectionError, match=f"DPFAIR_DASK: the scheduler at '{local.address}' is lost"):
        list(results)
    assert time.monotonic() - killed < 45


def test_a_task_that_ends_its_workers_is_named(hired):
    local = hired(1, 30, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    results = run_tasks(study.draw, TASKS[:2])

    def kill():
        wait_until(lambda: busy(local, local.workers[0]))
        local.workers[0].kill()

    Thread(target=kill).start()
    with pytest.raises(
        RuntimeError, match=r"task [12] of 2, \{'at': [01]\}: every worker that began it was lost"
    ):
        list(results)
