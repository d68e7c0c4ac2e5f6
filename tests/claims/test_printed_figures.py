"""Every point of MPBT's figures, and its bounds."""

import pytest

from dpfair_lib.claims.printed_figures import bounds, figure_runs
from dpfair_lib.experiments.mpbt.bounded_impact import BOUND, PROBLEMS, noise_scale
from dpfair_lib.privacy import gaussian_delta


@pytest.mark.parametrize("data", BOUND)
@pytest.mark.parametrize("fit", PROBLEMS)
def test_every_point_is_there_once(data, fit):
    found = figure_runs(data, fit)
    assert len({(one.axis, one.n, one.stated) for one in found}) == len(found) == 40
    assert {one.axis for one in found} == {"n", "epsilon"}
    assert all(0 < one.least <= one.most for one in found)
    assert found[-1].least > found[20].least  # ε rises along the second line


def test_bounds_are_those_of_a_gaussian_that_a_pair_moves():
    least, most = bounds("acs-income", "as stated", 100, 1.0)
    sigma = noise_scale(3.0, 100, 1.0)
    low, high = 1e-4, 1.0
    for _ in range(60):  # the distance that has this ε at δ = 10⁻⁴
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(most, sigma, middle) < 1e-4 else (low, middle)
    assert 0.03 < low < 2 * 3 / 100  # below the sensitivity of any loss
    assert least < most < 1
