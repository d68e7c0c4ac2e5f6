import itertools
from fractions import Fraction

import pytest

from dpfair_lib.margins.descent import full_batch_descent_bound, stochastic_descent_bound
from dpfair_lib.privacy import gaussian_delta


def test_descent_bounds():
    assert stochastic_descent_bound(
        3, initial=2.0, step=0.25, modulus=1.0, steps=1, gradient_variance=1.0, sigma_squared=2.0
    ) == pytest.approx(0.75 * 2 + 0.25**2 * (2 + 6))
    common = {"lipschitz": 1.0, "n": 100, "epsilon": 2.0, "delta": 1e-5, "steps": 9, "initial": 4.0}
    sigma, bound = full_batch_descent_bound(3, strong_convexity=0.5, smoothness=2.0, **common)
    assert gaussian_delta(2.0, sigma, 2 * 3 / 100) == pytest.approx(1e-5, rel=1e-9)
    assert bound == pytest.approx(0.75**18 * 4 + 3 * sigma**2 / 4 / (1 - 0.75**2))
    with pytest.raises(ValueError, match=r"smoothness: found 0\.1"):
        full_batch_descent_bound(3, strong_convexity=0.5, smoothness=0.1, **common)


def test_descent_at_its_longest_step_against_every_draw():
    """Two records, three steps at γ = 1/(2β), noise ±σ: all 4³ equally likely courses, in fractions."""
    curvature, target = (Fraction(1), Fraction(1, 5)), (Fraction(-1), Fraction(2))
    best = sum(c * z for c, z in zip(curvature, target, strict=True)) / sum(curvature)
    variance = sum((c * (best - z)) ** 2 for c, z in zip(curvature, target, strict=True)) / 2
    for start, sigma in itertools.product(
        (Fraction(0), Fraction(5), best), (Fraction(0), Fraction(1), Fraction(7))
    ):
        total = Fraction(0)
        for course in itertools.product(zip(curvature, target, strict=True), (-sigma, sigma), repeat=3):
            h = start
            for (c, z), noise in zip(course[::2], course[1::2], strict=True):
                h -= (c * (h - z) + noise) / 2
            total += (h - best) ** 2
        bound = stochastic_descent_bound(
            1, initial=(start - best) ** 2, step=Fraction(1, 2), modulus=sum(curvature) / 2, steps=3,
            gradient_variance=variance, sigma_squared=sigma**2,
        )  # fmt: skip
        assert total / 4**3 <= bound


def test_the_longest_step_is_allowed_and_no_longer_one():
    given = {"initial": 1.0, "modulus": 0.3, "steps": 3, "gradient_variance": 1.0, "sigma_squared": 1.0}
    longest = 1 / (2 * 0.3)
    assert stochastic_descent_bound(1, step=longest, **given) > 0
    with pytest.raises(ValueError, match="step: found"):
        stochastic_descent_bound(1, step=longest * (1 + 1e-6), **given)
