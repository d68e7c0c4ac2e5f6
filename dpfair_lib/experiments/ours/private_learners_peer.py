"""diffprivlib beside this library: its process, in an environment of its own, to which rows go through a pipe.

``make peer`` makes the environment; ``DIFFPRIVLIB_PYTHON`` names another interpreter. diffprivlib 0.6.6 needs an older
scikit-learn than this library's.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
WORKER = ROOT / "benchmarks" / "diffprivlib_worker.py"
PINS = ROOT / "benchmarks" / "requirements-diffprivlib.txt"


class Weights(NamedTuple):
    """A linear classifier, and the names of the warnings that its fit gave."""

    weights: np.ndarray
    intercept: float
    warnings: tuple[str, ...] = ()


def pinned_versions(pins: Path = PINS) -> dict[str, str]:
    """Return the versions that the peer's environment must have."""
    return dict(re.findall(r"^([\w-]+)==(\S+)$", pins.read_text(encoding="utf-8"), re.MULTILINE))


def peer_provenance() -> dict[str, Any]:
    """Return what a record says of the peer: its versions, and a digest of the program that runs it."""
    return {"versions": pinned_versions(), "worker": hashlib.sha256(WORKER.read_bytes()).hexdigest()}


class Peer:
    """The peer's process.

    Parameters
    ----------
    python : Path
        The interpreter of its environment.

    Raises
    ------
    ValueError
        If the environment has other versions than the pinned ones.
    FileNotFoundError
        If there is no such interpreter; the message says how to make it.
    RuntimeError
        If the process ends.
    """

    def __init__(self, python: Path) -> None:
        if not python.exists():
            raise FileNotFoundError(
                f"{python}: found no interpreter, expected diffprivlib's; `make peer` makes it"
            )
        self._process = subprocess.Popen(
            [str(python), str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        atexit.register(self.close)
        found = self._answer()["versions"]
        if found != (expected := pinned_versions()):
            raise ValueError(f"{python}: found {found}, expected {expected}; `make peer` makes it anew")

    def rows(self, features: np.ndarray, labels: np.ndarray) -> None:
        """Send the training rows of the fits that follow."""
        self._ask({"job": "rows", "shape": list(features.shape)}, features, labels)

    def fit(self, **settings: Any) -> Weights:
        """Return the weights of one fit with these parameters of diffprivlib's ``LogisticRegression``."""
        found = self._ask({"job": "fit", "settings": settings})
        return Weights(np.array(found["weights"]), found["intercept"], tuple(found["warnings"]))

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        atexit.unregister(self.close)

    def _ask(self, question: dict[str, Any], *arrays: np.ndarray) -> dict[str, Any]:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(json.dumps(question).encode() + b"\n")
            for array in arrays:
                pipe.write(np.ascontiguousarray(array, dtype=np.float64).tobytes())
            pipe.flush()
        except OSError as problem:
            raise RuntimeError(f"diffprivlib's process ended at {question['job']!r}") from problem
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        pipe = self._process.stdout
        assert pipe is not None
        line = pipe.readline()
        if not line:
            raise RuntimeError(f"diffprivlib's process ended with status {self._process.wait()}")
        return dict(json.loads(line))


@functools.lru_cache(maxsize=1)
def peer() -> Peer:
    """Return the peer's process, which is started once in a process of ours."""
    named = os.environ.get("DIFFPRIVLIB_PYTHON", "")
    return Peer(Path(named) if named else ROOT / "_build" / "diffprivlib" / "bin" / "python")
