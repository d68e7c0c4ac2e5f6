"""The choice of the largest count: its weight is never above ε or half of it, and no rounding changes a score."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watching_counts import choices_of

from dpfair_lib.preparation.choices import choose_largest, count_weight
from dpfair_lib.privacy import ExponentialMechanism
from dpfair_lib.privacy.noise_source import NoiseSource


@given(st.floats(1e-6, 1e3), st.integers(0, 2**33), st.booleans())
def test_scores_are_exact_and_weigh_no_more_than_epsilon(epsilon, count, one_way):
    weight = count_weight(epsilon, one_way=one_way)
    whole = Fraction(epsilon) if one_way else Fraction(epsilon) / 2
    assert whole * (1 - Fraction(1, 2**19)) < Fraction(weight) <= whole
    assert Fraction(float(count) * weight) == count * Fraction(weight)


@pytest.mark.parametrize("one_way", [False, True])
def test_the_law_is_that_of_the_exponential_mechanism(one_way):
    counts, epsilon = np.array([3, 5, 4]), 0.8
    law = ExponentialMechanism(epsilon, 0.5 if one_way else 1.0).probabilities(counts)
    for at in range(3):
        found = choices_of(
            lambda seed, at=at: (
                choose_largest(counts, epsilon, NoiseSource.of("study", seed), one_way=one_way) == at
            )
        )
        assert abs(found - law[at]) < 0.072  # 5 standard deviations


def largest_loss(one_way, moves):
    """The largest privacy loss of a choice among three, over counts that move as given."""
    weight, losses = count_weight(1.0, one_way=one_way), []
    for move in moves:
        first, second = np.array([4.0, 4, 4]), np.array([4.0, 4, 4]) + move
        chances = [np.exp(weight * c) / np.exp(weight * c).sum() for c in (first, second)]
        losses.append(abs(np.log(chances[0] / chances[1])).max())
    return max(losses)


def test_one_weight_serves_moves_in_one_direction_only():
    one_direction = [[1, 0, 0], [1, 1, 0], [1, 1, 1], [-1, -1, 0]]
    both = [*one_direction, [1, -1, 0], [1, -1, -1]]
    assert largest_loss(False, both) <= 1
    assert largest_loss(True, one_direction) <= 1
    assert (
        largest_loss(True, both) > 1
    )  # the planted fault: the larger weight where one count rises and another falls
