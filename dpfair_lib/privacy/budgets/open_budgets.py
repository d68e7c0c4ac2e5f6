"""Budgets that are open in this process, and what every release charges to them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from dpfair_lib.privacy.statements import PrivacyStatement

_VARIABLE = "DPFAIR_OPEN_BUDGET"  # inherited by processes that are started while a budget is open


class _Charged(Protocol):
    def charge(self, statement: PrivacyStatement) -> object: ...


_open: list[_Charged] = []
_lock = threading.Lock()
# Blocks of what was charged as a whole, or is of released values: the one that the running code is in, and the
# thread of each that has not ended. A task of asyncio has a context of its own: while one waits within, others are
# charged.
_block: ContextVar[object] = ContextVar("_block", default=None)
_blocks: dict[object, int] = {}


def open_budget(budget: _Charged) -> None:
    """Charge every release to a budget from now on, in all threads of this process.

    Raises
    ------
    RuntimeError
        If a budget was open in another process when this one was started: what is released here would not be charged
        to it, and a budget of this process would hide it.
    """
    _refuse_elsewhere()
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
    for budget in _asked():
        budget.charge(statement)


def _asked() -> list[_Charged]:
    """Return the open budgets that a release of this thread is charged to."""
    if _blocks.get(_block.get()) == threading.get_ident():
        return []
    with _lock:
        budgets = list(dict.fromkeys(_open))
    if not budgets:
        _refuse_elsewhere()
    return budgets


def _refuse_elsewhere() -> None:
    if (elsewhere := os.environ.get(_VARIABLE)) not in (None, str(os.getpid())):
        raise RuntimeError(
            f"budget: found one open in process {elsewhere}, expected none there, as this process ({os.getpid()}) "
            "cannot spend from it; fit in one process (n_jobs=1)"
        )


def refuse_unstated(name: str) -> None:
    """Refuse a fit that states no cost where a budget would have to be charged.

    Parameters
    ----------
    name : str
        Of the estimator, for the message.

    Raises
    ------
    ValueError
        If a budget is open.
    RuntimeError
        If one is open in another process.
    """
    if _asked():
        raise ValueError(
            f"estimator: found {name} within a Budget, and its fit states no cost, expected an estimator with a "
            "privacy_statement_; or `with released_values():` where the fit sees public and released values only"
        )


@contextmanager
def released_values() -> Iterator[None]:
    """Fit within, in this thread, on values that are public or released already: no open budget is charged.

    What is computed from released values costs nothing more. Nothing here can check that the values are such: that is
    yours to know. On private rows the budget would promise too much. Other tasks of asyncio are charged meanwhile. A
    generator should not yield within, since its caller then is within too.

    Examples
    --------
    A post-processor without privacy is refused within a budget, unless it sees reports that were released before:

    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.privacy import released_values
    >>> y_pred, group = [1, 1, 0, 1, 0, 0], list("aaabbb")
    >>> with dpf.Budget(1.0, 0.0, "replace-one"):
    ...     try:
    ...         fair = dpf.FairPostprocessor().fit(y_pred, sensitive_features=group)
    ...     except ValueError as error:
    ...         print(str(error)[:42])
    ...     with released_values():
    ...         fair = dpf.FairPostprocessor().fit(y_pred, sensitive_features=group)
    estimator: found FairPostprocessor within
    """
    with _uncharged():
        yield


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
    with _uncharged():
        yield


@contextmanager
def _uncharged() -> Iterator[None]:
    before, block = _block.get(), object()
    _blocks[block] = threading.get_ident()
    _block.set(block)
    try:
        yield
    finally:
        del _blocks[block]  # a task that was begun within and goes on is charged from here on
        _block.set(before)
