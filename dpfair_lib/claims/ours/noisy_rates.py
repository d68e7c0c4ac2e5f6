"""Ours: the gap that is left when any number of groups move to a band by their noisy rates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.flips import flip_probabilities
from dpfair_lib.central.parity import (
    expected_parity_bound,
    expected_parity_gap,
    parity_bound,
    parity_violation_probability,
    rate_errors,
)
from dpfair_lib.central.planning import merged_parity_bound
from dpfair_lib.central.released_rates import geometric_count_law
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search

QUARTERS = [Fraction(i, 4) for i in range(5)]
AIMS: list[str | Fraction] = ["midpoint", "median", "most-accurate", Fraction(3, 8)]
GAPS = [Fraction(0), Fraction(1, 6), Fraction(31, 97), Fraction(1, 2)]
ETAS = (0.3, 0.01)


def check(
    *,
    flips: Callable[..., Any] = flip_probabilities,
    bound: Callable[..., float] = parity_bound,
    mean_bound: Callable[..., float] = expected_parity_bound,
    violation: Callable[..., Any] = parity_violation_probability,
    mean: Callable[..., float] = expected_parity_gap,
    merged: Callable[..., float] = merged_parity_bound,
    search: Search,
) -> Evidence:
    """Judge the two errors for every band, the law against enumeration, and the bounds against the law."""
    _two_errors(flips, search)
    _law(violation, mean, search)
    _bounds(bound, violation, search)
    _mean_bounds(mean_bound, mean, search)
    _merged_groups(merged, search)
    rates = (Fraction(1, 4), Fraction(3, 4))  # both believed to be 1/2: nobody is changed
    search.needs(
        "the second error", slack=Fraction(1, 4) - (rates[1] - rates[0]), case={"rates": rates, "aim": "1/2"}
    )
    return search.evidence()


def _moved(
    rate: Any, believed: Any, low: Any, high: Any, flips: Callable[..., Any] = flip_probabilities
) -> Any:
    """Return a group's new rate."""
    down, up = flips(believed, min(max(believed, low), high))
    return rate * (1 - down) + (1 - rate) * up


@once
def _two_errors(flips: Callable[..., Any], search: Search) -> None:
    """Three groups, all true and noisy rates and all bands in quarters."""
    search.part("two errors")
    bands = list(itertools.combinations_with_replacement(QUARTERS, 2))
    for low, high in bands:
        ways = {
            (_moved(rate, seen, low, high, flips), seen - rate)
            for rate, seen in itertools.product(QUARTERS, repeat=2)
        }
        ends, errors = (np.array([way[at] * 48 for way in ways], dtype=float) for at in (0, 1))
        first, second = np.indices((len(ways), len(ways))).reshape(2, -1)
        # the third group adds nothing that one of the three pairs does not have
        room = 48 * float(high - low) + np.maximum(np.maximum(errors[first], errors[second]), 0)
        room = (
            room - np.minimum(np.minimum(errors[first], errors[second]), 0) - abs(ends[first] - ends[second])
        )
        search.observe(room, {"low": low, "high": high}, tolerance=1e-9)
        for seen in QUARTERS:  # a group whose rate is known ends in the band, as near as it can
            wanted = min(max(seen, low), high)
            search.equal(
                _moved(seen, seen, low, high, flips), wanted, {"low": low, "high": high, "rate": seen}
            )
    search.exhausts("pairs of groups, rates, noisy rates and bands in quarters", cases=len(bands) * 25)


@once
def _law(violation: Callable[..., Any], mean: Callable[..., float], search: Search) -> None:
    """Small groups, geometric noise: every count and every noise, in fractions."""
    search.part("the law, by enumeration")
    for sizes, rates in (
        ((2, 3, 1), (Fraction(1, 3), Fraction(1, 2), Fraction(1))),
        ((3, 2, 2), (Fraction(0), Fraction(2, 3), Fraction(1, 6))),
        ((2, 2, 1, 2), (Fraction(1, 2), Fraction(1, 2), Fraction(1, 3), Fraction(5, 6))),
    ):
        for odds, aim, width in itertools.product(
            (Fraction(3, 2), Fraction(4)),
            AIMS,
            (Fraction(0), Fraction(1, 5)),
        ):
            exceeds, average = _enumerated(rates, sizes, odds, aim, width)
            given: dict[str, Any] = {
                "rates": [float(rate) for rate in rates], "n": sizes, "epsilon": math.log(odds),
                "mechanism": "geometric", "rate": aim if isinstance(aim, str) else float(aim), "gamma": float(width),
            }  # fmt: skip
            for gap, chance in zip(GAPS, exceeds, strict=True):
                search.equal(
                    violation(float(gap), **given), float(chance), given | {"gap": gap}, tolerance=1e-9
                )
            search.equal(mean(**given), float(average), given, tolerance=1e-9)


def _enumerated(
    rates: Sequence[Fraction], sizes: Sequence[int], odds: Fraction, aim: str | Fraction, width: Fraction
) -> tuple[list[Fraction], Fraction]:
    """Return P(gap > g) for each g, and the mean gap."""
    laws = []
    for rate, size in zip(rates, sizes, strict=True):
        counts = [math.comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(size + 1)]
        noisy = [geometric_count_law(k, size, 1 / odds) for k in range(size + 1)]
        laws.append([sum(p * law[c] for p, law in zip(counts, noisy, strict=True)) for c in range(size + 1)])
    exceeds, mean = [Fraction(0)] * len(GAPS), Fraction(0)
    anchor = sizes.index(max(sizes))  # the noise is the same in all groups
    for drawn in itertools.product(*(range(size + 1) for size in sizes)):
        chance = math.prod(law[c] for law, c in zip(laws, drawn, strict=True))
        seen = [Fraction(c, size) for c, size in zip(drawn, sizes, strict=True)]
        centre = (
            sorted(seen)[(len(seen) - 1) // 2]
            if aim == "median"
            else seen[anchor]
            if isinstance(aim, str)
            else aim
        )
        low = (
            _middle_start(seen, width)
            if aim == "midpoint"
            else min(max(centre - width / 2, Fraction(0)), 1 - width)
        )
        after = [_moved(rate, one, low, low + width) for rate, one in zip(rates, seen, strict=True)]
        gap = max(after) - min(after)
        mean += chance * gap
        exceeds = [total + chance * (gap > g) for total, g in zip(exceeds, GAPS, strict=True)]
    return exceeds, mean


def _middle_start(seen: Sequence[Fraction], width: Fraction) -> Fraction:
    """Return the lower end of the middle one of all bands with the fewest changes, by trying all corners."""
    corners = {
        min(max(one - shift, Fraction(0)), 1 - width) for one in seen for shift in (Fraction(0), width)
    }
    costs = {t: sum(max(t - one, one - t - width, Fraction(0)) for one in seen) for t in corners}
    best = [t for t, cost in costs.items() if cost == min(costs.values())]
    return (min(best) + max(best)) / 2


def _settings() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Go through what the bounds are compared at: all that the exact law takes, and the options of the bounds."""
    for sizes, epsilons, mechanism in (
        ((60, 80, 40), (1.0, 0.5, 2.0), "geometric"),
        ((60, 80, 40), (1.0, 0.5, 2.0), "laplace"),
        ((30, 30, 30, 30, 30), (0.4,) * 5, "geometric"),
    ):
        for rates, aim, width in itertools.product(
            ([0.2, 0.5, 0.7, 0.4, 0.9], [0.5] * 5), ("median", 0.3), (0.0, 0.1)
        ):
            given = {
                "rates": rates[: len(sizes)],
                "n": sizes,
                "epsilon": epsilons,
                "mechanism": mechanism,
                "rate": aim,
                "gamma": width,
            }
            yield given, {"mechanism": mechanism, "gamma": width}


@once
def _bounds(bound: Callable[..., float], violation: Callable[..., Any], search: Search) -> None:
    """The form of the bounds against the two largest of k tails; the bounds against the exact law."""
    search.part("bounds")
    for k, width in itertools.product((2, 3, 7), (0.0, 0.2)):
        counts, levels = [100 * (at + 1) for at in range(k)], [0.3 + 0.1 * at for at in range(k)]
        for eta in ETAS:
            errors = sorted(
                math.log(2 * k / eta) / (n * e) + math.sqrt(math.log(4 * k / eta) / (2 * n))
                for n, e in zip(counts, levels, strict=True)
            )
            case = {"n": counts, "epsilon": levels, "η": eta, "γ": width}
            search.equal(
                bound(counts, levels, eta, gamma=width), width + sum(errors[-2:]), case, tolerance=1e-12
            )
    for given, how in _settings():
        for eta in ETAS:
            promised = bound(given["n"], given["epsilon"], eta, **how)
            exceeded = violation(min(promised, 1.0), **given)
            search.observe(eta - exceeded, given | {"η": eta}, tolerance=1e-6)


@once
def _mean_bounds(mean_bound: Callable[..., float], mean: Callable[..., float], search: Search) -> None:
    """The bound of the mean gap against the published form for two groups, its growth, and the exact mean."""
    search.part("bounds")
    for pair, e, width in itertools.product(((50, 300), (7, 7)), (0.2, 3.0), (0.0, 0.1)):
        published = width + sum(1 / (n * e) + math.sqrt(1 / (4 * n)) for n in pair)
        case = {"n": pair, "epsilon": e, "γ": width}
        search.equal(mean_bound(pair, e, gamma=width), published, case, tolerance=1e-12)
    # ever more groups: the mean's bound grows like a logarithm
    few, many = (mean_bound((1000,) * k, 0.1, gamma=0.0) for k in (10, 1000))
    search.observe(4 * few - many, {"k": (10, 1000)})
    for given, how in _settings():
        promised = mean_bound(given["n"], given["epsilon"], **how)
        search.observe(promised - mean(**given), given, tolerance=1e-6)


@once
def _merged_groups(merged: Callable[..., float], search: Search) -> None:
    """Two groups counted as one, beside a third: all rates, noisy rates and bands in quarters; then the form."""
    search.part("merged groups")
    grid = np.array(list(itertools.product(range(5), repeat=5)))
    first, second, seen, other, believed = grid.T
    for shares, (low, high) in itertools.product(
        ((0.5, 0.5), (0.25, 0.75)), itertools.combinations_with_replacement(QUARTERS, 2)
    ):
        after = np.array([[float(_moved(rate, one, low, high)) for one in QUARTERS] for rate in QUARTERS])
        new = np.array([after[first, seen], after[second, seen], after[other, believed]])
        error = abs(seen - shares[0] * first - shares[1] * second) / 4
        apart, last = abs(first - second) / 4, abs(believed - other) / 4
        allowed = float(high - low) + np.maximum(apart, error + apart * max(shares) + last)
        case = {"rates and noisy rates": grid, "band": (low, high), "shares": shares}
        search.observe(allowed - np.ptp(new, axis=0), case, tolerance=1e-9)
    search.exhausts("two merged groups and a third in quarters", cases=2 * 15 * 5**5)
    for counts, merge, mechanism, eta, width in itertools.product(
        ((900, 60, 30), (200, 50, 70, 400)),
        ((1, 2), (0, 2)),
        ("laplace", "geometric"),
        (0.2, 0.01),
        (0.0, 0.1),
    ):
        epsilons = [1 + 0.2 * at for at in range(len(counts))]
        rest = [at for at in range(len(counts)) if at not in merge]
        rows = [counts[at] for at in merge]
        one, *others = rate_errors(
            [sum(rows), *(counts[at] for at in rest)],
            [min(epsilons[at] for at in merge), *(epsilons[at] for at in rest)],
            eta,
            mechanism=mechanism,  # type: ignore[arg-type]
        )
        for apart in (0.0, 0.1, 0.9):
            pairs = [one + apart * max(rows) / sum(rows) + other for other in others]
            pairs += [sum(two) for two in itertools.combinations(others, 2)]
            given = {"merge": merge, "difference": apart, "mechanism": mechanism, "gamma": width}
            found = merged(counts, epsilons, eta, **given)
            search.equal(found, width + max(apart, *pairs), given | {"n": counts, "η": eta}, tolerance=1e-12)


def _one_error(n: Any, epsilon: Any, eta: float, **how: Any) -> float:
    """The largest error alone."""
    width = how.get("gamma", 0.0)
    return width + (parity_bound(n, epsilon, eta, **how) - width) / 2


def _of_two(n: Any, epsilon: Any, eta: float, **how: Any) -> float:
    """η as if there were two groups, whatever their number."""
    return parity_bound(n, epsilon, min(eta * len(n) / 2, 0.999), **how)


def _all_errors(n: Any, epsilon: Any, *, gamma: float, **how: Any) -> float:
    """The mean errors of all groups, one by one."""
    level = epsilon if np.ndim(epsilon) == 0 else max(epsilon)
    return gamma + sum(expected_parity_bound((size, size), level, **how) / 2 for size in n)


FAULTS: dict[str, dict[str, Any]] = {
    "nobody is moved up": {"flips": lambda rate, target: (flip_probabilities(rate, target)[0], 0 * target)},
    "flips of all people": {
        "flips": lambda rate, target: (max(rate - target, 0 * target), max(target - rate, 0 * target))
    },
    "the largest error alone": {"bound": _one_error},
    "η of two groups": {"bound": _of_two},
    "γ forgotten": {
        "bound": lambda n, epsilon, eta, **how: parity_bound(n, epsilon, eta, **how | {"gamma": 0.0})
    },
    "noise forgotten": {"bound": lambda n, _, eta, **how: parity_bound(n, math.inf, eta, **how)},
    "a mean without noise": {"mean_bound": lambda n, _, **how: expected_parity_bound(n, math.inf, **how)},
    "a mean without the band": {
        "mean_bound": lambda n, epsilon, **how: expected_parity_bound(n, epsilon, **how | {"gamma": 0.0})
    },
    "all errors added": {"mean_bound": _all_errors},
    "the law of a fixed aim": {
        "violation": lambda gap, *, rate, **given: parity_violation_probability(
            gap, rate=0.5 if isinstance(rate, str) else rate, **given
        )
    },
    "the law of the lower middle rate instead of the midpoint": {
        "violation": lambda gap, *, rate, **given: parity_violation_probability(
            gap, rate="median" if rate == "midpoint" else rate, **given
        )
    },
    "the mean of the lower middle rate instead of the midpoint": {
        "mean": lambda *, rate, **given: expected_parity_gap(
            rate="median" if rate == "midpoint" else rate, **given
        )
    },
    "the midpoint's law for ε off by a tenth": {
        "violation": lambda gap, *, rate, epsilon, **given: parity_violation_probability(
            gap, rate=rate, epsilon=epsilon * (1.1 if rate == "midpoint" else 1), **given
        )
    },
    "the law of the gap without the band": {
        "violation": lambda gap, *, gamma, **given: parity_violation_probability(
            gap, gamma=0 * gamma, **given
        )
    },
    "the law of half the ε": {
        "violation": lambda gap, *, epsilon, **given: parity_violation_probability(
            gap, epsilon=epsilon / 2, **given
        )
    },
    "merged groups as if they were equal": {
        "merged": lambda *first, difference, **given: merged_parity_bound(
            *first, difference=0 * difference, **given
        )
    },
    "merged groups without the band": {
        "merged": lambda *first, gamma, **given: merged_parity_bound(*first, gamma=0 * gamma, **given)
    },
    "other groups merged": {
        "merged": lambda *first, **given: merged_parity_bound(*first, **given | {"merge": (0, 1)})
    },
    "the mean of other sizes": {
        "mean": lambda *, n, **given: expected_parity_gap(n=tuple(reversed(n)), **given)
    },
}


CLAIM = Claim(
    id="ours.noisy-rates",
    where="Any number of groups with privacy, Results 1 to 3",
    statement="Let groups move to a band of width γ by noisy rates with errors Δ. However the band is chosen, the "
    "gap is at most γ + max(0, Δ) − min(0, Δ) over the groups. With probability 1 − η it is at most γ "
    "plus the two largest ln(2k/η)/(nε) + √(ln(4k/η)/(2n)). If the aim is public, one group's noisy rate, "
    "their median, or the middle of the bands of fewest changes, the gap's distribution can be computed.",
    verdict="holds",
    finding="Proved. The distribution was compared with every count and every noise of small groups, the bounds "
    "with the distribution. The bound grows with the logarithm of the number of groups; for two groups it "
    "is the published one.",
    headline="However many groups move to noisy rates, only the two largest errors count.",
    kind="theorem",
    chapter="private-several-groups",
    check=check,
    faults=FAULTS,
)
