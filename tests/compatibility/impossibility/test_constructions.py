from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib import Population
from dpfair_lib.compatibility.impossibility.acceptable import (
    acceptable_table,
    hypothesis_grid,
    statistical_distance,
)
from dpfair_lib.compatibility.impossibility.constructions import (
    cell_pair,
    curve_family,
    four_atoms,
    gap_steps,
    hopeless_law,
    levelled_down,
    sign_pair,
    softened,
    unfair_neighbor,
)
from dpfair_lib.compatibility.impossibility.criteria import (
    beats_constants,
    fair_within,
    opportunity_gap,
    worst_gap,
)

FAIR, ACCURATE = fair_within("opportunity"), beats_constants()
HALVES = hypothesis_grid(2, levels=(Fraction(0), Fraction(1, 2), Fraction(1)))
RNG = np.random.default_rng(7)


def exact_laws(count, n_x):
    found = []
    while len(found) < count:
        law = Population.random(RNG, n_x, 2, exact=True)
        if (law.table.sum(axis=0) > 0).all():
            found.append(law)
    return found


def test_the_printed_pair():
    moved = four_atoms(Fraction(1, 10))
    assert statistical_distance(four_atoms(), moved) == Fraction(1, 10)
    assert moved.table[1, 0, 1] == Fraction(3, 20)
    assert moved.table[3, 1, 1] == Fraction(7, 20)
    for zeta in (Fraction(1, 4), Fraction(-1, 9)):
        with pytest.raises(ValueError, match="zeta: found"):
            four_atoms(zeta)


def test_no_randomised_hypothesis_serves_either_pair():
    for pair in (sign_pair(Fraction(1, 30)), cell_pair(Fraction(1, 30))):
        assert statistical_distance(*pair) == Fraction(1, 30)
    assert not acceptable_table(sign_pair(Fraction(1, 30)), HALVES, None, ACCURATE).all(axis=0).any()
    fair = acceptable_table(cell_pair(Fraction(1, 30)), HALVES, FAIR, None).all(axis=0)
    accurate = acceptable_table(cell_pair(Fraction(1, 30)), HALVES, None, ACCURATE)[0]
    assert fair.any()
    assert accurate.any()
    assert not (fair & accurate).any()
    with pytest.raises(ValueError, match="zeta: found 1/4"):
        cell_pair(Fraction(1, 4))


def test_an_unfair_law_is_near_every_law_for_every_hypothesis_that_is_not_constant():
    for law in exact_laws(40, 3):
        for h in RNG.integers(0, 3, size=(10, 3, 2)):
            h = h.astype(object) * Fraction(1, 2)
            if len(set(h.flat)) == 1:
                with pytest.raises(ValueError, match="h: found a constant hypothesis"):
                    unfair_neighbor(law, h, Fraction(1, 100))
                continue
            other = unfair_neighbor(law, h, Fraction(1, 100))
            assert statistical_distance(law, other) <= Fraction(1, 100)
            assert opportunity_gap(other.table, h) > 0


def test_on_the_curve_a_hypothesis_that_is_not_constant_is_rarely_fair():
    for n_x in (1, 2, 3):
        table = RNG.integers(1, 6, size=(n_x, 2, 2)).astype(object)
        law = Population.from_table(table * Fraction(1, int(table.sum())))
        family = curve_family(law, Fraction(1, 50), 2 * n_x + 3)
        grid = hypothesis_grid(n_x)
        times = acceptable_table(family, grid, FAIR, None).sum(axis=0)
        constant = np.array([len(set(h.flat)) == 1 for h in grid])
        assert (times[constant] == len(family)).all()
        assert (times[~constant] <= 2 * n_x - 2).all()
        assert all(0 < statistical_distance(law, other) <= Fraction(1, 50) for other in family) or n_x == 1
    with pytest.raises(ValueError, match="population: found a point without positives"):
        curve_family(four_atoms(), Fraction(1, 50), 3)


def test_a_hopeless_law_lies_in_its_universe():
    universe = np.ones((3, 2, 2), dtype=bool)
    universe[0] = [[False, True], [True, False]]
    law = hopeless_law(universe)
    assert (law.table[~universe] == 0).all()
    assert not acceptable_table([law], hypothesis_grid(3), FAIR, ACCURATE).any()
    universe[1:] = False
    with pytest.raises(ValueError, match="universe: found a group without one of the labels"):
        hopeless_law(universe)


def test_softening_keeps_accuracy_and_bounds_the_gap_everywhere():
    for law in exact_laws(30, 2):
        for g in hypothesis_grid(2)[acceptable_table([law], hypothesis_grid(2), None, ACCURATE)[0]]:
            h = softened(law, g, Fraction(1, 7))
            assert worst_gap(h) <= Fraction(1, 7)
            assert acceptable_table([law], h[None], None, ACCURATE).all()


def test_levelling_down_is_fair_and_cheap():
    for law in exact_laws(30, 3):
        for h in RNG.integers(0, 5, size=(5, 3, 2)):
            h = h.astype(object) * Fraction(1, 4)
            fairer = levelled_down(law.table, h)
            assert opportunity_gap(law.table, fairer) == 0
            price = law.accuracy(h) - law.accuracy(fairer)
            assert price <= law.table[..., 1].sum(axis=0).max() * opportunity_gap(law.table, h)


def test_steps_count_down_to_the_threshold():
    law = Population.from_table(np.full((2, 2, 2), Fraction(1, 8), dtype=object))
    h = np.array([[0, 0], [1, 1]])
    assert gap_steps(law, h, Fraction(1, 10), Fraction(1, 1000)) == 13
    assert gap_steps(law, h, Fraction(0), Fraction(1, 1000)) == 0
    assert gap_steps(law, np.array([[0, 1], [0, 1]]), Fraction(1, 2), Fraction(1, 1000)) == 0
