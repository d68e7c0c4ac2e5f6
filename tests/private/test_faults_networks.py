"""Faults planted in a network's private gradient descent, and caught by the checks of this folder."""

import numpy as np
import pytest
from cases import cases
from checks import caught, check_neighbours, check_secure

import dpfair_lib as dpf
from dpfair_lib.learners import counted_steps
from dpfair_lib.learners.networks import network, network_steps

WHOLE, PART = (case for case in cases() if case.covers == (dpf.DPNetworkClassifier,))
NAMES = "clipped", "grid_step", "integer_gradients", "prepared", "train_network"
USUAL = {name: getattr(network_steps, name) for name in NAMES}
DISCRETE = counted_steps.add_discrete_gaussian_noise


def _each_layer(inputs, signs, limits, layers, clip):
    """The hidden layer and the score are clipped to C each."""
    whole = USUAL["clipped"](inputs, signs, limits, layers, np.inf)
    size = np.maximum(abs(whole.sizes), 1e-300)
    inner = np.minimum(1, clip / np.maximum(size * np.linalg.norm(whole.back, axis=0) / limits, 1e-300))
    outer = np.minimum(1, clip / (size * np.sqrt(np.square(whole.units).sum(axis=0) + 1)))
    return whole._replace(back=whole.back * inner / outer, sizes=whole.sizes * outer)


def _mean(rows, signs, chosen, layers, clip, step):
    """The mean of the batch is clipped, not each record."""
    found = USUAL["integer_gradients"](rows, signs, chosen, layers, 1e90, step)
    mean = found.astype(float).mean(axis=1, keepdims=True)
    shorter = min(1.0, clip / step / max(np.linalg.norm(mean), 1e-300))
    return np.repeat((mean * shorter).astype(np.int64), len(chosen), axis=1)


FAULTS = {
    "each layer to the whole norm": {"clipped": _each_layer},
    "after averaging": {"integer_gradients": _mean},
    "not clipped": {"clipped": lambda *given: USUAL["clipped"](*given[:-1], 10 * given[-1])},
    "clipped at more": {"clipped": lambda *given: USUAL["clipped"](*given[:-1], 1.05 * given[-1])},
    "a finer grid": {"grid_step": lambda *numbers: 0.95 * USUAL["grid_step"](*numbers)},
}
NOISES = {
    "less noise": lambda sums, scale: DISCRETE(sums, 0.95 * scale),
    "no noise": lambda sums, _: sums,
    "none on the score's weights": lambda sums, scale: np.append(DISCRETE(sums[:-5], scale), sums[-5:]),
}


def test_the_steps_as_they_are_pass():
    for pair in ("large beside small", "another label"):
        check_secure(WHOLE, WHOLE.pairs()[pair][0])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_steps_is_caught(name, monkeypatch):
    for place, planted in FAULTS[name].items():
        monkeypatch.setattr(network_steps, place, planted)
    assert caught(check_secure, WHOLE, WHOLE.pairs()["large beside small"][0])


@pytest.mark.parametrize("name", NOISES)
def test_a_fault_in_the_noise_is_caught(name, monkeypatch):
    monkeypatch.setattr(counted_steps, "add_discrete_gaussian_noise", NOISES[name])
    assert caught(check_secure, WHOLE, WHOLE.data())


def _from_rows(X, y, steps, hidden, _, study=None):
    """Training starts from a number that the rows decide."""
    return USUAL["train_network"](X, y, steps, hidden, 1 + int((X > 0).sum()), study)


def _counted(X, y, steps, hidden, start, study=None):
    """The number of rows divides the sums."""
    own = steps.__class__(**{**vars(steps), "expected_batch_size": steps.sample_rate * len(X)})
    return USUAL["train_network"](X, y, own, hidden, start, study)


@pytest.mark.parametrize("planted", [_from_rows, _counted])
def test_what_is_known_of_the_rows_is_caught(planted, monkeypatch):
    monkeypatch.setattr(network, "train_network", planted)
    assert caught(check_neighbours, PART, "secure")


def _as_wide_as_given(entries, clip):
    """Rows are not cut down, so that norms are infinite."""
    return USUAL["prepared"](entries, clip)._replace(entries=entries)


def test_a_gradient_that_is_undefined_is_caught(monkeypatch):
    data = WHOLE.pairs()["largest of both signs"][0]
    check_secure(WHOLE, data)
    monkeypatch.setattr(network_steps, "prepared", _as_wide_as_given)
    assert caught(check_secure, WHOLE, data)
