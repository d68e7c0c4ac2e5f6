"""Six fair learners under audit: a pair of neighbours for each, and what shows both parts of its release.

Each learner spends one budget on two parts: sums of labels and of groups; counts and gradients; gradients by the
weights and by W; sums and counts. The record in which the neighbours differ moves both parts as far as it can. Noise
is Gaussian, so the logarithm of a part's likelihood ratio is its move times what was seen, over the variance, plus a
constant, which an event does not need. Most parts are seen through other numbers that are released. Tests compute from
the sums themselves that the moves are as large as the account allows, and how much of the budget is seen.

**Public rows.** The other rows are the same on both data sets. Their part in a sum shows what was not released by
itself, such as a clipping norm, and so the noisy count that it follows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.experiments.ours.audited_release import changed
from dpfair_lib.privacy import (
    PrivacyStatement,
    dp_sgd_epsilon,
    dp_sgd_noise,
    gaussian_epsilon,
    gaussian_sigma,
)
from dpfair_lib.privacy.grid_noise import continuous_delta

EPSILON, DELTA = 2.0, 1e-2
LONG = 100.0
"""Length of rows: ½ LONG is longer than any clipping norm here."""
FEWER = 10.0
"""By what the noise of one part is divided, where it has nearly none."""

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Features, labels, groups."""
Settings = dict[str, Any]


class Parts(NamedTuple):
    """Logarithms of the likelihood ratios of both parts, up to constants."""

    first: float
    second: float


@dataclass(frozen=True)
class Learner:
    """A learner under audit.

    Attributes
    ----------
    pair : (Rows, Rows)
        Two neighbours.
    fit : callable
        ``fit(rows, settings)`` returns the fitted learner, with some settings changed.
    parts : callable
        What a fitted learner shows.
    quarter : callable
        Returns the settings at which all noise is a quarter of what it is.
    counts : callable, optional
        Returns the settings at which the noise of the second part is `FEWER` times smaller, the rest being the same.
    """

    pair: tuple[Rows, Rows]
    fit: Callable[[Rows, Settings], Any]
    parts: Callable[[Any], Parts]
    quarter: Callable[[], Settings]
    counts: Callable[[], Settings] | None = None

    @functools.cached_property
    def statement(self) -> PrivacyStatement:
        """What it claims as it should be."""
        found: PrivacyStatement = self.fit(self.pair[0], {}).privacy_statement_
        return found


# The functional mechanism: a row keeps its features and changes label and group, so that both sums move by x.

PENALTY = 1e6
"""So much regularisation that the weights are the sum of the labels, over n and it."""
ROWS = 200


def functional() -> Learner:
    """Return the functional mechanism; weights show Σ (y − ½) x, the covariance Σ (a − ½) x but for its last entry.

    The covariance is centred by a noisy share times the noisy Σ x. Both are 0 but for noise, and their product is
    divided by n. One row has norm Λ, as the intercept has the entry 1; features of norm 2 make up ⅘ of its square.
    """
    from dpfair_lib.learners.functional import FairFunctionalClassifier

    X = np.tile([2.0, -2.0], ROWS // 2)[:, None]
    y, a = np.repeat([0, 1], ROWS // 2), np.tile([0, 0, 1, 1], ROWS // 4)

    def fit(rows: Rows, settings: Settings) -> Any:
        usual: Settings = {"epsilon": EPSILON, "delta": DELTA, "penalty": 0.0, "feature_bound": 2.0}
        model = FairFunctionalClassifier(
            **usual | settings, regularization=PENALTY, groups=(0, 1), classes=(0, 1)
        )  # fmt: skip
        return model.fit(rows[0], rows[1], sensitive_features=rows[2])

    def parts(model: Any) -> Parts:
        labels = ROWS * PENALTY * (2 * model.coef_[0, 0] + model.intercept_[0])
        variance = 2 * 5 * gaussian_sigma(model.epsilon, DELTA, 1.0, "analytic") ** 2  # (√2 Λ σ)²
        return Parts(labels / variance, 2 * ROWS * float(model.covariance_[0]) / variance)

    return Learner(((X, y, a), (X, changed(y, 0, 1), changed(a, 0, 1))), fit, parts, quarter_gaussian)


def quarter_gaussian() -> Settings:
    """Return the ε of a quarter of the noise of one Gaussian release."""
    sigma = gaussian_sigma(EPSILON, DELTA, 1.0, "analytic")
    return {"epsilon": gaussian_epsilon(DELTA, sigma / 4, 1.0)}


# DP-FERMI: a record comes in.


def sgd_noise(steps: int, epsilon: float = EPSILON) -> float:
    """Return the noise multiplier of that many steps with all rows in the batch."""
    return float(dp_sgd_noise(epsilon, continuous_delta(DELTA), 1.0, steps, "pld"))


def stacked(*blocks: tuple[int, list[float], int, int]) -> Rows:
    """Return rows from blocks: how many, the features, the label, the group."""
    X = np.array([x for many, x, _, _ in blocks for _ in range(many)])
    y, a = (np.repeat([block[at] for block in blocks], [block[0] for block in blocks]) for at in (2, 3))
    return X, y, a


def without_first(rows: Rows) -> tuple[Rows, Rows]:
    """Return rows, and the same without the first one."""
    return rows, (rows[0][1:], rows[1][1:], rows[2][1:])


def fermi() -> Learner:
    """Return DP-FERMI; one step, of which weights and W show both sums themselves.

    At the start the gradient of two equal groups by W has norm √2, and is clipped to 1, as that by the weights is. The
    frequencies are public.
    """
    from dpfair_lib.learners.fermi import DPFermiClassifier

    rows = np.full((4, 1), LONG), np.array([1, 0, 1, 1]), np.array([1, 0, 1, 0])
    down = np.array([LONG, 1.0]) / math.hypot(LONG, 1)
    up = np.array([[-1.0, -1.0], [1.0, 1.0]]) / 2  # e_1/√P_1 − √P in both columns, of norm 1

    def fit(data: Rows, settings: Settings) -> Any:
        n = len(data[1])  # by which both sums are divided again
        usual: Settings = {"epsilon": EPSILON}
        model = DPFermiClassifier(
            **usual | settings, delta=DELTA, penalty=1.0, steps=1, batch_size=n, learning_rate=n,
            w_learning_rate=n, max_grad_norm=1.0, w_max_grad_norm=1.0, w_radius=1e9,
            group_frequencies={0: 0.5, 1: 0.5},
        )  # fmt: skip
        return model.fit(data[0], data[1], sensitive_features=data[2])

    def parts(model: Any) -> Parts:
        weights, variance = np.append(model.coef_[0], model.intercept_), 2 * model.noise_multiplier_**2
        return Parts(float(weights @ down) / variance, float((model.W_ * up).sum()) / variance)

    def quarter() -> Settings:
        sigma = sgd_noise(1) / 4
        return {"epsilon": dp_sgd_epsilon(sigma, 1.0, 1, continuous_delta(DELTA), "pld")}

    return Learner(without_first(rows), fit, parts, quarter)


FREQUENCIES, RARE, COMMON = 0.5, 25, 1000
"""ε of the groups' frequencies, and the sizes of the groups."""


def fermi_counted() -> Learner:
    """Return DP-FERMI that releases frequencies first; the record's group is rare, so that its frequency is its count.

    Given the frequencies P, the gradients by W are known: that of a rare row is clipped to norm 1, that of another row
    has norm √(2 P_1/P_0). The first part are the gradients, the second is the count, whose noise is Laplace's.
    """
    from dpfair_lib.learners.fermi import DPFermiClassifier

    rows = stacked((RARE, [LONG], 1, 1), (COMMON - 1, [LONG], 1, 0), (1, [LONG], 0, 0))
    down = np.array([LONG, 1.0]) / math.hypot(LONG, 1)
    middle = RARE - 0.5

    def fit(data: Rows, settings: Settings) -> Any:
        n = len(data[1])
        usual: Settings = {"epsilon": EPSILON, "frequency_epsilon": FREQUENCIES}
        model = DPFermiClassifier(
            **usual | settings, delta=DELTA, penalty=1.0, steps=1, batch_size=n, learning_rate=n, w_learning_rate=n,
            max_grad_norm=1.0, w_max_grad_norm=1.0, w_radius=1e9,
        )  # fmt: skip
        return model.fit(data[0], data[1], sensitive_features=data[2])

    def parts(model: Any) -> Parts:
        variance, (common, rare) = 2 * model.noise_multiplier_**2, model.group_frequencies_
        root = np.sqrt([common, rare])
        own, other = np.array([0, 1 / root[1]]) - root, np.array([1 / root[0], 0]) - root
        own = own / np.linalg.norm(own) / math.sqrt(2)
        moved = (model.W_ - root[:, None]).sum(axis=1) - 2 * COMMON * other  # both columns are alike
        weights = float(np.append(model.coef_[0], model.intercept_) @ down) - COMMON + 2 - middle
        first = (weights + float(moved @ own) - middle) / variance
        count = COMMON * rare / common
        laplace = FREQUENCIES * (abs(count - RARE + 1) - abs(count - RARE))
        return Parts(first, float(laplace))

    def quarter() -> Settings:
        loud = dp_sgd_epsilon(sgd_noise(1, EPSILON - FREQUENCIES) / 4, 1.0, 1, continuous_delta(DELTA), "pld")
        return {"frequency_epsilon": 4 * FREQUENCIES, "epsilon": 4 * FREQUENCIES + loud}

    def few() -> Settings:
        return {"frequency_epsilon": FEWER * FREQUENCIES, "epsilon": EPSILON + (FEWER - 1) * FREQUENCIES}

    return Learner(without_first(rows), fit, parts, quarter, few)


ROUNDS, EACH_GROUP, RATE, HALF = 5, 800, 13.0, 0.5
LENGTH = 3.0


def exponentiated_gradient() -> Learner:
    """Return exponentiated gradient; of the last round's weights two entries show the sum, and the sum of the counts.

    The rows without groups are public. So the weights show the price λ times the difference of the groups' mean rows.
    On the second axis that difference is known, up to little noise, which shows λ; on the first axis the means are
    small, so that the noise of the groups' sizes does not matter. λ follows the sum of the counts of all earlier
    rounds. Prices are so small that the same rows are selected in every round, the record among them.
    """
    from dpfair_lib.learners.constrained.exponentiated_gradient import PrivateExponentiatedGradient
    from dpfair_lib.learners.constrained.reduction_game import deviations as noise_of
    from dpfair_lib.learners.functional import FINE

    bound, reg = 1e-3, 1e-4
    X, y, a = stacked(
        (45, [LENGTH, 0.0], 1, 1), (45, [-LENGTH, 0.0], 0, 1), (EACH_GROUP - 90, [0.0, 1.0], 0, 1),
        (25, [LENGTH, 0.0], 1, 0), (25, [-LENGTH, 0.0], 0, 0), (EACH_GROUP - 50, [0.0, -1.0], 0, 0),
    )  # fmt: skip
    public = np.column_stack([X, np.ones(len(X))])
    matrix = public.T @ public + reg * len(X) * np.eye(3)
    target, apart = (2 * y - 1) @ public, len(X) * (2 - 140 / EACH_GROUP)

    def fit(rows: Rows, settings: Settings) -> Any:
        usual: Settings = {"epsilon": EPSILON, "delta": DELTA, "sums_share": HALF}
        model = PrivateExponentiatedGradient(
            **usual | settings, notion="demographic_parity", feature_bound=LENGTH, rounds=ROUNDS,
            multiplier_bound=bound, multiplier_rate=RATE, regularization=reg, groups=(0, 1), classes=(0, 1),
        )  # fmt: skip
        return model.fit(rows[0], rows[1], sensitive_features=rows[2])

    def parts(model: Any) -> Parts:
        noise = noise_of(model.epsilon, DELTA, 3, ROUNDS, model.sums_share)
        first, second, _ = target - matrix @ np.append(model.coefs_[-1], model.intercepts_[-1])
        price = float(np.clip(second / apart / bound, -0.99, 0.99))  # (e^u − e^−u)/(1 + e^u + e^−u)
        u = math.log((price + math.sqrt(4 - 3 * price**2)) / (2 - 2 * price))
        counts = u / RATE * EACH_GROUP / 2  # the sum of all rounds
        sums = first / second * apart / len(X) * EACH_GROUP / 2
        variance = (noise.sums / FINE) ** 2 * (LENGTH**2 + 1)
        return Parts(float(sums) * LENGTH / variance, counts / noise.counts**2)

    def few() -> Settings:
        sums, counts = HALF, (1 - HALF) * FEWER**2  # parts of μ²
        sigma = gaussian_sigma(EPSILON, DELTA, 1.0, "analytic") / math.sqrt(sums + counts)
        return {"epsilon": gaussian_epsilon(DELTA, sigma, 1.0), "sums_share": sums / (sums + counts)}

    return Learner(((X, y, a), (X, y, changed(a, 0, 0))), fit, parts, quarter_gaussian, few)
