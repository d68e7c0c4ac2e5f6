"""MPBT, Theorem 4.4: the fairness of a private model relative to that of the optimum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr

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
    """‖h_priv − h*‖ beyond the radius, in the dimension 2 where the norm's tail is e^(−r²/2σ²)."""
    search.part("coverage of the radius in two dimensions")
    for epsilon in (0.05, 0.3, 0.9):
        for delta in (1e-10, 1e-3, 0.3):
            for zeta in (1e-6, 0.01, 0.3, 0.9):
                sigma = 2 * 3.0 / (0.5 * 40) * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
                case = {"epsilon": epsilon, "delta": delta, "zeta": zeta}
                for kind in ("lemma-4.1", "laurent-massart", "exact"):
                    r = radius(
                        2, lipschitz=3.0, strong_convexity=0.5, n=40, epsilon=epsilon, delta=delta, zeta=zeta, kind=kind
                    )  # fmt: skip
                    tail = math.exp(-((r / sigma) ** 2) / 2)
                    search.observe(1 - tail / zeta, case | {"kind": kind}, tolerance=1e-12)


FAULTS: dict[str, dict[str, Any]] = {
    "χ with a constant below √2‖x‖": {"bound": lambda chi, distance: chi * distance / 1.42},
    "squared distance": {"bound": lambda chi, distance: chi * distance**2},
    "radius of one dimension": {"radius": lambda p, **rest: output_perturbation_radius(p - 1, **rest)},
    "radius for ζ/10 given as for ζ": {
        "radius": lambda p, zeta, **rest: output_perturbation_radius(p, zeta=min(10 * zeta, 0.99), **rest)
    },
}
