import math

import numpy as np
import pytest

from dpfair_lib.privacy import (
    Event,
    ExponentialMechanism,
    GaussianMechanism,
    LaplaceMechanism,
    RandomizedResponse,
    audit,
    audit_approximate,
)

ALPHA = 1e-6  # each audit below may exceed the truth with this probability, were its seed drawn
PAIR = [(0.0, 1.0)]


def laplace(scale):
    return lambda data, size, rng: data + rng.laplace(scale=scale, size=size)


def response(epsilon, k, truth=None):
    truth = RandomizedResponse(epsilon, k).truth_probability if truth is None else truth

    def mechanism(data, size, rng):
        other = (data + rng.integers(1, k, size=size)) % k
        return np.where(rng.uniform(size=size) < truth, data, other)

    return mechanism


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_right_mechanism_is_never_accused(epsilon, seed):
    rng = np.random.default_rng(seed)
    found = audit(laplace(1 / epsilon), [(0.0, 1.0), (0.0, -0.5)], 4000, ALPHA, rng)
    assert 0 <= found.epsilon_lower <= LaplaceMechanism(1 / epsilon, 1).epsilon
    found = audit(response(epsilon, 4), [(0, 1), (2, 3)], 4000, ALPHA, rng)
    assert 0 <= found.epsilon_lower <= epsilon


def test_the_failure_probability_is_kept():
    # 400 audits at alpha = 0.1 of a mechanism with equality in its ε: more than 75 failures are less likely
    # than 1e-6 if each fails with probability at most 0.1
    rng = np.random.default_rng(0)
    mechanism = response(1.0, 2)
    failures = sum(audit(mechanism, [(0, 1)], 200, 0.1, rng).epsilon_lower > 1.0 for _ in range(400))
    assert failures <= 75


@pytest.mark.parametrize("pairs", [[(0, 1)], [(0, 1), (1, 2), (0, 2)]])
def test_the_failure_probability_is_divided_among_pairs_orders_and_ends(pairs):
    # where the data are published, all runs hit and none does: p to the number of runs is an end's share of alpha
    rng = np.random.default_rng(0)
    found = audit(lambda data, size, _: np.full(size, data), pairs, 2000, 0.05, rng)
    p = (0.05 / (2 * 2 * len(pairs))) ** (1 / 1000)
    assert found.hits == (1000, 0)
    assert found.epsilon_lower == pytest.approx(math.log(p / (1 - p)), rel=1e-9)


def test_an_event_is_tested_on_other_runs_than_those_it_was_chosen_on():
    # half of the runs publish the data; an event that was chosen on them convicts nothing in the others
    def leaking_at_first(data, size, _):
        return np.where(np.arange(size) < size // 2, data, 0)

    found = audit(leaking_at_first, [(0, 1)], 2000, ALPHA, np.random.default_rng(0))
    assert (found.epsilon_lower, found.runs) == (0.0, 1000)


def test_half_the_noise_is_caught():
    rng = np.random.default_rng(1)
    found = audit(laplace(0.5), PAIR, 20_000, ALPHA, rng)  # sold as ε = 1, in truth ε = 2
    assert 1.0 < found.epsilon_lower <= 2.0
    first, second = (laplace(0.5)(data, 100_000, rng) for data in found.pair)
    ratio = found.event.contains(first).mean() / found.event.contains(second).mean()
    assert ratio > math.exp(1.0)  # the event convicts on fresh draws
    assert found.hits[0] > found.hits[1]
    assert found.runs == 10_000


def test_too_much_truth_is_caught():
    found = audit(response(1.0, 3, truth=0.8), [(0, 1)], 20_000, ALPHA, np.random.default_rng(2))
    assert found.epsilon_lower > 1.0


def test_labels_and_clipped_outputs():
    names = np.array(["a", "b", "c"])
    chosen = ExponentialMechanism(6.0, 1.0)

    def mechanism(data, size, rng):
        return names[rng.choice(3, size=size, p=chosen.probabilities(data))]

    found = audit(mechanism, [([1, 0, 0], [0, 1, 0])], 8000, ALPHA, np.random.default_rng(3))
    assert found.event.kind == "one of"
    assert str(found.event) in ("output one of a", "output one of b")
    truth = chosen.losses([1, 0, 0], [0, 1, 0]).max()
    assert 0.8 * truth < found.epsilon_lower <= truth


def test_an_event_is_the_same_set_for_both_data_sets():
    # labels of other lengths, and floats of other precisions, must not be cut to the shorter type
    names = {1: np.array(["a"]), 2: np.array(["a", "abc"])}
    event = Event("one of", ("abc",))
    np.testing.assert_array_equal(event.contains(names[1]), [False])
    np.testing.assert_array_equal(event.contains(names[2]), [False, True])
    assert not Event("at least", (0.1,)).contains(np.array([0.1], dtype=np.float32) - np.float32(1e-8))[0]
    found = audit(
        lambda d, size, rng: names[d][rng.integers(0, d, size)],
        [(1, 2)],
        1000,
        ALPHA,
        np.random.default_rng(6),
    )
    assert (found.event, found.pair, found.hits[1]) == (event, (2, 1), 0)


def test_a_leak_is_found_without_a_common_support():
    found = audit(lambda data, size, _: np.full(size, data), PAIR, 2000, ALPHA, np.random.default_rng(4))
    assert found.epsilon_lower > 4  # as much as 1000 runs can show


def test_gaussian_noise_has_no_pure_guarantee_but_keeps_its_delta():
    mechanism = GaussianMechanism(1.0, 1.0)
    epsilon = 1.0
    delta = mechanism.delta(epsilon)

    def noisy(sigma):
        return lambda data, size, rng: data + rng.normal(scale=sigma, size=size)

    rng = np.random.default_rng(5)
    assert audit(noisy(1.0), PAIR, 40_000, ALPHA, rng).epsilon_lower > 1.2
    assert audit_approximate(noisy(1.0), PAIR, 40_000, ALPHA, rng, delta).epsilon_lower <= epsilon
    assert audit_approximate(noisy(0.5), PAIR, 40_000, ALPHA, rng, delta).epsilon_lower > epsilon


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pairs": []}, "pairs: expected at least one pair"),
        ({"pairs": [(1, 2, 3)]}, "pairs: expected"),
        ({"n": 3}, "n: found 3, expected at least 4"),
        ({"alpha": 0}, "alpha: found 0"),
        ({"mechanism": lambda data, size, _: np.zeros(size - 1) + data}, "found 9 outputs, expected 10"),
        ({"mechanism": lambda data, size, _: np.full(size, np.nan) + data}, "mechanism: found NaN"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    arguments = {"mechanism": laplace(1.0), "pairs": PAIR, "n": 10, "alpha": 0.05, **changes}
    with pytest.raises(ValueError, match=message):
        audit(**arguments, rng=np.random.default_rng(0))
