"""Provenance of a result: the digest of the code, the versions of the packages, the commit."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpfair_lib.experiments.code_digest import code_digest, reached_digest
from dpfair_lib.experiments.reach import modules_of, source_files

LIBRARY = Path(__file__).resolve().parents[1]
PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "torch", "opacus", "dp-accounting", "lightgbm")


@functools.cache  # files that change while this process runs are not what it computes with
def code() -> str:
    """Return the digest of the whole library, without the ledger, as first asked for in this process."""
    return code_digest(
        (path for path in source_files(LIBRARY) if path.relative_to(LIBRARY).parts[0] != "claims"), LIBRARY
    )


def code_of(function: Callable[..., Any]) -> str:
    """Return the digest of what a function may run, as first asked for in this process.

    A record depends on this digest: it stays valid while other modules change, when comments, docstrings or the
    layout of the code change, and when a module is moved or renamed.
    """
    return _code_of(modules_of(function))


@functools.cache
def _code_of(modules: frozenset[str]) -> str:
    return reached_digest(modules, LIBRARY)


def versions() -> dict[str, str]:
    """Return the versions of the packages that results rest on, of those that are installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # the private learners are optional
            continue
    return found


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
