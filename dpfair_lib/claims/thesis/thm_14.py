"""Thesis, Theorem 14: what (5.4.2) has as a minimum, which reading the theorem needs, and what beats its channel."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.local.binary_levels import (
    AT_ONE,
    HALF,
    LEVELS,
    SHARES,
    TRUTHS,
    adult_women,
    level,
)
from dpfair_lib.local.binary import (
    binary_matrix,
    binary_optimum,
    equally_truthful_response,
    optimal_ratio,
    optimal_truths,
    unfairness_ratio,
)
from dpfair_lib.local.randomizer import Randomizer

COMPETING = sorted(  # fair coins first
    itertools.product((Fraction(i, 4) for i in range(5)), repeat=2),
    key=lambda pair: abs(pair[0] - HALF) + abs(pair[1] - HALF),
)


def check(
    *,
    truths: Callable[..., Any] = optimal_truths,
    ratio: Callable[..., Any] = unfairness_ratio,
    closed: Callable[..., Any] = optimal_ratio,
    rival: Callable[..., Any] = equally_truthful_response,
    optimum: Callable[..., Randomizer] = binary_optimum,
    search: Search,
) -> Evidence:
    """Judge (5.4.2) as printed, the theorem as its proof reads it, and its channel against plain response."""
    _as_printed(search)
    _on_adult(truths, ratio, rival, search)
    _formula(ratio, search)
    _reached(truths, closed, search)
    _least(truths, ratio, closed, search)
    _beaten(truths, ratio, rival, search)
    _best_of_its_truth(ratio, search)
    _public(optimum, search)
    return search.evidence()


@once
def _as_printed(search: Search) -> None:
    """All channels compete in (5.4.2), fair coins too; the proof keeps those with p, q ≥ ½ and no level below ε."""
    search.part("(5.4.2) as printed")
    for share, x in itertools.product(SHARES, LEVELS[1:]):
        slacks, kept = _of_all_that_compete(share, x)
        channels = {"p": np.array(COMPETING)[:, 0], "q": np.array(COMPETING)[:, 1]}
        search.under(kept, slacks, {"share_0": share, "x": x, **channels}, verify=printed_slack)


@functools.cache  # nothing examined enters it
def _of_all_that_compete(share: Fraction, x: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much each leaves more Δ′ than the printed optimum, and whether it is as the proof assumes."""
    least = optimal_ratio(share, x)
    slacks = [unfairness_ratio(share, p, q) - least for p, q in COMPETING]
    kept = [min(p, q) >= HALF and level(p, q) >= 1 / x for p, q in COMPETING]
    return np.array(slacks, dtype=object), np.array(kept)


def printed_slack(share_0: Fraction, x: Fraction, p: Fraction, q: Fraction) -> Fraction:
    """Return what a channel leaves of Δ′ less what the printed optimum leaves, each for one law of labels."""
    left = []
    for channel in ((p, q), optimal_truths(share_0, x)):
        _, rates = Randomizer(binary_matrix(*channel)).pushforward(
            [share_0, 1 - share_0], [Fraction(0), Fraction(1)]
        )
        left.append(abs(rates[1] - rates[0]))
    return left[0] - left[1]


@once
def _on_adult(
    truths: Callable[..., Any], ratio: Callable[..., Any], rival: Callable[..., Any], search: Search
) -> None:
    """The thesis's own setting: Adult with gender at ε = 1."""
    search.part("Adult, gender, ε = 1")
    share, x = adult_women(), AT_ONE
    printed, truth = truths(share, x), rival(share, x)
    left, plain = ratio(share, *printed), ratio(share, truth, truth)
    search.agree(plain < left, True, {"share_0": share, "x": x})
    for key, value, what in (
        ("adult_opt", left, "part of Δ′ that Theorem 14's channel leaves"),
        ("adult_plain", plain, "part of Δ′ that plain response of the same truth probability leaves"),
        ("adult_plain_epsilon", math.log(truth / (1 - truth)), "ε of that plain response"),
    ):
        search.fact(key, round(float(value), 3), f"Adult, gender, ε = 1: {what}")


@once
def _formula(ratio: Callable[..., Any], search: Search) -> None:
    """The ratio is that of the two unfairnesses, for rates in either order and of any size: they cancel."""
    search.part("the ratio depends on shares and channel only")
    steps = [Fraction(i, 4) for i in range(5)]
    for share, p, q in itertools.product(SHARES[::2], steps, steps):
        pz0 = share * p + (1 - share) * (1 - q)
        for low, high in ((Fraction(1, 5), Fraction(1, 2)), (Fraction(1), Fraction(0))):
            case = {"share_0": share, "p": p, "q": q, "rates": [low, high]}
            overall = share * low + (1 - share) * high
            joint = share * low * p + (1 - share) * high * (1 - q)
            rates = [joint / pz0, (overall - joint) / (1 - pz0)] if 0 < pz0 < 1 else [overall, overall]
            search.equal(ratio(share, p, q), abs(rates[1] - rates[0]) / abs(high - low), case)
            after, before = (max(abs(r - overall) for r in pair) for pair in (rates, (low, high)))
            search.equal(ratio(share, p, q, "ratio"), after / before, case)


@once
def _reached(truths: Callable[..., Any], closed: Callable[..., Any], search: Search) -> None:
    """The printed channel has the level ε exactly, and the closed form is what it reaches."""
    search.part("the printed channel")
    for share, x in itertools.product(SHARES, (*LEVELS, Fraction(1))):
        case = {"share_0": share, "x": x}
        p, q = truths(share, x)
        search.agree(level(p, q) == (math.inf if x == 0 else 1 / x), True, case)
        _, rates = Randomizer(binary_matrix(p, q)).pushforward([share, 1 - share], [Fraction(0), Fraction(1)])
        search.equal(closed(share, x), abs(rates[1] - rates[0]), case)


@once
def _least(truths: Callable[..., Any], ratio: Any, closed: Any, search: Search) -> None:
    """No channel with p, q ≥ ½ and a level of ε or more leaves less; below equality only the printed ones attain it."""
    search.part("least among truthful channels of level at least ε")
    for share, p, q in itertools.product(SHARES, TRUTHS, TRUTHS):
        most = level(p, q)
        x = Fraction(0) if most == math.inf else 1 / most
        case = {"share_0": share, "p": p, "q": q}
        slack = ratio(share, p, q) - closed(share, x)
        search.observe(slack, case)
        optima = {truths(share, x)} | ({truths(share, x)[::-1]} if share == HALF else set())
        search.agree(slack == 0, (p, q) in optima, case)
    search.exhausts(
        "all channels with p, q ≥ ½ in twentieths and all shares in twelfths, each at its own level",
        cases=2 * len(SHARES) * len(TRUTHS) ** 2,
    )
    # a smaller ε admits more channels, so that the least ratio must fall with it
    for share, (more, less) in itertools.product(SHARES, itertools.pairwise(LEVELS)):
        search.observe(closed(share, more) - closed(share, less), {"share_0": share, "x": [more, less]})
    n = 20_000 * search.effort
    shares, ps, qs = search.rng.uniform(0.001, 0.999, n), *search.rng.uniform(0.5, 1, (2, n))
    levels = 1 / np.maximum(ps / (1 - qs), qs / (1 - ps))
    drawn = {"share_0": shares, "p": ps, "q": qs}
    search.observe(ratio(shares, ps, qs) - closed(shares, levels), drawn, tolerance=1e-12)


@once
def _beaten(truths: Callable[..., Any], ratio: Any, rival: Callable[..., Any], search: Search) -> None:
    """Plain response of the same truth probability: strictly less Δ′, strictly less Δ, strictly more private."""
    search.part("beside plain response of the same truth probability")
    always_fairer = 0
    for share, x in itertools.product(SHARES, LEVELS):
        case = {"share_0": share, "x": x}
        p, q = truths(share, x)
        truth = rival(share, x)
        search.equal(truth, share * p + (1 - share) * q, case)
        gains = [
            ratio(share, p, q, kind) - ratio(share, truth, truth, kind) for kind in ("difference", "ratio")
        ]
        search.agree(min(gains) > 0, True, case)
        search.agree(level(truth, truth) < level(p, q), True, case)
        # what is left of it: at most twice the smaller share
        smaller = min(share, 1 - share)
        search.observe(2 * smaller * ratio(share, p, q) - ratio(share, truth, truth), case)
        constant = 1 - smaller >= truth
        search.agree(constant, smaller <= 1 / (2 + 1 - x), case)
        always_fairer += constant
    search.fact(
        "compared",
        len(SHARES) * len(LEVELS),
        "shares and levels compared with plain response, which wins in all",
    )
    search.fact(
        "constants",
        always_fairer,
        "of these, where always reporting the larger group's value is as truthful too",
    )


@once
def _best_of_its_truth(ratio: Any, search: Search) -> None:
    """Among channels of one truth probability: plain response has the least ε; who has less Δ′ or Δ than it."""
    search.part("what plain response is best at")
    for share, truth in itertools.product(SHARES[:6], TRUTHS[1:-1]):
        for step in (Fraction(n, 60) for n in range(-60, 61) if n):
            p, q = truth + (1 - share) * step, truth - share * step
            if not (min(p, q) >= 0 and max(p, q) <= 1):
                continue
            case = {"share_0": share, "truth": truth, "p": p, "q": q}
            if truth > 1 - share:
                search.agree(level(p, q) > level(truth, truth), True, case)
            if share == HALF:
                for kind in ("difference", "ratio"):
                    search.observe(ratio(share, p, q, kind) - ratio(share, truth, truth, kind), case)
        turns = {
            "difference": (2 * truth - 1) ** 2 * (1 + 4 * share * (1 - share)) - 1,
            "ratio": truth - 1 + share,
        }
        for kind, turn in turns.items():
            if share < HALF and turn:  # a little more truth from one group lowers it
                step = Fraction(1 if turn > 0 else -1, 10**5)
                near = ratio(share, truth + (1 - share) * step, truth - share * step, kind)
                search.agree(
                    near < ratio(share, truth, truth, kind), True, {"share_0": share, "truth": truth}
                )


@once
def _public(optimum: Callable[..., Randomizer], search: Search) -> None:
    """What users call: the channel by the shares alone, for rates in either order, with its Δ′ by the definition."""
    search.part("the public function")
    orders = ((0.2, 0.7), (0.7, 0.2), (1.0, 0.0), (0.4, 0.4))
    for share, x, rates in itertools.product(SHARES, (*LEVELS, Fraction(1)), orders):
        case = {"share_0": share, "x": x, "rates": rates}
        shares = [float(share), 1 - float(share)]
        channel = optimum(shares, rates, -math.log(x) if x else math.inf)
        lies = (x / 2, HALF) if 2 * share <= 1 else (HALF, x / 2)  # of the value 0, of the value 1
        expected = np.array([[1 - lies[0], lies[0]], [lies[1], 1 - lies[1]]], dtype=float)
        search.equal(channel.matrix.ravel(), expected.ravel(), case, tolerance=1e-14)
        _, after = channel.pushforward(shares, rates)
        search.equal(channel.value, abs(after[1] - after[0]), case, tolerance=1e-14)


def _response(_: Any, x: Any) -> tuple[Any, Any]:
    return 1 / (1 + x), 1 / (1 + x)


FAULTS: dict[str, dict[str, Any]] = {
    "the larger group tells the truth": {"truths": lambda share, x: optimal_truths(1 - share, x)},
    "truth 1 − e^(−ε)": {
        "truths": lambda share, x: tuple(max(2 * t - 1, HALF) for t in optimal_truths(share, x))
    },
    "randomised response of level ε": {"truths": _response},
    "divided by one report's probability only": {
        "ratio": lambda share, p, q, kind="difference": (
            unfairness_ratio(share, p, q, kind) * (share * p + (1 - share) * (1 - q))
        )
    },
    "Δ and Δ′ exchanged": {
        "ratio": lambda share, p, q, kind="difference": unfairness_ratio(
            share, p, q, "ratio" if kind == "difference" else "difference"
        )
    },
    "closed form with mu² for m²u²": {
        "closed": lambda share, x: (
            optimal_ratio(share, x)
            * (1 - np.minimum(share, 1 - share) ** 2 * (1 - x) ** 2)
            / (1 - np.minimum(share, 1 - share) * (1 - x) ** 2)
        )
    },
    "larger share for the smaller in the closed form": {
        "closed": lambda share, x: 2 * share * (1 - share) * (1 - x) / (1 - share**2 * (1 - x) ** 2)
    },
    "the channel of the group of the smaller rate": {
        "optimum": lambda p, p1, epsilon: binary_optimum(p if p1[0] <= p1[1] else p[::-1], p1, epsilon)
    },
    "the value of equal shares": {
        "optimum": lambda p, p1, epsilon: Randomizer(
            binary_optimum(p, p1, epsilon).matrix, value=binary_optimum([0.5, 0.5], p1, epsilon).value
        )
    },
    "rival of truth ½(1 + u)": {"rival": lambda _, x: 1 - x / 2},
    "rival of half the truth surplus": {
        "rival": lambda share, x: (equally_truthful_response(share, x) + HALF) / 2
    },
}


CLAIM = Claim(
    id="thesis.thm-14",
    where="thesis Thm 14 and (5.4.2), § 5.4; proof App. B",
    statement="If P(Y=1|A=0) ≤ P(Y=1|A=1), the truth probabilities (p, q) of least Δ′ over "
    "LDP levels ≥ ε are (1 − e^(−ε)/2, ½) for P(A=0) < P(A=1) and (½, 1 − e^(−ε)/2) for P(A=1) < P(A=0).",
    verdict="corrected",
    finding="Fair coins are ε₀-LDP for every ε₀ ≥ ε and leave Δ′ = 0, so they win (5.4.2) as printed. True for "
    "p, q ≥ ½ and least level exactly ε or more; the order of the rates is not needed. But for ε > 0 plain "
    "randomised response of the same truth probability has less Δ′, less Δ and a smaller ε. Among the channels of its "
    "truth probability plain response has the least ε, if that probability exceeds the larger share. At equal shares "
    "it has the least Δ′ and Δ too; at unequal shares others leave less Δ, and but for one truth probability less Δ′.",
    kind="condition",
    impact="conclusion",
    because="The thesis calls this channel optimal. On Adult at ε = 1 plain response of the same truth "
    "probability leaves 18 % of Δ′, not 29 %, and is more private.",
    headline="Without p, q ≥ ½ fair coins win. With it, equally truthful plain response is still fairer "
    "and more private: 18 % of Δ′ left on Adult, not 29 %.",
    witness="Group 0 has the share {share_0}, and e^(−ε) = {x}. Fair coins, p = {p} and q = {q}, leave less of the "
    "unfairness Δ′ than the printed optimum.",
    shown_by="adult_plain",
    chapter="thesis-thm-14",
    errata=(
        Erratum(
            where="thesis Theorem 14, § 5.4",
            printed="p and q are free; the case P(A=0) = P(A=1) is left out",
            correct="p, q ≥ ½ and a level of exactly ε or more, as in the proof; "
            "at equal shares both channels are optimal",
            band="condition",
            why="Fair coins satisfy ε₀-LDP for every ε₀ and leave Δ′ = 0, so they win (5.4.2) as it is printed.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
