"""The exact privacy of everything that the exponential learner releases: the noisy count with the hypothesis.

M has a density and the hypothesis is one of finitely many, so the pair has the density p(M) c(h | M). For two samples
the largest excess of an event, P(S) − e^ε′ P′(S), is attained by S = {(M, h): p c > e^ε′ p′ c′}, hence

    δ′ = ∫ Σ_h max(p(M) c(h | M) − e^ε′ p′(M) c′(h | M), 0) dM.

Here the maximum is inside the integral. `learner_delta` has it outside, Σ_h max(∫ …, 0), which is never larger, because
max(·, 0) is convex: an observer of h alone knows no more than an observer of h and M.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, number, positive
from dpfair_lib.compatibility.private_learner.choice_law import (
    LEGENDRE,
    Rule,
    inverse_scale,
    noise_panels,
    shift,
)


def release_delta(
    losses: tuple[Any, Any], smallest: tuple[int, int], n: int, *, at: float, epsilon: float, delta: float,
    rule: Rule = "repaired", copies: Any = 1,
) -> Any:  # fmt: skip
    """Return the smallest δ′ with P(S) ≤ e^ε′ P′(S) + δ′ for sets S of pairs (M, h), on two samples in this order.

    Parameters
    ----------
    losses : pair of arrays of shape (..., k)
        u of each hypothesis on the first sample and on the second.
    smallest : (int, int)
        min_a |Z₁ₐ| of the two samples.
    n : int
        Records in each.
    at : float
        ε′, for instance the promised 2ε.
    epsilon, delta : float
        ε and δ of the learner.
    rule : {"printed", "repaired"}
        Which learner.
    copies : int or array of shape (..., k)
        How many hypotheses there are with the same two losses.

    Returns
    -------
    float or ndarray of shape (...)
        The hockey-stick divergence of the first joint law from the second. The integrand is smooth but for kinks where
        the maximum begins; these are found by bisection, and both sides integrated by Gauss–Legendre quadrature.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    each = positive(epsilon, "epsilon")
    moved = shift(each, delta, rule)
    first, second = (np.asarray(loss, dtype=float) for loss in losses)
    shape = np.broadcast_shapes(first.shape, second.shape, np.shape(copies))
    laws = _Laws(
        _flat(first, shape), _flat(second, shape), np.log(_flat(np.asarray(copies, dtype=float), shape)),
        (smallest[0] - moved, smallest[1] - moved), n, each, rule, number(at, "at", "a number"),
    )  # fmt: skip
    return _integral(laws, noise_panels(laws.centers, each, n, rule)).reshape(shape[:-1])[()]


def release_epsilon(
    losses: tuple[Any, Any], smallest: tuple[int, int], n: int, *, to: float, epsilon: float, delta: float,
    rule: Rule = "repaired", copies: Any = 1,
) -> float:  # fmt: skip
    """Return the smallest ε′ ≥ 0 at which no class of hypotheses needs more than δ′ for the pair (M, h).

    Parameters
    ----------
    losses, smallest, n, epsilon, delta, rule, copies
        As in `release_delta`; with leading axes, the largest ε′ of all.
    to : float
        δ′ in (0, 1).

    Returns
    -------
    float
        To about 7 digits, by bisection; `release_delta` falls in ε′.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    level, low, high = inside_unit(to, "to"), 0.0, 1.0

    def enough(at: float) -> bool:
        found = release_delta(
            losses, smallest, n, at=at, epsilon=epsilon, delta=delta, rule=rule, copies=copies
        )
        return bool(np.max(found) <= level)

    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _flat(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(values, shape).reshape(-1, shape[-1])


class _Laws:
    """Both joint densities, for classes of k hypotheses along the rows of tables of losses."""

    def __init__(
        self, first: np.ndarray, second: np.ndarray, many: np.ndarray, centers: tuple[float, float], n: int,
        epsilon: float, rule: Rule, at: float,
    ) -> None:  # fmt: skip
        self.losses, self.many, self.centers = (first, second), many, centers
        self.n, self.epsilon, self.rule, self.at = n, epsilon, rule, at

    def logs(self, noisy: np.ndarray, rows: Any = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Return ln(p c) and ln(p c) − ε′ − ln(p′ c′), of shape (*noisy.shape, rows, k).

        With rows an array of the shape of ``noisy``, each M goes with the row at the same place, and the shape is
        (*noisy.shape, k).
        """
        axes = (..., None) if isinstance(rows, np.ndarray) else (..., None, None)
        slopes = self.slopes(noisy)[axes]
        found = []
        for loss, center in zip(self.losses, self.centers, strict=True):
            exponents = self.many[rows] - slopes * loss[rows]
            exponents = exponents - exponents.max(axis=-1, keepdims=True)
            total = np.log(np.exp(exponents).sum(axis=-1, keepdims=True))
            density = math.log(self.epsilon / 2) - self.epsilon * abs(noisy - center)
            found.append(exponents - total + density[axes])
        return found[0], found[0] - self.at - found[1]

    def most_ahead(self, noisy: np.ndarray) -> np.ndarray:
        """Return a bound on the second of `logs` for all hypotheses: no log-odds of two of them move further."""
        moves = self.losses[1] - self.losses[0]
        spread = (moves.max(axis=-1) - moves.min(axis=-1)).max()
        first, second = (abs(noisy - center) for center in self.centers)
        return self.epsilon * (second - first) + abs(self.slopes(noisy)) * spread - self.at

    def slopes(self, noisy: np.ndarray) -> np.ndarray:
        return np.clip(inverse_scale(noisy, self.n, self.rule), -1e300, 1e300) * (self.epsilon / 2)

    def excess(self, noisy: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """Return max(p c − e^ε′ p′ c′, 0), in the shape of `logs`."""
        log, ahead = self.logs(noisy, rows)
        return np.exp(log) * -np.expm1(-np.maximum(ahead, 0))


def _integral(laws: _Laws, cuts: np.ndarray) -> np.ndarray:
    """Integrate the excess over all panels, and add it up over the hypotheses of each class."""
    nodes, weights = LEGENDRE
    half, middle = np.diff(cuts) / 2, (cuts[1:] + cuts[:-1]) / 2
    # the scale may have a pole at a cut itself
    places = middle[:, None] + half[:, None] * np.concatenate([[-1 + 1e-14], nodes, [1 - 1e-14]])
    reached = (laws.most_ahead(places) > -1e-9).any(axis=1)
    places, half = places[reached], half[reached]
    log, ahead = laws.logs(places)
    above: np.ndarray = np.asarray(ahead > 0)
    inner = np.exp(log[:, 1:-1]) * -np.expm1(-np.maximum(ahead[:, 1:-1], 0))
    smooth: np.ndarray = np.asarray(above.all(axis=1) | ~above.any(axis=1))
    panels = np.tensordot(weights, inner, axes=([0], [1])) * half[:, None, None]
    total = np.where(smooth, panels, 0).sum(axis=(0, 2))

    # where the excess begins or ends within a panel, from one place to the next
    kinked = ~smooth[:, None]
    panel, gap, row, kind = np.nonzero(kinked & (above[:, :-1] | above[:, 1:]))
    starts, ends = above[panel, gap, row, kind], above[panel, gap + 1, row, kind]
    left, right = places[panel, gap], places[panel, gap + 1]
    at = _turns(laws, left, right, row, kind, starts)
    low, high = np.where(starts, left, at), np.where(ends, right, at)
    points = (low + high)[:, None] / 2 + (high - low)[:, None] / 2 * nodes
    values = laws.excess(points, np.broadcast_to(row[:, None], points.shape))
    pieces = (np.take_along_axis(values, kind[:, None, None], axis=2)[..., 0] @ weights) * (high - low) / 2
    np.add.at(total, row, pieces)
    return total


def _turns(
    laws: _Laws, left: np.ndarray, right: np.ndarray, row: np.ndarray, kind: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Return where between two places the excess ends, or begins; the error of the integral is its square."""
    low, high = left.copy(), right.copy()
    for _ in range(26):
        middle = (low + high) / 2
        ahead = np.take_along_axis(laws.logs(middle, row)[1], kind[:, None], axis=1)[:, 0] > 0
        same = ahead == starts
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return (low + high) / 2
