"""The law of the gap of private equalized odds: against lists of all noisy counts, draws, and the estimator itself."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import beta

import dpfair_lib as dpf
from dpfair_lib.central import (
    expected_odds_gap_bounds,
    odds_gap_quantile,
    odds_records_needed,
    odds_violation_bounds,
)
from dpfair_lib.central.several_groups import odds_law
from dpfair_lib.svm.equalized_odds_program import OddsProgram, solve

RATES = {"false_positive": (0.1, 0.2), "true_positive": (0.7, 0.6)}


def gaps_after(false, true, noisy_false, noisy_true, negatives, positives):
    """Gaps of the rule with the fewest errors; a row for each table, a column for each group."""
    turned = noisy_true < noisy_false
    f, t = np.where(turned, 1 - noisy_false, noisy_false), np.where(turned, 1 - noisy_true, noisy_true)
    with np.errstate(divide="ignore", invalid="ignore"):
        i, j = np.nan_to_num(f / t, nan=1).argmax(1), np.nan_to_num((1 - t) / (1 - f), nan=1).argmax(1)
        n = np.arange(len(f))
        part = (t[n, j] - f[n, j]) / (t[n, i] * (1 - f[n, j]) - f[n, i] * (1 - t[n, j]))
        x, y = part * f[n, i], part * t[n, i]
        kappa = (y - x)[:, None] / (noisy_true - noisy_false)
        wrong = negatives * x + positives * (1 - y)
        gap = np.maximum(
            np.ptp(kappa * (false - noisy_false), axis=1), np.ptp(kappa * (true - noisy_true), axis=1)
        )
    corner = (wrong <= negatives) & (wrong <= positives) & (f < t).all(axis=1)
    return np.where(corner, gap, 0.0)


def drawn(given, size, seed):
    """Gaps of draws of sample and noise, or of noise alone."""
    rng = np.random.default_rng(seed)
    k = len(given["false_positive"])
    chance = -np.expm1(-np.broadcast_to(given["epsilon"], k))

    def noise():
        if given.get("mechanism") == "laplace":
            return rng.laplace(0, 1 / np.broadcast_to(given["epsilon"], k), (size, k))
        return rng.geometric(chance, (size, k)) - rng.geometric(chance, (size, k))

    parts = []
    for rates, rows in (("false_positive", "negatives"), ("true_positive", "positives")):
        rate, m = np.array(given[rates]), np.broadcast_to(given[rows], k)
        fixed = np.tile(np.rint(rate * m).astype(int), (size, 1))
        t = rng.binomial(m, rate, (size, k)) if given["population"] else fixed
        a, b = np.maximum(t + noise(), 0), np.maximum(m - t + noise(), 0)
        parts.append((np.where(a + b > 0, a / np.where(a + b > 0, a + b, 1), 0.5), (a + b).sum(axis=1)))
    (f, negatives), (t, positives) = parts
    true = np.array(given["false_positive"]), np.array(given["true_positive"])
    return gaps_after(*true, f, t, negatives, positives)


def between(exceeded, size):
    """Exact two-sided 1e-4 interval of the probability."""
    low = beta.ppf(5e-5, exceeded, size - exceeded + 1) if exceeded else 0.0
    return low, beta.ppf(1 - 5e-5, exceeded + 1, size - exceeded) if exceeded < size else 1.0


CASES = [
    RATES | {"negatives": 2000, "positives": 1000, "epsilon": 0.5, "population": True},
    RATES | {"negatives": (2000, 1000), "positives": (1000, 500), "epsilon": 0.5, "population": False},
    RATES | {"negatives": 300, "positives": 150, "epsilon": 0.5, "population": True},
    {"false_positive": (0.3, 0.12), "true_positive": (0.8, 0.5), "negatives": (1000, 800), "positives": (900, 400),
     "epsilon": 1.0, "population": True},
    {"false_positive": (0.0, 0.1), "true_positive": (0.9, 1.0), "negatives": (400, 300), "positives": (300, 200),
     "epsilon": 1.0, "population": True},
    {"false_positive": (0.1, 0.2, 0.12), "true_positive": (0.7, 0.6, 0.65), "negatives": 20000, "positives": 10000,
     "epsilon": 0.5, "population": True},
    {"false_positive": (0.1, 0.2, 0.12), "true_positive": (0.7, 0.6, 0.8), "negatives": 2000, "positives": 1000,
     "epsilon": 0.5, "population": True},
    {"false_positive": (0.1, 0.3, 0.2), "true_positive": (0.7, 0.6, 0.65), "negatives": 20000, "positives": 10000,
     "epsilon": 0.5, "population": True},
    RATES | {"negatives": 2000, "positives": 1000, "epsilon": 0.5, "population": True, "mechanism": "laplace"},
    RATES | {"negatives": (2000, 1000), "positives": (1000, 500), "epsilon": 0.5, "population": False,
             "mechanism": "laplace"},
    {"false_positive": (0.0, 0.1), "true_positive": (0.9, 1.0), "negatives": (400, 300), "positives": (300, 200),
     "epsilon": 1.0, "population": True, "mechanism": "laplace"},
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(CASES)))
def test_draws(at):
    given, size = CASES[at], 100_000
    found = drawn(given, size, at)
    # between two gaps that occur
    cuts = np.quantile(found, [0.1, 0.5, 0.9, 0.99]) + 1e-6
    lower, upper = odds_violation_bounds(cuts, **given)
    for cut, least, most in zip(cuts, lower, upper, strict=True):
        low, high = between(int((found > cut).sum()), size)
        assert least <= high
        assert low <= most
    if len(given["false_positive"]) == 2:
        doubt = 0.13 if given["positives"] == 150 else 0.025
        assert (upper - lower).max() < doubt
        least, most = expected_odds_gap_bounds(**given)
        error = 4 * found.std() / math.sqrt(size)
        assert least - error <= found.mean() <= most + error
    limit = odds_gap_quantile(0.05, **given)
    assert (found > limit).mean() <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / size)
    assert odds_violation_bounds(limit, **given)[1] <= 0.05
    assert odds_violation_bounds(limit - 2e-6, **given)[1] > 0.05 - 1e-4


MORE = {
    "three, one decides": {"false_positive": (0.1, 0.35, 0.05), "true_positive": (0.8, 0.6, 0.9),
                           "negatives": (4000, 3000, 2000), "positives": (3000, 1500, 2500)},
    "three, two decide": {"false_positive": (0.3, 0.02, 0.1), "true_positive": (0.9, 0.4, 0.8),
                          "negatives": (6000, 3000, 4000), "positives": (3000, 2500, 2500)},
    "four, one decides": {"false_positive": (0.1, 0.35, 0.05, 0.12), "true_positive": (0.8, 0.6, 0.9, 0.85),
                          "negatives": (6000, 3000, 2000, 9000), "positives": (3000, 1500, 2500, 5000)},
    "four, one turned by its rates": {"false_positive": (0.1, 0.65, 0.05, 0.88), "true_positive": (0.8, 0.4, 0.9, 0.15),
                                      "negatives": (6000, 3000, 2000, 9000), "positives": (3000, 1500, 2500, 5000)},
}  # fmt: skip


@pytest.mark.parametrize("mechanism", ["geometric", "laplace"])
@pytest.mark.parametrize("name", MORE)
def test_more_groups_with_bounds_that_say_something(name, mechanism):
    given, size = MORE[name] | {"epsilon": 0.5, "population": True, "mechanism": mechanism}, 60_000
    found = drawn(given, size, 7)
    cuts = np.quantile(found, [0.05, 0.3, 0.7, 0.95]) + 1e-6
    lower, upper = odds_violation_bounds(cuts, **given)
    for cut, least, most in zip(cuts, lower, upper, strict=True):
        low, high = between(int((found > cut).sum()), size)
        assert least <= high
        assert low <= most
    assert lower[0] > 0.7
    assert lower[1] > 0.5
    assert upper[-1] < 0.25


@pytest.mark.parametrize("name", MORE)
def test_sixteen_times_the_rows_would_be_seen_with_more_groups(name):
    given, size = MORE[name] | {"epsilon": 0.5, "population": True}, 60_000
    found = drawn(given, size, 7)
    cut = float(np.quantile(found, 0.7)) + 1e-6
    low, high = between(int((found > cut).sum()), size)
    rows = {label: [16 * m for m in given[label]] for label in ("negatives", "positives")}
    least, most = odds_violation_bounds(cut, **(given | rows))
    assert least > high or most < low


TURNED = [
    {"false_positive": (0.3, 0.1, 0.25), "true_positive": (0.45, 0.8, 0.9), "negatives": (40, 200, 150),
     "positives": (30, 100, 120), "epsilon": 1.0, "population": True},
    {"false_positive": (0.3, 0.1, 0.25, 0.2), "true_positive": (0.35, 0.8, 0.9, 0.7), "negatives": (30, 200, 150, 400),
     "positives": (30, 100, 120, 300), "epsilon": 1.0, "population": True},
    {"false_positive": (0.4, 0.1), "true_positive": (0.45, 0.8), "negatives": (30, 200), "positives": (30, 100),
     "epsilon": 0.5, "population": True, "mechanism": "laplace"},
    {"false_positive": (0.5, 0.5, 0.5), "true_positive": (0.5, 0.75, 0.75), "negatives": (4, 4, 4),
     "positives": (4, 4, 4), "epsilon": 2.0, "population": False},
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(TURNED)))
def test_groups_that_noise_often_turns_round(at):
    given, size = TURNED[at], 60_000
    found = drawn(given, size, at)
    cuts = np.array([0.01, 0.1, 0.2, 0.3, 0.4, 0.5])
    lower, upper = odds_violation_bounds(cuts, **given)
    for cut, least, most in zip(cuts, lower, upper, strict=True):
        low, high = between(int((found > cut).sum()), size)
        assert least <= high
        assert low <= most
    assert (upper < 0.9).any()


def tables_of(given, size, rng):
    """Noisy counts by predicted label, group and true label, and the true rates."""
    false, true = (np.array(given[name]) for name in ("false_positive", "true_positive"))
    k = len(false)
    counts = np.empty((size, 2, k, 2))
    for y, (rate, rows) in enumerate(((false, given["negatives"]), (true, given["positives"]))):
        t = rng.binomial(np.array(rows), rate, (size, k))
        for label, exact in ((1, t), (0, np.array(rows) - t)):
            counts[:, label, :, y] = np.maximum(exact + rng.laplace(0, 1 / given["epsilon"], (size, k)), 0)
    return counts, np.stack([false, true])


@pytest.mark.parametrize("gamma", [0.02, 0.1])
def test_the_program_with_a_gamma(gamma):
    given = {"false_positive": (0.3, 0.1, 0.25), "true_positive": (0.5, 0.8, 0.9), "negatives": (80, 200, 150),
             "positives": (60, 100, 120), "epsilon": 1.0}  # fmt: skip
    counts, rates = tables_of(given, 400, np.random.default_rng(5))
    pairs = tuple(itertools.combinations(range(3), 2))
    found = []
    for table in counts:
        rule = solve(OddsProgram(table, pairs, np.full((2, 3), gamma))).rule
        after = rule[0] + (rule[1] - rule[0]) * rates
        found.append(np.ptp(after, axis=1).max())
    found, cuts = np.array(found), np.arange(0.05, 0.5, 0.05)
    lower, upper = odds_violation_bounds(cuts, **given, mechanism="laplace", gamma=gamma)
    assert (lower == 0).all()
    for cut, most in zip(cuts, upper, strict=True):
        assert between(int((found > cut).sum()), len(found))[0] <= most
    assert (upper < 0.5).any()
    assert odds_gap_quantile(0.05, **given, mechanism="laplace", gamma=gamma) < 0.45


FAULTS = {
    "no noise": {"epsilon": math.inf},
    "half of ε": {"epsilon": 0.25},
    "the other gap": {"population": True},
    "groups exchanged": {"true_positive": (0.6, 0.7), "false_positive": (0.2, 0.1)},
    "fewer positives": {"positives": (500, 250)},
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_would_be_seen(name):
    given, size = CASES[1], 50_000
    found = drawn(given, size, 0)
    cut = float(np.quantile(found, 0.5)) + 1e-6
    low, high = between(int((found > cut).sum()), size)
    least, most = odds_violation_bounds(cut, **(given | FAULTS[name]))
    assert least > high or most < low


def one_label(rate, rows, root, population, reach):
    """Noisy share and rows of one label, with probabilities."""
    noise = [(u, (1 - root) / (1 + root) * root ** abs(u)) for u in range(-reach, reach + 1)]
    exact = (
        [(t, math.comb(rows, t) * rate**t * (1 - rate) ** (rows - t)) for t in range(rows + 1)]
        if population
        else [(round(rate * rows), 1.0)]
    )
    found = {}
    for (t, chance), (u, first), (v, second) in itertools.product(exact, noise, noise):
        a, b = max(t + u, 0), max(rows - t + v, 0)
        key = (a / (a + b) if a + b else 0.5, a + b)
        found[key] = found.get(key, 0.0) + chance * first * second
    shares, sizes = np.array(list(found)).T
    return shares, sizes, np.array(list(found.values()))


@pytest.mark.parametrize(
    ("false", "true", "negatives", "positives", "population"),
    [
        ((0.0, 0.25), (1.0, 0.75), (4, 4), (3, 4), False),
        ((0.2, 0.4), (0.8, 1.0), (5, 5), (5, 4), False),
        ((0.0, 0.05), (1.0, 0.95), (5, 4), (4, 5), True),
        ((0.75, 0.25), (0.25, 0.75), (4, 4), (4, 4), False),
    ],
)
def test_every_noisy_table(false, true, negatives, positives, population):
    """All noisy counts of two small groups; e^(−ε) = 1/60."""
    root, reach = 1 / 60, 2
    sides = (*zip(false, negatives, strict=True), *zip(true, positives, strict=True))
    laws = [one_label(*each, root, population, reach) for each in sides]
    grids = np.meshgrid(*(np.arange(len(law[0])) for law in laws), indexing="ij")
    at = [grid.ravel() for grid in grids]
    shares, rows, masses = ([law[part][i] for law, i in zip(laws, at, strict=True)] for part in range(3))
    weight = np.prod(masses, axis=0)
    found = gaps_after(
        np.array(false), np.array(true), np.stack(shares[:2], 1), np.stack(shares[2:], 1), rows[0] + rows[1],
        rows[2] + rows[3],
    )  # fmt: skip
    unseen = 1 - weight.sum()
    given = {
        "false_positive": false, "true_positive": true, "negatives": negatives, "positives": positives,
        "epsilon": -math.log(root), "population": population,
    }  # fmt: skip
    tight = 0
    for cut in (0.0, 0.03, 0.07, 0.11):
        least, most = odds_violation_bounds(cut, **given)
        exact = weight[found > cut + 1e-7].sum()
        assert least <= exact + unseen + 1e-9
        assert exact <= most + 1e-9
        tight += most - least < 0.3
    assert tight
    mean = weight @ found
    least, most = expected_odds_gap_bounds(**given)
    assert least <= (mean + unseen) * 1.01
    assert mean <= most * 1.01


def test_the_estimator():
    """Fits with study noise, on rows as given: the gap on them."""
    cells = {("a", 0, 1): 20, ("a", 0, 0): 180, ("a", 1, 1): 70, ("a", 1, 0): 30,
             ("b", 0, 1): 30, ("b", 0, 0): 120, ("b", 1, 1): 48, ("b", 1, 0): 32}  # fmt: skip
    group, y, y_pred = (np.repeat([cell[part] for cell in cells], list(cells.values())) for part in range(3))
    rng, found = np.random.default_rng(3), []
    for _ in range(400):
        fair = dpf.EqualizedOddsPostprocessor(
            gamma=0.0, epsilon=1.0, relation="replace-one", relaxed=False, noise="study", random_state=rng
        )
        fair.fit(y_pred, y_true=y, sensitive_features=group)
        chance = fair.predict_proba(y_pred, sensitive_features=group)[:, 1]
        found.append(
            max(
                abs(np.subtract(*(chance[(group == one) & (y == label)].mean() for one in "ab")))
                for label in (0, 1)
            )
        )
    found = np.array(found)
    given = {"false_positive": (0.1, 0.2), "true_positive": (0.7, 0.6), "negatives": (200, 150),
             "positives": (100, 80), "epsilon": 0.5, "population": False}  # fmt: skip
    for cut in np.quantile(found, [0.25, 0.5, 0.8]) + 1e-6:
        low, high = between(int((found > cut).sum()), len(found))
        least, most = odds_violation_bounds(cut, **given)
        assert least <= high
        assert low <= most
        assert most - least < 0.07


def test_everybody_gets_the_same_label():
    """Few positives: nobody is selected, so there is no gap."""
    given = {"false_positive": (0.2, 0.3), "true_positive": (0.4, 0.5), "negatives": 4000, "positives": 400}
    least, most = odds_violation_bounds(0.0, **given, epsilon=1.0)
    assert least == 0
    assert most < 1e-6
    assert odds_gap_quantile(0.05, **given, epsilon=1.0) == 0


def test_without_noise_nothing_is_left_on_the_rows():
    given = RATES | {"negatives": 200, "positives": 100, "epsilon": math.inf, "population": False}
    assert odds_violation_bounds(0.0, **given)[1] == pytest.approx(0, abs=1e-9)
    assert odds_gap_quantile(0.01, **given) == 0


def test_records_needed_are_enough_and_hardly_less_is():
    given = RATES | {"epsilon": 0.5}
    negatives, positives = odds_records_needed(0.05, 0.05, **given, negatives=(2, 1), positives=(1, 0.5))
    assert np.ptp(np.array([negatives[0] / 4, negatives[1] / 2, positives[0] / 2, positives[1]])) <= 1
    assert odds_violation_bounds(0.05, **given, negatives=negatives, positives=positives)[1] <= 0.05
    fewer = [tuple(int(0.97 * m) for m in rows) for rows in (negatives, positives)]
    assert odds_violation_bounds(0.05, **given, negatives=fewer[0], positives=fewer[1])[1] > 0.05


def test_a_vector_of_gaps_and_more_groups_than_bounds():
    given = CASES[5] | {"negatives": 2000, "positives": 1000}
    lower, upper = odds_violation_bounds([0.0, 0.05, 1.0], **given)
    assert lower.shape == upper.shape == (3,)
    assert (lower <= upper).all()
    assert (np.diff(upper) <= 0).all()
    with pytest.raises(ValueError, match="false_positive: found 3 groups, expected 2"):
        expected_odds_gap_bounds(**given)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"positives": (0, 3)}, "positives: "),
        ({"positives": 2_000_000}, "positives: found 2000000, expected at most 1000000"),
        ({"epsilon": 0.0}, "epsilon: "),
        ({"epsilon": 1e-3}, "epsilon: found 0.001, expected at least"),
        ({"population": "no"}, "population: found 'no', expected True or False"),
        (
            {"population": False, "positives": 1001},
            "true_positive: found 0.7 of 1001 rows, expected a whole number",
        ),
        ({"epsilon": 1e-4, "mechanism": "laplace"}, "epsilon: found 0.0001, expected at least 0.001"),
        ({"epsilon": 1e5, "mechanism": "laplace"}, "epsilon: found 100000, expected at most 10000"),
        ({"mechanism": "gauss"}, "mechanism: found 'gauss'"),
        ({"gamma": 1.5}, "gamma: "),
        ({"false_positive": (0.1, 1.2)}, "^false_positive: found .*1.2"),
        ({"true_positive": (0.1, -0.2)}, "^true_positive: found .*-0.2"),
        (
            {"false_positive": 0.1},
            "^false_positive: found 0.1, expected a sequence of one rate for each group",
        ),
        ({"true_positive": 0.7}, "^true_positive: found 0.7, expected a sequence"),
        ({"false_positive": [[0.1, 0.2]]}, "^false_positive: found .* expected a sequence"),
        (
            {"false_positive": (0.1,), "true_positive": (0.7,)},
            "^false_positive: found 1 rate, expected those of at l",
        ),
        ({"true_positive": (0.7, 0.6, 0.5)}, "^true_positive: found 3 rates beside 2 of false_positive"),
        ({"negatives": (10, 10, 10)}, "negatives: found 3 values"),
    ],
)
def test_bad_arguments(changed, message):
    with pytest.raises(ValueError, match=message):
        odds_violation_bounds(0.1, **(CASES[0] | changed))


def test_records_that_a_million_rows_do_not_reach(monkeypatch):
    monkeypatch.setattr(odds_law, "MOST_ROWS", 100)
    with pytest.raises(ValueError, match="for which 100 rows of one kind are not enough"):
        odds_records_needed(0.01, 0.05, **RATES, epsilon=0.5, negatives=1, positives=1)


def test_a_group_that_noise_turns_round_may_keep_a_gap():
    # shares by 300,000 draws of the rule with a standard error of 0.0006; with two groups by a sum over all tables
    three = {
        "false_positive": [0.273, 0.329, 0.13], "true_positive": [0.868, 0.645, 0.946], "negatives": [31, 24, 14],
        "positives": [29, 6, 35],
    }  # fmt: skip
    _, upper = odds_violation_bounds([0, 0.01, 0.04, 0.06], epsilon=np.inf, **three)
    assert (upper >= np.array([0.9731, 0.9730, 0.9551, 0.9104]) - 0.003).all()
    two = {
        "false_positive": [0.017983753327474327, 0.1668058578000109], "negatives": [18, 13],
        "true_positive": [0.8794520813790865, 0.7821460036998673], "positives": [25, 13],
    }  # fmt: skip
    lower, upper = odds_violation_bounds(0.001, epsilon=np.inf, **two)
    assert lower <= 0.9983913 <= upper


NEAR = {"negatives": 1000, "positives": 1000, "epsilon": [np.inf, 0.1], "false_positive": [0.349, 0.066],
        "true_positive": [0.466, 0.087], "population": True}  # fmt: skip


def test_merged_shares_that_may_turn_a_group_round_leave_the_bound_for_every_rule():
    lower, upper = odds_violation_bounds([0.001, 0.08], **NEAR)
    assert (lower == 0).all()
    assert upper[0] > 0.99
    assert 0 < upper[1] < 0.2
    with pytest.raises(ValueError, match=r"true_positive: found .* may turn the labels of a group round"):
        expected_odds_gap_bounds(**NEAR)


@pytest.mark.parametrize("name", ["negatives", "positives"])
def test_too_many_rows_are_named(name):
    rates = {"false_positive": [0.1, 0.2], "true_positive": [0.7, 0.6], "negatives": 100, "positives": 100}
    with pytest.raises(ValueError, match=f"^{name}: found 2000000"):
        odds_violation_bounds(0.1, **rates | {name: 2_000_000}, epsilon=1.0)
