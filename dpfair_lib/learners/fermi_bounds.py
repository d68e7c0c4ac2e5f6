"""DP-FERMI as run: the ε of its weights at a given δ, from below and from above, for any rows.

Batches are the pieces of a random order, new in each epoch, so a record is in one batch of an epoch. Only the means
of that batch depend on it. Given the past, they are two Gaussian releases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom

from dpfair_lib._arguments import inside_unit, one_of, positive, positive_integer
from dpfair_lib.learners.fermi_leak import released_path_delta, released_weight_delta
from dpfair_lib.learners.fermi_training import printed_noise
from dpfair_lib.privacy import gaussian_delta

MOST = 1e4  # ε beyond which none is looked for


def least_epsilon(
    stated: float, *, seen: Literal["last weights", "all weights"], n: int, smallest_group: int, features: int,
    epochs: int, delta: float = 1e-5,
) -> float:  # fmt: skip
    """Return a lower bound of ε at δ, shown by two data sets that differ in one record.

    Parameters
    ----------
    stated : float
        ε put into the formulas of the noise.
    seen : {"last weights", "all weights"}
        What is released: the weights after the last step, or those after each step, and the batches.
    n, smallest_group, features, epochs : int
        As in `dpfair_lib.learners.fermi_leak.released_weight_delta`.
    delta : float, default=1e-5
        δ of the formulas, at which ε is asked for.

    Returns
    -------
    float
        No smaller ε is true at δ; rounded down by the tolerance of the search.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    sizes: dict[str, Any] = {
        "n": n,
        "smallest_group": smallest_group,
        "epochs": epochs,
        "stated": stated,
        "delta": delta,
    }
    if one_of(seen, "seen", ("last weights", "all weights")) == "last weights":
        return _crossing(lambda epsilon: released_weight_delta(epsilon, features=features, **sizes), delta)[0]
    return _crossing(lambda epsilon: released_path_delta(epsilon, **sizes), delta)[0]


def enough_epsilon(
    stated: float, *, n: int, smallest_group: int, epochs: int, batch_size: int = 1024, delta: float = 1e-5,
    clip: float = 5.0, radius: float = 5.0,
) -> float:  # fmt: skip
    """Return an ε that is true at δ for all weights, W and batches of one λ, for any two records of one group.

    The mean gradient by the weights is clipped to norm C, so another record moves it by at most 2C, whatever the rows
    are. The derivative of ψ by the entry w of W is −2wp for a record outside the penalised group and 2p(1/√P − w)
    inside, with 0 ≤ p ≤ 1; so two records differ by at most 2(radius + 1/√P), over the rows of their batch. The last
    batch of an epoch may be small. Orders do not depend on the records: given all orders, of which k put the record
    into the last batch, the releases together are one Gaussian release, and δ is its mean over k. W starts standard
    normal, and is only then kept within the radius; the chance of a start beyond it is added to δ. Models of several
    λ that share their noise, as `train_as_run` makes them, are not covered together: their difference has no noise.

    Parameters
    ----------
    stated, n, smallest_group, epochs, batch_size, delta, clip, radius
        As in `dpfair_lib.learners.fermi_leak.released_weight_delta`. The group sizes are public, the replaced record
        keeps its group, and rows are as given: what a preparation reads off the data is not covered.

    Returns
    -------
    float
        Every smaller claim may be false; rounded up by the tolerance of the search.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    n, epochs = positive_integer(n, "n"), positive_integer(epochs, "epochs")
    smallest_group = positive_integer(smallest_group, "smallest_group")
    batch_size = min(positive_integer(batch_size, "batch_size"), n)
    clip, radius = positive(clip, "clip"), positive(radius, "radius")
    stated, delta = positive(stated, "stated"), inside_unit(delta, "delta")
    if not 1 < smallest_group <= n:
        raise ValueError(f"smallest_group: found {smallest_group}, expected 2 to n = {n}")
    batches = -(-n // batch_size)
    of_weights, of_w = printed_noise(
        stated, delta, n, epochs * batches, (smallest_group - 1) / n, lipschitz=clip, radius=radius
    )
    last = n - (batches - 1) * batch_size
    times = np.arange(epochs + 1)  # in how many epochs the record is in the last batch
    w_move = 2 * (radius + math.sqrt(n / smallest_group)) / of_w
    distances = np.sqrt(
        epochs * (2 * clip / of_weights) ** 2
        + (epochs - times) * (w_move / batch_size) ** 2
        + times * (w_move / last) ** 2
    )
    chances = binom.pmf(times, epochs, last / n)

    def mean(epsilon: float) -> float:
        found = [gaussian_delta(epsilon, 1.0, float(distance)) for distance in distances]
        return float(chances @ found) + 2 * float(ndtr(-radius))

    return _crossing(mean, delta)[1]


def _crossing(curve: Callable[[float], float], delta: float) -> tuple[float, float]:
    """Return two numbers close together, between which a falling curve crosses δ; (0, 0) where it is never above."""
    if curve(0.0) <= delta:
        return 0.0, 0.0
    high = 1.0
    while curve(high) > delta:
        if high == MOST:
            raise ValueError(f"found δ above {delta:g} up to ε = {MOST:g}, expected a noise that hides more")
        high = min(2 * high, MOST)
    root = brentq(lambda epsilon: math.log(max(curve(epsilon), 1e-300) / delta), 0.0, high, xtol=1e-10)
    step = 1e-8 * (1 + root)
    low, high = max(root - step, 0.0), root + step
    if curve(low) < delta or curve(high) > delta:
        raise ValueError(f"found a curve that crosses δ = {delta:g} more than once near ε = {root:g}")
    return low, high
