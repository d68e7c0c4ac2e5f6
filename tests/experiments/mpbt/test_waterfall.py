import math

import numpy as np
import pytest
from scipy.stats import binom

from dpfair_lib.experiments.mpbt import waterfall
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.corollary import corollary_constants, theorem_constants
from dpfair_lib.privacy import gaussian_delta
from dpfair_lib.privacy.minimisers import logistic_perturbation_sensitivity, output_perturbation_sensitivity


@pytest.fixture(scope="module")
def rows():
    return waterfall.run_fit(data="celeba", fit="as stated", draws=1000, seed=0, standin=4000)


def values(rows, part):
    return {
        (row["step"], row["noise"], row["notion"]): row["value"]
        for row in rows
        if row["part"] == part and row["reference"] == "h*"
    }


def test_the_theorems_order_their_steps(rows):
    """Only these steps can never go up, by what is proved; the others are compared with recorded numbers."""
    found = values(rows, "chain")
    names = [step for step, _ in waterfall.chain()]
    for notion in NOTIONS:
        steps = [found[name, "classical", notion] for name in names[:7]]
        assert (np.diff(steps) <= 1e-12).all()
        *_, rows_that_change, analytic, sharp = (
            found[name, choice.noise, notion] for name, choice in waterfall.chain()
        )
        assert sharp <= analytic + 1e-12 <= rows_that_change + 2e-12


def test_the_bounds_are_above_the_law(rows):
    chain, law = values(rows, "chain"), values(rows, "quantile")
    for notion in NOTIONS:
        lowest = min(
            value for (_, noise, which), value in chain.items() if which == notion and noise == "classical"
        )
        assert lowest >= law["0.99 quantile", "classical", notion]


def test_corollary_and_theorem_are_those_of_the_library():
    rng = np.random.default_rng(0)
    joint, means = rng.dirichlet(np.ones(4)).reshape(2, 2), rng.random((2, 2))
    weights, flat = joint.ravel(), means.ravel()

    def mean(cells):
        return (weights * flat)[cells].sum() / weights[cells].sum() if cells.any() else 0.0

    for notion in NOTIONS:
        own, others = waterfall.corollary_sets(notion, (2, 2))
        found = np.array([mean(a) + mean(b) for a, b in zip(own, others, strict=True)])
        expected = corollary_constants(joint, means, notion, [0, 1])
        kept = expected > 0
        assert found[kept] == pytest.approx(expected[kept], rel=1e-12)
        assert (theorem_constants(joint, means, notion, [0, 1]) <= expected + 1e-12).all()


def test_interval_of_a_quantile_covers_by_the_binomial_law():
    draws = 1000
    found = waterfall.quantile(np.arange(1, draws + 1).astype(float), level=0.9)
    assert found["0.9 quantile"] == 900
    # the quantile is above the low end and below the high one: number of draws below it is binomial
    low, high = int(found["low"]), int(found["high"])
    assert binom.cdf(high - 1, draws, 0.9) - binom.cdf(low - 1, draws, 0.9) >= 0.95
    assert binom.cdf(high - 2, draws, 0.9) - binom.cdf(low, draws, 0.9) < 0.96
    with pytest.raises(ValueError, match="values: found 20 draws"):
        waterfall.quantile(np.arange(20.0))


def test_noise_of_every_kind():
    n = 182_338
    scales = waterfall.noise_scales(6.0, n)
    assert scales["classical"] == pytest.approx(6 * math.sqrt(8 * math.log(1.25 * n**2)) / n, rel=1e-14)
    assert 0.8 < scales["analytic"] / scales["classical"] < 0.9
    sensitivity = {"lipschitz": 6.0, "strong_convexity": 1.0, "n": n}
    sharp = logistic_perturbation_sensitivity(**sensitivity)
    share = sharp / output_perturbation_sensitivity(**sensitivity)
    for kind in ("classical", "analytic"):
        assert scales[f"{kind}, sharp"] == pytest.approx(share * scales[kind], rel=1e-14)
    assert gaussian_delta(1.0, scales["analytic, sharp"], sharp) == pytest.approx(1 / n**2, rel=1e-6)
