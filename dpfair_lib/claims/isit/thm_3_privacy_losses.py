"""What the check of ISIT, Theorem 3 (privacy), judges of the noisy rates alone: their losses and profiles."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpfair_lib.central.released_rates import MOVED_GROUPS, Rate, exponential_decay, rational_decay
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.central.rate_universe import (
    PARTS,
    cells,
    laplace_delta_by_integral,
    neighbours,
    product,
    rate_pairs,
)
from dpfair_lib.privacy.finite_laws import hockey_stick

ROOT = Fraction(9, 10)  # e^(−ε/12) of the group with the smaller ε, so that ε = 12 ln(10/9), about 1.26


def judge_losses(odds: Callable[..., Any], epsilon: Callable[..., Any], search: Search) -> None:
    """Judge the exact loss of one noisy rate, and of the pair under every relation."""
    _one_rate(odds, search)
    _one_large_group(odds, search)
    _one_rate_in_the_tails(odds, search)
    _all_neighbours(odds, epsilon, search)
    _three_groups(odds, epsilon, search)
    _larger_least_sizes(odds, epsilon, search)


@once
def _one_rate(odds: Callable[..., Any], search: Search) -> None:
    """The closed form is at least the ratio of every event of a lattice, and at most what finer ones can reach.

    Within a cell of width 1/12 the logarithm of the ratio moves by at most (m + n)ε/12.
    """
    search.part("one noisy rate")
    for root in (ROOT, Fraction(99, 100)):
        decay = rational_decay(root, PARTS)
        for before, after in rate_pairs():
            largest = odds(before, after, decay)
            chances = zip(cells(before, root), cells(after, root), strict=True)
            seen = max(one / two for one, two in chances)
            case = {"before": before, "after": after, "root": root, "largest ratio": largest}
            search.observe(largest - seen, case)
            search.observe(seen - largest * root ** (before.size + after.size), case)
    search.exhausts(
        "one noisy rate: all counts in groups of up to four, one record more, less or other, at two levels",
        cases=2 * 2 * len(list(rate_pairs())),
    )


@once
def _one_large_group(odds: Callable[..., Any], search: Search) -> None:
    """Where the divisor falls from m to m − 1 and nobody but the record that leaves is rejected."""
    search.part("one large group")
    for m, epsilon in itertools.product((10, 1000, 10**6), (0.01, 0.5, 3.0)):
        decay = exponential_decay(epsilon)
        loss = math.log(odds(Rate(m - 1, m), Rate(m - 1, m - 1), decay))
        closed = max(epsilon * (m - 1) / m + math.log1p(1 / (m - 1)), 0)
        search.equal(loss, closed, {"size": m, "epsilon": epsilon}, tolerance=1e-9)
        search.equal(
            math.log(odds(Rate(m - 1, m - 1), Rate(m - 1, m), decay)), epsilon, {"size": m}, tolerance=1e-9
        )


@once
def _one_rate_in_the_tails(odds: Callable[..., Any], search: Search) -> None:
    """Unclipped: the loss is unbounded where the divisors differ, and the same as clipped where they do not."""
    search.part("not clipped")
    decay = rational_decay(ROOT, PARTS)
    for before, after in rate_pairs():
        case = {"before": before, "after": after}
        free = odds(before, after, decay, clipped=False)
        far = [
            decay((before.size - after.size) * Fraction(t) - before.selected + after.selected)
            for t in (9, 99)
        ]  # P(rate ≥ t)/P′(rate ≥ t)
        search.agree(free == math.inf, far[1] > far[0], case)
        if before.size == after.size and max(before.selected, after.selected) <= before.size:
            search.agree(free == odds(before, after, decay), True, case)


@once
def _all_neighbours(odds: Callable[..., Any], epsilon: Callable[..., Any], search: Search) -> None:
    """The worst of all neighbouring data sets against the closed form: equal as fractions where it has no logarithm.

    Fixed divisors are 2 and 3, whatever the sizes; counted sizes are at least 1 and 2.
    """
    search.part("all neighbours")
    roots = (Fraction(1, 2), Fraction(99, 100))
    for root in roots:
        _all_neighbours_at(root, odds, epsilon, search)
    search.exhausts(
        "both rates: four relations, divisors fixed or counted, clipped or not, two levels, all neighbours of groups "
        "up to three",
        cases=4 * 2 * 2 * len(roots),
    )


def _all_neighbours_at(
    root: Fraction, odds: Callable[..., Any], epsilon: Callable[..., Any], search: Search
) -> None:
    levels = (Fraction(1), Fraction(2))  # ε₀ and ε₁, in units of 12 ln(1/root)
    decays = tuple(rational_decay(root ** int(level), PARTS) for level in levels)
    floats = [float(level) * PARTS * -math.log(root) for level in levels]
    ratio = functools.lru_cache(maxsize=None)(
        lambda a, before, after, clipped: odds(before, after, decays[a], clipped=clipped)
    )
    states = [
        (k, m, j, n) for m in range(1, 4) for n in range(2, 4) for k in range(m + 1) for j in range(n + 1)
    ]
    for relation, fixed, clipped in itertools.product(MOVED_GROUPS, (True, False), (True, False)):
        worst: Any = 1
        for state in states:
            for other in neighbours(state, relation):
                if not fixed and (other[1] < 1 or other[3] < 2):
                    continue
                rates = [
                    [Rate(s[2 * a], (2, 3)[a] if fixed else s[2 * a + 1]) for s in (state, other)]
                    for a in (0, 1)
                ]
                worst = max(worst, math.prod(ratio(a, *pair, clipped) for a, pair in enumerate(rates)))
        how = {"divisors": "fixed" if fixed else "counted", "clipped": clipped}
        case = {"relation": relation, "root": root} | how
        if fixed or relation == "replace-within-group":
            level = epsilon(levels, relation, least_sizes=None if fixed else (1, 2), clipped=clipped)
            search.equal(root ** -int(PARTS * level), worst, case)
        else:
            closed = epsilon(floats, relation, least_sizes=(1, 2), clipped=clipped)
            search.agree(closed == math.inf, worst == math.inf, case)
            if worst < math.inf:
                enough = sum(sorted(floats)[-MOVED_GROUPS[relation] :])
                _judge_closed(closed, math.log(worst), enough, case, search)


@once
def _three_groups(odds: Callable[..., Any], epsilon: Callable[..., Any], search: Search) -> None:
    """Three records of any prediction in any of three groups, fixed divisors: every neighbour, by its odds."""
    search.part("three groups")
    root, levels = Fraction(9, 10), (Fraction(2), Fraction(1), Fraction(3))
    decays = [rational_decay(root ** int(level), 1) for level in levels]
    kinds = list(itertools.product(range(3), (0, 1)))  # a record: its group, whether it is selected

    @functools.cache
    def ratio(group: int, before: int, after: int) -> Any:
        return odds(Rate(before, 3), Rate(after, 3), decays[group], clipped=False)

    def selected(records: tuple[tuple[int, int], ...]) -> list[int]:
        return [records.count((group, 1)) for group in range(3)]

    worst: dict[str, Any] = dict.fromkeys(MOVED_GROUPS, 1)
    for records in itertools.product(kinds, repeat=3):
        before, (was, *rest) = selected(records), records
        for now in (None, *kinds):
            after = selected((*rest,) if now is None else (now, *rest))
            loss = math.prod(ratio(a, before[a], after[a]) for a in range(3))
            for relation in _relations_of(was, now):
                worst[relation] = max(worst[relation], loss)
    for relation, loss in worst.items():
        found = epsilon(levels, relation)
        search.equal(root ** -int(found), loss, {"relation": relation, "ε of the groups": levels})
    search.exhausts("three groups, three records: all neighbours under four relations", cases=len(worst))


def _relations_of(was: tuple[int, int], now: tuple[int, int] | None) -> list[str]:
    """Return under which relations a record may become another one, or go."""
    if now is None:
        return ["add-remove"]
    return ["replace-one", "replace-within-group" if was[0] == now[0] else "sensitive-attribute"]


@once
def _larger_least_sizes(odds: Callable[..., Any], epsilon: Callable[..., Any], search: Search) -> None:
    """Counted sizes of at least (m, n), clipped: the worst of all neighbours of the smallest and the next sizes."""
    search.part("larger least sizes")
    for floats, least in (
        ((0.3, 0.2), (2, 5)),
        ((0.02, 0.7), (6, 3)),
        ((0.05, 0.04), (9, 9)),
        ((1.5, 0.1), (1, 4)),
    ):
        decays = [exponential_decay(level) for level in floats]
        ratio = functools.cache(lambda a, before, after: odds(before, after, decays[a]))  # noqa: B023
        worst = dict.fromkeys(MOVED_GROUPS, 0.0)
        sizes = [range(size, size + 2) for size in least]
        states = [
            (k, m, j, n) for m in sizes[0] for n in sizes[1] for k in range(m + 1) for j in range(n + 1)
        ]
        for state, relation in itertools.product(states, MOVED_GROUPS):
            for other in neighbours(state, relation):
                if other[1] >= least[0] and other[3] >= least[1]:
                    pairs = [[Rate(s[2 * a], s[2 * a + 1]) for s in (state, other)] for a in (0, 1)]
                    loss = sum(math.log(ratio(a, *pair)) for a, pair in enumerate(pairs))
                    worst[relation] = max(worst[relation], loss)
        for relation, loss in worst.items():
            enough = sum(sorted(floats)[-MOVED_GROUPS[relation] :])
            case = {"relation": relation, "least sizes": least, "ε of the groups": floats}
            found = epsilon(floats, relation, least_sizes=least)
            if relation == "replace-within-group":
                search.equal(found, loss, case, tolerance=1e-12)
            else:
                _judge_closed(found, loss, enough, case, search)


def _judge_closed(closed: float, worst: float, fixed: float, case: dict[str, Any], search: Search) -> None:
    """Where the small groups here lose more than with fixed divisors, they are the worst; else large ones are."""
    if worst > fixed + 1e-12:
        search.equal(closed, worst, case, tolerance=1e-13)
    else:
        search.observe(closed - worst, case, tolerance=1e-13)
        search.equal(closed, fixed, case, tolerance=1e-13)


@once
def judge_geometric(law: Callable[..., Any], epsilon: Callable[..., Any], search: Search) -> None:
    """Integer noise: every count up to 4, in fractions; and sizes that show where they are counted."""
    search.part("geometric noise")
    for ratio, top in itertools.product((Fraction(1, 2), Fraction(9, 10)), range(1, 5)):
        for k in range(top):
            one, two = law(k, top, ratio), law(k + 1, top, ratio)
            case = {"ratio": ratio, "top": top, "selected": k}
            search.equal(sum(one), 1, case)
            search.equal(max(map(_quotient, one, two)), 1 / ratio, case)
            search.equal(max(map(_quotient, two, one)), 1 / ratio, case)
    for m, selected in itertools.product(range(1, 5), (0, 1)):  # the record that arrives is selected, or not
        rates, others = (
            {Fraction(c, size): p for c, p in enumerate(law(k, size, Fraction(1, 2)))}
            for k, size in ((0, m), (selected, m + 1))
        )
        shown = any(p > 0 and others.get(rate, 0) == 0 for rate, p in rates.items()) or any(
            p > 0 and rates.get(rate, 0) == 0 for rate, p in others.items()
        )
        loss = epsilon((1.0, 1.0), "add-remove", mechanism="geometric", least_sizes=(m, m))
        search.agree(loss == math.inf, shown, {"size": m, "selected": selected})
    # pairs of counts next to each other, and records that arrive
    cases = 3 * 2 * (1 + 2 + 3 + 4) + 4 * 2
    search.exhausts("integer noise at two levels on all counts in groups of up to four", cases=cases)


def _quotient(one: Fraction, two: Fraction) -> Fraction | float:
    return one / two if two else (math.inf if one else 0)


@once
def judge_profiles(law: Callable[..., Any], delta: Callable[..., Any], search: Search) -> None:
    """δ(ε): the sum over all clipped integer counts, and an integral over clipped Laplace noise."""
    search.part("profile, geometric noise")
    for r_0, r_1 in itertools.combinations_with_replacement(
        (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)), 2
    ):
        epsilons = [-math.log(r) for r in (r_0, r_1)]
        one, two = (product(law(1 + s, 3, r_0), law(1 - s, 2, r_1)) for s in (0, 1))
        single, other = law(1, 3, min(r_0, r_1)), law(2, 3, min(r_0, r_1))
        for odds in (Fraction(1), Fraction(11, 10), Fraction(2), Fraction(3), Fraction(9)):
            case = {"ratios": (r_0, r_1), "odds": odds}
            at = math.log(odds)
            closed = delta(epsilons, "replace-one", at, mechanism="geometric")
            search.equal(closed, float(hockey_stick(two, one, odds)), case, tolerance=1e-14)
            closed = delta(epsilons, "replace-within-group", at, mechanism="geometric")
            search.equal(closed, float(hockey_stick(single, other, odds)), case, tolerance=1e-14)
    search.part("profile, Laplace noise")
    levels = (0.05, 0.3, 1.0, 2.5)
    for first, second, share in itertools.product(levels, levels, (0.0, 0.2, 0.5, 0.8, 0.99, 1.1)):
        at = share * (first + second)
        case = {"epsilons": (first, second), "at": at}
        closed = delta((first, second), "replace-one", at)
        search.equal(closed, laplace_delta_by_integral(first, second, at), case, tolerance=1e-13)
        single = delta((first, second), "replace-within-group", at)
        largest = max(-math.expm1(min((at - one) / 2, 0)) for one in (first, second))
        search.equal(single, largest, case, tolerance=1e-15)
    level = -PARTS * math.log(ROOT)
    for size, steps in ((m, i) for m in range(1, 5) for i in range(m, 7, m)):
        odds = ROOT ** -(PARTS - 2 * steps)  # the event of a larger loss ends on the lattice
        closed = delta((level, level), "replace-within-group", math.log(odds))
        for k in range(size):  # clipped, in fractions: the profile is that of the unclipped noise
            clipped = hockey_stick(cells(Rate(k, size), ROOT), cells(Rate(k + 1, size), ROOT), odds)
            case = {"selected": k, "size": size, "odds": odds}
            search.equal(clipped, 1 - ROOT**steps, case)
            search.equal(float(clipped), closed, case, tolerance=1e-14)
