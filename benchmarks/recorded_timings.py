"""The record of timings: each benchmark writes its own section, with the machine it ran on, and leaves the others."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpfair_lib._files import whole_file
from dpfair_lib.timings import RECORD, read_timings

PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "torch", "opacus", "fairlearn", "dp-accounting")
PROCESSORS, MEMORY = Path("/proc/cpuinfo"), Path("/proc/meminfo")


def write_sections(sections: Mapping[str, Any], path: Path = RECORD) -> Path:
    """Put sections into the record, in one step: the file is whole, and other sections stay as they are.

    Parameters
    ----------
    sections : mapping
        Name of the benchmark → what it found. A section of the same name is replaced.
    path : Path
        The record; made if it is not there.

    Returns
    -------
    Path
        The record.

    Raises
    ------
    ValueError
        If the file is there but is no record: nothing is written then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        # read here, so that no section is lost that another process puts in meanwhile
        kept = read_timings(path) if path.exists() else {}
        text = json.dumps({**kept, **sections}, indent=1, ensure_ascii=False)
        partial.write_text(_numbers_on_one_line(text) + "\n", encoding="utf-8")
        read_timings(partial)  # what the page cannot read does not become the record
    return path


def _numbers_on_one_line(text: str) -> str:
    """Join the lines of lists of plain numbers."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        item = line.strip()
        if inside:
            lines[-1] += item if item.startswith("]") else item + " " * item.endswith(",")
            inside = not item.startswith("]")
        else:
            lines.append(line)
            inside = item.endswith('"seconds": [') or item.endswith('"load": [')
    return "\n".join(lines)


def provenance(threads: int) -> dict[str, Any]:
    """Return machine, versions, commit and threads."""
    return {
        "machine": {
            "processor": _processor(), "cores": len(os.sched_getaffinity(0)), "memory_gib": _memory(),
            "system": platform.system(),
        },
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in PACKAGES},
        "commit": _commit(),
        "threads": threads,
    }  # fmt: skip


def load_average() -> float:
    """Return how many processes wanted to run, on average over the last minute."""
    return round(os.getloadavg()[0], 2)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    if PROCESSORS.exists():
        for line in PROCESSORS.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    if not MEMORY.exists():
        return None
    kib = int(MEMORY.read_text(encoding="utf-8").split("MemTotal:")[1].split()[0])
    return round(kib / 2**20, 1)


def _commit() -> str:
    """Return the commit of the code that ran, marked if files had changed since."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=RECORD.parents[1], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "dpfair_lib", "benchmarks")
        return git("rev-parse", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
