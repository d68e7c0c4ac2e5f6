"""Levels and mixtures of thresholds: what they say of the people they were made from, and of others."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.postprocessing.rules import Levels, ThresholdMixture


def test_levels_are_sorted_by_the_old_label_and_then_by_the_score():
    y_pred, scores = np.array([1, 0, 1, 0, 0]), np.array([0.2, 0.9, 0.2, 0.1, 0.9])
    levels = Levels(y_pred, scores)
    assert levels.labels.tolist() == [0, 0, 1]
    assert levels.scores.tolist() == [0.1, 0.9, 0.2]
    assert levels.total(np.array([1.0, 2.0, 4.0, 8.0, 16.0])).tolist() == [8.0, 18.0, 5.0]
    assert len(levels) == 3


def by_counting(y_pred, scores, mixture):
    """Return each row's chance: a threshold gives the label 1 to the highest of the distinct pairs."""
    rows = list(zip(y_pred.tolist(), scores.tolist(), strict=True))
    places = sorted(set(rows))
    chances = []
    for row in rows:
        from_above = len(places) - places.index(row)  # 1 for the highest
        chances.append(sum(chance for count, chance in mixture if count >= from_above))
    return chances


def mixtures(size, rng):
    counts = np.sort(
        rng.choice(size + 1, size=min(int(rng.integers(1, 4)), size + 1), replace=False)
    ).tolist()
    parts = [Fraction(int(part)) for part in rng.integers(1, 6, size=len(counts))]
    return [(count, part / sum(parts)) for count, part in zip(counts, parts, strict=True)]


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_a_rule_does_to_its_own_people_what_the_mixture_says(seed, n):
    rng = np.random.default_rng(seed)
    y_pred, scores = rng.integers(0, 2, n), rng.integers(0, 4, n).astype(float)
    levels = Levels(y_pred, scores)
    mixture = mixtures(len(levels), rng)
    found = levels.rule(mixture).positive_probability(y_pred, scores)
    assert found.tolist() == by_counting(y_pred, scores, mixture)
    # and nobody who stands higher has a lower chance, whoever it is
    y_new, new = rng.integers(0, 2, 50), rng.uniform(-1, 5, 50)
    order = np.lexsort((new, y_new))
    chances = levels.rule(mixture).positive_probability(y_new, new)[order]
    assert (chances[1:] >= chances[:-1]).all()
    assert ((chances >= 0) & (chances <= 1)).all()


def test_who_is_at_a_place_is_left_out_only_if_the_rule_says_so():
    y_pred, scores = np.array([0, 1, 1, 1]), np.array([9.0, 1.0, 2.0, 3.0])
    for above, wanted in (((), [0, 0, 1, 1]), ((True,), [0, 0, 0, 1])):
        rule = ThresholdMixture((1,), (2.0,), (1.0,), above=above)
        assert rule.positive_probability(y_pred, scores).tolist() == wanted


NEW = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]), np.array([0, 1, 1.5, 2, 9, 0, 3, 3.5, 4, 9])


@pytest.mark.parametrize(
    ("mixture", "chances"),
    [
        # levels are (0, 1), (0, 2), (1, 3), (1, 4): with two levels selected nobody changes, seen or not
        ([(2, 1.0)], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]),
        # one level of label 1 is rejected in part: whoever stands lower is rejected, whoever stands higher is not
        ([(1, 0.25), (2, 0.75)], [0, 0, 0, 0, 0, 0, 0.75, 1, 1, 1]),
        # one level of label 0 is selected in part
        ([(2, 0.25), (3, 0.75)], [0, 0, 0, 0.75, 1, 1, 1, 1, 1, 1]),
        # wholly rejected or selected levels: between two levels nobody changes without need
        ([(1, 1.0)], [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]),
        ([(3, 1.0)], [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]),
        ([(0, 1.0)], [0] * 10),
        ([(4, 1.0)], [1] * 10),
        # a coin for everybody
        ([(0, 0.5), (4, 0.5)], [0.5] * 10),
        # rounding is no chance
        ([(2, 1 - 1e-16), (3, 1e-16)], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]),
    ],
)
def test_new_people_between_and_beyond_the_levels(mixture, chances):
    rule = Levels(np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0])).rule(mixture)
    assert rule.positive_probability(*NEW).tolist() == chances


@pytest.mark.parametrize(("label", "count"), [(0, 0), (1, 3)])
def test_where_nobody_changes_other_labels_stay_too(label, count):
    rule = Levels(np.full(3, label), np.arange(3.0)).rule([(count, 1.0)])
    y_new = np.array([0, 0, 1, 1])
    assert rule.positive_probability(y_new, np.array([-9.0, 9.0, -9.0, 9.0])).tolist() == y_new.tolist()


def test_the_numbers_of_a_rule_are_plain():
    rule = Levels(np.array([0, 1]), np.array([0.5, 0.5])).rule([(1, np.float64(0.5)), (2, np.float64(0.5))])
    assert all(type(number) is float for number in (*rule.scores, *rule.chances, rule.everybody))
