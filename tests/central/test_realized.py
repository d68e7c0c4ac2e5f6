from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import FairPostprocessor
from dpfair_lib.central.realized import fresh_draw_gap_mean, shared_draw_rates

RATE = st.fractions(min_value=0, max_value=1, max_denominator=20)


@given(RATE, RATE, RATE)
def test_shared_draw_has_parity_in_law(alpha, beta, weight):
    target = beta + weight * (alpha - beta)
    law = shared_draw_rates(alpha, beta, target)
    assert sum(chance for *_, chance in law) == 1
    for group in (0, 1):
        assert sum(rates[group] * rates[2] for rates in law) == target


def test_shared_draw_in_numbers():
    law = shared_draw_rates(Fraction(3, 4), Fraction(1, 4), Fraction(1, 2))
    third = Fraction(1, 3)
    assert law == [
        (Fraction(3, 4), 1, third),
        (Fraction(3, 4), Fraction(1, 4), third),
        (0, Fraction(1, 4), third),
    ]


def test_mean_gap_of_fresh_draws_agrees_with_draws():
    counts, selected = (30, 20), (21, 5)
    groups = np.repeat([0, 1], counts)
    y_pred = np.concatenate([np.arange(n) < k for n, k in zip(counts, selected, strict=True)]).astype(int)
    fair = FairPostprocessor().fit(y_pred, sensitive_features=groups)
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(4000):
        drawn = fair.predict(y_pred, sensitive_features=groups, random_state=rng)
        gaps.append(abs(drawn[groups == 0].mean() - drawn[groups == 1].mean()))
    expected = fresh_draw_gap_mean(counts, selected, fair.target_rate_)
    error = np.std(gaps) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps) - expected) < 5 * error  # fails by chance once in a million runs
    assert error < 0.03 * expected


def test_nobody_flipped_leaves_no_randomness():
    assert fresh_draw_gap_mean((10, 20), (5, 10), 0.5) == 0
    assert fresh_draw_gap_mean((10, 20), (0, 0), 0.0) == 0
    assert fresh_draw_gap_mean((4, 4), (4, 0), 1.0) == 0


def test_more_people_selected_than_there_are():
    with pytest.raises(ValueError, match="selected: found 11 of 10"):
        fresh_draw_gap_mean((10, 10), (11, 3), 0.5)
