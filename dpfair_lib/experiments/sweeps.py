"""Running a list of tasks in one process, on several cores or on a Dask cluster, with the same results.

Two settings, both environment variables. ``DPFAIR_WORKERS`` is the number of processes; by default the cores
that this process may use. ``DPFAIR_DASK=tcp://host:port`` sends the tasks to the scheduler there instead. Its
workers need this version of the library with the same packages, run with one thread each (``dask worker
--nthreads 1 --nworkers auto``), and find data sets where `dpfair_lib.load` finds them. Tasks and results
travel unencrypted, and everybody who can reach a scheduler can run code on it: use a network that you trust.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from dpfair_lib._processes import end_with
from dpfair_lib._progress import Progress, shown
from dpfair_lib.experiments.cluster import as_finished, connect
from dpfair_lib.experiments.experiment import Rows, Task
from dpfair_lib.experiments.provenance import code, versions

SCHEDULER = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):[0-9]{1,5}")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_tasks(
    function: Callable[..., Rows],
    tasks: Sequence[Task],
    *,
    finished: Callable[[int, Rows], None] | None = None,
    verbose: bool = False,
) -> Iterator[Rows]:
    """Run every task and yield the results in the order of the tasks.

    A task carries all that its result depends on, its seed among it, and runs on one thread, so that the
    results are the same wherever and in whatever order the tasks run, on machines of one kind. With one worker,
    or one task, everything runs in this process.

    Parameters
    ----------
    function : callable
        Takes the entries of a task as keyword arguments and returns its rows. Defined at the top level of a module
        of the library, so that a worker can import it.
    tasks : sequence of mapping
        The keyword arguments of each call: small values, seeds among them. Data are named, not carried.
    finished : callable, optional
        Called with a task's position and its rows as soon as they are there, in the order in which tasks finish.
    verbose : bool
        Whether to show on the standard error how many tasks are done, after two seconds and then every ten.

    Yields
    ------
    list of dict
        What the function returned for the next task.

    Raises
    ------
    ValueError
        At once, if ``DPFAIR_WORKERS`` or ``DPFAIR_DASK`` has a bad value.
    ConnectionError
        If the scheduler does not answer, has no worker, or a worker has several threads; if scheduler or last
        worker is lost.
    RuntimeError
        If a task fails, or if a worker's library is another one; the message names the task.

    Examples
    --------
    >>> from dpfair_lib.experiments import run_tasks
    >>> def square(x):
    ...     return [{"x": x, "square": x * x}]
    >>> list(run_tasks(square, [{"x": 2}]))
    [[{'x': 2, 'square': 4}]]
    """
    tasks = list(tasks)
    scheduler, workers = _scheduler(), min(_workers(), len(tasks))
    return _in_order(function, tasks, scheduler if tasks else None, workers, finished, verbose)


def _scheduler() -> str | None:
    """Return the setting DPFAIR_DASK."""
    found = os.environ.get("DPFAIR_DASK", "")
    if found and not (SCHEDULER.fullmatch(found) and 0 < int(found.rpartition(":")[2]) < 1 << 16):
        raise ValueError(f"DPFAIR_DASK: found {found!r}, expected a scheduler's address, tcp://host:port")
    return found or None


def _workers() -> int:
    """Return the setting DPFAIR_WORKERS."""
    import joblib

    found = os.environ.get("DPFAIR_WORKERS", "")
    if not found:
        return int(joblib.cpu_count())
    if not re.fullmatch("[0-9]{1,4}", found) or int(found) < 1:
        raise ValueError(f"DPFAIR_WORKERS: found {found!r}, expected a number of processes, 1 to 9999")
    return int(found)


def _in_order(
    function: Callable[..., Rows], tasks: list[Task], scheduler: str | None, workers: int,
    finished: Callable[[int, Rows], None] | None, verbose: bool,
) -> Iterator[Rows]:  # fmt: skip
    sender = {"code": code(), "versions": versions()}
    calls = ((function, task, at, len(tasks), sender) for at, task in enumerate(tasks))
    early: dict[int, Rows] = {}
    due = 0
    progress = Progress("tasks", len(tasks))
    with shown(verbose), closing(_as_finished(calls, scheduler, workers)) as found:
        for at, rows in found:
            progress.add()
            if finished:
                finished(at, rows)
            early[at] = rows
            while due in early:
                yield early.pop(due)
                due += 1


def _as_finished(
    calls: Iterator[tuple[Any, ...]], scheduler: str | None, workers: int
) -> Generator[tuple[int, Rows]]:
    """Give the results of all calls to `_run` as they finish."""
    import joblib

    if scheduler is not None:
        with closing(connect(scheduler)) as client:
            yield from as_finished(client, {_name(*call[1:4]): partial(_run, *call) for call in calls})
        return
    jobs = (joblib.delayed(_run_apart)(os.getpid(), *call) for call in calls)
    # batches of one: a finished result does not wait for another
    options = {"n_jobs": workers, "return_as": "generator_unordered", "batch_size": 1}
    if workers > 1:
        yield from _closed(joblib.Parallel(**options, backend="loky")(jobs))
    else:
        yield from (_run(*call) for call in calls)


def _closed(found: Generator[Any]) -> Generator[Any]:
    """Give what joblib gives; where the reader has enough, stop its tasks without the warning about them."""
    try:
        for one in found:  # noqa: UP028 (`yield from` would close it first, with the warning)
            yield one
    except GeneratorExit:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            found.close()
        raise


def _run(
    function: Callable[..., Rows], task: Task, at: int, count: int, sender: dict[str, Any]
) -> tuple[int, Rows]:
    """Run one task on one thread, in whatever process, and return its position and its rows."""
    import joblib

    name = _name(task, at, count)
    for what, here in (("code", code()), ("versions", versions())):
        if here != sender[what]:
            raise RuntimeError(
                f"{name}: found a worker with other {what} ({here}), expected those of the process that sent "
                f"the task ({sender[what]}); install the same version of the library and of its packages"
            )
    try:
        with one_thread(), joblib.parallel_config(backend="sequential", n_jobs=1):
            return at, function(**task)
    except Exception as error:
        raise RuntimeError(f"{name}: {type(error).__name__}: {error}") from error


def _run_apart(parent: int, *call: Any) -> tuple[int, Rows]:
    """Do what `_run` does, in a process that ends with the one that sent it."""
    end_with(parent)
    return _run(*call)


def _name(task: Task, at: int, count: int) -> str:
    return f"task {at + 1} of {count}, {task!r}"


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS, OpenMP and torch run one thread inside; those that are first loaded inside keep it."""
    from threadpoolctl import threadpool_limits

    before = {name: os.environ.get(name) for name in THREADS}
    torch = sys.modules.get("torch")
    count = torch.get_num_threads() if torch else 1
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        with threadpool_limits(1):
            if torch:
                torch.set_num_threads(1)
            yield
    finally:
        if torch:
            torch.set_num_threads(count)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
