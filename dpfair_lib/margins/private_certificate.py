"""A certificate that may be published although it is computed from people's records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, positive
from dpfair_lib._validation import as_groups, check_lengths
from dpfair_lib.fairness.linear_form import desirable_labels, form_coefficients, group_names, members
from dpfair_lib.margins.certificate import check_linear
from dpfair_lib.margins.margins import margin_lipschitz, margins, plain_array
from dpfair_lib.margins.projections import markov_reach
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import noise_scale
from dpfair_lib.privacy.sampling import Noise

L1 = 2  # a record that is replaced within its cell may leave one of its two counts and enter the other


@dataclass(frozen=True)
class PrivateCertificate:
    """Intervals for the group fairness of the model without noise, and what publishing them costs.

    Attributes
    ----------
    notion : str
        As asked for.
    groups : tuple
        The K groups of the notion.
    lower, upper : array of shape (K,)
        Interval for F_k of the model without noise.
    privacy_statement : PrivacyStatement
        Of the intervals alone; the model's own adds to it where the rows are training rows.
    """

    notion: str
    groups: tuple[Any, ...]
    lower: np.ndarray
    upper: np.ndarray
    privacy_statement: PrivacyStatement


def private_certificate(
    scores: Any, y: Any, *, X: Any, sensitive_features: Any, notion: str, sigma: float, zeta: float, epsilon: float,
    slack: float = 1e-4, noise: Noise = "secure", rng: np.random.Generator | None = None, desirable: Any = None,
) -> PrivateCertificate:  # fmt: skip
    """Return a certificate of the model behind a noisy one, from two noisy counts for each label and group.

    Counted are the rows that are right, and those that are wrong, under all models within the reach; the reach of
    `markov_reach` depends on no row. A row that has no relative margin, of zeros or longer than floats can hold, counts
    as neither: an error would tell of it. Half of ζ is for the noise of the model, half for that of
    the counts, for which every interval is widened. The noise of the model is Gaussian, as for `noise_certificate`.

    Parameters
    ----------
    scores, y, X, sensitive_features, notion, sigma, desirable
        As in `noise_certificate`; how many rows each label has in each group is taken as public.
    zeta : float
        ζ in (0, 1).
    epsilon : float
        ε > 0 of the counts.
    slack : float
        As in `markov_reach`.
    noise : {"secure", "study"}
        As in `add_discrete_laplace_noise`.
    rng : numpy.random.Generator, optional
        Needed for study noise, refused for secure noise.

    Returns
    -------
    PrivateCertificate
        With probability at least 1 − ζ, over both noises, all its intervals hold.

    Raises
    ------
    ValueError
        As `fairness_certificate`, or if a number is out of its range. Refusals that speak of X or of scores depend on
        the rows, and the statement has it as public that there are none; the finite scores of a linear model cause
        none, unless all of them are but rounding.
    """
    if np.ndim(scores) != 1:
        raise ValueError(f"scores: found shape {np.shape(scores)}, expected (n,), from one weight vector")
    half, source = inside_unit(zeta, "zeta") / 2, NoiseSource(noise, rng)
    relative = _total_margins(margins(scores, y), X)
    check_linear(plain_array(scores), plain_array(X))
    labels, label = as_groups(y, "y")
    levels, group = as_groups(sensitive_features)
    check_lengths(scores=relative, sensitive_features=group)
    shape = (len(labels), len(levels))
    codes, cells = label * len(levels) + group, math.prod(shape)
    rows = np.bincount(codes, minlength=cells)
    if len(labels) < 2 or not rows.all():
        raise ValueError(
            "sensitive_features: found a group without a label, expected both labels in every group"
        )
    reach = markov_reach(sigma, zeta=half, slack=slack, groups=cells)
    counts = settled_counts(relative, codes, cells, reach)
    scale = noise_scale(L1, positive(epsilon, "epsilon"))
    noisy = source.add_discrete_laplace(counts.ravel(), scale).reshape(counts.shape)
    sure = sure_counts(noisy, noise_margin(scale, half / counts.size), rows)
    low = np.clip(sure[:, 0] / rows - slack, 0, 1)
    high = np.clip(1 - sure[:, 1] / rows + slack, 0, 1)
    part_of = members(notion, *shape)
    low, high = ((part_of @ (rows * one)) / (part_of @ rows) for one in (low, high))
    constant, matrix = form_coefficients(
        rows.reshape(shape) / rows.sum(), notion, desirable_labels(labels, notion, desirable)
    )
    rise, fall = np.maximum(matrix, 0), np.maximum(-matrix, 0)
    statement = PrivacyStatement(
        epsilon, 0.0, "replace-within-group",
        public=("the number of rows of each label in each group", "that the scores are linear in X"),
        note="the groups of the relation are those of label and sensitive features together",
    )  # fmt: skip
    return PrivateCertificate(
        notion, group_names(labels, levels, notion), constant + rise @ low - fall @ high,
        constant + rise @ high - fall @ low, source.mark(statement),
    )  # fmt: skip


def _total_margins(rho: np.ndarray, X: Any) -> np.ndarray:
    """Return ρ/‖x‖, and 0 where there is no such number; no row raises or warns, whatever it holds."""
    with np.errstate(over="ignore"):
        lengths = margin_lipschitz(X, binary=True)
        check_lengths(scores=rho, X=lengths)
        known = (lengths > 0) & np.isfinite(lengths)
        return np.divide(rho, lengths, out=np.zeros_like(rho), where=known)


def settled_counts(relative: np.ndarray, codes: np.ndarray, cells: int, reach: float) -> np.ndarray:
    """Return for each cell the rows that are right, and that are wrong, under every model within the reach.

    Rows of zeros, which tie under every model, are neither. The result has shape (cells, 2).
    """
    right = (relative > reach) & np.isfinite(relative)
    wrong = relative < -reach
    return np.stack([np.bincount(codes[chosen], minlength=cells) for chosen in (right, wrong)], axis=1)


def sure_counts(noisy: np.ndarray, margin: int, rows: np.ndarray) -> np.ndarray:
    """Return noisy − m for each count, at most twice and at least minus the rows of its cell, so that floats hold it.

    Where the noise is at most m, every count is at least this: noisy ≤ count + m, also if the sampler cut the sum off
    at an end of the 64-bit integers. At the upper end that only makes noisy smaller; at the lower end, −2⁶³, the
    difference is below 0, and no count is. Nor does an end of the range asked for here matter, since 0 ≤ count ≤ rows.
    The margin may have hundreds of digits: the difference is of Python's integers, for one of 64 bits could pass its
    end and come back at the other.

    Parameters
    ----------
    noisy : int array of shape (cells, 2)
        Counts with noise.
    margin : int
        m.
    rows : int array of shape (cells,)
        How many rows each cell has.
    """
    return np.array([
        [min(max(int(one) - margin, -many), 2 * many) for one in pair]
        for pair, many in zip(noisy, rows.tolist(), strict=True)
    ])  # fmt: skip


def noise_margin(scale: float, failure: float) -> int:
    """Return a whole m that two-sided geometric noise of a scale exceeds with at most this probability.

    It is the least one, up to roundings: a relative 2⁻⁴⁸, more than the floats below can lose, is added.
    """
    # the logarithm of the ratio is −1/scale, also where the ratio itself underflows
    logarithm = -math.log(failure * (1 + math.exp(-1 / scale)))
    return max(0, math.ceil(Fraction(scale) * Fraction(logarithm) * (1 + Fraction(1, 2**48)) - 1))
