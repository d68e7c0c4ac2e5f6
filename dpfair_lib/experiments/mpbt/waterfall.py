"""From the bound printed in Table 1 of MPBT to the true effect of the noise, one improvement after another."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import binom

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.mpbt.bounded_impact import (
    BOUND,
    EPSILON,
    LIPSCHITZ,
    SLACK,
    STATED_MODULUS,
    ZETA,
    Prepared,
    fitted,
    noise_scale,
    prepared,
)
from dpfair_lib.experiments.sources import describe_table
from dpfair_lib.fairness.linear_form import NOTIONS, desirable_labels, form_coefficients, members
from dpfair_lib.margins.certificate import deviations
from dpfair_lib.margins.noise_certificate import WIDE_SHARE
from dpfair_lib.margins.noise_draws import noisy_fairness
from dpfair_lib.margins.projections import local_reach, markov_reach, order_statistic, simulated_reach
from dpfair_lib.margins.radius import noise_norm_squared_bound
from dpfair_lib.margins.terms import chernoff_terms, exact_terms, markov_terms, signed_terms
from dpfair_lib.privacy.minimisers import gradient_radius, minimiser_reach

FITS = ("as run", "as stated")
RELEASES = 10  # private models from which the certificates are computed, too
LABELS = np.array([0, 1])
DRAWN = ("classical", "analytic", "analytic, sharp")  # noises that are drawn, and not only bounded
TERMS = {"markov": markov_terms, "chernoff": chernoff_terms, "exact": exact_terms}


@dataclass(frozen=True)
class Choice:
    """What a bound is made of; the defaults are those behind Table 1 as run.

    Attributes
    ----------
    bound : {"markov", "chernoff", "exact", "signed"}
        On a group's change of accuracy.
    lipschitz : float
        L over ‖x‖.
    coefficients : {"corollary", "theorem"}
        Corollary 3.3's sum, or Theorem 3.2's.
    reach : {"lemma-4.1", "norm", "markov", "simulated", "local"}
        How far a row can move: the radius of Lemma 4.1, the exact quantile of the norm, or one projection per row.
    noise : {"classical", "analytic", "classical, sharp", "analytic, sharp"}
        The calibration of the noise, for the classical sensitivity or for that of logistic regression.
    """

    bound: str = "exact"
    lipschitz: float = LIPSCHITZ["as run"]
    coefficients: str = "corollary"
    reach: str = "lemma-4.1"
    noise: str = "classical"


def chain() -> Iterator[tuple[str, Choice]]:
    """Yield the bounds in their order, each with one thing changed."""
    now = Choice(bound="markov")
    yield "Theorem 4.4: Markov's inequality", now
    yield "Remark B.1: Chernoff's bound", (now := replace(now, bound="chernoff"))
    yield "as computed for Table 1: exact share", (now := replace(now, bound="exact"))
    yield "least Lipschitz constant", (now := replace(now, lipschitz=LIPSCHITZ["sharp"]))
    yield "exact quantile of the noise's norm", (now := replace(now, reach="norm"))
    yield "Theorem 3.2's coefficients", (now := replace(now, coefficients="theorem"))
    yield "one-sided margins", (now := replace(now, bound="signed"))
    yield "one projection per row, Markov", (now := replace(now, reach="markov"))
    yield "one projection per row, simulated", (now := replace(now, reach="simulated"))
    yield "the same for rows that can change", (now := replace(now, reach="local"))
    yield "analytic Gaussian noise", replace(now, noise="analytic")
    yield "sharp sensitivity", replace(now, noise="analytic, sharp")


def alone() -> Iterator[tuple[str, Choice]]:
    """Yield the bound of Table 1 as run with one thing changed; one-sided margins need Theorem 3.2's coefficients."""
    start = Choice()
    yield "least Lipschitz constant", replace(start, lipschitz=LIPSCHITZ["sharp"])
    yield "exact quantile of the noise's norm", replace(start, reach="norm")
    yield "Theorem 3.2's coefficients", replace(start, coefficients="theorem")
    yield "one-sided margins", replace(start, coefficients="theorem", bound="signed")
    yield "one projection per row, Markov", replace(start, reach="markov")
    yield "one projection per row, simulated", replace(start, reach="simulated")
    yield "the same for rows that can change", replace(start, reach="local")
    yield "analytic Gaussian noise", replace(start, noise="analytic")
    yield "sharp sensitivity", replace(start, noise="classical, sharp")


def noise_scales(bound: float, n: int) -> dict[str, float]:
    """Return σ of every noise at the modulus 1, whatever was trained; a smaller sensitivity lowers it in proportion.

    Parameters
    ----------
    bound : float
        Λ, the largest norm of a row.
    n : int
        Training records.

    References
    ----------
    MPBT, § 4.1; the sharp sensitivity is that of `logistic_perturbation_sensitivity`.
    """
    classical, analytic = (
        noise_scale(bound, n, EPSILON, "classical"),
        noise_scale(bound, n, EPSILON, "analytic"),
    )
    share = gradient_radius(minimiser_reach(bound**2 / STATED_MODULUS))
    return {
        "classical": classical,
        "analytic": analytic,
        "classical, sharp": share * classical,
        "analytic, sharp": share * analytic,
    }


def run_fit(
    *, data: str, fit: str, draws: int, seed: int, standin: int | None = None
) -> list[dict[str, Any]]:
    """Return every bound for one trained model, and what the noise does to its fairness.

    Parameters
    ----------
    data : str
        "celeba" or "acs-income".
    fit : str
        One of `FITS`.
    draws : int
        Draws of the noise.
    seed : int
        Their seed.
    standin : int, optional
        Number of rows of the stand-in; by default the data themselves.

    Returns
    -------
    list of dict
        ``fit, part, step, notion, noise, reference, reach, value``. The value is the mean, over the groups that the
        notion compares, of the bounds on |F_k(h_priv) − F_k(h*)| (part "chain" and "alone"), computed from h* or, for
        the last steps, from each of some private models; of the certificate by simulation from h* (part "law"); and
        the 0.99 quantile over other draws with the ends of its exact 95 % interval (part "quantile").
    """
    parts = prepared(data, standin)
    weights = fitted(fit, parts.rows, parts.signs)
    rng = np.random.default_rng(seed)
    scales = noise_scales(BOUND[data], len(parts.rows))
    found: list[dict[str, Any]] = []
    # in units of the noise; the same for every model on these rows
    widest = [
        simulated_reach(parts.test_rows, 1.0, zeta=zeta, draws=draws, rng=np.random.default_rng([seed, 1]))
        for zeta in (ZETA, WIDE_SHARE * ZETA)
    ]
    made: dict[str, Any] = {
        "scales": scales,
        "widest": (widest[0], widest[1]),
        "draws": draws,
        "seed": seed,
    }
    bounds = Bounds(parts, weights, **made)
    for part, choices in (("chain", chain()), ("alone", alone())):
        found += [row for step, choice in choices for row in bounds.rows(part, step, choice)]
    last = list(chain())[-5:]
    for at in range(RELEASES):
        released = {kind: weights + scales[kind] * rng.normal(size=len(weights)) for kind in DRAWN}
        for kind, vector in released.items():
            from_it = Bounds(parts, vector, **made, reference=f"release {at}")
            for step, choice in last:
                if choice.noise == kind:
                    found += from_it.rows("chain", step, choice)
    for kind in DRAWN:
        found += law(parts, weights, kind, scales[kind], draws, rng)
    return [{"fit": fit, **row} for row in found]


class Bounds:
    """The bounds of one model on the test rows."""

    def __init__(
        self, data: Prepared, weights: np.ndarray, scales: dict[str, float], widest: tuple[float, float],
        draws: int, seed: int, reference: str = "h*",
    ) -> None:  # fmt: skip
        self.data, self.scales, self.widest = data, scales, widest
        self.draws, self.seed, self.reference = draws, seed, reference
        signs = 2 * data.test_labels - 1
        self.relative = signs * (data.test_rows @ weights) / np.linalg.norm(data.test_rows, axis=1)
        self.codes = data.test_labels * len(data.groups) + data.test_groups
        self.shape = (len(LABELS), len(data.groups))
        joint = np.bincount(self.codes, minlength=math.prod(self.shape)).reshape(self.shape)
        self.joint = joint / joint.sum()

    def rows(self, part: str, step: str, choice: Choice) -> list[dict[str, Any]]:
        """Return a row per notion."""
        return [
            {
                "part": part, "step": step, "notion": notion, "noise": choice.noise, "reference": self.reference,
                "reach": self.reach(choice, len(members(notion, *self.shape))),
                "value": self.mean_deviation(choice, notion),
            }
            for notion in NOTIONS
        ]  # fmt: skip

    def reach(self, choice: Choice, parts: int) -> float:
        """Return how far a row can move, over its norm."""
        return self._reach(choice.reach, choice.noise, parts if choice.reach == "markov" else 1)

    @functools.cache  # noqa: B019 - lives as long as one task
    def _reach(self, kind: str, noise: str, parts: int) -> float:
        scale, rows = self.scales[noise], self.data.test_rows
        if kind == "markov":
            return markov_reach(scale, zeta=ZETA, slack=SLACK, groups=parts)
        if kind == "simulated":
            return scale * self.widest[0]
        if kind == "local":
            narrow: dict[str, Any] = {
                "zeta": (1 - WIDE_SHARE) * ZETA,
                "draws": self.draws,
                "rng": np.random.default_rng([self.seed, 2]),
            }
            return local_reach(self.relative, rows, scale, wide=scale * self.widest[1], **narrow)
        squared = noise_norm_squared_bound(rows.shape[1], ZETA, "exact" if kind == "norm" else "lemma-4.1")
        return scale * math.sqrt(squared)

    def mean_deviation(self, choice: Choice, notion: str) -> float:
        """Return the mean of the bounds on |F_k(h_priv) − F_k(h*)| over the groups that the notion compares."""
        parts = members(notion, *self.shape)
        reach = choice.lipschitz * self.reach(choice, len(parts))
        slack = SLACK if choice.reach == "markov" else 0.0
        desirable = desirable_labels(LABELS, notion, None)
        _, matrix = form_coefficients(self.joint, notion, desirable)
        compared = np.abs(matrix).sum(axis=1) > 0
        if choice.coefficients == "theorem":
            terms = np.array([self.term(choice.bound, part[self.codes] > 0, reach, slack) for part in parts])
            return float(np.maximum(*deviations(matrix, terms))[compared].mean())
        own, others = corollary_sets(notion, self.shape)
        totals = np.array([
            sum(max(self.term(choice.bound, cells[self.codes], reach, slack)) for cells in pair if cells.any())
            for pair in zip(own, others, strict=True)
        ])  # fmt: skip
        return float(totals[compared].mean())

    def term(self, bound: str, chosen: np.ndarray, reach: float, slack: float) -> tuple[float, float]:
        """Return how much of their accuracy some rows can lose and gain."""
        relative = self.relative[chosen]
        one_cell = np.zeros(len(relative), dtype=np.intp)
        if bound == "signed":
            lost, gained = signed_terms(relative, one_cell, 1, reach)[0].tolist()
            return min(1, lost + slack), min(1, gained + slack)
        value = float(TERMS[bound](relative, one_cell, 1, reach)[0])
        return value + slack, value + slack


def corollary_sets(notion: str, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return for each group of a notion the cells of the two means that Corollary 3.3 adds, as booleans.

    Cells and not means, as Chernoff's bound has one t for all rows of a mean and is no mean of the cells' bounds.
    """
    label, group = (axis.ravel() for axis in np.indices(shape))
    everyone, nobody = np.ones((1, label.size), dtype=bool), np.zeros((1, label.size), dtype=bool)
    if notion == "accuracy":
        return everyone, nobody
    same_group = np.equal.outer(group, group)
    if notion == "accuracy_parity":
        return same_group[: shape[1]], np.repeat(everyone, shape[1], axis=0)
    if notion == "demographic_parity":
        return same_group, np.repeat(everyone, label.size, axis=0)
    return np.eye(label.size, dtype=bool), np.equal.outer(label, label)


def law(
    data: Prepared, weights: np.ndarray, kind: str, scale: float, draws: int, rng: np.random.Generator
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the certificate by simulation from h*, and the quantile over other draws with its interval."""
    rows: list[dict[str, Any]] = []
    for part in ("law", "quantile"):
        levels = noisy_fairness(
            weights, data.test_labels, X=data.test_rows, sensitive_features=data.test_groups,
            sigma=scale, draws=draws, rng=rng,
        )  # fmt: skip
        for notion, level in levels.items():
            compared = np.abs(level).sum(axis=0) > 0  # the groups of the other label do not enter opportunity
            moved = np.abs(level[1:] - level[0])[:, compared].mean(axis=1)
            values = (
                {"simulation from h*": order_statistic(moved, ZETA)} if part == "law" else quantile(moved)
            )
            rows += [
                {
                    "part": part, "step": step, "notion": notion, "noise": kind, "reference": "h*",
                    "reach": math.nan, "value": value,
                }
                for step, value in values.items()
            ]  # fmt: skip
    return rows


def quantile(values: np.ndarray, *, level: float = 1 - ZETA, confidence: float = 0.95) -> dict[str, float]:
    """Return a quantile of independent draws and the ends of its exact interval, which are draws themselves.

    The number of draws at or below the quantile is binomial, so that the ends are the order statistics at its own
    quantiles; the confidence is at least the one asked for, for every law.

    Parameters
    ----------
    values : ndarray of shape (R,)
        The draws.
    level : float
        Which quantile.
    confidence : float
        Of the interval.

    Returns
    -------
    dict
        ``0.99 quantile, low, high``.

    Raises
    ------
    ValueError
        If the draws are too few for the interval to have an upper end.
    """
    ordered, tail = np.sort(values), (1 - confidence) / 2
    low = int(binom.ppf(tail, len(values), level))
    high = int(binom.isf(tail, len(values), level)) + 1
    if high > len(values) or low < 1:
        raise ValueError(
            f"values: found {len(values)} draws, expected more for an interval of the {level:g} quantile"
        )
    middle = ordered[math.ceil(level * len(values) * (1 - 1e-12)) - 1]
    return {
        f"{level:g} quantile": float(middle),
        "low": float(ordered[low - 1]),
        "high": float(ordered[high - 1]),
    }


def experiment(name: str) -> Experiment:
    """Return the bounds from Table 1 down to what the noise does, a task per trained model."""
    parameters = {"draws": 10_000, "seed": 0}
    tasks = [{"data": "celeba", "fit": fit, **parameters} for fit in FITS]
    return Experiment(name, describe_table("celeba"), parameters, run_fit, tasks)


EXPERIMENTS: Experiments = {"mpbt-waterfall-celeba": experiment}
