import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfair_lib as dpf
from dpfair_lib.local import Randomizer

HALF = Fraction(1, 2)


@st.composite
def channels(draw):
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 9), min_size=columns, max_size=columns).filter(any),
            min_size=rows, max_size=rows,
        )
    )  # fmt: skip
    return np.array([[Fraction(w, sum(row)) for w in row] for row in weights], dtype=object)


def test_the_row_is_the_input_and_the_column_the_report():
    channel = Randomizer([[0.9, 0.1], [0.5, 0.5]])
    pz, p1z = channel.pushforward([0.2, 0.8], [1.0, 0.0])
    np.testing.assert_allclose(pz, [0.2 * 0.9 + 0.8 * 0.5, 0.2 * 0.1 + 0.8 * 0.5])
    np.testing.assert_allclose(p1z, [0.18 / 0.58, 0.02 / 0.42])
    reports = channel.apply(np.zeros(20_000, dtype=np.int8), np.random.default_rng(0))
    assert reports.dtype == np.int8
    assert abs(reports.mean() - 0.1) < 0.02


def test_the_level_is_the_log_of_the_largest_ratio_in_a_column():
    assert Randomizer([[0.9, 0.1], [0.5, 0.5]]).epsilon == pytest.approx(math.log(5))
    exact = Randomizer(np.array([[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]]))
    assert exact.likelihood_ratio == Fraction(2)
    assert exact.epsilon == pytest.approx(math.log(2), rel=1e-15)
    assert Randomizer([[1, 0], [0, 1]]).epsilon == math.inf
    assert (
        Randomizer([[1.0, 0.0], [1.0, 0.0]]).epsilon == 0
    )  # a report that no value causes counts for nothing
    assert Randomizer([[1.0]]).epsilon == 0


def test_the_level_of_extreme_channels_is_neither_rounded_off_nor_nan():
    tiny = Fraction(1, 10**30)
    almost = Randomizer(np.array([[HALF + tiny, HALF - tiny], [HALF, HALF]]))
    assert almost.epsilon == pytest.approx(2e-30, rel=1e-12, abs=0)
    assert Randomizer([[1 - 1e-310, 1e-310], [0.5, 0.5]]).epsilon == pytest.approx(
        310 * math.log(10), rel=1e-2
    )
    huge = Randomizer(np.array([[1 - tiny**20, tiny**20], [HALF, HALF]]))
    assert huge.epsilon == pytest.approx(600 * math.log(10) + math.log(0.5), rel=1e-12)


@given(channels(), st.data())
def test_the_law_of_reports_is_a_law_and_labels_keep_their_share(matrix, data):
    channel = Randomizer(matrix)
    weights = data.draw(st.lists(st.integers(0, 5), min_size=channel.k, max_size=channel.k).filter(any))
    p = [Fraction(w, sum(weights)) for w in weights]
    p1 = [Fraction(data.draw(st.integers(0, 6)), 6) for _ in p]
    pz, p1z = channel.pushforward(p, p1)
    overall = sum(s * r for s, r in zip(p, p1, strict=True))
    assert sum(pz) == 1
    assert (pz * p1z).sum() == overall
    assert all(p1z[pz == 0] == overall)


@given(channels())
def test_what_is_drawn_from_is_a_channel_close_to_the_one_asked_for(matrix):
    channel = Randomizer(matrix)
    drawn = channel.realized().matrix
    assert ((drawn == 0) == (matrix == 0)).all()
    assert abs(drawn - matrix).max() < Fraction(matrix.shape[1], 2**60)


@given(channels())
def test_drawing_costs_no_privacy(matrix):
    channel = Randomizer(matrix)
    asked, drawn = channel.likelihood_ratio, channel.realized().likelihood_ratio
    assert drawn <= asked * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("epsilon", [15.0, 20.0, 25.0, 35.0, 50.0])
def test_rare_reports_are_rounded_upwards(epsilon):
    lie = math.exp(-epsilon) / 2
    channel = Randomizer([[1 - lie, lie], [0.5, 0.5]])
    assert channel.realized().matrix[0, 1] >= Fraction(lie)
    assert channel.realized_epsilon <= channel.epsilon


@given(channels(), st.integers(0, 2**32))
def test_reports_that_cannot_occur_do_not(matrix, seed):
    channel = Randomizer(matrix)
    values = np.repeat(np.arange(channel.k), 50)
    reports = channel.apply(values, np.random.default_rng(seed))
    assert (matrix[values, reports] > 0).all()


def test_reports_follow_the_law():
    matrix = np.array([[0.5, 0.0, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.0, 1.0]])
    values = np.repeat(np.arange(3, dtype=np.uint8), 100_000)
    reports = Randomizer(matrix).apply(values, np.random.default_rng(1))
    found = [np.bincount(row, minlength=4) / 100_000 for row in reports.reshape(3, -1)]
    np.testing.assert_allclose(found, matrix, atol=0.01)


def test_reports_that_the_dtype_cannot_hold_widen_it():
    matrix = np.full((2, 200), 1 / 200)
    assert Randomizer(matrix).apply(np.zeros(10, np.int8), np.random.default_rng(0)).dtype == np.int64


def test_truth_probability():
    channel = Randomizer([[0.9, 0.1], [0.5, 0.5]])
    assert channel.truth_probability([0.2, 0.8]) == pytest.approx(0.2 * 0.9 + 0.8 * 0.5)
    tenth = Fraction(1, 10)
    exact = Randomizer(np.array([[9 * tenth, tenth], [5 * tenth, 5 * tenth]]))
    found = exact.truth_probability([2 * tenth, 8 * tenth])
    assert (type(found), found) == (Fraction, Fraction(29, 50))
    with pytest.raises(ValueError, match="no report is a value"):
        Randomizer([[0.5, 0.25, 0.25], [0.1, 0.4, 0.5]]).truth_probability([0.2, 0.8])


def test_a_value_that_nobody_has_may_have_any_rate():
    pz, p1z = Randomizer([[1.0, 0.0], [0.5, 0.5]]).pushforward([1.0, 0.0], [0.25, math.nan])
    np.testing.assert_array_equal(pz, [1, 0])
    np.testing.assert_array_equal(p1z, [0.25, 0.25])  # no NaN: what nobody reports has the rate of all


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], "sum of 1.1 in row 0"),
        ([[1.5, -0.5], [0.5, 0.5]], r"entry 1.5, expected probabilities"),
        ([0.5, 0.5], "shape"),
        ([[math.nan, 1], [0.5, 0.5]], "nan"),
        ([["1", "0"]], "not numbers"),
        ([[]], "shape"),
    ],
)
def test_bad_channels_are_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        Randomizer(matrix)


def test_other_bad_input_is_refused():
    channel, rng = dpf.Randomizer([[0.9, 0.1], [0.5, 0.5]]), np.random.default_rng(0)
    with pytest.raises(ValueError, match="found 2, expected integers in 0, …, 1"):
        channel.apply([0, 1, 2], rng)
    with pytest.raises(ValueError, match="found -1"):
        channel.apply([0, -1], rng)
    with pytest.raises(ValueError, match="type float64"):
        channel.apply([0.0, 1.0], rng)
    with pytest.raises(ValueError, match=r"numpy\.random\.Generator"):
        channel.apply([0, 1], 7)
    with pytest.raises(ValueError, match=r"a sum of 0\.9"):
        channel.pushforward([0.4, 0.5], [0.1, 0.2])
    with pytest.raises(ValueError, match=r"p1: found 1\.2"):
        channel.pushforward([0.5, 0.5], [0.1, 1.2])
    with pytest.raises(ValueError, match="p1: found 3 entries, expected 2"):
        channel.pushforward([0.5, 0.5], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="nan"):
        channel.pushforward([0.5, 0.5], [0.1, math.nan])


def test_the_epsilon_of_a_channel_whose_ratio_no_float_holds_and_with_a_report_that_never_comes():
    channel = Randomizer(np.array([[1.0, 1e-320, 0.0], [1e-320, 1.0, 0.0]]))
    assert channel.epsilon == pytest.approx(-math.log(1e-320), rel=1e-12)
