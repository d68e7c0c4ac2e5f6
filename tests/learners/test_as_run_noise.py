"""The classifier as it was run: the noise of both players, and how far the matrix may go, reach the training."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import kstest

from dpfair_lib import DPFermiClassifier
from dpfair_lib.learners import fermi
from dpfair_lib.learners.fermi_training import inside, printed_noise

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(40, 2)), np.arange(40) % 2
GROUPS = np.where(np.arange(40) < 12, "f", "m")


@pytest.mark.parametrize("radius", [None, 0.7])
def test_both_players_get_the_printed_noise_of_the_smallest_group(monkeypatch, radius):
    handed, train = [], fermi.train_as_run

    def watched(data, frequencies, steps, seed, chosen):
        handed.append((frequencies, steps, chosen))
        return train(data, frequencies, steps, seed, chosen)

    monkeypatch.setattr(fermi, "train_as_run", watched)
    model = DPFermiClassifier(
        penalty=1.0, epsilon=2.0, delta=1e-5, steps=3, batch_size=20, noise="study", random_state=0,
        as_run=True,
        max_grad_norm=1.5, w_radius=radius, penalised_group="m",
    ).fit(X, Y, sensitive_features=GROUPS)  # fmt: skip
    ((frequencies, steps, chosen),) = handed
    used = fermi.AS_RUN_RADIUS if radius is None else radius
    due = printed_noise(2.0, 1e-5, 40, 3, 11 / 40, lipschitz=1.5, radius=used)
    assert (steps.deviation, steps.w_deviation) == due == tuple(model.noise_deviations_)
    assert min(due) > 0
    assert steps.w_radius == used
    assert frequencies.tolist() == [12 / 40, 28 / 40]
    assert chosen == 1
    assert not model.privacy_statement_.guarantee


def test_a_matrix_is_only_scaled_and_only_if_it_is_too_far_out():
    shapes = np.array([[[3.0, 0.0], [0.0, 4.0]], [[0.3, 0.0], [0.0, 0.4]], [[0.0, 0.0], [0.0, 0.0]]])
    for scale in (1e-3, 1.0, 1e200):
        found = inside(shapes * scale, 1.0)
        lengths = np.array([5.0, 0.5, 0.0]) * scale
        assert np.isfinite(found).all()
        for before, after, length in zip(shapes * scale, found, lengths, strict=True):
            assert after == pytest.approx(before / max(length, 1.0), rel=1e-12)
            assert math.hypot(*after.ravel()) <= 1 + 1e-12


@pytest.mark.parametrize("given", [None, 0.7])
def test_how_far_the_matrix_may_go_in_the_private_training(monkeypatch, given):
    handed, train = [], fermi.train_private

    def watched(data, frequencies, steps, seed):
        handed.append(steps)
        return train(data, frequencies, steps, seed)

    monkeypatch.setattr(fermi, "train_private", watched)
    DPFermiClassifier(
        penalty=1.0, epsilon=2.0, delta=1e-5, steps=3, batch_size=20, noise="study", random_state=0,
        w_radius=given,
        w_max_grad_norm=given, group_frequencies={"f": 0.25, "m": 0.75},
    ).fit(X, Y, sensitive_features=GROUPS)  # fmt: skip
    ((steps),) = handed
    assert steps.w_radius == (math.sqrt(2 / 0.25) if given is None else given)
    assert steps.w_clip == (2 / math.sqrt(0.25) if given is None else given)


def test_frequencies_add_up_where_a_group_has_one_record():
    groups = np.where(np.arange(40) < 1, "f", "m")
    for seed in range(3):
        model = DPFermiClassifier(
            penalty=1.0,
            epsilon=30.0,
            delta=1e-5,
            steps=1,
            batch_size=20,
            noise="study",
            random_state=seed,
            frequency_epsilon=20.0,
        ).fit(X, Y, sensitive_features=groups)
        assert model.group_frequencies_.sum() == pytest.approx(1, rel=1e-12)
        assert model.group_frequencies_.min() < 0.04


def test_the_noise_on_the_matrix_is_normal_with_its_deviation(monkeypatch):
    handed, train = [], fermi.train_as_run
    monkeypatch.setattr(fermi, "train_as_run", lambda *given: handed.append(given) or train(*given))
    DPFermiClassifier(
        penalty=1.0, epsilon=2.0, delta=1e-5, steps=1, batch_size=40, noise="study", random_state=0,
        as_run=True, w_radius=1e9,
        max_grad_norm=1e-6, penalised_group="m",
    ).fit(X, Y, sensitive_features=GROUPS)  # fmt: skip
    data, frequencies, steps, _, chosen = handed[0]

    def entry(deviation, seed):
        plan = dataclasses.replace(steps, deviation=0.0, w_deviation=deviation)
        return train(data, frequencies, plan, np.random.SeedSequence(seed), chosen)[1].ravel()[2 * chosen + 1]

    moved = np.array([entry(3.0, seed) - entry(0.0, seed) for seed in range(300)]) / 3.0
    assert kstest(moved / steps.w_learning_rate, "norm").pvalue > 1e-6


def test_the_intercept_is_learnt():
    X, y = np.zeros((200, 1)), np.arange(200) % 10 > 0
    model = DPFermiClassifier(
        penalty=0.0, epsilon=200.0, delta=1e-5, steps=60, batch_size=100, learning_rate=0.5, noise="study",
        random_state=0,
        group_frequencies={0: 0.5, 1: 0.5},
    ).fit(X, y, sensitive_features=np.arange(200) // 100)  # fmt: skip
    assert model.predict(X).all()
    assert abs(model.intercept_).max() > 0.5
