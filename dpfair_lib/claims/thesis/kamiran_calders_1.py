"""Thesis, App. B: the equation that is said to characterise DA-optimal classifiers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.populations.labelled_data_sets import World, persons_apart, shared_cells, world
from dpfair_lib.local.trade_off import da_optimal, trade_off_excess


def check(
    *,
    excess: Callable[..., Any] = trade_off_excess,
    optimal: Callable[..., Any] = da_optimal,
    search: Search,
) -> Evidence:
    """Judge the equation with labels that the classifier can know, and with labels that it cannot."""
    _the_excess(excess, search)
    search.part("every person apart")
    overshooting, apart = 0, list(persons_apart(4))
    for found in apart:
        case = {"cells": found.cells}
        # the original's discrimination has a sign: a classifier may favour the other group for its accuracy
        value = excess(found.accuracies, found.signed, found.difference, found.share_0)
        slack = np.where((value == 0) == optimal(found.accuracies, found.signed), 0, -1)
        search.under(np.ones(len(slack), dtype=bool), slack, case, verify=printed_slack_person_by_person)
        # without a sign a DA-optimal classifier is off the equation where it favours the other group
        value = excess(found.accuracies, found.gaps, found.difference, found.share_0)
        best = optimal(found.accuracies, found.gaps)
        search.observe(value, case)
        search.agree(value == 0, best & (found.signed >= 0), case)
        overshooting += bool((best & (found.signed < 0)).any())
        # randomised: from either group the same mass is flipped, up to where the gap is closed
        for quarters in range(5):
            flipped = found.difference * found.share_0 * (1 - found.share_0) * Fraction(quarters, 4)
            left = found.difference * (1 - Fraction(quarters, 4))
            search.equal(excess(1 - 2 * flipped, left, found.difference, found.share_0), 0, case)
    # three statements of each choice of as many people as have label 1
    choices = sum(
        math.comb(n + m, s)
        for n, m in itertools.product(range(1, 5), repeat=2)
        for s in (i + j for i in range(n + 1) for j in range(m + 1))
    )
    search.exhausts(
        "two groups of up to four people, all labels, all classifiers of single people with P(Ŷ=1) = P(Y=1)",
        cases=3 * choices,
    )
    search.fact("apart", len(apart), "populations of people who can all be distinguished")
    search.fact(
        "overshooting",
        overshooting,
        "of these, with a DA-optimal classifier off the equation, as it favours the other group",
    )
    counted = np.zeros(3, dtype=int)
    for name, worlds in (
        ("features and group seen", shared_cells(True)),
        ("features seen", shared_cells(False)),
    ):
        search.part(name)
        counted += _one_way(worlds, excess, optimal, search)
    shared, unlike, noisy = counted.tolist()
    search.fact("shared", shared, "populations in which people may share features")
    search.fact(
        "unlike", unlike, "populations of shared features with a DA-optimal classifier off the equation"
    )
    search.fact("unlike_noisy", noisy, "of these, with a cell that holds both labels")
    return search.evidence()


def _the_excess(excess: Any, search: Search) -> None:
    """The number itself, where it is not 0 too: the accuracy lost less what the gap has to cost, person by person.

    To lower the gap by t at a constant share of selected people, a share t·n₁/n of group 0's n₀ people and t·n₀/n of
    group 1's n₁ change their prediction: 2t·n₀n₁/n people, a part 2t·n₀n₁/n² of all.
    """
    search.part("the excess itself")
    quarters = [Fraction(i, 4) for i in range(5)]
    for first, second in ((1, 1), (1, 3), (4, 1), (2, 5)):
        people = first + second
        for accuracy, gap, difference in itertools.product(quarters, repeat=3):
            closed = difference - gap  # below 0 where the classifier's gap is the larger
            changed = first * (closed * second / people) + second * (closed * first / people)
            case = {"accuracy": accuracy, "gap": gap, "Δ′": difference, "people": [first, second]}
            found = excess(accuracy, gap, difference, Fraction(first, people))
            search.equal(found, 1 - accuracy - changed / people, case)


def _one_way(worlds: Iterable[World], excess: Any, optimal: Any, search: Search) -> tuple[int, int, int]:
    """Where people share features: the inequality and one direction; the other direction is judged as printed.

    Returned are the populations, those off the equation, and those of them in which a cell has both labels.
    """
    count = unlike = noisy = 0
    for found in worlds:
        case = {"cells": found.cells}
        if not len(found.gaps):
            continue
        value = excess(found.accuracies, found.gaps, found.difference, found.share_0)
        search.observe(value, case)
        points = list(zip(found.accuracies, found.gaps, strict=True))
        search.agree(
            optimal(found.accuracies, found.gaps), [undominated(one, points) for one in points], case
        )
        search.observe(np.where((value == 0) & ~optimal(found.accuracies, found.gaps), -1, 0), case)
        slack = printed_slack(found.cells)
        search.under(False, slack, case, verify=printed_slack_person_by_person)
        count += 1
        if slack < 0:
            unlike += 1
            noisy += any(np.all(np.sum(cell, axis=0)) for cell in found.cells)
    return count, unlike, noisy


def undominated(one: tuple[Fraction, Fraction], points: list[tuple[Fraction, Fraction]]) -> bool:
    """Judge Definition 12 by its words: nobody is as accurate and as fair without being the same in both."""
    return not any(other != one and other[0] >= one[0] and other[1] <= one[1] for other in points)


def printed_slack(cells: list[list[list[int]]]) -> Fraction:
    """Return the largest distance of a DA-optimal classifier from the equation, negated."""
    found = world(cells)
    assert found is not None
    value = trade_off_excess(found.accuracies, found.gaps, found.difference, found.share_0)
    return -max(abs(value[da_optimal(found.accuracies, found.gaps)]))


def printed_slack_person_by_person(cells: list[list[list[int]]]) -> Fraction:
    """Return the same from a list of people, without arrays."""
    people = [
        (at, a, y)
        for at, cell in enumerate(cells)
        for a, row in enumerate(cell)
        for y, count in enumerate(row)
        for _ in range(count)
    ]
    n, sizes = len(people), [sum(a == b for _, a, _ in people) for b in (0, 1)]

    def gap(values: list[int]) -> Fraction:
        sums = [sum(v for v, (_, a, _) in zip(values, people, strict=True) if a == b) for b in (0, 1)]
        return abs(Fraction(sums[1], sizes[1]) - Fraction(sums[0], sizes[0]))

    labels = [y for *_, y in people]
    points = set()
    for code in range(2 ** len(cells)):
        chosen = [code >> at & 1 for at, _, _ in people]
        if sum(chosen) == sum(labels):
            hits = sum(c == y for c, y in zip(chosen, labels, strict=True))
            points.add((Fraction(hits, n), gap(chosen)))
    best = [
        (acc, g)
        for acc, g in points
        if not any(other >= acc and less <= g and (other, less) != (acc, g) for other, less in points)
    ]
    weight = Fraction(2 * sizes[0] * sizes[1], n * n)
    return -max(abs(1 - acc - weight * (gap(labels) - g)) for acc, g in best)


FAULTS: dict[str, dict[str, Any]] = {
    "never below the gap's decrease": {
        "excess": lambda acc, gap, difference, share: (
            1 - acc - 2 * share * (1 - share) * np.maximum(difference - gap, 0)
        )
    },
    "only its sign": {
        "excess": lambda *given: np.sign(np.asarray(trade_off_excess(*given), dtype=float)).astype(int)
    },
    "weight without the factor 2": {
        "excess": lambda acc, gap, difference, share: 1 - acc - share * (1 - share) * (difference - gap)
    },
    "weight ½ whatever the shares": {
        "excess": lambda acc, gap, difference, _: 1 - acc - Fraction(1, 2) * (difference - gap)
    },
    "gap and difference exchanged": {
        "excess": lambda acc, gap, difference, share: trade_off_excess(acc, difference, gap, share)
    },
    "most accurate taken for DA-optimal": {"optimal": lambda acc, gaps: (acc == max(acc)) & (gaps == gaps)},
    "dominated by the more accurate only": {
        "optimal": lambda acc, gaps: np.array(
            [
                not any(a > one and g <= gap for a, g in zip(acc, gaps, strict=True))
                for one, gap in zip(acc, gaps, strict=True)
            ]
        )
    },
    "every classifier counts as DA-optimal": {"optimal": lambda acc, gaps: (acc == acc) & (gaps == gaps)},
}


CLAIM = Claim(
    id="thesis.kamiran-calders-1",
    where="thesis App. B, proof of Thm 15 (Theorem 1 of Kamiran and Calders, 2012)",
    statement="Among classifiers with P(Ŷ = 1) = P(Y = 1), "
    "h is DA-optimal iff 1 − acc(h) = 2n₀n₁/(n₀ + n₁)² · (Δ_SP(perfect classifier) − Δ_SP(h)).",
    verdict="corrected",
    finding="With ≥ for = it holds for every such classifier and distribution of labels, and equality always "
    "makes h DA-optimal. The converse holds if any person can be given any label and Δ_SP has a sign, as "
    "where it is taken from, or h is randomised. For classifiers of features it can fail: with noisy labels, "
    "or the group unseen.",
    kind="condition",
    impact="condition",
    because="The proof of Theorem 15 needs the equation. It holds where people can all be distinguished and "
    "the difference has a sign, and fails with noisy labels.",
    headline="The equation of Kamiran and Calders holds where people can all be distinguished and "
    "differences have a sign. With shared features 278 small populations break it.",
    witness="Two cells of people. The first holds one person of each label from group 0, the second one "
    "person of each label from group 1. A DA-optimal classifier does not satisfy the printed "
    "equation.",
    chapter="thesis-thm-15",
    errata=(
        Erratum(
            where="thesis App. B, proof of Theorem 15, the quoted Theorem 1 of Kamiran and Calders",
            printed="a classifier with P(Ŷ = 1) = P(Y = 1) is DA-optimal iff 1 − acc(h) = c·(Δ_SP(perfect) − Δ_SP(h))",
            correct="so for people who can all be distinguished and Δ_SP with a sign, or randomised; in "
            "general only ≥, and equality is sufficient",
            band="condition",
            why="With noisy labels, or the group unseen, no classifier of the features need reach the equation; "
            "without a sign one that favours the other group misses it.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
