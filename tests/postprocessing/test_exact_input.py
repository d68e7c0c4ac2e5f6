"""What the exact rules are given: an error names the argument, what was found, and what was expected."""

from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.postprocessing.odds_prices import odds_of_pair, odds_within
from dpfair_lib.postprocessing.optimal_odds import (
    LabelGroup,
    common_classifier,
    exact_odds,
    odds_without_chance,
    odds_without_group,
)
from dpfair_lib.postprocessing.optimal_rules import (
    Cells,
    optimal_rules,
    optimal_without_chance,
    optimal_without_group,
)

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
CELLS = [Cells.by_label(rate, rate) for rate in (Fraction(1, 5), Fraction(4, 5))]
LABELS = [LabelGroup.of_changes(false, 1 - false, HALF) for false in (Fraction(1, 5), Fraction(2, 5))]
ONE_RATE = [optimal_rules, optimal_without_chance, optimal_without_group]
BOTH_RATES = [exact_odds, common_classifier, odds_without_chance, odds_without_group]


def refused(call, *arguments, match):
    with pytest.raises(ValueError, match=f"^{match}"):
        call(*arguments)


@pytest.mark.parametrize("gamma", [Fraction(-1, 2), Fraction(3, 2), float("nan"), "x", None, True])
def test_gamma_is_a_number_in_the_unit_interval(gamma):
    for call in ONE_RATE:
        refused(call, CELLS, gamma, match=r"gamma: found .*, expected a number in \[0, 1\]")
    refused(odds_of_pair, *LABELS, gamma, match="gamma: found .*, expected")
    refused(odds_within, LABELS, gamma, match="gamma: found .*, expected")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ([], "groups: found none, expected at least one"),
        (None, "groups: found None, expected a sequence of"),
        ([(ONE, ONE)], r"groups\[0\]: found .*, expected"),
    ],
)
def test_there_are_groups(given, match):
    for call in ONE_RATE:
        refused(call, given, ZERO, match=match)
    for call in BOTH_RATES:
        refused(call, given, match=match)
    refused(odds_within, given, ZERO, match=match)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"sizes": [HALF]}, r"groups\[1\]: found \[1, 2, 2\] sizes"),
        ({"sizes": [HALF, ZERO]}, r"groups\[1\].sizes: found the sum 1/2, expected 1"),
        (
            {"sizes": [3 * HALF, -HALF]},
            r"groups\[1\].sizes\[1\]: found -1/2, expected a number of at least 0",
        ),
        (
            {"sizes": [ONE, ZERO]},
            r"groups\[1\].counted\[1\]: found 4/5, expected 0, as the cell has the size 0",
        ),
        ({"counted": [ZERO, ZERO]}, r"groups\[1\].counted: found the sum 0, expected 1"),
        ({"before": [ZERO, 2 * ONE]}, r"groups\[1\].before\[1\]: found 2, expected a number in"),
        ({"weight": -ONE}, r"groups\[1\].weight: found -1, expected a number of at least 0"),
        ({"weight": float("inf")}, r"groups\[1\].weight: found inf, expected a finite number"),
    ],
)
def test_cells_are_those_of_a_group(change, match):
    refused(optimal_rules, [CELLS[0], CELLS[1]._replace(**change)], ZERO, match=match)


def test_makers_of_groups_name_what_they_refuse():
    refused(Cells.by_label, 3 * HALF, HALF, match="rate: found 3/2, expected a number in")
    refused(Cells.by_label, HALF, -ONE, match="selected: found -1, expected a number in")
    refused(LabelGroup.of_changes, ZERO, ONE, 2, match="selected: found 2, expected a number in")
    refused(LabelGroup.of_changes, ZERO, ONE, HALF, -1, match="weight: found -1, expected")
    refused(LabelGroup.of_errors, ZERO, ONE, 2, match="base: found 2, expected a number in")


@pytest.mark.parametrize(
    ("group", "match"),
    [
        (LabelGroup(2, HALF, ONE, ONE), r"groups\[1\].false_positive: found 2, expected a number in"),
        (LabelGroup(HALF, -1, ONE, ONE), r"groups\[1\].true_positive: found -1, expected a number in"),
        (LabelGroup(HALF, ONE, float("nan"), ONE), r"groups\[1\].up: found nan, expected a finite number"),
        (LabelGroup(0, 0, ONE, HALF), r"groups\[1\].down: found 1/2, expected 0, as both rates are 0"),
        (LabelGroup(1, 1, -HALF, ONE), r"groups\[1\].up: found -1/2, expected 0, as both rates are 1"),
    ],
)
def test_groups_of_labels_are_possible(group, match):
    for call in BOTH_RATES:
        refused(call, [LABELS[0], group], match=match)
    refused(odds_of_pair, LABELS[0], group, ZERO, match=match)
    refused(odds_within, [LABELS[0], group], ZERO, match=match)


def test_chances_have_the_shape_of_the_groups():
    for found in (exact_odds(LABELS), odds_within(LABELS, ZERO)):
        refused(found.contains, np.zeros((3, 2)), match=r"chances: found the shape \(3, 2\), expected")
        assert not found.contains([[ZERO, ZERO]] * 2)
    found = optimal_rules(CELLS, ZERO)
    refused(found.contains, [np.zeros(2)], match="chances: found 1 groups, expected 2")
    refused(found.contains, [np.zeros(3)] * 2, match=r"chances\[0\]: found the shape \(3,\), expected")
    refused(found.faces, ZERO, match="start: found 0, expected the begin of a best band, from 1/5 to 4/5")


@pytest.mark.parametrize("outside", [2.0, np.nan])
def test_what_is_no_chance_belongs_to_no_rule(outside):
    same = LabelGroup.of_changes(
        HALF, HALF, HALF
    )  # the rate alone would let the chance for the label 0 be anything
    rule = np.array([[outside, 1.0], [outside, 1.0]])
    assert not exact_odds([same, same]).contains(rule)
    assert not odds_within([same._replace(up=ZERO)] * 2, ZERO).contains(rule)
    assert not optimal_rules(CELLS, ZERO).contains(list(rule))
