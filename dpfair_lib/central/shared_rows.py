"""Post-processing fitted on the rows that trained the classifier: how far their selection rates may be biased."""

from __future__ import annotations

import math

from dpfair_lib._arguments import below_one, positive


def rate_bias_bound(epsilon: float, delta: float = 0.0) -> float:
    """Return a bound on how much more (or less) often a private classifier selects its training rows than new ones.

    Let the rows of a group be independent draws from one distribution. In expectation over rows and training, the
    selection rate of the group's training rows and that of new people of the group differ by at most this. For δ = 0
    some learner attains it.

    Parameters
    ----------
    epsilon : float
        ε > 0 of the learner, under replacement of a row by another of the same group.
    delta : float
        Its δ in [0, 1).

    Returns
    -------
    float
        tanh(ε/4) for δ = 0, and otherwise (e^ε − 1 + 2δ)/(e^ε + 1).

    Raises
    ------
    ValueError
        If a number is out of its range.

    References
    ----------
    Proved in the chapter on a private and fair model (ours). That privacy bounds such a bias is due to Dwork et al.
    (2015).

    Examples
    --------
    >>> from dpfair_lib.central import rate_bias_bound
    >>> round(rate_bias_bound(1.0), 3), round(rate_bias_bound(0.1), 4)
    (0.245, 0.025)
    """
    epsilon, delta = positive(epsilon, "epsilon"), below_one(delta, "delta")
    if delta == 0:
        return math.tanh(epsilon / 4)
    return math.tanh(epsilon / 2) * (1 - delta) + delta
