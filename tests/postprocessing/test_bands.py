"""The least cost of rates within γ of each other, and all bands that have it, against every vector of rates."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.postprocessing import bands
from dpfair_lib.postprocessing.bands import Band, change_curve, cheapest_band, least_total_change
from dpfair_lib.postprocessing.curves import Curve

GRID = 12
"""Rates in twelfths: knots in thirds and γ in sixths put every band's end at a sixth; twelfths lie between."""


def convex_curves(slopes, pieces=3):
    """Return all convex functions of these slopes on thirds, from cost 6 at rate 0."""
    found = []
    for chosen in itertools.combinations_with_replacement(slopes, pieces):
        costs = np.cumsum([Fraction(6), *(Fraction(slope, pieces) for slope in chosen)])
        rates = np.array([Fraction(i, pieces) for i in range(pieces + 1)], dtype=object)
        found.append(Curve(rates, costs, np.arange(pieces + 1)))
    return found


def by_enumeration(curves, gamma):
    """Return the least cost, and whether each start on the grid has a band with it."""
    costs = [[int(36 * curve.cost(Fraction(i, GRID))) for i in range(GRID + 1)] for curve in curves]
    width = int(gamma * GRID)
    least = min(
        sum(cost[i] for cost, i in zip(costs, rates, strict=True))
        for rates in itertools.product(range(GRID + 1), repeat=len(curves))
        if max(rates) - min(rates) <= width
    )
    has = [sum(min(cost[i : i + width + 1]) for cost in costs) == least for i in range(GRID + 1 - width)]
    return Fraction(least, 36), has


def disagreements(find, cases):
    """Yield the cases in which the least cost, the best bands or the rates in them are not those of enumeration."""
    for curves, gamma in cases:
        least, has = by_enumeration(curves, gamma)
        band = find(curves, gamma)
        agree = band.cost == least
        agree &= [band.lowest <= Fraction(i, GRID) <= band.highest for i in range(len(has))] == has
        for start in (band.lowest, band.middle, band.highest):
            rates = [band.rate(curve, start) for curve in curves]
            agree &= max(rates) - min(rates) <= gamma
            agree &= sum(curve.cost(rate) for curve, rate in zip(curves, rates, strict=True)) == least
        if not agree:
            yield curves, gamma


WIDTHS = [Fraction(i, 6) for i in (0, 1, 2, 3, 6)]
PAIRS = [
    (pair, gamma)
    for pair in itertools.combinations_with_replacement(convex_curves((-2, -1, 0, 1)), 2)
    for gamma in WIDTHS
]
TRIPLES = [
    (triple, gamma)
    for triple in itertools.combinations_with_replacement(convex_curves((-1, 1), pieces=3), 3)
    for gamma in WIDTHS
] + [
    (triple, gamma)
    for triple in itertools.combinations(convex_curves((-2, 1, 3), pieces=3), 3)
    for gamma in WIDTHS[1:2]
]


def test_all_best_bands_of_two_groups_in_a_whole_universe():
    assert not list(disagreements(cheapest_band, PAIRS))


def test_all_best_bands_of_three_groups():
    assert not list(disagreements(cheapest_band, TRIPLES))


@pytest.mark.parametrize("seed", range(5))
def test_five_groups_of_random_slopes(seed):
    """No enumeration of rates here: the cost of every start, which is convex and bends at twelfths only."""
    rng = np.random.default_rng(seed)
    curves = []
    for _ in range(5):
        slopes = np.sort(rng.integers(-4, 5, size=3))
        costs = np.cumsum([Fraction(20), *(Fraction(int(slope), 3) for slope in slopes)])
        curves.append(Curve(np.array([Fraction(i, 3) for i in range(4)], dtype=object), costs, np.arange(4)))
    for gamma in WIDTHS:
        width = int(gamma * GRID)
        costs = [[curve.cost(Fraction(i, GRID)) for i in range(GRID + 1)] for curve in curves]
        totals = [sum(min(cost[i : i + width + 1]) for cost in costs) for i in range(GRID + 1 - width)]
        band = cheapest_band(curves, gamma)
        assert band.cost == min(totals)
        inside = [band.lowest <= Fraction(i, GRID) <= band.highest for i in range(len(totals))]
        assert inside == [total == min(totals) for total in totals]


def _one_band(curves, gamma):
    band = cheapest_band(curves, gamma)
    return band._replace(highest=band.lowest)


def _no_width(curves, gamma):
    return cheapest_band(curves, 0 * gamma)._replace(gamma=gamma)


def _starts_too_high(curves, gamma):
    band = cheapest_band(curves, gamma)
    return band._replace(highest=min(band.highest + Fraction(1, 6), 1 - gamma))


@pytest.mark.parametrize("fault", [_one_band, _no_width, _starts_too_high])
def test_a_wrong_band_is_found(fault):
    assert any(disagreements(fault, PAIRS))


SUMS, RISES, FALLS = bands._sums, bands._rises, bands._falls


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("_sums", lambda at, steps, places: SUMS(at, steps, places - Fraction(1, 3))),
        ("_rises", lambda curve: (curve.rates[1:], RISES(curve)[1])),
        ("_falls", lambda curve: (curve.rates[:-1], FALLS(curve)[1])),
        ("_falls", lambda curve: RISES(curve)),
    ],
)
def test_slopes_at_the_wrong_place_are_found(monkeypatch, name, fault):
    monkeypatch.setattr(bands, name, fault)
    assert any(disagreements(cheapest_band, PAIRS))


@pytest.mark.parametrize("seed", range(30))
def test_floats_agree_with_fractions(seed):
    rng = np.random.default_rng(seed)
    exact, floats = [], []
    for _ in range(int(rng.integers(2, 6))):
        m = int(rng.integers(1, 8))
        inner = sorted({Fraction(int(i), 101) for i in rng.integers(1, 101, size=m)})
        rates = [Fraction(0), *inner, Fraction(1)]
        slopes = sorted(Fraction(int(s), 7) for s in rng.integers(-20, 21, size=len(rates) - 1))
        costs = [Fraction(10)]
        for (low, high), slope in zip(itertools.pairwise(rates), slopes, strict=True):
            costs.append(costs[-1] + slope * (high - low))
        exact.append(
            Curve(np.array(rates, dtype=object), np.array(costs, dtype=object), np.arange(len(rates)))
        )
        floats.append(
            Curve(np.array(rates, dtype=float), np.array(costs, dtype=float), np.arange(len(rates)))
        )
    for gamma in (Fraction(0), Fraction(1, 10), Fraction(2, 3), Fraction(1)):
        sure, found = cheapest_band(exact, gamma), cheapest_band(floats, float(gamma))
        assert np.allclose(
            [found.cost, found.lowest, found.highest],
            [float(sure.cost), float(sure.lowest), float(sure.highest)],
            atol=1e-12,
        )


def test_one_steep_slope_does_not_hide_the_others():
    """A cliff of slope 10¹² beside slopes that differ by a thousandth."""
    cliff = Curve(np.array([0.0, 1e-6, 1.0]), np.array([1e6, 0.0, 0.0]), np.arange(3))
    one = Curve(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0]), np.arange(3))
    other = Curve(np.array([0.0, 0.75, 1.0]), np.array([0.75 * 2.001, 0.0, 0.0]), np.arange(3))
    band = cheapest_band([cliff, one, other], 0.0)
    assert (band.lowest, band.highest) == (0.75, 0.75)
    assert band.cost == pytest.approx(0.5)


def test_the_width_one_costs_nothing_and_leaves_each_group_at_its_best():
    curves = [change_curve(Fraction(0)), change_curve(Fraction(1))]
    band = cheapest_band(curves, Fraction(1))
    assert band == Band(0, 0, 0, 1)
    assert [band.rate(curve, band.middle) for curve in curves] == [0, 1]
    assert band.rate(curves[1], np.array([0.0, 0.0])).tolist() == [1, 1]


def nested(rates, gamma):
    """Return the printed sum over the pairs of the i-th lowest and the i-th highest rate."""
    ordered = sorted(rates)
    return sum(max(ordered[-1 - i] - ordered[i] - gamma, 0) for i in range(len(ordered) // 2))


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_least_total_change_is_that_of_the_band_and_of_its_closed_form(k):
    rng = np.random.default_rng(k)
    for _ in range(100):
        rates = [Fraction(int(i), 12) for i in rng.integers(0, 13, size=k)]
        gamma = Fraction(int(rng.integers(0, 13)), 12)
        least = cheapest_band([change_curve(rate) for rate in rates], gamma).cost
        assert least_total_change(rates, gamma) == least == nested(rates, gamma)
        weights = [Fraction(int(w), 5) for w in rng.integers(0, 6, size=k)]
        weighted = least_total_change(rates, gamma, weights)
        starts = [Fraction(i, 12) for i in range(13 - int(12 * gamma))]
        assert weighted == min(
            sum(w * max(t - r, r - t - gamma, 0) for r, w in zip(rates, weights, strict=True)) for t in starts
        )
    if k == 2:
        assert least_total_change([Fraction(1, 5), Fraction(4, 5)], Fraction(1, 10)) == Fraction(1, 2)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 3), Fraction(1)])
def test_a_change_curve_is_the_weighted_distance(rate):
    curve = change_curve(rate, Fraction(2, 3))
    for at in (Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(1)):
        assert curve.cost(at) == Fraction(2, 3) * abs(at - rate)
    assert curve.best_rate == rate
