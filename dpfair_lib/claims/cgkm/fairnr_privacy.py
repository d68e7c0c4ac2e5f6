"""CGKM, proof of Theorem 3: what Private-FairNR reads in addition to its FTPL*, what that leaks, and a repair."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.cgkm.fairnr_privacy_records import BOUND, judge_many, judge_small
from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.round_draws import judge_counts, judge_losses, judge_rounds
from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import (
    RoundNoise,
    best_response,
    loss_sensitivity,
    no_regret_dynamics,
    printed_scale,
    rho_for,
    round_noise,
)
from dpfair_lib.compatibility.subgroup_fairness.no_regret import noisy_counts
from dpfair_lib.compatibility.subgroup_fairness.printed_leaks import MEMBERS as FLIP_MEMBERS
from dpfair_lib.compatibility.subgroup_fairness.printed_leaks import feature_leak, flip_counts, flip_law
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import SubgroupGame, game_from_counts
from dpfair_lib.privacy import zcdp_delta
from dpfair_lib.privacy.finite_laws import hockey_stick, smallest_epsilon

FLIP = {"size": 1, "rounds": 20}
PROMISED = {"epsilon": 1.0, "delta": 1e-6}
PLAYS = tuple(
    {"dual_bound": bound, "epsilon": epsilon, "delta": delta}
    for bound, epsilon, delta in ((10.0, 1.0, 1e-6), (1.0, 1.0, 1e-6), (10.0, 0.3, 1e-6), (10.0, 1.0, 1e-2))
)
STEPS = (np.arange(2000) + 0.5) / 2000  # the middles of small steps from 0 to 1


def check(
    *, game: Callable[..., SubgroupGame] = game_from_counts,
    vector_bound: Callable[..., float] = loss_sensitivity, budget: Callable[..., RoundNoise] = round_noise,
    rho: Callable[..., float] = rho_for, leak: Callable[..., float] = feature_leak,
    law: Callable[..., np.ndarray] = flip_law, counts: Callable[..., np.ndarray] = noisy_counts,
    dynamics: Callable[..., np.ndarray] = no_regret_dynamics, search: Search,
) -> Evidence:  # fmt: skip
    """Judge the printed sensitivity and privacy on exact pairs of neighbours, and defend the repair's."""
    judge_rounds(dynamics, search)  # first, so that its seed is the same whatever else is examined
    judge_small(game, vector_bound, search)
    judge_many(game, vector_bound, search)
    _auditor(search)
    _features(leak, search)
    _output(law, search)
    _repair(budget, rho, search)
    judge_counts(counts, search)
    judge_losses(dynamics, (RoundNoise(sigma=1e-6, audit_scale=1e-6, rho=1.0),), search)
    return search.evidence()


@once
def _auditor(search: Search) -> None:
    """One label decides which subgroup the auditor names, and the learner's loss vector moves by a constant."""
    search.part("auditor")
    changes = []
    for size in (1, 10, 100):
        answers, vectors = [], []
        for neighbour in (False, True):
            counts = flip_counts(size, neighbour=neighbour)
            exact = np.vectorize(Fraction, otypes=[object])(counts)
            both = game_from_counts(exact, np.vectorize(Fraction, otypes=[object])(FLIP_MEMBERS))
            at, sign = best_response(both, np.array([Fraction(1), Fraction(0), Fraction(0)]))
            answers.append(at)
            vectors.append(sign * both.violation[at])
        search.agree(answers[0] != answers[1], True, {"size": size})
        changes.append(f"{600 * size}: {float(BOUND * abs(vectors[0] - vectors[1]).sum()):.4f}")
    search.fact(
        "auditor_change",
        ", ".join(changes),
        "change of the loss vector with the auditor's answer, by number of records",
    )


@once
def _features(leak: Callable[..., float], search: Search) -> None:
    """A record alone in its cell: the printed promise fails at every T and m, in fractions."""
    search.part("features")
    for epsilon, delta, rounds, samples, bound in itertools.product(
        (0.1, 1.0), (1e-9, 1e-2), (1, 20, 10**6), (1, 10**4), (1.0, 10.0, 40.0)
    ):
        chosen: dict[str, Any] = {
            "delta": delta, "dual_bound": bound, "rounds": rounds, "samples": samples
        }  # fmt: skip
        case = chosen | {"epsilon": epsilon}
        found = leak(epsilon, **chosen)
        n = 50
        scale = printed_scale(epsilon, n=n, **chosen)
        # P(0 < Lap < 1/n), the integral of the density by the midpoint rule
        above = np.exp(-STEPS / (n * scale)).mean() / (2 * scale * n)
        search.equal((found - 0.5) / above, 1.0, case, tolerance=1e-6)
        search.observe(found - 0.5, case)
        search.against(
            feature_slack(delta, 1001), {"delta": delta, "classifiers": 1001}, verify=feature_slack
        )
    alone = Fraction(1, 100) - feature_slack(Fraction(1, 100), 1001)
    said = "δ at ε = 1 of a record that is alone in its cell, whatever T and m are"
    search.broken(said, measured=alone, stated=Fraction(1, 100), case={"classifiers": 1001})
    search.fact("delta_features", float(alone), said)


def feature_slack(delta: Any, classifiers: int) -> Fraction:
    """Return δ less a lower bound on the real δ at ε = 1, for one classifier per cell and a record alone in one.

    All other people live outside these cells, where every classifier rejects, so that their costs decide nothing. The
    cell's classifier is chosen with probability p > ½ where the record is. On the neighbour, whose record lies in
    another cell, all but that cell's classifier are equal, and however ties are broken, one of the others is chosen
    with probability at most (1 − p)/(k − 1) < ½/(k − 1). And e < 3.
    """
    return Fraction(delta) - Fraction(1, 2) * (1 - Fraction(3, classifiers - 1))


@once
def _output(law: Callable[..., np.ndarray], search: Search) -> None:
    """The exact law of the printed output where features are the same and one label differs."""
    search.part("output")
    for (size, rounds), neighbour, chosen in itertools.product(((1, 3), (2, 6)), (False, True), PLAYS):
        found = _found(law, size, neighbour, rounds, **chosen)
        by_paths = paths_law(size, neighbour, rounds, **chosen)
        case = {"size": size, "neighbour": neighbour, "rounds": rounds, **chosen}
        search.observe(-abs(found - by_paths), case | {"played": np.arange(rounds + 1)}, tolerance=1e-7)
    size, chosen = FLIP["size"], {"dual_bound": BOUND, **PROMISED}
    one, two = (_found(law, size, which, 6, **chosen) for which in (False, True))
    excess = PROMISED["delta"] - float(hockey_stick(one, two, math.e))
    search.against(excess, {"rounds": 6}, verify=output_slack, tolerance=1e-6)
    one, two = (_found(law, size, which, FLIP["rounds"], **chosen) for which in (False, True))
    said, measured = "real δ at ε = 1 of the mixture ĥ, T = 20, m = 1", float(hockey_stick(one, two, math.e))
    search.fact("delta_mixture", measured, said)
    search.broken(said, measured=measured - 1e-6, stated=PROMISED["delta"], case=FLIP)
    largest = max(smallest_epsilon(one, two, 1e-6), smallest_epsilon(two, one, 1e-6))
    search.fact("epsilon_mixture", largest, "real ε at δ = 10⁻⁶")
    # a single draw from the mixture is classifier 2 with these probabilities
    here, there = (float(plays @ np.arange(len(plays))) / FLIP["rounds"] for plays in (one, two))
    first, second = np.array([1 - here, here]), np.array([1 - there, there])
    single = max(float(hockey_stick(first, second, math.e)), float(hockey_stick(second, first, math.e)))
    search.observe(single - 10**4 * PROMISED["delta"], {"claim": "one draw alone breaks the promise by far"})
    search.fact("delta_one_draw", round(single, 3), "real δ at ε = 1 of one draw")
    search.fact("records_and_rounds", (600 * FLIP["size"], FLIP["rounds"]), "records and rounds of that pair")


@functools.cache
def _found(
    law: Callable[..., np.ndarray], size: int, neighbour: bool, rounds: int, **chosen: float
) -> np.ndarray:
    return law(size, neighbour=neighbour, rounds=rounds, **chosen)


def output_slack(rounds: int) -> float:
    """Return δ less the real δ at ε = 1, by all paths of so few rounds and by numerical integration."""
    one, two = (
        paths_law(FLIP["size"], neighbour, rounds, dual_bound=BOUND, **PROMISED)
        for neighbour in (False, True)
    )
    return PROMISED["delta"] - float(hockey_stick(one, two, math.e))


@functools.cache
def paths_law(
    size: int, neighbour: bool, rounds: int, *, dual_bound: float, epsilon: float, delta: float
) -> np.ndarray:
    """Return the law of how often classifier 2 is played, over all 2ᵀ paths, record by record in the sums."""
    counts = flip_counts(size, neighbour=neighbour)[:, :, 0].astype(float)  # negatives by cell and profile
    n, inside = 600.0 * size, FLIP_MEMBERS.T @ counts.T
    shares = inside.sum(axis=1) / counts.sum()
    table = (shares[:, None] * counts.sum(axis=1) - inside)[:, :2] / n  # subgroups × classifiers
    scale = (2 + dual_bound) * math.sqrt(rounds * math.log(1 / delta)) / (n * epsilon)
    law = np.zeros(rounds + 1)
    tails: dict[float, float] = {}
    for path in itertools.product((0, 1), repeat=rounds):
        weights, chance = np.zeros(2), 1.0
        for play in path:
            gap = float((weights @ table)[0] - (weights @ table)[1]) / scale
            if gap not in tails:
                tails[gap] = _below(200 * size, gap)
            chance *= tails[gap] if play else 1 - tails[gap]
            worst = int(np.argmax(abs(table[:, play])))
            weights[worst] += dual_bound * np.sign(table[worst, play])
        law[sum(path)] += chance
    return law


def _below(count: int, x: float) -> float:
    """P(S < x) for a sum of Laplace variables of scale 1, by inverting its characteristic function (1 + t²)^(−k)."""
    t = (np.arange(4000) + 0.5) * 5e-4 * 12 / math.sqrt(count / 40)
    step = t[1] - t[0]
    return 0.5 + float((np.sin(t * x) / t * (1 + t * t) ** (-float(count))).sum() * step / math.pi)


@once
def _repair(budget: Callable[..., RoundNoise], rho: Callable[..., float], search: Search) -> None:
    """The noise of the repaired rounds, added up from first principles, stays within what is promised."""
    search.part("repair")
    for epsilon, delta, n, rounds, bound in itertools.product(
        (0.1, 1.0, 5.0), (1e-9, 1e-5), (100, 45222), (1, 1000), (1.0, 40.0)
    ):
        case = {"epsilon": epsilon, "delta": delta, "n": n, "rounds": rounds, "bound": bound}
        noise = budget(epsilon, delta, n, rounds=rounds, dual_bound=bound)
        moved = max(math.sqrt(2) * (1 + bound), 2 + math.sqrt(2) * bound) / n
        spent = rounds * ((moved / noise.sigma) ** 2 + (2 / (n * noise.audit_scale)) ** 2) / 2
        search.equal(noise.rho / spent, 1.0, case, tolerance=1e-9)
        search.observe(1 - zcdp_delta(spent, epsilon) / delta, case, tolerance=1e-7)
        largest = rho(epsilon, delta)
        search.observe(1 - zcdp_delta(largest, epsilon) / delta, case, tolerance=1e-12)
        search.observe(zcdp_delta(largest * (1 + 1e-6), epsilon) / delta - 1, case)


def _over_everyone(counts: np.ndarray, members: np.ndarray, n: Any = None) -> SubgroupGame:
    """A(g)·FP(h, g) with the subgroup's share among all people instead of among the negatives."""
    fair = game_from_counts(counts, members, n)
    share = (members.T @ counts.sum(axis=2).T).sum(axis=1) / counts.sum()
    negatives = counts[:, :, 0]
    violation = (share[:, np.newaxis] * negatives.sum(axis=1) - members.T @ negatives.T) / counts.sum()
    return SubgroupGame(fair.base, fair.error, violation)


def _rounds_forgotten(epsilon: float, delta: float, n: int, *, rounds: int, dual_bound: float) -> RoundNoise:
    return round_noise(epsilon, delta, n, rounds=1 + 0 * rounds, dual_bound=dual_bound)


def _first_subgroup_for_all(counts: np.ndarray, members: np.ndarray, n: Any = None) -> SubgroupGame:
    return game_from_counts(counts, np.repeat(members[:, :1], members.shape[1], axis=1), n)


def _counts_as_they_are(counts: np.ndarray, *_: Any, **__: Any) -> np.ndarray:
    return counts.copy()


def _one_noise_for_all(
    counts: np.ndarray, rho: float, *, rng: np.random.Generator, **chosen: Any
) -> np.ndarray:
    return counts + noisy_counts(np.zeros((1, 1, 2)), rho, rng=rng, **chosen)[0, 0, 0]


def _with_noise(**changes: float) -> Callable[..., np.ndarray]:
    """The dynamics with other noise than asked for, as factors."""

    def dynamics(game: SubgroupGame, *, private: RoundNoise, **chosen: Any) -> np.ndarray:
        scaled = {name: factor * getattr(private, name) for name, factor in changes.items()}
        return no_regret_dynamics(game, private=replace(private, **scaled), **chosen)

    return dynamics


FAULTS: dict[str, dict[str, Any]] = {
    "a subgroup's share taken among all people": {"game": _over_everyone},
    "false-positive rates not weighted by the subgroup's size": {
        "game": lambda counts, members, n=None: SubgroupGame(
            *(lambda g: (g.base, g.error, 2 * g.violation))(game_from_counts(counts, members, n))
        )
    },
    "divided by the counts' sum whatever n is": {
        "game": lambda counts, members, n=None: game_from_counts(counts, members, n and None)
    },
    "the first subgroup in the place of all": {"game": _first_subgroup_for_all},
    "the printed (2 + C)/n": {"vector_bound": lambda bound, n: (2 + bound) / n},
    "the error moved by √2 only": {"vector_bound": lambda bound, n: math.sqrt(2) * (1 + bound) / n},
    "rounds forgotten": {"budget": _rounds_forgotten},
    "ρ from ε²/2 without a conversion": {"rho": lambda epsilon, delta: epsilon**2 / 2 + 0 * delta},
    "counts not noised": {"counts": _counts_as_they_are},
    "counts noised for one record added": {
        "counts": lambda counts, rho, **chosen: noisy_counts(counts, 2 * rho, **chosen)
    },
    "noise in proportion to the counts": {
        "counts": lambda counts, rho, **chosen: (
            counts * noisy_counts(np.ones(counts.shape), rho * counts.mean() ** 2 + rho, **chosen)
        )
    },
    "one noise for all counts": {"counts": _one_noise_for_all},
    "noisy counts cut off at 0": {
        "counts": lambda counts, rho, **chosen: np.maximum(noisy_counts(counts, rho, **chosen), 0)
    },
    "auditor not noised": {"dynamics": _with_noise(audit_scale=1e-12)},
    "auditor's noise halved": {"dynamics": _with_noise(audit_scale=0.5)},
    "auditor's noise a fifth too small": {"dynamics": _with_noise(audit_scale=0.8)},
    "losses not noised": {"dynamics": _with_noise(sigma=1e-12)},
    "losses' noise a tenth too small": {"dynamics": _with_noise(sigma=0.9)},
    "tolerance forgotten": {
        "dynamics": lambda game, *, tolerance, **chosen: no_regret_dynamics(
            game, tolerance=0 * tolerance, **chosen
        )
    },
    "tolerance doubled": {
        "dynamics": lambda game, *, tolerance, **chosen: no_regret_dynamics(
            game, tolerance=2 * tolerance, **chosen
        )
    },
    "C forgotten in the loss": {
        "dynamics": lambda game, *, dual_bound, **chosen: no_regret_dynamics(
            game, dual_bound=1 + 0 * dual_bound, **chosen
        )
    },
    "C and the tolerance exchanged": {
        "dynamics": lambda game, *, dual_bound, tolerance, **chosen: no_regret_dynamics(
            game, dual_bound=tolerance, tolerance=dual_bound, **chosen
        )
    },
    "C for 2 + C in the leak": {
        "leak": lambda epsilon, *, dual_bound, **chosen: feature_leak(
            epsilon, dual_bound=dual_bound - 2, **chosen
        )
    },
    "C forgotten in the leak": {
        "leak": lambda epsilon, *, dual_bound, **chosen: feature_leak(
            epsilon, dual_bound=10 + 0 * dual_bound, **chosen
        )
    },
    "the tail halved": {"leak": lambda epsilon, **chosen: 1 - (1 - feature_leak(epsilon, **chosen)) / 2},
    "the two data sets exchanged": {
        "law": lambda size, *, neighbour, **chosen: flip_law(size, neighbour=not neighbour, **chosen)
    },
    "noise on one of the rounds only": {
        "law": lambda size, *, rounds, neighbour, epsilon, **chosen: flip_law(
            size, neighbour=neighbour, rounds=rounds, epsilon=epsilon * math.sqrt(rounds), **chosen
        )
    },
    **{
        f"the law at one value of {name}": {
            "law": lambda size, name=name, value=value, **chosen: flip_law(size, **chosen | {name: value})
        }
        for name, value in PLAYS[0].items()
    },
    "the law at ε²": {"law": lambda size, *, epsilon, **chosen: flip_law(size, epsilon=epsilon**2, **chosen)},
    "the law at δ²": {"law": lambda size, *, delta, **chosen: flip_law(size, delta=delta**2, **chosen)},
}


SHOWN = """\
import numpy as np
rng, n, classifiers, draws, delta = np.random.default_rng(0), 50, 1001, 4000, 1e-2
noise_scale = 12 * np.sqrt(np.log(1 / delta)) / n  # as printed: epsilon = 1, C = 10, T = m = 1
def first_chosen(cell):
    cost = rng.random((draws, classifiers)) * 1e-9  # ties at cost 0 are broken at random
    cost[:, cell] += rng.laplace(scale=noise_scale, size=draws) - 1 / n  # a positive, alone in its cell
    return (cost.argmin(axis=1) == 0).mean()  # classifier j selects cell j alone
here, there = first_chosen(0), first_chosen(1)  # one record's features differ
assert here - np.e * there > 0.4 > delta
"""

CLAIM = Claim(
    id="cgkm.fairnr-privacy",
    where="Theorem 3, proof, Appendix C.2",
    statement="Private-FairNR touches the data only through its FTPL* subroutine, and is therefore (ε, "
    "δ)-DP as a whole.",
    statement_uses=("cgkm.alg-3",),
    proof_uses=("cgkm.lemma-4", "cgkm.post-processing"),
    verdict="corrected",
    finding="The auditor reads the data and the oracle the features, both without noise. One record's "
    "features show with δ close to ½ at the printed T and m. At T = 20 and m = 1, one changed label turns ε "
    "= 1, δ = 10⁻⁶ into ε = 43 for the mixture ĥ, and into δ = 0.036 at ε = 1 for one draw of it. Private: "
    "counts noised once, or the loss and the auditor's choice of each round.",
    chapter="cgkm-fairnr",
    headline="Not private: one changed label gives δ = 0.97 at ε = 1 where 10⁻⁶ is promised, after 20 "
    "rounds on 600 records.",
    witness="There are {classifiers} cells with one classifier each. One person is alone in a cell, and "
    "lives in another one in the neighbouring data set. The choice reveals this with more than δ = "
    "{delta} at ε = 1.",
    kind="guarantee-broken",
    impact="conclusion",
    because="The paper concludes that all of Private-FairNR is (ε, δ)-private; its auditor and its oracle "
    "read the records without noise.",
    shown_by="delta_mixture",
    errata=(
        Erratum(
            where="Theorem 3, proof, Appendix C.2",
            printed="the only step that interacts with the data is FTPL*, so that the whole is (ε, "
            "δ)-private",
            correct="the auditor reads the data and the oracle the features; private are counts noised "
            "once, or noise on the losses and on the auditor's choice in each round",
            band="result",
            why="Noise on the costs of the records present does not hide which cell a record is in.",
            shown=SHOWN,
        ),
    ),
    check=check,
    faults=FAULTS,
)
