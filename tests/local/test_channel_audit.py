"""The audit against the definition: every event, every ordered pair of inputs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfair_lib as dpf
from dpfair_lib.local import audit_channel

LN2_TRUTH = Fraction(3, 4)  # 1 − e^(−ε)/2 at ε = ln 2


@st.composite
def channels(draw, largest=5):
    k, m = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rows = [draw(st.lists(st.integers(0, largest), min_size=m, max_size=m).filter(any)) for _ in range(k)]
    return np.array([[Fraction(w, sum(row)) for w in row] for row in rows], dtype=object)


def by_definition(matrix, odds):
    """The largest P(S) − odds · P′(S), over all events and ordered pairs."""
    k, m = matrix.shape
    return max(
        sum((matrix[i, j] - odds * matrix[other, j] for j in event), Fraction(0))
        for i, other in itertools.product(range(k), repeat=2)
        for size in range(m + 1)
        for event in itertools.combinations(range(m), size)
    )


@given(channels(), st.fractions(1, 9, max_denominator=7))
def test_delta_is_the_largest_excess_over_all_events_and_pairs(matrix, odds):
    found = audit_channel(matrix)
    assert found.delta_from_odds(odds) == by_definition(matrix, odds)
    assert isinstance(found.delta_from_odds(odds), Fraction)
    first, second = found.pair_at(math.log(odds))
    too_likely = sum(
        max(a - odds * b, Fraction(0)) for a, b in zip(matrix[first], matrix[second], strict=True)
    )
    assert float(too_likely) == pytest.approx(float(by_definition(matrix, odds)), abs=1e-12)  # in this order
    pair = audit_channel(matrix[[first, second]])
    assert float(pair.delta_from_odds(odds)) == pytest.approx(float(by_definition(matrix, odds)), abs=1e-12)


@given(channels())
def test_the_ratio_is_the_least_with_delta_zero(matrix):
    found = audit_channel(matrix)
    if found.ratio == math.inf:
        assert found.epsilon == math.inf
        assert matrix[found.pair[0], found.report] > 0 == matrix[found.pair[1], found.report]
        assert by_definition(matrix, Fraction(10**9)) > 0
        assert found.delta_from_odds(math.inf) == max(
            sum(row[other == 0]) for row in matrix for other in matrix
        )
        return
    assert by_definition(matrix, found.ratio) == 0
    assert Fraction(math.exp(found.epsilon)) >= found.ratio * (1 - Fraction(1, 2**50))
    assert found.epsilon == dpf.Randomizer(matrix).epsilon
    if found.ratio == 1:
        assert found.pair is None
        assert found.epsilon == 0
    else:
        assert by_definition(matrix, found.ratio - Fraction(1, 10**6)) > 0
        first, second = found.pair
        assert matrix[first, found.report] == found.ratio * matrix[second, found.report]


@given(channels(), st.floats(0, 5))
def test_floats_are_rounded_up_and_by_little(matrix, epsilon):
    numbers = matrix.astype(float)
    found = audit_channel(numbers)
    exact = np.array([[Fraction(q) for q in row] for row in numbers.tolist()], dtype=object)
    if found.ratio != math.inf:
        assert found.ratio == max(a / b for column in exact.T for a in column for b in column if b > 0)
    slack = Fraction(found.delta(epsilon)) - by_definition(exact, Fraction(math.exp(epsilon)))
    # e^ε rounds either way by its last digit, and so may δ, relatively to a probability
    assert -Fraction(1, 2**51) < slack < Fraction(1, 10**14)


@given(channels(), st.fractions(0, Fraction(49, 50), max_denominator=50))
def test_epsilon_at_is_the_inverse_of_delta(matrix, delta):
    found = audit_channel(matrix)
    epsilon = found.epsilon_at(float(delta))
    assert epsilon == math.inf or found.delta(epsilon) <= float(delta)
    if 0 < epsilon < math.inf and delta > 0:
        assert found.delta(epsilon * (1 - 1e-9)) >= float(delta) * (1 - 1e-7)


def test_no_probability_is_above_one():
    """Where a report tells inputs apart for certain δ is 1, and rounding upwards does not pass it."""
    found = audit_channel(np.eye(3))
    assert [found.delta_from_odds(odds) for odds in (1.0, 7.0, math.inf)] == [1.0] * 3
    assert found.delta(0.5) == 1.0


def test_one_line_says_what_a_channel_has_that_claims_ln_2():
    found = audit_channel([[LN2_TRUTH, 1 - LN2_TRUTH], [1 - LN2_TRUTH, LN2_TRUTH]])
    assert found.ratio == 3
    assert (found.pair, found.report) == ((0, 1), 0)
    assert found.delta_from_odds(2) == Fraction(1, 4)
    assert "ε = 1.09861 = ln(3)" in str(found)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        ([[1.0]], "does not depend on the input"),
        ([[0.5, 0.5, 0], [0.5, 0.5, 0]], "input 0 gives the same distribution of reports as input 1"),
        ([[1, 0], [0, 1]], "possible for input 0 and impossible for input 1\nδ ≥ 1 at every ε"),
        (
            [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)], [0, 1]],
            "1/2 input 0 + 1/2 input 2 gives the same distribution of reports as input 1",
        ),
    ],
)  # fmt: skip
def test_print_says_what_a_person_needs(matrix, text):
    assert text in str(audit_channel(matrix))


def test_a_report_that_never_comes_changes_nothing():
    with_zero = audit_channel([[0.75, 0, 0.25], [0.25, 0, 0.75]])
    without = audit_channel([[0.75, 0.25], [0.25, 0.75]])
    assert with_zero.epsilon == without.epsilon == pytest.approx(math.log(3))
    assert with_zero.delta(0.5) == pytest.approx(without.delta(0.5), rel=1e-12)


def test_from_its_epsilon_on_to_infinity_a_channel_needs_no_delta():
    for finite in ([[0.5, 0.5], [0.4, 0.6]], [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]], [[0.3, 0.7]]):
        found = audit_channel(finite)
        assert found.delta([found.epsilon, 700.0, math.inf]).tolist() == [0, 0, 0]
    never = audit_channel([[0.75, 0.25], [1.0, 0.0]])
    assert 0.25 <= never.delta(math.inf) < 0.25 + 1e-14


def test_many_reports_are_quick_and_tight():
    rows = np.random.default_rng(0).dirichlet(np.ones(200_000), 2)
    found = audit_channel(rows)
    exact = math.fsum(np.maximum(rows[0] - rows[1], 0).tolist())
    other = math.fsum(np.maximum(rows[1] - rows[0], 0).tolist())
    assert 0 <= found.delta(0.0) - max(exact, other) < 1e-10
    assert found.ratio == max(
        Fraction(rows[i, j]) / Fraction(rows[1 - i, j])
        for i in (0, 1)
        for j in [int((rows[i] / rows[1 - i]).argmax())]
    )


def test_tiny_epsilons_and_infinite_ones_have_a_delta():
    found = audit_channel([[0.6, 0.4, 0.0], [0.3, 0.6, 0.1]])
    assert found.delta(1e-300) == found.delta(0.0) == pytest.approx(0.3)
    assert found.delta(math.inf) == pytest.approx(0.1)
    assert found.delta([0.0, math.inf]).shape == (2,)
    assert found.epsilon_at(0.05) == math.inf
    assert found.epsilon_at(0.0) == math.inf
    assert found.epsilon_at(0.2) < math.log(2)
    assert found.epsilon_at(0.5) == 0


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], "found a sum of 0.9 in row 0, expected 1 within 1e-9"),
        ([[Fraction(1, 2), Fraction(1, 3)]], "found a sum of 5/6 in row 0, expected 1:"),
        ([[1.5, -0.5]], "found the entry"),
        ([[math.nan, 1.0]], "found nan"),
        ([0.5, 0.5], "found shape"),
        ([], "found shape"),
    ],
)
def test_what_is_no_channel_is_refused(matrix, words):
    with pytest.raises(ValueError, match=words):
        audit_channel(matrix)


@pytest.mark.parametrize("wrong", [-1.0, math.nan, "1"])
def test_levels_that_are_none_are_refused(wrong):
    found = audit_channel([[0.75, 0.25], [0.25, 0.75]])
    with pytest.raises(ValueError, match="epsilon: found"):
        found.delta(wrong)
    with pytest.raises(ValueError, match="epsilon: found"):
        found.pair_at(wrong)
    with pytest.raises(ValueError, match="delta: found"):
        found.epsilon_at(wrong)
    for matrix in (found, audit_channel([[Fraction(1)]])):
        with pytest.raises(ValueError, match="odds: found"):
            matrix.delta_from_odds(Fraction(1, 2))


def test_randomizers_and_tables_are_taken():
    channel = dpf.generalized_randomized_response(3, 1.0)
    assert audit_channel(channel).epsilon == pytest.approx(1.0)
    assert audit_channel(channel.realized()).epsilon <= 1.0
    assert audit_channel(pd.DataFrame(channel.matrix)).pair == audit_channel(channel).pair


def test_the_result_cannot_be_changed():
    found = audit_channel([[0.75, 0.25], [0.25, 0.75]])
    with pytest.raises(AttributeError):
        found.epsilon = 0.1
    with pytest.raises(ValueError, match="read-only"):
        found.matrix[0, 0] = 1.0


def test_the_plot_shows_the_profile():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for matrix in ([[0.75, 0.25], [0.25, 0.75]], [[1, 0], [0, 1]], [[1.0]]):
        found = audit_channel(matrix)
        line = found.plot().get_lines()[0]
        np.testing.assert_array_equal(line.get_ydata(), found.delta(line.get_xdata()))
        assert line.get_ydata()[0] == found.delta(0.0)
        _, own = pyplot.subplots()
        assert found.plot(own) is own
        pyplot.close("all")


def test_the_trade_off_and_the_profile_say_the_same():
    for matrix in ([[0.75, 0.25], [0.25, 0.75]], [[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]], [[1, 0], [0, 1]]):
        found, first = audit_channel(matrix), np.linspace(0, 1, 2001)
        second = found.second_error(first)
        for epsilon in (0.0, 0.5, 1.0, 3.0):
            ways = [1 - second - np.exp(epsilon) * first, 1 - first - np.exp(epsilon) * second]
            assert max(0, *(way.max() for way in ways)) == pytest.approx(found.delta(epsilon), abs=2e-3)
    assert audit_channel([[0.75, 0.25], [0.25, 0.75]]).second_error(0.25) == 0.25
    for wrong in (-0.1, 1.1, float("nan"), [0.5, 2.0]):
        with pytest.raises(ValueError, match="first: found"):
            found.second_error(wrong)


def test_the_plot_shows_the_trade_off():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for matrix in ([[0.75, 0.25], [0.25, 0.75]], [[1, 0], [0, 1]], [[1.0]]):
        found = audit_channel(matrix)
        ax = found.plot(kind="trade-off")
        curve, guess = ax.get_lines()
        assert curve.get_ydata() == pytest.approx(found.second_error(curve.get_xdata()))
        assert guess.get_xydata().tolist() == [[0, 1], [1, 0]]
        assert "first kind (probability)" in ax.get_xlabel()
        pyplot.close("all")
    with pytest.raises(ValueError, match="kind: found 'bars'"):
        found.plot(kind="bars")
