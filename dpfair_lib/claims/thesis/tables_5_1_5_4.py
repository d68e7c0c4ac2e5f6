"""Thesis, Tables 5.1–5.4: OPT and Fair Projection, from recorded trials, and the solver of the projection itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy.stats import t

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.recomputed.projection_tables import (
    AT,
    OPT_KEY,
    exact,
    exact_curve,
    exact_lead,
    mean,
    segment,
    variance,
)
from dpfair_lib.experiments.printed import printed_projections
from dpfair_lib.experiments.thesis.projection_tables_records import DATA, PUBLISHED, published, times, trials
from dpfair_lib.experiments.thesis.projection_tables_summary import (
    GAPS,
    OPT,
    ROUNDING,
    Beside,
    Matched,
    at_equal_gap,
    change_beside_printed,
    loss_beside_printed,
)
from dpfair_lib.local.projection import Constraints, Projection, project

AGREEMENT = 1e-9
OFF_THE_CURVE = {
    ("5.1", "kl", 0.2201), ("5.1", "ce", 0.2197), ("5.1", "kl", 0.2345), ("5.1", "ce", 0.2348),
    ("5.2", "kl", 0.1675), ("5.2", "ce", 0.1664), ("5.2", "kl", 0.1941),
    ("5.3", "kl", 0.109), ("5.3", "ce", 0.1092), ("5.4", "kl", 0.0573), ("5.4", "ce", 0.0573),
}  # fmt: skip
"""The printed losses of Fair Projection that our curve misses: table, divergence and printed gap."""
NON_FAIR = {"compas": 0.5e-4, "adult": 1e-4}  # COMPAS to the printed digits, Adult to 0.0001
PROBLEMS, ROWS = 6, 60


def check(
    *,
    change: Callable[..., Beside] = change_beside_printed,
    matched: Callable[..., Matched] = at_equal_gap,
    loss: Callable[..., Beside] = loss_beside_printed,
    solver: Callable[..., Projection] = project,
    search: Search,
) -> Evidence:
    """Judge the solver, our means and comparisons, and the runtime; then compare with the printed numbers."""
    lines = _printed()
    _solver(solver, search)
    _non_fair(lines, search)
    _opt(change, lines, search)
    _projections(loss, lines, search)
    _leads(matched, lines, search)
    _times(search)
    return search.evidence()


@cache
def _printed() -> Any:
    return printed_projections()


# What the library itself says of the records is computed once: a check with a fault in one function asks for the
# rest again, and gets the same.
@cache
def _change_of(change: Callable[..., Beside], at: Any, measure: str, comparisons: int) -> Beside:
    line = _printed().loc[at]
    return change(trials(line["data"]), line, measure, comparisons=comparisons)


@cache
def _loss_of(loss: Callable[..., Beside], at: Any) -> Beside:
    line = _printed().loc[at]
    return loss(published(line["data"]), line)


@cache
def _lead_of(
    matched: Callable[..., Matched], data: str, notion: str, divergence: str, level: float, confidence: float
) -> Matched:
    return matched(trials(data), notion, divergence, level, confidence=confidence)


@cache
def _problem(at: int) -> tuple[np.ndarray, np.ndarray, float, Constraints]:
    """Return the predictions of a random classifier, groups, a tolerance, and parity within it as constraints."""
    rng = np.random.default_rng(at)
    y = rng.dirichlet(np.full(2 + at % 2, 1.5), size=ROWS)
    group, slack = rng.permutation(np.arange(ROWS) % 2), (0.0, 0.02, 0.1)[at % 3]
    weight = np.where(group[:, np.newaxis] == [0, 1], 2.0, 0.0) - 1  # rate of the group less the rate of all
    return y, group, slack, Constraints([np.hstack([weight - slack, -weight - slack])] * y.shape[1])


@cache
def _solved(solver: Callable[..., Projection], at: int, divergence: Literal["kl", "ce"]) -> Projection:
    y, _, _, constraints = _problem(at)
    return solver(y, constraints, divergence)


def _solver(solver: Callable[..., Projection], search: Search) -> None:
    """The solution meets its constraints and is optimal: feasible, stationary, with complementary prices."""
    search.part("solver")
    kinds: tuple[Literal["kl", "ce"], ...] = ("kl", "ce")
    for at, divergence in itertools.product(range(PROBLEMS), kinds):
        y, group, slack, constraints = _problem(at)
        found = _solved(solver, at, divergence)
        h, case = found.probabilities, {"problem": at, "divergence": divergence, "tolerance": slack}
        rates = np.array([h[group == a].mean(axis=0) for a in (0, 1)])
        search.observe(
            (slack * h.mean(axis=0) - abs(rates - h.mean(axis=0))).ravel(), case, tolerance=AGREEMENT
        )
        search.observe(found.multipliers, case)
        steep = np.log(h / y) if divergence == "kl" else -y / h
        steep = steep + constraints.tilt(found.multipliers)
        search.observe(-np.ptp(steep, axis=1), case, tolerance=1e-7)
        search.equal(float(found.multipliers @ constraints.values(h)), 0.0, case, tolerance=1e-8)
        first, second = (h, y) if divergence == "kl" else (y, h)
        value = float((first * np.log(first / second)).sum(axis=1).mean())
        search.equal(value, found.bound, case, tolerance=1e-8)
        search.equal(value, found.value, case, tolerance=AGREEMENT)
        missed = max(float(constraints.values(h).max()), 0.0)
        search.equal(missed, found.violation, case, tolerance=AGREEMENT)


def _non_fair(lines: Any, search: Search) -> None:
    """The rows without intervention come out on the published splits."""
    search.part("Non-Fair")
    chosen = lines[lines["method"] == "Non-Fair"].to_dict("records")
    for line in chosen:
        found = exact(line["data"], "Non-Fair", None, None, None, splits=PUBLISHED)
        for name in ("accuracy", line["notion"]):
            printed = line["accuracy" if name == "accuracy" else "gap"]
            ours = float(mean([trial[AT[name]] for trial in found]))
            search.observe(
                NON_FAIR[line["data"]] - abs(ours - printed),
                {"table": line["table"], "of": name},
                tolerance=1e-7,
            )
    search.exhausts("every printed row without intervention", cases=2 * len(chosen))
    for data, within in NON_FAIR.items():
        search.fact(
            f"exact_{data}",
            within,
            f"{data}: by how much at most a printed row of Non-Fair differs from ours",
        )


@cache
def _exact_change(data: str, level: float, at: int) -> tuple[float, float, int]:
    """Return what OPT changes against Non-Fair: mean, standard deviation, and the number of trials."""
    plain = exact(data, "Non-Fair", None, None, None)
    change = [one[at] - other[at] for one, other in zip(exact(data, *OPT_KEY, level), plain, strict=True)]
    return float(mean(change)), math.sqrt(variance(change)), len(change)


def _opt(change: Callable[..., Beside], lines: Any, search: Search) -> None:
    """What OPT changes, on all recorded splits, against exact sums; then against the printed change."""
    search.part("OPT")
    chosen = lines[lines["method"] == "OPT"]
    plain = lines[lines["method"] == "Non-Fair"].set_index("table")
    met = []
    for place, line in chosen.iterrows():
        for measure in ("accuracy", "gap"):
            at = AT[line["notion"] if measure == "gap" else "accuracy"]
            middle, deviation, n = _exact_change(line["data"], line["level"], at)
            found = _change_of(change, place, measure, 2 * len(chosen))
            case = {"table": line["table"], "ε": line["level"], "of": measure}
            base = plain.loc[line["table"], measure]
            search.equal(found.printed, float(line[measure] - base), case, tolerance=AGREEMENT)
            quantile = t.ppf(1 - 0.025 / (2 * len(chosen)), n - 1)
            search.equal(found.ours, middle, case, tolerance=AGREEMENT)
            search.equal(found.error, deviation / math.sqrt(n), case, tolerance=AGREEMENT)
            reach = quantile * deviation * math.sqrt(1 / n + 1 / PUBLISHED) + 2 * ROUNDING
            search.equal(found.reach, reach, case, tolerance=AGREEMENT)
            search.compare(found.ours, found.printed, spread=found.reach, case=case, differs=False)
            met.append(abs(found.ours - found.printed) <= found.reach)
    search.exhausts("every printed row of OPT", cases=8 * len(chosen))
    search.fact("met_opt", f"{sum(met)} of {len(met)}", "printed changes by OPT within our spread")


def _projections(loss: Callable[..., Beside], lines: Any, search: Search) -> None:
    """On the published splits nothing is drawn: the printed loss should be that of our curve at the printed gap."""
    search.part("Fair Projection")
    chosen = lines[lines["method"] == "Fair Projection"]
    met: list[bool] = []
    excess: dict[str, list[float]] = {name: [] for name in DATA}
    plain = lines[lines["method"] == "Non-Fair"].set_index("table")["accuracy"]
    for place, line in chosen.iterrows():
        data = line["data"]
        points = exact_curve(data, line["notion"], line["variant"], PUBLISHED)
        wanted = Fraction(str(line["gap"]))
        low, high = points[(at := segment(points, wanted))], points[at + 1]
        on_line = low[1] + (wanted - low[0]) / (high[0] - low[0]) * (high[1] - low[1])
        base = mean([trial[0] for trial in exact(data, "Non-Fair", None, None, None, splits=PUBLISHED)])
        found = _loss_of(loss, place)
        case = {"table": line["table"], "divergence": line["variant"], "gap": line["gap"]}
        search.equal(found.ours, float(on_line - base), case, tolerance=AGREEMENT)
        printed = line["accuracy"] - float(plain[line["table"]])
        search.equal(found.printed, printed, case, tolerance=AGREEMENT)
        # between two tolerances the curve may run anywhere between their accuracies
        search.equal(found.reach, float(abs(high[1] - low[1])) + 2 * ROUNDING, case, tolerance=AGREEMENT)
        differs = (line["table"], line["variant"], line["gap"]) in OFF_THE_CURVE
        search.compare(found.ours, found.printed, spread=found.reach, case=case, differs=differs)
        met.append(abs(found.ours - found.printed) <= found.reach)
        excess[data].append(found.ours - found.printed)
    search.exhausts("every printed row of Fair Projection", cases=3 * len(chosen))
    search.fact("met_fair", f"{sum(met)} of {len(met)}", "printed losses of Fair Projection on our curve")
    for name, values in excess.items():
        text = f"{min(values):+.4f} to {max(values):+.4f}"
        search.fact(f"above_{name}", text, f"our curve above the printed points, {name}")


def _leads(matched: Callable[..., Matched], lines: Any, search: Search) -> None:
    """OPT's accuracy less Fair Projection's at OPT's gap, over all splits, against a second computation."""
    search.part("lead at equal gaps")
    leads: dict[str, list[tuple[float, float]]] = {name: [] for name in DATA}
    chosen = lines[lines["method"] == "OPT"].to_dict("records")
    comparisons = 2 * len(chosen)  # hold together by 95 %
    for line, divergence in itertools.product(chosen, ("kl", "ce")):
        data, notion, level = line["data"], line["notion"], line["level"]
        confidence = 1 - 0.05 / comparisons
        found = _lead_of(matched, data, notion, divergence, level, confidence)
        lead, error, n = exact_lead(data, notion, divergence, level)
        case = {"table": line["table"], "ε": level, "divergence": divergence}
        search.equal(found.difference, lead, case, tolerance=AGREEMENT)
        half = t.ppf(1 - 0.025 / comparisons, n - 1) * error
        search.equal(found.half_width, half, case, tolerance=AGREEMENT)
        # splits share rows: for new data the share of test to training rows, 3 to 7, adds to 1/n
        wider = half * math.sqrt(1 + n * 3 / 7)
        search.equal(found.half_width_new_data, wider, case, tolerance=AGREEMENT)
        leads[data].append((found.difference, found.half_width))
    search.exhausts("every printed row of OPT against both divergences", cases=6 * len(chosen))
    for data, pairs in leads.items():
        ahead, behind = (sum(sign * lead > reach for lead, reach in pairs) for sign in (1, -1))
        least, most = min(pairs)[0], max(pairs)[0]
        search.fact(
            f"leads_{data}",
            f"ahead in {ahead}, behind in {behind} of {len(pairs)}; lead {least:+.4f} to {most:+.4f}, "
            f"half-widths up to {max(reach for _, reach in pairs):.4f}",
            f"OPT against Fair Projection at equal gaps, {data}",
        )


def _times(search: Search) -> None:
    """OPT takes less than any projection, in one run."""
    search.part("runtime")
    rows = times()
    opt = float(rows.loc[rows["step"] == "OPT", "seconds"].iloc[0])
    fair = rows[rows["step"] == "Fair Projection"]
    search.observe(fair["seconds"].to_numpy() - opt, {"setting": fair["setting"].to_numpy()})
    search.exhausts("every timed projection", cases=len(fair))


def _at_nearest_tolerance(rows: Any, line: Any) -> Beside:
    kept = rows[rows["method"] == "Fair Projection"]
    kept = kept[(kept["variant"] == line["variant"]) & (kept["notion"] == line["notion"])]
    means = kept.groupby("level")[["accuracy", GAPS[line["notion"]]]].mean()
    nearest = means["accuracy"].loc[(means[GAPS[line["notion"]]] - line["gap"]).abs().idxmin()]
    plain = rows.loc[rows["method"] == "Non-Fair", "accuracy"].mean()
    return loss_beside_printed(rows, line)._replace(ours=float(nearest - plain))


def _without_chance_of_gap(*args: Any, **kwargs: Any) -> Matched:
    found, rows = at_equal_gap(*args, **kwargs), args[0]
    shifted = rows.assign(**{gap: rows.groupby(["method", "variant", "notion", "level"])[gap].transform("mean")
                             for gap in GAPS.values()})  # fmt: skip
    return found._replace(half_width=at_equal_gap(shifted, *args[1:], **kwargs).half_width)


FAULTS: dict[str, dict[str, Any]] = {
    "change without Non-Fair": {
        "change": lambda *args, **kwargs: (found := change_beside_printed(*args, **kwargs))._replace(
            ours=found.ours + 0.1
        )
    },
    "printed change turned round": {
        "change": lambda *args, **kwargs: (found := change_beside_printed(*args, **kwargs))._replace(
            printed=-found.printed
        )
    },
    "rows not yet seen as these": {
        "matched": lambda *args, **kwargs: (found := at_equal_gap(*args, **kwargs))._replace(
            half_width_new_data=found.half_width
        )
    },
    "value a hundredth too small": {
        "solver": lambda *args: replace(found := project(*args), value=0.99 * found.value)
    },
    "spread of nine splits only": {
        "change": lambda rows, *args, **kwargs: change_beside_printed(
            rows[rows["split"] < 9], *args, **kwargs
        )
    },
    "spread without the error of the printed mean": {
        "change": lambda *args, **kwargs: (found := change_beside_printed(*args, **kwargs))._replace(
            reach=found.reach - found.error
        )
    },
    "lead without the chance of OPT's gap": {"matched": _without_chance_of_gap},
    "lead on reports of the test rows too": {
        "matched": lambda *args, **kwargs: at_equal_gap(*args, **kwargs, opt={**OPT, "notion": "all"})
    },
    "nearest tolerance in place of the curve": {"loss": _at_nearest_tolerance},
    "the other divergence": {
        "solver": lambda y, constraints, divergence: project(
            y, constraints, "ce" if divergence == "kl" else "kl"
        )
    },
    "constraints of the first class only": {
        "solver": lambda y, constraints, divergence: project(
            y, Constraints([constraints.weights[0], *(0 * g for g in constraints.weights[1:])]), divergence
        )
    },
}


CLAIM = Claim(
    id="thesis.tables-5.1-5.4",
    where="thesis Tables 5.1–5.4, § 5.7.4",
    statement="At equal parity or mean equalised-odds gap, OPT (ε = 0.2, 1, 4) is at least as accurate "
    "as Fair Projection (KL, CE): COMPAS 0.6798 to 0.6804, Adult 0.8609 to 0.8611; and much faster.",
    statement_uses=("thesis.thm-14",),
    verdict="not-reproduced",
    finding="Non-Fair comes out again, and OPT as Theorem 14's channel on the training rows. Fair Projection, "
    "solved exactly, mostly loses less accuracy than printed. At equal gaps OPT is nowhere seen ahead in a "
    "hundred trials; on COMPAS it is behind by about 0.001 in 2 of 12 comparisons. OPT takes less time, but a "
    "projection takes milliseconds.",
    kind="digits",
    impact="conclusion",
    because="The thesis concludes that OPT matches or surpasses Fair Projection. At equal gaps it is ahead "
    "in 0 of 24 comparisons, and behind in 2 of 12 on COMPAS.",
    headline="OPT's 24 printed changes come out again; 9 of 20 printed losses of Fair Projection do. At "
    "equal gaps OPT is never ahead and, on COMPAS, twice behind.",
    shown_by="leads_compas",
    chapter="thesis-fair-projection",
    check=check,
    faults=FAULTS,
)
