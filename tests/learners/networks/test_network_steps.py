"""DP-SGD of a network on a grid: gradients are right, a record's integers are its own and short, sums are exact."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit

from dpfair_lib.learners.exact_steps import exact_sum, grid_step, prepared
from dpfair_lib.learners.networks import network_steps
from dpfair_lib.learners.networks.network_steps import (
    HEAVIEST,
    Clipped,
    clipped,
    float_sum,
    integer_gradients,
    layers_of,
    starting_weights,
    train_network,
)
from dpfair_lib.learners.settings import Steps

HIDDEN = 3
SIZES = {
    "usual": (1.3, 0.7),
    "fine": (1e-3, 0.7),
    "short": (1.3, 1e-100),
    "long": (1.3, 1e100),
    "loud": (1e6, 3e-7),
}


def people(seed=0, n=40, d=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 2, n)


def extreme(seed, n=40, d=4):
    X, y = people(seed, n, d)
    rng = np.random.default_rng(seed)
    X[::2] *= 10.0 ** rng.uniform(-160, 110, size=(len(X[::2]), 1))
    X[::5] *= 10.0 ** rng.uniform(-20, 20, size=(len(X[::5]), d))
    return X, y


def held(X):
    return prepared(np.column_stack([X, np.ones(len(X))]), 1.0)


def integers(X, y, weights, multiplier=1.3, clip=0.7, chosen=None):
    step = grid_step(multiplier, clip)
    chosen = np.arange(len(X)) if chosen is None else chosen
    return integer_gradients(held(X), 1.0 - 2 * y, chosen, layers_of(weights, HIDDEN), clip, step)


def network(seed, d=4, size=1.0):
    return size * np.random.default_rng(seed).normal(size=HIDDEN * (d + 2) + 1)


def loss(X, y, weights):
    """The loss of each record, by the textbook."""
    V, w, b = weights[: -HIDDEN - 1].reshape(HIDDEN, -1), weights[-HIDDEN - 1 : -1], weights[-1]
    scores = np.tanh(X @ V[:, :-1].T + V[:, -1]) @ w + b
    return np.logaddexp(0, scores) - y * scores


def slopes(X, y, weights, by=1e-6):
    """The gradient of each record's loss by finite differences, of shape (p, n)."""
    units = by * np.eye(len(weights))
    return np.array([(loss(X, y, weights + one) - loss(X, y, weights - one)) / (2 * by) for one in units])


@pytest.mark.parametrize("size", [0.3, 1.0, 3.0])
def test_gradients_are_those_of_finite_differences(size):
    X, y = people()
    weights = network(1, size=size)
    found = integers(X, y, weights, clip=1e3) * grid_step(1.3, 1e3)
    assert found == pytest.approx(slopes(X, y, weights), abs=1e-7 * size + 2 * grid_step(1.3, 1e3))
    start = starting_weights(4, HIDDEN, 1)  # where all scores are 0
    assert integers(X, y, start, clip=1e3) * grid_step(1.3, 1e3) == pytest.approx(
        slopes(X, y, start), abs=1e-7
    )


def test_a_record_is_shortened_as_a_whole_and_only_if_it_is_long():
    X, y = people(n=400)
    weights = network(2)
    exact = slopes(X, y, weights)
    lengths = np.linalg.norm(exact, axis=0)
    assert (lengths > 0.7).any()
    assert (lengths < 0.7).any()
    found = integers(X, y, weights) * grid_step(1.3, 0.7)
    assert found == pytest.approx(exact * np.minimum(1, 0.7 / lengths), abs=1e-7)


def longest(multiplier, clip, weigh):
    """Return the largest square of a record's length, over the bound, exactly; rows and weights are extreme."""
    bound = (Fraction(clip) / Fraction(grid_step(multiplier, clip))) ** 2
    assert Fraction(2**40) ** 2 >= Fraction(multiplier) ** 2 * bound
    most = Fraction(0)
    for seed in range(4):
        X, y = extreme(seed)
        for weights in weigh(seed):
            found = integers(np.clip(X, -1e300, 1e300), y, weights, multiplier, clip)
            most = max(most, max(sum(int(z) ** 2 for z in column) for column in found.T) / bound)
    return most


def networks(seed):
    for size in (0.1, 1.0, 1e3, HEAVIEST / 10):
        yield np.clip(network(seed, size=size), -HEAVIEST, HEAVIEST)
    yield HEAVIEST * np.sign(network(seed))
    few = network(seed, size=1e-3)  # units that are not saturated, and weigh as much as may be
    few[-HIDDEN - 1 :] = HEAVIEST * np.sign(few[-HIDDEN - 1 :])
    yield few
    yield starting_weights(4, HIDDEN, seed + 1)


@pytest.mark.parametrize("name", SIZES)
def test_no_record_is_longer_than_the_clipping_norm(name):
    most = longest(*SIZES[name], networks)
    assert 1 - 1e-5 < most <= 1 or (most <= 1 and name == "long")


LENGTHS = clipped


def _each_layer(inputs, signs, limits, layers, clip):
    """Planted: the hidden layer and the score are clipped to C each."""
    whole = LENGTHS(inputs, signs, limits, layers, np.inf)
    reach = np.linalg.norm(whole.back, axis=0) / limits
    inner = np.minimum(1, clip / np.maximum(abs(whole.sizes) * reach, 1e-300))
    above = np.minimum(abs(whole.sizes), clip / np.sqrt(np.square(whole.units).sum(axis=0) + 1)) / np.maximum(
        abs(whole.sizes), 1e-300
    )
    back = whole.back * inner / np.maximum(above, 1e-300)
    return Clipped(whole.units, back, whole.sizes * above)


def _score_alone(inputs, signs, limits, layers, clip):
    """Planted: the norm leaves the hidden layer out."""
    return LENGTHS(inputs, signs, np.full_like(limits, np.inf), layers, clip)


def _without_constant(inputs, signs, limits, layers, clip):
    """Planted: the norm leaves the constant of each row out."""
    short = np.sqrt(np.maximum(limits**-2.0 - 1, 0))
    with np.errstate(divide="ignore"):
        return LENGTHS(inputs, signs, 1 / short, layers, clip)


def _not_at_all(inputs, signs, limits, layers, _):
    return LENGTHS(inputs, signs, limits, layers, np.inf)


FAULTS = [_each_layer, _score_alone, _without_constant, _not_at_all]


@pytest.mark.parametrize("fault", FAULTS)
def test_clipping_of_parts_lets_a_record_be_longer(fault, monkeypatch):
    monkeypatch.setattr(network_steps, "clipped", fault)
    most = longest(1.3, 0.7, lambda seed: [network(seed, size=size) for size in (1.0, 3.0)])
    assert most > 1.001
    if fault is _each_layer:  # a layer has C, two have √2 C
        assert most <= 2.001


def test_a_margin_of_nothing_is_too_small(monkeypatch):
    # planted: the norm is taken as computed
    monkeypatch.setattr(network_steps, "MARGIN", 1.0)
    bound = (Fraction(0.7) / Fraction(grid_step(1e-3, 0.7))) ** 2
    X, y = people(n=3000)
    found = integers(1e6 * X, y, 5 * network(0), 1e-3)
    assert any(sum(Fraction(int(z)) ** 2 for z in column) > bound for column in found.T)


@pytest.mark.parametrize("wide", [1e308, 1e100, 1e-300])
@pytest.mark.parametrize("heavy", [HEAVIEST, 1.0, 1e-300])
def test_no_gradient_is_undefined(wide, heavy):
    # each row may be as wide, and each weight as heavy, as they are let through
    signs = np.array([[a, b, c, d] for a in (-1, 0, 1) for b in (-1, 1) for c in (0, 1) for d in (-1, 0, 1)])
    for seed in range(3):
        weights = heavy * np.sign(network(seed))
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            found = clipped(
                np.clip(
                    layers_of(weights, HIDDEN).inner @ held(wide * signs).entries.T, -1e300, 1e300
                ), 1.0 - 2 * (np.arange(len(signs)) % 2), held(wide * signs).limits, layers_of(weights, HIDDEN), 0.7,
            )  # fmt: skip
            whole = integers(wide * signs, np.arange(len(signs)) % 2, weights)
        assert all(np.isfinite(part).all() for part in found)
        assert (abs(whole) <= 2**40).all()


@pytest.mark.parametrize("size", [0.3, 3.0])
def test_a_records_integers_do_not_depend_on_the_others(size):
    X, y = people(3, n=130, d=31)
    weights = network(0, d=31, size=size)
    whole, at = integers(X, y, weights, 1e-3), np.random.default_rng(1)
    for many in (1, 2, 3, 5, 17, 64, 129):
        some = np.sort(at.choice(130, many, replace=False))
        assert np.array_equal(integers(X[some], y[some], weights, 1e-3), whole[:, some])
        assert np.array_equal(integers(X, y, weights, 1e-3, chosen=some), whole[:, some])


def test_sums_in_another_order_would_depend_on_the_others(monkeypatch):
    def sums(terms):
        return terms.sum(axis=0) if terms.shape[1] % 2 else terms[::-1].sum(axis=0)

    monkeypatch.setattr(network_steps, "column_sums", sums)
    with pytest.raises(AssertionError):
        test_a_records_integers_do_not_depend_on_the_others(0.3)


def test_a_record_less_moves_the_sum_by_its_own_integers():
    X, y = people(n=700)
    weights = network(0)
    whole = integers(X, y, weights)

    def total(chosen):
        return exact_sum(chosen, lambda at: integers(X, y, weights, chosen=at), len(weights))

    moved = np.array(total(np.arange(700))) - total(np.arange(1, 700))
    assert np.array_equal(moved, whole[:, 0])
    assert total(np.arange(0)).tolist() == [0] * len(weights)


def test_sums_for_study_noise_are_those_of_the_same_gradients():
    X, y = people(n=300)
    weights, step = network(0), grid_step(1.3, 0.7)
    chosen = np.arange(0, 300, 3)
    found = float_sum(held(X), 1.0 - 2 * y, chosen, layers_of(weights, HIDDEN), 0.7, step)
    exact = integers(X, y, weights, chosen=chosen).sum(axis=1)
    assert found == pytest.approx(exact, rel=1e-9, abs=len(chosen))
    empty = float_sum(held(X), 1.0 - 2 * y, chosen[:0], layers_of(weights, HIDDEN), 0.7, step)
    assert empty.tolist() == [0.0] * len(weights)


def test_weights_start_from_a_public_number():
    one = starting_weights(50, 40, 1)
    assert np.array_equal(one, starting_weights(50, 40, 1))
    assert not np.array_equal(one, starting_weights(50, 40, 2))
    inner, outer, bias = layers_of(one, 40)
    assert inner.shape == (40, 51)
    assert abs(inner).max() <= 3**0.5
    assert inner.mean() == pytest.approx(0, abs=0.1)
    assert inner.var() == pytest.approx(1, abs=0.1)
    assert len(np.unique(inner)) == inner.size
    assert not outer.any()
    assert bias == 0


def steps(**changes):
    usual = {
        "noise_multiplier": 1e-3,
        "max_grad_norm": 0.7,
        "sample_rate": 1.0,
        "count": 25,
        "learning_rate": 0.5,
    }
    return Steps(**usual | changes, fit_intercept=True)


def test_secure_steps_take_the_way_of_study_steps(monkeypatch):
    X, y = people(n=60)
    secure = train_network(X, y, steps(), HIDDEN, 1)
    study = train_network(X, y, steps(), HIDDEN, 1, np.random.default_rng(0))
    assert secure == pytest.approx(study, abs=1e-2)
    assert abs(secure - starting_weights(4, HIDDEN, 1)).max() > 0.1
    # by the textbook, without noise
    weights = starting_weights(4, HIDDEN, 1)
    for _ in range(25):
        each = slopes(X, y, weights)
        weights = weights - 0.5 / 60 * (each * np.minimum(1, 0.7 / np.linalg.norm(each, axis=0))).sum(axis=1)
    monkeypatch.setattr(
        network_steps, "noise_and_batches", lambda n, of, _: (lambda total: total, [np.arange(n)] * of.count)
    )
    assert train_network(X, y, steps(), HIDDEN, 1) == pytest.approx(weights, abs=1e-6)
    # planted: the mean of the batch is clipped, not each record
    weights = starting_weights(4, HIDDEN, 1)
    for _ in range(25):
        mean = slopes(X, y, weights).mean(axis=1)
        weights = weights - 0.5 * mean * min(1, 0.7 / np.linalg.norm(mean))
    assert train_network(X, y, steps(), HIDDEN, 1) != pytest.approx(weights, abs=1e-3)


def test_an_empty_batch_is_a_step_like_the_others(monkeypatch):
    # a step without noise would tell that nobody was in its batch
    X, y = people(n=60)
    noise, asked = 2**30 * np.arange(1, HIDDEN * 6 + 2), []

    def add(total):
        asked.append(total)
        return total + noise

    batches = [np.arange(0), np.arange(0), np.arange(60)]
    monkeypatch.setattr(network_steps, "noise_and_batches", lambda *_: (add, iter(batches)))
    for study in (None, np.random.default_rng(0)):
        asked.clear()
        found = train_network(X, y, steps(count=3), HIDDEN, 1, study)
        assert [total.any() for total in asked] == [False, False, True]
        still = starting_weights(4, HIDDEN, 1) - 0.5 / 60 * grid_step(1e-3, 0.7) * (3 * noise + asked[2])
        assert found == pytest.approx(still, abs=1e-12)


def test_a_network_learns_what_no_linear_model_can():
    X, _ = people(n=4000, d=2)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    weights = train_network(
        X, y, steps(count=300, learning_rate=3.0, sample_rate=0.5), 16, 1, np.random.default_rng(0)
    )
    inner, outer, bias = layers_of(weights, 16)
    scores = np.tanh(X @ inner[:, :-1].T + inner[:, -1]) @ outer + bias
    assert ((scores > 0) == y).mean() > 0.9


def test_training_ends_where_a_weight_is_too_heavy():
    X, y = people(n=60)
    weights = train_network(X, y, steps(learning_rate=1e300), HIDDEN, 1, np.random.default_rng(0))
    assert abs(weights).max() > HEAVIEST
    assert np.isfinite(expit(weights)).all()
