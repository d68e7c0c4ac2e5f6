"""How far long work has come: one logger, ``dpfair_lib.progress``, which is silent for two seconds.

What is logged has to be public, for it is no release: how many parts there are, and how many are done. A number of
iterations that the rows decide is not. When a line is logged depends on the clock, as running time does, which no
statement covers.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

AFTER, EVERY = 2.0, 10.0
"""Seconds until progress is logged at all, and between two lines of it."""

_log = logging.getLogger("dpfair_lib.progress")
_lock = threading.Lock()
_watching: list[tuple[logging.Handler, int]] = []
"""What shows the log, and the logger's level before: once for each of those that watch, the first of whom set it."""


class Progress:
    """Counts the parts of one piece of work.

    Parameters
    ----------
    what : str
        What the parts are called, as "steps of training".
    total : int, optional
        How many there are, a public number. Without it no total is shown, as for a search.
    clock : callable
        Returns the time in seconds.

    Attributes
    ----------
    total : int or None
        As given; it may become known later.
    done : int
        How many are done.
    """

    def __init__(
        self, what: str, total: int | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what, self.total, self._clock, self.done = what, total, clock, 0
        self._next = clock() + AFTER
        self._own = threading.Lock()  # parts may be done in several threads

    def add(self, parts: int = 1, note: str = "") -> None:
        """Count parts that are done, and log it if it is time.

        Parameters
        ----------
        parts : int
            How many more.
        note : str
            What else is known, and public.
        """
        with self._own:
            self.done += parts
            now = self._clock()
            if now < self._next:
                return
            self._next = now + EVERY
            of = f" of {self.total:,}" if self.total is not None else ""
            _log.info("%s%s %s%s", f"{self.done:,}", of, self._what, f", {note}" if note else "")


@contextmanager
def shown(verbose: object) -> Iterator[None]:
    """Write what is logged of progress to the standard error meanwhile, if that is asked for.

    Parameters
    ----------
    verbose : bool
        Whether to.

    Raises
    ------
    ValueError
        If it is neither True nor False.
    """
    if not isinstance(verbose, bool | np.bool_):
        raise ValueError(f"verbose: found {verbose!r}, expected True or False")
    if not verbose:
        yield
        return
    with _lock:  # of several at a time the first begins and the last ends
        if not _watching:
            _watching.append((logging.StreamHandler(sys.stderr), _log.level))
            _log.addHandler(_watching[0][0])
            _log.setLevel(min(logging.INFO, _log.level or logging.INFO))
        else:
            _watching.append(_watching[0])
    try:
        yield
    finally:
        with _lock:
            handler, before = _watching.pop()
            if not _watching:
                _log.removeHandler(handler)
                _log.setLevel(before)
