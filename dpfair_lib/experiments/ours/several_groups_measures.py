"""What a randomised rule does on some rows, in expectation over its own draws: errors, changes and gaps."""

from __future__ import annotations

import numpy as np

from dpfair_lib.experiments.ours.several_groups_data import Part

MANY = 100
"""People whom a group's rate is a mean over, from which on the group counts as large."""
CONDITIONS: dict[str, tuple[int | None, ...]] = {
    "demographic_parity": (None,),
    "equal_opportunity": (1,),
    "equalized_odds": (0, 1),
}
"""For each notion the true labels of the people over whom its rates are taken; None for everybody."""


def measures(rows: Part, chance: np.ndarray, notion: str) -> dict[str, float | None]:
    """Return what a rule does on some rows.

    Parameters
    ----------
    rows : Part
        The rows.
    chance : ndarray of shape (n,)
        Each row's probability of the label 1.
    notion : str
        A key of `CONDITIONS`.

    Returns
    -------
    dict
        ``error``: the expected share of wrong labels. ``changes``: the expected share of labels that are not the
        learner's. ``chance``: how often two draws for one person differ. ``gap``: the largest difference of a rate of
        the notion between two groups. ``large_gap``: the same over groups with at least `MANY` people for that rate,
        None if there are fewer than two. ``distance``: the mean over people of the distance between their group's rate
        and everybody's, the larger one if there are two rates.

    Raises
    ------
    ValueError
        If a group has nobody of a label that the notion asks for.
    """
    groups, codes = np.unique(rows.groups, return_inverse=True)
    gaps, large, distances = [], [], []
    for label in CONDITIONS[notion]:
        counted = np.ones(len(codes), dtype=bool) if label is None else rows.labels == label
        people = np.bincount(codes[counted], minlength=len(groups))
        if not people.all():
            raise ValueError(
                f"rows: found nobody of label {label} in group {groups[np.argmin(people)]}, expected someone in each"
            )
        sums = np.bincount(codes[counted], weights=chance[counted], minlength=len(groups))
        rates = sums / people
        gaps.append(np.ptp(rates))
        if np.count_nonzero(people >= MANY) > 1:
            large.append(np.ptp(rates[people >= MANY]))
        distances.append((people * abs(rates - sums.sum() / people.sum())).sum() / people.sum())
    return {
        "error": float(abs(chance - rows.labels).mean()),
        "changes": float(abs(chance - rows.guesses).mean()),
        "chance": float((2 * chance * (1 - chance)).mean()),
        "gap": float(max(gaps)),
        "large_gap": float(max(large)) if len(large) == len(gaps) else None,
        "distance": float(max(distances)),
    }
