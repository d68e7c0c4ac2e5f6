"""Summary of private post-processing for several groups, and of what makes gaps on new rows differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpfair_lib.experiments.ours.private_learners_summary import verdict
from dpfair_lib.experiments.ours.several_groups_gaps import BOTH, FINER, HALFWAY, WIDEST
from dpfair_lib.experiments.ours.several_groups_methods import ERRORS, NOTIONS, OPTIMIZER
from dpfair_lib.experiments.ours.several_groups_summary import Cell, difference, means

MEANS = "error", "gap", "large_gap"


def beside_no_noise(rows: Mapping[str, pd.DataFrame], scope: str, *, level: float = 0.95) -> pd.DataFrame:
    """Return what the private methods do on test rows, and how much more error noise makes.

    Parameters
    ----------
    rows : mapping
        By data set, from `several_groups_private.run_trial`.
    scope : str
        A key of `several_groups_private.SCOPES`.
    level : float
        Confidence with which all intervals hold, by Bonferroni's inequality over the lines with noise.

    Returns
    -------
    DataFrame
        A line for each data set, notion, method and ε (NaN without noise): the means ``error``, ``gap``, ``large_gap``
        over the splits; ``more`` and ``more_half``, the difference of errors from the same method without noise, with
        ``more_verdict``; ``bound``, the mean of the bounds.
    """
    kept = {data: found[found["scope"] == scope] for data, found in rows.items()}
    noisy = sum(
        len(found[found["epsilon"].notna()].drop_duplicates(["notion", "epsilon"])) for found in kept.values()
    )
    table: list[dict[str, Any]] = []
    for data, found in kept.items():
        for notion in dict.fromkeys(found["notion"]):
            for mean in means(found, notion).reset_index().to_dict("records"):
                method, gamma, epsilon = (mean[name] for name in ("method", "gamma", "epsilon"))
                line: dict[str, Any] = {"data": data, "notion": notion, "method": method, "epsilon": epsilon}
                line |= {name: mean[f"test_{name}"] for name in MEANS}
                if not pd.isna(epsilon):
                    one, other = Cell(method, notion, gamma, epsilon), Cell(method, notion, gamma)
                    apart = difference(found, one, other, "test_error", level=1 - (1 - level) / noisy)
                    own = found[(found["method"] == method) & (found["epsilon"] == epsilon)]
                    line |= dict(zip(("more", "more_half"), apart, strict=True))
                    line |= {"more_verdict": verdict(*apart), "bound": own["bound"].mean()}
                table.append(line)
    return pd.DataFrame(table)


def broken(rows: Mapping[str, pd.DataFrame], *, level: float = 0.95) -> pd.DataFrame:
    """Return how often bounds were broken.

    Parameters
    ----------
    rows : mapping
        By data set, from `several_groups_private.run_trial`.
    level : float
        Confidence with which all intervals hold, by Bonferroni's inequality over the lines.

    Returns
    -------
    DataFrame
        A line for each scope, notion and ε: ``broken`` of ``draws`` over all data sets; ``lowest`` and ``highest``, the
        ends of the exact (Clopper–Pearson) interval for the chance; ``bound``, the mean; ``useful``, the share of
        splits whose mean bound is below 1.
    """
    from scipy.stats import beta

    together = pd.concat(rows.values())
    together = together[together["epsilon"].notna()]
    grouped = together.groupby(["scope", "notion", "epsilon"], sort=False)
    found = grouped[["broken", "draws"]].sum().astype(int)
    tail = (1 - level) / len(found) / 2
    missed = found["draws"] - found["broken"]
    found["lowest"] = beta.ppf(tail, found["broken"], missed + 1)
    found["highest"] = beta.isf(tail, found["broken"] + 1, missed)
    found["lowest"] = found["lowest"].where(found["broken"] > 0, 0.0)
    found["highest"] = found["highest"].where(missed > 0, 1.0)
    return found.assign(
        bound=grouped["bound"].mean(), useful=grouped["bound"].agg(lambda bounds: (bounds < 1).mean())
    ).reset_index()


def why_gaps_differ(rows: Mapping[str, pd.DataFrame], *, level: float = 0.95) -> pd.DataFrame:
    """Return gaps on test rows of ours, its variants and the finer grid, each minus `ThresholdOptimizer`.

    Parameters
    ----------
    rows : mapping
        By data set, from `several_groups_gaps.run_on`.
    level : float
        Confidence with which all intervals of one column hold, by Bonferroni's inequality over the lines.

    Returns
    -------
    DataFrame
        A line for each data set, notion and method: for ``gap``, ``large_gap`` (NaN where in some split fewer than two
        groups are large) and ``error`` the mean difference, with ``_half`` its interval and with ``_verdict`` where
        that lies; ``small_chance``: the mean of how often two draws differ for a person of a small group.
    """
    compared = ERRORS, HALFWAY, WIDEST, BOTH, FINER
    lines = [(data, notion, name) for data in rows for notion in NOTIONS for name in compared]
    each = 1 - (1 - level) / len(lines)
    table: list[dict[str, Any]] = []
    for data, notion, name in lines:
        found = rows[data]
        one, other = Cell(name, notion, 0.0), Cell(OPTIMIZER, notion, 0.0)
        line: dict[str, Any] = {"data": data, "notion": notion, "method": name}
        for column in ("gap", "large_gap", "error"):
            known = found[f"test_{column}"][found["notion"] == notion].notna().all()
            mean, half = (
                difference(found, one, other, f"test_{column}", level=each) if known else (math.nan, math.nan)
            )
            line |= {column: mean, f"{column}_half": half, f"{column}_verdict": verdict(mean, half)}
        own = found[(found["method"] == name) & (found["notion"] == notion)]
        theirs = found[(found["method"] == OPTIMIZER) & (found["notion"] == notion)]
        line |= {
            "small_chance": own["test_small_chance"].mean(),
            "their_small_chance": theirs["test_small_chance"].mean(),
        }
        table.append(line)
    return pd.DataFrame(table)
