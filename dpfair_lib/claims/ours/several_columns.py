"""Ours: what rates within γ of the cells of several sensitive columns say of each single column, and the reverse."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.postprocessor import FairPostprocessor
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.fairness.metrics import (
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
)

COLUMNS = np.array(list(itertools.product("ab", "cd")))  # two columns of two values
MOST = 2  # people in a cell who count
EXACT = 1e-9
NOTIONS = ("demographic_parity", "equal_opportunity", "equalized_odds")


def check(
    *,
    parity: Callable[..., Any] = demographic_parity_difference,
    opportunity: Callable[..., Any] = equal_opportunity_difference,
    odds: Callable[..., Any] = equalized_odds_difference,
    fair: Callable[..., Any] = FairPostprocessor,
    search: Search,
) -> Evidence:
    """Judge every count of selected people in the cells of two columns; then rules that are fitted to cells."""
    _selection(parity, search)
    _true_positives(opportunity, search)
    _fitted(parity, opportunity, odds, fair, search)
    _what_is_needed(parity, search)
    return search.evidence()


def _cells() -> list[tuple[int, int]]:
    """Return (selected, people) of a cell, an empty one among them."""
    return [(some, people) for people in range(MOST + 1) for some in range(people + 1)]


def _gap(cells: list[tuple[int, int]]) -> Fraction:
    """Return the largest difference of two rates; cells without people have none."""
    rates = [Fraction(some, people) for some, people in cells if people]
    return max(rates) - min(rates)


def _union(cells: tuple[tuple[int, int], ...], chosen: tuple[int, ...]) -> tuple[int, int]:
    return sum(cells[i][0] for i in chosen), sum(cells[i][1] for i in chosen)


UNIONS = [c for size in range(1, 5) for c in itertools.combinations(range(4), size)]
SINGLE = [
    [(0, 1), (2, 3)],
    [(0, 2), (1, 3)],
]  # the cells of each value of the first column, and of the second


def _rows(cells: tuple[tuple[int, int], ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns and the predicted label of each person."""
    columns = np.repeat(COLUMNS, [people for _, people in cells], axis=0)
    labels = [int(i < some) for some, people in cells for i in range(people)]
    return columns, np.array(labels, dtype=int)


@once
def _selection(parity: Callable[..., Any], search: Search) -> None:
    search.part("selection rates of all small cells")
    universe = [cells for cells in itertools.product(_cells(), repeat=4) if sum(n for _, n in cells)]
    for cells in universe:
        columns, labels = _rows(cells)
        case, whole = {"selected and people of each cell": cells}, _gap(list(cells))
        search.equal(parity(None, labels, sensitive_features=columns), float(whole), case, tolerance=EXACT)
        unions = [_union(cells, chosen) for chosen in UNIONS]
        search.observe(whole - _gap(unions), case)
        for column, values in enumerate(SINGLE):
            alone = _gap([_union(cells, chosen) for chosen in values])
            found = parity(None, labels, sensitive_features=columns[:, column])
            search.equal(found, float(alone), {**case, "column": column}, tolerance=EXACT)
            search.observe(whole - alone, {**case, "column": column})
    search.exhausts(
        f"two columns of two values, at most {MOST} people in each cell: all numbers of people and of selected ones, "
        "and all unions of cells",
        cases=len(universe) * 6,
    )


@once
def _true_positives(opportunity: Callable[..., Any], search: Search) -> None:
    """People of true label 0 do not count, however many there are."""
    search.part("true positive rates")
    kept = [cell for cell in _cells() if cell[1]]
    universe = list(itertools.product(kept, repeat=4))
    for at, cells in enumerate(universe):
        columns, labels = _rows(cells)
        extra = COLUMNS[[at % 4] * (1 + at % 3)]  # of true label 0, all selected
        truth = np.repeat([1, 0], [len(labels), len(extra)])
        every = np.concatenate([columns, extra])
        labels = np.concatenate([labels, np.ones(len(extra), dtype=int)])
        case, whole = {"selected and people of true label 1": cells}, _gap(list(cells))
        found = opportunity(truth, labels, sensitive_features=every)
        search.equal(found, float(whole), case, tolerance=EXACT)
        for column in range(2):
            alone = opportunity(truth, labels, sensitive_features=every[:, column])
            search.observe(found - alone, {**case, "column": column}, tolerance=EXACT)
    search.exhausts(
        f"the same for one to {MOST} people of true label 1 in each cell, and selected ones of true label 0 "
        "beside them",
        cases=len(universe) * 3,
    )


@once
def _fitted(
    parity: Callable[..., Any],
    opportunity: Callable[..., Any],
    odds: Callable[..., Any],
    fair: Callable[..., Any],
    search: Search,
) -> None:
    """Rules fitted to the cells of two or three columns are within γ in the cells, and so in each column and pair."""
    search.part("rules that are fitted to cells")
    gaps = dict(zip(NOTIONS, (parity, opportunity, odds), strict=True))
    for _ in range(12 * search.effort):
        count = int(search.rng.integers(2, 4))
        columns = np.array(list(itertools.product("pq", repeat=count)) * 4)
        columns = np.concatenate([columns, columns[search.rng.integers(0, len(columns), 40)]])
        truth = np.tile([0, 1], len(columns))[: len(columns)]
        # in each cell there are both true labels
        truth[: 2**count], truth[2**count : 2 * 2**count] = 0, 1
        labels = (search.rng.random(len(columns)) < np.where(columns[:, 0] == "p", 0.2, 0.7)).astype(int)
        gamma = float(search.rng.choice([0.0, 0.1, 0.3]))
        for notion in NOTIONS:
            case = {"columns": count, "gamma": gamma, "notion": notion}
            given = {"sensitive_features": columns, "y_true": truth}
            rules = fair(notion=notion, gamma=gamma).fit(labels, **given)
            chances = rules.predict_proba(labels, sensitive_features=columns)[:, 1]
            cells = gaps[notion](truth, chances, sensitive_features=columns)
            search.observe(gamma - cells, case, tolerance=1e-7)
            chosen = [c for size in range(1, count) for c in itertools.combinations(range(count), size)]
            for some in chosen:
                found = gaps[notion](truth, chances, sensitive_features=columns[:, list(some)])
                search.observe(cells - found, {**case, "chosen": some}, tolerance=EXACT)


@once
def _what_is_needed(parity: Callable[..., Any], search: Search) -> None:
    search.part("what cannot be left out")
    board = ((1, 1), (0, 1), (0, 1), (1, 1))  # everybody in two cells, nobody in the others
    columns, labels = _rows(board)
    single = [parity(None, labels, sensitive_features=columns[:, at]) for at in (0, 1)]
    search.equal(max(single), 0, {"selected and people of each cell": board})
    near = Fraction(999_999, 10**6)
    search.needs(
        "that the cells are compared: with both columns within γ instead, for any γ below 1",
        slack=near - _gap(list(board)),
        case={"gamma": near, "selected and people of each cell": board},
    )
    left_out = ((1, 2), (1, 2), (1, 2), (2, 2))
    search.needs(
        "that every cell with people of the kind is a group: with one cell left out",
        slack=_gap(list(left_out[:3])) - _gap([_union(left_out, chosen) for chosen in SINGLE[0]]),
        case={"selected and people of each cell": left_out},
    )


def _first_column(metric: Callable[..., Any]) -> Callable[..., Any]:
    """Of several columns, the first one alone."""

    def found(*given: Any, sensitive_features: Any, **more: Any) -> Any:
        table = np.asarray(sensitive_features)
        return metric(*given, sensitive_features=table[:, 0] if table.ndim > 1 else table, **more)

    return found


def _worst_column(metric: Callable[..., Any]) -> Callable[..., Any]:
    """Of several columns, the largest of their gaps."""

    def found(*given: Any, sensitive_features: Any, **more: Any) -> Any:
        table = np.asarray(sensitive_features).reshape(len(sensitive_features), -1)
        return max(metric(*given, sensitive_features=column, **more) for column in table.T)

    return found


class _OfOneColumn(FairPostprocessor):
    """Fitted to the first column alone."""

    def fit(self, y_pred: Any, y: Any = None, *, sensitive_features: Any, **more: Any) -> Any:
        return super().fit(y_pred, y, sensitive_features=np.asarray(sensitive_features)[:, 0], **more)

    def predict_proba(self, y_pred: Any, *, sensitive_features: Any, scores: Any = None) -> np.ndarray:
        first = np.asarray(sensitive_features)[:, 0]
        return super().predict_proba(y_pred, sensitive_features=first, scores=scores)


FAULTS: dict[str, dict[str, Any]] = {
    "parity of the first column": {"parity": _first_column(demographic_parity_difference)},
    "parity of the worst column": {"parity": _worst_column(demographic_parity_difference)},
    "opportunity of the worst column": {"opportunity": _worst_column(equal_opportunity_difference)},
    "opportunity over all true labels": {"opportunity": demographic_parity_difference},
    "odds of the first column": {"odds": _first_column(equalized_odds_difference)},
    "rules of the first column": {"fair": _OfOneColumn},
    "a band twice as wide": {
        "fair": lambda notion, gamma: FairPostprocessor(notion=notion, gamma=min(2 * gamma, 1.0))
    },
    "parity for every notion": {"fair": lambda notion, gamma: FairPostprocessor(gamma=gamma)},  # noqa: ARG005
}


CLAIM = Claim(
    id="ours.several-columns",
    where="Any number of groups, Result 7",
    statement="Let the groups be the cells of several sensitive columns that have people of the kind that the rate "
    "counts. If the cells' rates are within γ, so are those of any unions of cells, and so those of each single "
    "column. For no γ < 1 do rates of all single columns within γ give this for the cells.",
    verdict="holds",
    finding="Proved, and compared with all small numbers of people in the cells of two columns. Rules fitted to cells "
    "were within γ in the cells, in each column and in each pair of columns.",
    headline="Fair in every cell is fair in every column. Fair in every column may mean that everybody of one cell "
    "gets the label 1, and nobody of another.",
    kind="theorem",
    chapter="several-groups",
    check=check,
    faults=FAULTS,
)
