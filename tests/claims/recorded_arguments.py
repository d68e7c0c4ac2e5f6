"""Functions that note what they are called with: to see which arguments a check varies."""

import copy
import dataclasses
import inspect
from collections.abc import Mapping

import numpy as np
import pandas as pd

from dpfair_lib.claims import Search


class Recorded:
    """A function, or class, that does as another one, and notes which of its parameters have had two values.

    Values are compared by content. The first value of each parameter is copied, for the caller may change it.
    """

    def __init__(self, function):
        self._function = function
        try:
            self._signature = inspect.signature(function)
        except ValueError:  # operator.attrgetter and its like have one argument and no signature
            self._signature = inspect.signature(lambda value: value)
        self._first, self.varied, self.calls = {}, set(), 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.calls == 1 or self.fixed:
            self._note(args, kwargs)
        return self._function(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._function, name)

    @property
    def fixed(self):
        """The parameters that had one value only."""
        return self._first.keys() - self.varied

    def _note(self, args, kwargs):
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for name, value in self._flat(bound.arguments):
            if name not in self._first:
                self._first[name] = copy.deepcopy(value)
            elif name not in self.varied and not same(self._first[name], value):
                self.varied.add(name)

    def _flat(self, arguments):
        for name, value in arguments.items():
            if self._signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                yield from value.items()
            else:
                yield name, value


def same(one, other):
    """Return whether two arguments have the same content; functions are told apart by their names."""
    if isinstance(one, np.ndarray | list | tuple) and isinstance(other, np.ndarray | list | tuple):
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype != object:
            return np.array_equal(one, other)
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, pd.DataFrame):
        return one.equals(other)
    if isinstance(one, np.random.Generator) and isinstance(other, np.random.Generator):
        return one.bit_generator.state == other.bit_generator.state
    if dataclasses.is_dataclass(one) and type(one) is type(other):
        return all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one)
        )
    if callable(one) and callable(other):
        return getattr(one, "__qualname__", one) == getattr(other, "__qualname__", other)
    return (
        type(one) is type(other)
        and bool(one == other)
        or (isinstance(one, float) and one != one and other != other)
    )


def examined(check):
    """Return what a check examines: its keyword arguments' defaults."""
    parameters = inspect.signature(check).parameters
    return {name: parameter.default for name, parameter in parameters.items() if name != "search"}


def run_recorded(check, *, seed):
    """Run a check with every function that it examines recorded; return the evidence and the recorded functions."""
    recorded = {name: Recorded(default) for name, default in examined(check).items() if callable(default)}
    return check(search=Search(seed=seed), **recorded), recorded
