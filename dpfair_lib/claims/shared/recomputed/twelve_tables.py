"""The means of the recorded trials behind Tables II–XIII, taken a second time, from scratch."""

from __future__ import annotations

import math
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from dpfair_lib.experiments.isit.twelve_tables_records import DATA, recorded, test_sizes

TRIALS = 100
RATES = ("accuracy", "rate_0", "rate_1")
NAMED = ["setting", "accountant", "method", "target", "strength", "split", *RATES]
NAMED += [f"drawn_{name}" for name in RATES]


@cache
def _lines(fresh: bool) -> dict[tuple[Any, ...], list[dict[Hashable, Any]]]:
    found: dict[tuple[Any, ...], list[dict[Hashable, Any]]] = {}
    for data in DATA:
        for row in recorded(data, fresh)[0][NAMED].to_dict("records"):
            named = (row["target"], row["strength"])
            key = (
                data,
                row["setting"],
                row["accountant"],
                row["method"],
                *(None if x != x else x for x in named),
            )
            found.setdefault(key, []).append(row)
    return {key: sorted(rows, key=lambda row: row["split"]) for key, rows in found.items()}


@cache
def exact_trials(*key: Any, fresh: bool = False, drawn: bool = True) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return accuracy and gap of every trial as exact decimals, of the draw where one was made and is wanted.

    Parameters
    ----------
    *key
        Data set, setting, accountant, method, ε′ and λ, the last two None where there are none.
    fresh : bool
        Whether test rows were redrawn.
    drawn : bool
        Whether to take the one draw of the flips, or what is exact over them.
    """
    return tuple(
        (accuracy, abs(first - second))
        for accuracy, first, second in exact_rates(*key, fresh=fresh, drawn=drawn)
    )


@cache
def exact_rates(*key: Any, fresh: bool = False, drawn: bool = True) -> list[tuple[Fraction, ...]]:
    """Return accuracy and the two selection rates of every trial, as `exact_trials` does."""
    done = []
    for row in _lines(fresh)[key]:
        prefix = "drawn_" if drawn and row["drawn_accuracy"] == row["drawn_accuracy"] else ""
        # by Decimal the digits are read three times as fast
        done.append(tuple(Fraction(Decimal(str(row[f"{prefix}{name}"]))) for name in RATES))
    return done


@cache
def exact_summary(at: int, *key: Any, fresh: bool = False) -> tuple[Fraction, Fraction]:
    """Return mean and variance over the trials of accuracy (0) or gap (1)."""
    return exact_moments([trial[at] for trial in exact_trials(*key, fresh=fresh)])


def strengths(data: str, setting: str, epsilon: float, *, fresh: bool = False) -> list[float]:
    """Return the λ that were run, sorted."""
    kind = (data, setting, "DP-FERMI", epsilon)
    return sorted(key[5] for key in _lines(fresh) if (key[0], key[1], key[3], key[4]) == kind)


def exact_moments(values: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return mean and variance (ddof 1), from sums of whole numbers over a common denominator."""
    n, one = len(values), math.lcm(*(value.denominator for value in values))
    whole = [value.numerator * (one // value.denominator) for value in values]
    total, squares = sum(whole), sum(value**2 for value in whole)
    return Fraction(total, n * one), Fraction(n * squares - total**2, n * (n - 1) * one**2)


@cache
def exact_share(data: str, *key: Any) -> tuple[Fraction, Fraction]:
    """Return the sums over the trials of the variance by chance and of the squared gap."""
    sizes = test_sizes(data)
    variance = square = Fraction(0)
    for _, first, second in exact_rates(data, *key):
        pooled = (sizes[0] * first + sizes[1] * second) / sum(sizes)
        variance += pooled * (1 - pooled)
        square += (first - second) ** 2
    return variance * (Fraction(1, sizes[0]) + Fraction(1, sizes[1])), square
