"""A row exactly as far from the boundary as a model may move counts as one that may change."""

import math

import numpy as np
import pytest

from dpfair_lib.margins.private_certificate import settled_counts
from dpfair_lib.margins.radius import changed_share_bound, projection_quantile


@pytest.mark.parametrize("reach", [0.0, 0.25, 3.0])
def test_at_the_reach_a_row_is_settled_neither_way(reach):
    below, above = math.nextafter(-reach, -math.inf), math.nextafter(reach, math.inf)
    relative, codes = np.array([-reach, reach, below, above, 0.0]), np.array([0, 0, 1, 1, 2])
    assert settled_counts(relative, codes, 3, reach).tolist() == [[0, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize("sigma", [0.1, 1.0, 7.0])
def test_at_the_quantile_a_record_counts_as_changed(sigma):
    edge = projection_quantile(0.05, 0.01) * sigma
    distances = np.array([edge, math.nextafter(edge, math.inf), 2 * edge, 0.0])
    assert changed_share_bound(distances, sigma, zeta=0.05, slack=0.01) == pytest.approx(2 / 4 + 0.01)
