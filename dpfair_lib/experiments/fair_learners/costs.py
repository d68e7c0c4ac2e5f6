"""Time and memory of each private and fair learner at one ε, in a fresh process each.

A measurement covers all settings of the dial, and what the learner needs before: a base classifier, the calibration of
its noise, sums. The process has loaded and split the rows, and fitted the method to a few drawn ones, so that no import
counts. Memory is its peak above what it held just before.
"""

from __future__ import annotations

import functools
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from dpfair_lib.experiments.experiment import Experiment, Experiments, Rows
from dpfair_lib.experiments.fair_learners import constrained, methods, trials
from dpfair_lib.experiments.fair_learners.bases import Bases
from dpfair_lib.experiments.fair_learners.people import MOST_ROWS, TEST_SHARE, People, split_people
from dpfair_lib.experiments.fair_learners.settings import EPSILONS, bases_settings, held_rows, tuned
from dpfair_lib.experiments.ours.private_learners_fits import Candidate
from dpfair_lib.experiments.ours.private_learners_settings import STANDS_FOR
from dpfair_lib.experiments.peak_memory import forget_peak, mebibytes_above
from dpfair_lib.experiments.sources import Source, describe_table

SPLITS = 2
EPSILON = 1.0
WARM_ROWS = 2000
"""Rows of the stand-in that a process fits first."""
FITTED = {f"{one.protection}/{one.name}": one for one in methods.METHODS + constrained.METHODS}
"""Private learners by protection and name."""
WITHOUT = f"{trials.OPEN}/{trials.FAIR}"
"""What has no privacy: the constant, logistic regression, and fair post-processing with each notion and gap."""
IMPORTS = [__name__, "dpfair_lib", "sklearn.linear_model", "torch", "opacus"]


def measure(
    *, source: Source, split: int, seed: int, method: str, settings: dict[str, list[Candidate]], candidate: Candidate
) -> dict[str, Any]:  # fmt: skip
    """Fit one method to the rows of a split at every setting of its dial; meant for a fresh process.

    Parameters
    ----------
    source : Source
        Which data.
    split, seed : int
        As for `split_people`; both seed the noise.
    method : str
        A key of `FITTED`, or `WITHOUT`.
    settings : dict
        For the base classifiers.
    candidate : dict
        What was chosen for the method beforehand.

    Returns
    -------
    dict
        ``split, protection, method``; ``fits``, how many settings the dial has; ``seconds`` of processor time and
        ``mebibytes`` (None where the system does not tell).
    """
    few = split_people(Source(source.name, standin=WARM_ROWS).dataset(), split, seed)
    fits_of(method, *few, settings, candidate, (seed, split))
    rows = split_people(source.dataset(), split, seed)
    before, start = forget_peak(), time.process_time()
    fits = fits_of(method, *rows, settings, candidate, (seed, split))
    spent, (protection, _, name) = time.process_time() - start, method.partition("/")
    return {
        "split": split, "protection": protection, "method": name, "fits": fits, "seconds": round(spent, 3),
        "mebibytes": mebibytes_above(before),
    }  # fmt: skip


def fits_of(
    method: str, train: People, test: People, settings: dict[str, list[Candidate]], candidate: Candidate,
    entropy: tuple[int, ...],
) -> int:  # fmt: skip
    """Fit a method at every setting of its dial, and return how many there are; the arguments as for `measure`."""
    bases = Bases(train, settings, entropy)
    if method == WITHOUT:
        return sum(1 for _ in trials.unprotected(bases, test))
    return sum(1 for _ in trials.checked(FITTED[method], bases, test, EPSILON, candidate))


def measure_afresh(**task: Any) -> Rows:
    """Measure in a fresh process, forked from a server that has imported what is needed and done nothing."""
    context = get_context("forkserver")
    context.set_forkserver_preload(IMPORTS)
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as one:
        return [one.submit(measure, **task).result()]


def experiment(name: str, *, data: str) -> Experiment:
    """Return time and memory of every method on splits of one data set, a task for each method and split."""
    settings = bases_settings(data)
    tuning = tuned(held_rows(data), data) | constrained.tuned(constrained.held_rows(data))
    chosen = {method: tuning[method][EPSILONS.index(EPSILON)] for method in FITTED} | {WITHOUT: {}}
    parameters = {
        "seed": 0, "test_share": TEST_SHARE, "most_rows": MOST_ROWS, "epsilon": EPSILON, "settings": settings,
        "chosen": chosen, "noise": "study",
    }  # fmt: skip
    tasks = [
        {"source": Source(data), "split": split, "seed": 0, "method": method, "settings": settings, "candidate": one}
        for split in range(SPLITS)
        for method, one in chosen.items()
    ]  # fmt: skip
    return Experiment(name, describe_table(data), parameters, measure_afresh, tasks)


EXPERIMENTS: Experiments = {
    f"private-fair-costs-{data}": functools.partial(experiment, data=data) for data in STANDS_FOR
}
