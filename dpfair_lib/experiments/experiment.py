"""The description of an experiment: a function, and the tasks that call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Rows = list[dict[str, Any]]
Task = Mapping[str, Any]
"""The keyword arguments of one call: small values, seeds among them. Data are named, not carried."""


@dataclass(frozen=True)
class Experiment:
    """A function and its tasks, with the provenance of what they give.

    Parameters
    ----------
    name : str
        Name of the record.
    data : mapping
        Name and checksum of the data.
    parameters : mapping
        Everything that was chosen, seeds among it; the number of tasks is recorded with them.
    function : callable
        Takes the entries of a task as keyword arguments and returns rows.
    tasks : sequence of mapping
        What the function is called with; the record has the rows of all tasks, in their order.
    """

    name: str
    data: Mapping[str, Any]
    parameters: Mapping[str, Any]
    function: Callable[..., Rows]
    tasks: Sequence[Task]


Experiments = Mapping[str, Callable[[str], Experiment]]
"""Name of a record → what makes the experiment of that name; `EXPERIMENTS` of a module is one."""
