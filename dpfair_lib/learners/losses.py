"""Loss functions of one record, as functions of its margin z (the score times the label −1 or 1).

The huberised hinge of half-width h is 0 for z ≥ 1 + h, 1 − z for z ≤ 1 − h, and (1 + h − z)²/(4h) between: the hinge
loss with its corner rounded. It has a derivative everywhere, so the norm of the gradient says how far a solver is from
the minimum. The hinge loss itself has no derivative at its corner.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import expit

Loss = Literal["logistic", "huberised-hinge"]
LOSSES = ("logistic", "huberised-hinge")
HALF_WIDTH = 0.5
"""h, the usual one (Chaudhuri, Monteleoni and Sarwate, 2011, § 3.4.2)."""
LARGEST_CURVATURE = {"logistic": 0.25, "huberised-hinge": 1 / (2 * HALF_WIDTH)}
"""Loss → the largest ℓ″."""


def loss_values(margins: np.ndarray, loss: Loss) -> np.ndarray:
    """Return ℓ(z) for every margin.

    Parameters
    ----------
    margins : ndarray
        z.
    loss : {"logistic", "huberised-hinge"}
        Which loss.

    Returns
    -------
    ndarray
        Values.
    """
    if loss == "logistic":
        return np.asarray(np.logaddexp(0, -margins))
    share = descent(margins, loss)
    # the quadratic where the derivative is between 0 and −1, the line beyond
    return np.asarray(HALF_WIDTH * share**2 + np.maximum(1 - HALF_WIDTH - margins, 0))


def descent(margins: np.ndarray, loss: Loss) -> np.ndarray:
    """Return −ℓ′(z) for every margin, a number in [0, 1].

    Parameters
    ----------
    margins, loss
        As in `loss_values`.

    Returns
    -------
    ndarray
        What the record's features times its label are multiplied by in the direction of descent.
    """
    if loss == "logistic":
        return np.asarray(expit(-margins))
    return np.asarray(np.clip((1 + HALF_WIDTH - margins) / (2 * HALF_WIDTH), 0, 1))


def curvature(margins: np.ndarray, loss: Loss) -> np.ndarray:
    """Return ℓ″(z) for every margin; at the two ends of the huberised hinge's arc, that of its inside.

    Parameters
    ----------
    margins, loss
        As in `loss_values`.

    Returns
    -------
    ndarray
        At most `LARGEST_CURVATURE`.
    """
    share = descent(margins, loss)
    if loss == "logistic":
        return np.asarray(share * (1 - share))
    return np.where(abs(margins - 1) <= HALF_WIDTH, 1 / (2 * HALF_WIDTH), 0.0)
