"""How the unfairness of labels bounds that of a classifier for two groups, and the role of accuracy.

Consider a classifier that selects as many people as have label 1. If it changes a group's rate by t, it loses at least
t of accuracy in that group, and as many people are classified wrongly in the other. The equation of Kamiran and Calders
says nothing more than this.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def trade_off_weight(share_0: Any) -> Any:
    """Return 2·P(A=0)·P(A=1): the accuracy that one unit of parity gap costs, at the best rate of exchange.

    Parameters
    ----------
    share_0 : number or array
        P(A = 0) in [0, 1].

    References
    ----------
    Kamiran and Calders (2012), Theorem 1: 2n₀n₁/(n₀ + n₁)².
    """
    return 2 * share_0 * (1 - share_0)


def trade_off_excess(accuracy: Any, gap: Any, difference: Any, share_0: Any) -> Any:
    """Return 1 − acc − 2P(A=0)P(A=1)·(Δ′ − gap), which is at least 0 if P(Ŷ = 1) = P(Y = 1).

    A classifier for which it is 0 pays no more accuracy than it has to for its gap, and is DA-optimal in every class
    that keeps P(Ŷ = 1) = P(Y = 1).

    Parameters
    ----------
    accuracy, gap : number or array
        acc and the parity gap of the classifier.
    difference, share_0 : number or array
        Δ′ of the labels, and P(A = 0).

    References
    ----------
    Thesis, App. B, proof of Theorem 15; the inequality is ours.
    """
    return 1 - accuracy - trade_off_weight(share_0) * (difference - gap)


def da_optimal(accuracies: Any, gaps: Any) -> np.ndarray:
    """Return which classifiers of a class no other one dominates.

    One dominates another if it is at least as accurate and has at most its gap, and one of the two is strict.

    Parameters
    ----------
    accuracies, gaps : array of shape (m,)
        Of all the class; `Fraction` entries are compared exactly.

    Returns
    -------
    ndarray of shape (m,), bool

    References
    ----------
    Thesis, Definition 12, after Kamiran and Calders (2012).
    """
    accuracies, gaps = np.asarray(accuracies), np.asarray(gaps)
    comparable = (accuracies == accuracies) & (gaps == gaps)  # NaN neither dominates nor is dominated
    (_, accuracy), (_, gap) = (
        np.unique(values[comparable], return_inverse=True) for values in (accuracies, gaps)
    )
    best = np.full(int(gap.max(initial=-1)) + 1, -1)  # rank of the best accuracy at each gap
    np.maximum.at(best, gap, accuracy)
    of_smaller_gaps = np.concatenate([[-1], np.maximum.accumulate(best)[:-1]])
    optimal = np.ones(len(accuracies), dtype=bool)
    optimal[comparable] = (accuracy == best[gap]) & (accuracy > of_smaller_gaps[gap])
    return optimal


def gap_interval(difference: Any, accuracy: Any, share_0: Any) -> tuple[Any, Any]:
    """Return the parity gaps that a classifier with P(Ŷ = 1) = P(Y = 1) can have: Δ′ ∓ (1 − acc)/(2P(A=0)P(A=1)).

    It holds for every law of labels and every class, and both ends are attained.

    Parameters
    ----------
    difference : number or array
        Δ′ of the labels.
    accuracy : number or array
        acc of the classifier.
    share_0 : number or array
        P(A = 0) in (0, 1).

    Returns
    -------
    low, high : number or array
        Within [0, 1].

    Raises
    ------
    ValueError
        If a group is empty: then there is no gap.

    References
    ----------
    Ours, in place of the thesis's Theorem 15.
    """
    weight = trade_off_weight(share_0)
    if not np.all(np.asarray(weight) > 0):
        raise ValueError(
            f"share_0: found {share_0}, expected a share in (0, 1), so that both groups have people"
        )
    slack = (1 - accuracy) / weight
    return np.maximum(difference - slack, slack * 0), np.minimum(difference + slack, slack * 0 + 1)


def unfairness_constants(overall: Any, smallest: Any = 0) -> tuple[Any, Any]:
    """Return c₁ and c₂ with Δ ≤ c₁Δ′ and Δ′ ≤ c₂Δ: (1 − m)/P(Y = 1) and 2P(Y = 1).

    Parameters
    ----------
    overall : number
        P(Y = 1) in (0, 1].
    smallest : number
        m, a lower bound of the shares of all values that occur; 0 gives the printed constants.

    References
    ----------
    Thesis, Lemma 16, for m = 0; the rest is ours.
    """
    return (1 - smallest) / overall, 2 * overall
