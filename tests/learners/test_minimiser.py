"""The bound on rounding in the solver of output perturbation, term by term, against the numbers that it names."""

import math

import mpmath
import numpy as np
import pytest

from dpfair_lib.learners import minimiser
from dpfair_lib.learners.losses import descent
from dpfair_lib.learners.minimiser import absolutely_bounded_rows, gradient_rounding, minimise

HALF_ULP = np.finfo(float).eps / 2
LOSSES = [("logistic", math.log(2), 1 / 4), ("huberised-hinge", 1.0, 1.0)]  # at no weights; largest curvature


@pytest.mark.parametrize(("loss", "at_zero", "curvature"), LOSSES)
@pytest.mark.parametrize("modulus", [1e-6, 0.25, 3.0, 50.0])
@pytest.mark.parametrize("lipschitz", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("accuracy", [0.0, 0.3])
def test_a_parameter_costs_the_length_of_the_weights(loss, at_zero, curvature, modulus, lipschitz, accuracy):
    known = {"lipschitz": lipschitz, "modulus": modulus, "accuracy": accuracy, "loss": loss}
    per_parameter = (gradient_rounding(10, 10**9, **known) - gradient_rounding(10, 0, **known)) / 1e9
    reach = min(math.sqrt(2 * at_zero / modulus), lipschitz / modulus) + accuracy / modulus
    assert per_parameter == pytest.approx(HALF_ULP * lipschitz**2 * curvature * reach, rel=1e-6, abs=0)


@pytest.mark.parametrize("lipschitz", [0.1, 7.0])
def test_a_row_costs_one_rounding_until_rows_are_summed_by_pieces(lipschitz):
    known = {"lipschitz": lipschitz, "modulus": 1.0, "accuracy": 0.0}
    sizes = [1, 2, 1000, 1 << 14, (1 << 14) + 1, 1 << 15, 1 << 20]
    costs = [gradient_rounding(n, 0, **known) / (HALF_ULP * lipschitz) for n in sizes]
    assert np.diff(costs) == pytest.approx([1, 998, (1 << 14) - 1000 + 1, 0, 1, (1 << 6) - 2])


@pytest.mark.parametrize(("loss", "at_zero", "curvature"), LOSSES)
@pytest.mark.parametrize("modulus", [1e-6, 3.0])
@pytest.mark.parametrize("linear", [0.2, 50.0])
def test_a_linear_term_is_rounded_and_lengthens_the_weights(loss, at_zero, curvature, modulus, linear):
    known = {"lipschitz": 7.0, "modulus": modulus, "accuracy": 0.3, "loss": loss}
    alone = gradient_rounding(10, 0, **known, linear=linear) - gradient_rounding(10, 0, **known)
    assert alone == pytest.approx(HALF_ULP * 6 * linear, rel=1e-6, abs=0)
    per_parameter = (
        gradient_rounding(10, 10**9, **known, linear=linear)
        - gradient_rounding(10, 0, **known, linear=linear)
    ) / 1e9
    reach = min(math.sqrt(2 * at_zero / modulus), 7 / modulus) + (0.3 + linear) / modulus
    assert per_parameter == pytest.approx(HALF_ULP * 49 * curvature * reach, rel=1e-6, abs=0)


def test_noise_that_moves_the_weights_far_rounds_the_gradient_by_no_more_than_is_said():
    # the linear term moves the weights far along a row's edge, where its score is nothing but rounding
    rng, modulus, length, worst = np.random.default_rng(0), 1e-4, 100.0, 0.0
    said = gradient_rounding(1, 2, lipschitz=1.0, modulus=modulus, accuracy=1e-9, linear=length)
    without = gradient_rounding(1, 2, lipschitz=1.0, modulus=modulus, accuracy=1e-9) + 6 * HALF_ULP * length
    for _ in range(300):
        a, b = rng.normal(size=2)
        row = np.array([a, b]) / math.hypot(a, b)
        weights = length / modulus * np.array([row[1], -row[0]])
        with mpmath.workdps(50):
            score = mpmath.fsum(mpmath.mpf(x) * mpmath.mpf(w) for x, w in zip(row, weights, strict=True))
            exact = 1 / (1 + mpmath.exp(score))
            worst = max(worst, float(abs(exact - mpmath.mpf(float(descent(row @ weights, "logistic"))))))
    assert without < worst < said


@pytest.mark.parametrize("loss", ["logistic", "huberised-hinge"])
def test_the_gradient_is_as_short_as_asked_for_however_coarsely_that_is(loss):
    # Newton's steps leap over most accuracies: only one just below a step's gradient shows that the solver went on
    rng = np.random.default_rng(0)
    rows, signs, modulus = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], size=30), 0.05
    ended = set()
    for accuracy in np.geomspace(1e-12, 1, 200):
        weights = minimise(rows, signs, modulus, accuracy, loss)
        pulls = descent(signs * (rows @ weights), loss)
        slope = modulus * weights - (signs * pulls) @ rows / len(rows)
        assert np.linalg.norm(slope) <= accuracy + 1e-15
        ended.add(tuple(weights))
    assert len(ended) >= 4


def test_an_error_of_the_solver_tells_nothing_of_the_rows(monkeypatch):
    monkeypatch.setattr(minimiser, "MOST_STEPS", 1)
    told = set()
    for rows in (np.eye(3), 5 * np.eye(3), np.array([[0.0, 2, 1], [1, 1, 1], [0, 0, 4]])):
        with pytest.raises(ValueError, match="tolerance: found a gradient larger than allowed") as refused:
            minimise(rows, np.array([1.0, -1, 1]), 1e-3, 1e-12)
        told.add(str(refused.value))
    assert len(told) == 1


def test_rows_are_scaled_down_to_a_sum_of_absolute_values():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 7)) * rng.choice([1e-300, 1e-3, 1, 1e3], size=(50, 1))
    rows[0] = 0
    rows[1] = 5e-324
    found = absolutely_bounded_rows(rows, 2.0)
    sums = np.array([math.fsum(row) for row in abs(rows)])
    assert (found[sums <= 1.999] == rows[sums <= 1.999]).all()
    assert max(math.fsum(row) for row in abs(found)) <= 2 * (1 + 15 * 2.0**-50)
    long = sums > 2
    assert long.any()
    np.testing.assert_allclose(found[long], rows[long] * (2 / sums[long])[:, None], rtol=1e-14)
