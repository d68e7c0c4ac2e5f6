"""The game: how far one person's group moves what is released, what noise that asks for, and who answers what."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from dpfair_lib.learners.constrained import reduction_game
from dpfair_lib.learners.constrained.reduction_game import (
    Auditor,
    Learner,
    Public,
    deviations,
    group_sums,
    play,
    ratio,
    sensitivity,
)
from dpfair_lib.learners.functional import FINE
from dpfair_lib.learners.minimiser import bounded_rows
from dpfair_lib.privacy import gaussian_delta
from dpfair_lib.privacy.noise_source import NoiseSource

CONDITIONS = {"parity": (0, 0), "opportunity": (-1, 0), "odds": (0, 1)}


def people(seed=0, n=200, notion="odds", bound=2.0):
    rng = np.random.default_rng(seed)
    second = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-1, 1, size=(n, 1))
    X[:, 1] += second
    y = (X[:, 0] + second + rng.normal(size=n) > 0.5).astype(int)
    rows, longest = bounded_rows(X, bound, intercept=True)
    place = np.array(CONDITIONS[notion])
    return Public(rows, y, np.array([place[y] == j for j in range(place.max() + 1)]), longest), second


def exact(known, second):
    return np.array([(known.rows[about & (second == 1)]).sum(axis=0) for about in known.about])


@pytest.mark.parametrize("notion", CONDITIONS)
def test_one_group_moves_the_sums_by_the_longest_row_at_most_and_nearly(notion):
    known, second = people(notion=notion)
    sums, worst = group_sums(known, second), 0.0
    assert sums * known.bound / FINE == pytest.approx(exact(known, second), abs=1e-4)
    for at in range(len(second)):
        other = second.copy()
        other[at] = 1 - other[at]
        worst = max(worst, math.sqrt(sum(int(k) ** 2 for k in (group_sums(known, other) - sums).ravel())))
    assert 0.999 * sensitivity(4) < worst <= sensitivity(4)


def test_a_row_that_two_conditions_were_about_would_move_more():
    known, second = people()
    twice = known._replace(about=np.ones_like(known.about))
    other = np.append(1 - second[0], second[1:])
    moves = [
        math.sqrt(sum(int(k) ** 2 for k in (group_sums(one, second) - group_sums(one, other)).ravel()))
        for one in (known, twice)
    ]
    assert moves[1] == pytest.approx(math.sqrt(2) * moves[0])


@pytest.mark.parametrize("rounds", [1, 7, 300])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.99])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 9.0])
def test_sums_and_counts_are_together_one_release_of_the_statement(epsilon, share, rounds):
    noise = deviations(epsilon, 1e-6, 5, rounds, share)
    square = Fraction(sensitivity(5)) ** 2 / Fraction(noise.sums) ** 2 + rounds / Fraction(noise.counts) ** 2
    mu = math.sqrt(square)
    assert gaussian_delta(epsilon, 1 / mu, 1.0) == pytest.approx(1e-6, rel=1e-6)
    assert gaussian_delta(epsilon, 1 / mu, 1.0) <= 1e-6
    assert Fraction(ratio(noise, 5, rounds)) ** 2 >= square
    assert ratio(noise, 5, rounds) == pytest.approx(mu)
    # planted: the counts of one round are accounted for
    if rounds > 1 and share < 0.5:
        assert (
            gaussian_delta(epsilon, deviations(epsilon, 1e-6, 5, 1, share).counts / rounds**0.5, 1.0) > 1e-6
        )


@pytest.mark.parametrize("notion", CONDITIONS)
def test_without_noise_the_learner_is_least_squares_on_the_costs(notion):
    for seed in range(3):
        known, second = people(seed, notion=notion)
        n, prices = len(second), np.random.default_rng(seed).normal(size=len(known.about))
        learner = Learner(known, group_sums(known, second).astype(float), 0.01)
        value = (2 * known.y - 1).astype(float)  # n times what is saved if the row is selected
        for price, about in zip(prices, known.about, strict=True):
            sizes = [(about & (second == k)).sum() for k in (0, 1)]
            value -= np.where(about, price * n * np.where(second == 1, 1 / sizes[1], -1 / sizes[0]), 0)

        def objective(w, value=value, rows=known.rows, n=n):
            return ((value - rows @ w) ** 2).sum() + 0.01 * n * w @ w

        found = learner.weights(prices)
        best = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
        assert found == pytest.approx(best.x, rel=1e-3, abs=1e-3)


def test_without_noise_gaps_are_the_gaps():
    known, second = people()
    learner = Learner(known, group_sums(known, second).astype(float), 0.01)
    chosen = known.rows @ np.array([1.0, -0.5, 0.2, 0.1]) > 0
    found = learner.gaps(
        (known.about & chosen).sum(axis=1), (known.about & chosen & (second == 1)).sum(axis=1)
    )
    for j, about in enumerate(known.about):
        gap = chosen[about & (second == 1)].mean() - chosen[about & (second == 0)].mean()
        assert found[j] == pytest.approx(gap, abs=1e-5)


def test_prices_are_bounded_and_follow_the_side_of_the_gap():
    auditor = Auditor(2, 0.05, 3.0, 1.0)
    assert auditor.multipliers() == pytest.approx(0)
    for _ in range(100):
        auditor.see(np.array([0.3, -0.2]))
    first, second = auditor.multipliers()
    assert first > 2.9 > 0 >= second > -3
    assert abs(auditor.multipliers()).sum() <= 3
    auditor.see(np.array([-1e9, 1e300]))
    assert np.isfinite(auditor.multipliers()).all()
    still = Auditor(1, 0.5, 3.0, 1.0)
    still.see(np.array([0.4]))
    assert (still.exponents <= 0).all()  # within γ no price grows


def test_more_rounds_without_noise_bring_the_gap_down():
    known, second = people(n=3000, notion="parity")
    source = NoiseSource("study", np.random.default_rng(0))
    learner = Learner(known, group_sums(known, second).astype(float), 1e-4)
    weights = play(known, second, learner, Auditor(1, 0.0, 2.0, 2.0), 40, 1e-9, source)
    chances = (known.rows @ weights.T > 0).astype(float)
    gaps = [
        abs(one[second == 1].mean() - one[second == 0].mean())
        for one in (chances[:, 0], chances.mean(axis=1))
    ]
    assert gaps[0] > 0.15
    assert gaps[1] < 0.05


def test_groups_of_nobody_and_conditions_about_nobody_are_no_error():
    known, second = people()
    for groups in (np.zeros_like(second), np.ones_like(second)):
        learner = Learner(known, group_sums(known, groups).astype(float), 0.01)
        assert np.isfinite(learner.weights(np.array([1.0, -1.0]))).all()
    none = known._replace(about=np.zeros_like(known.about))
    learner = Learner(none, group_sums(none, second).astype(float), 0.01)
    assert np.isfinite(learner.weights(np.array([1.0, -1.0]))).all()
    assert np.isfinite(learner.gaps(np.zeros(2), np.array([-5.0, 7.0]))).all()


def test_who_has_the_score_zero_is_not_selected():
    rows = np.array([[1.0, 1.0], [0.0, 1.0], [-1.0, 1.0]])
    known = Public(rows, np.ones(3, dtype=int), np.ones((1, 3), dtype=bool), 2.0)
    seen = []

    class Fixed:
        def weights(self, _):
            return np.array([1.0, 0.0])

        def gaps(self, selected, _):
            seen.append(selected.tolist())
            return np.zeros(1)

    source = NoiseSource("study", np.random.default_rng(0))
    play(known, np.array([1, 0, 1]), Fixed(), Auditor(1, 0.0, 2.0, 2.0), 2, 1e-9, source)
    assert seen == [[1], [1]]


def test_every_rounding_of_the_noise_counts(monkeypatch):
    # with roundings of a hundredth each can be seen in the result
    up = 1.01
    monkeypatch.setattr(reduction_game, "gaussian_sigma", lambda *_: 2.0)
    monkeypatch.setattr(reduction_game, "sensitivity", lambda p: 3.0 * p)
    monkeypatch.setattr(reduction_game, "raised", lambda value: up * value)
    found = reduction_game.deviations(1.0, 1e-6, 5, 7, 0.3)
    assert found == pytest.approx((up * 15 * 2 / math.sqrt(0.3), up * 2 * math.sqrt(7 / 0.7)))
    monkeypatch.setattr(reduction_game, "quotient_above", lambda one, other: up * one / other)
    monkeypatch.setattr(reduction_game, "above", lambda value: up * float(value))
    square = (up * 15 / found.sums) ** 2 + 7 * (up / found.counts) ** 2
    assert reduction_game.ratio(found, 5, 7) == pytest.approx(up * math.sqrt(up * square))


def test_sums_are_cut_off_where_floats_end(monkeypatch):
    rows = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, -0.5]])
    known = reduction_game.Public(rows, np.zeros(3), np.ones((1, 3), dtype=bool), 1.0)
    assert reduction_game.group_sums(known, np.ones(3)).tolist() == [[3 * FINE, -FINE // 2]]
    monkeypatch.setattr(reduction_game, "EXACT", FINE // 4)
    assert reduction_game.group_sums(known, np.ones(3)).tolist() == [[FINE // 4, -(FINE // 4)]]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_auditors_weights_are_numbers_however_large_the_rate(sign):
    auditor = reduction_game.Auditor(2, 0.1, 2.0, 1e308)
    for _ in range(4):
        auditor.see(np.array([sign, sign / 2]))
        assert np.isfinite(auditor.multipliers()).all()
    # both exponents are at their largest, and share the bound
    assert auditor.multipliers() == pytest.approx([sign, sign])
