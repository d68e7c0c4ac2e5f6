"""Gaussian noise on a grid: what DP-SGD costs whose sums are integers with exactly drawn discrete Gaussian noise.

A step releases S + Z. S is the sum, over a Poisson batch, of one integer vector of norm at most R for each record. The
entries of Z are independent discrete Gaussian variables, P(k) ∝ e^(−k²/(2s²)), with s ≥ σR. Accountants know the
continuous Gaussian. Four short steps lead from the one to the other.

1. *Rounded continuous noise costs no more than continuous noise.* Let Y have independent entries N(0, s²), and round
   halves up. As S is an integer, S + round(Y) = round(S + Y) is computed from S + Y alone, which is a step of DP-SGD
   with noise multiplier s/R ≥ σ. This holds for any number of steps, each chosen by what the earlier ones released.
2. *Discrete noise is near the rounded one.* Let φ be the density of N(0, s²), P_k its mass from k − ½ to k + ½,
   N = Σ φ(k), Q_k = φ(k)/N. The midpoint rule has the error P_k − φ(k) = ∫ φ″(x) (½ − |x − k|)²/2 dx over that
   interval, so that Σ |P_k − φ(k)| ≤ ∫ |φ″|/8 = 4|φ′(s)|/8 = e^(−½)/(2√(2π) s²) =: A < 1/(8s²). Besides,
   Σ |φ(k) − Q_k| = |N − 1| = |Σ (φ(k) − P_k)| ≤ A. So the total variation distance, half of Σ |P_k − Q_k|, is at most
   A < 1/(8s²), for every s > 0. (It is 0.0202/s² for large s.)
3. *So the releases are near.* Noise is independent of batches. T steps with p entries each draw it Tp times. For every
   data set the probabilities of an event with the one noise and with the other differ by at most v = Tp/(8s²).
4. *Twice, for two data sets.* With continuous noise let the steps be (ε, δ′)-private. Then
   P(M(D) ∈ E) ≤ e^ε (P(M(D′) ∈ E) + v) + δ′ + v, so M is (ε, δ′ + (1 + e^ε)v)-private.

Coins of a probability q′ ≤ q are covered by the account for q. With θ = q′/q, the law of a step is that for rate q with
weight θ, and that without the record with weight 1 − θ. The divergence of the two data sets' laws is jointly convex, so
it is at most θ times that for rate q plus 1 − θ times that of equal laws, which is the least there is. This holds under
both relations.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from dpfair_lib.privacy.accounting import DpSgdRelation, dp_sgd_statement
from dpfair_lib.privacy.rounding import above, below, exp_above
from dpfair_lib.privacy.statements import PrivacyStatement

FINENESS = 2.0**40
"""s, the standard deviation of the noise in units of the grid."""
SHARE = Fraction(1, 2**14)
"""The part of δ that is set aside for the noise's being discrete. It changes ε by less than the grid of losses does."""


def discrete_distance(scale: float) -> Fraction:
    """Return 1/(8s²), which the total variation distance of discrete and rounded Gaussian noise does not exceed.

    Parameters
    ----------
    scale : float
        s > 0.

    Returns
    -------
    Fraction
        The bound; see the second step above.
    """
    return 1 / (8 * Fraction(scale) ** 2)


def discreteness_cost(epsilon: float, draws: int, scale: float = FINENESS) -> float:
    """Return what so many discrete Gaussian variables add to δ at ε: (1 + e^ε) · draws/(8s²), rounded up.

    Parameters
    ----------
    epsilon : float
        ε ≥ 0.
    draws : int
        How many variables are drawn: steps times entries.
    scale : float
        s.

    Returns
    -------
    float
        The cost; infinite where e^ε is beyond all floats.
    """
    odds = exp_above(epsilon)
    return math.inf if math.isinf(odds) else above((1 + Fraction(odds)) * draws * discrete_distance(scale))


def continuous_delta(delta: float) -> float:
    """Return the δ′ < δ for which the noise is calibrated as if it were continuous.

    Parameters
    ----------
    delta : float
        δ in (0, 1).

    Returns
    -------
    float
        (1 − 2⁻¹⁴) δ, rounded down.
    """
    return below((1 - SHARE) * Fraction(delta))


def grid_statement(
    noise_multiplier: float, sample_rate: float, steps: int, width: int, delta: float, *,
    relation: DpSgdRelation = "add-remove", public: tuple[str, ...] = (),
) -> PrivacyStatement:  # fmt: skip
    """Return the statement of DP-SGD on a grid: what PLD accounting gives at δ′, stated at δ.

    Parameters
    ----------
    noise_multiplier, sample_rate, steps
        σ, q and T, as in `dp_sgd_statement`; s ≥ σR for s = `FINENESS`.
    width : int
        p, the entries of what a step releases.
    delta : float
        δ of the statement.
    relation, public
        As in `dp_sgd_statement`.

    Returns
    -------
    PrivacyStatement
        With guarantee, if the noise is drawn as described above.

    Raises
    ------
    ValueError
        As `dp_sgd_statement`; if what was set aside of δ is less than the noise's being discrete costs.
    """
    accounted = continuous_delta(delta)
    statement = dp_sgd_statement(
        noise_multiplier, sample_rate, steps, accounted, "pld", relation=relation, public=public
    )
    cost, left = discreteness_cost(statement.epsilon, steps * width), Fraction(delta) - Fraction(accounted)
    if not cost <= left:
        raise ValueError(
            f"epsilon, delta: found {statement.epsilon:.6g}, {delta:.6g}, at which noise on a grid costs up to "
            f"{cost:.3g} of delta beyond continuous noise, expected a smaller epsilon or a larger delta, with which it "
            f"costs at most {float(SHARE):.3g} of delta"
        )
    far = above(steps * width * discrete_distance(FINENESS))
    return replace(
        statement, delta=delta, mechanism=tuple(replace(m, distance=far) for m in statement.mechanism)
    )
