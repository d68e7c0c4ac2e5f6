import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.central import opportunity_bound, opportunity_errors
from dpfair_lib.central.several_groups.opportunity import (
    count_positives,
    noise_reach,
    opportunity_epsilon,
    true_positive_rate,
)

RELATIONS = ("add-remove", "replace-one", "replace-within-group", "sensitive-attribute")


def test_cells_are_those_of_true_label_1():
    rng = np.random.default_rng(0)
    y_pred, truth, codes = rng.integers(0, 2, 90), rng.integers(0, 2, 90), rng.integers(0, 3, 90)
    found = count_positives(y_pred, truth, codes, 4)
    for group, (at, label) in itertools.product(range(4), enumerate((1, 0))):
        assert found[group, at] == ((codes == group) & (truth == 1) & (y_pred == label)).sum()
    nobody = np.zeros(0, dtype=np.int64)
    assert count_positives(nobody, nobody, nobody, 2).tolist() == [[0, 0], [0, 0]]


def test_a_rate_is_in_the_unit_interval_whatever_the_noise_is():
    assert true_positive_rate(Fraction(3), Fraction(1)) == Fraction(3, 4)
    cases = {(3, -2): 1, (-3, 2): 0, (0, 0): 0.5, (-1, -1): 0.5, (1e308, 1e308): 0.5, (5e-324, 1): 0}
    for counts, rate in cases.items():
        assert true_positive_rate(*counts) == rate


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_cost_by_hand(relation):
    parts = [Fraction(2), Fraction(7), Fraction(5)]
    cost = {"add-remove": 7, "sensitive-attribute": 12}.get(relation, 14)
    assert opportunity_epsilon(parts, relation) == cost
    assert opportunity_epsilon([0.1, 0.2], relation) >= {"add-remove": 0.2, "sensitive-attribute": 0.3}.get(
        relation, 0.4
    )


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_a_mean_of_two_noises_is_beyond_its_reach_as_seldom_as_is_said(mechanism):
    rng, failure, draws = np.random.default_rng(1), 0.1, 200_000
    for epsilon in (0.2, 1.0, 3.0):
        if mechanism == "laplace":
            noise = rng.laplace(0, 1 / epsilon, (2, draws))
        else:
            noise = np.diff(rng.geometric(1 - math.exp(-epsilon), (2, 2, draws)), axis=0)[0]
        limit = noise_reach(epsilon, failure, mechanism)
        chances = [(abs((1 - rho) * noise[0] - rho * noise[1]) > limit).mean() for rho in (0, 0.2, 0.5)]
        assert max(chances) < failure + 0.004  # six standard deviations
        if mechanism == "laplace":
            assert chances[0] > failure - 0.004


def test_geometric_noise_needs_more_than_laplace_noise():
    # one noise, ε = ln 2: exactly P(|u| > t) = 2 · 2^−(⌊t⌋ + 1)/(1 + ½)
    epsilon, failure = math.log(2), 0.13
    tails = [
        2 * 0.5 ** (math.floor(noise_reach(epsilon, failure, mechanism)) + 1) / 1.5
        for mechanism in ("laplace", "geometric")
    ]
    assert tails[0] > failure >= tails[1]


def test_errors_shrink_with_the_positives_and_are_infinite_without():
    errors = opportunity_errors([(50, 50), (500, 500), (-3, 0)], 1.0, 0.05)
    assert errors[0] > errors[1]
    assert math.isinf(errors[2])
    assert opportunity_errors([(1, 1), (2, 2)], math.inf, 0.05, population=False) == (0.0, 0.0)
    one = opportunity_errors([(50, 50), (60, 60)], 1.0, 0.1, population=False)
    assert one == pytest.approx((math.log(20) / 100, math.log(20) / 120))
    # of the population: a third of the failure for the noise of each group, the rest for its sample
    reach = math.log(60) / 0.7
    due = [(reach + math.sqrt((m + 2 * reach) * math.log(2 * 60) / 2)) / m for m in (100, 1000)]
    assert opportunity_errors([(50, 50), (400, 600)], 0.7, 0.1) == pytest.approx(due, rel=1e-12)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize("rate", ["midpoint", "median", "most-accurate", 0.4])
def test_the_bound_breaks_no_more_often_than_it_says(rate, mechanism):
    # four groups, drawn anew each time: the gap on the rows of the fit, and that of the population
    rng, eta, times = np.random.default_rng(2), 0.2, 150
    chances, sizes = np.array([0.2, 0.5, 0.6, 0.9]), np.array([300, 200, 100, 30])
    broken = {True: 0, False: 0}
    for _ in range(times):
        codes = np.repeat(np.arange(4), sizes)
        y = (rng.random(len(codes)) < 0.6).astype(int)
        y_pred = (rng.random(len(codes)) < chances[codes]).astype(int)
        fair = dpf.PrivateFairPostprocessor(
            1.0,
            notion="equal_opportunity",
            rate=rate,
            gamma=0.05,
            mechanism=mechanism,
            noise="study",
            random_state=rng,
        )
        fair.fit(y_pred, y, sensitive_features=codes)
        rule = fair.predict_proba([0] * 4 + [1] * 4, sensitive_features=[0, 1, 2, 3] * 2)[:, 1].reshape(2, 4)
        own = np.array([y_pred[(codes == group) & (y == 1)].mean() for group in range(4)])
        for population, true in ((True, chances), (False, own)):
            after = true * rule[1] + (1 - true) * rule[0]
            limit = opportunity_bound(
                list(fair.noisy_counts_.values()),
                1.0,
                eta,
                band=fair.band_,
                mechanism=mechanism,
                population=population,
            )
            broken[population] += np.ptp(after) > limit
    assert max(broken.values()) <= eta * times


def test_the_bound_is_at_most_the_width_and_the_two_largest_errors():
    rng, ratios = np.random.default_rng(3), []
    for _ in range(200):
        counts, low = rng.integers(1, 400, (3, 2)), rng.uniform(0, 0.8)
        found = opportunity_bound(counts, 1.0, 0.1, band=(low, low + 0.2))
        most = 0.2 + sum(sorted(opportunity_errors(counts, 1.0, 0.1))[-2:])
        assert found <= most + 1e-12
        ratios.append(found / most)
    assert min(ratios) < 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": [(1, 2)]}, "counts: found"),
        ({"counts": [(1, 2, 3), (1, 2, 3)]}, "counts: found"),
        ({"counts": 7}, "counts: found 7"),
        ({"counts": [(1, math.nan), (1, 2)]}, "counts: found nan"),
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"epsilon": (1, 2, 3)}, "epsilon: found 3 values"),
        ({"eta": 1}, "eta: found 1"),
        ({"mechanism": "gaussian"}, "mechanism: found"),
        ({"band": (0.6, 0.4)}, r"band: found \(0.6, 0.4\)"),
        ({"band": (0.5, 1.5)}, "band: found 1.5"),
        ({"band": 0.5}, "band: found 0.5"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    given = {"counts": [(10, 20), (30, 40)], "epsilon": 1.0, "eta": 0.1, "band": (0.4, 0.5), **changes}
    with pytest.raises(ValueError, match=message):
        opportunity_bound(**given)
