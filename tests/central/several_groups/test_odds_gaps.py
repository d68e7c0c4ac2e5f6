"""Bounds from lists of noisy rates: the range of independent errors, who decides, and whether all get one label."""

import itertools

import numpy as np
import pytest

from dpfair_lib.central.several_groups.noisy_labels import LabelLaw
from dpfair_lib.central.several_groups.odds_gaps import _range_within, law_of_lists, two_largest_within


def listed(*shares):
    return LabelLaw(np.array(shares), np.full(len(shares), 1 / len(shares)), 0.0, 0.0)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_range_of_errors_is_the_sum_over_all(groups):
    rng = np.random.default_rng(groups)
    errors = [np.sort(rng.integers(-4, 5, 5) / 10 + rng.uniform(-0.01, 0.01, 5)) for _ in range(groups)]
    masses = [rng.dirichlet(np.ones(5)) for _ in range(groups)]
    for gap in (0.0, 0.15, 0.35, 0.9):
        right = 0.0
        for at in itertools.product(range(5), repeat=groups):
            found = [error[i] for error, i in zip(errors, at, strict=True)]
            inside = max(*found, 0.0) - min(*found, 0.0) <= gap
            right += inside * np.prod([mass[i] for mass, i in zip(masses, at, strict=True)])
        assert _range_within(gap, errors, masses) == pytest.approx(right, abs=1e-12)
    assert _range_within(-0.1, errors, masses) == 0


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_two_largest_errors_are_the_sum_over_all(groups):
    rng = np.random.default_rng(groups)
    errors = [np.sort(rng.integers(0, 5, 5) / 8) for _ in range(groups)]  # exact, with ties
    masses = [rng.dirichlet(np.ones(5)) for _ in range(groups)]
    for gap in (0.0, 0.125, 0.375, 0.5, 0.9):
        right = 0.0
        for at in itertools.product(range(5), repeat=groups):
            found = sorted(error[i] for error, i in zip(errors, at, strict=True))
            right += (sum(found[-2:]) <= gap) * np.prod([mass[i] for mass, i in zip(masses, at, strict=True)])
        assert two_largest_within(gap, errors, masses) == pytest.approx(right, abs=1e-12)
    assert two_largest_within(-0.1, errors, masses) == 0


def test_a_gamma_leaves_the_bound_for_every_rule():
    false, true = (0.1, 0.2), (0.7, 0.6)
    labels = tuple(tuple(listed(rate - 0.1, rate + 0.05) for rate in rates) for rates in (false, true))
    law = law_of_lists(false, true, labels, [(0.0, (300, 300), (300, 300))], 0.25)
    assert law.exceeds_at_least(0.1) == 0
    # both errors of one label are 0.1, one is, or none: 0.2 + 0.25, 0.15 + 0.25, 0.1 + 0.25
    found = [law.exceeds_at_most(gap) for gap in (0.34, 0.36, 0.41, 0.46)]
    assert found == pytest.approx([1, 1 - 1 / 16, 1 - 9 / 16, 0])


def test_which_groups_surely_decide():
    totals = [(0.0, (300, 300), (300, 300))]
    false, true = (0.1, 0.2, 0.15), (0.7, 0.6, 0.65)
    labels = tuple(tuple(listed(rate) for rate in rates) for rates in (false, true))
    # group 1 has the smallest T/F and the largest (1 − T)/(1 − F)
    assert law_of_lists(false, true, labels, totals).deciding == ((1, 0), (1, 2))
    false, true = (0.3, 0.05, 0.15), (0.9, 0.4, 0.65)
    labels = tuple(tuple(listed(rate) for rate in rates) for rates in (false, true))
    assert law_of_lists(false, true, labels, totals).deciding == ((0, 1),)
    # now group 2 may decide instead of group 0
    labels = ((*labels[0][:2], listed(0.15, 0.3)), labels[1])
    assert law_of_lists(false, true, labels, totals).deciding == ()


def test_one_label_for_all():
    false, true = (0.2, 0.3), (0.6, 0.7)
    labels = tuple(tuple(listed(rate) for rate in rates) for rates in (false, true))
    corner = law_of_lists(false, true, labels, [(0.0, (100, 110), (90, 100))])
    assert (corner.same, corner.corner, corner.turned) == (0, 1, 0)
    nobody = law_of_lists(false, true, labels, [(1e-3, (400, 410), (90, 100))])
    assert nobody.corner == pytest.approx(1e-3)
    assert nobody.exceeds_at_most(0.0) <= 1e-3 + 1e-12
    assert nobody.exceeds_at_least(0.0) == 0
    half = law_of_lists(
        false, true, ((listed(0.2), listed(0.1, 0.5)), labels[1]), [(0.0, (150, 150), (100, 100))]
    )
    assert half.same == pytest.approx(0.5)
    turned = law_of_lists(
        false, true, ((listed(0.2), listed(0.1, 0.8)), labels[1]), [(0.0, (100, 100), (100, 100))]
    )
    assert turned.turned == pytest.approx(0.5)
