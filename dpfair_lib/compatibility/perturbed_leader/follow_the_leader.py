"""Follow the leader, with and without perturbation: which hypothesis is chosen after each loss."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import one_of, positive

Noised = Literal["sum", "losses"]


def leader(total: Any, hypotheses: Any) -> int:
    """Return the index of the hypothesis of least total cost, the first of several.

    Parameters
    ----------
    total : array of shape (n,)
        Sum of the loss vectors so far, with or without noise.
    hypotheses : array of shape (m, n)
        What each hypothesis says of each of the n points, 0 or 1.

    Returns
    -------
    int
        Index of a minimiser of ⟨total, h⟩.

    Raises
    ------
    ValueError
        If there is no hypothesis, or the shapes do not fit.
    """
    total, rows = np.asarray(total), np.asarray(hypotheses)
    if rows.ndim != 2 or len(rows) == 0 or total.shape != rows.shape[1:]:
        raise ValueError(
            f"hypotheses: found shape {rows.shape}, expected one row or more with an entry for each cost of shape "
            f"{total.shape}"
        )
    return int(np.argmin(rows @ total))


def follow_the_leader(losses: Any, hypotheses: Any) -> np.ndarray:
    """Return the leader after each loss, without noise.

    Parameters
    ----------
    losses : array of shape (T, n)
        Loss vectors, in the order of the rounds.
    hypotheses
        As in `leader`.

    Returns
    -------
    ndarray of shape (T,)
        Entry t − 1 is what is played in round t + 1; what is played in round 1 is not chosen from losses.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    return np.array([leader(total, hypotheses) for total in np.cumsum(_rows(losses), axis=0)], dtype=int)


def perturbed_leader(total: Any, hypotheses: Any, scale: float, rng: np.random.Generator) -> int:
    """Return the leader after Laplace noise of its own on every coordinate of the total.

    Parameters
    ----------
    total, hypotheses
        As in `leader`.
    scale : float
        b > 0 of the noise, 1/ε in the source.
    rng : numpy.random.Generator
        Source of the noise; seeded, in floating point: for study, not for real data.

    Returns
    -------
    int
        Index of the hypothesis.

    Raises
    ------
    ValueError
        If the scale is not positive or the shapes do not fit.

    References
    ----------
    CGKM, Algorithm 2, one update.
    """
    total = np.asarray(total, dtype=float)
    return leader(total + rng.laplace(scale=positive(scale, "scale"), size=total.shape), hypotheses)


def noisy_totals(
    losses: Any, scale: float, rng: np.random.Generator, *, noised: Noised = "losses"
) -> np.ndarray:
    """Return the running sums of losses as the leader gets to see them.

    Parameters
    ----------
    losses : array of shape (T, n)
        As in `follow_the_leader`.
    scale, rng
        As in `perturbed_leader`.
    noised : {"sum", "losses"}
        "sum": every running sum gets fresh noise, as in the printed algorithm; a loss then enters all later
        releases. "losses": every loss gets noise once and stays as it was released; the noise adds up.

    Returns
    -------
    ndarray of shape (T, n)
        The noisy running sums.

    Raises
    ------
    ValueError
        If the scale is not positive, the losses are no table, or `noised` is unknown.

    References
    ----------
    CGKM, Algorithm 2 ("sum") and the proof of Lemma 4 ("losses").
    """
    rows, b = _rows(losses).astype(float), positive(scale, "scale")
    noise = rng.laplace(scale=b, size=rows.shape)
    if one_of(noised, "noised", ("sum", "losses")) == "losses":
        return np.cumsum(rows + noise, axis=0)
    return np.cumsum(rows, axis=0) + noise


def perturbed_leader_plays(
    losses: Any, hypotheses: Any, scale: float, rng: np.random.Generator, *, noised: Noised = "losses"
) -> np.ndarray:
    """Return the perturbed leader after each loss.

    Parameters
    ----------
    losses, hypotheses
        As in `follow_the_leader`; the losses do not answer to the plays.
    scale, rng, noised
        As in `noisy_totals`.

    Returns
    -------
    ndarray of shape (T,)
        As in `follow_the_leader`.

    Raises
    ------
    ValueError
        As `noisy_totals` and `leader`.

    References
    ----------
    CGKM, Algorithm 2.
    """
    totals = noisy_totals(losses, scale, rng, noised=noised)
    return np.array([leader(total, hypotheses) for total in totals], dtype=int)


def _rows(losses: Any) -> np.ndarray:
    rows = np.asarray(losses)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(
            f"losses: found shape {rows.shape}, expected (rounds, points) with at least one of each"
        )
    return rows
