"""Points that stand for several laws at once keep their polynomials, and intervals end where new rates jump."""

import numpy as np
import pytest

from dpfair_lib.central.gap_law import RateLaw
from dpfair_lib.central.several_groups.deciding_values import interval_ends, jump_places, shared_points
from dpfair_lib.central.several_groups.law_points import fine_points


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_shared_points_keep_masses_and_moments(mechanism):
    laws = [RateLaw.of(rate, size, 0.3, mechanism) for rate, size in ((0.2, 30), (0.7, 200))]
    points = [fine_points(law, 4000) for law in laws]
    at, masses = shared_points(laws, interval_ends(points, 0.05, np.zeros(0)))
    for (exact, mass), row in zip(points, masses, strict=True):
        for power in range(5):
            assert row @ at**power == pytest.approx(mass @ exact**power, abs=1e-9)
        assert abs(row @ at**40 - mass @ exact**40) < 1e-4


def test_atoms_stay_points_of_their_own():
    """Also ½, where the rate of a group without a noisy positive is."""
    law = RateLaw.of(0.4, 30, 0.3, "geometric")
    exact, mass = fine_points(law, 4000)
    at, (row,) = shared_points([law], interval_ends([(exact, mass)], 0.05, np.zeros(0)))
    for atom in (0.0, 0.5, 1.0):
        assert mass[exact == atom].sum() > 1e-6
        assert row[at == atom].sum() == pytest.approx(mass[exact == atom].sum(), rel=1e-12)


def test_a_jump_of_an_atom_between_0_and_1_is_where_it_is():
    atoms = [(np.array([0.25]), np.array([0.4]))] * 2
    places = jump_places([0.3, 0.35], atoms, 0.0, 0.3)
    # a noisy rate p below c becomes 1 − (1 − α)(1 − c)/(1 − p)
    for own, other in ((0.3, 0.35), (0.35, 0.3)):
        c = 1 - (1 - other - 0.3) * (1 - 0.25) / (1 - own)
        assert 0.25 < c < 1
        assert min(abs(places - c)) < 1e-12


def test_a_jump_is_where_two_new_rates_are_the_gap_apart():
    atoms = [(np.array([0.0]), np.array([0.4]))] * 2
    places = jump_places([0.1, 0.3], atoms, 0.0, 0.2)
    # a group whose noisy rate is 0 gets 1 − (1 − α)(1 − c), the other one keeps its rate
    for own, other in ((0.1, 0.3), (0.3, 0.1)):
        c = 1 - (1 - other - 0.2) / (1 - own)
        if 0 < c < 1:
            assert min(abs(places - c)) < 1e-12
