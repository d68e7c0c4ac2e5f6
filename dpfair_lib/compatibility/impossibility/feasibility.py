"""Pure differential privacy: whether some algorithm always outputs an acceptable hypothesis, on given distributions.

An algorithm is a distribution over the hypotheses for each given distribution D_i: p[i, h] ≥ 0 with sum 1, and p[i, h]
= 0 if h is not acceptable on D_i. It is (ε, 0)-DP if p[i, h] ≤ e^ε·p[j, h] for neighbours i, j. So its support is the
same along every chain of neighbours. The linear program therefore has a solution if and only if each connected
component has a hypothesis that is acceptable on all of its distributions.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._arguments import nonnegative
from dpfair_lib.compatibility.impossibility.acceptable import acceptable_table, neighbor_table
from dpfair_lib.compatibility.impossibility.criteria import Criterion
from dpfair_lib.populations import Population

MOST_EPSILON = 1000


@dataclass(frozen=True)
class Infeasible:
    """Multipliers that add up the program's rows to a contradiction (Farkas).

    Attributes
    ----------
    total : mapping
        i → multiplier of Σ_h p[i, h] = 1, of any sign.
    ratio : mapping
        (i, j, h) → multiplier ≥ 0 of p[i, h] − factor·p[j, h] ≤ 0.
    """

    total: Mapping[int, Fraction]
    ratio: Mapping[tuple[int, int, int], Fraction]


@dataclass(frozen=True)
class Feasibility:
    """The answer of `pure_dp_feasible`, with its proof.

    Attributes
    ----------
    feasible : bool
        Whether there is an algorithm.
    acceptable : ndarray of bool, shape (n, m)
        Whether hypothesis h is acceptable on distribution i.
    neighbors : ndarray of bool, shape (n, n)
        Whether the different distributions i and j are at most ζ apart.
    components : tuple of tuple of int
        The distributions that chains of neighbours connect.
    factor : int
        A whole number of at least e^ε, for which infeasibility is proved.
    mechanism : ndarray of Fraction, shape (n, m), or None
        An algorithm that is (0, 0)-DP, if there is one.
    infeasible : Infeasible or None
        The multipliers that prove a contradiction, if there is none.
    """

    feasible: bool
    acceptable: np.ndarray
    neighbors: np.ndarray
    components: tuple[tuple[int, ...], ...]
    factor: int
    mechanism: np.ndarray | None
    infeasible: Infeasible | None


def pure_dp_feasible(
    populations: Sequence[Population],
    hypotheses: Any,
    *,
    zeta: Fraction,
    epsilon: float,
    fair: Criterion | None,
    accurate: Criterion | None,
) -> Feasibility:
    """Decide whether an (ε, 0)-DP algorithm can output a fair and accurate hypothesis on each of several distributions.

    The algorithm is given one of the distributions, and must be differentially private with respect to it.

    Parameters
    ----------
    populations : sequence of Population
        The distributions, with exact (`Fraction`) probabilities, on the same points and groups.
    hypotheses : array of shape (m, n_x, k)
        For each hypothesis, the probability of predicting 1 at each point and for each group: whole numbers or
        `Fraction`.
    zeta : Fraction
        Distributions are neighbours if their statistical distance is at most this number.
    epsilon : float
        From 0 to 1000. The answer is the same for every ε; only the multipliers of the proof depend on it.
    fair, accurate : Criterion or None
        What the output must satisfy on its distribution, as in `acceptable_hypotheses`; None requires nothing.

    Returns
    -------
    Feasibility
        With an algorithm, or with multipliers that prove that there is none. `keeps_promises` and `is_contradiction` in
        the same module verify them in exact arithmetic.

    Raises
    ------
    ValueError
        If ζ is not a positive exact number, if ε is negative or too large, or for the reasons of
        `acceptable_hypotheses`.

    References
    ----------
    Cummings et al. (2019), Theorem 1.

    Examples
    --------
    Two distributions with opposite labels need opposite hypotheses. A private algorithm cannot serve both if they are
    neighbours.

    >>> from fractions import Fraction
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.compatibility import beats_constants, fair_within
    >>> quarters, x, a = [Fraction(1, 4)] * 4, [0, 1, 0, 1], [0, 0, 1, 1]
    >>> both = [dpf.Population(quarters, x, a, y) for y in ([0, 1, 0, 1], [1, 0, 1, 0])]
    >>> asked = dict(hypotheses=[[[0, 0], [1, 1]], [[1, 1], [0, 0]]], epsilon=1.0,
    ...              fair=fair_within("opportunity"), accurate=beats_constants())
    >>> [dpf.pure_dp_feasible(both, zeta=zeta, **asked).feasible for zeta in (Fraction(1, 2), Fraction(1))]
    [True, False]
    """
    epsilon = nonnegative(epsilon, "epsilon")
    if epsilon == np.inf:
        raise ValueError(
            "epsilon: found inf, expected a finite number: without privacy nothing is constrained"
        )
    if epsilon > MOST_EPSILON:
        raise ValueError(
            f"epsilon: found {epsilon}, expected at most {MOST_EPSILON}: the answer is the same for all, and the "
            "certificate has powers of e^ε"
        )
    acceptable = acceptable_table(populations, hypotheses, fair, accurate)
    return decide(acceptable, neighbor_table(populations, zeta), 3 ** int(np.ceil(epsilon)))


def decide(acceptable: np.ndarray, neighbors: np.ndarray, factor: int) -> Feasibility:
    """Decide it from the tables alone.

    Parameters
    ----------
    acceptable : ndarray of bool, shape (n, m)
    neighbors : symmetric ndarray of bool, shape (n, n)
    factor : int
        At least 1, in the place of e^ε.

    Returns
    -------
    Feasibility
    """
    components = _components(neighbors)
    mechanism = np.full(acceptable.shape, Fraction(0), dtype=object)
    for members in components:
        shared = np.flatnonzero(acceptable[list(members)].all(axis=0))
        if not len(shared):
            proof = _contradiction(members[0], acceptable, neighbors, factor)
            return Feasibility(False, acceptable, neighbors, components, factor, None, proof)
        mechanism[list(members), shared[0]] = Fraction(1)
    return Feasibility(True, acceptable, neighbors, components, factor, mechanism, None)


def keeps_promises(
    mechanism: np.ndarray,
    acceptable: np.ndarray,
    neighbors: np.ndarray,
    factor: Fraction | int,
    delta: Fraction | int = 0,
) -> bool:
    """Return whether an algorithm outputs only what is acceptable and is DP with e^ε = factor and δ, exactly."""
    if not ((mechanism >= 0).all() and (mechanism.sum(axis=1) == 1).all()):
        return False
    if (mechanism[~acceptable] != 0).any():
        return False
    laws: dict[tuple[Any, ...], int] = {}
    law = np.array([laws.setdefault(tuple(row), len(laws)) for row in mechanism], dtype=int)
    different = list(laws)
    for i, j in {(int(i), int(j)) for i, j in law[np.argwhere(neighbors)]}:
        worst = sum(
            max(one - factor * other, 0) for one, other in zip(different[i], different[j], strict=True)
        )
        if worst > delta:
            return False
    return True


def is_contradiction(
    proof: Infeasible, acceptable: np.ndarray, neighbors: np.ndarray, factor: Fraction | int
) -> bool:
    """Return whether the multipliers prove that no algorithm exists, exactly.

    Added up, the rows say Σ c[i, h]·p[i, h] ≤ Σ total < 0 with coefficients c ≥ 0 wherever p may be positive.
    """
    if any(value < 0 for value in proof.ratio.values()) or not sum(proof.total.values()) < 0:
        return False
    if any(not neighbors[i, j] for i, j, _ in proof.ratio):
        return False
    coefficient = np.full(acceptable.shape, Fraction(0), dtype=object)
    for i, value in proof.total.items():
        coefficient[i] += value
    for (i, j, h), value in proof.ratio.items():
        coefficient[i, h] += value
        coefficient[j, h] -= factor * value
    return bool((coefficient[acceptable] >= 0).all())


def _components(neighbors: np.ndarray) -> tuple[tuple[int, ...], ...]:
    left, found = set(range(len(neighbors))), []
    while left:
        members, front = set(), {min(left)}
        while front:
            members |= front
            front = {int(j) for i in front for j in np.flatnonzero(neighbors[i])} - members
        found.append(tuple(sorted(members)))
        left -= members
    return tuple(found)


def _contradiction(root: int, acceptable: np.ndarray, neighbors: np.ndarray, factor: int) -> Infeasible:
    """At the root, each acceptable h has probability 0: walk to the nearest distribution that rejects it."""
    ratio: dict[tuple[int, int, int], Fraction] = {}
    before: dict[int, int] = {root: root}
    order = [root]
    for i in order:  # breadth first: the list grows
        for j in np.flatnonzero(neighbors[i]).tolist():
            if j not in before:
                before[j] = i
                order.append(j)
    for h in np.flatnonzero(acceptable[root]).tolist():
        at = next(i for i in order if not acceptable[i, h])
        path = [at]
        while path[-1] != root:
            path.append(before[path[-1]])
        path.reverse()
        for step, (i, j) in enumerate(itertools.pairwise(path)):
            ratio[i, j, h] = Fraction(factor**step)
    return Infeasible({root: Fraction(-1)}, ratio)
