"""All cheapest rules with equalized odds within γ: prices that prove the cost, and the rules that they allow."""

from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.postprocessing import odds_prices
from dpfair_lib.postprocessing.odds_prices import odds_of_pair, odds_within
from dpfair_lib.postprocessing.optimal_odds import LabelGroup, exact_odds


def groups(*rates):
    each = [(Fraction(false, 4), Fraction(true, 4)) for false, true in rates]
    return [LabelGroup.of_changes(false, true, (false + true) / 2) for false, true in each]


def test_with_gamma_zero_the_prices_prove_the_closed_form():
    for rates in [((0, 2), (2, 4)), ((1, 3), (3, 1), (0, 4)), ((2, 2), (0, 4)), ((0, 0), (4, 4), (1, 2))]:
        found = odds_within(groups(*rates), Fraction(0))
        assert found.cost == found.bound() == exact_odds(groups(*rates)).cost


def test_within_the_gap_nothing_changes():
    found = odds_within(groups((0, 2), (2, 4)), Fraction(1, 2))
    assert found.cost == 0
    assert found.contains(np.array([[[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.5]]])).tolist() == [
        True,
        False,
    ]


def test_a_rule_outside_the_band_or_dearer_is_refused():
    found = odds_within(groups((0, 2), (2, 4)), Fraction(1, 4))
    rules = np.array([[[0.0, 1.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    assert not found.contains(rules).any()
    assert found.bound() == found.cost > 0


def counted(size, *rates):
    """Groups of `size` people of each true label, of which so many have the label 1."""
    each = [(Fraction(false, size), Fraction(true, size)) for false, true in rates]
    return [LabelGroup.of_changes(false, true, (false + true) / 2) for false, true in each]


@pytest.mark.parametrize(
    "given",
    [
        counted(9973, (1000, 7001), (2000, 6007)),
        counted(30011, (1000, 21001), (9001, 20011), (4001, 29009)),
        counted(1009, (0, 700), (20, 603), (401, 401), (900, 77), (1009, 1009)),
        [g._replace(up=g.up / 10**12, down=g.down / 10**12) for g in counted(7, (1, 5), (2, 6), (0, 3))],
    ],
)
def test_groups_of_thousands_of_people_are_certified(given):
    for gamma in (Fraction(0), Fraction(1, 20), Fraction(333, 1000)):
        found = odds_within(given, gamma)
        assert found.cost == found.bound()
        if len(given) == 2:
            assert found.cost == odds_of_pair(*given, gamma).cost
        if not gamma:
            assert found.cost == exact_odds(given).cost


def test_floats_count_as_the_fractions_that_they_are():
    found = odds_within([LabelGroup(0.2, 0.8, 0.5, 0.5), LabelGroup(0.4, 0.6, 0.5, 0.5)], 0.1)
    assert found.cost == found.bound()
    assert float(found.cost) == pytest.approx(1 / 6)


def test_prices_that_are_not_found_certify_nothing(monkeypatch):
    monkeypatch.setattr(odds_prices, "_corner", lambda *given: [Fraction(0)] * len(given[-1]))
    with pytest.raises(RuntimeError, match="nothing is certified"):
        odds_within(groups((0, 2), (2, 4)), Fraction(1, 8))


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 12), Fraction(1, 3), Fraction(1)])
def test_two_groups_have_the_closed_form_that_the_solver_finds(gamma):
    for pair in [((0, 2), (2, 4)), ((1, 3), (3, 1)), ((2, 2), (0, 4)), ((0, 0), (4, 4)), ((3, 2), (1, 2))]:
        found, solved = odds_of_pair(*groups(*pair), gamma), odds_within(groups(*pair), gamma)
        assert found.cost == solved.cost
        assert [sum(side) for side in zip(*found.prices, strict=True)] == [0, 0]


def test_prices_that_do_not_sum_to_zero_prove_nothing():
    found = odds_within(groups((0, 2), (2, 4)), Fraction(1, 4))
    assert found._replace(prices=[(1, 0), (0, 0)]).bound() == -float("inf")
