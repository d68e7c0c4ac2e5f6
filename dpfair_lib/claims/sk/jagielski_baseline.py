"""SK, § 5 and Appendix B: the generic post-processing and the three bounds that are quoted for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import beta as beta_law

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.svm.noisy_tables import excess_at_corners
from dpfair_lib.privacy import largest_error_tail
from dpfair_lib.svm.equalized_odds import EqualizedOddsPostprocessor
from dpfair_lib.svm.equalized_odds_program import expected_errors
from dpfair_lib.svm.guarantees import excess_errors, gap_excess, noise_radius
from dpfair_lib.svm.linf_bounds import generic_linf_bound

SMALL: dict[str, Any] = {
    "m": 40, "groups": 2, "beta": Fraction(1, 20), "epsilon": Fraction(1, 10), "share": Fraction(1, 4),
    "gamma": Fraction(1, 10),
}  # fmt: skip
FAILURE = 0.2
DRAWS = 30


def check(
    *,
    linf: Callable[..., float] = generic_linf_bound,
    radius: Callable[..., float] = noise_radius,
    excess: Callable[[int, Any], Any] = excess_errors,
    remainder: Callable[[Any, Any], Any] = gap_excess,
    search: Search,
) -> Evidence:
    """Judge the tail exactly, the constants as equations, the estimator over draws, and the missing condition."""
    search.part("the largest of the 4|A| errors")
    for case in search.grid(
        groups=(1, 2, 3, 10), beta=(1e-6, 0.01, 0.05, 0.5, 0.99), epsilon=(0.1, 1.0, 8.0)
    ):
        groups, failure, epsilon = case["groups"], case["beta"], case["epsilon"]
        m = 1000 * groups + 7
        common = {"n_groups": groups, "m": m, "epsilon": epsilon, "beta": failure}
        for kind in ("printed", "exact"):
            bound = linf(**common, kind=kind)
            tail = largest_error_tail(bound, 2 / (m * epsilon), 4 * groups)
            search.observe(failure - tail, {**case, "kind": kind}, tolerance=1e-12)
        ours = radius(epsilon, groups=groups, failure=failure, relation="replace-one", mechanism="laplace")
        search.equal(ours / m, linf(**common, kind="exact"), case, tolerance=1e-9)
        level = math.log(4 * groups / failure)
        size = linf(**common) * m
        search.equal(size, 2 * level / epsilon, case, tolerance=1e-9)
        search.part("the quoted constants")
        search.observe(24 * groups * level / epsilon - excess(groups, size), case)
        search.equal(excess(groups, size), 8 * groups * level / epsilon, case, tolerance=1e-9)
        for rows in (2.5 * size, 10 * size, 300 * size):
            quoted = 8 * level / (rows * epsilon - 4 * level)
            slack, met = -abs(remainder(rows, size) / quoted - 1.0), np.array([rows * epsilon > 4 * level])
            search.under(met, [slack], case | {"rows": rows}, verify=condition_slack, tolerance=1e-9)
    search.part("all noises and pairs of rules at corners")
    moved = excess_at_corners(2)
    search.observe(excess(2, 1) - moved, {"moved": moved})
    search.exhausts("all noises and pairs of rules at corners, |A| = 2", cases=2**16)
    _smallest_radius(radius, search)
    _draws(radius, search)
    search.part("the condition that is not printed")
    search.under(np.array([False]), [condition_slack(**SMALL)], SMALL, verify=condition_slack)
    search.fact("quoted_over_ours", 24 / excess(1, 2), "quoted excess error over ours")
    return search.evidence()


def _smallest_radius(radius: Callable[..., float], search: Search) -> None:
    """Whole noise: P(|Z| > η) = 2α^(η + 1)/(1 + α), α = e^(−ε/Δ); the radius is the first η that keeps β."""
    search.part("the radius of whole noise")
    for case in search.grid(groups=(1, 2, 10), failure=(1e-6, 0.05, 0.5), epsilon=(0.1, 1.0, 3.0)):
        for relation, change in (("sensitive-attribute", 2), ("replace-one", 2), ("add-remove", 1)):
            found = radius(**case, relation=relation)
            alpha = math.exp(-case["epsilon"] / change)
            each = [2 * alpha ** (eta + 1) / (1 + alpha) for eta in (found, found - 1)]
            chances = [1 - max(0.0, 1 - tail) ** (4 * case["groups"]) for tail in each]
            smallest = chances[0] <= case["failure"] < chances[1]
            search.agree(smallest, True, {**case, "relation": relation, "radius": found})


def _draws(radius: Callable[..., float], search: Search) -> None:
    """Noise is drawn, the program solved, and every bound that the estimator reports compared with the truth."""
    search.part("draws of the estimator")
    rng, n = search.rng, 600
    group, label = rng.integers(0, 2, n), rng.integers(0, 2, n)
    predicted = np.where(rng.uniform(size=n) < 0.15 + 0.2 * group, 1 - label, label)
    people = {"sensitive_features": group, "y_true": label}
    plain = EqualizedOddsPostprocessor(gamma=0.02).fit(predicted, **people)
    exact = plain.program_
    for relation in ("sensitive-attribute", "add-remove"):
        bound = radius(1.0, groups=2, failure=FAILURE, relation=relation)
        above = failures = 0
        for draw in range(DRAWS * search.effort):
            fair = EqualizedOddsPostprocessor(
                gamma=0.02, epsilon=1.0, relation=relation, failure=FAILURE, relaxed=draw % 2 == 0,
                noise="study", random_state=rng,
            ).fit(predicted, **people)  # fmt: skip
            rule = fair.solution_.rule
            over = expected_errors(exact.counts, rule) - plain.solution_.errors
            gap = float(abs(exact.differences(rule)).max())
            failures += over > fair.excess_errors_bound_ + 1e-9 or gap > fair.gap_bound_ + 1e-9
            above += bool(abs(fair.counts_ - exact.counts).max() > bound)
            search.sanity(1e-9 - fair.solution_.gap / n, {"relation": relation, "draw": draw})
        for name, count in (("bounds", failures), ("radius", above)):
            least = float(beta_law.ppf(1e-6, count, DRAWS * search.effort - count + 1)) if count else 0.0
            search.observe(FAILURE - least, {"relation": relation, "what": name, "failures": count})


def condition_slack(
    m: int, groups: int, beta: Fraction, epsilon: Fraction, share: Fraction, gamma: Fraction
) -> Fraction:
    """Return, from above, the quoted bound on the difference, which is at least 0: negative where μmε < 4ℓ.

    Then 8ℓ/(μmε − 4ℓ) = −2·4ℓ/(4ℓ − μmε) < −2; and ln x ≥ r wherever 3^r ≤ x.
    """
    if share * m * epsilon >= 4 or 4 * groups / beta < 3:
        return Fraction(1)
    return gamma - 2


FAULTS: dict[str, dict[str, Any]] = {
    "the same number of records always": {
        "linf": lambda *, m, **rest: generic_linf_bound(m=1000 + 0 * m, **rest)
    },
    "five radii over the rows": {"remainder": lambda rows, radius: 5 * radius / rows},
    "two cells for each group": {
        "linf": lambda n_groups, kind="printed", **rest: generic_linf_bound(
            n_groups=n_groups, kind=kind, **{**rest, "beta": min(2 * rest["beta"], 0.999)}
        )
    },
    "a quarter of the radius": {"radius": lambda epsilon, **rest: noise_radius(4 * epsilon, **rest)},
    "one row less": {"radius": lambda epsilon, **rest: noise_radius(epsilon, **rest) - 1},
    "one row more": {"radius": lambda epsilon, **rest: noise_radius(epsilon, **rest) + 1},
    "excess error as quoted": {"excess": lambda groups, radius: 12 * groups * radius},
    "units of rows and shares mixed": {
        "remainder": lambda rows, radius: 4 * radius / (rows - 2 * radius / 1000)
    },
}


CLAIM = Claim(
    id="sk.jagielski-baseline",
    where="§ 5 and Appendix B",
    statement="The generic algorithm has, w.p. ≥ 1 − β and with ℓ = ln(4|A|/β), ‖q̂ − q̃‖∞ ≤ 2ℓ/(mε), "
    "excess error ≤ 24|A|ℓ/(mε), and ΔF̂P_a ≤ γ + 8ℓ/(min{q̂_a0, q̂_00}·mε − 4ℓ), likewise "
    "ΔT̂P_a.",
    proof_uses=("cgkm.laplace", "sk.claim-a1"),
    verdict="corrected",
    finding="Right if min q̂_ay·mε > 4ℓ, a condition that § 5 leaves out (below it the bound is "
    "negative), and if the noisy limits are γ + 4ℓ/(μ̃mε), which the paper does not print. "
    "The excess error is at most 8|A|ℓ/(mε). § 5 compares êrr(p̃*) with itself.",
    headline="The generic bounds hold where min q̂·mε exceeds 4 ln(4|A|/β), which § 5 does not say; the error bound is "
    "three times too large.",
    witness="{m} records in {groups} groups, a smallest cell of share {share}, ε = {epsilon}, β = {beta}, γ = {gamma}. "
    "The quoted bound on the difference is negative.",
    kind="condition",
    impact="condition",
    because="With the condition that § 5 leaves out, the quoted bounds hold and may be compared with.",
    chapter="sk-equalized-odds",
    errata=(
        Erratum(
            where="§ 5, the quoted guarantee on the differences",
            printed="γ + 8ℓ/(min{q̂_a0, q̂_00}·mε − 4ℓ), without a condition",
            correct="the same, if min q̂_ay·mε > 4ℓ",
            band="condition",
            why="Below 4ℓ the denominator is negative, and so is a bound on an absolute value.",
        ),
        Erratum(
            where="§ 5, the quoted guarantee on the error",
            printed="êrr(Ŷ_p̃*) ≤ êrr(Ŷ_p̃*) + 24|A| ln(4|A|/β)/(mε)",
            correct="êrr(Ŷ_p̃*) ≤ êrr(Ŷ_p̂*) + …, as in Appendix A",
            band="slip",
            why="The error is compared with itself.",
            used="Appendix A, after Lemma A.2",
        ),
        Erratum(
            where="Appendix B, Δ of the true positive rates",
            printed="(1 − T̂P_1(Ŷ))·p_0a",
            correct="(1 − T̂P_a(Ŷ))·p_0a, as in § 4",
            band="slip",
            why="The rule of group a acts on the rate of group a.",
            used="§ 4",
        ),
        Erratum(
            where="§ 3.2, after the definition",
            printed="y = 0 and y = 1 represent the true negative and the true positive rate",
            correct="P(Ŷ = 1 | Y = 0) is the false positive rate",
            band="slip",
            why="Among the negatives, predicting 1 is a false positive.",
            used="Lemma A.2 (3), which calls it FP",
        ),
    ),
    check=check,
    faults=FAULTS,
)
