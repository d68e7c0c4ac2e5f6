"""The law of the gap where two noisy rates decide: against enumeration, draws, and the estimator itself."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib import PrivateFairPostprocessor, parity_bound, parity_violation_probability
from dpfair_lib.central import expected_parity_gap, gap_quantile
from dpfair_lib.central.several_groups import deciding_pairs, midpoint_law
from dpfair_lib.central.several_groups.midpoint_law import Midpoint, MidpointModel
from dpfair_lib.central.several_groups.rule_law import GapLaw
from dpfair_lib.central.several_groups.several_gaps import Rule

GAPS = [Fraction(0), Fraction(1, 6), Fraction(1, 4), Fraction(31, 97), Fraction(1, 3), Fraction(1, 2)]
HALF = Fraction(1, 2)
SMALL = [
    # sizes, rates, γ: ties, counts at the ends, an empty side, equal groups, rates 0 and 1
    ((2, 2, 1, 2), (HALF, HALF, Fraction(1, 3), Fraction(5, 6)), Fraction(0)),
    ((2, 3, 2, 1), (Fraction(0), Fraction(1), Fraction(1, 3), HALF), Fraction(0)),
    ((2, 2, 2, 2), (HALF,) * 4, Fraction(0)),
    ((1, 1, 1, 1), (Fraction(0), Fraction(0), Fraction(1), Fraction(1)), Fraction(0)),
    ((1, 2, 1, 1, 2, 1), (HALF, Fraction(1, 3), Fraction(1), Fraction(1, 4), Fraction(2, 3), HALF), Fraction(0)),
    ((3, 4), (Fraction(1, 3), Fraction(2, 3)), Fraction(1, 5)),
    ((3, 2, 1), (Fraction(1, 3), HALF, Fraction(1, 4)), Fraction(1, 4)),
    ((2, 2, 3), (Fraction(1, 3), Fraction(1), Fraction(1, 4)), HALF),
    ((2, 2, 1, 2), (HALF, HALF, Fraction(1, 3), Fraction(5, 6)), Fraction(1, 5)),
    ((2, 2, 1, 2), (HALF, Fraction(1, 4), Fraction(1, 3), Fraction(5, 6)), HALF),
    ((2, 1, 1, 2), (HALF, Fraction(1, 4), Fraction(1, 3), Fraction(5, 6)), Fraction(1)),
    ((2, 2, 1, 1, 2), (HALF, Fraction(1, 3), Fraction(1), Fraction(1, 4), Fraction(2, 3)), Fraction(1, 4)),
]  # fmt: skip


def noisy_law(rate, size, root):
    """The law of the noisy count, cut to 0, …, n; ``root`` is e^(−ε), 0 for no noise."""
    counts = [math.comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(size + 1)]
    if not root:
        return counts
    law = [Fraction(0)] * (size + 1)
    for k, chance in enumerate(counts):
        law[0] += chance * root**k / (1 + root)
        law[size] += chance * root ** (size - k) / (1 + root)
        for at in range(1, size):
            law[at] += chance * root ** abs(at - k) * (1 - root) / (1 + root)
    return law if size else [Fraction(1)]


def band_start(seen, gamma):
    """The middle of all starts in [0, 1 − γ] at which the fewest changes are needed, by trying all corners."""
    corners = {min(max(one - shift, Fraction(0)), 1 - gamma) for one in seen for shift in (0, gamma)}
    costs = {t: sum(max(t - one, one - t - gamma, 0) for one in seen) for t in corners}
    best = [t for t, cost in costs.items() if cost == min(costs.values())]
    return (min(best) + max(best)) / 2


def new_rate(rate, believed, low, high):
    if believed > high:
        return rate * high / believed
    return 1 - (1 - rate) * (1 - low) / (1 - believed) if believed < low else rate


def enumerated(sizes, rates, gamma, root):
    laws = [noisy_law(rate, size, root) for rate, size in zip(rates, sizes, strict=True)]
    exceeds, mean = [Fraction(0)] * len(GAPS), Fraction(0)
    for counts in itertools.product(*(range(size + 1) for size in sizes)):
        chance = math.prod(law[c] for law, c in zip(laws, counts, strict=True))
        seen = [Fraction(c, size) for c, size in zip(counts, sizes, strict=True)]
        low = band_start(seen, gamma)
        after = [new_rate(rate, one, low, low + gamma) for rate, one in zip(rates, seen, strict=True)]
        gap = max(after) - min(after)
        mean += chance * gap
        exceeds = [total + chance * (gap > g) for total, g in zip(exceeds, GAPS, strict=True)]
    return exceeds, mean


def largest_error(cases, roots=(Fraction(2, 3), Fraction(0))):
    worst = 0.0
    for (sizes, rates, gamma), root in itertools.product(cases, roots):
        given = {
            "rates": [float(rate) for rate in rates], "n": sizes, "epsilon": -math.log(root) if root else math.inf,
            "mechanism": "geometric", "gamma": float(gamma),
        }  # fmt: skip
        exceeds, mean = enumerated(sizes, rates, gamma, root)
        found = parity_violation_probability([float(gap) for gap in GAPS], **given)
        worst = max(worst, *np.abs(found - np.array(exceeds, dtype=float)))
        worst = max(worst, abs(expected_parity_gap(**given) - float(mean)))
    return worst


@pytest.mark.parametrize("case", SMALL)
def test_it_equals_the_enumeration_in_fractions(case):
    assert largest_error([case]) < 1e-12


@pytest.mark.parametrize("gamma", [1e-12, 1e-13, 1 / 3 - 1e-12, 1 / 3 + 1.0001e-12])
@pytest.mark.parametrize("sizes", [(3, 3, 3), (3, 3, 3, 3)])
def test_knots_that_are_nearly_equal(sizes, gamma):
    # the mean, since gaps that differ by about 1e-12 count as equal in the probabilities
    rates = [Fraction((5 * place + 3) % 16, 16) for place in range(len(sizes))]
    _, mean = enumerated(sizes, rates, Fraction(gamma), Fraction(1, 4))
    given = {"rates": [float(rate) for rate in rates], "n": sizes, "epsilon": math.log(4)}
    assert abs(expected_parity_gap(**given, mechanism="geometric", gamma=gamma) - float(mean)) < 1e-10


def random_cases(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        k = int(rng.integers(2, 6))
        gamma = Fraction(int(rng.integers(1, 7)), 6) if k % 2 or k == 2 or rng.random() < 0.5 else Fraction(0)
        sizes = tuple(int(one) for one in rng.integers(1, 5 if k < 5 else 3, k))
        yield sizes, [Fraction(int(one), 6) for one in rng.integers(0, 7, k)], gamma


def test_random_small_groups_equal_the_enumeration():
    assert largest_error(random_cases(0, 25), (HALF,)) < 1e-12


def test_wrong_laws_are_found(monkeypatch):
    small = [SMALL[at] for at in (0, 1, 6, 8, 9)]

    def planted(room, name, fault):
        with monkeypatch.context() as one:
            one.setattr(room, name, fault)
            return largest_error(small, (Fraction(2, 3),))

    assert planted(midpoint_law, "TIE", midpoint_law.TIE) < 1e-12
    past, wanted, knots = midpoint_law._past, midpoint_law._wanted, midpoint_law.knots_that_may_decide
    # of equal noisy rates each decides, or none
    for strict in (True, False):
        assert (
            planted(
                midpoint_law,
                "_past",
                lambda law, place, before, s=strict: past(law, place, np.full(before.shape, s)),
            )
            > 1e-3
        )
    # the wrong number of groups below; whoever lies below does not matter
    assert planted(midpoint_law, "_wanted", lambda *given: np.maximum(wanted(*given) - 2, 0)) > 1e-3
    chance = midpoint_law._chance

    def on_either_side(part, windows):
        return sum(
            chance(part._replace(wanted=0 * part.wanted + at), windows) for at in range(2 * len(windows))
        )

    assert planted(midpoint_law, "_chance", on_either_side) > 1e-3
    # the groups that decide are always the same ones
    assert planted(midpoint_law, "knots_that_may_decide", lambda *given: knots(*given)[:1]) > 1e-3
    # pairs in the other order too; ties of two deciding groups counted twice
    rows = midpoint_law.pair_rows
    assert (
        planted(
            midpoint_law, "pair_rows", lambda laws, ends, pair, *rest: rows(laws, ends, pair[::-1], *rest)
        )
        > 1e-3
    )
    monkeypatch.setattr(deciding_pairs, "EQUAL", -1e-12)
    assert largest_error(small[:1], (Fraction(2, 3),)) > 1e-3
    monkeypatch.undo()
    # the lower noisy rate is the aim, or the upper one
    assert (
        planted(deciding_pairs.Rows, "start", lambda self, gamma: np.clip(self.knots(gamma)[0], 0, 1 - gamma))
        > 1e-3
    )
    assert (
        planted(deciding_pairs.Rows, "start", lambda self, gamma: np.clip(self.knots(gamma)[1], 0, 1 - gamma))
        > 1e-3
    )
    # the two that decide keep their rates; another one never is the smallest
    assert (
        planted(
            MidpointModel,
            "_own",
            lambda self, rows: tuple(np.array(self.rates)[at] for at in (rows.lower, rows.upper)),
        )
        > 1e-3
    )
    assert planted(MidpointModel, "_least_in", lambda *given: (np.zeros(len(given[-1].rows)),) * 2) > 1e-3


def drawn(given, draws, seed):
    """The gap in draws of rows and noise, with the middle of the cheapest bands by sorting."""
    rng, gamma = np.random.default_rng(seed), given["gamma"]
    alphas, sizes, epsilon = np.array(given["rates"]), np.array(given["n"]), given["epsilon"]
    shape = (draws, len(alphas))
    noise = rng.laplace(scale=1 / epsilon, size=shape)
    if given["mechanism"] == "geometric":
        success = -math.expm1(-epsilon)
        noise = rng.geometric(success, size=shape) - rng.geometric(success, size=shape)
    x = np.clip((rng.binomial(sizes, alphas, size=shape) + noise) / sizes, 0, 1)
    knots = np.sort(np.clip(np.concatenate([x, x - gamma], axis=1), 0, 1 - gamma), axis=1)
    low = knots[:, [len(alphas) - 1, len(alphas)]].mean(axis=1, keepdims=True)
    high = low + gamma
    over, under = x > high, x < low
    down = alphas * high / np.where(over, x, 1)
    up = 1 - (1 - alphas) * (1 - low) / np.where(under, 1 - x, 1)
    return np.ptp(np.where(over, down, np.where(under, up, alphas)), axis=1)


LARGE = [
    ({"rates": [0.3, 0.31, 0.32, 0.35], "n": [800, 900, 1200, 3000], "epsilon": 0.3, "gamma": 0.0}, 0.003),
    ({"rates": [0.3, 0.35, 0.5], "n": [400, 3000, 500], "epsilon": 0.5, "gamma": 0.05}, 0.003),
    ({"rates": [0.001] * 4, "n": [1000] * 4, "epsilon": 0.1, "gamma": 0.0}, 0.005),
    ({"rates": [0.01, 0.99, 0.5, 0.97], "n": [200] * 4, "epsilon": 0.5, "gamma": 0.5}, 0.01),
]


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize(("given", "allowed"), LARGE)
def test_draws_agree_with_it(given, allowed, mechanism):
    given = given | {"mechanism": mechanism}
    gaps = np.sort(drawn(given, 200_000, 0))
    for share in (0.5, 0.95):
        # halfway between two attained gaps, where they are few
        gap = float(gaps[int(share * len(gaps))]) + 1e-4
        assert abs(parity_violation_probability(gap, **given) - (gaps > gap).mean()) < allowed + 0.003
    if min(given["rates"]) > 0.2:  # else the mean takes long
        assert abs(expected_parity_gap(**given) - gaps.mean()) < 5 * gaps.std() / math.sqrt(len(gaps)) + 2e-5


@pytest.mark.parametrize(("gamma", "mechanism"), [(0.0, "laplace"), (0.1, "geometric")])
def test_the_estimator_has_this_law(mechanism, gamma):
    sizes, rates, epsilon = (12, 20, 9, 15), np.array([0.3, 0.4, 0.6, 0.5]), 0.5
    codes, rng, gaps = np.repeat(np.arange(4), sizes), np.random.default_rng(3), []
    for _ in range(400):
        labels = (rng.random(len(codes)) < rates[codes]).astype(int)
        fair = PrivateFairPostprocessor(
            epsilon, mechanism=mechanism, noise="study", random_state=int(rng.integers(2**31)), gamma=gamma
        ).fit(labels, sensitive_features=codes)
        chances = fair.predict_proba(np.repeat([0, 1], 4), sensitive_features=np.tile(np.arange(4), 2))[:, 1]
        gaps.append(np.ptp((1 - rates) * chances[:4] + rates * chances[4:]))
    for gap in (0.1, 0.25, 0.4):
        law = parity_violation_probability(
            gap, rates=rates, n=sizes, epsilon=epsilon, mechanism=mechanism, gamma=gamma
        )
        # 4.5 deviations of the share
        assert abs(law - (np.array(gaps) > gap).mean()) < 4.5 * math.sqrt(law * (1 - law) / len(gaps)) + 1e-3


def test_it_has_quantiles_below_the_bound():
    for gamma, n, mechanism in ((0.0, (20, 25, 12, 6), "geometric"), (0.05, (300, 250, 400, 600), "laplace")):
        given = {
            "rates": (0.2, 0.5, 0.4, 0.45),
            "n": n,
            "epsilon": (0.4, 1.0, 0.2, 3.0),
            "mechanism": mechanism,
            "gamma": gamma,
        }
        for eta in (0.05, 0.5):
            quantile = gap_quantile(eta, **given)
            assert parity_violation_probability(quantile, **given) <= eta
            assert parity_violation_probability(quantile - 2e-6, **given) > eta
            assert quantile <= parity_bound(n, given["epsilon"], eta, mechanism=mechanism, gamma=gamma)


def test_a_band_of_no_width_is_the_limit_of_narrow_ones():
    given = {
        "rates": [0.3, 0.36, 0.4, 0.5],
        "n": [500, 400, 600, 300],
        "epsilon": 0.7,
        "mechanism": "laplace",
    }
    at_once = parity_violation_probability(0.05, **given)
    assert abs(parity_violation_probability(0.05, **given, gamma=1e-7) - at_once) < 1e-4
    # of three groups the law of the median is another computation
    three = {name: one if np.ndim(one) == 0 else one[:3] for name, one in given.items()}
    assert (
        abs(
            parity_violation_probability(0.05, **three, gamma=1e-7)
            - parity_violation_probability(0.05, **three)
        )
        < 1e-4
    )


def test_finer_points_find_the_same(monkeypatch):
    given = {"rates": [0.3, 0.31, 0.4, 0.302], "n": [2000, 1500, 1000, 3000], "epsilon": 1.0, "gamma": 0.02}
    for mechanism in ("laplace", "geometric"):
        found = parity_violation_probability(0.05, **given, mechanism=mechanism)
        with monkeypatch.context() as finer:
            finer.setattr(deciding_pairs, "WIDTH", 0.6)
            finer.setattr(midpoint_law, "TOLERANCE", 1e-6)
            assert abs(parity_violation_probability(0.05, **given, mechanism=mechanism) - found) < 5e-5


def test_small_lattices_are_listed_and_large_ones_are_not():
    given = {"epsilon": 1.0, "mechanism": "geometric", "rate": "midpoint", "gamma": 0.0}
    few, many = (GapLaw.of([0.3] * 4, n, **given) for n in (20, 2000))
    assert few.rule == Midpoint(0.0) != Rule(None, None, 0.0)
    assert MidpointModel(few.rates, few.laws, few.rule).every
    assert not MidpointModel(many.rates, many.laws, many.rule).every
