"""Zero-sum matrix games: regret of a sequence of plays, and distance of their average from an equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np


def average_regrets(payoffs: Any, learner: Any, auditor: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the average regrets of a learner who pays and of an auditor who receives.

    Parameters
    ----------
    payoffs : array of shape (..., r, c)
        U(h, λ) for r hypotheses and c plays of the auditor.
    learner : array of shape (..., T, r)
        The learner's distributions, round by round.
    auditor : array of shape (..., T, c)
        The auditor's, pure or mixed.

    Returns
    -------
    gamma_learner, gamma_auditor : ndarray of shape (...)
        Against the best fixed play in hindsight; either can be negative.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    CGKM, Theorem 9, after Freund and Schapire (1996).
    """
    u, d, a = _fitting(payoffs, learner, auditor)
    rounds = d.shape[-2]
    paid = np.einsum("...ti,...ij,...tj->...", d, u, a)
    least = np.einsum("...ij,...tj->...i", u, a).min(axis=-1)
    most = np.einsum("...ti,...ij->...j", d, u).max(axis=-1)
    return (paid - least) / rounds, (most - paid) / rounds


def equilibrium_gaps(payoffs: Any, learner: Any, auditor: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what each player could gain by leaving the averages of a play over time.

    Parameters
    ----------
    payoffs, learner, auditor
        As in `average_regrets`.

    Returns
    -------
    learner_gap, auditor_gap : ndarray of shape (...)
        U(D̄, λ̄) − min U(h, λ̄) and max U(D̄, λ) − U(D̄, λ̄), both at least 0; the averages are a ν-approximate
        equilibrium if neither exceeds ν.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    CGKM, Theorem 9.
    """
    u, d, a = _fitting(payoffs, learner, auditor)
    mean_d, mean_a = d.mean(axis=-2), a.mean(axis=-2)
    rows = np.einsum("...ij,...j->...i", u, mean_a)
    columns = np.einsum("...i,...ij->...j", mean_d, u)
    value = np.einsum("...i,...i->...", mean_d, rows)
    return value - rows.min(axis=-1), columns.max(axis=-1) - value


def _fitting(payoffs: Any, learner: Any, auditor: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u, d, a = (np.asarray(values) for values in (payoffs, learner, auditor))
    if min(u.ndim, d.ndim, a.ndim) < 2:
        raise ValueError(f"payoffs: found shapes {u.shape}, {d.shape}, {a.shape}, expected tables")
    if d.shape[-1] != u.shape[-2] or a.shape[-1] != u.shape[-1] or d.shape[-2] != a.shape[-2]:
        raise ValueError(
            f"learner, auditor: found shapes {d.shape} and {a.shape}, expected as many rounds in both and one entry "
            f"for each row and each column of payoffs of shape {u.shape}"
        )
    return u, d, a
