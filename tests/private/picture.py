"""What a release shows to whoever holds it: its picture, in which any two that differ can be told apart."""

from __future__ import annotations

import pickle
import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import BaseEstimator


def picture(thing: Any, path: str = "", *, values: bool = True) -> dict[str, Any]:
    """Return all that a thing shows, path → value: types, keys, shapes, dtypes, and the values to the last bit.

    Attributes, entries, slots, what functions close over and what arrays are views of are gone through;
    ``values=False`` leaves out the values of numbers and arrays of them, which noise may move.
    """
    found: dict[str, Any] = {path: type(thing).__qualname__}
    for name, part in _inside(thing):
        found |= picture(part, f"{path}{name}", values=values)
    plain = _plain(thing, values)
    return found if plain is None else found | {f"{path} is": plain}


def _inside(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, dict | types.MappingProxyType):
        yield "{keys}", [repr(key) for key in thing]
        yield from ((f"[{key!r}]", part) for key, part in thing.items())
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from ((f"[{at}]", part) for at, part in enumerate(thing))
    elif isinstance(thing, np.ndarray) and thing.dtype == object:
        yield from ((f"[{at}]", part) for at, part in enumerate(thing.ravel().tolist()))
    elif isinstance(thing, types.FunctionType):
        yield from ((f"<{at}>", cell.cell_contents) for at, cell in enumerate(thing.__closure__ or ()))
        yield "()", thing.__defaults__
    if isinstance(thing, np.ndarray) and isinstance(thing.base, np.ndarray | bytes | bytearray):
        yield ".base", thing.base  # a view shows all that it is cut from
    if isinstance(thing, pd.DataFrame):
        for name, column in thing.items():
            yield f"[{name!r}].base", column.to_numpy().base
    if isinstance(thing, type | types.ModuleType | types.FunctionType | np.dtype | pd.DataFrame | pa.Table):
        return
    if is_dataclass(thing):
        yield from ((f".{one.name}", getattr(thing, one.name)) for one in fields(thing))
    for name in getattr(type(thing), "__slots__", ()):
        if isinstance(name, str) and hasattr(thing, name) and not name.startswith("__"):
            yield f".{name}", getattr(thing, name)
    yield from ((f".{name}", part) for name, part in getattr(thing, "__dict__", {}).items())


def _plain(thing: Any, values: bool) -> Any:
    if isinstance(thing, np.ndarray):
        shown = thing.tobytes() if values and thing.dtype != object else None
        return str(thing.dtype), thing.shape, thing.flags.writeable, shown
    if isinstance(thing, pd.DataFrame):
        columns = [(name, str(column.dtype), column.tolist()) for name, column in thing.items()]
        return (
            columns,
            thing.index.tolist(),
            [getattr(kind, "categories", None) is None for kind in thing.dtypes],
        )
    if isinstance(thing, pa.Table):
        return (
            thing.to_pydict(),
            str(thing.schema),
            thing.schema.metadata,
            [c.num_chunks for c in thing.columns],
        )
    if isinstance(thing, types.FunctionType | types.BuiltinFunctionType | type | types.ModuleType):
        return getattr(thing, "__qualname__", repr(thing))
    if isinstance(thing, int | float | complex | np.number) and not isinstance(thing, bool):
        return repr(thing) if values else None
    if isinstance(thing, str | bytes | bool | np.bool_) or thing is None:
        return thing
    return None


def written(thing: Any) -> bytes | None:
    """Return a release as it is stored; None where that cannot be."""
    try:
        return pickle.dumps(thing)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def shown(thing: Any) -> str:
    """Return what a release prints."""
    return repr(thing) if isinstance(thing, BaseEstimator) or is_dataclass(thing) else ""


def differences(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """Return the paths at which two pictures differ."""
    return sorted(
        path for path in first.keys() | second.keys() if first.get(path, ...) != second.get(path, ...)
    )
