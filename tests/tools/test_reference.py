"""The reference has a page for each room, and each public name stands on one page."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
import reference
from chapters import pages

import dpfair_lib

ROOT = Path(__file__).resolve().parents[2]
PAGES = reference.reference_pages()
DOCUMENTED = re.compile(r"^\.\. (?:autoclass|autofunction|data):: (\S+)$", re.MULTILINE)


def test_every_room_that_says_what_is_public_has_a_page():
    folders = [path.parent.name for path in (ROOT / "dpfair_lib").glob("*/__init__.py")]
    public = {
        name for name in folders if getattr(importlib.import_module(f"dpfair_lib.{name}"), "__all__", None)
    }
    assert public == set(reference.ROOMS)


def test_the_table_of_contents_has_these_pages():
    listed = {page for page in pages(ROOT) if page.startswith(reference.FOLDER)}
    assert listed == {name.removesuffix(".md") for name in PAGES}


def test_every_public_name_is_documented_once():
    found = [name for text in PAGES.values() for name in DOCUMENTED.findall(text)]
    whole = {f"dpfair_lib.{name}" for name in dpfair_lib.__all__ if name != "margins"}  # a room itself
    assert whole <= set(found)
    assert len(found) == len(set(found))
    for room in reference.ROOMS:
        for name in set(importlib.import_module(f"dpfair_lib.{room}").__all__) - set(dpfair_lib.__all__):
            assert f"dpfair_lib.{room}.{name}" in found


@pytest.mark.parametrize("room", reference.ROOMS)
def test_each_name_has_a_first_sentence(room):
    for name in reference.public_names(dpfair_lib, room):
        found = reference.named(name)
        if inspect.isclass(found) or callable(found):
            assert re.match(r"[A-Z].+\.$", reference.summary(found)), name


def test_a_constant_shows_what_it_holds():
    lines = reference.directive("dpfair_lib.privacy.RELATIONS")
    assert lines[0] == ".. data:: dpfair_lib.privacy.RELATIONS"
    assert any(line.startswith("   - ``'add-remove'``: ") for line in lines)
