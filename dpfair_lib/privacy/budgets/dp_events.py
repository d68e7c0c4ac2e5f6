"""Releases as events of dp-accounting, for whoever goes on with its accountants.

An event of dp-accounting is a mechanism on records that are added or removed. What a release reveals depends on the
pair of distributions that dominates it, and not on which data sets are neighbours. So each pair of ours is written as
the event that has the same pair when one record is added or removed. An accountant for that relation then finds the
total of the pairs, which holds under the relation of the statement:

* Gaussian noise of ratio r: ``GaussianDpEvent(1/r)``. Laplace noise of ratio r: ``LaplaceDpEvent(1/r)``.
* A step of DP-SGD under add-remove: ``PoissonSampledDpEvent(rate, GaussianDpEvent(1/r))``. With all rows in the batch
  nothing is sampled: under add-remove it is Gaussian noise of ratio r, under replace-one of 2r.
* A release of which only ε is known: ``DiscreteLaplaceDpEvent(ε, 1)``. Its noise X on whole numbers has P(X = x)
  proportional to e^(−ε|x|). Moved by 1, each ratio of probabilities is e^ε or e^(−ε), and the first has probability
  P(X ≤ 0) = e^ε/(1 + e^ε). That is randomised response of ε, which is the worst release. dp-accounting has an event of
  that name too. But its accountant of loss distributions (0.6.0) counts a repeated one once, and takes none under the
  relation under which the other events have the right pairs.

What is left over:

* A release that fails openly with probability δ > 0. The δ of every event but ``NonPrivateDpEvent`` tends to 0 as ε
  grows, and that of this one is 1. So none has, or dominates, such a pair without saying nothing.
* The distance of noise on a grid from the ideal noise that an event speaks of.
* Batches under replace-one. dp-accounting counts them by loss distributions only, under a relation under which it
  doubles all other noise. Its Rényi accounting of replace-one is in doubt: its issue 378 is open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpfair_lib._arguments import nonnegative
from dpfair_lib._extras import extra
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.rounding import above, below, exp_above, raised
from dpfair_lib.privacy.statements import PrivacyStatement


class TranslatedReleases(NamedTuple):
    """Releases as an event of dp-accounting, and what no event holds.

    Attributes
    ----------
    event : DpEvent
        The releases, together.
    neighboring_relation : NeighboringRelation
        What the accountant must be made with: it reads the event as the right pairs under this relation only.
    relation : str or None
        The relation under which the accountant's total holds: that of the statement; None for bare mechanisms.
    fails : float
        Probability that the releases fail openly, rounded up.
    distance : float
        How far, in total variation, what is really released may be from the event, rounded up.

    Examples
    --------
    >>> from dpfair_lib.privacy import Mechanism, to_dp_event
    >>> round(to_dp_event(Mechanism("stated", 0.5, 0.01), rest=True).fails, 6)
    0.01
    """

    event: Any
    neighboring_relation: Any
    relation: str | None
    fails: float
    distance: float

    def delta(self, of_event: float, epsilon: float) -> float:
        """Return the δ of the releases from that of the event at the same ε.

        Parameters
        ----------
        of_event : float
            The δ that an accountant finds for the event.
        epsilon : float
            The ε at which it finds it, at least 0.

        Returns
        -------
        float
            fails + (1 − fails) δ + (1 + e^ε) distance, rounded up, at most 1.

        Raises
        ------
        ValueError
            If a number is negative.

        Examples
        --------
        >>> from dpfair_lib.privacy import Mechanism, to_dp_event
        >>> round(to_dp_event(Mechanism("stated", 0.5, 0.01), rest=True).delta(0.1, epsilon=0.25), 6)
        0.109
        """
        delta, fails = Fraction(nonnegative(of_event, "of_event")), Fraction(self.fails)
        far = Fraction(self.distance)
        if far:
            odds = exp_above(nonnegative(epsilon, "epsilon"))
            if math.isinf(odds):
                return 1.0
            far *= 1 + Fraction(odds)
        return min(above(fails + (1 - fails) * delta + far), 1.0)


def to_dp_event(
    releases: PrivacyStatement | Mechanism | Iterable[Mechanism], *, rest: bool = False
) -> TranslatedReleases:
    """Return the event of dp-accounting that reveals exactly what some releases, fixed beforehand, may reveal together.

    Parameters
    ----------
    releases : PrivacyStatement, Mechanism or iterable of Mechanism
        A statement, with all its mechanisms; or the mechanisms themselves. A statement that names none counts as the
        worst release of its ε. One of infinite ε is a ``NonPrivateDpEvent``.
    rest : bool
        Whether to take releases of which a part is no event, and to return it beside the event: open failure, and the
        distance of secure noise from ideal noise. Then the event alone reveals less than the releases, and
        `TranslatedReleases.delta` adds what is left.

    Returns
    -------
    TranslatedReleases
        The event, the relation to make the accountant with, the relation for which its total holds, and the rest.

    Raises
    ------
    ValueError
        If there is no release; if a statement of finite ε has no guarantee; if batches are sampled under replace-one;
        if something is left over and ``rest`` is False.
    ImportError
        If dp-accounting is missing.

    Examples
    --------
    Twenty Gaussian releases, counted by dp-accounting:

    >>> from dp_accounting.pld import PLDAccountant
    >>> from dpfair_lib.privacy import Mechanism, to_dp_event
    >>> found = to_dp_event(Mechanism("gaussian", 0.125, steps=20))
    >>> found.event
    SelfComposedDpEvent(event=GaussianDpEvent(noise_multiplier=8.0), count=20)
    >>> accountant = PLDAccountant(found.neighboring_relation).compose(found.event)
    >>> round(accountant.get_epsilon(1e-6), 2)
    2.55
    """
    with extra("accounting"):
        from dp_accounting import dp_event
        from dp_accounting.privacy_accountant import NeighboringRelation

    relation, mechanisms = _listed(releases)
    times = Counter[Mechanism]()
    for one in mechanisms:
        times[replace(one, steps=1, distance=0.0)] += one.steps
    fails = -math.expm1(math.fsum(count * math.log1p(-one.delta) for one, count in times.items()))
    fails = raised(fails) if any(one.delta for one in times) else 0.0
    distance = above(sum((Fraction(one.distance) for one in mechanisms), Fraction(0)))
    if not rest and (fails or distance):
        what = (
            f"releases that fail openly with probability {fails:.3g}, for which dp-accounting has no event"
            if fails
            else f"noise on a grid, at a distance of {distance:.3g} from the ideal noise of an event"
        )
        raise ValueError(
            f"releases: found {what}; expected none, or rest=True, which returns that beside the event"
        )
    events = [_event(one, count, dp_event) for one, count in times.items()]
    event = events[0] if len(events) == 1 else dp_event.ComposedDpEvent(events)
    return TranslatedReleases(event, NeighboringRelation.ADD_OR_REMOVE_ONE, relation, fails, distance)


def _listed(releases: Any) -> tuple[str | None, tuple[Mechanism, ...]]:
    """Return the relation and the mechanisms of what was given."""
    if isinstance(releases, PrivacyStatement):
        if not releases.guarantee and not math.isinf(releases.epsilon):
            raise ValueError(
                f"releases: found a statement without guarantee ({releases.note}), expected one with a guarantee; "
                "its mechanisms can be given by themselves"
            )
        stated = Mechanism("stated", releases.epsilon, releases.delta)
        # an infinite ε promises nothing, whatever was computed on the way
        named = () if math.isinf(releases.epsilon) else releases.mechanism
        return releases.relation, named or (stated,)
    listed = (releases,) if isinstance(releases, Mechanism) else tuple(releases)
    if not listed or not all(isinstance(one, Mechanism) for one in listed):
        raise ValueError(f"releases: found {releases!r}, expected a statement, or at least one Mechanism")
    return None, listed


def _event(mechanism: Mechanism, times: int, dp_event: Any) -> Any:
    if mechanism.kind == "stated":
        if mechanism.ratio == 0:
            return dp_event.NoOpDpEvent()
        if math.isinf(mechanism.ratio):
            return dp_event.NonPrivateDpEvent()
        one = dp_event.DiscreteLaplaceDpEvent(mechanism.ratio, 1)
    elif mechanism.kind == "laplace":
        one = dp_event.LaplaceDpEvent(_multiplier(mechanism.ratio))
    elif mechanism.kind == "gaussian":
        one = dp_event.GaussianDpEvent(_multiplier(mechanism.ratio))
    elif mechanism.rate == 1:
        moved = 2 if mechanism.relation == "replace-one" else 1  # from g to −g, or from 0 to g
        one = dp_event.GaussianDpEvent(_multiplier(mechanism.ratio, moved))
    elif mechanism.relation == "replace-one":
        raise ValueError(
            "releases: found batches that are sampled under replace-one, which dp-accounting has no sound event for "
            "beside other noise (its issue 378 is open); expected add-remove, or total_epsilon, which counts them"
        )
    else:
        one = dp_event.PoissonSampledDpEvent(
            mechanism.rate, dp_event.GaussianDpEvent(_multiplier(mechanism.ratio))
        )
    return one if times == 1 else dp_event.SelfComposedDpEvent(one, times)


def _multiplier(ratio: float, moved: int = 1) -> float:
    """Return the noise over the sensitivity, rounded down: less noise reveals more."""
    return below(1 / (moved * Fraction(ratio)))
