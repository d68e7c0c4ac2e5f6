"""DP-SGD steps whose clipping follows noisy counts of the same batch, on a grid: those with a guarantee.

A step first releases counts of the batch: which cell a record is in depends on that record and on the weights, and it
is in one cell at most. Then it releases the sum of the records' gradients, each shortened to a norm that depends on the
record and on the noisy counts, and not longer than C.

*What a step costs.* Fix a batch. One record more changes the counts by a vector of norm at most 1, beside Gaussian
noise of deviation σ₁; given the noisy counts it changes the sum by at most C, beside noise of deviation σ₂C. Each of
the two is dominated by N(0, 1) and N(μ, 1), with μ = 1/σ₁ and 1/σ₂. One after the other they are dominated by the
product of the pairs (Zhu, Dong and Wang, 2022, Theorem 10), which is the pair for μ² = 1/σ₁² + 1/σ₂². So, for every
batch, a step is dominated as one Gaussian release of noise multiplier σ is, 1/σ² = 1/σ₁² + 1/σ₂². Poisson sampling acts
on dominating pairs alone (Theorem 11 there). So T steps cost, under add-remove, what T steps of DP-SGD with σ cost. It
is needed that C bounds every record that *could* be in the batch, and that nothing is divided by the number of those
that are.

*On the grid.* Counts are multiplied by a whole number M ≤ 2⁴⁰/σ₁, gradients are rounded toward zero on a grid of
σ₂C/2⁴⁰, and both get discrete Gaussian noise of scale 2⁴⁰. Then `dpfair_lib.privacy.grid_noise` applies, with one draw
for each count and each weight: its first step turns every noisy vector into a rounded one, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from dpfair_lib._progress import Progress
from dpfair_lib.learners.batches import poisson_batches, system_batches
from dpfair_lib.learners.exact_steps import PIECE, Rows, column_sums, exact_sum, grid_step, prepared
from dpfair_lib.learners.linear import HEAVIEST
from dpfair_lib.learners.losses import Loss, descent
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy.grid_noise import FINENESS
from dpfair_lib.privacy.rounding import above, raised
from dpfair_lib.privacy.sampling import add_discrete_gaussian_noise

Noisy = Callable[[np.ndarray], np.ndarray]
"""Adds noise of scale 2⁴⁰ to whole numbers."""


class Clips(NamedTuple):
    """What noisy counts make of the gradients.

    Parameters
    ----------
    scale : float
        In (0, 1]: each gradient is multiplied by it first.
    norms : ndarray
        Then a record of group k is shortened to norm ``norms[k]``.
    """

    scale: float
    norms: np.ndarray


class Rule(Protocol):
    """How records are counted, and how clipping follows the counts."""

    width: int
    """How many counts there are."""
    largest: float
    """No norm of its clips is larger, whatever the counts."""

    def cells(self, lengths: np.ndarray, groups: np.ndarray, /) -> np.ndarray:
        """Return each record's cell, from its gradient's length and its group; −1 for none."""
        ...

    def clips(self, noisy: np.ndarray) -> Clips:
        """Return what follows from the noisy counts of a step, a function of them and of earlier ones."""
        ...


class Multipliers(NamedTuple):
    """Noise multipliers σ₂ and σ₁ of a step's sum and of its counts."""

    gradients: float
    counts: float


def divided(multiplier: float, share: float) -> Multipliers:
    """Return σ₂ and σ₁ with 1/σ₁² + 1/σ₂² at most 1/σ².

    Parameters
    ----------
    multiplier : float
        σ of the whole step.
    share : float
        In (0, 1): the part of 1/σ² that the counts use.

    Returns
    -------
    Multipliers
        Rounded up.
    """
    return Multipliers(raised(multiplier / (1 - share) ** 0.5), raised(multiplier / share**0.5))


def count_unit(multiplier: float) -> int:
    """Return M, by which counts are multiplied: the largest whole number with M σ₁ ≤ 2⁴⁰.

    Parameters
    ----------
    multiplier : float
        σ₁.

    Raises
    ------
    ValueError
        If there is none.
    """
    unit = int(Fraction(FINENESS) / Fraction(multiplier))
    if unit < 1:
        raise ValueError(
            f"count_share: found a part of the noise that gives counts a deviation of {multiplier:.3g}, expected a "
            "larger part"
        )
    return unit


def slopes_of(rows: Rows, chosen: np.ndarray, weights: np.ndarray, loss: Loss) -> np.ndarray:
    """Return by how much the row of each record is multiplied in its gradient, at least 0.

    As in `exact_steps.integer_gradients`, a record's number does not depend on the other rows, not in the last digit.

    Parameters
    ----------
    rows : Rows
        The records.
    chosen : ndarray of int
        Which of them.
    weights : ndarray
        Where.
    loss : {"logistic", "huberised-hinge"}
        Of which loss.
    """
    found = [np.zeros(0)]
    for at in range(0, len(chosen), PIECE):
        entries = np.ascontiguousarray(rows.entries[chosen[at : at + PIECE]].T)
        found.append(descent(-column_sums(entries * weights[:, None]), loss))
    return np.concatenate(found)


def noisy_gradient(
    rows: Rows, groups: np.ndarray, chosen: np.ndarray, weights: np.ndarray, rule: Rule, multipliers: Multipliers,
    add: Noisy, loss: Loss,
) -> np.ndarray:  # fmt: skip
    """Return the noisy sum of a batch's clipped gradients, after noisy counts have decided how to clip.

    Parameters
    ----------
    rows : Rows
        The records; their limits are one over the norms.
    groups : ndarray of shape (n,)
        Place of each row's group.
    chosen : ndarray of int
        The batch, perhaps empty.
    weights : ndarray
        Where.
    rule : Rule
        How to count and clip.
    multipliers : Multipliers
        σ₂ and σ₁.
    add : callable
        Adds noise.
    loss : {"logistic", "huberised-hinge"}
        Of which loss.
    """
    slopes, limits, members = slopes_of(rows, chosen, weights, loss), rows.limits[chosen], groups[chosen]
    counted = np.arange(rule.width)[:, None] == rule.cells(slopes / limits, members)
    unit, batch = count_unit(multipliers.counts), np.arange(len(chosen))
    counts = exact_sum(batch, lambda at: counted[:, at].astype(np.int64) * unit, rule.width)
    clips = rule.clips(add(counts) / unit)
    step = grid_step(multipliers.gradients, float(clips.norms.max()))
    sizes = np.minimum(slopes * clips.scale, limits * clips.norms[members]) / step

    def integers(at: np.ndarray) -> np.ndarray:
        return (np.ascontiguousarray(rows.entries[chosen[at]].T) * sizes[at]).astype(np.int64)

    return step * add(exact_sum(batch, integers, len(weights)))


def train_counted(
    X: np.ndarray, y: np.ndarray, groups: np.ndarray, steps: Steps, share: float, rule: Rule,
    study: np.random.Generator | None = None,
) -> np.ndarray:  # fmt: skip
    """Train one linear classifier from 0 by DP-SGD whose clipping follows noisy counts.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, finite.
    y : ndarray of shape (n,)
        Labels 0 and 1.
    groups : ndarray of shape (n,)
        Place of each row's group among the rule's.
    steps : Steps
        The numbers; ``noise_multiplier`` is σ of the whole step, ``max_grad_norm`` is not used.
    share : float
        In (0, 1): the part of 1/σ² that the counts use.
    rule : Rule
        How it counts and clips.
    study : Generator, optional
        Where study noise and batches come from. None draws both securely.

    Returns
    -------
    ndarray of shape (d + 1,)
        Weights, the intercept last (0 if there is none). The steps end where a weight exceeds 10²⁰⁰.

    Raises
    ------
    ValueError
        If a norm is not from 10⁻¹⁰⁰ to 10¹⁰⁰; if the share is too small.
    """
    n, d = X.shape
    entries = np.ones((n, d + steps.fit_intercept))
    entries[:, :d] = X
    rows = prepared(entries * (1 - 2 * y)[:, None], 1.0)  # limits: one over each row's norm
    multipliers = divided(steps.noise_multiplier, share)
    count_unit(multipliers.counts)  # refuses its range, as the next line does, before anything is drawn
    grid_step(multipliers.gradients, rule.largest)
    add, batches = noise_and_batches(n, steps, study)
    weights, progress = np.zeros(entries.shape[1]), Progress("steps of training", steps.count)
    for chosen in batches:
        gradient = noisy_gradient(rows, groups, chosen, weights, rule, multipliers, add, steps.loss)
        weights = weights - steps.learning_rate / steps.divisor(n) * gradient
        if not (abs(weights) <= HEAVIEST).all():  # known from the noisy sums alone
            break
        progress.add()
    return weights if steps.fit_intercept else np.append(weights, 0.0)


def noise_and_batches(
    n: int, steps: Steps, study: np.random.Generator | None
) -> tuple[Noisy, Iterator[np.ndarray]]:
    """Return what adds noise to whole numbers, and the batches.

    Parameters
    ----------
    n : int
        Number of rows.
    steps : Steps
        How many batches, and at which rate.
    study : Generator, optional
        Where study noise and batches come from. None draws both securely.
    """
    if study is None:
        return lambda total: add_discrete_gaussian_noise(total, FINENESS), system_batches(
            n, steps.sample_rate, steps.count
        )
    seed = np.random.SeedSequence(study.integers(2**32, size=4).tolist())
    return (
        lambda total: total + study.normal(0, FINENESS, len(total)),
        poisson_batches(n, steps.sample_rate, steps.count, seed),
    )


class GroupRule:
    """Each group's clipping norm grows with the share of its gradients that are long (Xu, Du and Wu, 2021).

    With r_k = the share of group k's records in the batch whose gradients are longer than C₀, by noisy counts cut off
    at 0 and rounded down, C_k = C₀ (1 + r_k / mean of all r). All are C₀ if all r are 0. A group without counted
    records has r_k = 1: its records, if noise hid any, are shortened less. The price is noise, which follows the
    largest norm.
    """

    def __init__(self, norm: float, groups: int) -> None:
        self.norm, self.width = norm, 2 * groups
        self.largest = above(Fraction(norm) * (1 + groups))

    def cells(self, lengths: np.ndarray, groups: np.ndarray, /) -> np.ndarray:
        """Return twice the group, and one more where the gradient is longer than C₀."""
        return np.asarray(2 * groups + (lengths > self.norm))

    def clips(self, noisy: np.ndarray) -> Clips:
        """Return C_k for every group, those that are not in the batch among them."""
        short, long = np.floor(np.maximum(noisy, 0)).reshape(-1, 2).T
        rates = np.where(short + long > 0, long / np.maximum(short + long, 1), 1.0)
        norms = self.norm * (1 + rates / max(rates.mean(), 1e-8))
        return Clips(1.0, np.minimum(norms, self.largest))


class GlobalRule:
    """Gradients are scaled by min(1, C/Z); those that are longer than C even then are clipped (Esipova et al., 2023).

    Z grows with the noisy share of gradients longer than τZ: Z ← Z exp(share − η).
    """

    width = 1

    def __init__(self, norm: float, scale_norm: float, threshold: float, rate: float, divisor: float) -> None:
        self.norm = self.largest = norm
        self.scale_norm, self.threshold, self.rate, self.divisor = scale_norm, threshold, rate, divisor

    def cells(self, lengths: np.ndarray, _: np.ndarray, /) -> np.ndarray:
        """Return 0 where the gradient is longer than τZ, and −1 elsewhere."""
        return np.where(lengths > self.threshold * self.scale_norm, 0, -1)

    def clips(self, noisy: np.ndarray) -> Clips:
        """Return the clips for the present Z, and set the next Z."""
        clips = Clips(min(1.0, self.norm / self.scale_norm), np.array([self.norm]))
        grown = np.log(self.scale_norm) + float(noisy[0]) / self.divisor - self.rate
        self.scale_norm = float(np.exp(min(max(grown, -200.0), 200.0)))
        return clips
