"""Summary of Figures 5.1–5.10: means with intervals, and contrasts on the same splits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib.experiments.intervals import mean_interval
from dpfair_lib.experiments.thesis.randomised_training import SIGNED

MEASURES = ("accuracy", "f1", "parity", "opportunity")
GAPS = ("parity", "opportunity")
ALL_MEASURES = (*MEASURES, *SIGNED)
OVERLAP = 1 / 4  # test rows over training rows


class Configuration(NamedTuple):
    """What was trained: data and attribute, a method, and its ε, None where it has none."""

    setting: str
    method: str
    epsilon: float | None = None


Terms = Sequence[tuple[float, Configuration]]  # weights and what they weigh
Trials = Mapping[tuple[str, Configuration], np.ndarray]


def by_configuration(rows: pd.DataFrame) -> Trials:
    """Return every measure of every configuration that has it, an array over the seeds in ascending order.

    Parameters
    ----------
    rows : DataFrame
        Of `randomised_training.run_trial`.

    Raises
    ------
    ValueError
        If a configuration lacks a seed that another of its setting has, or has it twice.
    """
    found: dict[tuple[str, Configuration], np.ndarray] = {}
    for setting, here in rows.groupby("setting", sort=False):
        seeds = sorted(set(here["seed"]))
        for _, lines in here.groupby(["method", "epsilon"], dropna=False, sort=False):
            method, epsilon = lines["method"].iloc[0], lines["epsilon"].iloc[0]
            named = Configuration(str(setting), method, None if np.isnan(epsilon) else float(epsilon))
            lines = lines.sort_values("seed")
            if lines["seed"].tolist() != seeds:
                raise ValueError(f"rows: found {len(lines)} trials of {named}, expected one for each seed")
            there = [name for name in ALL_MEASURES if name in lines and lines[name].notna().all()]
            found |= {(measure, named): lines[measure].to_numpy(dtype=float) for measure in there}
    return found


class Contrast(NamedTuple):
    """A mean; the half-width of its interval over splits of these rows, and for rows not yet seen."""

    mean: float
    half_width: float
    half_width_new_data: float


def contrast(trials: Trials, measure: str, terms: Terms, *, comparisons: int = 1) -> Contrast:
    """Return the weighted sum of a measure over configurations, seed by seed: what splits share cancels.

    Parameters
    ----------
    trials : mapping
        Of `by_configuration`. A seed splits the rows of a data set in one way, whatever the attribute.
    measure : str
        One of `ALL_MEASURES`.
    terms : sequence of pairs
        Weights and configurations of one data set; weights 1 and −1 give a difference.
    comparisons : int
        How many contrasts are to hold together by 95 %.

    Returns
    -------
    Contrast
        Mean and half-widths.

    Raises
    ------
    ValueError
        If there are no trials of a configuration.
    """
    if lacking := [named for _, named in terms if (measure, named) not in trials]:
        raise ValueError(f"trials: found none of {lacking[0]} for {measure}, expected some")
    values = np.sum([weight * trials[measure, named] for weight, named in terms], axis=0)
    mean, half = mean_interval(values, level=1 - 0.05 / comparisons)
    # as `mean_interval` with ``test_to_train=OVERLAP``
    return Contrast(mean, half, half * math.sqrt(1 + len(values) * OVERLAP))


def means(rows: pd.DataFrame, setting: str, measure: str) -> pd.DataFrame:
    """Return the mean of a measure for every configuration of a setting.

    Parameters
    ----------
    rows : DataFrame
        Of `randomised_training.run_trial`.
    setting, measure : str
        Data and attribute; a column of numbers.

    Returns
    -------
    DataFrame
        ``method, epsilon, mean, half_width``, of the 95 % interval over splits; configurations without the measure are
        left out.
    """
    here = rows[(rows["setting"] == setting) & rows[measure].notna()]
    lines = []
    for (method, epsilon), found in here.groupby(["method", "epsilon"], dropna=False, sort=False):
        mean, half = mean_interval(found[measure].to_numpy())
        lines.append({"method": method, "epsilon": epsilon, "mean": mean, "half_width": half})
    return pd.DataFrame(lines)
