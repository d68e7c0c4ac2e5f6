"""Exact sampling from distributions in which some outcomes are e^ε times as likely as all others."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._arguments import number
from dpfair_lib.local.words import Source, words32
from dpfair_lib.privacy.rounding import log_above

WORD = 1 << 32
LARGEST_EPSILON = 700.0
"""Beyond it e^(−ε) is no ordinary float any more."""


def as_epsilon(value: Any) -> float:
    """Return an ε from 0 to 700, or infinity."""
    epsilon = number(value, "epsilon", "a number of at least 0")
    if epsilon < 0 or LARGEST_EPSILON < epsilon < math.inf:
        raise ValueError(
            f"epsilon: found {value}, expected a number in [0, {LARGEST_EPSILON:g}], or infinity for no privacy"
        )
    return epsilon


class TwoLevels:
    """A law on ``others + favoured`` outcomes, of whole weights: every favoured outcome has the larger one.

    The weights are the largest that fit 32-bit words with a ratio of at most e^ε: w = ⌊2³² / (f·e^ε + o)⌋ for the o
    others and ⌊e^ε·w⌋ for the f favoured. A word beyond the sum of the weights is drawn again, so that the law is
    exact: the law of the mechanism itself, at an ε′ = log(``ratio``) ≤ ε. Where e^ε is beyond 2³² / f, the
    ratio stays as large as a word allows: ε′ is then about 22, more private than was asked for.

    Parameters
    ----------
    epsilon : float
        ε in [0, 700], or infinity: then the others never occur.
    favoured, others : int
        How many outcomes of either kind, at least 1 and at least 0; together far fewer than 2³².

    Attributes
    ----------
    ratio : Fraction or float
        e^(ε′): the ratio of the two weights; infinity where the others never occur.
    """

    def __init__(self, epsilon: float, favoured: int, others: int) -> None:
        self.favoured, self.others = favoured, others
        if math.isinf(epsilon):
            self.low, self.high = 0, min(WORD // favoured, WORD - 1)
            self.ratio: Any = math.inf
            return
        room = Fraction(WORD - others, favoured)
        # math.exp may err by its last digit
        wanted = min(Fraction(math.nextafter(math.exp(epsilon), 0)), room)
        # without others and at ε = 0 it would be 2³², which is no word
        self.low = min(int(WORD / (favoured * max(wanted, Fraction(1)) + others)), WORD - 1)
        self.high = max(int(wanted * self.low), self.low)
        self.ratio = Fraction(self.high, self.low)

    @property
    def total(self) -> int:
        """The sum of all weights: words from here on are drawn again."""
        return self.favoured * self.high + self.others * self.low

    @property
    def epsilon(self) -> float:
        """ε′ as a float, not below it."""
        return log_above(self.ratio)

    def draw(self, n: int, rng: Source) -> np.ndarray:
        """Return n outcomes as 32-bit integers: first the others, 0, …, o − 1, then the favoured."""
        words = words32(n, rng)
        if self.total < WORD:
            last = np.uint32(self.total - 1)
            if words.max() > last:
                late = np.flatnonzero(words > last)
                while len(late):
                    words[late] = words32(len(late), rng)
                    late = late[words[late] > last]
        if not self.low:
            return words // np.uint32(self.high) + np.uint32(self.others)
        outcomes = np.minimum(words // np.uint32(self.low), np.uint32(self.others))
        if self.favoured > 1:
            beyond = (words - np.uint32(self.others * self.low)) // np.uint32(self.high)
            outcomes += np.where(outcomes == self.others, beyond, np.uint32(0))
        return outcomes
