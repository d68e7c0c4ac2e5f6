"""The thresholds of one group: which of them are enough, and which mixture leaves least to chance."""

import numpy as np
import pytest
from scipy.optimize import linprog

from dpfair_lib.postprocessing.groups import Group
from dpfair_lib.postprocessing.thresholds import Thresholds

OBJECTIVES = ("change_rates", "changes", "errors")


def drawn(seed, n=120):
    """Return the thresholds of drawn rows: many levels, few, or labels alone."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, size=n)
    y_true[:2] = 0, 1
    scores = [rng.normal(size=n) + y_true, rng.integers(0, 5, n) + 2.0 * y_true, np.zeros(n)][seed % 3]
    y_pred = (scores > np.median(scores)).astype(int) if seed % 2 else rng.integers(0, 2, size=n)
    weights = np.ones(n) if seed % 4 < 2 else rng.uniform(0.1, 3, size=n)
    return Group.of(y_pred, scores, weights, y_true).thresholds(OBJECTIVES[seed % 7 % 3])


@pytest.mark.parametrize("seed", range(60))
def test_no_threshold_beats_the_corners_at_any_prices(seed):
    group, rng = drawn(seed), np.random.default_rng(seed)
    corners = group.corners()
    scale = group.costs.max()
    for prices in rng.normal(size=(300, 2)) * 10.0 ** rng.integers(-3, 3, size=(300, 1)):
        reduced = group.costs - scale * (prices[0] * group.false_positive + prices[1] * group.true_positive)
        assert reduced[corners].min() <= reduced.min() + 1e-9 * abs(reduced).max()


def test_corners_are_few():
    group = drawn(9, n=3000)
    assert len(group.corners()) < 60 < len(group.costs)


def by_program(group, rates, allowed):
    """Return the least variance of the selection rate over all mixtures with these rates."""
    points = np.stack([np.ones(len(allowed)), group.false_positive[allowed], group.true_positive[allowed]])
    squares = group.selected[allowed] ** 2
    solved = linprog(1e3 * squares, A_eq=points, b_eq=[1, *rates], method="highs")
    assert solved.status == 0
    return solved.fun / 1e3 - (group.selected[allowed] @ solved.x) ** 2


def variance(group, mixture):
    at, chances = (np.array(part) for part in zip(*mixture, strict=True))
    return group.selected[at] ** 2 @ chances - (group.selected[at] @ chances) ** 2


def start(group, rng, size):
    """Return a mixture of up to three thresholds that are far apart."""
    last = len(group.costs) - 1
    at = sorted({0, int(rng.integers(last + 1)), last} if size == 3 else {0, last})
    return [(count, float(chance)) for count, chance in zip(at, rng.dirichlet(np.ones(len(at))), strict=True)]


@pytest.mark.parametrize("seed", range(60))
def test_the_steadiest_mixture_is_that_of_a_linear_program(seed):
    group, rng = drawn(seed), np.random.default_rng(seed)
    allowed = np.arange(len(group.costs))
    for size in (2, 3, 3):
        mixture = start(group, rng, size)
        found = group.steadiest(mixture, allowed)
        assert group.rates(found) == pytest.approx(group.rates(mixture), abs=1e-11)
        assert [count for count, _ in found] == sorted({count for count, _ in found})
        assert sum(chance for _, chance in found) == pytest.approx(1, abs=1e-12)
        assert all(chance > 0 for _, chance in found)
        assert len(found) <= 3
        least = by_program(group, group.rates(mixture), allowed)
        assert variance(group, found) == pytest.approx(least, abs=1e-7)


def test_the_steadiest_mixture_often_varies_less_than_the_given_one():
    """So that a method which returns the given one would be seen above."""
    rng, less = np.random.default_rng(0), []
    for seed in range(0, 60, 3):
        group = drawn(seed)
        mixture = start(group, rng, 3)
        found = group.steadiest(mixture, np.arange(len(group.costs)))
        less.append(variance(group, found) < 0.5 * variance(group, mixture))
    assert np.mean(less) > 0.5


@pytest.mark.parametrize("seed", range(6))
def test_only_allowed_thresholds_are_used(seed):
    group, rng = drawn(3 * seed), np.random.default_rng(seed)
    mixture = start(group, rng, 3)
    allowed = np.arange(0, len(group.costs), 3)
    used = {count for count, _ in group.steadiest(mixture, allowed)}
    assert used <= set(allowed.tolist()) | {count for count, _ in mixture}
    same = group.steadiest(mixture, np.array([], dtype=int))
    assert np.array(same) == pytest.approx(np.array(mixture), abs=1e-12)


def test_a_single_threshold_stays():
    group = drawn(0)
    assert group.steadiest([(4, 1.0)], np.arange(len(group.costs))) == [(4, 1.0)]


def test_on_an_edge_neighbours_are_mixed():
    """Ten people of label 1 stand above ten of label 0, each alone: the true positive rate rises along an edge."""
    ones = np.repeat([0.0, 1.0], 10)
    group = Thresholds.of(1 - ones, ones, 1 - ones, ones)
    found = group.steadiest([(0, 0.55), (10, 0.45)], np.arange(21))
    assert [count for count, _ in found] == [4, 5]
    assert [chance for _, chance in found] == pytest.approx([0.5, 0.5])


def test_where_scores_say_nothing_rounding_changes_no_rate():
    """All thresholds lie on one line, from nobody to everybody."""
    half = np.full(9, 0.5)
    group = Thresholds.of(half, half, half, half)
    for mixture in ([(0, 0.3), (9, 0.7)], [(0, 0.3), (4, 0.3), (9, 0.4)]):
        found = group.steadiest(mixture, np.arange(10))
        assert group.rates(found) == pytest.approx(group.rates(mixture), abs=1e-11)
