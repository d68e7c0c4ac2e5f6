"""The cheapest threshold rules whose true and false positive rates differ by at most γ between any two groups.

Two rates per group have to lie in a band each, so there is no closed form. A linear program mixes each group's
thresholds. Of the many thresholds it starts with a few and adds those that its multipliers ask for; at the end, the
multipliers prove by weak duality that no other threshold helps.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

START = 24  # thresholds of each group in the first program
ROUNDS = 200
OPTIMAL = 1e-9  # difference of the value and the bound, relative to the largest cost
SCALE = 1e3  # of the costs in the program, whose solver's tolerances are absolute
TOLERANCE = 1e-10  # the smallest that the solver knows


class Thresholds(NamedTuple):
    """What each threshold of one group gives: arrays of shape (levels + 1,), from nobody selected to everybody.

    Attributes
    ----------
    false_positive, true_positive : ndarray
        Rates, ascending from 0 to 1.
    costs : ndarray
        Numbers of errors or of changes.
    """

    false_positive: np.ndarray
    true_positive: np.ndarray
    costs: np.ndarray

    @classmethod
    def of(cls, zeros: np.ndarray, ones: np.ndarray, if_one: np.ndarray, if_zero: np.ndarray) -> Thresholds:
        """Sum what stands at each level, from the highest score down.

        Parameters
        ----------
        zeros, ones : ndarray of shape (levels,)
            Weight of the people of true label 0 and 1 at each level, score ascending; neither may be all 0.
        if_one, if_zero : ndarray of shape (levels,)
            What it costs to give the label 1, or 0, to everybody at the level.
        """
        reached = [np.concatenate([[0.0], np.cumsum(kind[::-1])]) for kind in (zeros, ones)]
        false_positive, true_positive = (rate / rate[-1] for rate in reached)
        costs = if_zero.sum() + np.concatenate([[0.0], np.cumsum((if_one - if_zero)[::-1])])
        return cls(false_positive, true_positive, costs)

    def rates(self, mixture: Sequence[tuple[int, float]]) -> tuple[float, float]:
        """Return the false and the true positive rate of a mixture: numbers of selected levels, and probabilities."""
        at, chances = [count for count, _ in mixture], [chance for _, chance in mixture]
        return float(self.false_positive[at] @ chances), float(self.true_positive[at] @ chances)


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
    mixtures: list[list[tuple[int, float]]]


def cheapest_odds(groups: Sequence[Thresholds], gamma: float) -> OddsRules:
    """Return the cheapest rules whose true and false positive rates each lie within γ of each other.

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
    groups = [g._replace(costs=g.costs * scale) for g in groups]
    columns = [np.unique(np.linspace(0, len(g.costs) - 1, START).round().astype(int)) for g in groups]
    asked = [int(np.argmin(g.costs)) for g in groups]
    bound = -np.inf
    for _ in range(ROUNDS):
        columns = [np.union1d(at, [one]) for at, one in zip(columns, asked, strict=True)]
        shares, value, prices, least = _solve(groups, columns, gamma)
        reduced = [
            g.costs - x * g.false_positive - y * g.true_positive
            for g, (x, y) in zip(groups, prices, strict=True)
        ]
        bound = max(bound, sum(float(r.min()) for r in reduced) + least)
        if value - bound <= OPTIMAL * SCALE:
            mixtures = [
                [(int(i), float(p)) for i, p in zip(at, share, strict=True) if p > 0]
                for at, share in zip(columns, shares, strict=True)
            ]
            cost = sum(
                float(g.costs[at] @ share) for g, at, share in zip(groups, columns, shares, strict=True)
            )
            return OddsRules(cost / scale, min(bound, cost) / scale, mixtures)
        asked = [int(np.argmin(r)) for r in reduced]
        if all(one in at for one, at in zip(asked, columns, strict=True)):
            break
    raise RuntimeError(f"the program's value {value} and bound {bound} still differ, relative to {SCALE:g}")


def _solve(
    groups: Sequence[Thresholds], columns: list[np.ndarray], gamma: float
) -> tuple[list[np.ndarray], float, list[tuple[float, float]], float]:
    """Solve the program on some thresholds; return shares, value, each group's prices of its rates, and the rest.

    The variables are the shares of the thresholds and the lower ends u, v of the two bands. The prices of a group's two
    rates are the multipliers of their upper limits minus those of their lower ones; multipliers are at most 0. The rest
    of the Lagrangian is γ times the multipliers of the upper limits, and what u and v in [0, 1] make of their prices.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    counts = [len(at) for at in columns]
    ends = np.cumsum([0, *counts])
    size, k = int(ends[-1]), len(groups)
    group = np.repeat(np.arange(k), counts)
    at = np.arange(size)
    rates = [
        np.concatenate([getattr(g, name)[c] for g, c in zip(groups, columns, strict=True)])
        for name in ("false_positive", "true_positive")
    ]
    rows, cols, values, limits = [], [], [], []
    for i, rate in enumerate(rates):
        for sign in (1, -1):  # rate − end ≤ γ, end − rate ≤ 0
            offset = (2 * i + (sign < 0)) * k
            rows += [group + offset, np.arange(k) + offset]
            cols += [at, np.full(k, size + i)]
            values += [sign * rate, np.full(k, -float(sign))]
            limits.append(np.full(k, gamma if sign > 0 else 0.0))
    upper = csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))), shape=(4 * k, size + 2)
    )
    one = csr_array((np.ones(size), (group, at)), shape=(k, size + 2))
    costs = np.concatenate([g.costs[c] for g, c in zip(groups, columns, strict=True)])
    solved = linprog(
        np.concatenate([costs, [0.0, 0.0]]), upper, np.concatenate(limits), one, np.ones(k),
        bounds=[(0, None)] * size + [(0, 1)] * 2, method="highs-ds",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )  # fmt: skip
    if solved.status != 0:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    marginal = np.minimum(solved.ineqlin.marginals, 0).reshape(2, 2, k)  # rate, limit, group: at most 0
    price = marginal[:, 0] - marginal[:, 1]
    # what u and v, in [0, 1], can make of the sum of their prices
    least = gamma * float(marginal[:, 0].sum()) + sum(min(float(s), 0.0) for s in price.sum(axis=1))
    shares = [np.clip(solved.x[a:b], 0, None) for a, b in itertools.pairwise(ends)]
    shares = [share / share.sum() for share in shares]
    return shares, float(solved.fun), [(float(x), float(y)) for x, y in price.T], least
