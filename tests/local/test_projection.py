import numpy as np
import pytest

from dpfair_lib.local.projection import tilted

DIVERGENCES = ("kl", "ce")


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_rows_are_minimised_and_derivatives_are_right(divergence, scale):
    rng = np.random.default_rng(1)
    y, t = rng.dirichlet(np.ones(3), size=20), scale * rng.normal(size=(20, 3))
    found = tilted(y, t, divergence)

    def cost(h):
        terms = h * np.log(h / y) if divergence == "kl" else y * np.log(y / h)
        return (terms + t * h).sum(axis=1)

    np.testing.assert_allclose(found.value, cost(found.probabilities), atol=1e-9 * (1 + scale))
    for share in (1e-4, 0.01, 0.5):
        other = (1 - share) * found.probabilities + share * rng.dirichlet(np.ones(3), size=20)
        assert (cost(other) >= found.value - 1e-9 * (1 + scale)).all()
    direction, length = rng.normal(size=(20, 3)), 1e-5
    ends = [tilted(y, t + sign * length * direction, divergence) for sign in (1, -1)]
    slope = (ends[0].value - ends[1].value) / (2 * length)
    np.testing.assert_allclose(slope, (found.probabilities * direction).sum(axis=1), atol=1e-4)
    w = found.weights
    curved = w * direction - w * (w * direction).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    change = (ends[1].probabilities - ends[0].probabilities) / (2 * length)
    np.testing.assert_allclose(change, curved, atol=1e-3)
