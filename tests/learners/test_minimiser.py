"""The bound on rounding in the solver of output perturbation, term by term, against the numbers that it names."""

import math

import numpy as np
import pytest

from dpfair_lib.learners.minimiser import gradient_rounding

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
    assert per_parameter == pytest.approx(HALF_ULP * lipschitz**2 * curvature * reach, rel=1e-6)


@pytest.mark.parametrize("lipschitz", [0.1, 7.0])
def test_a_row_costs_one_rounding_until_rows_are_summed_by_pieces(lipschitz):
    known = {"lipschitz": lipschitz, "modulus": 1.0, "accuracy": 0.0}
    sizes = [1, 2, 1000, 1 << 14, (1 << 14) + 1, 1 << 15, 1 << 20]
    costs = [gradient_rounding(n, 0, **known) / (HALF_ULP * lipschitz) for n in sizes]
    assert np.diff(costs) == pytest.approx([1, 998, (1 << 14) - 1000 + 1, 0, 1, (1 << 6) - 2])
