"""One number for each group, from one for all or from a sequence of any kind."""

import numpy as np
import pytest

from dpfair_lib.central.several_groups.per_group import (
    noise_levels,
    number_of_groups,
    rate_laws,
    selection_rates,
    sizes,
)


def test_the_first_sequence_says_how_many_groups_there_are():
    assert number_of_groups(5, 1.0) == 2
    assert number_of_groups((1, 2, 3), 1.0) == number_of_groups(7, np.ones(3)) == 3
    assert number_of_groups([4], (1.0, 2.0, 3.0, 4.0)) == 4


def test_one_number_is_that_of_every_group():
    assert sizes(7, 3) == (7, 7, 7)
    assert sizes(np.array([1, 2, 3]), 3) == (1, 2, 3)
    assert noise_levels([1, float("inf")], 2) == (1.0, float("inf"))
    assert selection_rates((0.5, 1e-200, 1), 3) == (0.5, 0.0, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sizes((1, 2), 3), "n: found 2 values"),
        (lambda: sizes((1, 0), 2), "n: found 0"),
        (
            lambda: rate_laws((0.1, 0.2), (10, 20), (1.0, 1.1e4), "laplace"),
            "epsilon: found 11000, expected at most",
        ),
        (lambda: rate_laws((0.1, 0.2), (10, 10**8), (1.0, 1.0), "laplace"), "n: found 100000000"),
        (lambda: noise_levels((1.0, -1.0), 2), "epsilon: found"),
        (lambda: noise_levels("ab", 2), "epsilon: found 'ab'"),
        (lambda: selection_rates((0.1, 1.2), 2), r"rates: found 1\.2"),
    ],
)
def test_bad_numbers_are_named(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()


def test_geometric_noise_and_no_noise_are_resolved_at_every_epsilon():
    for epsilons, mechanism in (((1.0, 1e9), "geometric"), ((1e4, float("inf")), "laplace")):
        assert len(rate_laws((0.1, 0.2), (10, 20), epsilons, mechanism)) == 2
