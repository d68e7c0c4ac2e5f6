"""Estimates from reports: means, variances and coverage by enumeration, bounds against corners of the feasible set."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import multinomial

import dpfair_lib as dpf
from dpfair_lib.fairness.intervals import rate_interval
from dpfair_lib.local.estimation import estimate_frequencies, estimate_rates, nearest_shares, share_bounds

TWO = np.array([[0.75, 0.25], [0.25, 0.75]])
THREE = np.array([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])
WIDE = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])


def tables(n, m):
    return [c for c in itertools.product(range(n + 1), repeat=m) if sum(c) == n]


def reports_of(counts):
    return np.repeat(np.arange(len(counts)), counts)


def law_of_people(values, matrix):
    """Exact probabilities of the counts of reports of people with given values."""
    law = {(0,) * matrix.shape[1]: 1.0}
    for i in values:
        following = {}
        for counts, chance in law.items():
            for j, q in enumerate(matrix[i]):
                key = (*counts[:j], counts[j] + 1, *counts[j + 1 :])
                following[key] = following.get(key, 0.0) + chance * q
        law = following
    return law


@pytest.mark.parametrize("matrix", [TWO, THREE, WIDE])
def test_mean_variance_and_coverage_in_a_population(matrix):
    n, level, k = 5, 0.8, len(matrix)
    found = {c: estimate_frequencies(reports_of(c), matrix, level=level) for c in tables(n, matrix.shape[1])}
    for shares in np.random.default_rng(0).dirichlet(np.ones(k), 8).tolist() + np.eye(k).tolist():
        shares = np.array(shares)
        chances = {c: multinomial.pmf(c, n, shares @ matrix) for c in found}
        mean = sum(p * found[c].unbiased for c, p in chances.items())
        np.testing.assert_allclose(mean, shares, atol=1e-12)
        variance = sum(p * (found[c].unbiased - shares) ** 2 for c, p in chances.items())
        told = sum(p * found[c].standard_error ** 2 for c, p in chances.items())
        np.testing.assert_allclose(told, variance, atol=1e-12)
        covered = sum(
            p for c, p in chances.items() if ((found[c].low <= shares) & (shares <= found[c].high)).all()
        )
        assert covered >= level - 1e-12
        for one in found.values():  # a projection onto a set that holds the truth
            assert np.linalg.norm(one.estimate - shares) <= np.linalg.norm(one.unbiased - shares) + 1e-12


@pytest.mark.parametrize("matrix", [TWO, THREE])
def test_mean_variance_and_coverage_for_given_people(matrix):
    n, level, k = 4, 0.6, len(matrix)
    found = {
        c: estimate_frequencies(reports_of(c), matrix, level=level, about="people")
        for c in tables(n, matrix.shape[1])
    }
    for values in itertools.combinations_with_replacement(range(k), n):
        shares, law = np.bincount(values, minlength=k) / n, law_of_people(values, matrix)
        mean = sum(p * found[c].unbiased for c, p in law.items())
        np.testing.assert_allclose(mean, shares, atol=1e-12)
        covered = sum(
            p for c, p in law.items() if ((found[c].low <= shares) & (shares <= found[c].high)).all()
        )
        assert covered >= level - 1e-12


def test_the_variance_for_given_people_is_smaller():
    values = np.repeat([0, 1], 500)
    reports = dpf.Randomizer(TWO).apply(values, np.random.default_rng(0))
    people, drawn = (
        estimate_frequencies(reports, TWO, about=about).standard_error[0]
        for about in ("people", "population")
    )
    # 16/9·… : q(1 − q)/(2q − 1)² = 3/4 over n, and ¼ more for the draw of the people
    assert people == pytest.approx(math.sqrt(0.75 / 1000), rel=1e-9)
    assert drawn == pytest.approx(math.sqrt(1.0 / 1000), rel=0.01)


def test_an_interval_that_forgot_the_other_reports_would_not_cover():
    """The planted fault: the level of one report for each of three."""
    n, level, share = 60, 0.5, np.array([1 / 3] * 3) @ THREE
    counts = np.array(tables(n, 3))
    chances = multinomial.pmf(counts, n, share)
    for each, enough in ((level, False), (1 - (1 - level) / 3, True)):
        low, high = rate_interval(counts, n, level=each)
        covered = chances[((low <= share) & (share <= high)).all(axis=1)].sum()
        assert (covered >= level) == enough


def test_bounds_are_the_corners_of_what_is_possible():
    low, high = np.array([0.3, 0.2, 0.25]), np.array([0.4, 0.35, 0.45])
    ends = share_bounds(THREE, low, high)
    grid = np.array([(i, j, 200 - i - j) for i in range(201) for j in range(201 - i)]) / 200
    fits = grid[((grid @ THREE >= low) & (grid @ THREE <= high)).all(axis=1)]
    assert (ends[0] <= fits.min(axis=0)).all()
    assert (ends[1] >= fits.max(axis=0)).all()
    np.testing.assert_allclose(ends, [fits.min(axis=0), fits.max(axis=0)], atol=0.01)
    assert share_bounds(TWO, np.array([0.8, 0.0]), np.array([1.0, 1.0])) is None


def test_reports_of_another_channel_are_not_explained():
    found = estimate_frequencies(np.repeat([0, 1], [950, 50]), TWO)
    assert not found.explained
    assert (found.low == 0).all()
    assert (found.high == 1).all()


@pytest.mark.parametrize("about", ["population", "people"])
def test_rates_and_gap_are_covered_in_every_table_of_few_people(about):
    """All counts of (report, y) of n people, drawn from a law or given."""
    n, level = 4, 0.7
    cells = [c for c in itertools.product(range(n + 1), repeat=4) if sum(c) == n]
    found = {}
    for c in cells:
        pairs = np.repeat(np.array([(0, 0), (0, 1), (1, 0), (1, 1)]), c, axis=0)
        found[c] = estimate_rates(pairs[:, 0], pairs[:, 1], TWO, level=level, about=about)
    joint = np.kron(TWO, np.eye(2))  # (a, y) to (report, y)
    laws = np.random.default_rng(1).dirichlet(np.ones(4), 6)
    given = [v for v in cells if v[0] + v[1] and v[2] + v[3]]
    for truth in laws if about == "population" else given:
        truth = np.array(truth, dtype=float)
        rates = truth[1::2] / (truth[::2] + truth[1::2])
        if about == "population":
            chances = {c: multinomial.pmf(c, n, truth @ joint) for c in cells}
        else:
            chances = law_of_people(reports_of(truth.astype(int)), joint)
        gap = abs(rates[1] - rates[0])
        covered = sum(
            p
            for c, p in chances.items()
            if ((found[c].low <= rates) & (rates <= found[c].high)).all()
            and found[c].gap_low <= gap <= found[c].gap_high
        )
        assert covered >= level - 1e-12


def test_rates_are_recovered_without_noise_and_found_with_it():
    y, group = np.array([1, 0, 0, 0, 1, 1, 0, 1]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    exact = estimate_rates(group, y, np.eye(2))
    np.testing.assert_allclose(exact.rates, [0.25, 0.75])
    assert exact.gap == pytest.approx(0.5)
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, 60_000)
    y = (rng.random(60_000) < np.array([0.2, 0.5, 0.6])[group]).astype(int)
    channel = dpf.generalized_randomized_response(3, 1.5)
    found = estimate_rates(channel.apply(group, rng), y, channel)
    np.testing.assert_allclose(found.rates, [0.2, 0.5, 0.6], atol=0.03)
    assert found.gap_low < 0.4 < found.gap_high < 0.7
    assert found.gap_low > 0.2


def test_one_label_only_leaves_the_other_open():
    found = estimate_rates(np.zeros(30, dtype=int), np.ones(30, dtype=int), TWO)
    assert found.high[0] == 1
    assert found.low[1] == 0
    assert found.gap_high > 0.5


@pytest.mark.parametrize("values", [[0.2, 0.8], [1.3, -0.3], [0.5, 0.7, -0.1], [3.0, 0.0, 0.0], [0.0]])
def test_the_nearest_shares_are_shares_and_nearest(values):
    found = nearest_shares(np.array(values))
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    for other in np.random.default_rng(0).dirichlet(np.ones(len(values)), 200):
        assert np.linalg.norm(found - values) <= np.linalg.norm(other - values) + 1e-12


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"channel": [[0.5, 0.5], [0.5, 0.5]]}, "input 0 gives the same distribution of reports as input 1"),
        ({"channel": [[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]]}, "dependent rows"),
        ({"reports": [0, 2]}, "reports: found 2"),
        ({"reports": [0, -1]}, "reports: found -1"),
        ({"reports": [0.0, 1.0]}, "reports: found entries of type"),
        ({"reports": [1, 2], "channel": [[0.75, 0.25, 0], [0.25, 0.75, 0]]}, "found the report 2"),
        ({"level": 1.0}, "level: found"),
        ({"about": "everyone"}, "about: found"),
    ],
)
def test_what_has_no_estimate_is_refused(changed, words):
    given = {"reports": [0, 1], "channel": TWO, **changed}
    with pytest.raises(ValueError, match=words):
        estimate_frequencies(given.pop("reports"), given.pop("channel"), **given)
