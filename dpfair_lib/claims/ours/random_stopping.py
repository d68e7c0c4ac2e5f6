"""Ours: what the best of a random number of private runs costs, on every small law of one run."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.privacy import mean_runs, poisson_stopped_renyi, stopped_epsilon, stopped_renyi

PARTS = 6
"""The enumerated laws of one run have three outputs, each with a positive number of sixths; the last is the best."""
SUCCESS = Fraction(1, 2), Fraction(1, 50), Fraction(1, 10**4)
ROUNDED = 1e-9
Law = list[Fraction]


def check(
    *, search: Search, epsilon: Callable[..., float] = stopped_epsilon, renyi: Callable[..., float] = stopped_renyi,
    poisson: Callable[..., float] = poisson_stopped_renyi, mean: Callable[..., float] = mean_runs,
    best: Callable[..., Law] | None = None,
) -> Evidence:  # fmt: skip
    """Judge the three bounds on the released output of all pairs of small laws, and of laws with a rare best output."""
    select = selected if best is None else best
    _pure(epsilon, select, search)
    _means(mean, search)
    _renyi(renyi, select, search)
    _poisson(poisson, search)
    _what_is_needed(search)
    return search.evidence()


def laws() -> Iterator[Law]:
    """Yield the enumerated laws of one run."""
    for first, second in itertools.product(range(1, PARTS), repeat=2):
        if first + second < PARTS:
            yield [Fraction(part, PARTS) for part in (first, second, PARTS - first - second)]


def tight(ratio: Fraction, released: Fraction, better: Fraction) -> tuple[Law, Law]:
    """Return two laws of which the middle output is likelier under one, the best one under the other."""
    one = [1 - ratio * released - better, ratio * released, better]
    return one, [1 - released - ratio * better, released, ratio * better]


TIGHT = (
    tight(Fraction(3, 2), Fraction(1, 10**8), Fraction(1, 10**4)),
    tight(Fraction(9, 8), Fraction(1, 10**6), Fraction(1, 100)),
    tight(Fraction(8), Fraction(1, 10**4), Fraction(1, 1000)),
)
PAIRS = (*itertools.permutations(laws(), 2), *TIGHT)


def generating(shape: int, success: Fraction) -> Callable[[Fraction], Fraction]:
    """Return x ↦ E x^K for a whole shape of at least 1."""
    none = success ** (-shape)
    return lambda x: ((1 - (1 - success) * x) ** (-shape) - 1) / (none - 1)


def selected(law: Sequence[Fraction], shape: int, success: Fraction) -> Law:
    """Return the law of the best of K outputs."""
    return _differences(law, generating(shape, success))


def _differences(law: Sequence[Fraction], f: Callable[..., Any]) -> list[Any]:
    values = [f(x) for x in itertools.accumulate(law, initial=Fraction(0))]
    return [high - low for low, high in itertools.pairwise(values)]


def _ratio(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return max(max(a / b, b / a) for a, b in zip(one, other, strict=True))


def _divergence(one: Sequence[Any], other: Sequence[Any], order: float) -> float:
    """Return the Rényi divergence; at a whole order the sum is exact where the laws are."""
    return math.log(sum(a**order * b ** (1 - order) for a, b in zip(one, other, strict=True))) / (order - 1)


@functools.cache
def _beyond(one: tuple[Fraction, ...], other: tuple[Fraction, ...], ratio: Fraction) -> Fraction:
    """Return the least δ at e^ε = ratio, in both directions."""
    pairs = list(zip(one, other, strict=True))
    return max(
        sum((max(a - ratio * b, Fraction(0)) for a, b in pairs), Fraction(0)),
        sum((max(b - ratio * a, Fraction(0)) for a, b in pairs), Fraction(0)),
    )


@once
def _pure(
    epsilon: Callable[..., float], select: Callable[..., Law], search: Search
) -> None:  # fmt: skip
    """All in fractions: the factor is a whole number for a whole shape."""
    search.part("pure privacy")
    for (one, other), shape, success in itertools.product(PAIRS, (1, 2), SUCCESS):
        t, case = _ratio(one, other), {"M(D)": one, "M(D')": other, "η": shape, "γ": success}
        found = _ratio(select(one, shape, success), select(other, shape, success))
        search.observe(t ** int(Fraction(epsilon(1.0, shape=shape))) - found, case)
        search.observe(epsilon(math.log(t), shape=shape) - math.log(found), case, tolerance=ROUNDED)
    count = math.perm(math.comb(PARTS - 1, 2), 2) * 2 * len(SUCCESS)
    search.exhausts(f"all pairs of laws of three outputs in 1/{PARTS}, two shapes, three γ", cases=count)
    search.fact("cases", count, "enumerated pairs of laws, with shapes and γ")


@once
def _means(mean: Callable[..., float], search: Search) -> None:
    """The mean from the chances themselves: P(K = k) in proportion to (1 − γ)^k Γ(k + η)/k!."""
    search.part("mean number of runs")
    for shape, success in itertools.product((-0.5, 0.0, 0.5, 1.0, 2.0), (0.5, 0.2, 0.05)):
        chance, total, moment = 1.0, 0.0, 0.0
        for k in range(1, 800):
            total, moment = total + chance, moment + k * chance
            chance *= (1 - success) * (k + shape) / (k + 1)
        search.equal(
            mean(shape, success) / (moment / total), 1, {"η": shape, "γ": success}, tolerance=ROUNDED
        )


@once
def _renyi(
    renyi: Callable[..., float], select: Callable[..., Law], search: Search
) -> None:  # fmt: skip
    search.part("Rényi divergences")
    for (one, other), shape, success in itertools.product((*PAIRS[::3], *TIGHT), (1, 2), SUCCESS[1:]):
        best = select(one, shape, success), select(other, shape, success)
        for order in (1.5, 2, 6):
            exact, rho = _divergence(*best, order), _divergence(one, other, order)
            for second in (1.0, 2.0, math.inf):
                given = {
                    1.0: 0.0,
                    2.0: max(_divergence(one, other, 2), _divergence(other, one, 2)),
                    math.inf: math.log(_ratio(one, other)),
                }[second]
                bound = renyi(
                    order, rho, shape=shape, success=float(success), other_order=second, other_divergence=given
                )  # fmt: skip
                case = {"M(D)": one, "M(D')": other, "η": shape, "γ": success, "λ": order, "λ'": second}
                search.observe(bound - exact, case, tolerance=ROUNDED)


@once
def _poisson(poisson: Callable[..., float], search: Search) -> None:
    """Means below 1 too; δ is the least at the largest ε that the order allows."""
    search.part("a Poisson number of runs")
    for (one, other), mean, order in itertools.product(PAIRS, (0.2, 1.0, 4.0), (2, 4)):
        ratio = Fraction(order, order - 1) * (1 - Fraction(1, 10**9))
        delta = float(_beyond(tuple(one), tuple(other), ratio))
        best = [[*_poisson_best(law, mean), math.exp(-mean)] for law in (one, other)]
        bound = poisson(
            order, _divergence(one, other, order), mean=mean, epsilon=math.log(ratio), delta=delta * (1 + ROUNDED)
        )  # fmt: skip
        case = {"M(D)": one, "M(D')": other, "μ": mean, "λ": order, "δ": delta}
        search.observe(bound - _divergence(best[0], best[1], order), case, tolerance=ROUNDED)


def _poisson_best(law: Sequence[Fraction], mean: float) -> list[float]:
    """Return the chances of the best of K ≥ 1 outputs."""
    below = [float(x) for x in itertools.accumulate(law, initial=Fraction(0))]
    steps = zip(below, law, strict=False)
    return [math.exp(mean * (low - 1)) * math.expm1(mean * float(own)) for low, own in steps]


def _what_is_needed(search: Search) -> None:
    search.part("what is needed")
    one, other = tight(Fraction(3, 2), Fraction(1, 10**12), Fraction(1, 10**6))
    for shape in (1, 2):
        found = math.log(_ratio(*(selected(law, shape, Fraction(1, 10**12)) for law in (one, other))))
        less, case = 0.999 * (2 + shape) * math.log(1.5), {"η": shape}
        search.needs(f"the factor {2 + shape}: with 0.999 of it", slack=less - found, case=case)
    even = [[Fraction(1, 3)] * 3, [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]]
    fixed = math.log(_ratio(*(_fixed(law) for law in even)))
    search.needs("that K is random: with K = 20 and 3ε", slack=3 * math.log(1.5) - fixed, case={"K": 20})


def _by_data(law: Sequence[Fraction], shape: int, success: Fraction) -> Law:
    """Return the law of the release if γ is a hundred times smaller where the worst output is the likeliest."""
    return selected(law, shape, success / 100 if law[0] >= max(law) else success)


def _fixed(law: Sequence[Fraction], *_: Any) -> Law:
    """Return the law of the best of twenty outputs."""
    return _differences(law, lambda x: x**20)


def _with_runs(law: Sequence[Fraction], _: int, success: Fraction) -> Law:
    """Return the law of the best output together with K, for the first twelve K of the geometric law."""
    found: Law = []
    for k in range(1, 13):
        best = _differences(law, lambda x, k=k: x**k)
        found += [success * (1 - success) ** (k - 1) * each for each in best]
    return found


def _nothing_for_runs(order: float, one: float, *, shape: float, success: float, **other: float) -> float:
    whole = stopped_renyi(order, one, shape=shape, success=success, **other)
    return whole - math.log(mean_runs(shape, success)) / (order - 1)


def _with(function: Callable[..., float], **replaced: Any) -> Callable[..., float]:
    """Return a bound with an argument changed by a function of all."""
    return lambda *args, **given: function(
        *args, **(given | {name: change(given) for name, change in replaced.items()})
    )


FAULTS: dict[str, dict[str, Any]] = {
    "2ε for 3ε": {"epsilon": lambda one, *, shape: (1 + shape) * one},
    "the number of runs follows the data": {"best": _by_data},
    "the number of runs is released": {"best": _with_runs},
    "twenty runs, whatever is drawn": {"best": _fixed},
    "the mean of the geometric distribution for all": {"mean": lambda _, success: 1 / success},
    "no term for stopping": {
        "renyi": _with(stopped_renyi, other_divergence=lambda _: 0.0, other_order=lambda _: math.inf)
    },
    "γ left out of the term for stopping": {"renyi": _with(stopped_renyi, success=lambda _: 0.999)},
    "no term for the number of runs": {"renyi": _nothing_for_runs},
    "Poisson: as if for one run": {"poisson": lambda _, one, **__: one},
    "Poisson: the root of μ": {
        "poisson": _with(poisson_stopped_renyi, mean=lambda given: given["mean"] ** 0.5)
    },
    "Poisson: half of μ": {"poisson": _with(poisson_stopped_renyi, mean=lambda given: given["mean"] / 2)},
    "Poisson: δ forgotten": {"poisson": _with(poisson_stopped_renyi, delta=lambda _: 0.0)},
}


CLAIM = Claim(
    id="ours.random-stopping",
    where="Private selection, Results 1 to 3",
    statement="The best of K runs is released alone. Runs are (ε, 0)-private, and K is negative binomial, truncated at "
    "1, of shape η > −1: the release is ((2 + η)ε, 0)-private. Its Rényi divergence is at most "
    "ρ + (1 + η)((1 − 1/λ')ρ' + ln(1/γ)/λ') + ln(E K)/(λ − 1). For Poisson K it is at most "
    "ln(1 + μ e^(μ(λ − 1)δ) (e^((λ − 1)ρ) − 1))/(λ − 1), if runs are (ε, δ)-private with e^ε ≤ λ/(λ − 1).",
    verdict="holds",
    finding="The first two bounds are those of Papernot and Steinke, derived here anew. The third is at most theirs "
    "where theirs holds, and it holds for means below 1, too. No smaller factor than 2 + η holds for all γ.",
    headline="The best of many private runs costs two or three times one run, if their number is random, independent "
    "of the rows, and kept secret.",
    kind="theorem",
    chapter="private-selection",
    check=check,
    faults=FAULTS,
)
