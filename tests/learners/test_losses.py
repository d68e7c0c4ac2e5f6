import numpy as np
import pytest

from dpfair_lib.learners.losses import HALF_WIDTH, LOSSES, curvature, descent, loss_values


def hinge(z):
    """The rounded hinge in its three pieces, for one margin."""
    if z > 1 + HALF_WIDTH:
        return 0.0
    return 1 - z if z < 1 - HALF_WIDTH else (1 + HALF_WIDTH - z) ** 2 / (4 * HALF_WIDTH)


def test_the_huberised_hinge_is_its_three_pieces_and_near_the_hinge():
    margins = np.concatenate([np.linspace(-3, 4, 701), [1 - HALF_WIDTH, 1 + HALF_WIDTH, 1.0, -1e300, 1e300]])
    found = loss_values(margins, "huberised-hinge")
    assert found == pytest.approx([hinge(z) for z in margins], rel=1e-14)
    beyond = found - np.maximum(1 - margins, 0)
    assert (beyond >= 0).all()
    assert beyond.max() == HALF_WIDTH / 4  # at the corner


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_are_those_of_the_values_and_stay_within_one(loss):
    margins, step = np.linspace(-4, 4, 1_001) + 1e-3, 1e-6
    slope = (loss_values(margins + step, loss) - loss_values(margins - step, loss)) / (2 * step)
    assert descent(margins, loss) == pytest.approx(-slope, abs=1e-8)
    assert ((descent(margins, loss) >= 0) & (descent(margins, loss) <= 1)).all()
    bend = -(descent(margins + step, loss) - descent(margins - step, loss)) / (2 * step)
    assert curvature(margins, loss) == pytest.approx(bend, abs=1e-6)
