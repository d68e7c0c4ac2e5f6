"""Thesis, (5.5.1) → (5.5.7): for channels truthful by columns the shorter privacy constraint is enough."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.local.channels import all_channels
from dpfair_lib.local.truthful import (
    private_by_pairs,
    private_by_truth,
    smallest_report_probability,
    truthful_columns,
    truthful_rows,
)

SHARES = ((1, 1, 1), (4, 2, 1), (10, 1, 1))
RATIOS = tuple(sorted({Fraction(a, b) for b in range(1, 7) for a in range(b + 1)}))


def check(
    *,
    short: Callable[..., Any] = private_by_truth,
    pairs: Callable[..., Any] = private_by_pairs,
    least_report: Callable[..., Any] = smallest_report_probability,
    search: Search,
) -> Evidence:
    """Judge both constraints on every small channel that is truthful by columns, and every report's probability."""
    needed = 0
    for k, parts in ((2, 24), (3, 8)):
        channels = all_channels(k, parts)
        by_columns = truthful_columns(channels)
        judged, others = channels[by_columns], channels[~by_columns]
        search.part(f"both constraints, {k} groups")
        for x in RATIOS:
            search.agree(short(judged, x), by_definition(judged, x), {"channel": judged, "x": x})
            search.agree(pairs(judged, x), by_definition(judged, x), {"channel": judged, "x": x})
            needed += int((short(others, x) & ~by_definition(others, x)).sum())
        search.exhausts(
            f"all column-truthful channels of {k} groups with entries in {parts}ths, {len(RATIOS)} ratios e^(−ε)",
            cases=len(judged) * len(RATIOS),
        )
        search.part(f"denominators, {k} groups")
        for x, shares in itertools.product(RATIOS, SHARES):
            feasible = judged[truthful_rows(judged) & by_definition(judged, x)]
            if not len(feasible):
                continue
            p = np.array([Fraction(share, sum(shares[:k])) for share in shares[:k]], dtype=object)
            least = least_report(p, x)
            for j in range(k):
                # P(Z = j), and the bound on it, in units of 1/(parts·sum of the shares)
                reports = feasible[:, :, j] @ np.array(shares[:k])
                bound = least[j] * parts * sum(shares[:k])
                search.observe(reports - float(bound), {"channel": feasible, "x": x}, tolerance=1e-9)
                search.observe(least[j] - max(x, p[j]) / (2 * k), {"p": p, "x": x})  # and is it above 0
                rare = rarely_reporting(j, k, x)
                met = truthful_rows(rare) & truthful_columns(rare) & by_definition(rare[None], x)[0]
                search.agree(bool(met), True, {"channel": rare, "x": x})
                search.equal(p @ rare[:, j], least[j], {"p": p, "x": x})  # and it is attained
    search.fact("needed", needed, "channels not truthful by columns that keep (5.5.7) and break (5.5.1)")
    return search.evidence()


def rarely_reporting(j: int, k: int, x: Fraction) -> np.ndarray:
    """Return a truthful channel that reports j as rarely as any: x/k from others, whose other reports are alike."""
    matrix = np.full((k, k), (1 - x / k) / (k - 1), dtype=object)
    matrix[:, j] = x / k
    matrix[j] = Fraction(1, k)
    return matrix


def by_definition(channels: np.ndarray, x: Fraction) -> np.ndarray:
    """Judge (5.5.1) pair by pair: x·q_ij ≤ q_i′j for all i ≠ i′ and all j."""
    k = channels.shape[-1]
    feasible = np.ones(len(channels), dtype=bool)
    for i, other, j in itertools.product(range(k), range(k), range(k)):
        if i != other:
            feasible &= x.numerator * channels[:, i, j] <= x.denominator * channels[:, other, j]
    return feasible


def _only_neighbours(matrices: np.ndarray, x: Fraction) -> np.ndarray:
    """Compare each true report with the one from the next group only."""
    k = matrices.shape[-1]
    i = (np.arange(k) + 1) % k
    truth = np.diagonal(matrices, axis1=-2, axis2=-1)
    return np.asarray((x.numerator * truth <= x.denominator * matrices[..., i, np.arange(k)]).all(axis=-1))


FAULTS: dict[str, dict[str, Any]] = {
    "truth compared along the row": {"short": lambda q, x: private_by_truth(np.swapaxes(q, -1, -2), x)},
    "only one lie for each report": {"short": _only_neighbours},
    "strict inequality": {
        "short": lambda q, x: private_by_truth(q, x) & (q.min(axis=(-2, -1)) > 0),
    },
    "pairs taken within a row": {"pairs": lambda q, x: private_by_pairs(np.swapaxes(q, -1, -2), x)},
    "share of the group counted whole": {"least_report": lambda p, x: (x + (1 - x) * p) / 2},
    "the larger of share and e^(−ε)": {
        "least_report": lambda p, x: np.array([max(x, share) for share in p], dtype=object) / len(p)
    },
    "without the share of others": {"least_report": lambda p, x: (x + 0 * p) / len(p)},
}


CLAIM = Claim(
    id="thesis.reduction-5.5.7",
    where="thesis (5.5.1), (5.5.5), (5.5.7), § 5.5",
    statement="If q_jj ≥ q_ij for all i, j, then ε-LDP, "
    "q_ij ≤ e^ε·q_i′j for all i ≠ i′ and j, is the same as q_jj ≤ e^ε·q_ij for all i, j.",
    verdict="holds",
    finding="True, and q_jj ≥ q_ij is what it needs: without it the short list does not imply privacy. "
    "P(Z = j) is at least (e^(−ε) + (1 − e^(−ε))p_j)/k, so that no denominator of Δ is 0 if P(Y = 1) > 0.",
    kind="as-printed",
    impact="none",
    because="The hypothesis that it needs, q_jj ≥ q_ij, is stated, and the program keeps it.",
    headline="Where every report is likeliest from those whose value it is, k² privacy constraints are "
    "enough. Without that condition they are not.",
    chapter="thesis-optimum",
    check=check,
    faults=FAULTS,
)
