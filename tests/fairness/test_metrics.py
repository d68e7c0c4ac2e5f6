from fractions import Fraction

import fairlearn.metrics
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import demographic_parity_difference, selection_rates


@given(st.integers(0, 10_000), st.integers(2, 50), st.integers(1, 4))
def test_equal_to_fairlearn_on_labels(seed, n, k):
    rng = np.random.default_rng(seed)
    pred, groups = rng.integers(0, 2, size=n), rng.integers(0, k, size=n)
    theirs = fairlearn.metrics.demographic_parity_difference(pred, pred, sensitive_features=groups)
    assert demographic_parity_difference(pred, sensitive_features=groups) == pytest.approx(theirs, abs=1e-12)
    frame = fairlearn.metrics.MetricFrame(
        metrics=fairlearn.metrics.selection_rate, y_true=pred, y_pred=pred, sensitive_features=groups
    )
    assert selection_rates(pred, sensitive_features=groups) == pytest.approx(frame.by_group.to_dict())


def test_probabilities_give_the_exact_expectation():
    pred = np.array([Fraction(1, 3), Fraction(2, 3), Fraction(1, 7)], dtype=object)
    assert selection_rates(pred, sensitive_features=["a", "a", "b"]) == {
        "a": Fraction(1, 2),
        "b": Fraction(1, 7),
    }
    assert demographic_parity_difference(pred, sensitive_features=["a", "a", "b"]) == Fraction(5, 14)


def test_one_group_has_no_gap():
    assert demographic_parity_difference([0, 1, 1], sensitive_features=["a"] * 3) == 0


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, lambda v: pd.Categorical(v)])
def test_groups_of_any_type(wrap):
    rates = selection_rates(torch.tensor([0, 1, 1]), sensitive_features=wrap(["b", "a", "b"]))
    assert rates == {"a": 1.0, "b": 0.5}


@pytest.mark.parametrize(
    ("pred", "groups", "message"),
    [
        ([0, 1.5], [0, 1], r"pred: found 1\.5 at position 1"),
        ([0, np.nan], [0, 1], "pred: found nan"),
        ([0, 1], [0], "lengths differ"),
        ([0, 1], ["a", pd.NA], "sensitive_features: found a missing value at position 1"),
        (["0", "1"], [0, 1], "pred: found entries that are not numbers"),
        (np.array([0, "1"], dtype=object), [0, 1], "pred: found entries that are not numbers"),
        ([[0, 1], [1, 0]], [0, 1], r"pred: found shape \(2, 2\)"),
    ],
)
def test_bad_input_is_named(pred, groups, message):
    with pytest.raises(ValueError, match=message):
        selection_rates(pred, sensitive_features=groups)
