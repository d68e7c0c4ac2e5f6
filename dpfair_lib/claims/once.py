"""Parts of a check are run once for what they examine, and what they found is put into every later search."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from dpfair_lib.claims.search import Search

Drawn = TypeVar("Drawn")
Function = TypeVar("Function", bound=Callable[..., Any])
PLAIN = {bool, float, int, str}


def once(part: Callable[..., None]) -> Callable[..., None]:
    """Run a part of a check once for what it examines, and include what it found in every later search.

    A planted fault in another part leaves this one as it is. What a part finds has to follow from what it examines,
    and from what it draws from ``search.rng``. So a part is run again where the stream stands elsewhere, and after what
    is stored the stream goes on from where the part left it. A part that does not come to its end, as one in which a
    fault was caught, is not stored.

    Parameters
    ----------
    part : callable
        ``part(*examined, search)``.

    Returns
    -------
    callable
        A function with the same effect.
    """
    known: dict[tuple[Any, ...], tuple[Search, dict[str, Any], int]] = {}

    @functools.wraps(part)
    def again(*arguments: Any) -> None:
        *examined, search = arguments
        stream = search.rng.bit_generator
        children = stream.seed_seq.n_children_spawned
        key = (*examined, search.effort, repr(stream.state), children)
        if key in known:
            found, stream.state, spawned = known[key]
            stream.seed_seq.spawn(spawned)
        else:
            found = search.aside()
            part(*examined, found)
            known[key] = found, stream.state, stream.seed_seq.n_children_spawned - children
        search.include(found)

    return again


def drawn_once(draw: Callable[[Search], Drawn]) -> Callable[[Search], Drawn]:
    """Draw the random cases of a part once, whatever the part examines; the stream goes on from where they leave it.

    Parameters
    ----------
    draw : callable
        ``draw(search)`` returns cases that follow from ``search.rng`` and ``search.effort`` alone. Nobody may change
        them.

    Returns
    -------
    callable
        A function with the same effect.
    """
    known: dict[tuple[int, str], tuple[Drawn, Any]] = {}

    @functools.wraps(draw)
    def again(search: Search) -> Drawn:
        stream = search.rng.bit_generator
        key = search.effort, repr(stream.state)
        if key not in known:
            known[key] = draw(search), stream.state
        cases, stream.state = known[key]
        return cases

    return again


def known(function: Function) -> Function:
    """Remember what a function of the library returned, so that faults in other functions do not compute it again.

    Parameters
    ----------
    function : callable
        What it returns follows from its arguments: numbers, names, and arrays, lists or data classes of them. Nobody
        may change it.

    Returns
    -------
    callable
        A function with the same effect.
    """
    found: dict[Any, Any] = {}

    @functools.wraps(function)
    def again(*place: Any, **how: Any) -> Any:
        key = _hashable(place), _hashable(how)
        if key not in found:
            found[key] = function(*place, **how)
        return found[key]

    return again  # type: ignore[return-value]


def _hashable(value: Any) -> Any:
    """Return a key that differs wherever values, their types or the order of names do."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, dict):
        return tuple((name, _hashable(one)) for name, one in value.items())
    if isinstance(value, list | tuple):
        kinds = tuple(map(type, value))
        if PLAIN.issuperset(kinds):  # the usual case, and ten thousand sizes of groups at a time
            return type(value), kinds, tuple(value)
        return type(value), tuple(map(_hashable, value))
    if is_dataclass(value):
        return type(value), tuple(_hashable(getattr(value, field.name)) for field in fields(value))
    return type(value), value
