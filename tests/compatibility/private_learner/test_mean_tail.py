import math

import pytest

from dpfair_lib.compatibility.private_learner.mean_tail import mean_tail_bound


def test_the_bound_and_its_ends():
    assert mean_tail_bound(0.1, 50, 1.0) == pytest.approx(2 * math.exp(-1))
    assert mean_tail_bound(0.3, 50, 3.0, sides=1) == pytest.approx(math.exp(-1))
    assert mean_tail_bound(0.1, 50, 0.0) == 0
    assert mean_tail_bound(0.0, 50, 0.0) == 2


@pytest.mark.parametrize(
    ("arguments", "match"),
    [((-0.1, 1, 1), "deviation"), ((0.1, 0, 1), "n: found 0"), ((0.1, 1, -1), "spread")],
)
def test_what_cannot_be_is_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        mean_tail_bound(*arguments)
    with pytest.raises(ValueError, match="sides: found 3"):
        mean_tail_bound(0.1, 1, 1, sides=3)
