"""Theorem 15 where all people can be distinguished: every pair of DA-optimal classifiers, none left out."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.populations.labelled_data_sets import persons_apart, world
from dpfair_lib.local.exchange import exchange_optima
from dpfair_lib.local.trade_off import da_optimal

LARGEST = 4  # people in a group, where all classifiers are gone through
FOLLOWED = 7  # people, where the DA-optimal ones are taken from the formula
SAME_SHARE = 18  # people in both data sets together, where they have different sizes

Labels = tuple[tuple[int, int], tuple[int, int]]
"""People of each group, and how many of them have label 1."""


@dataclass(frozen=True)
class DataSet:
    """Two groups of people who can be distinguished, and the points (accuracy, gap) of all DA-optimal classifiers."""

    sizes: tuple[int, int]
    positives: tuple[int, int]
    points: tuple[tuple[Fraction, Fraction], ...]

    @functools.cached_property
    def difference(self) -> Fraction:
        """Return Δ′."""
        return abs(Fraction(self.positives[1], self.sizes[1]) - Fraction(self.positives[0], self.sizes[0]))

    @functools.cached_property
    def closing(self) -> Fraction:
        """Return D, the number of exchanges at which the gap would close."""
        return self.difference * self.sizes[0] * self.sizes[1] / sum(self.sizes)

    @functools.cached_property
    def share_0(self) -> Fraction:
        """Return P(A = 0)."""
        return Fraction(self.sizes[0], sum(self.sizes))


def judge_people_apart(
    optima: Callable[..., Any], gap: Callable[..., Any], order: Callable[..., Any], search: Search
) -> None:
    """Judge the optima, the gaps, and when the fairer data have the fairer classifier."""
    _every_optimum(optima, search)
    _every_pair(gap, order, search)
    _which_data_sets(optima, search)
    _other_sizes(optima, search)


@functools.cache  # nothing examined enters it
def _gone_through() -> tuple[DataSet, ...]:
    """Return all data sets of up to four people a group, their optima found by comparing all classifiers."""
    return tuple(by_comparison(sizes, positives) for sizes, positives in _labels(LARGEST))


@functools.cache  # nothing examined enters it
def by_comparison(sizes: tuple[int, int], positives: tuple[int, int]) -> DataSet:
    """Return a data set and its optima, found by comparing all classifiers."""
    found = world(persons(sizes, positives))
    assert found is not None
    best = da_optimal(found.accuracies, found.gaps)
    points = set(zip(found.accuracies[best], found.gaps[best], strict=True))
    return DataSet(sizes, positives, tuple(sorted(points, reverse=True)))


def persons(sizes: Sequence[int], positives: Sequence[int]) -> list[list[list[int]]]:
    """Return a cell for each person."""
    people = [(a, int(i < positives[a])) for a in (0, 1) for i in range(sizes[a])]
    return [[[int((a, y) == who) for y in (0, 1)] for a in (0, 1)] for who in people]


def _labels(largest: int) -> Iterator[Labels]:
    for n_0, n_1 in itertools.product(range(1, largest + 1), repeat=2):
        for s_0, s_1 in itertools.product(range(n_0 + 1), range(n_1 + 1)):
            yield (n_0, n_1), (s_0, s_1)


@once
def _every_optimum(optima: Callable[..., Any], search: Search) -> None:
    """The DA-optimal classifiers are the exchanges of fewer than D + ½ people for as many."""
    search.part("people apart: the optima")
    for data in _gone_through():
        case = {"sizes": data.sizes, "positives": data.positives}
        search.agree(
            sorted(optima(data.sizes, data.positives), reverse=True) == list(data.points), True, case
        )
    search.exhausts(
        "data sets of up to four people a group who can all be distinguished, with all their classifiers that "
        "select as many as have label 1",
        cases=len(persons_apart(LARGEST)),
    )


@once
def _every_pair(gap: Callable[..., Any], order: Callable[..., Any], search: Search) -> None:
    """Every pair of DA-optimal classifiers of data sets of the same group sizes, whichever group they favour."""
    search.part("people apart: every pair")
    turned, apart, compared = 0, [], []
    orders, slacks, pairs = [], [], []
    alike: list[tuple[bool, Fraction, dict[str, Any]]] = []
    said = {
        (data.sizes, data.positives): [gap(data.difference, acc, data.share_0) for acc, _ in data.points]
        for data in _gone_through()
    }
    for p, q in _of_the_same_sizes():
        case = {"sizes": p.sizes, "p_positives": p.positives, "q_positives": q.positives}
        ours = zip(p.points, said[p.sizes, p.positives], strict=True)
        theirs = zip(q.points, said[q.sizes, q.positives], strict=True)
        for ((acc_p, gap_p), said_p), ((acc_q, gap_q), said_q) in itertools.product(ours, theirs):
            apart.append(abs(gap_p - gap_q - said_p + said_q))
            compared.append(case)
            if acc_p == acc_q and p.difference <= q.difference:
                kept = bool(order(p.difference, q.difference, acc_p, p.share_0))
                orders.append((gap_p <= gap_q, kept, case))
                alike.append((kept, gap_q - gap_p, {**case, "accuracy": acc_p}))
                turned += gap_p > gap_q
        slacks.append(printed_slack_of(p, q))
        pairs.append(case)
    search.observe(-np.array(apart), _columns(compared))
    found, said_so, where = zip(*orders, strict=True)
    search.agree(found, said_so, _columns(where))
    search.against(np.array(slacks), _columns(pairs), verify=printed_slack_by_comparison)
    search.exhausts(
        "all pairs of these data sets of the same group sizes, with all pairs of their DA-optimal classifiers",
        cases=sum(_optima_of(*sizes) ** 2 for sizes in itertools.product(range(1, LARGEST + 1), repeat=2)),
    )
    _under_the_mean(alike, search)
    search.fact(
        "compared",
        len(compared),
        "pairs of DA-optimal classifiers of people who can be distinguished, none left out",
    )
    search.fact("equal", len(alike), "of these, equally accurate and Δ′(P) ≤ Δ′(Q)")
    search.fact("turned", turned, "of these, where the fairer data have the larger gap")


def _under_the_mean(alike: list[tuple[bool, Fraction, dict[str, Any]]], search: Search) -> None:
    """Judge the theorem where the mean of both Δ′ is large enough for the accuracy, and where it is not."""
    kept, slack = (np.array([row[at] for row in alike]) for at in (0, 1))
    search.under(kept, slack, _columns([case for *_, case in alike]), verify=printed_slack_at_the_accuracy)


def _of_the_same_sizes() -> Iterator[tuple[DataSet, DataSet]]:
    alike: dict[tuple[int, int], list[DataSet]] = {}
    for data in _gone_through():
        alike.setdefault(data.sizes, []).append(data)
    for every in alike.values():
        yield from itertools.product(every, repeat=2)


def _optima_of(n_0: int, n_1: int) -> int:
    """Count the optima of all data sets of these sizes apart: j from 0 to below D + ½, D = |n₀s₁ − n₁s₀|/n."""
    doubled = [2 * abs(n_0 * s_1 - n_1 * s_0) for s_0 in range(n_0 + 1) for s_1 in range(n_1 + 1)]
    return sum(1 + max(0, -(-(d - n_0 - n_1) // (2 * (n_0 + n_1)))) for d in doubled)


def printed_slack_of(p: DataSet, q: DataSet) -> Fraction:
    """Return the least Δ_SP(h_Q) − Δ_SP(h_P) over DA-optimal pairs of equal accuracy, 0 if Δ′(P) > Δ′(Q)."""
    if p.difference > q.difference:
        return Fraction(0)
    pairs = itertools.product(p.points, q.points)
    return min((g_q - g_p for (acc, g_p), (same, g_q) in pairs if acc == same), default=Fraction(0))


def printed_slack_by_comparison(
    sizes: tuple[int, int], p_positives: tuple[int, int], q_positives: tuple[int, int]
) -> Fraction:
    """Return the same, with the optima of both data sets found anew."""
    return printed_slack_of(by_comparison(sizes, p_positives), by_comparison(sizes, q_positives))


def _columns(cases: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return cases as one mapping, of arrays that have an entry for each."""
    columns = {}
    for name in cases[0]:
        columns[name] = np.empty(len(cases), dtype=object)
        columns[name][:] = [case[name] for case in cases]
    return columns


def printed_slack_at_the_accuracy(
    sizes: tuple[int, int], p_positives: tuple[int, int], q_positives: tuple[int, int], accuracy: Fraction
) -> Fraction:
    """Return the same for the classifiers of one accuracy, with the optima of both data sets found anew."""
    p, q = by_comparison(sizes, p_positives), by_comparison(sizes, q_positives)
    (gap_p,), (gap_q,) = ([gap for acc, gap in data.points if acc == accuracy] for data in (p, q))
    return gap_q - gap_p


@once
def _which_data_sets(optima: Callable[..., Any], search: Search) -> None:
    """At equal sizes the order turns iff D_P is above its half and D_P < D_Q < 2⌈D_P⌉ − D_P; never at equal P(Y=1)."""
    search.part("people apart: which data sets")
    turned, smallest = 0, None
    rows: list[tuple[bool, bool, dict[str, Any]]] = []
    alike = []
    for n in range(2, FOLLOWED + 1):
        for n_0 in range(1, n):
            sizes = n_0, n - n_0
            every = [
                DataSet(sizes, labels, tuple(optima(sizes, labels)))
                for labels in itertools.product(range(n_0 + 1), range(n - n_0 + 1))
            ]
            for p, q in itertools.product(every, repeat=2):
                case = {"sizes": sizes, "p_positives": p.positives, "q_positives": q.positives}
                fails, up = printed_slack_of(p, q) < 0, math.ceil(p.closing)
                between = p.closing < q.closing < 2 * up - p.closing
                rows.append((fails, up - p.closing < Fraction(1, 2) and between, case))
                alike.append(fails and sum(p.positives) == sum(q.positives))
                turned += fails
                smallest = smallest or (fails and n) or None
    failing, said, cases = zip(*rows, strict=True)
    search.agree(failing, said, _columns(cases))
    search.agree(alike, np.zeros(len(alike), dtype=bool), _columns(cases))
    search.fact(
        "data_sets",
        turned,
        f"pairs of data sets of equal group sizes, up to {FOLLOWED} people each, that turn the order",
    )
    search.fact("smallest", smallest, "people in the smallest data set that turns it")


@once
def _other_sizes(optima: Callable[..., Any], search: Search) -> None:
    """With the same law of A and the same P(Y = 1), but of different sizes, two data sets can turn the order."""
    search.part("people apart: other sizes")
    found = _turned_at_the_same_laws()
    search.observe(len(found) - 1, {"people of both, at most": SAME_SHARE})
    for one, other in found:
        p, q = by_comparison(*one), by_comparison(*other)
        case = {"sizes": (p.sizes, q.sizes), "positives": (p.positives, q.positives)}
        search.equal(sum(p.sizes) + sum(q.sizes), SAME_SHARE, case)  # none is smaller
        search.agree(printed_slack_of(p, q) < 0, True, case)
        for data in (p, q):
            again = sorted(optima(data.sizes, data.positives), reverse=True)
            search.agree(again == list(data.points), True, case)
    search.fact(
        "same_share",
        SAME_SHARE if found else None,
        "people in the smallest two with the same P(Y = 1) that turn it",
    )


@functools.cache  # nothing examined enters it
def _turned_at_the_same_laws() -> list[tuple[Labels, Labels]]:
    """Return the pairs of `_same_laws` that turn the order, their optima by the formula."""
    whole = math.lcm(*range(1, SAME_SHARE))  # makes whole numbers of accuracies, and its square of gaps

    @functools.cache
    def drawn(sizes: tuple[int, int], labels: tuple[int, int]) -> tuple[int, dict[int, int]]:
        data = DataSet(sizes, labels, tuple(exchange_optima(sizes, labels)))
        gaps = {int(acc * whole): int(gap * whole**2) for acc, gap in data.points}
        return int(data.difference * whole**2), gaps

    def turns(one: Labels, other: Labels) -> bool:
        (less, gaps), (more, others) = drawn(*one), drawn(*other)
        return less <= more and any(gaps[acc] > others[acc] for acc in gaps.keys() & others.keys())

    return [(one, other) for one, other in _same_laws() if turns(one, other)]


def _same_laws() -> tuple[tuple[Labels, Labels], ...]:
    """Return all pairs of sizes and labels with the same law of A and the same law of Y, of different sizes."""
    alike: dict[Any, list[Labels]] = {}
    for sizes, labels in _labels(SAME_SHARE - 2):
        n = sum(sizes)
        if n <= SAME_SHARE - 2:
            alike.setdefault((Fraction(sizes[0], n), Fraction(sum(labels), n)), []).append((sizes, labels))
    return tuple(
        (one, other)
        for every in alike.values()
        for one, other in itertools.permutations(every, 2)
        if one[0] != other[0] and sum(one[0]) + sum(other[0]) <= SAME_SHARE
    )
