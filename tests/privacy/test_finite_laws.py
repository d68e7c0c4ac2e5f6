"""The smallest ε of two finite laws: against its closed forms, in the shape of the stack, and by its definition."""

import itertools
import math

import numpy as np
import pytest

from dpfair_lib.privacy.finite_laws import hockey_stick, smallest_epsilon


@pytest.mark.parametrize("p", [0.5, 0.6, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05, 0.45])
def test_two_outcomes_have_a_closed_form(p, delta):
    # of the events, {likelier outcome} asks most: p − δ ≤ e^ε (1 − p)
    found = smallest_epsilon([p, 1 - p], [1 - p, p], delta)
    assert np.shape(found) == ()
    assert found == pytest.approx(max(0.0, math.log(max(p - delta, 1 - p) / (1 - p))), abs=1e-12)


def test_it_is_the_first_epsilon_at_which_every_event_is_within_delta():
    rng = np.random.default_rng(0)
    first, second = rng.dirichlet(np.ones(4), size=(2, 5, 3))
    for delta in (0.0, 0.02, 0.3):
        found = smallest_epsilon(first, second, delta)
        assert found.shape == (5, 3)
        for at in itertools.product(range(5), range(3)):
            events = [list(event) for size in range(5) for event in itertools.combinations(range(4), size)]
            excess = [first[at][event].sum() - delta for event in events]
            odds = max(
                over / second[at][event].sum() for over, event in zip(excess, events, strict=True) if event
            )
            assert found[at] == pytest.approx(max(0.0, math.log(max(odds, 1e-300))), abs=1e-11)
            assert hockey_stick(first[at], second[at], math.exp(found[at] + 1e-11)) <= delta + 1e-15


def test_an_outcome_that_only_one_law_has_costs_delta_or_has_no_epsilon():
    one, other = [0.9, 0.1], [1.0, 0.0]
    assert smallest_epsilon(one, other, 0.1) == pytest.approx(0.0, abs=1e-12)
    assert smallest_epsilon(one, other, 0.09) == 700
    assert smallest_epsilon(other, one, 0.0) == pytest.approx(math.log(1 / 0.9), abs=1e-12)


def test_laws_of_different_outcomes_and_levels_out_of_range_are_refused():
    with pytest.raises(ValueError, match="second: found shape"):
        smallest_epsilon([1.0], [0.5, 0.5], 0.1)
    with pytest.raises(ValueError, match="delta: found 1"):
        smallest_epsilon([1.0], [1.0], 1.0)
