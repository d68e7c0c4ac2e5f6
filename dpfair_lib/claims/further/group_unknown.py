"""Random groups for `ours.group-unknown`: every notion's rates one by one, all corners of the rules, random rules."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.postprocessing.group_unknown import GroupBlindRule, least_blind_change

RULES = 16  # random ones for each draw


def search_on(
    *, least: Callable[..., GroupBlindRule] = least_blind_change, draws: int, search: Search
) -> None:
    """Compare the closed form with every corner of the allowed rules, and with random ones, in whole numbers.

    A notion wants one or two lists of rates equal: selection rates, true positive rates, or those and false positive
    ones. Each rate r becomes (1 − r)q₀ + rq₁, and gaps are taken of these.
    """
    for _ in range(draws):
        parts, k = int(search.rng.integers(2, 40)), int(search.rng.integers(2, 7))
        selection = search.rng.integers(0, parts + 1, size=k)
        weights = search.rng.integers(0, 9, size=k)
        kind = int(search.rng.integers(3))  # the number of lists of other rates
        lists = search.rng.integers(0, parts + 1, size=(kind, k)) if kind else selection[None]
        spread = int(np.ptp(lists, axis=1).max())
        given = [Fraction(int(r), parts) for r in selection], Fraction(spread, parts)
        shares = [Fraction(int(w)) for w in weights]
        case = {
            "parts": parts,
            "selection": selection.tolist(),
            "weights": weights.tolist(),
            "rates": lists.tolist(),
        }
        zeros, ones = int(weights @ (parts - selection)), int(weights @ selection)

        search.part("every corner")
        gamma = Fraction(int(search.rng.integers(0, parts + 1)), parts)
        found = least(*given, gamma, shares)
        corners = _corners(min(gamma / given[1], Fraction(1)) if spread else Fraction(1))
        cheapest = min(zeros * q0 + ones * (1 - q1) for q0, q1 in corners)
        search.equal(found.cost * parts, cheapest, case | {"γ": gamma})
        spent = zeros * found.if_zero + ones * (1 - found.if_one)
        search.equal(found.cost * parts, spent, case | {"γ": gamma})
        after = [[(parts - r) * found.if_zero + r * found.if_one for r in row] for row in lists.tolist()]
        search.observe(gamma * parts - max(max(row) - min(row) for row in after), case | {"γ": gamma})

        search.part("random rules")
        fine = int(search.rng.integers(1, 30))
        rules = search.rng.integers(0, fine + 1, size=(RULES, 2))
        changed = (parts - lists) * rules[:, 0, None, None] + lists * rules[:, 1, None, None]
        gaps = np.ptp(changed, axis=2).max(axis=1)
        costs = zeros * rules[:, 0] + ones * (fine - rules[:, 1])
        at = int(np.lexsort((costs, gaps))[search.rng.integers(RULES)])
        within = Fraction(int(gaps[at]), parts * fine)
        cost = least(*given, within, shares).cost * parts * fine
        search.observe(int(costs[gaps <= gaps[at]].min()) - cost, case | {"γ": within, "fine": fine})


def _corners(room: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return the corners of the rules q₀, q₁ in [0, 1] with |q₁ − q₀| at most the room."""
    zero, one = Fraction(0), Fraction(1)
    return [
        (zero, zero), (one, one), (zero, room), (room, zero), (one, 1 - room), (1 - room, one)
    ]  # fmt: skip
