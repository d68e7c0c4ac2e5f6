"""Random classifiers for `ours.both-notions`: many close to the largest power that two notions leave together."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.postprocessing.together import largest_informativeness, least_error_together

PARTS = 60  # true and false positive rates go in these
PROGRAMS = 50  # draws for each linear program


def search_on(
    *,
    informativeness: Callable[..., Any] = largest_informativeness,
    error: Callable[..., Any] = least_error_together,
    draws: int,
    search: Search,
) -> None:
    """Judge both bounds at the gaps that random classifiers of two to six groups have, in fractions."""
    search.part("random classifiers")
    for _ in range(draws):
        parts, k = int(search.rng.integers(3, 24)), int(search.rng.integers(2, 7))
        base = search.rng.integers(0, parts + 1, size=k)
        true, false = _rates(base / parts, search.rng)
        shares = search.rng.integers(1, 9, size=k)
        selected = base * true + (parts - base) * false
        parity = Fraction(int(np.ptp(selected)), parts * PARTS)
        odds = Fraction(int(max(np.ptp(true), np.ptp(false))), PARTS)
        rates = [Fraction(int(b), parts) for b in base]
        case = {"base": rates, "true positive": true.tolist(), "false positive": false.tolist()}
        bounds = informativeness(rates, parity, odds)
        room = [
            bound - Fraction(int(found), PARTS)
            for bound, found in zip(bounds, abs(true - false), strict=True)
        ]
        search.observe(min(room), case)
        wrong = base * (PARTS - true) + (parts - base) * false
        parted = [Fraction(int(s), int(shares.sum())) for s in shares]
        spent = Fraction(int(shares @ wrong), int(shares.sum()) * parts * PARTS)
        search.observe(spent - error(parted, rates, parity, odds), case | {"shares": shares.tolist()})
    search.part("linear programs")
    for _ in range(max(draws // PROGRAMS, 20)):
        populations = search.rng.uniform(0.02, 0.98, size=int(search.rng.integers(3, 8)))
        gaps = search.rng.choice([0.0, 0.001, 0.005, 0.01, 0.02], size=2)
        bounds = informativeness(populations.tolist(), *gaps.tolist())
        at = int(search.rng.integers(len(populations)))
        search.equal(
            bounds[at],
            min(_largest(populations, float(gaps[0]), float(gaps[1]), at), 1.0),
            {"base": populations.tolist(), "gaps": gaps.tolist(), "group": at},
            tolerance=1e-7,
        )


def _rates(base: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return true and false positive rates: a fifth of them anything, the rest near to a classifier that attains."""
    k = len(base)
    if rng.random() < 0.2:
        true, false = rng.integers(0, PARTS + 1, size=(2, k))
        return true, false
    power, low, high = rng.random() * rng.random(), base.min(), base.max()
    # false positive rates fall as base rates grow, so that selection rates stay close together
    slope = rng.random() * power
    falls = slope * (high - base)
    noise = rng.integers(0, 4) * rng.random(size=(2, k)) / PARTS
    lift = rng.random() * max(1 - power - slope * (high - low), 0)
    false = falls + lift + noise[0]
    true = falls + lift + power + noise[1]
    pair = np.clip(np.rint(PARTS * np.array([true, false])), 0, PARTS).astype(int)
    if rng.random() < 0.5:  # a classifier turned round has |TPR − FPR| and all gaps as before
        pair = PARTS - pair
    return pair[0], pair[1]


def _largest(base: np.ndarray, parity: float, odds: float, at: int) -> float:
    """Return the largest FPR − TPR of a group, by a linear program; the limits 0 and 1 of rates are left out."""
    from scipy.optimize import linprog

    k = len(base)
    rows, limits = [], []
    for one, other in itertools.permutations(range(k), 2):
        for limit, of_true, of_false in (
            (odds, (1.0, 1.0), (0.0, 0.0)),
            (odds, (0.0, 0.0), (1.0, 1.0)),
            (parity, (base[one], base[other]), (1 - base[one], 1 - base[other])),
        ):
            row = np.zeros(2 * k)
            row[one], row[other] = of_true[0], -of_true[1]
            row[k + one], row[k + other] = of_false[0], -of_false[1]
            rows.append(row)
            limits.append(limit)
    aim = np.zeros(2 * k)
    aim[at], aim[k + at] = 1, -1
    # with HiGHS's own tolerance of 1e-7 a program of close base rates was off by 1.2e-7
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    bounds = [(-100, 100)] * (2 * k)
    solved = linprog(aim, np.array(rows), limits, bounds=bounds, method="highs-ds", options=options)
    return -float(solved.fun)
