"""The exact law of the gap of true positive rates: against enumeration in fractions, and the estimator itself."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

import dpfair_lib as dpf
from dpfair_lib.central import (
    expected_opportunity_gap,
    opportunity_gap_quantile,
    opportunity_violation_probability,
)
from dpfair_lib.central.several_groups import opportunity_law, share_law
from dpfair_lib.central.several_groups.opportunity_law import surely_most_accurate

REACHES = {Fraction(0): 0, Fraction(1, 20): 8, Fraction(1, 1000): 4}
"""e^(−ε) of the noise → the largest noise that is listed; larger ones have probability below 1e-11."""
GAPS = [Fraction(0), Fraction(1, 97), Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]
CASES = [
    ((Fraction(1, 3), Fraction(3, 4)), (2, 3), "midpoint", Fraction(0)),
    ((Fraction(1, 2), Fraction(1)), (0, 4), "midpoint", Fraction(0)),
    ((Fraction(1, 3), Fraction(3, 4)), (3, 1), "median", Fraction(1, 5)),
    ((Fraction(0), Fraction(1, 2), Fraction(4, 5)), (1, 2, 2), "median", Fraction(0)),
    ((Fraction(1, 5), Fraction(1, 2), Fraction(1, 2)), (2, 0, 2), Fraction(2, 5), Fraction(1, 10)),
    ((Fraction(1, 5), Fraction(1, 2), Fraction(1)), (2, 1, 1), "midpoint", Fraction(0)),
]


def noisy_rates(rate, positives, root):
    """The law of T/(T + F) in fractions."""
    top, found = REACHES[root], defaultdict(Fraction)
    for t in range(positives + 1):
        chance = math.comb(positives, t) * rate**t * (1 - rate) ** (positives - t)
        for noisy in itertools.product(range(positives + top + 1), repeat=2):
            both = chance
            for seen, true in zip(noisy, (t, positives - t), strict=True):
                if root:
                    at_most = root**true / (1 + root)  # negative noisy counts count as 0
                    both *= (1 - root) / (1 + root) * root ** abs(seen - true) if seen else at_most
                else:
                    both *= seen == true
            found[Fraction(noisy[0], sum(noisy)) if sum(noisy) else Fraction(1, 2)] += both
    return {x: chance for x, chance in found.items() if chance}


def enumerated(rates, positives, rule, gamma, root):
    laws = [noisy_rates(*each, root).items() for each in zip(rates, positives, strict=True)]
    exceeds, mean = [Fraction(0)] * len(GAPS), Fraction(0)
    for outcome in itertools.product(*laws):
        chance = math.prod(mass for _, mass in outcome)
        ordered = sorted(x for x, _ in outcome)
        aim = ordered[(len(ordered) - 1) // 2] if isinstance(rule, str) else rule
        aim = sum(ordered) / 2 if rule == "midpoint" and len(ordered) == 2 else aim
        low = min(max(aim - gamma / 2, Fraction(0)), 1 - gamma)
        after = []
        for (x, _), rate in zip(outcome, rates, strict=True):
            down = rate * (low + gamma) / x if x > low + gamma else rate
            after.append(1 - (1 - rate) * (1 - low) / (1 - x) if x < low else down)
        gap = max(after) - min(after)
        mean += chance * gap
        exceeds = [total + chance * (gap > one) for total, one in zip(exceeds, GAPS, strict=True)]
    return exceeds, mean


def largest_error(cases=CASES, roots=tuple(REACHES)):
    worst = 0.0
    for (rates, positives, rule, gamma), root in itertools.product(cases, roots):
        if len(rates) > 2 and root == Fraction(1, 20):
            continue  # takes a minute
        given = {
            "rates": [float(one) for one in rates],
            "positives": positives,
            "epsilon": -math.log(root) if root else math.inf,
            "mechanism": "geometric",
            "rate": rule if isinstance(rule, str) else float(rule),
            "gamma": float(gamma),
        }
        exceeds, mean = enumerated(rates, positives, rule, gamma, root)
        for gap, chance in zip(GAPS, exceeds, strict=True):
            worst = max(worst, abs(opportunity_violation_probability(float(gap), **given) - float(chance)))
        worst = max(worst, abs(expected_opportunity_gap(**given) - float(mean)))
    return worst


def test_it_equals_the_enumeration_in_fractions():
    assert largest_error() < 1e-10


def test_faults_are_found(monkeypatch):
    pairs, listed = share_law._pairs, share_law._listed_pairs

    def planted(name, fault):
        with monkeypatch.context() as one:
            one.setattr(share_law, name, fault)
            return largest_error(CASES[:2], (Fraction(1, 20),))

    # a group without noisy positives has rate 0; both counts get the noise of one; ε counts half
    def nobody(found, missed, chances):
        law = pairs(found, missed, chances)
        return type(law)(np.where(law.values == 0.5, 0.0, law.values), law.above)

    assert planted("_pairs", nobody) > 1e-4
    assert planted("_pairs", lambda found, missed, chances: pairs(missed, found, chances)) > 1e-3
    assert planted("_listed_pairs", lambda t, m, chances, e: listed(t, m, chances, e / 2)) > 1e-3
    assert planted("_listed_pairs", lambda t, m, chances, _: pairs(t, m - t, chances)) > 1e-3


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_realised_gaps_of_the_estimator_follow_it(mechanism):
    rng, draws = np.random.default_rng(3), 400
    positives, rates, epsilon = (60, 150, 20), (0.3, 0.6, 0.7), (0.5, 1.0, 0.8)
    groups, k = np.repeat(np.arange(3), 200), 3
    y = np.concatenate([np.arange(200) < size for size in positives]).astype(int)
    for rate, gamma in (("midpoint", 0.0), ("median", 0.1), (0.45, 0.05), ("most-accurate", 0.0)):
        sizes = (60, 150, 20) if rate != "most-accurate" else (10, 200, 10)
        if rate == "most-accurate":
            y = np.concatenate([np.arange(200) < size for size in sizes]).astype(int)
        levels = epsilon if rate != "most-accurate" else (5.0, 5.0, 5.0)
        law = {"rates": rates, "positives": sizes, "epsilon": levels, "mechanism": mechanism}
        law |= {"rate": rate, "gamma": gamma}
        seen = []
        for _ in range(draws):
            labels = (rng.uniform(size=len(groups)) < np.array(rates)[groups]).astype(int)
            fair = dpf.PrivateFairPostprocessor(
                levels,
                notion="equal_opportunity",
                mechanism=mechanism,
                rate=rate,
                gamma=gamma,
                noise="study",
                random_state=rng,
            ).fit(labels, y, sensitive_features=groups)
            ask = fair.predict_proba([1] * k + [0] * k, sensitive_features=[*range(k)] * 2)[:, 1]
            seen.append(np.ptp(np.array(rates) * ask[:k] + (1 - np.array(rates)) * ask[k:]))
        for gap in (0.1, 0.2):
            chance = opportunity_violation_probability(gap, **law)
            # 16 exact tests: none is below 1e-6 by chance
            assert binomtest(int((np.array(seen) > gap).sum()), draws, chance).pvalue > 1e-6
        spread = 4.9 * np.std(seen) / math.sqrt(draws)
        assert np.mean(seen) == pytest.approx(expected_opportunity_gap(**law), abs=spread)


@pytest.mark.parametrize(
    ("rate", "mechanism"), [("midpoint", "laplace"), ("median", "geometric"), (0.4, "laplace")]
)
def test_the_quantile_is_one_and_many_positives_are_like_parity(rate, mechanism):
    given = {"rates": (0.4, 0.6), "positives": (40, 90), "epsilon": 1.0, "mechanism": mechanism, "rate": rate}
    quantile = opportunity_gap_quantile(0.1, **given)
    assert opportunity_violation_probability(quantile, **given) <= 0.1
    assert opportunity_violation_probability(quantile - 1e-5, **given) > 0.1
    # without noise the rate of true positives is that of so many rows
    sure = {"rates": (0.4, 0.6), "epsilon": math.inf, "rate": rate}
    parity = dpf.parity_violation_probability(0.1, n=(40, 90), **sure)
    assert opportunity_violation_probability(0.1, positives=(40, 90), **sure) == pytest.approx(
        parity, abs=1e-12
    )


def test_the_most_accurate_group_is_known_or_refused():
    assert surely_most_accurate((1000, 20, 30), (1.0, 1.0, 1.0), "laplace") == 0
    assert surely_most_accurate((20, 20), (math.inf, math.inf), "geometric") == 0
    assert surely_most_accurate((20, 21), (math.inf, math.inf), "geometric") == 1
    for positives in ((1000, 1000), (100, 130), (0, 3)):
        with pytest.raises(ValueError, match=r"^rate: found 'most-accurate' with positives="):
            surely_most_accurate(positives, (1.0, 1.0), "laplace")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rates": (0.3, 1.2)}, r"^rates: found 1\.2"),
        ({"positives": (3, -1)}, "^positives: found -1"),
        ({"positives": (3, 10**6)}, "^positives: found 1000000"),
        ({"positives": 2.5}, r"^positives: found 2\.5"),
        ({"epsilon": 0}, "^epsilon: found 0"),
        ({"epsilon": 1e5}, "^epsilon: found 100000"),
        ({"epsilon": 0.01, "mechanism": "geometric"}, "^epsilon: found 0.01"),
        ({"mechanism": "gaussian"}, "^mechanism: found"),
        ({"rate": "mean"}, "^rate: found 'mean'"),
        ({"gamma": 0.1}, r"^rate: found 'midpoint' with 2 groups and gamma=0\.1"),
        ({"gamma": 2}, "^gamma: found 2"),
        ({"gap": 2}, "^gap: found 2"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    given = {"gap": 0.1, "rates": (0.3, 0.5), "positives": (10, 20), "epsilon": 1.0, **changes}
    with pytest.raises(ValueError, match=message):
        opportunity_violation_probability(given.pop("gap"), **given)
    assert opportunity_law.MOST_POSITIVES < 10**6
