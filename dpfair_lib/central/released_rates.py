"""Exact privacy of two noisy selection rates, for every neighbouring relation.

A group with k selected records of m releases k/m plus Laplace noise of scale 1/(mε), clipped to [0, 1]. The
logarithm of the ratio of two such densities is piecewise linear, so its largest value is at a breakpoint or
in one of the two atoms that clipping makes. Ratios are formed from one function, t ↦ e^(−εt); where that
function is rational at the points asked for, so is the ratio.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dpfair_lib._arguments import nonnegative, number, one_of, positive
from dpfair_lib._validation import as_count
from dpfair_lib.central.gap_law import Mechanism
from dpfair_lib.central.several_groups.per_group import MECHANISMS
from dpfair_lib.privacy.rounding import above, raised, sum_above
from dpfair_lib.privacy.statements import RELATIONS

Decay = Callable[[Fraction], Any]
# how many groups' counts a neighbour can move, and whether a group's size moves with them
MOVED_GROUPS = {"add-remove": 1, "replace-one": 2, "replace-within-group": 1, "sensitive-attribute": 2}


class Rate(NamedTuple):
    """One group's rate: how many records are selected, and the divisor, which also sets the noise."""

    selected: int
    size: int


def exponential_decay(epsilon: float) -> Decay:
    """Return t ↦ e^(−εt), in floats."""
    rate = positive(epsilon, "epsilon")
    return lambda t: math.exp(min(-rate * float(t), 700.0))


def rational_decay(root: Fraction, parts: int) -> Decay:
    """Return t ↦ e^(−εt) in fractions, for the ε with e^(−ε/parts) = root.

    Parameters
    ----------
    root : Fraction
        In (0, 1).
    parts : int
        At least 1; t has to be a multiple of 1/parts.

    Returns
    -------
    callable
        From multiples of 1/parts to `Fraction`.

    Raises
    ------
    ValueError
        If an argument is out of its range; the callable raises it where e^(−εt) need not be rational.
    """
    if not isinstance(root, Fraction) or not 0 < root < 1:
        raise ValueError(f"root: found {root!r}, expected a Fraction in (0, 1)")
    as_count(parts, "parts", 1)

    def decay(t: Fraction) -> Fraction:
        steps = Fraction(t) * parts
        if steps.denominator != 1:
            raise ValueError(f"t: found {t}, expected a multiple of 1/{parts}")
        return root**steps.numerator

    return decay


def rate_odds(before: Rate, after: Rate, decay: Decay, *, clipped: bool = True) -> Any:
    """Return the largest P(S)/P′(S) over all events S: e to the exact privacy loss of one noisy rate.

    Parameters
    ----------
    before, after : Rate
        The group's records under P and under P′. The divisors differ where sizes are counted in the data;
        ``selected`` may exceed a divisor that was fixed beforehand.
    decay : callable
        t ↦ e^(−εt).
    clipped : bool
        Whether the noisy rate is clipped to [0, 1].

    Returns
    -------
    float or Fraction
        At least 1; infinite if P has the heavier tail and nothing is clipped.

    Raises
    ------
    ValueError
        If a count is negative or a divisor below 1.
    """
    (k, m), (j, n) = (_checked(rate) for rate in (before, after))
    if not clipped and m < n:
        return math.inf
    points = {Fraction(k, m), Fraction(j, n)}
    if clipped:
        points = {x for x in points if 0 < x < 1} | {Fraction(0), Fraction(1)}
    ratios = [
        Fraction(m, n) * decay(abs(m * x - k) - abs(n * x - j)) for x in points
    ]  # at 0 and 1: the limits of the density from inside
    if clipped:
        ratios.append(decay(Fraction(k - j)))  # P(rate + noise ≤ 0) = e^(−εk)/2
        ratios.append(_upper_tail(m - k, decay) / _upper_tail(n - j, decay))
    return max([*ratios, 1])


def _checked(rate: Rate) -> tuple[int, int]:
    return as_count(rate[0], "selected", 0), as_count(rate[1], "size", 1)


def _upper_tail(short: int, decay: Decay) -> Any:
    """P(noisy count ≥ short) for a count of 0."""
    return decay(Fraction(short)) / 2 if short >= 0 else 1 - decay(Fraction(-short)) / 2


def release_epsilon(
    epsilons: Sequence[Any],
    relation: str,
    *,
    mechanism: Mechanism = "laplace",
    least_sizes: Sequence[int] | None = None,
    clipped: bool = True,
) -> Any:
    """Return the smallest ε with which all groups' noisy rates together are (ε, 0)-DP.

    With divisors fixed beforehand: the largest ε_a where a neighbour moves one group's count, the sum of the
    two largest where it moves two; the same for both mechanisms, clipped or not. With divisors counted in
    the data nothing changes under replace-within-group. Else the discrete mechanism shows the size itself,
    and unclipped Laplace noise shows it in its tails (ε = ∞ for both); clipped Laplace noise adds
    ln(M/(M − 1)) − ε_a/M, if that is positive, for a group whose larger size is M.

    Parameters
    ----------
    epsilons : sequence of float or Fraction
        ε_a > 0 of each group, for two groups or more.
    relation : str
        A key of `RELATIONS` other than "local".
    mechanism : {"laplace", "geometric"}
        The noise: of scale 1/ε_a on the count.
    least_sizes : sequence of int, optional
        None if the divisors are constants, fixed without a look at the data. Else they are counted in the
        data, and every data set has at least these many records in each group.
    clipped : bool
        Whether the rates are clipped to [0, 1].

    Returns
    -------
    float or Fraction
        ε: none smaller holds for all data sets, but for roundings upwards. A
        `Fraction` if every ε_a is one and no logarithm is needed.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the relation is "local", which no trusted curator provides.

    References
    ----------
    ISIT, Algorithm 2, line 2, and Theorem 3; derived in the chapter on its privacy.
    """
    values = _epsilons(epsilons)
    moved = _moved_groups(relation)
    one_of(mechanism, "mechanism", MECHANISMS)
    if least_sizes is not None and len(least_sizes) != len(values):
        raise ValueError(
            f"least_sizes: found {len(least_sizes)}, expected one for each of {len(values)} groups"
        )
    sizes = None if least_sizes is None else [as_count(size, "least_sizes", 1) for size in least_sizes]
    if sizes is None or relation == "replace-within-group":
        return _sum(sorted(values)[-moved:])
    if mechanism == "geometric" or not clipped:
        return math.inf
    # both for the smallest groups: with larger ones a positive excess shrinks, and a negative one goes to 0
    excess = [
        max(raised(math.log1p(1 / m) - value / (m + 1), 1.0 / m), 0.0)
        for value, m in zip(values, sizes, strict=True)
    ]
    return max(
        sum_above([*(above(Fraction(values[i])) for i in groups), max(excess[i] for i in groups)])
        for groups in itertools.combinations(range(len(values)), moved)
    )


def _sum(values: list[Any]) -> Any:
    exact = sum((Fraction(value) for value in values), Fraction(0))
    return exact if all(isinstance(value, Fraction) for value in values) else above(exact)


def _epsilons(epsilons: Sequence[Any]) -> list[Any]:
    values = list(epsilons)
    if len(values) < 2:
        raise ValueError(f"epsilons: found {len(values)}, expected one for each of at least two groups")
    return [
        value if isinstance(value, Fraction) and value > 0 else positive(value, "epsilons")
        for value in values
    ]


def _moved_groups(relation: str) -> int:
    one_of(relation, "relation", RELATIONS)
    if relation not in MOVED_GROUPS:
        raise ValueError(
            f"relation: found {relation!r}, expected one of {', '.join(map(repr, MOVED_GROUPS))}: here the "
            "records are seen before the noise is added"
        )
    return MOVED_GROUPS[relation]


def release_delta(
    epsilons: Sequence[float], relation: str, at: float, *, mechanism: Mechanism = "laplace"
) -> float:
    """Return the smallest δ with which all groups' noisy rates are (at, δ)-DP; divisors fixed beforehand.

    Parameters
    ----------
    epsilons : sequence of float
        ε_a > 0 of each group.
    relation : str
        As in `release_epsilon`.
    at : float
        At least 0.
    mechanism : {"laplace", "geometric"}
        As in `release_epsilon`.

    Returns
    -------
    float
        The hockey-stick divergence of the worst pair of neighbours, clipped or not.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Derived in the chapter on ISIT, Theorem 3 (privacy).
    """
    second, first = sorted(float(value) for value in _epsilons(epsilons))[-2:]
    if _moved_groups(relation) == 1:
        second = 0.0
    e = nonnegative(at, "at")
    if one_of(mechanism, "mechanism", MECHANISMS) == "geometric":
        # a count's loss is ε_a with probability 1/(1 + r) and −ε_a else, r = e^(−ε_a): randomised response
        r_0, r_1 = math.exp(-first), math.exp(-second)
        both = -math.expm1(min(e - first - second, 0.0))
        larger = -r_1 * math.expm1(min(e - first + second, 0.0))
        return (both + larger) / ((1 + r_0) * (1 + r_1))
    v = max(first + second - e, 0.0) / 2
    return -math.expm1(-v) - math.exp(-v) * min(v, second) / 2


def geometric_count_law(selected: int, top: int, ratio: Any) -> list[Any]:
    """Return the law of a count with geometric noise, clipped to 0…top; exact for a `Fraction`.

    Parameters
    ----------
    selected : int
        The count, at least 0; it may exceed ``top``, if that was fixed beforehand.
    top : int
        At least 1.
    ratio : float or Fraction
        r = e^(−ε) in (0, 1): P(noise = z) = r^|z| (1 − r)/(1 + r).

    Returns
    -------
    list of float or Fraction
        P(clipped noisy count = c) for c = 0…top.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    k, n = as_count(selected, "selected", 0), as_count(top, "top", 1)
    r = ratio if isinstance(ratio, Fraction) else number(ratio, "ratio", "a number in (0, 1)")
    if not 0 < r < 1:
        raise ValueError(f"ratio: found {ratio}, expected a number in (0, 1)")

    def at_least(c: int) -> Any:
        return r ** (c - k) / (1 + r) if c > k else 1 - r ** (k - c + 1) / (1 + r)

    tails = [1 + 0 * r, *(at_least(c) for c in range(1, n + 1)), 0 * r]
    return [tails[c] - tails[c + 1] for c in range(n + 1)]
