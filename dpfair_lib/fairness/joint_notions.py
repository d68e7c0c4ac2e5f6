"""Which fairness notions can hold together, and how accurate a classifier that satisfies them can be.

Groups have different base rates π_a = P(Y = 1 | A = a). A classifier is described by its true and false positive rates
alone. If the features determine the label, a classifier can have any such rates. So the best accuracies here are
attained in that case, and are upper bounds in every other.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, get_args

import numpy as np

from dpfair_lib.fairness.metrics import largest_difference
from dpfair_lib.fairness.rates import GroupRates

Notion = Literal["parity", "opportunity", "false-positives", "accuracy"]
NOTIONS: tuple[Notion, ...] = get_args(Notion)


def notion_gap(rates: GroupRates, notion: Notion) -> Any:
    """Return by how much a notion is missed: the largest difference of the rates that it wants equal.

    Parameters
    ----------
    rates : GroupRates
        Of the classifier; the last axis is the group's.
    notion : {"parity", "opportunity", "false-positives", "accuracy"}
        Selection rates, true positive rates, false positive rates, or rates of correct predictions.

    Returns
    -------
    float, Fraction or array
        0 where the notion is met.

    Raises
    ------
    ValueError
        If there is no such notion.
    """
    _checked([notion])
    chosen = {
        "parity": rates.selection,
        "opportunity": rates.true_positive,
        "false-positives": rates.false_positive,
        "accuracy": rates.correct,
    }
    return largest_difference(chosen[notion])


def best_rates(share: Any, base: Any, notions: Collection[Notion]) -> GroupRates:
    """Return a most accurate choice of rates among all that meet the notions exactly.

    Parameters
    ----------
    share, base : array of shape (..., k)
        P(A = a), which sums to 1, and P(Y = 1 | A = a) in (0, 1); `Fraction` entries stay exact.
    notions : collection of {"parity", "opportunity", "false-positives", "accuracy"}
        What has to hold; "opportunity" and "false-positives" together are equalized odds.

    Returns
    -------
    GroupRates
        Its ``accuracy`` is the largest that the notions allow.

    Raises
    ------
    ValueError
        If a base rate is not in (0, 1), a share is not positive, or there is no such notion.

    References
    ----------
    Proved in the chapter on the notions of fairness.
    """
    share, base = np.broadcast_arrays(np.asarray(share), np.asarray(base))
    if not ((base > 0) & (base < 1)).all() or not (share > 0).all():
        raise ValueError("base: found a group without one of the labels, expected rates in (0, 1)")
    true_positive, false_positive = _conflicting(share, base, frozenset(_checked(notions)))
    # with equal base rates the perfect classifier meets everything
    agree = base.max(axis=-1, keepdims=True) == base.min(axis=-1, keepdims=True)
    one = base * 0 + 1  # of the type of the entries, so that `Fraction`s stay exact; one - 1 is such a 0
    return GroupRates(
        share, base, np.where(agree, one, true_positive), np.where(agree, one - 1, false_positive)
    )


def best_accuracy(share: Any, base: Any, notions: Collection[Notion]) -> Any:
    """Return the largest accuracy of a classifier that meets the notions exactly.

    Parameters
    ----------
    share, base, notions
        As in `best_rates`.

    Returns
    -------
    float, Fraction or array
        P(Ŷ = Y) of `best_rates`.

    Raises
    ------
    ValueError
        As `best_rates`.
    """
    return best_rates(share, base, notions).accuracy


def _conflicting(share: Any, base: Any, notions: frozenset[Notion]) -> tuple[np.ndarray, np.ndarray]:
    """Return true and false positive rates that are best if the base rates differ."""
    one = base * 0 + 1  # as in `best_rates`
    lowest, highest = base.min(axis=-1, keepdims=True), base.max(axis=-1, keepdims=True)
    overall = (share * base).sum(axis=-1, keepdims=True)
    if "parity" not in notions:
        return one, one - 1
    if "accuracy" in notions:
        # base·(true − ½) = kappa and (1 − base)·(½ − false) = mu, each the same in all groups
        kappa = lowest / 2 if "opportunity" not in notions else 0 * lowest
        mu = (1 - highest) / 2 if "false-positives" not in notions else 0 * lowest
        return one / 2 + kappa / base, one / 2 - mu / (1 - base)
    if notions >= {"opportunity", "false-positives"}:
        constant = np.where(2 * overall >= 1, one, one - 1)
        return constant, constant
    if "opportunity" in notions:
        everyone = np.where(
            2 * overall >= highest, one, one - 1
        )  # true positive rate 1, else nobody selected
        return everyone, (highest - base) / (1 - base) * everyone
    if "false-positives" in notions:  # the mirror image: the two labels exchanged
        true_positive, false_positive = _conflicting(share, 1 - base, frozenset({"parity", "opportunity"}))
        return 1 - false_positive, 1 - true_positive
    # parity alone: the common selection rate is a weighted median of the base rates
    cost = (share[..., None, :] * abs(base[..., None, :] - base[..., :, None])).sum(axis=-1)
    rate = np.take_along_axis(base, cost.argmin(axis=-1, keepdims=True), axis=-1)
    return np.minimum(rate / base, one), np.maximum((rate - base) / (1 - base), one - 1)


def _checked(notions: Collection[Notion]) -> Collection[Notion]:
    unknown = sorted(set(notions) - set(NOTIONS))
    if unknown:
        raise ValueError(f"notions: found {unknown}, expected some of {list(NOTIONS)}")
    return notions
