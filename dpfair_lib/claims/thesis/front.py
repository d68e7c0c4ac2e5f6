"""Thesis § 5.5: the front of unfairness against error; zero unfairness comes before chance if k ≥ 3."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.local.exact_programs import in_floats
from dpfair_lib.local.optimal.certificate import lower_bound
from dpfair_lib.local.optimal.closed_forms import perfect_channel, perfect_truth, smallest_error
from dpfair_lib.local.optimal.fair_error import smallest_fair_error
from dpfair_lib.local.optimal.level_programs import by_levels
from dpfair_lib.local.optimal.program import Program, most_truthful
from dpfair_lib.local.optimal.search import optimal_randomizer
from dpfair_lib.local.truthful import binary_front

STEPS = 24


def check(
    *,
    front: Callable[..., np.ndarray] = binary_front,
    fairest: Callable[[Program], np.ndarray] = perfect_channel,
    truth: Callable[..., Any] = perfect_truth,
    least: Callable[..., float] = smallest_fair_error,
    search: Search,
) -> Evidence:
    """Judge the binary front against all small channels and a linear program, and zero unfairness for k ≥ 2."""
    _binary_front(front, search)
    _against_programs(front, search)
    _zero(fairest, truth, search)
    _from_which_budget(least, search)
    return search.evidence()


@once
def _binary_front(front: Any, search: Search) -> None:
    """Every channel of two groups on a grid, in fractions: none is as truthful and fairer."""
    truths = np.array(list(itertools.product(range(STEPS // 2, STEPS + 1), repeat=2)))
    shares, ratios = (1, 3, 5, 6, 9), (Fraction(1, 12), Fraction(1, 3), Fraction(2, 3))
    for share, x in itertools.product(shares, ratios):
        p = np.array([Fraction(share, 12), Fraction(12 - share, 12)], dtype=object)
        a, b = truths[private(truths, x)].T
        # Δ is (a + b − 1)/min P(Z = j) times a constant of the instance
        reports = share * a + (12 - share) * (STEPS - b)
        least = np.minimum(reports, 12 * STEPS - reports)
        hits = share * a + (12 - share) * b
        for error in sorted({1 - Fraction(int(hit), 12 * STEPS) for hit in hits}):
            case = {"p": p, "x": x, "error": error}
            channel = front(p, x, error)
            program = Program(p, np.array([Fraction(1, 4), Fraction(3, 4)], dtype=object), x, error)
            search.part("the binary front keeps its constraints")
            search.observe(-program.violation(channel), case)
            ours = (channel[0, 0] + channel[1, 1] - 1) / (p @ channel).min()
            search.part("no channel on the grid is below the binary front")
            allowed = hits >= 12 * STEPS * (1 - error)
            slack = 12 * (a + b - STEPS)[allowed] * ours.denominator - least[allowed] * ours.numerator
            search.observe(slack, {**case, "a": a[allowed], "b": b[allowed]})
            search.part("two groups: no unfairness only by chance")
            search.agree(ours == 0, error >= Fraction(1, 2), case)
    # given the first truth, the second is at most what the lies of the first leave to it, and conversely
    cases = sum(
        max(0, min(STEPS, (STEPS - a) // x, STEPS - math.ceil(x * a)) - STEPS // 2 + 1)
        for a, x in itertools.product(range(STEPS // 2, STEPS + 1), ratios)
    )
    search.exhausts(
        f"all private truthful channels of two groups with truths in {STEPS}ths", cases=len(shares) * cases
    )


def private(truths: np.ndarray, x: Fraction) -> np.ndarray:
    """Judge pairs of truth probabilities in whole steps: x·a ≤ 1 − b and x·b ≤ 1 − a."""
    a, b = truths.T
    up, down = x.numerator, x.denominator
    return (up * a <= down * (STEPS - b)) & (up * b <= down * (STEPS - a))


@once
def _against_programs(front: Any, search: Search) -> None:
    """Random instances of two groups: the front is what linear programs prove to be least."""
    search.part("the binary front is the least, by linear programs")
    for _ in range(6 * search.effort):
        share, x = Fraction(int(search.rng.integers(1, 40)), 40), Fraction(1, int(search.rng.integers(2, 30)))
        p = np.array([share, 1 - share], dtype=object)
        least = 1 - most_truthful(p, x)[0]
        error = least + (Fraction(1, 2) - least) * Fraction(int(search.rng.integers(0, 12)), 12)
        p1 = np.array(
            [Fraction(int(rate), 10) for rate in search.rng.choice(11, size=2, replace=False)], dtype=object
        )
        program = in_floats(Program(p, p1, x, error))
        ours = front(p, x, error).astype(float)
        start = np.array([[0.5, 0.5], [0.5, 0.5]]) if error >= Fraction(1, 2) else ours
        _, proof, _ = by_levels(program, start, newton=True, tol=1e-10, deadline=float("inf"))
        bound = 0.0 if proof is None else lower_bound(program, proof)
        search.equal(program.ratio(ours), bound, {"p": p, "p1": p1, "x": x, "error": error}, tolerance=1e-9)


@once
def _zero(fairest: Any, truth: Any, search: Search) -> None:
    """No unfairness at all, with every group truthful with probability 1/(2 + x·(k − 2)): chance only for k = 2."""
    rng, before = search.rng, Fraction(0)
    for _ in range(120 * search.effort):
        k = int(rng.integers(2, 7))
        shares = [Fraction(int(share)) for share in rng.integers(1, 40, size=k)]
        p = np.array(shares, dtype=object) / sum(shares)
        p1 = np.array([Fraction(int(rate), 12) for rate in rng.integers(0, 13, size=k)], dtype=object)
        if len(set(p1)) == 1:
            continue
        x = Fraction(int(rng.integers(0, 13)), 12)
        most = truth(k, x)
        program = Program(p, p1, x, 1 - most)
        channel, case = fairest(program), {"p": p, "p1": p1, "x": x}
        search.part("no unfairness, in closed form")
        search.observe(-program.violation(channel), case)
        search.equal(program.ratio(channel), 0, case)
        search.equal(np.diagonal(channel).min(), most, case)
        if x < 1:
            search.part("zero unfairness only at chance, as printed")
            search.under(
                k == 2,
                printed_slack(p, p1, x),
                {**case, "k": k},
                verify=lambda p, p1, x, **_: printed_slack(p, p1, x),
            )
            before = max(before, most - Fraction(1, k))
    search.fact(
        "above_chance",
        round(float(before), 3),
        "largest truth probability above chance without any unfairness",
    )


@once
def _from_which_budget(least: Any, search: Search) -> None:
    """From the least budget on the optimum is 0, and a little below it is proved not to be."""
    search.part("from which budget on unfairness can be 0")
    for seed in range(4):
        p, p1, epsilon = _instance(seed)
        case = {"p": p, "p1": p1, "epsilon": epsilon}
        error, chance = least(p, p1, epsilon), 1 - 1 / len(p)
        search.observe(chance - error - 1e-6, case)
        floor = smallest_error(p, epsilon)
        if floor < error <= 1:
            search.observe(1e-5 - _unfairness(seed, min(error + 1e-8, 1.0))[0], case)
        search.observe(_unfairness(seed, max(error - 1e-4, floor))[1] - 1e-6, case)


def _instance(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 6))
    return rng.dirichlet(np.ones(k)), rng.uniform(size=k), float(rng.uniform(0.5, 3))


@cache
def _unfairness(seed: int, error: float) -> tuple[float, float]:
    """Return Δ of the optimum within a budget, and the bound that its certificate proves."""
    found = optimal_randomizer(*_instance(seed), error=error).certificate
    return found.value, found.lower


def printed_slack(p: Any, p1: Any, x: Fraction) -> Fraction:
    """Return 1/k minus the truth probability of a channel without unfairness; 0 or more if that is a guess."""
    p, p1 = np.array(p, dtype=object), np.array(p1, dtype=object)
    channel = perfect_channel(Program(p, p1, x, Fraction(1)))
    joint, reports = (p * p1) @ channel, p @ channel
    if any(joint != (p * p1).sum() * reports):
        return Fraction(0)
    return Fraction(1, len(p)) - p @ np.diagonal(channel)


def _half_everywhere(_: np.ndarray, x: Any, error: Any) -> np.ndarray:
    """Randomised response at every budget."""
    truth = max(min(1 - error, 1 / (1 + x)), Fraction(1, 2))
    return np.array([[truth, 1 - truth], [1 - truth, truth]])


def _smaller_first(p: np.ndarray, x: Any, error: Any) -> np.ndarray:
    return binary_front(p[::-1], x, error)


def _no_cap(p: np.ndarray, x: Any, error: Any) -> np.ndarray:
    """The smaller group always at chance."""
    large, half = int(p[1] > p[0]), Fraction(1, 2)
    diagonal = [half, half]
    diagonal[large] = min((max(1 - error, half) - min(p) * half) / max(p), 1 - x / 2)
    return np.array([[diagonal[0], 1 - diagonal[0]], [1 - diagonal[1], diagonal[1]]])


def _one_way(program: Program) -> np.ndarray:
    """Couple the lower groups with the higher ones but not the other way round."""
    channel = perfect_channel(program)
    lower = program.excess < 0
    uniform = (1 - np.diagonal(channel)) / (program.k - 1)
    channel = np.where(lower[:, None], uniform[:, None], channel)
    channel[np.arange(program.k), np.arange(program.k)] = perfect_truth(program.k, program.x)
    return channel


FAULTS: dict[str, dict[str, Any]] = {
    "randomised response at every budget": {"front": _half_everywhere},
    "the smaller group told truly": {"front": _smaller_first},
    "the smaller group at chance at every budget": {"front": _no_cap},
    "coupling one way": {"fairest": _one_way},
    "uniform channel": {
        "fairest": lambda program: np.full((program.k, program.k), Fraction(1, program.k), dtype=object)
    },
    "a thousandth more than is needed": {"least": lambda *instance: smallest_fair_error(*instance) + 1e-3},
    "no unfairness only in closed form": {
        "least": lambda p, _, epsilon: 1 - perfect_truth(len(p), math.exp(-epsilon))
    },
    "no unfairness at the least error": {"least": lambda p, _, epsilon: smallest_error(p, epsilon) + 1e-9},
    "truth without privacy": {"truth": lambda k, x: 1 / (2 - x + x * (k - 2))},
}


CLAIM = Claim(
    id="thesis.front",
    where="thesis (5.5.6) and the remark after it, § 5.5",
    statement="The error budget ζ trades data fairness for utility: "
    "without it the optimum may reach Δ = 0, but only at poor utility.",
    statement_uses=("thesis.program-5.5.9",),
    verdict="corrected",
    finding="Right for k = 2: Δ = 0 only at chance, and the front has a closed form. For k ≥ 3 and ε > 0 "
    "utility need not fall to chance: Δ = 0 with every group reported truly with probability 1/(2 + (k − "
    "2)e^(−ε)) > 1/k; the least budget for it is one linear program.",
    kind="condition",
    impact="condition",
    because="The budget is needed for two groups. For the five and ten groups of the figures zero "
    "unfairness leaves a truth probability above chance.",
    headline="For two groups zero unfairness means chance. For k ≥ 3 every group can be reported truly with "
    "probability 1/(2 + (k − 2)e^(−ε)), up to 0.333 above chance.",
    witness="Six groups of shares {p} with label rates {p1}, and e^(−ε) = {x}. A report without any "
    "unfairness is right more often than one in {k} times.",
    chapter="thesis-front",
    errata=(
        Erratum(
            where="thesis § 5.5, the remark after (5.5.6)",
            printed="without the budget on the error, Δ = 0 may be reached but only at poor utility",
            correct="so for two groups, where it takes chance; for k ≥ 3 and ε > 0 every group can be "
            "reported truly with probability 1/(2 + (k − 2)e^(−ε)) > 1/k",
            band="condition",
            why="With more than two groups the reports can trade rates above the mean against rates below it and "
            "still tell most people truly.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
