"""Output perturbation: how far the noise moves a model, and which predictions that changes."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of, positive, positive_integer
from dpfair_lib._validation import as_numbers, renamed
from dpfair_lib.privacy.gaussian import classical_sigma_formula, gaussian_sigma
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity

RadiusKind = Literal["lemma-4.1", "laurent-massart", "exact"]
NoiseKind = Literal["classical", "analytic"]


def strong_convexity(C: float, n: int) -> float:
    """Return the strong-convexity modulus of the L2-regularised mean loss that scikit-learn minimises with its C.

    scikit-learn minimises ‖w‖²/2 + C Σᵢ ℓᵢ(w). Divided by Cn this is the mean loss plus ‖w‖²/(2Cn), whose modulus is
    1/(Cn).

    Parameters
    ----------
    C : float
        Inverse weight of the regulariser, a positive finite number.
    n : int
        Number of records.

    Returns
    -------
    float
        The modulus. It is for all parameters except an intercept fitted by scikit-learn, which is not regularised.

    Raises
    ------
    ValueError
        If C is not a positive finite number, or if n is not a positive integer.

    References
    ----------
    Mangold et al. (2023), § 4 and § 5, where the modulus is said to be 1.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> dpf.strong_convexity(C=1.0, n=1000)
    0.001
    """
    return 1 / (positive(C, "C") * positive_integer(n, "n"))


def noise_norm_squared_bound(p: int, zeta: float, kind: RadiusKind) -> float:
    """Return a bound that ‖Z‖² of p independent standard normal numbers exceeds with probability at most ζ.

    Parameters
    ----------
    p : int
        Dimension.
    zeta : float
        ζ in (0, 1).
    kind : {"lemma-4.1", "laurent-massart", "exact"}
        4p ln(2/ζ); p + 2√(px) + 2x with x = ln(1/ζ); or the quantile of χ² with p degrees of freedom.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    MPBT, Appendix E; Laurent and Massart (2000), Lemma 1.
    """
    dimension, zeta = positive_integer(p, "p"), inside_unit(zeta, "zeta")
    one_of(kind, "kind", ("lemma-4.1", "laurent-massart", "exact"))
    if kind == "lemma-4.1":
        return 4 * dimension * math.log(2 / zeta)
    if kind == "laurent-massart":
        x = -math.log(zeta)
        return dimension + 2 * math.sqrt(dimension * x) + 2 * x
    from scipy.special import gammainccinv

    return 2 * float(gammainccinv(dimension / 2, zeta))


def output_perturbation_radius(
    p: int, *, lipschitz: float, strong_convexity: float, n: int, epsilon: float, delta: float, zeta: float,
    kind: RadiusKind = "lemma-4.1", noise_kind: NoiseKind = "classical", noise: NoiseKind | None = None,
) -> float:  # fmt: skip
    """Return a distance that the noise of output perturbation exceeds with probability at most ζ.

    It is a number r with P(‖h_priv − h*‖ > r) ≤ ζ, where h* are the exact weights and h_priv those with noise. If
    h_priv is projected on a convex set that contains h*, the distance only gets smaller.

    The number describes the noise; it does not say whether the noise is private. The noise is (ε, δ)-private if the
    hypotheses on the loss hold and, for the classical formula, if ε ≤ 1.

    Parameters
    ----------
    p : int
        Number of parameters that receive noise.
    lipschitz : float
        Λ: the loss of a record changes by at most Λ times the distance of two parameter vectors.
    strong_convexity : float
        Modulus of the regularised mean loss, see `strong_convexity`.
    n : int
        Number of records.
    epsilon, delta : float
        ε > 0 and δ in (0, 1), for which the noise is calibrated.
    zeta : float
        ζ in (0, 1).
    kind : {"lemma-4.1", "laurent-massart", "exact"}
        Bound on the norm of the noise; each is smaller than the one before.
    noise_kind : {"classical", "analytic"}
        Calibration of the Gaussian noise, as in `gaussian_sigma`.
    noise
        Deprecated name of `noise_kind`.

    Returns
    -------
    float
        The Euclidean distance r.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Mangold et al. (2023), Lemma 4.1, is ``kind="lemma-4.1", noise_kind="classical"``.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> setting = dict(lipschitz=1.0, strong_convexity=0.1, n=10_000, epsilon=0.5, delta=1e-5, zeta=0.05)
    >>> print(round(dpf.output_perturbation_radius(10, **setting), 3))
    0.235
    >>> print(round(dpf.output_perturbation_radius(10, **setting, kind="exact", noise_kind="analytic"), 3))
    0.06
    """
    sensitivity = output_perturbation_sensitivity(lipschitz=lipschitz, strong_convexity=strong_convexity, n=n)
    noise_kind = renamed("noise", noise, "noise_kind", noise_kind)
    if one_of(noise_kind, "noise_kind", ("classical", "analytic")) == "classical":
        sigma = classical_sigma_formula(epsilon, delta, sensitivity)
    else:
        sigma = gaussian_sigma(epsilon, delta, sensitivity, "analytic")
    return sigma * math.sqrt(noise_norm_squared_bound(p, zeta, kind))


def changed_prediction_probability(distances: Any, sigma: float) -> np.ndarray:
    """Return, for each record, the probability that noise on one weight vector changes its prediction.

    The record's score wᵀx becomes wᵀx + Zᵀx with Zᵀx ~ N(0, σ²‖x‖²): one projection of the noise, in which the
    dimension does not appear.

    Parameters
    ----------
    distances : array of shape (n,)
        |wᵀx|/‖x‖: how far each record lies from the boundary; at least 0.
    sigma : float
        Standard deviation of the noise in each coordinate.

    Returns
    -------
    ndarray of shape (n,)
        Φ(−distance/σ).

    Raises
    ------
    ValueError
        If a distance is negative or not finite, or sigma is not positive.
    """
    from scipy.special import ndtr

    array, sigma = _distances(distances), positive(sigma, "sigma")
    return np.asarray(ndtr(-array / sigma))


def projection_quantile(zeta: float, slack: float) -> float:
    """Return t with Φ(−t) = ζs: with probability 1 − ζ at most a share s of records is moved further, against them.

    For each record the noise Z moves the score by Zᵀx ~ N(0, σ²‖x‖²). The expected share of records that it moves by
    more than tσ‖x‖ towards the other prediction is Φ(−t); Markov's inequality does the rest, in every dimension and
    however the records depend on one another.

    Parameters
    ----------
    zeta : float
        ζ in (0, 1).
    slack : float
        s in (0, 1).

    Returns
    -------
    float
        t.

    Raises
    ------
    ValueError
        If an argument is not in (0, 1).
    """
    from scipy.special import ndtri

    return -float(ndtri(inside_unit(zeta, "zeta") * inside_unit(slack, "slack")))


def changed_share_bound(distances: Any, sigma: float, *, zeta: float, slack: float) -> float:
    """Return a bound on the share of predictions that noise on one weight vector changes, at probability 1 − ζ.

    The distances may be those from the boundary of the model without noise, or of the one with noise: a record whose
    prediction changed although it is further than tσ from either boundary was moved by more than tσ. The bound does not
    hold for weights that were projected after the noise, unless onto a ball about 0.

    Parameters
    ----------
    distances : array of shape (n,)
        |wᵀx|/‖x‖ of one of the two models, at least 0.
    sigma : float
        Standard deviation of the noise in each coordinate.
    zeta, slack : float
        As in `projection_quantile`, chosen before the noise is drawn.

    Returns
    -------
    float
        The share of records within tσ, plus the slack, at most 1. The dimension does not enter.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    array, sigma = _distances(distances), positive(sigma, "sigma")
    near = array <= projection_quantile(zeta, slack) * sigma
    return min(float(near.mean()) + slack, 1.0)


def refined_margin_lipschitz(X: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """Return 2·max_y ‖projection of x on h_y − h′_y‖ for each row, the margin's constant for these two.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    difference : ndarray of shape (labels, d)
        h − h′, a weight vector for each label; the projection on a zero vector is zero.

    Returns
    -------
    ndarray of shape (n,)
        At most 2‖x‖.

    References
    ----------
    MPBT, Appendix G.3, (38).
    """
    norms = np.linalg.norm(difference, axis=1)
    axes = difference / np.where(norms > 0, norms, 1)[:, None]
    return np.asarray(2 * abs(X @ axes.T).max(axis=1))


def _distances(values: Any) -> np.ndarray:
    array = as_numbers(values, "distances").astype(float)
    if (array < 0).any():
        at = int(np.argmax(array < 0))
        raise ValueError(f"distances: found {array[at]} at position {at}, expected numbers of at least 0")
    return array
