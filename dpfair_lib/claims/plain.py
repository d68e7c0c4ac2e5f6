"""Values as JSON and back, to the last bit: what a check finds, and nothing that could run when it is read."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

_KINDS = "biufcUS"  # of NumPy's types: numbers, truth values, text
_SMALL = 1 << 53  # integers that every reader of JSON has exactly, and far from the limit of digits


def to_json(value: Any) -> Any:
    """Return what `json.dumps` writes and `from_json` turns into the same value, of the same type.

    Parameters
    ----------
    value : Any
        None, truth values, integers, floats (NaN and infinities too), strings, bytes, `Fraction`, lists, tuples, sets,
        frozen sets, dictionaries, NumPy scalars and arrays (of objects, too), nested as they may be.

    Returns
    -------
    Any
        None, truth values, strings, small integers and finite floats as they are; of anything else an object with one
        key, its type.

    Raises
    ------
    TypeError
        If it is, or holds, anything else, also an instance of a subclass.
    """
    kind = type(value)
    if value is None or kind in (bool, str) or (kind is int and abs(value) <= _SMALL):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": struct.pack(">d", value).hex()}
    if kind is int:
        return {"int": hex(value)}
    if kind is Fraction:
        return {"Fraction": [hex(value.numerator), hex(value.denominator)]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind in (list, tuple, set, frozenset):
        return {kind.__name__: [to_json(item) for item in value]}
    if kind is dict:
        return {"dict": [[to_json(key), to_json(item)] for key, item in value.items()]}
    if isinstance(value, np.generic) and kind is value.dtype.type and value.dtype.kind in _KINDS:
        return {"scalar": _numbers(np.asarray(value))}
    if kind is np.ndarray and value.dtype.kind in _KINDS:
        return {"array": _numbers(value)}
    if kind is np.ndarray and value.dtype == object:
        return {"objects": [list(value.shape), [to_json(item) for item in value.ravel()]]}
    raise TypeError(f"value: found {kind.__module__}.{kind.__qualname__}, expected plain values")


def from_json(found: Any) -> Any:
    """Return the value that `to_json` was given.

    Raises
    ------
    ValueError
        If it is nothing that `to_json` returns.
    """
    if found is None or type(found) in (bool, str, int, float):
        return found
    if not isinstance(found, dict) or len(found) != 1:
        raise ValueError(
            f"value: found {type(found).__name__}, expected an object with its type as the one key"
        )
    ((kind, content),) = found.items()
    if kind not in _READ:
        raise ValueError(f"value: found the type {kind!r}, expected one of {', '.join(_READ)}")
    try:
        return _READ[kind](content)
    except (TypeError, ValueError, ArithmeticError, struct.error) as error:
        raise ValueError(f"value: found a broken {kind} ({error})") from None


def _numbers(array: np.ndarray) -> list[Any]:
    return [array.dtype.str, list(array.shape), np.ascontiguousarray(array).tobytes().hex()]


def _array(content: Any) -> np.ndarray:
    code, shape, text = content
    dtype = np.dtype(str(code))
    if dtype.kind not in _KINDS:
        raise ValueError(f"value: found an array of {dtype}, expected numbers, truth values or text")
    raw = bytes.fromhex(text)
    if not raw and dtype.itemsize == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer(raw, dtype=dtype).reshape(shape).copy()


def _objects(content: Any) -> np.ndarray:
    shape, items = content
    array = np.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        array[at] = from_json(item)
    return array.reshape(shape)


_READ: dict[str, Callable[[Any], Any]] = {
    "float": lambda content: struct.unpack(">d", bytes.fromhex(content))[0],
    "int": lambda content: int(content, 16),
    "Fraction": lambda content: Fraction(*(int(part, 16) for part in content)),
    "bytes": bytes.fromhex,
    "list": lambda content: [from_json(item) for item in content],
    "tuple": lambda content: tuple(from_json(item) for item in content),
    "set": lambda content: {from_json(item) for item in content},
    "frozenset": lambda content: frozenset(from_json(item) for item in content),
    "dict": lambda content: {from_json(key): from_json(item) for key, item in content},
    "scalar": lambda content: _array(content)[()],
    "array": _array,
    "objects": _objects,
}
