"""Draws of labels from a randomised classifier, and the expected difference of the drawn rates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._validation import as_count, as_groups, as_numbers, as_probabilities, check_lengths, same_rows
from dpfair_lib.fairness.stable_answers import PersonalDraws


def drawn_labels(chances: np.ndarray, random_state: Any) -> np.ndarray:
    """Draw the labels, independently for every row.

    Parameters
    ----------
    chances : ndarray of shape (n,)
        Chance of the label 1.
    random_state : int, numpy.random.Generator, numpy.random.RandomState, PersonalDraws or None
        Source of the draws; None draws afresh at every call, `StableAnswers.of` people gives each the same draw always.

    Returns
    -------
    ndarray of shape (n,)
        Labels 0 and 1.
    """
    if isinstance(random_state, PersonalDraws):
        return (random_state.numbers(len(chances)) < chances).astype(np.int64)
    # here, as gaps alone need no scikit-learn
    from sklearn.utils import check_random_state

    try:
        rng = (
            random_state
            if isinstance(random_state, np.random.Generator)
            else check_random_state(random_state)
        )
    except ValueError:
        raise ValueError(
            f"random_state: found {random_state!r}, expected an integer from 0 to 2**32 - 1, a Generator, a "
            "RandomState, PersonalDraws, or None"
        ) from None
    return (rng.uniform(size=len(chances)) < chances).astype(np.int64)


def count_law(probabilities: Any, people: Any = None) -> np.ndarray:
    """Return the law of the number of successes of independent trials.

    Parameters
    ----------
    probabilities : array of shape (n,)
        Chance of success of each trial; `Fraction` entries stay exact.
    people : array of shape (n,), optional
        How many share each trial, and so count together; whole numbers of at least 1. By default 1 each.

    Returns
    -------
    ndarray of shape (N + 1,)
        P(i successes), i = 0, …, N, where N is the number of people.

    Raises
    ------
    ValueError
        If an entry is outside [0, 1], or a number of people is not a whole number of at least 1.
    """
    chances = as_probabilities(probabilities, "probabilities")
    counted = np.ones(chances.size) if people is None else as_numbers(people, "people")
    check_lengths(probabilities=chances, people=counted)
    together = [as_count(int(m) if m == int(m) else m, "people", 1) for m in counted.tolist()]
    exact, done = chances.dtype == object, 1
    law = np.full(sum(together) + 1, Fraction(0) if exact else 0.0)
    law[0] = law[0] + 1
    for chance, m in zip(chances.tolist(), together, strict=True):
        hit = law[:done] * chance
        law[:done] *= 1 - chance
        law[m : done + m] += hit
        done += m
    return law


@same_rows
def expected_parity_difference(pred: Any, *, sensitive_features: Any, identifiers: Any = None) -> Any:
    """Return the expected parity gap of labels that are drawn independently, one draw per row or per identifier.

    The rates of one draw differ even where the expected rates do not, so this is never smaller than
    `demographic_parity_difference` of the same probabilities.

    Parameters
    ----------
    pred, sensitive_features : array of shape (n,)
        As in `selection_rates`; work and memory grow like n² and n.
    identifiers : array of shape (n,), optional
        Rows of one group with equal identifiers share one draw, as by `StableAnswers`. Rows of different groups never
        do: if an identifier may occur in both groups, the group has to be a part of what is hashed.

    Returns
    -------
    float or Fraction
        E[max over a of rate_a − min over a of rate_a].

    Raises
    ------
    ValueError
        As `selection_rates`; if rows of one group with equal identifiers have different chances.

    Examples
    --------
    Two people in each group, all selected with probability one half: the rates agree, one draw need not.

    >>> from dpfair_lib.fairness import expected_parity_difference
    >>> print(round(float(expected_parity_difference([0.5] * 4, sensitive_features=["a", "a", "b", "b"])), 3))
    0.375
    """
    pred = as_probabilities(pred, "pred")
    levels, codes = as_groups(sensitive_features)
    people = np.arange(len(pred)) if identifiers is None else as_groups(identifiers, "identifiers")[1]
    check_lengths(pred=pred, sensitive_features=codes, identifiers=people)
    exact = pred.dtype == object
    above, below, grids = [], [], []
    for code in range(len(levels)):
        _, first, where, together = np.unique(people[codes == code], True, True, True)
        chances = pred[codes == code][first]
        if (chances[where] != pred[codes == code]).any():
            raise ValueError(
                "identifiers: found equal ones with different chances, expected one chance for each"
            )
        law = count_law(chances, together)
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
