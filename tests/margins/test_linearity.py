"""Where an intercept can be seen from scores, and where it has to be denied."""

import numpy as np
import pytest

from dpfair_lib._arrays import HOST
from dpfair_lib.margins.linearity import _middle, check_linear

X = np.random.default_rng(0).normal(size=(300, 3))
W = np.array([1.0, -2.0, 0.5])
ONE_HOT = np.eye(3)[np.arange(300) % 3]
HIDDEN = {
    "one-hot": ONE_HOT,
    "one-hot in other units": ONE_HOT * [1e-6, 1.0, 1e9],
    "a constant": np.hstack([X[:, :2], np.full((300, 1), 40.0)]),
    "nearly a constant": np.hstack([X[:, :2], 1e6 + X[:, 2:]]),
    "few rows": X[:9],
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_constant_that_weights_can_make_is_asked_about(name):
    table = HIDDEN[name]
    with pytest.raises(ValueError, match="X: found no column of ones, "):
        check_linear(table @ W, table)
    check_linear(table @ W, table, intercept=False)
    for ones in (1.0, -1.0):
        check_linear(table @ W + ones, np.hstack([table, np.full((len(table), 1), ones)]))


def test_what_rows_show_by_themselves_needs_no_word():
    check_linear(X @ W, X)
    for intercept in (None, False):  # whatever is said of it
        with pytest.raises(ValueError, match="scores with a constant term"):
            check_linear(X @ W + 0.1, X, intercept)
    with pytest.raises(ValueError, match="expected one beside intercept=True"):
        check_linear(X @ W, X, intercept=True)
    with pytest.raises(ValueError, match="not linear in X"):
        check_linear(np.tanh(X @ W), X)


def test_the_middle_is_the_lower_median_of_the_positive_numbers():
    columns = np.array(
        [[5.0, 0.0, 9.0, 3.0], [1.0, 0.0, 2.0, 0.0], [2.0, 0.0, 1.0, 0.0], [0.0, 0.0, 4.0, 0.0]]
    )
    assert _middle(columns, HOST).tolist() == [2.0, 1.0, 2.0, 3.0]
