"""When releases are chosen one after another: what they may cost together, so that a total (ε, δ) holds.

The next release, its mechanism and its noise may all depend on the results so far. The least ε of a fixed list of
releases is then no bound. What holds is a filter: an amount of each resource, fixed before the first release, from
which every release takes its cost, a number that does not look at the data.

* **sum**: ε and δ themselves. It costs nothing for pure releases, whose sum is their least ε.
* **gaussian**: a release costs μ² if its results are never easier to distinguish than N(0, 1) from N(μ, 1). Such a
  release, followed by anything of cost r, costs at most μ² + r, as the product of N(μ, 1) and N(√r, 1) has the
  distance √(μ² + r). So Gaussian releases lose nothing by being chosen as they come.
* **concentrated**: a release costs ρ if its Rényi divergences are at most αρ; a product multiplies the moments.

A list of pure releases whose ε add up to at most the total reveals nothing at that ε. So it may go on beyond the limits
of the other two filters, at no price: where it does, its loss cannot exceed the total.

Parts that fail openly, with a probability δ, are a resource of their own, and so is the distance between real and ideal
noise. These allotments must be apart. If noise and failure could be exchanged, one would add noise where the results so
far speak little, and fail where they speak much; the chapter on composition shows how much that breaks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpfair_lib._arguments import below_one, inside_unit, nonnegative, one_of, positive
from dpfair_lib.privacy.concentrated import zcdp_delta
from dpfair_lib.privacy.gaussian import gaussian_sigma
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.rounding import above, below, exp_above, raised
from dpfair_lib.privacy.statements import PrivacyStatement

FILTERS = ("sum", "gaussian", "concentrated")
ROOM = 1 + Fraction(1, 10**12)  # so that ten times 0.1 fits into 1
# of δ, for the distance of real noise from ideal noise: that of 1,000 steps on a grid is some 1e-13
FAR = Fraction(1, 1000)

_BESIDE = "delta of open failure", "the distance from ideal noise", "epsilon of pure releases"
_NEVER = Fraction(2**4000)  # more than any limit

Amounts = tuple[Fraction, ...]


@dataclass(frozen=True)
class Filter:
    """Resources that releases use up.

    Parameters
    ----------
    names : tuple of str
        Of the resources.
    limits : tuple of Fraction
        How much there is of each.
    cost : callable
        How much of each a statement takes.
    left : callable
        ε of one more pure release, and δ of open failure, from what is left of each.
    room : Fraction
        By which factor the costs may exceed the limits.
    alternative : bool
        Whether it is enough that the last resource suffices.
    """

    names: tuple[str, ...]
    limits: Amounts
    cost: Callable[[PrivacyStatement], Amounts]
    left: Callable[[Amounts], tuple[float, float]]
    room: Fraction = Fraction(1)
    alternative: bool = False

    def excess(self, costs: Amounts) -> str:
        """Return which limit the costs exceed, with what was found and expected; nothing if they fit."""
        together = list(zip(self.names, costs, self.limits, strict=True))
        if self.alternative:
            *together, (_, total, limit) = together
            if total <= limit * self.room:
                return ""
        for name, total, limit in together:
            if total > limit * self.room:
                return f"{name}: found {above(total)} in total, expected at most {below(limit)}"
        return ""


def make_filter(
    kind: Literal["sum", "gaussian", "concentrated"], epsilon: float, delta: float, open_delta: float = 0.0
) -> Filter:
    """Return the filter of a total ε and δ.

    Parameters
    ----------
    kind : {"sum", "gaussian", "concentrated"}
        What adds up: ε and δ; the squared distances of Gaussian releases; ρ of zero-concentrated privacy.
    epsilon : float
        ε > 0 of all releases together.
    delta : float
        δ of all releases together; above 0 but for the sum.
    open_delta : float
        The part of δ that is kept for releases that fail openly, in [0, δ). The sum has no such part.

    Returns
    -------
    Filter
        Its limits are rounded down.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan (2016) for sums; Smith and Thakurta (2022) for Gaussian releases, here with a proof
    for a bounded number of releases; Feldman and Zrnic (2021) and Whitehouse et al. (2023) for concentrated privacy.
    """
    one_of(kind, "composition", FILTERS)
    epsilon, delta = positive(epsilon, "epsilon"), below_one(delta, "delta")
    if kind == "sum":
        if open_delta:
            raise ValueError(f"open_delta: found {open_delta} beside composition='sum', expected 0")
        return Filter(("epsilon", "delta"), (Fraction(epsilon), Fraction(delta)), _summed, _sum_left, ROOM)
    inside_unit(delta, "delta")
    if not 0 <= nonnegative(open_delta, "open_delta") < delta:
        raise ValueError(f"open_delta: found {open_delta}, expected at least 0 and less than delta = {delta}")
    noise = below((Fraction(delta) - Fraction(open_delta)) * (1 - FAR))
    far = (Fraction(delta) - Fraction(open_delta)) * FAR / (1 + Fraction(exp_above(min(epsilon, 700.0))))
    rest = Fraction(open_delta), far, Fraction(epsilon) * ROOM
    if kind == "gaussian":
        deviation = gaussian_sigma(epsilon, noise, 1.0, "analytic")
        limits = 1 / Fraction(deviation) ** 2, *rest
        return Filter(
            ("the squared distances", *_BESIDE), limits, _gaussian_cost, _gaussian_left, alternative=True
        )
    limits = largest_rho(epsilon, noise), *rest
    return Filter(("rho", *_BESIDE), limits, _concentrated_cost, _concentrated_left, alternative=True)


def adaptive_epsilon(
    statements: Iterable[PrivacyStatement], delta: float, kind: Literal["sum", "gaussian", "concentrated"], *,
    open_delta: float = 0.0,
) -> float:  # fmt: skip
    """Return the smallest ε of a budget into which some releases fit, though each is chosen by the earlier results.

    Parameters
    ----------
    statements : iterable of PrivacyStatement
        The releases that are planned.
    delta, kind, open_delta
        As in `make_filter`.

    Returns
    -------
    float
        ε, to a relative 1e-9 above the smallest; infinite if what fails openly does not fit into δ.

    Raises
    ------
    ValueError
        If there is no release, or an argument is out of its range.
    """
    planned = list(statements)
    if not planned:
        raise ValueError("statements: found none, expected at least one")

    cost = make_filter(kind, 1.0, delta, open_delta).cost  # the same for every ε
    costs = zip(*map(cost, planned), strict=True)
    totals = tuple(sum(column, Fraction(0)) for column in costs)

    def fits(epsilon: float) -> bool:
        return not make_filter(kind, epsilon, delta, open_delta).excess(totals)

    high = 1e-6
    while not fits(high):
        if high > 1e9:
            return math.inf
        high *= 2
    low = high / 2
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def largest_rho(epsilon: float, delta: float) -> Fraction:
    """Return a ρ, near the largest, for which every ρ-zCDP mechanism is (ε, δ)-DP."""
    low, high = 0.0, positive(epsilon, "epsilon")
    while zcdp_delta(high, epsilon) <= inside_unit(delta, "delta"):
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if zcdp_delta(middle, epsilon) <= delta else (low, middle)
    return Fraction(low)


def gaussian_distance(mechanism: Mechanism) -> float:
    """Return μ, rounded up, such that one step is never easier to distinguish than N(0, 1) from N(μ, 1).

    Apart from open failure, where the mechanism has a δ. Both smallest μ touch at the symmetric point of the trade-off
    between the two errors, where each error is Φ(−μ/2): e^(−a/2)/2 for Laplace noise of ratio a, 1/(1 + e^ε) for a
    statement.

    Parameters
    ----------
    mechanism : Mechanism
        "gaussian", "laplace" or "stated".

    Returns
    -------
    float
        μ; √(π/2) times a or ε where these are small.

    Raises
    ------
    ValueError
        If the mechanism is of another kind.
    """
    from scipy.special import ndtri_exp

    one_of(mechanism.kind, "kind", ("gaussian", "laplace", "stated"))
    ratio = mechanism.ratio
    if mechanism.kind == "gaussian":
        return ratio
    if ratio < 1e-4:  # with 1/2 − Φ(−μ/2) at most a/4; the quantile's series has the next term below a²
        return raised(math.sqrt(math.pi / 2) * ratio * (1 + ratio**2))
    error = -ratio / 2 - math.log(2) if mechanism.kind == "laplace" else -ratio - math.log1p(math.exp(-ratio))
    return raised(-2 * float(ndtri_exp(error)), 1.0)


def _summed(statement: PrivacyStatement) -> Amounts:
    return Fraction(statement.epsilon), Fraction(statement.delta)


def _sum_left(left: Amounts) -> tuple[float, float]:
    return max(below(left[0]), 0.0), max(below(left[1]), 0.0)


def _gaussian_cost(statement: PrivacyStatement) -> Amounts:
    return _cost(statement, lambda one: Fraction(gaussian_distance(one)) ** 2)


def _concentrated_cost(statement: PrivacyStatement) -> Amounts:
    # for pure releases and for Gaussian noise alike
    return _cost(statement, lambda one: Fraction(one.ratio) ** 2 / 2)


def _cost(statement: PrivacyStatement, of_one: Callable[[Mechanism], Fraction]) -> Amounts:
    """Return the cost of a statement's mechanisms, or of its ε and δ where sampling is among them."""
    parts = statement.mechanism
    if not parts or any(one.kind == "poisson-gaussian" for one in parts):
        parts = (Mechanism("stated", statement.epsilon, statement.delta),)
    return (
        sum((of_one(one) * one.steps for one in parts), Fraction(0)),
        sum((Fraction(one.delta) * one.steps for one in parts), Fraction(0)),
        sum((Fraction(one.distance) for one in parts), Fraction(0)),
        Fraction(statement.epsilon) if statement.delta == 0 else _NEVER,
    )


def _gaussian_left(left: Amounts) -> tuple[float, float]:
    from scipy.special import log_ndtr

    # μ = 2Φ⁻¹(e^ε / (1 + e^ε)), solved for ε, from below
    half = math.sqrt(max(below(left[0]), 0.0)) / 2
    epsilon = float(log_ndtr(half) - log_ndtr(-half))
    return _or_pure(epsilon * (1 - 1e-9) - 1e-12, left)


def _concentrated_left(left: Amounts) -> tuple[float, float]:
    return _or_pure(math.sqrt(2 * max(below(left[0]), 0.0)) * (1 - 1e-12), left)


def _or_pure(epsilon: float, left: Amounts) -> tuple[float, float]:
    return max(epsilon, below(left[3] / ROOM), 0.0), max(below(left[1]), 0.0)
