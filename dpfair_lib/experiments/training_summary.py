"""What the trials of Figures 5.1–5.10 show: means with intervals, and contrasts on the same splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib.experiments.intervals import mean_interval

MEASURES = ("accuracy", "f1", "parity", "opportunity")
GAPS = ("parity", "opportunity")
OVERLAP = 1 / 4  # test rows over training rows


class Configuration(NamedTuple):
    """What was trained: data and attribute, a method, and its ε, None where it has none."""

    setting: str
    method: str
    epsilon: float | None = None


Terms = Sequence[tuple[float, Configuration]]  # weights and what they weigh


def trials_of(rows: pd.DataFrame, configuration: Configuration) -> pd.DataFrame:
    """Return one configuration's trials, a line per seed.

    Parameters
    ----------
    rows : DataFrame
        Of `randomised_training.run_trial`.
    configuration : Configuration
        Which.

    Raises
    ------
    ValueError
        If a seed has no such trial, or two.
    """
    setting, method, epsilon = configuration
    here = rows[rows["setting"] == setting]
    level = here["epsilon"].isna() if epsilon is None else here["epsilon"] == epsilon
    found = here[level & (here["method"] == method)].set_index("seed").sort_index()
    if found.empty or found.index.tolist() != sorted(set(here["seed"])):
        raise ValueError(f"rows: found {len(found)} trials of {configuration}, expected one for each seed")
    return found


class Contrast(NamedTuple):
    """A mean; the half-width of its interval over splits of these rows, and for rows not yet seen."""

    mean: float
    half_width: float
    half_width_new_data: float


def contrast(rows: pd.DataFrame, measure: str, terms: Terms, *, comparisons: int = 1) -> Contrast:
    """Return the weighted sum of a measure over configurations, seed by seed: what splits share cancels.

    Parameters
    ----------
    rows : DataFrame
        Of `randomised_training.run_trial`; a seed splits the rows of a data set in one way, whatever the attribute.
    measure : str
        One of `MEASURES`.
    terms : sequence of pairs
        Weights and configurations of one data set; weights 1 and −1 give a difference.
    comparisons : int
        How many contrasts are to hold together by 95 %.

    Returns
    -------
    Contrast
        Mean and half-widths.
    """
    values = sum(weight * trials_of(rows, named)[measure] for weight, named in terms)
    level = 1 - 0.05 / comparisons
    mean, half = mean_interval(np.asarray(values), level=level)
    return Contrast(mean, half, mean_interval(np.asarray(values), level=level, test_to_train=OVERLAP)[1])


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
