"""DP-SGD steps on a Lagrangian whose multipliers follow noisy counts of the same batch, on a grid.

*The problem.* Least mean logistic loss, subject to |r_jk − r_j| ≤ γ for each condition j and group k: r_jk is the
selection rate among the records of group k that condition j is about, and r_j that of all groups together. Parity has
one condition, all records; opportunity one, label 1; equalised odds two, one for each label.

*The gradient.* In the Lagrangian a rate is the mean of σ(s), s being the record's score, so that it has a derivative.
With n_jk records in a cell and n_j = Σ_k n_jk, the record (x, y, k) adds (σ(s) − y + c σ′(s)) x to n times the
gradient, where c = Σ_j (λ_jk n/n_jk − n/n_j Σ_l λ_jl), over the conditions that are about it. With u the logistic
loss's slope, so that the gradient of the loss is u(1 − 2y)x, this is (u + (1 − 2y) c u(1 − u)) (1 − 2y)x, as
σ′(s) = u(1 − u).

*What a step costs.* A record is in one cell of the counts: its condition, its group, and whether it is selected. So it
moves the counts by a vector of norm 1 at most. Multipliers, and the n_jk in c, are functions of noisy counts of this
step and of earlier ones. Given those, the record adds its own gradient, clipped to norm C, to the sum. So the proof of
`dpfair_lib.learners.counted_steps` holds word for word: a step is dominated as one Gaussian release of noise
multiplier σ is, 1/σ² = 1/σ₁² + 1/σ₂². It is needed that c depends on the batch through the noisy counts alone.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from dpfair_lib._progress import Progress
from dpfair_lib.learners.counted_steps import (
    Multipliers,
    Noisy,
    count_unit,
    divided,
    noise_and_batches,
    slopes_of,
)
from dpfair_lib.learners.exact_steps import Rows, exact_sum, grid_step, prepared
from dpfair_lib.learners.linear import HEAVIEST
from dpfair_lib.learners.settings import Steps

Notion = Literal["demographic_parity", "equal_opportunity", "equalized_odds"]
CONDITIONS: dict[Notion, tuple[int, int]] = {
    "demographic_parity": (0, 0), "equal_opportunity": (-1, 0), "equalized_odds": (0, 1),
}  # fmt: skip
"""Notion → the place of the condition that is about label 0, and about label 1; −1 for none."""
MOST_RECORDS = 1e100
"""No batch counts for more, whatever the divisor: a difference of infinities is no number, and is not clipped."""


class Ascent:
    """Multipliers of the constraints, moved by the noisy gaps of each step.

    Parameters
    ----------
    notion : str
        Which rates are compared.
    groups : int
        How many groups there are.
    gap : float
        γ ≥ 0.
    rate : float
        By which a gap beyond γ moves its multiplier.
    largest : float
        No multiplier is larger.
    memory : float
        In [0, 1): what earlier counts still weigh after a step.
    divisor : float
        The expected number of records of a batch.
    """

    def __init__(
        self, notion: Notion, groups: int, gap: float, rate: float, largest: float, memory: float, divisor: float
    ) -> None:  # fmt: skip
        self.condition = np.array(CONDITIONS[notion])
        self.groups, self.gap, self.rate, self.largest = groups, gap, rate, largest
        self.memory, self.divisor = memory, divisor
        self.conditions = int(self.condition.max()) + 1
        self.width = 2 * groups * self.conditions
        """How many counts there are."""
        self.steps = 0.0
        """Steps that the kept counts stand for."""
        self.counts = np.zeros((self.conditions, groups, 2))
        self.multipliers = np.zeros((2, self.conditions, groups))
        """For rates above the mean and for rates below it."""

    def cells(self, y: np.ndarray, groups: np.ndarray, selected: np.ndarray) -> np.ndarray:
        """Return each record's place among the counts: condition, group, and whether selected; −1 for none."""
        about = self.condition[y]
        return np.where(about >= 0, 2 * (about * self.groups + groups) + selected, -1)

    def coefficients(self, noisy: np.ndarray) -> np.ndarray:
        """Return c for each label and group, after the noisy counts of a step have moved the multipliers.

        Parameters
        ----------
        noisy : ndarray
            Counts, in the order of `cells`.

        Returns
        -------
        ndarray of shape (2, groups)
            A function of the noisy counts of this and earlier steps.
        """
        self.counts = self.memory * self.counts + noisy.reshape(self.counts.shape)
        self.steps = self.memory * self.steps + 1
        kept = np.maximum(self.counts, 0)
        sizes = np.maximum(kept.sum(axis=2), 1.0)
        rates = kept[:, :, 1] / sizes
        total = sizes.sum(axis=1, keepdims=True)
        beyond = rates - (rates * sizes).sum(axis=1, keepdims=True) / total
        moved = self.multipliers + self.rate * (np.stack([beyond, -beyond]) - self.gap)
        self.multipliers = np.clip(moved, 0, self.largest)
        signed = self.multipliers[0] - self.multipliers[1]
        n = min(self.divisor * self.steps, MOST_RECORDS)
        found = signed * n / sizes - n / total * signed.sum(axis=1, keepdims=True)
        none = np.zeros((1, self.groups))
        return np.asarray(np.concatenate([found, none])[self.condition])


def noisy_gradient(
    rows: Rows, y: np.ndarray, groups: np.ndarray, chosen: np.ndarray, weights: np.ndarray, ascent: Ascent,
    multipliers: Multipliers, norm: float, add: Noisy,
) -> np.ndarray:  # fmt: skip
    """Return the noisy sum of a batch's clipped gradients, after its noisy counts have moved the multipliers.

    Parameters
    ----------
    rows : Rows
        The records; their limits are at most C over the norms.
    y, groups : ndarray of shape (n,)
        Label, and place of the group, of each row.
    chosen : ndarray of int
        The batch, perhaps empty.
    weights : ndarray
        Where.
    ascent : Ascent
        The multipliers.
    multipliers : Multipliers
        σ₂ and σ₁, of the noise.
    norm : float
        C.
    add : callable
        Adds noise.
    """
    slopes, labels, members = slopes_of(rows, chosen, weights, "logistic"), y[chosen], groups[chosen]
    selected = np.where(labels == 1, slopes < 0.5, slopes > 0.5).astype(np.int64)  # the score is above 0
    counted = np.arange(ascent.width)[:, None] == ascent.cells(labels, members, selected)
    unit, batch = count_unit(multipliers.counts), np.arange(len(chosen))
    counts = exact_sum(batch, lambda at: counted[:, at].astype(np.int64) * unit, ascent.width)
    pull = ascent.coefficients(add(counts) / unit)[labels, members] * (1 - 2 * labels)
    limits, slopes = rows.limits[chosen], slopes + pull * slopes * (1 - slopes)
    step = grid_step(multipliers.gradients, norm)
    sizes = np.clip(slopes, -limits, limits) / step

    def integers(at: np.ndarray) -> np.ndarray:
        return (np.ascontiguousarray(rows.entries[chosen[at]].T) * sizes[at]).astype(np.int64)

    return step * add(exact_sum(batch, integers, len(weights)))


def train_lagrangian(
    X: np.ndarray, y: np.ndarray, groups: np.ndarray, steps: Steps, share: float, ascent: Ascent,
    study: np.random.Generator | None = None,
) -> np.ndarray:  # fmt: skip
    """Train one linear classifier from 0 by DP-SGD on the Lagrangian.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, finite.
    y, groups : ndarray of shape (n,)
        Labels 0 and 1, and the place of each row's group.
    steps : Steps
        The numbers; ``noise_multiplier`` is σ of the whole step.
    share : float
        In (0, 1): the part of 1/σ² that the counts use.
    ascent : Ascent
        The multipliers; they move.
    study : Generator, optional
        Where study noise and batches come from. None draws both securely.

    Returns
    -------
    ndarray of shape (d + 1,)
        The mean of the weights after each step of the second half, the intercept last (0 if there is none). The steps
        end where a weight exceeds 10²⁰⁰, and then it is those weights.

    Raises
    ------
    ValueError
        If the clipping norm is not from 10⁻¹⁰⁰ to 10¹⁰⁰; if the share is too small.
    """
    n, d = X.shape
    entries = np.ones((n, d + steps.fit_intercept))
    entries[:, :d] = X
    rows = prepared(entries * (1 - 2 * y)[:, None], steps.max_grad_norm)
    multipliers = divided(steps.noise_multiplier, share)
    count_unit(multipliers.counts)  # refuses its range, as the next line does, before anything is drawn
    grid_step(multipliers.gradients, steps.max_grad_norm)
    add, batches = noise_and_batches(n, steps, study)
    weights, progress = np.zeros(entries.shape[1]), Progress("steps of training", steps.count)
    mean, kept = np.zeros(entries.shape[1]), steps.count - steps.count // 2
    for at, chosen in enumerate(batches):
        gradient = noisy_gradient(
            rows, y, groups, chosen, weights, ascent, multipliers, steps.max_grad_norm, add
        )
        weights = weights - steps.learning_rate / steps.divisor(n) * gradient
        if not (abs(weights) <= HEAVIEST).all():  # known from the noisy sums alone
            mean = weights
            break
        if at >= steps.count - kept:
            mean = mean + weights / kept
        progress.add()
    return mean if steps.fit_intercept else np.append(mean, 0.0)
