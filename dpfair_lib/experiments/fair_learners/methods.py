"""Private and fair learners under three protections, each with its own dial; all that they cost is counted.

What is chosen about a method is a small table of candidates, from which other data choose. A dial trades error for
fairness: a penalty, a clipping norm, or the gap that is allowed. Every setting of a dial has the whole ε, alone.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.experiments.fair_learners.bases import (
    ATTRIBUTE,
    PRESENT,
    RECORD,
    Base,
    Bases,
    divided,
)
from dpfair_lib.experiments.fair_learners.people import People
from dpfair_lib.experiments.ours.private_learners_fits import Candidate
from dpfair_lib.privacy import PrivacyStatement, compose
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import below, noise_scale

GAMMAS = 0.0, 0.02, 0.05, 0.1
"""Gaps that post-processing allows."""
PENALTIES = 0.0, 1.0, 10.0, 100.0, 1000.0
FERMI_PENALTIES = 0.0, 1.0, 4.0, 16.0
GROUP_NORMS, GLOBAL_NORMS = (0.1, 0.3, 0.6), (0.1, 0.3, 1.0)
SIZES_SHARE = 0.1
"""Of post-processing's ε, what noisy group sizes use, by which noisy counts of selected people are divided."""
FREQUENCIES_SHARE = 0.05
THRESHOLDS = -1.0, -0.5, 0.0, 0.5, 1.0
"""On the log-odds of the private classifier: each group has one of them."""
SHARES: tuple[Candidate, ...] = tuple({"share": at} for at in (0.1, 0.25, 0.5))
NOT_SPLIT: tuple[Candidate, ...] = ({},)
MOVED = {RECORD: 2, PRESENT: 1, ATTRIBUTE: 2}
"""How many noisy counts of post-processing one change of the data can move by 1 each."""


class Fit(NamedTuple):
    """A fitted method at one setting of its dial.

    Attributes
    ----------
    dial : float or None
        The setting; None if there is no dial.
    chances : ndarray of shape (n,)
        Of each test row, the probability of label 1.
    statement : PrivacyStatement or None
        All that was released of the training rows; None without privacy.
    seconds : float
        Processor time, with that of the base classifier; what all settings share counts for the first.
    """

    dial: float | None
    chances: np.ndarray
    statement: PrivacyStatement | None
    seconds: float


class Method(NamedTuple):
    """A private and fair learner.

    Attributes
    ----------
    name, protection, notion : str
        The notion is that of the dial, or "" if the method aims at none of the three.
    candidates : tuple of dict
        What may be chosen about it.
    fit : callable
        From bases, test rows, ε and a candidate to its fits, one for each setting of the dial.
    """

    name: str
    protection: str
    notion: str
    candidates: tuple[Candidate, ...]
    fit: Callable[[Bases, People, float, Candidate], Iterator[Fit]]


def plain(bases: Bases, test: People, epsilon: float, _: Candidate, *, protection: str) -> Iterator[Fit]:
    """Train privately, and do nothing about fairness."""
    base = bases.get(protection, epsilon)
    yield Fit(None, base.guesses(test).astype(float), _paid(base), base.seconds)


def postprocessed(
    bases: Bases, test: People, epsilon: float, candidate: Candidate, *, protection: str, kind: str
) -> Iterator[Fit]:
    """Train privately, and change labels by noisy counts of the same rows (`postprocessor`)."""
    base, left = _base_and_rest(bases, epsilon, candidate, protection)
    guesses = base.guesses(bases.train), base.guesses(test)
    spent = base.seconds
    for gamma in (0.0,) if kind == "printed" else GAMMAS:
        start = time.process_time()
        rng = bases.seed(kind, protection, epsilon)  # the same noise for each γ
        fair, sizes = postprocessor(kind, protection, left, gamma, bases.train.groups, rng)
        fair.fit(guesses[0], y_true=bases.train.labels, sensitive_features=bases.train.groups)
        chances = fair.predict_proba(guesses[1], sensitive_features=test.groups)[:, 1]
        spent += time.process_time() - start
        parts = [part for part in (base.statement, sizes, fair.privacy_statement_) if part is not None]
        yield Fit(None if kind == "printed" else gamma, chances, compose(*parts), spent)
        spent = 0.0


def postprocessor(
    kind: str, protection: str, epsilon: float, gamma: float, groups: np.ndarray, rng: np.random.Generator
) -> tuple[Any, PrivacyStatement | None]:
    """Return a post-processor that is not fitted, and what the noisy group sizes that it got cost.

    Parameters
    ----------
    kind : {"printed", "parity", "opportunity", "odds"}
        Algorithm 2 with Laplace noise as printed, or the notion.
    protection : str
        The relation.
    epsilon : float
        For sizes and counts together.
    gamma : float
        The gap that is allowed on the noisy counts.
    groups : ndarray
        Of the training rows.
    rng : Generator
        Of study noise.
    """
    from dpfair_lib import EqualizedOddsPostprocessor, PrivateFairPostprocessor

    study: dict[str, Any] = {"noise": "study", "random_state": rng}
    if kind == "odds":
        return EqualizedOddsPostprocessor(
            gamma=gamma, epsilon=epsilon, relation=protection, relaxed=False, groups=(0, 1), **study
        ), None
    if kind == "opportunity":
        each = below(Fraction(epsilon) / MOVED[protection])
        return PrivateFairPostprocessor(
            each, relation=protection, mechanism="geometric", notion="equal_opportunity", gamma=gamma,
            group_sizes=[0, 1], **study,
        ), None  # fmt: skip
    for_counts, for_sizes = divided(epsilon, SIZES_SHARE)
    sizes, statement = noisy_sizes(groups, protection, for_sizes, rng)
    each = below(Fraction(for_counts) / MOVED[protection])
    return PrivateFairPostprocessor(
        each, relation=protection, mechanism="laplace" if kind == "printed" else "geometric", gamma=gamma,
        group_sizes=sizes, **study,
    ), statement  # fmt: skip


def noisy_sizes(
    groups: np.ndarray, protection: str, epsilon: float, rng: np.random.Generator
) -> tuple[dict[int, int], PrivacyStatement]:
    """Return noisy sizes of both groups, at least 1 each, and what they cost.

    Where the number of rows is public, so is the second size, given the first: then one noisy count is released, which
    one change of the data moves by 1. Else there are two noisy counts, of which one is moved by 1.

    Parameters
    ----------
    groups : ndarray
        0 and 1 for each row.
    protection : str
        The relation.
    epsilon : float
        ε > 0.
    rng : Generator
        Of study noise.
    """
    source, counts = NoiseSource.sharing("study", rng), np.bincount(groups, minlength=2)
    if protection == PRESENT:
        noisy = source.add_discrete_laplace(counts, noise_scale(1, epsilon))
    else:
        first = source.add_discrete_laplace(counts[:1], noise_scale(1, epsilon))[0]
        noisy = np.array([first, len(groups) - first])
    statement = PrivacyStatement(epsilon, 0.0, protection, public=("which groups there are",))
    return {at: max(int(noisy[at]), 1) for at in (0, 1)}, source.mark(statement)


def chosen_thresholds(bases: Bases, test: People, epsilon: float, candidate: Candidate) -> Iterator[Fit]:
    """Train privately, and let `ExponentialFairLearner` choose a threshold for each group."""
    from dpfair_lib import ExponentialFairLearner

    base, left = _base_and_rest(bases, epsilon, candidate, RECORD)
    start = time.process_time()
    rules = [functools.partial(_above, thresholds=(one, other)) for one in THRESHOLDS for other in THRESHOLDS]
    model = ExponentialFairLearner(
        rules, epsilon=below(Fraction(left) / 2), delta=0.0, repair="pure", noise="study",
        random_state=bases.seed("thresholds", epsilon),
    )  # fmt: skip
    model.fit(base.scores(bases.train), bases.train.labels, sensitive_features=bases.train.groups)
    chances = model.predict_proba(base.scores(test), sensitive_features=test.groups)[:, 1]
    spent = base.seconds + time.process_time() - start
    yield Fit(None, chances, compose(_paid(base), model.privacy_statement_), spent)


def _above(scores: np.ndarray, groups: np.ndarray, *, thresholds: tuple[float, float]) -> np.ndarray:
    return (np.asarray(scores) > np.array(thresholds)[np.asarray(groups)]).astype(float)


def functional(bases: Bases, test: People, epsilon: float, candidate: Candidate) -> Iterator[Fit]:
    """Do what `FairFunctionalClassifier` does for every penalty: the noisy sums are released once."""
    from dpfair_lib.learners import functional as parts
    from dpfair_lib.privacy import gaussian_sigma

    n, d = bases.train.features.shape
    bound, start = math.sqrt(2), time.process_time()  # of rows in the unit ball with an entry 1 more
    sigma = gaussian_sigma(epsilon, bases.delta, parts.sensitivity(d + 1), "analytic")
    source = NoiseSource.sharing("study", bases.seed("functional", epsilon))
    found = parts.coefficients(source.add_gaussian(bases.sums, sigma), d + 1, n, bound)
    statement = source.mark(PrivacyStatement(epsilon, bases.delta, RECORD, public=parts.PUBLIC))
    usual = math.sqrt(d + 1) * sigma * bound * bound / (parts.FINE * n)
    for penalty in PENALTIES:
        weights = parts.minimiser(found, n, penalty, candidate["factor"] * usual)
        chances = (test.features @ weights[:-1] + weights[-1] > 0).astype(float)
        yield Fit(penalty, chances, statement, time.process_time() - start)
        start = time.process_time()


def fermi(bases: Bases, test: People, epsilon: float, candidate: Candidate) -> Iterator[Fit]:
    """Train `DPFermiClassifier` with all penalties on the same batches and noise."""
    from dpfair_lib import DPFermiClassifier

    steps, start, n = bases.steps(epsilon), time.process_time(), len(bases.train.labels)
    model = DPFermiClassifier(
        penalty=FERMI_PENALTIES, epsilon=epsilon, delta=bases.delta, steps=steps["steps"],
        batch_size=max(round(steps["sample_rate"] * n), 1), learning_rate=candidate["factor"] * steps["learning_rate"],
        w_learning_rate=candidate["w_rate"], max_grad_norm=1.0, frequency_epsilon=FREQUENCIES_SHARE * epsilon,
        noise="study", random_state=bases.seed("fermi", epsilon),
    ).fit(bases.train.features, bases.train.labels, sensitive_features=bases.train.groups)  # fmt: skip
    scores = model.decision_function(test.features).reshape(len(FERMI_PENALTIES), -1)
    spent = time.process_time() - start
    for at, penalty in enumerate(FERMI_PENALTIES):
        yield Fit(
            penalty, (scores[at] > 0).astype(float), model.privacy_statement_, spent if at == 0 else 0.0
        )


def clipped(bases: Bases, test: People, epsilon: float, candidate: Candidate, *, by: str) -> Iterator[Fit]:
    """Train by DP-SGD with clipping by group, or with one scale for all; the dial is the clipping norm."""
    from dpfair_lib import DPGlobalScalingClassifier, DPGroupClippingClassifier

    steps = bases.steps(epsilon)
    steps["learning_rate"] *= candidate["factor"]
    for norm in GROUP_NORMS if by == "group" else GLOBAL_NORMS:
        start = time.process_time()
        common: dict[str, Any] = {
            "epsilon": epsilon, "delta": bases.delta, "max_grad_norm": norm, "fit_intercept": False,
            "classes": (0, 1), "noise": "study", "random_state": bases.seed(by, norm, epsilon), **steps,
        }  # fmt: skip
        if by == "group":
            model = DPGroupClippingClassifier(groups=(0, 1), **common)
            model.fit(bases.train.features, bases.train.labels, sensitive_features=bases.train.groups)
        else:  # a gradient is a row times a number in [−1, 1]: none is longer than 1
            model = DPGlobalScalingClassifier(scale_norm=1.0, **common)
            model.fit(bases.train.features, bases.train.labels)
        chances = model.predict(test.features).astype(float)
        yield Fit(norm, chances, model.privacy_statement_, time.process_time() - start)


def reported(bases: Bases, test: People, epsilon: float, _: Candidate) -> Iterator[Fit]:
    """Change labels by randomised reports of the group, in training and on the test (`ReportedOddsPostprocessor`)."""
    from dpfair_lib import ReportedOddsPostprocessor, generalized_randomized_response

    base, rng = bases.get(ATTRIBUTE, epsilon), bases.seed("reported", epsilon)
    spent, start = base.seconds, time.process_time()
    channel = generalized_randomized_response(2, epsilon)
    reports = [channel.apply(people.groups, rng) for people in (bases.train, test)]
    for gamma in GAMMAS:
        model = ReportedOddsPostprocessor(channel, gamma=gamma, noise="study")
        model.fit(base.guesses(bases.train), y_true=bases.train.labels, reports=reports[0])
        chances = model.predict_proba(base.guesses(test), reports=reports[1])[:, 1]
        spent += time.process_time() - start
        yield Fit(gamma, chances, model.privacy_statement_, spent)
        spent, start = 0.0, time.process_time()


def _base_and_rest(bases: Bases, epsilon: float, candidate: Candidate, protection: str) -> tuple[Base, float]:
    """Return the base classifier, and the ε that is left for what follows."""
    if protection == ATTRIBUTE:
        return bases.get(protection, epsilon), epsilon
    for_base, left = divided(epsilon, candidate["share"])
    return bases.get(protection, for_base), left


def _paid(base: Base) -> PrivacyStatement:
    assert base.statement is not None
    return base.statement


def _changed(name: str, protection: str, kind: str) -> Method:
    fit = functools.partial(postprocessed, protection=protection, kind=kind)
    notion = "parity" if kind == "printed" else kind
    return Method(name, protection, notion, NOT_SPLIT if protection == ATTRIBUTE else SHARES, fit)


def _factors(*factors: float, **more: float) -> tuple[Candidate, ...]:
    return tuple({"factor": at, **more} for at in factors)


CHANGED = {
    "Algorithm 2": "printed", "ours, parity": "parity", "ours, opportunity": "opportunity",
    "odds by counts": "odds",
}  # fmt: skip
"""Post-processing by noisy counts of a private classifier: names, and what `postprocessor` calls them."""
PLAIN = "no fairness"
METHODS: tuple[Method, ...] = (
    Method(PLAIN, RECORD, "", NOT_SPLIT, functools.partial(plain, protection=RECORD)),
    Method("functional mechanism", RECORD, "", _factors(1.0, 4.0), functional),
    *(_changed(name, RECORD, kind) for name, kind in CHANGED.items()),
    Method("thresholds", RECORD, "opportunity", SHARES, chosen_thresholds),
    Method(PLAIN, PRESENT, "", NOT_SPLIT, functools.partial(plain, protection=PRESENT)),
    Method("group clipping", PRESENT, "", _factors(1.0, 3.0), functools.partial(clipped, by="group")),
    Method("global scaling", PRESENT, "", _factors(1.0, 3.0, 10.0), functools.partial(clipped, by="global")),
    Method(
        "DP-FERMI",
        PRESENT,
        "parity",
        tuple(one for rate in (0.3, 3.0) for one in _factors(0.3, 1.0, w_rate=rate)),
        fermi,
    ),
    *(_changed(name, PRESENT, kind) for name, kind in CHANGED.items()),
    *(_changed(name, ATTRIBUTE, kind) for name, kind in CHANGED.items()),
    Method("odds by reports", ATTRIBUTE, "odds", NOT_SPLIT, reported),
)
