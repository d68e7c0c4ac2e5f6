"""The sentences of ISIT that compare two gaps of Tables II–V, and the number of comparisons to correct for."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from dpfair_lib.experiments.isit.twelve_tables import LENGTHS

ACCOUNTANTS = ("PRV", "moments", "GDP")
# 2 data sets × 2 values of ε′ × the accountants (as run) or the factors of the learning rate (certified)
AS_RUN, CERTIFIED = 2 * 2 * len(ACCOUNTANTS), 2 * 2 * len(LENGTHS)


class Sentence(NamedTuple):
    """One printed comparison of two gaps, at the regulariser's λ = ``strength``.

    DP-FERMI's gap is more than ``factor`` times the gap of Algorithm 2.
    """

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
