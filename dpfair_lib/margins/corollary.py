"""Lipschitz constants of the fairness notions: Theorem 3.2 and Corollary 3.3 of Mangold et al. (2023)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib.fairness.linear_form import check_notion, form_coefficients


def theorem_constants(joint: np.ndarray, means: np.ndarray, notion: str, desirable: Any) -> np.ndarray:
    """Return χ_k = Σ_k′ |C_k^k′| · E[L/|ρ| | D_k′].

    Parameters
    ----------
    joint : array of shape (…, labels, groups)
        P(Y, S), all positive; `Fraction` entries stay exact.
    means : array of shape (…, labels, groups)
        E[L/|ρ| | Y, S], in one over the unit of the model's norm.
    notion : str
        As in `fairness_coefficients`.
    desirable : array of shape (labels,)
        1 for each desirable label, 0 for the others.

    Returns
    -------
    array of shape (…, K)
        χ_k, in the order of the notion's groups.

    Raises
    ------
    ValueError
        If an entry of ``joint`` is not positive, the notion is unknown, or demographic parity meets a third label.

    References
    ----------
    MPBT, Theorem 3.2.
    """
    _check_joint(joint)
    _, matrix = form_coefficients(joint, notion, desirable)
    if notion == "accuracy":
        grouped = np.asarray((joint * means).sum((-2, -1)))[..., None]
    elif notion == "accuracy_parity":
        grouped = (joint * means).sum(-2) / joint.sum(-2)
    else:
        grouped = means.reshape(*means.shape[:-2], -1)
    return (abs(matrix) * grouped[..., None, :]).sum(-1)


def corollary_constants(joint: np.ndarray, means: np.ndarray, notion: str, desirable: Any) -> np.ndarray:
    """Return the constants of Corollary 3.3: the mean of L/|ρ| over the group plus that over everyone compared with.

    Parameters
    ----------
    joint, means, notion, desirable
        As in `theorem_constants`.

    Returns
    -------
    array of shape (…, K)
        Never below Theorem 3.2's.

    Raises
    ------
    ValueError
        If an entry of ``joint`` is not positive, or the notion is unknown.

    References
    ----------
    MPBT, Corollary 3.3.
    """
    check_notion(notion)
    _check_joint(joint)
    overall = np.asarray((joint * means).sum((-2, -1)))[..., None]
    if notion == "accuracy":
        return overall
    of_group = (joint * means).sum(-2) / joint.sum(-2)
    if notion == "accuracy_parity":
        return overall + of_group
    if notion == "demographic_parity":
        constants = np.broadcast_to((overall + of_group)[..., None, :], joint.shape)
    else:
        constants = means + (joint * means).sum(-1, keepdims=True) / joint.sum(-1, keepdims=True)
        if notion == "equal_opportunity":
            constants = constants * np.asarray(desirable)[:, None]
    return constants.reshape(*joint.shape[:-2], -1)


def _check_joint(joint: np.ndarray) -> None:
    if not (joint > 0).all():
        at = np.argwhere(~(joint > 0))[0].tolist()
        raise ValueError(f"joint: found {joint[tuple(at)]} at {at}, expected every label in every group")
