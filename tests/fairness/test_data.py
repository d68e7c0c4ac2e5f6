import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.fairness import data_unfairness, data_unfairness_from_rates, demographic_parity_difference

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=40))
def test_rows_and_rates_agree(rows):
    groups, y = (np.array(column) for column in zip(*rows, strict=True))
    counts = [(groups == a).sum() for a in np.unique(groups)]
    p = np.array([Fraction(int(count), len(y)) for count in counts])
    p1 = np.array(
        [
            Fraction(int(y[groups == a].sum()), int(count))
            for a, count in zip(np.unique(groups), counts, strict=True)
        ]
    )
    for kind in ("ratio", "difference"):
        if kind == "ratio" and not y.any():
            continue
        exact = data_unfairness_from_rates(p, p1, kind)
        assert isinstance(exact, Fraction)
        assert data_unfairness(y, sensitive_features=groups, kind=kind) == pytest.approx(
            float(exact), abs=1e-12
        )
    parity = demographic_parity_difference(y, y, sensitive_features=groups)  # of the perfect classifier
    assert data_unfairness(y, sensitive_features=groups, kind="difference") == parity


def test_by_hand():
    p, p1 = [QUARTER, 3 * QUARTER], [Fraction(1, 10), HALF]
    assert data_unfairness_from_rates(p, p1, "difference") == Fraction(2, 5)
    assert data_unfairness_from_rates(p, p1, "ratio") == Fraction(3, 4)  # overall rate 2/5
    assert data_unfairness([1, 0, 0, 1], sensitive_features=["a", "b", "b", "b"], kind="ratio") == 1


def test_arrays_of_distributions_and_broadcasting():
    p = np.array([[0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_allclose(data_unfairness_from_rates(p, [0.2, 0.6], "difference"), [0.4, 0.4])
    np.testing.assert_allclose(data_unfairness_from_rates(p, [0.2, 0.6], "ratio"), [0.5, 0.6])
    exact = np.array([[HALF, HALF], [QUARTER, 3 * QUARTER]])
    ratio = data_unfairness_from_rates(exact, [Fraction(1, 5), Fraction(3, 5)], "ratio")
    assert list(ratio) == [HALF, Fraction(3, 5)]


@given(st.lists(st.integers(0, 6), min_size=2, max_size=4).filter(any), st.data())
def test_values_that_never_occur_are_left_out(weights, data):
    p = np.array([Fraction(weight, sum(weights)) for weight in weights])
    p1 = np.array([Fraction(data.draw(st.integers(1, 9)), 10) for _ in weights])
    present = p > 0
    for kind in ("ratio", "difference"):
        expected = data_unfairness_from_rates(p[present], p1[present], kind)
        assert data_unfairness_from_rates(p, p1, kind) == expected
        floats = np.where(present, p1.astype(float), np.nan)
        assert data_unfairness_from_rates(p.astype(float), floats, kind) == pytest.approx(
            float(expected), abs=1e-12
        )


def test_integers_are_not_turned_into_floats():
    p, p1 = np.array([HALF, HALF]), np.array([0, 1], dtype=object)
    for kind in ("ratio", "difference"):
        value = data_unfairness_from_rates(p, p1, kind)
        assert value == 1
        assert isinstance(value, Fraction)


@pytest.mark.parametrize("k", [2, 3])
def test_ratio_and_difference_bound_each_other(k):
    """π·Δ lies between half of Δ′ and (1 − smallest share)·Δ′; for two groups it is largest share·Δ′."""
    for weights in itertools.product(range(1, 4), repeat=k):
        p = np.array([Fraction(weight, sum(weights)) for weight in weights])
        for rates in itertools.product(range(4), repeat=k):
            p1 = np.array([Fraction(rate, 3) for rate in rates])
            overall = (p * p1).sum()
            if overall == 0:
                continue
            scaled = overall * data_unfairness_from_rates(p, p1, "ratio")
            difference = data_unfairness_from_rates(p, p1, "difference")
            assert difference / 2 <= scaled <= (1 - p.min()) * difference
            if k == 2:
                assert scaled == p.max() * difference


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: data_unfairness([0, 0], sensitive_features=[0, 1], kind="ratio"), "y: found no label 1"),
        (lambda: data_unfairness([0, 1], sensitive_features=[0], kind="ratio"), "lengths differ"),
        (lambda: data_unfairness([0, 2], sensitive_features=[0, 1], kind="ratio"), r"y: found 2\.0"),
        (lambda: data_unfairness([0, 1], sensitive_features=[0, 1], kind="max"), "kind: found 'max'"),
        (lambda: data_unfairness_from_rates([0.5, 0.5], [0, 0], "ratio"), r"p1: found P\(Y = 1\) = 0"),
        (lambda: data_unfairness_from_rates([1, 0], [0, 1], "ratio"), r"p1: found P\(Y = 1\) = 0"),
        (lambda: data_unfairness_from_rates([0.5, 0.4], [0, 1], "ratio"), "p: found shares"),
        (lambda: data_unfairness_from_rates([HALF, QUARTER], [0, 1], "ratio"), "p: found shares"),
        (lambda: data_unfairness_from_rates([1.5, -0.5], [0, 1], "ratio"), "p: found shares"),
        (lambda: data_unfairness_from_rates([0.5, 0.5], [0, 2], "ratio"), r"p1: found 2\.0, expected"),
        (lambda: data_unfairness_from_rates([0.5, 0.5], [0, np.nan], "ratio"), "p1: found nan"),
        (lambda: data_unfairness_from_rates([0.5, 0.5], [0, 1, 1], "ratio"), r"p1: found shape \(3,\)"),
        (lambda: data_unfairness_from_rates(1.0, 0.5, "ratio"), "p: found a single number"),
        (lambda: data_unfairness_from_rates([0.5, 0.5], [0, 1], "max"), "kind: found 'max'"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_difference_needs_no_positive_label():
    assert data_unfairness([0, 0], sensitive_features=[0, 1], kind="difference") == 0
    assert data_unfairness_from_rates([0.5, 0.5], [0, 0], "difference") == 0
