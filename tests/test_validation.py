from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpfair_lib import _validation as validation


def test_vectors_of_any_kind_are_the_same_array():
    for values in ([0, 1, 1], (0, 1, 1), pd.Series([0, 1, 1], index=[5, 3, 4]), np.array([[0], [1], [1]])):
        assert validation.as_vector(values, "y").tolist() == [0, 1, 1]
    for values, found in (([], "an empty array"), (3, r"shape \(\)"), (np.ones((2, 2)), r"shape \(2, 2\)")):
        with pytest.raises(ValueError, match=f"y: found {found}"):
            validation.as_vector(values, "y")


def test_numbers_are_finite_and_fractions_stay_exact():
    exact = validation.as_numbers(np.array([Fraction(1, 3), 1], dtype=object), "x")
    assert exact[0] == Fraction(1, 3)
    assert validation.as_numbers([True, 2], "x").dtype == float
    with pytest.raises(ValueError, match=r"x: found nan at position 1 \(2 such\), expected finite numbers"):
        validation.as_numbers([0.0, np.nan, np.inf], "x")
    for values in (["1", "2"], np.array([1.0, "2"], dtype=object), [1j]):
        with pytest.raises(ValueError, match="x: found entries that are not numbers"):
            validation.as_numbers(values, "x")


@pytest.mark.parametrize(
    ("check", "accepted", "refused", "expected"),
    [
        (validation.as_probabilities, [0, 0.5, 1], [0.5, 1.0000001], r"numbers in \[0, 1\]"),
        (validation.as_binary, [0, 1, 1], [1, 0.5], "labels 0 and 1"),
    ],
)
def test_the_place_of_a_wrong_entry_is_named(check, accepted, refused, expected):
    assert check(accepted, "p").tolist() == accepted
    with pytest.raises(ValueError, match=f"p: found {refused[1]} at position 1, expected {expected}"):
        check(refused, "p")


@pytest.mark.parametrize(
    "values", [["b", "a", "c", "a"], [2, 1, 3, 1], np.array(["b", "a", "c", "a"], dtype=object)]
)
def test_groups_are_sorted_and_every_row_has_its_own(values):
    levels, codes = validation.as_groups(values)
    assert levels.tolist() == sorted(set(values))
    assert [levels[code] for code in codes] == list(values)


@pytest.mark.parametrize(
    ("values", "found"),
    [(["a", None], "a missing value at position 1"), (["a", 1], "labels of the types int, str")],
)
def test_groups_that_cannot_be_ordered_are_refused(values, found):
    with pytest.raises(ValueError, match=f"sensitive_features: found {found}"):
        validation.as_groups(np.array(values, dtype=object))


def test_rows_belong_together_by_length_and_by_label():
    validation.check_lengths(X=[1, 2], y=[1, 2], group=None)
    with pytest.raises(
        ValueError, match="lengths differ: X has 2, y has 3; expected one entry per row in each"
    ):
        validation.check_lengths(X=[1, 2], y=[1, 2, 3])
    first, other = pd.Series([1, 2], index=["a", "b"]), pd.Series([1, 2], index=["b", "a"])
    validation.check_row_labels(X=first, y=np.ones(2), group=first.copy())
    with pytest.raises(ValueError, match="y: found other row labels than those of X"):
        validation.check_row_labels(X=first, y=other)


def test_rates_are_numbers_or_arrays_and_one_rate_is_no_array():
    assert validation.as_rate(1, "p") == Fraction(1)
    assert validation.as_rate([[0.0, 0.5]], "p").shape == (1, 2)
    assert validation.as_single_rate(0.5, "p") == 0.5
    for value in ([0.5], True, 1.5, Fraction(3, 2)):
        with pytest.raises(ValueError, match="p: found"):
            validation.as_single_rate(value, "p")


def test_counts_generators_and_old_names():
    assert validation.as_count(np.int64(3), "n", 3) == 3
    for value in (2, True, 3.0, 2**63):
        with pytest.raises(ValueError, match="n: found"):
            validation.as_count(value, "n", 3)
    with pytest.raises(ValueError, match=r"rng: found 0, expected a numpy\.random\.Generator"):
        validation.as_generator(0, "rng")
    assert validation.renamed("kind", None, "noise_kind", "new") == "new"
    with pytest.warns(DeprecationWarning, match="kind= is now called noise_kind="):
        assert validation.renamed("kind", "old", "noise_kind", "new") == "old"
