"""DP-SGD steps of a network with one hidden layer, on a grid: clipped gradients without writing them out.

*The gradient.* Let z = (x, 1), h = tanh(Vz), t = w·h + b, and s = 1 for label 0, −1 for label 1. The logistic loss is
log(1 + e^(st)), with slope g = s/(1 + e^(−st)) in t. Its gradients by V, w and b are g u zᵀ, g h and g, where
u_j = w_j (1 − h_j²). So the norm of all of it is |g| √(‖u‖²‖z‖² + ‖h‖² + 1), which needs no more than u, z and h.

*What a step costs.* What a linear step costs, and not more. A record adds one vector of norm at most C to a sum, and
the sum gets noise of deviation σC in each entry. That vector may be any function of the record and of what was released
before. So the account of `dpfair_lib.privacy.grid_noise` holds as it stands: of the network it sees the number of
entries p alone, where noise is discrete, as Tp/(8·2⁸⁰). The network pays in accuracy: noise reaches all p weights.

*What this rests on.* One norm clips the whole vector. If each of two layers were clipped to C by itself, a record would
move the sum by √2 C. Each record is clipped, not their mean. The weights start from a public number, not from rows.
What a record adds does not depend on the other rows of its batch, not in the last digit (see
`dpfair_lib.learners.exact_steps`). And there is a norm to clip by: entries of rows are at most 10¹⁰⁰ in size, and
training ends where a weight exceeds 10⁴⁰. So no product here overflows, and nothing is NaN: h is in [−1, 1] and the
square of the norm is from 1 to H (d + 1) 10²⁸¹.
"""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from dpfair_lib._progress import Progress
from dpfair_lib.learners.counted_steps import noise_and_batches
from dpfair_lib.learners.exact_steps import MARGIN, Rows, column_sums, exact_sum, grid_step, prepared
from dpfair_lib.learners.settings import Steps

HEAVIEST = 1e40
"""The largest weight."""
START = math.sqrt(3)
"""Weights of the hidden units start uniform in ±√3: for a row of norm 1 a unit's input then has variance 1."""


class Layers(NamedTuple):
    """The weights of a network, as views of one vector.

    Attributes
    ----------
    inner : ndarray of shape (hidden, d + 1)
        V: what each hidden unit multiplies a row by, the constant last.
    outer : ndarray of shape (hidden,)
        w: what the score multiplies each unit by.
    bias : float
        b.
    """

    inner: np.ndarray
    outer: np.ndarray
    bias: float


class Clipped(NamedTuple):
    """Clipped gradients of b records in parts: by V it is ``sizes · back zᵀ``, by w ``sizes · units``, by b ``sizes``.

    Attributes
    ----------
    units, back : ndarray of shape (hidden, b)
        h and u.
    sizes : ndarray of shape (b,)
        g, or what clipping leaves of it.
    """

    units: np.ndarray
    back: np.ndarray
    sizes: np.ndarray


def layers_of(weights: np.ndarray, hidden: int) -> Layers:
    """Return the layers of a network whose weights stand in one vector: V row by row, then w, then b."""
    return Layers(weights[: -hidden - 1].reshape(hidden, -1), weights[-hidden - 1 : -1], float(weights[-1]))


def starting_weights(d: int, hidden: int, start: int) -> np.ndarray:
    """Return the weights that training starts from: V from a public number, and 0 for w and b.

    They are made from a hash of that number, so that no generator of random numbers has a part beside secure noise.

    Parameters
    ----------
    d, hidden : int
        Numbers of features and of hidden units.
    start : int
        The public number.
    """
    many = hidden * (d + 1)
    drawn = np.frombuffer(hashlib.shake_256(str(start).encode()).digest(8 * many), dtype="<u8")
    return np.concatenate([START * (2 * (drawn / 2.0**64) - 1), np.zeros(hidden + 1)])


def clipped(
    inputs: np.ndarray, signs: np.ndarray, limits: np.ndarray, layers: Layers, clip: float
) -> Clipped:
    """Return the clipped gradients of some records. Each record's numbers depend on its own arguments alone.

    Parameters
    ----------
    inputs : ndarray of shape (hidden, b)
        Vz of each record.
    signs : ndarray of shape (b,)
        1 for label 0, −1 for label 1.
    limits : ndarray of shape (b,)
        At most one over the norm of each z.
    layers : Layers
        The network.
    clip : float
        C.
    """
    units = 2 * expit(2 * inputs) - 1  # tanh; both are computed one number at a time
    scores = column_sums(units * layers.outer[:, None]) + layers.bias
    back = layers.outer[:, None] * (4 * expit(2 * inputs) * expit(-2 * inputs))  # 1 − h², to full precision
    norms = np.sqrt(column_sums(np.square(back)) / np.square(limits) + column_sums(np.square(units)) + 1)
    return Clipped(units, back, signs * np.minimum(expit(signs * scores), clip / (norms * MARGIN)))


def integer_gradients(
    rows: Rows, signs: np.ndarray, chosen: np.ndarray, layers: Layers, clip: float, step: float
) -> np.ndarray:
    """Return the clipped gradients of some records on the grid, each of norm at most C/h.

    Parameters
    ----------
    rows : Rows
        z of all records, and limits for them of at most one over its norm.
    signs : ndarray of shape (n,)
        As for `clipped`.
    chosen : ndarray of int
        Which records; b.
    layers : Layers
        The network.
    clip : float
        C.
    step : float
        h, the step of the grid.

    Returns
    -------
    ndarray of shape (p, b), 64-bit integers
        Gradients divided by the step and rounded toward zero, in the order of the weights.
    """
    entries = np.ascontiguousarray(rows.entries[chosen].T)
    inputs = np.array([column_sums(entries * unit[:, None]) for unit in layers.inner])
    found = clipped(inputs, signs[chosen], rows.limits[chosen], layers, clip)
    sizes = found.sizes / step
    inner = ((found.back * sizes)[:, None] * entries).reshape(-1, len(chosen))
    return np.concatenate([inner, found.units * sizes, sizes[None]]).astype(np.int64)


def float_sum(
    rows: Rows, signs: np.ndarray, chosen: np.ndarray, layers: Layers, clip: float, step: float
) -> np.ndarray:
    """Return the sum of the same gradients by products of matrices, not rounded: for study noise."""
    entries = rows.entries[chosen]
    found = clipped(layers.inner @ entries.T, signs[chosen], rows.limits[chosen], layers, clip)
    sizes = found.sizes / step
    inner = (found.back * sizes) @ entries
    return np.concatenate([inner.ravel(), found.units @ sizes, [sizes.sum()]])


def train_network(
    X: np.ndarray, y: np.ndarray, steps: Steps, hidden: int, start: int,
    study: np.random.Generator | None = None,
) -> np.ndarray:  # fmt: skip
    """Train one network by DP-SGD.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, finite.
    y : ndarray of shape (n,)
        Labels 0 and 1.
    steps : Steps
        The numbers; ``max_grad_norm`` from 10⁻¹⁰⁰ to 10¹⁰⁰.
    hidden : int
        Number of hidden units.
    start : int
        Public number of the starting weights.
    study : Generator, optional
        Where study noise and batches come from. None draws both securely.

    Returns
    -------
    ndarray of shape (hidden (d + 2) + 1,)
        Weights, for `layers_of`. The steps end where one exceeds 10⁴⁰.

    Raises
    ------
    ValueError
        If the clipping norm is out of its range.
    """
    n, d = X.shape
    rows = prepared(np.column_stack([X, np.ones(n)]), 1.0)  # limits: one over each row's norm
    signs, clip = 1.0 - 2 * y, steps.max_grad_norm
    step = grid_step(steps.noise_multiplier, clip)
    add, batches = noise_and_batches(n, steps, study)
    weights, progress = starting_weights(d, hidden, start), Progress("steps of training", steps.count)

    def integers(chosen: np.ndarray) -> np.ndarray:
        return integer_gradients(rows, signs, chosen, layers_of(weights, hidden), clip, step)

    for chosen in batches:
        if study is None:
            total = exact_sum(chosen, integers, len(weights))
        else:
            total = float_sum(rows, signs, chosen, layers_of(weights, hidden), clip, step)
        weights = weights - steps.learning_rate / steps.divisor(n) * step * add(total)
        if not (abs(weights) <= HEAVIEST).all():  # known from the noisy sums alone
            break
        progress.add()
    return weights
