"""The least parity gap of private classifiers exactly, if one group's rate is unknown.

The group has n records with x ∈ {0, 1}, a share p of the population has x = 1, and a classifier of response κ that
is fair at the rate c has the gap κ|p − c|. Among all private mechanisms one noise is best for every prior of p: the
count of x = 1 plus noise of which every threshold is a best private test. So a prior bounds the least gap from
below, a list of centres (one for each noisy count) bounds it from above, and both can be computed in fractions.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._arguments import positive_integer

HALF = Fraction(1, 2)
ROUNDS, FIRST = 8, 33  # refinements of the populations, and how many there are in the first


class LeastGap(NamedTuple):
    """What certifies the least worst gap per unit of response: a prior from below, centres from above."""

    low: Any
    high: Any
    rates: list[Any]
    weights: list[Any]
    centres: list[Any]


def noisy_count_law(n: int, odds: Any, delta: Any = 0) -> np.ndarray:
    """Return the law of the count with the best private noise, grouped into as few outcomes as lose nothing.

    The noise has a distribution function F that is straight on [−½, ½], from (1 − δ)/(e^ε + 1) up, with
    F(x − 1) = max(0, e^(−ε)(F(x) − δ)) for x ≤ ½ and F(−x) = 1 − F(x). Without δ this is geometric noise, spread
    evenly over the unit around each whole number.

    Parameters
    ----------
    n : int
        Records, at least 1.
    odds, delta : float or Fraction
        e^ε ≥ 1, finite, and δ in [0, 1); exact if both are fractions (or whole numbers).

    Returns
    -------
    ndarray of shape (n + 1, outcomes)
        P(outcome | count), outcomes in increasing order of the noisy count.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    return _law(*_arguments(n, odds, delta)).copy()


@functools.lru_cache(
    maxsize=128, typed=True
)  # a certificate asks for one law many times; fractions stay apart
def _law(count: int, odds: Any, delta: Any) -> np.ndarray:
    edges = {Fraction(2 * k + 1, 2) for k in range(count)}
    if delta:
        end = _end(odds, delta)
        edges |= {k + side for k in range(count + 1) for side in (end, -end)}
    steps = np.array(
        [
            [0 * odds, *(_below(x - k, odds, delta) for x in sorted(edges)), 1 + 0 * odds]
            for k in range(count + 1)
        ]
    )
    law = np.diff(steps, axis=1)
    return law[:, (law != 0).any(axis=0)]


def _below(x: Any, odds: Any, delta: Any) -> Any:
    """F(x)."""
    if x > HALF:
        return 1 - _below(-x, odds, delta)
    steps = math.ceil(-HALF - x)
    first = (1 - delta) / (odds + 1)
    value = first + (1 - 2 * first) * (x + steps + HALF)
    if not steps:
        return value
    power = odds**-steps
    lost = steps if odds == 1 else (1 - power) / (odds - 1)
    return max(power * value - delta * lost, 0 * delta)


def _end(odds: Any, delta: Any) -> Any:
    """Return the x > 0 at which F reaches 1."""
    first = (1 - delta) / (odds + 1)
    room = float(first / delta)
    about = room if odds == 1 else math.log1p(room * float(odds - 1)) / math.log(odds)
    steps = max(math.floor(about), 1)
    while delta * _sum(odds, steps) < first:
        steps += 1
    rest = delta * _sum(odds, steps)  # F(y) = rest at the y of [−½, ½] that is this many units above the end
    return steps + HALF - (rest - first) / (1 - 2 * first)


def _sum(odds: Any, steps: int) -> Any:
    """1 + odds + … + odds^(steps − 1)."""
    return steps if odds == 1 else (odds**steps - 1) / (odds - 1)


def least_gap_of_prior(
    rates: Sequence[Any], weights: Sequence[Any], n: int, odds: Any, delta: Any = 0
) -> Any:
    """Return the least mean of |p − c| over all private mechanisms, for a prior of p: a lower bound.

    Parameters
    ----------
    rates : sequence of float or Fraction
        The populations' p in [0, 1], increasing.
    weights : sequence of float or Fraction
        Their probabilities; they add up to 1 (to 1e-9 if they are floats).
    n, odds, delta
        As in `noisy_count_law`.

    Returns
    -------
    float or Fraction
        Times κ: no (ε, δ)-private classifier of response κ has a smaller worst expected gap. Exact for fractions.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    if len(rates) != len(weights) or any(p >= q for p, q in itertools.pairwise(rates)):
        raise ValueError(f"rates: found {list(rates)}, expected increasing ones, as many as weights")
    if not 0 <= min(rates) <= max(rates) <= 1:
        raise ValueError(f"rates: found {list(rates)}, expected numbers in [0, 1]")
    if min(weights) < 0 or abs(sum(weights) - 1) > (0 if isinstance(weights[0], Fraction) else 1e-9):
        raise ValueError(f"weights: found a sum of {sum(weights)}, expected chances that add up to 1")
    points = np.array(rates)
    joint = np.array(weights)[:, None] * _outcomes(points, noisy_count_law(n, odds, delta))
    upto = np.cumsum(joint, axis=0)
    # the median of each outcome: the first rate with half of the mass at or below it
    median = points[(2 * upto >= upto[-1]).argmax(axis=0)]
    return (joint * abs(points[:, None] - median[None, :])).sum()


def _outcomes(points: np.ndarray, law: np.ndarray) -> np.ndarray:
    """P(outcome | rate), of shape (rates, outcomes)."""
    n = len(law) - 1
    if law.dtype == object and points.dtype == object:
        chance = np.array([math.comb(n, k) for k in range(n + 1)], dtype=object)
        counts = np.array([[p**k * (1 - p) ** (n - k) for k in range(n + 1)] for p in points]) * chance
        return counts @ law
    from scipy.stats import binom

    return binom.pmf(np.arange(n + 1), n, points.astype(float)[:, None]) @ law.astype(float)


def worst_gap_of_centres(
    centres: Sequence[Any], n: int, odds: Any, delta: Any = 0, *, within: Any = Fraction(1, 10**5)
) -> Any:
    """Return a bound of the worst mean of |p − c| over all p in [0, 1], for centres that follow the noisy count.

    Between two neighbouring centres the mean is a polynomial in p. Its coefficients in Bernstein's basis bound it;
    intervals are halved until the bound is attained up to ``within``.

    Parameters
    ----------
    centres : sequence of float or Fraction
        One in [0, 1] for each outcome of `noisy_count_law`.
    n, odds, delta
        As in `noisy_count_law`.
    within : float or Fraction, default=1/100000
        How far above the worst the bound may be, relative to it.

    Returns
    -------
    float or Fraction
        At least the worst mean; exact arithmetic for fractions.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    law = noisy_count_law(n, odds, delta)
    if len(centres) != law.shape[1] or not 0 <= min(centres) <= max(centres) <= 1:
        raise ValueError(f"centres: found {len(centres)}, expected {law.shape[1]} numbers in [0, 1]")
    at = np.array(centres)
    degree = np.arange(n + 2)
    below, above = (np.vstack(rows) for rows in ((0 * law[:1], law), (law, 0 * law[:1])))
    slopes = (1 - at) * (below * degree[:, None]) - at * (above * (n + 1 - degree)[:, None])
    zero, one = 0 * at[0], 1 + 0 * at[0]
    ends = sorted({zero, one, *centres})
    pieces = []
    for low, high in itertools.pairwise(ends):
        coefficients = (slopes * np.where(at <= low, 1, -1)).sum(axis=1) / (n + 1)
        part = _split(coefficients, high)[0]
        pieces.append(_split(part, low / high)[1])
    reached = max(max(piece[0], piece[-1]) for piece in pieces)
    while True:
        open_pieces = [piece for piece in pieces if max(piece) > reached * (1 + within)]
        if not open_pieces:
            return max(reached * (1 + within), reached)
        pieces = [
            half for piece in open_pieces for half in _split(piece, HALF if law.dtype == object else 0.5)
        ]
        reached = max(reached, *(max(piece[0], piece[-1]) for piece in pieces))


def _split(coefficients: np.ndarray, at: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients on the two parts of the interval (de Casteljau)."""
    left, right, row = [coefficients[0]], [coefficients[-1]], coefficients
    while len(row) > 1:
        row = row[:-1] * (1 - at) + row[1:] * at
        left.append(row[0])
        right.append(row[-1])
    return np.array(left), np.array(right[::-1])


def least_gap(n: int, odds: Any, delta: Any = 0, *, within: float = 1e-4) -> LeastGap:
    """Return the least worst gap per unit of response, between two bounds that certify it.

    A linear program over the centres of finitely many populations finds centres, and by its dual a prior; the
    worst populations of these centres are added until the bounds meet.

    Parameters
    ----------
    n, odds, delta
        As in `noisy_count_law`.
    within : float, default=1e-4
        How far apart the bounds may be, relative to the lower one; after a few rounds they are returned as they are.

    Returns
    -------
    LeastGap
        Bounds with their certificates; fractions if ``odds`` and ``delta`` are.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    count, odds, delta = _arguments(n, odds, delta)
    exact = isinstance(odds, Fraction)
    grid, fine = np.arange(FIRST) / (FIRST - 1), np.arange(1001) / 1000
    law = noisy_count_law(count, odds, delta).astype(float)
    best: LeastGap | None = None
    for _ in range(ROUNDS):
        centres, weights = _program(_outcomes(grid, law), grid)
        found = _certified(grid, weights, centres, (count, odds, delta), exact)
        if best is not None:  # a later round may round worse: keep what is best on each side
            found = found if found.high <= best.high else found._replace(high=best.high, centres=best.centres)
            found = found if found.low >= best.low else best._replace(high=found.high, centres=found.centres)
        best = found
        if best.high <= best.low * (1 + within):
            break
        risk = (_outcomes(fine, law) * abs(fine[:, None] - centres)).sum(axis=1)
        peaks = (risk >= np.roll(risk, 1)) & (risk >= np.roll(risk, -1)) & (risk > float(best.low))
        grid = np.union1d(grid, fine[peaks | peaks[::-1]])
    assert best is not None
    return best


def _certified(
    grid: np.ndarray, weights: np.ndarray, centres: np.ndarray, case: tuple[int, Any, Any], exact: bool
) -> LeastGap:
    kept = weights > 1e-7
    rates, chances, at = grid[kept].tolist(), weights[kept].tolist(), centres.tolist()
    if exact:
        rates = [Fraction(p).limit_denominator(10**4) for p in rates]
        parts = [round(10**7 * w) for w in chances]
        chances = [Fraction(part, sum(parts)) for part in parts]
        at = [Fraction(c).limit_denominator(10**5) for c in at]
    else:
        chances = [w / sum(chances) for w in chances]
    low = least_gap_of_prior(rates, chances, *case)
    return LeastGap(low, worst_gap_of_centres(at, *case), rates, chances, at)


def _program(outcomes: np.ndarray, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres with the least worst mean error over the grid, and the dual: a prior.

    With f = max(c − p, 0) the error is |p − c| = p − c + 2f. The grid is symmetric. If the outcomes are, as they are
    but for rounding, the centres are ½ − d and ½ + d in pairs, and half of the grid is enough.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rates, z = outcomes.shape
    base, sides, pairs = 0.0, np.ones(z), np.arange(z)
    if mirrored := np.allclose(outcomes, outcomes[::-1, ::-1], rtol=0, atol=1e-9):
        base, sides, pairs = 0.5, np.sign(2 * pairs + 1.0 - z), np.minimum(pairs, pairs[::-1])
        rates = (rates + 1) // 2
    chances, errors = outcomes[:rates], rates * z
    # variables: distances d, errors f, the worst
    f, d, rate = z + np.arange(errors), np.tile(pairs, rates), errors + np.repeat(np.arange(rates), z)
    entries = [
        (f - z, d, np.tile(sides, rates)),
        (f - z, f, -np.ones(errors)),
        (rate, d, (-chances * sides).ravel()),
        (rate, f, 2 * chances.ravel()),
        (errors + np.arange(rates), np.full(rates, z + errors), -np.ones(rates)),
    ]
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    below = coo_array((values, (rows, columns)), shape=(errors + rates, z + errors + 1)).tocsr()
    left = grid[:rates] - base
    cost = np.append(np.zeros(z + errors), 1)
    right = np.concatenate([np.repeat(left, z), -left * chances.sum(axis=1)])
    solved = linprog(cost, below, right, bounds=(0, None), method="highs")
    if solved.status != 0:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    weights = np.maximum(-solved.ineqlin.marginals[errors:], 0)
    if mirrored:
        weights = np.concatenate([weights, weights[: len(grid) - rates][::-1]])
        weights[rates - 1] *= 1 + len(grid) % 2  # the rate ½ is its own mirror image
    return np.clip(base + sides * solved.x[pairs], 0, 1), weights / weights.sum()


def _arguments(n: Any, odds: Any, delta: Any) -> tuple[int, Any, Any]:
    count = positive_integer(n, "n")
    exact = all(isinstance(value, (int, Fraction)) for value in (odds, delta))
    odds, delta = (Fraction(value) if exact else float(value) for value in (odds, delta))
    if not 1 <= odds < math.inf:
        raise ValueError(f"odds: found {odds}, expected a finite number, at least 1")
    if not 0 <= delta < 1:
        raise ValueError(f"delta: found {delta}, expected a number in [0, 1)")
    return count, odds, delta
