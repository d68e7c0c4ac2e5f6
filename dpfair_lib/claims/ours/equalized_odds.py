"""Ours: the cheapest rules with equalized odds, relaxed by γ, for any number of groups."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.postprocessing.bands import cheapest_band
from dpfair_lib.postprocessing.curves import cheapest_rules
from dpfair_lib.postprocessing.odds import OddsRules, cheapest_odds
from dpfair_lib.postprocessing.thresholds import Thresholds

PARTS = 4  # chances of the enumerated rules go in these
GAPS = (0, 4)  # in 24ths
FIRST = 40  # of the pairs of tables
SOLVED, EXACT = 1e-7, 1e-9
Table = np.ndarray  # of shape (levels, 3): people of true label 0, of 1, and the old label; score ascending
PERSON = [(1, 0), (0, 1), (1, 1)]  # who may stand at a level


def check(
    *,
    cheapest: Callable[..., OddsRules] = cheapest_odds,
    thresholds: Callable[..., Thresholds] = Thresholds.of,
    search: Search,
) -> Evidence:
    """Compare the rules with every monotone rule on a grid, with programs over all monotone rules, and with others."""

    def solved(tables: Sequence[Table], kind: str, gamma: float) -> OddsRules:
        return cheapest([thresholds(t[:, 0], t[:, 1], *_costs(t, kind)) for t in tables], gamma)

    programs = search.aside()
    _every_monotone_rule(solved, search, lambda: _programs(solved, programs))
    _labels_alone(solved, search)
    search.include(programs)
    _what_is_needed(solved, search)
    return search.evidence()


def _costs(table: Table, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return what it costs to give the label 1, and the label 0, to everybody at each level."""
    if kind == "errors":
        return table[:, 0], table[:, 1]
    size = table[:, 0] + table[:, 1]
    return np.where(table[:, 2] == 0, size, 0), np.where(table[:, 2] == 1, size, 0)


def _given(table: Table, kind: str, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both rates, and the cost, of rules: chances of the label 1 at each level, of shape (rules, levels)."""
    if_one, if_zero = _costs(table, kind)
    false, true = (chances @ table[:, side] / table[:, side].sum() for side in (0, 1))
    return false, true, chances @ if_one + (chances.max(initial=1) - chances) @ if_zero


def _wholes(table: Table, kind: str, rules: np.ndarray) -> np.ndarray:
    """Return the rates in 24ths, and the cost in quarters, of rules in quarters: whole numbers, three columns."""
    if_one, if_zero = _costs(table, kind)
    rates = [6 * (rules @ table[:, side]) // table[:, side].sum() for side in (0, 1)]
    return np.stack([*rates, rules @ if_one + (PARTS - rules) @ if_zero], axis=1)


def _against_all(
    solved: Callable[..., OddsRules],
    tables: tuple[Table, Table],
    kind: str,
    rules: np.ndarray,
    search: Search,
) -> None:
    """No pair of rules whose rates are within γ costs less."""
    one, other = (_wholes(t, kind, rules) for t in tables)
    gaps = abs(one[:, None, :2] - other[None, :, :2]).max(axis=2)
    costs = one[:, None, 2] + other[None, :, 2]
    for gap in GAPS:
        case = {"tables": [t.tolist() for t in tables], "cost": kind, "gamma": f"{gap}/24"}
        search.observe(
            costs[gaps <= gap] / PARTS - solved(tables, kind, gap / 24).cost, case, tolerance=EXACT
        )


def _every_monotone_rule(solved: Callable[..., OddsRules], search: Search, then: Callable[[], None]) -> None:
    """Go through the universe. After its first pairs come the programs: only they see rules that cost too little."""
    search.part("every monotone rule")
    rules = np.array([r for r in itertools.product(range(PARTS + 1), repeat=3) if list(r) == sorted(r)])
    tables = _tables(itertools.product(PERSON, repeat=3), (0, 1, 1))
    pairs = list(itertools.combinations_with_replacement(tables, 2))
    for at, (pair, kind) in enumerate(itertools.product(pairs, ("changes", "errors"))):
        if at == FIRST:
            then()
        _against_all(solved, pair, kind, rules, search)
    search.exhausts(
        "two groups of three levels, one old label 0 and two 1, with people of one or both true labels at each: all "
        "monotone rules with chances in quarters whose rates are within 0 or within 1/6",
        cases=len(pairs) * 2 * len(GAPS),
    )


def _tables(people: Iterable[Sequence[tuple[int, int]]], labels: tuple[int, ...]) -> list[Table]:
    """Return those tables that have both true labels."""
    found = [np.column_stack([np.array(p), labels]) for p in people]
    return [t for t in found if t[:, 0].any() and t[:, 1].any()]


def _labels_alone(solved: Callable[..., OddsRules], search: Search) -> None:
    """Rules, monotone or not, see the old label alone; true positive rates are no smaller than false ones."""
    search.part("the old label alone")
    rules = np.array(list(itertools.product(range(PARTS + 1), repeat=2)))
    counts = [(a, b) for a in range(3) for b in range(3) if a + b]
    tables = _tables(itertools.product(counts, repeat=2), (0, 1))
    tables = [t for t in tables if t[1, 1] * t[:, 0].sum() >= t[1, 0] * t[:, 1].sum() and t[:, 1].sum() < 4]
    tables = [t for t in tables if t[:, 0].sum() < 4]
    pairs = list(itertools.combinations_with_replacement(tables, 2))
    for pair in pairs:
        _against_all(solved, pair, "changes", rules, search)
    search.exhausts(
        "two groups whose old label alone is seen, with up to three people of each true label, at most two of them at "
        "a level, and TPR ≥ FPR: all rules with chances in quarters whose rates are within 0 or within 1/6",
        cases=len(pairs) * len(GAPS),
    )


def _programs(solved: Callable[..., OddsRules], search: Search) -> None:
    """Two to five groups of up to six levels: a program over the chances of the levels, and what is returned."""
    apart = 1.0
    for at in range(60 * search.effort):
        tables = [_random_table(search) for _ in range(int(search.rng.integers(2, 6)))]
        gamma, kind = float(search.rng.choice([0.0, 0.05, 0.2])), ("changes", "errors")[at % 2]
        case = {"tables": [t.tolist() for t in tables], "cost": kind, "gamma": gamma}
        found = solved(tables, kind, gamma)
        search.part("linear programs over all monotone rules")
        search.equal(found.cost, _by_program(tables, kind, gamma), case, tolerance=SOLVED)
        search.part("what is returned")
        _returned(found, tables, kind, gamma, case, search)
        search.part("one rate alone")
        alone = max(_one_band(tables, kind, gamma, side) for side in (0, 1))
        search.observe(found.cost - alone, case, tolerance=SOLVED)
        apart = max(apart, found.cost / alone if alone > 0.5 else 1.0)
    search.fact("apart", round(apart, 2), "the cost of both bands over that of the dearer one alone, at most")


def _random_table(search: Search) -> Table:
    size = int(search.rng.integers(2, 7))
    people = search.rng.integers(0, 6, size=(size, 2))
    people[0, 0], people[-1, 1] = people[0, 0] + 1, people[-1, 1] + 1
    people[:, 0] += people.sum(axis=1) == 0
    return np.column_stack([people, np.arange(size) >= search.rng.integers(0, size + 1)])


def _returned(
    found: OddsRules, tables: Sequence[Table], kind: str, gamma: float, case: dict[str, Any], search: Search
) -> None:
    """The mixtures have rates within γ and the cost that is said; the bound is no higher, and next to it."""
    rates, cost = [], 0.0
    for table, mixture in zip(tables, found.mixtures, strict=True):
        chances = np.zeros(len(table))
        for count, chance in mixture:
            chances[len(table) - count :] += chance
        search.equal(sum(chance for _, chance in mixture), 1.0, case, tolerance=EXACT)
        false, true, own = _given(table, kind, np.minimum(chances, 1.0)[None])
        rates.append((false[0], true[0]))
        cost += float(own[0])
    search.observe(gamma - float(np.ptp(rates, axis=0).max()), case, tolerance=SOLVED)
    search.equal(found.cost, cost, case, tolerance=SOLVED)
    search.observe(found.cost - found.bound, case)
    search.equal(found.cost, found.bound, case, tolerance=SOLVED)


def _one_band(tables: Sequence[Table], kind: str, gamma: float, side: int) -> float:
    """Return the least cost with which the rate of one true label is within γ."""
    curves = [
        cheapest_rules(t[:, side].astype(float), *(c.astype(float) for c in _costs(t, kind))) for t in tables
    ]
    return float(cheapest_band(curves, gamma).cost)


def _by_program(tables: Sequence[Table], kind: str, gamma: float, monotone: bool = True) -> float:
    """Return the least cost of rules, which are chances of the label 1 at each level."""
    from scipy.optimize import linprog

    ends = np.cumsum([0, *(len(t) for t in tables)])
    rates = np.zeros((2, len(tables), ends[-1]))
    costs, fixed, limits = np.zeros(ends[-1]), 0.0, []
    for at, table in enumerate(tables):
        own = slice(ends[at], ends[at + 1])
        rates[:, at, own] = [table[:, side] / table[:, side].sum() for side in (0, 1)]
        if_one, if_zero = _costs(table, kind)
        costs[own], fixed = if_one - if_zero, fixed + if_zero.sum()
        steps = np.arange(ends[at], ends[at + 1] - 1) if monotone else ()
        limits += [np.eye(ends[-1])[i] - np.eye(ends[-1])[i + 1] for i in steps]
    pairs = itertools.permutations(range(len(tables)), 2)
    gaps = [rate[a] - rate[b] for a, b in pairs for rate in rates]
    room = np.repeat([gamma, 0.0], [len(gaps), len(limits)])
    return float(linprog(costs, np.array(gaps + limits), room, bounds=(0, 1), method="highs-ds").fun) + fixed


def _what_is_needed(solved: Callable[..., OddsRules], search: Search) -> None:
    search.part("what cannot be left out")
    # in the first group those of true label 1 have the old label 0, and the others 1
    turned = [np.array([[0, 1, 0], [1, 0, 1]]), np.array([[1, 0, 0], [1, 1, 1]])]
    search.needs(
        "TPR ≥ FPR, for rules that see the old label alone: with one group the other way round",
        slack=_by_program(turned, "changes", 0.0, monotone=False) - solved(turned, "changes", 0.0).cost,
        case={"tables": [t.tolist() for t in turned], "cost": "changes", "gamma": 0},
    )
    scored = [np.array([[1, 0, 0], [0, 2, 1], [2, 0, 1]]), np.array([[2, 1, 0], [1, 2, 1]])]
    search.needs(
        "that nobody who stands higher has a lower chance: with scores, against all rules",
        slack=_by_program(scored, "changes", 0.0, monotone=False) - solved(scored, "changes", 0.0).cost,
        case={"tables": [t.tolist() for t in scored], "cost": "changes", "gamma": 0},
    )


def _unmixed(groups: Sequence[Thresholds], gamma: float) -> OddsRules:
    """One threshold for each group, of those within γ the cheapest."""
    best = OddsRules(np.inf, -np.inf, [])
    for chosen in itertools.product(*(range(len(g.costs)) for g in groups)):
        rates = [(g.false_positive[i], g.true_positive[i]) for g, i in zip(groups, chosen, strict=True)]
        cost = sum(float(g.costs[i]) for g, i in zip(groups, chosen, strict=True))
        if np.ptp(rates, axis=0).max() <= gamma + EXACT and cost < best.cost:
            best = OddsRules(cost, cost, [[(i, 1.0)] for i in chosen])
    return best


def _one_rate(groups: Sequence[Thresholds], gamma: float, kept: str, dropped: str) -> OddsRules:
    return cheapest_odds([g._replace(**{dropped: getattr(g, kept)}) for g in groups], gamma)


FAULTS: dict[str, dict[str, Any]] = {
    "true positive rates alone": {
        "cheapest": lambda g, c: _one_rate(g, c, "true_positive", "false_positive")
    },
    "false positive rates alone": {
        "cheapest": lambda g, c: _one_rate(g, c, "false_positive", "true_positive")
    },
    "a band twice as wide": {"cheapest": lambda groups, gamma: cheapest_odds(groups, min(2 * gamma, 1.0))},
    "exact odds for every γ": {"cheapest": lambda groups, gamma: cheapest_odds(groups, 0 * gamma)},
    "no mixture of thresholds": {"cheapest": _unmixed},
    "a bound that is the cost and a little": {
        "cheapest": lambda *given: (r := cheapest_odds(*given))._replace(bound=r.cost * (1 + 1e-6) + 1e-6)
    },
    "rules of a group for another": {
        "cheapest": lambda *given: (r := cheapest_odds(*given))._replace(mixtures=r.mixtures[::-1])
    },
    "from the lowest score up": {"thresholds": lambda *parts: Thresholds.of(*(part[::-1] for part in parts))},
    "costs exchanged": {
        "thresholds": lambda zeros, ones, if_one, if_zero: Thresholds.of(zeros, ones, if_zero, if_one)
    },
}


CLAIM = Claim(
    id="ours.equalized-odds",
    where="Any number of groups, Result 4",
    statement="Let every group have both labels. Some rule satisfies equalized odds for every γ ≥ 0 and every "
    "classifier. The least cost of monotone rules is the value of a linear program over the shares of each group's "
    "thresholds. It is at least their cost of the cheapest band for true positive rates alone, and at least that for "
    "false positive rates alone. If rules see the old label alone, and TPR ≥ FPR in every group, no rule changes fewer "
    "predictions.",
    verdict="holds",
    finding="Proved, and compared with every monotone rule of a small universe, with every rule of another, and with "
    "programs over the chances at all levels. With scores, or where TPR < FPR, rules that are not monotone can cost "
    "less.",
    headline="Equalized odds can always be had. The cheapest monotone rules mix thresholds of each group, and a linear "
    "program finds them.",
    kind="theorem",
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
