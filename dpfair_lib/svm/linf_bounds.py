"""Bounds on the largest error of noisy frequencies of (prediction, group, label): published and proved."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

from dpfair_lib._arguments import inside_unit, one_of, positive, positive_integer
from dpfair_lib._validation import as_single_rate
from dpfair_lib.privacy.laplace_vector import largest_error_bound


def generic_linf_bound(
    *, n_groups: int, m: int, epsilon: float, beta: float, kind: Literal["printed", "exact"] = "printed"
) -> float:
    """Return a bound on the largest Laplace noise in the 4|A| cells of the noisy joint distribution.

    Every cell (prediction, group, label) gets independent noise of scale 2/(mε). The largest exceeds the bound with
    probability at most β.

    Parameters
    ----------
    n_groups : int
        |A|, the number of groups, at least 1.
    m : int
        Number of records, at least 1.
    epsilon : float
        ε of the noise.
    beta : float
        β in (0, 1).
    kind : {"printed", "exact"}
        "printed" is the published union bound, 2 ln(4|A|/β)/(mε). "exact" is the number that is exceeded with
        probability exactly β.

    Returns
    -------
    float
        Bound on ‖q̂ − q̃‖∞, the largest difference between the exact and the noisy frequencies.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Seiders and Kumar (2024), § 5, after Jagielski et al. (2019).

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> print(round(dpf.generic_linf_bound(n_groups=2, m=1000, epsilon=1.0, beta=0.05), 4))
    0.0102
    """
    cells, points = 4 * positive_integer(n_groups, "n_groups"), positive_integer(m, "m")
    scale = _scale(points, positive(epsilon, "epsilon"), "m")
    return largest_error_bound(inside_unit(beta, "beta"), scale, cells, kind)


def svm_linf_bound(
    *, n_groups: int, m: int, k: int, epsilon: float, beta: float,
    kind: Literal["printed", "corrected"] = "printed", flippable: float = 1.0, share: float = 0.5,
) -> float:  # fmt: skip
    """Return a bound on the error of the noisy joint distribution of `SupportVectorPerturbation.noisy_joint`.

    The error ‖q̂ − q̃‖∞ is the largest difference between the exact frequencies of (prediction, group, label) and the
    noisy ones.

    Parameters
    ----------
    n_groups, m, epsilon, beta
        As in `generic_linf_bound`.
    k : int
        Number of support vectors, between 1 and m.
    kind : {"printed", "corrected"}
        "printed" is the published bound 2 ln(2|A|/β)/(mε) + 2 ln(2/β)/(kε), which Algorithm 1 can violate more often
        than with probability β. "corrected" is 2 ln(2|A|/(sβ))/(mε) + φ, which holds with probability 1 − β.
    flippable : float
        φ in [0, 1], for "corrected": except with probability (1 − s)β, the noise on the support vectors changes the
        predictions of at most this share of all records in any one cell (group, label); see
        `dpfair_lib.svm.perturbation.flippable_share`. The default 1 assumes nothing.
    share : float
        s in (0, 1): the part of β that is used for the noise on the cells.

    Returns
    -------
    float
        Bound on ‖q̂ − q̃‖∞.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Seiders and Kumar (2024), § 5 and Appendix A; the corrected bound is ours.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> sizes = dict(n_groups=2, m=1000, k=100, epsilon=1.0, beta=0.05)
    >>> print(round(dpf.svm_linf_bound(**sizes), 4))
    0.0825
    >>> print(round(dpf.svm_linf_bound(**sizes, kind="corrected", flippable=0.02), 4))
    0.0302
    """
    points, vectors = _counts(m, k)
    groups, epsilon = positive_integer(n_groups, "n_groups"), positive(epsilon, "epsilon")
    beta, scale = inside_unit(beta, "beta"), _scale(points, epsilon, "m")
    if one_of(kind, "kind", ("printed", "corrected")) == "printed":
        cells = largest_error_bound(beta, scale, 2 * groups, "printed")
        return cells + largest_error_bound(beta, _scale(vectors, epsilon, "k"), 2, "printed")
    for_cells = inside_unit(share, "share") * beta
    if not for_cells:
        raise ValueError(
            f"beta, share: found {beta} and {share}, whose product no float can hold, expected larger ones"
        )
    cells = largest_error_bound(for_cells, scale, 2 * groups, "printed")
    return cells + float(as_single_rate(flippable, "flippable"))


def sum_of_tails_failure(
    *, n_groups: int, m: int, k: int, beta: float, event: Literal["sum", "both"] = "sum"
) -> float:
    """Return how often the printed bound fails if the second noise is added to two outputs, as § 5 counts it.

    With W on the 2|A| cells of scale 2/(mε) and V on two outputs of scale 2/(kε), all independent: the probability that
    max|W| + max|V| exceeds the sum of the two printed thresholds, or that one of the two exceeds its own. ε cancels.

    Parameters
    ----------
    n_groups, m, k, beta
        As for `svm_linf_bound`.
    event : {"sum", "both"}
        Fails as a sum, or unless both tails hold at once.

    Returns
    -------
    float
        The probability; "both" in closed form, "sum" by quadrature to about 1e-10.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    SK, § 5.
    """
    from scipy.integrate import quad

    points, vectors = _counts(m, k)
    cells = 2 * positive_integer(n_groups, "n_groups")
    first, second = (largest_error_bound(beta, 1.0, size, "printed") for size in (cells, 2))
    if one_of(event, "event", ("sum", "both")) == "both":
        log_chance = math.log(-math.expm1(-first)) * cells + 2 * math.log(-math.expm1(-second))
        return -math.expm1(log_chance)
    ratio = vectors / points  # scale of W over that of V
    threshold = first * ratio + second  # in units of the scale of V

    def density(v: float) -> float:
        inside = -math.expm1(-(threshold - v) / ratio)
        return float(inside**cells) * 2 * math.exp(-v) * -math.expm1(-v)

    # W falls off within a few of its scales of the upper end
    edges = [threshold - ratio * step for step in (40, 20, 10, 5, 2, 1) if ratio * step < threshold]
    value, _ = quad(density, 0, threshold, points=edges or None, epsabs=1e-12, epsrel=1e-12, limit=400)
    return 1 - float(value)


def svm_at_most_generic(*, beta: Any, m: int, k: int) -> int:
    """Compare the two printed bounds exactly: the sign of generic minus SVM, by (2/β)^m against 2^k.

    Parameters
    ----------
    beta : Fraction or int
        β in (0, 1], exact; 1 is the edge case.
    m, k : int
        As for `svm_linf_bound`.

    Returns
    -------
    int
        −1 where the SVM bound is the larger, 0 where they are equal, 1 where it is the smaller; |A| and ε cancel.

    Raises
    ------
    ValueError
        If an argument is out of its range or β not exact.

    References
    ----------
    SK, § 5.
    """
    points, vectors = _counts(m, k)
    if isinstance(beta, bool) or not isinstance(beta, int | Fraction) or not 0 < beta <= 1:
        raise ValueError(f"beta: found {beta!r}, expected an int or Fraction in (0, 1]")
    ours, generic = (2 / Fraction(beta)) ** points, Fraction(2) ** vectors
    return (generic > ours) - (generic < ours)


def _scale(rows: int, epsilon: float, name: str) -> float:
    """Return the scale 2/(nε) of the noise on a frequency, or refuse what no float can hold."""
    scale = 2 / rows / epsilon
    if not 0 < scale < math.inf:
        raise ValueError(
            f"epsilon: found {epsilon} beside {name}={rows}, expected one for which a float holds 2/({name}·epsilon)"
        )
    return scale


def _counts(m: Any, k: Any) -> tuple[int, int]:
    points, vectors = positive_integer(m, "m"), positive_integer(k, "k")
    if vectors > points:
        raise ValueError(f"k: found {vectors} support vectors, expected at most the {points} records")
    return points, vectors
