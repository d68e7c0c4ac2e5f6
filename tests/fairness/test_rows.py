from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.fairness.rows import correct, rates_by_group, read_rows

GROUPS = ["a", "a", "b", "b"]


def test_labels_become_0_and_1_and_the_positive_one_is_named():
    rows = read_rows(["no", "yes", "no", "yes"], ["yes"] * 4, GROUPS, pos_label="no")
    assert rows.y_true.tolist() == [1, 0, 1, 0]
    assert rows.y_pred.tolist() == [0] * 4
    assert rows.shown == ("'yes'", "'no'")
    assert correct(rows).tolist() == [0, 1, 0, 1]
    assert read_rows(None, [2, 2, 2, 2], GROUPS, pos_label=2, labels_count=False).shown[0] == "other than 2"
    with pytest.raises(ValueError, match="y_true: found no label 'no' in group 'a', expected at least one"):
        rates_by_group(
            read_rows(["yes", "yes", "no", "yes"], ["yes"] * 4, GROUPS, pos_label="no"), np.ones(4), 1
        )


def test_weights_are_those_of_the_mean_and_may_be_huge_tiny_or_exact():
    values = np.array([1.0, 0.0, 1.0, 1.0])
    for scale in (1.0, 1e308, 1e-308):
        rows = read_rows(None, values, GROUPS, np.array([0.25, 0.75, 0.5, 0.0]) * scale, labels_count=False)
        by_group, overall = rates_by_group(rows, rows.y_pred)
        assert by_group == pytest.approx([0.25, 1.0])
        assert overall == pytest.approx(0.5)
    weight = np.array([Fraction(1, 3), 1, 2, 10**300], dtype=object)
    exact = read_rows(None, values.astype(int).astype(object), GROUPS, weight, labels_count=False)
    by_group, overall = rates_by_group(exact, exact.y_pred)
    assert by_group.tolist() == [Fraction(1, 4), 1]
    assert overall == Fraction(7 + 3 * 10**300, 10 + 3 * 10**300)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1, 2, 0], [0] * 4, GROUPS), r"y_true: found 2\.0 at position 2, expected labels 0 and 1"),
        (([0, 1, 1, 0], [0, 1, 1.5, 1], GROUPS), r"y_pred: found 1\.5 at position 2"),
        (([0, 1, 1, 0], [0, 1, 1], GROUPS), "lengths differ: y_true has 4, y_pred has 3"),
        (([0, 1, 1, 0], [0] * 4, GROUPS, [1, 1, 1]), "lengths differ: .* sample_weight has 3"),
        (([0, 1, 1, 0], [0] * 4, GROUPS, [1, 1, -1, 1]), r"sample_weight: found -1\.0 at position 2"),
        (([0, 1, 1, 0], [0] * 4, GROUPS, [0] * 4), "sample_weight: found only 0, expected a positive weight"),
        (([0, 1, 1, 0], [0] * 4, GROUPS, None, "yes"), "pos_label: found 'yes', expected one of"),
        ((list("abca"), list("aaaa"), GROUPS, None, "a"), "y_true, y_pred: found the labels 'a', 'b', 'c'"),
        ((["1"] * 4, [1] * 4, GROUPS, None, 1), "y_true, y_pred: found the labels '1', 1, expected at most two"),
        ((["a", None, "b", "a"], ["a"] * 4, GROUPS, None, "a"), "y_true: found a missing value at position 1"),
        ((["a", "b", "b", "a"], list("bbbb"), GROUPS, None, ["a"]), r"pos_label: found \['a'\]"),
        ((pd.Series([0, 1], index=[1, 2]), pd.Series([0, 1]), [0, 1]), "y_pred: found other row labels"),
    ],
)  # fmt: skip
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        read_rows(*arguments)


def test_a_cell_without_weight_is_refused():
    rows = read_rows([0, 1, 0, 1], [0, 1, 1, 1], GROUPS, [1, 0, 1, 1])
    with pytest.raises(ValueError, match="sample_weight: found only 0 in group 'a' with label 1, expected"):
        rates_by_group(rows, rows.y_pred, 1)
    rates_by_group(rows, rows.y_pred, 0)
    with pytest.raises(ValueError, match="sample_weight: found only 0 in group 'b', expected"):
        rates_by_group(rows._replace(weight=np.array([1, 1, 0, 0])), rows.y_pred)
