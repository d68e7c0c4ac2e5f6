"""Ours: the exact law of the gap of true positive rates, given how many rows of true label 1 each group has."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.several_groups.opportunity_law import (
    expected_opportunity_gap,
    opportunity_gap_quantile,
    opportunity_violation_probability,
)
from dpfair_lib.central.several_groups.share_law import DensityLaw, share_law
from dpfair_lib.central.several_groups.targets import most_accurate
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import known, once
from dpfair_lib.claims.ours.opportunity_law_references import (
    Ratios,
    atoms_given_count,
    between,
    binomial,
    gaps,
    given_positives,
    laplace_cells,
    listed_gaps,
    noisy_pairs,
    ratios,
    tails_given_count,
    without_divisors,
)
from dpfair_lib.claims.search import Evidence, Search

PARTS = 60  # of [0, 1], with the likely ties ½, ⅓, ¼, … among the ends
CHANCES = (0.0, 1 / 6, 1 / 3, 0.5, 0.8, 0.9, 1.0)
REACHES = {2.0: 30, 8.0: 11, 30.0: 8, 100.0: 6, math.inf: 0}  # e^ε → the largest noise that is listed
CUTS = (0.0, 17 / 97, 31 / 97, 61 / 97)  # no gap but 0 is at one of them
CLOSE = 1e-12  # gaps that differ by less are equal
# a fault in one of them leaves the others as they are
known_violation = known(opportunity_violation_probability)
known_mean, known_quantile = known(expected_opportunity_gap), known(opportunity_gap_quantile)


def check(
    *,
    share: Callable[..., Any] = share_law,
    violation: Callable[..., Any] = known_violation,
    mean: Callable[..., float] = known_mean,
    quantile: Callable[..., float] = known_quantile,
    search: Search,
) -> Evidence:
    """Judge the law of one rate by integrals and lists, that of the gap by lists and from two sides."""
    _one_rate_laplace(share, search)
    _one_rate_geometric(share, search)
    _whole_noise(violation, mean, quantile, search)
    _most_accurate(violation, mean, search)
    _laplace_noise(violation, mean, quantile, search)
    _random_positives(violation, search)
    _what_is_needed(search)
    return search.evidence()


@once
def _one_rate_laplace(share: Callable[..., Any], search: Search) -> None:
    """All numbers of positives up to 5: the tail at 61 values, and the three atoms, by integrals over one count."""
    search.part("one rate, Laplace noise")
    at = np.arange(PARTS + 1) / PARTS
    for m, epsilon, rate in itertools.product(range(6), (0.4, 1.0, 3.0, 9.0), CHANCES):
        law, chances = share(rate, m, epsilon, "laplace"), binomial(m, rate)
        above = chances @ np.array([tails_given_count(t, m, epsilon, PARTS) for t in range(m + 1)])
        atoms = chances @ np.array([atoms_given_count(t, m, epsilon) for t in range(m + 1)])
        case = {"m": m, "ε": epsilon, "rate": rate, "s": at}
        search.equal(law.tail(at, strict=True), above, case, tolerance=1e-8)
        weak = above + np.where(at == 0, atoms[0], 0) + np.where(at == 0.5, atoms[1], 0)
        search.equal(law.tail(at, strict=False), weak + np.where(at == 1, atoms[2], 0), case, tolerance=1e-8)


@once
def _one_rate_geometric(share: Callable[..., Any], search: Search) -> None:
    """The same for whole noise, by all pairs of noisy counts; ratios are compared in whole numbers."""
    search.part("one rate, whole noise")
    parts = 4 * PARTS
    at = np.arange(parts + 1)
    for m, (odds, reach) in itertools.product(range(6), REACHES.items()):
        tails = []
        for t in range(m + 1):
            found, missed, masses = noisy_pairs(t, m - t, odds, reach)
            total = found + missed
            # x = ½ where both counts are 0
            twice = np.where(total > 0, 2 * found, 1)[:, None] * parts
            other = 2 * at * np.maximum(total, 1)[:, None]
            tails.append(
                [masses @ (twice > other), masses @ (twice >= other), np.full(len(at), 1 - masses.sum())]
            )
        for rate in CHANCES:
            law = share(rate, m, math.log(odds), "geometric")
            above, weak, missing = np.tensordot(binomial(m, rate), np.array(tails), 1)
            case = {"m": m, "e^ε": odds, "rate": rate, "s": at / parts}
            # what is not listed may lie on either side
            search.equal(
                law.tail(at / parts, strict=True), above + missing / 2, case, tolerance=missing[0] + 1e-11
            )
            search.equal(
                law.tail(at / parts, strict=False), weak + missing / 2, case, tolerance=missing[0] + 1e-11
            )


def _median(seen: list[Any], _: Any) -> Any:
    return np.sort(seen, axis=0)[(len(seen) - 1) // 2]


def _middle(seen: list[Any], _: Any) -> Any:
    return (np.max(seen, axis=0) + np.min(seen, axis=0)) / 2


def _at(number: float) -> Callable[..., Any]:
    return lambda seen, _: np.full_like(seen[0], number)


WHOLE: list[tuple[tuple[float, ...], tuple[int, ...], Any, Callable[..., Any], float, float]] = [
    (rates, positives, aim, rule, width, odds)
    for (rates, positives), (aim, rule, width), odds in itertools.product(
        (((1 / 3, 3 / 4), (2, 3)), ((0.5, 1.0), (0, 4)), ((0.0, 0.8), (3, 1)), ((0.9, 0.9), (1, 1))),
        (("midpoint", _middle, 0.0), ("median", _median, 0.2), ("median", _median, 0.0), (0.4, _at(0.4), 0.1)),
        (30.0, math.inf),
    )
] + [
    (rates, positives, aim, rule, width, odds)
    for (rates, positives), (aim, rule, width), odds in itertools.product(
        (((0.2, 0.5, 0.5), (2, 0, 1)), ((0.0, 0.5, 0.8), (1, 2, 1))),
        (("midpoint", _median, 0.0), ("median", _median, 0.1), (0.7, _at(0.7), 0.0)),
        (100.0, math.inf),
    )
]  # fmt: skip
"""True rates, positives, aim, its rule, width of the band, and e^ε."""


@once
def _whole_noise(
    violation: Callable[..., Any], mean: Callable[..., float], quantile: Callable[..., float], search: Search
) -> None:
    """Two and three groups: all pairs of noisy counts of all groups."""
    search.part("whole noise, by lists")
    for rates, positives, aim, rule, width, odds in WHOLE:
        reach = REACHES[odds]
        seen, masses, missing = listed_gaps(rates, positives, rule, width, odds, reach)
        given: dict[str, Any] = {
            "rates": rates, "positives": positives, "epsilon": math.log(odds), "mechanism": "geometric",
            "rate": aim, "gamma": width,
        }  # fmt: skip
        beyond = np.array([masses[seen > cut + CLOSE].sum() for cut in CUTS])
        case, allowed = given | {"gap": CUTS}, missing + 1e-10
        search.equal(violation(np.array(CUTS), **given), beyond + missing / 2, case, tolerance=allowed)
        average = float(masses @ seen) + missing / 2
        search.equal(mean(**given), average, given, tolerance=allowed)
        for eta in (0.3, 0.02)[: 1 + (width == 0)]:
            promised, case = quantile(eta, **given), given | {"η": eta}
            broken = float(masses[seen > promised + CLOSE].sum())
            search.observe(eta - broken, case, tolerance=allowed)
            # nothing that is smaller by more than its precision would do
            if promised > 0:
                search.observe(
                    float(masses[seen > promised - 2e-6].sum()) + missing - eta, case, tolerance=1e-10
                )


@once
def _most_accurate(violation: Callable[..., Any], mean: Callable[..., float], search: Search) -> None:
    """The noisy numbers of positives decide who is the aim; where it is surely one group, the law is its law."""
    search.part("the most accurate group")
    for positives, rates, odds, width in (
        ((15, 1), (0.3, 0.8), 3000.0, 0.0),
        ((1, 15), (1.0, 0.6), 3000.0, 0.1),
        ((4, 2, 1), (0.3, 0.5, 1.0), math.inf, 0.0),
        ((2, 2, 3), (0.4, 0.0, 0.9), math.inf, 0.2),
    ):
        laws = [
            ratios(given_positives(m, rate), odds, 3 * math.isfinite(odds))
            for rate, m in zip(rates, positives, strict=True)
        ]
        seen, masses, missing = gaps(rates, laws, _decided(math.log(odds)), width)
        given: dict[str, Any] = {
            "rates": rates, "positives": positives, "epsilon": math.log(odds), "mechanism": "geometric",
            "rate": "most-accurate", "gamma": width,
        }  # fmt: skip
        beyond = np.array([masses[seen > cut + CLOSE].sum() for cut in CUTS])
        allowed = missing + 1e-10
        search.equal(
            violation(np.array(CUTS), **given), beyond + missing / 2, given | {"gap": CUTS}, tolerance=allowed
        )
        search.equal(mean(**given), float(masses @ seen) + missing / 2, given, tolerance=allowed)


def _decided(epsilon: float) -> Callable[..., Any]:
    """Return the noisy rate of the group that the noisy numbers of positives make the most accurate."""

    def aim(seen: list[Any], divisors: list[Any]) -> Any:
        levels = [epsilon] * len(seen)
        known: dict[tuple[Any, ...], int] = {}
        chosen = []
        for sizes in zip(*(np.maximum(one, 1).tolist() for one in divisors), strict=True):
            if sizes not in known:
                known[sizes] = most_accurate(sizes, levels, "geometric")
            chosen.append(known[sizes])
        return np.array(seen)[np.array(chosen), np.arange(len(chosen))]

    return aim


@once
def _laplace_noise(
    violation: Callable[..., Any], mean: Callable[..., float], quantile: Callable[..., float], search: Search
) -> None:
    """Cells of noisy rates with their probabilities by integrals: the law lies between two sums."""
    search.part("Laplace noise, from both sides")
    for rates, positives, epsilons, aim, rule, width, parts in (
        ((0.3, 0.8), (3, 5), (1.0, 1.0), "midpoint", _middle, 0.0, 240),
        ((0.5, 1.0), (0, 4), (3.0, 0.4), "midpoint", _middle, 0.0, 240),
        ((0.2, 0.6), (5, 2), (3.0, 1.0), "median", _median, 0.2, 240),
        ((0.9, 0.1), (4, 4), (1.0, 1.0), 0.4, _at(0.4), 0.1, 240),
        ((0.2, 0.6, 0.9), (5, 2, 3), (3.0, 1.0, 1.0), "median", _median, 0.0, 60),
        ((0.1, 0.5, 0.5), (4, 4, 1), (3.0, 3.0, 3.0), 0.7, _at(0.7), 0.0, 60),
    ):
        cells = [laplace_cells(*each, parts) for each in zip(rates, positives, epsilons, strict=True)]
        least, most, masses = between(rates, cells, rule, width)
        given: dict[str, Any] = {
            "rates": rates, "positives": positives, "epsilon": epsilons, "mechanism": "laplace", "rate": aim,
            "gamma": width,
        }  # fmt: skip
        for cut in CUTS[1 : 5 - len(rates)]:
            found, case = violation(cut, **given), given | {"gap": cut}
            search.observe(found - float(masses[least > cut].sum()), case, tolerance=1e-6)
            search.observe(float(masses[most > cut - CLOSE].sum()) - found, case, tolerance=1e-6)
        if len(rates) > 2:
            continue
        average = mean(**given)
        search.observe(average - float(masses @ least), given, tolerance=1e-6)
        search.observe(float(masses @ most) - average, given, tolerance=1e-6)
        promised, case = quantile(0.1, **given), given | {"η": 0.1}
        search.observe(0.1 - float(masses[least > promised].sum()), case, tolerance=1e-6)
        search.observe(float(masses[most > promised - 2e-6].sum()) - 0.1, case, tolerance=1e-6)


@once
def _random_positives(violation: Callable[..., Any], search: Search) -> None:
    """Two rows of each group, whose true labels are drawn too: the mean of the laws, against all tables."""
    search.part("random numbers of positives")
    rows, shares, rates, odds, reach = 2, (1 / 3, 3 / 4), (0.3, 0.8), 100.0, 6
    laws, missing = _of_all_tables(rows, shares, rates, odds, reach)
    chances = [binomial(rows, share) for share in shares]
    for aim, rule, width in (("midpoint", _middle, 0.0), ("median", _median, 0.2), (0.4, _at(0.4), 0.0)):
        seen, masses, _ = gaps(rates, laws, rule, width)
        given: dict[str, Any] = {
            "rates": rates, "epsilon": math.log(odds), "mechanism": "geometric", "rate": aim, "gamma": width
        }  # fmt: skip
        averaged = np.zeros(len(CUTS))
        for positives in itertools.product(range(rows + 1), repeat=2):
            weight = math.prod(law[m] for law, m in zip(chances, positives, strict=True))
            averaged += weight * violation(np.array(CUTS), positives=positives, **given)
        beyond = np.array([masses[seen > cut + CLOSE].sum() for cut in CUTS])
        search.equal(averaged, beyond + missing / 2, given | {"gap": CUTS}, tolerance=missing + 1e-10)


def _of_all_tables(
    rows: int, shares: Sequence[float], rates: Sequence[float], odds: float, reach: int
) -> tuple[list[Ratios], float]:
    """Return the laws of the noisy rates over all true and predicted labels, and what is not listed."""
    laws = []
    for share, rate in zip(shares, rates, strict=True):
        kinds = {(1, 0): share * rate, (0, 1): share * (1 - rate), (0, 0): 1 - share}
        cells: dict[tuple[int, int], float] = {}
        for table in itertools.product(kinds, repeat=rows):
            place = sum(kind[0] for kind in table), sum(kind[1] for kind in table)
            cells[place] = cells.get(place, 0.0) + math.prod(kinds[kind] for kind in table)
        laws.append(without_divisors(ratios([(*place, p) for place, p in cells.items()], odds, reach)))
    return laws, sum(law.missing for law in laws)


def _what_is_needed(search: Search) -> None:
    search.part("what is needed")
    # one true positive, ε = 1: the tail at s = ⅓ without the corner where no noisy count is positive
    exact, s, corner = tails_given_count(1, 1, 1.0, PARTS)[PARTS // 3], 1 / 3, math.exp(-1) / 4
    smooth = exact + corner * (s - 1)
    search.needs(
        "the corner without noisy positives",
        slack=-abs(smooth - exact),
        case={"m": 1, "ε": 1, "s": s},
        tolerance=1e-9,
    )
    # two groups of two positives each: noise decides who is the most accurate
    rates, odds = (0.1, 0.9), 8.0
    laws = [ratios(given_positives(2, rate), odds, 6) for rate in rates]
    decided, chance, missing = gaps(rates, laws, _decided(math.log(odds)), 0.0)
    alone = gaps(rates, laws, lambda seen, _: seen[0], 0.0)[0]
    other = gaps(rates, laws, lambda seen, _: seen[1], 0.0)[0]
    cut = 31 / 97
    # the two are mirror images, so the chance of either to decide does not matter
    apart = [float(chance @ (one > cut)) for one in (decided, alone, other)]
    search.needs(
        "a group that surely decides",
        slack=min(abs(one - apart[0]) for one in apart[1:]) * -1,
        case={"rates": rates, "positives": (2, 2), "e^ε": odds},
        tolerance=2 * missing,
    )
    # a law at the mean number of positives is not the mean of the laws
    half = Fraction(1, 2)
    drawn, missing = _of_all_tables(2, (0.5, 0.5), rates, odds, 8)
    fixed = [without_divisors(ratios(given_positives(1, rate), odds, 8)) for rate in rates]
    both = [
        float(masses @ (seen > cut))
        for seen, masses, _ in (gaps(rates, each, _middle, 0.0) for each in (drawn, fixed))
    ]
    search.needs(
        "the mean over the numbers of positives", slack=-abs(both[0] - both[1]), case={"share": half, "rows": 2},
        tolerance=2 * missing,
    )  # fmt: skip


def _given(of: Callable[..., Any], **other: Any) -> Callable[..., Any]:
    """Return a law with other arguments: each a number, or a function of what is given."""

    def fault(*first: Any, **given: Any) -> Any:
        changed = {name: one(given[name]) if callable(one) else one for name, one in other.items()}
        return of(*first, **given | changed)

    return fault


def _without_corner(rate: float, m: int, epsilon: float, mechanism: Any) -> Any:
    law = share_law(rate, m, epsilon, mechanism)
    return replace(law, corner=0.0) if isinstance(law, DensityLaw) else law


def _reversed(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(reversed(values))


FAULTS: dict[str, dict[str, Any]] = {
    "the noise of half the ε": {"share": lambda rate, m, epsilon, how: share_law(rate, m, epsilon / 2, how)},
    "the corner forgotten": {"share": _without_corner},
    "positives and others exchanged": {"share": lambda rate, *more: share_law(1 - rate, *more)},
    "one positive more": {"share": lambda rate, m, *more: share_law(rate, m + 1, *more)},
    "the other noise": {
        "share": lambda rate, m, epsilon, how: share_law(
            rate, m, epsilon, "laplace" if how == "geometric" and math.isfinite(epsilon) else "geometric"
        )
    },
    "the law of another aim": {"violation": _given(opportunity_violation_probability, rate=0.5)},
    "the law without the band": {
        "violation": _given(opportunity_violation_probability, gamma=0.0, rate="median")
    },
    "the law of other positives": {
        "violation": _given(opportunity_violation_probability, positives=_reversed)
    },
    "the law without noise": {"violation": _given(opportunity_violation_probability, epsilon=math.inf)},
    "a mean for other rates": {"mean": _given(expected_opportunity_gap, rates=_reversed)},
    "a mean without noise": {"mean": _given(expected_opportunity_gap, epsilon=math.inf)},
    "a mean for the median": {"mean": _given(expected_opportunity_gap, rate="median")},
    "the quantile of half of η": {
        "quantile": lambda eta, **given: opportunity_gap_quantile(eta / 2, **given)
    },
    "the quantile of one more positive": {
        "quantile": _given(opportunity_gap_quantile, positives=lambda sizes: [m + 1 for m in sizes])
    },
    "a quantile without the band": {"quantile": _given(opportunity_gap_quantile, gamma=0.0)},
}


CLAIM = Claim(
    id="ours.opportunity-law",
    where="Equal opportunity with privacy, Result 4",
    statement="Let m independent rows of a group have true label 1, each selected with probability ρ, and let the "
    "noisy rate be the share of the noisy true positives. For Laplace noises u, v of scale 1/ε it exceeds s ∈ [0, 1) "
    "with probability P((1 − s) u − s v > s m − t) − ¼ e^(−εm) (s − [s < ½]), with t binomial. Given their numbers of "
    "positives, groups are independent. So the distribution of the gap of true positive rates in the population is "
    "that of the parity gap with these noisy rates, if the aim is public, the median, halfway between two, or surely "
    "one group's rate. For random numbers of positives it is the mean of these.",
    verdict="holds",
    finding="Proved. The distribution of one rate was compared with integrals over one count and with all pairs of "
    "noisy counts. That of the gap was compared with all noisy counts of two and three groups; for Laplace noise it "
    "lies between two sums over cells.",
    headline="Given how many people of each group have the label 1, the distribution of the gap of true positive rates "
    "can be computed without draws.",
    kind="theorem",
    chapter="private-opportunity",
    check=check,
    faults=FAULTS,
)
