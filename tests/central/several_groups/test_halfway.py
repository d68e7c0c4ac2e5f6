"""Two groups that move halfway: the same law as that of parity, if the noisy rates have the same."""

import math

import pytest

from dpfair_lib.central.gap_law import RateLaw, expected_gap, violation_probability
from dpfair_lib.central.several_groups.halfway import halfway_exceeds, halfway_mean


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_it_is_the_law_of_parity(mechanism):
    for rates, sizes, epsilons in (
        ((0.3, 0.5), (20, 30), (0.4, 1.0)),
        ((0.0, 1.0), (3, 5), (1.0, 0.2)),
        ((0.7, 0.65), (4, 2), (2.0, math.inf)),
        ((0.45, 0.5), (100, 80), (0.3, 0.1)),
    ):
        laws = tuple(RateLaw.of(*each, mechanism) for each in zip(rates, sizes, epsilons, strict=True))
        for gap in (0.0, 0.05, 0.25):
            exact = violation_probability(rates, laws, gap)
            found = halfway_exceeds(rates, laws, gap)
            assert found == pytest.approx(exact, abs=1e-12 if all(law.lattice for law in laws) else 2e-5)
            assert halfway_exceeds(rates[::-1], laws[::-1], gap) == pytest.approx(found, abs=1e-12)
        if sizes[0] < 10:
            assert halfway_mean(rates, laws) == pytest.approx(expected_gap(rates, laws), abs=2e-5)
        assert halfway_exceeds(rates, laws, 1.0) == 0
