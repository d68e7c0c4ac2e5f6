"""CGKM, Theorem 1: for which classes of hypotheses the repaired statement is true."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import acceptable_by_definition, laws
from dpfair_lib.compatibility.impossibility.acceptable import (
    acceptable_table,
    hypothesis_grid,
    neighbor_table,
)
from dpfair_lib.compatibility.impossibility.chains import connecting_chain
from dpfair_lib.compatibility.impossibility.criteria import Criterion, beats_constants, fair_within, is_usable
from dpfair_lib.compatibility.impossibility.feasibility import (
    decide,
    is_contradiction,
    keeps_promises,
)
from dpfair_lib.compatibility.impossibility.mechanism_programs import largest_mass
from dpfair_lib.populations import Population

FAIR, ACCURATE = fair_within("opportunity"), beats_constants()
ON_ACCEPTABLE_LAWS = "only the laws on which some h in H is fair and better than the constants"


def alone_slack(member: int) -> int:
    """Return −1 if this usable hypothesis is acceptable on some law in sixths, by definition; else 0.

    Where the laws are those on which a class of one hypothesis has an acceptable one, to output it always is private,
    fair and better than the constants.
    """
    hypotheses = hypothesis_grid(2)
    h = hypotheses[is_usable(hypotheses)][member].tolist()
    return -int(any(acceptable_by_definition(law.table.tolist(), h) for law in laws(6)))


@functools.cache
def _chain_family(members: tuple[int, ...], zeta: Fraction) -> tuple[np.ndarray, tuple[Population, ...]]:
    """Return a class of usable hypotheses and the laws of chains between them on which one is acceptable."""
    hypotheses = hypothesis_grid(2)
    usable = hypotheses[is_usable(hypotheses)]
    chosen = usable[list(members)]
    pairs = list(itertools.combinations(chosen, 2))[:3] or [(chosen[0], usable[members[0] - 1])]
    family = [law for h, g in pairs for law in connecting_chain(h, g, zeta)[0]]
    met = acceptable_table(family, chosen, FAIR, ACCURATE)
    return chosen, tuple(law for law, row in zip(family, met, strict=True) if row.any())


@once
def repaired_over_classes(
    fair: Criterion, accurate: Criterion, feasible: Callable[..., Any], search: Search
) -> None:
    """The program over mechanisms, for classes of usable hypotheses on the chains between them."""
    search.part("linear program over mechanisms")
    zeta = Fraction(1, 4)
    for size, epsilon in ((1, 2.0), (2, 2.0), (2, 0.0), (8, 1.0)):
        for members in itertools.islice(itertools.combinations(range(8), size), 0, 28, 6):
            chosen, family = _chain_family(members, zeta)
            answer = feasible(family, chosen, zeta=zeta, epsilon=epsilon, fair=fair, accurate=accurate)
            case = {"class": chosen.tolist(), "epsilon": epsilon}
            search.agree(answer.feasible, size == 1, case)
            tables = answer.acceptable, answer.neighbors
            proved = (
                keeps_promises(answer.mechanism, *tables, 1)
                if answer.feasible
                else is_contradiction(answer.infeasible, *tables, answer.factor)
            )
            search.agree(proved, True, case)
            solved = largest_mass(
                *tables, factor=answer.factor, delta=0, at=0, favoured=np.ones(len(chosen), dtype=bool)
            )
            search.agree(solved is not None, answer.feasible, case)


@functools.cache
def _proved_answers(zeta: Fraction) -> tuple[tuple[int, bool, bool], ...]:
    """Return each class of usable hypotheses, on the laws in sixths that have an acceptable one in it.

    Returns
    -------
    tuple of (size of the class, whether a private algorithm exists, whether that is proved)
    """
    hypotheses = hypothesis_grid(2)
    met = acceptable_table(laws(6), hypotheses[is_usable(hypotheses)], FAIR, ACCURATE)
    near = neighbor_table(laws(6), zeta)
    found = []
    for size in range(1, 9):
        for members in itertools.combinations(range(8), size):
            rows = np.flatnonzero(met[:, members].any(axis=1))
            tables = met[np.ix_(rows, np.array(members))], near[np.ix_(rows, rows)]
            answer = decide(*tables, 3)
            proved = (
                is_contradiction(answer.infeasible, *tables, 3)
                if answer.infeasible
                else answer.mechanism is not None and keeps_promises(answer.mechanism, *tables, 1)
            )
            found.append((size, answer.feasible, proved))
    return tuple(found)


@once
def every_class_of_two_points(search: Search) -> None:
    """All classes at once, without the chains: on the laws in sixths with long steps, one hypothesis is the limit."""
    search.part("every class of usable hypotheses")
    for number, (size, feasible, proved) in enumerate(_proved_answers(Fraction(1, 2))):
        search.agree(feasible, size == 1, {"size": size})
        search.agree(proved, True, {"size": size})
        if size == 1:  # the first eight classes: usable hypothesis number so and so, and no other
            search.against(-int(feasible), {"member": number}, verify=alone_slack, reading=ON_ACCEPTABLE_LAWS)
    search.exhausts(
        "all 255 classes of usable hypotheses on all distributions in sixths at ζ = ½", cases=2 * (2**8 - 1)
    )
    # shorter steps of so coarse a lattice miss the coin between two complementary hypotheses
    short = [size for size, feasible, _ in _proved_answers(Fraction(1, 6)) if feasible]
    search.agree(short, [1] * 8 + [2] * 2, {"zeta": Fraction(1, 6)})
