"""Rows as arrays of other namespaces, and what of them goes to the host."""

import array_api_strict as strict
import numpy as np
import pytest
import torch

ROWS, FEATURES, GROUPS = 3000, 4, 3
AWAY, NARROW = strict.Device("device1"), strict.Device("no_float64")


def on_device(values, dtype=None, device=AWAY):
    return strict.asarray(np.asarray(values, dtype=dtype), device=device)


def as_tensor(values, dtype=None):
    found = torch.tensor(np.asarray(values, dtype=dtype))
    return found.requires_grad_() if found.is_floating_point() else found


def on_gpu(values, dtype=None):
    return as_tensor(values, dtype).cuda()


# a package that an environment goes without has no version; see conftest
GPU = hasattr(torch, "__version__") and torch.cuda.is_available()
MAKERS = pytest.mark.parametrize("make", [on_device, as_tensor, *[on_gpu] * GPU])


def draw(seed=0, n=ROWS):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, FEATURES)), np.ones(n)])
    weights = rng.normal(size=FEATURES + 1)
    return {
        "X": X, "scores": X @ weights, "table": X @ rng.normal(size=(FEATURES + 1, 3)),
        "y": rng.integers(0, 2, n), "three": rng.integers(0, 3, n), "pred": rng.integers(0, 2, n),
        "chance": rng.random(n), "group": rng.integers(0, GROUPS, n), "weight": rng.random(n) + 0.1,
        "two": rng.integers(0, 2, (n, 2)),
    }  # fmt: skip


def fields(certificate):
    return {name: value for name, value in vars(certificate).items() if name not in {"privacy_statement"}}


def equal(found, wanted, rel):
    for name, value in fields(wanted).items():
        if isinstance(value, np.ndarray | float):
            np.testing.assert_allclose(fields(found)[name], value, rtol=rel, atol=rel)
        else:
            assert fields(found)[name] == value


def numbers(values):
    return np.asarray(values.detach().cpu() if isinstance(values, torch.Tensor) else values._array)
