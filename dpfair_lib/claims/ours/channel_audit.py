"""The privacy of a finite channel: ε from its columns, every δ from positive excesses, and what its reports confuse."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.local.channel_audit import ChannelAudit, audit_channel

PARTS = 4
SHAPES = ((2, 3), (3, 2))
ODDS = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4))


def check(*, search: Search, audited: Callable[[Any], ChannelAudit] = audit_channel) -> Evidence:
    """ε, δ and the worst pair are those of the definition over all events and pairs, and so is what is confused."""
    search.part("all small channels")
    for matrix in _channels():
        _judge(audited(matrix), matrix, search)
    search.exhausts(
        f"channels with entries in {PARTS}ths, of two inputs and three reports or of three inputs and two: all events, "
        f"ordered pairs, and e^ε in {{{', '.join(map(str, ODDS))}}}",
        cases=sum(math.comb(PARTS + m - 1, m - 1) ** k for k, m in SHAPES),
    )
    _both_rows(audited, search)
    _what_is_needed(search)
    return search.evidence()


def _channels() -> Iterator[np.ndarray]:
    for k, m in SHAPES:
        rows = [row for row in itertools.product(range(PARTS + 1), repeat=m) if sum(row) == PARTS]
        for chosen in itertools.product(rows, repeat=k):
            yield np.array([[Fraction(q, PARTS) for q in row] for row in chosen], dtype=object)


def _events(row: np.ndarray, other: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    """Return the two probabilities of every event."""
    reports = range(len(row))
    return [
        (sum((row[j] for j in event), Fraction(0)), sum((other[j] for j in event), Fraction(0)))
        for size in range(len(row) + 1)
        for event in itertools.combinations(reports, size)
    ]


def _ratio(events: list[tuple[Fraction, Fraction]]) -> Any:
    """Return the least odds at which no event needs a δ."""
    return max((p / q if q else math.inf for p, q in events if p), default=Fraction(1))


def _judge(found: ChannelAudit, matrix: np.ndarray, search: Search) -> None:
    pairs = {pair: _events(*matrix[list(pair)]) for pair in itertools.permutations(range(len(matrix)), 2)}
    case = {"channel": matrix.tolist()}
    wrong = 0
    for odds in ODDS:
        needed = max(max(p - odds * q for p, q in events) for events in pairs.values())
        wrong += found.delta_from_odds(odds) != needed
    worst = max(_ratio(events) for events in pairs.values())
    wrong += found.ratio != worst
    wrong += (found.pair is None) != (worst == 1)
    wrong += found.pair is not None and _ratio(pairs[found.pair]) != worst
    wrong += found.invertible != _independent(matrix)
    if not found.invertible and found.confused is not None:
        one, other = found.confused
        wrong += (
            len(one) != len(matrix)
            or (one @ matrix != other @ matrix).any()
            or (one == other).all()
            or sum(one) != 1
        )
    search.equal(int(wrong), 0, case)


def _independent(matrix: np.ndarray) -> bool:
    """Whether some minor of full size is not 0; three rows of two entries are always dependent."""
    k, m = matrix.shape
    return k <= m and any(
        matrix[0, a] * matrix[1, b] != matrix[0, b] * matrix[1, a]
        for a, b in itertools.combinations(range(m), 2)
    )


def _both_rows(audited: Callable[[Any], ChannelAudit], search: Search) -> None:
    search.part("truth 1 − e^(−ε)/2")
    for parts in range(5, 41):
        odds = Fraction(parts, 4)
        truth = 1 - 1 / (2 * odds)
        case = {"e^ε": odds}
        search.equal(audited([[truth, 1 - truth], [1 - truth, truth]]).ratio, 2 * odds - 1, case)
        search.equal(audited([[truth, 1 - truth], [Fraction(1, 2)] * 2]).ratio, odds, case)


def _what_is_needed(search: Search) -> None:
    search.part("what cannot be left out")
    rows = np.array([[3, 3, 1, 1], [1, 1, 3, 3]], dtype=object) * Fraction(1, 8)
    needed = audit_channel(rows).delta_from_odds(Fraction(2))
    single = max(max(rows[0] - 2 * rows[1]), max(rows[1] - 2 * rows[0]))
    search.needs(
        "all events: with single reports", slack=single - needed, case={"rows": rows.tolist(), "e^ε": 2}
    )
    rows = np.array([[4, 3, 1], [1, 1, 6]], dtype=object) * Fraction(1, 8)
    needed = audit_channel(rows).delta_from_odds(Fraction(2))
    one_way = sum((max(a - 2 * b, Fraction(0)) for a, b in zip(*rows, strict=True)), Fraction(0))
    search.needs("both orders of a pair", slack=one_way - needed, case={"rows": rows.tolist(), "e^ε": 2})


FAULTS: dict[str, dict[str, Any]] = {
    "the first two inputs only": {"audited": lambda channel: audit_channel(np.array(channel)[:2])},
    "the first two reports only": {
        "audited": lambda channel: audit_channel(
            [[row[0], 1 - row[0]] for row in np.array(channel, dtype=object)]
        )
    },
    "the worst pair in the other order": {
        "audited": lambda channel: replace(
            found := audit_channel(channel), pair=found.pair and found.pair[::-1]
        )
    },
    "the ratio that is claimed": {
        "audited": lambda channel: replace(
            found := audit_channel(channel), ratio=(found.ratio + 1) / 2 if found.ratio < 100 else found.ratio
        )
    },
    "every channel can be inverted": {
        "audited": lambda channel: replace(audit_channel(channel), rank=len(channel))
    },
    "the channel mixed with noise": {
        "audited": lambda channel: audit_channel(
            np.array(channel) * Fraction(999, 1000) + Fraction(1, 1000) / np.shape(channel)[1]
        )
    },
}


CLAIM = Claim(
    id="ours.channel-audit",
    where="Audit a channel, Results 1, 2 and 4",
    statement="The least ε of a finite channel is the logarithm of the largest ratio within a column, and the least δ "
    "at ε the largest sum over reports of the positive parts of q_ij − e^ε q_i′j. Shares of the inputs follow from "
    "those of the reports if and only if the rows are independent. Truth with probability 1 − e^(−ε)/2 in both rows "
    "has ln(2e^ε − 1).",
    verdict="holds",
    finding="The library computes all of it in fractions: level, every δ, worst pair, and two distributions of inputs "
    "that a singular channel confuses.",
    headline="A program that reports the truth with probability 1 − e^(−ε)/2 for both values has up to twice the ε "
    "that it claims.",
    kind="theorem",
    chapter="audit-a-channel",
    check=check,
    faults=FAULTS,
)
