"""What dominates the privacy loss of a release, as plain data, and the tight total of several releases.

A release is dominated by a pair of distributions if it is never easier to tell two neighbours apart by the release than
by one draw of the pair. Releases that are fixed beforehand, each dominated by its pair whatever the earlier ones gave,
are together dominated by the product of the pairs. The losses of a product add up, so their distributions convolve.

Pairs are one-dimensional:

* Gaussian noise of sensitivity Δ in Euclidean norm: N(0, 1) and N(Δ/σ, 1), since the density of the noise is the same
  in all directions.
* Laplace noise of sensitivity Δ in the sum of absolute values: Laplace(0, 1) and Laplace(Δ/b, 1), in any number of
  coordinates. Let H_ε(a) be the δ at ε of one coordinate that moves by a scales; 1 − H_ε(a) = e^((ε − a)/2) for
  |ε| ≤ a. For coordinates that move by a and by b, and any s, min(pq, e^ε p′q′) ≥ min(p, e^s p′) min(q, e^(ε − s) q′).
  So 1 − H_ε(a, b) ≥ (1 − H_s(a)) (1 − H_(ε − s)(b)), which is e^((ε − a − b)/2) if |s| ≤ a and |ε − s| ≤ b. Such an s
  exists for |ε| ≤ a + b, and beyond both sides are trivial.
* A statement (ε, δ) without more: the worst release of these numbers reveals everything with probability δ, and is
  otherwise randomised response (Kairouz, Oh and Viswanath, 2015).
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from dpfair_lib._arguments import (
    below_one,
    inside_unit,
    nonnegative,
    number,
    one_of,
    positive,
    positive_integer,
)
from dpfair_lib._extras import extra
from dpfair_lib.privacy.gaussian import gaussian_epsilon
from dpfair_lib.privacy.rounding import (
    above,
    convolution_error,
    exp_above,
    float_above,
    raised,
    sum_above,
)

KINDS = ("gaussian", "laplace", "poisson-gaussian", "stated")


@dataclass(frozen=True)
class Mechanism:
    """The pair that dominates a release, several times in a row if ``steps`` is more than 1.

    Parameters
    ----------
    kind : {"gaussian", "laplace", "poisson-gaussian", "stated"}
        "poisson-gaussian" is a step of DP-SGD on a Poisson batch. "stated" is any release of ε and δ.
    ratio : float
        Sensitivity over standard deviation (Gaussian) or over scale (Laplace), for DP-SGD the clipping norm over the
        noise; ε of a stated release.
    delta : float
        δ of a stated release.
    rate : float
        Probability of a record to be in a batch.
    steps : int
        How often.
    relation : str
        Of DP-SGD: "add-remove" or "replace-one".
    distance : float
        How far, in total variation, what is really released may be from the mechanism named here, for each data set.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    Twenty Gaussian releases of σ = 10 for a sensitivity of 1:

    >>> from dpfair_lib import privacy
    >>> release = privacy.Mechanism("gaussian", ratio=1 / 10, steps=20)
    >>> round(privacy.total_epsilon([release], delta=1e-6), 2)
    1.99
    """

    kind: Literal["gaussian", "laplace", "poisson-gaussian", "stated"]
    ratio: float
    delta: float = 0.0
    rate: float = 1.0
    steps: int = 1
    relation: str = ""
    distance: float = 0.0

    def __post_init__(self) -> None:
        one_of(self.kind, "kind", KINDS)
        (nonnegative if self.kind == "stated" else positive)(self.ratio, "ratio")
        below_one(self.delta, "delta")
        nonnegative(self.distance, "distance")
        if not 0 < number(self.rate, "rate", "a number in (0, 1]") <= 1:
            raise ValueError(f"rate: found {self.rate}, expected a number in (0, 1]")
        if self.delta and self.kind != "stated":
            raise ValueError(
                f"delta: found {self.delta} beside kind={self.kind!r}, expected 0: only a stated release fails openly; "
                "give the failure as Mechanism('stated', 0, delta) of its own"
            )
        # Python's numbers, whatever kind was given: sums of NumPy's narrow ones would wrap, and cost less
        for name in ("ratio", "delta", "rate", "distance"):
            object.__setattr__(self, name, float_above(getattr(self, name)))
        below_one(self.delta, "delta")
        object.__setattr__(self, "steps", positive_integer(self.steps, "steps"))
        if self.kind == "poisson-gaussian":
            one_of(self.relation, "relation", ("add-remove", "replace-one"))


def total_epsilon(mechanisms: Iterable[Mechanism], delta: float) -> float:
    """Return an ε for which several releases, fixed beforehand, are together (ε, δ)-differentially private.

    Parameters
    ----------
    mechanisms : iterable of Mechanism
        The releases.
    delta : float
        δ in (0, 1) of all together.

    Returns
    -------
    float
        ε, rounded up. For Gaussian releases alone it is the smallest one. Otherwise the losses are rounded up to a grid
        and convolved, which costs about 1e-4 of ε. Infinite if δ is less than what fails openly.

    Raises
    ------
    ValueError
        If δ is out of its range or there is no release.

    References
    ----------
    Sommer, Meiser and Mohammadi (2019); Zhu, Dong and Wang (2022), Theorem 10, for products of dominating pairs;
    Doroshenko et al. (2022) for the grid.

    Examples
    --------
    Two Gaussian releases and one Laplace release:

    >>> from dpfair_lib.privacy import Mechanism, total_epsilon
    >>> releases = [Mechanism("gaussian", 0.1, steps=2), Mechanism("laplace", 0.5)]
    >>> round(total_epsilon(releases, delta=1e-6), 2)
    1.05
    """
    delta, releases = inside_unit(delta, "delta"), tuple(mechanisms)
    if not releases:
        raise ValueError("mechanisms: found none, expected at least one")
    distance = sum(Fraction(m.distance) for m in releases)
    if (
        all(m.kind == "gaussian" or (m.kind == "poisson-gaussian" and _plain(m)) for m in releases)
        and not distance
    ):
        ratio = math.sqrt(sum_above(above(Fraction(m.ratio) ** 2 * m.steps) for m in releases))
        return gaussian_epsilon(delta, 1.0, raised(ratio))
    times = Counter[Mechanism]()
    for m in releases:
        times[replace(m, steps=1, distance=0.0)] += m.steps
    composed = _composed(tuple(sorted(times.items(), key=repr)))
    convolutions = sum(m.steps for m in releases)
    room = Fraction(delta) - Fraction(convolution_error(convolutions))
    epsilon = _at(composed, room)
    while distance:  # (1 + e^ε) times the distance goes off δ: the least fixed point from below
        after = _at(composed, room - (1 + Fraction(exp_above(min(epsilon, 700.0)))) * distance)
        if after <= epsilon:
            break
        epsilon = after
    return epsilon


def _plain(mechanism: Mechanism) -> bool:
    return mechanism.rate == 1 and mechanism.relation == "add-remove"


def _at(composed: Any, delta: Fraction) -> float:
    if delta <= 0:
        return math.inf
    epsilon = float(composed.get_epsilon_for_delta(float(delta)))
    return raised(epsilon) if epsilon > 0 else 0.0


@functools.lru_cache(maxsize=64)
def _composed(releases: tuple[tuple[Mechanism, int], ...]) -> Any:
    """Return the privacy loss distribution of all releases, on a grid that is as fine as their losses ask for."""
    spread = math.sqrt(sum(times * min(one.ratio * one.rate, 1e3) ** 2 for one, times in releases))
    widest = max(_widest(one) for one, _ in releases)
    interval = min(max(spread * 2e-5, widest / 3e4, 1e-7), 1e-3)
    parts = [_distribution(one, interval).self_compose(times) for one, times in releases]
    return functools.reduce(lambda one, other: one.compose(other), parts)


def _widest(mechanism: Mechanism) -> float:
    """Return a loss of one step that is hardly ever exceeded."""
    if "gaussian" not in mechanism.kind:
        return mechanism.ratio
    exponent = 10 * mechanism.ratio + mechanism.ratio**2 / 2
    return math.log1p(mechanism.rate * math.expm1(exponent)) if exponent < 700 else exponent


def _distribution(mechanism: Mechanism, interval: float) -> Any:
    with extra("accounting"):
        from dp_accounting.pld import common, privacy_loss_distribution
        from dp_accounting.privacy_accountant import NeighboringRelation

    if mechanism.kind == "stated":
        return privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(mechanism.ratio, mechanism.delta), interval
        )
    grid = {"value_discretization_interval": interval, "pessimistic_estimate": True, "use_connect_dots": True}
    if mechanism.kind == "laplace":
        return privacy_loss_distribution.from_laplace_mechanism(1 / mechanism.ratio, **grid)
    relation = (
        NeighboringRelation.REPLACE_ONE
        if mechanism.relation == "replace-one"
        else NeighboringRelation.ADD_OR_REMOVE_ONE
    )
    return privacy_loss_distribution.from_gaussian_mechanism(
        1 / mechanism.ratio, sampling_prob=mechanism.rate, neighboring_relation=relation, **grid
    )
