"""Programs whose least Δ has the largest degree, and what judges polynomials and proofs without the library's own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.local.optimal.algebraic import AlgebraicOptimum
from dpfair_lib.local.optimal.certificate import Multipliers, lower_bound
from dpfair_lib.local.optimal.intervals import Interval
from dpfair_lib.local.optimal.program import Program

INSTANCES: dict[int, tuple[tuple[int, ...], tuple[str, ...], str, str]] = {
    2: ((1, 2), ("0", "1/2"), "1/2", "7/20"),
    3: ((3, 2, 1), ("0", "1/2", "1"), "1/2", "1/2"),
    4: ((4, 4, 2, 3), ("1", "1/6", "1", "1/6"), "1/4", "1/2"),
    5: ((2, 2, 3, 1, 3), ("1", "2/3", "1", "2/3", "1/3"), "1/2", "7/10"),
    6: ((3, 2, 3, 5, 4, 2), ("1", "0", "0", "0", "1", "5/6"), "1/4", "3/5"),
    7: ((4, 5, 5, 1, 2, 3, 6), ("5/6", "5/6", "1/6", "1/6", "1", "1/3", "1/3"), "1/4", "13/20"),
}
"""Weights, rates, x and ζ of a program of k groups whose least Δ has degree k − 1."""


def instance(groups: int) -> Program:
    """Return the program of `INSTANCES`, in fractions."""
    weights, rates, x, error = INSTANCES[groups]
    p = np.array([Fraction(n, sum(weights)) for n in weights], dtype=object)
    return Program(
        p, np.array([Fraction(rate) for rate in rates], dtype=object), Fraction(x), Fraction(error)
    )


def with_factors(prime: int, largest: int) -> dict[tuple[int, ...], tuple[int, ...] | None]:
    """Return the degrees of the factors of every monic polynomial modulo a prime, `None` if one occurs twice.

    All products of polynomials already known; what is no product is irreducible.
    """
    known: dict[tuple[int, ...], list[tuple[int, ...]]] = {}  # the factors themselves
    for d in range(1, largest + 1):
        for low in itertools.product(range(prime), repeat=d):
            known.setdefault((*low, 1), [(*low, 1)])
        for one, two in itertools.product(list(known), repeat=2):
            if len(one) + len(two) - 2 == d + 1 <= largest:
                product = [0] * (d + 2)
                for (i, a), (j, b) in itertools.product(enumerate(one), enumerate(two)):
                    product[i + j] += a * b
                known[tuple(c % prime for c in product)] = known[one] + known[two]
    return {
        of: tuple(sorted(len(factor) - 1 for factor in factors))
        if len(set(factors)) == len(factors)
        else None
        for of, factors in known.items()
    }


def types_of(
    degrees: Callable[..., Any], coefficients: tuple[int, ...], primes: Iterable[int]
) -> dict[tuple[int, ...], int]:
    """Return the degrees of factors that occur modulo these primes, each with the first prime that has them."""
    found: dict[tuple[int, ...], int] = {}
    for prime in primes:
        type_ = degrees(coefficients, prime)
        if type_:
            found.setdefault(type_, prime)
    return found


def middle(intervals: list[Interval]) -> np.ndarray:
    """Return the middles of intervals, as fractions."""
    return np.array([sum(one.ends) / 2 for one in intervals], dtype=object)


def bound_of(program: Program, found: AlgebraicOptimum) -> Fraction:
    """Return the lower bound that the multipliers of a basis prove by the formula of the solver's certificates."""
    k, zero = program.k, Fraction(0)
    above, below = np.full((2, k), zero, dtype=object)
    columns, rows = np.full((2, k, k), zero, dtype=object)
    truth = zero
    for one, price in zip(found.basis, middle(found.multipliers), strict=True):
        if one.of_level:
            (above if one.kind == "above" else below)[one.j] = price
        elif one.kind == "budget":
            truth = price
        elif one.kind != "privacy":
            (columns if one.kind == "column" else rows)[one.i, one.j] = price
    t = (found.low + found.high) / 2
    prices = -middle(found.row_multipliers)
    return Fraction(lower_bound(program, Multipliers(t, above, below, truth, prices, columns, rows)))
