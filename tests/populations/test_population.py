from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import Population

HALF, EIGHTH = Fraction(1, 2), Fraction(1, 8)


def small():
    """Group "m" has three eighths at x=1 with label 1; the rest is spread."""
    return Population(
        prob=[EIGHTH * 3, EIGHTH, EIGHTH * 2, EIGHTH * 2],
        x=[1, 2, 1, 2],
        a=["m", "m", "w", "w"],
        y=[1, 0, 0, 1],
    )


def test_rates_by_hand():
    population = small()
    assert population.rate(lambda x, _: int(x == 1), "m") == Fraction(3, 4)
    assert population.rate(lambda x, _: int(x == 1), "w") == HALF
    assert population.rate(np.array([[HALF, 0], [1, 0]], dtype=object), "m") == Fraction(5, 8)
    assert population.accuracy(lambda x, _: int(x == 1)) == Fraction(4, 8)
    assert population.change(lambda *_: HALF, lambda x, _: int(x == 1), "m") == HALF
    assert population.exact


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_random_populations_are_distributions(seed, n_x, n_groups, exact):
    population = Population.random(np.random.default_rng(seed), n_x, n_groups, exact=exact)
    assert population.exact == exact
    assert population.table.sum() == (1 if exact else pytest.approx(1))
    assert population.table.shape == (n_x, n_groups, 2)
    for group in population.groups:
        assert population.conditional(group).sum() == (1 if exact else pytest.approx(1))


def test_exhaustive_yields_every_population_once():
    found = [tuple(population.table.reshape(-1)) for population in Population.exhaustive(1, 2, 3)]
    assert len(set(found)) == len(found)
    # compositions of 3 into 4 cells, less those with an empty group: 2 · (3 into 2 cells)
    assert len(found) == comb(6, 3) - 2 * comb(4, 1)


def test_samples_follow_the_probabilities():
    population = small()
    x, a, y = population.sample(20_000, np.random.default_rng(0))
    share = ((x == 1) & (a == "m") & (y == 1)).mean()
    # five standard errors: fails by chance once in a million seeds
    assert abs(share - 3 / 8) < 5 * np.sqrt(3 / 8 * 5 / 8 / 20_000)
    assert not ((x == 1) & (a == "m") & (y == 0)).any()


def test_atoms_may_repeat_and_come_in_any_order():
    one = Population([0.25, 0.25, 0.5], [0, 0, 1], [1, 1, 0], [0, 0, 1])
    other = Population([0.5, 0.5], [1, 0], [0, 1], [1, 0])
    np.testing.assert_array_equal(one.table, other.table)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prob": [0.5, 0.4]}, r"prob: found a sum of 0\.9, expected 1"),
        ({"prob": [HALF, Fraction(1, 3)]}, "prob: found a sum of 5/6"),
        ({"prob": [1.5, -0.5]}, r"prob: found -0\.5"),
        ({"prob": [0.5, np.nan]}, "prob: found nan"),
        ({"y": [0, 2]}, "y: found labels"),
        ({"x": [0]}, "lengths differ: prob has 2, x has 1"),
        ({"prob": [1.0, 0.0]}, "group 1 with probability 0"),
        ({"a": [0, None]}, "a: found a missing value at position 1"),
    ],
)
def test_bad_populations_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Population(**({"prob": [0.5, 0.5], "x": [0, 1], "a": [0, 1], "y": [0, 1]} | arguments))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: Population.random(rng, 0, 2), "n_x: found 0, expected a whole number of at least 1"),
        (lambda rng: Population.random(rng, 2.5, 2), r"n_x: found 2\.5"),
        (lambda _: Population.random(0, 2, 2), r"rng: found 0, expected a numpy\.random\.Generator"),
        (lambda _: list(Population.exhaustive(1, 2, 0)), "denominator: found 0"),
        (lambda rng: small().sample(-1, rng), "n: found -1"),
        (lambda _: small().sample(2, 0), "rng: found 0"),
        (lambda _: small().rate(lambda *_: "1", "m"), "h: found entries that are not numbers"),
        (lambda _: small().rate(lambda *_: None, "m"), "h: found entries that are not numbers"),
        (lambda _: small().rate(lambda *_: float("nan"), "m"), r"h: found a value outside \[0, 1\]"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))


def test_random_populations_have_empty_cells():
    tables = [Population.random(np.random.default_rng(seed), 3, 2).table for seed in range(50)]
    assert 0.05 < np.mean([(table == 0).mean() for table in tables]) < 0.4


def test_bad_classifiers_and_groups_are_refused():
    population = small()
    with pytest.raises(ValueError, match=r"h: found a table of shape \(3, 2\)"):
        population.rate(np.zeros((3, 2)), "m")
    with pytest.raises(ValueError, match=r"h: found a value outside \[0, 1\]"):
        population.rate(lambda *_: 2, "m")
    with pytest.raises(ValueError, match=r"h: found a value outside \[0, 1\]"):
        population.rate(np.full((2, 2), np.nan), "m")
    with pytest.raises(ValueError, match=r"a: found 'z', expected one of the groups \['m', 'w'\]"):
        population.rate(np.zeros((2, 2)), "z")
    with pytest.raises(ValueError, match=r"table: found shape \(2, 2\)"):
        Population.from_table(np.zeros((2, 2)))
