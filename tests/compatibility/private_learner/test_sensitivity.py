import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.compatibility.private_learner.sample_losses import sample_losses
from dpfair_lib.compatibility.private_learner.sensitivity import (
    discrimination_sensitivity,
    enumerate_moves,
    utility_sensitivity,
)


def every_record(levels):
    values = [Fraction(i, levels - 1) for i in range(levels)]
    return [(y, a, h) for y in (0, 1) for a in (0, 1) for h in values]


def one_loss(records):
    y, group, h = zip(*records, strict=True)
    return sample_losses(np.array([h], dtype=object), np.array(y), np.array(group))


@pytest.mark.parametrize(("n", "levels"), [(2, 2), (3, 2), (4, 2), (3, 3)])
def test_the_enumeration_by_counts_finds_what_plain_enumeration_of_vectors_finds(n, levels):
    records = every_record(levels)
    gaps, utilities, scaled = {}, {}, Fraction(0)
    for sample in itertools.product(records, repeat=n):
        before = one_loss(sample)
        for new in records:  # every sample appears in every order, so replacing the first entry is enough
            after = one_loss((new, *sample[1:]))
            moved = min(before.counts) * before.total[0] - min(after.counts) * after.total[0]
            scaled = max(scaled, abs(moved))
            if new != sample[0] and min(before.counts) and min(after.counts):
                gap = abs(after.discrimination[0] - before.discrimination[0])
                gaps[before.counts] = max(gaps.get(before.counts, 0), gap)
                utility = abs(after.total[0] - before.total[0])
                utilities[before.counts] = max(utilities.get(before.counts, 0), utility)
    found = enumerate_moves(n, levels)
    assert found.discrimination == gaps
    assert found.utility == utilities
    assert found.scaled == scaled
    assert found.error == Fraction(1, n)


def test_hypotheses_move_independently_of_one_another_between_the_same_two_samples():
    # the range of the scaled loss, over two hypotheses at once, by plain enumeration
    n, widest = 3, Fraction(0)
    kinds = [(y, a) for y in (0, 1) for a in (0, 1)]
    for cells in itertools.product(kinds, repeat=n):
        for new in kinds:
            moves = []
            for values in itertools.product((Fraction(0), Fraction(1)), repeat=n + 1):
                old = [(y, a, h) for (y, a), h in zip(cells, values[1:], strict=True)]
                before, after = one_loss(old), one_loss([(*new, values[0]), *old[1:]])
                moves.append(min(after.counts) * after.total[0] - min(before.counts) * before.total[0])
            widest = max(widest, max(moves) - min(moves))
    assert enumerate_moves(n).scaled_range == widest


def test_values_by_hand():
    assert discrimination_sensitivity((3, 3)) == Fraction(1, 2)
    assert discrimination_sensitivity((2, 5)) == discrimination_sensitivity((5, 2)) == Fraction(7, 12)
    assert discrimination_sensitivity((1, 9)) == discrimination_sensitivity((0, 9)) == 1
    assert utility_sensitivity((3, 3), 6) == Fraction(1, 2)
    assert utility_sensitivity((2, 2), 5) == Fraction(7, 10)
    assert utility_sensitivity((0, 2), 5) == Fraction(6, 5)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="counts: found -1"):
        discrimination_sensitivity((-1, 2))
    with pytest.raises(ValueError, match="n: found 3"):
        utility_sensitivity((2, 2), 3)
    with pytest.raises(ValueError, match="n: found 31, expected at most 30"):
        enumerate_moves(31)
    with pytest.raises(ValueError, match="levels: found 1"):
        enumerate_moves(3, 1)


def test_exact_values_fit_into_64_bits_at_the_largest_size():
    # the smaller count times Γ + err, in units of 1/lcm(1..30) and of one step of h
    assert math.lcm(*range(1, 31)) * 15 * 2 * 100 < 2**63
