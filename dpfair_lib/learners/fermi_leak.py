"""What DP-FERMI as published reveals about one record: the distribution of one released weight, and exact privacy.

All records but one have 0 in some feature. That one has label 1 and +M there, in the neighbouring data −M, and
M → ∞. Where the feature's weight θ is negative, +M is predicted wrongly with certainty, its gradient outweighs
all others, and the mean is clipped to −C in this direction; where θ is positive the prediction is right with
certainty and the gradient vanishes. Both hold for every λ, as p (1 − p) M vanishes. So θ moves by the noise in
every step, and in the one step of each epoch whose batch has the record also from θ to

    h(θ) = θ + J 1[θ < 0],   J = step length × C.

With −M everything is mirrored: the two laws are P(S) = Pr(θ ∈ S) and Q(S) = Pr(−θ ∈ S). They are the limits of
those for finite M, since θ hardly ever is so near to 0 that a large M leaves the prediction open. The mean of a
batch is clipped at C only if M exceeds C times its size: rows must have no bound, or one far beyond that.
"""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr

from dpfair_lib._arguments import inside_unit, nonnegative, one_of, positive, positive_integer
from dpfair_lib.learners.fermi_training import printed_noise
from dpfair_lib.privacy import dp_sgd_epsilon, gaussian_delta

REACH = 8.0  # standard deviations of all noise together that the grid extends beyond where θ starts
LARGEST = 20_000_000  # numbers in one transform of all batches
ERRORS = 1e-11  # more than the law loses at the ends of the grid and by rounding in floating point


def released_weight_delta(
    epsilon: float, *, n: int, smallest_group: int, features: int, epochs: int, stated: float | None = None,
    batch_size: int = 1024, delta: float = 1e-5, learning_rate: float = 0.005, clip: float = 5.0,
    radius: float = 5.0,
) -> float:  # fmt: skip
    """Return a certified lower bound of δ at some ε for the final weights of DP-FERMI as run.

    Nothing but the last weights is seen, and of them only the one of the record's feature, for two data sets of n
    rows that differ in one. It is the largest Pr(θ ≥ t) − e^ε Pr(θ < −t) over the points t of a grid, with both
    probabilities on the safe side: see `weight_law` with ``kind="below"``. No promise of a smaller δ can be true.

    Parameters
    ----------
    epsilon : float
        ε ≥ 0 at which δ is asked for.
    n, smallest_group : int
        Training rows, and rows of the smallest group.
    features : int
        Features without the intercept; weights start uniform on ±1/√features.
    epochs, batch_size : int
        Passes over the shuffled rows, and rows of a batch.
    stated : float, optional
        ε put into the formulas of the noise; by default that at which δ is asked for.
    delta : float, default=1e-5
        δ put into them.
    learning_rate, clip, radius : float
        Step length of the weights, L and C as in `printed_noise`.

    Returns
    -------
    float
        Lower bound of δ, in [0, 1).

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    epsilon = nonnegative(epsilon, "epsilon")
    deviation, _ = _deviations(
        epsilon if stated is None else stated, n, smallest_group, epochs, batch_size, delta, clip, radius
    )
    points, chances = weight_law(
        deviation, n=n, features=features, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate,
        clip=clip, kind="below",
    )  # fmt: skip
    return law_delta(epsilon, points, chances)


def law_delta(epsilon: float, points: np.ndarray, chances: np.ndarray) -> float:
    """Return the largest Pr(θ ≥ t) − e^ε Pr(θ < −t) over the points t ≥ 0, less what rounding can have added.

    Parameters
    ----------
    epsilon : float
        ε ≥ 0.
    points, chances : ndarray
        A law from `weight_law`.

    Returns
    -------
    float
        δ at ε of the best test by one threshold: a lower bound of δ if the law is of kind "below".
    """
    odds, zero = math.exp(min(epsilon, 700.0)), len(points) // 2
    above = np.cumsum(chances[::-1])[::-1][zero:]
    under = np.concatenate([[0.0], np.cumsum(chances)])[zero::-1][: len(above)]
    return float(max((above - odds * under).max() - (1 + odds) * ERRORS, 0.0))


@functools.lru_cache(maxsize=32)
def weight_law(
    deviation: float, *, n: int, features: int, epochs: int, batch_size: int = 1024,
    learning_rate: float = 0.005, clip: float = 5.0, kind: Literal["law", "below"] = "law", cells: int = 50,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the law of the weight θ after training with the record +M; that with −M is its mirror image.

    An epoch cuts a random order of the rows into batches, the last of which may be smaller, so the record is in
    each with probability (rows of the batch) / n. Up to its batch, and from its batch on, θ is moved by Gaussian
    noise alone, which is added at once.

    Of kind "law", all is rounded to the middle of cells, which errs by about the square of their width. Of kind
    "below" the numbers are exact, but of a process on the grid that never exceeds θ, whatever the noise: start and
    noise are rounded down, and in place of h, which falls from J to 0 at θ = 0, is put a nondecreasing function
    that is nowhere larger, max(θ, min(θ + J, 0)), without jumps for θ < −b. If the process is at most θ, it still
    is so after such a step, and after the same noise. So for each t it is ≥ t more rarely than θ, and < −t more
    often. In both kinds b is so large that θ < −b has a probability of about e^−24.

    Parameters
    ----------
    deviation : float
        Standard deviation of the noise on the mean gradient.
    n, features, epochs, batch_size, learning_rate, clip
        As in `released_weight_delta`.
    kind : {"law", "below"}
        The law, or that of the process from below.
    cells : int, default=50
        How many cells make up the jump J.

    Returns
    -------
    points : ndarray
        Lower ends of the cells; of kind "below" the values of the process. The one in the middle is 0.
    chances : ndarray
        Their probabilities. Both are read-only, since they are kept.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    n, epochs, features = (
        positive_integer(*of) for of in ((n, "n"), (epochs, "epochs"), (features, "features"))
    )
    cells, batch_size = positive_integer(cells, "cells"), positive_integer(batch_size, "batch_size")
    rate, deviation = positive(learning_rate, "learning_rate"), positive(deviation, "deviation")
    below = one_of(kind, "kind", ("law", "below")) == "below"
    sizes = np.diff(np.append(np.arange(0, n, batch_size), n))
    batches, start, jump, noise = len(sizes), features**-0.5, rate * positive(clip, "clip"), rate * deviation
    width, of_epoch = jump / cells, noise * math.sqrt(batches)

    # Below 0 the jumps are a drift of J per epoch against a variance of of_epoch², so that depths have the
    # exponential tail of rate 2J / of_epoch². Only a window around [−b, J) feels the jumps.
    depth = min(start + REACH * of_epoch * math.sqrt(epochs), start + 12 * of_epoch**2 / jump)
    lowest, margin = math.ceil(depth / width), math.ceil(REACH * of_epoch / width) + cells
    half = max(math.ceil((start + REACH * of_epoch * math.sqrt(epochs)) / width) + cells, lowest + margin)
    half = 256 * -(-half // 256)  # a length that has a fast transform
    short = next_fast_len(lowest + 2 * margin, real=True)
    if batches * max(short, half) > LARGEST:
        raise ValueError(
            f"cells: found {cells}, with which {batches} batches need {batches * max(short, half):.2g} numbers, "
            f"expected fewer cells, or a jump (learning_rate × clip = {jump:.3g}) that is larger against the noise"
        )
    index = np.arange(-half, half)
    window = slice(half - lowest - margin, half - lowest - margin + short)
    first, last = margin, margin + lowest  # of the cells in [−b, 0), in the window

    def kernels(length: int) -> np.ndarray:
        """Return the transforms of 0 to ``batches`` noises, rounded down or to the nearest point."""
        ends = (np.arange(length) - length // 2 - (0 if below else 0.5)) * width
        scales = noise * np.sqrt(np.arange(1, batches + 1))[:, None]
        shares = ndtr((ends + width) / scales) - ndtr(ends / scales)
        return np.vstack([np.ones(length // 2 + 1), rfft(np.roll(shares, -(length // 2), axis=1))])

    from_hit = np.arange(batches, 0, -1)
    weights = (sizes / n)[:, None]
    long = kernels(2 * half)
    whole = (weights * long[from_hit] * long[batches - from_hit]).sum(axis=0)
    near = kernels(short)
    to_hit, from_hit = near[batches - from_hit], weights * near[from_hit]

    ends = np.clip(np.append(index, half) * width, -start, start)
    chances = np.diff(ends) / (2 * start)
    for _ in range(epochs):
        at_hit = irfft(rfft(chances[window]) * to_hit, short)[:, first:last]
        moved = np.zeros((batches, short))
        if below:
            kept = max(lowest - cells, 0)
            moved[:, first + cells : first + cells + kept] = at_hit[:, :kept]
            moved[:, last] += at_hit[:, kept:].sum(axis=1)
        else:
            moved[:, first + cells : last + cells] = at_hit
        moved[:, first:last] -= at_hit
        change = irfft((rfft(moved) * from_hit).sum(axis=0), short)
        chances = irfft(rfft(chances) * whole, 2 * half)
        chances[window] += change
        chances = np.maximum(chances, 0)
    points = index * width
    points.flags.writeable = chances.flags.writeable = False
    return points, chances


def released_path_delta(
    epsilon: float, *, n: int, smallest_group: int, epochs: int, stated: float | None = None,
    batch_size: int = 1024, delta: float = 1e-5, clip: float = 5.0, radius: float = 5.0,
) -> float:  # fmt: skip
    """Return δ at some ε for the same two records where all weights on the way, and the batches, are seen.

    Once per epoch the record is drawn. Given the past, the mean gradient by its feature's weight is then −C for
    +M and 0 for −M where θ < 0, and 0 for +M and C for −M where θ > 0: always C apart, under noise of standard
    deviation σ, and equal in all other steps. So each epoch has the privacy loss of Gaussian noise of μ = C/σ,
    whatever the past was, and all together that of μ = C √epochs / σ, exactly.

    Parameters
    ----------
    epsilon, n, smallest_group, epochs, stated, batch_size, delta, clip, radius
        As in `released_weight_delta`.

    Returns
    -------
    float
        δ, exact for these two records; a lower bound for what such a release guarantees.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    epsilon = nonnegative(epsilon, "epsilon")
    deviation, _ = _deviations(
        epsilon if stated is None else stated, n, smallest_group, epochs, batch_size, delta, clip, radius
    )
    return float(gaussian_delta(epsilon, deviation, clip * math.sqrt(epochs)))


def bounded_rows_epsilon(
    stated: float, *, row_norm: float, penalty: float, n: int, smallest_group: int, epochs: int,
    batch_size: int = 1024, delta: float = 1e-5, clip: float = 5.0, radius: float = 5.0,
    relation: Literal["add-remove", "replace-one"] = "add-remove",
) -> float:  # fmt: skip
    """Return an ε that the noise as run would certify if rows were bounded and batches drawn at random.

    Each record enters a batch with probability batch_size / n, sums are divided by batch_size, and what moves by
    one record is bounded as in `bounded_rows_multiplier`.

    Parameters
    ----------
    stated, row_norm, penalty, n, smallest_group, epochs, batch_size, delta, clip, radius
        As in `bounded_rows_multiplier`.
    relation : {"add-remove", "replace-one"}
        Neighbouring relation.

    Returns
    -------
    float
        ε at δ, by privacy loss distributions; for all iterates, the weights' and those of W.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    multiplier = bounded_rows_multiplier(
        stated, row_norm=row_norm, penalty=penalty, n=n, smallest_group=smallest_group, epochs=epochs,
        batch_size=batch_size, delta=delta, clip=clip, radius=radius,
    )  # fmt: skip
    steps = epochs * -(-n // batch_size)
    return dp_sgd_epsilon(multiplier, batch_size / n, steps, delta, "pld", relation=relation)


def bounded_rows_multiplier(
    stated: float, *, row_norm: float, penalty: float, n: int, smallest_group: int, epochs: int,
    batch_size: int = 1024, delta: float = 1e-5, clip: float = 5.0, radius: float = 5.0,
) -> float:  # fmt: skip
    """Return the noise as run over what one record of bounded norm can move, for both means together.

    Let every row, with its 1 for the intercept, have at most a norm R that is known beforehand; let C bound the
    entry w of W, and P be the share of the penalised group. A record's derivative by the log-odds is
    p − y + λ p (1 − p) g with g = −w² or 2w/√P − w², of size at most |p − y| + λ p (1 − p) (C² + 2C/√P); that of
    its ψ by w is at most 2 p (C + 1/√P). Clipping a mean to a ball takes two means no further apart. So a record
    moves the two means by at most R times the first and by the second, over batch_size. With these moves over the
    deviations of the noise as s and v, both means are one Gaussian mechanism of multiplier (s² + v²)^(−1/2), at
    the worst p, which is bounded over a thousand intervals.

    Parameters
    ----------
    stated : float
        ε put into the formulas of the noise.
    row_norm : float
        R.
    penalty : float
        λ ≥ 0; at 0 nothing depends on W.
    n, smallest_group, epochs, batch_size, delta, clip, radius
        As in `released_weight_delta`; the smallest group is taken to be the penalised one, the worst case.

    Returns
    -------
    float
        Lower bound of the noise multiplier, for a record added or removed.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    row_norm, penalty = positive(row_norm, "row_norm"), nonnegative(penalty, "penalty")
    of_theta, of_w = _deviations(stated, n, smallest_group, epochs, batch_size, delta, clip, radius)
    if batch_size > n:
        raise ValueError(f"batch_size: found {batch_size}, expected at most the {n} rows")
    ends = np.linspace(0, 1, 1001)  # 1/2 among them, so that p (1 − p) is largest at an end of each interval
    low, high = ends[:-1], ends[1:]
    root = math.sqrt(smallest_group / n)
    derivative = np.maximum(high, 1 - low) + penalty * (radius**2 + 2 * radius / root) * np.maximum(
        low * (1 - low), high * (1 - high)
    )
    w_gradient = 2 * high * (radius + 1 / root) * (penalty > 0)
    moves = np.hypot(row_norm * derivative / of_theta, w_gradient / of_w)
    return batch_size / float(moves.max())


def _deviations(
    stated: float, n: int, smallest_group: int, epochs: int, batch_size: int, delta: float, clip: float,
    radius: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the deviations of the noise on both means, all arguments checked."""
    stated, delta = positive(stated, "stated"), inside_unit(delta, "delta")
    n, epochs = positive_integer(n, "n"), positive_integer(epochs, "epochs")
    smallest_group = positive_integer(smallest_group, "smallest_group")
    if not 2 <= smallest_group <= n / 2:
        raise ValueError(f"smallest_group: found {smallest_group}, expected 2 to half of the {n} rows")
    steps = epochs * -(-n // positive_integer(batch_size, "batch_size"))
    return printed_noise(
        stated, delta, n, steps, (smallest_group - 1) / n, lipschitz=positive(clip, "clip"),
        radius=positive(radius, "radius"),
    )  # fmt: skip
