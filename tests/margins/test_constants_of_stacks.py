"""The constants of many models at once are those of each, however many labels and groups there are."""

import numpy as np
import pytest

from dpfair_lib.margins.corollary import corollary_constants, theorem_constants

NOTIONS = ("equalized_odds", "equal_opportunity", "demographic_parity", "accuracy_parity", "accuracy")


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2), (3, 4)])
@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("constants", [theorem_constants, corollary_constants])
def test_a_stack_is_its_layers(constants, notion, shape):
    if notion == "demographic_parity" and shape[0] > 2:
        shape = (2, shape[1])  # it is about two labels
    rng = np.random.default_rng(0)
    joint = rng.dirichlet(np.ones(shape[0] * shape[1]), size=(4, 5)).reshape(4, 5, *shape)
    means = rng.exponential(size=joint.shape)
    desirable = np.arange(shape[0]) % 2
    stacked = constants(joint, means, notion, desirable)
    for at in np.ndindex(4, 5):
        assert stacked[at] == pytest.approx(constants(joint[at], means[at], notion, desirable), rel=1e-12)
