"""CGKM, proof of Theorem 3: what Private-FairNR reads beside its FTPL*, what that leaks, and a repair."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.cgkm.fairnr_privacy_draws import judge_counts, judge_rounds
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.small_records import (
    MEMBERS,
    RECORDS,
    data_sets,
    loss_change,
    table_of,
)
from dpfair_lib.compat.fair_dynamics import (
    RoundNoise,
    best_response,
    loss_sensitivity,
    no_regret_dynamics,
    printed_scale,
    rho_for,
    round_noise,
)
from dpfair_lib.compat.no_regret import noisy_counts
from dpfair_lib.compat.printed_leaks import MEMBERS as FLIP_MEMBERS
from dpfair_lib.compat.printed_leaks import feature_leak, flip_counts, flip_law
from dpfair_lib.compat.subgroup_game import SubgroupGame, game_from_counts
from dpfair_lib.privacy import zcdp_delta
from dpfair_lib.privacy.finite_laws import hockey_stick, smallest_epsilon

BOUND = 10  # the dual bound C
CLASSIFIERS = np.array(list(itertools.product((0.0, 1.0), repeat=2)))
RECORD_ROWS = np.array(RECORDS)
FLIP = {"size": 1, "rounds": 20}
PROMISED = {"epsilon": 1.0, "delta": 1e-6}


def check(
    *, game: Callable[..., SubgroupGame] = game_from_counts,
    vector_bound: Callable[..., float] = loss_sensitivity, budget: Callable[..., RoundNoise] = round_noise,
    rho: Callable[..., float] = rho_for, leak: Callable[..., float] = feature_leak,
    law: Callable[..., np.ndarray] = flip_law, counts: Callable[..., np.ndarray] = noisy_counts,
    dynamics: Callable[..., np.ndarray] = no_regret_dynamics, search: Search,
) -> Evidence:  # fmt: skip
    """Judge the printed sensitivity and privacy on exact pairs of neighbours, and defend the repair's."""
    _sensitivities(game, vector_bound, search)
    _many_records(game, vector_bound, search)
    _auditor(search)
    _features(leak, search)
    _output(law, search)
    _repair(budget, rho, search)
    judge_counts(counts, search)
    judge_rounds(dynamics, search)
    return search.evidence()


def _sensitivities(
    game: Callable[..., SubgroupGame], vector_bound: Callable[..., float], search: Search
) -> None:
    """All neighbouring pairs of at most four records: violations move by at most 1/n, losses by what we say.

    Shares of at most four negatives are multiples of 1/12, so that 12n times everything is a whole number.
    """
    search.part("small neighbours")
    members = MEMBERS.astype(float)
    one, two = np.triu_indices(len(RECORDS), 1)
    inside, label = (np.array([record[at] for record in RECORDS]) for at in (1, 2))
    largest: tuple[int, Any] = (0, None)
    for size in range(4):
        n, unit = size + 1, 12 * (size + 1)
        allowed = math.floor(Fraction(vector_bound(BOUND, n)) ** 2 * unit**2)
        for rest in data_sets(size):
            case = {"rest": rest, "first": RECORD_ROWS[one], "second": RECORD_ROWS[two]}
            played = [game(table_of((*rest, record)).astype(float), members) for record in RECORDS]
            found = _whole([each.violations(CLASSIFIERS)[:, 0] for each in played], unit, case, search)
            negatives = sum(y == 0 for _, _, y in rest)
            # n times the change is at most N/(N + 1), N being the other negatives
            moved = abs(found[one] - found[two]).max(axis=1)
            search.observe(12 * negatives - (negatives + 1) * moved, case)
            for weight in (BOUND, -BOUND):
                costs = _whole([each.costs(np.array([weight])) for each in played], unit, case, search)
                search.observe(
                    allowed - ((costs[one] - costs[two]) ** 2).sum(axis=1), case | {"weight": weight}
                )
                # the newcomer's share of the costs, and that of each other negative
                among = sum(group for _, group, y in rest if y == 0) + inside * (label == 0)
                share = 12 * among // np.maximum(negatives + (label == 0), 1)
                own = 12 * (1 - 2 * label) + weight * (share - 12 * inside) * (label == 0)
                change = abs(own[one] - own[two]) + negatives * BOUND * abs(share[one] - share[two])
                search.observe(12 * (2 + 2 * BOUND) - change, case | {"weight": weight})
                at = int(np.argmax(change))
                if change[at] > largest[0]:
                    largest = int(change[at]), (rest, RECORDS[one[at]], RECORDS[two[at]], Fraction(weight))
    search.exhausts(
        "all pairs of data sets of at most four records that differ in one: two cells, in or out of one subgroup, two "
        "labels; all classifiers on the two cells; both signs of the auditor's weight",
        cases=2 * 28 * sum(math.comb(size + 7, 7) for size in range(4)),
    )
    by_definition = loss_change(*largest[1]) * (len(largest[1][0]) + 1)
    search.equal(by_definition, Fraction(largest[0], 12), {"pair": largest[1]})
    search.agree(by_definition > 2 + BOUND, True, {"pair": largest[1]})
    search.fact("largest change of the loss vector found, times n", float(by_definition))
    search.fact("printed (2 + C), at C = 10", 2 + BOUND)


def _many_records(
    game: Callable[..., SubgroupGame], vector_bound: Callable[..., float], search: Search
) -> None:
    """Many negatives in the second cell, none in the subgroup; the record that is replaced lives in the first.

    A positive in the subgroup becomes a negative. Its cell's cost moves by 2 and by C times nearly 1, the other cell's
    by C times nearly 1: together by nearly √((2 + C)² + C²), which four records are too few to show.
    """
    search.part("many neighbours")
    for others, bound in itertools.product((10, 1000), (1, BOUND, 40)):
        n = others + 1
        tables = [table_of(()) for _ in range(2)]
        for table, label in zip(tables, (1, 0), strict=True):
            table[1, 0, 0], table[0, 1, label] = Fraction(others), Fraction(1)
        one, two = (game(table, MEMBERS).costs(np.array([Fraction(-bound)])) for table in tables)
        moved = sum(((one - two) * n) ** 2)
        case = {"others": others, "bound": bound}
        far = Fraction(others, n) * bound
        search.equal(moved, (2 + far) ** 2 + far**2, case)
        search.observe((Fraction(vector_bound(bound, n)) * n) ** 2 - moved, case)


def _whole(values: Any, unit: int, case: Any, search: Search) -> np.ndarray:
    """Return values as multiples of 1/unit, after seeing that they are."""
    scaled = np.array(values, dtype=float) * unit
    search.sanity(
        1e-9 - float(abs(scaled - np.rint(scaled)).max()), {"rest": case["rest"], "claim": "multiples"}
    )
    return np.rint(scaled).astype(np.int64)


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
        "change of the loss vector with the auditor's answer, by number of records", ", ".join(changes)
    )


def _features(leak: Callable[..., float], search: Search) -> None:
    """A record alone in its cell: the printed promise fails at every T and m, in fractions."""
    search.part("features")
    for epsilon, delta, rounds, samples in itertools.product(
        (0.1, 1.0), (1e-9, 1e-2), (1, 20, 10**6), (1, 10**4)
    ):
        chosen = {"delta": delta, "dual_bound": 10.0, "rounds": rounds, "samples": samples}
        case = chosen | {"epsilon": epsilon}
        found = leak(epsilon, **chosen)
        n = 50
        scale = printed_scale(epsilon, delta, n, dual_bound=10.0, rounds=rounds, samples=samples)
        # P(Lap < 1/n), the integral of the density from 0 by the midpoint rule
        steps = (np.arange(2000) + 0.5) / 2000 / n
        search.equal(found, 0.5 + np.exp(-steps / scale).mean() / (2 * scale * n), case, tolerance=1e-9)
        search.observe(found - 0.5, case)
        search.against(
            feature_slack(delta, 1001), {"delta": delta, "classifiers": 1001}, verify=feature_slack
        )


def feature_slack(delta: float, classifiers: int) -> Fraction:
    """Return δ less a lower bound on the real δ at ε = 1, for one classifier per cell and a record alone in one.

    All other people live outside these cells, where every classifier rejects, so that their costs decide nothing. The
    cell's classifier is chosen with probability p > ½ where the record is. On the neighbour, whose record lies in
    another cell, all but that cell's classifier are equal, and however ties are broken, one of the others is chosen
    with probability at most (1 − p)/(k − 1) < ½/(k − 1). And e < 3.
    """
    return Fraction(delta) - Fraction(1, 2) * (1 - Fraction(3, classifiers - 1))


def _output(law: Callable[..., np.ndarray], search: Search) -> None:
    """The exact law of the printed output where features are the same and one label differs."""
    search.part("output")
    for size, rounds in ((1, 3), (2, 6)):
        for neighbour in (False, True):
            found = law(size, neighbour=neighbour, dual_bound=BOUND, rounds=rounds, **PROMISED)
            by_paths = paths_law(size, neighbour, rounds)
            for played in range(rounds + 1):
                case = {"size": size, "neighbour": neighbour, "rounds": rounds, "played": played}
                search.equal(float(found[played]), float(by_paths[played]), case, tolerance=1e-7)
    size, chosen = FLIP["size"], {"dual_bound": BOUND, **PROMISED}
    one, two = (law(size, neighbour=which, rounds=6, **chosen) for which in (False, True))
    excess = PROMISED["delta"] - float(hockey_stick(one, two, math.e))
    search.against(excess, {"rounds": 6}, verify=output_slack, tolerance=1e-6)
    one, two = (law(size, neighbour=which, rounds=FLIP["rounds"], **chosen) for which in (False, True))
    search.fact("real δ at ε = 1", float(hockey_stick(one, two, math.e)))
    search.fact("real ε at δ = 10⁻⁶", max(smallest_epsilon(one, two, 1e-6), smallest_epsilon(two, one, 1e-6)))
    # whoever sees a single draw from the mixture sees classifier 2 with these chances
    here, there = (float(plays @ np.arange(len(plays))) / FLIP["rounds"] for plays in (one, two))
    first, second = np.array([1 - here, here]), np.array([1 - there, there])
    single = max(float(hockey_stick(first, second, math.e)), float(hockey_stick(second, first, math.e)))
    search.observe(single - 10**4 * PROMISED["delta"], {"claim": "one draw alone breaks the promise by far"})
    search.fact("real δ at ε = 1 of one draw", round(single, 3))
    search.fact("records, rounds of that pair", (600 * FLIP["size"], FLIP["rounds"]))


def output_slack(rounds: int) -> float:
    """Return δ less the real δ at ε = 1, by all paths of so few rounds and by numerical integration."""
    one, two = (paths_law(FLIP["size"], neighbour, rounds) for neighbour in (False, True))
    return PROMISED["delta"] - float(hockey_stick(one, two, math.e))


def paths_law(size: int, neighbour: bool, rounds: int) -> np.ndarray:
    """Return the law of how often classifier 2 is played, over all 2ᵀ paths, record by record in the sums."""
    counts = flip_counts(size, neighbour=neighbour)[:, :, 0].astype(float)  # negatives by cell and profile
    n, inside = 600.0 * size, FLIP_MEMBERS.T @ counts.T
    shares = inside.sum(axis=1) / counts.sum()
    table = (shares[:, None] * counts.sum(axis=1) - inside)[:, :2] / n  # subgroups × classifiers
    scale = (2 + BOUND) * math.sqrt(rounds * math.log(1 / PROMISED["delta"])) / (n * PROMISED["epsilon"])
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
            weights[worst] += BOUND * np.sign(table[worst, play])
        law[sum(path)] += chance
    return law


def _below(count: int, x: float) -> float:
    """P(S < x) for a sum of Laplace variables of scale 1, by inverting its characteristic function (1 + t²)^(−k)."""
    t = (np.arange(4000) + 0.5) * 5e-4 * 12 / math.sqrt(count / 40)
    step = t[1] - t[0]
    return 0.5 + float((np.sin(t * x) / t * (1 + t * t) ** (-float(count))).sum() * step / math.pi)


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


def _counts_as_they_are(counts: np.ndarray, *_: Any, **__: Any) -> np.ndarray:
    return counts.copy()


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
    "the printed (2 + C)/n": {"vector_bound": lambda bound, n: (2 + bound) / n},
    "the error moved by √2 only": {"vector_bound": lambda bound, n: math.sqrt(2) * (1 + bound) / n},
    "rounds forgotten": {"budget": _rounds_forgotten},
    "ρ from ε²/2 without a conversion": {"rho": lambda epsilon, delta: epsilon**2 / 2 + 0 * delta},
    "counts not noised": {"counts": _counts_as_they_are},
    "counts noised for one record added": {
        "counts": lambda counts, rho, **chosen: noisy_counts(counts, 2 * rho, **chosen)
    },
    "auditor not noised": {"dynamics": _with_noise(audit_scale=1e-12)},
    "auditor's noise halved": {"dynamics": _with_noise(audit_scale=0.5)},
    "auditor's noise a fifth too small": {"dynamics": _with_noise(audit_scale=0.8)},
    "losses not noised": {"dynamics": _with_noise(sigma=1e-12)},
    "losses' noise a tenth too small": {"dynamics": _with_noise(sigma=0.9)},
    "the tail halved": {"leak": lambda epsilon, **chosen: 1 - (1 - feature_leak(epsilon, **chosen)) / 2},
    "the two data sets exchanged": {
        "law": lambda size, *, neighbour, **chosen: flip_law(size, neighbour=not neighbour, **chosen)
    },
    "noise on one of the rounds only": {
        "law": lambda size, *, rounds, neighbour, epsilon, **chosen: flip_law(
            size, neighbour=neighbour, rounds=rounds, epsilon=epsilon * math.sqrt(rounds), **chosen
        )
    },
}


CLAIM = Claim(
    id="cgkm.fairnr-privacy",
    where="Theorem 3, proof, Appendix C.2",
    statement="Private-FairNR touches the data only through its FTPL* subroutine, and is therefore (ε, "
    "δ)-DP as a whole.",
    statement_uses=("cgkm.alg-3",),
    proof_uses=("cgkm.lemma-4", "cgkm.post-processing"),
    verdict="corrected",
    finding="The auditor reads the data and the oracle the features, both without noise: one record's features "
    "show with δ close to ½ at the printed T and m; at T = 20 and m = 1, one changed label turns ε = 1, δ = 10⁻⁶ "
    "into ε = 43 for the mixture ĥ, and into δ = 0.036 at ε = 1 for one draw of it. Private: counts noised once, "
    "or the loss and the auditor's choice of each round.",
    chapter="cgkm-fairnr",
    check=check,
    faults=FAULTS,
)
