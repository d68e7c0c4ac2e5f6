from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfair_lib.compatibility.perturbed_leader.exact_laws import bit_chance, cube_law, expert_law


def by_quadrature(totals, epsilon):
    """P(expert i leads), with mpmath, piece by piece."""
    mp = mpmath.mp.clone()
    mp.dps = 30

    def density(u):
        return mp.exp(-epsilon * abs(u)) * epsilon / 2

    def above(u):
        return mp.exp(-epsilon * u) / 2 if u > 0 else 1 - mp.exp(epsilon * u) / 2

    stops = [-mp.inf, *sorted(set(totals)), mp.inf]
    return [
        mp.quad(
            lambda x, i=i: (
                density(x - totals[i]) * mp.fprod(above(x - c) for j, c in enumerate(totals) if j != i)
            ),
            stops,
        )
        for i in range(len(totals))
    ]


@pytest.mark.parametrize(
    ("totals", "epsilon"), [([0.5], 1.0), ([0, 1], 0.7), ([2, 0, 2, 5], 0.3), ([1, 1, 1], 4.0)]
)
def test_law_of_the_leading_expert_is_the_integral(totals, epsilon):
    found = expert_law(totals, epsilon)
    assert found.sum() == pytest.approx(1, abs=1e-14)
    assert found == pytest.approx([float(p) for p in by_quadrature(totals, epsilon)], rel=1e-10)


def test_law_of_experts_depends_on_differences_alone_and_survives_far_totals():
    assert expert_law([3, 4, 4.5], 2.0) == pytest.approx(expert_law([0, 1, 1.5], 2.0), rel=1e-12)
    assert expert_law([0, 5000], 1.0) == pytest.approx([1, 0], abs=1e-15)


def test_cube_and_bits_agree():
    totals = np.arange(-6, 7)
    exact = [float(bit_chance(int(total), Fraction(3, 4))) for total in totals]
    assert cube_law(totals, -np.log(0.75)) == pytest.approx(exact, rel=1e-13)
    assert bit_chance(2, Fraction(1, 2)) == Fraction(1, 8)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: cube_law([0.0], 0), "epsilon: found 0"),
        (lambda: expert_law([0.0, 1.0], -1), "epsilon: found -1"),
        (lambda: expert_law([[0.0]], 1.0), "total: found shape"),
        (lambda: bit_chance(1, 1), "ratio: found 1"),
    ],
)
def test_what_cannot_be_is_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
