"""Table 2.1, DP-FERMI: models with gradients, no bound at a fixed strength, and the part of one record."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.learners.fermi_penalty import penalty

STRENGTHS = (0.5, 1.0, 1.5, 1.8, 2.5, 10.0, 100.0)  # λ: printed ones, and larger


@once
def models_with_gradients(slopes: Callable[..., Any], search: Search) -> None:
    """The penalty is linear in the predictions, so any differentiable model is reached; one that says 0 or 1 is not."""
    search.part("DP-FERMI: any model")
    rng, n = search.rng, 6
    divided = itertools.cycle(
        (
            ([0, 0, 1, 1, 1, 0], [0.5, 0.5]),
            ([1, 0, 1, 1, 1, 1], [0.2, 0.8]),
            ([2, 0, 1, 0, 2, 2], [0.3, 0.1, 0.6]),
        )
    )
    for strength, (of, shares) in zip(STRENGTHS, divided, strict=False):
        groups, frequencies = np.array(of), np.array(shares)
        W = rng.normal(size=(1, len(shares), 2))
        y = rng.integers(0, 2, size=n).astype(float)
        p = rng.uniform(0.05, 0.95, size=(1, n))
        own = slopes(p, y, groups, frequencies, np.array([strength]), W)
        for i in range(n):
            moved = p.copy()
            moved[0, i] += 0.03
            rise = (penalty(moved, groups, frequencies, W) - penalty(p, groups, frequencies, W))[0] * n / 0.03
            expected = p[0, i] - y[i] + strength * p[0, i] * (1 - p[0, i]) * rise
            search.equal(float(own[0, i]), float(expected), {"λ": strength, "p": p[0, i]}, tolerance=1e-9)
        for hard in itertools.product((0.0, 1.0), repeat=n):
            sure = np.array([hard])
            without = slopes(sure, y, groups, frequencies, np.array([0.0]), W)
            case = {"λ": strength, "labels": hard}
            search.observe(
                -abs(slopes(sure, y, groups, frequencies, np.array([strength]), W) - without)[0], case
            )


@functools.cache
def _grid() -> tuple[np.ndarray, np.ndarray]:
    """All pairs of rates p_0, p_1 in fiftieths between 0 and 1, as predictions of 20 records of two groups of 10."""
    inner = np.arange(1, 50) / 50
    pairs = np.array(list(itertools.product(inner, repeat=2)))
    return pairs, np.repeat(pairs, 10, axis=1)


@once
def no_bound_at_fixed_strength(information: Callable[..., Any], search: Search) -> None:
    """Without noise, for all records there are: cross-entropy + λD is least at a gap above 0, for every λ.

    Two groups of one size, P(Y = 1) = 3/4 and 1/4, a model that can have any rate in each. On the grid the least
    cross-entropy + λD is below that of every fair pair; what a minimiser does have is λD ≤ what fairness costs.
    """
    search.part("DP-FERMI: guarantee")
    pairs, predictions = _grid()
    groups, frequencies = np.repeat((0, 1), 10), np.array([0.5, 0.5])
    D = information(predictions, groups, frequencies)
    gaps, middle = pairs[:, 0] - pairs[:, 1], pairs.mean(axis=1)
    search.observe(-abs(D - gaps**2 / (4 * middle * (1 - middle))), {"p": pairs}, tolerance=1e-9)
    for first, order in itertools.product((2, 10, 15), (1, -1)):
        # the records in another order, and groups of other sizes: D = w(1 − w)(p_0 − p_1)²/(p(1 − p))
        of, share = np.repeat((0, 1), (first, 20 - first))[::order], first / 20
        likely = np.where(of == 0, pairs[:, :1], pairs[:, 1:])
        found = information(likely, of, np.array([share, 1 - share]))
        mean = share * pairs[:, 0] + (1 - share) * pairs[:, 1]
        expected = share * (1 - share) * gaps**2 / (mean * (1 - mean))
        search.observe(-abs(found - expected), {"p": pairs, "share": share}, tolerance=1e-9)
    rates = np.array([0.75, 0.25])
    loss = -(rates * np.log(pairs) + (1 - rates) * np.log(1 - pairs)).mean(axis=1)
    fair = abs(gaps) < 1e-12
    for strength in STRENGTHS:
        # next to fairness the loss falls by ½ a unit of gap, and λD costs λ gap²: below it for gap < 1/(2(λ + 1))
        step = 1 / (4 * (strength + 1))
        near = np.array([[0.5 + step / 2, 0.5 - step / 2]])
        cost = -(rates * np.log(near) + (1 - rates) * np.log(1 - near)).mean()
        value = cost + strength * float(information(np.repeat(near, 10, axis=1), groups, frequencies)[0])
        search.observe(float((loss + strength * D)[fair].min()) - value - 1e-6, {"λ": strength})
        best = int((loss + strength * D).argmin())
        search.observe(
            float(loss[fair].min() - loss.min() - strength * D[best]), {"λ": strength}, tolerance=1e-9
        )
        if strength in (1.0, 2.5):
            search.fact(
                f"gap_at_{strength:g}".replace(".", "_"),
                round(abs(float(gaps[best])), 2),
                f"gap that λ = {strength:g} leaves without any noise",
            )


@once
def one_record_of_fermi(w_sum: Callable[..., Any], search: Search) -> None:
    """As defined, a record's part in the sum for W is clipped, whatever its prediction and its group are."""
    search.part("DP-FERMI: privacy of all features")
    groups, frequencies = np.array([0, 1, 2, 1]), np.array([0.25, 0.5, 0.25])
    rng = search.rng
    for clip in (0.1, 1.0, 7.0):
        for _ in range(25 * search.effort):
            W = rng.normal(scale=rng.choice([0.1, 1.0, 10.0]), size=(500, 3, 2))
            p = rng.uniform(size=(500, 4))
            moved = w_sum(p, groups, frequencies, W, clip) - w_sum(p[:, :3], groups[:3], frequencies, W, clip)
            length = np.sqrt((moved**2).sum(axis=(1, 2)))
            search.observe(clip - length, {"clip": clip, "p": p, "W": W}, tolerance=1e-9)
        for shares in ([0.25, 0.5, 0.25], [0.6, 0.1, 0.3]):
            W, p = rng.normal(size=(20, 3, 2)), rng.uniform(size=(20, 4))
            found = w_sum(p, groups, np.array(shares), W, clip)
            apart = abs(found - _sum_by_records(p, groups, np.array(shares), W, clip)).max(axis=(1, 2))
            search.observe(-apart, {"clip": clip, "p": p, "W": W, "frequencies": shares}, tolerance=1e-9)


def _sum_by_records(p: Any, groups: Any, frequencies: Any, W: Any, clip: float) -> np.ndarray:
    """Return the sum of the clipped gradients 2 f_y (e_s/√P_s − W_·y), each record's formed and clipped by itself."""
    total = np.zeros_like(W)
    for i, s in enumerate(groups):
        unit = np.zeros(len(frequencies))
        unit[s] = 1 / math.sqrt(frequencies[s])
        says = np.stack([1 - p[:, i], p[:, i]], axis=1)
        gradient = 2 * says[:, None, :] * (unit[:, None] - W)
        norm = np.sqrt((gradient**2).sum(axis=(1, 2)))
        total += gradient * np.minimum(1, clip / norm)[:, None, None]
    return total
