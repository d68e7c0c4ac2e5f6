"""Runs for Table 1 and Figures 1–3 of MPBT: counts of rows near the models, and the effect of a replaced record."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.mpbt.bounded_impact import (
    CELLS,
    EPSILON,
    FITS,
    LIPSCHITZ,
    MODELS,
    PROBLEMS,
    SEED,
    SLACK,
    SPLIT_SEED,
    ZETA,
    Prepared,
    fitted,
    levels,
    modulus,
    noise_scale,
    prepared,
    radius_of,
    searched_bound,
    sizes,
)
from dpfair_lib.experiments.sources import describe_table
from dpfair_lib.margins.radius import projection_quantile

FLIPS = 10
SETTINGS = {
    "epsilon": EPSILON,
    "zeta": ZETA,
    "split_seed": SPLIT_SEED,
    "slack": SLACK,
    "lipschitz": LIPSCHITZ,
}


def table_rows(*, data: str, fit: str, n: int, standin: int | None = None) -> list[dict[str, Any]]:
    """Return, for one fit, the counts of test rows behind Table 1, for everyone, each label, group and cell.

    Parameters
    ----------
    data : str
        "celeba" or "acs-income".
    fit : str
        One of `FITS`.
    n : int
        Training rows.
    standin : int, optional
        Number of rows of the stand-in; by default the data themselves.

    Returns
    -------
    list of dict
        ``fit, n, label, group``, the latter two "" for all; ``rows``; ``right``; ``within <which>``, rows within Lemma
        4.1's radius for each constant of `LIPSCHITZ`; ``near``, rows within the reach of one projection; ``searched``
        and ``t``, the search's bound for the constant as run.
    """
    parts = prepared(data, standin)
    p = parts.rows.shape[1]
    weights = fitted(fit, *parts.first(n))
    radius = radius_of(parts.bound, p, n, EPSILON, 1 / n**2)
    reach = projection_quantile(ZETA / CELLS, SLACK) * noise_scale(parts.bound, n, EPSILON)
    scores = parts.test_rows @ weights
    distances = abs(scores) / np.linalg.norm(parts.test_rows, axis=1)
    right = (scores > 0) == (parts.test_labels == 1)
    found = []
    for label, group, chosen in subsets(parts):
        bound, t = searched_bound(distances[chosen] / LIPSCHITZ["as run"], radius)
        found.append({
            "fit": fit, "n": n, "label": label, "group": group, "rows": int(chosen.sum()),
            "right": int(right[chosen].sum()),
            **{f"within {which}": int((distances[chosen] <= L * radius).sum()) for which, L in LIPSCHITZ.items()},
            "near": int((distances[chosen] <= reach).sum()), "searched": bound, "t": t,
        })  # fmt: skip
    return found


def subsets(data: Prepared) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield everyone, each label, each group, and each label in each group: names, and which test rows."""
    named = [("", np.ones(len(data.test_labels), dtype=bool))]
    labels = [*named, *((str(y), data.test_labels == y) for y in (0, 1))]
    groups = [*named, *((group, data.test_groups == code) for code, group in enumerate(data.groups))]
    for label, with_label in labels:
        for group, in_group in groups:
            yield label, group, with_label & in_group


def moves(*, data: str, fit: str, n: int, seed: int, standin: int | None = None) -> list[dict[str, Any]]:
    """Return how far single changes of the training rows move one fit, measured by fitting again.

    Parameters
    ----------
    data, fit, n, standin
        As for `table_rows`.
    seed : int
        Seed of the drawn labels.

    Returns
    -------
    list of dict
        ``fit, n, change, position, copied, label, moved``: ``change`` is "drawn label", "label" or "record"; the row at
        ``position`` gets another label, or becomes a copy of the row at ``copied`` with the ``label`` given. The last
        two are the changes that move the fit furthest by a linearisation, the record among copies of one row.
    """
    rows, signs = prepared(data, standin).first(n)
    weights = fitted(fit, rows, signs)

    def moved(change: str, position: int, copied: int, label: float) -> dict[str, Any]:
        changed, labels = rows.copy(), signs.copy()
        changed[position], labels[position] = rows[copied], label
        distance = float(np.linalg.norm(fitted(fit, changed, labels) - weights))
        return {
            "fit": fit, "n": n, "change": change, "position": position, "copied": copied, "label": int(label),
            "moved": distance,
        }  # fmt: skip

    drawn = np.random.default_rng(seed).choice(n, size=FLIPS, replace=False).tolist()
    found = [moved("drawn label", at, at, -signs[at]) for at in drawn]
    own, flipped = influences(rows, signs, weights, modulus(fit, n))
    at = int(np.linalg.norm(own - flipped, axis=1).argmax())
    found.append(moved("label", at, at, -signs[at]))
    strongest = int(np.linalg.norm(flipped, axis=1).argmax())
    at = int(np.linalg.norm(own - flipped[strongest], axis=1).argmax())
    return [*found, moved("record", at, strongest, -signs[strongest])]


def influences(
    rows: np.ndarray, signs: np.ndarray, weights: np.ndarray, modulus: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each record moves the minimiser to first order, times n: with its own label, and the other."""
    from scipy.special import expit

    scores = rows @ weights
    chance = expit(scores)
    curvature = (rows.T * (chance * (1 - chance))) @ rows / len(rows) + modulus * np.eye(len(weights))
    towards = np.linalg.solve(curvature, rows.T).T
    own, other = (z * expit(-z * scores) for z in (signs, -signs))
    return towards * own[:, None], towards * other[:, None]


def figure_rows(
    *, data: str, problem: str, axis: str, models: int, seed: int, standin: int | None = None
) -> list[dict[str, Any]]:
    """Return the counts behind one line of Figures 1–3: 20 values of n or of ε, 100 private models at each.

    Parameters
    ----------
    data, standin
        As for `table_rows`.
    problem : str
        One of `PROBLEMS`.
    axis : str
        "n" or "epsilon".
    models : int
        Private models at each point.
    seed : int
        Seed of the noise.

    Returns
    -------
    list of dict
        For every point and cell ``problem, axis, n, epsilon, sigma, label, group, rows, right``, and counts of rows:
        ``within`` Lemma 4.1's radius; ``late``, the same with δ of the largest n, as run; within the ``empirical``
        radius, the 0.99 quantile of the private models' distances; ``first`` and ``farthest``, rows whose score that
        private model moves by at least its size; ``near``, rows within the reach of one projection. ``private`` is
        a list: rows that each private model has right. ``radius, late radius, empirical radius, first distance,
        farthest distance`` are Euclidean.
    """
    parts, rng = prepared(data, standin), np.random.default_rng(seed)
    available = len(parts.rows)
    whole = None if axis == "n" else fitted(problem, parts.rows, parts.signs)
    points = (
        [(n, EPSILON) for n in sizes(available)]
        if axis == "n"
        else [(available, epsilon) for epsilon in levels(data)]
    )
    last, found = points[-1][0], []
    for n, epsilon in points:
        weights = fitted(problem, *parts.first(n)) if whole is None else whole
        found += private_point(
            parts, weights, problem=problem, axis=axis, models=models, n=n, epsilon=epsilon, late=1 / last**2, rng=rng
        )  # fmt: skip
    return found


def private_point(
    data: Prepared, weights: np.ndarray, *, problem: str, axis: str, models: int, n: int, epsilon: float,
    late: float, rng: np.random.Generator,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the rows of `figure_rows` for one point: private models are drawn round the weights given.

    Parameters
    ----------
    data : Prepared
        Whose test rows are counted.
    weights : array of shape (p,)
        h*.
    problem, axis, models
        As for `figure_rows`.
    n, epsilon : int, float
        For noise and radius.
    late : float
        δ of the radius ``late``.
    rng : numpy.random.Generator
        For the noise.
    """
    p, sigma = len(weights), noise_scale(data.bound, n, epsilon)
    private = weights + rng.normal(0, sigma, size=(models, p))
    apart = np.linalg.norm(private - weights, axis=1)
    radii = {
        "within": radius_of(data.bound, p, n, epsilon, 1 / n**2),
        "late": radius_of(data.bound, p, n, epsilon, late),
        "empirical": float(np.quantile(apart, 1 - ZETA)),
    }
    scores, farthest = data.test_rows @ weights, int(apart.argmax())
    distances = abs(scores) / np.linalg.norm(data.test_rows, axis=1)
    counted = {name: distances <= LIPSCHITZ[problem] * radius for name, radius in radii.items()}
    for name, which in (("first", 0), ("farthest", farthest)):
        counted[name] = abs(scores) <= abs(data.test_rows @ (private[which] - weights))
    counted["near"] = distances <= projection_quantile(ZETA / CELLS, SLACK) * sigma
    truth = data.test_labels == 1
    counted["right"] = (scores > 0) == truth
    private_right = (data.test_rows @ private.T > 0) == truth[:, None]
    return [
        {
            "problem": problem, "axis": axis, "n": n, "epsilon": epsilon, "sigma": sigma,
            "label": label, "group": group, "rows": int(chosen.sum()),
            **{name: int(inside[chosen].sum()) for name, inside in counted.items()},
            "radius": radii["within"], "late radius": radii["late"], "empirical radius": radii["empirical"],
            "first distance": float(apart[0]), "farthest distance": float(apart[farthest]),
            "private": private_right[chosen].sum(axis=0).tolist(),
        }
        for label, group, chosen in subsets(data)
        if label and group
    ]  # fmt: skip


def table_experiment(name: str, *, data: str) -> Experiment:
    """Return Table 1, a task per fit; where the grid cuts the last n, as for CelebA, one for all rows too."""
    available = len(prepared(data).rows)
    n = sizes(available)[-1]
    tasks = [{"data": data, "fit": fit, "n": n} for fit in FITS]
    if n < available:
        tasks.append({"data": data, "fit": "as run, optimum", "n": available})
    return Experiment(name, describe_table(data), {"n": n, **SETTINGS}, table_rows, tasks)


def moves_experiment(name: str, *, data: str) -> Experiment:
    """Return how far a replaced record moves the models of Table 1, a task per fit."""
    n = sizes(len(prepared(data).rows))[-1]
    tasks = [{"data": data, "fit": fit, "n": n, "seed": 0} for fit in FITS[1:]]
    return Experiment(name, describe_table(data), {"n": n, "seed": 0, **SETTINGS}, moves, tasks)


def figures_experiment(name: str, *, data: str) -> Experiment:
    """Return Figures 1–3, a task per problem and axis."""
    chosen = {"models": MODELS, "seed": SEED}
    tasks = [
        {"data": data, "problem": problem, "axis": axis, **chosen}
        for problem in PROBLEMS
        for axis in ("n", "epsilon")
    ]
    return Experiment(name, describe_table(data), {**chosen, **SETTINGS}, figure_rows, tasks)


EXPERIMENTS: Experiments = {
    f"mpbt-{what}-{data}": functools.partial(experiment, data=data)
    for data in ("celeba", "acs-income")
    for what, experiment in (
        ("table", table_experiment),
        ("moves", moves_experiment),
        ("figures", figures_experiment),
    )
}
