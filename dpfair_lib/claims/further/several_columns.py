"""Random people for `ours.several-columns`: up to four columns, every choice of columns, random unions of cells."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.postprocessor import FairPostprocessor
from dpfair_lib.claims.search import Search
from dpfair_lib.fairness.metrics import (
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
)

EXACT = 1e-9
FITS = 100  # draws for each fit of rules


def search_on(
    *,
    parity: Callable[..., Any] = demographic_parity_difference,
    opportunity: Callable[..., Any] = equal_opportunity_difference,
    odds: Callable[..., Any] = equalized_odds_difference,
    fair: Callable[..., Any] = FairPostprocessor,
    draws: int,
    search: Search,
) -> None:
    """Judge the gaps of cells, of chosen columns and of unions, for random people; then rules fitted to the cells."""
    gaps = {"demographic_parity": parity, "equal_opportunity": opportunity, "equalized_odds": odds}
    names = list(gaps)
    for at in range(draws):
        columns = _columns(search.rng)
        truth = _both_labels(columns, search.rng)
        labels = (search.rng.random(len(columns)) < search.rng.random()).astype(int)
        notion = names[at % 3]
        case = {
            "columns": columns.tolist(),
            "truth": truth.tolist(),
            "labels": labels.tolist(),
            "notion": notion,
        }
        _judge(gaps[notion], truth, labels, columns, case, search)
    search.part("rules that are fitted to random cells")
    for at in range(max(draws // FITS, 12)):
        columns = _columns(search.rng)
        truth, notion = _both_labels(columns, search.rng), names[at % 3]
        labels = (search.rng.random(len(columns)) < np.where(columns[:, 0] == 0, 0.2, 0.7)).astype(int)
        gamma = float(search.rng.choice([0.0, 0.05, 0.1, 0.3]))
        rules = fair(notion=notion, gamma=gamma).fit(labels, y_true=truth, sensitive_features=columns)
        chances = rules.predict_proba(labels, sensitive_features=columns)[:, 1]
        for some in _choices(columns.shape[1]):
            found = gaps[notion](truth, chances, sensitive_features=columns[:, list(some)])
            case = {"columns": columns.tolist(), "chosen": some, "gamma": gamma, "notion": notion}
            search.observe(gamma - found, case, tolerance=1e-7)


def _columns(rng: np.random.Generator) -> np.ndarray:
    """Return two to four columns of two or three values: two people of each cell that occurs, and more of some."""
    shape = rng.integers(2, 4, size=int(rng.integers(2, 5)))
    cells = np.array(list(itertools.product(*map(range, shape))))
    kept = cells[rng.permutation(len(cells))[: int(rng.integers(2, len(cells) + 1))]]
    return np.concatenate([kept, kept, kept[rng.integers(0, len(kept), size=int(rng.integers(0, 60)))]])


def _both_labels(columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return true labels, both of which each cell has: its people come first once each, in two rounds."""
    cells = len(np.unique(columns, axis=0))
    truth = rng.integers(0, 2, size=len(columns))
    truth[:cells], truth[cells : 2 * cells] = 0, 1
    return truth


def _choices(count: int) -> list[tuple[int, ...]]:
    return [c for size in range(1, count + 1) for c in itertools.combinations(range(count), size)]


def _judge(
    metric: Callable[..., Any],
    truth: np.ndarray,
    labels: np.ndarray,
    columns: np.ndarray,
    case: dict[str, Any],
    search: Search,
) -> None:
    """Compare the library's gap of each choice of columns with fractions, and all of them with the cells' gap."""
    search.part("random people")
    kinds = {
        "demographic_parity": [np.ones(len(truth), dtype=bool)],
        "equal_opportunity": [truth == 1],
        "equalized_odds": [truth == 1, truth == 0],
    }[case["notion"]]
    _, cell = np.unique(columns, axis=0, return_inverse=True)
    cells = int(cell.max()) + 1
    people = [np.bincount(cell[kind], minlength=cells) for kind in kinds]
    chosen = [np.bincount(cell[kind & (labels == 1)], minlength=cells) for kind in kinds]
    exact = _gap(people, chosen)
    choices = _choices(columns.shape[1])
    # of the library's gaps: that of the cells, and one other in turn
    for some in (choices[int(search.rng.integers(len(choices) - 1))], choices[-1]):
        _, value = np.unique(columns[:, list(some)], axis=0, return_inverse=True)
        told = _gap(
            [np.bincount(value[kind]) for kind in kinds],
            [np.bincount(value[kind & (labels == 1)], minlength=value.max() + 1) for kind in kinds],
        )
        found = metric(truth, labels, sensitive_features=columns[:, list(some)])
        search.equal(found, float(told), {**case, "chosen": some}, tolerance=EXACT)
        search.observe(exact - told, {**case, "chosen": some})
    unions = search.rng.integers(0, 2, size=(6, cells))
    unions = unions[unions.any(axis=1)]
    if len(unions):
        met = _gap([unions @ part for part in people], [unions @ part for part in chosen])
        search.observe(exact - met, {**case, "unions": unions.tolist()})


def _gap(people: list[np.ndarray], chosen: list[np.ndarray]) -> Fraction:
    """Return the largest difference of two rates of one kind."""
    worst = Fraction(0)
    for whole, some in zip(people, chosen, strict=True):
        rates = {Fraction(a, b) for a, b in {*zip(some.tolist(), whole.tolist(), strict=True)}}
        worst = max(worst, max(rates) - min(rates))
    return worst
