"""What all commands have in common: exit statuses, common options, signals, and progress."""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn, TextIO

DONE, REFUSED, USAGE, NO_PACKAGE, BUSY, SIGNAL = 0, 1, 2, 3, 4, 128
EXITS = {
    DONE: "what was asked for was done",
    REFUSED: "it was not done: a file, a value or a download is wrong, or a check disagrees; the error says which",
    USAGE: "the command line is wrong: an option is missing, unknown, or cannot be met",
    NO_PACKAGE: "a package is missing; the message names the extra that installs it",
    BUSY: "another process is writing the same file; try again when it has ended",
    SIGNAL: "it was ended by signal n: 130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP",
}
"""The exit statuses, and what each means; the last is 128 + n."""

AFTER, EVERY = 2.0, 10.0
"""Seconds until progress is shown at all, and between two lines of it where there is no terminal."""


def exit_table() -> str:
    """Return the exit statuses as lines of text."""
    shown = {"128 + n" if status == SIGNAL else str(status): meaning for status, meaning in EXITS.items()}
    return "\n".join(["exit status:", *(f"  {status:7}  {meaning}" for status, meaning in shown.items())])


def add_common(parser: argparse.ArgumentParser, *, as_json: bool = True) -> None:
    """Add ``--json``, ``--quiet`` and ``--verbose``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of a command.
    as_json : bool
        Whether to add ``--json``, which some commands have already.
    """
    if as_json:
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object on the standard output"
        )
    parser.add_argument("--quiet", action="store_true", help="no progress; warnings and errors stay")
    parser.add_argument("--verbose", action="store_true", help="log each step on the standard error")


def say(what: Any) -> None:
    """Print an object as JSON."""
    print(json.dumps(what, indent=1, ensure_ascii=False, allow_nan=False))


@contextmanager
def logged(verbose: bool) -> Iterator[None]:
    """Let the library's log be seen on the standard error meanwhile, if it is asked for."""
    if not verbose:
        yield
        return
    logger, handler = logging.getLogger("dpfair_lib"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


class Ended(BaseException):
    """A signal came, whose number this carries; what is under way is given up in good order."""

    @property
    def status(self) -> int:
        """The exit status."""
        return SIGNAL + int(self.args[0])

    def __str__(self) -> str:
        return f"ended by {signal.Signals(self.args[0]).name}"


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let a signal that would end the process raise `Ended`; those that are ignored stay so."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        raise Ended(number)

    before = {}
    if threading.current_thread() is threading.main_thread():  # no other may set them
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def progress_on(
    stream: TextIO, what: str, *, clock: Callable[[], float] = time.monotonic
) -> Callable[[int, int], None]:
    """Return what shows progress: after two seconds, on a terminal in one line, elsewhere a line every ten seconds.

    Parameters
    ----------
    stream : TextIO
        Where to, as a rule the standard error.
    what : str
        What is counted, as "bytes".
    clock : callable
        Returns the time in seconds.

    Returns
    -------
    callable
        Takes the amount that is done and the total, both of which have to be public.
    """
    begun, terminal = clock(), stream.isatty()
    last = begun + AFTER - EVERY

    def show(done: int, total: int) -> None:
        nonlocal last
        now, whole = clock(), done >= total
        if now - begun < AFTER or not (terminal or whole or now - last >= EVERY):
            return
        last = now
        line = f"{done / max(total, 1):6.1%}  {done:,} of {total:,} {what}"
        start, end = ("\r", "\n" if whole else "") if terminal else ("", "\n")
        stream.write(f"{start}{line}{end}")
        stream.flush()

    return show


def warn_on_error_output(messages: list[str]) -> None:
    """Print warnings, each in a line."""
    for message in messages:
        print(f"warning: {message}", file=sys.stderr)
