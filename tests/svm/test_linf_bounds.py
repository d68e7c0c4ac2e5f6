import math
from fractions import Fraction

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.svm.linf_bounds import sum_of_tails_failure, svm_at_most_generic

GOOD = {"n_groups": 2, "m": 1000, "epsilon": 0.5, "beta": 0.05}


def test_the_printed_formulas():
    assert dpf.generic_linf_bound(**GOOD) == pytest.approx(2 * math.log(160) / 500, rel=1e-14)
    found = dpf.svm_linf_bound(**GOOD, k=40)
    assert found == pytest.approx(2 * math.log(80) / 500 + 2 * math.log(40) / 20, rel=1e-14)


def test_the_exact_quantile_of_the_generic_noise():
    exact = dpf.generic_linf_bound(**GOOD, kind="exact")
    assert (1 - math.exp(-exact * 250)) ** 8 == pytest.approx(0.95, rel=1e-12)
    assert exact < dpf.generic_linf_bound(**GOOD)


def test_nothing_assumed_bounds_by_more_than_one():
    assert dpf.svm_linf_bound(**GOOD, k=40, kind="corrected") > 1


@pytest.mark.parametrize(("groups", "m", "k", "beta"), [(1, 1, 1, 0.6), (2, 10, 3, 0.05), (3, 500, 10, 0.3)])
def test_failure_of_the_sum_against_draws(groups, m, k, beta):
    rng, size = np.random.default_rng(3), 200_000
    cells = abs(rng.laplace(scale=2 / m, size=(size, 2 * groups))).max(axis=1)
    outputs = abs(rng.laplace(scale=2 / k, size=(size, 2))).max(axis=1)
    threshold = dpf.svm_linf_bound(n_groups=groups, m=m, k=k, epsilon=1.0, beta=beta)
    expected = sum_of_tails_failure(n_groups=groups, m=m, k=k, beta=beta)
    assert np.mean(cells + outputs > threshold) == pytest.approx(expected, abs=0.005)


def test_one_noise_of_each_kind_fails_more_often_than_beta():
    # P(X + Y > 2 ln(1/β)) for two exponentials; the chapter's example of a sum that is no bound
    assert 0.4**2 * (1 + 2 * math.log(1 / 0.4)) > 0.4


def test_the_edge_of_the_comparison():
    assert svm_at_most_generic(beta=1, m=7, k=7) == 0
    assert svm_at_most_generic(beta=1, m=7, k=6) == -1
    assert svm_at_most_generic(beta=1 - Fraction(1, 10**12), m=7, k=7) == -1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k: found 0"),
        ({"k": 1001}, "k: found 1001 support vectors"),
        ({"n_groups": 0}, "n_groups"),
        ({"m": 2.5}, "m: found"),
        ({"epsilon": -1}, "epsilon"),
        ({"beta": 0}, "beta: found 0"),
        ({"beta": 1}, "beta: found 1"),
        ({"beta": 5e-324, "kind": "corrected"}, "beta, share: found"),
        ({"epsilon": 5e-324}, "epsilon: found 5e-324 beside m=1000"),
        ({"kind": "exact"}, "kind"),
        ({"kind": "corrected", "flippable": 1.5}, "flippable"),
        ({"kind": "corrected", "share": 1}, "share"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(ValueError, match=message):
        dpf.svm_linf_bound(**GOOD | {"k": 40} | change)


@pytest.mark.parametrize("beta", [0, 0.5, True, Fraction(3, 2)])
def test_the_comparison_wants_an_exact_beta(beta):
    with pytest.raises(ValueError, match="beta"):
        svm_at_most_generic(beta=beta, m=2, k=1)
