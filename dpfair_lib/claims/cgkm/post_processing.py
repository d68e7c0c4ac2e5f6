"""CGKM, Proposition 1: what is made of a release without the data leaks no more, at any level."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.privacy.finite_laws import hockey_stick, processed

LAWS = np.array([law for law in itertools.product(range(5), repeat=3) if sum(law) == 4]) / 4
ROWS = np.array([law for law in itertools.product(range(3), repeat=3) if sum(law) == 2]) / 2
ODDS = (1.0, 1.5, 2.0, 4.0)


def check(*, after: Callable[..., Any] = processed, search: Search) -> Evidence:
    """Judge all maps in halves on all pairs of laws in quarters; every number is exact as a float."""
    search.part("all maps")
    pairs = np.array(list(itertools.product(LAWS, repeat=2))).swapaxes(0, 1)  # (data set, pair, outcome)
    stacked = pairs.swapaxes(0, 1)  # (pair, data set, outcome)
    first, second = (list(map(tuple, pairs[i].tolist())) for i in (0, 1))
    labels = {"first": np.array(first), "second": np.array(second)}
    unchanged, maps = 0, list(itertools.product(ROWS, repeat=3))
    for rows in maps:
        channel = np.array(rows)
        made = after(stacked, channel)
        for odds in ODDS:
            before = hockey_stick(pairs[0], pairs[1], odds)
            later = hockey_stick(made[:, 0], made[:, 1], odds)
            search.observe(before - later, {**labels, "map": channel.tolist(), "odds": odds})
            unchanged += int(((before == later) & (before > 0)).sum())
        search.equal(float(abs(made.sum(axis=-1) - 1).max()), 0, {"map": channel.tolist()})
    search.exhausts(
        "maps between three outcomes in halves, on all pairs of distributions in quarters, at e^ε = 1, 1.5, 2 and 4",
        cases=len(maps) * (len(ODDS) * len(first) + 1),
    )
    search.part("relabelling loses nothing")
    for order in itertools.permutations(range(3)):
        made = after(stacked, np.eye(3)[list(order)])
        for odds in ODDS:
            lost = hockey_stick(pairs[0], pairs[1], odds) - hockey_stick(made[:, 0], made[:, 1], odds)
            search.observe(-abs(lost), {**labels, "order": order, "odds": odds})
    search.fact("kept", unchanged, "cases in which a positive δ stays what it was")
    return search.evidence()


def _sees_the_data(laws: Any, channel: Any) -> Any:
    """The map looks at the data set: another one for each."""
    return np.stack([processed(laws[:, 0], channel), processed(laws[:, 1], channel[::-1])], axis=1)


FAULTS: dict[str, dict[str, Any]] = {
    "the map sees the data set": {"after": _sees_the_data},
    "columns of the map for its rows": {"after": lambda laws, channel: laws @ channel.T},
    "the likelier result made certain": {
        "after": lambda laws, channel: np.eye(3)[processed(laws, channel).argmax(axis=-1)]
    },
}


CLAIM = Claim(
    id="cgkm.post-processing",
    where="Proposition 1, Appendix A",
    statement="Any randomised map applied to the output of an (ε, δ)-DP algorithm leaves it (ε, δ)-DP.",
    verdict="holds",
    finding="The smallest δ at any ε never grows under a map that has coins of its own and does not see the data; "
    "a map that sees them can reveal everything.",
    chapter="cgkm-tools",
    headline="Holds: no map with coins of its own raises the smallest δ at any ε, in 200,016 exact cases.",
    kind="as-printed",
    impact="none",
    because="The proposition holds as printed.",
    check=check,
    faults=FAULTS,
)
