"""How much more often a private learner selects rows that it has seen: all small learners, programs, and one table."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central import rate_bias_bound
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search

PARTS = 6
LEVELS = (Fraction(3, 2), Fraction(2), Fraction(4))  # e^ε
SQUARES = [Fraction(a, b) for b in range(1, 9) for a in range(b + 1, 25)]  # e^(ε/2)
SOLVED = 1e-8  # a linear program's error


def check(*, search: Search, bound: Callable[..., float] = rate_bias_bound) -> Evidence:
    """The training rows of a group and its new people are selected equally often, up to the bound; some attain it."""
    _one_row(bound, search)
    _several_rows(bound, search)
    _what_is_needed(bound, search)
    _closed_form(bound, search)
    return search.evidence()


def _closed_form(bound: Callable[..., float], search: Search) -> None:
    """The bound is the largest bias that a band of width e^ε leaves to one classifier."""
    search.part("the band of one likelihood ratio")
    shares = [Fraction(k, 60) for k in range(61)]
    for s in SQUARES:
        largest, odds = (s - 1) / (s + 1), s * s
        search.equal(bound(2 * math.log(s)), float(largest), {"e^(ε/2)": s}, tolerance=1e-14)
        for share in (*shares, 1 / (1 + s)):  # the last one attains it
            bias = share * (1 - share) * (odds - 1) / (1 + share * (odds - 1))
            search.observe(largest - bias, {"e^(ε/2)": s, "share selected": share})
        for delta in (Fraction(1, 10**6), Fraction(1, 10), Fraction(3, 4)):
            stated = (odds - 1 + 2 * delta) / (odds + 1)
            found = bound(2 * math.log(s), float(delta))
            search.equal(found, float(stated), {"e^(ε/2)": s, "δ": delta}, tolerance=1e-14)


def _one_row(bound: Callable[..., float], search: Search) -> None:
    """All learners of one row that has two values, with all chances of the four classifiers in sixths."""
    search.part("all learners of one row")
    laws = np.array([law for law in itertools.product(range(PARTS + 1), repeat=4) if sum(law) == PARTS])
    selects = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # classifier → value
    first, second = (laws[at] for at in np.divmod(np.arange(len(laws) ** 2), len(laws)))
    chances = np.stack([first @ selects, second @ selects], axis=1)  # of learner, of value
    for odds in LEVELS:
        up, down = odds.numerator, odds.denominator
        excess = (np.maximum(down * p - up * q, 0).sum(axis=1) for p, q in ((first, second), (second, first)))
        delta = np.maximum(*excess)  # in parts of down · PARTS
        stated = np.array([_bound(bound, odds, int(part), down * PARTS) for part in range(delta.max() + 1)])
        for weight in range(1, PARTS):  # of the first value, in sixths
            w = np.array([weight, PARTS - weight])
            seen = (w * np.diagonal(chances, axis1=1, axis2=2)).sum(axis=1) * PARTS
            new = np.einsum("x,nxv,v->n", w, chances, w)
            bias = np.abs(seen - new) / PARTS**3
            case = {"e^ε": odds, "weight": Fraction(weight, PARTS), "first": first, "second": second}
            search.observe(stated[delta] - bias, case, tolerance=1e-12)
    search.exhausts(
        "learners of one row with two values, all chances in sixths, at three levels and five distributions",
        cases=len(LEVELS) * (PARTS - 1) * math.comb(PARTS + 3, 3) ** 2,
    )


def _bound(bound: Callable[..., float], odds: Fraction, part: int, whole: int) -> float:
    """Return the bound at δ = part/whole; what fails with certainty may select its rows alone."""
    return 1.0 if part >= whole else bound(math.log(odds), part / whole)


def _several_rows(bound: Callable[..., float], search: Search) -> None:
    """The largest bias of all private learners of one to three rows, by linear programs."""
    search.part("the best of all learners, by linear programs")
    best = 0.0
    for values, rows in ((2, 1), (3, 1), (5, 1), (2, 2), (3, 2), (2, 3)):
        for odds, delta in itertools.product((Fraction(2), Fraction(4)), (0.0, 0.1)):
            case = {"values": values, "rows": rows, "e^ε": odds, "δ": delta}
            stated, found = bound(math.log(odds), delta), _largest_bias(values, rows, float(odds), delta)
            search.observe(stated - found, case, tolerance=SOLVED)
            best = max(best, found / stated)
    search.fact(
        "share_reached", round(best, 3), "largest share of the bound that a learner of up to five values has"
    )


@functools.cache
def _largest_bias(values: int, rows: int, odds: float, delta: float) -> float:
    """Return the largest bias over all (ε, δ)-private learners of independent rows that are uniform on some values."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    samples = list(itertools.product(range(values), repeat=rows))
    rules = list(itertools.product((0, 1), repeat=values))
    place = {cell: at for at, cell in enumerate(itertools.product(samples, rules))}
    pairs = [pair for sample in samples for pair in _neighbours(sample, values)]
    excess = {cell: len(place) + at for at, cell in enumerate(itertools.product(pairs, rules))}
    size = len(place) + len(excess)
    gain = np.zeros(size)
    for (sample, rule), at in place.items():
        gain[at] = (sum(rule[x] for x in sample) / rows - sum(rule) / values) / len(samples)
    entries: list[tuple[int, int, float]] = []
    for row, ((one, other), rule) in enumerate(excess):
        entries += [
            (row, place[one, rule], 1.0),
            (row, place[other, rule], -odds),
            (row, row + len(place), -1.0),
        ]
    for at, pair in enumerate(pairs):
        entries += [(len(excess) + at, excess[pair, rule], 1.0) for rule in rules]
    i, j, of = zip(*entries, strict=True)
    upper = coo_array((of, (i, j)), shape=(len(excess) + len(pairs), size))
    whole = [(at, place[sample, rule]) for at, sample in enumerate(samples) for rule in rules]
    i, j = zip(*whole, strict=True)
    equal = coo_array((np.ones(len(whole)), (i, j)), shape=(len(samples), size))
    limits = np.concatenate([np.zeros(len(excess)), np.full(len(pairs), delta)])
    found = linprog(-gain, A_ub=upper, b_ub=limits, A_eq=equal, b_eq=np.ones(len(samples)))
    assert found.success, found.message
    return -float(found.fun)


def _neighbours(sample: tuple[int, ...], values: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for at, value in itertools.product(range(len(sample)), range(values)):
        if value != sample[at]:
            yield sample, (*sample[:at], value, *sample[at + 1 :])


def _what_is_needed(bound: Callable[..., float], search: Search) -> None:
    """A table of places with noisy labels reaches the bound as places are added; copies of a row go beyond it."""
    search.part("a table of places")
    chances = {0: Fraction(1, 3), 1: Fraction(2, 3)}  # of the label 1, by the rows at a place
    copies = {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(3, 4)}
    stated = Fraction(bound(math.log(_odds_of_a_table(chances, 1)), 0.0))
    search.observe(Fraction(4) - _odds_of_a_table(chances, 1), {"rows": 1})
    search.observe(Fraction(4) - _odds_of_a_table(copies, 2), {"rows": 2})
    places = 10_000
    other = 1 - Fraction(1, places)  # the chance that a new person is at another place
    bias = (chances[1] - chances[0]) * other
    search.observe(stated - bias, {"places": places})
    search.needs(
        "the constant: with 0.999 times the bound",
        slack=Fraction(999, 1000) * stated - bias,
        case={"places": places},
    )
    twice = (copies[2] - copies[0]) * other
    search.needs(
        "that the rows are independent: with two copies of each",
        slack=stated - twice,
        case={"places": places},
    )
    search.fact(
        "table", float(bias / stated), "share of the bound that a table of 10,000 places has, at ε = 2 ln 2"
    )


def _odds_of_a_table(chances: dict[int, Fraction], rows: int) -> Fraction:
    """Return e^ε of a table of independent noisy labels, by all moves of one of the rows."""
    steps = [
        max(b / a, (1 - a) / (1 - b)) for a, b in itertools.pairwise([chances[k] for k in range(rows + 1)])
    ]
    back = [
        max(a / b, (1 - b) / (1 - a)) for a, b in itertools.pairwise([chances[k] for k in range(rows + 1)])
    ]
    worst = max(*steps, *back)
    return worst * worst  # the place that the row leaves, and the place to which it comes


def _half(function: Callable[..., float]) -> Callable[..., float]:
    return lambda epsilon, delta=0.0: function(epsilon / 2, delta)


FAULTS: dict[str, dict[str, Any]] = {
    "half of ε": {"bound": _half(rate_bias_bound)},
    "δ forgotten": {"bound": lambda epsilon, delta=0.0: rate_bias_bound(epsilon) + 0 * delta},
    "δ counted once": {
        "bound": lambda epsilon, delta=0.0: rate_bias_bound(epsilon, delta) - delta / (math.exp(epsilon) + 1)
    },
    "the distance of two distributions at δ = 0": {
        "bound": lambda epsilon, delta=0.0: math.tanh(epsilon / 2) * (1 - delta) + delta
    },
    "a small ε": {"bound": lambda epsilon, delta=0.0: rate_bias_bound(epsilon, delta) * (1 - 1e-9 * epsilon)},
}


CLAIM = Claim(
    id="ours.seen-rows",
    where="A private and fair model, Result 3",
    statement="Let the rows of a group be independent draws, and the learner ε-private if one of them is replaced. The "
    "expected share of training rows that it selects differs from that of new people of the group by at most "
    "tanh(ε/4); with δ > 0, by at most (e^ε − 1 + 2δ)/(e^ε + 1).",
    verdict="holds",
    finding="A table of places with noisy labels comes as near to tanh(ε/4) as one likes, as places are added. For "
    "δ > 0 the bound is not sharp. If the rows are copies of one another, the bound fails.",
    headline="A private learner selects rows that it was trained on more often than new people by at most tanh(ε/4), "
    "and no smaller bound holds.",
    kind="theorem",
    chapter="private-and-fair-model",
    check=check,
    faults=FAULTS,
)
