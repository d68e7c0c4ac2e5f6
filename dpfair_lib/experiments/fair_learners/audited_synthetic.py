"""Audits of private synthetic data, by the model's noisy counts and by the rows alone, and of planted faults.

MST of dpmm counts columns, chooses pairs of them, and counts these pairs. Under add-remove a record moves one count of
each by 1, beside noise of deviation σ√k for k columns. So the sum of the record's own counts is the score.

**The choice.** Each pair's weight is the distance between its counts and the product of its columns' noisy counts. One
pair of three columns is alike in all public rows, and is chosen first. The other two pairs agree in three of four rows,
so that both have the same weight, and noise of the columns cancels to first order. The record agrees in the one and
differs in the other: the difference of the weights is 2, not 0. So the first of the two is chosen with probability
1/(1 + e^−ε'), not ½, where ε' is that of one choice. With 1/(1 + e^−ε') known, the score is the logarithm of the
likelihood ratio of all that the model saw.

**What cannot be seen.** The account adds up ρ of zero-concentrated privacy: ρ/3 for the columns, ρ/3 for two choices,
and 2ρ/9 for two pairs. One of the choices is sure here, and shows nothing. So 13/18 of ρ can be seen, and the step from
ρ to ε and δ is not tight either. A bound far below the claim is expected.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import math
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.fair_learners.audited_power import AUDITS, Law, power, seldom
from dpfair_lib.experiments.fair_learners.bases import PRESENT
from dpfair_lib.experiments.fair_learners.synthesizer import PINS, ROOT, pinned_versions
from dpfair_lib.experiments.ours.audited_release import FAILURE, Audited, audit_of
from dpfair_lib.privacy import PrivacyStatement, composed_zcdp, zcdp_delta

WORKER = ROOT / "benchmarks" / "dpmm_audit_worker.py"
EPSILON, DELTA = 2.0, 0.05
"""Asked for; δ is so large that a few thousand runs show something."""
ROWS = 2000
"""Synthetic rows of a release, a public number."""


class Asked(NamedTuple):
    """What is asked of the synthesiser.

    Attributes
    ----------
    sizes : tuple of int
        How many codes each column has.
    steps : int
        Of each fit of the graphical model, to noisy counts alone.
    rows : int
        Synthetic rows; 0 for the noisy counts.
    fault : str
        None if empty.
    """

    sizes: tuple[int, ...]
    steps: int = 1
    rows: int = 0
    fault: str = ""


class Found(NamedTuple):
    """What releases are set to, and what each shows."""

    rho: float
    sigma: float
    shown: np.ndarray


class Process:
    """dpmm's process for audits.

    Parameters
    ----------
    python : Path
        The interpreter of its environment; `make dpmm` makes it.
    """

    def __init__(self, python: Path) -> None:
        self._process = subprocess.Popen(
            [str(python), str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        atexit.register(self.close)
        found = self._answer()["versions"]
        if found != (expected := pinned_versions()):
            self.close()
            raise ValueError(f"{python}: found {found}, expected {expected} of {PINS.name}; see `make dpmm`")

    def release(self, codes: np.ndarray, asked: Asked, releases: int, seed: int) -> Found:
        """Return what so many releases show; `seed` is not that of counts' noise, which has none."""
        question = {"shape": list(codes.shape), "epsilon": EPSILON, "delta": DELTA, "seed": seed}
        question |= {**asked._asdict(), "releases": releases}
        pipe, back = self._process.stdin, self._process.stdout
        assert pipe is not None
        assert back is not None
        pipe.write(json.dumps(question).encode() + b"\n")
        pipe.write(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
        pipe.flush()
        about = self._answer()
        shown = np.frombuffer(back.read(8 * releases * about["width"])).reshape(releases, -1)
        if (about["epsilon"], about["delta"]) != (EPSILON, DELTA):
            raise RuntimeError(f"release: found {about}, expected ε = {EPSILON} and δ = {DELTA}")
        return Found(about["rho"], about["sigma"], shown)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        atexit.unregister(self.close)

    def _answer(self) -> dict[str, Any]:
        back = self._process.stdout
        assert back is not None
        line = back.readline()
        if not line:
            raise RuntimeError(f"dpmm's process ended with status {self._process.wait()}")
        return dict(json.loads(line))


@functools.lru_cache(maxsize=1)
def process() -> Process:
    """Return dpmm's process for audits, which is started once in a process of ours."""
    named = os.environ.get("DPMM_PYTHON", "")
    return Process(Path(named) if named else ROOT / "_build" / "dpmm" / "bin" / "python")


def statement_of(found: Found, columns: int) -> PrivacyStatement:
    """Return what a release claims, after its noise was found to be enough for that.

    Parameters
    ----------
    found : Found
        Of a release without a fault.
    columns : int
        k.

    Raises
    ------
    RuntimeError
        If ρ of all phases does not give the claim.
    """
    each = 1 / (2 * found.sigma**2 * columns)
    rho = composed_zcdp(columns * each, (columns - 1) * each, found.rho / 3)
    if zcdp_delta(rho, EPSILON) > DELTA:
        raise RuntimeError(f"release: found ρ = {rho}, which ε = {EPSILON} and δ = {DELTA} do not allow")
    return PrivacyStatement(
        EPSILON, DELTA, PRESENT, public=("the number of synthetic rows", "columns and their codes"),
        accountant="zCDP of all three phases", guarantee=False,
        note="noise is added to floats, pairs are chosen by a seeded generator: no proof for the program as it runs",
    )  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A table under audit.

    Attributes
    ----------
    rows : ndarray of shape (n, k)
        Codes of public rows.
    record : ndarray of shape (k,)
        Codes of the record that comes in.
    asked : Asked
        Of the synthesiser.
    """

    rows: np.ndarray
    record: np.ndarray
    asked: Asked

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        """Two neighbours: with the record, and without."""
        return np.vstack([self.rows, self.record]), self.rows

    @functools.cached_property
    def statement(self) -> PrivacyStatement:
        """What it claims as it should be."""
        return statement_of(process().release(self.rows, self.asked, 1, 0), len(self.record))

    def own_counts(self, shown: np.ndarray) -> np.ndarray:
        """Return the sum of the record's noisy counts, of columns and of chosen pairs, less those of public rows."""
        k, width = len(self.record), max(self.asked.sizes) + 1
        total = np.zeros(len(shown))
        for at, code in enumerate(self.record):
            total += shown[:, at * width + code] - (self.rows[:, at] == code).sum()
        pairs = list(itertools.combinations(range(k), 2))
        first, most = k * width + len(pairs), max(self.asked.sizes) ** 2
        for at, (left, right) in enumerate(pairs):
            cell = self.record[left] * self.asked.sizes[right] + self.record[right]
            public = (
                (self.rows[:, left] == self.record[left]) & (self.rows[:, right] == self.record[right])
            ).sum()
            total += shown[:, k * width + at] * (shown[:, first + at * most + cell] - public)
        return total

    def chosen(self, shown: np.ndarray, at: int) -> np.ndarray:
        """Return whether a pair was chosen, by its place among all pairs."""
        k = len(self.record)
        return np.asarray(shown[:, k * (max(self.asked.sizes) + 1) + at] > 0)


Score = Callable[[Table, Found], np.ndarray]


def choice_epsilon(rho: float, columns: int) -> float:
    """Return ε' of one of k − 1 choices, which share a third of ρ: ε'² = 8 (ρ/3)/(k − 1)."""
    return math.sqrt(8 * rho / 3 / (columns - 1))


def by_counts_and_choice(table: Table, found: Found, less: float = 1.0) -> np.ndarray:
    """Return the logarithm of the likelihood ratio of the counts and of the choice, up to a constant."""
    k = len(table.record)
    likely = 1 / (1 + math.exp(-choice_epsilon(found.rho, k) / less))
    chose = np.where(table.chosen(found.shown, 0), math.log(2 * likely), math.log(2 - 2 * likely))
    return np.asarray(table.own_counts(found.shown) / (k * found.sigma**2) + chose)


def by_counts(table: Table, found: Found) -> np.ndarray:
    """Return the record's counts, of which there are equally many whatever was chosen."""
    return table.own_counts(found.shown)


def by_columns(table: Table, found: Found) -> np.ndarray:
    """Return whether the count of the first column is the public one, exactly: 0 or 1."""
    return np.asarray(
        found.shown[:, table.record[0]] == (table.rows[:, 0] == table.record[0]).sum(), dtype=float
    )


def by_choice(table: Table, found: Found) -> np.ndarray:
    """Return whether the pair was chosen in which the record agrees."""
    return table.chosen(found.shown, 0).astype(float)


def by_size(table: Table, found: Found) -> np.ndarray:
    """Return whether the first column has a count at the record's code."""
    return np.asarray(found.shown[:, table.record[0]] != 0, dtype=float)


def by_rows(_: Table, found: Found) -> np.ndarray:
    """Return the sum of the record's counts among synthetic rows of two columns: of either, and of both."""
    return np.asarray(found.shown @ np.array([3.0, 1.0, 1.0, 0.0]))


def audited(table: Table, score: Score, fault: str = "") -> Audited:
    """Audit a table, as it is or with a fault, against what it claims as it should be."""

    def release(data: np.ndarray, size: int, seed: int) -> tuple[np.ndarray, PrivacyStatement]:
        found = process().release(data, table.asked._replace(fault=fault), size, seed)
        return score(table, found), table.statement

    return Audited(table.pair, release)


def repeated(*blocks: tuple[int, tuple[int, ...]]) -> np.ndarray:
    """Return rows from blocks: how many, and their codes."""
    return np.array([codes for many, codes in blocks for _ in range(many)])


EVEN = repeated((300, (0, 0, 0)), (300, (1, 1, 1)), (100, (0, 1, 1)), (100, (1, 0, 0)))
"""The second and third column are alike; each agrees with the first in three of four rows."""
MODEL = Table(EVEN, np.array([0, 0, 1]), Asked((2, 2, 2)))
OWN = Table(EVEN, np.array([2, 0, 1]), Asked((3, 2, 2)))
RARE = Table(
    repeated((100, (0, 0)), (ROWS - 100, (1, 1))), np.array([0, 0]), Asked((2, 2), steps=20, rows=ROWS)
)
"""Where public rows are so many, the number of rows that are drawn hides little of a small count."""


class Case(NamedTuple):
    """A table under audit.

    Attributes
    ----------
    table : Table
        The table.
    score : callable
        Of what releases show.
    fault : str
        None if empty.
    size : int
        Runs on each data set.
    law : callable, optional
        Of the scores under a fault.
    """

    table: Table
    score: Score
    fault: str
    size: int
    law: Law | None = None


@functools.cache
def settings() -> Found:
    """Return what releases of three columns are set to."""
    return process().release(MODEL.rows, MODEL.asked, 1, 0)


def counts_and_choice(less: float) -> Law:
    """Return the law of `by_counts_and_choice` at so much of the noise: five counts of noise σ√3, and a choice."""

    def law(inside: bool, many: int, rng: np.random.Generator) -> np.ndarray:
        about = settings()
        variance = 3 * (less * about.sigma) ** 2
        likely = 1 / (1 + math.exp(-choice_epsilon(about.rho, 3) / less))
        counts = 5 * inside + math.sqrt(5 * variance) * rng.normal(size=many)
        chose = rng.random(many) < (likely if inside else 0.5)
        return np.asarray(counts / variance + np.where(chose, math.log(2 * likely), math.log(2 - 2 * likely)))

    return law


TABLES: dict[str, Case] = {
    "MST, counts and choice": Case(MODEL, by_counts_and_choice, "", 1600),
    "MST, a code of its own": Case(OWN, by_counts, "", 600),
    "MST, rows alone": Case(RARE, by_rows, "", 500),
}
"""Releases by name."""

FAULTS: dict[str, Case] = {
    name: Case(table, score, name, size, law)
    for name, table, score, size, law in (
        (
            "a quarter of the noise",
            MODEL,
            functools.partial(by_counts_and_choice, less=0.25),
            600,
            counts_and_choice(0.25),
        ),
        ("columns counted without noise", MODEL, by_columns, 240, seldom(1.0)),
        ("pairs chosen without noise", MODEL, by_choice, 600, seldom(0.5)),
        ("the domain from the rows", OWN, by_size, 240, seldom(1.0)),
    )
}
"""Planted faults by name."""


def power_of_half(size: int) -> float:
    """Return the power of an audit of so many runs where half of the noise is there."""
    return power(counts_and_choice(0.5), size, EPSILON, DELTA, FAILURE)


HALF = 1600, 8000
"""Numbers of runs at which the power against half of the noise is recorded: those of the first audit, and more."""


def run_audit(*, release: str, seed: int, size: int | None = None) -> list[dict[str, Any]]:
    """Return the row of an audit of a table, or of a planted fault, with the recorded number of runs by default.

    Parameters
    ----------
    release : str
        A key of `TABLES` or of `FAULTS`.
    seed : int
        Of what has one.
    size : int, optional
        Runs on each data set.
    """
    case = TABLES[release] if release in TABLES else FAULTS[release]
    under, runs = audited(case.table, case.score, case.fault), size or case.size
    failure = FAILURE / len(TABLES) if release in TABLES else FAILURE
    chance = None if case.law is None else power(case.law, runs, EPSILON, DELTA, failure)
    row = audit_of(release, under, runs, seed=seed, failure=failure, noise="OpenDP's")
    return [row | {"convicted": row["lower"] > row["epsilon"], "power": chance}]


def run_task(*, release: str, seed: int) -> list[dict[str, Any]]:
    """Return the row of an audit, or the power against half of the noise, which was not audited."""
    if release in TABLES or release in FAULTS:
        return run_audit(release=release, seed=seed)
    return [{"release": f"{release}, {size} runs", "power": power_of_half(size)} for size in HALF]


def experiment(name: str) -> Experiment:
    """Return a lower bound on the ε of each table and of each planted fault, on made-up rows."""
    import hashlib

    parameters = {
        "runs": {key: case.size for key, case in (TABLES | FAULTS).items()}, "half": HALF, "epsilon": EPSILON,
        "delta": DELTA, "failure": FAILURE, "rows": ROWS, "simulated": AUDITS, "versions": pinned_versions(),
        "worker": hashlib.sha256(WORKER.read_bytes()).hexdigest(),
    }  # fmt: skip
    tasks = [{"release": key, "seed": 0} for key in (*TABLES, *FAULTS, "half of the noise")]
    return Experiment(name, {"name": "made up"}, parameters, run_task, tasks)


EXPERIMENTS: Experiments = {"privacy-audits-synthetic": experiment}
