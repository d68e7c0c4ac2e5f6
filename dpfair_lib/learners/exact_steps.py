"""DP-SGD steps for linear classifiers on a grid, with exact sums and exactly drawn noise: those with a guarantee.

The grid has the step h = σC/2⁴⁰. A record's clipped gradient, divided by h, is rounded toward zero to integers. So its
norm does not grow, and one record changes the sum by an integer vector of norm at most C/h = 2⁴⁰/σ, exactly. The sum
of integers is exact, in whatever order. Discrete Gaussian noise of scale 2⁴⁰ is added to it. The weights are computed
from these noisy sums alone, which is post-processing, so that its rounding does no harm.

What a record adds must not depend on the other rows of its batch, not even in a last digit: that digit would move all
other rows' integers at once. Matrix products of floats do depend on it, as a library may add in another order for
another number of rows. Here all operations on records are element by element, and features are added in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpfair_lib._progress import Progress
from dpfair_lib.learners.batches import system_batches
from dpfair_lib.learners.linear import HEAVIEST, WIDEST
from dpfair_lib.learners.losses import Loss, descent
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy.grid_noise import FINENESS
from dpfair_lib.privacy.rounding import above
from dpfair_lib.privacy.sampling import add_discrete_gaussian_noise

MARGIN = (
    1 + 2.0**-40
)  # more than the rounding of a norm of up to 2¹⁰⁰⁰ entries, and of three products after it
TINY = 1e-140  # more than what entries add to a norm whose squares are too small for floats
LARGEST_SUM = 2**62
PIECE = 512  # records at a time: their gradients stay in the processor's cache
NORMS = (1e-100, 1e100)


class Rows(NamedTuple):
    """Records as the steps need them.

    Parameters
    ----------
    entries : ndarray of shape (n, width)
        (x, 1), or x without intercept, times 1 − 2y.
    limits : ndarray of shape (n,)
        At most C over the norm of each row.
    """

    entries: np.ndarray
    limits: np.ndarray


def grid_step(noise_multiplier: float, norm: float, name: str = "max_grad_norm") -> float:
    """Return h, the least float with 2⁴⁰ h ≥ σC.

    Parameters
    ----------
    noise_multiplier : float
        σ.
    norm : float
        C.
    name : str
        Of the parameter that is C, for the message.

    Raises
    ------
    ValueError
        If C is not from 10⁻¹⁰⁰ to 10¹⁰⁰.
    """
    low, high = NORMS
    if not low <= norm <= high:
        raise ValueError(
            f"{name}: found {norm}, expected a number from {low:g} to {high:g} for noise='secure'"
        )
    return above(Fraction(noise_multiplier) * Fraction(norm) / Fraction(FINENESS))


def column_sums(terms: np.ndarray) -> np.ndarray:
    """Return the sum of each column, added up in an order that depends on the number of rows alone; terms are lost.

    Parameters
    ----------
    terms : ndarray of shape (width, n)
        What is to be added.

    Returns
    -------
    ndarray of shape (n,)
        Sums.
    """
    width = len(terms)
    while width > 1:
        half = width // 2
        terms[:half] += terms[width - half : width]
        width -= half
    return np.asarray(terms[0])


def prepared(entries: np.ndarray, clip: float) -> Rows:
    """Return the records as the steps need them.

    Parameters
    ----------
    entries : ndarray of shape (n, width)
        Finite numbers. Those above 10¹⁰⁰ in size are cut down to it, record by record.
    clip : float
        C.

    Returns
    -------
    Rows
        Entries, and limits for gradients that are a multiple of them.
    """
    entries = np.clip(entries, -WIDEST, WIDEST)
    norms = np.sqrt(column_sums(np.square(entries.T, order="C"))) * MARGIN + TINY
    return Rows(entries, clip / norms)


def integer_gradients(
    rows: Rows, chosen: np.ndarray, weights: np.ndarray, step: float, loss: Loss
) -> np.ndarray:
    """Return the clipped gradients of some records on the grid, each of norm at most C/h.

    Parameters
    ----------
    rows : Rows
        The records.
    chosen : ndarray of int
        Which of them; b.
    weights : ndarray of shape (width,)
        The model; no entry above 10²⁰⁰ in size.
    step : float
        h.
    loss : {"logistic", "huberised-hinge"}
        Whose gradients.

    Returns
    -------
    ndarray of shape (width, b), 64-bit integers
        Gradients divided by h and rounded toward zero.
    """
    entries = np.ascontiguousarray(rows.entries[chosen].T)
    slopes = descent(-column_sums(entries * weights[:, None]), loss)  # the rows have the opposite sign
    entries *= np.minimum(slopes, rows.limits[chosen]) / step
    return entries.astype(np.int64)


def exact_sum(chosen: np.ndarray, integers: Callable[[np.ndarray], np.ndarray], width: int) -> np.ndarray:
    """Return the sum of what some records add, exactly, cut off at ±2⁶².

    Cutting off moves no two sums further apart. No piece's sum overflows: with a noise multiplier of at least 10⁻³ no
    integer exceeds 2⁵⁰. The sums of the pieces are added up in Python, without bounds.

    Parameters
    ----------
    chosen : ndarray of int
        Records, perhaps none.
    integers : callable
        Some records → 64-bit integers of shape (width, records).
    width : int
        How many numbers a record adds.

    Returns
    -------
    ndarray of shape (width,), 64-bit integers
        The sum.
    """
    total = [0] * width
    for at in range(0, len(chosen), PIECE):
        added = integers(chosen[at : at + PIECE]).sum(axis=1).tolist()
        total = [sum(entry) for entry in zip(total, added, strict=True)]
    return np.array([max(-LARGEST_SUM, min(entry, LARGEST_SUM)) for entry in total], dtype=np.int64)


def train(X: np.ndarray, y: np.ndarray, steps: Steps) -> np.ndarray:
    """Train one linear classifier from 0 by DP-SGD, with noise and batches that nobody can repeat.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, finite.
    y : ndarray of shape (n,)
        Labels 0 and 1.
    steps : Steps
        The numbers; ``max_grad_norm`` from 10⁻¹⁰⁰ to 10¹⁰⁰, ``noise_multiplier`` at least 10⁻³.

    Returns
    -------
    ndarray of shape (1, d + 1)
        Weights, the intercept last (0 if there is none). The steps end where a weight exceeds 10²⁰⁰.

    Raises
    ------
    ValueError
        If the clipping norm is out of its range.
    """
    n, d = X.shape
    entries = np.ones((n, d + steps.fit_intercept))
    entries[:, :d] = X
    rows = prepared(entries * (1 - 2 * y)[:, None], steps.max_grad_norm)
    step = grid_step(steps.noise_multiplier, steps.max_grad_norm)
    length = steps.learning_rate / steps.divisor(n) * step
    weights = np.zeros(entries.shape[1])

    def integers(chosen: np.ndarray) -> np.ndarray:
        return integer_gradients(rows, chosen, weights, step, steps.loss)

    progress = Progress("steps of training", steps.count)
    for chosen in system_batches(n, steps.sample_rate, steps.count):
        total = exact_sum(chosen, integers, len(weights))
        weights = weights - length * add_discrete_gaussian_noise(total, FINENESS)
        if not (
            abs(weights) <= HEAVIEST
        ).all():  # the scores would overflow; this is known from the noisy sums alone
            break
        progress.add()
    return (weights if steps.fit_intercept else np.append(weights, 0.0))[None]
