"""Channels for a binary attribute, among them that of the thesis's Theorem 14.

Everything depends on the channel (p, q) and on the shares of the two values, and not on their rates of positive labels:
with s = p + q − 1 the rates differ by s·P(A=0)P(A=1) / (P(Z=0)P(Z=1)) times what they differed by before.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpfair_lib._validation import same_rows
from dpfair_lib.local.levels import as_epsilon
from dpfair_lib.local.randomizer import Randomizer, as_shares

Kind = Literal["ratio", "difference"]


def binary_matrix(truth_0: Any, truth_1: Any) -> np.ndarray:
    """Return the channel that reports 0 truthfully with probability p and 1 with probability q.

    Parameters
    ----------
    truth_0, truth_1 : number
        p and q in [0, 1].

    Returns
    -------
    ndarray of shape (2, 2)
        Row: value, column: report.

    References
    ----------
    Thesis (5.4.1).
    """
    return np.array([[truth_0, 1 - truth_0], [1 - truth_1, truth_1]])


def optimal_truths(share_0: Any, x: Any) -> tuple[Any, Any]:
    """Return the printed optimum (p*, q*): the smaller group tells the truth with 1 − x/2, the larger with ½.

    Parameters
    ----------
    share_0 : number
        P(A = 0). At one half either value may be the smaller group's; 0 is taken.
    x : number
        e^(−ε) in [0, 1]; a `Fraction` gives exact results.

    References
    ----------
    Thesis, Theorem 14.
    """
    half = x * 0 + Fraction(1, 2) if isinstance(x, Fraction | int) else 0.5
    return (1 - x / 2, half) if 2 * share_0 <= 1 else (half, 1 - x / 2)


def unfairness_ratio(share_0: Any, truth_0: Any, truth_1: Any, kind: Kind = "difference") -> Any:
    """Return the unfairness of the reports over that of the values, whatever the rates of positive labels are.

    Parameters
    ----------
    share_0 : number or array
        P(A = 0) in (0, 1).
    truth_0, truth_1 : number or array
        p and q in [0, 1].
    kind : {"ratio", "difference"}
        Δ: |p + q − 1|·min(P(A=0), P(A=1)) / min(P(Z=0), P(Z=1)); or Δ′: |p + q − 1|·P(A=0)P(A=1) / (P(Z=0)P(Z=1)). A
        channel that always gives one report leaves no difference: 0.

    References
    ----------
    Thesis (B.0.2) for Δ′; ours for Δ.
    """
    spread = abs(truth_0 + truth_1 - 1)
    reported_0 = share_0 * truth_0 + (1 - share_0) * (1 - truth_1)
    if kind == "difference":
        above, below = spread * share_0 * (1 - share_0), reported_0 * (1 - reported_0)
    else:
        above, below = spread * _smaller(share_0), _smaller(reported_0)
    silent = below == 0
    return (
        np.where(silent, 0, above) / np.where(silent, 1, below)
        if np.ndim(below)
        else (above * 0 if silent else above / below)
    )


def optimal_ratio(share_0: Any, x: Any, kind: Kind = "difference") -> Any:
    """Return the ratio that Theorem 14's channel reaches, in closed form.

    With m the share of the smaller group and u = 1 − e^(−ε): 2m(1 − m)u / (1 − m²u²) for Δ′ and mu / (1 − mu) for Δ.

    Parameters
    ----------
    share_0 : number or array
        P(A = 0) in [0, 1].
    x : number or array
        e^(−ε) in [0, 1].
    kind : {"ratio", "difference"}
        Δ or Δ′.

    References
    ----------
    Ours.
    """
    m, u = _smaller(share_0), 1 - x
    if kind == "difference":
        return 2 * m * (1 - m) * u / (1 - m**2 * u**2)
    return m * u / (1 - m * u)


def least_ratio_anywhere(share_0: Any, x: Any) -> Any:
    """Return the infimum of the Δ′ ratio over all binary channels of level at least ε, truthful or not.

    It is m(1 − m)u / (1 − mu), which is (1 + mu)/2 times `optimal_ratio`. No channel attains it for 0 < m and
    0 ≤ x < 1: it is the limit of channels that report the smaller group's value almost always.

    Parameters
    ----------
    share_0, x : number or array
        As in `optimal_ratio`.

    References
    ----------
    Ours.
    """
    m, u = _smaller(share_0), 1 - x
    return m * (1 - m) * u / (1 - m * u)


def most_truthful_optimum(share_0: Any, x: Any) -> tuple[Any, Any]:
    """Return the most truthful (p, q) among those of least Δ at level ε or more; Theorem 14's is the least truthful.

    The larger group tells the truth with probability 1/(2(1 − mu)), the smaller with 1 minus x times that, so
    that both reports are equally likely. For equal shares this is randomised response.

    Parameters
    ----------
    share_0 : number
        P(A = 0). At one half, both orders give the same.
    x : number
        e^(−ε) in [0, 1]; a `Fraction` gives exact results.

    References
    ----------
    Ours.
    """
    larger = 1 / (2 * (1 - _smaller(share_0) * (1 - x)))
    return (1 - x * larger, larger) if 2 * share_0 <= 1 else (larger, 1 - x * larger)


def equally_truthful_response(share_0: Any, x: Any) -> Any:
    """Return the truth probability ½(1 + mu) of Theorem 14's channel: that of the plain response it is compared with.

    Parameters
    ----------
    share_0, x : number or array
        As in `optimal_ratio`.

    References
    ----------
    Ours.
    """
    return (1 + _smaller(share_0) * (1 - x)) / 2


@same_rows
def binary_optimum(p: Any, p1: Any, epsilon: float) -> Randomizer:
    """Return the channel of Theorem 14 of the thesis, for an attribute with two values.

    Among the truthful channels whose privacy parameter is at least ε, its reports have the smallest unfairness Δ′ (see
    `data_unfairness`). Truthful means that each value is reported truthfully with probability at least ½.

    **Not recommended.** Plain randomised response with the same probability of a true report
    (`dpfair_lib.local.binary.equally_truthful_response`) is fairer and more private. If the smaller group's share is at
    most a third, so is always reporting the larger group's value.

    Parameters
    ----------
    p : array of shape (2,)
        P(A = 0), P(A = 1). Equal shares have two optimal channels; the one that favours the value 0 is returned.
    p1 : array of shape (2,)
        P(Y = 1 | A = 0), P(Y = 1 | A = 1). They are checked, but the channel does not depend on them. If they are
        equal, every channel has Δ′ = 0.
    epsilon : float
        ε in [0, 700], or infinity. At 0 every report is a fair coin.

    Returns
    -------
    Randomizer
        The channel; its ``value`` is Δ′ of the reports.

    Raises
    ------
    ValueError
        If ``p`` is not a distribution over two values, if a rate is outside [0, 1], or if ε is out of its range.

    References
    ----------
    Ghoukasian (thesis, 2024), Theorem 14.

    Examples
    --------
    The rates 0.2 and 0.6 differ by 0.4; among the reports they differ by 0.11.

    >>> import dpfair_lib as dpf
    >>> channel = dpf.binary_optimum([0.7, 0.3], [0.2, 0.6], epsilon=1.0)
    >>> channel.matrix.round(2)
    array([[0.5 , 0.5 ],
           [0.18, 0.82]])
    >>> print(round(channel.value, 2))
    0.11
    """
    shares, rates = as_shares(p, p1, 2)
    shares, rates = shares.astype(float), rates.astype(float)
    x = math.exp(-as_epsilon(epsilon))
    value = float(optimal_ratio(shares[0], x) * abs(rates[1] - rates[0])) if (shares > 0).all() else 0.0
    matrix = binary_matrix(*optimal_truths(shares[0], x))
    # the lie of the smaller group, which 1 − (1 − x/2) loses in rounding: from ε = 37 on it would be 0
    matrix[(0, 1) if 2 * shares[0] <= 1 else (1, 0)] = x / 2
    return Randomizer(matrix, value=value)


def _smaller(share: Any) -> Any:
    return np.minimum(share, 1 - share) if np.ndim(share) else min(share, 1 - share)
