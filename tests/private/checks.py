"""What is asserted of every case; each check raises AssertionError, also on the faults that are planted for it."""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from cases import ROUNDED, Case, Data, parts, statement_of
from picture import differences, picture, shown, written
from watching import Answer, Call, OwnAnswers, nothing_else_draws, same_answers, same_reports, watched


@contextlib.contextmanager
def frozen(case: Case, noise: str, answer: Answer = same_answers) -> Iterator[list[Call]]:
    """Freeze the secure samplers and the channels, and refuse other sources; study noise is left as it is."""
    if noise == "study":
        yield []
        return
    with (
        watched(answer) as calls,
        same_reports(),
        nothing_else_draws(learns=case.learns, system=case.local or case.batches),
    ):
        yield calls


@contextlib.contextmanager
def overheard() -> Iterator[list[str]]:
    """Keep what is logged, at any level and by any logger that is not muted, and what is printed."""
    said: list[str] = []
    ear, root, printed = logging.Handler(), logging.getLogger(), io.StringIO()
    ear.emit = lambda record: said.append(f"{record.name}: {record.getMessage()}")  # type: ignore[method-assign]
    own = [
        root,
        *(logging.getLogger(name) for name in root.manager.loggerDict if name.startswith("dpfair_lib")),
    ]
    before = [logger.level for logger in own]
    root.addHandler(ear)
    for logger in own:
        logger.setLevel(1)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            yield said
    finally:
        root.removeHandler(ear)
        for logger, level in zip(own, before, strict=True):
            logger.setLevel(level)
        said.append(printed.getvalue())


def observed(case: Case, data: Data, noise: str, calls: list[Call]) -> dict[str, Any]:
    """Return all that an observer of one release sees, path → value."""
    calls.clear()
    with overheard() as said, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            release, error = case.release(data, noise, None if noise == "secure" else 0), None
        except Exception as found:
            release, error = None, (type(found).__qualname__, str(found))
    found = {
        "warnings": [(warning.category.__qualname__, str(warning.message)) for warning in seen],
        "error": error,
        "logged and printed": said,
        "sampler": [(call.kind, call.scale, call.values.shape, call.values.dtype) for call in calls],
    }
    if release is None:
        return found
    noisy = case.noisy if noise == "study" else frozenset()
    held = parts(release)
    found["attributes"] = list(held)
    for name, part in held.items():
        found |= picture(part, name, values=name not in noisy)
    stored = written(release)
    found["stored"] = len(stored) if noisy and stored else stored
    found["printed"] = "" if noisy else shown(release), str(statement_of(release))
    return found


def check_neighbours(case: Case, noise: str, answer: Answer | None = None, every: int = 1) -> None:
    """Raise unless each pair of neighbours is released, and looks alike but for the values of what is noisy.

    Whoever looks like their neighbours looks like the neighbours' neighbours. So all data sets are compared that some
    chain of neighbours leads to, too: what depends on the rows by a threshold rarely changes between neighbours.
    ``answer`` is what the secure samplers answer, by default `OwnAnswers`; of the pairs, one in ``every`` is looked at.
    """
    pairs, seen, answer = case.pairs(), {}, answer or OwnAnswers()

    def look(data: Data) -> dict[str, Any]:
        if isinstance(answer, OwnAnswers):
            answer.again()
        return observed(case, data, noise, calls)

    with frozen(case, noise, answer) as calls:
        for name, pair in list(pairs.items())[::every]:
            first, second = map(look, pair)
            assert first["error"] is None, f"{name}: {first['error']}"
            assert differences(first, second) == [], f"{name}: {first['warnings']}, {second['warnings']}"
            start, other = seen.setdefault(in_common(case.relation, pair[0]), (name, first))
            assert differences(other, first) == [], f"{name} differs from {start}"


def in_common(relation: str | None, data: Data) -> str:
    """Return what data sets have in common that chains of neighbours join: all that is public, and their types."""
    found = []
    for name, column in data.items():
        fixed = {
            "replace-within-group": name == "sensitive_features",
            "sensitive-attribute": name != "sensitive_features",
        }.get(relation or "", relation is None)
        shape = np.shape(column)[relation == "add-remove" :]
        held = column.dtypes.to_list() if hasattr(column, "dtypes") and hasattr(column, "columns") else None
        of_lists = {type(one) for one in column} if isinstance(column, list) else None
        kind = type(column), getattr(column, "dtype", held), of_lists, shape
        found.append((name, kind, np.asarray(column).tolist() if fixed else None))
    return repr(found)


def check_secure(case: Case, data: Data, answer: Answer | None = None) -> None:
    """Raise unless the secure sampler is asked what it must be, once for each number, and nothing else draws.

    What it is asked next may rest on what it answered: ``answer`` is what it answers, by default what it draws.
    """
    with watched(answer) as calls, nothing_else_draws(learns=case.learns, system=case.batches):
        release = case.release(data)
    assert case.asked is not None
    answers = [call.answer for call in calls]
    try:
        expected = case.asked(statement_of(release), data, answers)
    except IndexError:
        raise AssertionError(f"the sampler was called {len(calls)} times, which is too few") from None
    assert [call.kind for call in calls] == [one.kind for one in expected]
    for call, one in zip(calls, expected, strict=True):
        assert call.scale > 0
        assert abs(call.scale / one.scale - 1) < 1e-7, (call.scale, one.scale)
        assert call.values.shape == one.values.shape
        told = ~np.isnan(one.values.astype(float))
        assert np.allclose(call.values[told], one.values[told], rtol=1e-9, atol=one.near)
        assert call.answer.size == (1 if one.kind == "choice" else one.values.size)
    if case.through is not None:
        due = case.through(data, answers)
        # a number that is solved for beside others is off by the roundings of the largest. Noise makes some of them as
        # small as one likes: held against its own size, it would fail one release in 10⁶
        near = case.rounded * np.abs(due).max() if case.rounded > ROUNDED else 1e-300
        assert np.allclose(case.numbers(release), due, rtol=case.rounded, atol=near)


def check_system(case: Case, data: Data) -> None:
    """Raise unless reports are made of the operating system's words, some for everybody, and of nothing else."""
    found = [_reports(case, data, start) for start in (1, 1, 2)]
    people = len(data["values"])
    for reports, drawn in found:
        assert len(reports) >= people
        assert drawn >= 4 * people, "less than 32 bits for each report"
    assert np.array_equal(found[0][0], found[1][0]), "the same words make other reports"
    assert not np.array_equal(found[0][0], found[2][0]), "other words make the same reports"


def _reports(case: Case, data: Data, start: int) -> tuple[np.ndarray, int]:
    """Return reports made of words that a counter makes, and how many bytes were asked for."""
    numbers, asked = itertools.count(start), []

    def urandom(size: int) -> bytes:
        asked.append(size)
        return b"".join(
            (next(numbers) * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8, "big") for _ in range(-(-size // 8))
        )[:size]

    with nothing_else_draws(system=True), mock.patch.object(os, "urandom", urandom):
        return case.numbers(case.release(data)), sum(asked)


def caught(check: Callable[..., None], *arguments: Any) -> bool:
    """Return whether a check refuses a planted fault, as an assertion and not by breaking."""
    try:
        check(*arguments)
    except AssertionError:
        return True
    return False
