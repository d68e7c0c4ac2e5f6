"""Lower bounds on the ε of DP-SGD, which can show that a claimed ε is wrong."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from dpfair_lib._arguments import one_of, positive
from dpfair_lib._extras import extra
from dpfair_lib.privacy.accounting import (
    DpSgdRelation,
    EpsilonInterval,
    check_accountant,
    checked_training,
    dp_sgd_epsilon,
    grid_width,
)
from dpfair_lib.privacy.rounding import convolution_error

REACH = 12.0  # standard deviations on either side; what lies beyond is left out, which only lowers the bound
MOST_BINS = 100_000
RARE = 1e-10  # bins of less probability may lose up to a bin's width by rounding down
SLACK = 1e-5  # of a width, subtracted from every step's loss: more than the losses of bins can be wrong by
ROUNDING = 1e-11  # added to δ, with what the Fourier transforms can be wrong by


def pld_interval(
    noise_multiplier: float, sample_rate: float, steps: int, delta: float, *,
    relation: DpSgdRelation = "add-remove",
) -> EpsilonInterval:  # fmt: skip
    """Return an interval around the exact ε of DP-SGD: losses rounded up on one side, a binned step on the other.

    Parameters
    ----------
    noise_multiplier, sample_rate, steps, delta, relation
        As in `dp_sgd_epsilon`.

    Returns
    -------
    EpsilonInterval
        The lower end is `dp_sgd_epsilon_lower_bound` on the grid of "pld", the upper end is that of "pld", and
        so is the estimate: the profile of one step is interpolated there, which is the more accurate of the two.
        Where a step gives next to nothing away and there are very many, the lower end can be far down.

    Raises
    ------
    ValueError
        As `dp_sgd_epsilon`.

    References
    ----------
    Koskela, Jälkö and Honkela (2020) for losses on a grid; Doroshenko et al. (2022) for the interpolation.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> found = privacy.pld_interval(1.0, 0.01, 100, 1e-5)
    >>> round(found.lower, 2), round(found.upper, 2)
    (0.72, 0.72)
    """
    sigma, rate, count, delta = checked_training(noise_multiplier, sample_rate, steps, delta)
    check_accountant("pld", relation, delta)
    upper = dp_sgd_epsilon(sigma, rate, count, delta, "pld", relation=relation)
    lower = dp_sgd_epsilon_lower_bound(
        sigma, rate, count, delta, relation=relation, resolution=grid_width(sigma, rate, count, delta)
    )
    return EpsilonInterval(lower, upper, upper)


def dp_sgd_epsilon_lower_bound(
    noise_multiplier: float, sample_rate: float, steps: int, delta: float, *,
    relation: DpSgdRelation = "add-remove", resolution: float = 1e-3,
) -> float:  # fmt: skip
    """Return a number that the exact ε of DP-SGD is not below.

    That is the ε of the mechanism that the accountants account for: the noisy sum of every step is shown, and the
    record's clipped gradient has norm C and one direction in all of them. One step then releases a draw from one
    of two mixtures of normal laws. The bin into which it falls reveals less, so the binned step
    gives a lower bound; the bins are laid so that their losses are almost multiples of the resolution, and are
    rounded down to them. The steps are composed by convolution.

    Parameters
    ----------
    noise_multiplier, sample_rate, steps, delta, relation
        As in `dp_sgd_epsilon`. Under add-remove only the removal of a record is followed: the exact ε is the
        larger of those of removal and addition.
    resolution : float
        Width of the bins in units of loss; a finer one raises the bound and takes longer. Where one step's
        losses spread over more than 100,000 such bins, the bins are wider.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Doroshenko et al. (2022) for the grid, there with upper bounds; Zhu, Dong and Wang (2022) for the mixtures.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> round(privacy.dp_sgd_epsilon_lower_bound(1.0, 0.01, 100, 1e-5), 2)
    0.72
    """
    sigma, rate, count, delta = checked_training(noise_multiplier, sample_rate, steps, delta)
    one_of(relation, "relation", ("add-remove", "replace-one"))
    other = 0.0 if relation == "add-remove" else -1.0
    chances, losses, width = _binned_step(sigma, rate, other, positive(resolution, "resolution"))
    # on a grid of that width, shifted so that rounding down loses next to nothing in the bins that matter
    nearest = np.round(losses / width)
    shift = max(float((nearest * width - losses)[chances > RARE].max(initial=0.0)), 0.0)
    cells = np.floor((losses + shift) / width + SLACK / 2).astype(int)
    shift += SLACK * width
    return max(
        _composed(chances, cells, width, -shift, count, delta + ROUNDING + convolution_error(count)), 0.0
    )


def _binned_step(
    sigma: float, rate: float, other: float, width: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return probabilities and losses of the bins of one step, and their width.

    The step is a mixture with the center 1 against one with the center ``other``.
    """
    x = np.linspace(other - REACH * sigma, 1 + REACH * sigma, 40_001)
    log_rate, log_rest = math.log(rate), math.log1p(-rate) if rate < 1 else -math.inf

    def log_density(center: float) -> np.ndarray:
        # over the density of the law without the record
        return np.logaddexp(log_rest, log_rate + (2 * center * x - center**2) / (2 * sigma**2))

    loss = log_density(1.0) - (log_density(other) if other else 0.0)
    width = max(width, float(loss[-1] - loss[0]) / MOST_BINS)
    first, last = math.floor(loss[0] / width), math.ceil(loss[-1] / width)
    # any edges are allowed; halfway between the multiples of the width the bins' losses come close to them
    edges = np.unique(np.interp((np.arange(first - 1, last + 1) + 0.5) * width, loss, x))

    def log_chances(center: float) -> np.ndarray:
        with_record = log_rate + _log_between((edges - center) / sigma)
        return np.logaddexp(with_record, log_rest + _log_between(edges / sigma))

    numerator = log_chances(1.0)
    denominator = log_chances(other) if other else _log_between(edges / sigma)
    seen = np.isfinite(numerator) & np.isfinite(denominator)
    return np.exp(numerator[seen]), (numerator - denominator)[seen], width


def _log_between(edges: np.ndarray) -> np.ndarray:
    """Return ln of the standard normal probability between neighbouring edges, each from the nearer tail."""
    left, right = edges[:-1], edges[1:]
    low, high = np.where(left > 0, -right, left), np.where(left > 0, -left, right)
    with np.errstate(divide="ignore"):  # bins too narrow to be seen have −∞
        return log_ndtr(high) + np.log1p(-np.exp(log_ndtr(low) - log_ndtr(high)))


def _composed(
    chances: np.ndarray, cells: np.ndarray, width: float, offset: float, steps: int, delta: float
) -> float:
    with extra("accounting"):
        from dp_accounting.pld import pld_pmf

    loss_of_cell: dict[int, float] = {}
    for cell, chance in zip(cells.tolist(), chances.tolist(), strict=True):
        loss_of_cell[cell] = loss_of_cell.get(cell, 0.0) + chance
    one_step = pld_pmf.create_pmf(loss_of_cell, width, infinity_mass=0.0, pessimistic_estimate=False)
    # what the convolution cuts off it counts as an infinite loss of 1e-15: δ has been raised by more
    with np.errstate(over="ignore"):  # only in bounds that others replace: the masses add up to 1 at most
        composed = one_step.self_compose(steps) if steps > 1 else one_step
        low, high = 0.0, float(composed.get_epsilon_for_delta(delta))
    if high < 500:
        return high + steps * offset
    # beyond, e^(−loss) underflows in that sum, which then is too high; δ itself has differences of losses only
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if composed.get_delta_for_epsilon(middle) > delta else (low, middle)
    return low + steps * offset
