"""Bounds on the regret of following the perturbed leader."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

from dpfair_lib._arguments import number, one_of, positive, positive_integer


def largest_noise(n: int) -> float:
    """Return E max |ξᵢ| = 1 + 1/2 + … + 1/n of n Laplace variables of scale 1; at most 1 + ln n."""
    if positive_integer(n, "n") <= 1000:
        return math.fsum(1 / i for i in range(1, n + 1))
    # Euler and Maclaurin; what is left out is below 1/(120 n⁴)
    return math.log(n) + 0.5772156649015329 + 1 / (2 * n) - 1 / (12 * n * n)


def leader_cost_bound(
    best: float, norm: float, width: float, n: int, epsilon: float, kind: Literal["printed", "proved"]
) -> float:
    """Return a bound on the expected cost of the perturbed leader when no loss is negative.

    "printed": (1 + 2Aε)·OPT + 2M(1 + ln n)/ε, sound for Aε ≤ ln 2. "proved": e^(Aε)(OPT + M·Hₙ/ε) with
    Hₙ = 1 + … + 1/n, sound for every ε. In both the play of round 1 follows the noise alone.

    Parameters
    ----------
    best : float
        OPT ≥ 0: total cost of the best fixed hypothesis.
    norm : float
        A ≥ ‖ℓ‖₁ of every loss vector.
    width : float
        M ≥ ‖h − h′‖₁ of every two hypotheses.
    n : int
        Coordinates.
    epsilon : float
        ε > 0: the noise has the scale 1/ε.
    kind : {"printed", "proved"}
        The formula.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    ValueError
        If an argument is out of its range; if the printed formula is asked for Aε > ln 2.

    References
    ----------
    CGKM, Theorem 8, after Kalai and Vempala (2005), Theorem 1.1.
    """
    best, a, m, e = _bounded(best, norm, width, epsilon)
    if best < 0:
        raise ValueError(
            f"best: found {best}, expected a number of at least 0; see `signed_leader_bound` for signed losses"
        )
    positive_integer(n, "n")
    if one_of(kind, "kind", ("printed", "proved")) == "proved":
        return math.exp(a * e) * (best + m * largest_noise(n) / e)
    if a * e > math.log(2):
        raise ValueError(
            f"epsilon: found {epsilon} with norm {norm}, expected norm * epsilon of at most ln 2"
        )
    return (1 + 2 * a * e) * best + 2 * m * (1 + math.log(n)) / e


def signed_leader_bound(
    rounds: int, norm: float, spread: float, width: float, n: int, epsilon: float
) -> float:
    """Return a bound on the expected regret of the perturbed leader for losses of either sign.

    T·R·tanh(Aε/2) + M·Hₙ/ε: between the leader before and after a loss, the noise hides all but a total
    variation of tanh(Aε/2).

    Parameters
    ----------
    rounds : int
        T ≥ 1.
    norm, width, n, epsilon
        As in `leader_cost_bound`.
    spread : float
        R ≥ ⟨ℓ, h⟩ − ⟨ℓ, h′⟩ for every loss vector and every two hypotheses; R = A is always valid.

    Returns
    -------
    float
        Bound on E[cost] − OPT; the play of round 1 follows the noise alone.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    t, n = positive_integer(rounds, "rounds"), positive_integer(n, "n")
    _, a, m, e = _bounded(0.0, norm, width, epsilon)
    r = number(spread, "spread", "a number of at least 0")
    if r < 0:
        raise ValueError(f"spread: found {spread}, expected a number of at least 0")
    return t * r * math.tanh(a * e / 2) + m * largest_noise(n) / e


def learner_noise_epsilon(
    epsilon: float, log_delta: float, rounds: int, samples: int, n: int, bound: float
) -> float:
    """Return Private-FairNR's ε′ = nε / ((2 + C)√(mT ln(1/δ))).

    Parameters
    ----------
    epsilon : float
        ε > 0 of the whole algorithm, as printed.
    log_delta : float
        ln(1/δ) > 0.
    rounds, samples : int
        T, and the m draws in each round.
    n : int
        People in the sample.
    bound : float
        C > 0, the bound on the multipliers.

    Returns
    -------
    float
        ε′; the noise on each coordinate has the scale 1/ε′.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    CGKM, Algorithm 3.
    """
    draws = positive_integer(rounds, "rounds") * positive_integer(samples, "samples")
    c, people = positive(bound, "bound"), positive_integer(n, "n")
    noise = (2 + c) * math.sqrt(draws * positive(log_delta, "log_delta"))
    return people * positive(epsilon, "epsilon") / noise


def learner_regret_bound(
    epsilon: float, log_delta: float, rounds: int, samples: int, n: int, bound: float
) -> float:
    """Return a bound on the regret of Private-FairNR's learner that its losses do meet.

    `signed_leader_bound` with A = R = 1 + C/2, M = n and the printed ε′. It holds against an auditor whose answer does
    not depend on the learner's draws of the same round. An auditor that sees the drawn hypothesis can force more
    regret.

    Parameters
    ----------
    epsilon, log_delta, rounds, samples, n, bound
        As in `learner_noise_epsilon`.

    Returns
    -------
    float
        Bound on the sum over all rounds, in expectation over the noise.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    CGKM, Lemma 5, with the norm, the sign and the factor of Theorem 8 set right.
    """
    e = learner_noise_epsilon(epsilon, log_delta, rounds, samples, n, bound)
    norm = 1 + bound / 2
    return signed_leader_bound(rounds, norm, norm, n, n, e)


def two_hypotheses_regret(root: int, doublings: int, bound: int) -> tuple[Fraction, Fraction]:
    """Return how large the learner's regret is in a game of two hypotheses, and the printed bound on it.

    Everybody has the label 0, and half of them are in a subgroup: h₁ selects the subgroup, and h₂ all others. The
    auditor cancels each lead of a hypothesis in the next round. ε = 1, m = 1, ln(1/δ) = 12, T = 12·root² and
    n = 2^doublings, so that √(mT ln(1/δ)) = 12·root. The noise in the difference has the variance 2n/ε′², and by
    Chebyshev's inequality overturns a lead of C/2 with probability at most half of 8n/(ε′C)².

    Parameters
    ----------
    root, doublings : int
        The horizon and the size of the sample, as above.
    bound : int
        C > 0.

    Returns
    -------
    tuple of Fraction
        A lower bound on the regret, and an upper bound on the printed bound (ln 2 < 0.69315).

    Raises
    ------
    ValueError
        If an argument is not a whole number of at least 1.

    References
    ----------
    CGKM, Lemma 5.
    """
    scale = 12 * positive_integer(root, "root")
    n, c = 2 ** positive_integer(doublings, "doublings"), Fraction(positive_integer(bound, "bound"))
    rounds, noise = 12 * root**2, (2 + c) * scale / n  # noise is 1/ε′
    overturned = 8 * n * noise**2 / c**2 / 2
    regret = Fraction(rounds, 2) * (c / 4) * (1 - 2 * overturned)
    log_n = doublings * Fraction(69315, 100000)
    printed = Fraction(rounds, 2) / scale + 2 * (1 + log_n) * (2 + c) * scale
    return regret, printed


def _bounded(best: Any, norm: Any, width: Any, epsilon: Any) -> tuple[float, float, float, float]:
    a, m = (
        number(value, name, "a number of at least 0") for value, name in ((norm, "norm"), (width, "width"))
    )
    if min(a, m) < 0:
        raise ValueError(f"norm, width: found {a} and {m}, expected numbers of at least 0")
    return number(best, "best", "a number"), a, m, positive(epsilon, "epsilon")
