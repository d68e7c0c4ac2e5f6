"""Ours: true positive rates from noisy counts: what the release costs, and the gap that is left."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.several_groups.opportunity import (
    count_positives,
    noise_reach,
    opportunity_bound,
    opportunity_epsilon,
    opportunity_errors,
    true_positive_rate,
)
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.ours.noisy_opportunity_kept import kept_in_the_population, kept_on_the_rows, moved
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.privacy import DiscreteLaplaceMechanism

RELATIONS = ("add-remove", "replace-one", "replace-within-group", "sensitive-attribute")
QUARTERS = [Fraction(i, 4) for i in range(5)]
FAILURES = (0.5, 0.13, 0.02, 1e-3)
Row = tuple[int, int, int]  # group, predicted label, true label


def check(
    *,
    count: Callable[..., Any] = count_positives,
    cost: Callable[..., Any] = opportunity_epsilon,
    rate: Callable[..., Any] = true_positive_rate,
    reach: Callable[..., float] = noise_reach,
    errors: Callable[..., tuple[float, ...]] = opportunity_errors,
    bound: Callable[..., float] = opportunity_bound,
    search: Search,
) -> Evidence:
    """Judge the cost by all small data sets, the error by all small counts, the bounds by the exact law."""
    _privacy(count, cost, search)
    _one_rate(rate, search)
    _means_of_noises(reach, search)
    _errors(errors, search)
    _intervals(bound, search)
    kept_on_the_rows(bound, search)
    kept_in_the_population(bound, search)
    return search.evidence()


def _neighbours(rows: tuple[Row, ...], kinds: list[Row], relation: str) -> Iterator[tuple[Row, ...]]:
    """Return the data sets that differ from one in one record."""
    for at, one in enumerate(rows):
        if relation == "add-remove":
            yield rows[:at] + rows[at + 1 :]
            continue
        for other in kinds:
            allowed = {
                "replace-one": True,
                "replace-within-group": other[0] == one[0],
                "sensitive-attribute": other[1:] == one[1:],
            }
            if allowed[relation]:
                yield (*rows[:at], other, *rows[at + 1 :])


@once
def _privacy(count: Callable[..., Any], cost: Callable[..., Any], search: Search) -> None:
    """All data sets of one and two rows, with geometric noise; ε is a multiple of ln 2, so ratios are powers of 2."""
    search.part("privacy")
    whole = 0
    for levels in ((1, 1), (1, 2), (3, 1), (1, 3, 2), (2, 2, 1)):
        kinds = [
            (group, label, truth) for group in range(len(levels)) for label in (0, 1) for truth in (0, 1)
        ]
        sets = [rows for n in (1, 2) for rows in itertools.combinations_with_replacement(kinds, n)]
        cells = {rows: _cells(count, rows, len(levels)) for rows in [(), *sets]}
        for rows, found in cells.items():  # predicted 1, then 0, of those of true label 1
            wanted = [[rows.count((group, label, 1)) for label in (1, 0)] for group in range(len(levels))]
            search.agree(found == wanted, True, {"rows": rows})
        for relation in RELATIONS:
            promised = cost([Fraction(each) for each in levels], relation)
            worst = 0
            for rows in sets:
                for other in _neighbours(rows, kinds, relation):
                    key = tuple(sorted(other))
                    loss = _loss(cells[rows], cells[key], levels)
                    worst, whole = max(worst, loss), whole + 1
                    search.observe(promised - loss, {"ε/ln 2": levels, "relation": relation, "rows": rows})
            case = {"ε/ln 2": levels, "relation": relation}
            search.equal(promised, worst, case)
            if relation.startswith("replace"):
                search.needs("the second cell of a group", slack=max(levels) - worst, case=case)
            elif relation == "sensitive-attribute":
                search.needs("the second group", slack=max(levels) - worst, case=case)
    search.exhausts("data sets of one and two rows, with all their neighbours", cases=whole)


def _cells(count: Callable[..., Any], rows: tuple[Row, ...], groups: int) -> list[list[int]]:
    codes, labels, truth = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found: list[list[int]] = count(labels, truth, codes, groups).tolist()
    return found


def _loss(first: list[list[int]], second: list[list[int]], levels: Sequence[int]) -> int:
    """Return the largest log₂ of a ratio of probabilities, over noisy counts from −1 to 4."""
    pairs = zip(*map(itertools.chain.from_iterable, (first, second)), strict=True)
    moves = [max(abs(z - d) - abs(z - c) for z in range(-1, 5)) for c, d in pairs]
    return sum(level * sum(moves[2 * at : 2 * at + 2]) for at, level in enumerate(levels))


@once
def _one_rate(rate: Callable[..., Any], search: Search) -> None:
    """Counts up to 3, noises up to 4, in fractions: the error for every ρ."""
    search.part("the error of one rate")
    for found, missed, u, v, rho in itertools.product(
        range(4), range(4), range(-4, 5), range(-4, 5), QUARTERS
    ):
        noisy = Fraction(found + u), Fraction(missed + v)
        seen, positives = rate(*noisy), max(noisy[0], Fraction(0)) + max(noisy[1], Fraction(0))
        error = (found - rho * (found + missed)) + (1 - rho) * u - rho * v
        case = {"t": found, "f": missed, "u": u, "v": v, "ρ": rho}
        if positives == 0:
            search.observe(Fraction(1, 2) - abs(seen - rho), case)
        elif min(noisy) >= 0:
            search.equal((seen - rho) * positives, error, case)
        else:
            search.observe(abs(error) - abs(seen - rho) * positives, case)
    search.exhausts("counts up to 3, noises up to 4, ρ in quarters", cases=16 * 81 * 5)
    # one true positive and one false negative, of which the noise takes the latter: the rate 1 instead of ½
    search.needs(
        "the noise in the divisor", slack=Fraction(1, 2) / 2 - abs(rate(1, 0) - Fraction(1, 2)), case={"m": 2}
    )


@once
def _means_of_noises(reach: Callable[..., float], search: Search) -> None:
    """The exact tails of (1 − ρ) u − ρ v: of Laplace noise in closed form, of geometric noise by adding up."""
    search.part("a mean of two noises")
    for odds, failure in itertools.product((1.5, 2.0, 6.0), FAILURES):
        epsilon = math.log(odds)
        for rho in (0, 0.01, 0.2, 0.35, 0.499, 0.5):
            case = {"e^ε": odds, "β": failure, "ρ": rho}
            limit = reach(epsilon, failure, "laplace")
            search.observe(failure - _laplace_tail(rho, limit * epsilon), case, tolerance=1e-12)
            limit = reach(epsilon, failure, "geometric")
            search.observe(failure - _geometric_tail(rho, limit, odds), case, tolerance=1e-12)
        # one noise is the worst mean of Laplace noises: nothing smaller will do
        worst = _laplace_tail(0, reach(epsilon, failure, "laplace") * epsilon)
        search.equal(worst, failure, {"β": failure}, tolerance=1e-12)
    search.equal(reach(math.inf, 0.1, "geometric"), 0.0, {"ε": math.inf})
    search.needs(
        "1 more for geometric noise",
        slack=0.13 - _geometric_tail(0, -math.log(0.13) / math.log(2), 2.0),
        case={"e^ε": 2, "β": 0.13, "ρ": 0},
    )


def _laplace_tail(rho: float, z: float) -> float:
    """Return P(|(1 − ρ) u − ρ v| > z) for Laplace noises of scale 1."""
    a, b = 1 - rho, rho
    if b == 0:
        return math.exp(-z)
    if a == b:
        return (1 + z) * math.exp(-2 * z)
    return (a * a * math.exp(-z / a) - b * b * math.exp(-z / b)) / (a * a - b * b)


def _geometric_tail(rho: float, limit: float, odds: float) -> float:
    """Return P(|(1 − ρ) u − ρ v| > limit), by adding up noises of which larger ones have no weight."""
    z = np.arange(-100, 101)
    chance = (odds - 1) / (odds + 1) * odds ** -abs(z.astype(float))
    beyond = abs((1 - rho) * z[:, None] - rho * z) > limit + 1e-12
    return float(chance @ beyond @ chance)


@once
def _errors(errors: Callable[..., tuple[float, ...]], search: Search) -> None:
    """The errors by hand."""
    search.part("errors")
    for counts, eta, mechanism in itertools.product(
        (((30, 50), (7.5, -3)), ((4, 0), (200, 300), (20, 30)), ((0, 0), (10, 10))),
        (0.3, 0.01),
        ("laplace", "geometric"),
    ):
        levels = (0.5, 2.0, math.inf)[: len(counts)]
        for population in (True, False):
            found = errors(counts, levels, eta, mechanism=mechanism, population=population)
            for pair, level, error in zip(counts, levels, found, strict=True):
                positives = sum(max(one, 0) for one in pair)
                parts = 3 if population else 1
                failure = eta / (parts * len(counts))
                noise = _noise_by_hand(level, failure, mechanism)
                drawn = math.sqrt((positives + 2 * noise) * math.log(2 / failure) / 2) if population else 0.0
                case = {"counts": counts, "ε": level, "η": eta, "mechanism": mechanism}
                # inverses, since an error may be infinite
                search.equal(
                    1 / (1 + error), 1 / (1 + (noise + drawn) / (positives or 1e-300)), case, tolerance=1e-12
                )


def _noise_by_hand(epsilon: float, failure: float, mechanism: str) -> float:
    if math.isinf(epsilon):
        return 0.0
    one = math.log(1 / failure) / epsilon
    if mechanism == "laplace":
        return one
    return min(one + 1, DiscreteLaplaceMechanism(1 / epsilon, 1).error_bound(failure / 2))


@once
def _intervals(bound: Callable[..., float], search: Search) -> None:
    """The bound is what the rule makes of two intervals, and at most the width plus two errors."""
    search.part("intervals")
    tables = (((300, 500), (70, 30)), ((40, 10), (200, 300), (20, 30)), ((0, 0), (100, 100)))
    for counts, band, eta, mechanism, population in itertools.product(
        tables, ((0.5, 0.5), (0.1, 0.3), (0.8, 1.0)), (0.3, 0.01), ("laplace", "geometric"), (True, False)
    ):
        levels = (1.0, 2.0, 0.5)[: len(counts)]
        how: dict[str, Any] = {"mechanism": mechanism, "population": population}
        each = opportunity_errors(counts, levels, eta, **how)
        ends = []
        for pair, error in zip(counts, each, strict=True):
            seen = pair[0] / sum(pair) if sum(pair) else 0.5
            limits = max(seen - error, 0.0), min(seen + error, 1.0)
            ends.append([moved(one, seen, band) for one in limits])
        wanted = max(one[1] - other[0] for one, other in itertools.permutations(ends, 2))
        found = bound(counts, levels, eta, band=band, **how)
        case = {"counts": counts, "band": band, "η": eta, **how}
        search.equal(found, min(wanted, 1.0), case, tolerance=1e-12)
        search.observe(band[1] - band[0] + sum(sorted(each)[-2:]) - found, case, tolerance=1e-12)


FAULTS: dict[str, dict[str, Any]] = {
    "false positives counted": {"count": lambda y, truth, *more: count_positives(y, 1 - truth, *more)},
    "one cell counted": {"count": lambda *given: count_positives(*given) * np.array([1, 0])},
    "the cost of one cell": {"cost": lambda epsilons, _: max(epsilons)},
    "the cost of selection rates": {
        "cost": lambda epsilons, relation: opportunity_epsilon(
            epsilons, "add-remove" if relation == "replace-within-group" else relation
        )
    },
    "twice the largest always": {"cost": lambda epsilons, _: 2 * max(epsilons)},
    "negative counts kept": {
        "rate": lambda found, missed: found / (found + missed) if found + missed > 0 else Fraction(1, 2)
    },
    "0 of no positives": {"rate": lambda *pair: true_positive_rate(*pair) if max(pair) > 0 else 0.0},
    "geometric noise as Laplace noise": {
        "reach": lambda epsilon, failure, mechanism: (
            0.0 if math.isinf(epsilon) else noise_reach(epsilon, failure, "laplace") + 0 * len(mechanism)
        )
    },
    "the reach of two noises": {
        "reach": lambda epsilon, failure, mechanism: noise_reach(epsilon, failure / 2, mechanism)
    },
    "η for each group": {
        "errors": lambda counts, epsilon, eta, **how: opportunity_errors(
            counts, epsilon, min(eta * len(counts), 0.999), **how
        )
    },
    "another divisor": {
        "errors": lambda counts, *given, **how: opportunity_errors(np.add(counts, 1), *given, **how)
    },
    "no sampling in the errors": {
        "errors": lambda *given, **how: opportunity_errors(*given, **how | {"population": False})
    },
    "no noise in the bound": {
        "bound": lambda *given, **how: opportunity_bound(
            given[0], math.inf, *given[2:], **{name: one for name, one in how.items() if name != "epsilon"}
        )
    },
    "no sampling in the bound": {
        "bound": lambda *given, **how: opportunity_bound(*given, **how | {"population": False})
    },
    "the band alone": {"bound": lambda *_, band, **__: band[1] - band[0]},
    "another band": {
        "bound": lambda *given, band, **how: opportunity_bound(*given, band=(band[0], band[0]), **how)
    },
}


CLAIM = Claim(
    id="ours.noisy-opportunity",
    where="Equal opportunity with privacy, Results 1 to 3",
    statement="Let the true positives and false negatives of each group have independent Laplace or geometric noise of "
    "ε_a, and the noisy rate be their share, after negative counts become 0. The release costs the largest ε_a if a "
    "record is added or removed, and the sum of the two largest if it changes its group. If it is replaced, also "
    "within its group, it costs twice the largest. None of these is too large. On the rows a noisy rate errs by at "
    "most a mean of two noises, divided by the noisy positives. So numbers that are released bound the gap of the true "
    "positive rates with probability 1 − η or more: on the rows, and in the population if rows are independent draws "
    "and the classifier is fixed beforehand.",
    verdict="holds",
    finding="Proved. The costs were compared with all small data sets and their neighbours, the error with all small "
    "counts and noises, and the bounds with the exact distribution of small groups, on the rows of the fit and in the "
    "population.",
    headline="Equal opportunity needs no public number of positives: the noisy ones bound the gap.",
    kind="theorem",
    chapter="private-opportunity",
    check=check,
    faults=FAULTS,
)
