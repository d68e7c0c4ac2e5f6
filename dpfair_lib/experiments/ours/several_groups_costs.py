"""Time and memory of post-processing for several groups, as rows and groups grow: ours and fairlearn's.

Each measurement is taken in a fresh process, which has first fitted a few rows. Time is that of the processor. Memory
is what the process held at its peak, above what it held just before; the rows themselves do not count.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.several_groups_data import Part, Split
from dpfair_lib.experiments.ours.several_groups_methods import (
    ERRORS,
    NOTIONS,
    OPTIMIZER,
    fairlearn_version,
    ours,
    threshold_optimizer,
)
from dpfair_lib.experiments.peak_memory import forget_peak, mebibytes_above

ROWS = 1_000, 10_000, 100_000, 1_000_000
GROUPS = 2, 5, 10, 20, 50, 100
USUAL_ROWS, USUAL_GROUPS = 100_000, 5
"""What stays while the other grows."""
DRAWS = 3
FEW_DRAWS = 2
"""Of a million rows, with which fairlearn takes longest."""
IMPORTS = [__name__, "dpfair_lib.central.postprocessor", "fairlearn.postprocessing", "scipy.optimize"]
FITS = {
    ERRORS: functools.partial(ours, gamma=0.0, objective="errors"),
    OPTIMIZER: functools.partial(threshold_optimizer, gamma=0.0),
}


def drawn_rows(rows: int, groups: int, draw: int) -> Part:
    """Return drawn rows with scores that are right on average.

    Parameters
    ----------
    rows, groups : int
        How many. Shares of the groups are Dirichlet(2); the scores of each are Beta(2 + u, 3) with u uniform in [0, 2].
    draw : int
        Seed.

    Returns
    -------
    Part
        Without features. Each group has both labels.
    """
    rng = np.random.default_rng([rows, groups, draw])
    group = rng.choice(groups, size=rows, p=rng.dirichlet(np.full(groups, 2.0)))
    group[: 2 * groups] = np.repeat(np.arange(groups), 2)
    scores = rng.beta(2 + rng.uniform(0, 2, size=groups)[group], 3)
    labels = (rng.random(rows) < scores).astype(np.int64)
    labels[: 2 * groups] = np.tile([0, 1], groups)
    names = np.array([f"group {at:02d}" for at in range(groups)])
    return Part(np.empty((rows, 0)), labels, names[group], scores)


def measure(method: str, notion: str, rows: int, groups: int, draw: int) -> dict[str, Any]:
    """Fit a method to drawn rows and predict them; meant for a fresh process.

    Parameters
    ----------
    method : str
        A key of `FITS`.
    notion : str
        A key of `NOTIONS`.
    rows, groups, draw : int
        As for `drawn_rows`.

    Returns
    -------
    dict
        The task; ``fit_seconds``, ``predict_seconds``, ``mebibytes`` (None where the system does not tell) and the
        expected ``error``.
    """
    few = _split(drawn_rows(200, 3, 0))
    FITS[method](few, notion=notion)(few.post)
    split = _split(drawn_rows(rows, groups, draw))
    before = forget_peak()
    started = time.process_time()
    rule = FITS[method](split, notion=notion)
    fitted = time.process_time()
    chance = rule(split.post)
    done = time.process_time()
    mebibytes = mebibytes_above(before)
    return {
        "method": method, "notion": notion, "rows": rows, "groups": groups, "draw": draw,
        "fit_seconds": fitted - started, "predict_seconds": done - fitted,
        "mebibytes": mebibytes, "error": float(abs(chance - split.post.labels).mean()),
    }  # fmt: skip


def _split(part: Part) -> Split:
    return Split(part, part, part)


def measure_afresh(**task: Any) -> list[dict[str, Any]]:
    """Measure in a fresh process, forked from a server that has imported what is needed and done nothing."""
    context = get_context("forkserver")
    context.set_forkserver_preload(IMPORTS)
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as one:
        return [one.submit(measure, **task).result()]


def experiment(name: str) -> Experiment:
    """Return the times and peaks of memory as rows and groups grow, a task for each draw."""
    cells = dict.fromkeys(
        [(rows, USUAL_GROUPS) for rows in ROWS] + [(USUAL_ROWS, groups) for groups in GROUPS]
    )
    parameters: Mapping[str, Any] = {
        "rows": ROWS, "groups": GROUPS, "usual": [USUAL_ROWS, USUAL_GROUPS], "draws": DRAWS, "few_draws": FEW_DRAWS,
        "fairlearn": fairlearn_version(),
    }  # fmt: skip
    tasks = [
        {"method": method, "notion": notion, "rows": rows, "groups": groups, "draw": draw}
        for rows, groups in cells
        for draw in range(FEW_DRAWS if rows > USUAL_ROWS else DRAWS)
        for notion in NOTIONS
        for method in FITS
    ]
    return Experiment(name, {"name": "drawn rows"}, parameters, measure_afresh, tasks)


EXPERIMENTS: Experiments = {"several-groups-costs": experiment}
