"""Summary of private and fair learners: tables by protection, where nothing clever is best, and a rule from the record.

A method stands at the setting of its dial that other data chose for the notion. Its *loss* is error plus gap: one
number, so that one method can be called best. Error and gap also stand alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib.experiments.fair_learners.bases import ATTRIBUTE, PRESENT, RECORD
from dpfair_lib.experiments.fair_learners.methods import METHODS, PLAIN
from dpfair_lib.experiments.fair_learners.trials import CONSTANT, FAIR, OPEN
from dpfair_lib.experiments.intervals import mean_interval

OVERLAP = 1 / 4
"""Test rows over training rows, for intervals that speak of rows not yet seen from the same source."""
PROTECTIONS = RECORD, PRESENT, ATTRIBUTE
NOTHING_CLEVER = CONSTANT, PLAIN
"""What does nothing about fairness."""
Dials = Mapping[tuple[str, str, float], float | None]
"""From `settings.dials`."""
Rule = Callable[[Mapping[str, Mapping[str, pd.DataFrame]], str], str]
"""What is recorded, and which gap counts → the name of a method."""


class Case(NamedTuple):
    """A question: under which protection, for which notion, at which ε."""

    protection: str
    notion: str
    level: float


def method_rows(
    rows: pd.DataFrame,
    protection: str,
    method: str,
    level: float | None,
    dial: float | None,
    notion: str = "",
) -> pd.DataFrame:
    """Return the rows of one method at one ε and one setting of its dial, indexed by split.

    Parameters
    ----------
    rows : DataFrame
        From `trials.run_trial`, of one data set.
    protection, method : str
        Which method.
    level, dial : float or None
        ε, and the setting.
    notion : str
        For what has no privacy, which is fitted for each notion.

    Raises
    ------
    ValueError
        If there are none, or a split has two.
    """
    kept = (rows["protection"] == protection) & (rows["method"] == method)
    for name, value in (("level", level), ("dial", dial)):
        kept &= rows[name].isna() if value is None else rows[name] == value
    if notion:
        kept &= rows["notion"] == notion
    found = rows[kept].set_index("split").sort_index()
    if found.empty or found.index.has_duplicates:
        raise ValueError(
            f"method: found {len(found)} rows of {method} ({protection}, ε = {level}, dial {dial}), expected one for "
            "every split"
        )
    return found


def candidates(rows: pd.DataFrame, dials: Dials, case: Case) -> dict[str, pd.DataFrame]:
    """Return what may be used in a case: name → its rows, at the settings that other data chose.

    Every method of the protection; the constant; and under the protection of the attribute the classifier that has not
    seen it.

    Parameters
    ----------
    rows : DataFrame
        Of one data set.
    dials : mapping
        For that data set and the notion.
    case : Case
        Which.
    """
    found = {CONSTANT: method_rows(rows, OPEN, CONSTANT, None, None)}
    if case.protection == ATTRIBUTE:
        found[PLAIN] = method_rows(rows, OPEN, PLAIN, None, None)
    for method in METHODS:
        if method.protection == case.protection:
            key = (method.protection, method.name, case.level)
            found[method.name] = method_rows(rows, *key, dials[key])
    return found


def references(rows: pd.DataFrame, notion: str) -> dict[str, pd.DataFrame]:
    """Return what has no privacy: logistic regression, and the same after fair post-processing with no gap allowed."""
    return {
        "no privacy": method_rows(rows, OPEN, PLAIN, None, None),
        FAIR: method_rows(rows, OPEN, FAIR, None, 0.0, notion),
    }


def loss(rows: pd.DataFrame, notion: str) -> pd.Series:
    """Return error plus gap, indexed by split."""
    return rows["error"] + rows[notion]


def interval(values: pd.Series, level: float) -> tuple[float, float]:
    """Return mean and half-width, for new rows of the same source (Nadeau and Bengio's correction)."""
    return mean_interval(values, level=level, test_to_train=OVERLAP)


def best_of(found: Mapping[str, pd.DataFrame], notion: str) -> str:
    """Return the name with the least mean loss; the first of equals."""
    means = {name: float(loss(rows, notion).mean()) for name, rows in found.items()}
    return min(means, key=means.__getitem__)


def table(rows: pd.DataFrame, dials: Dials, case: Case, *, level: float = 0.95) -> pd.DataFrame:
    """Return a line for each method of a case, and for what has no privacy.

    Parameters
    ----------
    rows, dials, case
        As for `candidates`.
    level : float
        Confidence of each interval alone.

    Returns
    -------
    DataFrame
        By method: ``dial``; mean and half-width of ``error, parity, opportunity, odds`` as pairs; ``loss``, the mean
        for the notion; ``seconds``, the median; ``private``, whether it may be used in the case.
    """
    usable = candidates(rows, dials, case)
    lines = {}
    for name, found in {**usable, **references(rows, case.notion)}.items():
        lines[name] = {
            "dial": found["dial"].iloc[0],
            **{key: interval(found[key], level) for key in ("error", "parity", "opportunity", "odds")},
            "loss": float(loss(found, case.notion).mean()),
            "seconds": float(found["seconds"].median()),
            "private": name in usable,
        }
    return pd.DataFrame(lines).T.rename_axis("method")


class Verdict(NamedTuple):
    """How a method fares beside the best that does nothing clever.

    Attributes
    ----------
    method, simple : str
        The method, and the one of `NOTHING_CLEVER` with the least mean loss.
    difference, half_width : float
        Paired, of the losses: the method's minus the other's.
    verdict : str
        "better", "worse" or "not apart".
    """

    method: str
    simple: str
    difference: float
    half_width: float
    verdict: str


def against_nothing_clever(found: Mapping[str, pd.DataFrame], notion: str, *, level: float) -> list[Verdict]:
    """Compare each method with the best of those that do nothing about fairness.

    Parameters
    ----------
    found : mapping
        From `candidates`.
    notion : str
        Which gap counts.
    level : float
        Confidence of each interval; correct it for their number.
    """
    simple = best_of({name: found[name] for name in NOTHING_CLEVER if name in found}, notion)
    verdicts = []
    for name, rows in found.items():
        if name not in NOTHING_CLEVER:
            mean, half = interval(loss(rows, notion) - loss(found[simple], notion), level)
            word = "better" if mean + half < 0 else "worse" if mean - half > 0 else "not apart"
            verdicts.append(Verdict(name, simple, mean, half, word))
    return verdicts


def rule(found: Mapping[str, Mapping[str, pd.DataFrame]], notion: str) -> str:
    """Return the method that the record recommends in a case: the least mean loss, each data set counting once.

    Parameters
    ----------
    found : mapping
        Data set → what `candidates` gives for it.
    notion : str
        Which gap counts.

    Raises
    ------
    ValueError
        If there is no data set.
    """
    if not found:
        raise ValueError("found: found no data set, expected one or more to derive the rule from")
    names = list(next(iter(found.values())))
    means = {name: sum(float(loss(rows[name], notion).mean()) for rows in found.values()) for name in names}
    return min(means, key=means.__getitem__)


def regrets(
    found: Mapping[str, Mapping[str, pd.DataFrame]], notion: str, *, level: float, told_by: Rule = rule
) -> pd.DataFrame:
    """Judge a rule on each data set, derived from the others: beside the best of all methods there.

    Parameters
    ----------
    found : mapping
        Data set → what `candidates` gives for it; two data sets or more.
    notion : str
        Which gap counts.
    level : float
        Confidence of each interval, alone.
    told_by : callable
        The rule.

    Returns
    -------
    DataFrame
        By data set: ``told``, what the other data sets recommend; ``best``, what is best here, looked up afterwards;
        ``regret`` and ``half_width`` of the losses; ``p`` of the paired one-sided test beside that best alone. It
        does not know that the best was picked on the same splits, so it is too small; `guide.judged` has a valid one.
    """
    lines = {}
    for data, here in found.items():
        told = told_by({name: rows for name, rows in found.items() if name != data}, notion)
        best = best_of(here, notion)
        difference = loss(here[told], notion) - loss(here[best], notion)
        mean, half = interval(difference, level)
        lines[data] = {
            "told": told,
            "best": best,
            "regret": mean,
            "half_width": half,
            "p": paired_p(difference),
        }
    return (
        pd.DataFrame(lines).T.rename_axis("data").astype({"regret": float, "half_width": float, "p": float})
    )


def paired_p(difference: pd.Series) -> float:
    """Return p of the one-sided test of a mean difference of at most 0, by the same corrected t as `interval`.

    Parameters
    ----------
    difference : Series
        One number for each split. If all are equal, p is 0 for a positive number and 1 for others.
    """
    from scipy.stats import t

    mean, deviation = float(difference.mean()), float(difference.std(ddof=1))
    if deviation == 0:
        return float(mean <= 0)
    return float(t.sf(mean / (deviation * (1 / len(difference) + OVERLAP) ** 0.5), len(difference) - 1))


def holm(p: pd.Series) -> pd.Series:
    """Return p corrected for the number of tests, by Holm's steps: what is at most α there holds together at 1 − α.

    Parameters
    ----------
    p : Series
        One p for each test; the index is kept.
    """
    ordered = p.sort_values(kind="stable")
    steps = (ordered * np.arange(len(ordered), 0, -1)).clip(upper=1).cummax()
    return steps.reindex(p.index)


def front(rows: pd.DataFrame, protection: str, method: str, level: float, notion: str) -> pd.DataFrame:
    """Return mean error and gap of a method at every setting of its dial; one line for a method without a dial."""
    kept = rows[(rows["protection"] == protection) & (rows["method"] == method) & (rows["level"] == level)]
    return kept.groupby("dial", dropna=False)[["error", notion]].mean().reset_index()
