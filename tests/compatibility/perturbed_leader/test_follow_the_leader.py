import numpy as np
import pytest

from dpfair_lib.compatibility.perturbed_leader.exact_laws import expert_law
from dpfair_lib.compatibility.perturbed_leader.follow_the_leader import (
    follow_the_leader,
    leader,
    noisy_totals,
    perturbed_leader,
    perturbed_leader_plays,
)

EXPERTS = np.eye(3, dtype=int)


def test_the_leader_costs_least_and_the_first_wins_ties():
    assert leader([2.0, 1.0, 1.0], EXPERTS) == 1
    assert leader([-1.0, 0.5, 0.0], [[0, 0, 0], [1, 1, 0], [1, 0, 1]]) == 2


def test_follows_running_sums():
    losses = [[1, 0, 0], [0, 2, 0], [0, 0, 3], [0, 0, 0]]
    assert follow_the_leader(losses, EXPERTS).tolist() == [1, 2, 0, 0]


def test_little_noise_follows_the_leader():
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 9, size=(20, 3)) + np.array([0, 0.3, 0.6])
    for noised in ("sum", "losses"):
        played = perturbed_leader_plays(losses, EXPERTS, 1e-9, rng, noised=noised)
        assert played.tolist() == follow_the_leader(losses, EXPERTS).tolist()


def test_drawn_as_the_law_says():
    rng, draws = np.random.default_rng(1), 5000
    hits = np.bincount([perturbed_leader([0, 1, 2], EXPERTS, 2.0, rng) for _ in range(draws)], minlength=3)
    expected = expert_law([0, 1, 2], 0.5)
    assert (abs(hits - draws * expected) < 5 * np.sqrt(draws * expected)).all()


def test_noise_of_losses_stays_and_noise_of_sums_does_not():
    rng = np.random.default_rng(2)
    zero = np.zeros((4, 20_000))
    kept = noisy_totals(zero, 1.0, rng)
    fresh = noisy_totals(zero, 1.0, rng, noised="sum")
    assert kept.var(axis=1) == pytest.approx([2, 4, 6, 8], rel=0.1)
    assert fresh.var(axis=1) == pytest.approx([2, 2, 2, 2], rel=0.1)
    assert abs(np.corrcoef(fresh)[0, 1]) < 0.03 < np.corrcoef(kept)[0, 1]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda _: leader([1.0], EXPERTS), "hypotheses: found shape"),
        (lambda _: leader([1.0], np.empty((0, 1))), "hypotheses: found shape"),
        (lambda _: follow_the_leader([1, 2], EXPERTS), "losses: found shape"),
        (lambda _: follow_the_leader(np.empty((0, 2)), EXPERTS), "losses: found shape"),
        (lambda _: follow_the_leader(np.empty((2, 0)), EXPERTS), "losses: found shape"),
        (lambda rng: perturbed_leader([1, 2, 3], EXPERTS, 0, rng), "scale: found 0"),
        (lambda rng: noisy_totals([[1.0]], 1.0, rng, noised="plays"), "noised: found 'plays'"),
    ],
)
def test_what_cannot_be_is_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call(np.random.default_rng(0))
