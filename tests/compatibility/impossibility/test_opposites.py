import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    acceptable_by_definition,
    constant_error,
    error_by_definition,
    gap_by_definition,
)
from dpfair_lib.compatibility.impossibility.acceptable import hypothesis_grid, statistical_distance
from dpfair_lib.compatibility.impossibility.opposites import (
    nested_in_a_group,
    nested_laws,
    opposite_coins,
    opposite_laws,
    servable,
    usable_within,
)

X, NOT_X = np.array([[0, 0], [1, 1]]), np.array([[1, 1], [0, 0]])
GROUP = np.array([[0, 1], [0, 1]])
ZETA = Fraction(1, 1000)


def test_usable_by_hand():
    some = np.stack([X, GROUP, 1 - GROUP, np.zeros_like(X), [[0, 1], [0, 0]]])
    assert usable_within(some, Fraction(1, 100)).tolist() == [True, False, False, False, True]
    assert usable_within(some, 0).tolist() == [True, False, False, False, False]


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 1000), Fraction(999, 1000)])
def test_nothing_is_accurate_on_two_opposite_laws(alpha):
    grid = hypothesis_grid(3)
    usable = grid[usable_within(grid, alpha)]
    for h, g in list(itertools.permutations(usable, 2))[::131]:
        if alpha == 0 and nested_in_a_group(h, g):
            continue
        first, second = opposite_laws(h, g, ZETA, alpha)
        assert statistical_distance(first, second) <= ZETA
        for law, f in ((first, h), (second, g)):
            assert gap_by_definition(law.table, f.tolist()) <= alpha
            assert error_by_definition(law.table, f.tolist()) < constant_error(law.table)
        for k in hypothesis_grid(3)[::3].tolist():
            better = [
                error_by_definition(law.table, k) < constant_error(law.table) for law in (first, second)
            ]
            assert not all(better)


@pytest.mark.parametrize("zeta", [ZETA, Fraction(1, 4)])
def test_laws_for_accuracy_alone_by_definition(zeta):
    pairs = list(itertools.permutations([h for h in hypothesis_grid(2) if 0 < h.sum() < h.size], 2))
    for h, g in pairs[::7]:
        first, second = opposite_coins(h, g, zeta)
        assert 0 < statistical_distance(first, second) <= zeta
        better = [
            [error_by_definition(law.table, f.tolist()) < constant_error(law.table) for f in (h, g)]
            for law in (first, second)
        ]
        assert better == [[True, False], [False, True]]


def test_nesting_by_definition():
    for h, g in itertools.product(hypothesis_grid(2), repeat=2):
        chosen = [{(x, a) for x in (0, 1) for a in (0, 1) if f[x, a]} for f in (h, g)]
        whole = any({(0, a), (1, a)} <= chosen[0] & chosen[1] for a in (0, 1))
        assert nested_in_a_group(h, g) == (whole and (chosen[0] <= chosen[1] or chosen[1] <= chosen[0]))


def test_nested_pair_by_hand():
    top, below = np.array([[1, 1], [1, 1], [0, 1]]), np.array([[1, 1], [0, 1], [0, 1]])
    first, second = nested_laws(top, below, ZETA)
    assert [acceptable_by_definition(law.table, top.tolist()) for law in (first, second)] == [True, False]
    assert [acceptable_by_definition(law.table, below.tolist()) for law in (first, second)] == [False, True]
    with pytest.raises(ValueError, match="one within the other"):
        nested_laws(below, top, ZETA)
    with pytest.raises(ValueError, match="see nested_laws"):
        opposite_laws(top, below, ZETA, Fraction(0))
    opposite_laws(top, below, ZETA, Fraction(1, 100))  # with a threshold there is no exception


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: usable_within(X, 1), "alpha: found 1, expected"),
        (lambda: opposite_laws(X, X, ZETA, Fraction(0)), "two different hypotheses that are usable"),
        (lambda: opposite_laws(X, GROUP, ZETA, Fraction(1, 2)), "two different hypotheses that are usable"),
        (lambda: opposite_laws(X, NOT_X, Fraction(2), Fraction(0)), "zeta: found 2, expected"),
        (lambda: opposite_coins(X, 0 * X, ZETA), "two different hypotheses that are not constant"),
        (lambda: opposite_coins(X, GROUP, Fraction(1)), "zeta: found 1, expected"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_can_be_served_by_hand():
    two, one = np.stack([X, NOT_X]), np.stack([X, np.zeros_like(X)])
    assert [servable(class_, Fraction(1, 10), 0.5) for class_ in (two, one)] == [False, True]
    assert servable(two, Fraction(1, 10), 1)
