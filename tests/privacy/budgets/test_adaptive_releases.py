"""The worst way to choose releases one after another, against small cases by hand."""

import math

import pytest

from dpfair_lib.privacy import (
    optimal_composition_delta,
)
from dpfair_lib.privacy.budgets.adaptive_releases import adaptive_delta


def test_totals_of_fixed_releases_are_no_filter():
    unit, epsilon, delta = 0.25, 1.0, 0.05
    menu = ((1, 0.0), (2, 0.0), (3, 0.0), (4, 0.0))

    def composed(counts):
        losses = {0: 1.0}
        for m, count in enumerate(counts, start=1):
            rises = 1 / (1 + math.exp(-m * unit))
            for _ in range(count):
                after = {}
                for loss, chance in losses.items():
                    after[loss + m] = after.get(loss + m, 0.0) + chance * rises
                    after[loss - m] = after.get(loss - m, 0.0) + chance * (1 - rises)
                losses = after
        return sum(chance * max(1 - math.exp(epsilon - loss * unit), 0.0) for loss, chance in losses.items())

    assert composed((0, 0, 0, 3)) == pytest.approx(optimal_composition_delta(1.0, 0.0, 3, 1.0))
    worst = adaptive_delta(menu, epsilon, lambda counts: composed(counts) <= delta, unit=unit, most=6)
    assert worst == pytest.approx(
        0.0655439, abs=1e-7
    )  # above δ, though every list that can happen is below it


def test_one_release_alone_by_hand():
    # everything with probability 0.1, and else randomised response of ε = 1, at ε = ½
    found = adaptive_delta(((2, 0.1),), 0.5, lambda counts: sum(counts) <= 1, unit=0.5, most=5)
    rises = math.e / (1 + math.e)
    assert found == pytest.approx(0.1 + 0.9 * (rises - math.exp(0.5) * (1 - rises)), rel=1e-14)
    assert adaptive_delta(((2, 0.1),), 0.5, lambda _: False, unit=0.5, most=5) == 0.0
    # of two releases of ε = ½ the worst loss is 1, with the square of the chance
    twice = adaptive_delta(((1, 0.0),), 0.5, lambda _: True, unit=0.5, most=2)
    assert twice == pytest.approx(optimal_composition_delta(0.5, 0.0, 2, 0.5), rel=1e-13)


def test_bad_arguments_of_the_game_are_named():
    for menu, epsilon, unit, most, name in [
        (((0, 0.0),), 1.0, 0.5, 3, "menu"), (((1, -0.1),), 1.0, 0.5, 3, "menu"), (((1, 0.0),), -1.0, 0.5, 3, "epsilon"),
        (((1, 0.0),), 1.0, 0.0, 3, "unit"), (((1, 0.0),), 1.0, 0.5, 0, "most"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=name):
            adaptive_delta(menu, epsilon, lambda _: True, unit=unit, most=most)
