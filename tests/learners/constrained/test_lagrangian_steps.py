"""Steps on a Lagrangian: no record moves counts or sums by more than the account allows."""

import math

import numpy as np
import pytest
from scipy.special import expit

from dpfair_lib.learners import counted_steps
from dpfair_lib.learners.constrained import lagrangian_steps
from dpfair_lib.learners.constrained.lagrangian_steps import CONDITIONS, Ascent, train_lagrangian
from dpfair_lib.learners.counted_steps import count_unit, divided
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy.grid_noise import FINENESS

SIGMA, SHARE, CLIP, COUNT = 1.3, 0.2, 0.7, 4
SETTING = {"noise_multiplier": SIGMA, "max_grad_norm": CLIP, "sample_rate": 1.0, "count": COUNT, "learning_rate": 0.5,
           "fit_intercept": True, "expected_batch_size": 30.0}  # fmt: skip
NUMBERS = (0.02, 3.0, 4.0, 0.6, 30.0)
"""γ, rate, largest multiplier, memory, divisor."""
SCORED = {"demographic_parity": (0, 0), "equal_opportunity": (None, 0), "equalized_odds": (0, 1)}


def rows(seed, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 2, size=(n, 1))
    return X, rng.integers(0, 2, n), rng.integers(0, 3, n)


class Watching:
    """Adds no noise, or answers that are given, and keeps what it is asked for."""

    def __init__(self, answers=None):
        self.asked, self.answers = [], answers

    def __call__(self, total, scale=FINENESS):
        assert scale == FINENESS
        self.asked.append(total)
        return total if self.answers is None else self.answers[len(self.asked) - 1]


def ran(monkeypatch, data, notion, answers=None, **changes):
    watching, ascent = Watching(answers), Ascent(notion, 3, *NUMBERS)
    monkeypatch.setattr(counted_steps, "add_discrete_gaussian_noise", watching)
    weights = train_lagrangian(*data, Steps(**SETTING | changes), SHARE, ascent)
    return weights, watching.asked, ascent


def largest_moves(monkeypatch, notion, seeds=range(4)):
    """Return how far one record less moves the counts, and the sums over what the noise is for, at equal answers."""
    unit, moves = count_unit(divided(SIGMA, SHARE).counts), []
    for seed in seeds:
        data, noise = rows(seed), np.random.default_rng(seed)
        _, asked, _ = ran(monkeypatch, data, notion)
        answers = [one + noise.normal(0, FINENESS, len(one)) for one in asked]
        _, whole, _ = ran(monkeypatch, data, notion, answers)
        for row in range(5):
            fewer = tuple(np.delete(column, row, axis=0) for column in data)
            _, less, _ = ran(monkeypatch, fewer, notion, answers)
            for step in range(COUNT):
                counts, sums = whole[2 * step] - less[2 * step], whole[2 * step + 1] - less[2 * step + 1]
                length = math.sqrt(sum(int(k) ** 2 for k in counts)) / unit
                moves.append((length, math.hypot(*map(float, sums))))
    counts, sums = map(max, zip(*moves, strict=True))
    return counts, sums * divided(SIGMA, SHARE).gradients / FINENESS


@pytest.mark.parametrize("notion", CONDITIONS)
def test_a_record_moves_counts_by_one_and_sums_by_the_clipping_norm(notion, monkeypatch):
    counts, sums = largest_moves(monkeypatch, notion)
    assert counts == 1
    assert 0.9 < sums <= 1 + 1e-9


def test_faults_in_counting_clipping_and_multipliers_move_more(monkeypatch):
    usual = lagrangian_steps.prepared
    with monkeypatch.context() as patch:
        patch.setattr(lagrangian_steps, "prepared", lambda rows, clip: usual(rows, 1.1 * clip))
        assert largest_moves(monkeypatch, "equalized_odds")[1] > 1.05
    move = Ascent.coefficients

    seen = {}  # the counts without noise, as multipliers that follow the exact gaps would see them

    def cells(self, y, groups, selected):
        found = usual_cells(self, y, groups, selected)
        seen["counts"] = np.bincount(found[found >= 0], minlength=self.width).astype(float)
        return found

    usual_cells = Ascent.cells
    with monkeypatch.context() as patch:
        patch.setattr(Ascent, "cells", cells)
        patch.setattr(Ascent, "coefficients", lambda self, _: move(self, seen["counts"]))
        assert largest_moves(monkeypatch, "demographic_parity")[1] > 2


@pytest.mark.parametrize("notion", CONDITIONS)
def test_without_noise_a_step_is_what_the_definition_says(notion, monkeypatch):
    # one record after the other, with a derivative that is taken numerically from the Lagrangian itself
    gamma, rate, largest, memory, _ = NUMBERS
    for seed in range(3):
        X, y, groups = rows(seed)
        found, asked, ascent = ran(monkeypatch, (X, y, groups), notion)
        entries, weights = np.column_stack([X, np.ones(len(X))]), np.zeros(4)
        unit = count_unit(divided(SIGMA, SHARE).counts)
        about = [SCORED[notion][label] for label in y]
        conditions = sorted({one for one in SCORED[notion] if one is not None})
        counts, steps, kept = np.zeros((len(conditions), 3, 2)), 0.0, []
        up, down = np.zeros((len(conditions), 3)), np.zeros((len(conditions), 3))
        for step in range(COUNT):
            new = np.zeros_like(counts)
            for i, j in enumerate(about):
                if j is not None:
                    new[j, groups[i], int(entries[i] @ weights > 0)] += 1
            assert (asked[2 * step] == new.ravel() * unit).all()
            counts, steps = memory * counts + new, memory * steps + 1
            for j in conditions:
                sizes = np.maximum(counts[j].sum(axis=1), 1)
                rates = counts[j, :, 1] / sizes
                gap = rates - (rates * sizes).sum() / sizes.sum()
                up[j] = (up[j] + rate * (gap - gamma)).clip(0, largest)
                down[j] = (down[j] + rate * (-gap - gamma)).clip(0, largest)
            total = np.zeros(4)
            for i, j in enumerate(about):
                s = entries[i] @ weights
                slope = expit(s) - y[i]
                if j is not None:
                    sizes = np.maximum(counts[j].sum(axis=1), 1)
                    signed = up[j] - down[j]

                    def penalty(score, k=groups[i], n=30.0 * steps, sizes=sizes, signed=signed):
                        # the part of n times Σ λ (r_k − r) that this record's σ(s) is in
                        return expit(score) * (signed[k] * n / sizes[k] - signed.sum() * n / sizes.sum())

                    slope += (penalty(s + 1e-5) - penalty(s - 1e-5)) / 2e-5
                gradient = slope * entries[i]
                total += gradient * min(1, CLIP / max(np.linalg.norm(gradient), 1e-300))
            weights = weights - 0.5 / 30 * total
            kept.append(weights)
        assert found == pytest.approx(np.mean(kept[COUNT // 2 :], axis=0), rel=1e-6)
        assert ascent.multipliers == pytest.approx(np.stack([up, down]))


def test_multipliers_stay_in_their_range_whatever_the_counts():
    rng = np.random.default_rng(0)
    for notion in CONDITIONS:
        ascent = Ascent(notion, 2, *NUMBERS)
        for scale in rng.choice([1.0, 100.0, 1e12], 200):
            pull = ascent.coefficients(rng.normal(3, scale, ascent.width))
            assert np.isfinite(pull).all()
            assert ((ascent.multipliers >= 0) & (ascent.multipliers <= 4.0)).all()
        if notion == "equal_opportunity":
            assert (pull[0] == 0).all()


@pytest.mark.parametrize("notion", CONDITIONS)
def test_every_pull_is_a_number_whatever_the_divisor(notion):
    """A pull that is not a number, or infinite, would get past the clipping of one record and not of another."""
    rng = np.random.default_rng(0)
    for divisor in (1e-300, 1e100, 1e305, 1.7e308):
        ascent = Ascent(notion, 3, 0.0, 1e9, 1e9, 0.5, divisor)
        for mean in (-3.0, 0.0, 3.0, 1e6):
            assert np.isfinite(ascent.coefficients(rng.normal(mean, 2.0, ascent.width))).all()


def test_equal_rates_pull_nobody_and_unequal_ones_pull_the_rates_together():
    ascent = Ascent("demographic_parity", 2, 0.0, 1.0, 5.0, 0.0, 20.0)
    assert ascent.coefficients(np.array([5.0, 5.0, 5.0, 5.0])) == pytest.approx(0)
    pull = ascent.coefficients(np.array([2.0, 8.0, 8.0, 2.0]))  # rates .8 and .2
    assert (pull[:, 0] > 0).all()  # the loss grows with the scores of the group that is selected more
    assert (pull[:, 1] < 0).all()
    within = Ascent("demographic_parity", 2, 0.3, 1.0, 5.0, 0.0, 20.0)
    assert within.coefficients(np.array([2.0, 8.0, 8.0, 2.0])) == pytest.approx(0, abs=1e-12)


def test_a_record_in_no_batch_and_an_empty_batch_are_steps(monkeypatch):
    nobody = tuple(column[:0] for column in rows(0))
    _, asked, _ = ran(monkeypatch, nobody, "equalized_odds")
    assert all((one == 0).all() for one in asked)
    assert len(asked) == 2 * COUNT


def test_norms_out_of_range_are_refused_before_anything_is_drawn(monkeypatch):
    with pytest.raises(ValueError, match="max_grad_norm: found"):
        ran(monkeypatch, rows(0), "equalized_odds", max_grad_norm=1e150)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_steps_end_where_a_weight_of_either_sign_is_too_heavy(sign, monkeypatch):
    asked = []

    def heavy(*_):
        asked.append(1)
        return sign * np.array([1e202, 0.0, 0.0, 0.0])

    monkeypatch.setattr(lagrangian_steps, "noisy_gradient", heavy)
    ascent = Ascent("demographic_parity", 3, *NUMBERS)
    weights = train_lagrangian(*rows(0), Steps(**SETTING), SHARE, ascent, np.random.default_rng(0))
    assert len(asked) == 1
    assert weights[0] * sign < -1e199
