"""An interval for a gap: its exact coverage for small groups, and its ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.fairness.intervals import gap_interval

RATES = np.linspace(0, 1, 51)
LEVELS = (0.5, 0.8, 0.95)
SIZES = ((1, 1), (1, 6), (2, 3), (4, 4), (5, 9), (8, 8), (12, 7))
ROUNDED = 1e-9


def check(*, search: Search, interval: Callable[..., Any] = gap_interval) -> Evidence:
    """Whatever the rates, the interval has the gap with at least its level; its ends are the extremes."""
    least = min(
        _two_groups(interval, sizes, level, search) for sizes, level in itertools.product(SIZES, LEVELS)
    )
    _three_groups(interval, search)
    _ends(interval, search)
    _what_is_needed(interval, search)
    search.fact("least_excess", round(least, 4), "least coverage found beyond the level, two groups")
    return search.evidence()


def _two_groups(interval: Callable[..., Any], sizes: tuple[int, int], level: float, search: Search) -> float:
    """All counts of two groups, at all pairs of rates in fiftieths; return the least coverage beyond the level."""
    search.part("coverage for two groups")
    counts = np.stack(np.meshgrid(*(np.arange(n + 1) for n in sizes), indexing="ij"), axis=-1)
    laws = [_law(n, RATES) for n in sizes]
    first, second = (
        axis.ravel() for axis in np.meshgrid(range(RATES.size), range(RATES.size), indexing="ij")
    )
    gaps = abs(RATES[first] - RATES[second])
    worst = []
    for method in ("clopper-pearson", "chernoff"):
        low, high = interval(counts, np.array(sizes), level=level, method=method)
        inside = (low[None] <= gaps[:, None, None] + 1e-12) & (gaps[:, None, None] <= high[None] + 1e-12)
        covered = (laws[0][first] * (inside @ laws[1][second][:, :, None])[:, :, 0]).sum(axis=1)
        case = {"sizes": sizes, "level": level, "method": method, "p": RATES[first], "q": RATES[second]}
        search.observe(covered - level, case, tolerance=ROUNDED)
        worst.append(float(covered.min()) - level)
    return min(worst)


def _law(n: int, rates: np.ndarray) -> np.ndarray:
    """Return P(k positives of n) for each rate, of shape (rates, n + 1)."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(n + 1)[None, :], n, rates[:, None]))


def _three_groups(interval: Callable[..., Any], search: Search) -> None:
    search.part("coverage for three groups")
    rates = np.linspace(0, 1, 9)
    for sizes, level in itertools.product(((1, 2, 3), (4, 4, 4), (2, 5, 6)), LEVELS):
        counts = np.stack(np.meshgrid(*(np.arange(n + 1) for n in sizes), indexing="ij"), axis=-1)
        low, high = interval(counts, np.array(sizes), level=level)
        laws = [_law(n, rates) for n in sizes]
        for at in itertools.combinations_with_replacement(range(rates.size), 3):
            for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
                own = [at[place] for place in order]
                gap = np.ptp(rates[own])
                inside = (low <= gap + 1e-12) & (gap <= high + 1e-12)
                weight = np.einsum("i,j,k->ijk", *(law[place] for law, place in zip(laws, own, strict=True)))
                case = {"sizes": sizes, "level": level, "rates": rates[own].tolist()}
                search.observe(float(weight[inside].sum()) - level, case, tolerance=ROUNDED)


def _ends(interval: Callable[..., Any], search: Search) -> None:
    """Each rate's interval ends where a tail of the binomial law is half of what is left; the gap's where rates do."""
    search.part("the ends of the interval")
    for _ in range(150 * search.effort):
        k, level = int(search.rng.integers(2, 6)), float(search.rng.choice([0.5, 0.9, 0.99]))
        sizes = search.rng.integers(1, 60, k)
        positives = np.array([search.rng.integers(0, n + 1) for n in sizes])
        tail = (1 - level ** (1 / k)) / 2
        ends = [_clopper_pearson(int(x), int(n), tail) for x, n in zip(positives, sizes, strict=True)]
        pairs = list(itertools.permutations(ends, 2))
        least = max(max(one[0] - other[1], 0.0) for one, other in pairs)
        most = max(max(one[1] - other[0], 0.0) for one, other in pairs)
        found = interval(positives, sizes, level=level)
        case = {"positives": positives.tolist(), "sizes": sizes.tolist(), "level": level}
        for own, stated in zip((least, most), found, strict=True):
            search.equal(float(stated), own, case, tolerance=ROUNDED)


def _clopper_pearson(positives: int, n: int, tail: float) -> tuple[float, float]:
    """Return the rates at which a count so large, and one so small, has this probability: by bisection."""
    from scipy.special import bdtr, bdtrc

    def beyond(p: float) -> bool:
        return float(bdtrc(positives - 1, n, p)) > tail

    def within(p: float) -> bool:
        return float(bdtr(positives, n, p)) < tail

    low = 0.0 if positives == 0 else _crossing(beyond)
    high = 1.0 if positives == n else _crossing(within)
    return low, high


def _crossing(above: Callable[[float], bool]) -> float:
    """Return where a condition that rises with the rate begins to hold."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return low


def _what_is_needed(interval: Callable[..., Any], search: Search) -> None:
    search.part("what cannot be left out")
    n, copies, level, rate = 5, 8, 0.95, 0.5
    counts = np.stack(np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"), axis=-1)
    low, _ = interval(copies * counts, np.array([copies * n] * 2), level=level)
    law = _law(n, np.array([rate]))[0]
    covered = float(law @ (low <= 0) @ law)  # the gap is 0
    search.needs(
        "that the rows are independent: with eight copies of each",
        slack=covered - level,
        case={"people": n, "copies": copies, "rate": rate, "level": level},
    )
    # of a hundred classifiers that answer by coins of their own, the one whose gap looks largest
    size = 40
    every = np.stack(np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij"), axis=-1)
    low, _ = interval(every, np.array([size] * 2), level=level)
    law = _law(size, np.array([rate]))[0]
    one = float(law @ (low <= 0) @ law)
    search.needs(
        "that the classifier is fixed beforehand: with the worst-looking of a hundred",
        slack=one**100 - level,
        case={"rows of each group": size, "rate": rate, "level": level},
    )


def _changed(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda positives, counts, *, level, method="clopper-pearson": change(
        gap_interval(positives, counts, level=level, method=method), level
    )


FAULTS: dict[str, dict[str, Any]] = {
    "half of the way to a level": {
        "interval": lambda *case, level, **how: gap_interval(*case, level=level / 2, **how)
    },
    "the level of the pair for each group": {
        "interval": lambda positives, counts, *, level, **how: gap_interval(
            positives, counts, level=level ** np.shape(positives)[-1], **how
        )
    },
    "no lower end": {"interval": _changed(lambda ends, _: (0 * ends[0], ends[1]))},
    "no upper end": {"interval": _changed(lambda ends, _: (ends[0], 0 * ends[1] + 1))},
    "the lower end alone": {"interval": _changed(lambda ends, _: (ends[0], ends[0]))},
    "one method for both": {
        "interval": lambda *case, level, method="clopper-pearson": gap_interval(
            *case, level=level, method=method.replace("clopper-pearson", "chernoff")
        )
    },
    "one row less in each group": {
        "interval": lambda positives, counts, **how: gap_interval(
            np.minimum(positives, np.maximum(np.asarray(counts) - 1, 1)),
            np.maximum(np.asarray(counts) - 1, 1),
            **how,
        )
    },
}


CLAIM = Claim(
    id="ours.gap-interval",
    where="Fairness notions, Result 5",
    statement="Let rows be independent draws, no group be empty, and the classifier be fixed beforehand. Give each of "
    "the k groups a Clopper–Pearson interval of level ℓ^(1/k). The least and the largest gap of rates in these "
    "intervals enclose the true gap with probability at least ℓ, whatever the rates and sizes.",
    verdict="holds",
    finding="The coverage is at least ℓ in every case that was enumerated. It fails for copied rows, and for the "
    "worst-looking of several classifiers.",
    headline="An interval for the gap between groups keeps its level at every sample size, if rows are independent and "
    "the classifier was fixed beforehand.",
    kind="theorem",
    chapter="fairness-notions",
    check=check,
    faults=FAULTS,
)
