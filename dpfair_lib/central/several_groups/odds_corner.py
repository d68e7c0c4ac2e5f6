"""The fewest errors with equal true and false positive rates, from the counts of any groups, in closed form.

It is what the linear program of `EqualizedOddsPostprocessor` finds for γ = 0 and limits without slack. Rules give a
group the rates of a parallelogram, of (0, 0), (F, T), (1, 1) and (1 − F, 1 − T). Turned round if T < F, it is bounded
from above by a line through (0, 0) of slope T/F and one through (1, 1) of slope (1 − T)/(1 − F). So what all groups
reach is bounded from above by the flattest of the first and the steepest of the second lines, and has one corner
between the ends. All groups have the same rates, so the errors are linear in them, and one of these three points has
the fewest.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np


class EqualOdds(NamedTuple):
    """A pair of rates, and the rules that give it to every group.

    Attributes
    ----------
    rates : (number, number)
        False and true positive rate of every group.
    errors : number
        Expected number of errors on the counts.
    rule : ndarray of shape (2, |A|)
        P(new label 1 | predicted label, group).
    """

    rates: tuple[Any, Any]
    errors: Any
    rule: np.ndarray


def equal_odds(counts: np.ndarray) -> EqualOdds:
    """Return the rules with equal rates that make the fewest errors.

    Parameters
    ----------
    counts : ndarray of shape (2, |A|, 2)
        Numbers of at least 0, by predicted label, group and true label. A rate without rows is ½.

    Returns
    -------
    EqualOdds
        Exact for `Fraction`. Of points with equally many errors, the corner; else that where everybody is rejected.
    """
    whole = counts.dtype == object
    one: Any = Fraction(1) if whole else 1.0
    rows = counts.sum(axis=0)
    false, true = (
        [one * counts[1, a, y] / rows[a, y] if rows[a, y] > 0 else one / 2 for a in range(len(rows))]
        for y in (0, 1)
    )
    negatives, positives = rows.sum(axis=0)
    corner = _corner(false, true)
    ends = [(one * 0, one * 0), (one, one)]
    wrong = [negatives * f + positives * (1 - t) for f, t in (corner, *ends)]
    at = min(range(3), key=wrong.__getitem__)
    if at > 0:
        rule = np.full((2, len(rows)), ends[at - 1][0])
        return EqualOdds(ends[at - 1], wrong[at], rule)
    f, t = corner
    rule = np.empty((2, len(rows)), dtype=object if whole else float)
    for a, (low, high) in enumerate(zip(false, true, strict=True)):
        kept = (
            (t - f) / (high - low) if high != low else one * 0
        )  # then t = f, and one chance for all will do
        rule[0, a] = f - kept * low
        rule[1, a] = rule[0, a] + kept
    return EqualOdds(corner, wrong[0], rule if whole else np.clip(rule, 0, 1))


def _corner(false: list[Any], true: list[Any]) -> tuple[Any, Any]:
    """Return where the flattest line through (0, 0) meets the steepest one through (1, 1)."""
    pairs = [(f, t) if t >= f else (1 - f, 1 - t) for f, t in zip(false, true, strict=True)]
    if any(f == t for f, t in pairs):  # only equal chances for all are common; the ends are as good
        return pairs[0][0] * 0, pairs[0][0] * 0
    f, t = max(pairs, key=lambda pair: pair[0] / pair[1])
    g, s = max(pairs, key=lambda pair: (1 - pair[1]) / (1 - pair[0]))
    part = (s - g) / (t * (1 - g) - f * (1 - s))
    return part * f, part * t
