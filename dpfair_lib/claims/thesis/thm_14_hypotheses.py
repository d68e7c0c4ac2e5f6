"""Thesis, Theorem 14 without its hypotheses: truth probabilities below ½, and Δ in place of Δ′."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

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
    least_ratio_anywhere,
    most_truthful_optimum,
    optimal_ratio,
    optimal_truths,
    unfairness_ratio,
)
from dpfair_lib.local.randomizer import Randomizer

ANY = tuple(Fraction(i, 12) for i in range(13))


def check(
    *,
    anywhere: Callable[..., Any] = least_ratio_anywhere,
    closed: Callable[..., Any] = optimal_ratio,
    truthful: Callable[..., Any] = most_truthful_optimum,
    ratio: Callable[..., Any] = unfairness_ratio,
    search: Search,
) -> Evidence:
    """Judge the printed excuse for p, q ≥ ½; the infimum without it; and the minimisers of Δ."""
    _fairer_below_half(search)
    _on_adult(search)
    _infimum(anywhere, closed, ratio, search)
    _minimisers_of_delta(closed, ratio, search)
    _most_truthful(closed, truthful, ratio, search)
    return search.evidence()


@once
def _fairer_below_half(search: Search) -> None:
    """Channels of level ε, more truthful than the theorem's and than any constant answer: none should be fairer."""
    search.part("utility requires p, q ≥ ½")
    found = 0
    for share, x, i in itertools.product(SHARES, LEVELS[1:], range(1, 12)):
        rare = Fraction(i, 40)  # the larger group's value is hidden with this probability
        p, q = rare / x, 1 - rare
        if p < HALF and useful_slack(share, x, p, q) < 0:
            found += 1
            case = {"share_0": share, "x": x, "p": p, "q": q}
            search.against(useful_slack(**case), case, verify=useful_slack)
            search.against(guess_slack(**case), case, verify=guess_slack, reading="better than a guess")
    search.fact(
        "outside",
        found,
        "channels found that are fairer, more truthful and of level ε, with p below one half",
    )


@once
def _on_adult(search: Search) -> None:
    """The thesis's own setting: Adult with gender at ε = 1, and a channel with p = 0.14."""
    search.part("Adult, gender, ε = 1")
    case = {"share_0": adult_women(), "x": AT_ONE, "p": Fraction(1, 20) / AT_ONE, "q": Fraction(19, 20)}
    slack = useful_slack(**case)
    search.against(slack, case, verify=useful_slack)
    search.agree(slack < 0, True, case)
    least = optimal_ratio(case["share_0"], AT_ONE)
    search.fact(
        "adult_opt", round(float(least), 3), "Adult, gender, ε = 1: part of Δ′ that Theorem 14 leaves"
    )
    search.fact(
        "adult_outside",
        round(float(least + slack), 3),
        "Adult, gender, ε = 1: part of Δ′ that a more truthful channel leaves, with p below one half",
    )


def useful_slack(share_0: Fraction, x: Fraction, p: Fraction, q: Fraction) -> Fraction:
    """Return Δ′ left by (p, q) less that of Theorem 14, or 0 if (p, q) is too private or not truthful enough."""
    shares = [share_0, 1 - share_0]
    truths = [
        Randomizer(binary_matrix(*of)).truth_probability(shares)
        for of in ((p, q), optimal_truths(share_0, x))
    ]
    return _left_less_than_printed(share_0, x, p, q) if truths[0] > max(truths[1], *shares) else Fraction(0)


def guess_slack(share_0: Fraction, x: Fraction, p: Fraction, q: Fraction) -> Fraction:
    """Return the same where utility means to be right more often than a guess, both groups counted alike."""
    return _left_less_than_printed(share_0, x, p, q) if p + q > 1 else Fraction(0)


def _left_less_than_printed(share_0: Fraction, x: Fraction, p: Fraction, q: Fraction) -> Fraction:
    """Return Δ′ left by (p, q) less that of Theorem 14, or 0 if (p, q) is too private."""
    shares, rates = [share_0, 1 - share_0], [Fraction(0), Fraction(1)]
    one = Randomizer(binary_matrix(p, q))
    other = Randomizer(binary_matrix(*optimal_truths(share_0, x)))
    if one.likelihood_ratio < 1 / x:
        return Fraction(0)
    left = [channel.pushforward(shares, rates)[1] for channel in (one, other)]
    return Fraction(abs(left[0][1] - left[0][0]) - abs(left[1][1] - left[1][0]))


@once
def _infimum(anywhere: Any, closed: Any, ratio: Any, search: Search) -> None:
    """All channels of level ε or more: Δ′ stays above its infimum, which a sequence approaches; Δ loses nothing."""
    search.part("all binary channels")
    for share, p, q in itertools.product(SHARES, ANY, ANY):
        most = level(p, q)
        x = Fraction(0) if most == math.inf else 1 / most
        case = {"share_0": share, "p": p, "q": q}
        slack = ratio(share, p, q) - anywhere(share, x)
        search.observe(slack, case)
        search.agree(slack == 0, x == 1, case)  # no channel attains it
        search.observe(ratio(share, p, q, "ratio") - closed(share, x, "ratio"), case)
    search.exhausts(
        "all binary channels in twelfths and all shares in twelfths, each at its own level",
        cases=3 * len(SHARES) * len(ANY) ** 2,
    )
    search.part("channels that approach the infimum")
    for share, x, rare in itertools.product(SHARES, LEVELS, (Fraction(1, 10**n) for n in (1, 3, 6))):
        p, q = (1 - x * rare, rare) if share <= HALF else (rare, 1 - x * rare)
        seldom = rare * (1 - min(share, 1 - share) * (1 - x))
        case = {"share_0": share, "x": x, "rare": rare}
        search.equal(ratio(share, p, q) * (1 - seldom), anywhere(share, x), case)


@once
def _minimisers_of_delta(closed: Any, ratio: Any, search: Search) -> None:
    """Among p, q ≥ ½: least Δ on the edge q = e^ε(1 − p), where P(Z = 0) ≥ ½ (0 being the smaller group)."""
    search.part("who attains the least Δ")
    for share, p, q in itertools.product(SHARES, TRUTHS, TRUTHS):
        most = level(p, q)
        x = Fraction(0) if most == math.inf else 1 / most
        reported = share * p + (1 - share) * (1 - q)
        edges = [1 - p == x * q and reported >= HALF, 1 - q == x * p and reported <= HALF]
        attains = any(edge for edge, fits in zip(edges, (share <= HALF, share >= HALF), strict=True) if fits)
        case = {"share_0": share, "p": p, "q": q}
        search.agree(ratio(share, p, q, "ratio") == closed(share, x, "ratio"), attains or x == 1, case)


@once
def _most_truthful(closed: Any, truthful: Any, ratio: Any, search: Search) -> None:
    """The most truthful minimiser of Δ: of level ε, equally likely reports, more truthful than the printed one."""
    search.part("the most truthful minimiser of Δ")
    for share, x in itertools.product(SHARES, LEVELS[1:]):
        case = {"share_0": share, "x": x}
        p, q = truthful(share, x)
        search.equal(level(p, q), 1 / x, case)
        search.equal(ratio(share, p, q, "ratio"), closed(share, x, "ratio"), case)
        search.equal(share * p + (1 - share) * (1 - q), HALF, case)
        search.observe(min(p, q) - HALF, case)
        printed = optimal_truths(share, x)
        gain = share * (p - printed[0]) + (1 - share) * (q - printed[1])
        search.agree(gain > 0, True, case)
        if share == HALF:
            search.equal(p, 1 / (1 + x), case)


def _sides_exchanged(share_0: Any, x: Any) -> tuple[Any, Any]:
    return most_truthful_optimum(1 - share_0, x)


FAULTS: dict[str, dict[str, Any]] = {
    "infimum taken over truthful channels": {"anywhere": optimal_ratio},
    "infimum of the other group": {
        "anywhere": lambda share, x: share * (1 - share) * (1 - x) / (1 - max(share, 1 - share) * (1 - x))
    },
    "closed form of Δ′ for Δ": {"closed": lambda share, x, _: optimal_ratio(share, x)},
    "Δ without the factor of the smaller share": {
        "closed": lambda share, x, kind: optimal_ratio(share, x, kind) / min(share, 1 - share)
    },
    "groups exchanged": {"truthful": _sides_exchanged},
    "the printed optimum as the most truthful": {"truthful": optimal_truths},
    "Δ and Δ′ exchanged": {
        "ratio": lambda share, p, q, kind="difference": (
            unfairness_ratio(share, p, q) if kind == "ratio" else unfairness_ratio(share, p, q, "ratio")
        )
    },
}


CLAIM = Claim(
    id="thesis.thm-14.hypotheses",
    where="thesis § 5.2.1 (end), § 5.4, App. B (proof of Thm 14, step 1)",
    statement="Non-trivial utility requires p, q ≥ ½, so that Theorem 14 loses nothing by it; "
    "and Δ could stand for Δ′, the two being the same up to constants.",
    statement_uses=("thesis.thm-14", "thesis.lemma-16"),
    verdict="corrected",
    finding="Channels with p < ½ can be fairer at level ε and more truthful than Theorem 14's. Without p, q ≥ ½ "
    "the infimum of Δ′ falls by the factor (1 + mu)/2, m the smaller share, u = 1 − e^(−ε), and none attains it. "
    "For Δ nothing is lost, but a whole edge of channels is optimal: the printed is the least truthful of them.",
    kind="replaced",
    impact="conclusion",
    because="Theorem 14 calls its channel optimal given utility. On Adult at ε = 1 a more truthful channel "
    "with p < ½ leaves less Δ′.",
    headline="Utility does not require p, q ≥ ½: channels below ½ can be more truthful than Theorem 14's, "
    "of level ε, and fairer. For Δ nothing is lost.",
    witness="Group 0 has the share {share_0}, and e^(−ε) = {x}. Truth probabilities p = {p} and q = {q} "
    "leave less Δ′ than Theorem 14, at level ε and with more truthful reports, although p is below "
    "½.",
    shown_by="adult_outside",
    chapter="thesis-thm-14",
    errata=(
        Erratum(
            where="thesis App. B, proof of Theorem 14, step 1",
            printed="non-trivial utility requires p, q ≥ ½",
            correct="p, q ≥ ½ is an assumption; without it the infimum of Δ′ falls by the factor (1 + mu)/2 and no "
            "channel attains it",
            band="result",
            why="A channel that often hides the smaller group and rarely the larger one can be more truthful than "
            "Theorem 14's and than any constant answer, and leave less Δ′.",
            shown="""from fractions import Fraction as F

def left(share, p, q):  # part of Δ′ that is left: rates 0 and 1
    z = share * p + (1 - share) * (1 - q)
    return abs((1 - share) * q / (1 - z) - (1 - share) * (1 - q) / z)

share, x, p, q = F(5, 12), F(3, 5), F(1, 24), F(39, 40)  # p < 1/2; e^(-ε) = x = (1 - q)/p
opt = 1 - x / 2, F(1, 2)  # Theorem 14
truth = [share * a + (1 - share) * b for a, b in ((p, q), opt)]
assert (1 - q) / p == x and truth[0] > max(truth[1], 1 - share) and left(share, p, q) < left(share, *opt)""",
        ),
    ),
    check=check,
    faults=FAULTS,
)
