"""Accounting for DP-SGD: many steps of Gaussian noise on Poisson-sampled batches."""

from __future__ import annotations

import functools
import logging
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from dpfair_lib._arguments import inside_unit, number, one_of, positive, positive_integer
from dpfair_lib._extras import extra
from dpfair_lib.privacy.calibration import calibrated
from dpfair_lib.privacy.gaussian import gaussian_epsilon, gaussian_sigma
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.rounding import above, convolution_error, raised
from dpfair_lib.privacy.statements import PrivacyStatement

Accountant = Literal["pld", "prv", "rdp", "gdp"]
DpSgdRelation = Literal["add-remove", "replace-one"]

ACCOUNTANTS: dict[str, str] = {
    "pld": "privacy loss distribution (dp-accounting), an upper bound",
    "prv": "privacy random variables (prv-accountant), upper end of the certified interval",
    "rdp": "Rényi divergences (dp-accounting), an upper bound",
    "gdp": "central limit theorem for Gaussian privacy, approximate",
}

_LEAST_DELTA = 1e-10
MOST_STEPS = 10**7
SPARSE_STEPS = 10_000  # with more, one step's masses are made dense before they are composed
GDP_NOTE = "the central limit approximation can report less privacy loss than there is"


class EpsilonInterval(NamedTuple):
    """An interval that contains the exact ε, with an estimate inside it.

    Examples
    --------
    >>> from dpfair_lib.privacy import pld_interval
    >>> round(pld_interval(1.0, 0.01, 100, 1e-5).upper, 2)
    0.72
    """

    lower: float
    estimate: float
    upper: float


def dp_sgd_epsilon(
    noise_multiplier: float, sample_rate: float, steps: int, delta: float, accountant: Accountant, *,
    relation: DpSgdRelation = "add-remove",
) -> float:  # fmt: skip
    """Return the ε of DP-SGD (stochastic gradient descent with clipping and Gaussian noise) at a given δ.

    Every step includes each record with probability q, independently, which is called Poisson sampling. It clips the
    gradient of each record to norm C, and adds Gaussian noise of standard deviation σC to the sum. The numbers are not
    valid for shuffled batches of fixed size. They assume that the sum is divided by a public number such as qn, not by
    the size of the batch drawn.

    Parameters
    ----------
    noise_multiplier : float
        σ in [1e-3, 1e6]: the noise divided by the clipping norm C, under both relations.
    sample_rate : float
        q in (0, 1], the probability with which batches are really drawn. Opacus uses 1/(number of batches).
    steps : int
        Number of steps.
    delta : float
        δ in (0, 1). For "pld" and "prv" at least 1e-10: they convolve in floating point. Their possible error, 2.2e-16
        for each step, is subtracted from δ first, so more than 4·10⁵ steps need a larger δ.
    accountant : {"pld", "prv", "rdp", "gdp"}
        How ε is computed (see `dpfair_lib.privacy.accounting.ACCOUNTANTS`). "pld" and "rdp" are upper bounds. "prv" is
        the upper end of an interval that is certified to 0.01. "gdp" is approximate, and may be too low.
    relation : {"add-remove", "replace-one"}
        Which data sets are neighbours. Only "pld" knows "replace-one".

    Returns
    -------
    float
        ε.

    Raises
    ------
    ValueError
        If an argument is out of its range, or if the accountant does not know the relation or fails at these numbers.

    References
    ----------
    Koskela, Jälkö and Honkela (2020) and Doroshenko et al. (2022) for "pld"; Gopi, Lee and Wutschitz (2021)
    for "prv"; Mironov, Talwar and Zhang (2019) for "rdp"; Bu, Dong, Long and Su (2020) for "gdp".

    Examples
    --------
    A thousand steps on batches of one percent of the rows:

    >>> import dpfair_lib as dpf
    >>> round(dpf.dp_sgd_epsilon(1.0, 0.01, 1000, 1e-5, "pld"), 2)
    1.83
    """
    sigma, rate, count, delta = checked_training(noise_multiplier, sample_rate, steps, delta)
    check_accountant(accountant, relation, delta)
    _check_steps(count, accountant)
    return _epsilon(sigma, rate, count, delta, accountant, relation)


def checked_training(
    noise_multiplier: float, sample_rate: float, steps: int, delta: float
) -> tuple[float, float, int, float]:
    """Return the numbers of a training run as plain ones, or say which is out of its range."""
    sigma = positive(noise_multiplier, "noise_multiplier")
    if not 1e-3 <= sigma <= 1e6:
        raise ValueError(f"noise_multiplier: found {sigma}, expected a number in [1e-3, 1e6]")
    return sigma, _rate(sample_rate), positive_integer(steps, "steps"), inside_unit(delta, "delta")


def _rate(sample_rate: float) -> float:
    rate = number(sample_rate, "sample_rate", "a number in (0, 1]")
    if not 0 < rate <= 1:
        raise ValueError(f"sample_rate: found {sample_rate}, expected a number in (0, 1]")
    return rate


def check_accountant(accountant: str, relation: str, delta: float) -> None:
    """Refuse an accountant that does not know the relation, or does not resolve δ."""
    one_of(accountant, "accountant", ACCOUNTANTS)
    one_of(relation, "relation", ("add-remove", "replace-one"))
    if relation == "replace-one" and accountant != "pld":
        raise ValueError(
            f"accountant: found {accountant!r}, which accounts for add-remove only, beside relation='replace-one'; "
            "expected 'pld', or the statement for add-remove and convert(statement, 'replace-one')"
        )
    if accountant in ("pld", "prv") and delta < _LEAST_DELTA:
        raise ValueError(
            f"delta: found {delta}, which floating-point convolution does not resolve, expected at least "
            f"{_LEAST_DELTA} for accountant={accountant!r}; 'rdp' has no such limit"
        )


def _check_steps(steps: int, accountant: str) -> None:
    if accountant in ("pld", "prv") and steps > MOST_STEPS:
        raise ValueError(
            f"steps: found {steps:,}, expected at most {MOST_STEPS:,} for accountant={accountant!r}, which would take "
            "hours or more memory than there is; 'rdp' has no such limit"
        )


def _epsilon(
    sigma: float, rate: float, steps: int, delta: float, accountant: str, relation: str, coarseness: float = 1.0
) -> float:  # fmt: skip
    if accountant == "pld":
        try:
            return _pld(sigma, rate, steps, delta, relation, coarseness)
        except (ArithmeticError, ValueError, MemoryError) as problem:  # raised at such numbers
            raise ValueError(
                f"accountant: found that 'pld' fails at noise multiplier {sigma}, sample rate {rate}, {steps} steps "
                f"and delta {delta} ({problem}); expected other numbers, or accountant='rdp'"
            ) from problem
    if accountant == "prv":
        return prv_interval(sigma, rate, steps, delta).upper
    return _rdp(sigma, rate, steps, delta) if accountant == "rdp" else _gdp(sigma, rate, steps, delta)


@functools.lru_cache(maxsize=4096)  # trials of one experiment ask for the same numbers again and again
def _pld(sigma: float, rate: float, steps: int, delta: float, relation: str, coarseness: float) -> float:
    with extra("accounting"):
        from dp_accounting.pld import privacy_loss_distribution
        from dp_accounting.privacy_accountant import NeighboringRelation

    neighbours = {
        "add-remove": NeighboringRelation.ADD_OR_REMOVE_ONE, "replace-one": NeighboringRelation.REPLACE_ONE
    }[relation]  # fmt: skip
    # Under replace-one the worst pair of gradients is g and −g of full norm, in any dimension (Kahane's convexity
    # inequality; see the chapter on accounting), so that one dimension suffices.
    interval = grid_width(sigma, rate, steps, delta) * coarseness
    one_step = privacy_loss_distribution.from_gaussian_mechanism(
        standard_deviation=sigma, sampling_prob=rate, value_discretization_interval=interval,
        pessimistic_estimate=True, use_connect_dots=True, neighboring_relation=neighbours,
    )  # fmt: skip
    composed = (_dense(one_step) if steps > SPARSE_STEPS else one_step).self_compose(steps)
    resolved = delta - convolution_error(steps)
    if resolved <= 0:
        raise ValueError(f"{steps} convolutions do not resolve a delta below {convolution_error(steps):.2g}")
    with np.errstate(over="ignore"):  # e^loss beyond the largest float leaves an upper bound
        epsilon = float(composed.get_epsilon_for_delta(resolved))
    return raised(epsilon) if epsilon > 0 else 0.0


def _dense(distribution: Any) -> Any:
    """Return the same privacy loss distribution with its masses in an array.

    The package decides whether to compose sparse masses as such by size**steps: with millions of steps that number
    takes longer than everything else. What it then does is the same.
    """
    with extra("accounting"):
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    up, down = distribution._pmf_remove, distribution._pmf_add
    return PrivacyLossDistribution(up.to_dense_pmf(), None if down is up else down.to_dense_pmf())


def grid_width(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Return the distance of the losses on a grid that is as fine as ε asks for.

    So that the relative error hardly depends on the scale (1e-4 at ε = 2), with some ten thousand points at most
    to one step's losses. Bounds on either side hold on any grid: the guess at ε decides about accuracy and time.
    """
    exponent = 10 / sigma + sigma**-2 / 2
    widest = math.log1p(rate * math.expm1(exponent)) if exponent < 700 else exponent + math.log(rate)
    guess = 5e-5 * _gdp(sigma, rate, steps, delta)
    # finer than 1e-8 the masses between grid points would be rounding errors of floating point
    return max(min(max(guess, widest / 3e4), max(1e-3, widest / 1e4)), 1e-8)


def _rdp(sigma: float, rate: float, steps: int, delta: float) -> float:
    with extra("accounting"):
        from dp_accounting import dp_event
        from dp_accounting.rdp import RdpAccountant

    accountant, log = RdpAccountant(), logging.getLogger("absl")
    log.addFilter(_not_about_left_out_orders)
    try:
        accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma)), steps)
        return float(accountant.get_epsilon(delta))
    finally:
        log.removeFilter(_not_about_left_out_orders)


def _not_about_left_out_orders(record: logging.LogRecord) -> bool:
    # with little noise some orders are left out of the minimum, which leaves an upper bound
    return "Excluding this order" not in record.getMessage()


def _gdp(sigma: float, rate: float, steps: int, delta: float) -> float:
    # μ = q √(T (e^(1/σ²) − 1)); beyond 1/σ² = 600 nothing is left to be said, and e^(1/σ²) overflows soon
    mu = rate * math.sqrt(steps * math.expm1(min(sigma**-2, 600.0)))
    return gaussian_epsilon(delta, 1 / mu, 1.0)


def prv_interval(
    noise_multiplier: float, sample_rate: float, steps: int, delta: float, *, epsilon_error: float = 0.01
) -> EpsilonInterval:
    """Return the interval that the PRV accountant certifies to contain the exact ε of DP-SGD, add-remove.

    Parameters
    ----------
    noise_multiplier, sample_rate, steps, delta
        As in `dp_sgd_epsilon`.
    epsilon_error : float
        Half the length of the interval, apart from an error of δ/1000 and of rounding in δ; 0.01 as in Opacus, whose
        PRV accountant returns the upper end.

    Returns
    -------
    EpsilonInterval

    Raises
    ------
    ValueError
        If an argument is out of its range, or the noise is too small for the accountant.

    References
    ----------
    Gopi, Lee and Wutschitz (2021), Theorem 5.5.

    Examples
    --------
    >>> from dpfair_lib.privacy import prv_interval
    >>> round(prv_interval(1.0, 0.01, 100, 1e-5).upper, 2)
    0.73
    """
    sigma, rate, count, delta = checked_training(noise_multiplier, sample_rate, steps, delta)
    error = positive(epsilon_error, "epsilon_error")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # an overflow inside would undo the certificate
            return _certified(sigma, rate, count, delta, error)
    except (ArithmeticError, RuntimeError, RuntimeWarning, ValueError, MemoryError) as problem:
        raise ValueError(
            f"accountant: found that 'prv' fails at noise multiplier {sigma}, sample rate {rate}, {count} steps "
            f"({problem}); expected other numbers, or accountant='pld'"
        ) from problem


def _certified(sigma: float, rate: float, steps: int, delta: float, error: float) -> EpsilonInterval:
    with extra("accounting"):
        from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    one_step = PoissonSubsampledGaussianMechanism(noise_multiplier=sigma, sampling_probability=rate)
    accountant = PRVAccountant(
        prvs=one_step, max_self_compositions=steps, eps_error=error, delta_error=delta / 1000
    )
    composed = accountant.compute_composition([steps])
    ends = composed.compute_epsilon(delta, delta / 1000 + convolution_error(steps), error)
    lower, estimate, upper = (max(float(end), 0.0) for end in ends)  # no ε is below 0
    return EpsilonInterval(lower, estimate, upper)


def dp_sgd_noise(
    epsilon: float, delta: float, sample_rate: float, steps: int, accountant: Accountant, *,
    relation: DpSgdRelation = "add-remove",
) -> float:  # fmt: skip
    """Return the noise multiplier with which DP-SGD has a given ε at a given δ, according to an accountant.

    Parameters
    ----------
    epsilon : float
        ε > 0.
    delta, sample_rate, steps, accountant, relation
        As in `dp_sgd_epsilon`.

    Returns
    -------
    float
        σ, for which `dp_sgd_epsilon` is at most ε and at least 0.9999 ε.

    Raises
    ------
    ValueError
        For the reasons of `dp_sgd_epsilon`, or if no noise multiplier between 1e-2 and 1e4 gives this ε.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> round(dpf.dp_sgd_noise(2.0, 1e-5, 0.01, 1000, "rdp"), 2)
    1.02
    """
    epsilon, delta = positive(epsilon, "epsilon"), inside_unit(delta, "delta")
    rate, count = _rate(sample_rate), positive_integer(steps, "steps")
    check_accountant(accountant, relation, delta)
    _check_steps(count, accountant)

    def epsilon_of(coarseness: float) -> Callable[[float], float]:
        return lambda sigma: _epsilon(sigma, rate, count, delta, accountant, relation, coarseness)

    # start where the central limit approximation has its answer, for which there is a formula
    ordinary = min(max(epsilon / (2 if relation == "replace-one" else 1), 1e-9), 1e9)
    mu = 1 / gaussian_sigma(ordinary, delta, 1.0, "analytic")
    ratio = min(mu / max(rate, 1e-100), 1e100)
    guess = 1 / math.sqrt(math.log1p(max(ratio**2 / count, 1e-300)))
    slope = -1.2
    if accountant == "pld":  # a coarse grid is ten times as fast, and finds the neighbourhood
        guess, slope = calibrated(epsilon_of(10.0), epsilon, guess, slope, slack=2e-3)
    return calibrated(epsilon_of(1.0), epsilon, guess, slope, slack=1e-4)[0]


def dp_sgd_statement(
    noise_multiplier: float, sample_rate: float, steps: int, delta: float, accountant: Accountant, *,
    relation: DpSgdRelation = "add-remove", sampling: str = "poisson", public: tuple[str, ...] = (),
) -> PrivacyStatement:  # fmt: skip
    """Return the privacy statement of DP-SGD.

    Parameters
    ----------
    noise_multiplier, sample_rate, steps, delta, accountant, relation
        As in `dp_sgd_epsilon`.
    sampling : str
        How the batches were really drawn; "poisson" is what the accountants account for, and all else is refused.
    public : tuple of str
        What is assumed to be known, such as the number of records.

    Returns
    -------
    PrivacyStatement
        With "gdp" it has ``guarantee=False``.

    Raises
    ------
    ValueError
        As `dp_sgd_epsilon`; if the sampling is not Poisson.

    Examples
    --------
    >>> from dpfair_lib.privacy import dp_sgd_statement
    >>> round(dp_sgd_statement(1.0, 0.01, 100, 1e-5, "pld").epsilon, 2)
    0.72
    """
    if sampling != "poisson":
        raise ValueError(
            f"sampling: found {sampling!r}, expected 'poisson': no accountant here covers shuffled or fixed-size "
            "batches; draw every record with probability sample_rate in every step"
        )
    epsilon = dp_sgd_epsilon(noise_multiplier, sample_rate, steps, delta, accountant, relation=relation)
    approximate = accountant == "gdp"
    return PrivacyStatement(
        epsilon, delta, relation, public=public,
        sampling=f"Poisson at rate {sample_rate:.6g}, {steps} steps", accountant=accountant,
        guarantee=not approximate, note=GDP_NOTE if approximate else "",
        mechanism=(Mechanism("poisson-gaussian", above(1 / Fraction(noise_multiplier)), rate=sample_rate, steps=steps,
                             relation=relation),),
    )  # fmt: skip
