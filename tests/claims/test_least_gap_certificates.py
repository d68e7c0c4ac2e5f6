"""Certificates of linear programs over mechanisms: what they prove, and that a wrong one is refused."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.central.least_gap_program import private_minimax_gap
from dpfair_lib.claims.shared.central import certified_gaps as room
from dpfair_lib.claims.shared.central.mechanism_programs import unknown_rates

HALF = Fraction(1, 2)
OF, ODDS = room.program((1, 1), 2), Fraction(3)
FOUND = room.certificate(OF, ODDS)


@pytest.mark.parametrize(("n", "odds"), [(1, Fraction(3, 2)), (2, Fraction(3)), (5, Fraction(6))])
def test_one_group_has_the_value_of_another_program(n, odds):
    low, high = room.certified_gap((n,), 6, odds)
    value = private_minimax_gap([i / 6 for i in range(7)], n, math.log(odds), response=1.0)[0]
    assert isinstance(low, Fraction)
    assert isinstance(high, Fraction)
    assert float(low) - 1e-7 <= value <= float(high) + 1e-7
    assert 0 <= high - low < low / 10**6


def test_one_record_in_each_of_two_groups_by_hand():
    # rates 0 and 1 alone: the counts are the rates, and randomised response with a blind 0 between is all there is
    low, high = room.bounds(of := room.program((1, 1), 1), ODDS, room.certificate(of, ODDS))
    blind = room.Certificate([Fraction(1, 4)] * 4, [[Fraction(0)] * 3] * len(of.neighbours), _always(of, 0))
    assert room.bounds(of, ODDS, blind) == (0, 1)
    response = [_answers(state) for state in ((0, 0), (0, 1), (1, 0), (1, 1))]
    by_hand = room.bounds(of, ODDS, blind._replace(mechanism=response))[1]
    assert low <= high <= by_hand
    assert high - low < Fraction(1, 10**6)


def _always(of, action):
    return [[Fraction(int(at == action)) for at in range(len(of.losses[0]))] for _ in of.laws[0]]


def _answers(state):
    """Report the difference with odds 3 for one step, and 9 for two; a mixture of it and of nothing."""
    away = [abs(d - (state[1] - state[0])) for d in (0, 1, -1)]
    base = [Fraction(1, 3**a) for a in away]
    return [b / 2 + (1 - sum(base) / 2) * Fraction(int(at == 0)) for at, b in enumerate(base)]


def test_weak_duality_holds_for_any_weights_and_prices():
    rng = np.random.default_rng(0)
    _, high = room.bounds(OF, ODDS, FOUND)
    for _ in range(20):
        parts = rng.integers(0, 9, len(OF.laws)).tolist()
        weights = [Fraction(part, sum(parts)) for part in parts]
        prices = [[Fraction(int(x), 60) for x in rng.integers(0, 5, len(row))] for row in FOUND.prices]
        assert room.bounds(OF, ODDS, FOUND._replace(weights=weights, prices=prices))[0] <= high


@pytest.mark.parametrize(
    "wrong",
    [
        FOUND._replace(weights=[2 * weight for weight in FOUND.weights]),
        FOUND._replace(weights=[-HALF, Fraction(3, 2), *FOUND.weights[2:]]),
        FOUND._replace(prices=[[-price - 1 for price in row] for row in FOUND.prices]),
        FOUND._replace(mechanism=[[chance / 2 for chance in row] for row in FOUND.mechanism]),
        FOUND._replace(mechanism=[[Fraction(int(a == s)) for a in range(5)] for s in range(4)]),
    ],
    ids=["weights above 1", "a negative weight", "negative prices", "half a mechanism", "no privacy"],
)
def test_a_wrong_certificate_is_refused(wrong):
    with pytest.raises(ValueError, match="found: expected"):
        room.bounds(OF, ODDS, wrong)


def test_prices_for_less_privacy_prove_less():
    low = room.bounds(OF, ODDS, FOUND)[0]
    assert (
        room.bounds(OF, ODDS, FOUND._replace(prices=[[0 * p for p in row] for row in FOUND.prices]))[0] < low
    )
    of_more = room.certificate(OF, Fraction(2))
    assert room.bounds(OF, ODDS, FOUND._replace(prices=of_more.prices, weights=of_more.weights))[
        0
    ] <= low + Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("sizes", "delta"), [((1, 1, 1), 0), ((2, 1, 2), Fraction(1, 50)), ((1, 1), Fraction(1, 5))]
)
def test_symmetries_change_no_value(sizes, delta):
    of = room.program(sizes, 2)
    with_them = room.bounds(of, ODDS, room.certificate(of, ODDS, Fraction(delta)), Fraction(delta))
    plain = of._replace(symmetries=[])
    without = room.bounds(of, ODDS, room.certificate(plain, ODDS, Fraction(delta)), Fraction(delta))
    assert float(with_them[0]) == pytest.approx(float(without[1]), rel=1e-6)
    assert float(with_them[1]) == pytest.approx(float(without[0]), rel=1e-6)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 2, 3), (2,)])
def test_symmetries_leave_laws_losses_and_neighbours_as_they_are(sizes):
    of = room.program(sizes, 2)
    neighbours = set(of.neighbours)
    assert len(of.symmetries) == {(1, 1, 1): 12, (3, 2, 3): 4, (2,): 2}[sizes]
    for population, state, action in of.symmetries:
        for p, (law, losses) in enumerate(zip(of.laws, of.losses, strict=True)):
            assert [of.laws[population[p]][s] for s in state] == law
            assert [of.losses[population[p]][a] for a in action] == losses
        assert {(state[s], state[t]) for s, t in of.neighbours} == neighbours


def test_with_delta_one_group_has_the_value_of_another_program():
    low, high = room.certified_gap((3,), 6, Fraction(3, 2), Fraction(1, 20))
    value = private_minimax_gap([i / 6 for i in range(7)], 3, math.log(1.5), 0.05, response=1.0)[0]
    assert float(low) - 1e-7 <= value <= float(high) + 1e-7


def test_delta_is_counted_once_for_each_pair_of_neighbours():
    of, delta = room.program((1, 1, 1), 2), Fraction(1, 20)
    found = room.certificate(of, ODDS, delta)
    lost = room.bounds(of, ODDS, found, delta)[0] - room.bounds(of, ODDS, found, 2 * delta)[0]
    assert lost == delta * sum(max(prices) for prices in found.prices) > 0
    with pytest.raises(ValueError, match="a mechanism that is private"):
        room.bounds(of, ODDS, found, delta / 2)


def test_places_beyond_the_largest_rate_are_not_needed():
    """Every place of three groups up to twice the largest rate is no better than one of those that are kept."""
    found = unknown_rates((1, 1, 1), 2)
    gaps = {tuple(np.ptp(np.array(found.populations) - place, axis=1)) for place in found.places}
    for place in itertools.product(range(5), repeat=3):
        other = np.ptp(np.array(found.populations) - place, axis=1)
        assert any((np.array(kept) <= other).all() for kept in gaps)
