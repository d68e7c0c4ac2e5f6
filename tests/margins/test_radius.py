import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfair_lib as dpf
from dpfair_lib.margins.radius import (
    changed_prediction_probability,
    changed_share_bound,
    noise_norm_squared_bound,
    projection_quantile,
    refined_margin_lipschitz,
)
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity

GOOD = {"lipschitz": 6.0, "strong_convexity": 1.0, "n": 1000, "epsilon": 0.5, "delta": 1e-6, "zeta": 0.01}


def test_the_printed_radius_of_celeba():
    n = 182_339
    found = dpf.output_perturbation_radius(
        38, lipschitz=6, strong_convexity=1, n=n, epsilon=1, delta=1 / n**2, zeta=0.01
    )
    printed = 6 * math.sqrt(32 * 38 * math.log(1.25 * n**2) * math.log(200)) / n
    assert found == pytest.approx(printed, rel=1e-14)


@pytest.mark.parametrize(("p", "zeta"), [(1, 0.5), (2, 1e-9), (38, 0.01), (500, 0.99), (3, 1e-30)])
def test_the_exact_bound_is_the_quantile(p, zeta):
    squared = noise_norm_squared_bound(p, zeta, "exact")
    with mpmath.workdps(40):
        tail = mpmath.gammainc(mpmath.mpf(p) / 2, mpmath.mpf(squared) / 2, regularized=True)
    assert float(tail) == pytest.approx(zeta, rel=1e-10)


@given(st.integers(1, 10_000), st.floats(1e-15, 1 - 1e-15))
def test_the_bounds_are_ordered(p, zeta):
    printed, moderate, exact = (
        noise_norm_squared_bound(p, zeta, kind) for kind in ("lemma-4.1", "laurent-massart", "exact")
    )
    assert printed > moderate > exact > 0


def test_the_analytic_radius_is_smaller_and_scales_with_n():
    classical = dpf.output_perturbation_radius(10, **GOOD)
    assert dpf.output_perturbation_radius(10, **GOOD, noise_kind="analytic") < classical
    with pytest.warns(DeprecationWarning, match="noise= is now called noise_kind="):
        assert dpf.output_perturbation_radius(10, **GOOD, noise="analytic") < classical
    assert dpf.output_perturbation_radius(10, **(GOOD | {"n": 2000})) == pytest.approx(classical / 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("zeta", 0), ("zeta", 1), ("delta", 0.0), ("delta", 1), ("epsilon", 0), ("n", 0), ("n", 2.5),
        ("strong_convexity", 0), ("strong_convexity", math.inf), ("lipschitz", -1),
        ("kind", "tight"), ("noise_kind", "laplace"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name}: found"):
        dpf.output_perturbation_radius(10, **(GOOD | {name: value}))


def test_modulus_of_scikit_learn():
    assert dpf.strong_convexity(C=1 / 500, n=1000) == pytest.approx(0.5)
    n = 182_339
    assert dpf.strong_convexity(C=n, n=n) == pytest.approx(n**-2)  # and not 1
    for C in (0, math.inf, math.nan):
        with pytest.raises(ValueError, match="C: found"):
            dpf.strong_convexity(C, 10)
    assert output_perturbation_sensitivity(lipschitz=3, strong_convexity=0.5, n=6) == 2


def test_changed_predictions():
    found = changed_prediction_probability([0.0, 1.0, 2.0], 1.0)
    assert found == pytest.approx([0.5, float(mpmath.ncdf(-1)), float(mpmath.ncdf(-2))], rel=1e-13)
    with pytest.raises(ValueError, match=r"distances: found -1\.0 at position 1"):
        changed_prediction_probability([0.0, -1.0], 1.0)


def test_the_refined_constant_of_known_projections():
    x = np.array([[3.0, 4.0], [0.0, 1.0]])
    difference = np.array([[1.0, 0.0], [0.0, 0.0]])
    assert refined_margin_lipschitz(x, difference).tolist() == [6.0, 0.0]
    assert refined_margin_lipschitz(x, np.array([[0.0, 0.0], [0.0, -7.0]])).tolist() == [8.0, 2.0]


def test_share_of_changed_predictions():
    t = projection_quantile(0.01, 1e-4)
    assert float(mpmath.ncdf(-t)) == pytest.approx(1e-6, rel=1e-10)
    assert changed_share_bound([0.0, 1.9 * t, 2.1 * t, 5 * t], 2.0, zeta=0.01, slack=1e-4) == pytest.approx(
        0.5001
    )
    assert changed_share_bound([0.0], 1.0, zeta=0.5, slack=0.5) == 1.0
    for name in ("zeta", "slack"):
        with pytest.raises(ValueError, match=f"{name}: found 0"):
            changed_share_bound([1.0], 1.0, **({"zeta": 0.1, "slack": 0.1} | {name: 0}))
