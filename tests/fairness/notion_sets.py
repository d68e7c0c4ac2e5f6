"""Sets of fairness notions, and random shares and base rates of groups."""

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from dpfair_lib.fairness.joint_notions import NOTIONS

SETS = [notions for size in range(5) for notions in itertools.combinations(NOTIONS, size)]
SHARES = st.lists(st.integers(1, 9), min_size=2, max_size=4)


def distribution(weights, data):
    share = np.array([Fraction(weight, sum(weights)) for weight in weights])
    base = np.array([Fraction(data.draw(st.integers(1, 19)), 20) for _ in weights])
    return share, base
