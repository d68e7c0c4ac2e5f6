"""The smallest ε of two finite laws: against its closed forms, in the shape of the stack, and by its definition."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from dpfair_lib.privacy.finite_laws import hockey_stick, least_second_errors, smallest_epsilon


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


CHANNELS = [
    [[0.75, 0.25], [0.25, 0.75]], [[1, 0], [0, 1]], [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]], [[0.3, 0.7], [0.3, 0.7]],
    [[0.5, 0.3, 0.2, 0.0], [0.2, 0.3, 0.5, 0.0], [0.0, 0.6, 0.1, 0.3]],
]  # fmt: skip
ERRORS = np.linspace(0, 1, 41)


def drawn_channels():
    rng = np.random.default_rng(3)
    for _ in range(40):
        k, m = rng.integers(2, 4), rng.integers(2, 6)
        yield (
            rng.dirichlet(np.full(m, 0.5), size=k)
            if rng.random() < 0.5
            else rng.multinomial(6, np.full(m, 1 / m), k) / 6
        )


def best_test(null, other, error):
    """Return the least error of the second kind by a linear program over all tests."""
    program = linprog(-other, A_ub=null[None], b_ub=[error], bounds=(0, 1), method="highs")
    return 1 + program.fun


def check_errors(function):
    for rows in [*map(np.array, CHANNELS), *drawn_channels()]:
        found = function(rows, ERRORS)
        pairs = [(a, b) for i, a in enumerate(rows) for j, b in enumerate(rows) if i != j]
        exact = [min(best_test(a, b, error) for a, b in pairs) for error in ERRORS]
        assert found == pytest.approx(np.array(exact), abs=1e-9)


def test_the_trade_off_is_that_of_the_best_tests():
    check_errors(least_second_errors)
    assert least_second_errors(np.array([[0.2, 0.8]]), ERRORS) == pytest.approx(1 - ERRORS)


@pytest.mark.parametrize("fault", ["ascending", "one pair", "by the difference", "no coin"])
def test_other_trade_offs_are_noticed(fault):
    def wrong(rows, first):
        pairs = [(a, b) for i, a in enumerate(rows) for j, b in enumerate(rows) if i != j]
        least = 1 - first
        for null, other in pairs[:1] if fault == "one pair" else pairs:
            with np.errstate(all="ignore"):
                score = other - null if fault == "by the difference" else other / null
            order = np.argsort(score if fault == "ascending" else -score)
            errors, powers = (np.append(0, np.cumsum(row[order])) for row in (null, other))
            at = np.searchsorted(errors, first + 1e-12, side="right") - 1
            power = powers[at] if fault == "no coin" else np.interp(first, errors, powers)
            least = np.minimum(least, 1 - power)
        return np.maximum(least, 0)

    with pytest.raises(AssertionError):
        check_errors(wrong)
