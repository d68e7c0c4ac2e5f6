"""What steers a private descent beside the rows is public, or comes from noisy answers: clips, radii, rates, divisors.

A number that is computed from the rows without noise, and only used, is an attribute of nothing. It is seen here, where
the estimator hands its numbers to the training.
"""

import numpy as np
import pytest
from cases import cases
from checks import caught
from neighbours import replaced
from picture import differences, picture

from dpfair_lib.learners import fermi, logistic
from dpfair_lib.privacy import noise_source

CASES = {case.name: case for case in cases()}
STEERED = [case for name, case in CASES.items() if name.startswith(("DP", "fermi")) and "as_run" not in name]


def handed(case, data):
    """Return what is handed to the training beside the rows and the seeds; noisy counts are answered with 30 and 10."""
    kept = []

    def train(X, y, steps, seeds, device, **options):  # noqa: ARG001
        kept.append(picture((steps, str(device), options)))
        return np.zeros((len(seeds), X.shape[1] + 1))

    def train_private(rows, frequencies, steps, seed):  # noqa: ARG001
        kept.append(picture((frequencies, steps)))
        return np.zeros((1, rows[0].shape[1])), np.zeros((1, len(frequencies), 2))

    with pytest.MonkeyPatch.context() as patch:
        for name in logistic.BACKENDS:
            patch.setitem(logistic.BACKENDS, name, train)
        patch.setattr(fermi, "train_private", train_private)
        patch.setattr(noise_source, "add_laplace_noise", lambda *_, **__: np.array([30.0, 10.0]))
        case.release(data, "study", 0)
    assert kept
    return kept


def check_steering(case):
    data = case.data()
    pairs = [pair for pair in case.pairs().values() if len(pair[0]["y"]) == len(pair[1]["y"])]
    pairs += [(data, replaced(data, y=1 - data["y"][0]))]
    if "sensitive_features" in data:
        pairs += [(data, replaced(data, row, sensitive_features=1)) for row in (0, 5)]
        pairs += [(data, data | {"sensitive_features": np.roll([0] + [1] * 11, 3)})]  # many neighbours on
    for first, second in pairs:
        for one, two in zip(handed(case, first), handed(case, second), strict=True):
            assert differences(one, two) == []


@pytest.mark.parametrize("case", STEERED, ids=str)
def test_what_steers_a_descent_is_the_same_for_neighbours(case):
    check_steering(case)


def test_an_exact_number_behind_the_noise_is_caught(monkeypatch):
    usual = fermi.replace

    def exact(self, data, counts, steps, *rest):
        steps = usual(steps, w_radius=float(counts.min()))
        return private(self, data, counts, steps, *rest)

    private = fermi.DPFermiClassifier._fit_private
    monkeypatch.setattr(fermi.DPFermiClassifier, "_fit_private", exact)
    monkeypatch.setattr(
        fermi,
        "replace",
        # of the steps; a statement has no radius
        lambda old, **new: usual(
            old, **new | ({"w_radius": old.w_radius} if hasattr(old, "w_radius") else {})
        ),
    )
    assert caught(check_steering, CASES["fermi, frequency_epsilon"])
    monkeypatch.undo()

    steps = logistic.DPLogisticRegression._check_steps
    fit = logistic.DPLogisticRegression.fit

    def scaled(self, X, y):
        longest = float(np.linalg.norm(np.clip(np.asarray(X, dtype=float), -1e3, 1e3), axis=1).max())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                type(self), "_check_steps", lambda own, delta: usual(steps(own, delta), max_grad_norm=longest)
            )
            return fit(self, X, y)

    monkeypatch.setattr(logistic.DPLogisticRegression, "fit", scaled)
    assert caught(check_steering, CASES["DPLogisticRegression, replace-one, float64"])
