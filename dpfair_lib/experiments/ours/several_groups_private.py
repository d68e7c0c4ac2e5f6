"""Several groups: private post-processing beside the same without noise, and how often its bounds are broken.

Scores are not used, as the private methods refuse them. To test a bound, the rows of the fit are drawn anew from known
people, each group with as many rows as it had. Then the gap among these people is exact.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.several_groups import TRIALS, row_of
from dpfair_lib.experiments.ours.several_groups_data import (
    MOST_ROWS,
    SHARES,
    Description,
    Part,
    Split,
    dataset_of,
    split_rows,
)
from dpfair_lib.experiments.ours.several_groups_measures import measures
from dpfair_lib.experiments.ours.several_groups_methods import NONE, Method, Rule, unchanged

EPSILONS = 0.5, 1.0, 3.0
ROUNDING = 1e-9
FAILURE = 0.05
"""η of the bounds, and β."""
DRAWS = 10
"""Fits to rows drawn anew, for each split and ε."""
SCOPES = {"all groups": None, "two largest": 2}
"""On whose rows everything is done: on all, or on those of so many largest groups."""
PARITY, OPPORTUNITY, ODDS = "noisy rates", "noisy true positive rates", "noisy counts"


class Private(NamedTuple):
    """A private method.

    Attributes
    ----------
    name, notion : str
        Of the method.
    fit : callable
        From rows, ε (None for no noise) and a generator of noise to a rule and the bound of the gap.
    on_fit_rows : bool
        Whether the bound speaks of the rows of the fit, not of the people from whom they are drawn.
    """

    name: str
    notion: str
    fit: Callable[[Part, float | None, np.random.Generator], tuple[Rule, float]]
    on_fit_rows: bool


def noisy_rates(rows: Part, epsilon: float | None, rng: np.random.Generator) -> tuple[Rule, float]:
    """Fit `PrivateFairPostprocessor` to the learner's labels; return the rule and `parity_bound`.

    Parameters
    ----------
    rows : Part
        The rows.
    epsilon : float or None
        ε, for the relation "replace-within-group"; None for no noise.
    rng : numpy.random.Generator
        Draws the noise, which is for study.
    """
    from dpfair_lib.central import PrivateFairPostprocessor, parity_bound

    epsilon = math.inf if epsilon is None else epsilon
    fair = PrivateFairPostprocessor(epsilon, mechanism="geometric", noise="study", random_state=rng)
    fair.fit(rows.guesses, sensitive_features=rows.groups)
    people = np.unique(rows.groups, return_counts=True)[1].tolist()
    return _rule(fair), min(parity_bound(people, epsilon, FAILURE, mechanism="geometric"), 1.0)


def noisy_positives(rows: Part, epsilon: float | None, rng: np.random.Generator) -> tuple[Rule, float]:
    """Fit `PrivateFairPostprocessor` for equal opportunity; return the rule and `opportunity_bound`.

    Parameters
    ----------
    rows, rng
        As for `noisy_rates`.
    epsilon : float or None
        ε of all that is released, for the relation "replace-within-group": half of it for each count, as a record that
        is replaced may change two of them. None for no noise.
    """
    from dpfair_lib.central import PrivateFairPostprocessor, opportunity_bound

    each = math.inf if epsilon is None else epsilon / 2
    fair = PrivateFairPostprocessor(
        each, notion="equal_opportunity", mechanism="geometric", noise="study", random_state=rng
    )
    fair.fit(rows.guesses, rows.labels, sensitive_features=rows.groups)
    counts = list(fair.noisy_counts_.values())
    return _rule(fair), opportunity_bound(counts, each, FAILURE, band=fair.band_, mechanism="geometric")


def noisy_counts(rows: Part, epsilon: float | None, rng: np.random.Generator) -> tuple[Rule, float]:
    """Fit `EqualizedOddsPostprocessor` with γ = 0 on the noisy counts; return the rule and its ``gap_bound_``.

    Parameters
    ----------
    rows, rng
        As for `noisy_rates`.
    epsilon : float or None
        ε, for the relation "replace-one"; None for no noise.
    """
    from dpfair_lib.svm import EqualizedOddsPostprocessor

    fair = EqualizedOddsPostprocessor(
        gamma=0.0, epsilon=epsilon, relation="replace-one", relaxed=False, failure=FAILURE, noise="study",
        random_state=rng,
    )  # fmt: skip
    fair.fit(rows.guesses, y_true=rows.labels, sensitive_features=rows.groups)
    return _rule(fair), fair.gap_bound_


def _rule(fair: Any) -> Rule:
    return lambda rows: fair.predict_proba(rows.guesses, sensitive_features=rows.groups)[:, 1]


METHODS: Sequence[Private] = (
    Private(PARITY, "demographic_parity", noisy_rates, on_fit_rows=False),
    Private(OPPORTUNITY, "equal_opportunity", noisy_positives, on_fit_rows=False),
    Private(ODDS, "equalized_odds", noisy_counts, on_fit_rows=True),
)


def run_trial(split: Split, *, number: int, draws: int = DRAWS) -> Iterator[dict[str, Any]]:
    """Fit every private method with every ε on one split, and without noise.

    Parameters
    ----------
    split : Split
        The rows.
    number : int
        Of the split; seed of the noise.
    draws : int
        Fits for the bounds.

    Yields
    ------
    dict
        ``split``, ``scope`` and what `several_groups.row_of` gives; ε is None without noise. With noise also ``draws``;
        ``broken``, in how many of them the gap was above its bound; and ``bound``, the mean of the bounds.
    """
    for scope, groups in SCOPES.items():
        those = _of_largest(split, groups)
        for at, method in enumerate(METHODS):
            untouched = Method(NONE, method.notion, None, None, unchanged)
            yield {"split": number, "scope": scope, **row_of(untouched, those), **_nothing_bounded()}
            for epsilon in (*EPSILONS, None):
                rng = np.random.default_rng([number, at, round(10 * (epsilon or 0)), groups or 0])
                fit = functools.partial(_fit, method=method, epsilon=epsilon, rng=rng)
                row = row_of(Method(method.name, method.notion, 0.0, epsilon, fit), those)
                if epsilon is None:
                    yield {"split": number, "scope": scope, **row, **_nothing_bounded()}
                    continue
                found = [gap_and_bound(method, those, epsilon, rng) for _ in range(draws)]
                yield {
                    "split": number, "scope": scope, **row, "draws": draws,
                    "broken": sum(gap > bound + ROUNDING for gap, bound in found),
                    "bound": float(np.mean([bound for _, bound in found])),
                }  # fmt: skip


def _nothing_bounded() -> dict[str, None]:
    return {"draws": None, "broken": None, "bound": None}


def _fit(split: Split, *, method: Private, epsilon: float | None, rng: np.random.Generator) -> Rule:
    return method.fit(split.post, epsilon, rng)[0]


def _of_largest(split: Split, groups: int | None) -> Split:
    """Return the rows of so many largest groups, or of all."""
    if groups is None:
        return split
    names, counts = np.unique(split.post.groups, return_counts=True)
    kept = names[np.argsort(-counts, kind="stable")[:groups]]
    return Split(*(taken(part, np.flatnonzero(np.isin(part.groups, kept))) for part in split))


def taken(part: Part, at: np.ndarray) -> Part:
    """Return the rows at some positions."""
    return Part(*(column[at] for column in part))


def gap_and_bound(
    method: Private, split: Split, epsilon: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Fit to rows drawn anew from those of post-processing and test, and return the gap and what bounds it.

    The learner has not seen these people, and each group gets as many rows as it had in post-processing. So the rows
    are independent draws, as the bounds assume, from people whose gap is known.

    Parameters
    ----------
    method : Private
        Which method.
    split : Split
        The rows.
    epsilon : float
        ε.
    rng : numpy.random.Generator
        Draws rows and noise.
    """
    people = Part(*(np.concatenate(columns) for columns in zip(split.post, split.test, strict=True)))
    drawn = [
        rng.choice(np.flatnonzero(people.groups == name), size=count)
        for name, count in zip(*np.unique(split.post.groups, return_counts=True), strict=True)
    ]
    rows = taken(people, np.concatenate(drawn))
    rule, bound = method.fit(rows, epsilon, rng)
    if method.on_fit_rows:
        return _gap_of_both_rates(rows, rule(rows)), bound
    gap = measures(people, rule(people), method.notion)["gap"]
    assert gap is not None
    return gap, bound


def _gap_of_both_rates(rows: Part, chance: np.ndarray) -> float:
    """Return the larger gap of both rates, over the groups that have rows of the label."""
    gaps = []
    for label in (0, 1):
        own = rows.labels == label
        names, codes = np.unique(rows.groups[own], return_inverse=True)
        sums = np.bincount(codes, weights=chance[own], minlength=len(names))
        gaps.append(np.ptp(sums / np.bincount(codes)))
    return float(max(gaps))


def run_on(*, data: str, split: int, seed: int) -> list[dict[str, Any]]:
    """Run a trial on the data set of that name."""
    return list(run_trial(split_rows(dataset_of(data), split, seed), number=split))


def experiment(name: str, *, data: str) -> Experiment:
    """Return all private methods on the splits of one data set, a task per split."""
    parameters = {
        "seed": 0, "shares": SHARES, "most_rows": MOST_ROWS, "epsilons": EPSILONS, "failure": FAILURE,
        "draws": DRAWS, "scopes": SCOPES,
    }  # fmt: skip
    tasks = [{"data": data, "split": split, "seed": 0} for split in range(TRIALS)]
    return Experiment(name, Description(data), parameters, run_on, tasks)


RECORDED = "acs-income", "adult", "compas", "lsac"

EXPERIMENTS: Experiments = {
    f"several-groups-private-{data}": functools.partial(experiment, data=data) for data in RECORDED
}
