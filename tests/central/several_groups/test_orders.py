"""Products over groups, against all combinations of values on a small grid, in exact arithmetic."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.central.several_groups import orders

VALUES = range(5)


def draw(seed, groups):
    """Return each group's law on the grid, with ties and with values that never come, and its window."""
    rng = np.random.default_rng(seed)
    laws, windows = [], []
    for _ in range(groups):
        weights = rng.integers(0, 4, size=len(VALUES))
        weights[rng.integers(len(VALUES))] += 1
        laws.append([Fraction(int(weight), int(weights.sum())) for weight in weights])
        windows.append(sorted(rng.integers(0, len(VALUES), size=2).tolist()))
    return laws, windows


def at_least(law, value):
    return float(sum(law[value:]))


def probability(laws, windows, owner, point, below):
    """Return the probability that all but one group are in their windows, so many of them below it."""
    total = Fraction(0)
    others = [group for group in range(len(laws)) if group != owner]
    for values in itertools.product(VALUES, repeat=len(others)):
        inside = all(windows[g][0] <= value <= windows[g][1] for g, value in zip(others, values, strict=True))
        lower = sum(
            value < point or (value == point and g < (owner or 0))
            for g, value in zip(others, values, strict=True)
        )
        if inside and below in (None, lower):
            total += math.prod(
                (laws[g][value] for g, value in zip(others, values, strict=True)), start=Fraction(1)
            )
    return float(total)


def arguments(laws, windows):
    ends = [
        (np.full(len(VALUES), at_least(law, low)), np.full(len(VALUES), at_least(law, high + 1)))
        for law, (low, high) in zip(laws, windows, strict=True)
    ]
    reached = [
        (np.array([at_least(law, v + 1) for v in VALUES]), np.array([at_least(law, v) for v in VALUES]))
        for law in laws
    ]
    return ends, reached


def worst(decides, all_but):
    """Return the largest difference from the definition, over laws, deciding groups and points."""
    found = 0.0
    for seed, groups in itertools.product(range(6), (1, 2, 3, 4)):
        laws, windows = draw(seed, groups)
        ends, reached = arguments(laws, windows)
        for below in range(groups):
            factor = np.linspace(0.5, 1.5, len(VALUES))
            for owner, row in enumerate(decides(ends, reached, below, factor)):
                right = [
                    factor[at] * probability(laws, windows, owner, point, below)
                    for at, point in enumerate(VALUES)
                ]
                found = max(found, float(abs(row - right).max()))
        for owner in (*range(groups), None):
            right = probability(laws, windows, owner, 0, None)
            found = max(found, float(abs(all_but(ends, owner, np.zeros(len(VALUES))) - right).max()))
    return found


def test_products_are_the_probabilities_of_all_combinations():
    assert worst(orders.one_decides, orders.all_but) < 1e-12


@pytest.mark.parametrize(
    ("decides", "all_but"),
    [
        (
            lambda e, r, b, f: orders.one_decides(e, [(y, x) for x, y in r], b, f),
            orders.all_but,
        ),  # ties turned round
        (
            lambda e, r, b, f: orders.one_decides(e, [(x, x) for x, _ in r], b, f),
            orders.all_but,
        ),  # ties on one side
        (lambda e, r, b, f: orders.one_decides(e, r, max(b - 1, 0), f), orders.all_but),
        (lambda e, r, b, _: orders.one_decides(e, r, b, np.ones(len(VALUES))), orders.all_but),
        (orders.one_decides, lambda e, _, p: orders.all_but(e, None, p)),
    ],
)
def test_wrong_products_are_noticed(decides, all_but):
    assert worst(decides, all_but) > 1e-3
