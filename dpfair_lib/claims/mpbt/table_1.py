"""MPBT, Table 1: the recorded counts as run and as stated, the search over t, and the bounds, ours and printed."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.mpbt.table_1_privacy import ROUNDING, judge_privacy
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.recomputed.bounded_impact import exact_table, key_of
from dpfair_lib.experiments.mpbt.bounded_impact import (
    CELLS,
    FITS,
    LIPSCHITZ,
    searched_bound,
)
from dpfair_lib.experiments.mpbt.bounded_impact_records import (
    cut_n,
    data_sets,
    provenance,
    recorded,
    table_of,
)
from dpfair_lib.experiments.mpbt.bounded_impact_summary import (
    COLUMNS,
    GROUPINGS,
    cell_table,
    column_bounds,
    column_interval,
    equal_records_move,
    pair_epsilon,
    rounded,
)
from dpfair_lib.experiments.printed import printed_bounds
from dpfair_lib.margins.radius import strong_convexity

SEARCH = 1e-5  # what the search may end above its infimum
RUN = ("as run", "as run, optimum")
DIGITS_COME_OUT = {"celeba"}  # of the other data set a part of the rows is missing


def check(
    *,
    columns: Callable[..., dict[str, float]] = column_bounds,
    interval: Callable[..., Any] = column_interval,
    searched: Callable[..., tuple[float, float]] = searched_bound,
    epsilon: Callable[..., float] = pair_epsilon,
    move: Callable[..., float] = equal_records_move,
    modulus: Callable[..., float] = strong_convexity,
    printed: Callable[..., Any] = printed_bounds,
    search: Search,
) -> Evidence:
    """Judge records, search and privacy; then compare the bounds of the problem as stated with the printed ones."""
    for data in data_sets():
        _whole(data, search)
        _columns(data, columns, interval, search)
        _digits(data, columns, printed, search)
        judge_privacy(data, epsilon, move, modulus, search)
        _compare(data, columns, interval, printed, search)
    _search(searched, search)
    return search.evidence()


def _whole(data: str, search: Search) -> None:
    """Every fit has nine sets of rows, which add up; constants in order count no fewer rows."""
    search.part("record")
    rows = recorded("table", data)
    fits = rows.groupby(["fit", "n"], sort=False)
    for (fit, n), found in fits:
        case = {"data": data, "fit": fit, "n": n}
        search.agree(len(found), 9, case)
        whole = found[(found["label"] == "") & (found["group"] == "")]
        cells = found[(found["label"] != "") & (found["group"] != "")]
        for name in ("rows", "right", "near", *(f"within {which}" for which in LIPSCHITZ)):
            search.equal(int(cells[name].sum()), int(whole[name].sum()), {**case, "of": name})
        order = found[["near", "within sharp", "within as stated", "within as run", "rows"]].to_numpy()
        search.observe(np.diff(order, axis=1).ravel(), case)
        ends = found["searched"] - found["within as run"] / found["rows"]
        search.observe(ends.to_numpy(), case, tolerance=ROUNDING)
        search.observe(SEARCH - ends.to_numpy(), case)
    search.exhausts(f"every recorded set of rows, {data}", cases=len(rows))
    search.agree(len(fits), len(FITS) + rows["n"].nunique() - 1, {"data": data, "what": "fits"})


def _columns(data: str, columns: Any, interval: Any, search: Search) -> None:
    """Bounds and intervals from the counts, a second time in fractions and from binomial tails."""
    search.part("columns")
    for fit, n in _fits(data):
        for which, grouping in itertools.product(LIPSCHITZ, GROUPINGS):
            size, within = _counts(data, fit, n, "rows"), _counts(data, fit, n, f"within {which}")
            exact = exact_table(data, fit, n, which, grouping)
            found = columns(size, within / size, grouping=grouping)
            case = {"data": data, "fit": fit, "n": n, "L": which, "grouping": grouping}
            for name in COLUMNS:
                search.equal(float(found[name]), float(exact[name]), {**case, "of": name}, tolerance=ROUNDING)
    size = np.array([[40.0, 1.0], [7.0, 300.0]])
    for within in (np.zeros((2, 2)), np.array([[3.0, 1.0], [0.0, 30.0]]), size):
        low, high = interval(size, within, grouping="as stated")
        shares = [_ends(k, m) for k, m in zip(within.ravel(), size.ravel(), strict=True)]
        for end, found in enumerate((low, high)):
            expected = column_bounds(
                size, np.array([pair[end] for pair in shares]).reshape(2, 2), grouping="as stated"
            )
            for name in COLUMNS:
                search.equal(found[name], expected[name], {"of": name, "end": end}, tolerance=1e-7)


@functools.cache  # nothing examined enters it
def _fits(data: str) -> list[tuple[str, int]]:
    rows = recorded("table", data)
    return [(str(fit), int(n)) for fit, n in rows[["fit", "n"]].drop_duplicates().itertuples(index=False)]


@functools.cache
def _counts(data: str, fit: str, n: int, column: str) -> np.ndarray:
    """Return a column of counts of one fit, by label and group."""
    return cell_table(table_of(data, fit, n), column)


@functools.cache
def _ends(k: float, m: float) -> tuple[float, float]:
    """Clopper–Pearson for one of four cells at 95 % together: by bisection on the binomial tails."""

    def solve(tail: Callable[[float], float]) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(middle) < 0.05 / (2 * CELLS) else (low, middle)
        return low

    lower = solve(lambda p: float(binom.sf(k - 1, m, p))) if k > 0 else 0.0
    upper = 1 - solve(lambda q: float(binom.cdf(k, m, 1 - q))) if k < m else 1.0
    return lower, upper


def _digits(data: str, columns: Any, printed: Any, search: Search) -> None:
    """As run, on the rows that the cut grid has, the printed digits come out; otherwise not all of them do."""
    search.part("printed digits")
    n_printed, digits = printed(data)
    if data not in DIGITS_COME_OUT:
        return
    cut = cut_n(data)
    search.agree(cut, n_printed - 1, {"data": data, "what": "training rows"})
    for fit, n in _fits(data):
        size = _counts(data, fit, n, "rows")
        found = columns(size, _counts(data, fit, n, "within as run") / size, grouping="as run")
        met = sum(rounded(found[name]) == digits[name] for name in COLUMNS)
        search.fact(
            key_of(data, fit, n, "digits"),
            f"{met} of {len(COLUMNS)}",
            f"{data}: printed digits, {fit}, n = {n:,}",
        )
        case = {"data": data, "fit": fit, "n": n}
        if fit in RUN and n == cut:
            search.agree(met, len(COLUMNS), case)
        else:
            search.observe(len(COLUMNS) - 1 - met, case)


def _search(searched: Any, search: Search) -> None:
    """Terms cut off at the radius rise with t: the search ends at t ≈ 0, at the share of rows within the radius."""
    search.part("search over t")
    for _ in range(60 * search.effort):
        size = int(search.rng.integers(1, 200))
        distances = search.rng.exponential(float(search.rng.choice([0.01, 1.0, 30.0])), size=size)
        radius = float(search.rng.choice([0.0, 0.01, 1.0, 100.0]))
        share = float((distances <= radius).mean())
        value, t = searched(distances, radius)
        case = {"rows": size, "radius": radius, "share": share}
        search.observe(value - share, case, tolerance=ROUNDING)
        search.observe(share + SEARCH - value, case)
        search.observe(1e-5 - t, case)


def _compare(data: str, columns: Any, interval: Any, printed: Any, search: Search) -> None:
    """The bounds of the problem as stated, L = 2‖x‖ and the groups of Corollary 3.3, compared with the printed."""
    search.part("as stated, beside the printed")
    rows = table_of(data, "as stated", cut_n(data))
    size = cell_table(rows, "rows")
    for which, grouping in (("as stated", "as stated"), ("as run", "as run")):
        within = cell_table(rows, f"within {which}")
        ours = columns(size, within / size, grouping=grouping)
        low, high = interval(size, within, grouping=grouping)
        for name in COLUMNS:
            case = {"data": data, "of": name, "constants": which}
            spread = max(high[name] - ours[name], ours[name] - low[name])
            search.observe(high[name] - ours[name], case)
            search.observe(ours[name] - low[name], case)
            if data in DIGITS_COME_OUT:
                search.compare(ours[name], printed(data)[1][name], spread=spread, case=case, differs=True)
        shown = ", ".join(f"{ours[name]:.4f}" for name in COLUMNS)
        search.fact(key_of(data, which, "bounds"), shown, f"{data}: bounds, μ = 1, {which} otherwise")
    search.agree(provenance("table", data)["parameters"]["epsilon"], 1.0, {"data": data, "what": "ε"})


def _four_groups(rows: Any, shares: Any, *, grouping: str) -> dict[str, float]:
    return column_bounds(rows, shares, grouping=grouping) | {
        "equal_opportunity": column_bounds(rows, shares, grouping="as stated")["equal_opportunity"]
    }


def _group_term_only(rows: Any, shares: Any, *, grouping: str) -> dict[str, float]:
    found = column_bounds(rows, shares, grouping=grouping)
    return found | {"accuracy_parity": found["accuracy_parity"] - found["accuracy"]}


def _uncut(distances: np.ndarray, radius: float) -> tuple[float, float]:
    return float(np.mean(np.exp(1e-6 * (radius - distances)))), 1e-6


def _exchanged(data: str) -> Any:
    n, bounds = printed_bounds(data)
    return n, bounds | {"accuracy": bounds["accuracy_parity"], "accuracy_parity": bounds["accuracy"]}


FAULTS: dict[str, dict[str, Any]] = {
    "opportunity over the groups of both labels": {"columns": _four_groups},
    "the term of everyone forgotten": {"columns": _group_term_only},
    "one cell's interval at 95 %": {
        "interval": lambda rows, within, grouping: column_interval(rows * CELLS, within * CELLS, grouping=grouping)
    },
    "a search without the cut-off": {"searched": _uncut},
    "a search that stays at t = 1": {
        "searched": lambda distances, radius: (
            float(np.mean(np.exp(radius - distances) * (distances <= radius))),
            1.0,
        )
    },
    "ε at half the move": {"epsilon": lambda bound, n, moved: pair_epsilon(bound, n, moved / 2)},
    "equal records at the modulus 1": {"move": lambda bound, n, modulus: equal_records_move(bound, n, max(1, modulus))},
    "modulus 1/C": {"modulus": lambda C, n: n / (C * n)},
    "printed bounds exchanged": {"printed": _exchanged},
}  # fmt: skip


ONE_LABEL = """import math
n = 182338
def weight(bad):  # of n equal records but so many of the other label: least w²/2 + n·(sum of logistic losses)
    low, high = 0.0, 60.0
    for _ in range(200):
        w = (low + high) / 2
        slope = w - n * ((n - bad) / (1 + math.exp(w)) - bad / (1 + math.exp(-w)))
        low, high = (w, high) if slope < 0 else (low, w)
    return low
assert weight(0) - weight(1) > 2 / n  # that the noise covers: 2Λ/(μn) at μ = 1, Λ = 1"""


CLAIM = Claim(
    id="mpbt.table-1",
    where="Table 1, § 5.1",
    statement="At 99 %, ε = 1, δ = 1/n², Theorem 4.4 bounds opportunity, odds, demographic, accuracy "
    "parity, accuracy by .1044, .0975, .0975, .0975, .0487 (CelebA) and .0017, .0026, .0026, "
    ".0026, .0013 (folktables).",
    statement_uses=("mpbt.thm-4.4", "mpbt.cor-3.3"),
    proof_uses=("mpbt.remark-b1", "mpbt.remark-b2", "mpbt.lemma-4.1"),
    verdict="not-reproduced",
    kind="guarantee-broken",
    impact="conclusion",
    because="At the table's own settings the released models are not (1, δ)-private, and at a modulus that makes "
    "them so the bounds are up to three times larger.",
    headline="CelebA's digits come out, but as run one replaced record shows ε ≥ 62.9 there and ≥ 8.99 on ACSIncome, "
    "not 1; at ε = 1 the bounds reach 0.317.",
    witness="{n} equal records, of which one gets the other label. The noise was set with the constant {bound}. The "
    "weights move so far that the true δ at ε = 1 exceeds the stated one. So they do, by less, on the data themselves "
    "with one record replaced.",
    shown_by="celeba_as_run_record_epsilon",
    finding="As run, CelebA's five digits come out, on 182,338 rows. But C = n/μ has modulus 1/n²: with one "
    "record of CelebA replaced, ε is at least 62.9, with one of ACSIncome 8.99, not 1. With μ = 1, L = 2‖x‖ and "
    "Corollary 3.3's groups the "
    "bounds are .171, .317, .309, .309, .158. Odds were grouped as accuracy parity; the search over t ends at "
    "t = 0, with the share of near rows.",
    chapter="mpbt-table-1",
    errata=(
        Erratum(
            where="§ 5, first paragraph, and Table 1",
            printed="the problem is made 1-strongly convex",
            correct="with scikit-learn's C = n the modulus of the mean loss is 1/n²; C = 1/n has modulus 1",
            band="result",
            why="C multiplies the sum of the losses, so that the mean loss has the modulus 1/(Cn).",
            shown=ONE_LABEL,
        ),
        Erratum(
            where="Table 1, column Equalized Odds",
            printed="0.0975 for CelebA, grouped by the sensitive attribute alone",
            correct="0.0993 with the groups of Corollary 3.3, all else as run",
            band="condition",
            why="The corollary's groups for equalized odds are given by label and attribute, not by the attribute "
            "alone.",
        ),
        Erratum(
            where="Table 1, training records of CelebA",
            printed="n = 182,339",
            correct="the digits belong to the first 182,338 of them",
            band="slip",
            why="The five digits come out on 182,338 records, and none of them on 182,339.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
