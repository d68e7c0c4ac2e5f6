"""A small data set for DPFermi, the definition of its penalty, and one record's gradients by torch."""

import numpy as np
import torch

from dpfair_lib.learners.fermi_training import FermiSteps

RNG = np.random.default_rng(0)
N, K = 60, 3
X = RNG.normal(size=(N, 3)) * [0.5, 1.0, 4.0]
WITH_ONES = np.column_stack([X, np.ones(N)])
Y = (X @ [1.0, -1.0, 0.3] + RNG.normal(size=N) > 0).astype(int)
S = RNG.integers(0, K, N)
P_S = np.bincount(S) / N


def steps(**changes):
    plain = {
        "strengths": np.array([1.0]), "count": 1, "batch_size": N, "learning_rate": 1.0, "w_learning_rate": 1.0,
        "clip": 1e9, "w_clip": 1e9, "w_radius": 1e30,
    }  # fmt: skip
    return FermiSteps(**{**plain, **changes})


def seed(entropy=0):
    return np.random.SeedSequence(entropy)


def models(count=2):
    rng = np.random.default_rng(1)
    return rng.normal(size=(count, 4)) / 3, rng.normal(size=(count, K, 2))


def by_definition(f, s, W, frequencies):
    """Return ψ of one record, with its matrices written out; torch, so that it can be differentiated."""
    roots = torch.diag(torch.as_tensor(frequencies) ** -0.5)
    one_hot = torch.nn.functional.one_hot(torch.as_tensor(s), len(frequencies)).double()
    return -torch.trace(W @ torch.diag(f) @ W.T) + 2 * torch.trace(W @ torch.outer(f, one_hot) @ roots) - 1


def gradients(weights, W, i, strength):
    """Return one record's gradients of cross-entropy + λψ by the weights, and of ψ by W, by torch."""
    theta = torch.tensor(weights, requires_grad=True)
    matrix = torch.tensor(W, requires_grad=True)
    odds = torch.as_tensor(WITH_ONES[i]) @ theta
    p = torch.sigmoid(odds)
    psi = by_definition(torch.stack([1 - p, p]), int(S[i]), matrix, P_S)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, torch.tensor(float(Y[i])))
    (of_theta,) = torch.autograd.grad(loss + strength * psi, theta, retain_graph=True)
    (of_w,) = torch.autograd.grad(psi, matrix)
    return of_theta.numpy(), of_w.numpy()
