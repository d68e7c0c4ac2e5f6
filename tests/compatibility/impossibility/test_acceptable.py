from fractions import Fraction

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib import Population
from dpfair_lib.compatibility.impossibility.acceptable import (
    hypothesis_grid,
    neighbor_table,
    statistical_distance,
    weight_tables,
)
from dpfair_lib.compatibility.impossibility.criteria import beats_constants, fair_within

FAIR, ACCURATE = fair_within("opportunity"), beats_constants()


def uniform(n_x=2):
    return Population.from_table(np.full((n_x, 2, 2), Fraction(1, 4 * n_x), dtype=object))


def shifted(mass):
    table = uniform().table.copy()
    table[0, 0, 0] -= mass
    table[1, 1, 1] += mass
    return Population.from_table(table)


def test_what_misses_no_positive_is_acceptable_and_ties_are_not():
    table = np.full((2, 2, 2), Fraction(0), dtype=object)
    table[1, :, 1] = table[0, :, 0] = Fraction(1, 4)
    grid = hypothesis_grid(2)
    met = dpf.acceptable_hypotheses(Population.from_table(table), grid, FAIR, ACCURATE)
    assert grid[met].tolist() == [[[0, 0], [1, 1]], [[0, 1], [1, 1]], [[1, 0], [1, 1]]]
    assert not dpf.acceptable_hypotheses(uniform(), grid, FAIR, ACCURATE).any()
    assert dpf.acceptable_hypotheses(uniform(), grid, None, None).all()


def test_a_grid_has_every_hypothesis_once():
    halves = hypothesis_grid(3, levels=(Fraction(0), Fraction(1, 2), Fraction(1)))
    assert halves.shape == (729, 3, 2)
    assert len({tuple(h.flat) for h in halves}) == 729
    assert hypothesis_grid(2).dtype == np.int64


def test_distance_is_half_of_the_sum_and_neighbours_include_the_edge():
    laws = [uniform(), shifted(Fraction(1, 10)), shifted(Fraction(-1, 16))]
    assert statistical_distance(laws[0], laws[1]) == Fraction(1, 10)
    near = neighbor_table(laws, Fraction(1, 10))
    assert near.tolist() == [[False, True, True], [True, False, False], [True, False, False]]
    assert not neighbor_table(laws[:2], Fraction(1, 10) - Fraction(1, 10**40)).any()


def test_large_denominators_stay_exact():
    laws = [uniform(), shifted(Fraction(1, 10**30))]
    assert weight_tables(laws).dtype == object
    grid = hypothesis_grid(2, levels=(Fraction(1, 3), Fraction(10**20, 3 * 10**20 + 1)))
    fair = dpf.acceptable_hypotheses(laws[1], grid, FAIR, None)
    for h, found in zip(grid, fair, strict=True):
        rates = [sum(laws[1].table[:, a, 1] * h[:, a]) / sum(laws[1].table[:, a, 1]) for a in (0, 1)]
        assert found == (rates[0] == rates[1])


def test_bad_input_is_refused():
    grid = hypothesis_grid(2)
    floats = Population.from_table(np.full((2, 2, 2), 0.125))
    with pytest.raises(ValueError, match="populations: found floating-point probabilities, expected exact"):
        dpf.acceptable_hypotheses(floats, grid, FAIR, None)
    with pytest.raises(ValueError, match=r"hypotheses: found shape \(16, 2, 2\), expected"):
        dpf.acceptable_hypotheses(uniform(3), grid, FAIR, None)
    for none in ([], grid[:0]):
        with pytest.raises(ValueError, match="hypotheses: found none, expected at least one"):
            dpf.acceptable_hypotheses(uniform(), none, FAIR, None)
        with pytest.raises(ValueError, match="hypotheses: found none, expected at least one"):
            dpf.pure_dp_feasible(
                [uniform()], none, zeta=Fraction(1, 10), epsilon=1.0, fair=FAIR, accurate=None
            )
    with pytest.raises(ValueError, match="hypotheses: found entries of type float64"):
        dpf.acceptable_hypotheses(uniform(), grid / 2, FAIR, None)
    with pytest.raises(ValueError, match="hypotheses: found a value outside"):
        dpf.acceptable_hypotheses(uniform(), 2 * grid, FAIR, None)
    with pytest.raises(ValueError, match="populations: found different points or groups"):
        statistical_distance(uniform(2), uniform(3))
    with pytest.raises(ValueError, match="populations: found none"):
        weight_tables([])
    for zeta in (0, 0.5, Fraction(-1, 2), True):
        with pytest.raises(ValueError, match="zeta: found"):
            neighbor_table([uniform()], zeta)


@pytest.mark.parametrize("populations", [[3], "no", None, iter(()), {}])
def test_what_is_no_list_of_populations_is_refused(populations):
    with pytest.raises(ValueError, match=r"populations: found .*, expected a sequence of Population objects"):
        weight_tables(populations)
