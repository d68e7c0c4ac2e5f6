"""Ours: how many predictions change when any number of groups move by their noisy rates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.changes import (
    changes_probability,
    changes_quantile,
    excess_change_bound,
    expected_changes,
)
from dpfair_lib.central.flips import flip_probabilities
from dpfair_lib.central.parity import rate_errors
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.central.noisy_rates import lattice_law
from dpfair_lib.postprocessing.bands import least_total_change

AIMS: list[str | Fraction] = ["median", "most-accurate", Fraction(3, 8)]
CUTS = [Fraction(0), Fraction(17, 97), Fraction(1, 2), Fraction(90, 97)]


def check(
    *,
    flips: Callable[..., Any] = flip_probabilities,
    bound: Callable[..., float] = excess_change_bound,
    mean: Callable[..., float] = expected_changes,
    chance: Callable[..., Any] = changes_probability,
    quantile: Callable[..., float] = changes_quantile,
    search: Search,
) -> Evidence:
    """Judge the three inequalities, the law against enumeration, and the bound against the law."""
    _inequalities(flips, search)
    _law(mean, chance, quantile, search)
    _bound(bound, search)
    _bound_and_law(bound, chance, search)
    _what_is_needed(search)
    return search.evidence()


def _change(
    rate: Any, believed: Any, low: Any, high: Any, flips: Callable[..., Any] = flip_probabilities
) -> Any:
    """Return the share of a group that is rejected, or the negative of the share that is promoted."""
    down, up = flips(believed, min(max(believed, low), high))
    return rate * down - (1 - rate) * up


def _measured(
    rates: Sequence[Any], believed: Sequence[Any], low: Any, high: Any
) -> tuple[Any, Any, list[Any]]:
    """Return the summed changes, the gap of the result, and the sizes of the errors, the largest first."""
    moves = [_change(*each, low, high) for each in zip(rates, believed, strict=True)]
    after = [rate - move for rate, move in zip(rates, moves, strict=True)]
    errors = sorted((abs(seen - rate) for rate, seen in zip(rates, believed, strict=True)), reverse=True)
    return sum(abs(move) for move in moves), max(after) - min(after), errors


@once
def _inequalities(flips: Callable[..., Any], search: Search) -> None:
    """Three groups in quarters, four in thirds: all true and noisy rates, and all bands on the grid."""
    search.part("inequalities")
    for k, parts in ((3, 4), (4, 3)):
        grid = [Fraction(i, parts) for i in range(parts + 1)]
        ways = list(itertools.product(grid, repeat=2))
        groups = np.array(list(itertools.combinations_with_replacement(range(len(ways)), k)))
        rate, seen = (np.array([way[at] for way in ways], dtype=float)[groups] for at in (0, 1))
        errors = -np.sort(-abs(seen - rate), axis=1)
        bands = list(itertools.combinations_with_replacement(grid, 2))
        for low, high in bands:
            down, up = float(low), float(high)
            moves = np.array([float(_change(one, other, low, high, flips)) for one, other in ways])[groups]
            for known in grid:  # a group whose rate is known moves to the nearest rate of the band
                wanted = known - min(max(known, low), high)
                search.equal(
                    _change(known, known, low, high, flips), wanted, {"band": (low, high), "rate": known}
                )
            changes, gap = abs(moves).sum(axis=1), np.ptp(rate - moves, axis=1)
            case = {"band": (low, high), "groups": k, "at": groups}
            # whatever band is chosen, noise adds no more than the errors
            needed = np.maximum(np.maximum(rate - up, down - rate), 0).sum(axis=1)
            search.observe(needed + errors.sum(axis=1) - changes, case, tolerance=1e-9)
            # the band is best for the noisy rates if neither end has more groups beyond it than at the other one
            rise = (seen <= down).sum(axis=1) >= (seen > up).sum(axis=1)
            fall = (seen >= up).sum(axis=1) >= (seen < down).sum(axis=1)
            best = (rise | (high == 1)) & (fall | (low == 0))
            pairs, chosen = 2 * (k // 2), rate[best]
            case = case | {"at": groups[best]}
            room = _least(chosen, up - down) + errors[best, :pairs].sum(axis=1) - changes[best]
            search.observe(room, case, tolerance=1e-9)
            search.observe(
                _least(chosen, gap[best]) + pairs * gap[best] - changes[best], case, tolerance=1e-9
            )
        count = math.comb(len(ways) + k - 1, k) * len(bands)
        search.exhausts(f"{k} groups with rates, noisy rates and bands in 1/{parts}", cases=count)


def _least(rates: np.ndarray, gamma: Any) -> np.ndarray:
    """Return the least total change for each row of rates."""
    ordered, half = np.sort(rates, axis=1), rates.shape[1] // 2
    pairs = ordered[:, ::-1][:, :half] - ordered[:, :half]
    return np.maximum(pairs - np.broadcast_to(gamma, len(rates))[:, None], 0).sum(axis=1)


SMALL = (
    ((2, 3, 1), (Fraction(1, 3), Fraction(1, 2), Fraction(1))),
    ((3, 2, 2), (Fraction(0), Fraction(2, 3), Fraction(1, 6))),
    ((2, 2, 1, 2), (Fraction(1, 2), Fraction(1, 2), Fraction(1, 3), Fraction(5, 6))),
)


@once
def _law(
    mean: Callable[..., float], chance: Callable[..., Any], quantile: Callable[..., float], search: Search
) -> None:
    """Small groups, geometric noise: every count and every noise, in fractions."""
    search.part("the law, by enumeration")
    two = ((3, 2), (Fraction(1, 3), Fraction(3, 4)))
    settings = [
        (*one, aim, width) for one in SMALL for aim in AIMS for width in (Fraction(0), Fraction(1, 5))
    ]
    for sizes, rates, aim, width in [*settings, (*two, "midpoint", Fraction(0))]:
        for odds in (Fraction(3, 2), Fraction(4)):
            outcomes = list(_outcomes(rates, sizes, odds, aim, width))
            given: dict[str, Any] = {
                "rates": [float(rate) for rate in rates], "n": sizes, "epsilon": math.log(odds),
                "mechanism": "geometric", "rate": aim if isinstance(aim, str) else float(aim), "gamma": float(width),
            }  # fmt: skip
            for cut in CUTS:
                exact = float(sum(p for total, p in outcomes if total > cut))
                search.equal(chance(float(cut), **given), exact, given | {"cut": cut}, tolerance=1e-9)
            average = float(sum(total * p for total, p in outcomes))
            search.equal(mean(**given), average, given, tolerance=1e-9)
            for eta in (0.3, 0.01):
                smallest = min(
                    total
                    for total in {total for total, _ in outcomes} | {Fraction(0)}
                    if sum(p for other, p in outcomes if other > total) <= eta
                )
                search.equal(quantile(eta, **given), float(smallest), given | {"η": eta}, tolerance=1e-9)


def _outcomes(
    rates: Sequence[Fraction], sizes: Sequence[int], odds: Fraction, aim: str | Fraction, width: Fraction
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the summed changes of every outcome, and its probability."""
    laws = [lattice_law(size, rate, 1 / odds) for rate, size in zip(rates, sizes, strict=True)]
    anchor = sizes.index(max(sizes))  # the noise is the same in all groups
    for drawn in itertools.product(*(range(size + 1) for size in sizes)):
        seen = [Fraction(c, size) for c, size in zip(drawn, sizes, strict=True)]
        centres: dict[Any, Fraction] = {
            "median": sorted(seen)[(len(seen) - 1) // 2],
            "most-accurate": seen[anchor],
            "midpoint": sum(seen, Fraction(0)) / 2,
        }
        centre = aim if isinstance(aim, Fraction) else centres[aim]
        low = min(max(centre - width / 2, Fraction(0)), 1 - width)
        yield (
            _measured(rates, seen, low, low + width)[0],
            math.prod((law[c] for law, c in zip(laws, drawn, strict=True)), start=Fraction(1)),
        )


@once
def _bound(bound: Callable[..., float], search: Search) -> None:
    """The form of the bound: of an odd number of groups, the smallest error is left out."""
    search.part("form of the bound")
    for k, mechanism, eta in itertools.product((2, 3, 6, 7), ("laplace", "geometric"), (0.3, 0.01)):
        counts, levels = [100 * (at + 1) for at in range(k)], [0.3 + 0.1 * at for at in range(k)]
        errors = sorted(rate_errors(counts, levels, eta, mechanism=mechanism), reverse=True)  # type: ignore[arg-type]
        case = {"n": counts, "epsilon": levels, "η": eta, "mechanism": mechanism}
        search.equal(
            bound(counts, levels, eta, mechanism=mechanism), sum(errors[: k - k % 2]), case, tolerance=1e-12
        )


@once
def _bound_and_law(bound: Callable[..., float], chance: Callable[..., Any], search: Search) -> None:
    search.part("bound and law")
    for sizes, epsilons, mechanism in (
        ((60, 80, 40), (1.0, 0.5, 2.0), "geometric"),
        ((60, 80, 40), (1.0, 0.5, 2.0), "laplace"),
        ((30, 30, 30, 30, 30), (0.4,) * 5, "geometric"),
    ):
        for rates, eta in itertools.product(([0.2, 0.5, 0.7, 0.4, 0.9], [0.5] * 5), (0.3, 0.01)):
            given = {"rates": rates[: len(sizes)], "n": sizes, "epsilon": epsilons, "mechanism": mechanism}
            allowed = least_total_change(given["rates"], 0.0) + bound(
                sizes, epsilons, eta, mechanism=mechanism
            )
            search.observe(eta - chance(allowed, rate="median", gamma=0.0, **given), given | {"η": eta})


def _what_is_needed(search: Search) -> None:
    """Half of the groups at ½ + t and half at ½ − t, each misjudged by t outwards, for a small t."""
    half, t = Fraction(1, 2), Fraction(1, 1000)
    for k in (2, 4):
        rates = [half + t] * (k // 2) + [half - t] * (k // 2)
        believed = [half + 2 * t] * (k // 2) + [half - 2 * t] * (k // 2)
        changes, gap, errors = _measured(rates, believed, half, half)
        excess, case = changes - least_total_change(rates, Fraction(0)), {"rates": rates, "noisy": believed}
        search.needs(
            f"all of the errors, {k} groups", slack=Fraction(99, 100) * sum(errors) - excess, case=case
        )
        excess = changes - least_total_change(rates, gap)
        search.needs(f"k times the gap, {k} groups", slack=Fraction(99, 100) * k * gap - excess, case=case)
    rates = [half, half]
    changes = _measured(rates, rates, Fraction(0), Fraction(0))[0]
    search.needs(
        "a band of least change",
        slack=least_total_change(rates, Fraction(0)) - changes,
        case={"rates": rates},
    )


def _without(name: str, value: Any, of: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *first, **given: of(*first, **given | {name: value})


FAULTS: dict[str, dict[str, Any]] = {
    "nobody is moved up": {"flips": lambda rate, target: (flip_probabilities(rate, target)[0], 0 * target)},
    "flips of all people": {
        "flips": lambda rate, target: (max(rate - target, 0 * target), max(target - rate, 0 * target))
    },
    "the two largest errors alone": {
        "bound": lambda n, epsilon, eta, **how: sum(sorted(rate_errors(n, epsilon, eta, **how))[-2:])
    },
    "half of the errors": {"bound": lambda *given, **how: excess_change_bound(*given, **how) / 2},
    "η doubled": {"bound": lambda n, epsilon, eta, **how: excess_change_bound(n, epsilon, 2 * eta, **how)},
    "the other noise": {"bound": _without("mechanism", "laplace", excess_change_bound)},
    "a mean without noise": {"mean": _without("epsilon", math.inf, expected_changes)},
    "a mean without the band": {"mean": _without("gamma", 0.0, expected_changes)},
    "a mean for another aim": {"mean": _without("rate", "median", expected_changes)},
    "the law without the band": {"chance": _without("gamma", 0.0, changes_probability)},
    "the law of Laplace noise": {"chance": _without("mechanism", "laplace", changes_probability)},
    "the law of other sizes": {
        "chance": lambda cut, *, n, **given: changes_probability(cut, n=tuple(reversed(n)), **given)
    },
    "the quantile of half of η": {"quantile": lambda eta, **given: changes_quantile(eta / 2, **given)},
    "the quantile of other rates": {
        "quantile": lambda eta, *, rates, **given: changes_quantile(
            eta, rates=[*rates[1:], rates[0]], **given
        )
    },
}


CLAIM = Claim(
    id="ours.noisy-changes",
    where="Any number of groups with privacy, Results 5 and 6",
    statement="Let k groups move to a band of width γ that needs the fewest changes for noisy rates with errors Δ. "
    "Their changes exceed the least for γ, by the true rates, by at most the 2⌊k/2⌋ largest |Δ|; and the least for the "
    "result's own gap by at most 2⌊k/2⌋ times this gap. If the aim is public, one group's noisy rate, or the median, "
    "the distribution of the changes can be computed.",
    verdict="holds",
    finding="Proved. Neither constant can be lowered for an even number of groups: both are approached where all "
    "rates are close to ½ and all errors point outwards. For two groups the second is the constant 2 of ISIT's "
    "Theorem 3.",
    headline="Noise raises the changes of k groups by no more than the sum of their errors.",
    kind="theorem",
    chapter="private-several-groups",
    check=check,
    faults=FAULTS,
)
