"""Classifiers whose only errors exchange people of two groups: which optimal classifiers do this, and what follows.

There are two groups, and P(Ŷ = 1) = P(Y = 1). The favoured group has the larger share of label 1. An *exchange* rejects
some people of the favoured group with label 1, selects equally many people of the other group with label 0, and makes
no other error. The equation of Kamiran and Calders says that a classifier is an exchange that does not go beyond
parity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.local.trade_off import trade_off_weight


def exchange_gap(difference: Any, accuracy: Any, share_0: Any) -> Any:
    """Return the parity gap of an exchange, |Δ′ − (1 − acc)/(2P(A=0)P(A=1))|.

    Parameters
    ----------
    difference : number or array
        Δ′ of the labels.
    accuracy : number or array
        acc of the exchange.
    share_0 : number or array
        P(A = 0) in (0, 1).

    References
    ----------
    Ours: what is left of the thesis's Theorem 15 beyond parity too.
    """
    return abs(difference - (1 - accuracy) / trade_off_weight(share_0))


def exchange_order(difference: Any, other: Any, accuracy: Any, share_0: Any) -> Any:
    """Return whether of two equally accurate exchanges the one on the fairer data has at most the other's gap.

    It has if Δ′ is the same, or the mean of both Δ′ is at least (1 − acc)/(2P(A=0)P(A=1)).

    Parameters
    ----------
    difference, other : number
        The two Δ′, difference ≤ other.
    accuracy : number
        The accuracy of both.
    share_0 : number
        P(A = 0) in (0, 1), of both.

    Raises
    ------
    ValueError
        If the first data are not the fairer ones.

    References
    ----------
    Ours, in place of the thesis's Theorem 15.
    """
    if not difference <= other:
        raise ValueError(f"difference: found {difference}, expected at most other, {other}")
    return difference == other or (difference + other) * trade_off_weight(share_0) >= 2 * (1 - accuracy)


def exchange_optima(sizes: Sequence[int], positives: Sequence[int]) -> list[tuple[Fraction, Fraction]]:
    """Return accuracy and gap of every DA-optimal classifier of a data set in which all people can be distinguished.

    The gap would close after D = |n₀s₁ − n₁s₀|/n exchanges of one person for one. The DA-optimal classifiers exchange
    j for j with j < D + ½: the last of them may go beyond parity.

    Parameters
    ----------
    sizes, positives : sequence of two int
        People of each group, and those of them with label 1. A classifier is deterministic and selects as many people
        as have label 1.

    Returns
    -------
    list of (accuracy, gap)
        For j = 0, 1, ….

    Raises
    ------
    ValueError
        If a group is empty, or a number of labels is impossible.

    References
    ----------
    Ours; thesis, Definition 12.
    """
    for size, count in zip(sizes, positives, strict=True):
        if not 0 <= count <= size or size < 1:
            raise ValueError(f"positives: found {count} of {size}, expected people and at most all of them")
    n = sum(sizes)
    closing = Fraction(abs(sizes[0] * positives[1] - sizes[1] * positives[0]), n)
    worth = Fraction(n, sizes[0] * sizes[1])  # of one exchange, in units of the gap
    last = math.ceil(closing + Fraction(1, 2)) - 1
    return [(1 - Fraction(2 * j, n), abs(closing - j) * worth) for j in range(last + 1)]


def only_exchanges_optimal(cells: Any) -> bool:
    """Return whether every DA-optimal classifier of what is seen satisfies the equation of Kamiran and Calders.

    The classifier sees a cell and is randomised. It is so if and only if some exchange errs as little as any
    classifier with P(Ŷ = 1) = P(Y = 1), and some exchange closes the gap.

    Parameters
    ----------
    cells : array of shape (m, 2, 2)
        Whole numbers or `Fraction`: how many people of each cell, group and label there are; nobody in no cell.

    Raises
    ------
    ValueError
        If the shape is another, a number is negative, or a cell or a group is empty.

    References
    ----------
    Ours; thesis, App. B, proof of Theorem 15.
    """
    people = np.array(cells, dtype=object)
    if people.ndim != 3 or people.shape[1:] != (2, 2) or not (people >= 0).all():
        raise ValueError(
            f"cells: found shape {people.shape}, expected numbers of people of shape (cells, 2, 2)"
        )
    if not (people.sum(axis=(1, 2)) > 0).all() or not (people.sum(axis=(0, 2)) > 0).all():
        raise ValueError("cells: found an empty cell or group, expected people in each")
    sizes, positives = people.sum(axis=(0, 2)), people[..., 1].sum(axis=0)
    closing = Fraction(sizes[0] * positives[1] - sizes[1] * positives[0]) / sum(sizes)
    favoured = int(closing >= 0)
    # an exchange selects no label 0 of the favoured group and rejects no label 1 of the other
    rejected, selected = people[:, favoured, 0] > 0, people[:, 1 - favoured, 1] > 0
    if (rejected & selected).any():
        return False
    lost, won = people[:, favoured, 1], people[:, 1 - favoured, 0]
    free = ~(rejected | selected)
    missed, chosen = sum(lost[rejected]), sum(won[selected])
    room = missed + sum(lost[free]) - chosen  # what it has to select in the cells where it is free
    if not 0 <= room <= sum((lost + won)[free]):
        return False
    least, most = (chosen + _extreme(won[free], (lost + won)[free], room, sign) for sign in (-1, 1))
    every = people.sum(axis=(1, 2))
    surplus = people[:, :, 1].sum(axis=1) - people[:, :, 0].sum(axis=1)
    least_error = sum(positives) - _extreme(surplus, every, sum(positives), 1)
    return bool(least <= abs(closing) <= most and least_error == 2 * least)


def _extreme(values: Any, weights: Any, total: Any, sign: int) -> Fraction:
    """Return the largest (sign 1) or smallest Σ values·h over h in [0, 1] with Σ weights·h = total."""
    left, found = Fraction(total), Fraction(0)
    for at in sorted(range(len(values)), key=lambda i: -sign * Fraction(values[i]) / weights[i]):
        taken = min(Fraction(1), left / weights[at])
        found += taken * values[at]
        left -= taken * weights[at]
    return found
