import mpmath
import pytest

from dpfair_lib.privacy import LaplaceMechanism, optimal_composition_delta
from dpfair_lib.privacy.laplace_composition import laplace_composition_delta


def two_laplace_releases(epsilon, at):
    """δ of two Laplace releases by mpmath: over the first loss, the exact δ of the second at what is left."""
    mp = mpmath.mp.clone()
    mp.dps = 25

    def one(left):
        if left >= epsilon:
            return mp.mpf(0)
        if left <= -epsilon:
            return 1 - mp.exp(left)
        return 1 - mp.exp((left - epsilon) / 2)

    inner = mp.quad(
        lambda u: one(at - u) * mp.exp((u - epsilon) / 2) / 4,
        sorted({-epsilon, epsilon, *(x for x in (at - epsilon, at + epsilon) if abs(x) < epsilon)}),
    )
    return one(at - epsilon) / 2 + one(at + epsilon) * mp.exp(-epsilon) / 2 + inner


@pytest.mark.parametrize(("epsilon", "at"), [(0.5, 0.0), (0.5, 0.3), (0.5, 0.9), (2.0, 1.0)])
def test_bounds_enclose_the_exact_delta(epsilon, at):
    one = laplace_composition_delta(epsilon, 1, at)
    assert one[0] <= LaplaceMechanism(1 / epsilon, 1).delta(at) + 1e-15
    assert one[1] >= LaplaceMechanism(1 / epsilon, 1).delta(at) - 1e-15
    low, high = laplace_composition_delta(epsilon, 2, at)
    exact = float(two_laplace_releases(epsilon, at))
    assert low - 1e-15 <= exact <= high + 1e-15
    assert high - low < 0.01 * epsilon


def test_laplace_releases_leak_no_more_than_the_worst_mechanisms():
    for releases in (1, 7, 64):
        low, _ = laplace_composition_delta(0.2, releases, 0.4)
        assert low <= optimal_composition_delta(0.2, 0.0, releases, 0.4) + 1e-14
