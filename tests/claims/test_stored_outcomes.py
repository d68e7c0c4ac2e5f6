import dataclasses
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from dpfair_lib.claims import CLAIMS, Evidence, judge, stored_outcomes
from dpfair_lib.claims.ledger import FaultRun
from dpfair_lib.claims.stored_outcomes import PACKAGE, VARIABLE, Found, Place, place_of, sources

CLAIM = CLAIMS["isit.prop-4.utility"]
FOUND = Found(Evidence(cases=3, slack=0), {"any": FaultRun(True, "part")}, 1.5)
COMMAND = ["-m", "dpfair_lib", "claims", "--faults", "--stored", "--times", "--only"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "ledger"))
    monkeypatch.setattr(stored_outcomes, "STARTED", float("inf"))
    return tmp_path / "ledger"


def test_an_outcome_is_judged_once_and_is_the_same_when_it_was_kept(folder):
    first, second = judge(CLAIM, faults=True), judge(CLAIM, faults=True)
    assert not first.stored_under
    assert second.stored_under == place_of(CLAIM).key
    assert second == first
    assert second.seconds == first.seconds
    assert [path.name for path in folder.iterdir()] == [CLAIM.id]
    assert not judge(CLAIM, faults=True, fresh=True).stored_under


@pytest.mark.parametrize("asked", [{}, {"faults": True, "seed": 1}, {"faults": True, "effort": 2}])
def test_only_what_every_chapter_asks_for_is_kept(folder, asked):
    judge(CLAIM, **asked)
    assert not folder.exists()
    judge(CLAIM, faults=True)
    assert not judge(CLAIM, **asked).stored_under


@pytest.mark.usefixtures("folder")
def test_without_a_named_folder_every_run_is_fresh(monkeypatch):
    judge(CLAIM, faults=True)
    for value in ("", None):
        monkeypatch.setenv(VARIABLE, "") if value == "" else monkeypatch.delenv(VARIABLE)
        assert place_of(CLAIM) is None
        assert not judge(CLAIM, faults=True).stored_under


@pytest.mark.parametrize("damage", [b"", b"no line", b"00 11\n", None])
def test_what_was_damaged_is_made_again(folder, damage):
    judge(CLAIM, faults=True)
    path = folder / CLAIM.id
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    assert not judge(CLAIM, faults=True).stored_under
    assert judge(CLAIM, faults=True).stored_under


def test_a_contradiction_is_found_beside_a_kept_outcome_and_never_kept(folder):
    judge(CLAIM, faults=True)
    wrong = dataclasses.replace(CLAIM, verdict="refuted")
    before = (folder / CLAIM.id).read_bytes()
    for _ in range(2):
        outcome = judge(wrong, faults=True)
        assert outcome.status == "contradicted"
        assert not outcome.stored_under
    assert (folder / CLAIM.id).read_bytes() == before


@pytest.mark.usefixtures("folder")
def test_a_check_or_fault_that_is_not_the_modules_own_is_never_taken_from_what_was_kept():
    judge(CLAIM, faults=True)
    calls = []

    def check(*, search, **examined):
        calls.append(examined)
        return CLAIM.check(search=search, **examined)

    assert not judge(dataclasses.replace(CLAIM, check=check), faults=True).stored_under
    assert calls
    harmless = {"none": {"bound": CLAIM.check.__kwdefaults__["bound"]}}
    assert judge(dataclasses.replace(CLAIM, faults=harmless), faults=True).missed == ("none",)


@pytest.mark.usefixtures("folder")
def test_what_changed_after_the_process_began_is_neither_kept_nor_used(monkeypatch):
    judge(CLAIM, faults=True)
    newest = max(path.stat().st_ctime for path in sources(PACKAGE, "dpfair_lib.claims.isit.prop_4_utility"))
    monkeypatch.setattr(stored_outcomes, "STARTED", newest)
    assert place_of(CLAIM) is None
    assert not judge(CLAIM, faults=True).stored_under


@pytest.mark.usefixtures("folder")
def test_what_changed_since_is_seen_even_if_the_clock_was_set_back(monkeypatch):
    """Its times are then before the process began, as the fixture lets them be."""
    path = PACKAGE / "claims" / "search.py"
    assert place_of(CLAIM)
    monkeypatch.setitem(stored_outcomes.SEEN, path, (0, *stored_outcomes.SEEN[path][1:]))
    assert place_of(CLAIM) is None
    monkeypatch.delitem(stored_outcomes.SEEN, path)
    assert place_of(CLAIM) is None, "it was not there"


def test_an_outcome_that_cannot_be_kept_is_not_lost(folder):
    folder.write_text("a file, where a folder is to be")
    with pytest.warns(
        RuntimeWarning, match=f"{CLAIM.id}: its outcome is not stored .*File exists: '{folder}'"
    ):
        assert judge(CLAIM, faults=True).status == CLAIM.verdict


def test_several_writers_leave_one_whole_outcome(tmp_path):
    place = Place(tmp_path / "isit.alg-1", "key")
    others = [dataclasses.replace(FOUND.evidence, facts={"text": "x" * size}) for size in (1, 10**5)]
    threads = [
        Thread(target=lambda e=e: [place.write(FOUND._replace(evidence=e)) for _ in range(100)])
        for e in others
    ]
    for thread in threads:
        thread.start()
    place.write(FOUND)
    while any(thread.is_alive() for thread in threads):
        assert place.read() is not None
    assert place.read().evidence in others
    assert [path.name for path in tmp_path.iterdir()] == ["isit.alg-1"]


def library(folder, files):
    for name, text in files.items():
        path = folder / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {
        path.relative_to(folder / "lib").as_posix() for path in sources(folder / "lib", "lib.claims.isit.a")
    } - {"claims/search.py", "central/x.py", "claims/isit/a.py"}


SMALL = {
    "central/x.py": "",
    "claims/__init__.py": "from lib.claims.search import Search",
    "claims/search.py": "",
    "claims/isit/__init__.py": "ORDER = ('a', 'b')",
    "claims/isit/a.py": "from lib.claims.search import Search",
    "claims/isit/b.py": "",
    "claims/shared/__init__.py": "",
    "claims/shared/b.py": "",
    "claims/shared/local/c.py": "",
}
ALWAYS = {"claims/__init__.py"}
ENTRIES = SMALL.keys() - {"central/x.py", "claims/__init__.py", "claims/search.py", "claims/isit/a.py"}


@pytest.mark.parametrize(
    ("name", "text", "more"),
    [
        ("claims/isit/a.py", "", set()),
        ("claims/isit/a.py", "from lib.claims.isit.b import y", {"claims/isit/b.py"}),
        ("claims/isit/a.py", "def f():\n    from . import b", {"claims/isit/__init__.py", "claims/isit/b.py"}),
        ("claims/isit/a.py", "from ..shared.b import y", {"claims/shared/b.py"}),
        ("claims/isit/a.py", "from ..shared.local.c import y", {"claims/shared/local/c.py"}),
        ("claims/isit/a.py", "from lib.claims import CLAIMS", ENTRIES),
        ("claims/isit/a.py", "import lib", ENTRIES),
        ("claims/isit/a.py", "import importlib\nimportlib.import_module('li' + 'b')", ENTRIES),
        ("central/x.py", "def f():\n    from lib.claims.shared.b import y", {"claims/shared/b.py"}),
    ],
)  # fmt: skip
def test_a_check_depends_on_the_checks_that_it_reaches(tmp_path, name, text, more):
    assert library(tmp_path, SMALL | {name: text}) - ALWAYS == more


def test_a_new_file_or_result_counts(tmp_path):
    before = library(tmp_path, SMALL)
    assert library(tmp_path, {"central/printed.toml": ""}) == before | {"central/printed.toml"}
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "r.json").write_text("{}")
    assert tmp_path / "results" / "r.json" in sources(tmp_path / "lib", "lib.claims.isit.a")
    (tmp_path / "results" / ".r.json.partial").write_text("{")
    assert tmp_path / "results" / ".r.json.partial" not in sources(tmp_path / "lib", "lib.claims.isit.a")


@pytest.fixture
def copy(tmp_path):
    """Copy the library, to change it there, and return what runs its ledger."""
    shutil.copytree(PACKAGE, tmp_path / "dpfair_lib", ignore=shutil.ignore_patterns("__pycache__"))
    environment = os.environ | {VARIABLE: str(tmp_path / "ledger"), "PYTHONDONTWRITEBYTECODE": "1"}

    def start(pattern):
        return subprocess.Popen(
            [sys.executable, *COMMAND, pattern], cwd=tmp_path, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(pattern):
        process = start(pattern)
        shown, errors = process.communicate()
        return process.returncode, shown, errors

    run.start = start
    run.file = lambda name: tmp_path / "dpfair_lib" / name
    return run


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_changed_source_is_judged_again_and_a_planted_contradiction_fails(copy):
    first = [copy.start(CLAIM.id) for _ in range(2)]  # at the same time
    assert [process.communicate()[1] for process in first] == ["", ""]
    assert [process.returncode for process in first] == [0, 0]
    change(copy.file("claims/isit/alg_1.py"), "With rates of 1s", "Given rates of 1s")
    change(copy.file("claims/isit/thm_2.py"), "import itertools", "import itertools  # as before")
    status, shown, _ = copy(CLAIM.id)
    assert (status, "stored" in shown) == (0, True), "what other claims say and check is nothing to this one"
    shared = copy.file("claims/shared/central/noisy_rates.py")
    change(shared, "import itertools", "import itertools  # as before")
    status, shown, _ = copy(CLAIM.id)
    assert (status, "stored" in shown) == (0, False), "its check uses that one"
    change(copy.file("central/gap_law.py"), "return changes - least", "return (changes - least) / 2")
    for _ in range(2):
        status, shown, errors = copy(CLAIM.id)
        assert (status, "stored" in shown) == (1, False)
        assert f"{CLAIM.id}: recorded as 'holds', the run found 'contradicted'" in errors


class Marker:
    """Pickled, it would make a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_forged_outcome_runs_nothing(folder, tmp_path):
    judge(CLAIM, faults=True)
    path, ran = folder / CLAIM.id, tmp_path / "ran"
    forged = pickle.dumps((Marker(ran), {}, 1.0))
    for content in (
        forged,
        b'{"tuple": []}',
        b"[" * 10**5,
        b'{"object": 1}',
        b'{"tuple": [{"dict": []}, 1, 2]}',
    ):
        path.write_bytes(f"{place_of(CLAIM).key} {hashlib.sha256(content).hexdigest()}\n".encode() + content)
        assert place_of(CLAIM).read() is None
        assert not ran.exists()
        assert judge(CLAIM, faults=True).evidence.cases > 0
    pickle.loads(forged)
    assert ran.exists()  # what reading a pickle would have done


def test_an_outcome_comes_back_as_it_was_and_one_that_cannot_be_written_is_not_kept(tmp_path):
    place = Place(tmp_path / "isit.alg-1", "key")
    odd = {"share": Fraction(1, 3), "pair": (0.1, np.float64(-0.0)), "none": None, "table": np.arange(4)}
    evidence = Evidence(cases=3, slack=Fraction(-1, 7), counterexample=odd, facts={1: [(), {}]})
    place.write(FOUND._replace(evidence=evidence))
    found = place.read()
    assert repr(found.evidence) == repr(evidence)
    assert (found.faults, found.seconds, found.stored_under) == (FOUND.faults, FOUND.seconds, "key")
    other = Place(tmp_path / "isit.alg-2", "key")
    other.write(FOUND._replace(evidence=dataclasses.replace(evidence, facts={"run": print})))
    assert other.read() is None
    assert [path.name for path in tmp_path.iterdir()] == ["isit.alg-1"]
