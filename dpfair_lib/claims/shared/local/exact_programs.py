"""The thesis's Program (5.5.9) in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpfair_lib.local.optimal.closed_forms import perfect_truth
from dpfair_lib.local.optimal.program import Program, most_truthful


def exact_program(shares: tuple[int, ...], rates: tuple[Fraction, ...], x: Fraction) -> Program:
    """Return a program in fractions, with half of the budget between the least error and none of the unfairness."""
    p = np.array([Fraction(share, sum(shares)) for share in shares], dtype=object)
    least, most = 1 - most_truthful(p, x)[0], 1 - perfect_truth(len(p), x)
    return Program(p, np.array(rates, dtype=object), x, (least + most) / 2)


def in_floats(program: Program) -> Program:
    """Return the same program for the solver."""
    return Program(program.p.astype(float), program.p1.astype(float), float(program.x), float(program.error))


def as_fractions(channel: np.ndarray, parts: int) -> np.ndarray:
    """Return a channel given in whole parts."""
    return np.array([[Fraction(int(entry), parts) for entry in row] for row in channel], dtype=object)


def printed_objective(program: Program, channel: np.ndarray) -> Fraction:
    """Return the objective of (5.5.9), term by term."""
    p, p1, overall = program.p, program.p1, program.overall
    worst = Fraction(0)
    for a in range(program.k):
        others = [j for j in range(program.k) if j != a]
        truth = 1 - sum(channel[a, j] for j in others)
        above = sum(p1[j] * p[j] * channel[j, a] for j in others) + p1[a] * p[a] * truth
        below = sum(overall * p[j] * channel[j, a] for j in others) + overall * p[a] * truth
        worst = max(worst, abs((above - below) / below))
    return worst
