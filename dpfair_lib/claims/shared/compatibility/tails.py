"""Tails of binomial laws, exactly, for CGKM's Lemmas 1 and 3."""

from __future__ import annotations

import numpy as np


def tails(law: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return each deviation d that can occur and Pr[deviation ≥ d], the limit of Pr[> ρ] as ρ rises to d."""
    deviations, weights = law
    order = np.argsort(-deviations)
    return deviations[order], np.cumsum(weights[order])
