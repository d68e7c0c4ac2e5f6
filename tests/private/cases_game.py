"""Releases of the no-regret learner: noisy counts once, or every round of the game."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
from cases import Asked, Case, Data, Pairs, estimator

import dpfair_lib as dpf
from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import no_regret_dynamics
from dpfair_lib.compatibility.subgroup_fairness.no_regret import noisy_counts
from dpfair_lib.privacy import zcdp_delta

LEVELS = {"job": ["none", "full"], "sex": ["f", "m"]}
GAME = {
    "subgroups": [{"sex": "f"}, {"sex": "m"}],
    "levels": LEVELS,
    "rounds": 3,
    "samples": 2,
    "dual_bound": 4.0,
}


def _people() -> Data:
    at = np.arange(12)
    return {
        "X": pd.DataFrame({"job": np.where(at % 3 == 0, "none", "full")}),
        "y": at % 2,
        "sensitive_features": pd.DataFrame({"sex": np.where(at % 4 < 2, "f", "m")}),
    }


def _people_pairs() -> Pairs:
    plain = _people()

    def with_row(data: Data, job: str, label: int, sex: str) -> Data:
        X, y, S = data["X"].copy(), data["y"].copy(), data["sensitive_features"].copy()
        X.loc[0, "job"], y[0], S.loc[0, "sex"] = job, label, sex
        return {"X": X, "y": y, "sensitive_features": S}

    everyone = itertools.product(LEVELS["job"], (0, 1), LEVELS["sex"])
    pairs = {
        f"one is {job}, {label}, {sex}": (plain, with_row(plain, job, label, sex))
        for job, label, sex in everyone
    }
    ones = plain | {"y": np.ones_like(plain["y"])}
    pairs["one label only"] = (ones, with_row(ones, "none", 0, "f"))
    full = {
        "X": pd.DataFrame({"job": ["full"] * 12}), "y": np.zeros(12, dtype=int),
        "sensitive_features": pd.DataFrame({"sex": ["m"] * 12}),
    }  # fmt: skip
    pairs["all alike, but for one"] = (full, with_row(full, "none", 1, "f"))
    return pairs


def _budget(statement: Any) -> float:
    """Return the largest ρ whose best conversion is (ε, δ), by bisection."""
    low, high = 0.0, 100.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if zcdp_delta(middle, statement.epsilon) <= statement.delta else (low, middle)
        )
    return low


def _cells(statement: Any, data: Data, _: Any) -> list[Asked]:
    cells = itertools.product(LEVELS["job"], LEVELS["sex"], (0, 1))
    counts = [
        int(((data["X"]["job"] == job) & (data["sensitive_features"]["sex"] == sex) & (data["y"] == y)).sum())
        for job, sex, y in cells
    ]
    # a replaced record moves two counts by 1: ρ = 2/(2σ²)
    return [Asked("gaussian", 1 / math.sqrt(_budget(statement)), np.array(counts))]


def _rounds(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
    # half of ρ for the losses, Δ²/(2σ²) each, with Δ = (2 + √2 C)/n; half for the auditor's maximum, ε₀²/2 each, of
    # scores that move by 1/n; the scores are those of what the learner draws, and are not told
    n, rounds, weight = len(data["y"]), GAME["rounds"], GAME["dual_bound"]
    share = _budget(statement) / (2 * rounds)
    sigma, scale = (2 + math.sqrt(2) * weight) / n / math.sqrt(2 * share), 2 / (n * math.sqrt(2 * share))
    job, sex = data["X"]["job"].to_numpy(), data["sensitive_features"]["sex"].to_numpy()
    negative = data["y"] == 0
    error = np.array([(np.where(negative, 1, -1)[job == one]).sum() for one in LEVELS["job"]]) / n
    violations = []
    for group in GAME["subgroups"]:
        inside = negative & (sex == group["sex"])
        part = inside.sum() / negative.sum() if negative.any() else 0.0
        violations.append([(part * negative - inside)[job == one].sum() / n for one in LEVELS["job"]])
    # whom the noisy scores name: a subgroup and a sign, or nobody
    moves = weight * np.array([*violations, *(-np.array(violations)), np.zeros(len(error))])
    asked = []
    for answer in answers[::2]:
        asked.append(Asked("laplace", scale, np.full(len(moves), np.nan)))
        asked.append(Asked("gaussian", sigma, error + moves[int(np.argmax(answer))]))
    assert len(answers) == 2 * rounds
    return asked


def game(release: str) -> Case:
    """Return the case of the no-regret learner; NaN in what is handed over stands for a number that is not told."""
    return Case(
        name=f"no regret, {release}",
        covers=(dpf.PrivateNoRegretFair, no_regret_dynamics, noisy_counts),
        relation="replace-one",
        make=estimator(dpf.PrivateNoRegretFair, epsilon=1.0, delta=1e-3, release=release, **GAME),
        data=_people,
        pairs=_people_pairs,
        asked=_cells if release == "counts" else _rounds,
        numbers=lambda fitted: fitted.selection_,
        through=None,
        noisy=frozenset({"selection_"}),
        learns=True,
    )


def printed() -> Case:
    """Return the case of the printed algorithm, which has study noise only, and no guarantee."""
    return Case(
        name="no regret, printed",
        covers=(dpf.PrivateNoRegretFair,),
        relation="replace-one",
        make=estimator(dpf.PrivateNoRegretFair, epsilon=1.0, delta=1e-3, repair=False, **GAME),
        data=_people,
        pairs=_people_pairs,
        asked=None,
        numbers=lambda fitted: fitted.selection_,
        through=None,
        noisy=frozenset({"selection_"}),
    )


CASES = [game("counts"), game("rounds"), printed()]
