"""Contrasts of the recorded trials of Figures 5.1–5.10, taken a second time in exact arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.stats import t

from dpfair_lib.claims.shared.recomputed.twelve_tables import exact_moments
from dpfair_lib.experiments.thesis.randomised_training_records import trials
from dpfair_lib.experiments.thesis.randomised_training_sentences import Sentence
from dpfair_lib.experiments.thesis.randomised_training_summary import (
    Configuration,
    Contrast,
    Terms,
)
from dpfair_lib.experiments.thesis.stopped_search import recorded


@cache
def _by_seed(tuned: bool) -> dict[Configuration, pd.DataFrame]:
    """Return the trials of the figures, and those with the channels of the public code, by configuration."""
    rows = pd.concat([trials(tuned=tuned), recorded(tuned=tuned)]).sort_values("seed", kind="stable")
    found = {}
    for named, lines in rows.groupby(["setting", "method", "epsilon"], dropna=False):
        setting, method, level = cast(tuple[str, str, float], named)
        found[Configuration(setting, method, None if math.isnan(level) else level)] = lines
    return found


@cache
def _exact(measure: str, named: Configuration, tuned: bool) -> tuple[Fraction, ...]:
    """Return a measure of a configuration as exact decimals, by seed."""
    return tuple(Fraction(Decimal(str(value))) for value in _by_seed(tuned)[named][measure].tolist())


@cache
def exact_contrast(measure: str, terms: Terms, comparisons: int, *, tuned: bool = False) -> Contrast:
    """Return a contrast from sums of exact decimals."""
    weights = [Fraction(weight).limit_denominator(1000) for weight, _ in terms]
    columns = [_exact(measure, named, tuned) for _, named in terms]
    values = [
        sum((w * x for w, x in zip(weights, row, strict=True)), Fraction(0))
        for row in zip(*columns, strict=True)
    ]
    n, (mean, variance) = len(values), exact_moments(values)
    quantile = float(t.ppf(1 - 0.025 / comparisons, n - 1))
    halves = (quantile * math.sqrt(variance * (Fraction(1, n) + share)) for share in (0, Fraction(1, 4)))
    return Contrast(float(mean), *halves)


def exact_outcome(sentence: Sentence, *, tuned: bool, new_data: bool) -> tuple[str, list[Contrast]]:
    """Return the outcome of a sentence from exact contrasts, by the rule as the chapter words it."""
    count = len(sentence.contrasts)
    found = [exact_contrast(measure, terms, count, tuned=tuned) for measure, terms in sentence.contrasts]
    ends = np.array([(one.mean - one[1 + new_data], one.mean + one[1 + new_data]) for one in found])
    if sentence.kind == "smaller":
        with_it, against = ends[:, 1] < sentence.margin, ends[:, 0] > sentence.margin
    else:
        inside = np.abs(ends).max(axis=1) <= sentence.margin
        outside = np.where(ends[:, 0] * ends[:, 1] > 0, np.abs(ends).min(axis=1), 0) > sentence.margin
        with_it, against = inside, outside
    words: dict[bool, Any] = {True: "contradicted", False: "confirmed" if with_it.all() else None}
    return words[bool(against.any())] or ("in part" if with_it.any() else "not seen"), found
