"""Ours: what the search of a later paper's public code can return, and what classifiers trained with it show."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.once import known, once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.recomputed.randomised_training import exact_contrast
from dpfair_lib.experiments.thesis import stopped_search as public
from dpfair_lib.experiments.thesis.randomised_training import SEEDS, SETTINGS, TUNED_SEEDS
from dpfair_lib.experiments.thesis.randomised_training_records import trials
from dpfair_lib.experiments.thesis.randomised_training_summary import (
    GAPS,
    MEASURES,
    Configuration,
    Contrast,
    Terms,
    Trials,
    by_configuration,
    contrast,
)
from dpfair_lib.local import optimal_randomizer

SOLVED = 1e-7  # what a linear program is solved to
AGREEMENT = 1e-9
DIGITS = 1e-5  # of recorded numbers
LATE = 4.0  # from this ε on a lead is claimed
# of ten groups, about as race and gender on Adult
TEN_SHARES = (0.004, 0.006, 0.010, 0.019, 0.045, 0.047, 0.003, 0.005, 0.262, 0.599)
TEN_RATES = (0.27, 0.42, 0.40, 0.60, 0.23, 0.45, 0.27, 0.42, 0.34, 0.63)
TRIED = 100  # linear programs, after which no round begins
# most faults ask for the same search and records, and change them afterwards
known_search, known_rows = known(public.searched), known(public.recorded)


def check(
    *,
    program: Callable[..., public.Ratios] = public.as_ratios,
    searched: Callable[..., public.Searched] = known_search,
    of: Callable[..., Contrast] = contrast,
    recorded: Callable[..., pd.DataFrame] = known_rows,
    search: Search,
) -> Evidence:
    """Judge the program's best value, where the search ends, the recorded channels, and contrasts of the trials."""
    _best_is_zero(program, search)
    _ends(searched, search)
    _needed(search)
    _ten_groups(searched, search)
    _whole(recorded, search)
    _compare(of, recorded, search)
    return search.evidence()


def instance(k: int, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Return shares and rates of an instance."""
    rng = np.random.default_rng([k, at])
    return rng.dirichlet(np.full(k, 2.0)) * 0.9 + 0.1 / k, rng.uniform(0.1, 0.9, size=k)


def missed(matrix: np.ndarray, epsilon: float) -> float:
    """Return by how much a channel misses the worst inequality of privacy and of both kinds of truthfulness."""
    truth, away = np.diagonal(matrix), ~np.eye(len(matrix), dtype=bool)
    limits = math.exp(-epsilon) * truth - matrix, matrix - truth, matrix - truth[:, None]
    return max(float(limit[away].max()) for limit in limits)


def ratio(matrix: np.ndarray, p: np.ndarray, p1: np.ndarray) -> float:
    """Return Δ of the reports, from their own rates."""
    return float(abs((p * p1) @ matrix / (p @ matrix) / (p @ p1) - 1).max())


@once
def _best_is_zero(program: Any, search: Search) -> None:
    """The channel of a guess is in the program, with Δ = 0; on other channels the program is the one that is meant."""
    search.part("the program without a bound on the error")
    for k, at, epsilon in itertools.product((2, 3, 5), range(4), (0.25, 1.0, 4.0)):
        p, p1 = instance(k, at)
        it, away = program(p, p1, epsilon), ~np.eye(k, dtype=bool)
        case = {"p": p.tolist(), "rates": p1.tolist(), "ε": epsilon}
        guess = np.full((k, k), 1 / k)
        search.observe(it.b - it.A @ guess[away], case, tolerance=AGREEMENT)
        search.equal(it.worst(guess[away]), 0.0, case, tolerance=AGREEMENT)
        for matrix in _channels(k, at, epsilon, search.effort):
            inside = bool((it.A @ matrix[away] <= it.b).all())
            search.agree(inside, missed(matrix, epsilon) <= 0, {**case, "channel": matrix.tolist()})
            search.equal(it.worst(matrix[away]), ratio(matrix, p, p1), case, tolerance=AGREEMENT)


def _channels(k: int, at: int, epsilon: float, effort: int) -> list[np.ndarray]:
    """Return channels about private ones, and no nearer to an inequality than rounding."""
    rng = np.random.default_rng([k, at, effort])
    found = []
    for kept in rng.uniform(0, 1.3, size=20 * effort):
        noisy = kept * np.eye(k) + (1 - kept) / k + 0.2 * rng.uniform(size=(k, k)) / k
        matrix = np.abs(noisy) / np.abs(noisy).sum(axis=1, keepdims=True)
        np.fill_diagonal(matrix, 0)
        np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
        found.append(matrix)
    ratios = np.exp(epsilon * rng.uniform(0.6, 1.1, size=4))  # plain response, of about the ε
    found += [(np.full((k, k), 1.0) + (r - 1) * np.eye(k)) / (r + k - 1) for r in ratios]
    return [one for one in map(_whole_rows, found) if abs(missed(one, epsilon)) > AGREEMENT]


def _whole_rows(matrix: np.ndarray) -> np.ndarray:
    """Return the channel with entries of few digits, so that every row sums to 1 exactly."""
    coarse = np.round(matrix * 2**20) / 2**20
    np.fill_diagonal(coarse, 0)
    np.fill_diagonal(coarse, 1 - coarse.sum(axis=1))
    return coarse


@once
def _ends(searched: Any, search: Search) -> None:
    """The search ends within its stop of a bound that is at most 0, the best value, with a channel of the program."""
    search.part("where the search ends")
    for k, epsilon, stop in itertools.product((2, 3), (0.5, 2.0, 6.0), (public.STOP, 0.001)):
        p, p1 = instance(k, 0)
        found = searched(p, p1, epsilon, stop=stop)
        case = {"p": p.tolist(), "rates": p1.tolist(), "ε": epsilon, "stop": stop}
        search.agree(found.stopped, True, case)
        search.observe(-found.bound, case, tolerance=SOLVED)
        search.observe(found.bound + stop - found.value, case, tolerance=AGREEMENT)
        search.observe(-missed(found.matrix, epsilon), case, tolerance=SOLVED)
        search.observe(-abs(found.matrix.sum(axis=1) - 1), case, tolerance=SOLVED)
        search.equal(found.value, ratio(found.matrix, p, p1), case, tolerance=SOLVED)
    few = searched(*instance(3, 0), 6.0, stop=0.0, most=100)
    case = {"groups": 3, "stop": 0.0, "most": 100}
    search.agree(few.stopped, False, case)
    search.observe(few.programs - 100, case)
    search.observe(199 - few.programs, case)  # a round begins below 100, and no round here has as many as 100


@once
def _needed(search: Search) -> None:
    """At the smallest error, which the thesis asks for, unfairness is left."""
    p, p1 = instance(3, 0)
    least = optimal_randomizer(p, p1, 1.0).value
    assert least is not None
    search.needs(
        "that the error has no bound: at the smallest error", slack=-least, case={"p": p.tolist(), "ε": 1.0}
    )


@once
def _ten_groups(searched: Any, search: Search) -> None:
    """At ε = ¼ the search of ten groups ends; at ε = 1 it is not near its end after four rounds."""
    search.part("ten groups")
    p, p1 = np.array(TEN_SHARES) / sum(TEN_SHARES), np.array(TEN_RATES)
    for epsilon, ends in ((0.25, True), (1.0, False)):
        found = searched(p, p1, epsilon, most=TRIED)
        case = {"groups": 10, "ε": epsilon}
        search.agree(found.stopped, ends, case)
        search.agree(found.value - found.bound <= public.STOP, ends, case)
        search.observe(-found.bound, case, tolerance=SOLVED)
        search.equal(found.value, ratio(found.matrix, p, p1), case, tolerance=SOLVED)
    search.fact(
        "ten_left", round(found.value - found.bound, 3), "distance to the bound for ten groups, ε = 1"
    )
    search.fact("ten_programs", found.programs, "linear programs solved there")


@once
def _whole(recorded: Any, search: Search) -> None:
    """Every attribute has every ε on every seed, once; all seeds have one channel, such as the search ends with."""
    search.part("records")
    for tuned in (False, True):
        rows, levels = recorded(tuned=tuned), public.TUNED_LEVELS if tuned else public.LEVELS
        for setting in itertools.chain.from_iterable(public.SETTINGS.values()):
            seeds = TUNED_SEEDS[SETTINGS[setting][0]] if tuned else SEEDS
            here = rows[rows["setting"] == setting]
            keys = sorted(zip(here["seed"], here["epsilon"], strict=True))
            case = {"setting": setting, "tuned": tuned}
            search.agree(keys == sorted(itertools.product(range(seeds), levels)), True, case)
            found = here[["epsilon", "delta", "bound", "programs"]].drop_duplicates()
            search.agree(len(found), len(levels), {**case, "what": "channels"})
        search.agree((rows["stopped"] == 1).all(), True, {"what": "the search stopped", "tuned": tuned})
        search.observe(
            (rows["bound"] + public.STOP - rows["delta"]).to_numpy(), {"tuned": tuned}, tolerance=DIGITS
        )
        search.observe(-rows["bound"].to_numpy(), {"tuned": tuned}, tolerance=DIGITS)
        rates = rows[list(MEASURES)].to_numpy()
        search.observe(np.minimum(rates, 1 - rates).ravel(), {"what": "rates", "tuned": tuned})
    search.exhausts("every recorded trial", cases=len(recorded(tuned=False)) + len(recorded(tuned=True)))


def _terms(setting: str, epsilon: float, other: str) -> Terms:
    level = None if other == "left out" else epsilon
    return (
        (1.0, Configuration(setting, public.METHOD, epsilon)),
        (-1.0, Configuration(setting, other, level)),
    )


@functools.cache
def _comparisons(tuned: bool) -> dict[str, list[tuple[str, Terms]]]:
    """Return what is compared: late parity gaps with GRR's, and all gaps with those without the attribute."""
    settings = list(itertools.chain.from_iterable(public.SETTINGS.values()))
    levels = public.TUNED_LEVELS if tuned else public.LEVELS
    late = [level for level in levels if level >= LATE]
    return {
        "grr": [("parity", _terms(s, level, "GRR")) for s, level in itertools.product(settings, late)],
        "blind": [
            (measure, _terms(s, level, "left out"))
            for s, level, measure in itertools.product(settings, levels, GAPS)
        ],
    }


@functools.cache  # for every fault that leaves the records alone
def _together(recorded: Any, tuned: bool) -> Trials:
    return by_configuration(pd.concat([trials(tuned=tuned), recorded(tuned=tuned)]))


@once
def _compare(of: Any, recorded: Any, search: Search) -> None:
    """Contrasts against sums of exact decimals; how many are below 0, also by intervals that hold together."""
    search.part("what the trained classifiers show")
    for tuned in (False, True):
        both = _together(recorded, tuned)
        suffix = "_tuned" * tuned
        for against, compared in _comparisons(tuned).items():
            found = []
            for measure, terms in compared:
                one = of(both, measure, terms, comparisons=len(compared))
                exact = exact_contrast(measure, terms, len(compared), tuned=tuned)
                for mine, theirs in zip(one, exact, strict=True):
                    search.equal(mine, theirs, {"terms": terms, "of": measure}, tolerance=AGREEMENT)
                found.append(one)
            for key, says, count in (
                ("lower", "means below", sum(one.mean < 0 for one in found)),
                (
                    "clear",
                    "below, by all intervals together",
                    sum(one.mean < -one.half_width for one in found),
                ),
                (
                    "new",
                    "so for rows not yet seen",
                    sum(one.mean < -one.half_width_new_data for one in found),
                ),
            ):
                asked = COUNTS[against + suffix][key]
                search.agree(count, asked, {"against": against, "tuned": tuned, "count": key})
                search.fact(
                    f"{against}_{key}{suffix}", f"{count} of {len(found)}", f"{against}{suffix}: {says}"
                )


COUNTS = {
    "grr": {"lower": 6, "clear": 5, "new": 0},
    "blind": {"lower": 13, "clear": 0, "new": 0},
    "grr_tuned": {"lower": 2, "clear": 1, "new": 0},
    "blind_tuned": {"lower": 5, "clear": 0, "new": 0},
}
"""Contrasts below 0: late parity gaps against GRR's, all gaps against leaving the attribute out."""


def _changed(change: Callable[[public.Searched], public.Searched]) -> dict[str, Any]:
    return {"searched": lambda *place, **how: change(known_search(*place, **how))}


def _guess(found: public.Searched) -> public.Searched:
    return found._replace(matrix=np.full(found.matrix.shape, 1 / len(found.matrix)))


def _private_alone(p: np.ndarray, p1: np.ndarray, epsilon: float) -> public.Ratios:
    """Leave truthfulness of rows out."""
    it, pairs = public.as_ratios(p, p1, epsilon), len(p) * (len(p) - 1)
    keep = np.r_[0 : pairs + len(p), pairs + len(p) + pairs : len(it.b)]
    return it._replace(A=it.A[keep], b=it.b[keep])


def _bounded(p: np.ndarray, p1: np.ndarray, epsilon: float) -> public.Ratios:
    """Bound the error by that of plain response, as the thesis would."""
    it = public.as_ratios(p, p1, epsilon)
    most = (len(p) - 1) / (math.exp(epsilon) + len(p) - 1)
    return it._replace(b=np.r_[it.b[:-1], most])


def _late_once(*, tuned: bool) -> pd.DataFrame:
    rows = known_rows(tuned=tuned)
    return rows[~((rows["seed"] == 3) & (rows["epsilon"] == rows["epsilon"].max()))]


def _of_other_seeds(*, tuned: bool) -> pd.DataFrame:
    rows = known_rows(tuned=tuned)
    return rows.assign(**{name: np.roll(rows[name], 1) for name in GAPS})


FAULTS: dict[str, dict[str, Any]] = {
    "rows need not be truthful": {"program": _private_alone},
    "the error of plain response": {"program": _bounded},
    "half the ε": {"program": lambda p, p1, epsilon: public.as_ratios(p, p1, epsilon / 2)},
    "rates of other groups": {"program": lambda p, p1, epsilon: public.as_ratios(p, p1[::-1], epsilon)},
    "signed ratios of one side": {
        "program": lambda p, p1, epsilon: (it := public.as_ratios(p, p1, epsilon))._replace(
            C=it.C[: len(p)], f=it.f[: len(p)], E=it.E[: len(p)], g=it.g[: len(p)]
        )
    },
    "it always stops": _changed(lambda found: found._replace(stopped=True)),
    "a guess for the channel": _changed(_guess),
    "a bound above the best value": _changed(lambda found: found._replace(bound=found.bound + 0.005)),
    "ten times the stop": {
        "searched": lambda p, p1, epsilon, *, stop=public.STOP, most=public.MOST: public.searched(
            p, p1, epsilon, stop=10 * stop, most=most
        )
    },
    "a trial missing": {"recorded": _late_once},
    "gaps of other seeds": {"recorded": _of_other_seeds},
    "one comparison instead of all": {"of": lambda *place, **_: contrast(*place)},
    "the other way round": {
        "of": lambda *place, **count: (one := contrast(*place, **count))._replace(mean=-one.mean)
    },
}

CLAIM = Claim(
    id="ours.stopped-search",
    where="What has appeared since, Result 1",
    statement="Without a bound on the error the program has the best value 0 at every ε. So a search that stops within "
    "0.01 of a lower bound returns some channel with Δ at most 0.01. Trained with such channels of five groups, "
    "classifiers have smaller parity gaps than with GRR in 6 of 6 cases with ε from 4 on. "
    "None of 28 gaps is shown to be below that of leaving the attribute out.",
    statement_uses=("thesis.figs-5.1-5.10",),
    verdict="holds",
    finding="On Adult (race) and LSAC (family income), 20 splits, 5 of the 6 are below 0 by intervals that hold "
    "together for splits of these rows, and none for rows not yet seen. For ten groups the search ends at ε = ¼. "
    "At ε = 1 it is not near its end after 110 linear programs.",
    headline="The public code's channels for five groups lower the parity gap below GRR's at large ε, and in 0 of 28 "
    "cases clearly below leaving the attribute out.",
    kind="theorem",
    chapter="since",
    check=check,
    faults=FAULTS,
)
