"""The tests of a module stand where its name leads: `dpfair_lib/a/b.py` in `tests/a/test_b.py`."""

import re
from collections import Counter
from pathlib import Path

import pytest

import dpfair_lib
from dpfair_lib.claims.ledger import SOURCES

TESTS, PACKAGE = Path(__file__).parent, Path(dpfair_lib.__file__).parent
LONGEST = 400  # lines of a module
MOST = 25  # modules of a folder, but for the rooms of claims, which have one for each claim
OTHERWISE = {
    # the ledger runs each claim's check with its faults, and what the rooms share with them
    *(("claims", room) for room in (*SOURCES, "shared")),
    # each longer search is tried with the faults of its entry, in one file
    ("claims", "further"),
    # the tests of an experiment stand beside one another, in a file named after its run
    *(("experiments", room) for room in (*SOURCES, "fair_learners")),
}
"""Rooms whose modules need no test file each, and why."""


def missing(package, tests):
    """Yield a sentence for each module that has no test file where its name leads."""
    for module in sorted(package.rglob("*.py")):
        place = module.relative_to(package)
        if place.stem in {"__init__", "__main__"} or place.parts[:2] in OTHERWISE:
            continue
        name, room = place.stem.strip("_"), place.parent.name or "library"
        usual, among_equals = (tests / place.parent / f"test_{stem}.py" for stem in (name, f"{room}_{name}"))
        if not usual.exists() and not among_equals.exists():
            yield (
                f"dpfair_lib/{place.as_posix()} has no tests: write tests/{usual.relative_to(tests).as_posix()}, or "
                f"{among_equals.name} beside it if another folder has a {usual.name}"
            )


def test_every_module_has_a_test_file_where_its_name_leads():
    found = list(missing(PACKAGE, TESTS))
    assert not found, "\n".join(found)


def test_no_two_test_files_share_a_name():
    """Pytest imports them by their names alone, since the folders of tests are no packages."""
    counts = Counter(path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py")
    twice = sorted(name for name, count in counts.items() if count > 1)
    assert not twice, f"put the room into the name, as in test_<room>_<module>.py: {', '.join(twice)}"


def test_no_module_is_longer_than_a_reader_can_keep_in_mind():
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.glob("**/*.py")}
    longer = {str(path.relative_to(PACKAGE)): lines for path, lines in lengths.items() if lines > LONGEST}
    assert not longer, f"give each part of these modules a module of its own: {longer}"


def test_no_folder_has_more_modules_than_a_reader_can_look_through():
    counts = Counter(path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    large = {folder.as_posix(): count for folder, count in counts.items() if count > MOST + 1}  # and __init__
    rooms = {f"claims/{source}" for source in SOURCES}
    assert not large.keys() - rooms, f"divide into folders of at most {MOST} modules: {large}"


@pytest.mark.parametrize(
    ("module", "test", "found"),
    [
        ("room/part.py", "room/test_part.py", False),
        ("room/part.py", "room/test_room_part.py", False),
        ("room/inner/part.py", "room/inner/test_inner_part.py", False),
        ("_part.py", "test_part.py", False),
        ("_part.py", "test_library_part.py", False),
        ("claims/isit/part.py", "test_other.py", False),
        ("experiments/ours/part.py", "test_other.py", False),
        ("room/part.py", "test_part.py", True),
        ("room/part.py", "other/test_part.py", True),
        ("room/inner/part.py", "room/test_part.py", True),
        ("claims/part.py", "test_part.py", True),
    ],
)
def test_a_module_without_its_test_file_is_named(tmp_path, module, test, found):
    for path in (tmp_path / "lib" / module, tmp_path / "tests" / test):
        path.parent.mkdir(parents=True)
        path.touch()
    said = list(missing(tmp_path / "lib", tmp_path / "tests"))
    assert [f"dpfair_lib/{module} has no tests" in line for line in said] == [True] * found


# of a folder of this project, or of installed packages, from the root on; and of somebody's home
MACHINE = re.compile(
    r"(?<![\w.:/$}*~<>)-])/(?:[\w.+-]+/)+(?:\.venv|_build|site-packages|dpfair_lib|notebooks|results|\.cache)/"
    r"|(?<![\w.:/])/(?:home|root|Users)/[\w.]"
)


def test_generated_files_name_no_path_of_a_machine():
    made = [*(TESTS.parent / "notebooks").glob("*.ipynb"), *(TESTS.parent / "results").glob("*.json")]
    assert len(made) > 150
    texts = ((path.name, path.read_text(encoding="utf-8")) for path in made)
    found = [f"{name}: {place[0]}" for name, text in texts if (place := MACHINE.search(text))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("found /srv/one/book/_build/peer/bin/python", True), ("in '/home/ada/x.csv'", True),
        ('File "/opt/p/lib/site-packages/numpy/a.py"', True), ("/root/.bashrc", True),
        ("../_build/out.ipynb", False), ("https://example.org/a/notebooks/x.html", False), ("_build/html/", False),
        ("1/results/2", False), ("and/or/results", False),
    ],
)  # fmt: skip
def test_paths_of_machines_are_told_from_others(text, named):
    assert bool(MACHINE.search(text)) is named
