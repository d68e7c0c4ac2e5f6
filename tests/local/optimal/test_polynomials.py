"""Polynomials with whole coefficients: values, roots, factors modulo primes, Galois groups."""

import itertools
import random
from fractions import Fraction

import pytest

from dpfair_lib.local.optimal.polynomials import (
    distinct_roots,
    factor_degrees,
    forces_symmetric,
    interpolated,
    narrowed,
    possible_degrees,
    primitive,
    value_at,
)

CUBIC = (-6, 11, -6, 1)  # roots 1, 2, 3


def test_values_through_points_give_the_polynomial_again():
    points = [Fraction(n, 3) for n in range(6)]
    assert interpolated(points, [value_at(CUBIC, t) for t in points]) == list(CUBIC)
    assert interpolated(points, [Fraction(0)] * 6) == []


def test_the_primitive_multiple_has_coprime_coefficients_and_a_positive_leading_one():
    assert primitive([Fraction(1, 2), Fraction(-3, 4)]) == (-2, 3)


@pytest.mark.parametrize(
    ("low", "high", "count"),
    [(0, 4, 3), (1, 3, 2), (0, 1, 1), (Fraction(3, 2), Fraction(5, 2), 1), (4, 9, 0)],
)
def test_sturm_counts_roots_above_the_lower_end(low, high, count):
    assert distinct_roots(CUBIC, Fraction(low), Fraction(high)) == count


def test_a_repeated_root_counts_once():
    assert distinct_roots((1, -2, 1), Fraction(0), Fraction(2)) == 1


def test_an_interval_is_halved_round_the_root():
    low, high = narrowed((-2, 0, 1), Fraction(1), Fraction(2), 50)
    assert low**2 < 2 < high**2
    assert (high - low) * 2**50 == 1  # as soon as it is so short
    assert narrowed(CUBIC, Fraction(3, 2), Fraction(5, 2), 50) == (2, 2)


@pytest.mark.parametrize(
    ("coefficients", "prime", "degrees"),
    [
        ((1, 0, 1), 3, (2,)),
        ((1, 0, 1), 5, (1, 1)),
        ((1, 0, 1), 2, None),
        ((1, 0, 3), 3, None),
        ((1, 1, 0, 0, 1), 2, (4,)),
        ((-1, -1, 0, 0, 0, 1), 5, (5,)),
        ((-1, -1, 0, 0, 0, 1), 2, (2, 3)),
    ],
)
def test_factors_modulo_primes(coefficients, prime, degrees):
    assert factor_degrees(coefficients, prime) == degrees


def product(factors, prime):
    result = [1]
    for factor in factors:
        whole = [0] * (len(result) + len(factor) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(result), enumerate(factor)):
            whole[i + j] = (whole[i + j] + a * b) % prime
        result = whole
    return tuple(result)


def irreducible(prime, degree):
    """Return the monic polynomials of a degree that are no product of two of smaller degrees."""
    monic = {
        d: [(*low, 1) for low in itertools.product(range(prime), repeat=d)] for d in range(1, degree + 1)
    }
    products = {
        product(pair, prime)
        for d in range(1, degree)
        for pair in itertools.product(monic[d], monic[degree - d])
    }
    return [one for one in monic[degree] if one not in products]


@pytest.mark.parametrize("prime", [2, 3, 5, 7])
def test_products_of_irreducible_factors_and_a_unit_have_their_degrees(prime):
    known, rng = {d: irreducible(prime, d) for d in (1, 2, 3)}, random.Random(prime)
    every = [one for d in known for one in known[d]]
    units = set()
    for _ in range(60):
        factors = rng.sample(every, rng.randint(1, min(4, len(every))))
        unit = rng.randrange(1, prime)
        units.add(unit)

        def lifted(
            factors, unit=unit
        ):  # some polynomial with whole coefficients that is the product modulo the prime
            return tuple(unit * c + prime * rng.randint(-3, 3) for c in product(factors, prime))

        expected = tuple(sorted(len(factor) - 1 for factor in factors))
        assert factor_degrees(lifted(factors), prime) == expected
        assert factor_degrees(lifted([*factors, factors[0]]), prime) is None
    assert len(units) == prime - 1


@pytest.mark.parametrize("number", [-3, 0, 1, 9, 91])
def test_a_number_that_is_no_prime_is_refused(number):
    with pytest.raises(ValueError, match=f"prime: found {number}, expected a prime"):
        factor_degrees((1, 0, 1), number)


def test_degrees_of_rational_factors():
    assert possible_degrees([(2, 2), (1, 3)]) == {0, 4}
    assert possible_degrees([(2, 2), (1, 1, 2)]) == {0, 2, 4}
    with pytest.raises(ValueError, match="types: found none"):
        possible_degrees([])


@pytest.mark.parametrize(
    ("types", "symmetric"),
    [
        ([(5,), (1, 1, 1, 2)], True),
        ([(5,), (2, 3)], True),
        ([(5,), (1, 1, 3)], False),
        ([(4,), (1, 1, 2)], False),  # the symmetries of a square
        ([(4,), (1, 3), (1, 1, 2)], True),
        ([(1, 1, 1, 2)], False),
    ],
)
def test_cycle_types_that_leave_no_smaller_group(types, symmetric):
    assert forces_symmetric(types) is symmetric
