import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import (
    best_response,
    printed_dynamics,
    printed_scale,
)
from dpfair_lib.compatibility.subgroup_fairness.printed_leaks import (
    MEMBERS,
    feature_leak,
    flip_counts,
    flip_law,
    laplace_sum_tail,
    play_law,
)
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import game_from_counts
from dpfair_lib.privacy.finite_laws import hockey_stick


def test_tails_of_laplace_sums_by_hand():
    for x in (0.0, 0.3, 2.0, 15.0):
        assert laplace_sum_tail(1, x) == pytest.approx(math.exp(-x) / 2, rel=1e-12)
        assert laplace_sum_tail(2, x) == pytest.approx((2 + x) * math.exp(-x) / 4, rel=1e-12)
        assert laplace_sum_tail(3, x) == pytest.approx((8 + 5 * x + x * x) * math.exp(-x) / 16, rel=1e-12)


@pytest.mark.parametrize(("count", "x"), [(7, 1.0), (40, -11.0), (200, 30.0)])
def test_tails_of_laplace_sums_by_their_characteristic_function(count, x):
    # P(S > x) = 1/2 − (1/π) ∫ sin(tx)/t (1 + t²)^(−k) dt over t > 0; the integrand is smooth and dies out
    t = (np.arange(400_000) + 0.5) * 2e-5 * math.sqrt(200 / count)
    integral = (np.sin(t * x) / t * (1 + t * t) ** -float(count)).sum() * (t[1] - t[0])
    assert laplace_sum_tail(count, x) == pytest.approx(0.5 - integral / math.pi, abs=1e-10)


def test_the_neighbours_differ_in_one_label_and_the_auditor_in_its_answer():
    one, two = (flip_counts(3, neighbour=which) for which in (False, True))
    assert one.sum() == two.sum() == 1800
    assert (one.sum(axis=2) == two.sum(axis=2)).all()  # features and subgroups of all records are the same
    assert abs(one - two).sum() == 2
    answers = []
    for counts in (one, two):
        exact = np.vectorize(Fraction, otypes=[object])
        game = game_from_counts(exact(counts), exact(MEMBERS))
        answers.append([best_response(game, h)[0] for h in exact(np.eye(3, dtype=int)[:2])])
    assert answers == [[0, 1], [1, 1]]


def test_laws_are_laws_and_the_algorithm_follows_them():
    one, two = (
        flip_law(1, neighbour=which, epsilon=1.0, delta=1e-6, dual_bound=10.0, rounds=8)
        for which in (False, True)
    )
    assert one.sum() == pytest.approx(1)
    assert hockey_stick(one, two, 1) == pytest.approx(abs(one - two).sum() / 2)
    assert hockey_stick(one, one, 1) == 0


def test_play_law_by_hand():
    # once pushed, always the second; before, a fair coin; the first answer never pushes
    law = play_law(lambda first, _: 1.0 if first else 0.5, (1, 0), rounds=2)
    assert law == pytest.approx([0.25, 0.25, 0.5])


def test_a_record_alone_in_its_cell_shows():
    chosen = {"dual_bound": 2.0, "rounds": 4, "samples": 1}
    scale = printed_scale(1.0, 0.01, 20, **chosen)
    counts = np.zeros((2, 2, 2))
    counts[0, 0, 0], counts[1, 0, 1] = 19, 1
    members = np.array([[1.0], [0.0]])
    rng = np.random.default_rng(0)
    draws = [
        printed_dynamics(
            game_from_counts(counts, members),
            counts.sum(axis=(1, 2)),
            rounds=4,
            samples=1,
            dual_bound=2.0,
            scale=scale,
            rng=rng,
        )[:, 1].mean()
        for _ in range(2000)
    ]
    assert np.mean(draws) == pytest.approx(feature_leak(1.0, delta=0.01, **chosen), abs=0.03)
    counts[0, 0, 1], counts[1, 0, 1] = 1, 0  # the record has other features: the cell is never selected
    away = printed_dynamics(
        game_from_counts(counts, members), counts.sum(axis=(1, 2)), rounds=4, samples=50, dual_bound=2.0,
        scale=scale, rng=rng,
    )  # fmt: skip
    assert not away[:, 1].any()


@pytest.mark.parametrize("neighbour", [False, True])
def test_the_law_is_that_of_the_two_classifiers_where_the_noise_matters(neighbour):
    epsilon, chosen = 0.7, {"dual_bound": 10.0, "rounds": 3}
    law = flip_law(1, neighbour=neighbour, epsilon=epsilon, delta=0.01, **chosen)
    counts, rng = flip_counts(1, neighbour=neighbour).astype(float), np.random.default_rng(3)
    scale = printed_scale(epsilon, 0.01, 600, samples=1, **chosen)
    game, people = game_from_counts(counts, MEMBERS.astype(float)), counts.sum(axis=(1, 2))
    two = np.eye(3)[:2]
    answers = [best_response(game, h) for h in two]

    def plays():
        weights, second = np.zeros(2), 0
        for _ in range(3):
            up, down = rng.gamma(
                people, scale, size=(2, 3)
            )  # whose difference is a Laplace variable for each record
            which = int(np.argmin(two @ (game.costs(weights) + up - down)))
            at, sign = answers[which]
            weights[at] += chosen["dual_bound"] * sign
            second += which
        return second

    found = np.bincount([plays() for _ in range(3000)], minlength=4) / 3000
    # 3,000 draws are so far from their law with probability 2exp(−2 · 3000 · 0.06²) < 10⁻⁹ in each of 3 sums
    assert abs(np.cumsum(found - law)).max() < 0.06
