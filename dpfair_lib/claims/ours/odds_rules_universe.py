"""Small groups of which a rule sees the old label: all rules on a grid, what they cost, and the least cost."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.postprocessing.odds_prices import odds_within
from dpfair_lib.postprocessing.optimal_odds import LabelGroup

QUARTERS = np.array(list(itertools.product(range(5), repeat=2)))  # q₀ and q₁
HALVES = QUARTERS[(QUARTERS % 2 == 0).all(axis=1)]
RATES = [(0, 2), (0, 4), (2, 4), (1, 3), (1, 2), (4, 0), (3, 1), (0, 0), (2, 2), (4, 4)]  # F, T in quarters
FEW = [RATES[at] for at in (0, 2, 3, 6, 7, 8)]
WEIGHTS = [(1, 1, 1), (1, 3, 2), (2, 1, 0)]
KINDS = ("changes", "errors")
SCALE = 64
Rates = tuple[int, int]


@functools.cache
def one_group(rates: Rates, kind: str, weight: int, base: int = 2) -> LabelGroup:
    """Return a group of a base rate in quarters; for errors a group whose rates are equal may have any."""
    false, true, share = (Fraction(part, 4) for part in (*rates, base))
    if kind == "errors":
        return LabelGroup.of_errors(false, true, share, Fraction(weight))
    return LabelGroup.of_changes(false, true, share * true + (1 - share) * false, Fraction(weight))


@functools.cache
def groups_of(each: tuple[Rates, ...], kind: str, at: int) -> tuple[LabelGroup, ...]:
    """Return groups with the weights and base rates of a number; of several cases each has its own."""
    weights, bases = WEIGHTS[at % 3], (2, 1 + 2 * (at % 2), 2)
    return tuple(one_group(r, kind, w, b) for r, w, b in zip(each, weights, bases, strict=False))


@functools.cache
def every_rule(each: tuple[Rates, ...], kind: str, at: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all rules of all groups on the grid, their rates in 16ths, and their costs in 64ths."""
    rules = QUARTERS if len(each) == 2 else HALVES
    places = np.stack(np.meshgrid(*[np.arange(len(rules))] * len(each)), axis=-1).reshape(-1, len(each))
    chances = rules[places]
    zero, one = chances[..., 0], chances[..., 1]
    before = np.array(each)
    rates = (4 - before) * zero[..., None] + before * one[..., None]
    prices = [[int(SCALE * part / 4) for part in (g.up, g.down)] for g in groups_of(each, kind, at)]
    costs = zero @ [up for up, _ in prices] + (4 - one) @ [down for _, down in prices]
    return chances / 4, rates, costs


@functools.cache
def least_cost(groups: tuple[LabelGroup, ...], gamma: Fraction) -> Fraction:
    """Return the least cost as a linear program finds it, certified in fractions; no fault changes it."""
    least: Fraction = odds_within(groups, gamma).cost
    return least


def universe() -> list[tuple[tuple[Rates, ...], str, int]]:
    """Return the groups' rates, what is counted, and a number, of two and of three groups."""
    pairs = list(itertools.combinations_with_replacement(RATES, 2))
    triples = list(itertools.combinations_with_replacement(FEW, 3))
    return [
        *((pair, KINDS[at % 4 == 3], at) for at, pair in enumerate(pairs)),
        *((triple, KINDS[at % 4 == 3], at) for at, triple in enumerate(triples)),
    ]


def wanted_rules(
    each: tuple[Rates, ...], kind: str, at: int, gamma: Fraction
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rules, whether each is within γ and costs least, and their rates."""
    chances, rates, costs = every_rule(each, kind, at)
    least = SCALE * least_cost(groups_of(each, kind, at), gamma)
    within = np.ptp(rates, axis=1).max(axis=1) <= 16 * gamma
    return chances, within & (costs * least.denominator == least.numerator), rates


def random_group(search: Search) -> LabelGroup:
    """Return a group of rates in sixths, which counts changes or errors."""
    false, true, weight = (Fraction(int(search.rng.integers(top)), 6) for top in (7, 7, 19))
    base = Fraction(int(search.rng.integers(1, 4)), 4)
    if search.rng.random() < 0.3:
        return LabelGroup.of_errors(false, true, base, weight)
    return LabelGroup.of_changes(false, true, base * true + (1 - base) * false, weight)
