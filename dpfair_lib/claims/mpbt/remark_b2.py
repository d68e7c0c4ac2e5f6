"""MPBT, Remark B.2: cutting off large margins, and where the search over t ends then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.margins.certificate_samples import samples
from dpfair_lib.margins.terms import chernoff_terms, exact_terms, markov_terms


def check(
    *,
    exact: Callable[..., np.ndarray] = exact_terms,
    markov: Callable[..., np.ndarray] = markov_terms,
    search: Search,
) -> Evidence:
    """Judge the event, the truncated Markov bound, and the truncated Chernoff curve on a grid of t."""
    above = below = 0
    _cells_apart(exact, markov, search)
    for relative in samples(search):
        codes = np.zeros(len(relative), dtype=int)
        one, full = float(exact(relative, codes, 1, 1.0)[0]), float(markov(relative, codes, 1, 1.0)[0])
        cut = float(markov(relative, codes, 1, 1.0, truncated=True)[0])
        case = {"ρ/L in radii": relative.tolist()}
        search.part("the same event")
        within_one = np.where(np.abs(relative) <= 1, relative, np.inf)
        search.equal(float(exact(within_one, codes, 1, 1.0)[0]), one, case)
        search.equal(one, float(np.mean(np.abs(relative) <= 1)), case)
        search.part("Markov, cut off")
        search.observe(min(cut, 1e300) - one, case, tolerance=1e-12)
        search.observe(min(full, 1e301) - min(cut, 1e300), case, tolerance=1e-12)
        direct = np.abs(relative[np.abs(relative) <= 1])
        if (direct > 0).all():
            search.equal(cut, float((1 / direct).sum()) / len(relative), case, tolerance=1e-9 * max(1.0, cut))
        if np.abs(relative).min() > 1:
            search.equal(cut, 0, case)
        search.part("Chernoff, cut off")
        t = np.concatenate([[0.0], np.geomspace(1e-6, 500, 800)])
        values = truncated_curve(relative, 1.0, t)
        search.equal(float(values[0]), one, case, tolerance=1e-15)
        search.observe(np.diff(values), case | {"t": t[1:]}, tolerance=1e-12)
        other = float(chernoff_terms(relative, codes, 1, 1.0)[0])
        above += other > cut + 1e-9
        below += other < cut - 1e-9
    _attained(exact, markov, search)
    search.fact("search_ends_at", 0, "truncated Chernoff: t at which the search over t ≥ 0 ends")
    search.fact(
        "chernoff_larger", above, "samples where Chernoff without truncation is larger than Markov with it"
    )
    search.fact(
        "chernoff_smaller", below, "samples where Chernoff without truncation is smaller than Markov with it"
    )
    return search.evidence()


def _attained(exact: Any, markov: Any, search: Search) -> None:
    """One row at half the radius, which the other model judges otherwise: the accuracy changes by 1."""
    search.part("attained")
    relative, other, codes = np.array([0.5]), np.array([-0.5]), np.zeros(1, dtype=int)
    changed = float(np.mean((relative > 0) != (other > 0)))
    ours = float(exact(relative, codes, 1, 1.0)[0]) - changed
    cut = float(markov(relative, codes, 1, 1.0, truncated=True)[0]) - changed
    search.sharper(ours, cut, {"ρ/L in radii, h": 0.5, "h′": -0.5})


def _cells_apart(exact: Any, markov: Any, search: Search) -> None:
    """Several cells, other radii, against sums written out: the event is |ρ|/L ≤ radius, in each cell."""
    search.part("several cells and radii")
    for relative in samples(search)[::2]:
        radius, cells = float(search.rng.choice([0.25, 0.5, 1.0, 4.0])), int(search.rng.integers(1, 4))
        relative = np.where(relative == 0, 0.1, relative)  # 1/0 is judged above
        codes = search.rng.integers(0, cells, size=len(relative))
        found = [
            exact(relative, codes, cells, radius),
            markov(relative, codes, cells, radius),
            markov(relative, codes, cells, radius, truncated=True),
        ]
        for cell in range(cells):
            sizes = [abs(float(row)) for row, code in zip(relative, codes, strict=True) if code == cell]
            if not sizes:
                search.agree([bool(np.isnan(terms[cell])) for terms in found], [True] * 3, {"cells": cells})
                continue
            inside = [size for size in sizes if size <= radius]
            sums = (float(len(inside)), sum(radius / size for size in sizes), sum(radius / s for s in inside))
            for terms, total in zip(found, sums, strict=True):
                case = {"|ρ|/L": sizes, "radius": radius, "cells": cells}
                mean = total / len(sizes)
                search.equal(float(terms[cell]), mean, case, tolerance=1e-12 * max(1.0, mean))


def truncated_curve(relative: np.ndarray, radius: float, t: np.ndarray) -> np.ndarray:
    """Return the mean of exp(t (radius − |ρ|/L)) over all rows, those outside the radius as 0, for each t."""
    inside = np.abs(relative)[np.abs(relative) <= radius]
    return np.exp(t[:, None] * (radius - inside)).sum(axis=1) / len(relative)


FAULTS: dict[str, dict[str, Any]] = {
    "the radius ignored": {
        "exact": lambda relative, codes, cells, radius: exact_terms(relative, codes, cells, 1 + 0 * radius)
    },
    "the radius ignored in the event": {
        "markov": lambda relative, codes, cells, radius, *, truncated=False: markov_terms(
            np.where(np.abs(relative) <= 1, relative, np.inf) if truncated else relative, codes, cells, radius
        )
    },
    "the radius ignored in the numerator": {
        "markov": lambda relative, codes, cells, radius, **how: (
            markov_terms(relative, codes, cells, radius, **how) / radius
        )
    },
    "one mean for all cells": {
        "exact": lambda relative, codes, cells, radius: np.full(
            cells, exact_terms(relative, 0 * codes, 1, radius)[0]
        )
    },
    "the mean over the rows inside": {
        "markov": lambda relative, codes, cells, radius, *, truncated=False: (
            markov_terms(
                relative[np.abs(relative) <= radius], codes[np.abs(relative) <= radius], cells, radius
            )
            if truncated and (np.abs(relative) <= radius).any()
            else markov_terms(relative, codes, cells, radius, truncated=truncated)
        )
    },
    "nothing cut off": {
        "markov": lambda relative, codes, cells, radius, **_: markov_terms(relative, codes, cells, radius)
    },
    "large margins count as inside": {
        "exact": lambda relative, codes, cells, radius: exact_terms(
            np.where(np.abs(relative) > 9 * radius, 0, relative), codes, cells, radius
        )
    },
    "strictly inside": {
        "exact": lambda relative, codes, cells, radius: exact_terms(
            relative, codes, cells, radius * (1 - 1e-9)
        )
    },
}


CLAIM = Claim(
    id="mpbt.remark-b2",
    where="Remark B.2, Appendix B; § 3.1",
    statement="Setting |ρ(h)|/L to +∞ where it exceeds ‖h − h′‖ leaves P(|ρ(h)|/L ≤ ‖h − h′‖ | E) as it "
    "is, so the Markov and Chernoff bounds hold with the truncated ratio, are smaller, and "
    "may become 0.",
    statement_uses=("mpbt.margin-lipschitz", "mpbt.remark-b1"),
    proof_uses=("mpbt.thm-3.1",),
    verdict="holds",
    kind="sharper",
    impact="none",
    because="The truncated bounds hold as printed; the share of rows within reach is one of them, and smaller than "
    "the rest.",
    headline="Once margins are truncated, no moment bound is needed: the infimum lies at t = 0 and is the share of "
    "rows within reach.",
    finding="Once the terms are cut off, the infimum over t is at t = 0 and is the share of rows with |ρ| ≤ "
    "L‖h − h′‖ itself: no moment bound is needed. The cut-off Markov bound is never below that; "
    "without a cut, Chernoff's may lie on either side of it.",
    chapter="mpbt-thm-3-1",
    check=check,
    faults=FAULTS,
)
