"""Which Pythons are tested, and from which locks."""

import re
import sys

import lock
import pytest
import pythons

ROOT = pythons.ROOT
TEXT = (
    "# the library\nnumpy==2.0 # arrays\ntorch==1.0\nopacus==1.0\n\n# the book\nsphinx==1\n# checks\n"
    + "".join(f"{name}==3\n" for name in lock.CHECKS)
)


def test_a_lock_of_another_python_has_the_library_s_pins_and_the_tests_without_torch_or_the_book():
    assert lock.tested(TEXT) == ["numpy==2.0", *(f"{name}==3" for name in lock.CHECKS)]


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.lock")), ids=lambda path: path.name)
def test_locks_hold_pins_alone(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.]+", line), line


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_every_lock_has_what_the_tests_need_at_the_same_versions(version):
    held = pythons.lock_of(version).read_text(encoding="utf-8").lower().splitlines()
    wanted = lock.tested((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    assert {one.lower() for one in wanted} <= set(held)
    assert not any(line.startswith(("torch==", "opacus==", "nvidia")) for line in held)


def test_a_python_that_is_not_found_is_named(monkeypatch, capsys):
    monkeypatch.setattr(pythons, "interpreter", lambda _: None)
    assert pythons.main([]) == 1
    said = capsys.readouterr().out
    for version in pythons.VERSIONS:
        assert f"Python {version}: not found" in said


def test_a_python_without_a_lock_and_one_whose_tests_fail_are_named(monkeypatch, capsys, tmp_path):
    locks = {"3.11": tmp_path / "none.lock", "3.12": ROOT / "requirements-3.12.lock"}
    monkeypatch.setattr(pythons, "interpreter", lambda _: sys.executable)
    monkeypatch.setattr(pythons, "lock_of", locks.get)
    monkeypatch.setattr(pythons, "environment", lambda *_: sys.executable)
    for status, outcome, expected in ((0, "passed", 0), (1, "FAILED (status 1)", 1)):
        monkeypatch.setattr(pythons, "test", lambda *_, status=status: status)
        assert pythons.main(["--versions", "3.11", "3.12"]) == expected
        said = capsys.readouterr().out
        assert "Python 3.11: not tested: no none.lock" in said
        assert f"Python 3.12: {outcome}" in said


def test_an_interpreter_of_another_version_is_none_of_this_one(monkeypatch):
    monkeypatch.setattr(pythons.shutil, "which", lambda _: sys.executable)
    own = "{}.{}".format(*sys.version_info[:2])
    assert pythons.interpreter(own) == sys.executable
    assert pythons.interpreter("3.99") is None


def test_readme_says_of_each_python_what_was_tried():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("### Pythons")[2]
    said = dict(re.findall(r"^\| (3\.\d+) \| (.+) \|$", readme, flags=re.MULTILINE))
    assert tuple(said) == pythons.VERSIONS
    for version, what in said.items():
        assert ("not tried" in what) is not pythons.lock_of(version).is_file(), version
