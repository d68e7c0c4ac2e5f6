"""A law that is nearly that of the gap, with normal errors of the new rates: it says where to look, no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

POINTS = 129  # of the smallest new rate
REACH = 6.0  # deviations
LEAST = 1e-9  # deviation that counts as none


def normal_gap(means: Sequence[float], deviations: Sequence[float]) -> Callable[[float], float]:
    """Return g ↦ P(largest − smallest > g) for independent normal numbers.

    Parameters
    ----------
    means, deviations : sequence of float
        Of each number.

    Returns
    -------
    callable
        To about 0.01.
    """
    from scipy.special import ndtr

    mean = np.asarray(means, dtype=float)[:, None]
    spread = np.maximum(np.asarray(deviations, dtype=float), LEAST)[:, None]
    # points that are dense where the smallest number is
    at = np.unique((mean + spread * np.linspace(-REACH, REACH, POINTS)).ravel())
    at = at[at <= float((mean + REACH * spread).min())]
    below = ndtr((at - mean) / spread)

    def exceeds(gap: float) -> float:
        within = np.maximum(ndtr((at + gap - mean) / spread) - below, 0.0)
        # smallest in a cell, all others up to its end plus the gap
        inside = (within[:, :-1] + within[:, 1:]) / 2
        steps, product = np.diff(below, axis=1), inside.prod(axis=0)
        shares = np.divide(steps, inside, out=np.zeros_like(steps), where=inside > 0)
        return float(np.clip(1 - (shares * product).sum(), 0.0, 1.0))

    return exceeds
