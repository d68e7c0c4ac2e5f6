"""The least cost of each rate, against all mixtures of two threshold rules, in fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.postprocessing import curves
from dpfair_lib.postprocessing.curves import Curve, cheapest_rules


def exact(values):
    return np.array([Fraction(value) for value in values], dtype=object)


def thresholds(counted, if_one, if_zero):
    """Return each threshold's rate and cost, from the definition."""
    m = len(counted)
    return [
        (
            Fraction(sum(counted[m - c :]), sum(counted)),
            Fraction(sum(if_one[m - c :]) + sum(if_zero[: m - c])),
        )
        for c in range(m + 1)
    ]


def least(points, rate):
    """Return the least cost of a mixture of two thresholds with this rate."""
    costs = [cost for r, cost in points if r == rate]
    for (r, cost), (s, other) in itertools.combinations(points, 2):
        if r < rate < s:
            costs.append(cost + (rate - r) / (s - r) * (other - cost))
    return min(costs)


def universe(levels):
    """Yield what counts, and what both labels cost, at each level: all of it from {0, 1, 2}, costs as differences."""
    for counted in itertools.product((0, 1, 2), repeat=levels):
        if any(counted):
            for steps in itertools.product((-2, -1, 0, 1), repeat=levels):
                yield counted, [max(step, 0) for step in steps], [max(-step, 0) for step in steps]


def disagreements(find, levels=3):
    """Yield the cases in which a curve, or its mixtures, are not the least cost of some rate."""
    for case in universe(levels):
        points = thresholds(*case)
        curve = find(*map(exact, case))
        rates = sorted({rate for rate, _ in points})
        rates += [(one + other) / 2 for one, other in itertools.pairwise(rates)]
        agree = all(curve.cost(rate) == least(points, rate) for rate in rates)
        for rate in rates:
            mixture = curve.mixture(rate)
            agree &= sum(chance * points[count][0] for count, chance in mixture) == rate
            agree &= sum(chance * points[count][1] for count, chance in mixture) == curve.cost(rate)
            agree &= sum(chance for _, chance in mixture) == 1
        if not agree:
            yield case


def test_no_mixture_of_two_thresholds_is_cheaper_in_a_whole_universe():
    assert not list(disagreements(cheapest_rules))


def _dearest_of_each(rates, costs):
    order = np.array(sorted(range(len(rates)), key=lambda i: (rates[i], -costs[i], i)))
    return order[np.concatenate([[True], rates[order][1:] != rates[order][:-1]])]


def _two_ends(x, y):  # noqa: ARG001 (as the hull)
    return np.array([0, len(x) - 1])


def _every_point(x, y):  # noqa: ARG001 (as the hull)
    return np.arange(len(x))


@pytest.mark.parametrize(
    ("name", "fault"),
    [("_cheapest_of_each", _dearest_of_each), ("hull", _two_ends), ("hull", _every_point)],
)
def test_a_wrong_hull_is_found(monkeypatch, name, fault):
    monkeypatch.setattr(curves, name, fault)
    assert any(disagreements(cheapest_rules))


def test_a_mixture_of_the_wrong_threshold_is_found():
    def one_more(*case):
        found = cheapest_rules(*case)
        return found._replace(selected=np.maximum(found.selected - 1, 0))

    assert any(disagreements(one_more))


@pytest.mark.parametrize("seed", range(20))
def test_floats_agree_with_fractions_at_any_scale(seed):
    rng = np.random.default_rng(seed)
    counted, if_one, if_zero = rng.integers(0, 50, size=(3, 40))
    case = [exact(part.tolist()) for part in (counted, if_one, if_zero)]
    sure = cheapest_rules(*case)
    scale = 10.0 ** rng.integers(-200, 200)
    found = cheapest_rules(scale * counted, scale * if_one, scale * if_zero)
    for rate in rng.uniform(size=20):
        truth = float(sure.cost(Fraction(rate)))
        assert found.cost(rate) / scale == pytest.approx(truth, rel=1e-12)
        mixed = sum(chance * found.costs[list(found.selected).index(c)] for c, chance in found.mixture(rate))
        assert mixed / scale == pytest.approx(truth, rel=1e-12)


def test_the_best_rate_is_the_lowest_of_the_cheapest():
    assert Curve(exact([0, Fraction(1, 2), 1]), exact([1, 0, 0]), np.arange(3)).best_rate == Fraction(1, 2)


def test_neighbours_on_a_straight_line_are_mixed():
    # all levels cost alike, so any two thresholds around the rate would do; the closest leave least to chance
    curve = cheapest_rules(np.ones(5), np.ones(5), np.zeros(5))
    assert curve.mixture(0.5) == [(2, 0.5), (3, 0.5)]


def test_levels_where_nobody_counts_reach_the_same_rate_whatever_the_rounding():
    # the last two levels count nothing: a second sum of all 0.1s is not the running sum, and would leave a rate below 1
    for n in range(2, 200):
        counted = np.concatenate([[0.0, 0.0], np.full(n, 0.1)])
        curve = cheapest_rules(counted, np.ones(n + 2), np.zeros(n + 2))
        assert curve.rates[-1] == 1
        assert np.diff(curve.rates).min() > 0.5 / n
