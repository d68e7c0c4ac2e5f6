"""Scaling of columns: by bounds that the user declares, or by means and deviations released with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import one_of, positive
from dpfair_lib.learners.linear import LEFT_OUT
from dpfair_lib.preparation.cells import Cells, Preparation, Scaled, checked_bounds, in_order, without_cost
from dpfair_lib.preparation.moments import moments_mechanism, noisy_moments
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.sampling import Noise

Relation = Literal["replace-one", "add-remove"]
BOUNDS = "bounds of the scaled columns"
SMALLEST_DEVIATION = 0.02
"""Of a column's range; noise can leave a variance near zero or below it."""


class PublicScaler(Preparation):
    """Scale columns to [0, 1] by bounds that were chosen without looking at the rows.

    Values beyond the bounds are cut off. Missing values stay missing, and columns that are not named stay as they are.
    The Euclidean norm of a row of d scaled columns is at most √d, a public number for a learner's ``feature_bound``.

    Parameters
    ----------
    bounds : mapping
        Column → (low, high), finite numbers. Columns of an array are named by position.

    Attributes
    ----------
    cells_ : dict
        Column → the function of its cells.
    privacy_statement_ : PrivacyStatement
        ε = 0: no row is looked at. It names the bounds as public.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> scaler = dpf.PublicScaler({0: (0, 100), 1: (-1, 1)})
    >>> scaler.fit_transform([[50, 0.5], [250, None]]).tolist()
    [[0.5, 0.75], [1.0, nan]]
    >>> print(scaler.privacy_statement_)
    ε = 0 (pure), add-remove, per record; public: the columns, bounds of the scaled columns
    """

    def __init__(self, bounds: Mapping[Any, tuple[float, float]]) -> None:
        self.bounds = bounds

    def _learn(self, _: dict[Any, np.ndarray]) -> tuple[dict[Any, Cells], PrivacyStatement]:
        cells: dict[Any, Cells] = {
            column: Scaled(low, high, low, high - low)
            for column, (low, high) in checked_bounds(self.bounds).items()
        }
        return cells, without_cost(BOUNDS)


class PrivateScaler(Preparation):
    """Scale columns by their means and standard deviations, released with Laplace noise.

    Values beyond the bounds are cut off first. Missing values are left out of the sums and stay missing. Columns that
    are not named stay as they are. Each deviation is at least 2 % of the range between the bounds.

    Parameters
    ----------
    bounds : mapping
        Column → (low, high), finite numbers, chosen without looking at the rows. The wider, the more noise.
    epsilon : float
        ε > 0 of all means and deviations together; each column gets an equal share.
    relation : {"replace-one", "add-remove"}, default="replace-one"
        What the statement speaks of. The noise is the same for both.
    noise : {"secure", "study"}, default="secure"
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    means_, deviations_ : dict
        Column → its noisy mean, and its noisy deviation.
    cells_ : dict
        Column → the function of its cells.
    privacy_statement_ : PrivacyStatement
        What the release costs; without guarantee for study noise.

    Notes
    -----
    A column's values are counted from the middle of its range, in units of it: c ∈ [−½, ½]. Released are the sums of
    c, of c² and of ¼ for each value that is present. One row more or less moves them by at most ½ + ¼ + ¼ = 1, one
    row replaced by at most 1 too. Around the lower bound a replacement would move two sums by 2, and ask for twice
    the noise.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> ages = np.random.default_rng(0).normal(40, 10, size=(5000, 1))
    >>> scaler = dpf.PrivateScaler({0: (0, 100)}, epsilon=1.0).fit(ages)
    >>> abs(scaler.means_[0] - 40) < 1, abs(scaler.deviations_[0] - 10) < 1
    (True, True)
    >>> print(scaler.privacy_statement_)
    ε = 1 (pure), replace-one, per record; public: the columns, bounds of the scaled columns; not counted: other fits on
    these rows, such as those of a scaler or of a grid search
    """

    def __init__(
        self, bounds: Mapping[Any, tuple[float, float]], *, epsilon: float, relation: Relation = "replace-one",
        noise: Noise = "secure", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.bounds = bounds
        self.epsilon = epsilon
        self.relation = relation
        self.noise = noise
        self.random_state = random_state

    def _learn(self, columns: dict[Any, np.ndarray]) -> tuple[dict[Any, Cells], PrivacyStatement]:
        limits, epsilon = in_order(checked_bounds(self.bounds), columns), positive(self.epsilon, "epsilon")
        one_of(self.relation, "relation", ("replace-one", "add-remove"))
        source = NoiseSource.of(self.noise, self.random_state)
        given = [(columns[column], low, high) for column, (low, high) in limits.items()]
        statement = source.mark(PrivacyStatement(
            epsilon, 0.0, self.relation, public=("the columns", BOUNDS), note=LEFT_OUT,
            mechanism=(moments_mechanism(len(given), epsilon),),
        ))  # fmt: skip
        moments = noisy_moments(given, epsilon, source, squares=True)
        self.means_: dict[Any, float] = {}
        self.deviations_: dict[Any, float] = {}
        cells: dict[Any, Cells] = {}
        for (column, (low, high)), (mean, square) in zip(limits.items(), moments, strict=True):
            width = high - low
            self.means_[column] = low + width * (0.5 + mean)
            self.deviations_[column] = width * math.sqrt(max(square - mean**2, SMALLEST_DEVIATION**2))
            cells[column] = Scaled(low, high, self.means_[column], self.deviations_[column])
        return cells, statement
