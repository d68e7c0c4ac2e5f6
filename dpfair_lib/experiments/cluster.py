"""Run tasks on a Dask cluster: workers may join and leave, and the loss of the last one is reported."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Mapping
from queue import Empty, SimpleQueue
from typing import Any

from dpfair_lib._extras import extra

PATIENCE = 30.0  # seconds to wait for the scheduler, and then for a first worker
LOST = 60.0  # seconds to wait for another worker where the last one is gone
LOOK = 1.0  # seconds without a result before it checks whether a worker is left


def connect(scheduler: str) -> Any:
    """Connect to a Dask scheduler that has a worker.

    Parameters
    ----------
    scheduler : str
        Its address.

    Returns
    -------
    distributed.Client
        To be closed.

    Raises
    ------
    ImportError
        If the extra ``cluster`` is not installed.
    ConnectionError
        If the scheduler does not answer, has no worker, or a worker has several threads.
    """
    with extra("cluster"):
        from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ConnectionError(
            f"DPFAIR_DASK: found {scheduler!r}, expected a Dask scheduler that answers within {PATIENCE:.0f} s "
            f"({type(error).__name__}: {error})"
        ) from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
        threads = client.nthreads()
    except (OSError, TimeoutError):
        client.close()
        raise ConnectionError(
            f"DPFAIR_DASK: found no worker at {scheduler!r} within {PATIENCE:.0f} s, expected one or more"
        ) from None
    for worker, count in threads.items():
        if count != 1:
            client.close()
            raise ConnectionError(
                f"DPFAIR_DASK: found {count} threads in the worker {worker}, expected one, because a task has a "
                "process to itself (dask worker --nthreads 1 --nworkers auto)"
            )
    return client


def as_finished(client: Any, calls: Mapping[str, Callable[[], Any]]) -> Generator[Any]:
    """Give the results of some calls as they finish. What a lost worker had under way is done by another one.

    Parameters
    ----------
    client : distributed.Client
        What `connect` returned.
    calls : mapping
        Name of the task → what does it.

    Yields
    ------
    Any
        What the next call returned.

    Raises
    ------
    ConnectionError
        If the scheduler is lost; if no worker came within a minute after the last one was lost.
    RuntimeError
        If one task's workers were lost again and again, more often than the scheduler allows (3 times, by default).

    Warns
    -----
    RuntimeWarning
        As soon as it is noticed that no worker is left.
    """
    with extra("cluster"):
        from distributed import KilledWorker

    done: SimpleQueue[Any] = SimpleQueue()
    names = {}
    for name, call in calls.items():
        future = client.submit(call, pure=False)
        names[future] = name
        future.add_done_callback(done.put)
    count, gone_at = len(names), None
    while names:
        try:
            future = done.get(timeout=LOOK)
        except Empty:
            gone_at = _gone_since(client, gone_at, f"{count - len(names)} of {count} tasks have finished")
            continue
        if future.status == "cancelled":
            raise ConnectionError(f"DPFAIR_DASK: the scheduler at {_address(client)} is lost")
        name, gone_at = names.pop(future), None
        try:
            yield future.result()
        except KilledWorker as error:
            raise RuntimeError(f"{name}: every worker that began it was lost ({error})") from None


def _gone_since(client: Any, gone_at: float | None, state: str) -> float | None:
    """Return since when there has been no worker, None if there is one.

    Raises
    ------
    ConnectionError
        If that is too long.
    """
    try:
        if client.nthreads():
            return None
    except (OSError, TimeoutError) as error:
        raise ConnectionError(f"DPFAIR_DASK: the scheduler at {_address(client)} is lost ({error})") from None
    now = time.monotonic()
    if gone_at is None:
        warnings.warn(
            f"DPFAIR_DASK: the last worker at {_address(client)} is gone, {state}; another one is waited for, "
            f"{LOST:.0f} s long",
            RuntimeWarning,
            stacklevel=3,
        )
        return now
    if now - gone_at > LOST:
        raise ConnectionError(
            f"DPFAIR_DASK: found no worker at {_address(client)} for {LOST:.0f} s after the last one was lost, "
            f"expected one or more; {state}"
        )
    return gone_at


def _address(client: Any) -> str:
    return repr(client.scheduler.address)
