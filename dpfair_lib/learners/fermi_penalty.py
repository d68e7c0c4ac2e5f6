"""The penalty of DP-FERMI, written as a maximum over a matrix W, and its gradients.

A model predicts class y with probability f_y(x), so f = (1 − p, p); s is the one-hot group of the record, P_s its
frequency and W a matrix of one row per group and one column per class. Then

    ψ(W; x, s) = −tr(W diag(f) Wᵀ) + 2 tr(W f sᵀ P_s^(−1/2)) − 1 = Σ_y f_y (−‖W_·y‖² + 2 W_sy / √P_s) − 1.

Its mean over records is −Σ_y P(y) ‖W_·y‖² + 2 Σ_sy W_sy P(y, s) / √P_s − 1, with P(y) and P(y, s) the means of f_y
and f_y 1[s]. This is concave in W, with its maximum at W_sy = P(y, s) / (P(y) √P_s), where it is

    D = Σ_ys P(y, s)² / (P(y) P_s) − 1,

if both P(y) are positive. If the P_s are the frequencies of these records, that is the χ² divergence of the joint
law from the product: at least 0, and 0 just where prediction and group are independent. Arrays below have a
leading axis of models, which differ in weights and W and see the same records.
"""

from __future__ import annotations

import numpy as np


def renyi_information(probabilities: np.ndarray, groups: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return the exponential Rényi mutual information of prediction and group.

    Parameters
    ----------
    probabilities : ndarray of shape (models, n)
        p, the probability of the second class; not 0 for all records, nor 1.
    groups : ndarray of shape (n,)
        Group of each record, 0 to k − 1.
    frequencies : ndarray of shape (k,)
        P_s, positive. What is returned is an information only if they are those of the records.

    Returns
    -------
    ndarray of shape (models,)
        D.
    """
    joint = class_sums(probabilities, groups, len(frequencies)) / probabilities.shape[1]
    return (joint**2 / (joint.sum(axis=1, keepdims=True) * frequencies[:, None])).sum(axis=(1, 2)) - 1


def maximizer(probabilities: np.ndarray, groups: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return the W at which the mean of ψ over these records is largest.

    Parameters
    ----------
    probabilities, groups, frequencies
        As in `renyi_information`.

    Returns
    -------
    ndarray of shape (models, k, 2)
        P(y, s) / (P(y) √P_s).
    """
    joint = class_sums(probabilities, groups, len(frequencies)) / probabilities.shape[1]
    return joint / (joint.sum(axis=1, keepdims=True) * np.sqrt(frequencies)[:, None])


def penalty(
    probabilities: np.ndarray, groups: np.ndarray, frequencies: np.ndarray, W: np.ndarray
) -> np.ndarray:
    """Return Ψ, the mean of ψ over the records.

    Parameters
    ----------
    probabilities, groups, frequencies
        As in `renyi_information`.
    W : ndarray of shape (models, k, 2)
        The matrices.

    Returns
    -------
    ndarray of shape (models,)
        Ψ.
    """
    gains = _gains(W, frequencies)[:, groups]
    p = probabilities
    return ((1 - p) * gains[..., 0] + p * gains[..., 1]).mean(axis=1) - 1


def residuals(
    probabilities: np.ndarray, labels: np.ndarray, groups: np.ndarray, frequencies: np.ndarray,
    strengths: np.ndarray, W: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the derivative of each record's cross-entropy + λψ by its log-odds.

    The gradient by the weights is this number times the record's features. With g_y = −‖W_·y‖² + 2 W_sy / √P_s
    it is p − y + λ p (1 − p) (g_1 − g_0).

    Parameters
    ----------
    probabilities, groups, frequencies, W
        As in `penalty`.
    labels : ndarray of shape (n,)
        Labels 0 and 1.
    strengths : ndarray of shape (models,)
        λ of each model.

    Returns
    -------
    ndarray of shape (models, n)
        Derivatives.
    """
    gains = _gains(W, frequencies)
    slopes = strengths[:, None] * (gains[..., 1] - gains[..., 0])
    p = probabilities
    return p - labels + slopes[:, groups] * p * (1 - p)


def clipped_w_sum(
    probabilities: np.ndarray, groups: np.ndarray, frequencies: np.ndarray, W: np.ndarray, clip: float
) -> np.ndarray:
    """Return the sum of the records' gradients of ψ by W, each first clipped to a norm.

    A record's gradient has the columns 2 f_y (e_s / √P_s − W_·y). Its norm depends on f and the group alone, so
    that no gradient has to be formed: the clipped ones add up to 2 G_sy / √P_s − 2 W_sy Σ_s G_sy, with G_sy the
    sum of f_y times the clipping factor over the records of group s.

    Parameters
    ----------
    probabilities, groups, frequencies, W
        As in `penalty`.
    clip : float
        The largest norm; infinity for none.

    Returns
    -------
    ndarray of shape (models, k, 2)
        The sum.
    """
    roots, k = np.sqrt(frequencies), len(frequencies)
    # lengths[m, s, y] = ‖e_s / √P_s − W_·y‖²
    lengths = _squares(W) - 2 * W / roots[:, None] + 1 / frequencies[:, None]
    p = probabilities
    factors = None
    if np.isfinite(clip):
        of_group = np.maximum(lengths, 0)[:, groups]
        norms = 2 * np.sqrt((1 - p) ** 2 * of_group[..., 0] + p**2 * of_group[..., 1])
        factors = clip / np.maximum(norms, clip)
    sums = class_sums(p, groups, k, factors)
    return 2 * sums / roots[:, None] - 2 * W * sums.sum(axis=1, keepdims=True)


def class_sums(
    probabilities: np.ndarray, groups: np.ndarray, k: int, factors: np.ndarray | None = None
) -> np.ndarray:
    """Return the sum of f_y over the records of each group, each with a factor if there are any.

    Parameters
    ----------
    probabilities, groups
        As in `renyi_information`.
    k : int
        Number of groups.
    factors : ndarray of shape (models, n), optional
        Factor of each record.

    Returns
    -------
    ndarray of shape (models, k, 2)
        Sums.
    """
    members = np.equal.outer(groups, np.arange(k)).astype(float)
    second = (probabilities if factors is None else probabilities * factors) @ members
    both = members.sum(axis=0) if factors is None else factors @ members
    return np.stack([both - second, second], axis=-1)


def _gains(W: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    return 2 * W / np.sqrt(frequencies)[:, None] - _squares(W)


def _squares(W: np.ndarray) -> np.ndarray:
    return (W**2).sum(axis=1, keepdims=True)
