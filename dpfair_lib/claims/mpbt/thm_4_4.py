"""MPBT, Theorem 4.4: the fairness of a private model relative to that of the optimum."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.margins.radius import output_perturbation_radius


def margins_of(scores: np.ndarray) -> np.ndarray:
    """Return the margin of label 0 for scores of shape (…, labels)."""
    return np.asarray(scores[..., 0] - scores[..., 1:].max(axis=-1))


def one_point(norm: float, n: int, epsilon: float, delta: float, zeta: float) -> dict[str, float]:
    """Return a world in which Theorem 4.4 can be computed: n equal records (norm, label 0), two labels, d = 1.

    The loss is −(W_0 − W_1)x + ‖W‖²/2 on the ball of radius √2·norm, so μ = 1 and Λ = 2√2·norm. The optimum is
    h* = (norm, −norm), the margin 2·norm², L = 2·norm, χ = L/ρ = 1/norm. The private model errs everywhere if
    Z_0 − Z_1 < −2·norm; the projection scales it down and changes no prediction.
    """
    radius = output_perturbation_radius(
        2,
        lipschitz=2 * math.sqrt(2) * norm,
        strong_convexity=1.0,
        n=n,
        epsilon=epsilon,
        delta=delta,
        zeta=zeta,
    )
    sigma = 4 * math.sqrt(2) * norm / n * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    return {
        "radius": radius,
        "chi": 1 / norm,
        "L": 2 * norm,
        "errs": float(ndtr(-math.sqrt(2) * norm / sigma)),
    }


def printed_slack(norm: float, n: int, epsilon: float, delta: float, zeta: float) -> float:
    """Return ζ minus the probability that the accuracy differs by more than the printed χ·L·radius."""
    world = one_point(norm, n, epsilon, delta, zeta)
    return zeta - (world["errs"] if world["chi"] * world["L"] * world["radius"] < 1 else 0.0)


def certificate(chi: Any, distance: Any) -> Any:
    """Return χ·‖h − h′‖: L is inside χ already."""
    return chi * distance


def check(
    *,
    bound: Callable[..., Any] = certificate,
    radius: Callable[..., float] = output_perturbation_radius,
    search: Search,
) -> Evidence:
    """Judge coverage where it is exact, on drawn models from either side, and the printed factor L."""
    search.part("the printed factor L")
    for norm in (0.001, 0.01, 0.1, 1.0):
        for n in (2, 4, 8, 30):
            case: dict[str, Any] = {"norm": norm, "n": n, "epsilon": 0.5, "delta": 1 / 16, "zeta": 0.01}
            search.against(printed_slack(**case), case, verify=printed_slack, tolerance=1e-12)
            search.part("coverage in the same world")
            world = one_point(**case)
            covered = world["errs"] if bound(world["chi"], world["radius"]) < 1 else 0.0
            search.observe(case["zeta"] - covered, case)
            search.part("the printed factor L")
    world = one_point(0.001, 2, 0.5, 1 / 16, 0.01)
    search.fact(
        "fails_with", world["errs"], "features of norm 0.001, n = 2, ζ = 0.01: how often the bound fails"
    )
    worlds = {norm: one_point(norm, 4, 0.5, 1 / 16, 0.01) for norm in (1.0, 0.1, 0.01, 0.001)}
    search.fact(
        "by_norm",
        [
            (norm, w["chi"] * w["L"] * w["radius"], w["chi"] * w["radius"], w["errs"])
            for norm, w in worlds.items()
        ],
        "n = 4, ε = 1/2, ζ = 0.01: norm, printed bound, bound without the second L, chance of a change by 1",
    )
    _either_side(bound, search)
    _coverage(radius, search)
    return search.evidence()


def _either_side(bound: Callable[..., Any], search: Search) -> None:
    """The accuracy of h and h′ on random points: |difference| ≤ χ(h)·‖h − h′‖ and ≤ χ(h′)·‖h − h′‖ in every draw."""
    search.part("either model as the reference")
    # one record x = 1, two labels: scores (1, −1) become (−t, t), a little past the tie at the distance √2
    past = 1e-9
    distance, both = math.sqrt(2) * (1 + past), {"one record, scores": (1, -1), "tie passed by": past}
    search.observe(bound(2 / 2, distance) - 1, both)
    # with the least Lipschitz constant, √2‖x‖, the bound is attained there
    least = bound(math.sqrt(2) / 2, distance) - 1
    search.constant("χ·L·radius", "χ·radius", slack=least, case=both | {"L over ‖x‖": "√2"})
    rng = search.rng
    for _ in range(30 * search.effort):
        labels, d, points, draws = (
            int(rng.integers(2, 5)),
            int(rng.integers(1, 5)),
            int(rng.integers(1, 9)),
            2000,
        )
        x = rng.normal(size=(points, d))
        best = rng.normal(size=(labels, d))
        noise = rng.normal(size=(draws, labels, d)) * np.exp(rng.normal(size=(draws, 1, 1)) * 2 - 2)
        before = margins_of(x @ best.T)
        after = margins_of(np.einsum("id,rkd->rik", x, best + noise))
        moved, lipschitz = np.linalg.norm(noise, axis=(1, 2)), 2 * np.linalg.norm(x, axis=1)
        differs = abs((after > 0).mean(axis=1) - (before > 0).mean())
        case = {"labels": labels, "d": d, "points": points, "draw": np.arange(draws)}
        for reference in (before[None, :], after):
            chi = (lipschitz / abs(reference)).mean(axis=1)
            search.observe(bound(chi, moved) - differs, case, tolerance=1e-12)


def _coverage(radius: Callable[..., float], search: Search) -> None:
    """‖h_priv − h*‖ beyond the radius, in even dimensions, where the norm's tail is a sum."""
    search.part("coverage of the radius")
    problems = itertools.product(
        ((2, 3.0, 0.5, 40), (4, 3.0, 0.5, 40), (2, 0.1, 2.0, 1000), (8, 20.0, 0.01, 7)),
        ("classical", "analytic"),
    )
    levels = list(itertools.product((0.05, 0.3, 0.9), (1e-10, 1e-3, 0.3), (1e-6, 0.01, 0.3, 0.9)))
    for ((p, lipschitz, modulus, n), noise), (epsilon, delta, zeta) in itertools.product(problems, levels):
        moved = 2 * lipschitz / (modulus * n)
        problem = {"lipschitz": lipschitz, "strong_convexity": modulus, "n": n, "noise_kind": noise}
        case = {"p": p, **problem, "epsilon": epsilon, "delta": delta, "zeta": zeta}
        if noise == "classical":
            sigma = moved * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
        else:
            sigma = moved * _exact_noise(epsilon, delta)
        for kind in ("lemma-4.1", "laurent-massart", "exact"):
            r = radius(p, **problem, epsilon=epsilon, delta=delta, zeta=zeta, kind=kind)
            # the squared norm of p = 2m normal numbers: fewer than m events of a Poisson law of mean r²/2σ²
            mean = (r / sigma) ** 2 / 2
            tail = math.exp(-mean) * sum(mean**i / math.factorial(i) for i in range(p // 2))
            search.observe(1 - tail / zeta, case | {"kind": kind}, tolerance=1e-9)
            if kind == "exact":
                search.equal(tail / zeta, 1.0, case, tolerance=1e-6)


@functools.cache
def _exact_noise(epsilon: float, delta: float) -> float:
    """Return the least standard deviation that is (ε, δ)-private at sensitivity 1, by bisection on its exact δ."""
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        above = math.exp(epsilon + float(log_ndtr(-0.5 / middle - epsilon * middle)))
        low, high = (middle, high) if ndtr(0.5 / middle - epsilon * middle) - above > delta else (low, middle)
    return high


FAULTS: dict[str, dict[str, Any]] = {
    "χ with a constant below √2‖x‖": {"bound": lambda chi, distance: chi * distance / 1.42},
    "one Lipschitz constant for all": {
        "radius": lambda p, *, lipschitz, **rest: output_perturbation_radius(
            p, lipschitz=3.0 + 0 * lipschitz, **rest
        )
    },
    "n forgotten": {"radius": lambda p, *, n, **rest: output_perturbation_radius(p, n=40 + 0 * n, **rest)},
    "the classical radius for the analytic noise": {
        "radius": lambda p, *, noise_kind, **rest: output_perturbation_radius(
            p, noise_kind=noise_kind and "classical", **rest
        )
    },
    "squared distance": {"bound": lambda chi, distance: chi * distance**2},
    "radius of one dimension": {"radius": lambda p, **rest: output_perturbation_radius(p - 1, **rest)},
    "radius for ζ/10 given as for ζ": {
        "radius": lambda p, zeta, **rest: output_perturbation_radius(p, zeta=min(10 * zeta, 0.99), **rest)
    },
}


CLAIM = Claim(
    id="mpbt.thm-4.4",
    where="Theorem 4.4, § 4.2",
    statement="W.p. ≥ 1 − ζ, |F_k(h_priv) − F_k(h*)| ≤ χ_k(h_ref)·LΛ√(32p log(1.25/δ) log(2/ζ))/(μnε), "
    "h_ref ∈ {h_priv, h*}, for output perturbation; for DP-SGD Õ(χ_k(h_ref)·LΛ√(p "
    "log(1/δ))/(√ζ·μnε)).",
    statement_uses=("mpbt.thm-3.2",),
    proof_uses=("mpbt.lemma-4.1", "mpbt.lemma-4.2"),
    verdict="corrected",
    kind="constant",
    impact="condition",
    because="The theorem holds without the factor L, and the experiments bound |ρ|/L by the radius, without that "
    "factor.",
    headline="One factor L is too many: with features of norm 0.001 the printed bound fails with probability 0.46, "
    "not 0.01; without it the theorem holds.",
    witness="{n} equal records whose feature has norm {norm}, ε = {epsilon}, δ = {delta}, ζ = {zeta}. The accuracy "
    "differs by more than the printed bound with a probability above ζ.",
    finding="The factor L before Λ is one too many: χ contains it, and with features of norm 0.001 the "
    "printed bound fails with probability 0.46, not 0.01. Without it the theorem holds for output "
    "perturbation, with either model as h_ref where χ is finite. χ of h* is computed from data and not "
    "private.",
    chapter="mpbt-dp-sgd",
    errata=(
        Erratum(
            where="Theorem 4.4, both displays",
            printed="a factor L beside χ, which contains L",
            correct="no factor L",
            band="condition",
            why="χ is a mean of L/|ρ|, so it has L already; with L below 1 the printed bound is too small.",
        ),
        Erratum(
            where="Theorem 4.4, second display",
            printed="the root of log(1/δ), where Lemma 4.2 has log(1/δ)² for the squared distance",
            correct="log(1/δ)",
            band="condition",
            why="The distance is the root of a bound with the square of the logarithm.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
