import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from dpfair_lib import demographic_parity_difference
from dpfair_lib.central.realized import fresh_draw_gap_mean
from dpfair_lib.fairness import expected_parity_difference
from dpfair_lib.fairness.draws import count_law, drawn_labels

CHANCE = st.fractions(min_value=0, max_value=1, max_denominator=5)


@given(st.lists(st.tuples(CHANCE, st.integers(0, 2)), min_size=1, max_size=6))
def test_expected_difference_is_the_mean_over_all_draws(rows):
    pred = np.array([p for p, _ in rows], dtype=object)
    groups = [group for _, group in rows]
    mean = Fraction(0)
    for labels in itertools.product((Fraction(0), Fraction(1)), repeat=len(rows)):
        chance = Fraction(1)
        for drawn, p in zip(labels, pred, strict=True):
            chance *= p if drawn else 1 - p
        if chance:
            mean += chance * demographic_parity_difference(
                None, np.array(labels, dtype=object), sensitive_features=groups
            )
    found = expected_parity_difference(pred, sensitive_features=groups)
    assert found == mean
    assert isinstance(found, Fraction)
    assert found >= demographic_parity_difference(None, pred, sensitive_features=groups)
    floats = expected_parity_difference(pred.astype(float), sensitive_features=groups)
    assert floats == pytest.approx(float(mean), abs=1e-12)


def test_law_of_equal_trials_is_binomial():
    np.testing.assert_allclose(count_law([0.3] * 50), binom.pmf(np.arange(51), 50, 0.3), atol=1e-14)


def test_equal_to_the_mean_gap_of_fresh_draws():
    """Algorithm 1's flips at the common rate 0.4, found from the binomial laws in `central`."""
    expected = fresh_draw_gap_mean((30, 40), (18, 10), 0.4)
    pred = [0.4 / 0.6] * 18 + [0.0] * 12 + [1.0] * 10 + [0.15 / 0.75] * 30
    found = expected_parity_difference(pred, sensitive_features=[0] * 30 + [1] * 40)
    assert found == pytest.approx(expected, abs=1e-12)


def test_labels_have_nothing_to_draw():
    assert expected_parity_difference([0, 1, 1, 1], sensitive_features=[0, 0, 1, 1]) == 0.5
    assert expected_parity_difference([0, 1], sensitive_features=[0, 0]) == 0


def test_without_a_seed_every_call_draws_differently():
    chances = np.full(2000, 0.5)
    first, second = drawn_labels(chances, None), drawn_labels(chances, None)
    assert (first != second).any()  # but for one time in 2²⁰⁰⁰
    for seed in (0, 7):
        assert (drawn_labels(chances, seed) == drawn_labels(chances, seed)).all()
        assert (drawn_labels(chances, seed) != first).any()


@pytest.mark.parametrize("state", [None, 3, np.random.default_rng(0), np.random.RandomState(0)])
def test_a_chance_of_nothing_and_a_certain_one_are_what_they_say(state):
    sure = np.tile([0.0, 1.0], 1000)
    assert (drawn_labels(sure, state) == sure).all()
