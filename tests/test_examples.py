"""Every public name shows how it is used, and what it shows is what happens."""

import doctest
import inspect

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


@pytest.mark.parametrize("name", sorted(dpfair_lib.__all__))
def test_each_public_name_has_examples_that_run(name):
    shown = examples_of(name, getattr(dpfair_lib, name))
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
