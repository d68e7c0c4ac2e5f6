"""The law of a noisy true positive rate: in closed form, by simulation, and its points."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binomtest

from dpfair_lib.central.several_groups import share_law as room
from dpfair_lib.central.several_groups.share_law import share_law, two_noises_exceed

CASES = [(0, 1.0, 0.3), (1, 0.3, 0.5), (7, 0.5, 0.0), (40, 1.0, 0.9), (12, 5.0, 0.2), (3, 40.0, 0.4)]


def test_the_tail_of_two_noises_is_an_integral():
    for s in (0.0, 0.01, 0.3, 0.4999, 0.5, 0.501, 0.8, 1.0):
        for z in (-2.0, -0.3, 0.0, 0.1, 1.5, 6.0):
            if s in (0.0, 1.0):
                exact = 0.5 * math.exp(-abs(z)) if z >= 0 else 1 - 0.5 * math.exp(z)
            else:
                # over v: P(u > (z + s v)/(1 − s)), split at its kinks
                def part(v, s=s, z=z):
                    w = (z + s * v) / (1 - s)
                    above = 0.5 * math.exp(-w) if w >= 0 else 1 - 0.5 * math.exp(w)
                    return 0.5 * math.exp(-abs(v)) * above

                ends = sorted({-60.0, 60.0, 0.0, min(max(-z / s, -60.0), 60.0)})
                exact = sum(quad(part, *pair, epsabs=1e-13)[0] for pair in itertools.pairwise(ends))
            found = float(two_noises_exceed(np.array(z), np.array(s)))
            assert found == pytest.approx(exact, abs=1e-10)


def tail_is_met(law, x, points):
    """Whether exact tests accept both tails at all points."""
    for at in points:
        for strict, met in ((True, x > at), (False, x >= at)):
            chance = float(law.tail(np.array([at]), strict=strict)[0])
            chance = min(max(chance, 0.0), 1.0)
            if binomtest(int(met.sum()), len(x), chance).pvalue < 1e-8:
                return False
    return True


def drawn(rng, m, epsilon, rho, mechanism, draws):
    t = rng.binomial(m, rho, draws)
    if mechanism == "laplace":
        noise = rng.laplace(0, 1 / epsilon, (2, draws))
    else:
        noise = np.diff(rng.geometric(1 - math.exp(-epsilon), (2, 2, draws)), axis=0)[0]
    found, missed = np.maximum(t + noise[0], 0), np.maximum(m - t + noise[1], 0)
    return np.where(found + missed > 0, found / np.where(found + missed > 0, found + missed, 1), 0.5)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_draws_follow_it_and_a_wrong_corner_is_found(mechanism):
    rng, points = np.random.default_rng(0), [0.0, 0.1, 0.25, 1 / 3, 0.49, 0.5, 0.6, 0.9, 1.0]
    for m, epsilon, rho in CASES:
        law = share_law(rho, m, epsilon, mechanism)
        x = drawn(rng, m, epsilon, rho, mechanism, 40_000)
        assert tail_is_met(law, x, points)
        at, masses = law.fine_points()
        assert masses.sum() == pytest.approx(1, abs=1e-10)
        assert at @ masses == pytest.approx(x.mean(), abs=6 * x.std() / 200 + 1e-4)
    x = drawn(rng, 1, 0.3, 0.5, mechanism, 40_000)
    assert not tail_is_met(share_law(0.5, 2, 0.3, mechanism), x, points)
    if mechanism == "laplace":  # the corner, in which both noisy counts are 0, is the atom ½
        law = share_law(0.5, 1, 0.3, mechanism)
        assert law.corner == pytest.approx(math.exp(-0.3) / 4)
        fault = room.DensityLaw(law.m, law.first, law.pieces, law.table, 0.0, law.bottom, law.top)
        assert not tail_is_met(fault, x, points)


def test_the_table_is_the_sum_that_it_stands_for():
    from scipy.stats import binom

    rng = np.random.default_rng(1)
    for m, epsilon, rho in [*CASES, (3000, 0.7, 0.3)]:
        law, s, t = share_law(rho, m, epsilon, "laplace"), rng.uniform(0, 1, 50), np.arange(m + 1)
        exact = [
            float(binom.pmf(t, m, rho) @ two_noises_exceed((one * m - t) * epsilon, np.array(one)))
            for one in s
        ]
        assert law._smooth(s) == pytest.approx(exact, abs=1e-7)


def test_ratios_that_are_put_together_keep_their_mass_and_mean_and_the_atoms_stay(monkeypatch):
    given = (0.5, 1500, 1.0, "geometric")
    few = share_law(*given)
    monkeypatch.setattr(room, "MOST_VALUES", 10**9)
    every = share_law(*given)
    assert len(few.values) < 9_000 < len(every.values)
    assert (np.diff(few.values) > 0).all()
    (at, masses), (fine, exact) = few.fine_points(), every.fine_points()
    assert masses.sum() == pytest.approx(exact.sum(), abs=1e-14)
    assert at @ masses == pytest.approx(fine @ exact, abs=1e-14)
    assert at**2 @ masses == pytest.approx(fine**2 @ exact, abs=1e-9)
    assert masses[at == 0.5] == exact[fine == 0.5] > 1e-3
    # the distribution functions differ by what lies in a cell at most
    x = np.linspace(fine[0], fine[-1], 997)
    differ = abs(few.tail(x, strict=True) - every.tail(x, strict=True))
    assert 0 < differ.max() < 0.01


@pytest.mark.parametrize(
    ("m", "epsilon", "rho"), [(3000, 0.1, 0.3), (500, 0.3, 0.97), (9000, 0.2, 0.499), (2000, 0.05, 0.02)]
)
def test_the_shared_sums_are_those_over_near_counts(m, epsilon, rho, monkeypatch):
    from scipy.stats import binom

    t = np.arange(m + 1)
    chances = binom.pmf(t, m, rho)
    t, chances = t[chances > room.UNSEEN], chances[chances > room.UNSEEN]
    counts = np.random.default_rng(0).uniform(max(t[0] - 90, 0), min(t[-1] + 90, m), 2000)

    def found(few):
        with monkeypatch.context() as patched:
            patched.setattr(room, "FEW", few)
            return room._mean_tail(counts, t, m, chances, epsilon)

    by_hand = found(10**9)
    assert abs(found(0) - by_hand).max() < 1e-12
    sums = room._signed_sums
    monkeypatch.setattr(room, "_signed_sums", lambda decays, *more: sums(decays.mean() + 0 * decays, *more))
    assert abs(found(0) - by_hand).max() > 1e-6


@pytest.mark.parametrize(
    ("m", "epsilon", "rho"), [(0, 0.8, 0.3), (1, 0.5, 0.5), (6, 0.7, 0.2), (9, 2.0, 1.0)]
)
def test_pairs_of_whole_counts_are_all_sums_of_noises(m, epsilon, rho):
    from scipy.stats import binom

    noise = np.arange(-70, 71)
    one = np.exp(-epsilon * abs(noise)) * math.tanh(epsilon / 2)
    law = {}
    for t, chance in enumerate(binom.pmf(np.arange(m + 1), m, rho)):
        found, missed = np.maximum(t + noise[:, None], 0), np.maximum(m - t + noise, 0)
        ratios = np.where(found + missed > 0, found / np.maximum(found + missed, 1), 0.5)
        for value, mass in zip(ratios.ravel(), (chance * np.outer(one, one)).ravel(), strict=True):
            law[value] = law.get(value, 0.0) + mass
    at, masses = room.share_law(rho, m, epsilon, "geometric").fine_points()
    found = dict(zip(at.tolist(), masses.tolist(), strict=True))
    assert max(abs(found.get(value, 0.0) - mass) for value, mass in law.items()) < 1e-13
    assert sum(found.values()) == pytest.approx(1, abs=1e-13)
