"""ISIT, Proposition 1: what γ-statistical parity costs in changed predictions.

Apart from the random part, all probabilities are eighths, so that floating-point arithmetic on them is exact and
the library's vectorised formulas can be judged without any tolerance.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.bounds import change_lower_bound, optimal_change
from dpfair_lib.central.finite_populations import flippable_masses
from dpfair_lib.central.least_change import least_change_by_enumeration, least_change_by_lp
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.populations import Population

EIGHTHS = tuple(Fraction(i, 8) for i in range(9))
QUARTERS = EIGHTHS[::2]
POINTS, WEIGHT_UNITS = 3, 4


def check(
    *,
    bound: Callable[..., Any] = change_lower_bound,
    optimum: Callable[..., Any] = optimal_change,
    search: Search,
) -> Evidence:
    """Judge the bound on every small universe and at random, and where it is attained."""
    _bound_holds(bound, search)
    _bound_holds_at_random(bound, search)
    _randomised_classifiers_attain(bound, optimum, search)
    _deterministic_classifiers_attain(bound, search)
    return search.evidence()


def _bound_holds(bound: Callable[..., Any], search: Search) -> None:
    """Every pair of groups, old and new classifier: old + new randomised in halves, γ the gap itself.

    The bound falls as γ grows, so γ = gap is its hardest case.
    """
    search.part("bound, enumerated")
    outcomes, configurations = group_outcomes()
    first, second = np.indices((len(outcomes), len(outcomes))).reshape(2, -1)
    (alpha, rate_0, change_0), (beta, rate_1, change_1) = outcomes[first].T, outcomes[second].T
    gamma = abs(rate_0 - rate_1)
    search.observe(
        change_0 + change_1 - bound(alpha, beta, gamma),
        {"alpha": alpha, "beta": beta, "gamma": gamma, "rate_0": rate_0, "rate_1": rate_1},
    )
    search.exhausts(
        f"two groups of {POINTS} points with weights in quarters, old and new classifier with values 0, ½, 1",
        cases=len({tuple(triple) for triple in outcomes.tolist()}) ** 2,
    )
    search.fact("configurations", configurations**2, "pairs of configurations covered")
    search.fact("distinct", len(outcomes) ** 2, "distinct pairs of rates and changes among them")


def _bound_holds_at_random(bound: Callable[..., Any], search: Search) -> None:
    """Four points per group, real weights and probabilities, many of them 0 or 1."""
    search.part("bound, at random")
    shape = (100_000 * search.effort, 2, 4)
    weights = search.rng.dirichlet(np.full(4, 0.5), size=shape[:2])
    old, new = np.clip(search.rng.uniform(-0.5, 1.5, size=(2, *shape)), 0, 1)
    (alpha, beta), (rate_0, rate_1) = ((weights * h).sum(axis=-1).clip(0, 1).T for h in (old, new))
    change = (weights * abs(new - old)).sum(axis=(-2, -1))
    gamma = abs(rate_0 - rate_1)
    case = {"alpha": alpha, "beta": beta, "gamma": gamma, "rate_0": rate_0, "rate_1": rate_1}
    search.observe(change - bound(alpha, beta, gamma), case, tolerance=1e-12)


@functools.cache
def group_outcomes() -> tuple[np.ndarray, int]:
    """Every (old rate, new rate, change) that one group can show, and how many configurations there are.

    Returns
    -------
    outcomes : ndarray of shape (m, 3)
        The distinct triples; the bound depends on nothing else.
    configurations : int
        Number of (weights, old classifier, new classifier) behind them.
    """
    values = np.array(list(itertools.product((0, 0.5, 1), repeat=POINTS)))
    weights = np.array(
        [w for w in itertools.product(range(WEIGHT_UNITS + 1), repeat=POINTS) if sum(w) == WEIGHT_UNITS]
    )
    rates = weights @ values.T / WEIGHT_UNITS
    distances = abs(values[:, None, :] - values[None, :, :])
    changes = np.einsum("wp,onp->won", weights, distances) / WEIGHT_UNITS
    old = np.broadcast_to(rates[:, :, None], changes.shape)
    new = np.broadcast_to(rates[:, None, :], changes.shape)
    triples = np.stack([old, new, changes], axis=-1).reshape(-1, 3)
    return np.unique(triples, axis=0), len(triples)


def _randomised_classifiers_attain(
    bound: Callable[..., Any], optimum: Callable[..., Any], search: Search
) -> None:
    """A certified linear program reaches the bound for every γ up to |α − β|, and 0 beyond."""
    search.part("attained by randomised classifiers")
    for (alpha, beta, gamma), (value, lower) in least_changes().items():
        case = {"alpha": alpha, "beta": beta, "gamma": gamma}
        search.equal(value, lower, case | {"certificate": "linear program"})
        search.equal(value, optimum(alpha, beta, gamma), case)
        search.equal(max(bound(alpha, beta, gamma), Fraction(0)), value, case)
    # one formula for single numbers, in fractions, and for arrays; negative, and so void, where γ exceeds the gap
    search.part("arrays and single numbers")
    alpha, beta, gamma = np.array(list(least_changes()), dtype=float).T
    case = {"alpha": alpha, "beta": beta, "gamma": gamma}
    single = [bound(*map(Fraction, at)) for at in least_changes()]
    search.equal(bound(alpha, beta, gamma), np.array(single, dtype=float), case)
    search.equal(
        optimum(alpha, beta, gamma), np.array([v for v, _ in least_changes().values()], dtype=float), case
    )
    search.equal(bound(alpha, beta, gamma), abs(alpha - beta) - gamma, case)
    search.exhausts("α, β in quarters, γ in eighths, by certified linear programs", cases=5 * 5 * 9)


@functools.cache
def least_changes() -> dict[tuple[Fraction, Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Least change and certified lower bound for α, β in quarters and γ in eighths, by linear programming."""
    solved = {}
    for case in Search.grid(alpha=QUARTERS, beta=QUARTERS, gamma=EIGHTHS):
        found = least_change_by_lp(
            two_point_population(case["alpha"], case["beta"]), PREDICT_X, case["gamma"]
        )
        solved[case["alpha"], case["beta"], case["gamma"]] = (found.value, found.lower_bound)
    return solved


PREDICT_X = np.array([[Fraction(0), Fraction(0)], [Fraction(1), Fraction(1)]], dtype=object)


def two_point_population(alpha: Fraction, beta: Fraction) -> Population:
    """Two groups of equal size on the points 0, 1; predicting x selects α of the first, β of the second."""
    half = Fraction(1, 2)
    table = [[[half * (1 - rate), Fraction(0)] for rate in (alpha, beta)]]
    table.append([[half * rate, Fraction(0)] for rate in (alpha, beta)])
    return Population.from_table(np.array(table, dtype=object))


def _deterministic_classifiers_attain(bound: Callable[..., Any], search: Search) -> None:
    """Without randomisation the bound is reached exactly where |α − β| − γ is a mass that can be flipped.

    That is: a sum of masses of points that the higher group selects and the lower group rejects. Universe:
    two points per group, weights in quarters, every deterministic classifier, γ in eighths.
    """
    search.part("attained by deterministic classifiers")
    reached = 0
    labels = list(itertools.product((0, 1), repeat=2))
    for left, right, (h_0, h_1) in itertools.product(range(5), range(5), itertools.product(labels, labels)):
        population = _two_group_population(left, right)
        h = np.array([h_0, h_1]).T
        alpha, beta = population.rate(h, 0), population.rate(h, 1)
        masses = flippable_masses(population, h)
        for gamma in EIGHTHS:
            if gamma > abs(alpha - beta):
                continue
            least = least_change_by_enumeration(population, h, gamma)
            needed = abs(alpha - beta) - gamma
            attained = least == bound(alpha, beta, gamma)
            reached += attained
            case = {"weights_0": left, "weights_1": right, "h_0": h_0, "h_1": h_1, "gamma": gamma}
            search.agree(attained, needed in masses, case)
    # 25 pairs of weights, 16 pairs of classifiers, γ = 0 at least
    search.exhausts(
        "two groups of two points with weights in quarters, all deterministic classifiers, γ up to the gap",
        cases=25 * 16,
    )
    search.fact("reached", reached, "deterministic cases in which the bound is reached")


@functools.cache
def _two_group_population(left: int, right: int) -> Population:
    quarters = [[Fraction(w, 8), Fraction(4 - w, 8)] for w in (left, right)]
    table = np.array([[[group[x], Fraction(0)] for group in quarters] for x in (0, 1)], dtype=object)
    return Population.from_table(table)


FAULTS: dict[str, dict[str, Any]] = {
    "gamma counted half": {"bound": lambda alpha, beta, gamma: abs(alpha - beta) - gamma / 2},
    "gamma counted twice": {"bound": lambda alpha, beta, gamma: abs(alpha - beta) - 2 * gamma},
    "sum of the rates for their distance": {"bound": lambda alpha, beta, gamma: alpha + beta - gamma},
    "one group's share only": {"bound": lambda alpha, beta, gamma: (abs(alpha - beta) - gamma) / 2},
    "distance without absolute value": {"bound": lambda alpha, beta, gamma: alpha - beta - gamma},
    "wrong between the eighths": {
        "bound": lambda alpha, beta, gamma: abs(alpha - beta) - gamma + (8 * alpha % 1) / 4
    },
    "clipped at zero": {"bound": lambda alpha, beta, gamma: np.maximum(abs(alpha - beta) - gamma, 0)},
    "optimum may be negative": {"optimum": lambda alpha, beta, gamma: abs(alpha - beta) - gamma},
}


CLAIM = Claim(
    id="isit.prop-1",
    where="ISIT Prop. 1, § III; thesis Prop. 6, § 3.2; proof App. A",
    statement="For any h*₀, h*₁ and any ĥ of parity gap ≤ γ: P₀(ĥ₀ ≠ h*₀) + P₁(ĥ₁ ≠ h*₁) ≥ |P₀(h*₀ = 1) − "
    "P₁(h*₁ = 1)| − γ, P_a being the distribution of X in group a.",
    verdict="holds",
    finding="True for randomised classifiers too, old and new. Randomised ones attain it for every γ up to "
    "|α − β|; beyond that it is void and the least change is 0. Deterministic ones attain it exactly where "
    "|α − β| − γ is a sum of masses of points that the group of higher rate selects or the other rejects.",
    headline="The bound holds for randomised classifiers too, and they attain it for every γ up to |α − β|.",
    kind="as-printed",
    impact="none",
    because="The statement holds for every classifier, so what the paper builds on it stands.",
    chapter="isit-prop-1",
    check=check,
    faults=FAULTS,
)
