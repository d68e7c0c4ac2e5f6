"""dpmm's MST beside this library: its process, in an environment of its own, to which tables go through a pipe.

``make dpmm`` makes the environment; ``DPMM_PYTHON`` names another interpreter. dpmm 0.1.9 fixes older versions of
NumPy, pandas, scikit-learn and OpenDP than this library's.
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
WORKER = ROOT / "benchmarks" / "dpmm_worker.py"
PINS = ROOT / "benchmarks" / "requirements-dpmm.txt"


class Release(NamedTuple):
    """A synthetic table, and what it cost.

    Attributes
    ----------
    codes : ndarray of shape (n, k), int64
        As many rows as the table that was synthesised.
    epsilon, delta, rho : float
        What the synthesiser was set to: ε, δ, and ρ of zero-concentrated privacy.
    sigma : float
        Its unit of noise: of k columns, each count got noise of standard deviation σ√k.
    pairs : list of tuple
        Positions of the columns of each pair that was counted.
    seconds : float
        Processor time in its process.
    """

    codes: np.ndarray
    epsilon: float
    delta: float
    rho: float
    sigma: float
    pairs: list[tuple[int, int]]
    seconds: float


def pinned_versions(pins: Path = PINS) -> dict[str, str]:
    """Return the versions that the synthesiser's environment must have."""
    return dict(re.findall(r"^([\w-]+)==(\S+)$", pins.read_text(encoding="utf-8"), re.MULTILINE))


def provenance() -> dict[str, Any]:
    """Return what a record says of the synthesiser: its versions, and a digest of the program that runs it."""
    return {"versions": pinned_versions(), "worker": hashlib.sha256(WORKER.read_bytes()).hexdigest()}


class Synthesizer:
    """The synthesiser's process.

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
                f"{python}: found no interpreter, expected dpmm's; `make dpmm` makes its environment"
            )
        self._process = subprocess.Popen(
            [str(python), str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        atexit.register(self.close)
        found = self._answer()["versions"]
        if found != (expected := pinned_versions()):
            self.close()
            raise ValueError(f"{python}: found {found}, expected {expected}; `make dpmm` makes it anew")

    def release(
        self, codes: np.ndarray, sizes: list[int], *, epsilon: float, delta: float, steps: int, seed: int
    ) -> Release:
        """Return a synthetic table with as many rows.

        Parameters
        ----------
        codes : ndarray of shape (n, k), int
            0 to size − 1 in each column.
        sizes : list of int
            How many codes each column has, whether they occur or not.
        epsilon, delta : float
            ε and δ under add-remove.
        steps : int
            Of each fit of the graphical model to noisy counts.
        seed : int
            Of the choice of pairs and of the draws of rows. The noise of counts has no seed.
        """
        question = {"shape": list(codes.shape), "sizes": sizes, "epsilon": epsilon, "delta": delta}
        question |= {"steps": steps, "seed": seed}
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(json.dumps(question).encode() + b"\n")
            pipe.write(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
            pipe.flush()
        except OSError as problem:
            raise RuntimeError("dpmm's process ended before it was asked") from problem
        found = self._answer()
        rows, columns = found.pop("shape")
        made = np.frombuffer(self._read(8 * rows * columns), dtype=np.int64).reshape(rows, columns)
        pairs = [(first, second) for first, second in found.pop("pairs")]
        return Release(codes=made, pairs=pairs, **found)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        atexit.unregister(self.close)

    def _answer(self) -> dict[str, Any]:
        pipe = self._process.stdout
        assert pipe is not None
        line = pipe.readline()
        if not line:
            raise RuntimeError(f"dpmm's process ended with status {self._process.wait()}")
        return dict(json.loads(line))

    def _read(self, size: int) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        found = pipe.read(size)
        if len(found) < size:
            raise RuntimeError(f"dpmm's process ended with status {self._process.wait()}")
        return found


@functools.lru_cache(maxsize=1)
def synthesizer() -> Synthesizer:
    """Return the synthesiser's process, which is started once in a process of ours."""
    named = os.environ.get("DPMM_PYTHON", "")
    return Synthesizer(Path(named) if named else ROOT / "_build" / "dpmm" / "bin" / "python")
