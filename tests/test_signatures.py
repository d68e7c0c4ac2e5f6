"""What a caller gets who leaves a parameter out: every default that is listed in signatures.txt stands.

A default decides as much as a statement does: which noise, at what δ, whose privacy. New names and new parameters
need no line; a changed default needs a changed line, and so a reason.
"""

import importlib
import inspect
from pathlib import Path

import pytest

LISTED = Path(__file__).with_name("signatures.txt").read_text(encoding="utf-8").splitlines()
PACKAGES = (
    "",
    ".privacy",
    ".central",
    ".learners",
    ".local",
    ".margins",
    ".svm",
    ".compatibility",
    ".fairness",
)


def public():
    """Yield the public functions, classes and their public methods, each once, with its name."""
    seen = set()
    for package in PACKAGES:
        module = importlib.import_module(f"dpfair_lib{package}")
        for name in sorted(module.__all__):
            found = getattr(module, name)
            own = getattr(found, "__module__", "").partition(".")[0] == "dpfair_lib"
            if not callable(found) or not own or found in seen:
                continue
            seen.add(found)
            if not (inspect.isclass(found) and issubclass(found, Exception)):
                yield f"dpfair_lib{package}.{name}", found
            for each, method in vars(found).items() if inspect.isclass(found) else ():
                if inspect.isfunction(method) and not each.startswith("_"):
                    yield f"dpfair_lib{package}.{name}.{each}", method


def defaults():
    """Yield a line for each parameter of a public name that may be left out."""
    for name, found in public():
        for parameter in inspect.signature(found).parameters.values():
            if parameter.default is not parameter.empty:
                yield f"{name}: {parameter.name}={parameter.default!r}"


@pytest.fixture(scope="module")
def present():
    return set(defaults())


def test_every_listed_default_stands(present):
    assert [line for line in LISTED if line not in present] == []


def test_the_list_is_in_order_and_long():
    assert sorted(set(LISTED)) == LISTED
    assert len(LISTED) > 150
