"""The exact law of several groups' gap: against enumeration in fractions, other rules, and the estimator itself."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib import PrivateFairPostprocessor, parity_bound, parity_violation_probability
from dpfair_lib.central import (
    changes_probability,
    changes_quantile,
    expected_changes,
    expected_parity_bound,
    expected_parity_gap,
    gap_quantile,
)
from dpfair_lib.central.gap_law import RateLaw
from dpfair_lib.central.released_rates import geometric_count_law
from dpfair_lib.central.several_groups import gap_cells, law_points, several_gaps
from dpfair_lib.central.several_groups.rule_law import GapLaw
from dpfair_lib.central.several_groups.several_gaps import Rule, gap_probability, mean_gap

GAPS = [Fraction(0), Fraction(1, 97), Fraction(1, 6), Fraction(31, 97), Fraction(1, 3), Fraction(1, 2)]


def new_rate(rate, believed, low, high):
    if believed > high:
        return rate * high / believed
    return 1 - (1 - rate) * (1 - low) / (1 - believed) if believed < low else rate


def enumerated(rates, n, root, rule):
    """P(gap > g) for each g, and E gap, over all noisy counts, in fractions; ``root`` is e^(−ε), 0 for no noise."""
    laws = []
    for rate, size in zip(rates, n, strict=True):
        counts = [math.comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(size + 1)]
        if root:
            noisy = [geometric_count_law(k, size, root) for k in range(size + 1)]
            counts = [sum(p * law[c] for p, law in zip(counts, noisy, strict=True)) for c in range(size + 1)]
        laws.append(counts)
    exceeds, mean = [Fraction(0)] * len(GAPS), Fraction(0)
    middle, anchor, gamma = rule
    for counts in itertools.product(*(range(size + 1) for size in n)):
        chance = math.prod(law[c] for law, c in zip(laws, counts, strict=True))
        x = [Fraction(c, size) for c, size in zip(counts, n, strict=True)]
        aim = sorted(x)[(len(n) - 1) // 2] if middle is None and anchor is None else middle
        aim = aim if anchor is None else x[anchor]
        low = min(max(aim - gamma / 2, Fraction(0)), 1 - gamma)
        after = [new_rate(rate, one, low, low + gamma) for rate, one in zip(rates, x, strict=True)]
        gap = max(after) - min(after)
        mean += chance * gap
        exceeds = [total + chance * (gap > g) for total, g in zip(exceeds, GAPS, strict=True)]
    return exceeds, mean


def instances(seed, count):
    rng = np.random.default_rng(seed)
    for at in range(count):
        k = int(rng.integers(2, 5))
        n = [int(size) for size in rng.integers(1, 5, k)]
        rates = [Fraction(int(one), 6) for one in rng.integers(0, 7, k)]
        gamma = [Fraction(0), Fraction(0), Fraction(1, 5)][int(rng.integers(3))]
        rule = [
            Rule(Fraction(int(rng.integers(9)), 8), None, gamma),
            Rule(None, int(rng.integers(k)), gamma),
            Rule(None, None, gamma),
        ][at % 3]
        yield rates, n, [Fraction(0), Fraction(1, 2), Fraction(4, 5)][at // 3 % 3], rule


def largest_error(seed, count):
    worst = 0.0
    for rates, n, root, rule in instances(seed, count):
        epsilon = -math.log(root) if root else math.inf
        laws = [
            RateLaw.of(float(rate), size, epsilon, "geometric") for rate, size in zip(rates, n, strict=True)
        ]
        floats = [float(rate) for rate in rates]
        given = Rule(None if rule.middle is None else float(rule.middle), rule.anchor, float(rule.gamma))
        exceeds, mean = enumerated(rates, n, root, rule)
        for gap, chance in zip(GAPS, exceeds, strict=True):
            worst = max(worst, abs(gap_probability(floats, laws, float(gap), given) - float(chance)))
        worst = max(worst, abs(mean_gap(floats, laws, given) - float(mean)))
    return worst


def test_it_equals_the_enumeration_in_fractions():
    # rates 0 and 1, ties of counts and of new rates, gaps that are attained, bands at the ends: all occur
    assert largest_error(0, 60) < 1e-11


def test_large_lattices_are_spread_and_small_ones_are_not(monkeypatch):
    sizes = (3000, 3100, 3333, 2800, 2900)
    given = {"rates": [0.4, 0.41, 0.43, 0.44, 0.45], "n": sizes, "epsilon": 3.0, "mechanism": "geometric"}
    gaps = np.array(
        [0.0085, 0.0135, 0.0225]
    )  # no difference of two rates, at which ties are as likely as a place

    def found(most, instead=law_points.smoothed):
        with monkeypatch.context() as one:
            one.setattr(several_gaps, "MANY", most)
            one.setattr(several_gaps, "MOST", most)
            one.setattr(several_gaps, "smoothed", instead)
            return parity_violation_probability(gaps, **given, rate="median")

    every = found(10**9)
    assert np.abs(found(1) - every).max() < 3e-4
    # points that stand for lattices miss the jumps
    assert np.abs(found(1, lambda laws, _: laws) - every).max() > 6e-4
    # where few values decide, all are used
    few = given | {"n": (300, 290, 310, 305, 295)}
    exact = GapLaw.of(rate="median", gamma=0.0, **few)
    assert several_gaps.GapModel(*exact).every
    assert several_gaps.GapModel(*exact).exact
    assert not several_gaps.GapModel(
        *GapLaw.of(rate="median", gamma=0.0, **given | {"n": (10**5,) * 5})
    ).every


def test_faults_are_found(monkeypatch):
    def planted(room, name, fault):
        with monkeypatch.context() as one:
            one.setattr(room, name, fault)
            return largest_error(0, 18)

    model, tail, band = several_gaps.GapModel, several_gaps._tail, several_gaps._band
    above, chance = model._above_rate, model._chance
    # a tie is not counted; the band is not moved into [0, 1]; the group that decides is changed too
    assert planted(several_gaps, "_tail", lambda law, x, **_: tail(law, x, strict=True)) > 1e-3
    assert (
        planted(
            several_gaps,
            "_band",
            lambda points, gamma: (points - gamma / 2, points + gamma / 2),
        )
        > 1e-3
    )
    assert planted(several_gaps, "_band", lambda points, gamma: band(points, 0 * gamma)) > 1e-3
    # the rates are the noisy ones; whoever lies below does not matter
    assert (
        planted(
            model,
            "_above_rate",
            lambda self, group, *given: above(self, (group + 1) % len(self.laws), *given),
        )
        > 1e-3
    )

    def anywhere(self, aim, *given):
        return np.repeat(chance(self, aim._replace(below=None), *given), len(aim.owners), axis=0)

    assert planted(model, "_chance", anywhere) > 1e-3
    # of equal noisy rates several decide
    sides = several_gaps.GapModel._sides_of
    assert planted(model, "_sides_of", lambda *given: [pair[:1] * 2 for pair in sides(*given)]) > 1e-3


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize("k", [3, 5])
def test_realised_gaps_of_the_estimator_follow_it(k, mechanism):
    rng = np.random.default_rng(k)
    n, rates, epsilon = (
        [40, 90, 60, 30, 70][:k],
        [0.25, 0.6, 0.4, 0.5, 0.45][:k],
        [0.5, 0.2, 1.0, 2.0, 0.7][:k],
    )
    groups = np.repeat(np.arange(k), n)
    given = {"rates": rates, "n": n, "epsilon": epsilon, "mechanism": mechanism}
    draws = 300
    for rate, gamma in (("midpoint", 0.0), ("median", 0.1), ("most-accurate", 0.0), (0.45, 0.0), (0.3, 0.05)):
        seen = []
        for _ in range(draws):
            labels = (rng.uniform(size=len(groups)) < np.array(rates)[groups]).astype(int)
            fair = PrivateFairPostprocessor(
                epsilon, mechanism=mechanism, rate=rate, gamma=gamma, noise="study", random_state=rng
            ).fit(labels, sensitive_features=groups)
            ask = fair.predict_proba([1] * k + [0] * k, sensitive_features=[*range(k), *range(k)])[:, 1]
            after = np.array(rates) * ask[:k] + (1 - np.array(rates)) * ask[k:]
            seen.append(np.ptp(after))
        law = given | {"rate": rate, "gamma": gamma}
        for gap in (0.1, 0.2):
            chance = parity_violation_probability(gap, **law)
            # eight tests of each of 20 cases: normal beyond 4.5 deviations has probability 7e-6
            spread = 4.5 * math.sqrt(chance * (1 - chance) / draws) + 1 / draws
            assert np.mean(np.array(seen) > gap) == pytest.approx(chance, abs=spread)
        spread = 4.5 * np.std(seen) / math.sqrt(draws)
        assert np.mean(seen) == pytest.approx(expected_parity_gap(**law), abs=spread)


def test_ten_groups_of_ten_thousand_rows_agree_with_a_finer_computation(monkeypatch):
    rates, n = np.linspace(0.3, 0.4, 10), 10_000
    laws = [RateLaw.of(rate, n, 1.0, "laplace") for rate in rates]
    for rule, gap in (
        (Rule(None, 3, 0.0), 0.02),
        (Rule(None, None, 0.0), 0.015),
        (Rule(0.35, None, 0.02), 0.035),
    ):
        usual = gap_probability(rates, laws, gap, rule)
        with monkeypatch.context() as finer:
            finer.setattr(gap_cells, "CLOSE", 0.2)
            finer.setattr(gap_cells, "TOLERANCE", 1e-10)
            finer.setattr(several_gaps, "WIDTH", 0.3)
            assert gap_probability(rates, laws, gap, rule) == pytest.approx(usual, abs=2e-6)
        assert 0.01 < usual < 0.99


def test_a_group_that_surely_lies_on_one_side_is_only_a_factor(monkeypatch):
    rates, surely = [0.1, 0.2, 0.5, 0.52, 0.8, 0.9, 0.95], several_gaps._surely
    laws = [RateLaw.of(rate, 3000, 1.0, "laplace") for rate in rates]

    def chance():
        return gap_probability(rates, laws, 0.02, Rule(None, None, 0.0))

    usual = chance()
    monkeypatch.setattr(several_gaps, "_surely", lambda *_: 0)
    assert chance() == pytest.approx(usual, abs=1e-9)
    monkeypatch.setattr(several_gaps, "_surely", lambda *given: abs(surely(*given)))
    assert abs(chance() - usual) > 1e-2


def test_two_groups_have_the_same_law_by_either_way():
    # a group of very many rows without noise has its own rate: the anchor is then as good as a number
    rates, n, epsilon = (0.3, 0.5), (200, 10**6), (1.0, math.inf)
    given = {"rates": rates, "n": n, "epsilon": epsilon}
    for gap in (0.02, 0.05):
        anchor = parity_violation_probability(gap, rate="most-accurate", **given)
        assert anchor == pytest.approx(parity_violation_probability(gap, rate=0.5, **given), abs=2e-3)


@pytest.mark.parametrize("rate", ["median", "most-accurate", 0.4])
def test_the_bounds_hold_and_the_quantile_is_one(rate):
    law = {"n": (20, 25, 12, 6), "epsilon": (0.4, 1.0, 0.2, 3.0), "mechanism": "geometric"}
    for rates in ((0.2, 0.5, 0.4, 0.45), (0.0, 1.0, 0.5, 0.5), (0.5, 0.5, 0.5, 0.5)):
        given = law | {"rates": rates, "rate": rate, "gamma": 0.05}
        for eta in (0.05, 0.5):
            quantile = gap_quantile(eta, **given)
            assert parity_violation_probability(quantile, **given) <= eta
            assert quantile < 2e-6 or parity_violation_probability(quantile - 2e-6, **given) > eta
            assert quantile <= parity_bound(law["n"], law["epsilon"], eta, mechanism="geometric", gamma=0.05)
        most = expected_parity_bound(law["n"], law["epsilon"], mechanism="geometric", gamma=0.05)
        assert expected_parity_gap(**given) <= most


def test_what_has_no_exact_law_is_refused():
    for k, gamma in ((4, 0.2), (3, 0.1), (2, 0.1), (4, 0.0), (6, 0.0)):
        for law in (
            functools.partial(changes_probability, 0.1),
            functools.partial(changes_quantile, 0.1),
            expected_changes,
        ):
            with pytest.raises(
                ValueError, match=rf"^rate: found 'midpoint' with {k} groups and gamma={gamma:g}"
            ):
                law(rates=[0.3] * k, n=50, epsilon=1.0, gamma=gamma)
    with pytest.raises(ValueError, match=r"^rate: found 'mean'"):
        parity_violation_probability(0.1, rates=[0.3] * 3, n=50, epsilon=1.0, rate="mean")
    with pytest.raises(ValueError, match=r"^gamma: found -1"):
        parity_violation_probability(0.1, rates=[0.3] * 3, n=50, epsilon=1.0, gamma=-1)
