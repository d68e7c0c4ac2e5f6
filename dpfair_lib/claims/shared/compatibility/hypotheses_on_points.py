"""Small universes for the compatibility claims, and fairness and accuracy by their definitions."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.compatibility.impossibility.acceptable import hypothesis_grid
from dpfair_lib.populations import Population

QUARTERS = tuple(Fraction(i, 4) for i in range(5))


@functools.cache
def laws(denominator: int) -> tuple[Population, ...]:
    """Return every law on two points and two groups in such steps that has people of each group and label."""
    return tuple(
        population
        for population in Population.exhaustive(2, 2, denominator)
        if population.table.astype(bool).any(axis=0).all()
    )


def law_count(denominator: int) -> int:
    """Count them from scratch: how the units fall into the four cells, one at least, and there on two points."""
    count = 0
    for i in range(1, denominator):
        for j in range(1, denominator - i):
            for k in range(1, denominator - i - j):
                count += (i + 1) * (j + 1) * (k + 1) * (denominator - i - j - k + 1)
    return count


def gap_by_definition(table: Any, h: Any) -> Fraction:
    """Return |γ₁₀ − γ₁₁|, person by person."""
    rates = []
    for a in (0, 1):
        positives = sum(Fraction(table[x][a][1]) for x in range(len(table)))
        hits = sum(Fraction(table[x][a][1]) * Fraction(h[x][a]) for x in range(len(table)))
        rates.append(Fraction(hits, 1) / positives)
    return abs(rates[0] - rates[1])


def error_by_definition(table: Any, h: Any) -> Fraction:
    """Return Pr[prediction ≠ Y], person by person."""
    wrong = Fraction(0)
    for x in range(len(table)):
        for a in (0, 1):
            chance = Fraction(h[x][a])
            wrong += Fraction(table[x][a][1]) * (1 - chance) + Fraction(table[x][a][0]) * chance
    return wrong


def constant_error(table: Any) -> Fraction:
    """Return the error of the better constant."""
    positive = sum(Fraction(table[x][a][1]) for x in range(len(table)) for a in (0, 1))
    return min(Fraction(positive), Fraction(1 - positive))


@functools.cache
def reference(
    denominator: int, levels: tuple[Any, ...] = (0, 1)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gaps and errors of all hypotheses of a grid on all laws, and the better constants' errors.

    In whole numbers: people in units of the laws, values of h in quarters.

    Returns
    -------
    gaps, errors : ndarray of Fraction, shape (laws, hypotheses)
    constant : ndarray of Fraction, shape (laws,)
    """
    whole = np.vectorize(lambda value, one: int(value * one), otypes=[np.int64])
    h = whole(hypothesis_grid(2, levels=levels), 4)
    people = whole(np.stack([law.table for law in laws(denominator)]), denominator)
    negatives, positives = people[..., 0], people[..., 1]
    hits, counts = np.einsum("lxa,hxa->lha", positives, h), positives.sum(axis=1)[:, None]
    # of rates hits/(4·counts) the difference, over the product of the counts
    apart = abs(hits[..., 0] * counts[..., 1] - hits[..., 1] * counts[..., 0])
    wrong = np.einsum("lxa,hxa->lh", positives, 4 - h) + np.einsum("lxa,hxa->lh", negatives, h)
    exact = np.vectorize(Fraction, otypes=[object])
    least = np.minimum(positives.sum(axis=(1, 2)), negatives.sum(axis=(1, 2)))
    gaps = exact(apart, 4 * counts.prod(axis=-1))
    return gaps, exact(wrong, 4 * denominator), exact(least, denominator)


def acceptable_by_definition(table: Any, h: Any) -> bool:
    """Return whether h has equal opportunity and errs less than both constants."""
    return gap_by_definition(table, h) == 0 and error_by_definition(table, h) < constant_error(table)
