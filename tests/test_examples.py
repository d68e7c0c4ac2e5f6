"""Every public name shows how it is used, and what it shows is what happens."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import dpfair_lib

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples_of(name, found):
    """Return the examples in the docstrings of a public name, of its own methods too, each as one doctest."""
    finder = doctest.DocTestFinder(recurse=inspect.isclass(found))
    return [each for each in finder.find(found, name, globs={}) if each.examples]


def failures_of(examples):
    """Return what doctest reports about examples whose output is another than the docstring says."""
    reported = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    runner.run(examples, out=reported.append)
    return "".join(reported)


def public_names():
    """Return the names of all public functions and classes, of the library and of its parts."""
    for room in sorted(path.parent.name for path in Path(dpfair_lib.__file__).parent.glob("*/__init__.py")):
        part = importlib.import_module(f"dpfair_lib.{room}")
        yield from (
            f"{room}.{name}" for name in getattr(part, "__all__", ()) if callable(getattr(part, name))
        )
    yield from dpfair_lib.__all__


@pytest.mark.parametrize("name", sorted(public_names()))
def test_each_public_name_has_examples_that_run(name):
    room, _, last = name.rpartition(".")
    shown = examples_of(name, getattr(importlib.import_module(f"dpfair_lib.{room}".rstrip(".")), last))
    assert name in {each.name for each in shown}, (
        f"{name}: found no line that begins with >>> in its docstring, expected a section 'Examples' that a "
        "newcomer can run"
    )
    assert all(not example.options for each in shown for example in each.examples), (
        f"{name}: found an option of doctest in an example, expected an example that needs none"
    )
    assert "".join(map(failures_of, shown)) == ""


def test_a_wrong_output_and_a_missing_example_are_noticed():
    def twice(x):
        """Return 2x.

        >>> 2 * 2
        5
        """

    def silent(x):
        """Return x."""

    (wrong,) = examples_of("twice", twice)
    assert "Expected:\n    5\nGot:\n    4\n" in failures_of(wrong)
    assert examples_of("silent", silent) == []
