import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.compatibility.private_learner.loss_concentration import (
    deviation_law,
    discrimination_bound,
    printed_discrimination_bound,
    printed_utility_bound,
    utility_bound,
)
from dpfair_lib.compatibility.private_learner.sample_losses import sample_losses

QUARTERS = (0.25, 0.25)


def test_the_law_of_the_deviation_agrees_with_enumeration_of_all_samples():
    positives, rates, wrong = (
        (Fraction(1, 4), Fraction(1, 3)),
        (Fraction(1, 2), Fraction(2, 3)),
        Fraction(1, 5),
    )
    cells = {(1, 0): positives[0], (1, 1): positives[1], (0, 0): 1 - sum(positives)}
    chance = {(1, 0): rates[0], (1, 1): rates[1], (0, 0): wrong}
    records = [(y, a, h) for y, a in cells for h in (0, 1)]
    mass = {(y, a, h): cells[y, a] * (chance[y, a] if h else 1 - chance[y, a]) for y, a, h in records}
    error = sum(cells[1, a] * (1 - rates[a]) for a in (0, 1)) + cells[0, 0] * wrong
    truth = abs(rates[0] - rates[1]) + error
    expected = {}
    for sample in itertools.product(records, repeat=3):
        y, group, h = (np.array(column) for column in zip(*sample, strict=True))
        total = sample_losses(np.array([[Fraction(int(v)) for v in h]], dtype=object), y, group).total[0]
        key = abs(total - truth)
        expected[key] = expected.get(key, 0) + math.prod(mass[record] for record in sample)
    found = {}
    for deviation, weight in zip(*deviation_law(3, positives, rates, wrong), strict=True):
        found[deviation] = found.get(deviation, 0) + weight
    assert found == expected
    assert sum(found.values()) == 1


def test_exact_and_floating_laws_agree():
    fractions = deviation_law(5, (Fraction(1, 4), Fraction(1, 2)), (Fraction(1), Fraction(1, 3)))
    floats = deviation_law(5, (0.25, 0.5), (1.0, 1 / 3))
    assert floats[0] == pytest.approx(fractions[0].astype(float), abs=1e-15)
    assert floats[1] == pytest.approx(fractions[1].astype(float), abs=1e-15)


def test_bounds_by_hand():
    assert discrimination_bound(1.0, 10, (0.5, 0.25)) == pytest.approx(
        2 * (1 - 0.5 * (1 - math.exp(-0.5))) ** 10 + 2 * (1 - 0.25 * (1 - math.exp(-0.5))) ** 10
    )
    assert printed_discrimination_bound(0.5, 16, QUARTERS) == pytest.approx(16 * math.exp(0.25))
    assert printed_discrimination_bound(0.5, 16, QUARTERS, -1) == pytest.approx(16 * math.exp(-0.25))
    assert printed_utility_bound(2.0, 8, QUARTERS) == pytest.approx(18 * math.exp(-0.5))
    assert utility_bound(3.0, 5, QUARTERS) == pytest.approx(2 * math.exp(-2 * 5 * 1.5**2))
