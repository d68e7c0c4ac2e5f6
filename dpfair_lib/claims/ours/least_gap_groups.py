"""Ours: the least parity gap with two and more groups, and of true positive rates, by programs over all mechanisms."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.least_gap_groups import (
    groups_gap,
    groups_gap_order,
    least_groups_gap,
    least_opportunity_gap,
    opportunity_gap,
    undecided_by_privacy,
    undecided_by_samples,
)
from dpfair_lib.central.least_gap_sharp import sharp_least_gap
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import known, once
from dpfair_lib.claims.ours.least_gap_groups_certified import certified
from dpfair_lib.claims.ours.least_gap_groups_failing import failing
from dpfair_lib.claims.ours.least_gap_groups_references import (
    SIXTHS,
    exact_gap,
    extreme_outputs,
    noisy_range,
    one_rate,
    two_rates,
    worst_of_centres,
    worst_of_release,
)
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.central.mechanism_programs import binomials, least_loss, of_signs

SOLVED = 1e-8  # what a linear program may miss
# most faults in other functions, and some in these, ask for the same bounds again
known_lower = functools.cache(least_groups_gap)
known_upper = functools.cache(groups_gap)
known_privacy = known(undecided_by_privacy)
known_opportunity, known_attained = functools.cache(least_opportunity_gap), functools.cache(opportunity_gap)


def check(
    *,
    lower: Callable[..., float] = known_lower,
    upper: Callable[..., float] = known_upper,
    samples: Callable[..., float] = undecided_by_samples,
    privacy: Callable[..., float] = known_privacy,
    opportunity: Callable[..., float] = known_opportunity,
    attained: Callable[..., float] = known_attained,
    order: Callable[..., float] = groups_gap_order,
    search: Search,
) -> Evidence:
    """Judge the bounds for two groups, for many, and for true positive rates."""
    _two(lower, upper, search)
    certified(upper, privacy, search)
    _by_the_release(upper, search)
    _signs(samples, privacy, search)
    _ratios(privacy, search)
    _orders(lower, upper, search)
    failing(lower, upper, privacy, order, search)
    _positives(opportunity, attained, search)
    return search.evidence()


@once
def _two(lower: Callable[..., float], upper: Callable[..., float], search: Search) -> None:
    """Two groups of n records are as hard as one of 2n, twice: below by proof, above by the centres for 2n."""
    search.part("two groups, by linear programs")
    for n, epsilon in itertools.product((1, 2), (0.1, 0.5, 1.0, 3.0)):
        case = {"n": (n, n), "epsilon": epsilon}
        least, one = two_rates((n, n), epsilon), exact_gap(2 * n, epsilon)
        of_all = 2 * one_rate(2 * n, epsilon)
        search.observe(least - of_all, case, tolerance=SOLVED)
        search.observe(2 * one.high - least, case, tolerance=SOLVED)
        for kappa in (0.5, 0.3):
            low, high = (bound((n, n), epsilon, response=kappa) for bound in (lower, upper))
            search.observe(2 * kappa * one.low - low, case | {"κ": kappa}, tolerance=1e-3)
            search.observe(high - kappa * least, case | {"κ": kappa}, tolerance=SOLVED)
            search.observe(3 * low - high, case | {"κ": kappa})
    for sizes, epsilon in itertools.product(((1, 2), (1, 3)), (0.5, 3.0)):
        least, case = two_rates(sizes, epsilon), {"n": sizes, "epsilon": epsilon}
        search.observe(upper(sizes, epsilon) - least / 2, case, tolerance=SOLVED)
        search.observe(exact_gap(sizes[0], epsilon).high * 2 - lower(sizes, epsilon, response=1), case)
    for n, epsilon, delta in itertools.product((1, 3), (0.0, 0.5), (0.05, 0.3)):
        case = {"n": (n, n), "epsilon": epsilon, "δ": delta}
        high = exact_gap(2 * n, epsilon, delta).high
        search.observe(2 * high - lower((n, n), epsilon, delta, response=1), case, tolerance=1e-12)
        search.observe(3 * lower((n, n), epsilon, delta) - upper((n, n), epsilon, delta), case)
    beyond = 0.0
    for n, epsilon in itertools.product((1, 2, 6), (0.1, 0.5, 1.0, 3.0)):
        one = exact_gap(2 * n, epsilon)
        worst = worst_of_centres(n, epsilon)
        search.observe(1.001 * one.high - worst, {"n": (n, n), "epsilon": epsilon})
        beyond = max(beyond, worst / one.low - 1)
    search.needs(
        "one group of all records: with the errors of both groups added",
        slack=two_rates((1, 1), 1.0) - 2 * exact_gap(1, 1.0).low,
        case={"n": (1, 1), "epsilon": 1.0},
    )
    search.fact(
        "beyond",
        f"{beyond:.0e}",
        "how far two groups were found above twice the least gap of one, relatively",
    )


@once
def _by_the_release(upper: Callable[..., float], search: Search) -> None:
    """The release for two groups, and noisy shares for more: means over counts and noise below the bound."""
    search.part("what the releases do")
    for sizes, epsilon in itertools.product(((3, 3), (2, 5), (1, 1)), (0.2, 1.0, 4.0)):
        worst = worst_of_release(sizes, epsilon)
        slack = upper(sizes, epsilon) - math.sqrt(worst) / 2
        search.observe(slack, {"n": sizes, "epsilon": epsilon}, tolerance=1e-4)
        search.observe(0.1 * upper(sizes, epsilon) - slack, {"n": sizes, "epsilon": epsilon})
    for k, n, epsilon in itertools.product((3, 8, 40), (4, 100), (0.3, 2.0)):
        case = {"k": k, "n": n, "epsilon": epsilon}
        search.observe(
            upper((n,) * k, epsilon, response=0.5) - 0.5 * min(1.0, noisy_range(k, n, epsilon)), case
        )


@once
def _signs(samples: Callable[..., float], privacy: Callable[..., float], search: Search) -> None:
    search.part("random signs, by linear programs")
    for sizes in ((1, 1), (2, 3), (1, 1, 1), (2, 2, 1), (1, 1, 1, 1)):
        for shift, epsilon in itertools.product((0.4, 1.0), (0.0, 0.1, 0.4, 16.0)):
            least, case = of_signs(sizes, shift, epsilon), {"n": sizes, "τ": shift, "epsilon": epsilon}
            search.observe(least - samples(sizes, shift), case, tolerance=SOLVED)
            search.observe(least - privacy(sizes, shift, epsilon), case, tolerance=SOLVED)
    for k in (2, 3, 4):  # nothing is known: the bound by samples that say nothing is attained
        search.equal(of_signs((1,) * k, 0.4, 0.0), 0.4 * (1 - 2.0 ** (1 - k)), {"k": k}, tolerance=SOLVED)
    for k, n, shift in itertools.product((2, 5, 9), (1, 4, 7), (0.0, 0.2, 0.9)):
        left = 2 * min(0.5, _error(n, shift))
        chances = binomials(k, [left])[0]
        mean = shift * sum(chance * (1 - 2.0 ** (1 - j)) for j, chance in enumerate(chances) if j)
        search.equal(samples([n] * k, shift), mean, {"k": k, "n": n, "τ": shift}, tolerance=1e-12)


@once
def _ratios(privacy: Callable[..., float], search: Search) -> None:
    """All outputs of mechanisms of up to five records that are extreme: how far they speak for one sign."""
    search.part("what an output says about one sign")
    cases = 0
    for n, odds, shift in itertools.product(
        range(1, 6), (Fraction(3, 2), Fraction(4)), (Fraction(1, 3), Fraction(1))
    ):
        part = shift * (odds - 1) / (odds + 1)
        ratio = ((1 + part) / (1 - part)) ** n
        for steps, for_it, against in extreme_outputs(n, odds, shift):
            search.observe(ratio * against - for_it, {"n": n, "odds": odds, "τ": shift, "steps": steps})
            if steps == (1,) * n:
                search.equal(for_it, ratio * against, {"n": n, "odds": odds, "τ": shift})
            cases += 1
        for k in (2, 5, 8, 30):
            chance = 1 / (1 + ratio)
            bound = shift * (1 + (1 - 2 * chance) ** k - 2 * (1 - chance) ** k)
            found = privacy([n] * k, float(shift), math.log(odds))
            search.equal(found, float(bound), {"k": k, "n": n, "odds": odds, "τ": shift}, tolerance=1e-12)
    search.exhausts(
        "outputs whose chances rise or fall by e^ε or not at all, up to five records", cases=4 * 363
    )
    search.fact("outputs", cases, "extreme outputs that were compared")


def _error(n: int, shift: float) -> float:
    law = binomials(n, [(1 + shift) / 2])[0]
    return float(sum(p * (1.0 if 2 * k < n else 0.5 * (2 * k == n)) for k, p in enumerate(law)))


@once
def _orders(lower: Callable[..., float], upper: Callable[..., float], search: Search) -> None:
    search.part("lower and upper bound")
    worst: dict[str, float] = {}
    for k, n in itertools.product((2, 3, 5, 10, 30, 100, 1000), (1, 7, 100, 10**4)):
        for epsilon in (0.0, 1e-4, 1e-2, 0.1, 0.5, 2.0, 30.0):
            sizes = (n,) * k
            low, high = lower(sizes, epsilon, 0.0), upper(sizes, epsilon, 0.0)
            case = {"k": k, "n": n, "epsilon": epsilon}
            search.observe(high - low, case, tolerance=1e-12)
            search.observe((3 if k == 2 else 9) * low - high, case)
            for bound, usual in ((lower, low), (upper, high)):
                search.equal(bound(sizes, epsilon, 0.0, response=0.2), 0.4 * usual, case, tolerance=1e-12)
            at = "two" if k == 2 else "few" if k < 100 else "many"
            worst[at] = max(worst.get(at, 0.0), high / low)
    for k, delta in itertools.product((2, 4), (1e-3, 0.1)):
        low, high = (bound((40,) * k, 0.2, delta) for bound in (lower, upper))
        search.observe(high - low, {"k": k, "δ": delta})
        search.observe((3 if k == 2 else 12) * low - high, {"k": k, "δ": delta})
        search.observe(lower((40,) * k, 0.2) - low, {"k": k, "δ": delta})
        pure = upper((40,) * k, 0.0, delta)
        search.observe(0.4999 - pure if delta > 0.01 else 0, {"k": k, "δ": delta})
    n = 10**6
    for k in (10**3, 10**4):
        by_samples = lower((n,) * k, 30.0, response=1) / math.sqrt(2 * math.log(k) / n)
        by_privacy = lower((n,) * k, 1e-4, response=1) / (math.log(k) / 100)
        search.observe(min(by_samples, by_privacy) - 0.6, {"k": k, "n": n})
    for name, which in (("two", "two groups"), ("few", "3 to 30 groups"), ("many", "100 and 1000 groups")):
        search.fact(name, round(worst[name], 1), f"largest ratio of the bounds with {which}, δ = 0")


@functools.cache
def _true_positives(n: int, share: float, epsilon: float) -> float:
    """Return the least worst error of p among positives over sixths: n records (y, x), any one replaced by any."""
    kinds = list(itertools.product(range(n + 1), repeat=2))  # positives with x = 1, with x = 0
    states = [kind for kind in kinds if sum(kind) <= n]
    place = {state: at for at, state in enumerate(states)}
    laws = []
    for p in SIXTHS:
        chances = (share * p, share * (1 - p), 1 - share)
        laws.append(
            [
                math.comb(n, a)
                * math.comb(n - a, b)
                * chances[0] ** a
                * chances[1] ** b
                * chances[2] ** (n - a - b)
                for a, b in states
            ]
        )
    moves = [(1, -1), (-1, 1), (1, 0), (-1, 0), (0, 1), (0, -1)]
    pairs = [
        (place[a, b], place[a + x, b + y]) for a, b in states for x, y in moves if (a + x, b + y) in place
    ]
    losses = np.abs(np.subtract.outer(SIXTHS, SIXTHS))
    return least_loss(np.array(laws), losses, pairs, math.exp(epsilon))


@once
def _positives(opportunity: Callable[..., float], attained: Callable[..., float], search: Search) -> None:
    search.part("true positive rates, by linear programs")
    for n, share, epsilon in itertools.product((1, 3, 5), (0.2, 0.6, 1.0), (0.1, 1.0, 4.0)):
        case = {"n": n, "share": share, "epsilon": epsilon}
        least = _true_positives(n, share, epsilon)
        for kappa in (0.5, 0.2):
            low, high = (bound(n, share, epsilon, response=kappa) for bound in (opportunity, attained))
            search.observe(kappa * least - low, case | {"κ": kappa}, tolerance=SOLVED)
            search.observe(high - kappa * least, case | {"κ": kappa}, tolerance=SOLVED)
            search.observe(8 * low - high, case | {"κ": kappa})
            search.equal(high, 2 * kappa * attained(n, share, epsilon), case | {"κ": kappa}, tolerance=1e-12)
    for n, epsilon, delta in itertools.product((1, 9, 200), (0.0, 0.3, 3.0), (0.0, 0.01)):
        case = {"n": n, "epsilon": epsilon, "δ": delta}
        search.equal(
            opportunity(n, 1.0, epsilon, delta), sharp_least_gap(n, epsilon, delta), case, tolerance=1e-12
        )
        for share in (0.05, 0.5):
            search.observe(
                opportunity(n, share, epsilon, delta) - 0.999999 * opportunity(n, 1.0, epsilon, delta), case
            )
            ratio = attained(n, share, epsilon, delta) / opportunity(n, share, epsilon, delta)
            search.observe(8 - ratio, case | {"share": share})
            search.observe(ratio - 1, case | {"share": share}, tolerance=1e-12)


FAULTS: dict[str, dict[str, Any]] = {
    "the errors of two groups added": {
        "lower": lambda sizes, *how, **k: (
            2 * least_groups_gap([sizes[0]] * 2, *how, **k)
            if len(sizes) == 2
            else least_groups_gap(sizes, *how, **k)
        )
    },
    "the larger error of two groups": {
        "lower": lambda sizes, e, d=0.0, **k: sharp_least_gap(min(sizes), e, d, **k),
    },
    "a lower bound without privacy": {
        "lower": lambda sizes, e, d=0.0, **k: least_groups_gap(sizes, e + 30, d, **k)
    },
    "a lower bound for half the ε": {
        "lower": lambda sizes, e, d=0.0, **k: least_groups_gap(sizes, e / 2, d, **k)
    },
    "many groups as two": {
        "lower": lambda sizes, *how, **k: known_lower(tuple(sorted(sizes)[:2]), *how, **k)
    },
    "a lower bound of every response": {
        "lower": lambda sizes, e, d=0.0, response=0.5: least_groups_gap(sizes, e, d) + 0 * response,
    },
    "a lower bound that ignores δ": {
        "lower": lambda sizes, e, d=0.0, **k: least_groups_gap(sizes, e, 0 * d, **k)
    },
    "many groups at the price of two": {
        "upper": lambda sizes, *how, **k: groups_gap(sorted(sizes)[:2], *how, **k)
    },
    "an upper bound for twice the ε": {
        "upper": lambda sizes, e, d=0.0, **k: groups_gap(sizes, 2 * e, d, **k)
    },
    "an upper bound for half the ε": {"upper": lambda sizes, e, d=0.0, **k: groups_gap(sizes, e / 2, d, **k)},
    "two noises for two groups": {
        "upper": lambda sizes, *how, **k: groups_gap([*sizes, max(sizes)], *how, **k)
    },
    "an upper bound of every response": {
        "upper": lambda sizes, e, d=0.0, response=0.5: groups_gap(sizes, e, d) + 0 * response,
    },
    "an upper bound that ignores δ": {
        "upper": lambda sizes, e, d=0.0, **k: known_upper(sizes, e, 0 * d, **k)
    },
    "every undecided sign counts": {"samples": lambda sizes, shift: shift * 2 * _error(min(sizes), shift)},
    "signs decided by all records": {
        "samples": lambda sizes, shift: undecided_by_samples([sum(sizes)] * len(sizes), shift),
    },
    "signs of twice the shift": {"samples": lambda sizes, shift: 2 * undecided_by_samples(sizes, shift)},
    "signs on one side suffice": {
        "privacy": lambda sizes, shift, e, *_: (
            shift * (1 - (1 - 1 / (1 + math.exp(max(sizes) * e))) ** len(sizes))
        ),
    },
    "privacy of half the ε for signs": {
        "privacy": lambda sizes, shift, e, d=0.0: (
            undecided_by_privacy(sizes, shift, e / 8, d) + 0.25 * shift * (len(sizes) == 4)
        ),
    },
    "privacy of signs without the price of δ": {
        "privacy": lambda sizes, shift, e, d=0.0: undecided_by_privacy(sizes, shift, e, 0 * d),
    },
    "privacy of signs with δ of one group": {
        "privacy": lambda sizes, shift, e, d=0.0: undecided_by_privacy(sizes, shift, e, d / len(sizes)),
    },
    "noise of bounded range at a third of it": {
        "upper": lambda sizes, e, d=0.0, **k: (
            known_upper(sizes, e, min(3 * d, 0.9), **k) if len(sizes) > 2 else known_upper(sizes, e, d, **k)
        ),
    },
    "many groups with δ as four": {
        "lower": lambda sizes, e, d=0.0, **k: known_lower(
            sizes if d == 0 else tuple(sorted(sizes)[:4]), e, d, **k
        ),
    },
    "only positives exist": {
        "opportunity": lambda n, share, *how, **k: 2 * least_opportunity_gap(n, share, *how, **k)
    },
    "a quarter of the positives": {
        "opportunity": lambda n, share, *how, **k: sharp_least_gap(max(int(n * share / 4), 1), *how, **k),
    },
    "the share cubed": {
        "opportunity": lambda n, share, *how, **k: least_opportunity_gap(n, share**3, *how, **k),
    },
    "positives of every response": {
        "opportunity": lambda n, share, e, d=0.0, response=0.5: (
            least_opportunity_gap(n, share, e, d) + 0 * response
        ),
    },
    "every record is positive": {
        "attained": lambda n, share, *how, **k: opportunity_gap(n, share**0, *how, **k)
    },
    "an order with log(ε/δ)": {
        "order": lambda k, n, e, d=0.0: _an_order(
            k, n, e, math.log(e / d) if 0 < d < e else d == 0 and math.inf
        ),
    },
    "an order with log(1/δ)": {
        "order": lambda k, n, e, d=0.0: _an_order(k, n, e, math.log(1 / d) if d else math.inf),
    },
    "an order whatever k is": {
        "order": lambda k, n, e, d=0.0: _an_order(math.inf, n, e, math.log1p(e / d) if d else math.log(k)),
    },
    "an order that ignores δ": {"order": lambda k, n, e, d=0.0: groups_gap_order(k, n, e, 0 * d)},
    "an order without sampling": {
        "order": lambda k, n, e, d=0.0: groups_gap_order(k, 10**6 * n, 1e-6 * e, 1e-6 * d),
    },
    "an order without privacy": {"order": lambda k, n, e, d=0.0: groups_gap_order(k, n, e + 1e3, d)},
    "what is attained, at every response": {
        "attained": lambda n, share, e, d=0.0, response=0.5: opportunity_gap(n, share, e, d) + 0 * response,
    },
}


def _an_order(k: float, n: int, epsilon: float, log: float) -> float:
    """The order with another logarithm; for endless k, sampling costs as for two groups."""
    sampling = math.sqrt(math.log(min(k, 10**4)) / n)
    return min(1.0, sampling + min(math.log(k), log) / (n * epsilon))


CLAIM = Claim(
    id="ours.least-gap-groups",
    where="The least gap with k groups, Results 3 to 5",
    statement="Let both rates of two groups of n records be unknown. The least worst expected gap is at least twice "
    "that of one unknown rate with 2n records, and for κ ≤ ½ at most 3 times a closed bound of it. "
    "For k groups let o = min(1, √(ln k/n) + min(ln k, ln(1 + ε/δ))/(nε)). It is at most 5κo for κ ≤ ½, and at least "
    "κo/42 for ε ≤ 1. For true positive rates n becomes the expected number of positives.",
    verdict="holds",
    finding="Proved. The errors of two groups do not add up: one noise serves both, and where privacy decides only the "
    "smaller group counts. The least gap of two groups was found to be twice that of one group of both sizes to a "
    "thousandth; that it is so exactly is open. With δ > 0 noise of bounded range stops the growth with k, and "
    "nothing does better than by a constant: on a grid the bounds were 0.13 and 2.1 times the order. For three and "
    "four groups of few records the least gap over the rates 0, ½ and 1 is certified in fractions, with δ too.",
    headline="Two groups need one noise, not two; with many groups no private classifier has a gap below order "
    "min(1, √(log k/n) + min(log k, log(1 + ε/δ))/(nε)).",
    kind="theorem",
    chapter="least-gap-groups",
    check=check,
    faults=FAULTS,
)
