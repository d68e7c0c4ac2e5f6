"""The law of the noisy counts of one group and one label: against sums over all counts and noises."""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.central.several_groups.noisy_labels import NoisyLabel


def listed(rate, rows, root, population, reach=10):
    """Shares and noisy rows with their probabilities, in fractions; noises beyond the reach are left out."""
    noise = {u: (1 - root) / (1 + root) * root ** abs(u) for u in range(-reach, reach + 1)}
    exact = (
        {t: math.comb(rows, t) * rate**t * (1 - rate) ** (rows - t) for t in range(rows + 1)}
        if population
        else {int(rate * rows): Fraction(1)}
    )
    shares, sizes = defaultdict(Fraction), defaultdict(Fraction)
    for t, chance in exact.items():
        for u, first in noise.items():
            for v, second in noise.items():
                a, b = max(t + u, 0), max(rows - t + v, 0)
                shares[Fraction(a, a + b) if a + b else Fraction(1, 2)] += chance * first * second
                sizes[a + b] += chance * first * second
    return shares, sizes


@pytest.mark.parametrize("population", [True, False])
@pytest.mark.parametrize(
    ("rate", "rows"), [(Fraction(1, 4), 4), (Fraction(0), 3), (Fraction(1), 2), (Fraction(1, 2), 6)]
)
def test_shares_and_rows(rate, rows, population):
    root = Fraction(1, 30)
    shares, sizes = listed(rate, rows, root, population)
    noisy = NoisyLabel(float(rate), rows, math.log(30), population=population)
    law = noisy.listed(1e-10)
    assert law.moved == 0
    assert law.missing <= 1.1e-10
    known = {float(share): float(mass) for share, mass in shares.items()}
    for share, mass in zip(law.shares, law.masses, strict=True):
        assert min(abs(share - one) for one in known) < 1e-15
        assert known[min(known, key=lambda one: abs(one - share))] == pytest.approx(mass, abs=1e-12)
    fewest, most = noisy.rows(0.01)
    outside = sum(mass for size, mass in sizes.items() if not fewest <= size <= most)
    assert outside <= 0.01
    assert any(
        sum(mass for size, mass in sizes.items() if not low <= size <= high) > 0.01
        for low, high in ((fewest + 1, most), (fewest, most - 1))
    )


def test_what_is_left_out_is_stated():
    noisy = NoisyLabel(0.3, 200, 0.5, population=True)
    for left_out in (1e-9, 1e-4, 0.02):
        law = noisy.listed(left_out)
        assert law.masses.sum() == pytest.approx(1 - law.missing, abs=1e-15)
        assert law.missing <= left_out
    assert len(noisy.listed(0.02).shares) < len(noisy.listed(1e-9).shares)


def test_merged_shares_are_means_and_no_farther_than_stated():
    law = NoisyLabel(0.3, 200, 0.5, population=True).listed(1e-9)
    coarse = law.merged(50)
    assert len(coarse.shares) <= 50
    assert coarse.masses.sum() == pytest.approx(law.masses.sum())
    assert coarse.masses @ coarse.shares == pytest.approx(law.masses @ law.shares)
    assert 0 < coarse.moved <= (law.shares[-1] - law.shares[0]) / 50
    assert coarse.spread() == pytest.approx(law.spread(), rel=0.01)
    # each share counts as that of its cell
    nearest = abs(law.shares[:, None] - coarse.shares).min(axis=1)
    assert nearest.max() <= coarse.moved
    assert law.merged(len(law.shares)) is law


def test_the_others():
    law = NoisyLabel(0.25, 8, 1.0, population=True).listed(1e-9)
    others = NoisyLabel(0.75, 8, 1.0, population=True).listed(1e-9)
    for at in np.linspace(0.001, 0.999, 50):
        both = [one.masses[one.shares < at].sum() for one in (law.others(), others)]
        assert both[0] == pytest.approx(both[1], abs=1e-9)
    assert (np.diff(law.others().shares) > 0).all()


def test_without_noise():
    law = NoisyLabel(0.25, 8, math.inf, population=False).listed(1e-9)
    assert (law.shares.tolist(), law.masses.tolist(), law.spread()) == ([0.25], [1.0], 0.0)


def test_noise_too_wide_to_list():
    with pytest.raises(ValueError, match=r"epsilon: found 0\.001, expected at least 0\.015"):
        NoisyLabel(0.25, 8, 0.001, population=False)


@pytest.mark.parametrize("population", [True, False])
@pytest.mark.parametrize(
    ("rate", "rows", "epsilon"), [(0.25, 40, 0.5), (0.0, 30, 0.1), (0.5, 4, 1.0), (1.0, 3, 0.5)]
)
def test_laplace_noise_against_draws(rate, rows, epsilon, population):
    rng, size = np.random.default_rng(0), 200_000
    noisy = NoisyLabel(rate, rows, epsilon, population=population, mechanism="laplace")
    law = noisy.listed(1e-9)
    assert 0 < law.moved <= 0.5 / 4_000
    assert law.masses.sum() == pytest.approx(1, abs=2e-9)
    t = rng.binomial(rows, rate, size) if population else np.full(size, round(rate * rows))
    a, b = (np.maximum(count + rng.laplace(0, 1 / epsilon, size), 0) for count in (t, rows - t))
    shares = np.where(a + b > 0, a / np.where(a + b > 0, a + b, 1), 0.5)
    for at in np.linspace(0.01, 0.99, 15):
        least, most = (law.masses[law.shares <= at + sign * law.moved].sum() for sign in (-1, 1))
        seen, error = (shares <= at).mean(), 4.5 * math.sqrt(0.25 / size)
        assert least - error <= seen <= most + error
    for left_out in (0.1, 0.01):
        fewest, most = noisy.rows(left_out)
        outside = ((a + b < fewest) | (a + b > most)).mean()
        assert outside <= left_out + 4.5 * math.sqrt(left_out / size)


def test_laplace_noise_without_any_is_no_noise():
    law = NoisyLabel(0.25, 8, math.inf, population=False, mechanism="laplace").listed(1e-9)
    assert (law.shares.tolist(), law.masses.tolist(), law.moved) == ([0.25], [1.0], 0.0)
