"""A mean and its half-width as text, with the digits that the interval supports."""

from __future__ import annotations

import math

ROUNDING = 1e-12  # what adding up equal numbers may leave between them
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def digits(half_width: float, *, most: int = 4) -> int:
    """Return how many decimals of a mean with this half-width are worth showing.

    Two digits of the half-width count where its first three are at most 354, else one: a unit of the last digit shown
    is then between a thirty-fifth of the half-width and a third of it.

    Parameters
    ----------
    half_width : float
        Of the interval, at least 0; 0 and what is below the last digit that `most` allows give `most`.
    most : int
        Decimals that are never exceeded, at least 0.

    Raises
    ------
    ValueError
        If the half-width is negative or not finite, or `most` is negative.
    """
    if not 0 <= half_width < math.inf:
        raise ValueError(f"half_width: found {half_width}, expected a finite number of at least 0")
    if most < 0:
        raise ValueError(f"most: found {most}, expected at least 0")
    if half_width == 0:
        return most
    exponent = math.floor(math.log10(half_width))
    leading = round(half_width / 10 ** (exponent - 2))  # 100 to 1000
    return min(max(-exponent + (leading <= 354), 0), most)


def with_interval(mean: float, half_width: float, sign: str = "", *, most: int = 4) -> str:
    """Return a mean and its half-width as text, with the digits that the interval supports (`digits`).

    The half-width is rounded up. No line breaks before or after the sign. A half-width of 0, up to rounding, says that
    all values are equal: that is said in words. A mean that rounds to 0 has no sign.

    Parameters
    ----------
    mean, half_width : float
        As `mean_interval` returns them.
    sign : str
        "+" to show the sign of a positive mean too.
    most : int
        As in `digits`.
    """
    places = digits(half_width, most=most)
    shown = f"{mean:{sign}.{places}f}"
    if float(shown) == 0:
        shown = shown.lstrip("+-")
    if half_width <= ROUNDING * max(1.0, abs(mean)):
        shown = shown if abs(mean) > ROUNDING else "0"
        return f"{shown}\xa0(no\xa0spread)".replace("-", "−")
    up = math.ceil(half_width * 10**places - 1e-9) / 10**places
    return f"{shown}\xa0±\xa0{up:.{places}f}".replace("-", "−")


def in_tens(value: float, figures: int = 3) -> str:
    """Return a number as text: in digits, or with a power of ten (1.13 · 10¹⁹, 10⁻⁵) where these would be many.

    Parameters
    ----------
    value : float
        Any number; infinite ones and "not a number" are named as such.
    figures : int
        Significant digits, at least 1; zeros at the end are dropped.

    Raises
    ------
    ValueError
        If `figures` is less than 1.
    """
    if figures < 1:
        raise ValueError(f"figures: found {figures}, expected at least 1")
    if not math.isfinite(value):
        return "undefined" if math.isnan(value) else "∞" if value > 0 else "−∞"
    mantissa, _, power = f"{value:.{figures - 1}e}".partition("e")
    if value == 0 or -4 < int(power) < 6:
        return f"{float(f'{mantissa}e{power}'):,.10g}".replace("-", "−")
    raised = f"10{str(int(power)).translate(RAISED)}"
    front = f"{float(mantissa):g}"
    shown = {"1": raised, "-1": f"-{raised}"}.get(front, f"{front}\xa0·\xa0{raised}")
    return shown.replace("-", "−")
