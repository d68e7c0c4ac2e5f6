"""Replacements that move logistic regression far."""

import numpy as np
import pytest

from dpfair_lib.learners.minimiser import minimise
from dpfair_lib.privacy.minimisers import logistic_perturbation_sensitivity
from dpfair_lib.privacy.worst_replacements import worst_replacement


@pytest.mark.parametrize(("lipschitz", "mu"), [(6.0, 1.0), (0.5, 0.01)])
def test_the_exchange_moves_nearly_as_far_as_the_sensitivity_allows(lipschitz, mu):
    n = 2000
    base, one, other = worst_replacement(lipschitz, mu, n)
    assert base.shape == (n - 1, 2)
    assert np.linalg.norm([*base, one, other], axis=1).max() <= lipschitz * (1 + 1e-12)
    ends = [minimise(np.vstack([base, z]), np.ones(n), mu, 1e-6 * lipschitz / n) for z in (one, other)]
    allowed = logistic_perturbation_sensitivity(lipschitz=lipschitz, strong_convexity=mu, n=n)
    assert 0.98 <= np.linalg.norm(ends[0] - ends[1]) / allowed <= 1


@pytest.mark.parametrize("given", [(0.0, 1.0, 3), (1.0, -1.0, 3), (1.0, 1.0, 1)])
def test_bad_constants_are_refused(given):
    with pytest.raises(ValueError, match="expected"):
        worst_replacement(*given)
