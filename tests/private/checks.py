"""What is asserted of every case; each check raises AssertionError, also on the faults that are planted for it."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
from cases import Case, Data, parts, statement_of
from picture import differences, picture, shown, written
from watching import nothing_else_draws, same_answers, same_reports, watched


def observed(case: Case, data: Data, noise: str) -> dict[str, Any]:
    """Return all that an observer of one release sees, path → value; secure samplers and channels are frozen."""
    with contextlib.ExitStack() as stack:
        seen = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        calls = []
        if noise == "secure":
            calls = stack.enter_context(watched(same_answers))
            stack.enter_context(same_reports())
            stack.enter_context(nothing_else_draws(learns=case.learns, system=case.local))
        try:
            release, error = case.release(data, noise, None if noise == "secure" else 0), None
        except Exception as found:
            release, error = None, (type(found).__qualname__, str(found))
    found = {
        "warnings": [(warning.category.__qualname__, str(warning.message)) for warning in seen],
        "error": error,
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


def check_neighbours(case: Case, noise: str) -> None:
    """Raise unless each pair of neighbours is released, and looks alike but for the values of what is noisy."""
    for name, pair in case.pairs().items():
        first, second = (observed(case, data, noise) for data in pair)
        assert first["error"] is None, f"{name}: {first['error']}"
        assert differences(first, second) == [], f"{name}: {first['warnings']}, {second['warnings']}"


def check_secure(case: Case, data: Data) -> None:
    """Raise unless the secure sampler is asked what it must be, once for each number, and nothing else draws."""
    with watched() as calls, nothing_else_draws(learns=case.learns):
        release = case.release(data)
    assert case.asked is not None
    answers = [call.answer for call in calls]
    expected = case.asked(statement_of(release), data, answers)
    assert [call.kind for call in calls] == [one.kind for one in expected]
    for call, one in zip(calls, expected, strict=True):
        assert call.scale > 0
        assert abs(call.scale / one.scale - 1) < 1e-7, (call.scale, one.scale)
        assert call.values.shape == one.values.shape
        told = ~np.isnan(one.values.astype(float))
        assert np.allclose(call.values[told], one.values[told], rtol=1e-9, atol=one.near)
        assert call.answer.size == (1 if one.kind == "choice" else one.values.size)
    if case.through is not None:
        assert np.allclose(case.numbers(release), case.through(data, answers), rtol=1e-12, atol=1e-300)
