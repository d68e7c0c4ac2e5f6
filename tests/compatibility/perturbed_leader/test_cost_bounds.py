import math
from fractions import Fraction

import pytest

from dpfair_lib.compatibility.perturbed_leader.cost_bounds import (
    largest_noise,
    leader_cost_bound,
    learner_noise_epsilon,
    learner_regret_bound,
    signed_leader_bound,
    two_hypotheses_regret,
)


def test_largest_noise_is_the_harmonic_number_on_both_sides_of_the_switch():
    assert largest_noise(3) == pytest.approx(11 / 6)
    direct = math.fsum(1 / i for i in range(1, 1003))
    assert largest_noise(1002) == pytest.approx(direct, abs=1e-13)
    assert largest_noise(10**15) <= 1 + math.log(10**15)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, math.log(2)])
def test_printed_bound_is_never_below_the_proved_one_where_it_is_sound(epsilon):
    for best in (0.0, 10.0, 1e4):
        bounds = [leader_cost_bound(best, 1.0, 3, 4, epsilon, kind) for kind in ("printed", "proved")]
        assert bounds[0] >= bounds[1] * (1 - 1e-12)


def test_learners_bound_is_the_formula_of_the_chapter():
    e, log_delta, t, m, n, c = 0.7, 9.0, 5000, 3, 200, 10.0
    root = math.sqrt(m * t * log_delta)
    expected = t * (1 + c / 2) * math.tanh(n * e / (4 * root)) + (2 + c) * root * largest_noise(n) / e
    assert learner_regret_bound(e, log_delta, t, m, n, c) == pytest.approx(expected)
    assert learner_noise_epsilon(e, log_delta, t, m, n, c) == pytest.approx(n * e / ((2 + c) * root))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: leader_cost_bound(1, 1, 1, 1, 0.7, "printed"), "epsilon: found 0.7 with norm 1"),
        (lambda: leader_cost_bound(-1, 1, 1, 1, 0.1, "proved"), "best: found -1"),
        (lambda: leader_cost_bound(1, -1, 1, 1, 0.1, "proved"), "norm, width: found -1"),
        (lambda: leader_cost_bound(1, 1, 1, 0, 0.1, "proved"), "n: found 0"),
        (lambda: leader_cost_bound(1, 1, 1, 1, 0.1, "ours"), "kind: found 'ours'"),
        (lambda: signed_leader_bound(0, 1, 1, 1, 1, 0.1), "rounds: found 0"),
        (lambda: signed_leader_bound(1, 1, -2, 1, 1, 0.1), "spread: found -2"),
        (lambda: learner_noise_epsilon(1, 0, 1, 1, 1, 1), "log_delta: found 0"),
    ],
)
def test_what_cannot_be_is_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_the_game_of_two_hypotheses_outgrows_the_printed_bound():
    ratios = []
    for root in (10, 100, 1000):
        regret, printed = two_hypotheses_regret(root, 36, 10)
        rounds = 12 * root**2
        assert regret <= Fraction(rounds, 2) * Fraction(10, 4)  # every lead followed
        # its second term is that of Lemma 5, with ln 2 rounded up
        term = 2 * (1 + 36 * math.log(2)) * 12 * math.sqrt(12 * rounds)
        assert float(printed - Fraction(rounds, 2) / (12 * root)) == pytest.approx(term, rel=1e-5)
        ratios.append(regret / printed)
    assert ratios == sorted(ratios)
    assert ratios[0] < 1 < ratios[-1]
    with pytest.raises(ValueError, match="root"):
        two_hypotheses_regret(0, 36, 10)
