"""Run the library's tests on each version of Python that is found, in an environment of its own; name the others.

Tests of the book's tools, and those that need PyTorch, run under the book's own Python only (`make pytest`).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
NOT_THE_LIBRARY = ("tools", "pages", "benchmarks", "accidents")
"""Folders of tests that need the book's packages, or that measure."""


def interpreter(version: str) -> str | None:
    """Return where a version of Python is, or None; one that cannot say its version, as a shim may, is none."""
    found = shutil.which(f"python{version}")
    if found is None:
        return None
    say = "import sys; print('{}.{}'.format(*sys.version_info[:2]))"
    ran = subprocess.run([found, "-c", say], capture_output=True, text=True, check=False)
    return found if ran.stdout.strip() == version else None


def lock_of(version: str, root: Path = ROOT) -> Path:
    """Return the lock of a version; the book's own is that of 3.11."""
    return root / ("requirements.lock" if version == "3.11" else f"requirements-{version}.lock")


def environment(version: str, python: str, lock: Path, folder: Path) -> str:
    """Return the interpreter of an environment with the packages of a lock, made anew only if the lock changed."""
    from lock import tested

    own, mark = folder / "bin" / "python", folder / ".ready"
    wanted = tested((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    state = hashlib.sha256(lock.read_bytes() + repr(wanted).encode()).hexdigest()
    if not mark.is_file() or mark.read_text() != state:
        sys.stdout.write(f"Python {version}: an environment in {folder}\n")
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        pip = [own, "-m", "pip", "install", "--quiet", "--constraint", lock, *wanted]
        subprocess.run(pip, check=True)
        subprocess.run([own, "-m", "pip", "check"], check=True)
        mark.write_text(state)
    return str(own)


def test(python: str, chosen: Sequence[str]) -> int:
    """Run the tests with an environment's interpreter, and return pytest's status."""
    ignored = [f"--ignore=tests/{name}" for name in NOT_THE_LIBRARY]
    surroundings = os.environ | {"PYTHONPATH": str(ROOT), "DPFAIR_TESTS_WITHOUT": "torch opacus"}
    words = [python, "-m", "pytest", "-p", "no:cacheprovider", *ignored, *(chosen or ("--numprocesses", "2"))]
    return subprocess.run(words, cwd=ROOT, env=surroundings, check=False).returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests on each version that is found; the status is 1 if a test fails, or if none is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", nargs="+", default=VERSIONS, metavar="3.X")
    parser.add_argument("tests", nargs="*", help="files, and options of pytest (default: all, two processes)")
    args = parser.parse_args(arguments)
    said = {}
    for version in args.versions:
        python, lock = interpreter(version), lock_of(version)
        if python is None:
            said[version] = f"not found (python{version} is not on the path), not tested"
        elif not lock.is_file():
            said[version] = f"not tested: no {lock.name}; make lock PYTHON=python{version} writes it"
        else:
            own = environment(version, python, lock, ROOT / "_build" / "python" / version)
            said[version] = (
                "passed" if (status := test(own, args.tests)) == 0 else f"FAILED (status {status})"
            )
    for version, outcome in said.items():
        sys.stdout.write(f"Python {version}: {outcome}\n")
    return int("passed" not in said.values() or any(one.startswith("FAILED") for one in said.values()))


if __name__ == "__main__":
    sys.exit(main())
