"""The exact distribution of the exponential learner's choice, its noisy scale, and its exact privacy.

The learner is Algorithm 1 of CGKM. It draws M = min_a |Z₁ₐ| + Lap(1/ε) − s, computes a scale Δ(M), and chooses h with
probability proportional to exp(−ε u(Z, h)/(2Δ(M))). Its privacy follows from the integral over M.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from dpfair_lib._arguments import below_one, number, one_of, positive, positive_integer
from dpfair_lib.privacy.finite_laws import smallest_epsilon

Rule = Literal["printed", "repaired"]
RULES: tuple[Rule, ...] = get_args(Rule)
SCALED_RANGE = 5
"""How far apart the moves of min_a |Z₁ₐ| · u(Z, h) are for two h between the same neighbouring samples, at most."""


def printed_delta(n: int) -> float:
    """Return δ = exp(−√n), the printed one, or the smallest normal float where that is smaller still."""
    return max(math.exp(-math.sqrt(positive_integer(n, "n"))), float(np.finfo(float).tiny))


def shift(epsilon: float, delta: float, rule: Rule = "repaired") -> float:
    """Return what is taken off the noisy count so that it exceeds the true one rarely.

    A Laplace variable of scale 1/ε is above s ≥ 0 with probability e^(−εs)/2. So ln(1/δ)/ε, as printed, makes the
    failure probability δ/2, and ln(1/(2δ))/ε makes it δ.

    Parameters
    ----------
    epsilon, delta : float
        ε > 0 and δ in (0, 1).
    rule : {"printed", "repaired"}
        Which of the two.

    Returns
    -------
    float
        s, in records; at least 0.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    CGKM, Algorithm 1.
    """
    level = below_one(delta, "delta")
    if level == 0:
        raise ValueError("delta: found 0, expected a number in (0, 1): the shift ln(1/δ)/ε would be infinite")
    log = -math.log(level) if one_of(rule, "rule", RULES) == "printed" else -math.log(level) - math.log(2)
    return max(log, 0.0) / positive(epsilon, "epsilon")


def over_count_probability(epsilon: float, delta: float, rule: Rule = "repaired") -> float:
    """Return Pr[M > min_a |Z₁ₐ|], exactly: δ/2 as printed, min(δ, ½) repaired."""
    return math.exp(-epsilon * shift(epsilon, delta, rule)) / 2


def inverse_scale(noisy_count: Any, n: int, rule: Rule = "repaired") -> Any:
    """Return 1/Δ(M), the factor of −ε u/2 in the exponent.

    Printed: Δ = 2/(M − 1) + 1/n, so 1/Δ = n(M − 1)/(2n + M − 1). It is negative for 1 − 2n < M < 1, where the largest
    loss is preferred, has a pole at 1 − 2n, and exceeds n below it. Repaired: Δ = max(2/(M + 1), 1/M + 1/n) with M
    raised to 1 where it is smaller: the exact joint sensitivity of Γ + err at the smaller count M, at most 1 + 1/n.

    Parameters
    ----------
    noisy_count : float or array
        M.
    n : int
        Records in the sample.
    rule : {"printed", "repaired"}
        Which Δ.

    Returns
    -------
    float or ndarray
        1/Δ; infinite at the pole of the printed one.

    Raises
    ------
    ValueError
        If n or the rule is wrong.

    References
    ----------
    CGKM, Algorithm 1.
    """
    rows, m = positive_integer(n, "n"), np.asarray(noisy_count, dtype=float)
    if one_of(rule, "rule", RULES) == "repaired":
        at_least_one = np.maximum(m, 1)
        return (1 / np.maximum(2 / (at_least_one + 1), 1 / at_least_one + 1 / rows))[()]
    with np.errstate(divide="ignore"):
        return (rows * (m - 1) / (2 * rows + m - 1))[()]


def pure_slope(smallest: int, epsilon: float) -> float:
    """Return the factor of −u in the exponent of the pure learner: 2ε m/5, with m = min_a |Z₁ₐ|.

    Between neighbours whose smaller count falls from m to m − 1, the product m u falls by less than 3 and rises by less
    than 2, for every h; where the count stays, by at most 2 either way. So two hypotheses' odds move by less than
    e^(2ε), and a hypothesis's probability by no more.

    Parameters
    ----------
    smallest : int
        m.
    epsilon : float
        ε; the release costs (2ε, 0).

    Returns
    -------
    float
        The slope, 0 where a group has no positives.
    """
    return 2 * positive(epsilon, "epsilon") * smallest / SCALED_RANGE


def choice_probabilities(
    losses: Any,
    smallest: int,
    n: int,
    *,
    epsilon: float,
    delta: float,
    rule: Rule = "repaired",
    copies: Any = 1,
) -> np.ndarray:
    """Return the probability that the learner outputs each hypothesis, with M integrated out.

    Parameters
    ----------
    losses : array of shape (..., k)
        u(Z, h) of each hypothesis; several classes at once along the leading axes.
    smallest : int
        min_a |Z₁ₐ| of the sample.
    n : int
        Records in the sample.
    epsilon, delta : float
        ε and δ of the learner.
    rule : {"printed", "repaired"}
        Which learner.
    copies : int or array of shape (..., k)
        How many hypotheses with this loss there are; the probability returned is that of all of them together.

    Returns
    -------
    ndarray of shape (..., k)
        Probabilities, to about 13 digits, by Gauss–Legendre quadrature on panels between the kinks and poles.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    points, weights = _nodes(smallest - shift(epsilon, delta, rule), epsilon, n, rule)
    slopes = np.clip(inverse_scale(points, n, rule), -1e300, 1e300) * (positive(epsilon, "epsilon") / 2)
    losses, many = np.asarray(losses, dtype=float), np.log(np.asarray(copies, dtype=float))
    exponents = many - slopes[:, *[None] * losses.ndim] * losses
    exponents -= exponents.max(axis=-1, keepdims=True)
    chances = np.exp(exponents)
    chances /= chances.sum(axis=-1, keepdims=True)
    return np.tensordot(weights, chances, axes=1)


def learner_delta(
    losses: tuple[Any, Any], smallest: tuple[int, int], n: int, *, at: float, epsilon: float, delta: float,
    rule: Rule = "repaired", copies: Any = 1,
) -> Any:  # fmt: skip
    """Return the smallest δ′ with P(S) ≤ e^ε′ P′(S) + δ′ for the learner's outputs on two samples in this order.

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
    epsilon, delta, rule, copies
        As in `choice_probabilities`.

    Returns
    -------
    float or ndarray of shape (...)
        The hockey-stick divergence of the first law from the second.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    factor = math.exp(number(at, "at", "a number"))
    first, second = (
        choice_probabilities(loss, count, n, epsilon=epsilon, delta=delta, rule=rule, copies=copies)
        for loss, count in zip(losses, smallest, strict=True)
    )
    return np.maximum(first - factor * second, 0).sum(axis=-1)[()]


def learner_epsilon(
    losses: tuple[Any, Any], smallest: tuple[int, int], n: int, *, to: float, epsilon: float, delta: float,
    rule: Rule = "repaired", copies: Any = 1,
) -> Any:  # fmt: skip
    """Return the smallest ε′ ≥ 0 with which the learner is (ε′, δ′)-private for these samples in this order.

    Parameters
    ----------
    losses, smallest, n, epsilon, delta, rule, copies
        As in `learner_delta`.
    to : float
        δ′ in (0, 1).

    Returns
    -------
    float or ndarray of shape (...)
        ε′, to about 12 digits by bisection; `learner_delta` falls in ε′.
    """
    first, second = (
        choice_probabilities(loss, count, n, epsilon=epsilon, delta=delta, rule=rule, copies=copies)
        for loss, count in zip(losses, smallest, strict=True)
    )
    return smallest_epsilon(first, second, to)


_ORDER = 12
LEGENDRE = np.polynomial.legendre.leggauss(_ORDER)
_REACH = 40.0
"""The noise is integrated up to 40 scales on either side; e^(−40) lies beyond."""


def noise_panels(centers: Sequence[float], epsilon: float, n: int, rule: Rule) -> np.ndarray:
    """Return where to cut the line of M so that laws around these centers, and the scale, are smooth in between.

    Parameters
    ----------
    centers : sequence of float
        Where the noise of one sample or more is centered.
    epsilon : float
        Of the noise.
    n : int
        Records in a sample.
    rule : {"printed", "repaired"}
        Which scale.

    Returns
    -------
    ndarray of shape (panels + 1,)
        In rising order, from 40 scales below the smallest center to 40 above the largest.
    """
    low, high = min(centers) - _REACH / epsilon, max(centers) + _REACH / epsilon
    steps = np.arange(-_REACH, _REACH + 1, 2) / epsilon
    edges: list[np.ndarray] = [center + steps for center in centers]
    if rule == "repaired":
        # it changes its form at 1 and where 2/(M + 1) = 1/M + 1/n, and varies with the order of magnitude of M
        root = math.sqrt(max((n - 1) ** 2 - 4 * n, 0))
        edges += [np.array([1.0, (n - 1 - root) / 2, (n - 1 + root) / 2]), 1 + 2.0 ** np.arange(60)]
    else:  # it has a pole
        near = np.concatenate([[0.0], (high - low) * 2.0 ** -np.arange(0, 45, 1.5)])
        edges += [1 - 2 * n - near, 1 - 2 * n + near]
    return np.unique(np.clip(np.concatenate(edges), low, high))


def _nodes(center: float, epsilon: float, n: int, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """Points M and weights whose sums are expectations over M = center + Lap(1/ε)."""
    cuts = noise_panels([center], epsilon, n, rule)
    half, middle = np.diff(cuts) / 2, (cuts[1:] + cuts[:-1]) / 2
    nodes, weights = LEGENDRE
    points = (middle[:, None] + half[:, None] * nodes).ravel()
    mass = (half[:, None] * weights).ravel() * (epsilon / 2) * np.exp(-epsilon * abs(points - center))
    return points, mass
