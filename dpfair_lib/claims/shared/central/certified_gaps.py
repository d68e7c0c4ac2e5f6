"""The least worst gap of up to four groups over finitely many rates, between two bounds in fractions.

A mechanism M takes states (the counts of all groups) to actions (where the classifier is fair). Weights w of the
populations and prices y ≥ 0 of the privacy constraints M(s, a) ≤ e^ε M(s′, a) give a lower bound: with

    C(s, a) = Σ_p w_p P_p(s) loss_p(a) + Σ_s′ (y(s, s′, a) − e^ε y(s′, s, a))

every private M has a worst loss of at least Σ M C, which is at least Σ_s min_a C(s, a). Any mechanism that is private
gives an upper one. A solver finds both with floats; fractions near them are judged here, whatever the solver did.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpfair_lib.claims.shared.central.mechanism_programs import (
    Symmetry,
    one_apart,
    solved_program,
    unknown_rates,
)

UNIT = 10**10  # of the fractions that stand for floats
NONE = Fraction(0)


class Program(NamedTuple):
    """A linear program over mechanisms: P(state | population), losses of actions, which states are neighbours."""

    laws: list[list[Fraction]]
    losses: list[list[Fraction]]
    neighbours: list[tuple[int, int]]
    symmetries: list[Symmetry]


class Certificate(NamedTuple):
    """Weights of the populations and prices of the constraints from below, a mechanism from above."""

    weights: list[Fraction]
    prices: list[list[Fraction]]
    mechanism: list[list[Fraction]]


@functools.cache
def program(sizes: tuple[int, ...], steps: int) -> Program:
    """Return the program for rates 0, 1/steps, …, 1 of each group; one group is compared with a known rate."""
    found = unknown_rates(sizes, steps)
    laws = []
    for population in found.populations:
        each = [
            [
                math.comb(n, k) * Fraction(p, steps) ** k * (1 - Fraction(p, steps)) ** (n - k)
                for k in range(n + 1)
            ]
            for n, p in zip(sizes, population, strict=True)
        ]
        laws.append([math.prod(chances, start=Fraction(1)) for chances in itertools.product(*each)])
    losses = [[_gap(population, place, steps) for place in found.places] for population in found.populations]
    return Program(laws, losses, one_apart(sizes), found.symmetries)


def _gap(population: Sequence[int], place: Sequence[int], steps: int) -> Fraction:
    """Return the gap at these rates of a classifier that is fair at the place; of one group, beside a known rate."""
    left = [p - c for p, c in zip(population, place, strict=True)]
    return Fraction(abs(left[0]) if len(left) == 1 else max(left) - min(left), steps)


def certificate(of: Program, odds: Fraction, delta: Fraction = NONE) -> Certificate:
    """Return fractions near what a solver finds, with a mechanism that is mended to be private."""
    laws, losses = (np.array(part, dtype=float) for part in (of.laws, of.losses))
    solution, prices, weights = solved_program(
        laws, losses, of.neighbours, float(odds), float(delta), of.symmetries
    )
    actions = losses.shape[1]
    rounded = [max(round(UNIT * weight), 0) for weight in weights.tolist()]
    parts = np.array(
        [[max(round(UNIT * chance), 0) for chance in row] for row in solution.tolist()], dtype=object
    )
    parts[np.arange(len(parts)), parts.argmax(axis=1)] += UNIT - parts.sum(axis=1)
    over = _over(parts, of.neighbours, odds)
    unit = UNIT * odds.denominator
    if delta:  # what exceeds δ goes if so much is drawn blindly
        excess = Fraction(int(np.maximum(over, 0).sum(axis=1).max()), unit)
        share = max(1 - delta / excess, NONE) if excess else NONE
    else:
        most = max(Fraction(int(over.max()), unit), NONE)
        share = most / (most + (odds - 1) / actions)
    ((kept, drawn),), common = _whole([[(1 - share) / UNIT, share / actions]])
    return Certificate(
        [Fraction(part, sum(rounded)) for part in rounded],
        [[Fraction(max(round(UNIT * y), 0), UNIT) for y in row] for row in prices.tolist()],
        [[Fraction(kept * part + drawn, common) for part in row] for row in parts.tolist()],
    )


def _over(mechanism: np.ndarray, neighbours: Sequence[tuple[int, int]], odds: Fraction) -> np.ndarray:
    """Return by how much each chance exceeds e^ε times a neighbour's, times the denominator of e^ε."""
    one, other = (mechanism[list(side)] for side in zip(*neighbours, strict=True))
    return np.asarray(odds.denominator * one - odds.numerator * other)


def bounds(
    of: Program, odds: Fraction, found: Certificate, delta: Fraction = NONE
) -> tuple[Fraction, Fraction]:
    """Return what a certificate proves, from below and from above.

    With δ > 0 the chances may exceed e^ε times a neighbour's by δ in all: a lower bound loses δ times the largest price
    of each pair of neighbours.

    Raises
    ------
    ValueError
        If a weight or a price is negative, if weights or a row of the mechanism do not add up to 1, or if the mechanism
        is not private.
    """
    (mechanism, four), (prices, five) = _whole(found.mechanism), _whole(found.prices)
    (laws, one), (losses, two), (weights, three) = _whole(of.laws), _whole(of.losses), _whole([found.weights])
    if (weights < 0).any() or weights.sum() != three or (prices < 0).any():
        raise ValueError("found: expected weights that add up to 1, and no negative prices")
    if (mechanism < 0).any() or (mechanism.sum(axis=1) != four).any():
        raise ValueError("found: expected a mechanism whose rows are probabilities")
    excess = np.maximum(_over(mechanism, of.neighbours, odds), 0).sum(axis=1).max()
    if excess > delta * four * odds.denominator:
        raise ValueError("found: expected a mechanism that is private")
    costs = ((laws * weights[0][:, None]).T @ losses) * (five * odds.denominator)
    scale, unit = one * two * three, one * two * three * five * odds.denominator
    for (s, t), price in zip(of.neighbours, prices, strict=True):
        costs[s] += (scale * odds.denominator) * price
        costs[t] -= (scale * odds.numerator) * price
    lost = delta * Fraction(int(prices.max(axis=1).sum()), five)
    worst = ((laws @ mechanism) * losses).sum(axis=1).max()
    return Fraction(int(costs.min(axis=1).sum()), unit) - lost, Fraction(worst, one * two * four)


def _whole(numbers: Sequence[Sequence[Fraction]]) -> tuple[np.ndarray, int]:
    """Return fractions over one denominator: whole numbers, and the denominator."""
    common = math.lcm(*(number.denominator for row in numbers for number in row))
    whole = [[number.numerator * (common // number.denominator) for number in row] for row in numbers]
    return np.array(whole, dtype=object), common


@functools.cache
def certified_gap(
    sizes: tuple[int, ...], steps: int, odds: Fraction, delta: Fraction = NONE
) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of the least worst gap per unit of response at these rates."""
    of = program(sizes, steps)
    return bounds(of, odds, certificate(of, odds, delta), delta)
