"""Outcomes of claims, stored within a build, so that several chapters need not judge one claim again.

An outcome is stored with a digest of everything that it depends on, and is used only while that digest is the same.
No outcome is stored or read unless ``DPFAIR_LEDGER`` names a folder. ``make`` and ``tools/execute.py`` set it; in any
other session each check runs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from dpfair_lib._files import write_whole
from dpfair_lib._sources import digest, imports
from dpfair_lib.claims.ledger import SOURCES, Claim, FaultRun
from dpfair_lib.claims.plain import from_json, to_json
from dpfair_lib.claims.rooms import in_ledger, module_of
from dpfair_lib.claims.search import Evidence

VARIABLE = "DPFAIR_LEDGER"
PACKAGE = Path(__file__).resolve().parents[1]
STARTED = time.time()


def _state(stat: os.stat_result) -> tuple[int, ...]:
    """Describe a file so that any change of it shows, whatever the clock does meanwhile."""
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


def _states() -> dict[Path, tuple[int, ...]]:
    found = {}
    for path in _everything(PACKAGE):
        with contextlib.suppress(OSError):  # gone since it was listed
            found[path] = _state(path.stat())
    return found


def _everything(package: Path) -> list[Path]:
    """List the files of the library, and the recorded results, which a wheel has inside; no file that is under way."""
    files = [
        path for path in sorted(package.rglob("*")) if path.is_file() and "__pycache__" not in path.parts
    ]
    results = sorted(path for path in (package.parent / "results").rglob("*") if path.is_file())
    return files + [path for path in results if not path.name.startswith(".")]


SEEN = _states()


class Found(NamedTuple):
    """What a run found, its processor time, and, if it was stored, the digest under which it was."""

    evidence: Evidence
    faults: Mapping[str, FaultRun]
    seconds: float
    stored_under: str = ""


@dataclass(frozen=True)
class Place:
    """Where the outcome of one claim, judged with all its faults, is stored, and under which digest."""

    path: Path
    key: str

    def read(self) -> Found | None:
        """Return what is stored; None if there is nothing, if it is of another state, or damaged."""
        try:
            head, content = self.path.read_bytes().split(b"\n", 1)
        except (OSError, ValueError):
            return None
        if head.decode(errors="replace") != f"{self.key} {hashlib.sha256(content).hexdigest()}":
            return None
        # right by its digest, it may still be of another form
        with contextlib.suppress(ValueError, TypeError, AttributeError, RecursionError):
            evidence, faults, seconds = from_json(json.loads(content))
            runs = {name: FaultRun(*run) for name, run in faults.items()}
            return Found(Evidence(**evidence), runs, seconds, stored_under=self.key)
        return None

    def write(self, found: Found) -> None:
        """Store an outcome; at every moment the whole of the old or the whole of the new one is there.

        It is written as plain values (`to_json`); an outcome that holds anything else is not stored.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        evidence = {field.name: getattr(found.evidence, field.name) for field in fields(found.evidence)}
        faults = {name: (run.caught, run.how) for name, run in found.faults.items()}
        try:
            content = json.dumps(to_json((evidence, faults, found.seconds))).encode()
        except TypeError:
            return
        write_whole(self.path, f"{self.key} {hashlib.sha256(content).hexdigest()}\n".encode() + content)


def place_of(claim: Claim) -> Place | None:
    """Return where a claim's outcome is stored; None if it is not to be.

    It is not if no folder is named, if the check or the faults are not those of the ledger's entry, or if
    a source changed after this process began: then what is on disk need not be what runs here.
    """
    folder, module = os.environ.get(VARIABLE), module_of(claim.id)
    if not folder or not in_ledger(claim):
        return None
    files = sources(PACKAGE, module)
    if any(map(_changed, files)):
        return None
    parts = {path.relative_to(PACKAGE.parent).as_posix(): _checksum(path) for path in files}
    parts[""] = f"{_surroundings()}\n{claim.id}\n{claim.verdict}\n{module}".encode()
    return Place(Path(folder) / claim.id, digest(parts))


def _changed(path: Path) -> bool:
    """Whether a file changed after this process began; by its time alone, where this module was not there yet."""
    stat = path.stat()
    return SEEN.get(path) != _state(stat) or max(stat.st_mtime, stat.st_ctime) >= STARTED


def sources(package: Path, module: str) -> list[Path]:
    """List the files on which a run of a claim's check depends: the library and the recorded results.

    Of the claims' rooms only the modules that the claim's own reaches by imports are listed, so that a new entry
    leaves the outcomes of the others standing; of everything else, all files are.
    """
    ledger = package / "claims"
    files = _everything(package)
    rooms = {path for room in (*SOURCES, "shared") for path in (ledger / room).rglob("*.py")}
    reached = {path for path in files if ledger not in path.parents and _names_the_ledger(path)}
    due = [*reached, *_files({module}, package)]
    while due:
        path = due.pop()
        reached.add(path)
        found = _files(_imports(path, package), package)
        due += [other for other in found if ledger in other.parents and other not in reached]
    if ledger / "__init__.py" in reached:  # through which every claim is found
        return files
    return [path for path in files if path not in rooms or path in reached]


def _imports(path: Path, package: Path) -> frozenset[str]:
    """Return the names that a module imports anywhere, in functions too; the whole ledger if that is in doubt."""
    found = imports(path, package)
    names = {*found.names, *(name.rpartition(".")[0] for name in found.names)}
    # what a module of the ledger reaches through the package's name, or by a name made at run time, could be anything
    doubtful = found.dynamic or any(name.startswith(package.name) for name in found.modules)
    if doubtful and path.relative_to(package).parts[0] == "claims":
        names.add(f"{package.name}.claims")
    return frozenset(names)


def _files(names: Iterable[str], package: Path) -> list[Path]:
    """Find the files of the modules among some dotted names; a package's is its ``__init__``."""
    stems = [package.joinpath(*name.split(".")[1:]) for name in names if name.split(".")[0] == package.name]
    possible = (path for stem in stems for path in (stem.with_suffix(".py"), stem / "__init__.py"))
    return [path for path in possible if path.is_file()]


@functools.cache
def _names_the_ledger(path: Path) -> bool:
    return path.suffix in {".py", ".pyi"} and b"claims" in path.read_bytes()


@functools.cache
def _checksum(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@functools.cache
def _surroundings() -> str:
    """Name the interpreter, the machine's kind, and every package that can be imported, with its version."""
    packages = {found.name for folder in sys.path for found in Path(folder).glob("*.dist-info")}
    return "\n".join([sys.version, platform.platform(), *sorted(packages)])
