"""A mean and its half-width as text, with the digits that the interval supports."""

from __future__ import annotations

import math


def digits(half_width: float, *, most: int = 4) -> int:
    """Return to how many decimals a mean with this half-width is worth telling.

    Two digits of the half-width count where its first three are at most 354, else one: the last digit that is told is
    then between a thirty-fifth of the half-width and a third of it.

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

    The half-width is rounded up. No line breaks before or after the sign.

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
    up = math.ceil(half_width * 10**places - 1e-9) / 10**places
    shown = f"{mean:{sign}.{places}f}\xa0±\xa0" + (f"{up:.{places}f}" if half_width else "0")
    return shown.replace("-", "−")
