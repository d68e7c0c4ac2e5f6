"""Finite laws, Laplace noise on vectors, many Laplace releases, the share of each of many."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfair_lib.privacy import LaplaceMechanism, optimal_composition_delta
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


def two_laplace_releases(epsilon, at):
    """δ of two Laplace releases by mpmath: over the first loss, the exact δ of the second at what is left."""
    mp = mpmath.mp.clone()
    mp.dps = 25

    def one(left):
        if left >= epsilon:
            return mp.mpf(0)
        if left <= -epsilon:
            return 1 - mp.exp(left)
        return 1 - mp.exp((left - epsilon) / 2)

    inner = mp.quad(
        lambda u: one(at - u) * mp.exp((u - epsilon) / 2) / 4,
        sorted({-epsilon, epsilon, *(x for x in (at - epsilon, at + epsilon) if abs(x) < epsilon)}),
    )
    return one(at - epsilon) / 2 + one(at + epsilon) * mp.exp(-epsilon) / 2 + inner


@pytest.mark.parametrize(("epsilon", "at"), [(0.5, 0.0), (0.5, 0.3), (0.5, 0.9), (2.0, 1.0)])
def test_bounds_enclose_the_exact_delta(epsilon, at):
    one = laplace_composition_delta(epsilon, 1, at)
    assert one[0] <= LaplaceMechanism(1 / epsilon, 1).delta(at) + 1e-15
    assert one[1] >= LaplaceMechanism(1 / epsilon, 1).delta(at) - 1e-15
    low, high = laplace_composition_delta(epsilon, 2, at)
    exact = float(two_laplace_releases(epsilon, at))
    assert low - 1e-15 <= exact <= high + 1e-15
    assert high - low < 0.01 * epsilon


def test_laplace_releases_leak_no_more_than_the_worst_mechanisms():
    for releases in (1, 7, 64):
        low, _ = laplace_composition_delta(0.2, releases, 0.4)
        assert low <= optimal_composition_delta(0.2, 0.0, releases, 0.4) + 1e-14


def test_loss_of_a_vector_is_that_of_its_coordinates_together():
    y, f, g = [0.0, 3.0], [1.0, 1.0], [1.5, -1.0]
    expected = (1.5 - 1.0 + 4.0 - 2.0) / 2
    assert laplace_vector_loss(y, f, g, 2.0) == pytest.approx(expected)


@pytest.mark.parametrize("coordinates", [1, 4, 10**6])
def test_thresholds_of_the_largest_error(coordinates):
    exact, printed = (largest_error_bound(0.05, 3.0, coordinates, kind) for kind in ("exact", "printed"))
    assert largest_error_tail(exact, 3.0, coordinates) == pytest.approx(0.05, rel=1e-9)
    assert exact <= printed <= exact + 3.0 * 0.05
    assert largest_error_tail(0, 3.0, coordinates) == 1


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
