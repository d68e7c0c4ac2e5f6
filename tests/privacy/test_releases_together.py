"""Finite laws, Laplace noise on vectors, many Laplace releases, the share of each of many."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.privacy.composition import divided_epsilon
from dpfair_lib.privacy.finite_laws import composed, hockey_stick, processed
from dpfair_lib.privacy.laplace_composition import laplace_composition_delta
from dpfair_lib.privacy.laplace_vector import (
    laplace_vector_loss,
    largest_error_bound,
    largest_error_tail,
)


def test_leak_of_randomised_response_in_fractions():
    law = np.array([Fraction(3, 4), Fraction(1, 4)])
    assert hockey_stick(law, law[::-1], 3) == 0
    assert hockey_stick(law, law[::-1], 2) == Fraction(1, 4)


def test_processed_and_composed_laws():
    laws = np.array([[0.5, 0.5], [0.25, 0.75]])
    assert processed(laws, np.array([[1, 0], [0.5, 0.5]])).tolist() == [[0.75, 0.25], [0.625, 0.375]]
    assert composed(laws[1], np.array([[1, 0], [0.5, 0.5]])).tolist() == [[0.25, 0], [0.375, 0.375]]


def test_the_shares_meet_where_the_printed_one_ends():
    delta = math.exp(-0.25)
    printed, ours = (
        divided_epsilon(2.0 * (1 - 1e-12), delta, 5, kind) for kind in ("printed", "concentrated")
    )
    assert printed == pytest.approx(ours, rel=1e-9)
    with pytest.raises(ValueError, match="expected at most 8 ln"):
        divided_epsilon(2.1, delta, 5, "printed")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: processed([0.5, 0.5], [[1.0]]), "channel: found shape"),
        (lambda: processed([1.0], [[0.5]]), "channel: found rows"),
        (lambda: composed([0.5, 0.5], [[1.0]]), "second: found shape"),
        (lambda: hockey_stick([1.0], [1.0], 0.5), "odds: found 0.5"),
        (lambda: hockey_stick([1.0], [0.5, 0.5], 1), "second: found shape"),
        (lambda: laplace_vector_loss([0], [0], [1], 0), "scale: found 0"),
        (lambda: largest_error_tail(-1, 1, 1), "t: found -1"),
        (lambda: largest_error_bound(0.1, 1, 1, "ours"), "kind: found 'ours'"),
        (lambda: laplace_composition_delta(0, 1, 1), "epsilon: found 0"),
        (lambda: laplace_composition_delta(1, 1, -1), "at: found -1"),
        (lambda: laplace_composition_delta(1, 1, 1, cells=0), "cells: found 0"),
    ],
)
def test_what_cannot_be_is_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
