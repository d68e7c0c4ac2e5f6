import math

import pytest

from dpfair_lib.compatibility.perturbed_leader.privacy_over_rounds import (
    composed_delta,
    leader_statement,
    loss_epsilon,
    one_point_delta,
    round_epsilons,
)
from dpfair_lib.privacy import STUDY_NOTE, optimal_composition_delta
from dpfair_lib.privacy.composition import divided_epsilon


def test_a_sum_pays_for_every_loss_in_it():
    assert round_epsilons(0.5, 3, "sum") == [0.5, 1.0, 1.5]
    assert round_epsilons(0.5, 3, "losses") == [0.5] * 3


def test_each_loss_once_is_the_share_of_equal_releases():
    assert loss_epsilon(1.0, 1e-5, 40, "losses", "proved") == pytest.approx(
        divided_epsilon(1.0, 1e-5, 40, "concentrated")
    )


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-9, 0.01])
@pytest.mark.parametrize("rounds", [1, 7])
def test_the_share_of_a_round_spends_epsilon_by_the_stated_conversion(epsilon, delta, rounds):
    for noised, squares in (("losses", rounds), ("sum", sum(t * t for t in range(1, rounds + 1)))):
        share = loss_epsilon(epsilon, delta, rounds, noised, "proved")
        rho = squares * share**2 / 2
        assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) == pytest.approx(epsilon, rel=1e-12)
        printed = loss_epsilon(epsilon, delta, rounds, noised, "printed")
        assert printed == pytest.approx(epsilon / math.sqrt(rounds * math.log(1 / delta)), rel=1e-12)


def test_sums_need_more_noise_by_the_stated_factor():
    one, other = (loss_epsilon(0.8, 1e-6, 12, noised, "proved") for noised in ("losses", "sum"))
    assert one / other == pytest.approx(math.sqrt(13 * 25 / 6))


def test_composition_of_unequal_releases_is_that_of_equal_ones_where_they_are():
    for releases, at in ((1, 0.1), (6, 0.5), (9, 0.0)):
        assert composed_delta([1] * releases, 0.3, at) == pytest.approx(
            optimal_composition_delta(0.3, 0.0, releases, at), abs=1e-14
        )


def test_levels_of_any_size_and_no_release_at_all():
    assert composed_delta([], 0.3, 0.0) == 0
    # of one release of level 2s at ε = s: truth − e^s · lie
    truth = 1 / (1 + math.exp(-0.6))
    assert composed_delta([2], 0.3, 0.3) == pytest.approx(truth - math.exp(0.3) * (1 - truth))
    with pytest.raises(ValueError, match="step"):
        composed_delta([1], 0.0, 0.3)


def test_plays_on_one_point_tell_what_the_last_play_tells_and_more():
    step, at = 0.4, 0.5
    # one play: 1/2 against e^(−step)/2; at ε of 0 the distance of these two
    assert one_point_delta(1, step, 0.0) == pytest.approx((1 - math.exp(-step)) / 2)
    for rounds in (2, 5, 8):
        last = max(-math.expm1(at - rounds * step) / 2, 0)
        found = one_point_delta(rounds, step, at)
        assert found >= last - 1e-12
        # the releases have the levels step, 2·step, …
        assert found <= composed_delta(list(range(1, rounds + 1)), step, at) + 1e-12
    with pytest.raises(ValueError, match="rounds"):
        one_point_delta(0, step, at)


def test_the_samplers_are_for_study_and_the_printed_noise_is_too_small_besides():
    printed = leader_statement(1.0, 1e-5, 9, "sum", "printed", relation="replace-one")
    proved = leader_statement(1.0, 1e-5, 9, "losses", "proved", relation="replace-one")
    assert not printed.guarantee
    assert not proved.guarantee
    assert "cgkm.lemma-4" in printed.note
    assert "cgkm.lemma-4" not in proved.note
    assert STUDY_NOTE in printed.note
    assert STUDY_NOTE in proved.note
    assert (proved.epsilon, proved.delta) == (1.0, 1e-5)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: round_epsilons(0, 3, "sum"), "epsilon: found 0"),
        (lambda: round_epsilons(1, 0, "sum"), "rounds: found 0"),
        (lambda: round_epsilons(1, 1, "plays"), "noised: found 'plays'"),
        (lambda: loss_epsilon(1, 1.0, 3, "sum", "proved"), "delta: found 1.0"),
        (lambda: loss_epsilon(1, 0.1, 3, "sum", "ours"), "kind: found 'ours'"),
    ],
)
def test_what_cannot_be_is_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
