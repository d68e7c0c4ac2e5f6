"""MPBT, Table 1: the privacy of what its runs release, on equal records and on the data themselves."""

from __future__ import annotations

import math
from typing import Any

from scipy.stats import norm

from dpfair_lib.claims.search import Search
from dpfair_lib.claims.shared.recomputed.bounded_impact import key_of
from dpfair_lib.experiments.mpbt.bounded_impact import (
    BOUND,
    PROBLEMS,
    STATED_MODULUS,
    noise_scale,
)
from dpfair_lib.experiments.mpbt.bounded_impact_records import (
    cut_n,
    recorded,
)
from dpfair_lib.experiments.mpbt.bounded_impact_summary import (
    guaranteed_epsilon,
)
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity

ROUNDING = 1e-9


def judge_privacy(data: str, epsilon: Any, move: Any, modulus: Any, search: Search) -> None:
    """As stated the noise is (1, δ)-private. As run it is not: on equal records, and on the data themselves."""
    search.part("privacy")
    bound, n = BOUND[data], cut_n(data)
    stated, run = (modulus(1 / n, n), modulus(n, n))
    search.equal(stated, STATED_MODULUS, {"C": "1/n"}, tolerance=ROUNDING)
    search.equal(run * n**2, 1.0, {"C": "n"}, tolerance=ROUNDING)
    allowed = output_perturbation_sensitivity(lipschitz=bound, strong_convexity=STATED_MODULUS, n=n)
    search.observe(1 - guaranteed_epsilon(bound, n, stated), {"data": data, "what": "ε as stated"})
    for fit, mu in (("as run", run), ("as stated", stated)):
        moved = move(bound, n, mu)
        found = epsilon(bound, n, moved)
        case = {"data": data, "fit": fit, "moved": moved}
        search.equal(true_delta(bound, n, moved, found) * n**2, 1.0, case, tolerance=1e-3)
        search.fact(
            key_of(data, fit, "guaranteed"),
            f"{guaranteed_epsilon(bound, n, mu):.3g}",
            f"{data}, {fit}: ε guaranteed by the modulus",
        )
        search.fact(
            key_of(data, fit, "equal_records"),
            f"{found:.3g}",
            f"{data}, {fit}: ε on n equal records, one label changed",
        )
        if fit == "as run":
            search.sanity(moved - allowed, case)
            search.against(
                1 / n**2 - true_delta(bound, n, moved, 1.0), {"bound": bound, "n": n}, verify=privacy_slack,
                tolerance=1e-15,
            )  # fmt: skip
        else:
            search.observe(allowed - moved, case)
    moves = recorded("moves", data)
    for row in moves.to_dict("records"):
        case = {name: row[name] for name in ("fit", "change", "position", "moved")}
        if row["fit"] == "as stated":
            search.observe(allowed - row["moved"], case)
        else:
            search.observe(row["moved"] - allowed, case)
    for name, rows in moves[moves["fit"].isin(PROBLEMS)].groupby("fit", sort=False):
        drawn = float(rows[rows["change"] == "drawn label"]["moved"].median())
        largest = float(rows["moved"].max())
        for key, what, moved in (
            ("record", "one record", largest),
            ("label", "a drawn record's label", drawn),
        ):
            search.fact(
                key_of(data, name, key, "move"),
                f"{moved / allowed:.3g}",
                f"{data}, {name}: move over 2Λ/(μn), {what} replaced",
            )
            search.fact(
                key_of(data, name, key, "epsilon"),
                f"{epsilon(bound, n, moved):.3g}",
                f"{data}, {name}: ε on the data, {what} replaced",
            )
        if name == "as run":
            case = {"data": data, "replaced": "one record"}
            search.broken(
                "ε of the models as run", measured=epsilon(bound, n, largest), stated=1.0, case=case
            )


def true_delta(bound: float, n: int, moved: float, epsilon: float) -> float:
    """Return δ(ε) of the noise of Table 1 on a pair that moves the weights so far, from the normal law itself."""
    ratio = moved / noise_scale(bound, n, 1.0)
    above = norm.logcdf(-ratio / 2 - epsilon / ratio)
    return float(norm.cdf(ratio / 2 - epsilon / ratio) - math.exp(min(epsilon + above, 0.0)))


def privacy_slack(bound: float, n: int) -> float:
    """Return δ as stated less the true δ at ε = 1 on n equal records, the weights found by bisection."""

    def weight(others: int) -> float:
        low, high = -20.0, 20.0
        for _ in range(200):
            w = (low + high) / 2
            risk = (
                n * bound * ((n - others) / (1 + math.exp(bound * w)) - others / (1 + math.exp(-bound * w)))
            )
            low, high = (w, high) if w < risk else (low, w)
        return low

    moved = weight(0) - weight(1)
    sigma = bound * math.sqrt(8 * math.log(1.25 * n**2)) / n
    ratio = moved / sigma
    return 1 / n**2 - float(
        norm.cdf(ratio / 2 - 1 / ratio) - math.exp(1 + norm.logcdf(-ratio / 2 - 1 / ratio))
    )
