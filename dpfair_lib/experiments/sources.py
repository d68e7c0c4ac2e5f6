"""The data set of a task: a task gives its name, and the machine that runs the task finds the files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpfair_lib.datasets.pins import pinned

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
    function: Callable[..., Iterable[dict[str, Any]]], *, source: Source, **arguments: Any
) -> list[dict[str, Any]]:
    """Call a function of a data set in a task, which names the data.

    Parameters
    ----------
    function : callable
        Takes a data set, and further arguments by name; gives rows.
    source : Source
        Which data.
    **arguments
        The further arguments.

    Returns
    -------
    list of dict
        The rows.
    """
    return list(function(source.dataset(), **arguments))


def describe_dataset(name: str) -> dict[str, Any]:
    """Return name, checksum, number of rows and group sizes of a data set, which is loaded for that."""
    dataset = Source(name).dataset()
    groups = dataset.sensitive_features.value_counts().sort_index().to_dict()
    return {"name": name, "checksum": dataset.card.checksum, "rows": len(dataset.y), "groups": groups}


def describe_table(name: str) -> dict[str, Any]:
    """Return name, checksum and number of rows of a data set's table, as pinned; nothing is loaded."""
    pins = pinned()[name]
    return {"name": name, "checksum": pins.table, "rows": pins.rows}
