import math

import numpy as np
import pytest

from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import (
    RoundNoise,
    loss_sensitivity,
    no_regret_dynamics,
    printed_dynamics,
    printed_scale,
    rho_for,
    round_noise,
)
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import game_from_counts, optimum
from dpfair_lib.privacy import zcdp_epsilon

MEMBERS = np.array([[1.0], [0.0]])


def some_game(seed=0, cells=5):
    counts = np.random.default_rng(seed).integers(5, 60, size=(cells, 2, 2)).astype(float)
    return game_from_counts(counts, MEMBERS), counts


def test_rho_is_the_largest_that_fits():
    for epsilon, delta in ((0.1, 1e-9), (1.0, 1e-6), (8.0, 1e-3)):
        rho = rho_for(epsilon, delta)
        assert zcdp_epsilon(rho, delta, "tight") <= epsilon * (1 + 1e-9)
        assert zcdp_epsilon(rho * 1.0001, delta, "tight") > epsilon


def test_rounds_share_one_budget():
    one, many = (round_noise(1.0, 1e-6, 500, rounds=rounds, dual_bound=4.0) for rounds in (1, 100))
    assert many.sigma == pytest.approx(10 * one.sigma)
    assert many.audit_scale == pytest.approx(10 * one.audit_scale)
    assert one.rho == pytest.approx(many.rho)
    assert loss_sensitivity(4.0, 500) == pytest.approx((2 + 4 * math.sqrt(2)) / 500)


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_the_dynamics_come_close_to_the_program(tolerance):
    game, _ = some_game()
    h = no_regret_dynamics(
        game, rounds=2000, samples=50, dual_bound=10.0, tolerance=tolerance, rng=np.random.default_rng(0)
    )
    best = optimum(game, tolerance)
    assert game.errors(h) == pytest.approx(game.errors(best), abs=0.02)
    assert abs(game.violations(h)).max() <= tolerance + 0.003


def test_little_noise_changes_little_and_much_noise_hides_the_data():
    game, other = some_game()[0], some_game(7)[0]
    chosen = {"rounds": 200, "samples": 20, "dual_bound": 5.0, "tolerance": 0.0}

    def play(which, noise):
        return no_regret_dynamics(which, rng=np.random.default_rng(1), private=noise, **chosen)

    plain = no_regret_dynamics(game, rng=np.random.default_rng(1), **chosen)
    assert play(game, RoundNoise(1e-9, 1e-9, 1.0)) == pytest.approx(plain, abs=0.1)
    # with noise that swamps them, two games with the same draws give the same answer
    loud = RoundNoise(1e6, 1e6, 1.0)
    assert play(game, loud) == pytest.approx(play(other, loud), abs=1e-3)


def test_the_printed_scale_and_the_printed_play():
    scale = printed_scale(1.0, math.exp(-4), 100, dual_bound=8.0, rounds=9, samples=1)
    assert printed_scale(1.0, math.exp(-4), 100, dual_bound=8.0, rounds=9, samples=25) == pytest.approx(
        5 * scale
    )
    assert scale == pytest.approx(10 * 6 / 100)
    game, counts = some_game()
    sizes = counts.sum(axis=(1, 2))
    quiet = printed_dynamics(
        game, sizes, rounds=3, samples=2, dual_bound=1.0, scale=1e-9, rng=np.random.default_rng(0)
    )
    assert (quiet[0] == (game.error < 0)).all()  # without noise the first round is the least error
    empty = np.zeros(len(sizes))
    silent = game_from_counts(np.zeros_like(counts), MEMBERS, 1)
    none = printed_dynamics(
        silent, empty, rounds=2, samples=2, dual_bound=1.0, scale=1.0, rng=np.random.default_rng(0)
    )
    assert not none.any()  # no record, no noise: ties go to 0


def test_cells_get_the_noise_of_their_records():
    # a sum of k Laplace variables of scale b has variance 2kb²: selected with the normal chance for large k
    counts = np.zeros((2, 2, 2))
    counts[:, 0, 0] = 2000
    game = game_from_counts(counts, MEMBERS)
    scale = 0.5 / math.sqrt(2 * 2000)
    draws = printed_dynamics(
        game, np.array([2000, 2000]), rounds=1, samples=20000, dual_bound=1.0, scale=scale,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert draws[0] == pytest.approx(0.5 * math.erfc(1 / math.sqrt(2)), abs=0.01)
