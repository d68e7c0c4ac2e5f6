"""CGKM, Algorithm 1: what the noisy scale is for every value of the noisy count, and when there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.compatibility.private_learner.choice_law import (
    Rule,
    inverse_scale,
    over_count_probability,
    shift,
)
from dpfair_lib.compatibility.private_learner.sensitivity import utility_sensitivity
from dpfair_lib.privacy import LaplaceMechanism

LARGEST = 12


def check(
    *,
    inverse: Callable[..., Any] = inverse_scale,
    over_count: Callable[..., float] = over_count_probability,
    search: Search,
) -> Evidence:
    """Judge the repaired scale, the law of the noisy count, and the printed scale as a mechanism."""
    search.part("noisy counts in quarters")
    none = 0
    for n in range(LARGEST, 0, -1):
        for quarter in sorted(range(-12 * n, 12 * n + 1), key=abs):
            noisy = Fraction(quarter, 4)
            case = {"n": n, "noisy_count": noisy}
            if noisy != 1:
                search.under(noisy > 1, printed_slack(n, noisy), case, verify=printed_slack)
            none += noisy == 1 or printed_slack(n, noisy) < 0
            _repaired(n, noisy, inverse, search)
            if noisy not in (1, 1 - 2 * n):  # where the printed Δ, or its inverse, is 0
                found = float(inverse(float(noisy), n, "printed"))
                search.equal(found * float(printed_scale(n, noisy)), 1.0, case, tolerance=1e-12)
    judged = sum(2 * 12 * n + 1 for n in range(1, LARGEST + 1))
    search.exhausts(f"all M in quarters with |M| ≤ 3n, for n up to {LARGEST}", cases=judged)
    search.fact(
        "no_scale",
        f"{none:,} of {judged:,}",
        "of these, values for which the printed scale is not a positive number",
    )
    _tail(over_count, search)
    return search.evidence()


def printed_scale(n: int, noisy_count: Fraction) -> Fraction:
    """Return Δ = 2/(M − 1) + 1/n."""
    return 2 / (noisy_count - 1) + Fraction(1, n)


def printed_slack(n: int, noisy_count: Fraction) -> int:
    """Return 0 if the printed Δ makes smaller losses likelier, −1 if it is 0 or makes them less likely."""
    return 0 if printed_scale(n, noisy_count) > 0 else -1


def _repaired(n: int, noisy: Fraction, inverse: Callable[..., Any], search: Search) -> None:
    """1/Δ is positive, at most n, and at most 1/Δu for every sample whose smaller count is at least M."""
    found = Fraction(min(max(float(inverse(float(noisy), n)), -1e300), 1e300))
    case = {"n": n, "noisy_count": noisy}
    search.observe(found, case)
    search.observe(n - found, case)
    least = max(math.ceil(noisy), 1)
    for high in range(least, n - least + 1):
        bound = 1 / utility_sensitivity((least, high), n)
        search.observe(bound - found, case | {"counts": (least, high)}, tolerance=1e-12)
    if noisy == least and 2 * least <= n:
        # at a whole count it is the sensitivity itself, not merely above it
        search.equal(found, 1 / utility_sensitivity((least, least), n), case, tolerance=1e-12)
    if noisy <= 1:
        search.equal(found, Fraction(n, n + 1), case, tolerance=1e-12)


def _tail(over_count: Callable[..., float], search: Search) -> None:
    """Pr[M > min_a |Z₁ₐ|] is δ/2 as printed, where δ is claimed, and δ with the smaller shift."""
    search.part("the noisy count exceeds the true one")
    for epsilon in (0.01, 0.1, 0.5, 1.0, 3.0):
        for delta in (0.3, 1e-2, 1e-6, 1e-12, 1e-30):
            case = {"epsilon": epsilon, "delta": delta}
            expectations: dict[Rule, float] = {"printed": delta / 2, "repaired": delta}
            for rule, expected in expectations.items():
                by_law = LaplaceMechanism(1 / epsilon, 1).tail(shift(epsilon, delta, rule)) / 2
                found = over_count(epsilon, delta, rule)
                search.equal(
                    found, expected, case | {"rule": rule}, tolerance=1e-12 * expected * (1 + epsilon)
                )
                search.equal(found, by_law, case | {"rule": rule}, tolerance=1e-12 * expected)


def _as_printed(noisy_count: Any, n: int, _: str = "repaired") -> Any:
    return inverse_scale(noisy_count, n, "printed")


FAULTS: dict[str, dict[str, Any]] = {
    "the printed scale": {"inverse": _as_printed},
    "absolute value of the printed scale": {"inverse": lambda m, n, _="repaired": abs(_as_printed(m, n))},
    "the scale of a count that is larger by one": {
        "inverse": lambda m, n, rule="repaired": inverse_scale(m + 1, n, rule)
    },
    "err's part forgotten": {"inverse": lambda m, n, _="repaired": (max(m, 1) + 1) / 2 + 0 * n},
    "the repaired scale for the printed": {"inverse": lambda m, n, _="repaired": inverse_scale(m, n)},
    "both tails of the noise counted": {
        "over_count": lambda epsilon, delta, rule: 2 * over_count_probability(epsilon, delta, rule)
    },
}


CLAIM = Claim(
    id="cgkm.alg-1",
    where="Algorithm 1, § 4",
    statement="With M = min_a |Z₁ₐ| + Lap(1/ε) − ln(1/δ)/ε, δ = exp(−√n) and Δ = 2/(M − 1) + 1/n, "
    "sampling h with probability ∝ exp(−ε·u(Z, h)/(2Δ)), u = Γ^Z + err^Z, defines a mechanism "
    "for every sample.",
    verdict="corrected",
    finding="For M < 1 (and above 1 − 2n) Δ is negative and the largest loss is the likeliest; near M = 1 − 2n "
    "it vanishes; without positives in a group Γ is 0/0. With M raised to 1 and Δ = max(2/(M + 1), 1/M + 1/n), "
    "the exact joint sensitivity at the smaller count M, it is a mechanism for every sample. Pr[M > min_a "
    "|Z₁ₐ|] is δ/2; ln(1/(2δ))/ε is shift enough.",
    statement_uses=("cgkm.definitions",),
    chapter="cgkm-thm-2",
    headline="For a noisy count below 1 the printed scale turns negative, and the hypothesis with the "
    "largest loss becomes the likeliest.",
    witness="A sample of {n} people whose noisy count is {noisy_count}. The printed scale is not positive, "
    "so smaller losses do not become likelier.",
    kind="condition",
    impact="condition",
    because="The algorithm is a mechanism where M > 1; Laplace noise gives smaller counts too, and a "
    "floor of 1 under M repairs it.",
    errata=(
        Erratum(
            where="Algorithm 1, third and fourth line; also the footing of Theorem 2",
            printed="Δ = 2/(M − 1) + 1/n for every M that the Laplace noise gives, M ≤ 1 included",
            correct="M raised to at least 1 and Δ = max(2/(M + 1), 1/M + 1/n)",
            band="condition",
            why="For M between 1 − 2n and 1 the printed Δ is negative, so that larger losses get larger "
            "probabilities.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
