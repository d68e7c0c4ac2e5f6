"""Sensitivity of error, discrimination and their sum to one replaced record: closed forms, and enumeration."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpfair_lib._validation import as_count
from dpfair_lib.populations.compositions import compositions

Counts = tuple[int, int]


def discrimination_sensitivity(counts: Counts) -> Fraction:
    """Return how far Γ can move from a sample with these positive counts when one record is replaced.

    Let m ≤ m′ be the two counts |Z₁ₐ|. The most is 1/m + (1 − 1/m)/(m′ + 1) = (m + m′)/(m(m′ + 1)): a record moves from
    the smaller group to the larger one. It lies between 1/m and 2/(m + 1); the latter is reached at m = m′.

    Parameters
    ----------
    counts : (int, int)
        |Z₁₀| and |Z₁₁|, the numbers of records with label 1 in the two groups.

    Returns
    -------
    Fraction
        The largest |Γ^Z(h) − Γ^Z′(h)| over all h with values in [0, 1] and all Z′; 1 if a count is 0, whatever number
        in [0, 1] the undefined Γ is set to.

    Raises
    ------
    ValueError
        If a count is not a whole number of at least 0.

    References
    ----------
    CGKM, Lemma 2, whose proof gives the larger 2/(m − 1). The exact value is ours.
    """
    low, high = sorted(as_count(count, "counts", 0) for count in counts)
    return Fraction(low + high, low * (high + 1)) if low else Fraction(1)


def utility_sensitivity(counts: Counts, n: int) -> Fraction:
    """Return how far u = Γ + err can move from a sample with these positive counts, both terms together.

    The largest moves of Γ leave err where it was, and a record that moves both is worth 1/m + 1/n. So the most is the
    larger of (m + m′)/(m(m′ + 1)) and 1/m + 1/n, less than the sum of the two sensitivities unless m ≤ 1.

    Parameters
    ----------
    counts : (int, int)
        |Z₁₀| and |Z₁₁|.
    n : int
        Records in the sample.

    Returns
    -------
    Fraction
        The largest |u(Z, h) − u(Z′, h)| over all h with values in [0, 1] and all Z′; the bound 1 + 1/n if a count is 0.

    Raises
    ------
    ValueError
        If a count is not a whole number of at least 0, or n is smaller than their sum.

    References
    ----------
    CGKM, § 4, which adds the two sensitivities up. The joint value is ours.
    """
    low = min(counts)
    rows = as_count(n, "n", max(sum(counts), 1))
    apart = discrimination_sensitivity(counts)
    return max(apart, Fraction(1, low) + Fraction(1, rows)) if low else apart + Fraction(1, rows)


@dataclass(frozen=True)
class Moves:
    """The largest changes between all neighbouring samples of one size, for hypotheses with values on a grid.

    Attributes
    ----------
    n : int
        Records in each sample.
    pairs : int
        Ordered pairs of neighbouring samples that were compared, up to the order of records and their names.
    error : Fraction
        Of err.
    discrimination, utility : dict
        Of Γ and of Γ + err, for each pair of positive counts (|Z₁₀|, |Z₁₁|) of the first sample, both at least 1 before
        and after.
    smallest_count, both_counts : int
        Of min_a |Z₁ₐ|, and of how many of the two counts change at once.
    scaled : Fraction
        Of min_a |Z₁ₐ| · (Γ + err), which is 0 where a cell is empty.
    scaled_range : Fraction
        How far apart the moves of that product are for two hypotheses between the same two samples.
    """

    n: int
    pairs: int
    error: Fraction
    discrimination: dict[Counts, Fraction]
    utility: dict[Counts, Fraction]
    smallest_count: int
    both_counts: int
    scaled: Fraction
    scaled_range: Fraction


def enumerate_moves(n: int, levels: int = 2) -> Moves:
    """Compare every sample of n records with every neighbour, for every hypothesis on a grid, in exact arithmetic.

    For one h a record counts by its cell (positive of group 0, positive of group 1, negative) and by the value of h
    there. Samples with the same number of records of each such type are the same up to order and names, so this
    enumerates counts of types, and for each every type that loses a record and every type that gains one.

    Parameters
    ----------
    n : int
        From 1 to 30.
    levels : int
        Values of h, evenly spaced from 0 to 1: 2 for deterministic hypotheses.

    Returns
    -------
    Moves
        The largest changes.

    Raises
    ------
    ValueError
        If n or the number of levels is out of its range.
    """
    rows, steps = as_count(n, "n", 1), as_count(levels, "levels", 2) - 1
    if rows > 30:
        raise ValueError(f"n: found {n}, expected at most 30: beyond, exact values outgrow 64 bits")
    types = [(cell, value) for cell in range(3) for value in range(steps + 1)]
    counts = compositions(rows, len(types), np.int16)
    unit = math.lcm(*range(1, rows + 1)) * steps  # every quantity is a whole number of 1/unit

    columns = [counts[:, i].astype(np.int64) for i in range(len(types))]
    totals = np.zeros((5, len(counts)), dtype=np.int64)  # positives and sums of h by group, errors
    for column, kind in zip(columns, types, strict=True):
        totals += np.array(_contribution(*kind, steps))[:, None] * column
    before = _values(totals, rows, unit, steps)
    most = _Largest(rows)
    for lost, gained in itertools.permutations(range(len(types)), 2):
        at = columns[lost] > 0
        step = np.subtract(_contribution(*types[gained], steps), _contribution(*types[lost], steps))
        after = totals[:, at] + step[:, None]
        cells = types[lost][0], types[gained][0]
        most.add(cells, totals[:, at], after, before[:, at], _values(after, rows, unit, steps))
    return most.result(unit)


def _contribution(cell: int, value: int, steps: int) -> tuple[int, int, int, int, int]:
    """What one record adds: a positive of group 0, of group 1, its h by group, its error (in 1/steps)."""
    if cell == 2:
        return 0, 0, 0, 0, value
    return int(cell == 0), int(cell == 1), value * (cell == 0), value * (cell == 1), steps - value


def _values(totals: np.ndarray, n: int, unit: int, steps: int) -> np.ndarray:
    """Γ, err, min_a |Z₁ₐ| and its product with u, all but the count in 1/unit; Γ is set to 0 on empty cells."""
    m_0, m_1, s_0, s_1, wrong = totals
    per = unit // steps
    full = (m_0 > 0) & (m_1 > 0)
    apart = s_0 * (per // np.maximum(m_0, 1)) - s_1 * (per // np.maximum(m_1, 1))
    gap = np.where(full, abs(apart), 0)
    error, least = wrong * (per // n), np.minimum(m_0, m_1)
    return np.array([gap, error, least, least * (gap + error)])


class _Largest:
    """Collects the largest change of everything that is asked for."""

    def __init__(self, n: int) -> None:
        self.n, self.pairs, self.error, self.count, self.both, self.scaled = n, 0, 0, 0, 0, 0
        self.gap = np.full((n + 1) ** 2, -1, dtype=np.int64)
        self.utility = self.gap.copy()
        # hypotheses are free of one another once the counts and the cells of the record are given
        self.rise = np.zeros((3, 3, (n + 1) ** 2), dtype=np.int64)
        self.fall = self.rise.copy()

    def add(
        self, cells: Counts, totals: np.ndarray, after: np.ndarray, old: np.ndarray, new: np.ndarray
    ) -> None:
        if not totals.size:
            return
        self.pairs += totals.shape[1]
        moved = new - old
        self.error = max(self.error, int(abs(moved[1]).max()))
        self.count = max(self.count, int(abs(moved[2]).max()))
        self.both = max(self.both, int((totals[:2] != after[:2]).sum(axis=0).max()))
        self.scaled = max(self.scaled, int(abs(moved[3]).max()))
        place = totals[0] * (self.n + 1) + totals[1]
        np.maximum.at(self.rise[cells], place, moved[3])
        np.maximum.at(self.fall[cells], place, -moved[3])
        full = (old[2] > 0) & (new[2] > 0)
        place = place[full]
        np.maximum.at(self.gap, place, abs(moved[0])[full])
        np.maximum.at(self.utility, place, abs(moved[0] + moved[1])[full])

    def result(self, unit: int) -> Moves:
        def table(values: np.ndarray) -> dict[Counts, Fraction]:
            return {
                divmod(int(place), self.n + 1): Fraction(int(values[place]), unit)
                for place in np.flatnonzero(values >= 0)
            }

        return Moves(
            self.n, self.pairs, Fraction(self.error, unit), table(self.gap), table(self.utility),
            self.count, self.both, Fraction(self.scaled, unit), Fraction(int((self.rise + self.fall).max()), unit),
        )  # fmt: skip
