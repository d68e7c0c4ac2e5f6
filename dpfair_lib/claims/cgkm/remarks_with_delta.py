"""CGKM, the remark on (ε, δ): exact fairness, chains of laws, and thresholds with δ > 0."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.compatibility.impossibility.acceptable import (
    acceptable_table,
    hypothesis_grid,
    neighbor_table,
)
from dpfair_lib.compatibility.impossibility.constructions import (
    curve_family,
    zero_table,
)
from dpfair_lib.compatibility.impossibility.criteria import (
    fair_within,
)
from dpfair_lib.compatibility.impossibility.feasibility import keeps_promises
from dpfair_lib.compatibility.impossibility.mechanism_programs import largest_mass
from dpfair_lib.populations import Population


@functools.cache
def _curve() -> tuple[list[Population], np.ndarray, np.ndarray, np.ndarray]:
    """Return the uniform law and four around it, what is fair on which, who neighbours whom, and the non-constant h."""
    hypotheses = hypothesis_grid(2)
    centre = Population.from_table(zero_table(2) + Fraction(1, 8))
    family = [centre, *curve_family(centre, Fraction(1, 100), 4)]
    met = acceptable_table(family, hypotheses, fair_within("opportunity"), None)
    favoured = np.array([0 < h.sum() < 4 for h in hypotheses])
    return family, met, neighbor_table(family, Fraction(1, 50)), favoured


@functools.cache
def _mass_on_the_curve(epsilon: float, delta: float) -> float | None:
    _, met, near, favoured = _curve()
    return largest_mass(met, near, factor=math.exp(epsilon), delta=delta, at=0, favoured=favoured)


@once
def exact_with_delta(search: Search) -> None:
    """Exact fairness and (ε, δ): all non-constant hypotheses together get δ, attained, and hardly more on few laws."""
    search.part("exact fairness with δ")
    _, met, near, favoured = _curve()
    fair_elsewhere = met[1:][:, favoured].sum(axis=0).max()
    search.observe(2 - int(fair_elsewhere), {"laws of the curve on which one hypothesis is fair": "at most"})
    for epsilon, delta in itertools.product((0.0, 1.0, 3.0), (Fraction(0), Fraction(1, 100), Fraction(1, 4))):
        case = {"epsilon": epsilon, "delta": delta}
        found = _mass_on_the_curve(epsilon, float(delta))
        most = float(4 * delta / (4 - int(fair_elsewhere)))
        search.sanity(-1.0 if found is None else most - found, case, tolerance=1e-8)
        search.sanity(-1.0 if found is None else found - float(delta), case, tolerance=1e-8)
        mechanism = np.full(met.shape, Fraction(0), dtype=object)
        mechanism[:, 0] = 1  # the constant 0
        mechanism[0, 0] = 1 - delta
        mechanism[0, np.flatnonzero(met[0] & favoured)[0]] = delta
        search.agree(keeps_promises(mechanism, met, near, 1, delta), True, case)


def _path(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a chain of steps + 1 laws, the first rejecting one hypothesis, the last the other."""
    near = abs(np.subtract.outer(np.arange(steps + 1), np.arange(steps + 1))) == 1
    met = np.ones((steps + 1, 2), dtype=bool)
    met[0, 0] = met[-1, 1] = False
    return met, near


@functools.cache
def _height(factor: Fraction, count: int, delta: Fraction, whole: bool) -> float | None:
    """Return the first hypothesis' largest probability at the end of the chain, by linear programming.

    With ``whole`` the other one is not acceptable there; None if that cannot be met.
    """
    met, near = _path(count)
    met[-1, 1] = not whole
    return largest_mass(
        met, near, factor=float(factor), delta=float(delta), at=count, favoured=np.array([True, False])
    )


@once
def chains_with_delta(ladder: Callable[..., Any], least: Callable[..., Any], search: Search) -> None:
    """Along a chain the first hypothesis' probability may climb, exactly as fast as the ladder says."""
    search.part("chains with δ")
    for factor, count in itertools.product((Fraction(1), Fraction(2), Fraction(3)), range(1, 9)):
        delta = least(count, factor=factor)
        case = {"factor": factor, "steps": count, "delta": delta}
        met, near = _path(count)
        climbing = ladder(count, factor=factor, delta=delta)
        search.equal(climbing[-1], 1, case)
        mechanism = np.array([[q, 1 - q] for q in climbing], dtype=object)
        search.agree(keeps_promises(mechanism, met, near, factor, delta), True, case)
        if count < 7:
            search.agree(_height(factor, count, delta * Fraction(999, 1000), True) is None, True, case)
            half = delta / 2  # how high it can climb with less than that
            found = _height(factor, count, half, False)
            expected = float(ladder(count, factor=factor, delta=half)[-1])
            search.sanity(-1.0 if found is None else -abs(found - expected), case, tolerance=1e-8)
