"""Thesis, Table 2.1: the ticks of Algorithm 2, of DP-FERMI and of post-processing by noisy counts, each by a test."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.features_covered import FEATURES, NEVER, RECORDS, largest_ratio
from dpfair_lib.central.flips import flip_probabilities
from dpfair_lib.central.gap_law import signed_gap
from dpfair_lib.central.parity import parity_bound, parity_violation_probability
from dpfair_lib.central.released_rates import Rate, geometric_count_law, rate_odds, rational_decay
from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.thesis.table_2_1_fermi import (
    models_with_gradients,
    no_bound_at_fixed_strength,
    one_record_of_fermi,
)
from dpfair_lib.claims.thesis.table_2_1_odds import odds_of_one_rate, slow
from dpfair_lib.learners.fermi_penalty import clipped_w_sum, renyi_information, residuals

HALF = Fraction(1, 2)
THIRDS = [Fraction(i, 3) for i in range(4)]


def check(
    *,
    gap: Callable[..., Any] = signed_gap,
    bound: Callable[..., float] = parity_bound,
    law: Callable[..., Any] = geometric_count_law,
    odds: Callable[..., Any] = rate_odds,
    slopes: Callable[..., Any] = residuals,
    w_sum: Callable[..., Any] = clipped_w_sum,
    information: Callable[..., Any] = renyi_information,
    search: Search,
) -> Evidence:
    """Judge nine ticks: what each method takes, what it promises, and whose records it covers."""
    _any_classifier(gap, search)
    _a_bound(bound, search)
    _features_covered(law, search)
    odds_of_one_rate(odds, search)
    _sizes_counted(odds, search)
    models_with_gradients(slopes, search)
    no_bound_at_fixed_strength(information, search)
    one_record_of_fermi(w_sum, search)
    return search.evidence()


@once
def _any_classifier(gap: Callable[..., Any], search: Search) -> None:
    """All labels on three points of two groups, believed rates in thirds: the gap depends on the two rates alone."""
    search.part("Algorithm 2: any model")
    before, believed, after = _flipped_classifiers()
    found = gap(*before, *believed)
    case = {"rates": before.T, "believed": believed.T}
    search.observe(-abs(found - after), case)
    cases = len(THIRDS) ** 2 * 8**2
    search.exhausts("all labels on three points of each group, believed rates in thirds", cases=cases)


@functools.cache
def _flipped_classifiers() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two rates before, the believed ones, and the signed gap after the flips, point by point."""
    masses = [
        (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
        (Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)),
    ]
    labels = list(itertools.product((0, 1), repeat=3))
    before, believed, after = [], [], []
    for a, b in itertools.product(THIRDS, repeat=2):
        rules = [flip_probabilities(rate, (a + b) / 2) for rate in (a, b)]
        rates = [
            {chosen: sum(m * (1 - down if label else up) for m, label in zip(mass, chosen, strict=True))
             for chosen in labels}
            for mass, (down, up) in zip(masses, rules, strict=True)
        ]  # fmt: skip
        for one, two in itertools.product(labels, repeat=2):
            before.append([sum(m * y for m, y in zip(mass, old, strict=True))
                           for mass, old in zip(masses, (one, two), strict=True)])  # fmt: skip
            believed.append([a, b])
            after.append(rates[0][one] - rates[1][two])
    return np.array(before, dtype=object).T, np.array(believed, dtype=object).T, np.array(after, dtype=object)


@functools.cache
def _violation(limit: float, rates: tuple[float, float], n: tuple[int, int], epsilon: float) -> float:
    return float(parity_violation_probability(limit, rates=rates, n=n, epsilon=epsilon))


@once
def _a_bound(bound: Callable[..., float], search: Search) -> None:
    """The promised gap is exceeded with probability at most η; it is worth something from some size on."""
    search.part("Algorithm 2: guarantee")
    for (n, epsilon), eta in itertools.product((((60, 90), 1.0), ((400, 900), 0.1)), (0.05, 0.5, 0.95)):
        limit = bound(n, epsilon, eta)
        case = {"n": n, "epsilon": epsilon, "eta": eta}
        for rates in ((0.5, 0.5), (0.1, 0.3), (0.0, 1.0)):
            if limit < 1:
                search.observe(eta - _violation(limit, rates, n, epsilon), {**case, "rates": rates})
        parts = [bound((size, size), math.inf, eta) / 2 for size in n]  # of equal groups each has half
        for size, part in zip(n, parts, strict=True):
            search.equal(2 * math.exp(-2 * size * part**2), eta / 4, case, tolerance=1e-9)
        noise = limit - sum(parts)
        search.equal(noise, math.log(4 / eta) / epsilon * (1 / n[0] + 1 / n[1]), case, tolerance=1e-9)
    for n, epsilon, eta in itertools.product(((60, 90), (7, 400)), (0.2, 1.0), (0.05, 0.5)):
        sampling = bound(n, math.inf, eta, mechanism="geometric")
        noise = (bound(n, epsilon, eta, mechanism="geometric") - sampling) / (1 / n[0] + 1 / n[1])
        tails = [
            2 * math.exp(-epsilon * (round(noise) + 1 - less)) / (1 + math.exp(-epsilon)) for less in (0, 1)
        ]
        case = {"n": n, "epsilon": epsilon, "eta": eta, "noise": "geometric", "t": noise}
        search.equal(noise, round(noise), case, tolerance=1e-6)
        # whole noise exceeds t with probability 2r^(t + 1)/(1 + r): t is the first that is enough
        search.observe(eta / 4 - tails[0], case, tolerance=1e-12)
        search.observe(tails[1] - eta / 4, case)
        search.equal(sampling, bound(n, math.inf, eta), case, tolerance=1e-12)
    search.observe(1 - bound((400, 900), 0.1, 0.05), {"n": (400, 900), "epsilon": 0.1, "eta": 0.05})
    search.fact("void", round(bound((30, 30), 0.05, 0.05), 2), "bound at 30 rows a group, ε = 0.05, η = 0.05")


@once
def _features_covered(law: Callable[..., Any], search: Search) -> None:
    """Three records of eight values: with a private classifier both releases cover x, a and y; else a alone."""
    search.part("privacy of all features, end to end")
    for top, decay in itertools.product((1, 3, 5), (Fraction(1, 3), HALF, Fraction(4, 5))):
        for k in range(top + 1):
            ends = [decay ** abs(c - k) / (1 + decay) for c in range(top + 1)]
            expected = [end * (1 if c in (0, top) else 1 - decay) for c, end in enumerate(ends)]
            counted_law = law(k, top, decay)
            case = {"selected": k, "top": top, "ratio": decay}
            search.equal(len(counted_law), top + 1, case)
            for mine, theirs in zip(counted_law, expected, strict=False):
                search.equal(mine, theirs, case)
    tables = {k: law(k, RECORDS, HALF) for k in range(RECORDS + 1)}
    odds = np.zeros((RECORDS + 1, RECORDS + 1), dtype=np.int64)
    for k, j in itertools.product(range(RECORDS + 1), repeat=2):
        odds[k, j] = max(
            math.ceil(p / q) if q else NEVER for p, q in zip(tables[k], tables[j], strict=True) if p
        )
        search.equal(int(odds[k, j]), 2 ** abs(k - j), {"counts": (k, j)})
    if odds.max() > 2**RECORDS:
        return  # an infinite ratio already
    found = {}
    for feature, counted, learner in itertools.product(
        FEATURES, ("selected", "cells"), ("trained", "private")
    ):
        ratio = largest_ratio(feature, counted, learner, odds)
        found[feature, counted, learner] = ratio
        case = {"feature": feature, "counted": counted, "learner": learner}
        if learner == "private":
            search.observe(
                2 * 2 * 4 - ratio, case
            )  # both counts, and odds 2 for a moved score, of both weights
        elif feature == "a":
            search.observe(2 * 2 - ratio, case)
        else:
            search.equal(ratio, NEVER, case)
    cases = 2 * 2 * len(FEATURES)
    search.exhausts("one feature of one of three records changed, all outputs", cases=cases)
    for key, counted, what in (
        ("private_selected", "selected", "with the counts of Algorithm 2"),
        ("private_cells", "cells", "with all cells counted, as in the post-processing of Jagielski et al."),
    ):
        ratios = ", ".join(str(found[feature, counted, "private"]) for feature in FEATURES)
        search.fact(key, ratios, f"largest ratios of neighbours (x, a, y), private classifier, {what}")
    bare = {
        kind: [f for f in FEATURES if found[f, kind, "trained"] < NEVER] for kind in ("selected", "cells")
    }
    search.fact(
        "bare",
        " / ".join("".join(names) for names in bare.values()),
        "features covered if the classifier is trained without noise, by either",
    )


def counted_sizes_slack(root: Fraction, selected: tuple[int, int], sizes: tuple[int, int]) -> Fraction:
    """Return e^(2ε) less the largest ratio where a selected record of group 0 becomes one of group 1.

    The divisors are the sizes found in the data; e^(−ε/12) = root, Laplace noise, clipped.
    """
    (m, n) = sizes
    return _slack(root, selected, (m, n), (m - 1, n + 1), rate_odds)


def _slack(
    root: Fraction,
    selected: tuple[int, int],
    before: tuple[int, int],
    after: tuple[int, int],
    odds: Callable[..., Any],
) -> Fraction:
    """Return the same where the divisors are one pair before and another after."""
    decay, (k, j) = rational_decay(root, 12), selected
    ratio = odds(Rate(k, before[0]), Rate(k - 1, after[0]), decay) * odds(
        Rate(j, before[1]), Rate(j + 1, after[1]), decay
    )
    return Fraction(1 / root**24 - ratio)


@once
def _sizes_counted(odds: Callable[..., Any], search: Search) -> None:
    """As printed, the rates are divided by the sizes found in the data: then A is not covered at ε₀ + ε₁."""
    search.part("privacy of all features, sizes found in the data")
    root = Fraction(19, 20)
    for m, n in itertools.product(range(2, 4), repeat=2):
        for k, j in itertools.product(range(1, m + 1), range(n + 1)):
            case = {"root": root, "selected": (k, j), "sizes": (m, n)}
            found = _slack(root, (k, j), (m, n), (m - 1, n + 1), odds)
            search.under(False, found, case, verify=counted_sizes_slack)
            # divisors fixed beforehand: exactly e^(ε₀ + ε₁) at most
            fixed = _slack(root, (k, j), (4, 4), (4, 4), odds)
            search.under(True, fixed, {**case, "divisors": 4}, verify=counted_sizes_slack)
            search.equal(fixed, 0, case)


def _bound_of_one_group(n: Any, epsilon: Any, eta: float, **how: Any) -> float:
    sizes = np.broadcast_to(n, 2)
    return parity_bound(n, epsilon, eta, **how) - math.sqrt(math.log(8 / eta) / (2 * int(sizes[1])))


def _noise_of_half_the_scale(selected: int, top: int, ratio: Fraction) -> Any:
    return geometric_count_law(selected, top, ratio**2)


def _no_noise(selected: int, top: int, ratio: Fraction) -> list[Fraction]:
    return [Fraction(int(c == selected)) + 0 * ratio for c in range(top + 1)]


def _no_size(before: Rate, after: Rate, decay: Any, **how: Any) -> Any:
    return min(rate_odds(before, after, decay, **how), 1 / decay(Fraction(1)))


def _without_the_slope(p: Any, y: Any, groups: Any, frequencies: Any, strengths: Any, W: Any) -> Any:
    """The penalty's derivative by the prediction in place of that by the log-odds."""
    plain = p - y
    part = residuals(p, y, groups, frequencies, strengths, W) - plain
    return plain + part / np.maximum(p * (1 - p), 1e-3)


def _half_the_penalty(p: Any, y: Any, groups: Any, frequencies: Any, strengths: Any, W: Any) -> Any:
    return residuals(p, y, groups, frequencies, strengths / 2, W)


FAULTS: dict[str, dict[str, Any]] = {
    "flips of twice the size": {"gap": lambda *rates: 2 * signed_gap(*rates) - (rates[0] - rates[1])},
    "believed rates taken for the true ones": {"gap": lambda a, b, *_: 0 * signed_gap(a, b, a, b)},
    "sampling of one group forgotten": {"bound": _bound_of_one_group},
    "a bound without noise": {"bound": lambda n, _, eta, **how: parity_bound(n, math.inf, eta, **how)},
    "one noise for both": {
        "bound": lambda n, epsilon, eta, mechanism="laplace": parity_bound(
            n, epsilon, eta, mechanism="laplace" if mechanism else mechanism
        )
    },
    "noise of half the scale": {"law": _noise_of_half_the_scale},
    "counts without noise": {"law": _no_noise},
    "noise of one scale": {"law": lambda k, top, ratio: geometric_count_law(k, top, HALF + 0 * ratio)},
    "a larger top": {"law": lambda k, top, ratio: geometric_count_law(k, max(top, RECORDS), ratio)},
    "the count from above": {"law": lambda k, top, ratio: geometric_count_law(top - k, top, ratio)},
    "odds that no size enters": {"odds": _no_size},
    "always clipped": {
        "odds": lambda one, two, decay, clipped=True: rate_odds(one, two, decay, clipped=clipped or True)
    },
    "never clipped": {
        "odds": lambda one, two, decay, clipped=True: rate_odds(one, two, decay, clipped=clipped and False)
    },
    "odds of one ε": {"odds": lambda one, two, _, **how: rate_odds(one, two, slow, **how)},
    "the neighbours exchanged": {"odds": lambda one, two, decay, **how: rate_odds(two, one, decay, **how)},
    "odds of half a record": {
        "odds": lambda one, two, decay, **_: decay(Fraction(-1, 2)) + 0 * one.size * two.size
    },
    "derivative by the prediction": {"slopes": _without_the_slope},
    "half of the penalty": {"slopes": _half_the_penalty},
    "groups in another order": {
        "slopes": lambda p, y, groups, *rest: residuals(p, y, np.sort(groups), *rest)
    },
    "groups of one size": {
        "slopes": lambda p, y, groups, f, *rest: residuals(p, y, groups, np.full_like(f, 1 / len(f)), *rest)
    },
    "a sum for groups of one size": {
        "w_sum": lambda p, groups, f, W, clip: clipped_w_sum(p, groups, np.full_like(f, 1 / len(f)), W, clip)
    },
    "information of groups of one size": {
        "information": lambda p, groups, f: renyi_information(p, groups, np.full_like(f, 1 / len(f)))
    },
    "information of sorted groups": {
        "information": lambda p, groups, f: renyi_information(p, np.sort(groups), f)
    },
    "sums not clipped": {"w_sum": lambda p, groups, f, W, _: clipped_w_sum(p, groups, f, W, math.inf)},
    "information without its root": {
        "information": lambda *rows: np.sqrt(np.maximum(renyi_information(*rows), 0)),
    },
}


CLAIM = Claim(
    id="thesis.table-2.1",
    where="thesis Table 2.1, §§ 2.3–2.4; ISIT Table I, § I",
    statement="Of 14 methods only Algorithm 2 serves any model, has guarantees and covers all features; "
    "DP-FERMI lacks guarantees, the post-processing of Jagielski et al. covers A only.",
    statement_uses=(
        "isit.thm-3.privacy",
        "isit.thm-3.fairness",
        "isit.thm-3.utility",
        "sk.jagielski-baseline",
    ),
    verdict="corrected",
    finding="Three rows judged. Algorithm 2: any classifier of two groups, through its rates; a bound, void for "
    "small groups; all features if divisors are fixed and h* is private. Post-processed noisy cells then cover all "
    "too; with a bare h* of x alone, either covers A only: that ✗ is of the input. DP-FERMI: models with "
    "gradients; at fixed λ a gap stays.",
    kind="condition",
    impact="condition",
    because="Algorithm 2 keeps its ticks if the divisors are fixed beforehand and the classifier is "
    "private; under the same condition the post-processing of Jagielski et al. covers all features too.",
    headline="Algorithm 2 covers all features only with group sizes fixed beforehand and a private "
    "classifier; then noisy post-processing in the manner of Jagielski et al. does so too.",
    witness="Group sizes {sizes}, of which {selected} are selected. A selected record changes its group, and "
    "the group sizes are counted in the data. e^(−ε) is a power of {root}. One event is more than e^(2ε) times "
    "as likely.",
    chapter="thesis-table-2-1",
    errata=(
        Erratum(
            where="thesis Table 2.1, Algorithm 2, privacy of all features",
            printed="✓",
            correct="✓ if the group sizes that the rates are divided by are fixed beforehand, and h* is private",
            band="condition",
            why="A record that changes its group changes both sizes, and the two noisy rates then tell more than "
            "ε₀ + ε₁: two groups of two rows suffice.",
        ),
        Erratum(
            where="thesis Table 2.1, post-processing of Jagielski et al., privacy of all features",
            printed="✗: A only",
            correct="as Algorithm 2: A only with a classifier trained without noise, all features with a private one",
            band="condition",
            why="Both release noisy counts of the data; what else is covered depends on the classifier that is given.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
