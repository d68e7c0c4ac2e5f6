"""CGKM, § 3: which of fair, accurate and private go together in pairs, and what the triple needs."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    QUARTERS,
    gap_by_definition,
    law_count,
    laws,
    reference,
)
from dpfair_lib.compatibility.impossibility.acceptable import (
    acceptable_table,
    hypothesis_grid,
    neighbor_table,
    statistical_distance,
)
from dpfair_lib.compatibility.impossibility.chains import coin_chain
from dpfair_lib.compatibility.impossibility.constructions import cell_pair, curve_family, sign_pair
from dpfair_lib.compatibility.impossibility.criteria import beats_constants, fair_within
from dpfair_lib.compatibility.impossibility.feasibility import (
    is_contradiction,
    keeps_promises,
    pure_dp_feasible,
)
from dpfair_lib.populations import Population

FAIR, ACCURATE = fair_within("opportunity"), beats_constants()
ZETA = Fraction(1, 100)
NOT_CONSTANT = [h for h in hypothesis_grid(2) if 0 < h.sum() < 4]


def check(
    *,
    feasible: Callable[..., Any] = pure_dp_feasible,
    opposite: Callable[..., tuple[Population, Population]] = sign_pair,
    cell: Callable[..., tuple[Population, Population]] = cell_pair,
    curve: Callable[..., list[Population]] = curve_family,
    accuracy_chain: Callable[..., Any] = coin_chain,
    search: Search,
) -> Evidence:
    """Judge each pair, and then the three together, by the smallest families that decide."""
    _fair_and_private(feasible, search)
    _on_curves(curve, search)
    _accurate_and_private(feasible, opposite, search)
    _along_chains(accuracy_chain, search)
    _dominated(feasible, search)
    _fair_and_accurate(search)
    _all_three(feasible, cell, search)
    _other_distances(opposite, cell, curve, search)
    return search.evidence()


def printed_slack(denominator: int) -> int:
    """Return −1 if a constant hypothesis is exactly fair on all laws in such steps: then the pair goes together."""
    fair = all(gap_by_definition(law.table, [[1, 1], [1, 1]]) == 0 for law in laws(denominator))
    return -1 if fair else 0


def constant_slack(denominator: int, h: int) -> int:
    """Return −1 if hypothesis number h is exactly fair on all laws in such steps, by definition; else 0."""
    values = hypothesis_grid(2)[h].tolist()
    return -int(all(gap_by_definition(law.table.tolist(), values) == 0 for law in laws(denominator)))


@once
def _fair_and_private(feasible: Callable[..., Any], search: Search) -> None:
    """Always fair and private: the constants can."""
    search.part("fair and private")
    hypotheses = hypothesis_grid(2)
    answer = feasible(laws(6), hypotheses, zeta=Fraction(1, 6), epsilon=0, fair=FAIR, accurate=None)
    search.agree(answer.feasible, True, {"family": "sixths"})
    promised = answer.feasible and keeps_promises(answer.mechanism, answer.acceptable, answer.neighbors, 1)
    search.agree(promised, True, {"family": "sixths", "mechanism": "exact, ε = δ = 0"})
    constant = np.array([len(set(h.flat)) == 1 for h in hypotheses])
    search.agree(answer.acceptable.all(axis=0), constant, {"fair on all laws": hypotheses.tolist()})
    search.against(-int(answer.feasible), {"denominator": 6}, verify=printed_slack)
    always = answer.acceptable.all(axis=0)
    # to output h always is private, and every h that is not constant is unfair on some law
    case = {"denominator": 6, "h": np.arange(16)}
    search.under(~constant, -always.astype(np.int64), case, verify=constant_slack)
    search.exhausts("all distributions in sixths with the 16 deterministic hypotheses", cases=32)
    search.fact(
        "always_fair",
        int(always.sum()),
        "hypotheses of 16 that are exactly fair on every distribution in sixths: constants",
    )


@once
def _on_curves(curve: Callable[..., Any], search: Search) -> None:
    """On a ball of laws nothing but the constants is always fair."""
    search.part("fair and private, on curves")
    # randomised: fair on at most 2·2 − 2 laws of the curve unless constant, so three of them suffice
    grid = hypothesis_grid(2, levels=QUARTERS[::2])
    constant = np.array([len(set(h.flat)) == 1 for h in grid])
    inner = [law for law in laws(7) if (law.table[..., 1] > 0).all()]
    for law in inner:
        family = curve(law, ZETA, 5)
        case = {"table": law.table.tolist()}
        for other in family:
            search.observe(ZETA - statistical_distance(law, other), case)
        times = acceptable_table(family, grid, FAIR, None).sum(axis=0)
        search.agree(times == 5, constant, case)
        search.observe(2 - times[~constant].astype(np.int64), case | {"h": grid[~constant]})
    # counted apart: seven units, one at least on each of the four (x, a, 1) and in each (a, 0)
    count = sum(
        1
        for units in itertools.product(range(3), repeat=8)
        if sum(units) == 7 and all(units[4:]) and units[0] + units[1] and units[2] + units[3]
    )
    search.exhausts(
        "all distributions in sevenths with every (x, a, 1), five distributions of the curve around each, "
        "all hypotheses with values 0, ½, 1",
        cases=2 * count * (len(grid) - 3),
    )
    search.fact(
        "curve_laws",
        count,
        "distributions whose ball was examined for hypotheses fair on all of it: constants only",
    )


@once
def _other_distances(opposite: Any, cell: Any, curve: Any, search: Search) -> None:
    """The pairs are exactly as far apart as they may be, and the laws of the curve within it, at any distance."""
    search.part("other distances")
    law = next(law for law in laws(7) if (law.table[..., 1] > 0).all())
    for zeta, count in ((Fraction(1, 50), 3), (Fraction(1, 1000), 7)):
        for name, pair in (("opposite", opposite), ("cell", cell)):
            search.equal(statistical_distance(*pair(zeta)), zeta, {"pair": name, "zeta": zeta})
        family = curve(law, zeta, count)
        search.equal(len({str(other.table.tolist()) for other in family}), count, {"zeta": zeta})
        for other in family:
            search.observe(zeta - statistical_distance(law, other), {"zeta": zeta, "count": count})


@once
def _accurate_and_private(feasible: Callable[..., Any], opposite: Callable[..., Any], search: Search) -> None:
    """Always better than the constants and private: two laws forbid it, for randomised hypotheses too."""
    search.part("accurate and private")
    plus, minus = opposite(ZETA)
    search.equal(statistical_distance(plus, minus), ZETA, {"pair": "opposite"})
    surplus = [law.table[..., 1] - law.table[..., 0] for law in (plus, minus)]
    # Σ h·σ > 0 cannot hold for σ and for −σ
    search.agree((surplus[0] + surplus[1] == 0).ravel(), np.ones(4, dtype=bool), {"pair": "opposite signs"})
    for notion in ("opportunity", "odds", "parity"):
        met = acceptable_table((plus, minus), hypothesis_grid(2), fair_within(notion), ACCURATE)
        search.agree(met.any(axis=1), np.ones(2, dtype=bool), {"pair": "opposite", "notion": notion})
    for levels, fair in itertools.product(((0, 1), QUARTERS), (None, FAIR)):
        grid = hypothesis_grid(2, levels=levels)
        answer = feasible((plus, minus), grid, zeta=ZETA, epsilon=3.0, fair=fair, accurate=ACCURATE)
        case = {"levels": levels, "fair": fair is not None}
        search.agree(answer.acceptable.any(axis=1), np.ones(2, dtype=bool), case)
        search.agree(answer.feasible, False, case)
        proved = not answer.feasible and is_contradiction(
            answer.infeasible, answer.acceptable, answer.neighbors, answer.factor
        )
        search.agree(proved, True, case)


@once
def _along_chains(chain: Callable[..., Any], search: Search) -> None:
    """Along a chain of neighbours the first hypothesis is accurate up to the switch, the second from there on."""
    search.part("accurate and private, chains")
    pairs = list(itertools.combinations(NOT_CONSTANT, 2))
    for h, g in pairs:
        _one_chain(chain, h, g, Fraction(1, 4), search)
    search.exhausts("all 91 pairs of non-constant hypotheses on two points, ζ = ¼", cases=91 * 4)
    for (h, g), zeta in itertools.product(pairs[::9], (Fraction(1, 11), Fraction(3, 4))):
        _one_chain(chain, h, g, zeta, search)


def _one_chain(
    chain: Callable[..., Any], h: np.ndarray, g: np.ndarray, zeta: Fraction, search: Search
) -> None:
    between, switch = chain(h, g, zeta)
    case = {"h": h.tolist(), "g": g.tolist(), "zeta": zeta}
    met = acceptable_table(between, np.stack([h, g]), None, ACCURATE)
    search.agree(met[:switch, 0], np.ones(switch, dtype=bool), case)
    search.agree(met[switch:, 1], np.ones(len(met) - switch, dtype=bool), case)
    search.agree(bool(met[0, 1] or met[-1, 0]), False, case)
    near = neighbor_table(between, zeta)[np.arange(len(met) - 1), np.arange(1, len(met))]
    search.agree(near, np.ones(len(near), dtype=bool), case)


@once
def _dominated(feasible: Callable[..., Any], search: Search) -> None:
    """A randomised hypothesis may be accurate only where a deterministic one is: then they do go together."""
    search.part("accurate and private, one within the other")
    # h and ½h + ¼ are not constant, but h does wherever the other does: so much for randomised hypotheses
    for h in NOT_CONSTANT:
        pair = np.stack([h * Fraction(1), h * Fraction(1, 2) + Fraction(1, 4)])
        met = acceptable_table(laws(6), pair, None, ACCURATE)
        family = [law for law, row in zip(laws(6), met, strict=True) if row.any()]
        answer = feasible(family, pair, zeta=Fraction(1, 6), epsilon=0, fair=None, accurate=ACCURATE)
        case = {"h": h.tolist(), "other": "h/2 + 1/4"}
        search.agree(answer.acceptable[:, 0], np.ones(len(family), dtype=bool), case)
        search.agree(bool(answer.acceptable[:, 1].any()), True, case)
        search.agree(answer.feasible, True, case)


@once
def _fair_and_accurate(search: Search) -> None:
    """Without privacy: on which laws some deterministic hypothesis is accurate, and on which fair as well."""
    search.part("fair and accurate")
    hypotheses = hypothesis_grid(2)
    accurate = acceptable_table(laws(6), hypotheses, None, ACCURATE)
    both = acceptable_table(laws(6), hypotheses, FAIR, ACCURATE)
    gaps, errors, constant = reference(6)
    better = errors < constant[:, None]
    at, h = np.indices(better.shape)
    search.agree(accurate.ravel(), better.ravel(), {"law": at.ravel(), "h": h.ravel()})
    search.agree(both.ravel(), (better & (gaps == 0)).ravel(), {"law": at.ravel(), "h": h.ravel()})
    search.exhausts(
        "all distributions in sixths and all 16 hypotheses", cases=2 * law_count(6) * len(hypotheses)
    )
    search.fact("laws_in_sixths", len(accurate), "distributions in sixths with people in all four cells")
    search.fact(
        "accurate_on", int(accurate.any(axis=1).sum()), "of these: some hypothesis beats the constants"
    )
    search.fact("fair_and_accurate_on", int(both.any(axis=1).sum()), "of these: one that is also fair")


@once
def _all_three(feasible: Callable[..., Any], cell: Callable[..., Any], search: Search) -> None:
    """Fair on two neighbouring laws and accurate on the first alone: impossible, randomised or not."""
    search.part("fair, accurate and private")
    first, second = cell(ZETA)
    search.equal(statistical_distance(first, second), ZETA, {"pair": "cell"})
    # Σ h·σ on the first law is a multiple of the two gaps' difference, which is 0
    surplus = first.table[..., 1] - first.table[..., 0]
    rates = [law.table[..., 1] / law.table[..., 1].sum(axis=0) for law in (first, second)]
    moved = rates[1] - rates[0]
    scale = surplus[1, 1] / moved[1, 1] if moved[1, 1] else Fraction(0)
    search.agree((surplus == scale * moved).ravel(), np.ones(4, dtype=bool), {"pair": "cell", "scale": scale})
    for levels in ((0, 1), QUARTERS):
        grid = hypothesis_grid(2, levels=levels)
        on_first = acceptable_table([first], grid, FAIR, ACCURATE)[0]
        on_both = on_first & acceptable_table([second], grid, FAIR, None)[0]
        search.agree(bool(on_first.any()), True, {"levels": levels})
        search.agree(on_both, np.zeros(len(grid), dtype=bool), {"levels": levels})
    for law in laws(5)[::6]:
        met = acceptable_table([law], hypothesis_grid(2), FAIR, ACCURATE)[0]
        if met.any():  # one law alone forbids nothing: two are the fewest
            one = feasible([law], hypothesis_grid(2), zeta=ZETA, epsilon=0, fair=FAIR, accurate=ACCURATE)
            search.agree(one.feasible, True, {"table": law.table.tolist()})


def _never(*arguments: Any, **options: Any) -> Any:
    return dataclasses.replace(pure_dp_feasible(*arguments, **options), feasible=False)


def _without_fairness(*arguments: Any, **options: Any) -> Any:
    return pure_dp_feasible(*arguments, **(options | {"fair": None}))


def _line(population: Population, zeta: Fraction, count: int) -> list[Population]:
    """The positives of one group alone move, along a line."""
    family = []
    for number in range(1, count + 1):
        table = population.table.copy()
        moved = min(zeta, table[0, 1, 1]) * Fraction(number, 2 * count)
        table[0, 1, 1] -= moved
        table[1, 1, 1] += moved
        family.append(Population.from_table(table))
    return family


FAULTS: dict[str, dict[str, Any]] = {
    "no pair with fairness": {"feasible": _never},
    "fairness forgotten": {"feasible": _without_fairness},
    "pair twice as far apart": {"opposite": lambda zeta: sign_pair(2 * zeta)},
    "the same sign twice": {"opposite": lambda zeta: (sign_pair(zeta)[0], sign_pair(3 * zeta)[0])},
    "positives of the other group moved": {
        "cell": lambda zeta: tuple(
            Population.from_table(law.table if number == 0 else law.table[:, ::-1] + 0 * law.table)
            for number, law in enumerate(cell_pair(zeta))
        )
    },
    "nothing moved": {"cell": lambda zeta: (cell_pair(zeta)[0], cell_pair(zeta)[0])},
    "the positives of one group alone move": {"curve": _line},
    "curve leaves the ball": {"curve": lambda law, zeta, count: curve_family(law, 100 * zeta, count)},
    "chains in steps of a quarter": {
        "accuracy_chain": lambda h, g, zeta: coin_chain(h, g, Fraction(1, 4) + 0 * zeta)
    },
    "chain in the opposite direction": {"accuracy_chain": lambda h, g, zeta: coin_chain(g, h, zeta)},
    "chain without its middle": {
        "accuracy_chain": lambda h, g, zeta: ([coin_chain(h, g, zeta)[0][at] for at in (0, -1)], 1)
    },
}


CLAIM = Claim(
    id="cgkm.which-pairs",
    where="§ 3, opening paragraphs; § 2.3; § 4, first paragraph",
    statement="Exact fairness and differential privacy exclude each other already as a pair, even with "
    "full distributional access; Theorem 1 is stated for the triple with accuracy beyond "
    "every constant classifier.",
    statement_uses=("cgkm.definitions",),
    proof_uses=("cgkm.thm-1.statement",),
    verdict="corrected",
    finding="Fair and private go together: constants. If all (x, a, y) occur, nothing else is fair on all of "
    "a ball of distributions, randomised or not; non-constant h get probability δ at most, together. Then "
    "accurate and private exclude each other without fairness, once two deterministic h in H are not "
    "constant. Two neighbouring distributions show each conflict.",
    chapter="cgkm-thm-1",
    headline="Fair and private go together: constants have both. Accurate and private exclude each other "
    "even without fairness.",
    witness="All distributions with probabilities in steps of 1/{denominator}: a constant is exactly fair on "
    "each, and it needs no data.",
    kind="condition",
    impact="conclusion",
    because="The paper's title of § 3 is that exact fairness and privacy exclude each other; the "
    "constants have both, and the conflict is with accuracy.",
    shown_by="always_fair",
    errata=(
        Erratum(
            where="§ 2.3 and § 3, title and first sentence",
            printed="exact fairness is incompatible with differential privacy",
            correct="for hypotheses that are not constant; the constants are fair and private, and "
            "accuracy and privacy exclude each other without fairness",
            band="condition",
            why="A constant is exactly fair on every distribution, and to output it always is private.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
