"""Thesis, § 5.2.3: generalised randomised response has the level ε exactly, as a formula and as it is drawn."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import generalized_randomized_response, response_matrix

RATIOS = tuple(sorted({Fraction(i, j) for i in range(1, 13) for j in range(1, 5) if i >= j}))
SIZES = range(1, 7)


def check(
    *,
    matrix: Callable[..., Any] = response_matrix,
    level: Callable[..., Any] = operator.attrgetter("likelihood_ratio"),
    mechanism: Callable[..., Any] = generalized_randomized_response,
    search: Search,
) -> Evidence:
    """Judge the formula in fractions, its optimality, and the channel that is really drawn from."""
    search.part("the formula")
    for k, ratio in itertools.product(SIZES, RATIOS):
        case = {"k": k, "ratio": ratio}
        channel = matrix(k, 1 / ratio)
        truth, lie = ratio / (ratio + k - 1), 1 / (ratio + k - 1)
        for i, j in itertools.product(range(k), repeat=2):
            search.equal(channel[i, j], truth if i == j else lie, case)
        search.equal(level(Randomizer(channel)), ratio if k > 1 else 1, case)
    search.exhausts(
        "all sizes k up to 6 with all ratios e^ε from 1 of numerator up to 12 and denominator up to 4, "
        "entry by entry",
        cases=len(RATIOS) * sum(k * k + 1 for k in SIZES),
    )
    _by_definition(level, search)
    _most_truthful(matrix, search)
    _as_drawn(mechanism, search)
    return search.evidence()


def _by_definition(level: Callable[..., Any], search: Search) -> None:
    """The largest ratio of two entries of a column is the largest ratio of probabilities of any event."""
    search.part("the level, by its definition over all events")
    for _ in range(60 * search.effort):
        k, m = (int(n) for n in search.rng.integers(2, 5, size=2))
        weights = search.rng.integers(0, 6, size=(k, m)) + np.eye(k, m, dtype=int)[:, ::-1]
        weights[weights.sum(axis=1) == 0] = 1
        rows = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
        ratios: list[Any] = []
        for event in itertools.product((0, 1), repeat=m):
            chances = [sum(q for q, member in zip(row, event, strict=True) if member) for row in rows]
            if max(chances) > 0:
                ratios.append(max(chances) / min(chances) if min(chances) > 0 else math.inf)
        found = level(Randomizer(np.array(rows, dtype=object)))
        search.agree(found == max(ratios), True, {"channel": rows})


def _most_truthful(matrix: Callable[..., Any], search: Search) -> None:
    """No channel of level ε on k values has a larger sum of truth probabilities, k/(1 + (k − 1)x)."""
    search.part("no channel of the same level is more truthful on average")
    for _ in range(60 * search.effort):
        k = int(search.rng.integers(2, 6))
        weights = search.rng.integers(1, 20, size=(k, k)) + 15 * np.eye(k, dtype=int)
        rows = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
        channel = Randomizer(np.array(rows, dtype=object))
        best = matrix(k, 1 / channel.likelihood_ratio)
        search.observe(np.trace(best) - np.trace(channel.matrix), {"channel": rows})


def _as_drawn(mechanism: Callable[..., Any], search: Search) -> None:
    """The law of `apply` is the same mechanism at an ε′ just below ε; and drawn reports follow it."""
    search.part("as drawn")
    for k, epsilon in itertools.product((2, 3, 10), (0.0, 0.1, 0.5, 1.0, 2.5, 8.0, 20.0)):
        case = {"k": k, "epsilon": epsilon}
        made, drawn = mechanism(k, epsilon), mechanism(k, epsilon).realized()
        search.observe(epsilon - drawn.epsilon, case, tolerance=1e-15 * (1 + epsilon))
        search.observe(k * 2.0**-30 - abs(epsilon - drawn.epsilon), case, tolerance=1e-15 * (1 + epsilon))
        off = abs(made.matrix - drawn.matrix.astype(float)).max()
        search.observe(2.0**-30 - off, case)
    search.part("drawn reports")
    for k, epsilon in ((2, 0.5), (5, 1.0), (10, 2.0)):
        n = 1_000_000
        truths = np.repeat(np.arange(k, dtype=np.int8), n)
        reports = mechanism(k, epsilon).apply(truths, search.rng).reshape(k, n)
        hits = np.stack([np.bincount(row, minlength=k) for row in reports])
        expected = mechanism(k, epsilon).matrix
        # six standard deviations: exceeded with probability below 1e-8 in each of the 129 cells
        spread = 6 * np.sqrt(n * expected * (1 - expected))
        search.observe((spread - abs(hits - n * expected)).ravel(), {"k": k, "epsilon": epsilon})


def _lies_shared_by_all(k: int, x: Any) -> np.ndarray:
    """A liar draws from all k values, and may hit the truth."""
    right = response_matrix(k, x)
    lie = (1 - right[0, 0]) / k
    matrix = np.full((k, k), lie)
    np.fill_diagonal(matrix, 1 - (k - 1) * lie)
    return matrix


def _drawing(reports: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Return a response that keeps its table, and draws otherwise."""

    def wrong(k: int, epsilon: float) -> Any:
        right = generalized_randomized_response(k, epsilon)
        apply = functools.partial(reports, right)
        return SimpleNamespace(matrix=right.matrix, realized=right.realized, apply=apply)

    return wrong


def _piled_up(right: Any, a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Shifts are not taken modulo k, the last value absorbs them."""
    k, lied = len(right.matrix), rng.random(len(a)) > right.matrix[0, 0]
    return np.where(lied, np.minimum(a + rng.integers(1, k, size=len(a)), k - 1), a)


def _taken_back(right: Any, a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One report in a hundred is the truth after all, whatever the law says."""
    return np.where(rng.integers(0, 100, size=len(a), dtype=np.uint8) == 0, a, right.apply(a, rng))


def _twice(k: int, epsilon: float) -> Any:
    return generalized_randomized_response(k, 2 * epsilon)


FAULTS: dict[str, dict[str, Any]] = {
    "lies spread over all k values, the truth too": {"matrix": _lies_shared_by_all},
    "ε doubled for k above 2": {
        "matrix": lambda k, x: response_matrix(2, x) if k == 2 else response_matrix(k, x**2)
    },
    "ratio within a row instead of a column": {
        "level": lambda channel: max(
            row.max() / row.min() if row.min() > 0 else math.inf for row in channel.matrix
        )
    },
    "first report only": {
        "level": lambda channel: (
            Randomizer(channel.matrix[:, ::-1]).likelihood_ratio
            if channel.k == 1
            else max(channel.matrix[:, 0]) / max(min(channel.matrix[:, 0]), Fraction(1, 10**6))
        )
    },
    "ε doubled where it is drawn": {"mechanism": _twice},
    "lies piled up at the last value": {"mechanism": _drawing(_piled_up)},
    "one report in a hundred the truth after all": {"mechanism": _drawing(_taken_back)},
    "ε too large by a millionth": {
        "mechanism": lambda k, epsilon: generalized_randomized_response(k, epsilon + 1e-6)
    },
}


CLAIM = Claim(
    id="thesis.grr-ldp",
    where="thesis § 5.2.3",
    statement="Reporting the true value of k with probability e^ε/(e^ε + k − 1), "
    "and every other one with probability 1/(e^ε + k − 1), is an ε-LDP mechanism.",
    verdict="holds",
    finding="True for every k and ε ≥ 0, and no smaller ε would do (k ≥ 2). Among all ε-LDP channels on k values "
    "it has the largest sum of truth probabilities. Drawn from 32-bit words it is the same mechanism at an ε′ "
    "below ε by less than k·2^(−30), up to ε = 20.",
    kind="as-printed",
    impact="none",
    because="The level is as printed. That no channel of the same level is more truthful on average "
    "supports the thesis's use of it.",
    headline="Generalised randomised response is exactly ε-LDP: no smaller ε would do, and no channel of "
    "the same level is more truthful on average.",
    chapter="local-randomisers",
    check=check,
    faults=FAULTS,
)
