"""Thesis, Theorem 15: fairer data, fairer classifier? What the equation of Kamiran and Calders gives, and what not."""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.checks.label_universe import World, persons_apart, shared_cells, world
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.local.binary import binary_matrix, optimal_truths
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.trade_off import da_optimal, gap_interval, trade_off_weight


def check(
    *,
    interval: Callable[..., Any] = gap_interval,
    weight: Callable[..., Any] = trade_off_weight,
    printed_channel: Callable[..., Any] = optimal_truths,
    search: Search,
) -> Evidence:
    """Judge the theorem as printed, its repair, the general interval, and the chapter's own channels."""
    _as_printed(search)
    _without_noise(weight, search)
    _interval(interval, search)
    _own_channels(printed_channel, search)
    _predictions_of_features(search)
    return search.evidence()


def four_points(eighths: int) -> list[list[list[int]]]:
    """Return two groups of four cells of eight people: in group 1 so many of eight have label 1, in group 0 not."""
    group_0, group_1 = [[eighths, 8 - eighths], [0, 0]], [[0, 0], [8 - eighths, eighths]]
    return [group_0] * 4 + [group_1] * 4


def _as_printed(search: Search) -> None:
    """Two laws with the same X, the same A and the same P(Y = 1); labels are noisy given (X, A)."""
    search.part("labels with noise")
    for p_eighths, q_eighths in itertools.permutations(range(4, 9), 2):
        case = {"p_eighths": p_eighths, "q_eighths": q_eighths}
        slack = printed_slack(**case)
        search.against(slack, case, verify=printed_slack_in_closed_form)


@functools.cache  # nothing examined enters it
def printed_slack(p_eighths: int, q_eighths: int) -> Fraction:
    """Return the least Δ_SP(h_Q) − Δ_SP(h_P) over DA-optimal pairs of equal accuracy, 0 if Δ′(P) > Δ′(Q)."""
    one, other = world(four_points(p_eighths)), world(four_points(q_eighths))
    assert one is not None
    assert other is not None
    if one.difference > other.difference:
        return Fraction(0)
    return min((g_q - g_p for g_p, g_q in _equally_accurate(one, other)), default=Fraction(0))


def printed_slack_in_closed_form(p_eighths: int, q_eighths: int) -> Fraction:
    """Return the same from acc = ½ + Δ_SP·Δ′/2: with noisy labels a gap is worth the more, the larger Δ′ is."""
    d_p, d_q = (Fraction(2 * eighths - 8, 8) for eighths in (p_eighths, q_eighths))
    if d_p > d_q:
        return Fraction(0)
    quarters = [Fraction(i, 2) for i in range(3)]
    return min(
        g_q - g_p for g_p in quarters for g_q in quarters if g_p * d_p == g_q * d_q and (d_p > 0 or g_p == 0)
    )


def _equally_accurate(one: World, other: World) -> list[tuple[Fraction, Fraction]]:
    """Gaps of all pairs of DA-optimal classifiers, one of each population, of the same accuracy."""
    points = []
    for found in (one, other):
        best = da_optimal(found.accuracies, found.gaps)
        points.append(set(zip(found.accuracies[best], found.gaps[best], strict=True)))
    return [(g, h) for (acc, g), (same, h) in itertools.product(*points) if acc == same]


def _without_noise(weight: Callable[..., Any], search: Search) -> None:
    """Everyone can be told apart, and no optimum favours the other group: the gaps differ as the data do."""
    search.part("labels without noise")
    pairs = 0
    for worlds in _alike():
        for (one, points), (other, others) in itertools.product(worlds, repeat=2):
            case = {"first": one.cells, "second": other.cells}
            for (acc_p, g_p), (acc_q, g_q) in itertools.product(points, others):
                moved = (acc_p - acc_q) / weight(one.share_0)
                search.equal(g_p - g_q, one.difference - other.difference + moved, case)
                pairs += 1
    search.exhausts("pairs of populations of up to four people a group, of the same group sizes", cases=pairs)
    search.fact("pairs of DA-optimal classifiers for which the gaps differ exactly as the data do", pairs)


@functools.cache  # nothing examined enters it
def _alike() -> list[list[tuple[World, set[Any]]]]:
    """Populations of the same group sizes, with the points (accuracy, gap) of their DA-optimal classifiers."""
    alike: dict[Any, list[tuple[World, set[Any]]]] = defaultdict(list)
    for found in persons_apart(4):
        best = da_optimal(found.accuracies, found.gaps) & (found.signed >= 0)
        points = set(zip(found.accuracies[best], found.gaps[best], strict=True))
        alike[len(found.cells), found.share_0].append((found, points))
    return list(alike.values())


def _interval(interval: Callable[..., Any], search: Search) -> None:
    """With P(Ŷ = 1) = P(Y = 1), whatever the class and the labels: the gap is within (1 − acc)/(2w₀w₁) of Δ′."""
    search.part("any classifier that keeps the share of 1s")
    reached = [0, 0]
    for worlds in (persons_apart(3), shared_cells(True), shared_cells(False)):
        for found in worlds:
            if not len(found.gaps):
                continue
            low, high = interval(found.difference, found.accuracies, found.share_0)
            case = {"cells": found.cells}
            search.observe(np.minimum(found.gaps - low, high - found.gaps), case)
            inside = found.accuracies < 1
            reached[0] += int((inside & (found.gaps == low) & (low > 0)).sum())
            reached[1] += int((inside & (found.gaps == high) & (high < 1)).sum())
    search.observe(min(reached) - 1, {"part": "both ends are attained"})


def _own_channels(printed_channel: Callable[..., Any], search: Search) -> None:
    """The theorem wants P(Z = a) = P(A = a): Theorem 14's channel never gives it, response only to equal groups."""
    search.part("the chapter's own channels")
    for share, x in itertools.product(
        (Fraction(i, 12) for i in range(1, 12)), (Fraction(i, 12) for i in range(12))
    ):
        case = {"share_0": share, "x": x}
        p, q = printed_channel(share, x)
        reported = share * p + (1 - share) * (1 - q)
        search.agree(reported == share, False, case)
        # the smaller group's value becomes the more frequent report
        smaller = reported if 2 * share <= 1 else 1 - reported
        search.equal(smaller, Fraction(1, 2) + min(share, 1 - share) * (1 - x) / 2, case)
        truth = 1 / (1 + x)
        response = share * truth + (1 - share) * (1 - truth)
        search.agree(response == share, share == Fraction(1, 2) or x == 0, case)


def _predictions_of_features(search: Search) -> None:
    """A classifier of X alone has the gap d to A; to the report Z it has strictly less: Z flatters it."""
    search.part("from the report back to the attribute")
    for share, x in itertools.product(
        (Fraction(i, 6) for i in range(1, 6)), (Fraction(i, 6) for i in range(1, 6))
    ):
        channel = Randomizer(binary_matrix(*optimal_truths(share, x)))
        for rates in itertools.permutations([Fraction(1, 5), Fraction(1, 2), Fraction(1)], 2):
            _, reported = channel.pushforward([share, 1 - share], list(rates))
            gap, seen = abs(rates[1] - rates[0]), abs(reported[1] - reported[0])
            search.observe((1 - x) / (1 + x) * gap - seen, {"share_0": share, "x": x, "rates": rates})


FAULTS: dict[str, dict[str, Any]] = {
    "weight without the factor 2": {"weight": lambda share: share * (1 - share)},
    "weight ½ whatever the shares": {"weight": lambda _: Fraction(1, 2)},
    "half the interval": {
        "interval": lambda difference, acc, share: gap_interval(difference, (1 + acc) / 2, share)
    },
    "twice the interval": {
        "interval": lambda difference, acc, share: gap_interval(difference, 2 * acc - 1, share)
    },
    "interval around the wrong centre": {
        "interval": lambda difference, acc, share: gap_interval(difference / 2, acc, share)
    },
    "a channel that keeps the shares": {
        "printed_channel": lambda share, x: (1 - (1 - share) * x, 1 - share * x)
    },
    "the larger group tells the truth": {"printed_channel": lambda share, x: optimal_truths(1 - share, x)},
}
