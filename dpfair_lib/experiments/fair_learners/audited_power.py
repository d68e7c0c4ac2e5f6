"""The power of an audit: how often it convicts where the law of its scores is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpfair_lib.privacy import audit_approximate

AUDITS = 200
"""Simulated audits."""
Law = Callable[[bool, int, np.random.Generator], np.ndarray]
"""Scores with the record, or without: how many, and drawn by what."""


def power(law: Law, size: int, epsilon: float, delta: float, failure: float) -> float:
    """Return the share of simulated audits whose bound is above the claim.

    Parameters
    ----------
    law : callable
        Of scores.
    size : int
        Runs on each data set.
    epsilon, delta : float
        The claim.
    failure : float
        Probability that a bound exceeds the true ε.
    """
    rng = np.random.default_rng(0)
    found = [
        audit_approximate(law, [(True, False)], size, failure, rng, delta).epsilon_lower
        for _ in range(AUDITS)
    ]
    return float(np.mean(np.array(found) > epsilon))


def gaussian(distance: float) -> Law:
    """Return the law of scores with noise of deviation 1 that the record moves by a distance."""
    return lambda inside, many, rng: distance * inside + rng.normal(size=many)


def seldom(chance: float) -> Law:
    """Return the law of scores that are 1 with a chance if the record is there, and 0 if not."""
    return lambda inside, many, rng: inside * (rng.random(many) < chance).astype(float)
