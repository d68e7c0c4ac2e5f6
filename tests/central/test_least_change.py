import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib import Population, optimal_change
from dpfair_lib.central import least_change
from dpfair_lib.central.least_change import (
    is_least_change,
    least_change_by_enumeration,
    least_change_by_lp,
)


def random_case(rng, n_x=3):
    population = Population.random(rng, n_x, 2, exact=True)
    h = np.array([[Fraction(int(rng.integers(0, 3)), 2) for _ in range(2)] for _ in range(n_x)], dtype=object)
    return population, h, Fraction(int(rng.integers(0, 13)), 12)


def test_program_is_certified_and_equals_the_closed_form():
    rng = np.random.default_rng(1)
    for _ in range(50):
        population, h, gamma = random_case(rng)
        solved = least_change_by_lp(population, h, gamma)
        assert solved.value == solved.lower_bound
        assert solved.value == optimal_change(population.rate(h, 0), population.rate(h, 1), gamma)
        assert abs(population.rate(solved.classifier, 0) - population.rate(solved.classifier, 1)) <= gamma


def test_group_blind_classifiers_need_at_least_as_much():
    rng = np.random.default_rng(2)
    more = 0
    for _ in range(50):
        population, h, gamma = random_case(rng)
        blind = least_change_by_lp(population, h, gamma, group_blind=True)
        assert blind.value == blind.lower_bound
        assert (blind.classifier[:, 0] == blind.classifier[:, 1]).all()
        free = least_change_by_lp(population, h, gamma).value
        assert blind.value >= free
        more += blind.value > free
    assert more > 10


def test_enumeration_lies_above_the_program_and_reaches_it_somewhere():
    rng = np.random.default_rng(3)
    equal = 0
    for _ in range(40):
        population, _, gamma = random_case(rng)
        h = rng.integers(0, 2, size=(3, 2))
        deterministic = least_change_by_enumeration(population, h, gamma)
        randomised = least_change_by_lp(population, h, gamma).value
        assert deterministic >= randomised
        equal += deterministic == randomised
    assert 0 < equal < 40


def test_structure_of_optima_ignores_people_of_probability_zero():
    weights = np.array([[1.0, 0.5], [0.0, 0.5]])
    before = np.array([[1.0, 1.0], [0.0, 0.0]])
    promoted_nobody = np.array([[0.5, 1.0], [1.0, 0.0]])  # group 0 promotes its point of mass 0
    assert is_least_change(weights, before, promoted_nobody)
    assert not is_least_change(weights, before, before)


def test_structure_agrees_with_the_definition_on_many_points():
    rng = np.random.default_rng(5)
    optimal = 0
    for _ in range(3000):
        weights = rng.multinomial(8, [0.25] * 4, size=2).T / 8
        before = rng.integers(0, 2, size=(4, 2)).astype(float)
        after = np.clip(
            before + rng.choice([-0.5, 0, 0, 0.5], size=(4, 2)) * rng.choice([1, -1], size=(1, 2)), 0, 1
        )
        rates, fair = (weights * before).sum(axis=0), (weights * after).sum(axis=0)
        change = (weights * abs(after - before)).sum()
        expected = fair[0] == fair[1] and change == abs(rates[0] - rates[1])
        assert is_least_change(weights, before, after) == expected
        optimal += expected
    assert optimal > 20


def test_masses_with_large_denominators_are_certified():
    masses = [[1009, 1013, 1019, 1021], [1031, 1033, 1039, 1049]]
    table = [[[Fraction(side[x], 2 * sum(side)), Fraction(0)] for side in masses] for x in range(4)]
    population = Population.from_table(np.array(table, dtype=object))
    h = np.array([[Fraction(int(x >= 1))] * 2 for x in range(4)], dtype=object)
    for gamma in (Fraction(0), Fraction(1, 997), Fraction(1, 64)):
        for blind in (False, True):
            solved = least_change_by_lp(population, h, gamma, group_blind=blind)
            assert solved.value == solved.lower_bound


def test_inputs_that_cannot_be_certified_are_refused():
    rng = np.random.default_rng(4)
    floats = Population.random(rng, 2, 2)
    with pytest.raises(ValueError, match="population: found float probabilities"):
        least_change_by_lp(floats, np.zeros((2, 2)), Fraction(0))
    three = Population.random(rng, 2, 3, exact=True)
    with pytest.raises(ValueError, match="population: found 3 groups"):
        least_change_by_lp(three, np.zeros((2, 3)), Fraction(0))
    large = Population.random(rng, 11, 2)
    with pytest.raises(ValueError, match="population: found 11 points"):
        least_change_by_enumeration(large, np.zeros((11, 2)), 0)


def test_the_enumeration_is_the_least_over_all_pairs_of_deterministic_classifiers():
    rng = np.random.default_rng(5)
    for n_x in (1, 2, 3):
        for _ in range(6):
            population, h, gamma = random_case(rng, n_x)
            mass = [population.conditional(group).tolist() for group in (0, 1)]
            sides = list(itertools.product((0, 1), repeat=n_x))
            rate = [
                [sum(m * v for m, v in zip(mass[a], side, strict=True)) for side in sides] for a in (0, 1)
            ]
            cost = [
                [
                    sum(m * abs(v - old) for m, v, old in zip(mass[a], side, h[:, a], strict=True))
                    for side in sides
                ]
                for a in (0, 1)
            ]
            pairs = itertools.product(range(len(sides)), repeat=2)
            least = min(cost[0][i] + cost[1][j] for i, j in pairs if abs(rate[0][i] - rate[1][j]) <= gamma)
            assert least_change_by_enumeration(population, h, gamma) == least


@pytest.mark.parametrize("beyond", [Fraction(2), Fraction(-1)])
def test_a_solution_beyond_the_probabilities_is_not_certified(beyond, monkeypatch):
    half = Fraction(1, 2)
    table = np.array(
        [[[half, 0], [Fraction(1, 4), 0]], [[0, 0], [Fraction(1, 4), 0]]], dtype=object
    ) + Fraction(0)
    population = Population.from_table(table)  # of group 0 nobody is at the second point
    h = np.full((2, 2), Fraction(1), dtype=object)
    assert least_change_by_lp(population, h, Fraction(0)).value == 0
    usual = least_change._exact_values

    def wrong(*arguments):
        exact = usual(*arguments)
        exact[2] = beyond  # moves neither the change nor the gap
        return exact

    monkeypatch.setattr(least_change, "_exact_values", wrong)
    with pytest.raises(RuntimeError, match="nothing is certified"):
        least_change_by_lp(population, h, Fraction(0))
