"""What one replaced record moves: the violations of all classifiers, and the learner's losses."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.compatibility.small_subgroup_games import (
    MEMBERS,
    RECORDS,
    data_sets,
    loss_change,
    table_of,
)
from dpfair_lib.compatibility.subgroup_fairness.printed_leaks import MEMBERS as PROFILES
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import SubgroupGame

BOUND = 10  # the dual bound C
CLASSIFIERS = np.array(list(itertools.product((0.0, 1.0), repeat=2)))
RECORD_ROWS = np.array(RECORDS)
PAIRS = np.triu_indices(len(RECORDS), 1)


def judge_small(
    game: Callable[..., SubgroupGame], vector_bound: Callable[..., float], search: Search
) -> None:
    """All neighbouring pairs of at most four records: violations move by at most 1/n, losses by what we say.

    Shares of at most four negatives are multiples of 1/12, so that 12n times everything is a whole number.
    """
    search.part("small neighbours")
    one, two = PAIRS
    largest: tuple[int, Any] = (0, None)
    for rest, off, moved, changes in _small_moves(game):
        allowed = math.floor((Fraction(vector_bound(BOUND, len(rest) + 1)) * 12 * (len(rest) + 1)) ** 2)
        case = {"rest": rest, "first": RECORD_ROWS[one], "second": RECORD_ROWS[two]}
        search.sanity(1e-9 - off, {"rest": rest, "claim": "multiples"})
        negatives = sum(y == 0 for _, _, y in rest)
        # n times the change is at most N/(N + 1), N being the other negatives
        search.observe(12 * negatives - (negatives + 1) * moved, case)
        for weight, squares, change in changes:
            search.observe(allowed - squares, case | {"weight": weight})
            search.observe(12 * (2 + 2 * BOUND) - change, case | {"weight": weight})
            at = int(np.argmax(change))
            if change[at] > largest[0]:
                largest = int(change[at]), (rest, RECORDS[one[at]], RECORDS[two[at]], Fraction(weight))
    search.exhausts(
        "all pairs of data sets of at most four records that differ in one: two cells, in or out of one subgroup, two "
        "labels; all classifiers on the two cells; both signs of the auditor's weight",
        cases=2 * 28 * sum(math.comb(size + 7, 7) for size in range(4)),
    )
    by_definition = loss_change(*largest[1]) * (len(largest[1][0]) + 1)
    search.equal(by_definition, Fraction(largest[0], 12), {"pair": largest[1]})
    search.agree(by_definition > 2 + BOUND, True, {"pair": largest[1]})
    search.fact("loss_change", float(by_definition), "largest change of the loss vector found, times n")
    search.fact("dual_bound", BOUND, "C of the pairs that are judged")
    search.fact("printed_change", 2 + BOUND, "printed (2 + C), at C = 10")


@functools.cache
def _small_moves(game: Callable[..., SubgroupGame]) -> list[tuple[Any, float, np.ndarray, list[Any]]]:
    """Return, for every data set of up to three records, what follows with one record more, in units of 1/12n.

    Its records; how far the numbers are from whole ones; by how much a violation moves at most; and for both signs of
    the auditor's weight the weight, the squared change of the cells' costs, and the change of the records' costs.
    """
    (one, two), moves = PAIRS, []
    members, inside, label = MEMBERS.astype(float), RECORD_ROWS[:, 1], RECORD_ROWS[:, 2]
    for rest in (rest for size in range(4) for rest in data_sets(size)):
        played = [game(table_of((*rest, record)).astype(float), members) for record in RECORDS]
        values = [np.array([each.violations(CLASSIFIERS)[:, 0] for each in played])]
        values += [
            np.array([each.costs(np.array([weight])) for each in played]) for weight in (BOUND, -BOUND)
        ]
        scaled = [value * 12 * (len(rest) + 1) for value in values]
        found, *costs = (np.rint(value).astype(np.int64) for value in scaled)
        # the newcomer's share of the costs, and that of each other negative
        negatives = sum(y == 0 for _, _, y in rest)
        among = sum(group for _, group, y in rest if y == 0) + inside * (label == 0)
        share = 12 * among // np.maximum(negatives + (label == 0), 1)
        changes: list[Any] = []
        for weight, cost in zip((BOUND, -BOUND), costs, strict=True):
            own = 12 * (1 - 2 * label) + weight * (share - 12 * inside) * (label == 0)
            change = abs(own[one] - own[two]) + negatives * BOUND * abs(share[one] - share[two])
            changes.append((weight, ((cost[one] - cost[two]) ** 2).sum(axis=1), change))
        off = max(float(abs(value - np.rint(value)).max()) for value in scaled)
        moves.append((rest, off, abs(found[one] - found[two]).max(axis=1), changes))
    return moves


def judge_many(game: Callable[..., SubgroupGame], vector_bound: Callable[..., float], search: Search) -> None:
    """Many negatives in the second cell, none in a subgroup; the record that is replaced lives in the first.

    A positive in the subgroup becomes a negative. Its cell's cost moves by 2 and by C times nearly 1, the other cell's
    by C times nearly 1: together by nearly √((2 + C)² + C²), which four records are too few to show. So it is for each
    of several subgroups, and divided by a public n that noisy counts need not add up to.
    """
    search.part("many neighbours")
    for others, bound, n, place, moved in _large_games(game):
        case = {"others": others, "bound": bound, "n": n, "profile and subgroup": place}
        far = Fraction(others, others + 1) * bound
        search.equal(moved, (2 + far) ** 2 + far**2, case)
        search.observe((Fraction(vector_bound(bound, n)) * n) ** 2 - moved, case)


@functools.cache
def _large_games(game: Callable[..., SubgroupGame]) -> list[tuple[int, int, int, Any, Fraction]]:
    """Return the other records, C, n, where the record lives, and n² times the squared change of the costs."""
    several = np.vectorize(Fraction, otypes=[object])(PROFILES)
    places, games = ((MEMBERS, 1, 0), (several, 2, 0), (several, 1, 1), (several, 3, 1)), []
    for others, times, (members, profile, subgroup) in itertools.product((10, 1000), (None, 3), places):
        n = (others + 1) * (times or 1)
        tables = np.full((2, 2, len(members), 2), Fraction(0), dtype=object)
        tables[:, 1, 0, 0] = Fraction(others)
        tables[0, 0, profile, 1] = tables[1, 0, profile, 0] = Fraction(1)
        one, two = (game(table, members, times and Fraction(n)) for table in tables)
        for bound in (1, BOUND, 40):
            weights = np.full(members.shape[1], Fraction(0), dtype=object)
            weights[subgroup] = Fraction(-bound)
            moved = sum(((one.costs(weights) - two.costs(weights)) * n) ** 2)
            games.append((others, bound, n, (profile, subgroup), moved))
    return games
