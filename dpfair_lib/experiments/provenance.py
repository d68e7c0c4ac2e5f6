"""What computed a result: the library's own code, the packages that it rests on, the commit."""

from __future__ import annotations

import functools
import hashlib
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[1]
PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "torch", "opacus", "dp-accounting", "lightgbm")


@functools.cache  # files that change while this process runs are not what it computes with
def code() -> str:
    """Return `code_digest` of the library, as first asked for in this process."""
    return code_digest()


def versions() -> dict[str, str]:
    """Return the versions of the packages that results rest on, of those that are installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # the private learners are optional
            continue
    return found


def code_digest(library: Path = LIBRARY) -> str:
    """Return a digest of the library's source files and tables, without the ledger.

    No experiment imports the ledger (``claims``), so that a new verdict does not make recorded results look
    as if other code had made them.

    Parameters
    ----------
    library : Path
        Folder of the package.

    Returns
    -------
    str
        SHA-256, in hexadecimal.
    """
    digest = hashlib.sha256()
    for path in sorted(library.rglob("*")):
        place = path.relative_to(library)
        if path.suffix in {".py", ".toml"} and place.parts[0] != "claims":
            content = path.read_bytes()
            digest.update(f"{place.as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


@functools.cache
def commit() -> str:
    """Return the commit of the code, as first asked for, marked if files have changed since."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=LIBRARY.parent, check=True, capture_output=True, text=True
        ).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "dpfair_lib")
        return git("rev-parse", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
