"""DP-SGD for linear classifiers by matrix products, without storing each record's gradient, for many replicates.

The gradient of a record is its row times a number. So its norm is the size of that number times the norm of the row,
which is computed once. With rows multiplied by 1 − 2y, the number is σ(row · weights) under the logistic loss.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib._progress import Progress
from dpfair_lib.learners.batches import poisson_batches
from dpfair_lib.learners.losses import HALF_WIDTH
from dpfair_lib.learners.settings import Precision, Sources, Steps, generator, sources

OPACUS_SLACK = 1e-6  # Opacus adds it to a norm before it divides; so that both clip alike
TOGETHER = 512  # replicates trained together where batches are masks, or batches are shared
ENTRIES = 1 << 25  # of a mask held at once
NOISE_STEPS = 64  # steps whose noise is drawn at once
# From here on batches are gathered on a GPU. A step takes a mask over all rows, for TOGETHER models at once, or gathers
# the rows of one model's batch. On an H100, with 100 features, both took the same time at 4 million rows if
# all TOGETHER models are trained (`make bench-gpu`). A few models pay for the masks of all, so the limit is lower.
MASKED_ROWS = 1 << 21


THREADS = threading.Lock()


class Records(NamedTuple):
    """Training data as the steps need them.

    Parameters
    ----------
    rows : Tensor of shape (n, width)
        (x, 1), or x without intercept, times 1 − 2y.
    reach : Tensor of shape (n,)
        Norms of the rows over the clipping norm.
    slack : Tensor of shape ()
        Opacus's 10⁻⁶ over the clipping norm.
    half_width : float
        That of the huberised hinge, or 0 for the logistic loss.
    """

    rows: Any
    reach: Any
    slack: Any
    half_width: float


def records(X: np.ndarray, y: np.ndarray, steps: Steps, device: Any, dtype: Precision = "float64") -> Records:
    """Return the training data as the steps need them.

    Parameters
    ----------
    X, y, steps, device, dtype
        As in `train`.

    Returns
    -------
    Records
        Norms are those of the rows as rounded to the precision.
    """
    with extra("learners"):
        import torch

    kind = getattr(torch, dtype)
    n, d = X.shape
    rows = torch.ones((n, d + steps.fit_intercept), dtype=kind, device=device)
    rows[:, :d] = torch.tensor(X, dtype=kind, device=device)
    rows.mul_(torch.tensor(1 - 2 * y, dtype=kind, device=device)[:, None])
    reach = torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64) / steps.max_grad_norm
    slack = torch.tensor(OPACUS_SLACK / steps.max_grad_norm, dtype=kind, device=device)
    return Records(rows, reach.to(kind), slack, HALF_WIDTH if steps.loss == "huberised-hinge" else 0.0)


def clipped_gradient_sums(batch: Records, weights: Any, mask: Any = None) -> Any:
    """Return the sum of the clipped gradients of some records, for every model.

    Parameters
    ----------
    batch : Records
        The records; b of them.
    weights : Tensor of shape (replicates, width)
        The models.
    mask : Tensor of shape (replicates, b), optional
        Which records count for which model; all by default.

    Returns
    -------
    Tensor of shape (replicates, width)
        Each gradient g enters as C g / max(C, ‖g‖ + 10⁻⁶).
    """
    with extra("learners"):
        import torch

    from dpfair_lib.learners.gathered_steps import clipped_factors

    factor = clipped_factors(*batch, weights)
    if mask is not None:
        factor.mul_(mask)
    return torch.mm(factor, batch.rows)


def train(
    X: np.ndarray, y: np.ndarray, steps: Steps, seeds: list[np.random.SeedSequence], device: Any, *,
    dtype: Precision = "float64", shared_batches: bool = False,
) -> np.ndarray:  # fmt: skip
    """Train linear classifiers by DP-SGD.

    On the CPU the rows of every batch are gathered, one replicate per thread. On a GPU a block of replicates
    goes together: batches are masks over all rows, and two matrix products do for the block. Batches
    that are the same for all are gathered once.

    Replicate r has the same batches and the same noise however many there are; on the CPU with batches of its own
    it is the same to the last bit, elsewhere up to rounding. Batches and noise are drawn in 64 bits and are the
    same for both precisions.

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
    Goodfellow (2015) for norms of gradients of linear layers.
    """
    data = records(X, y, steps, device, dtype)
    parts = sources(seeds, shared_batches=shared_batches)
    progress = Progress("steps of training", steps.count * len(parts))
    common = shared_batches or steps.sample_rate == 1
    masked = not common and device.type != "cpu" and len(X) <= MASKED_ROWS
    if common or masked:
        blocks = [parts[at : at + TOGETHER] for at in range(0, len(parts), TOGETHER)]
        done = [_descend(data, steps, block, progress, masked=masked) for block in blocks]
    else:
        done = _one_by_one(data, steps, parts, progress)
    weights = np.concatenate([part.cpu().numpy() for part in done]).astype(np.float64)
    return weights if steps.fit_intercept else np.column_stack([weights, np.zeros(len(weights))])


def _one_by_one(data: Records, steps: Steps, parts: list[Sources], progress: Progress) -> list[Any]:
    """Train each replicate alone, side by side on as many threads as torch may use."""
    with extra("learners"):
        import torch

    from dpfair_lib.learners.gathered_steps import compiled_steps

    compiled_steps()  # before the threads: one of them compiles, and silences warnings for all while it does
    with THREADS:  # the number is the whole process's: two fits at a time would restore each other's
        threads = torch.get_num_threads()
        # one batch is too small a piece of work to be divided: threads would wait for each other most of the time
        torch.set_num_threads(1)
        try:
            with ThreadPoolExecutor(threads if data.rows.device.type == "cpu" else 1) as pool:
                return list(
                    pool.map(lambda part: _descend(data, steps, [part], progress, masked=False), parts)
                )
        finally:
            torch.set_num_threads(threads)


def _descend(
    data: Records, steps: Steps, parts: list[Sources], progress: Progress, *, masked: bool
) -> Any:  # fmt: skip
    """Train a block of replicates on one row of batches, or on masks of their own."""
    with extra("learners"):
        import torch

    n, width = data.rows.shape
    length = steps.learning_rate / steps.divisor(n)  # of a step
    weights = torch.zeros((len(parts), width), dtype=data.rows.dtype, device=data.rows.device)
    noises = _noise(parts, width, steps.count, length * steps.noise_multiplier * steps.max_grad_norm, weights)
    if not masked and steps.sample_rate < 1:
        return _gathered_descent(data, steps, parts, weights, noises, length, progress)
    sums = _masked_sums if masked else _whole_sums
    for gradient, noise in zip(
        sums(data, steps, parts, weights), itertools.chain.from_iterable(noises), strict=True
    ):
        weights.sub_(gradient, alpha=length).add_(noise)
        progress.add(len(parts))
    return weights


def _gathered_descent(
    data: Records, steps: Steps, parts: list[Sources], weights: Any, noises: Iterator[Any], length: float,
    progress: Progress,
) -> Any:  # fmt: skip
    """Take the steps, some at a time, on batches whose rows are gathered."""
    with extra("learners"):
        import torch

    from dpfair_lib.learners.gathered_steps import compiled_steps

    take = compiled_steps()
    batches = poisson_batches(len(data.rows), steps.sample_rate, steps.count, parts[0].batches)
    for noise in noises:
        some = list(itertools.islice(batches, len(noise)))
        edges = [0, *itertools.accumulate(map(len, some))]
        drawn = torch.from_numpy(np.concatenate(some)).to(weights.device)
        weights = take(*data, drawn, edges, noise, weights, length)
        progress.add(len(parts) * len(noise))
    return weights


def _whole_sums(data: Records, steps: Steps, _: list[Sources], weights: Any) -> Iterator[Any]:
    """Yield sums over all rows."""
    yield from (clipped_gradient_sums(data, weights) for _ in range(steps.count))


def _masked_sums(data: Records, steps: Steps, parts: list[Sources], weights: Any) -> Iterator[Any]:
    """Yield sums over all rows, slice by slice; masks are drawn for a whole block, however many it trains."""
    with extra("learners"):
        import torch

    source = generator(parts[0].batches, weights.device)
    height = ENTRIES // TOGETHER
    pieces = [slice(start, start + height) for start in range(0, len(data.rows), height)]
    for _ in range(steps.count):
        total = torch.zeros_like(weights)
        for piece in pieces:
            part = data._replace(rows=data.rows[piece], reach=data.reach[piece])
            # 32-bit uniforms are multiples of 2⁻²⁴, far too coarse for small rates
            uniform = torch.rand(
                (TOGETHER, len(part.reach)), dtype=torch.float64, device=weights.device, generator=source
            )
            total += clipped_gradient_sums(part, weights, uniform[: len(weights)] < steps.sample_rate)
        yield total


def _noise(parts: list[Sources], width: int, count: int, scale: float, weights: Any) -> Iterator[Any]:
    """Yield the noise of a block of replicates, for some steps at a time."""
    with extra("learners"):
        import torch

    pieces = [min(NOISE_STEPS, count - first) for first in range(0, count, NOISE_STEPS)]
    if weights.device.type == "cpu":
        draws = [np.random.default_rng(part.noise) for part in parts]
        for piece in pieces:
            block = np.stack([draw.standard_normal((piece, width)) for draw in draws], axis=1)
            yield torch.from_numpy(block * scale).to(weights.dtype)
        return
    source = generator(parts[0].noise, weights.device)
    options = {"dtype": torch.float64, "device": weights.device, "generator": source}
    for piece in pieces:
        drawn = [torch.randn((TOGETHER, width), **options)[: len(parts)] for _ in range(piece)]
        yield torch.stack(drawn).mul_(scale).to(weights.dtype)
