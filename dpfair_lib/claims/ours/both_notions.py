"""Ours: what demographic parity and equalized odds cost together, for any number of groups and relaxed by gaps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.postprocessing.together import largest_informativeness, least_error_together

PARTS = 4  # rates go in these
BASES = [(1, 3), (0, 4), (2, 2), (1, 2), (3, 4)]  # in quarters
TRIPLES = [(0, 2, 3), (1, 2, 4), (2, 2, 3)]


def check(
    *,
    informativeness: Callable[..., Any] = largest_informativeness,
    error: Callable[..., Any] = least_error_together,
    search: Search,
) -> Evidence:
    """Judge both bounds at every choice of rates on a grid, at the gaps that these have; and where they are met."""
    _every_choice(informativeness, error, search)
    _attained(informativeness, error, search)
    _middle(informativeness, search)
    gaps, base = (Fraction(1, 16), Fraction(1, 16)), (Fraction(1, 4), Fraction(3, 4))
    whole = largest_informativeness(base, *gaps)[0]  # attained
    less = largest_informativeness(base, gaps[0], gaps[1] / 2)[0]
    search.needs(
        "the gap of equalized odds: with half of it", slack=less - whole, case={"base": base, "gaps": gaps}
    )
    search.needs(
        "that base rates differ", slack=Fraction(0) - 1, case={"base": (Fraction(1, 2),) * 2, "gaps": 0}
    )
    return search.evidence()


@once
def _every_choice(informativeness: Callable[..., Any], error: Callable[..., Any], search: Search) -> None:
    search.part("every choice of rates")
    for bases in (*BASES, *TRIPLES):
        k, steps = len(bases), PARTS if len(bases) == 2 else 2
        cells = np.array(list(itertools.product(range(0, PARTS + 1, PARTS // steps), repeat=2 * k))).reshape(
            -1, k, 2
        )
        true, false = cells[..., 0], cells[..., 1]
        base = np.array(bases)
        selected = base * true + (4 - base) * false  # in 16ths
        spread = [values.max(axis=1) - values.min(axis=1) for values in (selected, true, false)]
        parity, odds = spread[0], 4 * np.maximum(spread[1], spread[2])  # in 16ths
        wrong = base * (4 - true) + (4 - base) * false  # in 16ths
        shares = [Fraction(at + 1, k * (k + 1) // 2) for at in range(k)]
        weighted = wrong @ np.array([at + 1 for at in range(k)])
        for gaps in np.unique(np.stack([parity, odds], axis=1), axis=0):
            here = (parity == gaps[0]) & (odds == gaps[1])
            sizes = [Fraction(int(gap), 16) for gap in gaps]
            rates = [Fraction(int(b), 4) for b in bases]
            case = {"base": bases, "parity": sizes[0], "odds": sizes[1]}
            bounds = informativeness(rates, *sizes)
            largest = abs(true - false)[here].max(axis=0)
            for bound, found in zip(bounds, largest, strict=True):
                search.observe(bound - Fraction(int(found), PARTS), case)
            least = error(shares, rates, *sizes)
            search.observe(Fraction(int(weighted[here].min()), 16 * k * (k + 1) // 2) - least, case)
    search.exhausts(
        "true and false positive rates of two groups in quarters, of three in halves, at the gaps that they have",
        cases=len(BASES) + len(TRIPLES),
    )


@once
def _attained(informativeness: Callable[..., Any], error: Callable[..., Any], search: Search) -> None:
    """The extreme groups of three attain the bound where there is room; exact notions leave the error of constants."""
    search.part("attained")
    eighths = [Fraction(i, 8) for i in range(9)]
    for low, high in itertools.combinations(eighths, 2):
        for parity, odds in itertools.product((Fraction(0), Fraction(1, 16), Fraction(1, 4)), repeat=2):
            middle = (low + 2 * high) / 3
            whole = (parity + odds) / (high - low)
            case = {"low": low, "high": high, "parity": parity, "odds": odds}
            bounds = informativeness((low, middle, high), parity, odds)
            if whole + odds <= 1:
                # false positive rates of the three groups; each true positive rate is J more
                top, bottom = high * whole, odds + low * whole
                false = (odds, min(odds, top - middle * whole), Fraction(0))
                selected = [f + b * whole for f, b in zip(false, (low, middle, high), strict=True)]
                search.equal(max(selected) - min(selected), parity, case)
                search.observe(odds - (max(false) - min(false)), case)
                search.observe(min(false), case)
                search.equal(top - bottom, parity, case)
                search.equal(bounds[0], whole, case)
                search.equal(bounds[2], whole, case)
            best = error((Fraction(1, 3), Fraction(2, 3)), (low, high), 0 * parity, 0 * odds)
            search.equal(best, min(low, 1 - low) / 3 + 2 * min(high, 1 - high) / 3, case)
    for same in eighths:
        search.equal(sum(informativeness((same, same, same), Fraction(0), Fraction(0))), 3, {"base": same})


def _middle(informativeness: Callable[..., Any], search: Search) -> None:
    """Three to five groups: a linear program finds the largest |TPR − FPR|, the limits 0 and 1 of rates left out."""
    search.part("every group, by linear programs")
    for _ in range(40 * search.effort):
        base = search.rng.uniform(0.05, 0.95, size=int(search.rng.integers(3, 6)))
        gaps = search.rng.choice([0.0, 0.01, 0.02], size=2)
        bounds = informativeness(base.tolist(), *gaps.tolist())
        for at, bound in enumerate(bounds):
            case = {"base": base.tolist(), "gaps": gaps.tolist(), "group": at}
            search.equal(
                bound, min(_largest(base, float(gaps[0]), float(gaps[1]), at), 1.0), case, tolerance=1e-7
            )


def _largest(base: np.ndarray, parity: float, odds: float, at: int) -> float:
    from scipy.optimize import linprog

    k = len(base)
    kinds = (
        np.eye(k, 2 * k),
        np.eye(k, 2 * k, k),
        np.hstack([np.diag(base), np.diag(1 - base)]),
    )  # T, F, selection
    pairs = list(itertools.permutations(range(k), 2))
    rows = np.array([rate[a] - rate[b] for rate in kinds for a, b in pairs])
    limits = np.repeat([odds, odds, parity], len(pairs))
    aim = kinds[1][at] - kinds[0][at]
    solved = linprog(aim, rows, limits, bounds=[(-100, 100)] * (2 * k), method="highs-ds")
    return -float(solved.fun)


def _farthest(base: Any, parity: Any, odds: Any) -> list[Any]:
    """Each group is compared with the farthest other one alone."""
    room = parity + odds
    away = [max(abs(rate - other) for other in base) for rate in base]
    return [min(room / d, 1 + 0 * room) if d else 1 + 0 * room for d in away]


def _nearest(base: Any, parity: Any, odds: Any) -> list[Any]:
    """Each group is compared with the one nearest to it."""
    room = parity + odds
    away = [min((abs(b - o) for j, o in enumerate(base) if j != i)) for i, b in enumerate(base)]
    return [min(room / a, 1 + 0 * room) if a else 1 + 0 * room for a in away]


FAULTS: dict[str, dict[str, Any]] = {
    "each group compared with the nearest": {"informativeness": _nearest},
    "each group compared with the farthest alone": {"informativeness": _farthest},
    "equalized odds exact": {
        "informativeness": lambda base, parity, odds: largest_informativeness(base, parity, 0 * odds)
    },
    "parity exact": {
        "informativeness": lambda base, parity, odds: largest_informativeness(base, 0 * parity, odds)
    },
    "larger of the two gaps": {
        "informativeness": lambda base, parity, odds: largest_informativeness(
            base, max(parity, odds), 0 * odds
        )
    },
    "both gaps twice": {
        "informativeness": lambda base, parity, odds: largest_informativeness(base, 2 * parity, 2 * odds)
    },
    "the base rate for the rarer label": {
        "error": lambda shares, base, parity, odds: sum(
            s * b * (1 - i)
            for s, b, i in zip(shares, base, largest_informativeness(base, parity, odds), strict=True)
        )
    },
    "groups of one size": {
        "error": lambda shares, *rest: least_error_together([sum(shares) / len(shares)] * len(shares), *rest)
    },
    "an error of exact notions for all": {
        "error": lambda shares, base, parity, odds: least_error_together(shares, base, 0 * parity, 0 * odds)
    },
}


CLAIM = Claim(
    id="ours.both-notions",
    where="Any number of groups, Result 6",
    statement="Let base rates π have the extremes π_b < π_c, D apart, and let a classifier have selection rates "
    "within γₚ, and true and false positive rates within γₒ. Then |TPR − FPR| is at most (γₚ + γₒ)/D in "
    "the two extreme groups, and at most J = min((γₚ + γₒ)/D + γₒ, (γₚ + γₒ)/(u + vπ_b/π_c), (γₚ + γₒ)/(v "
    "+ u(1 − π_c)/(1 − π_b))) in a group u above π_b and v below π_c. The error in a group is at least "
    "min(π, 1 − π) · (1 − J), if J < 1.",
    verdict="holds",
    finding="Proved, compared with every choice of rates on a grid, and with linear programs. The extreme groups "
    "attain it together wherever the bound plus γₒ is at most 1; every group attains it if the limits 0 "
    "and 1 of rates are left out. With exact notions and different base rates nothing is left but the "
    "error of one answer for each group.",
    headline="Parity and equalized odds together leave a classifier at most about (γₚ + γₒ)/D of its power to tell "
    "labels apart.",
    kind="theorem",
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
