"""The privacy of the perturbed leader over many rounds, and how much noise each loss needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from dpfair_lib._arguments import inside_unit, number, one_of, positive, positive_integer
from dpfair_lib.compatibility.perturbed_leader.follow_the_leader import Noised
from dpfair_lib.privacy import mark_noise
from dpfair_lib.privacy.finite_laws import hockey_stick
from dpfair_lib.privacy.rounding import lowered, product_above
from dpfair_lib.privacy.statements import PrivacyStatement, without_guarantee


def round_epsilons(epsilon: float, rounds: int, noised: Noised) -> list[float]:
    """Return the pure ε of each of T releases of the perturbed leader.

    Parameters
    ----------
    epsilon : float
        Sensitivity of one loss vector over the scale of the noise.
    rounds : int
        T ≥ 1.
    noised : {"sum", "losses"}
        What gets the noise. A running sum of t losses moves by t sensitivities, so that its release has tε; a
        loss that is noised once has ε, and its later uses cost nothing.

    Returns
    -------
    list of float
        In the order of the rounds, rounded up.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    CGKM, Algorithm 2 ("sum") and the proof of Lemma 4 ("losses").
    """
    e, t = positive(epsilon, "epsilon"), positive_integer(rounds, "rounds")
    if one_of(noised, "noised", ("sum", "losses")) == "losses":
        return [e] * t
    return [product_above(e, i) for i in range(1, t + 1)]


def loss_epsilon(
    epsilon: float, delta: float, rounds: int, noised: Noised, kind: Literal["printed", "proved"]
) -> float:
    """Return sensitivity over scale for T rounds that are to be (ε, δ)-DP together.

    "printed": ε/√(T ln(1/δ)), whatever is noised. "proved": the ε₀ at which the zero-concentrated ρ of all
    releases, Σ(tε₀)²/2 or Tε₀²/2, gives ρ + 2√(ρ ln(1/δ)) = ε.

    Parameters
    ----------
    epsilon, delta : float
        ε > 0 and δ in (0, 1) of all rounds.
    rounds, noised
        As in `round_epsilons`.
    kind : {"printed", "proved"}
        The formula.

    Returns
    -------
    float
        ε₀, rounded down; the noise has the scale sensitivity/ε₀.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    CGKM, Lemma 4; Bun and Steinke (2016), Propositions 1.3 and 1.4 and Lemma 1.7.
    """
    epsilon, log_delta = positive(epsilon, "epsilon"), -math.log(inside_unit(delta, "delta"))
    if one_of(kind, "kind", ("printed", "proved")) == "printed":
        one_of(noised, "noised", ("sum", "losses"))
        return lowered(epsilon / math.sqrt(positive_integer(rounds, "rounds") * log_delta))
    t = positive_integer(rounds, "rounds")
    squares = t if one_of(noised, "noised", ("sum", "losses")) == "losses" else t * (t + 1) * (2 * t + 1) // 6
    return lowered(math.sqrt(2 / squares) * epsilon / (math.sqrt(log_delta + epsilon) + math.sqrt(log_delta)))


def composed_delta(units: Sequence[int], step: float, at: float) -> float:
    """Return the smallest δ of pure releases of different levels, composed exactly at one ε.

    The worst releases of levels e₁, e₂, … have privacy losses ±eᵢ, +eᵢ with probability 1/(1 + e^(−eᵢ)).

    Parameters
    ----------
    units : sequence of int
        Levels of the releases, in units of `step`, at least 0 each.
    step : float
        The unit, above 0.
    at : float
        ε of all releases together.

    Returns
    -------
    float
        δ: the releases are (ε, δ)-DP together, and for no smaller δ in the worst case.

    Raises
    ------
    ValueError
        If the step is not above 0, or ε is not a number.
    """
    step, epsilon, law = positive(step, "step"), number(at, "at", "a number"), np.ones(1)
    for unit in units:
        truth = 1 / (1 + math.exp(-unit * step))
        wider = np.zeros(len(law) + 2 * unit)
        wider[2 * unit :] += truth * law
        wider[: len(law)] += (1 - truth) * law
        law = wider
    losses = step * np.arange(-sum(units), sum(units) + 1)
    return float(law @ -np.expm1(np.minimum(epsilon - losses, 0)))


def one_point_delta(rounds: int, step: float, at: float) -> float:
    """Return the smallest δ of T plays on one point, where every running sum is noised afresh.

    All losses are 0 on one data set, and 1 on its neighbour. Where the sum is t, the point is selected with
    probability e^(−t·step)/2.

    Parameters
    ----------
    rounds : int
        T ≥ 1; there are 2ᵀ sequences of plays.
    step : float
        One over the scale of the noise.
    at : float
        ε.

    Returns
    -------
    float
        δ, the larger of both directions: a lower bound of what the printed algorithm needs.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    step, epsilon = positive(step, "step"), number(at, "at", "a number")
    here, there = np.ones(1), np.ones(1)
    for t in range(1, positive_integer(rounds, "rounds") + 1):
        lower = math.exp(-t * step) / 2
        here = np.concatenate([here / 2, here / 2])
        there = np.concatenate([there * lower, there * (1 - lower)])
    return max(float(hockey_stick(a, b, math.exp(epsilon))) for a, b in ((here, there), (there, here)))


def leader_statement(
    epsilon: float,
    delta: float,
    rounds: int,
    noised: Noised,
    kind: Literal["printed", "proved"],
    *,
    relation: str,
) -> PrivacyStatement:
    """Return what T rounds of the perturbed leader with `loss_epsilon` promise, as `noisy_totals` draws its noise.

    Parameters
    ----------
    epsilon, delta, rounds, noised, kind
        As in `loss_epsilon`.
    relation : str
        Neighbours between which the sensitivity was taken.

    Returns
    -------
    PrivacyStatement
        Without guarantee: the noise is that of study, and the printed scale is too small besides.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    CGKM, Lemma 4.
    """
    each = loss_epsilon(epsilon, delta, rounds, noised, kind)
    what = "each loss noised once" if noised == "losses" else "every running sum noised afresh"
    statement = PrivacyStatement(
        epsilon, delta, relation, unit="record", accountant=f"zCDP over {rounds} rounds, {what}",
        note=f"noise of scale sensitivity/{each:.4g}",
    )  # fmt: skip
    if kind == "printed":
        statement = without_guarantee(statement, "noise as printed in Lemma 4, see cgkm.lemma-4")
    return mark_noise(statement, "study")
