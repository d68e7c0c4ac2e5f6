"""What can be equal together: the most accurate classifier with parity and other notions, exactly."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.fairness.joint_notions import NOTIONS, Notion, best_accuracy, best_rates, notion_gap
from dpfair_lib.fairness.joint_notions_search import best_accuracy_by_lp

SIXTHS = np.arange(7)
QUARTERS = (1, 2, 3)
SETS: list[tuple[Notion, ...]] = [
    ("parity", *more) for size in range(4) for more in itertools.combinations(NOTIONS[1:], size)
]
SOLVED = 1e-8


def check(
    *,
    search: Search,
    best: Callable[..., Any] = best_accuracy,
    rates: Callable[..., Any] = best_rates,
    gap: Callable[..., Any] = notion_gap,
) -> Evidence:
    """No rates that meet the notions are more accurate than the table says, and some are as accurate."""
    _two_groups(best, search)
    _attained(best, rates, gap, search)
    _several_groups(best, search)
    _what_is_needed(best, search)
    return search.evidence()


def _table(share: Sequence[Fraction], base: Sequence[Fraction], notions: Collection[Notion]) -> Fraction:
    """Return the largest accuracy as the chapter's table states it, for base rates that differ."""
    overall = sum((w * p for w, p in zip(share, base, strict=True)), Fraction(0))
    low, high, more = min(base), max(base), {*notions} - {"parity"}
    if more == {"accuracy", "opportunity", "false-positives"}:
        return Fraction(1, 2)
    if more == {"accuracy", "opportunity"}:
        return 1 - high / 2
    if more == {"accuracy", "false-positives"}:
        return (1 + low) / 2
    if more == {"accuracy"}:
        return 1 - (high - low) / 2
    if more == {"opportunity", "false-positives"}:
        return max(overall, 1 - overall)
    if more == {"opportunity"}:
        return 1 - min(high - overall, overall)
    if more == {"false-positives"}:
        return 1 - min(overall - low, 1 - overall)
    return 1 - min(sum((w * abs(p - s) for w, p in zip(share, base, strict=True)), Fraction(0)) for s in base)


@once
def _two_groups(best: Callable[..., Any], search: Search) -> None:
    """All true and false positive rates in sixths, base rates and shares in quarters, in whole numbers."""
    search.part("all rates of two groups")
    true_0, false_0, true_1, false_1 = (axis.ravel() for axis in np.meshgrid(*[SIXTHS] * 4, indexing="ij"))
    count = 0
    for base in itertools.permutations(QUARTERS, 2):
        selected = [
            p * t + (4 - p) * f for p, t, f in zip(base, (true_0, true_1), (false_0, false_1), strict=True)
        ]
        correct = [
            p * t + (4 - p) * (6 - f)
            for p, t, f in zip(base, (true_0, true_1), (false_0, false_1), strict=True)
        ]
        met = {
            "parity": selected[0] == selected[1],
            "opportunity": true_0 == true_1,
            "false-positives": false_0 == false_1,
            "accuracy": correct[0] == correct[1],
        }
        for weight in QUARTERS:
            share = [Fraction(weight, 4), Fraction(4 - weight, 4)]
            accuracy = weight * correct[0] + (4 - weight) * correct[1]  # in 96ths
            for notions in SETS:
                found = best(np.array(share), np.array([Fraction(p, 4) for p in base]), notions)
                fair = np.logical_and.reduce([met[notion] for notion in notions])
                case = {"share": share, "base rates in quarters": base, "notions": notions}
                slack = found * 96 - accuracy[fair]
                search.observe(np.array(slack, dtype=object), case)
                search.equal(found, _table(share, [Fraction(p, 4) for p in base], notions), case)
                count += int(fair.sum())
    search.exhausts(
        "two groups with different base rates and shares in quarters: all true and false positive rates in sixths "
        "that meet parity and any of the other notions",
        cases=sum(1 for _ in itertools.permutations(QUARTERS, 2)) * len(QUARTERS) * len(SETS),
    )
    search.fact("fair", count, "choices of rates that meet the notions, among those enumerated")


@once
def _attained(
    best: Callable[..., Any], rates: Callable[..., Any], gap: Callable[..., Any], search: Search
) -> None:
    """The rates that are called best meet the notions exactly and are as accurate: two to five groups, in fractions."""
    search.part("attained")
    for _ in range(60 * search.effort):
        share, base = _random_groups(int(search.rng.integers(2, 6)), search)
        for notions in SETS:
            found, case = (
                rates(share, base, notions),
                {"share": share.tolist(), "base": base.tolist(), "notions": notions},
            )
            for notion in notions:
                search.equal(gap(found, notion), 0, case)
            for side in (found.true_positive, found.false_positive):
                search.observe(min(*side, *(1 - side)), case)
            own = (share * (base * found.true_positive + (1 - base) * (1 - found.false_positive))).sum()
            search.equal(best(share, base, notions), own, case)
            search.equal(own, _table(share.tolist(), base.tolist(), notions), case)
        # without parity the perfect classifier meets all the others
        alone = [notion for notion in NOTIONS if notion != "parity"]
        search.equal(best(share, base, alone), 1, {"base": base.tolist(), "notions": alone})
        apart = gap(
            rates(share, base, alone), "parity"
        )  # and misses parity by the largest difference of base rates
        search.equal(apart, max(base) - min(base), {"base": base.tolist(), "notions": alone})


def _random_groups(k: int, search: Search) -> tuple[np.ndarray, np.ndarray]:
    weights = [int(w) for w in search.rng.integers(1, 9, k)]
    share = np.array([Fraction(w, sum(weights)) for w in weights], dtype=object)
    base = np.array(
        [Fraction(int(p), 20) for p in search.rng.choice(np.arange(1, 20), k, replace=False)], dtype=object
    )
    return share, base


@once
def _several_groups(best: Callable[..., Any], search: Search) -> None:
    search.part("linear programs over the rates of several groups")
    for _ in range(12 * search.effort):
        share, base = _random_groups(int(search.rng.integers(2, 6)), search)
        numbers = share.astype(float), base.astype(float)
        for notions in SETS:
            found, case = best_accuracy_by_lp(*numbers, notions), {"base": base.tolist(), "notions": notions}
            search.equal(float(best(*numbers, notions)), found, case, tolerance=SOLVED)


def _what_is_needed(best: Callable[..., Any], search: Search) -> None:
    search.part("what cannot be left out")
    share, half = [Fraction(1, 2)] * 2, [Fraction(1, 2)] * 2
    search.needs(
        "base rates that differ: with equal ones",
        slack=_table(share, half, SETS[-1]) - best(np.array(share), np.array(half), SETS[-1]),
        case={"share": share, "base": half, "notions": SETS[-1]},
    )
    base = [Fraction(1, 4), Fraction(3, 4)]
    near = best_accuracy_by_lp(np.array([0.5, 0.5]), np.array([0.25, 0.75]), SETS[-1], slack=0.05)
    search.needs(
        "that the notions hold exactly: with gaps of up to 0.05",
        slack=float(_table(share, base, SETS[-1])) - near,
        case={"share": share, "base": base, "notions": SETS[-1]},
    )


def _other(notion: Notion) -> Notion:
    exchanged: dict[Notion, Notion] = {"opportunity": "false-positives", "false-positives": "opportunity"}
    return exchanged.get(notion, notion)


FAULTS: dict[str, dict[str, Any]] = {
    "parity forgotten": {
        "best": lambda share, base, notions: best_accuracy(share, base, [n for n in notions if n != "parity"])
    },
    "the two labels exchanged": {
        "best": lambda share, base, notions: best_accuracy(share, base, [_other(n) for n in notions])
    },
    "groups of equal size": {
        "best": lambda share, base, notions: best_accuracy(
            0 * share + Fraction(1, share.shape[-1]), base, notions
        )
    },
    "a hundredth more": {"best": lambda *case: best_accuracy(*case) + Fraction(1, 100)},
    "the rates of the perfect classifier": {"rates": lambda share, base, _: best_rates(share, base, ())},
    "the rates of other groups": {
        "rates": lambda share, base, notions: best_rates(share, base[::-1], notions)
    },
    "a gap of another rate": {"gap": lambda rates, notion: notion_gap(rates, _other(notion))},
    "a gap without the largest group": {
        "gap": lambda rates, notion: notion_gap(rates, notion) if notion != "parity" else 0 * rates.base[0]
    },
}


CLAIM = Claim(
    id="ours.equal-together",
    where="Fairness notions, Result 2",
    statement="Let base rates lie in (0, 1) and differ. With equal selection rates in all groups and, for instance, "
    "equal true positive rates, no classifier has more than the accuracy 1 − min(π_max − π, π); with equalized odds, "
    "max(π, 1 − π); with all notions, ½. Each largest accuracy is attained where features reveal the label.",
    verdict="holds",
    finding="The table has eight sets of notions with parity. Without parity all other notions can hold at once, with "
    "accuracy 1. With equal base rates nothing has to be given up.",
    headline="Parity together with equalized odds leaves constant answers: no such classifier is more accurate than "
    "always giving the more frequent label.",
    kind="theorem",
    chapter="fairness-notions",
    check=check,
    faults=FAULTS,
)
