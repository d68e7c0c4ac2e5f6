"""CGKM, Algorithm 3: the costs that its oracle needs, what it adds up, and what its average is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.small_records import MEMBERS, data_sets, error, table_of, violation
from dpfair_lib.compat.fair_dynamics import no_regret_dynamics, printed_dynamics
from dpfair_lib.compat.subgroup_game import SubgroupGame, game_from_counts, optimum

SELECTIONS = tuple(
    (Fraction(a), Fraction(b)) for a, b in ((0, 1), (1, 0), (1, 1), (Fraction(1, 2), Fraction(1, 3)))
)
ROUNDS = 400
COIN_GAME = {"people": 400, "samples": 20, "dual_bound": 5.0, "scale": 0.5}
"""The game in which the printed play stays a coin's throw: half of the people in either of two cells."""


def check(
    *, game: Callable[..., SubgroupGame] = game_from_counts,
    dynamics: Callable[..., np.ndarray] = no_regret_dynamics, search: Search,
) -> Evidence:  # fmt: skip
    """Judge the costs against the payoff's definition, the printed sums, and the game that ours solves."""
    _payoffs(game, search)
    _printed_sums(search)
    _equilibrium(dynamics, search)
    return search.evidence()


def _payoffs(game: Callable[..., SubgroupGame], search: Search) -> None:
    """U(h, λ) record by record, by Definition 8, is the linear form that the oracle minimises."""
    search.part("payoffs")
    for n in range(1, 5):
        for records in data_sets(n):
            found = game(table_of(records), MEMBERS)
            for selected in SELECTIONS:
                h, case = np.array(selected), {"records": records, "selected": selected}
                defined = error(records, selected), violation(records, selected)
                search.equal(found.errors(h), defined[0], case)
                search.equal(found.violations(h)[0], defined[1], case)
                payoff = found.base + h @ found.costs(np.array([Fraction(-3)]))
                search.equal(payoff, defined[0] - 3 * defined[1], case)
    search.exhausts(
        "all data sets of at most four records in two cells, in or out of one subgroup, with two labels, and four "
        "classifiers",
        cases=3 * len(SELECTIONS) * sum(math.comb(n + 7, 7) for n in range(1, 5)),
    )


def _printed_sums(search: Search) -> None:
    """The sum of the plays is no distribution, and the costs of the summed weights are not the summed costs."""
    search.part("sums")
    for rounds in range(2, 6):
        search.against(mass_slack(rounds), {"rounds": rounds}, verify=mass_slack)
    played = game_from_counts(table_of(((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 1))), MEMBERS)
    for signs in itertools.product((-1, 0, 1), repeat=3):
        weights = [np.array([Fraction(10 * sign)]) for sign in signs]
        left_out = sum(played.costs(weight) for weight in weights) - played.costs(np.sum(weights, axis=0))
        # ours adds the losses of all rounds: what the printed costs leave out is the error of all rounds but one
        search.equal(max(abs(left_out - (len(signs) - 1) * played.error)), Fraction(0), {"signs": signs})


def mass_slack(rounds: int) -> int:
    """Return minus the distance from 1 of the mass of ĥ = Σĥᵗ, each ĥᵗ of mass 1."""
    return -abs(sum(1 for _ in range(rounds)) - 1)


def gap(game: SubgroupGame, selected: np.ndarray, bound: float) -> float:
    """Return by how much the auditor's best answer makes a classifier worse than the value of the game."""
    rows = np.concatenate([game.violation, -game.violation])
    reached = game.errors(selected) + bound * abs(game.violations(selected)).max()
    # the value: least error plus C times the largest violation, a linear program with one more variable
    from scipy.optimize import linprog

    objective = np.append(game.error, bound)
    limits = np.hstack([rows, -np.ones((len(rows), 1))])
    value = linprog(
        objective,
        A_ub=limits,
        b_ub=np.zeros(len(rows)),
        bounds=[(0, 1)] * len(game.error) + [(0, None)],
        method="highs",
    )
    return float(reached - game.base - value.fun)


def _equilibrium(dynamics: Callable[..., np.ndarray], search: Search) -> None:
    """Losses added with their errors lead close to the value; the printed costs stay a coin's throw away from it."""
    search.part("equilibrium")
    members = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    worst = 0.0
    for _ in range(6):
        counts = search.rng.integers(0, 60, size=(4, 3, 2)).astype(float)
        game = game_from_counts(counts, members)
        found = dynamics(game, rounds=ROUNDS, samples=50, dual_bound=5.0, tolerance=0.0, rng=search.rng)
        off = gap(game, found, 5.0)
        search.observe(off, {"counts": counts, "claim": "no better than the value"}, tolerance=1e-9)
        search.observe(0.06 - off, {"counts": counts, "claim": "close to the value"})
        worst = max(worst, off)
    search.fact("largest distance from the value, 400 rounds", round(worst, 4))
    # two cells, alike for the subgroup: one all negative, one all positive
    people, samples, bound, scale = COIN_GAME.values()
    sizes = np.array([people / 2] * 2)
    counts = np.zeros((2, 2, 2))
    counts[0, :, 0] = counts[1, :, 1] = people / 4
    game = game_from_counts(counts, np.array([[1.0], [0.0]]))
    best = optimum(game, 0.0)
    search.equal(float(game.errors(best)), 0.0, {"claim": "a fair classifier without error"}, tolerance=1e-12)
    plays = printed_dynamics(
        game, sizes, rounds=ROUNDS, samples=int(samples), dual_bound=bound, scale=scale, rng=search.rng
    )
    ours = dynamics(game, rounds=ROUNDS, samples=50, dual_bound=bound, tolerance=0.0, rng=search.rng)
    search.fact("error in the first and in the second half, printed", [
        round(float(game.errors(part.mean(axis=0))), 2) for part in np.split(plays, 2)
    ])  # fmt: skip
    search.fact("error where none is needed, ours", round(float(game.errors(ours)), 4))
    search.observe(
        0.06 - float(game.errors(ours)), {"claim": "a fair classifier without error is approached"}
    )


def _half_of_everyone(counts: np.ndarray, members: np.ndarray, n: Any = None) -> SubgroupGame:
    fair = game_from_counts(counts, members, n)
    return SubgroupGame(fair.base, fair.error, 0 * fair.violation + fair.error)


def _errors_once(game: SubgroupGame, *, rounds: int, **chosen: Any) -> np.ndarray:
    """The error counted in one round only, as in LC of the summed weights."""
    once = SubgroupGame(game.base, game.error / rounds, game.violation)
    return no_regret_dynamics(once, rounds=rounds, **chosen)


FAULTS: dict[str, dict[str, Any]] = {
    "the error in the place of the violation": {"game": _half_of_everyone},
    "signs of the violation exchanged": {
        "game": lambda *counted: SubgroupGame(
            *(lambda g: (g.base, g.error, -g.violation))(game_from_counts(*counted))
        )
    },
    "the error counted once": {"dynamics": _errors_once},
    "fairness left to itself": {
        "dynamics": lambda game, *, dual_bound, **chosen: no_regret_dynamics(
            game, dual_bound=dual_bound / 1e6, **chosen
        )
    },
    "the sum instead of the average": {
        "dynamics": lambda game, *, rounds, **chosen: (
            rounds * no_regret_dynamics(game, rounds=rounds, **chosen)
        )
    },
}


CLAIM = Claim(
    id="cgkm.alg-3",
    where="Algorithm 3, Appendix C.2",
    statement="Private-FairNR, T rounds: ĥᵗ is the empirical law of m best responses to LC(Σλ) + "
    "Lap(1/ε′) noise, ε′ = nε/((2 + C)√(mT ln(1/δ))); the auditor best-responds; draws from "
    "ĥ = Σĥᵗ (no 1/T in print) are released.",
    statement_uses=("cgkm.alg-2",),
    verdict="corrected",
    finding="The payoff is linear and the oracle's costs are right; but LC(Σλ) counts the error once in all "
    "rounds, Σĥᵗ lacks 1/T, and T, m need not be whole. With the losses of all rounds added and the average "
    "taken, the play comes close to the value of the game.",
    chapter="cgkm-fairnr",
    errata=(
        Erratum(
            where="Algorithm 3, the line before the output",
            printed="the average distribution ĥ = Σₜ ĥᵗ",
            correct="ĥ = (1/T) Σₜ ĥᵗ; how many draws are released is not said",
        ),
        Erratum(
            where="Algorithm 3, the oracle's call",
            printed="LC(λ̄) of the summed plays λ̄ of the auditor, in which the error counts once",
            correct="the sum over the rounds of LC(λʳ), in which the error counts t − 1 times",
        ),
    ),
    check=check,
    faults=FAULTS,
)
