"""Rows for private and fair learners: features in the unit ball, labels, two groups; and what is measured on a test.

The group is not among the features; post-processing receives it. All of the preparation is by public numbers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpfair_lib.experiments.ours.private_learners_fits import unit_ball

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

NOTIONS = "parity", "opportunity", "odds"
"""The gaps that are measured; each has a column of its own."""
TEST_SHARE = 0.2
MOST_ROWS = 100_000
"""Rows that a data set has here at most: of ACSIncome these are drawn once, for all splits."""
LABELS = "Smiling", "Young"
"""What is learned on CelebA; the group is Male, and about 48 and 77 of a hundred rows have these labels."""
TEST_ROWS = 20_000


class People(NamedTuple):
    """Rows of people.

    Attributes
    ----------
    features : ndarray of shape (n, d)
        In the unit ball; some combination of the columns is constant.
    labels, groups : ndarray of shape (n,), int64
        0 and 1.
    """

    features: np.ndarray
    labels: np.ndarray
    groups: np.ndarray


def split_people(dataset: Dataset, split: int, seed: int) -> tuple[People, People]:
    """Return training and test rows.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled, and two groups.
    split : int
        Number of the split, from 0.
    seed : int
        Of the rows that a large data set keeps, and of the splits.
    """
    kept = np.random.default_rng(seed).permutation(len(dataset.y))[:MOST_ROWS]
    features, _ = unit_ball(replace(dataset, X=dataset.X.iloc[kept]))
    people = People(
        features, dataset.y.to_numpy().astype(np.int64)[kept], group_codes(dataset.sensitive_features)[kept]
    )
    order = np.random.default_rng([seed, split]).permutation(len(kept))
    cut = round(len(order) * TEST_SHARE)
    return taken(people, order[cut:]), taken(people, order[:cut])


def held_people(
    dataset: Dataset, label: str, rows: int, attributes: int, rng: np.random.Generator
) -> tuple[People, People]:
    """Return training and test rows of CelebA: some attributes, each coded in two columns, in the unit ball.

    Parameters
    ----------
    dataset : Dataset
        CelebA or its stand-in, attributes −1 and 1.
    label : str
        One of `LABELS`.
    rows, attributes : int
        How many training rows, and how many of the other attributes.
    rng : numpy.random.Generator
        Draws rows and attributes.
    """
    table = dataset.X.assign(Smiling=2 * dataset.y.to_numpy() - 1)
    labels = (table.pop(label).to_numpy() > 0).astype(np.int64)
    names = rng.permutation(sorted(map(str, table)))[:attributes]
    signs = table[list(names)].to_numpy()
    features = np.hstack([signs > 0, signs <= 0]) / math.sqrt(attributes)
    people = People(features, labels, group_codes(dataset.sensitive_features))
    order = rng.permutation(len(labels))
    return taken(people, order[:rows]), taken(people, order[rows : rows + TEST_ROWS])


def group_codes(groups: object) -> np.ndarray:
    """Return the groups as 0 and 1, in the order of their names.

    Raises
    ------
    ValueError
        If there are not two.
    """
    names, codes = np.unique(np.asarray(groups).astype(str), return_inverse=True)
    if len(names) != 2:
        raise ValueError(f"groups: found {names.tolist()}, expected two")
    return codes.astype(np.int64)


def taken(people: People, at: np.ndarray) -> People:
    """Return the rows at some positions."""
    return People(*(column[at] for column in people))


def measured(people: People, chances: np.ndarray) -> dict[str, float]:
    """Return the error and the three gaps of a randomised classifier, exactly over its draws.

    Parameters
    ----------
    people : People
        Rows of the test; each group needs some of both labels.
    chances : ndarray of shape (n,)
        The probability of label 1 of each row.

    Returns
    -------
    dict
        ``error``; ``parity``, ``opportunity`` and ``odds``, the differences of the two groups' selection rates, of
        their true positive rates, and the larger one of those of true and of false positive rates.

    Raises
    ------
    ValueError
        If a group has no row of a label.
    """
    cell = 2 * people.groups + people.labels
    counts = np.bincount(cell, minlength=4).reshape(2, 2)
    if not counts.all():
        raise ValueError(
            f"people: found counts {counts.tolist()} by group and label, expected some in each cell"
        )
    sums = np.bincount(cell, weights=chances, minlength=4).reshape(2, 2)
    rates, selected = sums / counts, sums.sum(axis=1) / counts.sum(axis=1)
    false, true = np.abs(rates[0] - rates[1])
    return {
        "error": float(np.abs(people.labels - chances).mean()),
        "parity": float(abs(selected[0] - selected[1])),
        "opportunity": float(true),
        "odds": float(max(false, true)),
    }
