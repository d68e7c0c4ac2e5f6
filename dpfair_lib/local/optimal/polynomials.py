"""Polynomials with whole coefficients: real roots, factors modulo primes, and what these say of the Galois group."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

Coefficients = tuple[int, ...]
"""Of 1, t, t², and so on; the last one is not 0."""


def value_at(coefficients: Sequence[Any], at: Any) -> Any:
    """Return the polynomial's value."""
    total = 0 * at
    for coefficient in reversed(coefficients):
        total = total * at + coefficient
    return total


def interpolated(points: Sequence[Any], values: Sequence[Any]) -> list[Fraction]:
    """Return the coefficients of the polynomial through these points, one more than its degree at least."""
    differences, total = [Fraction(value) for value in values], [Fraction(0)]
    for order in range(1, len(points)):  # divided differences
        for i in range(len(points) - 1, order - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (points[i] - points[i - order])
    for i in range(len(points) - 1, -1, -1):  # Horner's rule in Newton's form
        moved = [Fraction(0), *total]
        total = [a - points[i] * b for a, b in zip(moved, [*total, Fraction(0)], strict=True)]
        total[0] += differences[i]
    return trimmed(total)


def trimmed(coefficients: Sequence[Any]) -> list[Any]:
    """Return them without zeros at the end."""
    kept = list(coefficients)
    while kept and not kept[-1]:
        kept.pop()
    return kept


def primitive(coefficients: Sequence[Fraction]) -> Coefficients:
    """Return the multiple with whole coprime coefficients, the last one positive."""
    unit = math.lcm(*(value.denominator for value in coefficients))
    whole = [int(value * unit) for value in coefficients]
    common = math.gcd(*whole) * (-1 if whole[-1] < 0 else 1)
    return tuple(value // common for value in whole)


def distinct_roots(coefficients: Coefficients, low: Fraction, high: Fraction) -> int:
    """Return how many different real roots lie in (low, high], by Sturm's theorem."""
    chain: list[list[Fraction]] = [[Fraction(c) for c in coefficients]]
    chain.append([i * c for i, c in enumerate(chain[0])][1:])
    while chain[-1]:
        chain.append([-c for c in _remainder(chain[-2], chain[-1])])

    def changes(at: Fraction) -> int:
        signs = [value > 0 for value in (value_at(one, at) for one in chain[:-1]) if value != 0]
        return sum(a != b for a, b in zip(signs[1:], signs, strict=False))

    return changes(low) - changes(high)


def _remainder(number: list[Fraction], divisor: list[Fraction]) -> list[Fraction]:
    left = list(number)
    while len(left) >= len(divisor):
        factor, shift = left[-1] / divisor[-1], len(left) - len(divisor)
        for i, c in enumerate(divisor):
            left[i + shift] -= factor * c
        left = trimmed(left[:-1])
    return left


def narrowed(
    coefficients: Coefficients, low: Fraction, high: Fraction, digits: int
) -> tuple[Fraction, Fraction]:
    """Halve an interval at whose ends the signs differ until it is no longer than 2 to the power −digits."""
    unit = math.lcm(low.denominator, high.denominator)
    ends = [
        int(low * unit),
        int(high * unit),
    ]  # over the unit; whole numbers are many times as fast as fractions
    upwards = value_at(coefficients, high) > 0
    while (ends[1] - ends[0]) * 2**digits > unit:
        middle, unit = sum(ends), 2 * unit
        ends = [2 * end for end in ends]
        value = _sign_at(coefficients, middle, unit)
        if value == 0:
            return Fraction(middle, unit), Fraction(middle, unit)
        ends[(value > 0) == upwards] = middle
    return Fraction(ends[0], unit), Fraction(ends[1], unit)


def _sign_at(coefficients: Coefficients, number: int, unit: int) -> int:
    """Return a number with the sign of the polynomial's value at a fraction."""
    total, power = 0, 1
    for coefficient in reversed(coefficients):
        total = total * number + coefficient * power
        power *= unit
    return total


def factor_degrees(coefficients: Coefficients, prime: int) -> tuple[int, ...] | None:
    """Return the degrees of the irreducible factors modulo a prime, in increasing order.

    `None` if the prime divides the leading coefficient, or if a factor occurs twice: then they say nothing of the
    rational polynomial. The factors of degree d are those of t^(prime^d) − t that are not among smaller ones.

    Raises
    ------
    ValueError
        If the number is no prime.
    """
    if prime < 2 or any(prime % n == 0 for n in range(2, math.isqrt(prime) + 1)):
        raise ValueError(f"prime: found {prime}, expected a prime number")
    if coefficients[-1] % prime == 0:
        return None
    left = _monic([c % prime for c in coefficients], prime)
    slope = trimmed([i * c % prime for i, c in enumerate(left)][1:])
    if len(_common(left, slope, prime)) > 1:
        return None
    degrees: list[int] = []
    power, d = [0, 1], 0  # t^(prime^d), modulo what is left
    while len(left) - 1 >= 2 * (d + 1):
        d += 1
        power = _power(power, prime, left, prime)
        shifted = [*power, *[0] * (2 - len(power))]
        shifted[1] -= 1
        common = _common(left, trimmed([c % prime for c in shifted]), prime)
        degrees += [d] * ((len(common) - 1) // d)
        left, _ = _divided(left, common, prime)
        power = _divided(power, left, prime)[1]
    if len(left) > 1:  # too short for two factors
        degrees.append(len(left) - 1)
    return tuple(degrees)


def _monic(a: list[int], prime: int) -> list[int]:
    inverse = pow(a[-1], -1, prime)
    return [c * inverse % prime for c in a]


def _divided(a: list[int], b: list[int], prime: int) -> tuple[list[int], list[int]]:
    """Return quotient and remainder modulo a prime; the divisor is monic."""
    left, quotient = list(a), [0] * max(len(a) - len(b) + 1, 0)
    for shift in range(len(a) - len(b), -1, -1):
        quotient[shift] = factor = left[shift + len(b) - 1]
        for i, c in enumerate(b):
            left[i + shift] = (left[i + shift] - factor * c) % prime
    return quotient, trimmed(left)


def _common(a: list[int], b: list[int], prime: int) -> list[int]:
    while b:
        b = _monic(b, prime)
        a, b = b, _divided(a, b, prime)[1]
    return a


def _power(base: list[int], exponent: int, modulus: list[int], prime: int) -> list[int]:
    result = [1]
    for digit in bin(exponent)[2:]:
        for factor in ([result], [result, base])[int(digit)]:
            product = [0] * (len(result) + len(factor))
            for i, a in enumerate(result):
                for j, b in enumerate(factor):
                    product[i + j] += a * b
            result = _divided(trimmed([c % prime for c in product]), modulus, prime)[1]
    return result


def possible_degrees(types: Collection[tuple[int, ...]]) -> set[int]:
    """Return which degrees a rational factor can have, given the degrees of the factors modulo some primes.

    A rational factor is a product of factors modulo each prime. Only 0 and the degree: the polynomial is irreducible.
    """
    possible = None
    for degrees in types:
        sums = {0}
        for d in degrees:
            sums |= {d + s for s in sums}
        possible = sums if possible is None else possible & sums
    if possible is None:
        raise ValueError("types: found none, expected the degrees of the factors modulo at least one prime")
    return possible


def forces_symmetric(types: Collection[tuple[int, ...]]) -> bool:
    """Return whether degrees of factors modulo primes show that the Galois group is that of all permutations.

    Each is the cycle type of a permutation in the group (Dedekind). The group is transitive if the polynomial is
    irreducible. A type with one 2 and odd numbers otherwise has a power that exchanges two roots. A transitive group
    with such an exchange is symmetric if the degree is a prime, or if one root can be fixed and the others turned in
    one cycle.
    """
    n = sum(next(iter(types)))
    irreducible = possible_degrees(types) == {0, n}
    exchange = any(one.count(2) == 1 and all(d % 2 for d in one if d != 2) for one in types)
    prime = n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))
    return irreducible and exchange and (prime or (1, n - 1) in {tuple(sorted(one)) for one in types})
