"""CGKM, Theorem 1: where it is false, where it says nothing of privacy, and for which classes it is true."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.cgkm.thm_1_statement_classes import (
    ACCURATE,
    FAIR,
    every_class_of_two_points,
    repaired_over_classes,
)
from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    QUARTERS,
    acceptable_by_definition,
    law_count,
    laws,
)
from dpfair_lib.compatibility.impossibility.acceptable import (
    acceptable_table,
    hypothesis_grid,
    neighbor_table,
)
from dpfair_lib.compatibility.impossibility.chains import connecting_chain
from dpfair_lib.compatibility.impossibility.constructions import floor_pair, hopeless_law, zero_table
from dpfair_lib.compatibility.impossibility.criteria import Criterion, beats_constants, is_usable
from dpfair_lib.compatibility.impossibility.feasibility import (
    is_contradiction,
    keeps_promises,
    pure_dp_feasible,
)
from dpfair_lib.populations import Population

PERFECT = (0, 1, 0, 1)  # the hypothesis that equals the label on the four atoms of the proof
HEAVY = [Fraction(4, 9), Fraction(1, 9), Fraction(3, 9), Fraction(1, 9)]


def check(
    *,
    fair: Criterion = FAIR,
    accurate: Criterion = ACCURATE,
    usable: Callable[..., Any] = is_usable,
    chain: Callable[..., Any] = connecting_chain,
    feasible: Callable[..., Any] = pure_dp_feasible,
    hopeless: Callable[..., Any] = hopeless_law,
    search: Search,
) -> Evidence:
    """Judge the statement on its own four atoms, on every small universe, and the repaired one over all classes."""
    _four_atoms(fair, accurate, feasible, search)
    _universes(fair, accurate, hopeless, search)
    _usable(fair, accurate, usable, search)
    _chains(fair, accurate, usable, chain, search)
    repaired_over_classes(fair, accurate, feasible, search)
    every_class_of_two_points(search)
    _partly_determined(fair, accurate, usable, feasible, search)
    _floor(fair, accurate, feasible, search)
    return search.evidence()


def printed_slack(values: tuple[int, ...], denominator: int) -> int:
    """Return −1 if this one hypothesis is acceptable on every law of the four atoms in such steps, else 0."""
    for first, second, third in itertools.combinations(range(1, denominator), 3):
        parts = (first, second - first, third - second, denominator - third)
        table = [[[Fraction(0)] * 2 for _ in range(2)] for _ in range(4)]
        for x, (a, y) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
            table[x][a][y] = Fraction(parts[x], denominator)
        if not acceptable_by_definition(table, [[value, value] for value in values]):
            return 0
    return -1


@functools.cache
def atom_laws(denominator: int) -> tuple[tuple[Population, ...], np.ndarray]:
    """Return all laws on the four atoms in such steps, and which of the 16 hypotheses are acceptable, by definition."""
    family, met = [], []
    for edges in itertools.combinations(range(1, denominator), 3):
        table = zero_table(4)
        for x, (start, end) in enumerate(itertools.pairwise((0, *edges, denominator))):
            table[x, x // 2, x % 2] = Fraction(end - start, denominator)
        family.append(Population.from_table(table))
        rows = table.tolist()
        met.append([acceptable_by_definition(rows, h.tolist()) for h in on_atoms()])
    return tuple(family), np.array(met)


def on_atoms() -> np.ndarray:
    """Return the 16 hypotheses on the four atoms, which do not look at the group."""
    return np.array([[[v, v] for v in values] for values in itertools.product((0, 1), repeat=4)])


@once
def _four_atoms(fair: Criterion, accurate: Criterion, feasible: Callable[..., Any], search: Search) -> None:
    """All laws on the proof's atoms: the hypothesis that equals the label serves all, so privacy costs nothing."""
    search.part("all laws on the four atoms of the proof")
    family, expected = atom_laws(9)
    answer = feasible(family, on_atoms(), zeta=Fraction(1, 9), epsilon=0, fair=fair, accurate=accurate)
    at, h = np.indices(expected.shape)
    search.agree(answer.acceptable.ravel(), expected.ravel(), {"law": at.ravel(), "h": h.ravel()})
    search.exhausts(
        "all distributions on the four atoms in ninths, all 16 hypotheses", cases=math.comb(8, 3) * 16
    )
    search.agree(answer.feasible, True, {"family": "four atoms"})
    promised = answer.feasible and keeps_promises(answer.mechanism, answer.acceptable, answer.neighbors, 1)
    search.agree(promised, True, {"family": "four atoms", "mechanism": "exact, ε = δ = 0"})
    for number, values in enumerate(itertools.product((0, 1), repeat=4)):
        everywhere = bool(answer.acceptable[:, number].all())
        case = {"values": values, "denominator": 9}
        search.agree(everywhere, values == PERFECT, case)
        search.against(-int(everywhere), case, verify=printed_slack)
    # negatives of either group outweigh all positives: nothing but the perfect hypothesis is acceptable
    heavy = next(i for i, law in enumerate(family) if law.table.max(axis=(1, 2)).tolist() == HEAVY)
    only = [values == PERFECT for values in itertools.product((0, 1), repeat=4)]
    search.agree(answer.acceptable[heavy], np.array(only), {"law": HEAVY})
    search.fact(
        "laws_one_serves",
        len(family),
        "distributions on the proof's four points, on all of which one hypothesis is acceptable",
    )


@functools.cache
def _laws_within(universe: bytes) -> tuple[Population, ...]:
    absent = ~np.frombuffer(universe, dtype=bool).reshape(2, 2, 2)
    return tuple(law for law in laws(6) if (law.table[absent] == 0).all())


@once
def _universes(fair: Criterion, accurate: Criterion, hopeless: Callable[..., Any], search: Search) -> None:
    """Over all laws of a universe: one hypothesis serves all, or some law has none, privacy or not."""
    search.part("all universes on two points")
    grid = hypothesis_grid(2, levels=QUARTERS[::2])
    determining = 0
    choices = ((True, False), (False, True), (True, True))
    for cells in itertools.product(choices, repeat=4):
        universe = np.array(cells).reshape(2, 2, 2).transpose(2, 0, 1)  # cells are (a, y), entries x
        case = {"universe": universe.tolist()}
        determined = not universe.all(axis=-1).any()
        law = hopeless(universe)
        search.agree(law is None, determined, case)
        if law is not None:
            inside = (law.table[~universe] == 0).all() and (law.table.sum(axis=0) > 0).all()
            search.agree(bool(inside), True, case)
            met = acceptable_table([law], grid, fair, accurate)[0]
            search.agree(met, np.zeros(len(met), dtype=bool), case)
        if determined:
            determining += 1
            teller = universe[..., 1].astype(np.int64)
            met = acceptable_table(_laws_within(universe.tobytes()), teller[None], fair, accurate)[:, 0]
            search.agree(met, np.ones(len(met), dtype=bool), case)
    search.exhausts("all 81 universes on two points in which all four (a, y) occur", cases=81)
    search.fact("universes_told", determining, "universes on two points that tell the label, of 81")


@once
def _usable(fair: Criterion, accurate: Criterion, usable: Callable[..., Any], search: Search) -> None:
    """A deterministic hypothesis is acceptable somewhere if and only if it is usable."""
    search.part("usable hypotheses")
    hypotheses = hypothesis_grid(2)
    tables = [acceptable_table(laws(d), hypotheses, fair, accurate) for d in (5, 6)]
    found = np.concatenate(tables)
    search.agree(usable(hypotheses), found.any(axis=0), {"h": np.arange(len(hypotheses))})
    at = np.argwhere(found)
    search.agree(usable(hypotheses[at[:, 1]]), np.ones(len(at), dtype=bool), {"acceptable on": at[:, 0]})
    search.agree(len(found), law_count(5) + law_count(6), {"laws": "fifths and sixths"})
    search.fact("laws_examined", len(found), "distributions in fifths and sixths examined")
    search.fact(
        "laws_acceptable",
        int(found.any(axis=1).sum()),
        "of these, distributions with an acceptable hypothesis among the 16",
    )


@once
def _chains(
    fair: Criterion,
    accurate: Criterion,
    usable: Callable[..., Any],
    chain: Callable[..., Any],
    search: Search,
) -> None:
    """Between any two usable hypotheses a chain of neighbours leads from where one fails to where the other does."""
    search.part("chains between two usable hypotheses")
    hypotheses = hypothesis_grid(2)
    pairs = list(itertools.combinations(hypotheses[is_usable(hypotheses)], 2))
    longest = 0
    for zeta, (h, g) in [(Fraction(1, 4), pair) for pair in pairs] + [
        (Fraction(1, 10), pair) for pair in pairs[::4]
    ]:
        case = {"h": h.tolist(), "g": g.tolist(), "zeta": zeta}
        laws_between, switch = chain(h, g, zeta)
        longest = max(longest, len(laws_between))
        met = acceptable_table(laws_between, np.stack([h, g]), fair, accurate)
        search.agree(met[:switch, 0], np.ones(switch, dtype=bool), case)
        search.agree(met[switch:, 1], np.ones(len(met) - switch, dtype=bool), case)
        search.agree(bool(met[0, 1] or met[-1, 0]), False, case)
        near = neighbor_table(laws_between, zeta)
        steps = np.arange(len(met) - 1)
        # equal laws may follow each other: they are no step
        still = [(a.table == b.table).all() for a, b in itertools.pairwise(laws_between)]
        search.agree(near[steps, steps + 1] | np.array(still), np.ones(len(steps), dtype=bool), case)
    search.exhausts("all 28 pairs of usable hypotheses on two points at ζ = ¼, some at 1/10", cases=28 * 6)
    search.agree(int(usable(hypotheses).sum()), 8, {"usable": "of the 16"})
    search.fact("longest_chain", longest, "distributions in the longest chain at ζ = 1/10")


@once
def _partly_determined(
    fair: Criterion,
    accurate: Criterion,
    usable: Callable[..., Any],
    feasible: Callable[..., Any],
    search: Search,
) -> None:
    """Where some (x, a) determine the label and some do not, one usable hypothesis can serve for any other.

    They differ at a point where everybody has label 0: who selects there is never fairer, and errs more often.
    """
    search.part("a universe that tells the label in part")
    universe = np.zeros((2, 2, 2), dtype=bool)
    universe[0, 0] = universe[1, :, 1] = universe[0, 1, 0] = True
    pair = np.array([[[0, 0], [1, 1]], [[0, 1], [1, 1]]])
    search.agree(usable(pair), np.ones(2, dtype=bool), {"pair": pair.tolist()})
    met = acceptable_table(_laws_within(universe.tobytes()), pair, fair, accurate)
    search.agree(met[:, 0] | ~met[:, 1], np.ones(len(met), dtype=bool), {"law": np.arange(len(met))})
    search.agree(met.any(axis=0), np.ones(2, dtype=bool), {"acceptable somewhere": "both"})
    served_laws = [law for law, row in zip(_laws_within(universe.tobytes()), met, strict=True) if row.any()]
    answer = feasible(served_laws, pair, zeta=Fraction(1, 2), epsilon=1.0, fair=fair, accurate=accurate)
    case = {"universe": universe.tolist()}
    search.agree(answer.feasible, True, case)
    served = answer.feasible and keeps_promises(answer.mechanism, answer.acceptable, answer.neighbors, 1)
    search.agree(served, True, case)


@functools.cache
def _floor_family(least: Fraction) -> tuple[Population, ...]:
    """Return the laws in sixths with P(Y = 1, A = 1) ≥ least on which one of the pair is acceptable."""
    family = [law for law in laws(6) if law.table[:, 1, 1].sum() >= least]
    met = acceptable_table(family, floor_pair(), FAIR, ACCURATE)
    return tuple(law for law, row in zip(family, met, strict=True) if row.any())


@once
def _floor(fair: Criterion, accurate: Criterion, feasible: Callable[..., Any], search: Search) -> None:
    """With a floor above ζ under P(Y = 1, A = 1), two usable hypotheses can live in different components."""
    search.part("a floor under the positive cells")
    for least, connected in ((Fraction(1, 6), True), (Fraction(2, 6), False)):
        answer = feasible(
            _floor_family(least), floor_pair(), zeta=Fraction(1, 6), epsilon=1.0, fair=fair, accurate=accurate
        )
        case = {"least P(Y = 1, A = 1)": least}
        search.agree(answer.feasible, not connected, case)
        tables = answer.acceptable, answer.neighbors
        if answer.feasible:
            search.agree(keeps_promises(answer.mechanism, *tables, 1), True, case)
            # both are output somewhere: the algorithm does look at the data
            search.agree((answer.mechanism == 1).any(axis=0), np.ones(2, dtype=bool), case)
        else:
            search.agree(is_contradiction(answer.infeasible, *tables, answer.factor), True, case)


def _equal_rates_by_mass(table: Any, h: Any, _: int) -> Any:
    """Compares joint masses, as the printed proof does."""
    hits = (table[..., 1] * h).sum(axis=-2)
    return hits[..., 0] == hits[..., 1]


def _always(*arguments: Any, **options: Any) -> Any:
    """Says feasible if every law has some acceptable hypothesis: forgets privacy."""
    answer = pure_dp_feasible(*arguments, **options)
    some = bool(answer.acceptable.any(axis=1).all())
    mechanism = answer.acceptable.astype(np.int64)
    return dataclasses.replace(answer, feasible=some, mechanism=mechanism)


def _evenly(universe: np.ndarray) -> Population | None:
    """The uniform law where the right one has a point with more negatives than there are positives."""
    law = hopeless_law(universe)
    if law is None:
        return None
    table = zero_table(2)
    table[universe] = Fraction(1, int(universe.sum()))
    return Population.from_table(table)


def _at_most_one(populations: Any, hypotheses: Any, **options: Any) -> Any:
    """Counts the usable hypotheses, also where not all (x, a, y) occur."""
    answer = pure_dp_feasible(populations, hypotheses, **options)
    if len(answer.components) > 1 or len(hypotheses) > 2:
        return answer
    return dataclasses.replace(answer, feasible=bool(is_usable(np.asarray(hypotheses)).sum() <= 1))


def _one_for_all(populations: Any, hypotheses: Any, **options: Any) -> Any:
    """Demands one hypothesis for the whole family, connected or not."""
    return pure_dp_feasible(populations, hypotheses, **(options | {"zeta": Fraction(1)}))


FAULTS: dict[str, dict[str, Any]] = {
    "joint masses compared, as in the proof": {"fair": _equal_rates_by_mass},
    "as good as a constant suffices": {"accurate": beats_constants(strict=False)},
    "not constant is enough": {"usable": lambda h: ~h.all(axis=(-2, -1)) & h.any(axis=(-2, -1))},
    "steps of twice the length": {"chain": lambda h, g, zeta: connecting_chain(h, g, 2 * zeta)},
    "chain ends too early": {
        "chain": lambda h, g, zeta: (
            (between := connecting_chain(h, g, zeta))[0][: between[1] + 1],
            between[1],
        )
    },
    "privacy forgotten": {"feasible": _always},
    "components forgotten": {"feasible": _one_for_all},
    "two usable hypotheses never served": {"feasible": _at_most_one},
    "a hopeless law everywhere": {
        "hopeless": lambda universe: hopeless_law(universe) or hopeless_law(np.ones((2, 2, 2), dtype=bool))
    },
    "positives not outweighed": {"hopeless": _evenly},
}


SHOWN = """\
import itertools
from fractions import Fraction
label = (0, 1, 0, 1)  # of the proof's points z0, z1 (group 0), z2, z3 (group 1); x tells them apart
cuts = itertools.combinations(range(1, 9), 3)
laws = [[Fraction(k, 9) for k in (a, b - a, c - b, 9 - c)] for a, b, c in cuts]
h = label  # one hypothesis: both true positive rates are 1, and it never errs
errors = [sum(p * (guess != y) for p, guess, y in zip(law, h, label)) for law in laws]
constants = [min(law[0] + law[2], law[1] + law[3]) for law in laws]
assert h[1] == h[3] and all(error < least for error, least in zip(errors, constants))
"""

CLAIM = Claim(
    id="cgkm.thm-1.statement",
    where="Theorem 1, § 3",
    statement="For every hypothesis class, no (ε, 0)-DP algorithm with ε < ∞ always outputs an h that "
    "satisfies exact equal opportunity and errs less than every constant classifier (neighbours: ζ-close "
    "distributions).",
    statement_uses=("cgkm.definitions",),
    proof_uses=("cgkm.thm-1.proof",),
    verdict="corrected",
    finding="False on the proof's own four atoms: one h is fair and better on all distributions. On a "
    "universe where (x, a) does not determine the label it is void: some distribution has no such h, privacy "
    "or not. On the distributions that have one, if all (x, a, y) occur and H is deterministic: possible if "
    "and only if at most one h in H is not constant and selects people of both groups.",
    chapter="cgkm-thm-1",
    headline="False as printed: on all 56 distributions tried on the proof's own four points, one hypothesis "
    "is fair and better than the constants, so privacy is free.",
    witness="The hypothesis with values {values} on the proof's four points is fair, and better than the "
    "constants, on every distribution of the proof's kind with probabilities in steps of "
    "1/{denominator}.",
    kind="replaced",
    impact="conclusion",
    because="The paper concludes that privacy rules out exact fairness with accuracy for every class; on "
    "its own four points one hypothesis has all three.",
    shown_by="laws_one_serves",
    errata=(
        Erratum(
            where="Theorem 1, § 3",
            printed="for any H, no (ε, 0)-DP algorithm always outputs an h that is exactly fair and "
            "better than every constant",
            correct="on the distributions that have such an h, if all (x, a, y) occur and H is "
            "deterministic: none does, if and only if at least two h in H are not constant and select people "
            "of both groups",
            band="result",
            why="An algorithm that always outputs the same h is private, and one h can be fair and accurate "
            "on every distribution considered.",
            shown=SHOWN,
        ),
    ),
    check=check,
    faults=FAULTS,
)
