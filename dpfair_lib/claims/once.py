"""Parts of a check that draw nothing are run once for what they examine, and reported again to every later search."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

REPORTS = ("part", "fact", "exhausts", "observe", "equal", "agree", "sanity", "against", "under", "sharper",
           "constant", "broken", "answers")  # fmt: skip


class _Noted:
    """Takes down what a part of a check reports, in the place of a `Search`; there is nothing to draw from."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in REPORTS:
            raise AttributeError(f"{name}: a part that is run once must not use it")
        return lambda *given, **named: self.reports.append((name, given, named))


def once(part: Callable[..., None]) -> Callable[..., None]:
    """Run a part of a check once for what it examines, and report to every later search what it reported then.

    For parts that draw nothing: a planted fault in another part leaves them as they are.

    Parameters
    ----------
    part : callable
        ``part(*examined, search)``.

    Returns
    -------
    callable
        Does the same.
    """

    @functools.cache
    def reports(*examined: Any) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        noted = _Noted()
        part(*examined, noted)
        return noted.reports

    @functools.wraps(part)
    def again(*arguments: Any) -> None:
        *examined, search = arguments
        for name, given, named in reports(*examined):
            getattr(search, name)(*given, **named)

    return again
