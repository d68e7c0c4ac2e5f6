"""Ours: which channels can be made from plain response, and at which of its ε every private channel can."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.local.binary import binary_matrix, optimal_truths
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import (
    collecting_ratio,
    garbling,
    garbling_epsilon,
    garbling_matrix,
    garbling_ratio,
    response_matrix,
)
from dpfair_lib.local.subsets import subset_selection

F = Fraction
PARTS = {
    (2, 2): 12,
    (2, 3): 6,
    (3, 2): 6,
    (3, 3): 3,
    (4, 2): 3,
}  # of which the entries of (k, m) are whole ones
RATIOS = (F(1), F(4, 3), F(2), F(3), F(7))  # e^ε
ROUNDED = 1e-12


def check(
    *,
    made: Callable[..., Any] = garbling_matrix,
    least: Callable[..., Any] = garbling_ratio,
    price: Callable[..., Any] = collecting_ratio,
    public: Callable[..., Randomizer] = garbling,
    public_least: Callable[..., float] = garbling_epsilon,
    search: Search,
) -> Evidence:
    """Judge the garbling, the least ε it needs, the ε that is enough for all channels, and the public functions."""
    _every_channel(made, least, search)
    _enough_for_all(least, price, search)
    _optimum(made, search)
    _sets(least, search)
    _public(public, public_least, search)
    _what_is_needed(least, search)
    return search.evidence()


@functools.cache
def _channels(k: int, m: int) -> np.ndarray:
    """Return all channels with entries in whole parts, as integers; a report is possible for all values or for none."""
    parts = PARTS[k, m]
    rows = np.array([row for row in itertools.product(range(parts + 1), repeat=m) if sum(row) == parts])
    at = np.indices((len(rows),) * k).reshape(k, -1)
    return np.asarray(rows[at].transpose(1, 0, 2))


def _exact(counts: np.ndarray) -> np.ndarray:
    return counts.astype(object) * F(1, int(counts[0].sum()))


@once
def _every_channel(made: Callable[..., Any], least: Callable[..., Any], search: Search) -> None:
    """R·W = Q in fractions, and W is a channel if and only if plain response is not below the least ε.

    R has an inverse for ε > 0: so where the one W with R·W = Q has a negative entry, there is no garbling.
    """
    search.part("every small channel")
    count = 0
    for k, m in PARTS:
        for counts in _channels(k, m):
            channel = _exact(counts)
            needed = least(channel)
            for ratio in RATIOS:
                count += 1
                case = {"channel": counts.tolist(), "e^ε": ratio}
                found = made(channel, 1 / ratio)
                if found is None:  # plain response at ε = 0, and rows that differ
                    search.agree(ratio == 1 and needed > 1, True, case)
                else:
                    again, rows = response_matrix(k, 1 / ratio) @ found, found.sum(axis=1)
                    search.agree(bool((again == channel).all() and (rows == 1).all()), True, case)
                    search.agree(bool((found >= 0).all()), needed <= ratio, case)
    search.fact("channels", count, "pairs of a channel and a plain response")
    rows = {(k, m): math.comb(parts + m - 1, m - 1) for (k, m), parts in PARTS.items()}
    search.exhausts(
        "channels of two to four values in small parts, five levels",
        cases=len(RATIOS) * sum(many**k for (k, _), many in rows.items()),
    )


@once
def _enough_for_all(least: Callable[..., Any], price: Callable[..., Any], search: Search) -> None:
    """No ε-private channel needs more than the price, and the question for one value needs all of it."""
    search.part("the price of collecting first")
    total = 0
    for k, m in PARTS:
        counts = _channels(k, m)
        sums, low, high = counts.sum(axis=1), counts.min(axis=1), counts.max(axis=1)
        mixed = ((low == 0) & (high > 0)).any(axis=1)
        counts, sums, low, high = counts[~mixed], sums[~mixed], low[~mixed], high[~mixed]
        own = np.where(high > 0, high / np.maximum(low, 1), 1).max(axis=1)
        order = np.lexsort((np.where(low > 0, sums / np.maximum(low, 1), k).max(axis=1), own))
        for value in np.unique(own):
            # of the channels with one ε the one that needs most, in floats; then exactly
            at = order[np.flatnonzero(own[order] == value)[-1]]
            channel = _exact(counts[at])
            ratio = F(float(value)).limit_denominator(1000)
            search.observe(price(k, ratio) - least(channel), {"channel": counts[at].tolist(), "e^ε": ratio})
        total += len(counts)
    search.fact("private", total, "channels that are ε-private for some ε")
    for k, ratio in itertools.product((2, 3, 5, 10), RATIOS):
        x = 1 / ratio
        ask = np.array([[1, x]] + [[x, 1]] * (k - 1), dtype=object) / (1 + x)
        case = {"k": k, "e^ε": ratio}
        search.equal(least(ask), price(k, ratio), case)
        search.equal(least(response_matrix(k, x)), ratio, case)


@once
def _optimum(made: Callable[..., Any], search: Search) -> None:
    """Theorem 14's channel is made from plain response at its own ε: a report of the smaller group is kept."""
    search.part("the thesis's optimum for two groups")
    for ratio, share in itertools.product(RATIOS[1:], (F(1, 10), F(2, 5), F(1, 2), F(3, 5), F(9, 10))):
        x = 1 / ratio
        optimum = np.asarray(binary_matrix(*optimal_truths(share, x)), dtype=object)
        kept, changed = [F(1), F(0)], [(1 - x) / 2, (1 + x) / 2]
        expected = [kept, changed] if 2 * share <= 1 else [changed[::-1], kept[::-1]]
        case = {"e^ε": ratio, "P(A = 0)": share}
        search.agree(np.array(made(optimum, x)).tolist() == expected, True, case)


@once
def _sets(least: Callable[..., Any], search: Search) -> None:
    """Subset selection with sets of d values needs a plain response with d times its e^ε − 1, exactly."""
    search.part("subset selection")
    for k, d in ((3, 1), (3, 2), (4, 2), (5, 2), (5, 3), (6, 4)):
        for ratio in RATIOS[1:]:
            sets = np.array(
                [[i in chosen for chosen in itertools.combinations(range(k), d)] for i in range(k)]
            )
            weights = 1 + sets.astype(int).astype(object) * (ratio - 1)
            channel = weights / weights.sum(axis=1, keepdims=True)
            search.equal(least(channel), 1 + d * (ratio - 1), {"k": k, "d": d, "e^ε": ratio})


@once
def _public(public: Callable[..., Randomizer], public_least: Callable[..., float], search: Search) -> None:
    """What is returned for floats: the products, the refusals just below the least ε, and channels of other kinds."""
    search.part("the public functions")
    for trial in range(40 * search.effort):
        k, m = (int(n) for n in search.rng.integers(2, 6, size=2))
        matrix = search.rng.dirichlet(np.ones(m), size=k) * 0.9 + 0.1 / m
        needed, case = public_least(Randomizer(matrix)), {"trial": trial, "k": k, "m": m}
        exact = garbling_ratio(np.array([[F(q) for q in row] for row in matrix.tolist()], dtype=object))
        search.equal(math.exp(needed), float(exact), case, tolerance=1e-9 * float(exact))
        for epsilon in (needed, needed + 0.3):
            again = response_matrix(k, math.exp(-epsilon)) @ public(matrix, epsilon).matrix
            search.observe(-abs(again - matrix).max(), case, tolerance=ROUNDED)
        search.agree(_refused(public, matrix, needed * (1 - 1e-6)), True, case)
    chosen = subset_selection(5, 1.0)
    search.equal(public_least(chosen), math.log(1 + chosen.size * (math.e - 1)), {"k": 5}, tolerance=1e-9)
    certain = np.array([[1.0, 0.0], [0.5, 0.5]])
    search.agree(public_least(certain), math.inf, {"channel": certain.tolist()})
    search.agree(
        public(certain, math.inf).matrix.tolist() == certain.tolist(), True, {"channel": certain.tolist()}
    )


def _refused(public: Callable[..., Randomizer], matrix: np.ndarray, epsilon: float) -> bool:
    try:
        public(matrix, epsilon)
    except ValueError:
        return True
    return False


def _what_is_needed(least: Callable[..., Any], search: Search) -> None:
    """Three groups and plain response at the same ε: the question for one value cannot be made from it."""
    ask = np.array([[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)], [F(1, 3), F(2, 3)]], dtype=object)
    search.needs(
        "two groups: for three the same ε is not enough",
        slack=Randomizer(ask).likelihood_ratio - least(ask),
        case={"channel": [[str(q) for q in row] for row in ask]},
    )


def _cut(matrix: np.ndarray, x: Any) -> Any:
    """Set what is negative to zero and share the rest, as if there were always a garbling."""
    found = garbling_matrix(matrix, x)
    if found is None:
        return None
    found = np.array(found)
    found[found < 0] = F(0)
    return found / found.sum(axis=1, keepdims=True)


def _own_level(matrix: np.ndarray) -> Any:
    """Return the channel's own e^ε, which is right for two groups only."""
    return Randomizer(matrix).likelihood_ratio


def _largest(matrix: np.ndarray) -> Any:
    """Divide by the largest entry of a column instead of the smallest."""
    sums = matrix.sum(axis=0)
    possible = sums > 0
    return max(sums[possible] / matrix.max(axis=0)[possible]) - len(matrix) + 1


FAULTS: dict[str, dict[str, Any]] = {
    "negative entries are cut": {"made": _cut},
    "the garbling for twice the ε": {"made": lambda matrix, x: garbling_matrix(matrix, x * x)},
    "the channel itself as its garbling": {"made": lambda matrix, _: matrix},
    "the channel's own ε is enough": {"least": _own_level},
    "the largest entry of a column": {"least": _largest},
    "k for k − 1": {"least": lambda matrix: garbling_ratio(matrix) - 1},
    "one price for all: that of two groups": {"price": lambda _, ratio: ratio},
    "k times the ratio": {"price": lambda k, ratio: k * ratio},
    "a price that is more than enough": {"price": lambda k, ratio: 1 + k * (ratio - 1)},
    "the garbling of the public function at ε + 0.01": {
        "public": lambda channel, epsilon: garbling(channel, epsilon + 0.01)
    },
    "a least ε that is a thousandth too large": {
        "public_least": lambda channel: 1.001 * garbling_epsilon(channel)
    },
}

CLAIM = Claim(
    id="ours.collect-first",
    where="Collect plain reports first, Results 1–2",
    statement="Let R be plain response for k values at ε. A channel Q is R followed by a channel W if and only if each "
    "entry of Q is at least 1/(e^ε + k − 1) of the sum of its column; for ε > 0 there is one such W. For two values "
    "that is: if and only if Q is ε-private. For k values plain response at ε′ makes every ε-private channel if and "
    "only if e^ε′ − 1 ≥ (k − 1)(e^ε − 1).",
    verdict="holds",
    finding="Proved. All channels with entries in small parts were judged at five levels, the product of both channels "
    "compared in fractions; Theorem 14's optimum and subset selection are made from plain response in closed form.",
    headline="For two groups reports can be collected plainly and any ε-private channel be chosen afterwards, at the "
    "same ε and without knowing the distribution beforehand.",
    kind="theorem",
    chapter="collect-first",
    check=check,
    faults=FAULTS,
)
