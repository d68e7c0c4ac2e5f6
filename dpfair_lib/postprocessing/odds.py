"""The cheapest threshold rules whose true and false positive rates differ by at most γ between any two groups.

Two rates per group have to lie in a band each, so there is no closed form. A linear program mixes each group's
thresholds. It needs only the corners of the group's rates, which are few. At the end, its multipliers prove by weak
duality that no other threshold helps; one that does would be added.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib.postprocessing.thresholds import NEGLIGIBLE, Mixture, Thresholds

ROUNDS = 200
OPTIMAL = 1e-9  # difference of the value and the bound, relative to the largest cost
SCALE = 1e3  # of the costs in the program, whose solver's tolerances are absolute
EQUAL = 1e-8  # costs of thresholds that differ by less on that scale are equal but for rounding
TOLERANCE = 1e-10  # the smallest that the solver knows
OPTIONS: dict[str, Any] = {
    "output_flag": False, "threads": 1, "presolve": "off", "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE, "small_matrix_value": 1e-12,
}  # fmt: skip

_OF_THREAD = threading.local()


class OddsRules(NamedTuple):
    """The cheapest rules.

    Attributes
    ----------
    cost : float
        Of all groups together.
    bound : float
        What the multipliers prove: no mixture of thresholds costs less.
    mixtures : list of list of (int, float)
        Of each group: how many levels are selected, from the highest down, and the probability of this threshold.
    """

    cost: float
    bound: float
    mixtures: list[Mixture]


def cheapest_odds(groups: Sequence[Thresholds], gamma: float) -> OddsRules:
    """Return the cheapest rules whose true and false positive rates each lie within γ of each other.

    The rules depend on what the groups' thresholds give, not on the order of the groups, and groups that do not differ
    get the same rule. Of all mixtures with a group's rates and cost it gets the one whose selection rate varies least
    over the draw of the threshold. So the thresholds lie close together, and little is left to chance.

    Parameters
    ----------
    groups : sequence of Thresholds
        Of each group.
    gamma : float
        γ in [0, 1].

    Returns
    -------
    OddsRules
        The cost exceeds the bound by at most 1e-9, relative to the sum of the groups' largest costs.

    Raises
    ------
    RuntimeError
        If the program could not be solved to that accuracy.
    """
    largest = sum(float(g.costs.max()) for g in groups)
    scale = SCALE / largest if largest > 0 else 1.0
    keys = [tuple(part.tobytes() for part in g) for g in groups]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    times = np.bincount([places[key] for key in keys])
    each = dict(zip(keys, groups, strict=True))
    distinct = [each[key]._replace(costs=each[key].costs * (scale * times[places[key]])) for key in places]
    mixtures, bound = _program(distinct, gamma)
    mixtures = [mixtures[places[key]] for key in keys]
    cost = sum(g.cost(mixture) for g, mixture in zip(groups, mixtures, strict=True))
    return OddsRules(cost, min(bound / scale, cost), mixtures)


def _program(groups: Sequence[Thresholds], gamma: float) -> tuple[list[Mixture], float]:
    """Return the mixtures and the bound; the sum of the largest costs is `SCALE`."""
    columns = [g.corners() for g in groups]
    bound = -np.inf
    for _ in range(ROUNDS):
        shares, value, prices, least = _solve(groups, columns, gamma)
        reduced = [
            g.costs - x * g.false_positive - y * g.true_positive
            for g, (x, y) in zip(groups, prices, strict=True)
        ]
        bound = max(bound, sum(float(r.min()) for r in reduced) + least)
        if value - bound <= OPTIMAL * SCALE / 2:
            return [
                g.steadiest(mixture, np.flatnonzero(r <= r.min() + EQUAL))
                for g, mixture, r in zip(groups, shares, reduced, strict=True)
            ], bound
        asked = [int(np.argmin(r)) for r in reduced]
        if all(one in at for one, at in zip(asked, columns, strict=True)):
            break
        columns = [np.union1d(at, [one]) for at, one in zip(columns, asked, strict=True)]
    raise RuntimeError(f"the program's value {value} and bound {bound} still differ, relative to {SCALE:g}")


def _solve(
    groups: Sequence[Thresholds], columns: list[np.ndarray], gamma: float
) -> tuple[list[Mixture], float, np.ndarray, float]:
    """Solve the program on some thresholds; return mixtures, value, each group's prices of its rates, and the rest.

    The variables are the shares of the thresholds and the lower ends u, v of the two bands: rate − end lies in [0, γ].
    A price is positive where the lower limit binds, negative where the upper one does. The rest of the Lagrangian is γ
    times the negative prices, and what u and v in [0, 1] make of the sum of theirs.
    """
    with extra("solver"):
        import highspy

    k, counts = len(groups), [len(at) for at in columns]
    ends = np.cumsum([0, *counts])
    size = int(ends[-1])
    group = np.repeat(np.arange(k), counts)
    false_positive, true_positive, costs = (
        np.concatenate([part[at] for part, at in zip(parts, columns, strict=True)])
        for parts in zip(*((g.false_positive, g.true_positive, g.costs) for g in groups), strict=True)
    )
    # columns: the thresholds, then u and v; rows: the shares of a group add up to 1, then its two rates
    rows = np.stack([group, group + k, group + 2 * k], axis=1)
    values = np.stack([np.ones(size), false_positive, true_positive], axis=1)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = size + 2, 3 * k
    program.col_cost_ = np.append(costs, np.zeros(2))
    program.col_lower_ = np.zeros(size + 2)
    program.col_upper_ = np.repeat([highspy.kHighsInf, 1.0], [size, 2])
    program.row_lower_ = np.repeat([1.0, 0.0], [k, 2 * k])
    program.row_upper_ = np.repeat([1.0, gamma], [k, 2 * k])
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = np.append(np.arange(0, 3 * size + 1, 3), 3 * size + k * np.arange(1, 3))
    program.a_matrix_.index_ = np.append(rows, np.arange(k, 3 * k))
    program.a_matrix_.value_ = np.append(values, np.full(2 * k, -1.0))
    highs = _solver()
    highs.passModel(program)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(
            f"the linear program was not solved: {highs.modelStatusToString(highs.getModelStatus())}"
        )
    solution = highs.getSolution()
    found = np.maximum(np.array(solution.col_value)[:size], 0)
    prices = np.array(solution.row_dual)[k:].reshape(2, k)
    least = gamma * float(np.minimum(prices, 0).sum()) + float(np.minimum(prices.sum(axis=1), 0).sum())
    mixtures = []
    for at, share in zip(columns, (found[a:b] for a, b in itertools.pairwise(ends)), strict=True):
        used = share > NEGLIGIBLE
        mixtures.append(
            [(int(i), float(p)) for i, p in zip(at[used], share[used] / share[used].sum(), strict=True)]
        )
    return mixtures, highs.getObjectiveValue(), prices.T, least


def _solver() -> Any:
    """Return this thread's solver, with its options: to make one takes longer than most programs.

    A model that is passed replaces the one before, with its basis, so no program depends on another.
    """
    with extra("solver"):
        import highspy

    if not hasattr(_OF_THREAD, "highs"):
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in OPTIONS.items():
            highs.setOptionValue(option, value)
        _OF_THREAD.highs = highs
    return _OF_THREAD.highs
