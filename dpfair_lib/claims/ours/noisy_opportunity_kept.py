"""The exact law of the noisy counts of small groups, and how often a bound of the gap of true positive rates breaks."""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from dpfair_lib.central.several_groups.opportunity import opportunity_bound
from dpfair_lib.central.several_groups.targets import target_band
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search

Outcomes = dict[tuple[int, int], Fraction]
"""The noisy counts of a group, true positives and false negatives, with their probabilities."""


def moved(rate: Any, seen: Any, band: tuple[Any, Any]) -> Any:
    """Return a group's new rate."""
    if seen > band[1]:
        return rate * band[1] / seen
    return 1 - (1 - rate) * (1 - band[0]) / (1 - seen) if seen < band[0] else rate


def _outcomes(counts: tuple[int, int], odds: int, most: int) -> Outcomes:
    """Return the probabilities of a group's noisy counts, for noises up to a limit."""
    one = {z: Fraction(odds - 1, odds + 1) / Fraction(odds) ** abs(z) for z in range(-most, most + 1)}
    pairs = itertools.product(one.items(), repeat=2)
    return {(counts[0] + u, counts[1] + v): p * q for (u, p), (v, q) in pairs}


def _broken(
    groups: Sequence[Outcomes],
    rates: Sequence[Fraction],
    aim: Any,
    width: float,
    promise: Callable[..., float],
) -> Fraction:
    """Return the probability that the gap exceeds the bound; what is not enumerated counts as broken."""
    laws = [_used(law) for law in groups]
    wholes = [math.lcm(*(chance.denominator for chance in law.values())) for law in laws]
    outcomes = [
        [(pair, _seen(*pair), int(chance * whole)) for pair, chance in law.items()]
        for law, whole in zip(laws, wholes, strict=True)
    ]
    true, kept = [float(rate) for rate in rates], 0
    for drawn in itertools.product(*outcomes):
        counts, seen, chances = zip(*drawn, strict=True)
        band = target_band(seen, aim, width, 0)
        after = [moved(rate, one, band) for rate, one in zip(true, seen, strict=True)]
        if max(after) - min(after) <= promise(counts, band=band) + 1e-12:
            kept += math.prod(chances)
    return 1 - Fraction(kept, math.prod(wholes))


def _used(law: Outcomes) -> Outcomes:
    """Put together the noisy counts that count the same, since negative ones count as 0; the lowest stand for all."""
    lowest: dict[tuple[int, int], tuple[int, int]] = {}
    chances: Outcomes = defaultdict(Fraction)
    for pair in sorted(law):
        shown = lowest.setdefault((max(pair[0], 0), max(pair[1], 0)), pair)
        chances[shown] += law[pair]
    return chances


def _seen(found: int, missed: int) -> float:
    """Return the noisy rate, by hand."""
    found, missed = max(found, 0), max(missed, 0)
    return found / (found + missed) if found + missed else 0.5


@once
def kept_on_the_rows(bound: Callable[..., float], search: Search) -> None:
    """Given counts: the bound breaks no more often than η."""
    search.part("the rows of the fit")
    for table, odds, most in (
        (((6, 2), (3, 9)), 8, 3),
        (((4, 4), (9, 1), (0, 6)), 60, 1),
        (((20, 20), (2, 30)), 8, 3),
    ):
        laws = [_outcomes(pair, odds, most) for pair in table]
        rates = [Fraction(pair[0], sum(pair)) for pair in table]
        for aim, width, eta in (("median", 0.0, 0.2), (0.5, 0.1, 0.4)):
            how = {"epsilon": math.log(odds), "eta": eta, "mechanism": "geometric", "population": False}
            chance = _broken(laws, rates, aim, width, functools.partial(bound, **how))
            search.observe(Fraction(eta) - chance, {"counts": table, "e^ε": odds, "η": eta, "aim": aim})
    chance = _broken(laws, rates, "median", 0.0, lambda *_, **__: 0.0)
    search.needs("the noise in the bound", slack=Fraction(2, 5) - chance, case={"counts": table, "η": 0.4})


@once
def kept_in_the_population(bound: Callable[..., float], search: Search) -> None:
    """Given positives: counts are binomial; the bound breaks no more often than η, unless sampling is left out."""
    search.part("the population")
    odds, eta, half = 9, 0.5, Fraction(1, 2)
    for positives, rates in (((9, 6), (half, Fraction(3, 4))), ((10, 5), (half, half))):
        exact = [_drawn(m, rate) for m, rate in zip(positives, rates, strict=True)]
        noisy = [_with_noise(law, odds) for law in exact]
        given: dict[str, Any] = {"epsilon": math.log(odds), "eta": eta, "mechanism": "geometric"}
        case = {"positives": positives, "rates": rates, "e^ε": odds, "η": eta}
        for aim in ("median", 0.25):
            chance = _broken(noisy, rates, aim, 0.0, functools.partial(bound, population=True, **given))
            search.observe(Fraction(eta) - chance, case | {"aim": aim})
    of_rows = functools.partial(opportunity_bound, population=False, **given | {"epsilon": math.inf})
    chance = _broken(exact, rates, "median", 0.0, of_rows)  # without noise
    search.needs("sampling in the bound", slack=Fraction(eta) - chance, case=case | {"e^ε": math.inf})
    sampled = functools.partial(bound, population=True, **given | {"epsilon": math.inf})
    chance = _broken([_copied(5, 100)] * 2, [half] * 2, "median", 0.0, sampled)
    search.needs(
        "that rows are independent, for the population: with a hundred copies of each",
        slack=Fraction(eta) - chance,
        case={"people": 5, "copies": 100, "rates": (half, half), "e^ε": math.inf, "η": eta},
    )


def _copied(people: int, copies: int) -> Outcomes:
    """Return the probabilities of the counts of a group whose people, each right with chance ½, stand there often."""
    exact = _drawn(people, Fraction(1, 2))
    return {(copies * t, copies * f): chance for (t, f), chance in exact.items()}


def _drawn(positives: int, rate: Fraction) -> Outcomes:
    """Return the probabilities of the exact counts of a group, over the sample."""
    return {
        (t, positives - t): math.comb(positives, t) * rate**t * (1 - rate) ** (positives - t)
        for t in range(positives + 1)
    }


def _with_noise(counts: Outcomes, odds: int) -> Outcomes:
    """Return the probabilities of the noisy counts."""
    law: Outcomes = defaultdict(Fraction)
    for exact, weight in counts.items():
        for pair, chance in _outcomes(exact, odds, 2).items():
            law[pair] += weight * chance
    return law
