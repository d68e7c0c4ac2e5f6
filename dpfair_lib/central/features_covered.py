"""Which features of a record a release covers: the largest ratio of neighbours that differ in one of them."""

from __future__ import annotations

import functools
import itertools

import numpy as np

NEVER = 10**9  # stands for an infinite ratio
RECORDS = 3
FEATURES = {"x": 0, "a": 1, "y": 2}


@functools.cache
def _universe() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Records (x, a, y), the 4 classifiers of x as what they say of each kind of record, all data of three records."""
    records = np.array(list(itertools.product((0, 1), repeat=3)))
    classifiers = np.array(list(itertools.product((0, 1), repeat=2)))
    data = np.array(list(itertools.combinations_with_replacement(range(8), RECORDS)))
    return records, classifiers[:, records[:, 0]], data


@functools.cache
def _neighbours(feature: str) -> tuple[np.ndarray, np.ndarray]:
    """All data sets, and those that differ in one feature of one record, row by row."""
    records, _, data = _universe()
    flipped = records.copy()
    flipped[:, FEATURES[feature]] ^= 1
    kind = 4 * flipped[:, 0] + 2 * flipped[:, 1] + flipped[:, 2]
    others = []
    for row in range(RECORDS):
        other = data.copy()
        other[:, row] = kind[other[:, row]]
        others.append(other)
    return np.tile(data, (RECORDS, 1)), np.concatenate(others)


def largest_ratio(feature: str, counted: str, learner: str, odds: np.ndarray) -> int:
    """Return the largest probability ratio of all outputs for data sets that differ in one feature of one record.

    The output is a classifier of x, "trained" as one of most correct predictions or "private" with odds 2^correct,
    and counts with noise: of the "selected" of each group, as Algorithm 2 has them, or of all "cells" (ŷ, a, y).

    Parameters
    ----------
    feature : {"x", "a", "y"}
        What differs.
    counted : {"selected", "cells"}
        What is counted.
    learner : {"trained", "private"}
        How the classifier is found.
    odds : ndarray of shape (RECORDS + 1, RECORDS + 1)
        Largest ratio of the laws of a noisy count, for each two counts.

    Returns
    -------
    int
        The ratio, rounded up; ``NEVER`` if an output is possible for one of two neighbours only.
    """
    records, says, _ = _universe()
    data, other = _neighbours(feature)
    members = [records[:, 1] == a for a in (0, 1)]
    if counted == "selected":
        indicators = [says * member for member in members]
    else:
        indicators = [
            (says == label) * member * (records[:, 2] == y)
            for label, member, y in itertools.product((0, 1), members, (0, 1))
        ]
    counts = np.ones((len(says), len(data)), dtype=np.int64)
    for each in indicators:
        counts *= odds[each[:, data].sum(axis=2), each[:, other].sum(axis=2)]
    right = says == records[:, 2]
    scores, scores_other = (right[:, rows].sum(axis=2) for rows in (data, other))
    if learner == "trained":  # the first of the best
        one, two = scores.argmax(axis=0), scores_other.argmax(axis=0)
        return NEVER if (one != two).any() else int(counts[one, np.arange(len(one))].max())
    weights, weights_other = 2**scores, 2**scores_other
    up, down = counts * weights * weights_other.sum(axis=0), weights_other * weights.sum(axis=0)
    return int((-(-up // down)).max())
