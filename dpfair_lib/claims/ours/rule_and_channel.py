"""Ours: a rule of equalized odds that is applied through a channel that it was not computed for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.local.binary import binary_optimum
from dpfair_lib.local.response import response_matrix
from dpfair_lib.postprocessing.reported_groups import (
    cheapest_reported_rule,
    gap_through,
    largest_gap,
    rates_through,
)

F = Fraction
HALVES = F(0), F(1, 2), F(1)
CHANNELS = tuple((F(a, 4), F(b, 4)) for a, b in itertools.product(range(3), repeat=2))
ROUNDED = 1e-9


def changed(a: Any, b: Any) -> np.ndarray:
    """Return the channel that exchanges group 0 with probability a and group 1 with probability b."""
    return np.array([[1 - a, a], [b, 1 - b]], dtype=object)


def check(
    *,
    through: Callable[..., Any] = rates_through,
    gap: Callable[..., Any] = gap_through,
    largest: Callable[..., Any] = largest_gap,
    cheapest: Callable[..., Any] = cheapest_reported_rule,
    search: Search,
) -> Evidence:
    """Judge the rates, the formula of the gap, its largest value, and the rule for the right channel."""
    _every_rule(through, gap, largest, search)
    _right_channel(through, cheapest, search)
    _what_is_needed(through, search)
    return search.evidence()


@once
def _every_rule(
    through: Callable[..., Any], gap: Callable[..., Any], largest: Callable[..., Any], search: Search
) -> None:
    """All predictions and rules in halves, nine channels: the rates by definition, the formula, its largest value."""
    search.part("every rule in halves")
    worst = dict.fromkeys(CHANNELS, F(-1))
    equal = 0
    for q0, q1 in itertools.product(HALVES, repeat=2):  # P(Ŷ = 1) of each group, given the label
        for rule in itertools.product(HALVES, repeat=4):
            table = np.array(rule, dtype=object).reshape(2, 2)  # predicted label, group
            own = [(1 - q) * table[0, i] + q * table[1, i] for i, q in enumerate((q0, q1))]
            shares = np.array([[1 - q0, 1 - q1], [q0, q1]], dtype=object)
            both = np.stack([shares, shares], axis=2)  # the same for both labels
            for a, b in CHANNELS:
                case = {"P(Ŷ = 1)": (q0, q1), "rule": rule, "channel": (a, b)}
                # by definition: who takes which rule, and what it does with each predicted label
                by_hand = [
                    sum(
                        chance * share * table[y, j]
                        for j, chance in enumerate(row)
                        for y, share in enumerate((1 - q, q))
                    )
                    for row, q in zip(((1 - a, a), (b, 1 - b)), (q0, q1), strict=True)
                ]
                found = through(both, table, changed(a, b))
                search.agree(found[:, 0].tolist() == by_hand == found[:, 1].tolist(), True, case)
                if own[0] == own[1]:
                    equal += 1
                    search.equal(gap(shares, table, a, b), by_hand[0] - by_hand[1], case)
                    search.observe(largest(a, b) - abs(by_hand[0] - by_hand[1]), case)
                    worst[a, b] = max(worst[a, b], abs(by_hand[0] - by_hand[1]))
    for (a, b), seen in worst.items():
        search.equal(seen, largest(a, b), {"attained": (a, b)})
    search.exhausts("predictions and rules in halves, channels in quarters up to one half", cases=3**6 * 9)
    search.fact("equal", equal, "pairs of a rule with equal rates and a channel")


@once
def _right_channel(through: Callable[..., Any], cheapest: Callable[..., Any], search: Search) -> None:
    """The rule that is computed for the channel has equal odds through it, and makes the errors that it says."""
    search.part("the rule for the right channel")
    for trial in range(60 * search.effort):
        counts = search.rng.dirichlet(np.ones(8)).reshape(2, 2, 2) * 1000
        epsilon, gamma = search.rng.uniform(0.2, 3.0), (0.0, 0.05)[trial % 2]
        share = float(counts[:, 0].sum() / 1000)
        plain = response_matrix(2, np.exp(-epsilon))
        other = np.asarray(binary_optimum([share, 1 - share], [0.4, 0.6], epsilon).matrix, dtype=float)
        shares = counts / counts.sum(axis=0)
        errors = {}
        for name, channel in (("plain", plain), ("thesis", other)):
            found = cheapest(counts, channel, gamma)
            rates = np.asarray(through(shares, found.rule, channel), dtype=float)
            case = {"trial": trial, "channel": name, "γ": gamma}
            search.observe(gamma - np.ptp(rates, axis=0).max(), case, tolerance=ROUNDED)
            groups = counts.sum(axis=0)
            errors[name] = float((groups[:, 0] * rates[:, 0] + groups[:, 1] * (1 - rates[:, 1])).sum())
            search.equal(found.errors, errors[name], case, tolerance=1e-6)
        search.observe(errors["thesis"] - errors["plain"], {"trial": trial, "γ": gamma}, tolerance=1e-6)


def _what_is_needed(through: Callable[..., Any], search: Search) -> None:
    """Predictions that tell the group, and a rule that follows them: no equal rates through half a channel."""
    shares = np.array([[[F(0)] * 2, [F(1)] * 2], [[F(1)] * 2, [F(0)] * 2]], dtype=object)
    rule = np.array([[F(0), F(0)], [F(0), F(1)]], dtype=object)
    rates = through(shares, rule, changed(F(1, 4), F(0)))
    search.needs(
        "that the rule is applied to what it was computed for",
        slack=-abs(rates[0, 0] - rates[1, 0]),
        case={"channel": (F(1, 4), F(0)), "rates": [str(rate) for rate in rates[:, 0]]},
    )


def _reversed(shares: np.ndarray, rule: np.ndarray, channel: np.ndarray) -> np.ndarray:
    """Read the channel from report to group."""
    return rates_through(shares, rule, channel.T)


FAULTS: dict[str, dict[str, Any]] = {
    "the channel is left out": {
        "through": lambda shares, rule, channel: rates_through(
            shares, rule, channel * 0 + np.eye(2, dtype=int)
        )
    },
    "the channel from report to group": {"through": _reversed},
    "the channel acts twice": {
        "through": lambda shares, rule, channel: rates_through(shares, rule, channel @ channel)
    },
    "the first group's part alone": {"gap": lambda shares, rule, a, b: gap_through(shares, rule, a, 0 * b)},
    "the parts are added": {"gap": lambda shares, rule, a, b: gap_through(shares, rule, a, -b)},
    "the smaller of both": {"largest": lambda a, b: min(a, b)},
    "the sum of both": {"largest": lambda a, b: a + b},
    "a rule for the true groups": {
        "cheapest": lambda counts, channel, gamma: cheapest_reported_rule(counts, np.eye(len(channel)), gamma)
    },
    "a rule for reports of reports": {
        "cheapest": lambda counts, channel, gamma: cheapest_reported_rule(counts, channel @ channel, gamma)
    },
    "twice the γ": {
        "cheapest": lambda counts, channel, gamma: cheapest_reported_rule(counts, channel, 2 * gamma)
    },
}

CLAIM = Claim(
    id="ours.rule-and-channel",
    where="What has appeared since, Result 2",
    statement="Let a rule that sees the predicted label and the group have equal rates m for one true label. Apply it "
    "through a channel that exchanges group 0 with probability a and group 1 with b, whatever else is true of a "
    "person. Then the rates differ by a(S₀₁ − m) − b(S₁₀ − m), where S_ij is the rate of group i under the rule of "
    "group j. That is at most max(a, b), "
    "attained. A rule that is computed for the channel has a gap of at most γ; for plain reports, where "
    "the rates are known, it makes no more errors than for the thesis's channel at the same ε.",
    verdict="holds",
    finding="Proved, and compared with all predictions and rules in halves. In the public code of a later paper both "
    "rules are applied through another channel than their program has.",
    headline="Two post-processors of a public code are applied through a channel that their programs do not have; with "
    "the right one, and known rates, plain reports are never worse.",
    kind="theorem",
    chapter="since",
    check=check,
    faults=FAULTS,
)
