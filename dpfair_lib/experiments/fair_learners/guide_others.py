"""What else could tell: one method for all data sets, thresholds on public facts, or a private look at the rows.

Each is judged as the guide's rule is: derived without a data set, then beside the best of all methods there. All of
this was tried after the regrets of the rule had been seen, on the same five data sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib.experiments.fair_learners import constrained, guide, guide_regrets, summary
from dpfair_lib.experiments.fair_learners.settings import EPSILONS

UNDER_CONSTRAINT = frozenset(one.name for one in constrained.METHODS)
Facts = Mapping[str, Mapping[str, float]]
"""Name of a fact → data set → its value."""
Side = Callable[[str], int]
"""Data set → the part of a partition in which it is."""


class Outcomes(NamedTuple):
    """What each method would do as the one told.

    Attributes
    ----------
    means : dict
        Question → data set → method → mean loss.
    p : dict
        Question → data set → method → p of no regret.
    """

    means: dict[Any, dict[str, dict[str, float]]]
    p: dict[Any, dict[str, dict[str, float]]]


def outcomes(asked: Mapping[Any, guide_regrets.Found]) -> Outcomes:
    """Return mean loss and p of no regret for every method of every question.

    Parameters
    ----------
    asked : mapping
        From `guide.questions`.
    """
    means: dict[Any, dict[str, dict[str, float]]] = {one: {} for one in asked}
    p: dict[Any, dict[str, dict[str, float]]] = {one: {} for one in asked}
    for one, found in asked.items():
        for data, here in found.items():
            every = {name: guide_regrets.contest(one, data, here, name).losses for name in here}
            means[one][data] = {name: float(losses[:, 0].mean()) for name, losses in every.items()}
            p[one][data] = {name: float(guide_regrets.beside_all(losses)) for name, losses in every.items()}
    return Outcomes(means, p)


def significant(p: Sequence[float], level: float) -> int:
    """Return how many are significant, corrected together by Holm's steps.

    Parameters
    ----------
    p : sequence of float
        One for each test.
    level : float
        Confidence of all together.
    """
    return int((summary.holm(pd.Series(p)) <= 1 - level).sum())


def floor(found: Outcomes, level: float) -> dict[Any, tuple[str, int]]:
    """Return for each question a method with the fewest regrets that are significant for certain, and their number.

    Holm's steps reject each p of at most α over the number of all tests, whatever the other p are. So no rule that
    tells one method for a question, the same on all data sets, has fewer significant regrets than the sum, even if
    that method is chosen with all regrets in view.

    Parameters
    ----------
    found : Outcomes
        From `outcomes`.
    level : float
        Confidence of all tests together.
    """
    least = (1 - level) / sum(len(those) for those in found.p.values())
    best = {}
    for one, those in found.p.items():
        names = next(iter(those.values()))
        counts = {name: sum(p[name] <= least for p in those.values()) for name in names}
        name = min(counts, key=lambda name: (counts[name], -min(p[name] for p in those.values())))
        best[one] = name, counts[name]
    return best


def facts(sizes: Mapping[str, int], rows: int = 20_000) -> dict[str, dict[str, float]]:
    """Return what may be known of a data set without its private rows.

    Parameters
    ----------
    sizes : mapping
        Data set → number of training rows.
    rows : int
        Rows of the stand-in, from which columns and shares are taken.

    Returns
    -------
    dict
        Fact → data set → value: training rows, columns, the smaller group's share, the rarer label's.
    """
    from dpfair_lib import synthetic
    from dpfair_lib.experiments.fair_learners.people import split_people

    found: dict[str, dict[str, float]] = {"rows": {data: float(size) for data, size in sizes.items()}}
    for data in sizes:
        stand_in = synthetic(data, n=rows, random_state=0)
        train = split_people(stand_in, 0, 0)[0]
        shares = {"smaller group's share": train.groups.mean(), "rarer label's share": train.labels.mean()}
        found.setdefault("columns", {})[data] = float(stand_in.X.shape[1])
        for name, share in shares.items():
            found.setdefault(name, {})[data] = float(min(share, 1 - share))
    return found


def partitions(data: Sequence[str], known: Facts, most: int) -> Iterator[Side]:
    """Yield every partition of data sets by at most two thresholds; the second one parts one side of the first.

    Parameters
    ----------
    data : sequence of str
        Data sets whose values the thresholds lie between, midway.
    known : mapping
        The facts that may be used.
    most : int
        0, 1 or 2 thresholds.
    """
    yield lambda _: 0
    for values in known.values() if most else ():
        for cut in _cuts(values, data):
            first = _side(values, cut)
            yield first
            for side in (0, 1) if most > 1 else ():
                inside = [one for one in data if first(one) == side]
                for other in known.values():
                    for second in _cuts(other, inside):
                        yield _both(first, side, _side(other, second))


def _cuts(values: Mapping[str, float], data: Sequence[str]) -> list[float]:
    return [(low + high) / 2 for low, high in pairwise(sorted({values[one] for one in data}))]


def _side(values: Mapping[str, float], cut: float) -> Side:
    return lambda one: int(values[one] > cut)


def _both(first: Side, side: int, second: Side) -> Side:
    return lambda one: 2 + second(one) if first(one) == side else first(one)


def by_facts(found: Outcomes, known: Facts, most: int, *, inner: bool) -> list[float]:
    """Return p of the regrets, on each data set left out, of a rule that knows facts.

    For each situation and notion the others choose a partition. In each part the rule tells the method with the least
    mean loss among those that compete.

    Parameters
    ----------
    found : Outcomes
        From `outcomes`.
    known : mapping
        The facts that it may use.
    most : int
        How many thresholds at most.
    inner : bool
        Whether the partition is the one whose methods are best on each of the others when it is left out in turn, or
        on the others themselves.
    """
    p = []
    for kind in dict.fromkeys(one[:2] for one in found.means):
        asked = [one for one in found.means if one[:2] == kind]
        for data in found.means[asked[0]]:
            others = [other for other in found.means[asked[0]] if other != data]

            def cost(side: Side, asked: list[Any] = asked, others: list[str] = others) -> float:
                return sum(
                    found.means[one][other][
                        _told(found, one, side, [x for x in others if not inner or x != other], other)
                    ]
                    for one in asked
                    for other in others
                )

            chosen = min(partitions(others, known, most), key=cost)
            p += [found.p[one][data][_told(found, one, chosen, others, data)] for one in asked]
    return p


def _told(found: Outcomes, question: Any, side: Side, others: Sequence[str], data: str) -> str:
    near = [other for other in others if side(other) == side(data)] or others
    means = found.means[question]
    names = guide.competing(means[data], question[1])
    return min(names, key=lambda name: sum(means[other][name] for other in near))


def looked(
    asked: Mapping[Any, guide_regrets.Found],
    known: Facts,
    *,
    share: float = 0.5,
    rng: np.random.Generator | None = None,
) -> list[guide_regrets.Contest]:
    """Estimate what a private look at the rows would give: two methods on a share of ε each, and the better one kept.

    The two are the best of each kind on the other data sets: one that adjusts a classifier after it was fitted and
    asks for the group, and one that learns under constraints. Losses between two recorded ε are interpolated in ln ε.
    A question with no learner under constraints has the guide's rule, without a look. The estimate is too good: both
    learn from all training rows, while a fifth of them would be held out for the choice.

    Parameters
    ----------
    asked : mapping
        From `guide.questions`; what a smaller ε needs has to be among them. Questions whose share of ε is below all
        recorded ones are left out.
    known : mapping
        From `facts`.
    share : float
        The share of ε that each of the two has; ½ is what both together can pay for.
    rng : numpy.random.Generator, optional
        If given, the exponential mechanism chooses in each split, with the whole ε, by the losses of the next split,
        as held-out rows would show them. Otherwise the one with the least mean loss is known.
    """
    contests = []
    for one, found in asked.items():
        if one[2] * share < min(EPSILONS):
            continue
        names = guide.competing(next(iter(found.values())), one[1])
        kinds = [[name for name in names if name in kind] for kind in (guide.ASK, UNDER_CONSTRAINT)]
        for data, here in found.items():
            others = [other for other in found if other != data]
            if all(kinds):
                told = [
                    min(
                        kind,
                        key=lambda name: sum(_between(asked, one, share, x, name).mean() for x in others),
                    )
                    for kind in kinds
                ]
                both = np.array([_between(asked, one, share, data, name) for name in told])
            else:
                told = [guide.rule({other: found[other] for other in others}, one[1])]
                both = np.array([summary.loss(here[told[0]], one[1])])
            score = np.repeat(both.mean(axis=1, keepdims=True), both.shape[1], axis=1)
            if rng is not None and len(told) > 1:
                score = np.roll(both, 1, axis=1)
                score = score - rng.gumbel(size=both.shape) * 2 * moves(known, data, one[1]) / one[2]
            got = both[score.argmin(axis=0), np.arange(both.shape[1])]
            every = np.column_stack([got, *(summary.loss(rows, one[1]) for rows in here.values())])
            contests.append(guide_regrets.Contest(one, data, [" or ".join(told), *here], every))
    return contests


def moves(known: Facts, data: str, notion: str) -> float:
    """Return how far a replaced row can move error plus gap on a fifth of the training rows, of typical counts.

    Parameters
    ----------
    known : mapping
        From `facts`.
    data, notion : str
        Which data set, and whether only rows of the rarer label count for a rate.
    """
    held, group = known["rows"][data] / 5, known["smaller group's share"][data]
    count = held * (1.0 if notion == "parity" else known["rarer label's share"][data])
    return 1 / held + 1 / (count * group) + 1 / (count * (1 - group))


def _between(
    asked: Mapping[Any, guide_regrets.Found], one: Any, share: float, data: str, name: str
) -> np.ndarray:
    """Return the losses of a method at a share of the question's ε, split by split."""
    at = one[2] * share
    low, high = max(x for x in EPSILONS if x <= at), min(x for x in EPSILONS if x >= at)
    first, last = (
        summary.loss(asked[(*one[:2], x)][data][name], one[1]).to_numpy(dtype=float) for x in (low, high)
    )
    weight = 0.0 if low == high else math.log(at / low) / math.log(high / low)
    return (1 - weight) * first + weight * last
