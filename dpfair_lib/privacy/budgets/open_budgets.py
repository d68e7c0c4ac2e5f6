"""Budgets that are open in this process, and what every release charges to them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from dpfair_lib.privacy.statements import PrivacyStatement

_VARIABLE = "DPFAIR_OPEN_BUDGET"  # inherited by processes that are started while a budget is open


class _Charged(Protocol):
    def charge(self, statement: PrivacyStatement) -> object: ...


_open: list[_Charged] = []
_lock = threading.Lock()
_inside = threading.local()  # whether this thread is within a release that was charged as a whole


def open_budget(budget: _Charged) -> None:
    """Charge every release to a budget from now on, in all threads of this process."""
    _stop_workers()
    with _lock:
        _open.append(budget)
        os.environ[_VARIABLE] = str(os.getpid())


def close_budget(budget: _Charged) -> None:
    """Charge no further release to a budget that is open."""
    with _lock:
        _open.remove(budget)
        if not _open:
            os.environ.pop(_VARIABLE, None)
    _stop_workers()  # which refuse to fit


def _stop_workers() -> None:
    """Stop the workers that joblib keeps for its next call: they have the environment of the time when they began."""
    pools = sys.modules.get("joblib.externals.loky.reusable_executor")
    pool = getattr(pools, "_executor", None)
    if pool is not None and not pool._pending_work_items:  # another thread's work goes on
        pool.shutdown(wait=True)


def charge(statement: PrivacyStatement) -> None:
    """Charge a release to every open budget, before it leaves its maker.

    If one of several budgets refuses, the ones opened before it stay charged: they overstate the cost.

    Parameters
    ----------
    statement : PrivacyStatement
        What the release promises.

    Raises
    ------
    ValueError
        If an open budget refuses it: too little is left, no guarantee, another relation or unit.
    RuntimeError
        If the budget was opened in another process.
    """
    if getattr(_inside, "depth", 0):
        return
    with _lock:
        budgets = list(dict.fromkeys(_open))
    if not budgets and (elsewhere := os.environ.get(_VARIABLE)) not in (None, str(os.getpid())):
        raise RuntimeError(
            f"budget: found one open in process {elsewhere}, expected none there, as this process ({os.getpid()}) "
            "cannot spend from it; fit in one process (n_jobs=1)"
        )
    for budget in budgets:
        budget.charge(statement)


@contextmanager
def charged_as_one(statement: PrivacyStatement) -> Iterator[None]:
    """Charge several releases as one, by their joint statement; what is released within, by this thread, is free.

    Parameters
    ----------
    statement : PrivacyStatement
        What the releases promise together.

    Raises
    ------
    ValueError, RuntimeError
        As `charge`.
    """
    charge(statement)
    _inside.depth = getattr(_inside, "depth", 0) + 1
    try:
        yield
    finally:
        _inside.depth -= 1
