"""Where arrays are, and what is computed there.

Rows stay where they are: in NumPy's memory, or on the device of an array of another namespace that follows the array
API standard. Only small tables go to the host: counts and sums of cells, labels of groups, single numbers for messages.

torch departs from the standard in a few functions. `_Torch` adapts those that are used here, so that no further package
is needed for it.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Space:
    """A namespace of arrays, and the device that holds them.

    Attributes
    ----------
    xp : module
        Functions with the names of the array API standard.
    device : object
        As the namespace describes it.
    name : str
        Of both, for messages.
    """

    xp: Any
    device: Any
    name: str

    @property
    def host(self) -> bool:
        """Whether the arrays are NumPy's."""
        return self.xp is np

    @functools.cached_property
    def real(self) -> Any:
        """The widest real type of the device: 64 bits, or 32 where it has no more."""
        return self._widest("float", "real floating")

    @functools.cached_property
    def whole(self) -> Any:
        """The widest integer type of the device."""
        return self._widest("int", "signed integer")

    def _widest(self, kind: str, family: str) -> Any:
        wide, narrow = getattr(self.xp, f"{kind}64"), getattr(self.xp, f"{kind}32")
        info = getattr(self.xp, "__array_namespace_info__", None)
        if self.host or info is None:
            return wide
        return wide if f"{kind}64" in info().dtypes(device=self.device, kind=family) else narrow

    def read(self, values: Any) -> Any:
        """Return an array of this space, without its gradient."""
        return values.detach() if hasattr(values, "detach") else values

    def put(self, table: np.ndarray) -> Any:
        """Return a table of the host, or noise that was drawn there, as an array of this space."""
        return table if self.host else self.xp.asarray(table, device=self.device)

    def take(self, table: np.ndarray, codes: Any) -> Any:
        """Return the entries of a table of the host at each code."""
        return table[codes] if self.host else self.xp.take(self.put(table), codes, axis=0)

    def number(self, value: Any, dtype: Any) -> Any:
        """Return a number as an array without axes."""
        return self.xp.asarray(value, dtype=dtype, device=self.device)

    def astype(self, array: Any, dtype: Any) -> Any:
        """Return an array with another type of entries, itself if it has it already."""
        if self.host:
            return array.astype(dtype, copy=False)
        return array if array.dtype == dtype else self.xp.astype(array, dtype)

    def is_kind(self, array: Any, *kinds: str) -> bool:
        """Return whether the entries are of one of these kinds of the standard; not for arrays of objects."""
        if self.host:
            letters = {"bool": "b", "integral": "iu", "real floating": "f"}
            return array.dtype.kind in "".join(letters[kind] for kind in kinds)
        return any(self.xp.isdtype(array.dtype, kind) for kind in kinds)

    def listed(self, array: Any) -> list[Any]:
        """Return a small array of one axis as a list of Python's numbers: it goes to the host."""
        if hasattr(array, "tolist"):
            return list(array.tolist())
        kind = bool if self.is_kind(array, "bool") else int if self.is_kind(array, "integral") else float
        return [kind(array[at]) for at in range(array.shape[0])]

    def table(self, entries: list[Any]) -> np.ndarray:
        """Return arrays without axes as one array of the host."""
        return np.asarray(entries if self.host else self.listed(self.xp.stack(entries)))

    def at(self, array: Any, place: int) -> Any:
        """Return one entry as a number of the host."""
        return array[place] if self.host else self.listed(array[place : place + 1])[0]

    def any(self, bad: Any) -> bool:
        """Return whether an entry is true."""
        return bool(self.xp.any(bad))

    def first(self, bad: Any) -> int:
        """Return the place of the first entry that is true."""
        return int(np.argmax(bad) if self.host else self.xp.argmax(self.astype(bad, self.whole)))

    def many(self, bad: Any) -> int:
        """Return how many entries are true."""
        return int(np.count_nonzero(bad) if self.host else self._many(bad))

    def _many(self, bad: Any) -> Any:
        return self.xp.sum(self.astype(bad, self.whole))

    def distinct(self, array: Any) -> tuple[Any, Any]:
        """Return the distinct numbers, ascending, and each entry's place among them."""
        if self.host:
            return np.unique(array, return_inverse=True)
        found = self.xp.sort(self.xp.unique_values(array))
        return found, self.astype(self.xp.searchsorted(found, array), self.whole)

    def counts(self, codes: Any, cells: int) -> np.ndarray:
        """Return how many entries have each code 0, …, cells − 1, on the host."""
        if self.host:
            return np.bincount(codes, minlength=cells)
        if hasattr(self.xp, "bincount"):  # outside the standard; one pass in place of one for each cell
            return np.asarray(self.listed(self.xp.bincount(codes, minlength=cells)), dtype=np.int64)
        return self.table([self._many(codes == cell) for cell in range(cells)]).astype(np.int64)

    def counts_where(self, codes: Any, chosen: Any, cells: int) -> np.ndarray:
        """Return how many of the chosen entries have each code, on the host."""
        if self.host:
            return np.bincount(codes[chosen], minlength=cells)
        return self.counts(self.xp.where(chosen, codes, self.number(cells, codes.dtype)), cells + 1)[:cells]

    def totals(self, codes: Any, values: Any, cells: int) -> np.ndarray:
        """Return the sum of the values of each code, on the host."""
        if self.host:
            return np.bincount(codes, values, minlength=cells)
        return self.table([self.sum_where(codes == cell, values) for cell in range(cells)]).astype(float)

    def sum_where(self, chosen: Any, values: Any) -> Any:
        """Return the sum of the chosen values, left on the device."""
        return self.xp.sum(self.xp.where(chosen, values, self.number(0, values.dtype)))


HOST = Space(np, "cpu", "NumPy")


def space_of(**arrays: Any) -> Space:
    """Return where rows are counted.

    That is where all arrays are. Arrays of several kinds, such as tensors beside a list of words, are counted on the
    host if all of them lie in its memory.

    Parameters
    ----------
    **arrays
        By the names of the arguments, for messages. None is left out. Lists, tables and everything else that has no
        namespace counts as NumPy's.

    Returns
    -------
    Space
        That of all arrays; else `HOST`, and `host_array` then reads those of other namespaces.

    Raises
    ------
    ValueError
        If arrays are of several kinds or on several devices, and one lies outside the host's memory: nothing is copied
        from one device to another unasked.

    Examples
    --------
    >>> from dpfair_lib._arrays import space_of
    >>> space_of(y_pred=[0, 1], sensitive_features=["a", "b"]).name
    'NumPy'
    """
    given = {name: values for name, values in arrays.items() if values is not None}
    elsewhere = {name: _own_space(values) for name, values in given.items() if _is_elsewhere(values)}
    if not elsewhere:
        return HOST
    lead, space = next(iter(elsewhere.items()))
    for name, values in given.items():
        other = elsewhere.get(name)
        if other is None or other.xp is not space.xp or other.device != space.device:
            if all(_on_host(given[one], own) is not None for one, own in elsewhere.items()):
                return HOST
            found = f"an array of {other.name}" if other else f"rows of the type {type(values).__name__}"
            raise ValueError(
                f"{name}: found {found}, expected an array of {space.name}, as {lead} is, or all arguments in the "
                "host's memory"
            )
    return space


def host_array(values: Any, name: str) -> Any:
    """Return an array of another namespace as NumPy's, if it is in the host's memory; anything else as it is.

    Parameters
    ----------
    values : object
        An argument of a function that computes on the host only.
    name : str
        Of the argument, for messages.

    Returns
    -------
    object
        An array of NumPy that shares the memory, or ``values``.

    Raises
    ------
    ValueError
        If the array is on another device. Only the caller may copy rows from there.

    Examples
    --------
    >>> from dpfair_lib._arrays import host_array
    >>> host_array([1, 2], "y")
    [1, 2]
    """
    if not _is_elsewhere(values):
        return values
    space = _own_space(values)
    found = _on_host(values, space)
    if found is None:
        raise ValueError(
            f"{name}: found an array of {space.name}, expected one in the host's memory, where this is computed: "
            "copy it there yourself"
        )
    return found


def _on_host(values: Any, space: Space) -> np.ndarray | None:
    """Return an array of another namespace as NumPy's, sharing its memory; None if it is on another device."""
    try:
        if values.__dlpack_device__()[0] == 1:  # the standard's number of the host
            return np.asarray(space.read(values))
    except (RuntimeError, TypeError, ValueError, BufferError):  # what namespaces raise for entries elsewhere
        pass
    return None


def _is_elsewhere(values: Any) -> bool:
    """Return whether something is an array of another namespace than NumPy's; torch is recognised, not imported."""
    if isinstance(values, np.ndarray | np.generic):
        return False
    return _is_tensor(values) or hasattr(type(values), "__array_namespace__")


def _is_tensor(values: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def _own_space(values: Any) -> Space:
    if _is_tensor(values):
        return Space(_torch(), values.device, f"torch on {values.device}")
    xp = values.__array_namespace__()
    return Space(xp, values.device, f"{xp.__name__} on {values.device}")


class _Torch:
    """The functions of torch under the names and with the arguments of the standard."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)

    def asarray(self, values: Any, *, dtype: Any = None, device: Any = None) -> Any:
        if isinstance(values, np.ndarray):
            # what is read-only cannot be shared, and unsigned types beyond bytes have few functions
            wide = values.dtype.kind == "u" and values.dtype.itemsize > 1
            values = values.astype(np.int64) if wide else values.copy()
        return self._torch.as_tensor(values, dtype=dtype, device=device)

    def astype(self, array: Any, dtype: Any) -> Any:
        return array.to(dtype)

    def isdtype(self, dtype: Any, kind: str) -> bool:
        if kind == "bool":
            return bool(dtype == self._torch.bool)
        whole = not (dtype.is_floating_point or dtype.is_complex or dtype == self._torch.bool)
        return bool(dtype.is_floating_point) if kind == "real floating" else whole

    def __array_namespace_info__(self) -> Any:
        return self

    def dtypes(self, *, device: Any, kind: str) -> list[str]:
        return ["int64"] if kind == "signed integer" else ["float64"][device.type == "mps" :]

    def max(self, array: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        return self._torch.amax(array, dim=() if axis is None else axis, keepdim=keepdims)

    def min(self, array: Any) -> Any:
        return self._torch.amin(array)

    def sum(self, array: Any, *, axis: int | None = None) -> Any:
        return self._torch.sum(array) if axis is None else self._torch.sum(array, dim=axis)

    def sort(self, array: Any, *, axis: int = -1) -> Any:
        return self._torch.sort(array, dim=axis).values

    def searchsorted(self, edges: Any, values: Any, *, side: str = "left") -> Any:
        return self._torch.searchsorted(edges, values.contiguous(), side=side)

    def unique_values(self, array: Any) -> Any:
        return self._torch.unique(array)

    def take(self, array: Any, places: Any, *, axis: int) -> Any:
        return self._torch.index_select(array, axis, places)

    def take_along_axis(self, array: Any, places: Any, *, axis: int) -> Any:
        return self._torch.take_along_dim(array, places, dim=axis)


@functools.cache
def _torch() -> _Torch:
    return _Torch(sys.modules["torch"])
