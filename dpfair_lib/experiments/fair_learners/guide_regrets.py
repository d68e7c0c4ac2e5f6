"""Tests of the guide's regrets: beside the best of all methods, which is looked up on the same splits.

Which test is valid was derived before any of these was run on the records.

*What is tested.* Let method j have mean loss μ_j on new rows of a data set, and let the rule tell c, from other data.
The regret μ_c − min μ_j is positive if and only if μ_c > μ_j for *some* j. So "no regret" is the intersection of the
m − 1 hypotheses μ_c ≤ μ_j. It may be rejected if one of these is, at a level that counts all m − 1.

*The winner's test is not valid.* The best is the j with the least mean on the same splits. Its test alone is one of
m − 1 tests that was picked for a large difference. Its p can be too small by a factor of up to m − 1, and Holm's steps
over the regrets do not mend that: they count regrets, not the methods among which each winner was picked.

*What is valid.* The least p of all m − 1, times m − 1: by Bonferroni's inequality, whatever the losses have to do with
each other, and whatever the means are, whenever each test alone is valid. Each alone is exactly Student's t if the
losses of the splits are jointly normal, equal in distribution, and any two have correlation ρ with ρ / (1 − ρ) the
ratio of test to training rows: mean and deviations are then independent, and the mean's variance is that of the
correction. `turned` computes the exact p of the largest t under the same law where all means are equal, which
Bonferroni only bounds.

*Why not halves.* To pick the best on half of the splits and test it on the other half is valid for independent halves.
But splits of the same rows share what is common to these rows, and it is picked, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib.experiments.fair_learners import summary

OVERLAP = summary.OVERLAP
Found = Mapping[str, Mapping[str, pd.DataFrame]]
"""Data set → name of a method → its rows."""
Test = Callable[[np.ndarray], Any]
"""Losses, splits × methods, the one told first → p; any axes before these two are kept."""


class Contest(NamedTuple):
    """What a rule told on one data set for one question, beside all others.

    Attributes
    ----------
    question : tuple
        Situation, notion and ε.
    data : str
        The data set.
    names : list of str
        Methods; the first is the one told.
    losses : ndarray of shape (splits, methods)
        In the order of the names.
    """

    question: Any
    data: str
    names: list[str]
    losses: np.ndarray


def contest(question: Any, data: str, here: Mapping[str, pd.DataFrame], told: str) -> Contest:
    """Return one contest: losses for the notion of a question, with the method told first.

    Parameters
    ----------
    question : tuple
        Situation, notion and ε.
    data : str
        The data set.
    here : mapping
        Method → its rows there.
    told : str
        Which method was told.
    """
    names = [told, *(name for name in here if name != told)]
    losses = np.column_stack([summary.loss(here[name], question[1]) for name in names])
    return Contest(question, data, names, losses)


def contests(asked: Mapping[Any, Found], told_by: summary.Rule) -> list[Contest]:
    """Return a contest for each question and data set, told by the other data sets.

    Parameters
    ----------
    asked : mapping
        From `guide.questions`; two data sets or more.
    told_by : callable
        The rule.
    """
    return [
        contest(one, data, here, told_by({name: its for name, its in found.items() if name != data}, one[1]))
        for one, found in asked.items()
        for data, here in found.items()
    ]


def single(losses: np.ndarray) -> np.ndarray:
    """Return p of each test alone, that the method told is no worse than another, by the corrected t.

    Parameters
    ----------
    losses : ndarray of shape (..., splits, methods)
        The one told first.
    """
    from scipy.stats import t

    difference = losses[..., :1] - losses[..., 1:]
    count, mean, deviation = difference.shape[-2], difference.mean(axis=-2), difference.std(axis=-2, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = mean / (deviation * (1 / count + OVERLAP) ** 0.5)
    return np.where(deviation == 0, mean <= 0, t.sf(ratio, count - 1))


def beside_all(losses: np.ndarray) -> np.ndarray:
    """Return p of no regret: the least p of all others, times their number.

    Parameters
    ----------
    losses : ndarray of shape (..., splits, methods)
        The one told first, and one other or more.
    """
    p = single(losses)
    return np.minimum(p.min(axis=-1) * p.shape[-1], 1.0)


def at_least(losses: np.ndarray, level: float) -> float:
    """Return the lower end of the one-sided interval of a regret: positive if and only if p of no regret is below α.

    Parameters
    ----------
    losses : ndarray of shape (splits, methods)
        The one told first.
    level : float
        Confidence 1 − α.
    """
    from scipy.stats import t

    difference = losses[:, :1] - losses[:, 1:]
    count, others = difference.shape
    error = difference.std(axis=0, ddof=1) * (1 / count + OVERLAP) ** 0.5
    return float((difference.mean(axis=0) - t.isf((1 - level) / others, count - 1) * error).max())


def beside_winner(losses: np.ndarray) -> np.ndarray:
    """Return p of the test beside the method of least mean alone, as if it had not been picked: too small.

    Parameters
    ----------
    losses : ndarray of shape (..., splits, methods)
        The one told first, and one other or more.
    """
    means = losses.mean(axis=-2)
    best = means[..., 1:].argmin(axis=-1)[..., None]
    p = np.take_along_axis(single(losses), best, axis=-1)[..., 0]
    return np.where(means.min(axis=-1) < means[..., 0], p, 1.0)


def on_halves(losses: np.ndarray) -> np.ndarray:
    """Return p on the second half of the splits beside the method that was best on the first half: too small, too.

    Parameters
    ----------
    losses : ndarray of shape (..., splits, methods)
        The one told first, and one other or more; four splits or more.
    """
    half = losses.shape[-2] // 2
    best = losses[..., :half, 1:].mean(axis=-2).argmin(axis=-1)[..., None]
    return np.take_along_axis(single(losses[..., half:, :]), best, axis=-1)[..., 0]


def directions(draws: int, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Return directions in as many dimensions as there are splits, each uniform on the sphere.

    Parameters
    ----------
    draws, splits : int
        How many.
    rng : numpy.random.Generator
        Draws them.
    """
    drawn = rng.normal(size=(draws, splits))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def turned(losses: np.ndarray, directions: np.ndarray) -> float:
    """Return p of the largest t of all others, exact where all are equal and the losses are normal.

    Divide the mean by the factor that the overlap makes its deviation larger. Then the rows are independent, and any
    rotation of the splits has the same law. Of a rotation only the direction u that it gives the mean counts: the
    largest t is that of the largest product of u and a difference of length 1.

    Parameters
    ----------
    losses : ndarray of shape (splits, methods)
        The one told first.
    directions : ndarray of shape (draws, splits)
        From the function of this name; the observed one counts as one more, so p is at least 1 / (draws + 1).
    """
    difference = losses[:, :1] - losses[:, 1:]
    count, mean = len(difference), difference.mean(axis=0)
    rows = difference - mean + mean / (1 + count * OVERLAP) ** 0.5
    length = np.linalg.norm(rows, axis=0)
    units = rows[:, length > 0] / length[length > 0]
    if not units.size:
        return 1.0
    seen = (units.sum(axis=0) / count**0.5).max()
    as_large = int(((directions @ units).max(axis=1) >= seen - 1e-12).sum())
    return (1 + as_large) / (1 + len(directions))


def equal_losses(centred: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return normal losses of equal means, with the recorded covariance of methods.

    Parameters
    ----------
    centred : ndarray of shape (splits, methods)
        Recorded losses minus the mean of each method.
    weights : ndarray of shape (..., splits, splits)
        From `overlapping`.
    """
    return weights @ centred / (len(centred) - 1) ** 0.5


def overlapping(draws: int, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Return standard normal numbers, draws × splits × splits; two splits of one draw have the correlation of overlap.

    Parameters
    ----------
    draws, splits : int
        How many.
    rng : numpy.random.Generator
        Draws them.
    """
    shared = OVERLAP / (1 + OVERLAP)
    common, own = rng.normal(size=(draws, 1, splits)), rng.normal(size=(draws, splits, splits))
    return shared**0.5 * common + (1 - shared) ** 0.5 * own


def false_rejections(
    judged: Sequence[Contest],
    tests: Mapping[str, Test],
    *,
    level: float,
    draws: int,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return how often a test, corrected for the number of contests, finds a regret although all methods are equal.

    Holm's first step rejects the least p; so some regret is significant if and only if that one is. Contests of one
    data set share their splits, as recorded.

    Parameters
    ----------
    judged : sequence of Contest
        Whose covariances are taken; the means are made equal.
    tests : mapping
        Name → test.
    level : float
        Confidence of all contests together.
    draws : int
        How many repetitions of the whole record are drawn.
    rng : numpy.random.Generator
        Draws them.
    """
    weights: dict[str, np.ndarray] = {}
    least = {name: np.ones(draws) for name in tests}
    for one in judged:
        if one.data not in weights:
            weights[one.data] = overlapping(draws, len(one.losses), rng)
        drawn = equal_losses(one.losses - one.losses.mean(axis=0), weights[one.data])
        for name, test in tests.items():
            least[name] = np.minimum(least[name], test(drawn))
    return {name: float((p <= (1 - level) / len(judged)).mean()) for name, p in least.items()}
