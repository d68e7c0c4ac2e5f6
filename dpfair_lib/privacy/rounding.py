"""Outward rounding: stated ε and δ are rounded up, scales of noise are rounded up.

Floats are exact numbers, and their sums, products and quotients are exact as `Fraction`. Each result is rounded once,
in the direction that overstates the cost of a release. `math.exp` and `math.log` are assumed to err by less than one
unit in the last place, as in every current C library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral
from typing import Any


def above(value: Fraction | int) -> float:
    """Return the smallest float that is at least an exact number; infinity beyond the largest finite one."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def float_above(value: Any) -> float:
    """Return the smallest float that is at least a number of any kind: Python's, NumPy's, a fraction, infinity."""
    if isinstance(value, float) or math.isinf(value):
        return float(value)
    # NumPy's integers have no ratio, and its floats are no fractions
    return above(Fraction(int(value)) if isinstance(value, Integral) else Fraction(*value.as_integer_ratio()))


def below(value: Fraction | int) -> float:
    """Return the largest float that is at most an exact number."""
    return -above(-value) or 0.0  # not minus zero


def sum_above(values: Iterable[float]) -> float:
    """Return the smallest float that is at least the exact sum of some floats; infinite if one of them is."""
    numbers = list(values)
    if any(map(math.isinf, numbers)):
        return math.fsum(numbers)
    return above(sum(map(Fraction, numbers), Fraction(0)))


def product_above(*factors: float) -> float:
    """Return the smallest float that is at least the exact product of some floats of at least 0."""
    if any(map(math.isinf, factors)):
        return math.prod(factors)
    return above(math.prod(map(Fraction, factors), start=Fraction(1)))


def quotient_above(numerator: Any, denominator: Any) -> float:
    """Return the smallest float that is at least a quotient of two positive finite numbers."""
    return above(Fraction(numerator) / Fraction(denominator))


def noise_scale(sensitivity: Any, epsilon: float) -> float:
    """Return the smallest float b with Δ/b ≤ ε, exactly.

    Parameters
    ----------
    sensitivity : number
        Δ > 0; a `Fraction` is taken exactly.
    epsilon : float
        ε > 0.

    Returns
    -------
    float
        The scale of Laplace or discrete Laplace noise. ``sensitivity / epsilon`` rounds to nearest, and where that is
        down, the noise of that scale costs up to 1.2e-16 more than ε, relatively.

    Raises
    ------
    ValueError
        If there is no such float: ε is too small.
    """
    scale = quotient_above(sensitivity, epsilon)
    if math.isinf(scale):
        raise ValueError(f"epsilon: found {epsilon}, for which no float can hold the scale of the noise")
    return scale


def log_above(ratio: Any) -> float:
    """Return a float that is at least the logarithm of a ratio of at least 1, and at most four roundings above it."""
    if ratio == math.inf:
        return math.inf
    if ratio < 2:
        # the difference is exact for a Fraction, and for floats from 1 to 2
        return _up(math.log1p(above(Fraction(ratio) - 1)))
    near = above(Fraction(ratio))
    # of a whole number math.log knows the logarithm beyond the largest float, too
    return _up(math.log(near)) if near < math.inf else _up(_up(math.log(math.ceil(ratio))))


def log_below(probability: float) -> float:
    """Return a float that is at most the logarithm of a positive number of at most 1, by four roundings or fewer."""
    return -log_above(1 / Fraction(probability))


def exp_above(exponent: float) -> float:
    """Return a float that is at least e to a power; infinity where no finite float is."""
    if exponent in (0, -math.inf):
        return 0.0 if exponent else 1.0
    try:
        return _up(math.exp(exponent))
    except OverflowError:
        return math.inf


def exp_below(exponent: float) -> float:
    """Return a float of at least 0 that is at most e to a power."""
    if exponent == 0:
        return 1.0
    try:
        return max(math.nextafter(math.nextafter(math.exp(exponent), -math.inf), -math.inf), 0.0)
    except OverflowError:
        return math.nextafter(math.inf, 0)


def two_levels(epsilon: float, favoured: int, others: int) -> tuple[float, float]:
    """Return the probabilities of outcomes of two kinds, whose ratio as floats is at most e^ε, exactly.

    Parameters
    ----------
    epsilon : float
        ε ≥ 0; infinity gives the others the probability 0.
    favoured, others : int
        How many outcomes are e^ε times as likely as the others, and how many others there are.

    Returns
    -------
    float, float
        e^ε / (f·e^ε + o) rounded down and 1 / (f·e^ε + o) rounded up; the nearest of both where ε is too small for
        floats to distinguish them. Together they sum to 1 up to rounding.
    """
    x = Fraction(exp_above(-epsilon))
    high, low = below(1 / (favoured + x * others)), above(x / (favoured + x * others))
    return (high, low) if low < high else (1 / (favoured + others),) * 2


def raised(value: float, size: float = 0.0) -> float:
    """Return a float above a computed one by eight roundings of it and of the largest number on the way to it."""
    return math.nextafter(value + 2.0**-49 * max(abs(value), abs(size)), math.inf)


def lowered(value: float, size: float = 0.0) -> float:
    """Return a float below a computed one by as much."""
    return -raised(-value, size)


def convolution_error(steps: int) -> float:
    """Return more than δ can be wrong by after that many convolutions by Fourier transforms.

    A transform errs by a rounding or so, relatively, and its T-th power by T times as much. Against the exact profile
    of Gaussian noise, up to 10⁷ steps, the error was seen to grow so, and never to exceed half of this.
    """
    return steps * 2.0**-52


def _up(value: float) -> float:
    # one step for the error of the C library's function, one for that of its argument where it was rounded
    return math.nextafter(math.nextafter(value, math.inf), math.inf)
