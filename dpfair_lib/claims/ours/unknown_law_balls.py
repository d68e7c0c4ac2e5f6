"""Ours: the worst law of a ball against all laws on a grid, and the fairest channel under it."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.robust.ball import CellBall, Laws
from dpfair_lib.local.robust.proof import Proof
from dpfair_lib.local.robust.worst_law import WorstLaw, worst_unfairness

FINER = 2  # a law to compare with may have cells of half a part
# groups, parts of a centre, radii in parts, rows of channels in sixths
UNIVERSES = (
    (2, 6, (1, 2, 4), (((5, 1), (2, 4)), ((2, 4), (1, 5)))),
    (3, 4, (2,), (((2, 1, 3), (4, 1, 1), (1, 3, 2)),)),
)
ROUNDED = 1e-12
PROBLEMS = ((2, 0.1, 1.0), (2, 0.3, 0.5), (3, 0.05, 2.0))  # groups, radius, ε


def unfairness(matrix: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return Δ under each law of an array of shape (many, k, 2); NaN where a label is missing."""
    ones, both = cells[:, :, 1] @ matrix, cells.sum(axis=2) @ matrix
    share = cells[:, :, 1].sum(axis=1)[:, None]
    with np.errstate(all="ignore"):
        return np.asarray(abs(ones / (share * both) - 1).max(axis=1))


@functools.cache
def laws(k: int, parts: int) -> np.ndarray:
    """Return all laws of k groups whose cells are whole parts, shape (many, k, 2), in parts."""
    bars = itertools.combinations(range(parts + 2 * k - 1), 2 * k - 1)
    ends = np.array([(-1, *one, parts + 2 * k - 1) for one in bars])
    return (np.diff(ends, axis=1) - 1).reshape(-1, k, 2)


@once
def every_law(worst: Callable[..., WorstLaw], search: Search) -> None:
    """No law of a ball, in half parts, is worse than the worst law; which is in the ball, and as bad as it is said."""
    search.part("every law of a ball")
    balls, judged = 0, 0
    for k, parts, radii, channels in UNIVERSES:
        finer = laws(k, FINER * parts)
        for centre, radius in itertools.product(laws(k, parts), radii):
            share = int(centre[:, 1].sum())
            if not radius < 2 * min(share, parts - share):
                continue  # a label could vanish
            inside = finer[abs(finer - FINER * centre).sum(axis=(1, 2)) <= FINER * radius]
            ball = CellBall(centre / parts, radius / parts)
            balls, judged = balls + 1, judged + len(inside)
            for rows in channels:
                matrix, case = (
                    np.array(rows) / 6,
                    {"centre": centre.tolist(), "radius": radius, "channel": rows},
                )
                found = worst(matrix, ball)
                most = unfairness(matrix, inside / (FINER * parts)).max()
                search.observe(found.unfairness - most, case, tolerance=ROUNDED)
                search.agree(ball.contains(found.cells), True, case)
                again = unfairness(matrix, found.cells[None])[0]
                search.equal(again, found.unfairness, case, tolerance=1e-9)
    search.fact("balls", balls, "balls of distributions of two or three groups")
    search.fact("ball_laws", judged, "distributions in them that were compared with the worst one")


def problems() -> list[tuple[CellBall, float, float]]:
    """Return balls with an ε and an error."""
    rng, found = np.random.default_rng(6), []
    for k, radius, epsilon in PROBLEMS:
        p, rates = rng.dirichlet(np.full(k, 3.0)), rng.uniform(0.2, 0.6, k)
        truth = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
        found.append((CellBall.around(p, rates, radius), epsilon, 1 - 0.6 * truth - 0.4 / k))
    return found


@once
def searched(best: Callable[..., Randomizer], bound: Callable[..., Fraction], search: Search) -> None:
    """Value and bound meet; the error holds under every law of the ball; no channel on a grid is below the bound."""
    search.part("the search for balls and its proof")
    for at, (ball, epsilon, error) in enumerate(problems()):
        channel, case = best(ball, epsilon, error=error, tol=1e-6, time_limit=60.0), {"problem": at}
        proof = channel.certificate.proof
        low = float(bound(ball, epsilon, error, proof))
        search.observe(channel.value - low, case)
        for wrong in other_proofs(proof):
            search.observe(channel.value - float(bound(ball, epsilon, error, wrong)), case)
        search.agree(refused(bound, ball, epsilon, error, proof), True, case)
        search.observe(2e-6 - (channel.value - low), case)
        search.observe(math.exp(epsilon) - channel.likelihood_ratio, case)
        truths = np.diag(np.asarray(channel.matrix, dtype=float))
        search.observe(least_truth(truths, ball) - (1 - error), case, tolerance=ROUNDED)
        if ball.k == 2:
            search.observe(_least_on_grid(ball, epsilon, error) - low, case)


def other_proofs(proof: Proof) -> list[Proof]:
    """Return multipliers that prove less: whatever they are, what they prove must hold."""
    doubled = tuple((j, side, 2 * w, cells) for j, side, w, cells in proof.conditions)
    moved = tuple((j, side, w, cells * 1.1) for j, side, w, cells in proof.conditions)
    negative, none = -proof.privacy, 0 * proof.privacy
    return [
        replace(proof, conditions=doubled),
        replace(proof, conditions=moved),
        replace(
            proof, t=2 * proof.t, conditions=(), privacy=none, column_truth=none, row_truth=none, error=0.0
        ),
        replace(proof, privacy=0 * proof.privacy, error=0.0),
        replace(proof, t=2 * proof.t, privacy=negative, column_truth=negative, row_truth=negative),
    ]


def refused(bound: Callable[..., Fraction], laws: Laws, epsilon: float, error: float, proof: Proof) -> bool:
    """Return whether conditions on sides that there are not, or on another report, are refused."""
    forged = [
        tuple((j + more, factor * side, w, cells) for j, side, w, cells in proof.conditions)
        for more, factor in ((0, 2), (0, 0), (laws.k, 1), (-laws.k, 1))
    ]
    for conditions in forged:
        try:
            bound(laws, epsilon, error, replace(proof, conditions=conditions))
        except ValueError:
            continue
        return False
    return True


def least_truth(truths: np.ndarray, ball: CellBall) -> float:
    """Return the least truth by a way of its own: at its vertices a ball takes from groups in some order."""
    shares, half, least = ball.cells.sum(axis=1), ball.radius / 2, math.inf
    for order in itertools.permutations(range(ball.k)):
        left, moved = half, shares.copy()
        for i in order:
            step = min(left, moved[i])
            moved[i] -= step
            left -= step
        least = min(least, *(float(moved @ truths + half * truths[to]) for to in range(ball.k)))
    return least


def _least_on_grid(ball: CellBall, epsilon: float, error: float) -> float:
    """Return the least largest Δ of the channels of two values whose chances of the truth are multiples of 0.04."""
    best = math.inf
    for one, two in itertools.product(np.arange(0.5, 1, 0.04), repeat=2):
        matrix = np.array([[one, 1 - one], [1 - two, two]])
        private = (matrix.max(axis=0) <= math.exp(epsilon) * matrix.min(axis=0)).all()
        if private and least_truth(np.diag(matrix), ball) >= 1 - error:
            best = min(best, worst_unfairness(matrix, ball).unfairness)
    return best


def needs_the_sum(worst: Callable[..., WorstLaw], search: Search) -> None:
    """A law each of whose cells is within the radius, but not in sum."""
    ball = CellBall.around([0.5, 0.5], [0.5, 0.5], 0.1)
    channel, outside = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([[[0.15, 0.35], [0.35, 0.15]]])
    search.needs(
        "that the cells differ by so much in sum",
        slack=worst(channel, ball).unfairness - float(unfairness(channel, outside)[0]),
        case={"cells": outside[0].tolist(), "radius": 0.1},
    )
