"""The sentences of ISIT that compare two gaps of Tables II–V, and how many comparisons we make in addition."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from dpfair_lib.experiments.isit.twelve_tables import LENGTHS

ACCOUNTANTS = ("PRV", "moments", "GDP")
AS_RUN, CERTIFIED = 2 * 2 * len(ACCOUNTANTS), 2 * 2 * len(LENGTHS)  # comparisons: data sets, ε′, and these


class Sentence(NamedTuple):
    """One printed comparison: at this λ, the gap of DP-FERMI is more than ``factor`` times Algorithm 2's."""

    where: str
    data: str
    epsilon: int
    strength: float
    factor: Fraction


SENTENCES = (
    Sentence("ISIT § IV on Table II", "adult", 3, 1.8, Fraction(2)),
    Sentence("ISIT § IV on Table III", "adult", 9, 1.7, Fraction(1)),
    Sentence("ISIT § IV on Table IV", "credit", 3, 0.2, Fraction(2)),
    Sentence("ISIT § IV on Table V", "credit", 9, 1.0, Fraction(1)),
)
