"""ISIT, Theorem 3, fairness: the bound is four tails of η/4, and the gap exceeds it with probability at most η."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.gap_law import signed_gap
from dpfair_lib.central.parity import gap_quantile, parity_bound, parity_violation_probability
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.central.noisy_rates import (
    SMALL,
    epsilons,
    fine_lattice,
    fractions_up_to,
    gap_outcomes,
    printed_gap,
)
from dpfair_lib.privacy import LaplaceMechanism

RATES = fractions_up_to(4)
ADULT: dict[str, Any] = {"rates": (0.0826, 0.2575), "n": (3675, 7630), "epsilon": 0.05}


def check(
    *,
    bound: Callable[..., float] = parity_bound,
    violation: Callable[..., Any] = parity_violation_probability,
    gap: Callable[..., Any] = signed_gap,
    search: Search,
) -> Evidence:
    """Judge the deterministic step, the four tails, the exact law by two witnesses, and the bound itself."""
    _errors_add_up(gap, search)
    _four_tails(bound, search)
    _small_samples(bound, violation, search)
    _laplace_by_lattices(violation, search)
    _bound_holds(bound, violation, search)
    return search.evidence()


@once
def _errors_add_up(gap: Callable[..., Any], search: Search) -> None:
    search.part("gap against the two errors")
    grid = np.array(list(itertools.product(RATES, repeat=4)), dtype=object)
    alpha, beta, a, b = grid.T
    case = {"alpha": alpha, "beta": beta, "noisy_alpha": a, "noisy_beta": b}
    found = gap(alpha, beta, a, b)
    search.equal(found, np.array([printed_gap(*row) for row in grid], dtype=object), case)
    search.observe(abs(a - alpha) + abs(b - beta) - abs(found), case)
    search.exhausts("rates and noisy rates with denominators up to 4", cases=2 * len(RATES) ** 4)
    alpha, beta, a, b = search.rng.uniform(size=(4, 110_000 * search.effort))
    slack = abs(a - alpha) + abs(b - beta) - abs(gap(alpha, beta, a, b))
    case = {"alpha": alpha, "beta": beta, "noisy_alpha": a, "noisy_beta": b}
    search.observe(slack, case, tolerance=1e-12)


@once
def _four_tails(bound: Callable[..., float], search: Search) -> None:
    search.part("each term against its own tail")
    for n, epsilon, eta in itertools.product(
        [(1, 1), (30, 700), (5000, 40)], (0.05, 1.0, 4.0), (0.01, 0.3, 0.9)
    ):
        case = {"n": n, "epsilon": epsilon, "eta": eta}
        sampling = bound(n, math.inf, eta)
        for at in (0, 1):
            alone = (epsilon, math.inf) if at == 0 else (math.inf, epsilon)
            noise = LaplaceMechanism(1 / epsilon, 1).tail((bound(n, alone, eta) - sampling) * n[at])
            search.equal(float(noise), eta / 4, case, tolerance=1e-9)
        # Hoeffding: 2 exp(−2 n s²) = η/4 for each group's s; of equal groups each has half of the sum
        both = bound((n[0], n[0]), math.inf, eta) / 2
        search.equal(2 * math.exp(-2 * n[0] * both**2), eta / 4, case, tolerance=1e-9)
        rest = sampling - both
        search.equal(2 * math.exp(-2 * n[1] * rest**2), eta / 4, case, tolerance=1e-9)


@once
def _small_samples(bound: Callable[..., float], violation: Callable[..., Any], search: Search) -> None:
    search.part("small samples in fractions")
    cuts = [Fraction(at, 97) for at in (3, 17, 31, 43, 61, 90)]  # no gap of these samples has denominator 97
    for setting in SMALL:
        gaps = [(abs(gap), chance) for gap, _, chance in gap_outcomes(**setting)]
        own = {
            "rates": tuple(map(float, setting["rates"])),
            "n": setting["n"],
            "epsilon": epsilons(setting["decays"]),
        }
        ours = violation([float(cut) for cut in cuts], mechanism="geometric", **own)
        for cut, chance in zip(cuts, ours, strict=True):
            exact = sum((p for gap, p in gaps if gap > cut), Fraction(0))
            search.equal(float(chance), float(exact), {**setting, "cut": cut}, tolerance=1e-12)
        for eta in (Fraction(1, 10), Fraction(9, 10)):
            limit = bound(own["n"], own["epsilon"], float(eta), mechanism="geometric")
            exact = sum((p for gap, p in gaps if gap > limit), Fraction(0))
            search.observe(eta - exact, {**setting, "eta": eta})


@once
def _laplace_by_lattices(violation: Callable[..., Any], search: Search) -> None:
    search.part("Laplace noise by a fine lattice")
    for rates, n, epsilon in [((0.3, 0.6), (12, 7), (1.0, 3.0)), ((0.9, 0.1), (3, 9), (0.5, 2.0))]:
        (a, p), (b, q) = (fine_lattice(*each, steps=60) for each in zip(rates, n, epsilon, strict=True))
        gaps = abs(signed_gap(*rates, a[:, None], b))
        for cut in (0.0317, 0.1131, 0.2719):
            exact = float(p @ (gaps > cut) @ q)
            ours = violation(cut, rates=rates, n=n, epsilon=epsilon)
            search.equal(
                ours, exact, {"rates": rates, "n": n, "epsilon": epsilon, "cut": cut}, tolerance=4e-3
            )


@once
def _bound_holds(bound: Callable[..., float], violation: Callable[..., Any], search: Search) -> None:
    search.part("exact violation at the bound")
    for rates, n, eta in itertools.product(
        [(0.5, 0.5), (0.1, 0.3)], [((60, 90), 0.5), ((400, 2000), 0.1), ((400, 400), 0.005)], (0.05, 0.5)
    ):
        sizes, epsilon = n
        limit = bound(sizes, epsilon, eta)
        case = {"rates": rates, "n": sizes, "epsilon": epsilon, "eta": eta}
        if limit < 1:
            search.observe(eta - violation(limit, rates=rates, n=sizes, epsilon=epsilon), case)
    limit = bound(ADULT["n"], ADULT["epsilon"], 0.05)
    over, quantile = violation(min(limit, 1.0), **ADULT), gap_quantile(0.05, **ADULT)
    search.sharper(0.05 - violation(quantile, **ADULT), 0.05 - over, ADULT | {"eta": 0.05}, tolerance=1e-6)
    search.fact("adult_bound", limit, "bound at Adult's size, η = 0.05")
    search.fact("adult_violation", over, "its exact violation probability")
    search.fact("adult_quantile", quantile, "exact quantile at Adult's size, η = 0.05")


def _one_sided(*arguments: Any, **options: Any) -> Any:
    return np.multiply(parity_violation_probability(*arguments, **options), 0.5)


def _noise_ignored(cut: Any, *, epsilon: Any, **options: Any) -> Any:
    del epsilon
    return parity_violation_probability(cut, epsilon=math.inf, **options)


def _half_noise(cut: Any, *, epsilon: Any, **options: Any) -> Any:
    return parity_violation_probability(
        cut, epsilon=tuple(2 * e for e in np.broadcast_to(epsilon, 2)), **options
    )


def _twice_the_errors(alpha: Any, beta: Any, a: Any, b: Any) -> Any:
    return 2 * signed_gap(alpha, beta, a, b) - (alpha - beta)


def _bound_with(
    noise: float = 4.0, sampling: float = 8.0, scale: float = 2.0, total: bool = False
) -> Callable[..., float]:
    """The printed bound with other constants: log(noise/η)/(nε) + √(log(sampling/η)/(scale·n))."""

    def wrong(n: Any, epsilon: Any, eta: float, *, mechanism: str = "laplace") -> float:
        del mechanism
        sizes = [sum(n)] * 2 if total else list(n)
        laplace = sum(
            math.log(noise / eta) / (k * e) for k, e in zip(sizes, np.broadcast_to(epsilon, 2), strict=True)
        )
        return float(laplace) + sum(math.sqrt(math.log(sampling / eta) / (scale * k)) for k in sizes)

    return wrong


FAULTS: dict[str, dict[str, Any]] = {
    "noise tail of η instead of η/4": {"bound": _bound_with(noise=1.0)},
    "Hoeffding's factor 2 forgotten": {"bound": _bound_with(sampling=4.0)},
    "Hoeffding's exponent without its 2": {"bound": _bound_with(scale=1.0)},
    "all rows in place of each group's": {"bound": _bound_with(total=True)},
    "only one direction of the gap": {"violation": _one_sided},
    "noise ignored in the law": {"violation": _noise_ignored},
    "half of the noise in the law": {"violation": _half_noise},
    "flips of twice the size": {"gap": _twice_the_errors},
    "errors passed on in full": {"gap": lambda alpha, beta, a, b: (alpha - beta) - (a - b)},
}


CLAIM = Claim(
    id="isit.thm-3.fairness",
    where="ISIT Thm 3 (fairness), § III-B; thesis Thm 8, § 3.4; proof App. A",
    statement="With probability ≥ 1 − η, Algorithm 2's parity gap is at most "
    "B(η) = log(4/η)/(nθε₀) + log(4/η)/(nθ̄ε₁) + √(log(8/η)/(2nθ)) + √(log(8/η)/(2nθ̄)).",
    statement_uses=("isit.alg-2",),
    proof_uses=("cgkm.hoeffding", "cgkm.laplace"),
    verdict="holds",
    finding="True for rows that did not train h* (see isit.assumptions), by a union bound: the four errors need "
    "not be independent. Loose: at Adult's size, rates and ε, η = 0.05, the bound is 0.080 and the exact quantile "
    "0.018; the bound is exceeded with probability 2·10⁻⁷.",
    headline="The bound holds but is loose: at Adult's size it says 0.080, the exact 95 % quantile of the gap is "
    "0.018.",
    kind="sharper",
    impact="none",
    because="The printed bound holds for rows that did not train the classifier, as in the paper's split.",
    chapter="isit-thm-3-fairness",
    check=check,
    faults=FAULTS,
)
