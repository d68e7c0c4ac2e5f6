import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.compatibility.impossibility.acceptable import (
    acceptable_table,
    hypothesis_grid,
    statistical_distance,
)
from dpfair_lib.compatibility.impossibility.chains import coin_chain, connecting_chain
from dpfair_lib.compatibility.impossibility.criteria import beats_constants, fair_within, is_usable

FAIR, ACCURATE = fair_within("opportunity"), beats_constants()


def assert_connects(chain, switch, h, g, zeta, fair):
    met = acceptable_table(chain, np.stack([h, g]), fair, ACCURATE)
    assert met[:switch, 0].all()
    assert met[switch:, 1].all()
    assert not met[0, 1]
    assert not met[-1, 0]
    for one, two in itertools.pairwise(chain):
        assert statistical_distance(one, two) <= zeta
    for law in chain:
        assert (law.table.sum(axis=0) > 0).all()


def test_any_two_usable_hypotheses_on_three_points_are_connected():
    grid = hypothesis_grid(3)
    pairs = list(itertools.combinations(grid[is_usable(grid)], 2))
    assert len(pairs) == 48 * 47 // 2
    complements = [(h, g) for h, g in pairs if (h + g == 1).all()]
    for h, g in [*pairs[::23], *complements[::4]]:
        assert_connects(*connecting_chain(h, g, Fraction(1, 5)), h, g, Fraction(1, 5), FAIR)


def test_small_steps():
    h, g = np.array([[0, 0], [1, 1]]), np.array([[1, 1], [0, 0]])
    for zeta in (Fraction(1, 1000), Fraction(3, 2)):
        assert_connects(*connecting_chain(h, g, zeta), h, g, zeta, FAIR)
        assert_connects(*coin_chain(h, g, zeta), h, g, zeta, None)


def test_accuracy_alone_connects_unusable_hypotheses_too():
    grid = [h for h in hypothesis_grid(2) if 0 < h.sum() < 4]
    for h, g in itertools.permutations(grid, 2):
        assert_connects(*coin_chain(h, g, Fraction(1, 3)), h, g, Fraction(1, 3), None)


def test_what_cannot_be_connected_is_refused():
    x, a, one = np.array([[0, 0], [1, 1]]), np.array([[0, 1], [0, 1]]), np.ones((2, 2), dtype=int)
    for h, g in ((x, x), (x, a), (one, x)):
        with pytest.raises(ValueError, match="h, g: expected two different hypotheses"):
            connecting_chain(h, g, Fraction(1, 4))
    for h, g in ((x, x), (one, x)):
        with pytest.raises(ValueError, match="h, g: expected two different hypotheses"):
            coin_chain(h, g, Fraction(1, 4))
