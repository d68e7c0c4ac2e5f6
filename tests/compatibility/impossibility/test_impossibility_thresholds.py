from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.compatibility.impossibility.feasibility import keeps_promises
from dpfair_lib.compatibility.impossibility.ladder import least_chain_delta, mass_ladder
from dpfair_lib.compatibility.impossibility.opening_gaps import flipped_pair
from dpfair_lib.compatibility.impossibility.thresholds import (
    accepted,
    climb,
    least_delta,
    served,
    star_served,
    two_answers,
)

factors = st.fractions(1, 4, max_denominator=6)
failures = st.fractions(0, Fraction(2, 5), max_denominator=20)


@given(st.integers(1, 8), factors, failures)
def test_a_chain_is_served_from_the_least_delta_on(steps, factor, failure):
    delta = least_delta(steps, factor=factor, failure=failure)
    at = np.arange(steps + 1)
    near = abs(np.subtract.outer(at, at)) == 1
    learner = two_answers(at, factor=factor, delta=delta, failure=failure)
    assert learner[0, 0] <= failure
    assert learner[-1, 1] <= failure
    assert keeps_promises(learner, np.ones(learner.shape, dtype=bool), near, factor, delta)
    assert served(steps, factor=factor, delta=delta, failure=failure)
    if delta:
        less = delta * Fraction(99, 100)
        assert not served(steps, factor=factor, delta=less, failure=failure)
        assert climb(failure, steps, factor=factor, delta=less)[-1] < 1 - failure


@given(st.integers(1, 8), factors)
def test_without_failure_it_is_the_climb_from_nothing(steps, factor):
    assert least_delta(steps, factor=factor) == least_chain_delta(steps, factor=factor)
    assert climb(0, steps, factor=factor, delta=Fraction(1, 9)) == mass_ladder(
        steps, factor=factor, delta=Fraction(1, 9)
    )


def test_boundaries():
    half = Fraction(1, 2)
    assert served(1, factor=1, delta=1)
    assert not served(1, factor=9, delta=Fraction(999, 1000))
    assert served(1, factor=1, delta=0, failure=half)
    assert least_delta(3, factor=2, failure=half) == 0
    assert star_served(1, 1, factor=1, delta=0)
    assert star_served(2, 1, factor=2, delta=half)
    assert not star_served(3, 1, factor=2, delta=half)


def test_where_nothing_is_rejected_the_first_answer_is_certain():
    assert two_answers([-1, -1], factor=2, delta=0).tolist() == [[1, 0], [1, 0]]


def test_what_is_accepted_changes_at_the_tolerance():
    first, second = flipped_pair(np.array([[0, 0], [1, 1]]), Fraction(1, 4), Fraction(1, 10))
    pair = np.array([[[0, 0], [1, 1]], [[0, 0], [0, 0]]])
    for tolerance, expected in (
        (Fraction(1, 4), [[True, True], [True, True]]),
        (Fraction(1, 5), [[True, False], [False, True]]),
    ):
        met = accepted([first, second], pair, threshold=0, slack=0, tolerance=tolerance)
        assert met.tolist() == expected


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="failure: found 2"):
        served(3, factor=2, delta=0.1, failure=2)
    with pytest.raises(ValueError, match="start: found -1"):
        climb(-1, 3, factor=2, delta=0.1)
    with pytest.raises(ValueError, match="steps: found 0"):
        least_delta(0, factor=2)
    with pytest.raises(ValueError, match="answers: found 0"):
        star_served(0, 1, factor=2, delta=0.1)
    with pytest.raises(ValueError, match=r"factor: found 0\.5"):
        served(3, factor=0.5, delta=0.1)


FUNCTIONS = {
    climb: {"start": 0, "steps": 2, "factor": 2, "delta": Fraction(1, 9)},
    served: {"steps": 2, "factor": 2, "delta": Fraction(1, 9), "failure": 0},
    least_delta: {"steps": 2, "factor": 2, "failure": 0},
    star_served: {"answers": 3, "steps": 2, "factor": 2, "delta": Fraction(1, 9), "failure": 0},
    two_answers: {"steps_away": [0, 1, 2], "factor": 2, "delta": Fraction(1, 9), "failure": 0},
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_refuses_what_is_out_of_range_and_takes_the_ends(function):
    given = FUNCTIONS[function]
    tiny, ranges = Fraction(1, 2**60), {"factor": (1, 9), "delta": (0, 1), "failure": (0, 1), "start": (0, 1)}
    for name in given.keys() & ranges.keys():
        low, high = ranges[name]
        climbs = name == "failure" and function in {star_served, two_answers}
        for bad in [low - tiny] if name == "factor" else [low - tiny, high + tiny]:
            with pytest.raises(ValueError, match=f"{'start' if climbs else name}: found"):
                function(**given | {name: bad})
        for end in (low, high):
            function(**given | {name: end})


def test_whole_factors_stay_exact_and_a_certain_failure_serves_everything():
    assert type(least_delta(2, factor=3)) is Fraction
    assert climb(1, 2, factor=2, delta=0) == [1, 1, 1]
    assert served(9, factor=1, delta=0, failure=1)
    assert least_delta(9, factor=2, failure=1) == 0
