"""Thesis, Theorem 15: fairer data, fairer classifier? What the equation of Kamiran and Calders gives, and what not."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.local.binary_levels import AT_ONE, adult_women
from dpfair_lib.claims.shared.populations.exchange_fronts import front
from dpfair_lib.claims.shared.populations.labelled_data_sets import World, persons_apart, shared_cells, world
from dpfair_lib.claims.thesis.thm_15_people import judge_people_apart
from dpfair_lib.claims.thesis.thm_15_randomised import judge_randomised
from dpfair_lib.local.binary import binary_matrix, optimal_truths
from dpfair_lib.local.exchange import (
    exchange_gap,
    exchange_optima,
    exchange_order,
    only_exchanges_optimal,
)
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.trade_off import da_optimal, gap_interval, trade_off_weight


def check(
    *,
    optima: Callable[..., Any] = exchange_optima,
    gap: Callable[..., Any] = exchange_gap,
    order: Callable[..., Any] = exchange_order,
    characterised: Callable[..., Any] = only_exchanges_optimal,
    interval: Callable[..., Any] = gap_interval,
    printed_channel: Callable[..., Any] = optimal_truths,
    search: Search,
) -> Evidence:
    """Judge the theorem as printed, what is true of which classes, the interval, and the chapter's own channels."""
    _as_printed(search)
    judge_people_apart(optima, gap, order, search)
    judge_randomised(characterised, gap, search)
    _interval(interval, search)
    _own_channels(printed_channel, search)
    _on_adult(printed_channel, search)
    _predictions_of_features(search)
    return search.evidence()


def four_points(eighths: int) -> list[list[list[int]]]:
    """Return two groups of four cells of eight people: in group 1 so many of eight have label 1, in group 0 not."""
    group_0, group_1 = [[eighths, 8 - eighths], [0, 0]], [[0, 0], [8 - eighths, eighths]]
    return [group_0] * 4 + [group_1] * 4


@once
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


@once
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


@once
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


@once
def _on_adult(printed_channel: Callable[..., Any], search: Search) -> None:
    """The thesis's own setting: Adult with gender at ε = 1."""
    search.part("Adult, gender, ε = 1")
    share = adult_women()
    p, q = printed_channel(share, AT_ONE)
    reported = share * p + (1 - share) * (1 - q)
    search.agree(reported == share, False, {"share_0": share, "x": AT_ONE})
    search.fact("women_on_adult", round(float(share), 3), "Adult: share of women")
    search.fact(
        "reported_on_adult",
        round(float(reported), 3),
        f"Adult at ε = 1: share of women in the reports of OPT, truly {float(share):.3f}",
    )


@once
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


def _signed_gap(difference: Any, accuracy: Any, share_0: Any) -> Any:
    """Take the gap for smaller than nothing beyond parity: what this page once said of all DA-optimal classifiers."""
    return difference - (1 - accuracy) / trade_off_weight(share_0)


def _up_to_parity(difference: Any, other: Any, accuracy: Any, share_0: Any) -> bool:
    return bool(difference == other or _signed_gap(difference, accuracy, share_0) >= 0)


def _up_to_the_larger(_: Any, other: Any, accuracy: Any, share_0: Any) -> bool:
    return bool(_signed_gap(other, accuracy, share_0) >= 0)


def _stopping(sizes: Any, positives: Any) -> list[Any]:
    """Keep the optima that do not go beyond parity: the filter that this check once had."""
    points = exchange_optima(sizes, positives)
    closing = Fraction(abs(sizes[0] * positives[1] - sizes[1] * positives[0]), sum(sizes))
    return [point for j, point in enumerate(points) if j <= closing]


def _one_more(sizes: Any, positives: Any) -> list[Any]:
    """Go on to the first exchange beyond parity, also where one less is fairer."""
    points = exchange_optima(sizes, positives)
    closing = Fraction(abs(sizes[0] * positives[1] - sizes[1] * positives[0]), sum(sizes))
    if len(points) - 1 < closing:
        step = Fraction(sum(sizes), sizes[0] * sizes[1])
        points.append((points[-1][0] - Fraction(2, sum(sizes)), (len(points) - closing) * step))
    return points


def _closes(cells: Any) -> bool:
    """Forget the other end of the front: how accurate a classifier can be."""
    found = front(cells)
    return found.least_error(Fraction(0)) == found.weight * found.difference


def _starts(cells: Any) -> bool:
    """Forget the other end of the front: whether exchanges can close the gap."""
    found = front(cells)
    least = min(error for _, error in found.hull)
    return any(found.on_the_equation(point) for point in found.hull if point[1] == least)


FAULTS: dict[str, dict[str, Any]] = {
    "nobody goes beyond parity": {"gap": _signed_gap},
    "weight without the factor 2": {
        "gap": lambda difference, acc, share: abs(difference - (1 - acc) / (share * (1 - share)))
    },
    "weight ½ whatever the shares": {"gap": lambda difference, acc, _: abs(difference - 2 * (1 - acc))},
    "order always kept, as printed": {"order": lambda *_: True},
    "order kept up to parity only": {"order": _up_to_parity},
    "order kept up to parity of the other": {"order": _up_to_the_larger},
    "optima that stop at parity": {"optima": _stopping},
    "optima that always go on to parity": {"optima": _one_more},
    "labels are a function of what is seen": {
        "characterised": lambda cells: all(min(cell.sum(axis=0)) == 0 for cell in np.array(cells))
    },
    "the group is seen": {
        "characterised": lambda cells: all(min(cell.sum(axis=1)) == 0 for cell in np.array(cells))
    },
    "labels and group are a function of what is seen": {
        "characterised": lambda cells: all((cell > 0).sum() == 1 for cell in np.array(cells))
    },
    "an exchange closes the gap": {"characterised": _closes},
    "an exchange errs least": {"characterised": _starts},
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


CLAIM = Claim(
    id="thesis.thm-15",
    where="thesis Thm 15, § 5.6; proof App. B",
    statement="If P and Q share the distribution of A, Δ′(P) ≤ Δ′(Q), and h_P, h_Q, DA-optimal among "
    "classifiers with P(Ŷ = 1) = P(Y = 1), are equally accurate, then Δ_SP(h_P) ≤ Δ_SP(h_Q).",
    proof_uses=("thesis.kamiran-calders-1",),
    verdict="corrected",
    finding="Fails with noisy labels (equal X, A, P(Y = 1)), and without noise for five people who can all "
    "be distinguished: the optimum may go beyond parity. Equally accurate exchanges of people keep the order "
    "iff Δ′(P) = Δ′(Q) or their mean is at least (1 − acc)/(2w₀w₁). Randomised: all optima are exchanges up "
    "to parity iff one errs least and one closes the gap, as where (X, A) is seen and determines the label. "
    "No equally accurate classifier of X and a report is fairer to people than DA-optimal ones of (X, A). "
    "Theorem 14's channel changes the distribution of A.",
    kind="condition",
    impact="conclusion",
    because="The thesis uses the theorem to promise fairer classifiers after its own channel. On Adult at "
    "ε = 1 that channel reports 60 % women, not 32 %, so the theorem does not apply.",
    headline="Fairer data need not give a fairer classifier: five people suffice, or noisy labels. The "
    "order holds if the mean difference is at least (1 − acc)/(2w₀w₁).",
    witness="Labels are noisy. In the first population label 1 has probability {p_eighths} eighths in one group "
    "and the complement in the other; in the second population it is {q_eighths} eighths. The first has "
    "the fairer data, and yet a DA-optimal classifier with the larger gap, at equal accuracy.",
    shown_by="reported_on_adult",
    chapter="thesis-thm-15",
    errata=(
        Erratum(
            where="thesis Theorem 15, the class, § 5.6",
            printed="one class H*, of the classifiers with P(Ŷ = 1) = P(Y = 1), for P and for Q",
            correct="a class of its own for either, as P(Y = 1) may differ",
            band="condition",
            why="If P(Y = 1) differs, no classifier to which both distributions give one share of 1s is in "
            "both classes.",
        ),
        Erratum(
            where="thesis App. B, proof of Theorem 15, the two equations for 1 − acc",
            printed="they hold for h_P and h_Q since both are DA-optimal",
            correct="the equation is for a discrimination with a sign; beyond parity Δ_SP = (1 − acc)/c − Δ′",
            band="condition",
            why="A DA-optimal classifier may favour the other group for its accuracy; five people suffice for it.",
        ),
        Erratum(
            where="thesis Theorem 15, the labels, § 5.6",
            printed="any distribution of the labels",
            correct="labels that what is seen determines, and a mean of Δ′(P) and Δ′(Q) of at least (1 − acc)/(2w₀w₁)",
            band="condition",
            why="With noisy labels the same features, groups and P(Y = 1) give the less fair classifier on the fairer "
            "data.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
