"""Checks of `joint_notions` without its formulas: best accuracies by linear programming and by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib.fairness.joint_notions import Notion, best_accuracy, notion_gap
from dpfair_lib.fairness.rates import GroupRates
from dpfair_lib.populations.compositions import compositions


def best_accuracy_by_lp(share: Any, base: Any, notions: Collection[Notion], *, slack: float = 0.0) -> float:
    """Return the largest accuracy of a classifier whose gaps are at most ``slack``.

    Parameters
    ----------
    share, base : array of shape (k,)
        P(A = a) and P(Y = 1 | A = a).
    notions : collection of {"parity", "opportunity", "false-positives", "accuracy"}
        The notions whose gaps are limited.
    slack : float
        The limit, 0 for exact fairness.

    Returns
    -------
    float
        Optimum over all true and false positive rates in [0, 1].

    Raises
    ------
    RuntimeError
        If the solver fails.
    """
    from scipy.optimize import linprog

    share, base = np.asarray(share, dtype=float), np.asarray(base, dtype=float)
    hits, alarms = np.diag(base), np.diag(1 - base)  # weights of the true and of the false positive rates
    none = np.zeros_like(hits)
    of_rates = {  # variables: the true positive rates, then the false positive rates
        "parity": np.hstack([hits, alarms]),
        "opportunity": np.hstack([np.eye(base.size), none]),
        "false-positives": np.hstack([none, np.eye(base.size)]),
        "accuracy": np.hstack([hits, -alarms]),
    }
    constant = {name: np.zeros(base.size) for name in of_rates} | {"accuracy": 1 - base}
    rows, limits = [], []
    for name in notions:
        for a, b in itertools.permutations(range(base.size), 2):
            rows.append(of_rates[name][a] - of_rates[name][b])
            limits.append(slack - constant[name][a] + constant[name][b])
    gain = share @ of_rates["accuracy"]
    solved = linprog(-gain, A_ub=np.array(rows) if rows else None, b_ub=limits or None, bounds=(0, 1))
    if not solved.success:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    return float(share @ (1 - base) - solved.fun)


@dataclass(frozen=True)
class Enumerated:
    """What an enumeration saw of one set of notions.

    Attributes
    ----------
    cases : int
        Pairs of a population and a classifier that meets the notions on it, exactly.
    attained : int
        Those among them whose accuracy is the bound.
    slack : float
        Smallest distance of an accuracy from the bound; negative if the bound is violated.
    """

    cases: int
    attained: int
    slack: float


def enumerate_classifiers(
    denominator: int,
    sets_of_notions: Iterable[Collection[Notion]],
    *,
    bound: Callable[..., Any] = best_accuracy,
) -> list[Enumerated]:
    """Go through all classifiers with values 0, ½, 1 on all populations of two points and two groups.

    Parameters
    ----------
    denominator : int
        Probabilities are multiples of its inverse; every group has both labels, and the base rates differ.
    sets_of_notions : iterable of collections
        The sets to judge.
    bound : callable
        What is examined, with the arguments of `best_accuracy`.

    Returns
    -------
    list of Enumerated
        One for each set of notions, in their order.
    """
    cells = compositions(denominator, 8).reshape(-1, 2, 2, 2)  # rows, then (x, a, y): whole numbers
    mass = cells.sum(axis=1)  # (rows, a, y)
    group = mass.sum(axis=2)
    keep = (mass > 0).all(axis=(1, 2)) & (mass[:, 0, 1] * group[:, 1] != mass[:, 1, 1] * group[:, 0])
    cells, mass, group = cells[keep], mass[keep], group[keep]
    share, base = group / denominator, mass[:, :, 1] / group
    # different gaps, and different accuracies, are further apart than this: they are whole multiples of
    # 1/(2·product of two cells) and of 1/(2·denominator·product of the groups)
    tolerance = 1 / (8 * denominator**3)
    found = []
    for notions in sets_of_notions:
        limit = bound(share, base, notions)
        cases, attained, slack = 0, 0, np.inf
        for values in itertools.product((0, 0.5, 1), repeat=4):
            chosen = (cells * np.reshape(values, (2, 2, 1))).sum(axis=1) / mass  # (rows, a, y)
            rates = GroupRates(share, base, chosen[:, :, 1], chosen[:, :, 0])
            met = np.all([notion_gap(rates, notion) < tolerance for notion in notions], axis=0)
            room = (limit - rates.accuracy)[met]
            room = np.where(abs(room) < tolerance, 0.0, room)
            cases, attained = cases + room.size, attained + int((room == 0).sum())
            slack = min(slack, room.min(initial=np.inf))
        found.append(Enumerated(cases, attained, float(slack)))
    return found
