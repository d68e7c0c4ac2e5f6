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


@pytest.mark.parametrize("kind", ["U1", "U2", "U5", ">U5", "U16", "U31"])
def test_strings_are_numbered_in_the_order_of_appearance(kind):
    rng = np.random.default_rng(len(kind))
    for values in (rng.choice(["b", "", "a", "Zürich", "ab"], 200), rng.choice(["x", "y"], (200, 3))[:, 1]):
        array = values.astype(kind)
        codes, levels = validation.numbered(array, "a")
        known = list(dict.fromkeys(array.tolist()))
        assert levels.tolist() == known
        assert codes.tolist() == [known.index(value) for value in array.tolist()]
        assert all(type(level) is str for level in levels)


@pytest.mark.parametrize("kind", ["U0", "U3", "O"])
def test_no_strings_have_no_number(kind):
    codes, levels = validation.numbered(np.array([], dtype=kind), "a")
    assert codes.shape == levels.shape == (0,)


def test_strings_of_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(validation, "_ODD", np.uint64(0))  # the last two letters are all that counts
    array = np.array(["a--", "b--", "a--", "c++"], dtype="U4")
    codes, levels = validation.numbered(array, "a")
    assert (codes.tolist(), levels.tolist()) == ([0, 1, 0, 2], ["a--", "b--", "c++"])


@pytest.mark.parametrize(
    ("values", "found"),
    [(["a", None], "a missing value at position 1"), (["a", 1], "labels of the types int, str")],
)
def test_groups_that_cannot_be_ordered_are_refused(values, found):
    with pytest.raises(ValueError, match=f"sensitive_features: found {found}"):
        validation.as_groups(np.array(values, dtype=object))


TABLES = {
    "table": lambda a, b: pd.DataFrame({"race": a, "sex": b}, index=range(5, 5 + len(a))),
    "categories": lambda a, b: pd.DataFrame({"race": pd.Categorical(a), "sex": b}),
    "objects": lambda a, b: np.array([a, b], dtype=object).T,
    "rows": lambda a, b: [[one, other] for one, other in zip(a, b, strict=True)],
    "tuples": lambda a, b: list(zip(a, b, strict=True)),
    "index": lambda a, b: pd.MultiIndex.from_arrays([a, b]),
    "series": lambda a, b: pd.Series(list(zip(a, b, strict=True))),
}


@pytest.mark.parametrize("form", TABLES)
def test_of_several_columns_a_group_is_the_tuple_of_the_values(form):
    rng = np.random.default_rng(0)
    race, sex = rng.choice(["b", "a", "c"], 40).tolist(), rng.integers(0, 2, 40).tolist()
    race[:2], sex[:2] = ["d", "a"], [7, 7]  # ("a", 7) and ("d", 7) alone have the 7
    levels, codes = validation.as_groups(TABLES[form](race, sex))
    rows = list(zip(race, sex, strict=True))
    assert levels.tolist() == sorted(set(rows))
    assert all(type(sex) is int for _, sex in levels.tolist())
    assert [levels[code] for code in codes] == rows
    assert validation.as_groups(levels[codes])[0].tolist() == levels.tolist()


def test_many_columns_do_not_overflow():
    table = np.arange(20 * 400).reshape(20, 400) % 397
    levels, codes = validation.as_groups(table)
    assert [levels[code] for code in codes] == [tuple(row) for row in table.tolist()]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([("a", 1), ("b", None)], "sensitive_features, column 1: found a missing value at position 1"),
        (
            pd.DataFrame({"a": [np.nan, 1], "b": [1, 2]}),
            "sensitive_features, column 0: found a missing value",
        ),
        ([("a", 1), (2, 1)], "sensitive_features, column 0: found labels of the types int, str"),
        ([("a", 1), ("b",)], "sensitive_features: found rows of 1 and of 2 entries, expected one length"),
        (pd.Series([("a", 1), "b"]), "sensitive_features: found rows of 1 and of 2 entries"),
        (np.zeros((0, 2)), r"sensitive_features: found shape \(0, 2\)"),
        (pd.DataFrame(index=[0, 1]), r"sensitive_features: found shape \(2, 0\)"),
        (np.zeros((2, 2, 2)), r"sensitive_features: found shape \(2, 2, 2\)"),
    ],
)
def test_what_is_no_table_of_groups_is_refused(values, found):
    with pytest.raises(ValueError, match=found):
        validation.as_groups(values)


def test_labels_of_one_column_are_no_table():
    with pytest.raises(ValueError, match=r"y: found shape \(2, 2\), expected a 1-D array"):
        validation.as_levels(np.ones((2, 2)), "y")


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


@pytest.mark.parametrize(
    ("column", "other"),
    [
        (["a", "b", "a"], [np.str_("a"), "b", "a"]),
        ([0, 1, 1], [0, True, 1]),
        ([0, 1, 1], [0, 1, 1.0]),
        ([0, 1, 1], [False, np.int8(1), np.float32(1)]),
        ([0.0, 0.5, 0.5], [-0.0, np.float64(0.5), Fraction(1, 2)]),
        ([b"a", b"b"], [np.bytes_(b"a"), b"b"]),
        ([0.0, 1.5], [-0.0, 1.5]),
    ],
)
def test_labels_do_not_show_how_a_row_has_written_them(column, other):
    if column == [0.0, 1.5]:
        columns = np.array(column), np.array(other)
    else:
        columns = tuple(np.empty(len(column), dtype=object) for _ in "ab")
        columns[0][:], columns[1][:] = column, other
    shown = []
    for one in (*columns, *(each[::-1] for each in columns)):
        levels, codes = validation.as_levels(one, "y")
        assert [levels[code] for code in codes] == one.tolist()
        shown.append([(type(level), repr(level)) for level in levels])
    assert all(one == shown[0] for one in shown)
    pairs = [validation.as_groups(np.array([one, columns[0]], dtype=object).T)[0].tolist() for one in columns]
    assert repr(pairs[0]) == repr(pairs[1])


def test_labels_that_no_float_equals_stay():
    third = np.empty(2, dtype=object)
    third[:] = [Fraction(1, 3), "x"]
    assert validation.written_alike(third).tolist() == [Fraction(1, 3), "x"]
    assert validation.written_alike(np.array([True, False])).dtype == bool
