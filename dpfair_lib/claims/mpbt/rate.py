"""MPBT, abstract and § 4.2: the rate √p/n of the fairness difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln, ndtr
from scipy.stats import beta, binom

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.margins.radius import (
    changed_prediction_probability,
    changed_share_bound,
    output_perturbation_radius,
    projection_quantile,
)

RATE = 0.17  # the largest tΦ(−t) is 0.16997


def flat_mean(exponent: float, sigma: float) -> float:
    """Return E Φ(−D/σ) for a distance D from the boundary with P(D ≤ d) = d^a, up to what lies beyond D = 1.

    By parts it is ∫ (σt)^a φ(t) dt over t > 0, which is σ^a 2^(a/2) Γ((1 + a)/2)/(2√π).
    """
    return (
        sigma**exponent
        * 2 ** (exponent / 2)
        * math.exp(float(gammaln((1 + exponent) / 2)))
        / (2 * math.sqrt(math.pi))
    )


def rate_slack(exponent: float, records: int, more: int) -> float:
    """Return how far n·difference stays below (ln n)⁴ times its first value, as a ratio; σ = 1/n, p = 2."""
    grown = more * flat_mean(exponent, 1 / more) / (records * flat_mean(exponent, 1 / records))
    return (math.log(more) / math.log(records)) ** 4 / grown - 1


def check(
    *,
    changed: Callable[..., np.ndarray] = changed_prediction_probability,
    share: Callable[..., float] = changed_share_bound,
    search: Search,
) -> Evidence:
    """Judge that one projection decides, the rate without √p, and that the rate needs a condition on margins.

    The condition is that margins have no more than a bounded density at 0: P(D ≤ d) = d^a with a ≥ 1.
    """
    _one_projection(changed, search)
    _rate(changed, search)
    _orthogonal(share, search)
    _drawn(share, search)
    search.part("a density at the boundary")
    for sigma in (0.01, 1e-4, 1e-8):
        search.equal(
            flat_mean(1.0, sigma) / sigma, 1 / math.sqrt(2 * math.pi), {"sigma": sigma}, tolerance=1e-14
        )
    search.part("no margin condition")
    for exponent in (0.1, 0.25, 0.5, 1.0, 1.5, 2.0):
        for records, more in ((10**2, 10**4), (10**2, 10**8), (10**2, 10**16)):
            case: dict[str, Any] = {"exponent": exponent, "records": records, "more": more}
            search.under(exponent >= 1, rate_slack(**case), case, verify=rate_slack, tolerance=1e-9)
    return search.evidence()


def _one_projection(changed: Callable[..., np.ndarray], search: Search) -> None:
    """Noise drawn in p dimensions against the formula, by exact intervals of coverage 1 − 10⁻⁹."""
    search.part("one projection decides")
    rng, draws = search.rng, 2500 * search.effort
    for p in (1, 2, 7, 60):
        for sigma in (0.05, 0.4, 2.0):
            w, x = rng.normal(size=p), rng.normal(size=(12, p)) * rng.choice([0.01, 10])
            chances = changed(abs(x @ w) / np.linalg.norm(x, axis=1), sigma)
            before = np.sign(x @ w)
            hits = (np.sign((w + sigma * rng.normal(size=(draws, p))) @ x.T) != before).sum(axis=0)
            low = np.where(hits > 0, beta.ppf(5e-10, hits, draws - hits + 1), 0)
            high = np.where(hits < draws, beta.ppf(1 - 5e-10, hits + 1, draws - hits), 1)
            search.observe(
                np.minimum(chances - low, high - chances), {"p": p, "sigma": sigma}, tolerance=1e-12
            )


def _rate(changed: Callable[..., np.ndarray], search: Search) -> None:
    """E over the noise of the share of changed predictions is at most 0.17 σ E[1/D], whatever the dimension."""
    search.part("rate without the dimension")
    t = np.linspace(1e-6, 12, 100_000)
    search.observe(RATE - t * changed(t, 1.0), {"t": t})
    rng = search.rng
    for _ in range(200 * search.effort):
        distances = np.exp(rng.normal(size=40) * rng.choice([0.3, 2]))
        for sigma in (0.001, 0.1, 1.0):
            mean = float(changed(distances, sigma).mean())
            search.observe(RATE * sigma * float((1 / distances).mean()) - mean, {"sigma": sigma})
            search.observe(0.5 - mean, {"sigma": sigma})
    common: dict[str, Any] = {
        "lipschitz": 1.0,
        "strong_convexity": 1.0,
        "n": 10**5,
        "epsilon": 0.5,
        "delta": 1e-10,
    }
    sigma = output_perturbation_radius(1, **common, zeta=0.01) / math.sqrt(4 * math.log(200))
    reach = projection_quantile(0.01, 1e-4) * sigma
    for p in (10, 38, 1000):
        radius = output_perturbation_radius(p, **common, zeta=0.01)
        search.fact(
            f"radius_over_reach_{p}",
            radius / reach,
            f"printed radius over the reach tσ, p = {p}, ζ = 0.01, slack 0.0001",
        )


def _orthogonal(share: Callable[..., float], search: Search) -> None:
    """N records in orthogonal directions, all at one distance: the number that changes is binomial, exactly.

    Judged at both sides of every threshold that the bound may have, on a fine grid of distances.
    """
    search.part("orthogonal records, exact")
    nearly = 0.0
    for n in (1, 5, 40):
        for zeta in (0.01, 0.3):
            for slack in (0.999 / n, 0.999 * ((n + 1) // 2) / n):
                edge = projection_quantile(zeta, slack)
                for distance in (*np.linspace(0, 8, 161).tolist(), edge, math.nextafter(edge, 9)):
                    bound = share(np.full(n, distance), 1.0, zeta=zeta, slack=slack)
                    chance = float(binom.sf(math.floor(bound * n), n, ndtr(-distance)))
                    search.observe(
                        zeta - chance, {"n": n, "distance": distance, "zeta": zeta, "slack": slack}
                    )
                    nearly = max(nearly, chance / zeta)
    search.fact(
        "failure_over_zeta", nearly, "share of changed predictions: largest exact failure probability over ζ"
    )


def _drawn(share: Callable[..., float], search: Search) -> None:
    """Random weights and records, distances from the noisy model: failures are as rare as promised, by exact limits."""
    search.part("distances from the noisy model")
    rng, draws = search.rng, 400 * search.effort
    for p, zeta, slack in ((3, 0.2, 0.05), (30, 0.2, 0.05), (30, 0.5, 0.3)):
        w, x = rng.normal(size=p), rng.normal(size=(50, p))
        norms, failures = np.linalg.norm(x, axis=1), 0
        for noise in 0.7 * rng.normal(size=(draws, p)):
            after = x @ (w + noise)
            changed = float((np.sign(after) != np.sign(x @ w)).mean())
            failures += changed > share(abs(after) / norms, 0.7, zeta=zeta, slack=slack)
        low = float(beta.ppf(1e-9, failures, draws - failures + 1)) if failures else 0.0
        search.observe(zeta - low, {"p": p, "zeta": zeta, "slack": slack, "failures": failures})


FAULTS: dict[str, dict[str, Any]] = {
    "Markov's factor forgotten": {
        "share": lambda d, sigma, zeta, slack: (
            changed_share_bound(d, sigma, zeta=zeta, slack=0.9999) - 0.9999 + slack
        )
    },
    "the slack forgotten": {
        "share": lambda d, sigma, zeta, slack: changed_share_bound(d, sigma, zeta=zeta, slack=slack) - slack
    },
    "twice the noise": {"changed": lambda d, sigma: changed_prediction_probability(d, 2 * sigma)},
    "two-sided": {"changed": lambda d, sigma: 2 * changed_prediction_probability(d, sigma)},
    "variance for the standard deviation": {
        "changed": lambda d, sigma: changed_prediction_probability(d, sigma**2)
    },
}


CLAIM = Claim(
    id="mpbt.rate",
    where="Abstract; § 1, contributions; § 4.2; § 6",
    statement="The fairness difference between private and non-private models vanishes at rate Õ(√p/n) "
    "in the number n of records and p of parameters, for output perturbation and DP-SGD.",
    proof_uses=("mpbt.thm-4.4",),
    verdict="corrected",
    kind="condition",
    impact="condition",
    because="Where margins have at most a bounded density at 0 the difference vanishes, at rate 1/n without √p; "
    "otherwise the rate can be slower.",
    headline="No rate in n holds without a condition on margins: n times the difference can grow like n^(9/10). "
    "With one, and nothing projected, it is 1/n, without √p.",
    witness="From {records} to {more} records, on data of which the share t^(b), b = {exponent}, lies within t "
    "of the boundary. The number of "
    "records times the difference still grows, faster than the logarithms of the stated rate allow.",
    finding="No rate in n holds without a condition on margins: n·difference can grow like n^(9/10). With "
    "distances D to the boundary of finite E[1/D], at most 0.17σE[1/D] of the predictions change on average, and "
    "w.p. 1 − ζ at most P(D ≤ tσ) + s, Φ(−t) = ζs: 1/n without √p, if nothing is projected. For DP-SGD the proof "
    "gives no private noise.",
    errata=(
        Erratum(
            where="Abstract; § 4.2",
            printed="the difference vanishes at rate Õ(√p/n)",
            correct="at rate 1/n, without √p and without projection, if distances to the boundary have at most a "
            "bounded density at 0; "
            "without a condition at no rate in n",
            band="condition",
            why="Many records can lie so near the boundary that a little noise changes them; of the noise one "
            "projection counts for each record.",
        ),
    ),
    chapter="mpbt-output-perturbation",
    check=check,
    faults=FAULTS,
)
