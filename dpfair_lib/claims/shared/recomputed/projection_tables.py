"""Summaries of the recorded trials of Tables 5.1–5.4, taken a second time in exact arithmetic."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfair_lib.experiments.thesis.projection_tables_records import trials
from dpfair_lib.experiments.thesis.projection_tables_summary import OPT

AT = {"accuracy": 0, "demographic_parity": 1, "mean_equalized_odds": 2}  # places in what `exact` returns
OPT_KEY = ("OPT", OPT["variant"], OPT["notion"])


@cache
def exact(data: str, *key: Any, splits: int | None = None) -> tuple[tuple[Fraction, ...], ...]:
    """Return accuracy, parity gap and odds gap of every trial as exact decimals, by split.

    Parameters
    ----------
    data : str
        Data set.
    *key
        Method, variant, notion and level, None where there is none.
    splits : int, optional
        How many of the first splits; all by default.
    """
    rows = _lines(data)[key]
    return tuple(
        tuple(Fraction(str(row[name])) for name in ("accuracy", "parity", "odds")) for row in rows[:splits]
    )


@cache
def tolerances(data: str, notion: str) -> tuple[float, ...]:
    """Return the tolerances that were run, sorted."""
    return tuple(sorted({key[3] for key in _lines(data) if key[0] == "Fair Projection" and key[2] == notion}))


@cache
def _lines(data: str) -> dict[tuple[Any, ...], list[dict[Any, Any]]]:
    found: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for row in trials(data).to_dict("records"):
        key = tuple(
            None if row[name] != row[name] or row[name] is None else row[name]
            for name in ("method", "variant", "notion", "level")
        )
        found.setdefault(key, []).append(row)
    return {key: sorted(rows, key=lambda row: row["split"]) for key, rows in found.items()}


def mean(values: list[Fraction]) -> Fraction:
    """Return the mean."""
    return sum(values, Fraction(0)) / len(values)


def variance(values: list[Fraction]) -> Fraction:
    """Return the variance with divisor n − 1."""
    centre = mean(values)
    return sum(((value - centre) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


@cache
def exact_curve(
    data: str, notion: str, divergence: str, splits: int | None
) -> list[tuple[Fraction, Fraction]]:
    """Return the mean (gap, accuracy) at every tolerance."""
    points = []
    for level in tolerances(data, notion):
        found = exact(data, "Fair Projection", divergence, notion, level, splits=splits)
        points.append((mean([trial[AT[notion]] for trial in found]), mean([trial[0] for trial in found])))
    return points


def segment(points: list[tuple[Fraction, Fraction]], wanted: Fraction) -> int:
    """Return the first place where the gap goes from at most to above what is wanted."""
    return next(at for at, (low, high) in enumerate(itertools.pairwise(points)) if low[0] <= wanted < high[0])


@cache
def exact_lead(data: str, notion: str, divergence: str, level: float) -> tuple[float, float, int]:
    """Return OPT's lead at its gap, the standard error, and the number of trials."""
    mine, at_gap = exact(data, *OPT_KEY, level), AT[notion]
    gap = mean([trial[at_gap] for trial in mine])
    points = exact_curve(data, notion, divergence, None)
    low, high = points[(at := segment(points, gap))], points[at + 1]
    slope = (high[1] - low[1]) / (high[0] - low[0])
    weight = (gap - low[0]) / (high[0] - low[0])
    ends = [
        exact(data, "Fair Projection", divergence, notion, tolerance)
        for tolerance in tolerances(data, notion)[at : at + 2]
    ]
    # floats from here on: of the variance nine digits are compared
    own, one, two = (
        np.array([[float(trial[0]), float(trial[at_gap])] for trial in trials_]) @ [1.0, -float(slope)]
        for trials_ in (mine, *ends)
    )
    paired = own - float(1 - weight) * one - float(weight) * two
    lead = mean([trial[0] for trial in mine]) - low[1] - slope * (gap - low[0])
    centred = paired - math.fsum(paired) / len(paired)
    error = math.sqrt(math.fsum(centred**2) / (len(paired) - 1) / len(paired))
    return float(lead), error, len(paired)
