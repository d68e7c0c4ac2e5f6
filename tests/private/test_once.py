"""Every random number that a fit draws is another one: no generator begins anew between steps, blocks, replicates."""

import contextlib
from unittest import mock

import numpy as np
import pytest
from cases import cases
from cases_learners import grouped
from cases_study import STEPS

import dpfair_lib as dpf
from dpfair_lib.learners.batches import poisson_batches

SPREAD = {"laplace": "scale", "normal": "scale", "gumbel": "scale", "standard_normal": "", "random": "", "uniform": "",
          "standard_exponential": "", "gamma": ""}  # fmt: skip
"""Method of a generator → the argument by which its draws are longer than those of the same bits at 1."""


class Kept(np.random.Generator):
    """NumPy's generator; it draws as ever, and all its draws are kept."""

    def __init__(self, seed, drawn):
        super().__init__(np.random.PCG64(seed))
        self.drawn = drawn


def _keeping(name, spread):
    usual = getattr(np.random.Generator, name)

    def draw(self, *arguments, **options):
        found = usual(self, *arguments, **options)
        self.drawn.append(np.ravel(found) / options.get(spread, 1.0))
        return found

    return draw


for _name, _spread in SPREAD.items():
    setattr(Kept, _name, _keeping(_name, _spread))


@contextlib.contextmanager
def kept():
    """Keep what NumPy's generators draw, and torch's noise."""
    import torch

    drawn, usual, normal = [], np.random.default_rng, torch.normal

    def default_rng(seed=None):
        return usual(seed) if isinstance(seed, np.random.Generator) else Kept(seed, drawn)

    def torch_normal(mean, std, *arguments, **options):
        found = normal(mean, std, *arguments, **options)
        drawn.append(found.numpy().ravel() / std)
        return found

    with (
        mock.patch.object(np.random, "default_rng", default_rng),
        mock.patch.object(torch, "normal", torch_normal),
    ):
        yield drawn


def repeated(release):
    """Return how many numbers were drawn, and how many of them more than once."""
    with kept() as drawn:
        release()
    numbers = np.concatenate([np.zeros(0), *drawn]).astype(float)
    numbers = np.round(numbers[numbers != 0], 12)  # a sum of no variables is 0
    return len(numbers), len(numbers) - len(np.unique(numbers))


STUDY = [case for case in cases() if not case.local]


@pytest.mark.parametrize("case", STUDY, ids=str)
def test_a_fit_draws_no_number_twice(case):
    drawn, twice = repeated(lambda: case.release(case.data(), "study", 0))
    assert drawn or "geometric" in case.name or case.name.startswith("certificate")
    assert twice == 0


def descended(**changes):
    data = grouped()
    return dpf.DPLogisticRegression(**STEPS | {"noise": "study", "random_state": 0} | changes).fit(
        data["X"], data["y"]
    )


def penalised(**changes):
    settings = {
        "penalty": (0.0, 1.0),
        "epsilon": 5.0,
        "delta": 1e-3,
        "batch_size": 4,
        "noise": "study",
        "random_state": 0,
    }
    return dpf.DPFermiClassifier(**settings | changes).fit(**grouped())


LONG = {
    "fused": lambda: descended(steps=150, replicates=2),
    "fused, shared batches": lambda: descended(steps=150, replicates=2, shared_batches=True),
    "fused, all rows": lambda: descended(steps=150, replicates=2, sample_rate=1.0),
    "opacus": lambda: descended(steps=3, replicates=2, backend="opacus"),
    "penalised": lambda: penalised(steps=150, replicates=2, frequency_epsilon=1.0),
    "batches": lambda: list(poisson_batches(30_000, 0.9, 4, np.random.SeedSequence(0))),
    "penalised, as run": lambda: penalised(steps=150, replicates=2, as_run=True),
}
"""Fits of several replicates, of more steps than any of them draws for at once."""


@pytest.mark.parametrize("name", LONG)
def test_no_number_is_drawn_twice_in_many_steps(name):
    drawn, twice = repeated(LONG[name])
    assert drawn >= 5 * 3 * 2
    assert twice == 0


def test_a_generator_that_begins_anew_is_found(monkeypatch):
    from dpfair_lib.learners import fused_backend

    usual = fused_backend._noise

    def anew(parts, width, count, scale, weights):
        for first in range(0, count, 64):
            yield from usual(parts, width, min(64, count - first), scale, weights)

    monkeypatch.setattr(fused_backend, "_noise", anew)
    for name in ("fused", "fused, shared batches", "fused, all rows"):
        assert repeated(LONG[name])[1] >= 64
