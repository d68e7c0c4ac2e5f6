"""The law of the summed changes: against enumeration in fractions, the two ways against each other, and draws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.central.gap_law import RateLaw
from dpfair_lib.central.released_rates import geometric_count_law
from dpfair_lib.central.several_groups import change_law as room
from dpfair_lib.central.several_groups.change_law import change_law, mean_changes, mean_changes_of_two
from dpfair_lib.central.several_groups.several_gaps import Rule


def law_of(rate, size, root):
    """The noisy count's law in fractions; ``root`` is e^(−ε), 0 for no noise."""
    counts = [math.comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(size + 1)]
    if not root:
        return counts
    noisy = [geometric_count_law(k, size, root) for k in range(size + 1)]
    return [sum(p * law[c] for p, law in zip(counts, noisy, strict=True)) for c in range(size + 1)]


def change_of(rate, believed, low, high):
    if believed > high:
        return rate * (1 - high / believed)
    return (1 - rate) * (low - believed) / (1 - believed) if believed < low else Fraction(0)


def enumerated(rates, n, root, rule):
    """Every sum of changes with its probability; the rule "halfway" is None."""
    laws = [law_of(*each, root) for each in zip(rates, n, strict=True)]
    found = []
    for counts in itertools.product(*(range(size + 1) for size in n)):
        x = [Fraction(c, size) for c, size in zip(counts, n, strict=True)]
        if rule is None:
            aim, gamma = sum(x) / 2, Fraction(0)
        else:
            middle, anchor, gamma = rule
            aim = (
                x[anchor]
                if anchor is not None
                else sorted(x)[(len(n) - 1) // 2]
                if middle is None
                else middle
            )
        low = min(max(aim - gamma / 2, Fraction(0)), 1 - gamma)
        total = sum(change_of(rate, one, low, low + gamma) for rate, one in zip(rates, x, strict=True))
        found.append((total, math.prod(law[c] for law, c in zip(laws, counts, strict=True))))
    return found


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


def in_floats(rates, n, root, rule):
    epsilon = -math.log(root) if root else math.inf
    laws = [RateLaw.of(float(rate), size, epsilon, "geometric") for rate, size in zip(rates, n, strict=True)]
    given = rule and Rule(None if rule.middle is None else float(rule.middle), rule.anchor, float(rule.gamma))
    return [float(rate) for rate in rates], laws, given


def largest_error(seed, count):
    worst = 0.0
    for instance in instances(seed, count):
        outcomes, given = enumerated(*instance), in_floats(*instance)
        mean = float(sum(total * p for total, p in outcomes))
        law = change_law(*given)
        worst = max(worst, abs(mean_changes(*given) - mean), abs(float(law.values @ law.masses) - mean))
        for cut in {total for total, _ in outcomes[::7]} | {Fraction(0), Fraction(1, 97), Fraction(31, 97)}:
            exact = float(sum(p for total, p in outcomes if total > cut))
            worst = max(worst, abs(law.exceeds(float(cut)) - exact))
        still = float(sum(p for total, p in outcomes if total == 0))
        points = [room.fine_points(law) for law in given[1]]
        worst = max(worst, abs(room._nobody(given[0], points, given[2]) - still), abs(law.nobody - still))
    return worst


def test_it_equals_the_enumeration_in_fractions():
    assert largest_error(0, 60) < 1e-11


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("_band", lambda points, gamma: (points - gamma / 2, points + gamma / 2)),
        ("_lies_below", lambda at, aim, _: np.zeros((len(aim.values), len(at)), dtype=bool)),
        ("_chance_below", lambda _, aim, __: np.zeros(len(aim.values))),
        (
            "_moves",
            lambda _, at, low, high: np.maximum(at - high[:, None], 0) + np.maximum(low[:, None] - at, 0),
        ),
        ("_mean_moves", lambda rate, points, low, high: (0 * low, room_moves(rate, points, low, high)[1])),
    ],
)
def test_faults_are_found(monkeypatch, name, fault):
    monkeypatch.setattr(room, name, fault)
    assert largest_error(0, 18) > 1e-3


room_moves = room._mean_moves


def test_two_groups_that_meet_halfway():
    for rates, n, root, _ in instances(5, 40):
        two = rates[:2], n[:2], root, None
        (alpha, beta), laws, _ = in_floats(*two)
        exact = float(sum(total * p for total, p in enumerated(*two)))
        assert mean_changes_of_two((alpha, beta), tuple(laws)) == pytest.approx(exact, abs=1e-12)


CASES = [
    ([0.2, 0.3, 0.5], [60, 50, 40], [0.5, 1.0, 0.7]),
    ([0.0, 0.02, 0.4, 1.0], [30, 20, 25, 15], [0.3, 0.3, 2.0, 1.0]),
]
RULES = [
    Rule(None, None, 0.0),
    Rule(None, 1, 0.0),
    Rule(0.4, None, 0.0),
    Rule(None, None, 0.2),
    Rule(0.1, None, 0.1),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("rates", "n", "epsilon"), CASES)
def test_rounded_sums_have_the_law_of_all_outcomes(monkeypatch, rates, n, epsilon, rule):
    laws = [RateLaw.of(*each, "geometric") for each in zip(rates, n, epsilon, strict=True)]
    monkeypatch.setattr(room, "MOST_WAYS", 10**7)
    exact = change_law(rates, laws, rule)
    monkeypatch.setattr(room, "MOST_WAYS", 0)
    rounded = change_law(rates, laws, rule)
    assert exact.step == 0 < rounded.step
    assert float(rounded.values @ rounded.masses) == pytest.approx(mean_changes(rates, laws, rule), abs=2e-5)
    assert rounded.nobody == pytest.approx(exact.nobody, abs=1e-12)
    for value in np.linspace(0, float(exact.values[-1]), 60):
        assert exact.exceeds(value + 2 * rounded.step) - 2e-3 <= rounded.exceeds(value)
        assert rounded.exceeds(value) <= exact.exceeds(max(value - 2 * rounded.step, 0)) + 2e-3
    for eta in (0.05, 0.5):
        assert rounded.exceeds(rounded.quantile(eta)) <= eta + 1e-9
        assert exact.exceeds(exact.quantile(eta)) <= eta < exact.exceeds(exact.quantile(eta) - 1e-9) + 1e-12


def drawn(rates, n, epsilon, mechanism, rule, draws, seed=0):
    rng, k = np.random.default_rng(seed), len(rates)
    counts = rng.binomial(n, rates, (draws, k)).astype(float)
    if mechanism == "laplace":
        counts += rng.laplace(0, 1 / np.array(epsilon), (draws, k))
    else:
        odds = 1 - np.exp(-np.array(epsilon))
        counts += rng.geometric(odds, (draws, k)) - rng.geometric(odds, (draws, k))
    x, a = np.clip(counts / n, 0, 1), np.array(rates)
    aim = np.sort(x, axis=1)[:, (k - 1) // 2] if rule.anchor is None else x[:, rule.anchor]
    aim = np.full(draws, rule.middle) if rule.middle is not None else aim
    low = np.clip(aim - rule.gamma / 2, 0, 1 - rule.gamma)[:, None]
    high = low + rule.gamma
    down = a * (1 - high / np.where(x > high, x, 1))
    up = (1 - a) * (1 - (1 - low) / np.where(x < low, 1 - x, 1))
    return np.where(x > high, down, np.where(x < low, up, 0)).sum(axis=1)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize(
    "rule", [Rule(None, None, 0.0), Rule(None, 1, 0.0), Rule(0.4, None, 0.05), Rule(None, None, 0.1)]
)
@pytest.mark.parametrize(
    ("rates", "n", "epsilon"),
    [([0.4] * 4, [200, 300, 400, 150], [0.3] * 4), ([0.001] * 5, [1000] * 5, [0.1] * 5)],
    ids=["alike", "often cut"],
)
def test_draws_follow_it(rates, n, epsilon, mechanism, rule):
    laws = [RateLaw.of(*each, mechanism) for each in zip(rates, n, epsilon, strict=True)]
    draws = 20_000
    sums, law = drawn(rates, n, epsilon, mechanism, rule, draws), change_law(rates, laws, rule)
    # normal beyond five deviations has probability 6e-7
    assert mean_changes(rates, laws, rule) == pytest.approx(
        sums.mean(), abs=5 * sums.std() / math.sqrt(draws) + 1e-6
    )
    room_for = 2.5 / math.sqrt(
        draws
    )  # by the inequality of Dvoretzky, Kiefer and Wolfowitz, twice in a million
    for value in np.linspace(0, sums.max(), 40):
        seen = (sums > value).mean()
        assert (
            law.exceeds(value + 2 * law.step) - room_for
            <= seen
            <= law.exceeds(value - 2 * law.step) + room_for
        )


def test_five_groups_of_ten_thousand_rows_agree_with_a_finer_computation(monkeypatch):
    rates, n = np.linspace(0.3, 0.4, 5), 10_000
    laws = [RateLaw.of(rate, n, 1.0, "geometric") for rate in rates]
    usual = change_law(rates, laws, Rule(None, None, 0.0))
    monkeypatch.setattr(room, "BINS", 8192)
    monkeypatch.setattr(room, "WIDTH", 0.25)
    finer = change_law(rates, laws, Rule(None, None, 0.0))
    for eta in (0.9, 0.5, 0.05, 0.001):
        value = finer.quantile(eta)
        assert usual.exceeds(value) == pytest.approx(eta, rel=0.02)
