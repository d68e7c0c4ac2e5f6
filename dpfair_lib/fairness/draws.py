"""Draws of labels from a randomised classifier, and the expected difference of the drawn rates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._validation import as_groups, as_probabilities, check_lengths


def drawn_labels(chances: np.ndarray, random_state: Any) -> np.ndarray:
    """Draw the labels, independently for every row.

    Parameters
    ----------
    chances : ndarray of shape (n,)
        Chance of the label 1.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Source of the draws; None draws afresh at every call.

    Returns
    -------
    ndarray of shape (n,)
        Labels 0 and 1.
    """
    # here, as gaps alone need no scikit-learn
    from sklearn.utils import check_random_state

    rng = random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)
    return (rng.uniform(size=len(chances)) < chances).astype(np.int64)


def count_law(probabilities: Any) -> np.ndarray:
    """Return the law of the number of successes of independent trials.

    Parameters
    ----------
    probabilities : array of shape (n,)
        Chance of success of each trial; `Fraction` entries stay exact.

    Returns
    -------
    ndarray of shape (n + 1,)
        P(i successes), i = 0, …, n.

    Raises
    ------
    ValueError
        If an entry is outside [0, 1].
    """
    chances = as_probabilities(probabilities, "probabilities")
    exact = chances.dtype == object
    law = np.full(chances.size + 1, Fraction(0) if exact else 0.0)
    law[0] = law[0] + 1
    for done, chance in enumerate(chances.tolist(), 1):
        law[1 : done + 1] = law[1 : done + 1] * (1 - chance) + law[:done] * chance
        law[0] *= 1 - chance
    return law


def expected_parity_difference(pred: Any, *, sensitive_features: Any) -> Any:
    """Return the expected parity gap of labels that are drawn independently, one draw per row.

    The rates of one draw differ even where the expected rates do not, so this is never smaller than
    `demographic_parity_difference` of the same probabilities.

    Parameters
    ----------
    pred, sensitive_features : array of shape (n,)
        As in `selection_rates`; work and memory grow like n² and n.

    Returns
    -------
    float or Fraction
        E[max over a of rate_a − min over a of rate_a].

    Raises
    ------
    ValueError
        As `selection_rates`.
    """
    pred = as_probabilities(pred, "pred")
    levels, codes = as_groups(sensitive_features)
    check_lengths(pred=pred, sensitive_features=codes)
    exact = pred.dtype == object
    above, below, grids = [], [], []
    for code in range(len(levels)):
        law = count_law(pred[codes == code])
        n = law.size - 1
        grids.append(np.array([Fraction(i, n) if exact else i / n for i in range(n + 1)]))
        below.append(np.cumsum(law))
        above.append(1 - below[-1])
    # rates of equal value are equal floats, because division rounds correctly
    grid = np.array(sorted(set(np.concatenate(grids).tolist())))
    at = [np.searchsorted(own, grid, side="right") - 1 for own in grids]
    # max − min is the length of {t : min ≤ t < max}
    all_below = np.prod([law[i] for law, i in zip(below, at, strict=True)], axis=0)
    all_above = np.prod([law[i] for law, i in zip(above, at, strict=True)], axis=0)
    return ((1 - all_below - all_above)[:-1] * np.diff(grid)).sum()
