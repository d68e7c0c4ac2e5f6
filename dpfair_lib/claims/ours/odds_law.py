"""Ours: equal odds in closed form, and the law of the gap that private equalized odds leaves.

It is exact for two groups. For every γ and any number of groups there is a bound on the gap.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpfair_lib.central.several_groups.meeting_lines import meets_within
from dpfair_lib.central.several_groups.noisy_labels import LabelLaw
from dpfair_lib.central.several_groups.odds_corner import EqualOdds, equal_odds
from dpfair_lib.central.several_groups.odds_gaps import two_largest_within
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.svm.equalized_odds_program import (
    OddsProgram,
    expected_errors,
    positive_rates,
    rates_after,
    solve,
)

EXACT, SOLVED = 1e-9, 1e-6
Laws = tuple[tuple[LabelLaw, LabelLaw], tuple[LabelLaw, LabelLaw]]


def check(
    *,
    corner: Callable[..., EqualOdds] = equal_odds,
    meets: Callable[..., tuple[float, float]] = meets_within,
    within: Callable[..., float] = two_largest_within,
    search: Search,
) -> Evidence:
    """Compare the rules with all vertices of the program and its solver, and the law with sums over all noisy rates."""
    _every_vertex(corner, search)
    _solver(corner, search)
    _sums(meets, search)
    _every_rule(within, search)
    _what_is_needed(search)
    return search.evidence()


@once
def _every_vertex(corner: Callable[..., EqualOdds], search: Search) -> None:
    """Two groups with few rows in each cell: no vertex makes fewer errors."""
    search.part("all vertices of the program")
    cells = [
        np.array(one, dtype=float).reshape(2, 2)
        for one in itertools.product((0, 1, 3), (0, 1), (0, 2), (0, 1))
    ]
    pairs = list(itertools.combinations_with_replacement(cells, 2))
    for first, second in pairs:
        counts = np.stack([first, second], axis=1)
        found = corner(counts)
        least = min(float(expected_errors(counts, rule)) for rule in _vertices(*positive_rates(counts)))
        case = {"counts": counts.tolist()}
        search.equal(float(expected_errors(counts, found.rule)), least, case, tolerance=EXACT)
        search.equal(found.errors, least, case, tolerance=EXACT)
        rates = rates_after(positive_rates(counts), found.rule)
        search.equal(rates.ravel(), np.repeat(found.rates, 2), case, tolerance=EXACT)
    search.exhausts(
        "two groups whose four cells have 0, 1 or 3; 0 or 1; 0 or 2; 0 or 1 rows: all vertices of the program",
        cases=3 * len(pairs),
    )


def _vertices(false: np.ndarray, true: np.ndarray) -> Iterator[np.ndarray]:
    """Yield all vertices of the rules with equal rates: two of the four chances, or all, are 0 or 1."""
    rows = np.array([[1 - r[0], r[0], r[1] - 1, -r[1]] for r in (false, true)])
    for free in itertools.combinations(range(4), 2):
        fixed = [i for i in range(4) if i not in free]
        part = rows[:, free]
        if abs(np.linalg.det(part)) < 1e-12:
            continue
        for ends in itertools.product((0.0, 1.0), repeat=2):
            rule = np.zeros(4)
            rule[fixed] = ends
            rule[list(free)] = np.linalg.solve(part, -rows[:, fixed] @ ends)
            if (rule > -1e-12).all() and (rule < 1 + 1e-12).all():
                yield np.clip(rule, 0, 1).reshape(2, 2).T
    for chances in itertools.product((0.0, 1.0), repeat=4):
        if (abs(rows @ chances) < 1e-12).all():
            yield np.array(chances).reshape(2, 2).T


@once
def _solver(corner: Callable[..., EqualOdds], search: Search) -> None:
    search.part("the solver, three and four groups")
    rng = np.random.default_rng(0)
    for groups in (3, 4) * 6:
        counts = rng.integers(1, 40, (2, groups, 2)).astype(float)
        pairs = tuple(itertools.combinations(range(groups), 2))
        found, solved = corner(counts), solve(OddsProgram(counts, pairs, np.zeros((2, len(pairs)))))
        search.equal(found.errors, solved.errors, {"counts": counts.tolist()}, tolerance=SOLVED)
        search.equal(found.rule.ravel(), solved.rule.ravel(), {"counts": counts.tolist()}, tolerance=SOLVED)


def _cases() -> Iterator[tuple[tuple[float, float], tuple[float, float], Laws]]:
    rng = np.random.default_rng(0)

    def law(low: float, high: float) -> LabelLaw:
        return LabelLaw(np.sort(rng.uniform(low, high, 4)), rng.dirichlet(np.ones(4)), 0.0, 0.0)

    for at in range(12):
        false, true = rng.uniform(0, 0.4, 2), rng.uniform(0.6, 1, 2)
        if at % 4 == 0:
            false[0], true[1] = 0, 1
        low = law(max(false[0] - 0.1, 0), false[0] + 0.1), law(max(false[1] - 0.1, 0), false[1] + 0.1)
        high = law(true[0] - 0.08, min(true[0] + 0.1, 1)), law(true[1] - 0.08, min(true[1] + 0.1, 1))
        yield (float(false[0]), float(false[1])), (float(true[0]), float(true[1])), (low, high)


def _listed(
    false: tuple[float, float], true: tuple[float, float], laws: Laws
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the differences of false and of true positive rates for all noisy rates, and their probabilities."""
    four = [*laws[0], *laws[1]]
    index = np.array(list(itertools.product(*(range(len(law.shares)) for law in four)))).T
    f, g, t, s = (law.shares[i] for law, i in zip(four, index, strict=True))
    masses = np.prod([law.masses[i] for law, i in zip(four, index, strict=True)], axis=0)
    low, high = np.stack([f, g]), np.stack([t, s])
    left, right, at = (low / high).argmax(axis=0), ((1 - high) / (1 - low)).argmax(axis=0), np.arange(len(f))
    x, y, z, w = low[left, at], high[left, at], low[right, at], high[right, at]
    part = (w - z) / (y * (1 - z) - x * (1 - w))
    kappa = part * (y - x) / (high - low)
    return (
        np.diff(kappa * (np.array(false)[:, None] - low), axis=0)[0],
        np.diff(kappa * (np.array(true)[:, None] - high), axis=0)[0],
        masses,
    )


@once
def _sums(meets: Callable[..., tuple[float, float]], search: Search) -> None:
    """Four noisy rates with four values each: all 256 outcomes."""
    search.part("all noisy rates")
    for at, (false, true, laws) in enumerate(_cases()):
        u, v, masses = _listed(false, true, laws)
        largest = min(true[0] - false[0], true[1] - false[1]) / 4
        for share, tolerance in ((0.3, 1e-9), (0.7, 0.02 if at % 2 else 1e-9)):
            gap = share * largest
            right = float(masses[np.maximum(abs(u), abs(v)) <= gap].sum())
            chance, error = meets(gap, false, true, laws, tolerance)
            case = {"F": false, "T": true, "gap": gap, "tolerance": tolerance}
            search.observe(error + EXACT - abs(chance - right), case)
            search.observe(tolerance - error, case)


def _programs() -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Yield γ, the gap that the program's rule leaves, and the errors of the noisy rates, by label and group.

    Some groups are turned round by the noise. Every fifth program has a γ of 0.
    """
    rng = np.random.default_rng(1)
    for at in range(60):
        groups, gamma = 2 + at % 3, (at % 5) / 20
        exact = rng.integers(1, 12, (2, groups, 2)).astype(float)
        noisy = np.maximum(exact + rng.integers(-6, 7, exact.shape), 0)
        pairs = tuple(itertools.combinations(range(groups), 2))
        rule = solve(OddsProgram(noisy, pairs, np.full((2, len(pairs)), gamma))).rule
        rates, seen = positive_rates(exact), positive_rates(noisy)
        yield gamma, np.ptp(rates_after(rates, rule), axis=1), rates - seen


@once
def _every_rule(within: Callable[..., float], search: Search) -> None:
    """One error of each group: no gap is beyond the bound. Four errors of each: the sum over all outcomes."""
    search.part("every γ, groups turned round")
    for gamma, gaps, errors in _programs():
        for gap, each in zip(gaps, abs(errors), strict=True):
            lists = [np.array([one]) for one in each], [np.ones(1) for _ in each]
            case = {"γ": gamma, "errors": each.tolist(), "gap": float(gap)}
            search.equal(within(float(each.sum()) + EXACT, *lists), 1.0, case)
            if gap > gamma + SOLVED:
                search.equal(within(float(gap - gamma) - SOLVED, *lists), 0.0, case)
    rng = np.random.default_rng(2)
    for groups in (2, 3, 4) * 4:
        sizes = [np.sort(rng.uniform(0, 0.3, 4)) for _ in range(groups)]
        masses = [rng.dirichlet(np.ones(4)) for _ in range(groups)]
        index = np.array(list(itertools.product(range(4), repeat=groups))).T
        both = np.sort([error[i] for error, i in zip(sizes, index, strict=True)], axis=0)[-2:].sum(axis=0)
        weights = np.prod([mass[i] for mass, i in zip(masses, index, strict=True)], axis=0)
        for gap in (0.15, 0.3, 0.45):
            case = {"errors": [error.tolist() for error in sizes], "gap": gap}
            search.equal(within(gap, sizes, masses), float(weights[both <= gap].sum()), case, tolerance=EXACT)


def _what_is_needed(search: Search) -> None:
    search.part("what is needed")
    # the labels have independent noise, but their differences are not independent: both have the same κ
    apart = []
    for false, true, laws in _cases():
        u, v, masses = _listed(false, true, laws)
        gap = 0.7 * min(true[0] - false[0], true[1] - false[1]) / 4
        alone = float(masses[abs(u) <= gap].sum()) * float(masses[abs(v) <= gap].sum())
        apart.append(abs(alone - float(masses[np.maximum(abs(u), abs(v)) <= gap].sum())))
    search.needs("both labels at once", slack=-max(apart), case={"cases": len(apart)}, tolerance=1e-6)
    signed, single = [], []
    for gamma, gaps, errors in _programs():
        spread = np.maximum(errors.max(axis=1), 0) - np.minimum(errors.min(axis=1), 0)
        signed.append(float((gamma + spread - gaps).min()))
        single.append(float((gamma + abs(errors).max(axis=1) - gaps).min()))
    programs = {"programs": len(signed)}
    search.needs(
        "errors without their signs, where noise turns a group",
        slack=min(signed),
        case=programs,
        tolerance=1e-6,
    )
    search.needs("two errors", slack=min(single), case=programs, tolerance=1e-6)


def _one_group(counts: np.ndarray) -> EqualOdds:
    """Take the first group's rates as the corner."""
    found = equal_odds(counts)
    rates = positive_rates(counts)
    rows = counts.sum(axis=(0, 1))
    return found._replace(errors=rows[0] * rates[0, 0] + rows[1] * (1 - rates[1, 0]))


def _ends_alone(counts: np.ndarray) -> EqualOdds:
    rows = counts.sum(axis=(0, 1))
    label = float(rows[1] > rows[0])
    return EqualOdds((label, label), min(rows), np.full((2, counts.shape[1]), label))


def _without_noise(label: int) -> Callable[..., tuple[float, float]]:
    """Leave out the noise of one label: its rates are the true ones."""

    def fault(gap: float, false: Any, true: Any, laws: Any, tolerance: float) -> tuple[float, float]:
        known = [
            law._replace(shares=np.array([rate]), masses=np.ones(1))
            for law, rate in zip(laws[label], (false, true)[label], strict=True)
        ]
        changed = [*laws[:label], tuple(known), *laws[label + 1 :]]
        return meets_within(gap, false, true, (changed[0], changed[1]), tolerance)

    return fault


def _largest_alone(gap: float, errors: Any, masses: Any) -> float:
    """Ask that the largest error is within the value, not the two largest together."""
    return float(np.prod([mass[error <= gap].sum() for error, mass in zip(errors, masses, strict=True)]))


def _half_each(gap: float, errors: Any, masses: Any) -> float:
    """Ask that each error is within half of the value: too much."""
    return _largest_alone(gap / 2, errors, masses)


def _silent(gap: float, false: Any, true: Any, laws: Any, _: float) -> tuple[float, float]:
    """Sum roughly, and state no error."""
    return meets_within(gap, false, true, laws, 0.2)[0], 0.0


FAULTS: dict[str, dict[str, Any]] = {
    "the first group's rates as the aim": {"corner": _one_group},
    "one label for everybody": {"corner": _ends_alone},
    "groups in the other order": {
        "corner": lambda counts: (lambda found: found._replace(rule=found.rule[:, ::-1]))(equal_odds(counts))
    },
    "no noise on false positive rates": {"meets": _without_noise(0)},
    "no noise on true positive rates": {"meets": _without_noise(1)},
    "the labels' laws exchanged between groups": {
        "meets": lambda gap, false, true, laws, tolerance: meets_within(
            gap, false, true, (laws[0][::-1], laws[1]), tolerance
        )
    },
    "a gap larger by a tenth": {"meets": lambda gap, *more: meets_within(1.1 * gap, *more)},
    "an error that is not stated": {"meets": _silent},
    "the largest error alone": {"within": _largest_alone},
    "half of the gap for each error": {"within": _half_each},
    "the first two groups alone": {
        "within": lambda gap, errors, masses: two_largest_within(gap, errors[:2], masses[:2])
    },
}  # fmt: skip


CLAIM = Claim(
    id="ours.odds-law",
    where="Equal opportunity with privacy, Result 5",
    statement="Among rules that make the true and the false positive rates of all groups equal, one with the fewest "
    "errors gives them (0, 0), (1, 1) or a corner. The corner is where a line through (0, 0) of slope min T/F meets "
    "one through (1, 1) of slope max (1 − T)/(1 − F). Let two groups be moved to the corner of their noisy rates, each "
    "noisy T above the noisy F. Then both differences of their true rates are at most t with probability ∮ H dK, once "
    "round a square. H follows from the noise on rows of label 0 alone, and K from that on rows of label 1. For every "
    "γ, every number of groups and every noise, no gap of one label exceeds γ and the two largest errors of its noisy "
    "rates together.",
    verdict="holds",
    finding="Proved. The rules were compared with all vertices of the linear program for two groups, and with its "
    "solver for three and four. The integral was compared with sums over all noisy rates, and the last bound with "
    "solved programs and with such sums.",
    headline="For two groups the distribution of the gap that private equalized odds leaves can be computed without "
    "draws.",
    kind="theorem",
    chapter="private-opportunity",
    check=check,
    faults=FAULTS,
)
