"""SK, Algorithm 1 for the attribute alone, with slack in the program's limits: one changed a still shows.

The people are those of `attribute_slack`: a quarter in each cell (a, y), predicted right but for a tenth of group 1's
negatives; the neighbour has one of these in group 0. The limits are scale/(m·μ̃), μ̃ the smaller noisy cell of a label.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.svm.noisy_tables import EXACT
from dpfair_lib.svm.equalized_odds_program import OddsProgram, expected_errors, lower_bound, solve

ODDS = 2  # e^ε of the noise
SCALES = {"the generic one, 4ℓ/(μ̃mε)": 28, "part 4's, 4L/μ̃, k = m": 44}
KEYS = {28: "generic", 44: "lemma"}
"""The slack times m·μ̃ for |A| = 2, β = 1/16: 4 log₂(4|A|/β), and 4 log₂(2|A|/β) + 4 log₂(2/β), whole numbers."""
WRONG = Fraction(1, 10)
BOX = Fraction(1, 8)
PAIR = ((1, 0),)


def false_positive_rates(m: int, moved: bool) -> tuple[Fraction, Fraction]:
    """Return both groups' false positive rates, of the data or of the neighbour."""
    size, wrong = m // 4, m // 40
    return (
        (Fraction(1, size + 1), Fraction(wrong - 1, size - 1))
        if moved
        else (Fraction(0), Fraction(wrong, size))
    )


def cells_of(m: int, moved: bool) -> np.ndarray:
    """Return the exact q_ay, shape (group, label)."""
    change = Fraction(int(moved), m)
    quarter = Fraction(1, 4)
    return EXACT(np.array([[quarter + change, quarter], [quarter - change, quarter]], dtype=object))


def noisy_program(m: int, moved: bool, cells: np.ndarray, scale: Any) -> OddsProgram:
    """Return the program of noisy cells times the records' rates, with slack in its limits."""
    rates, no, yes = false_positive_rates(m, moved), Fraction(0), Fraction(1)
    shares = np.array([[[1 - f, no] for f in rates], [[f, yes] for f in rates]])  # ŷ, a, y
    return OddsProgram(shares * cells, PAIR, scale / m / cells.min(axis=0)[:, None])


def raised_rate(m: int, moved: bool, cells: np.ndarray, scale: Any) -> Any:
    """Return p̃_00, the one number of the optimum that is not 0 or 1: group 0's rate is raised up to the limit."""
    first, second = false_positive_rates(m, moved)
    return max(0, second - scale / m / cells.min(axis=0)[0] - first) / (1 - first)


@cache
def relaxed_slack(m: int, scale: int, odds: int = ODDS) -> Fraction:
    """Return odds·P′(S) − P(S), from above, for the best S = {p̃_00 ≥ θ}: e^ε = 2 in the noise, any odds claimed.

    P fails where a cell leaves the box of `kept_negatives`, or one of group 0's and group 1's negatives is below
    ¼ − 2j/m; θ is p̃_00 at that cell. On the neighbour both are to be above a second threshold then.
    """
    return min(_slack_at(m, scale, odds, j) for j in range(1, min(m // 16, 40)))


def closed_form(m: int, scale: int, odds: int) -> float:
    """Return 1 − 2(1 + odds)e^(−λ), λ = 9mε²/(80c): what the chapter proves of δ, in which c = scale·ε here."""
    return 1 - 2 * (1 + odds) * ODDS ** (-9 * m / (80 * scale))


@cache
def multiples_shown(m: int, scale: int) -> int:
    """Return the largest i for which δ is at least ½ at i times the ε of the noise, as far as the above proves it."""
    return max(i for i in range(100) if relaxed_slack(m, scale, ODDS**i) <= -Fraction(1, 2))


def _slack_at(m: int, scale: int, odds: int, j: int) -> Fraction:
    quarter, least = Fraction(1, 4), Fraction(1, 4) - Fraction(2 * j, m)
    theta = WRONG - Fraction(scale, m) / least
    if theta <= 0:  # then p̃_00 may be 0, which is no sign of either
        return Fraction(odds)
    here = 1 - Fraction(4, ODDS ** (m // 16)) - Fraction(1, ODDS**j)
    # the cells of the neighbour are 1/m nearer to the end of the box: 2^(1/2) < 2
    there = Fraction(8, ODDS ** (m // 16))
    first, second = false_positive_rates(m, moved=True)
    allowed = second - first - theta * (1 - first)
    if allowed > 0:
        above = Fraction(scale, m) / allowed - quarter
        if above <= Fraction(1, m):
            return Fraction(odds)
        there += Fraction(1, 4 * ODDS ** int(above * m))
    return odds * there - here


@once
def judge_relaxed(raised: Callable[..., Any], search: Search) -> None:
    """The optimum by its dual, in fractions, at the box's corners and inside it; draws; and the leak."""
    search.part("the attribute alone, limits with slack")
    m = 4000
    offsets = [np.array(signs).reshape(2, 2) * BOX for signs in itertools.product((-1, 1), repeat=4)]
    offsets += [
        EXACT(search.rng.integers(-100, 101, size=(2, 2))) * BOX / 100 for _ in range(4 * search.effort)
    ]
    chosen = itertools.product((m, 3 * m), (False, True), SCALES.values(), offsets)
    for size, moved, scale, offset in chosen:
        cells = Fraction(1, 4) + offset  # both data sets' noisy cells are in the same box
        case = {"m": size, "moved": moved, "scale": scale, "cells": cells.tolist()}
        program = noisy_program(size, moved, cells, Fraction(scale))
        start = raised(size, moved, cells, Fraction(scale))
        rule = EXACT(np.array([[start, 0], [1, 1]], dtype=object))
        room = program.limits - abs(program.differences(rule))
        search.sanity(room.min(), case)
        # the multiplier of group 1's upper limit makes p_00 free; all other prices are not 0, so no other rule is best
        dual = EXACT(np.zeros((2, 2, 1), dtype=int))
        dual[0, 0, 0] = cells[0, 0]
        search.sanity(-abs(expected_errors(program.counts, rule) - lower_bound(program, dual)), case)
        price = program.counts[:, :, 0] - program.counts[:, :, 1] + cells[0, 0] * program.rows()[0, 0]
        search.sanity(min(-price[1, 0], price[0, 1], -price[1, 1]) - Fraction(1, 100), case)
    _draws(m, search)
    for name, scale in SCALES.items():
        for size, odds in ((4000, 2), (8000, 2**20)):
            proved = closed_form(size, scale, odds)
            search.sanity(float(-relaxed_slack(size, scale, odds)) - proved, {"m": size, "odds": odds})
        for size in (2000, 4000):
            search.against(
                relaxed_slack(size, scale), {"m": size, "scale": scale}, verify=relaxed_slack.__wrapped__
            )
        leak, times = float(-relaxed_slack(4000, scale)), multiples_shown(4000, scale)
        search.fact(f"slack_{KEYS[scale]}", leak, f"slack {name}, m = 4000, e^ε = 2: δ at ε at least")
        search.fact(f"times_{KEYS[scale]}", times, f"slack {name}, m = 4000: δ at least ½ up to so many ε")


@once
def _draws(m: int, search: Search) -> None:
    """The solver on drawn noise: the program's p̃_00 separates the two data sets, as one threshold does here."""
    scale, found = 28, {}
    for moved in (False, True):
        noise = search.rng.laplace(scale=2 / (m * np.log(ODDS)), size=(10 * search.effort, 2, 2))
        exact = cells_of(m, moved).astype(float)
        programs = [noisy_program(m, moved, exact + each, float(scale)) for each in noise]
        floats = [OddsProgram(p.counts.astype(float), PAIR, p.limits.astype(float)) for p in programs]
        found[moved] = [solve(program).rule[0, 0] for program in floats]
    search.sanity(min(found[False]) - max(found[True]), {"m": m, "scale": scale})
