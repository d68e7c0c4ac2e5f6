"""The data that a task runs on: named by the task, found where the task runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset


@dataclass(frozen=True)
class Source:
    """A data set, or a stand-in of its shape.

    Parameters
    ----------
    name : str
        As for `dpfair_lib.load`.
    standin : int or None
        Number of rows of the stand-in, drawn with seed 0; by default the data set itself.
    """

    name: str
    standin: int | None = None

    def dataset(self) -> Dataset:
        """Load the data set, or draw the stand-in, once in a process; the same object is given out again."""
        return _dataset(self)


@functools.lru_cache(maxsize=2)
def _dataset(source: Source) -> Dataset:
    from dpfair_lib.datasets import load, synthetic

    if source.standin is None:
        return load(source.name)
    return synthetic(source.name, n=source.standin, random_state=0)


def on_data(
    function: Callable[..., Iterable[dict[str, Any]]], task: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Run a function of a data set and further arguments as a task: the arguments and the data's ``source``.

    Parameters
    ----------
    function : callable
        Takes a data set, and the task's other entries by name; gives rows.
    task : mapping
        ``source`` and the arguments.

    Returns
    -------
    list of dict
        The rows.
    """
    arguments = dict(task)
    return list(function(arguments.pop("source").dataset(), **arguments))
