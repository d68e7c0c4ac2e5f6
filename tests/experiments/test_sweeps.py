import functools
import os
import socket
import sys
import time

import numpy as np
import pytest

from dpfair_lib.experiments import cluster, run_tasks, sweeps
from dpfair_lib.experiments.isit import preparation
from dpfair_lib.experiments.provenance import code, versions
from dpfair_lib.experiments.sources import Source, on_data

# four trainings by DP-SGD each, with their accounting, on the stand-in
TRAINING = functools.partial(on_data, preparation.compare_scaling_once)
TRIALS = [{"source": Source("credit", 1200), "trial": trial, "seed": 0} for trial in range(4)]


@pytest.fixture(autouse=True)
def _plain_settings(monkeypatch):
    monkeypatch.delenv("DPFAIR_DASK", raising=False)
    monkeypatch.setenv("DPFAIR_WORKERS", "1")


@pytest.fixture(scope="module")
def serial():
    return [TRAINING(**task) for task in TRIALS]


@pytest.fixture(scope="module")
def local_cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0") as local:
        yield local


def with_process(function):
    """The same, with the process that ran it; a function made here travels by value."""

    def run(**task):
        return [{**row, "process": os.getpid()} for row in function(**task)]

    return run


def divided():
    """Run the trainings and return the rows without and the numbers of the processes."""
    found = list(run_tasks(with_process(TRAINING), TRIALS))
    processes = {row.pop("process") for rows in found for row in rows}
    return found, processes


def test_two_processes_give_the_serial_results(monkeypatch, serial):
    assert list(run_tasks(TRAINING, TRIALS)) == serial
    assert serial[0] != serial[1]
    monkeypatch.setenv("DPFAIR_WORKERS", "2")
    found, processes = divided()
    assert found == serial  # equal to the last bit
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_a_cluster_of_two_processes_gives_the_serial_results(monkeypatch, serial, local_cluster):
    monkeypatch.setenv("DPFAIR_DASK", local_cluster.scheduler_address)
    found, processes = divided()
    assert found == serial
    workers = {worker.process.pid for worker in local_cluster.workers.values()}
    assert len(workers) == 2
    assert processes == workers


def test_results_come_in_order_and_are_announced_as_they_finish(monkeypatch):
    def nap(seconds):
        time.sleep(seconds)
        return [{"slept": seconds}]

    monkeypatch.setenv("DPFAIR_WORKERS", "2")
    naps, seen = [1.0, 0.0, 0.0, 0.0], []
    tasks = [{"seconds": seconds} for seconds in naps]
    results = run_tasks(nap, tasks, finished=lambda at, rows: seen.append((at, rows)))
    assert list(results) == [[{"slept": nap}] for nap in naps]
    assert sorted(at for at, _ in seen) == [0, 1, 2, 3]
    assert seen[0][0] == 1  # the first task takes longest
    assert all(rows == [{"slept": naps[at]}] for at, rows in seen)


def test_a_failing_task_is_named_wherever_it_runs(monkeypatch, local_cluster):
    def fail(*, at):
        if at == 2:
            raise ValueError("rate: found 3, expected at most 1")
        return [{"at": at}]

    tasks = [{"at": at} for at in range(4)]
    message = r"task 3 of 4, \{'at': 2\}: ValueError: rate: found 3, expected at most 1"
    results = run_tasks(fail, tasks)
    assert [next(results), next(results)] == [[{"at": 0}], [{"at": 1}]]
    with pytest.raises(RuntimeError, match=message):
        next(results)
    for name, value in (("DPFAIR_WORKERS", "2"), ("DPFAIR_DASK", local_cluster.scheduler_address)):
        monkeypatch.setenv(name, value)
        with pytest.raises(RuntimeError, match=message):
            list(run_tasks(fail, tasks))


def test_a_run_may_be_left_early(monkeypatch, local_cluster):
    for name, value in (("DPFAIR_WORKERS", "2"), ("DPFAIR_DASK", local_cluster.scheduler_address)):
        monkeypatch.setenv(name, value)
        results = run_tasks(lambda at: [{"task": at}], [{"at": at} for at in range(20)])
        assert next(results) == [{"task": 0}]
        results.close()


def test_no_task_is_no_result(monkeypatch):
    monkeypatch.setenv("DPFAIR_DASK", "tcp://127.0.0.1:1")  # not asked
    assert list(run_tasks(TRAINING, [])) == []


def test_every_task_has_one_thread():
    from threadpoolctl import threadpool_info

    def threads():
        return [{"threads": max(pool["num_threads"] for pool in threadpool_info())}]

    rng = np.random.default_rng(0)
    rng.normal(size=(50, 50)) @ rng.normal(size=(50, 50))
    before, variables = threads(), dict(os.environ)
    assert list(run_tasks(threads, [{}])) == [[{"threads": 1}]]
    assert threads() == before
    assert dict(os.environ) == variables


def test_torch_has_one_thread_too():
    torch = pytest.importorskip("torch", "2")  # a stand-in for it has no version
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert list(run_tasks(lambda: [{"threads": torch.get_num_threads()}], [{}])) == [[{"threads": 1}]]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "²", "99999999999"])
def test_a_bad_number_of_workers_is_refused_at_once(monkeypatch, value):
    monkeypatch.setenv("DPFAIR_WORKERS", value)
    with pytest.raises(ValueError, match=f"DPFAIR_WORKERS: found '{value}', expected a number of processes"):
        run_tasks(TRAINING, TRIALS)


@pytest.mark.parametrize(
    "value", ["localhost:8786", "tcp://localhost", "http://h:1", "tcp://:1", "tcp://h:99999", "tcp://h:0"]
)
def test_a_bad_address_is_refused_at_once(monkeypatch, value):
    monkeypatch.setenv("DPFAIR_DASK", value)
    with pytest.raises(ValueError, match=f"DPFAIR_DASK: found '{value}', expected a scheduler's address"):
        run_tasks(TRAINING, TRIALS)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with socket.socket() as deaf:  # bound, but nobody listens
        deaf.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{deaf.getsockname()[1]}"
        monkeypatch.setenv("DPFAIR_DASK", address)
        started = time.monotonic()
        with pytest.raises(
            ConnectionError, match=f"DPFAIR_DASK: found '{address}', expected a Dask scheduler"
        ):
            list(run_tasks(TRAINING, TRIALS))
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("workers", "message"),
    [({"n_workers": 0}, "found no worker"), ({"n_workers": 1, "threads_per_worker": 2}, "found 2 threads")],
)
def test_a_cluster_that_does_not_fit_is_refused(monkeypatch, workers, message):
    from distributed import LocalCluster

    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with LocalCluster(**workers, processes=False, dashboard_address=":0", protocol="tcp://") as local:
        monkeypatch.setenv("DPFAIR_DASK", local.scheduler_address)
        with pytest.raises(ConnectionError, match=f"DPFAIR_DASK: {message}"):
            list(run_tasks(TRAINING, TRIALS))


@pytest.mark.parametrize("what", ["code", "versions"])
def test_a_worker_with_another_library_is_refused(what):
    sender = {"code": code(), "versions": versions(), what: "another"}
    with pytest.raises(RuntimeError, match=rf"task 1 of 4, .*found a worker with other {what} .*\(another\)"):
        sweeps._run(TRAINING, TRIALS[0], 0, 4, sender)


def test_dask_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setenv("DPFAIR_DASK", "tcp://127.0.0.1:8786")
    with pytest.raises(ImportError, match=r"dpfair-lib\[cluster\]"):
        list(run_tasks(TRAINING, TRIALS))
