"""DP-SGD with Opacus."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib._progress import Progress
from dpfair_lib.learners.losses import HALF_WIDTH
from dpfair_lib.learners.settings import Precision, Sources, Steps, generator, sources


def train(
    X: np.ndarray, y: np.ndarray, steps: Steps, seeds: list[np.random.SeedSequence], device: Any, *,
    dtype: Precision = "float64", shared_batches: bool = False,
) -> np.ndarray:  # fmt: skip
    """Train linear classifiers by DP-SGD, one after the other.

    Parameters
    ----------
    X, y, steps, seeds, device, dtype, shared_batches
        As in `dpfair_lib.learners.settings.Backend`, which says what is computed.

    Returns
    -------
    ndarray of shape (replicates, d + 1)
        Weights, the intercept last.

    References
    ----------
    Yousefpour et al. (2021).
    """
    with extra("learners"):
        import torch

    kind = getattr(torch, dtype)
    features = torch.tensor(X, dtype=kind, device=device)
    labels = torch.tensor(y, dtype=kind, device=device)
    parts = sources(seeds, shared_batches=shared_batches)
    progress = Progress("steps of training", steps.count * len(parts))
    return np.stack([_train_one(features, labels, steps, part, progress) for part in parts])


def _loss(scores: Any, labels: Any, steps: Steps) -> Any:
    """Return the sum of the losses, as torch computes it."""
    with extra("learners"):
        import torch

    if steps.loss == "logistic":
        return torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction="sum")
    # Huber's function of what the margin falls short of 1 + h, which grows like the hinge from there
    short = torch.relu(1 + HALF_WIDTH - (2 * labels - 1) * scores)
    width = 2 * HALF_WIDTH
    return (
        torch.nn.functional.huber_loss(short, torch.zeros_like(short), reduction="sum", delta=width) / width
    )


def _train_one(features: Any, labels: Any, steps: Steps, source: Sources, progress: Progress) -> np.ndarray:
    with extra("learners"):
        import torch
        from opacus import GradSampleModule
        from opacus.optimizers import DPOptimizer

    device, (n, d) = features.device, features.shape
    linear = torch.nn.Linear(d, 1, bias=steps.fit_intercept, dtype=features.dtype, device=device)
    for parameter in linear.parameters():
        torch.nn.init.zeros_(parameter)
    model = GradSampleModule(linear, loss_reduction="sum")
    batches = np.random.default_rng(source.batches)
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=steps.learning_rate),
        noise_multiplier=steps.noise_multiplier,
        max_grad_norm=steps.max_grad_norm,
        expected_batch_size=steps.divisor(n),
        generator=generator(source.noise, device),
    )
    for _ in range(steps.count):
        rows = torch.as_tensor(np.flatnonzero(batches.random(n) < steps.sample_rate), device=device)
        # Opacus' hooks run only if something before the layer asks for a gradient
        batch = features[rows].requires_grad_()
        optimizer.zero_grad()
        _loss(model(batch)[:, 0], labels[rows], steps).backward()
        optimizer.step()
        progress.add()
    parts = [
        linear.weight.detach()[0],
        linear.bias.detach() if steps.fit_intercept else linear.weight.new_zeros(1),
    ]
    return np.asarray(torch.cat(parts).cpu().numpy(), dtype=np.float64)
