"""ISIT, Theorem 2: Algorithm 1 reaches parity with the fewest changes; and which optimum is most accurate."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.bounds import optimal_change
from dpfair_lib.central.finite_populations import population_rows, posterior
from dpfair_lib.central.flips import FlipRule, accuracy_by_rate, fit_flip_rule, flip_probabilities
from dpfair_lib.central.least_change import is_least_change
from dpfair_lib.central.realized import shared_draw_rates
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.populations import Population

TWELFTHS = tuple(Fraction(i, 12) for i in range(13))


def check(
    *,
    flips: Callable[..., Any] = flip_probabilities,
    fit_rule: Callable[..., FlipRule] = fit_flip_rule,
    structure: Callable[..., np.ndarray] = is_least_change,
    accuracies: Callable[..., Any] = accuracy_by_rate,
    shared: Callable[..., Any] = shared_draw_rates,
    search: Search,
) -> Evidence:
    """Judge parity, least change, the set of all optima, and the accuracy along it."""
    _parity_and_change(flips, shared, search)
    _all_optimal_classifiers(structure, search)
    _rules_on_populations(fit_rule, accuracies, search)
    _midpoint_can_be_best(accuracies, search)
    _no_optimum_is_more_accurate(accuracies, search)
    return search.evidence()


@once
def _parity_and_change(flips: Callable[..., Any], shared: Callable[..., Any], search: Search) -> None:
    """Every pair of rates in twelfths, at five common rates between them, in fractions.

    The same law holds for a fresh draw per person and for one draw that all share, averaged over it.
    """
    for alpha, beta, step in itertools.product(TWELFTHS, TWELFTHS, range(5)):
        search.part("parity and change")
        target = beta + (alpha - beta) * Fraction(step, 4)
        case = {"alpha": alpha, "beta": beta, "target": target}
        change = Fraction(0)
        for rate in (alpha, beta):
            down, up = flips(rate, target)
            search.equal(rate * (1 - down) + (1 - rate) * up, target, case)
            change += rate * down + (1 - rate) * up
        search.equal(change, optimal_change(alpha, beta, Fraction(0)), case)
        search.part("one draw for all")
        law = shared(alpha, beta, target)
        search.equal(sum((p for *_, p in law), Fraction(0)), 1, case)
        for group in (0, 1):
            search.equal(sum((rates[group] * rates[2] for rates in law), Fraction(0)), target, case)
    search.exhausts("all pairs of rates in twelfths at five common rates", cases=13 * 13 * 5)
    _shared_draw_by_the_rule(shared, search)


def _shared_draw_by_the_rule(shared: Callable[..., Any], search: Search) -> None:
    """The law of the shared draw against the printed rule itself, at draws s that fall on no threshold.

    For rates in quarters and the midpoint, every threshold has the denominator 2, 4, 6 or 8.
    """
    draws = [Fraction(2 * i + 1, 2 * 24) for i in range(24)]  # between the multiples of 1/24
    quarters = [Fraction(i, 4) for i in range(5)]
    for alpha, beta in ((a, b) for a in quarters for b in quarters if b <= a and a > 0 and b < 1):
        stay, rise = (alpha + beta) / (2 * alpha), (alpha - beta) / (2 * (1 - beta))
        counted: dict[tuple[Fraction, Fraction], Fraction] = {}
        for s in draws:
            rates = (alpha * (s <= stay), beta + (1 - beta) * (s <= rise))
            counted[rates] = counted.get(rates, Fraction(0)) + Fraction(1, len(draws))
        law: dict[tuple[Fraction, Fraction], Fraction] = {}
        for rate_0, rate_1, chance in shared(alpha, beta, (alpha + beta) / 2):
            law[rate_0, rate_1] = law.get((rate_0, rate_1), Fraction(0)) + chance
        search.agree(law == counted, True, {"alpha": alpha, "beta": beta, "law": law})
        if 0 < beta < alpha < 1:
            search.agree(
                all(one != two for one, two in law), True, {"alpha": alpha, "beta": beta, "fair": law}
            )


@once
def _all_optimal_classifiers(structure: Callable[..., np.ndarray], search: Search) -> None:
    """A classifier is optimal exactly if it has the structure.

    Universe: two points per group with weights in quarters, every deterministic classifier before, every
    classifier with values in quarters after; sixteenths are exact as floats.
    """
    search.part("structure of all optima")
    weights = np.array([(w / 4, 1 - w / 4) for w in range(5)])
    before = np.array(list(itertools.product((0.0, 1.0), repeat=2)))
    after = np.array(list(itertools.product((0, 0.25, 0.5, 0.75, 1), repeat=2)))
    group = [(w, b, a) for w in weights for b in before for a in after]
    packed = np.array(group)  # (configurations, {weights, before, after}, points)
    optimal_cases = 0
    for one in packed:
        pair = np.stack([np.broadcast_to(one, packed.shape), packed], axis=-1)
        w, b, a = pair[:, 0], pair[:, 1], pair[:, 2]
        rates, fair = (w * b).sum(axis=1), (w * a).sum(axis=1)
        change = (w * abs(a - b)).sum(axis=(1, 2))
        optimal = (fair[:, 0] == fair[:, 1]) & (change == abs(rates[:, 0] - rates[:, 1]))
        optimal_cases += int(optimal.sum())
        search.agree(structure(w, b, a), optimal, {"weights": w, "before": b, "after": a})
    search.exhausts(
        "two groups of two points, weights and new values in quarters, all old deterministic classifiers",
        cases=(5 * 2**2 * 5**2) ** 2,
    )
    search.fact("optimal", optimal_cases, "optimal classifiers among those enumerated")


@once
def _rules_on_populations(
    fit_rule: Callable[..., FlipRule], accuracies: Callable[..., Any], search: Search
) -> None:
    """On exact random populations: parity, least change, and the accuracy that was promised, with any score.

    Without a score the accuracy is linear in the common rate, so an end is never worse than the midpoint.
    """
    search.part("flips on populations")
    for _ in range(15 * search.effort):
        population = Population.random(search.rng, 3, 2, exact=True)
        h = search.rng.integers(0, 2, size=(3, 2))
        scores = {
            "none": np.zeros((3, 2), dtype=int),
            "posterior": posterior(population),
            "arbitrary": search.rng.integers(-2, 3, size=(3, 2)),
        }
        for kind, score in scores.items():
            case = {"table": population.table.tolist(), "h": h.tolist(), "scores": kind}
            rows = population_rows(population, h)
            row_scores = score[rows.pop("at"), rows["groups"]]
            rates, values = accuracies(**rows, scores=row_scores)
            _judge_rates(population, h, score, fit_rule, zip(rates, values, strict=True), case, search)
            low, high = rates[0], rates[-1]
            middle = values[list(rates).index((low + high) / 2)]
            ends = max(values[0], values[-1])
            if kind == "none":
                search.observe(ends - middle, case | {"claim": "an end is as accurate as the midpoint"})
                search.equal(middle * 2, values[0] + values[-1], case | {"claim": "linear in the rate"})


def symmetric_population() -> tuple[Population, np.ndarray]:
    """Return two groups alike, one wholly selected and one wholly rejected, with posteriors ¼ and ¾."""
    table = [[[Fraction(3, 16), Fraction(1, 16)]] * 2, [[Fraction(1, 16), Fraction(3, 16)]] * 2]
    return Population.from_table(np.array(table, dtype=object)), np.array([[1, 0], [1, 0]])


@once
def _midpoint_can_be_best(accuracies: Callable[..., Any], search: Search) -> None:
    """When flips follow the posterior, the midpoint can be strictly better than every other common rate."""
    population, h = symmetric_population()
    rows = population_rows(population, h)
    at = rows.pop("at")
    rates, values = accuracies(**rows, scores=posterior(population)[at, rows["groups"]])
    best = [rate for rate, value in zip(rates, values, strict=True) if value == values.max()]
    search.part("midpoint can be best")
    search.agree(best == [Fraction(1, 2)], True, {"population": "symmetric", "best rates": best})
    search.fact(
        "symmetric",
        f"{values[0]}, {max(values)}",
        "symmetric population: accuracy at the ends and at the midpoint",
    )


def _judge_rates(
    population: Population,
    h: np.ndarray,
    score: np.ndarray,
    fit_rule: Callable[..., FlipRule],
    curve: Any,
    case: dict[str, Any],
    search: Search,
) -> None:
    """Build the classifier for each rate and compare it with what was promised."""
    for rate, accuracy in curve:
        fair = h + 0 * population.table.sum(axis=2)
        for group in (0, 1):
            weights = population.conditional(group)
            rule = fit_rule(h[:, group], score[:, group], weights, rate)
            flip = rule.flip_probability(h[:, group], score[:, group])
            fair[:, group] = np.where(h[:, group] == 1, 1 - flip, flip)
        at = case | {"rate": rate}
        gap = abs(population.rate(h, 0) - population.rate(h, 1))
        for group in (0, 1):
            search.equal(population.rate(fair, group), rate, at)
        search.equal(sum(population.change(h, fair, group) for group in (0, 1)), gap, at)
        search.equal(population.accuracy(fair), accuracy, at)


@once
def _no_optimum_is_more_accurate(accuracies: Callable[..., Any], search: Search) -> None:
    """Against every optimal classifier on a grid: none beats flips that follow the posterior."""
    search.part("no optimum is more accurate")
    levels = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    after = np.array(list(itertools.product(levels, repeat=4))).reshape(-1, 2, 2)
    for _ in range(60 * search.effort):
        table = search.rng.multinomial(8, [0.25] * 4, size=2) / 16  # each group has mass one half
        population = Population.from_table(table.reshape(2, 2, 2).swapaxes(0, 1))
        h = search.rng.integers(0, 2, size=(2, 2))
        weights = np.stack([population.conditional(group) for group in (0, 1)], axis=1)
        candidates = after[is_least_change(weights, h, after)]
        if not len(candidates):  # the common rate need not be on the grid
            continue
        positive, negative = population.table[:, :, 1], population.table[:, :, 0]
        reached = (positive * candidates + negative * (1 - candidates)).sum(axis=(1, 2))
        rows = population_rows(population, h)
        at = rows.pop("at")
        best = accuracies(**rows, scores=posterior(population)[at, rows["groups"]])[1].max()
        case = {"table": population.table.tolist(), "h": h.tolist(), "candidate": candidates}
        search.observe(best - reached, case, tolerance=1e-12)


def _nobody_promoted(rate: Any, target: Any) -> tuple[Any, Any]:
    """Nobody is promoted: the group that must go up stays where it is."""
    down, up = flip_probabilities(rate, target)
    return down, 0 * up


def _most_certain_first(y_pred: Any, scores: Any, weights: Any, target: Any) -> FlipRule:
    return fit_flip_rule(y_pred, -scores, weights, target)


def _ties_always_flip(y_pred: Any, scores: Any, weights: Any, target: Any) -> FlipRule:
    rule = fit_flip_rule(y_pred, scores, weights, target)
    return FlipRule(rule.label, rule.threshold, 1 + 0 * rule.probability)


def _flips_when_equal(y_pred: Any, scores: Any, weights: Any, target: Any) -> FlipRule:
    """A group that is already at the target gets the threshold 0 instead of one that nobody passes."""
    rule = fit_flip_rule(y_pred, scores, weights, target)
    return FlipRule(0, 0, 0 * target) if rule.threshold == np.inf else rule


def _parity_is_enough(weights: Any, before: Any, after: Any) -> np.ndarray:
    rates = (weights * after).sum(axis=-2)
    return (rates[..., 0] == rates[..., 1]) & (before >= 0).all(axis=(-2, -1))


def _gain_for_loss(**rows: Any) -> Any:
    rates, values = accuracy_by_rate(**rows)
    return rates, values[::-1]


FAULTS: dict[str, dict[str, Any]] = {
    "nobody is promoted": {"flips": _nobody_promoted},
    "most certain flipped first, accuracy of the least certain": {"fit_rule": _most_certain_first},
    "everyone at the threshold flips": {"fit_rule": _ties_always_flip},
    "flips where none are needed": {"fit_rule": _flips_when_equal},
    "parity alone taken for optimality": {"structure": _parity_is_enough},
    "ends of the accuracy curve exchanged": {"accuracies": _gain_for_loss},
    "score ignored where it is promised": {
        "accuracies": lambda scores, **rows: accuracy_by_rate(scores=0 * scores, **rows)
    },
    "shared draw is exactly fair": {"shared": lambda *rates: [(rates[2], rates[2], Fraction(1))]},
    "shared draw never flips": {
        "shared": lambda alpha, beta, target: [(alpha, beta, 1 + 0 * target)],
    },
}


CLAIM = Claim(
    id="isit.thm-2",
    where="ISIT Thm 2, § III-A; thesis Thm 7, § 3.3; proof App. A",
    statement="The output of Algorithm 1 has parity gap 0 and the fewest prediction changes: "
    "their rates in the two groups add up to |α − β|, with α, β the rates of h*₀ = 1 and h*₁ = 1.",
    verdict="holds",
    finding="With the convention for 0/0, parity holds on average over the draws, fresh or shared; a shared "
    "draw has it in no outcome (0 < β < α < 1). Optimal are all classifiers with a common rate in [β, α] "
    "that demote only in the higher group and promote only in the lower. With random flips an end is always "
    "as accurate as the midpoint or more; with flips that follow the score the midpoint can be the best.",
    statement_uses=("isit.alg-1",),
    proof_uses=("isit.prop-1",),
    headline="Algorithm 1 is fair with the fewest changes; as few changes that follow a score can be more accurate, "
    "¾ against ½ in one population.",
    kind="as-printed",
    impact="none",
    because="Parity and the least number of changes hold for every pair of rates, once 0/0 has a convention.",
    chapter="isit-thm-2",
    check=check,
    faults=FAULTS,
)
