import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from dpfair_lib.claims.shared.svm.noisy_tables import log_ceiling, turned_around
from dpfair_lib.svm.equalized_odds_program import OddsProgram
from dpfair_lib.svm.guarantees import excess_errors, gap_excess, noise_radius, rate_deviation, slack


def test_rate_deviation_is_exact_and_cut_at_one():
    assert rate_deviation(Fraction(1), Fraction(3)) == Fraction(1, 3)
    assert rate_deviation(2.0, np.array([0.0, 1.0, 8.0])) == pytest.approx([1, 1, 0.25])
    assert rate_deviation(0.0, np.array([0.0, 4.0])) == pytest.approx([1, 0])


def test_slack_covers_every_rule_at_every_corner_of_the_noise():
    rng = np.random.default_rng(0)
    pairs = ((0, 1), (0, 2), (1, 2))
    rules = np.array(list(itertools.product((0.0, 1.0), repeat=6))).reshape(-1, 2, 3)
    for _ in range(20):
        counts = rng.integers(0, 12, size=(2, 3, 2)).astype(float)
        radius = int(rng.integers(1, 4))
        noisy = np.maximum(counts + radius * rng.choice([-1, 1], size=counts.shape), 0)
        free = np.ones((2, 3))
        before, after = (OddsProgram(table, pairs, free) for table in (counts, noisy))
        for rule in rules:
            moved = abs(after.differences(rule) - before.differences(rule))
            for table in (counts, noisy):
                assert (moved <= slack(table.sum(axis=0).T, pairs, radius) + 1e-12).all()


def test_printed_remainder_needs_its_condition():
    assert gap_excess(Fraction(20), Fraction(1)) == Fraction(2, 9)
    assert excess_errors(2, 3) == 24
    with pytest.raises(ValueError, match="rows: found 4, expected more than twice the radius 2"):
        gap_excess(4, 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 0.0}, "epsilon: found 0.0"),
        ({"groups": 0}, "groups: found 0"),
        ({"failure": 0.0}, "failure: found 0.0"),
        ({"mechanism": "gaussian"}, "mechanism: found 'gaussian'"),
        ({"relation": "replace-within-group"}, "relation: found 'replace-within-group'"),
    ],
)
def test_radius_refuses_what_has_no_meaning(wrong, message):
    given = {"epsilon": 1.0, "groups": 2, "failure": 0.1, "relation": "add-remove", **wrong}
    with pytest.raises(ValueError, match=message):
        noise_radius(given.pop("epsilon"), **given)


def test_predictions_turn_around_as_often_as_said():
    m, feature, epsilon, draws = 12, Fraction(1, 1000), Fraction(1), 20_000
    noise = np.random.default_rng(1).laplace(scale=2 / (m * float(epsilon)), size=(draws, m)).sum(axis=1)
    turned = int((noise < -m * float(feature)).sum())
    least = beta.ppf(1e-4, turned, draws - turned + 1)
    assert turned_around(m, epsilon, feature) == Fraction(1, 2) - Fraction(144, 4000)
    assert beta.ppf(1 - 1e-4, turned + 1, draws - turned) >= turned_around(m, epsilon, feature)
    assert least < 0.5


def test_logarithms_are_bounded_from_above():
    for x in (Fraction(80), Fraction(1, 3) + 7, Fraction(10**9)):
        assert 0 < float(log_ceiling(x)) - np.log(float(x)) < 0.003
