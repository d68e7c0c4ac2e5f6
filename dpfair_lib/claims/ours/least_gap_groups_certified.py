"""The least worst gap of one, two and three groups over finitely many rates, between two bounds in fractions.

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
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.central.mechanism_programs import one_apart, solved_program

UNIT = 10**10  # of the fractions that stand for floats
CASES = [((2,), 6), ((3,), 6), ((4,), 6), ((1, 1), 6), ((1, 2), 6), ((2, 2), 6), ((1, 1, 1), 2)]
ODDS = (Fraction(21, 20), Fraction(3, 2), Fraction(3), Fraction(20))
CLOSE = Fraction(1, 10**6)


class Program(NamedTuple):
    """A linear program over mechanisms: P(state | population), losses of actions, and which states are neighbours."""

    laws: list[list[Fraction]]
    losses: list[list[Fraction]]
    neighbours: list[tuple[int, int]]


class Certificate(NamedTuple):
    """Weights of the populations and prices of the constraints from below, a mechanism from above."""

    weights: list[Fraction]
    prices: list[list[Fraction]]
    mechanism: list[list[Fraction]]


def program(sizes: tuple[int, ...], steps: int) -> Program:
    """Return the program for rates 0, 1/steps, …, 1 of each group; one group is compared with a known rate.

    The gap is piecewise linear in where the classifier is fair, and its pieces end at multiples of 1/steps. So these
    are enough: anything between them can be drawn.
    """
    rates = [Fraction(i, steps) for i in range(steps + 1)]
    populations = list(itertools.product(rates, repeat=len(sizes)))
    laws = []
    for population in populations:
        each = [
            [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
            for n, p in zip(sizes, population, strict=True)
        ]
        laws.append([math.prod(chances, start=Fraction(1)) for chances in itertools.product(*each)])
    if len(sizes) == 1:
        losses = [[abs(p - c) for c in rates] for (p,) in populations]
        return Program(laws, losses, one_apart(sizes))
    apart = [Fraction(i, steps) for i in range(-steps, steps + 1)]
    actions = list(itertools.product(apart, repeat=len(sizes) - 1))
    losses = [[_range(population, action) for action in actions] for population in populations]
    return Program(laws, losses, one_apart(sizes))


def _range(population: Sequence[Fraction], action: Sequence[Fraction]) -> Fraction:
    """Return the gap at these rates if it is 0 where the others are so far above the first."""
    left = [population[0], *(p - d for p, d in zip(population[1:], action, strict=True))]
    return max(left) - min(left)


def certificate(of: Program, odds: Fraction) -> Certificate:
    """Return fractions near what a solver finds, with a mechanism that is mended to be private."""
    laws, losses = (np.array(part, dtype=float) for part in (of.laws, of.losses))
    solution, prices, weights = solved_program(laws, losses, of.neighbours, float(odds))
    actions = losses.shape[1]
    rounded = [max(round(UNIT * weight), 0) for weight in weights.tolist()]
    mechanism = []
    for row in solution.tolist():
        parts = [max(round(UNIT * chance), 0) for chance in row]
        parts[parts.index(max(parts))] += UNIT - sum(parts)
        mechanism.append([Fraction(part, UNIT) for part in parts])
    excess = max(
        a - odds * b for s, t in of.neighbours for a, b in zip(mechanism[s], mechanism[t], strict=True)
    )
    if excess > 0:  # mixed with an action that is drawn blindly, it keeps every ratio
        share = excess / (excess + (odds - 1) / actions)
        mechanism = [[(1 - share) * chance + share / actions for chance in row] for row in mechanism]
    return Certificate(
        [Fraction(part, sum(rounded)) for part in rounded],
        [[max(Fraction(round(UNIT * y), UNIT), Fraction(0)) for y in row] for row in prices.tolist()],
        mechanism,
    )


def bounds(of: Program, odds: Fraction, found: Certificate) -> tuple[Fraction, Fraction]:
    """Return what a certificate proves, from below and from above.

    Raises
    ------
    ValueError
        If a weight or a price is negative, if weights or a row of the mechanism do not add up to 1, or if the mechanism
        is not private.
    """
    if min(found.weights) < 0 or sum(found.weights) != 1 or min(map(min, found.prices)) < 0:
        raise ValueError("found: expected weights that add up to 1, and no negative prices")
    if any(min(row) < 0 or sum(row) != 1 for row in found.mechanism):
        raise ValueError("found: expected a mechanism whose rows are probabilities")
    pairs = [(found.mechanism[s], found.mechanism[t]) for s, t in of.neighbours]
    if any(a > odds * b for one, other in pairs for a, b in zip(one, other, strict=True)):
        raise ValueError("found: expected a mechanism that is private")
    (laws, one), (losses, two) = _whole(of.laws), _whole(of.losses)
    (weights, three), (mechanism, four) = _whole([found.weights]), _whole(found.mechanism)
    costs = ((laws * weights[0][:, None]).T @ losses) * Fraction(1, one * two * three)
    for (s, t), price in zip(of.neighbours, found.prices, strict=True):
        costs[s] += price
        costs[t] -= [odds * each for each in price]
    worst = ((laws @ mechanism) * losses).sum(axis=1).max()
    return sum((min(row) for row in costs.tolist()), Fraction(0)), Fraction(worst, one * two * four)


def _whole(numbers: Sequence[Sequence[Fraction]]) -> tuple[np.ndarray, int]:
    """Return fractions over one denominator: whole numbers, and the denominator."""
    common = math.lcm(*(number.denominator for row in numbers for number in row))
    whole = [[number.numerator * (common // number.denominator) for number in row] for row in numbers]
    return np.array(whole, dtype=object), common


@functools.cache
def certified_gap(sizes: tuple[int, ...], steps: int, odds: Fraction) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of the least worst gap per unit of response at these rates."""
    of = program(sizes, steps)
    return bounds(of, odds, certificate(of, odds))


@once
def certified(upper: Callable[..., float], search: Search) -> None:
    """Bounds in fractions: they meet; two groups are as hard as one of both sizes, twice; `upper` is not below."""
    search.part("certificates in fractions")
    widest = Fraction(0)
    for (sizes, steps), odds in itertools.product(CASES, ODDS):
        case: dict[str, Any] = {"n": sizes, "odds": odds, "steps": steps}
        low, high = certified_gap(sizes, steps, odds)
        search.observe(high - low, case)
        search.observe(CLOSE * low - (high - low), case)
        widest = max(widest, (high - low) / low)
        if len(sizes) > 1:
            search.observe(upper(sizes, math.log(odds), response=0.5) - float(low) / 2, case)
        if len(sizes) == 2:
            search.observe((1 + CLOSE) * low - 2 * certified_gap((sum(sizes),), steps, odds)[0], case)
    search.fact("certified", f"{float(widest):.0e}", "largest relative distance of two certified bounds")
