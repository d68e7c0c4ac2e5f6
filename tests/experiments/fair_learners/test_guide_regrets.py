"""The test of a regret beside the best of all: its p by loops, its level where all are equal, and what fails there."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpfair_lib.experiments.fair_learners import guide_regrets, summary

QUESTION = ("anybody", "parity", 1.0)


def rows(losses):
    return pd.DataFrame({"error": losses, "parity": 0.0})


def drawn(methods, seed=0, splits=20):
    return np.random.default_rng(seed).normal(size=(splits, methods))


def test_each_p_is_that_of_the_paired_test():
    losses = drawn(4)
    expected = [summary.paired_p(pd.Series(losses[:, 0] - losses[:, j])) for j in (1, 2, 3)]
    np.testing.assert_allclose(guide_regrets.single(losses), expected)
    assert guide_regrets.beside_all(losses) == pytest.approx(min(1, 3 * min(expected)))
    constant = np.tile([0.5, 0.25, 0.5, 0.75], (20, 1))
    assert guide_regrets.single(constant).tolist() == [0, 1, 1]


def test_a_regret_is_at_least_the_end_of_the_interval_that_the_test_turns_round():
    losses = drawn(5, seed=3) + np.array([1.2, 0, 0, 0, 0])
    p = float(guide_regrets.beside_all(losses))
    assert 0 < p < 0.5
    assert guide_regrets.at_least(losses, 1 - p) == pytest.approx(0, abs=1e-9)
    assert guide_regrets.at_least(losses, 1 - 1.1 * p) > 0 > guide_regrets.at_least(losses, 1 - 0.9 * p)


def test_the_winner_is_the_one_with_the_least_mean():
    losses = drawn(4) + np.array([3, 2, 0, 1])
    winner = summary.paired_p(pd.Series(losses[:, 0] - losses[:, 2]))
    assert guide_regrets.beside_winner(losses) == pytest.approx(winner)
    assert guide_regrets.beside_winner(losses - [10, 0, 0, 0]) == 1
    # the least p can belong to another one than the winner
    noisy = np.column_stack([np.zeros(20), drawn(1)[:, 0] * 9 - 3, drawn(1, 1)[:, 0] / 99 - 1])
    assert guide_regrets.beside_all(noisy) < guide_regrets.beside_winner(noisy)


def test_a_contest_has_the_one_that_other_data_sets_tell_first():
    found = {
        data: {name: rows(np.full(4, loss)) for name, loss in means.items()}
        for data, means in {"x": {"a": 1.0, "b": 2.0}, "y": {"a": 3.0, "b": 1.0}}.items()
    }
    first, second = guide_regrets.contests({QUESTION: found}, summary.rule)
    assert (first.data, first.names) == ("x", ["b", "a"])
    assert (second.data, second.names) == ("y", ["a", "b"])
    assert first.losses.tolist() == [[2, 1]] * 4


def test_drawn_splits_overlap_as_the_correction_says():
    weights = guide_regrets.overlapping(4000, 6, np.random.default_rng(0))
    first, second = weights[:, 0, :].ravel(), weights[:, 1, :].ravel()
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(0.2, abs=0.02)  # ρ / (1 − ρ) = 1 / 4
    assert weights.var() == pytest.approx(1, abs=0.02)
    centred = drawn(3) - drawn(3).mean(axis=0)
    made = guide_regrets.equal_losses(centred, guide_regrets.overlapping(4000, 20, np.random.default_rng(1)))
    np.testing.assert_allclose(np.cov(made[:, 0].T), np.cov(centred.T), atol=0.08)


def test_the_test_of_one_other_has_its_level_exactly_and_planted_faults_have_not(monkeypatch):
    def share():
        draws = guide_regrets.equal_losses(
            drawn(2), guide_regrets.overlapping(20_000, 20, np.random.default_rng(2))
        )
        return (guide_regrets.beside_all(draws) <= 0.05).mean()

    assert share() == pytest.approx(0.05, abs=0.005)
    single = guide_regrets.single
    monkeypatch.setattr(guide_regrets, "single", lambda losses: single(losses + np.array([0.1, 0])))
    assert share() > 0.06
    monkeypatch.setattr(
        guide_regrets,
        "single",
        lambda losses: (
            stats.ttest_rel(losses[..., :1], losses[..., 1:], axis=-2, alternative="greater").pvalue
        ),
    )  # no overlap
    assert share() > 0.1


def test_where_all_are_equal_only_the_valid_test_keeps_the_level():
    judged = [
        guide_regrets.Contest((*QUESTION, i), f"data {i % 3}", [], drawn(10, seed=i)) for i in range(12)
    ]
    tests = {
        "all": guide_regrets.beside_all,
        "winner": guide_regrets.beside_winner,
        "halves": guide_regrets.on_halves,
    }
    found = guide_regrets.false_rejections(
        judged, tests, level=0.95, draws=4000, rng=np.random.default_rng(0)
    )
    assert found["all"] <= 0.05 + 3 * (0.05 * 0.95 / 4000) ** 0.5
    assert found["winner"] > 0.15
    assert found["halves"] > 0.07


def test_turning_is_exact_for_one_other_and_below_bonferroni_for_several():
    losses = drawn(2, seed=4) + np.array([0.6, 0])
    p = guide_regrets.turned(losses, guide_regrets.directions(200_000, 20, np.random.default_rng(0)))
    assert p == pytest.approx(float(guide_regrets.single(losses)[0]), rel=0.05)
    several = drawn(8, seed=4) + 0.8 * (np.arange(8) == 0)
    p = guide_regrets.turned(several, guide_regrets.directions(200_000, 20, np.random.default_rng(0)))
    least = float(guide_regrets.single(several).min())
    assert least < p < float(guide_regrets.beside_all(several)) * 1.05
    assert guide_regrets.turned(np.zeros((5, 3)), np.ones((9, 5))) == 1


def test_turning_has_its_level_where_all_are_equal():
    rng = np.random.default_rng(5)
    draws = guide_regrets.equal_losses(drawn(6), guide_regrets.overlapping(1500, 20, rng))
    p = np.array([guide_regrets.turned(one, guide_regrets.directions(999, 20, rng)) for one in draws])
    assert (p <= 0.05).mean() == pytest.approx(0.05, abs=0.02)
    assert (p <= 0.5).mean() == pytest.approx(0.5, abs=0.05)
