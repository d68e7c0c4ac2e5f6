"""Random groups for `ours.opportunity-change`: all bands of a grid that holds every best one, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpfair_lib.claims.search import Search
from dpfair_lib.postprocessing.bands import Band, cheapest_band, opportunity_curve
from dpfair_lib.postprocessing.curves import Curve

MOST = 24  # rates are multiples of 1/D for a D up to this, so that whole numbers of 64 bits suffice


def search_on(
    *,
    curve: Callable[..., Curve] = opportunity_curve,
    best: Callable[..., Band] = cheapest_band,
    draws: int,
    search: Search,
) -> None:
    """Compare the closed form with the least cost over all bands, for two to five groups.

    A band [t, t + γ] costs each group the least over its rules whose rate is the nearest one in the band. That cost is
    piecewise linear in t, and all its corners are multiples of 1/D, as γ is. So the least one is at such a t.
    """
    search.part("random groups, every band")
    for _ in range(draws):
        parts, k = int(search.rng.integers(2, MOST + 1)), int(search.rng.integers(2, 6))
        rates = search.rng.integers(0, parts + 1, size=k)
        # whoever has a true positive rate above 0 has selected people, and below 1 others
        selected = search.rng.integers(rates > 0, parts + (rates == parts), size=k)
        weights = search.rng.integers(0, 8, size=k)
        gap = int(search.rng.integers(0, parts + 1))
        case = {
            "parts": parts,
            "rates": rates.tolist(),
            "selected": selected.tolist(),
            "weights": weights.tolist(),
            "gap": gap,
        }
        costs, unit = _of_bands(parts, rates, selected, weights, gap)
        found = best(
            [
                curve(Fraction(int(r), parts), Fraction(int(s), parts), Fraction(int(w)))
                for r, s, w in zip(rates, selected, weights, strict=True)
            ],
            Fraction(gap, parts),
        )
        search.equal(found.cost, Fraction(int(costs.min()), unit), case)
        starts = np.arange(parts - gap + 1)
        inside = (starts >= found.lowest * parts) & (starts <= found.highest * parts)
        search.observe(0 if (inside == (costs == costs.min())).all() else -1, case)


def _of_bands(
    parts: int, rates: np.ndarray, selected: np.ndarray, weights: np.ndarray, gap: int
) -> tuple[np.ndarray, int]:
    """Return what the bands at t = 0, 1/D, … cost all groups, as whole numbers of a unit, and how many are one."""
    starts = np.arange(parts - gap + 1)[:, None]
    aim, others = np.clip(rates, starts, starts + gap), parts - rates
    common = math.lcm(*(int(side) for side in {*rates, *others} if side))  # makes every q₀ and q₁ whole
    cheapest = np.full(aim.shape, np.iinfo(np.int64).max)
    # a linear cost is least at an end of the segment of rules: there q₀ or q₁ is 0 or 1
    for fixed in (0, 1):
        one = (aim - others * fixed) * (common // np.maximum(rates, 1))
        zero = (aim - rates * fixed) * (common // np.maximum(others, 1))
        for q0, q1, free, moves in (
            (fixed * common, one, one, rates > 0),
            (zero, fixed * common, zero, others > 0),
        ):
            cost = (parts - selected) * q0 + selected * (common - q1)
            allowed = moves & (free >= 0) & (free <= common)
            cheapest = np.where(allowed, np.minimum(cheapest, cost), cheapest)
    return (cheapest * weights).sum(axis=1), common * parts
