"""ISIT, Theorem 3 and Proposition 4: what their bounds need besides public group sizes, and what they do not."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.central.gap_law import signed_gap
from dpfair_lib.central.parity import parity_bound, parity_violation_probability
from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.central.noisy_rates import fractions_up_to, printed_gap

HALF, TWENTIETH = Fraction(1, 2), Fraction(1, 20)
MEMORY: list[dict[str, Any]] = [
    {"rows": rows, "odds": odds, "eta": eta}
    for rows, odds, eta in itertools.product((2000, 10_000), (4, 20, 100), (Fraction(1, 20), HALF))
]
COPIES: list[dict[str, Any]] = [
    {"rows": rows, "eta": eta}
    for rows, eta in itertools.product((2000, 10_000), (Fraction(1, 20), Fraction(2, 5)))
]


def membership_law(present: bool, odds: int) -> tuple[Fraction, Fraction]:
    """Return the chances that h* is 0 and 1 at a point: randomised response on whether it is among the rows."""
    truth = Fraction(odds, 1 + odds)
    return (1 - truth, truth) if present else (truth, 1 - truth)


def check(
    *,
    bound: Callable[..., float] = parity_bound,
    gap: Callable[..., Any] = signed_gap,
    answer: Callable[[bool, int], tuple[Fraction, Fraction]] = membership_law,
    search: Search,
) -> Evidence:
    """Break the bound with rows that trained the classifier, and with copied rows; then judge two repairs."""
    _as_printed(bound, gap, search)
    _memory_is_private(answer, search)
    search.part("rows that trained the classifier, and copied rows")
    remembered = functools.partial(memory_slack, bound=bound, gap=gap, answer=answer)
    copied = functools.partial(copies_slack, bound=bound, gap=gap)
    for slack, settings in ((remembered, MEMORY), (copied, COPIES)):
        for setting in settings:
            search.under(np.array([False]), [slack(**setting)], setting, verify=slack)
    _without_replacement(bound, gap, search)
    _random_sizes(bound, search)
    cases = len(MEMORY) + len(COPIES) + len(FINITE) * len(ETAS) + len(RANDOM)
    search.exhausts("memorising, copied, finite and randomly sized samples of the check's lists", cases=cases)
    _facts(bound, search)
    return search.evidence()


def _as_printed(bound: Callable[..., float], gap: Callable[..., Any], search: Search) -> None:
    """What is broken and repaired below is the printed bound, at each group's own size, for the printed flips."""
    search.part("the bound and the gap that are meant")
    for n, epsilon, eta in itertools.product([(30, 700), (3675, 7630)], (0.05, 2.0), (0.05, 0.5)):
        printed = sum(
            math.log(4 / eta) / (size * epsilon) + math.sqrt(math.log(8 / eta) / (2 * size)) for size in n
        )
        case = {"n": n, "epsilon": epsilon, "eta": eta}
        search.sanity(-abs(bound(n, epsilon, eta) / printed - 1), case, tolerance=1e-12)
        # geometric noise on the counts: the smallest t with P(|noise| > t) ≤ η/4, found by going up
        noise = sum(_geometric_reach(epsilon, eta / 4) / size for size in n)
        printed = noise + sum(math.sqrt(math.log(8 / eta) / (2 * size)) for size in n)
        search.sanity(
            -abs(bound(n, epsilon, eta, mechanism="geometric") / printed - 1), case, tolerance=1e-12
        )
    grid = np.array(list(itertools.product(fractions_up_to(3), repeat=4)), dtype=object)
    alpha, beta, a, b = grid.T
    expected = np.array([printed_gap(*row) for row in grid], dtype=object)
    case = {"alpha": alpha, "beta": beta, "noisy_alpha": a, "noisy_beta": b}
    search.sanity(-abs(gap(alpha, beta, a, b) - expected), case)


def _geometric_reach(epsilon: float, failure: float) -> int:
    """Return the smallest t with 2e^(−ε(t + 1))/(1 + e^(−ε)) ≤ failure."""
    decay = math.exp(-epsilon)
    tails = (2 * decay ** (t + 1) / (1 + decay) for t in itertools.count())
    return next(t for t, tail in enumerate(tails) if tail <= failure)


def _memory_is_private(answer: Callable[..., Any], search: Search) -> None:
    """The memory costs what it is said to: a row that comes or goes changes the answer at its own point alone."""
    search.part("the memory is private")
    for odds in sorted({setting["odds"] for setting in MEMORY}):
        inside, outside = answer(True, odds), answer(False, odds)
        search.equal(sum(inside), 1, {"odds": odds})
        search.equal(
            max(p / q for p, q in zip(inside + outside, outside + inside, strict=True)), odds, {"odds": odds}
        )


def memory_slack(
    *, rows: int, odds: int, eta: Fraction, bound: Callable[..., float] = parity_bound,
    gap: Callable[..., Any] = signed_gap, answer: Callable[..., Any] = membership_law,
) -> Fraction:  # fmt: skip
    """Return η minus a lower bound on the chance that the gap exceeds its bound, for a private memory.

    Both groups have ``rows`` rows; group 0's are drawn from 1000·rows² points alike. h* answers, for every point
    of group 0, whether it is among the rows, truly with probability odds/(1 + odds); in group 1 it is 0. It is
    log(odds)-DP under add-remove. The rows then serve a second time, for ᾱ and β̄, with ε₀ = ε₁ = 1.
    """
    truth = answer(True, odds)[1]
    points = 1000 * rows**2
    variance = truth * (1 - truth)
    # Chebyshev for ᾱ and for α, at a distance of 1/20; a union bound for two equal rows; Laplace tails at 1/20
    failures = [
        400 * variance / rows, 400 * variance / points, Fraction(rows**2, 2 * points), *[laplace_tail(rows)] * 2
    ]  # fmt: skip
    alpha = answer(False, odds)[1] + Fraction(rows, points) + TWENTIETH
    reached = abs(gap(min(alpha, Fraction(1)), Fraction(0), truth - 2 * TWENTIETH, TWENTIETH))
    if not reached > Fraction(bound(rows, 1.0, float(eta))):
        return eta
    return eta - (1 - sum(failures, Fraction(0)))


def copies_slack(
    *,
    rows: int,
    eta: Fraction,
    bound: Callable[..., float] = parity_bound,
    gap: Callable[..., Any] = signed_gap,
) -> Fraction:
    """Return η minus a lower bound on the chance that the gap exceeds its bound, if a group's rows are one draw.

    As for households or repeated visits, carried to the end: every row of a group is a copy of one fair coin, of
    mean α = β = ½. With probability ½ the two groups' coins differ.
    """
    reached = abs(gap(HALF, HALF, 1 - TWENTIETH, TWENTIETH))
    if not reached > Fraction(bound(rows, 1.0, float(eta))):
        return eta
    return eta - HALF * (1 - 2 * laplace_tail(rows))


def laplace_tail(rows: int) -> Fraction:
    """Return an upper bound on P(|Laplace noise of scale 1/rows| > 1/20): e^(−x) ≤ 1/(1 + x + x²/2)."""
    x = rows * TWENTIETH
    return 1 / (1 + x + x**2 / 2)


FINITE: list[dict[str, Any]] = [
    {"people": people, "selected": selected, "rows": rows, "epsilon": epsilon}
    for people, selected in (((400, 300), (200, 60)), ((200, 2000), (20, 1000)))
    for rows in ((100, 100), (190, 250))
    for epsilon in (1.0, 5.0)
]
ETAS = (0.1, 0.5)


def _without_replacement(bound: Callable[..., float], gap: Callable[..., Any], search: Search) -> None:
    """Rows drawn from a finite table: dependent, but less spread than independent ones (Hoeffding, 1963)."""
    from scipy.stats import hypergeom

    search.part("rows drawn without replacement")
    for setting in FINITE:
        laws = []
        for people, selected, rows in zip(
            setting["people"], setting["selected"], setting["rows"], strict=True
        ):
            counts = np.arange(rows + 1)
            laws.append(
                _with_geometric_noise(hypergeom.pmf(counts, people, selected, rows), setting["epsilon"])
            )
        alpha, beta = np.divide(setting["selected"], setting["people"])
        a, b = (np.arange(rows + 1) / rows for rows in setting["rows"])
        gaps = abs(gap(alpha, beta, a[:, None], b))
        for eta in ETAS:
            limit = bound(setting["rows"], setting["epsilon"], eta, mechanism="geometric")
            _independent(eta - float(laws[0] @ (gaps > limit) @ laws[1]), {**setting, "eta": eta}, search)


def _independent(slack: float, case: dict[str, Any], search: Search) -> None:
    """Judge the bound on rows that did not train h* and of which none is a copy."""
    search.under(np.array([True]), [slack], case, verify=memory_slack)


def _with_geometric_noise(law: np.ndarray, epsilon: float) -> np.ndarray:
    """Return the law of the clipped noisy count, by adding up."""
    n = len(law) - 1
    decay = np.exp(-epsilon)
    at = np.arange(n + 1)
    noisy = law @ decay ** abs(at - at[:, None]) * (1 - decay) / (1 + decay)
    noisy[0] = law @ decay**at / (1 + decay)
    noisy[n] = law @ decay ** (n - at) / (1 + decay)
    return noisy


RANDOM: list[dict[str, Any]] = [
    {"rates": rates, "rows": 200, "share": share}
    for rates in ((0.5, 0.5), (0.1, 0.4))
    for share in (0.3, 0.5)
]


def _random_sizes(bound: Callable[..., float], search: Search) -> None:
    """Sizes that are drawn with the rows: the bound at the sizes found holds given the sizes, so on average."""
    from scipy.stats import binom

    search.part("random group sizes")
    eta, epsilon = 0.5, 2.0
    for setting in RANDOM:
        rows, total = setting["rows"], 0.0
        for first in range(1, rows):
            chance = binom.pmf(first, rows, setting["share"])
            sizes = (first, rows - first)
            limit = bound(sizes, epsilon, eta)
            if chance > 1e-9 and limit < 1:
                total += chance * parity_violation_probability(
                    limit, rates=setting["rates"], n=sizes, epsilon=epsilon, mechanism="geometric"
                )
        _independent(eta - total - 1e-6, setting, search)


def _facts(bound: Callable[..., float], search: Search) -> None:
    worst: dict[str, Any] = {"rows": 10_000, "odds": 20, "eta": Fraction(1, 20)}
    chance = float(worst["eta"] - memory_slack(**worst))
    least = abs(signed_gap(
        Fraction(1, 21) + Fraction(1, 10_000_000) + TWENTIETH, Fraction(0), Fraction(20, 21) - 2 * TWENTIETH, TWENTIETH
    ))  # fmt: skip
    search.fact("memory_chance", chance, "chance of a violation at least, private memory")
    search.fact("memory_gap", float(least), "gap at least, private memory")
    search.fact("memory_bound", bound(10_000, 1.0, 0.05), "bound, private memory")
    search.fact("quarter", bound((3675, 7630), 0.05, 0.05), "bound for the post-processing quarter")
    search.fact("all_rows", bound((14_695, 30_527), 0.05, 0.05), "bound for all rows")


def _void(n: Any, epsilon: Any, eta: float, *, mechanism: Any = "laplace") -> float:
    del n, epsilon, eta, mechanism
    return 1.0


def _a_tenth(n: Any, epsilon: Any, eta: float, *, mechanism: Any = "laplace") -> float:
    return parity_bound(n, epsilon, eta, mechanism=mechanism) / 10


def _always_fair(alpha: Any, beta: Any, a: Any, b: Any) -> Any:
    return 0 * signed_gap(alpha, beta, a, b)


def _gap_before(alpha: Any, beta: Any, a: Any, b: Any) -> Any:
    return alpha - beta + 0 * signed_gap(alpha, beta, a, b)


def _geometric_without_noise(n: Any, epsilon: Any, eta: float, *, mechanism: Any = "laplace") -> float:
    return parity_bound(n, epsilon if mechanism == "laplace" else math.inf, eta, mechanism=mechanism)


FAULTS: dict[str, dict[str, Any]] = {
    "a bound that says nothing": {"bound": _void},
    "a tenth of the bound": {"bound": _a_tenth},
    "all rows in place of each group's": {
        "bound": lambda n, *rest, **how: parity_bound(np.sum(n), *rest, **how)
    },
    "half of the bound": {"bound": lambda *given, **how: parity_bound(*given, **how) / 2},
    "geometric noise forgotten": {"bound": _geometric_without_noise},
    "a memory of the squared odds": {"answer": lambda present, odds: membership_law(present, odds**2)},
    "a memory whose every answer is a coin": {
        "answer": lambda present, odds: membership_law(present, 1 + 0 * odds)
    },
    "half of the gap": {"gap": lambda *rates: signed_gap(*rates) / 2},
    "a gap that is always 0": {"gap": _always_fair},
    "the gap before the flips": {"gap": _gap_before},
}


CLAIM = Claim(
    id="isit.assumptions",
    where="ISIT Thm 3, Prop. 4, App. A; thesis Thm 8, Prop. 9, App. A",
    statement="Public group sizes are all that the bounds assume: one n serves every term, "
    "and the group means of h* over D are averages of nθ and nθ̄ independent draws with means α and β.",
    statement_uses=(
        "isit.thm-3.privacy",
        "isit.thm-3.fairness",
        "isit.thm-3.utility",
        "isit.prop-4.fairness",
        "isit.prop-4.utility",
    ),
    verdict="corrected",
    finding="The rows must be independent of h* and of one another: an ε-DP classifier that remembers its rows "
    "and is asked for them again exceeds the bound nearly always, copied rows half of the time. Sizes may be "
    "random (the sizes found count), and rows drawn without replacement; n counts the post-processing rows.",
    headline="The bounds need rows that did not train the classifier: an ε-DP classifier that remembers its rows "
    "exceeds them with probability at least 0.99.",
    witness="A group of {rows} rows is post-processed with the rows that trained the classifier, which "
    "remembers them, with e^ε = {odds}. The gap exceeds its bound with a probability above η = "
    "{eta}.",
    kind="condition",
    impact="condition",
    because="The paper's split keeps training rows and post-processing rows apart, so its bounds stand there.",
    chapter="isit-thm-3-fairness",
    errata=(
        Erratum(
            where="ISIT Theorem 3 and Proposition 4; thesis Theorem 8 and Proposition 9",
            printed="public group sizes are the only hypothesis on D",
            correct="the rows of D are drawn independently of h*, and of one another",
            band="condition",
            why="On rows that trained h*, or on copied rows, group means need not be near α and β.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
