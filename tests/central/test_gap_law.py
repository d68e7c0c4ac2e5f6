import itertools
from fractions import Fraction
from math import comb

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfair_lib.central.gap_law import (
    RateLaw,
    expected_gap,
    signed_gap,
    summed_changes,
    violation_probability,
)

CASES = [
    ((0.3, 0.6), (3, 2), (1.0, 3.0)),
    ((0.0, 0.3), (2, 4), (0.5, 0.2)),
    ((1.0, 0.0), (3, 2), (0.5, 30.0)),
    ((1.0, 0.4), (1, 1), (0.3, 0.2)),
    ((0.5, 0.5), (2, 3), (2.0, 2.0)),
    ((0.9, 0.2), (5, 4), (float("inf"), 1.0)),
    ((0.2, 0.9), (4, 5), (1.0, float("inf"))),
]


def laws(rates, n, epsilon, mechanism):
    return tuple(RateLaw.of(*each, mechanism) for each in zip(rates, n, epsilon, strict=True))


def exact_binomial(n, rate):
    return [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]


def exact_lattice_law(n, rate, decay):
    """The noisy count by adding up, in fractions; ``decay`` is e^(−ε), 0 for no noise."""
    law = [Fraction(0)] * (n + 1)
    for k, p in enumerate(exact_binomial(n, rate)):
        for j in range(n + 1):
            if 0 < j < n:
                law[j] += p * (1 - decay) / (1 + decay) * decay ** abs(j - k)
            else:  # P(noise ≥ d) = e^(−εd)/(1 + e^(−ε)) for d ≥ 1, and 1 minus that mirrored for d ≤ 0
                d = (j - k) if j == n else (k - j)
                law[j] += p * (decay**d / (1 + decay) if d > 0 else 1 - decay ** (1 - d) / (1 + decay))
    return law


@pytest.mark.parametrize("decay", [Fraction(0), Fraction(1, 2), Fraction(9, 10)])
def test_geometric_law_equals_the_enumeration_in_fractions(decay):
    n, rates = (4, 3), (Fraction(1, 3), Fraction(4, 5))
    epsilon = float("inf") if decay == 0 else float(-mp.log(mp.mpf(decay.numerator) / decay.denominator))
    mine = laws(map(float, rates), n, (epsilon, epsilon), "geometric")
    exact = [exact_lattice_law(k, p, decay) for k, p in zip(n, rates, strict=True)]
    for law, expected in zip(mine, exact, strict=True):
        assert sum(expected) == 1
        assert law.atoms()[1] == pytest.approx([float(p) for p in expected], rel=1e-12)
    gaps = {}
    for i, j in itertools.product(range(n[0] + 1), range(n[1] + 1)):
        gap = abs(signed_gap(*rates, Fraction(i, n[0]), Fraction(j, n[1])))
        gaps[gap] = gaps.get(gap, 0) + exact[0][i] * exact[1][j]
    assert sum(gap * p for gap, p in gaps.items()) == pytest.approx(
        expected_gap(tuple(map(float, rates)), mine), rel=1e-12
    )
    for t in (Fraction(1, 97), Fraction(11, 97), Fraction(31, 97), Fraction(43, 97), Fraction(47, 97)):
        expected = float(sum(p for gap, p in gaps.items() if gap > t))
        assert violation_probability(tuple(map(float, rates)), mine, float(t)) == pytest.approx(
            expected, rel=1e-10, abs=1e-15
        )


def mp_violation(rates, n, epsilon, t):
    """Integrate with mpmath: the gap's own formula decides by bisection, nothing is shared with the library."""
    alpha, beta = (mp.mpf(x) for x in rates)

    def survival(group, x):
        k_n, e = n[group], epsilon[group]
        total = mp.mpf(0)
        for k in range(k_n + 1):
            p = mp.binomial(k_n, k) * mp.mpf(rates[group]) ** k * (1 - mp.mpf(rates[group])) ** (k_n - k)
            y = x * k_n - k
            total += p * ((1 - mp.exp(e * y) / 2) if y < 0 else mp.exp(-e * y) / 2)
        return total

    def density(group, x):
        k_n, e = n[group], epsilon[group]
        return sum(
            mp.binomial(k_n, k) * mp.mpf(rates[group]) ** k * (1 - mp.mpf(rates[group])) ** (k_n - k)
            * k_n * e / 2 * mp.exp(-e * abs(x * k_n - k))
            for k in range(k_n + 1)
        )  # fmt: skip

    def gap(a, b):
        target = (a + b) / 2
        first = (
            alpha * target / a
            if a > target
            else (1 - (1 - alpha) * (1 - target) / (1 - a) if a < target else alpha)
        )
        second = (
            beta * target / b
            if b > target
            else (1 - (1 - beta) * (1 - target) / (1 - b) if b < target else beta)
        )
        return first - second

    def first_above(a, level):  # the b from which the signed gap exceeds the level
        low, high = mp.mpf(0), mp.mpf(1)
        if gap(a, low) > level:
            return None
        if gap(a, high) <= level:
            return mp.mpf(2)
        for _ in range(90):
            middle = (low + high) / 2
            low, high = (middle, high) if gap(a, middle) <= level else (low, middle)
        return high

    def above(a):  # P(gap > t | a)
        b = first_above(a, t)
        if b is None:
            return mp.mpf(1)
        return survival(1, b) if b < 1 else (survival(1, mp.mpf(1)) if gap(a, mp.mpf(1)) > t else mp.mpf(0))

    def below(a):  # P(gap < −t | a)
        b = first_above(a, -t)
        if b is None:
            b = mp.mpf(0)
        if b == 0:
            return 1 - survival(1, mp.mpf(0)) if gap(a, mp.mpf(0)) < -t else mp.mpf(0)
        return (
            1 - survival(1, b)
            if b < 1
            else (mp.mpf(1) if gap(a, mp.mpf(1)) < -t else 1 - survival(1, mp.mpf(1)))
        )

    def either(a):
        return above(a) + below(a)

    edges = {mp.mpf(k) / n[0] for k in range(n[0] + 1)}
    for k in range(n[1] + 1):  # where the curve passes a kink of the other law
        for level in (t, -t):
            low, high = mp.mpf(0), mp.mpf(1)
            b = mp.mpf(k) / n[1]
            for _ in range(90):
                middle = (low + high) / 2
                low, high = (middle, high) if gap(middle, b) > level else (low, middle)
            edges.add(low)
    inside = mp.quad(lambda a: density(0, a) * either(a), sorted(edges | {mp.mpf(0), mp.mpf(1)}), maxdegree=5)
    ends = (1 - survival(0, mp.mpf(0))) * either(mp.mpf(0)) + survival(0, mp.mpf(1)) * either(mp.mpf(1))
    return inside + ends


@pytest.mark.parametrize(("rates", "n", "epsilon"), CASES[:3])
@pytest.mark.parametrize("t", [0.0513, 0.2371])
def test_laplace_law_equals_mpmath_to_ten_digits(rates, n, epsilon, t):
    with mp.workdps(20):
        expected = float(mp_violation(rates, n, epsilon, mp.mpf(t)))
    mine = violation_probability(rates, laws(rates, n, epsilon, "laplace"), t)
    assert mine == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize(("rates", "n", "epsilon"), CASES)
def test_law_agrees_with_draws(mechanism, rates, n, epsilon):
    rng, draws = np.random.default_rng(1), 200_000
    noisy = []
    for rate, k, e in zip(rates, n, epsilon, strict=True):
        count = rng.binomial(k, rate, draws).astype(float)
        if np.isfinite(e) and mechanism == "laplace":
            count += rng.laplace(0, 1 / e, draws)
        elif np.isfinite(e):
            count += rng.geometric(-np.expm1(-e), draws) - rng.geometric(-np.expm1(-e), draws)
        noisy.append(np.clip(count / k, 0, 1))
    seen = abs(signed_gap(*rates, *noisy))
    mine = laws(rates, n, epsilon, mechanism)
    for t in (0.0513, 0.2371, 0.613):
        chance = violation_probability(rates, mine, t)
        # six standard deviations, of the true probability: fails once in 5e8
        assert (seen > t).mean() == pytest.approx(
            chance, abs=6 * np.sqrt(chance * (1 - chance) / draws) + 1e-12
        )
    assert seen.mean() == pytest.approx(expected_gap(rates, mine), abs=6 * seen.std() / np.sqrt(draws))


@settings(max_examples=200)
@given(*[st.fractions(0, 1, max_denominator=30)] * 5)
def test_signed_gap_is_monotone_and_its_parts_are_probabilities(alpha, beta, a, b, c):
    low, high = sorted((b, c))
    values = [signed_gap(alpha, beta, a, x) for x in (low, high)]
    assert values[0] <= values[1]
    assert signed_gap(alpha, beta, a, a) == alpha - beta
    assert abs(values[0]) <= 1


@settings(max_examples=200)
@given(*[st.fractions(0, 1, max_denominator=30)] * 4)
def test_changes_are_what_the_two_groups_flip(alpha, beta, a, b):
    target = (a + b) / 2

    def flipped(rate, believed):
        if believed > target:
            return rate * (believed - target) / believed
        return (1 - rate) * (target - believed) / (1 - believed) if believed < target else Fraction(0)

    assert summed_changes(alpha, beta, a, b) == flipped(alpha, a) + flipped(beta, b)


def test_a_large_law_is_a_law():
    for mechanism in ("laplace", "geometric"):
        law = RateLaw.of(0.25, 7635, 0.05, mechanism)
        _points, masses = law.atoms()
        assert masses.min() >= 0
        if law.lattice:
            assert masses.sum() == pytest.approx(1, abs=1e-12)
        else:
            assert law.survival(np.array([0.0]))[0] + masses[0] == pytest.approx(1, abs=1e-12)
            x = (np.arange(7635 * 4) + 0.5) / (7635 * 4)
            assert law.density(x).mean() + masses.sum() == pytest.approx(1, abs=1e-4)
