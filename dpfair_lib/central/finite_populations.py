"""Questions about classifiers on populations of finitely many points, answered by going through the points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpfair_lib.populations import Population


def flippable_masses(population: Population, h: np.ndarray) -> set[Fraction]:
    """Sums of masses of points that the group of higher rate selects and the one of lower rate rejects."""
    rates = [population.rate(h, group) for group in (0, 1)]
    high, low = (0, 1) if rates[0] >= rates[1] else (1, 0)
    atoms = [*population.conditional(high)[h[:, high] == 1], *population.conditional(low)[h[:, low] == 0]]
    sums = {Fraction(0)}
    for atom in atoms:
        sums |= {known + atom for known in sums}
    return sums


def population_rows(population: Population, h: np.ndarray) -> dict[str, np.ndarray]:
    """Return a population's atoms as weighted rows: prediction, label, weight and group of each.

    Parameters
    ----------
    population : Population
        With groups 0 and 1.
    h : ndarray of shape (points, 2)
        A deterministic classifier.
    """
    x, a, y = (index.reshape(-1) for index in np.indices(population.table.shape))
    weights = population.table.reshape(-1)
    return {"y_pred": h[x, a], "y_true": y, "weights": weights, "groups": a, "at": x}


def posterior(population: Population) -> np.ndarray:
    """Return P(Y = 1 | x, a) of shape (points, groups); 0 where the cell is empty."""
    mass = population.table.sum(axis=2)
    positive = population.table[:, :, 1]
    return np.where(mass > 0, positive / np.where(mass > 0, mass, 1), 0)
