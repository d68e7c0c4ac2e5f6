"""Ours: one label moves a logistic minimiser nearly as far as it can be from 0, and what this means for figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import erfcx
from scipy.stats import norm

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.printed_figures import FigureRun, figure_runs
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.experiments.mpbt.bounded_impact import PROBLEMS
from dpfair_lib.experiments.mpbt.bounded_impact_records import cut_n
from dpfair_lib.experiments.mpbt.decisive_pairs import (
    decisive_move,
    decisive_moves,
    decisive_rows,
    farthest_move,
)
from dpfair_lib.learners.minimiser import minimise
from dpfair_lib.privacy.minimisers import LARGEST_PULL, output_perturbation_sensitivity

SIZES = 3, 4, 7, 8
BOUNDS = 6.0, 3.0
GROWN = tuple(10**power for power in range(2, 9))
ACCURACY = 1e-11  # of the minimisers on explicit rows: the norm of a gradient
DATA = "celeba", "acs-income"


def check(
    *,
    moves: Callable[..., np.ndarray] = decisive_moves,
    farthest: Callable[..., float] = farthest_move,
    figures: Callable[..., Sequence[FigureRun]] = figure_runs,
    search: Search,
) -> Evidence:
    """Judge the pair on explicit rows, the bound from above, the growth with n, and all points of the figures."""
    _the_pair(moves, search)
    _from_above(farthest, search)
    _growth(moves, search)
    for data in DATA:
        _figures(data, figures, search)
    return search.evidence()


@once
def _the_pair(moves: Callable[..., np.ndarray], search: Search) -> None:
    """Both minimisers are found on the rows themselves; these have norm Λ and differ in one label."""
    search.part("the pair, on explicit rows")
    for n in SIZES:
        for bound, component, modulus in (
            (6.0, 0.0, 1.0),
            (6.0, 0.7, 1 / n**2),
            (3.0, 1.5, 0.1),
            (6.0, 6.0, 1.0),
        ):
            rows, labels = decisive_rows(bound, n, component)
            other = labels * np.where(np.arange(n) == 0, -1.0, 1.0)
            moved = np.linalg.norm(
                np.subtract(*(minimise(rows, signs, modulus, ACCURACY) for signs in (labels, other)))
            )
            case = {"n": n, "Λ": bound, "s": component, "μ": modulus}
            found = float(moves(bound, n, modulus, np.array([component]))[0])
            search.equal(found, float(moved), case, tolerance=2 * ACCURACY / modulus + 1e-12)
            search.equal(float(abs(np.linalg.norm(rows, axis=1) - bound).max()), 0.0, case, tolerance=1e-14)


@once
def _from_above(farthest: Callable[..., float], search: Search) -> None:
    """No pair of random data sets that differ in one record is farther apart, and the pair is not either."""
    search.part("no pair is farther apart")
    for trial in range(40 * search.effort):
        n, bound = int(search.rng.integers(3, 9)), BOUNDS[trial % 2]
        modulus = (1.0, 1 / n**2)[trial // 2 % 2]
        rows = search.rng.normal(size=(n + 1, 2))
        rows *= bound / np.linalg.norm(rows, axis=1)[:, None]
        one, other = (minimise(chosen, np.ones(n), modulus, ACCURACY) for chosen in (rows[:n], rows[1:]))
        case = {"trial": trial, "n": n, "μ": modulus}
        most = farthest(bound, n, modulus)
        search.observe(most - float(np.linalg.norm(one - other)), case, tolerance=1e-9)
        search.observe(most - decisive_move(bound, n, modulus), case)


@once
def _growth(moves: Callable[..., np.ndarray], search: Search) -> None:
    """At μ = 1/n² the move is nearly n√W, and never more than 2n√W; ε lies between the squares of both."""
    search.part("growth with n, as run")
    root = math.sqrt(LARGEST_PULL)
    for n in GROWN:
        for bound in BOUNDS:
            component = (1 + LARGEST_PULL) / (n * root)
            moved, case = float(moves(bound, n, 1 / n**2, np.array([component]))[0]), {"n": n, "Λ": bound}
            search.observe(moved / n - root * (1 - 5 / n), case)
            search.observe(2 * root - moved / n, case)
            ratio = moved / _noise(bound, n, 1.0)
            search.observe(ratio**2 / 2 - n**4 / math.log(n) / (36 * bound**2) * LARGEST_PULL, case)
            # ε as this ratio has it: at ratio²/2 δ is still ½ or so, far above 1/n²
            search.observe(_delta(ratio, ratio**2 / 2) - 1 / n**2, case)


def _noise(bound: float, n: int, epsilon: float) -> float:
    """Return the noise of the figures: the classical formula at the modulus 1 and δ = 1/n²."""
    return bound * math.sqrt(8 * math.log(1.25 * n**2)) / (n * epsilon)


def _delta(ratio: float, epsilon: float) -> float:
    """Return δ(ε) of a Gaussian that a pair moves by so many standard deviations."""
    z, tail = epsilon / ratio - ratio / 2, epsilon / ratio + ratio / 2
    return float(norm.cdf(-z) - norm.pdf(z) * math.sqrt(math.pi / 2) * erfcx(tail / math.sqrt(2)))


@once
def _figures(data: str, figures: Callable[..., Sequence[FigureRun]], search: Search) -> None:
    """Each point once more: its noise, its δ at both bounds, and its verdict."""
    search.part(f"the figures, {data}")
    bound, counted = dict(zip(DATA, BOUNDS, strict=True))[data], {}
    for fit in PROBLEMS:
        found = figures(data, fit)
        counted[fit] = len(found)
        for one in found:
            case = {"data": data, "fit": fit, "n": one.n, "ε": one.stated}
            modulus = 1.0 if fit == "as stated" else 1 / one.n**2
            sigma = _noise(bound, one.n, one.stated)
            for epsilon, moved in (
                (one.least, decisive_move(bound, one.n, modulus)),
                (one.most, farthest_move(bound, one.n, modulus)),
            ):
                search.equal(_delta(moved / sigma, epsilon) * one.n**2, 1.0, case, tolerance=5e-3)
            search.observe(one.most - one.least, case)
            search.observe(one.stated - one.most if fit == "as stated" else one.least - one.stated, case)
        broken = sum(one.least > one.stated for one in found)
        name = f"{data}_{fit}".replace("-", "_").replace(" ", "_")
        search.fact(
            f"{name}_broken", broken, f"{data}, {fit}: points whose ε is larger than stated, of {len(found)}"
        )
        search.fact(
            f"{name}_least", f"{found[-1].least:.2g}", f"{data}, {fit}: at least this ε at the last point"
        )
        search.fact(
            f"{name}_most", f"{found[-1].most:.2g}", f"{data}, {fit}: at most this ε at the last point"
        )
    search.exhausts(f"two axes of 20 points, {data}, both fits", cases=80)
    search.agree(counted == dict.fromkeys(PROBLEMS, 40), True, {"data": data})
    n = cut_n(data)
    stated = _delta(farthest_move(bound, n, 1.0) / _noise(bound, n, 1.0), 1.0)
    search.needs(
        "that the modulus is 1/n²: at 1 the same noise has ε ≤ 1",
        slack=stated - 1 / n**2,
        case={"data": data, "n": n},
    )


def _with_all_others(bound: float, n: int, modulus: float, components: Any) -> np.ndarray:
    """Count an odd other too."""
    return decisive_moves(bound, n + 1 - n % 2, modulus * n / (n + 1 - n % 2), components)


def _figures_of(change: Callable[[FigureRun], FigureRun]) -> Callable[..., Sequence[FigureRun]]:
    return lambda data, fit: [change(one) for one in figure_runs(data, fit)]


FAULTS: dict[str, dict[str, Any]] = {
    "half of the move": {"moves": lambda *case: decisive_moves(*case) / 2},
    "equal records for any component": {
        "moves": lambda bound, n, modulus, s: decisive_moves(bound, n, modulus, bound + 0 * s)
    },
    "an odd other counts": {"moves": _with_all_others},
    "the sensitivity at the modulus 1": {
        "farthest": lambda bound, n, _: output_perturbation_sensitivity(
            lipschitz=bound, strong_convexity=1.0, n=n
        )
    },
    "a quarter of the bound": {"farthest": lambda bound, n, modulus: farthest_move(bound, n, modulus) / 4},
    "the stated ε for the true one": {"figures": _figures_of(lambda one: one._replace(least=one.stated))},
    "twice the ε from below": {"figures": _figures_of(lambda one: one._replace(least=2 * one.least))},
    "the models as stated for those as run": {"figures": lambda data, _: figure_runs(data, "as stated")},
    "one axis": {"figures": lambda data, fit: figure_runs(data, fit)[:20]},
}

CLAIM = Claim(
    id="ours.decisive-label",
    where="One label that decides, Results 1 and 2",
    statement="Rows have norm Λ ≥ 2, in three or more dimensions. The mean logistic loss plus ‖w‖²/(2n²) is minimised, "
    "as the figures of MPBT were run. Replacing one label can move the minimiser by n√W(1 − o(1)), where "
    "We^W = 1/e; replacing a record never by more than 2n√W. With the noise of the figures for ε = 1 and δ = 1/n² "
    "the true ε is of the order n⁴/log n, between bounds whose ratio tends to 4. As run, no point of the figures "
    "has the ε that is stated; as stated, every point has.",
    verdict="holds",
    finding="Proved. Both minimisers were found on explicit rows, and all 160 points were judged by the exact "
    "privacy curve of Gaussian noise. This holds for exact minimisers, and for one model of each point.",
    headline="As run, the figures of MPBT hide less the more records there are: where ε = 1 is stated, it is of the "
    "order n⁴/log n.",
    kind="theorem",
    chapter="decisive-label",
    check=check,
    faults=FAULTS,
)
