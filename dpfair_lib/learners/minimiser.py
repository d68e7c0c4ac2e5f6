"""Minimisers of regularised mean losses of linear models, to a known accuracy, on rows of bounded norm."""

from __future__ import annotations

import math

import numpy as np

from dpfair_lib.learners.losses import LARGEST_CURVATURE, Loss, curvature, descent, loss_values

MOST_STEPS = 10_000  # those of the huberised hinge cross one corner at a time; some 500 were seen
# Of a Newton step, which is up to 2Λ/μ long where no row has curvature. What is needed of it may be μ/Λ², and for its
# rounding the estimators ask for nothing below 1e-16.
SHORTEST = 1e-30
ROUNDING = 1e-13  # relative, of the mean loss
SUMMED = 1 << 14  # rows whose gradients are summed at a time


def bounded_rows(features: np.ndarray, bound: float, *, intercept: bool) -> tuple[np.ndarray, float]:
    """Return the rows clipped to a norm, with a constant feature for the intercept, and the largest norm possible.

    Λ bounds the exact norm of every returned row. The computed norm of d numbers may be too small by d/2 + 4 roundings,
    and two more follow, so rows are clipped to a norm that is smaller by d + 16 roundings.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        Features.
    bound : float
        Norm to which each row is scaled down.
    intercept : bool
        Whether to append the feature 1.

    Returns
    -------
    tuple of ndarray and float
        Rows, and Λ.
    """
    largest = abs(features).max(axis=1, keepdims=True)
    scale = np.where(largest > 0, largest, 1)
    with np.errstate(over="ignore"):  # a warning would tell of a very long row, or of a very short one
        norms = scale * np.linalg.norm(features / scale, axis=1, keepdims=True)  # no square overflows
        inside = bound * (1 - (features.shape[1] + 16) * 2.0**-53)
        rows = features * np.minimum(1, inside / np.where(norms > 0, norms, 1))
    if not intercept:
        return rows, bound
    return np.hstack([rows, np.ones((len(rows), 1))]), math.nextafter(math.hypot(bound, 1), math.inf)


def absolutely_bounded_rows(rows: np.ndarray, bound: float) -> np.ndarray:
    """Return the rows, those whose absolute values add up to more than a bound scaled down to it, up to rounding.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Rows whose entries are far from the largest floats.
    bound : float
        Sum to which each row is scaled down; rounding exceeds it by a factor of at most 1 + (d + 8)/2⁵⁰, or by that of
        the smallest floats.
    """
    sums = abs(rows).sum(axis=1, keepdims=True)
    with np.errstate(over="ignore"):  # a warning would tell of a very short row
        return np.asarray(rows * np.minimum(1, bound / np.where(sums > 0, sums, 1)))


def gradient_rounding(
    n: int,
    p: int,
    *,
    lipschitz: float,
    modulus: float,
    accuracy: float,
    loss: Loss = "logistic",
    linear: float = 0.0,
) -> float:
    """Return a bound on the rounding error of the gradient in `minimise` at the weights where it stops.

    The minimiser has norm at most √(2ℓ(0)/μ), as the loss there is at most that of no weights, and at most Λ/μ; the
    weights are at most accuracy/μ further. A linear term of norm l moves the minimiser by at most l/μ, and is rounded
    with it. A sum of m products has a relative error of m/2 times the machine's precision, and ℓ′ hands on at most a
    score's error times the largest curvature.

    Parameters
    ----------
    n, p : int
        Rows and parameters.
    lipschitz : float
        Λ, the largest norm of a row.
    modulus : float
        μ.
    accuracy : float
        Norm of the gradient there, at most.
    loss : {"logistic", "huberised-hinge"}
        ℓ.
    linear : float, default=0
        l, the largest norm of the linear term in `minimise`.

    Returns
    -------
    float
        The bound; it may be infinite.
    """
    at_zero = float(loss_values(np.zeros(1), loss)[0])
    reach = min(math.sqrt(2 * at_zero / modulus), lipschitz / modulus) + (accuracy + linear) / modulus
    terms = min(n, SUMMED) + n // SUMMED + p * lipschitz * reach * LARGEST_CURVATURE[loss] + 12
    return float(np.finfo(float).eps) / 2 * (lipschitz * terms + 6 * linear)


def minimise(
    rows: np.ndarray,
    signs: np.ndarray,
    modulus: float,
    accuracy: float,
    loss: Loss = "logistic",
    linear: np.ndarray | None = None,
) -> np.ndarray:
    """Return weights at which the gradient of the regularised mean loss, plus a linear term if given, is small.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        Features.
    signs : ndarray of shape (n,)
        Labels −1 and 1.
    modulus : float
        μ: the regulariser is μ‖w‖²/2.
    accuracy : float
        Largest norm of the gradient; the weights are then at most accuracy/μ from the minimiser.
    loss : {"logistic", "huberised-hinge"}
        The loss.
    linear : ndarray of shape (p,), optional
        l: the term ⟨l, w⟩ is added. None adds none.

    Returns
    -------
    ndarray of shape (p,)
        Weights.

    Raises
    ------
    ValueError
        If the accuracy is not reached.

    References
    ----------
    Newton's method with steps halved until the slope along them is still downward: by convexity that keeps at least
    half of what the best length would gain, so that it converges from everywhere. Where the huberised hinge has no
    second derivative, one of its two sides serves, since the regulariser keeps every such matrix positive definite.
    """
    signed, weights = rows * signs[:, None], np.zeros(rows.shape[1])
    term = np.zeros(rows.shape[1]) if linear is None else linear

    def objective(w: np.ndarray) -> float:
        return float(loss_values(signed @ w, loss).mean() + modulus / 2 * (w @ w) + term @ w)

    def gradient(w: np.ndarray) -> np.ndarray:
        pulls = descent(signed @ w, loss)
        # in parts, so that rounding does not grow with the number of rows
        starts = range(0, len(signed), SUMMED)
        total = sum(signed[start : start + SUMMED].T @ pulls[start : start + SUMMED] for start in starts)
        return np.asarray(modulus * w - total / len(signed) + term)

    slope = gradient(weights)
    for _ in range(MOST_STEPS):
        if np.linalg.norm(slope) <= accuracy:
            return weights
        second = (rows.T * curvature(signed @ weights, loss)) @ rows / len(rows)
        step = np.linalg.solve(second + modulus * np.eye(len(weights)), slope)
        length, level = 1.0, objective(weights)
        while length > SHORTEST:
            trial = weights - length * step
            after = gradient(trial)
            # either the objective still falls there, and so it fell all the way, which rounding cannot hide; or it
            # does not rise and the gradient halves, as it does when a Newton step goes a little beyond the minimum
            halved = 2 * np.linalg.norm(after) <= np.linalg.norm(slope)
            if after @ step >= 0 or (halved and objective(trial) <= level * (1 + ROUNDING)):
                break
            length /= 2
        weights, slope = trial, after
    # the norm that was found stays untold: it is the data's
    raise ValueError(
        f"tolerance: found a gradient larger than allowed after {MOST_STEPS} steps, expected at most {accuracy:.3g}; "
        "allow a larger tolerance"
    )
