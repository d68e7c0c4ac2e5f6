"""Parts of a check that draw nothing are run once for what they examine, and reported again to every later search."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

REPORTS = ("part", "fact", "exhausts", "observe", "equal", "agree", "sanity", "against", "under", "sharper",
           "constant", "broken", "answers")  # fmt: skip


Reports = list[tuple[str, tuple[Any, ...], dict[str, Any]]]


class _Noting:
    """Passes on to a `Search` what a part of a check reports, and takes it down; there is nothing to draw from."""

    def __init__(self, search: Any) -> None:
        self.reports: Reports = []
        self._search = search

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in REPORTS:
            raise AttributeError(f"{name}: a part that is run once must not use it")

        def report(*given: Any, **named: Any) -> None:
            self.reports.append((name, given, named))
            getattr(self._search, name)(*given, **named)

        return report


def once(part: Callable[..., None]) -> Callable[..., None]:
    """Run a part of a check once for what it examines, and report to every later search what it reported then.

    For parts that draw nothing: a planted fault in another part leaves them as they are. The report of a part that
    does not end, as one in which a fault was caught, is not stored.

    Parameters
    ----------
    part : callable
        ``part(*examined, search)``.

    Returns
    -------
    callable
        Does the same.
    """
    known: dict[tuple[Any, ...], Reports] = {}

    @functools.wraps(part)
    def again(*arguments: Any) -> None:
        *examined, search = arguments
        if tuple(examined) not in known:
            noting = _Noting(search)
            part(*examined, noting)
            known[tuple(examined)] = noting.reports
            return
        for name, given, named in known[tuple(examined)]:
            getattr(search, name)(*given, **named)

    return again
