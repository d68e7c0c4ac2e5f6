"""ISIT, Tables II–XIII: the printed means against a hundred recorded trials of our own, four tables per accountant."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from dpfair_lib.claims.checks.table_records import (
    DATA,
    TRIALS,
    exact_moments,
    exact_trials,
    provenance,
    test_sizes,
    trials,
)
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.experiments.printed import DELTA, printed_tables
from dpfair_lib.experiments.table_summary import MEASURES, beside_printed, chance_gap, select
from dpfair_lib.learners.fermi_leak import released_weight_delta

ROUNDING = 1e-9
SMALL = range(1, 6)  # sizes of the two groups where every outcome is gone through
RATES = tuple(Fraction(part, 5) for part in range(6))


def check(
    accountant: str,
    *,
    beside: Callable[..., pd.DataFrame] = beside_printed,
    chance: Callable[..., float] = chance_gap,
    leak: Callable[..., float] = released_weight_delta,
    search: Search,
) -> Evidence:
    """Judge our means, the chance gap and DP-FERMI's promise; then compare with the printed numbers."""
    tables = printed_tables()
    tables = tables[tables["accountant"] == accountant]
    _whole_record(tables, search)
    _means(beside, accountant, search)
    _draws(accountant, search)
    _chance(chance, search)
    _promise(leak, search)
    return search.evidence()


def _whole_record(tables: pd.DataFrame, search: Search) -> None:
    """Every printed row has its hundred trials, one per split."""
    search.part("whole record")
    for line in tables.to_dict("records"):
        found = exact_trials(*_key(line))
        case = {name: line[name] for name in ("table", "method", "strength")}
        search.agree(len(found), TRIALS, case)
    search.exhausts("every printed row of the four tables", cases=len(tables))


def _key(line: dict[str, Any]) -> tuple[Any, ...]:
    fermi = line["method"] == "DP-FERMI"
    return (
        line["data"], "as run", "" if fermi else line["accountant"], line["method"], float(line["epsilon"]),
        line["strength"] if fermi else None,
    )  # fmt: skip


def _means(beside: Callable[..., pd.DataFrame], accountant: str, search: Search) -> None:
    """Means, intervals and spreads against exact sums; then ours against the printed."""
    search.part("means and intervals")
    lines = beside(trials())
    lines = lines[lines["accountant"] == accountant]
    met: dict[tuple[str, str], list[bool]] = {}
    comparisons = len(MEASURES) * len(printed_tables())
    quantiles = [t.ppf(1 - 0.025 / count, TRIALS - 1) for count in (1, comparisons)]
    for line in lines.to_dict("records"):
        for at, name in enumerate(MEASURES):
            mean, variance = exact_moments([trial[at] for trial in exact_trials(*_key(line))])
            deviation = math.sqrt(variance)
            halves = (
                quantiles[0] * deviation / math.sqrt(TRIALS),
                quantiles[1] * deviation * math.sqrt(1 / TRIALS + 1 / 10) + 0.00005,
            )
            case = {"table": line["table"], "method": line["method"], "λ": line["strength"], "of": name}
            search.equal(line[name], float(mean), case, tolerance=ROUNDING)
            for shown, half in zip((line[f"± {name}"], line[f"spread {name}"]), halves, strict=True):
                search.equal(shown, half, case, tolerance=ROUNDING)
            printed = line[f"printed {name}"]
            search.compare(line[name], printed, spread=line[f"spread {name}"], case=case)
            met.setdefault((line["method"], line["data"]), []).append(
                abs(line[name] - printed) <= line[f"spread {name}"]
            )
    for (method, data), agreed in met.items():
        search.fact(
            f"{method} on {data}: printed numbers within our spread", f"{sum(agreed)} of {len(agreed)}"
        )


def _draws(accountant: str, search: Search) -> None:
    """The drawn rates of Algorithm 2 lie about the exact ones, as sums of independent flips do."""
    search.part("draws about their means")
    for data in DATA:
        rows, sizes = trials()[trials()["data"] == data], test_sizes(data)
        for target in (3, 9):
            fair = select(rows, "Algorithm 2", setting="as run", target=target, accountant=accountant)
            for at, size in enumerate(sizes):
                # Hoeffding: beyond this in one of a million draws
                reach = math.sqrt(math.log(2e6) / (2 * size))
                slack = reach - (fair[f"drawn_rate_{at}"] - fair[f"rate_{at}"]).abs().to_numpy(float)
                search.sanity(slack, {"data": data, "ε′": target, "group": at})


@cache
def _exact_chance(rate: Fraction, first: int, second: int) -> Fraction:
    """Return E|K₀/n₀ − K₁/n₁| by going through all pairs of counts."""
    laws = [
        [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)] for n in (first, second)
    ]
    return sum(
        (p * q * abs(Fraction(i, first) - Fraction(j, second))
         for (i, p), (j, q) in itertools.product(*map(enumerate, laws))),
        Fraction(0),
    )  # fmt: skip


def _chance(chance: Callable[..., float], search: Search) -> None:
    search.part("gap by chance")
    for first, second, rate in ((a, b, r) for a in SMALL for b in SMALL for r in RATES):
        case = {"sizes": (first, second), "rate": rate}
        search.equal(chance(float(rate), (first, second)), float(_exact_chance(rate, first, second)), case,
                     tolerance=1e-12)  # fmt: skip
    for data in DATA:  # at full size, the normal law is near
        sizes = test_sizes(data)
        spread = math.sqrt(0.1 * 0.9 * sum(1 / size for size in sizes))
        near = math.sqrt(2 / math.pi) * spread
        search.equal(chance(0.1, sizes) / near, 1.0, {"sizes": sizes, "rate": 0.1}, tolerance=2e-3)
    search.exhausts("groups of 1 to 5 test rows, rates k/5", cases=len(SMALL) ** 2 * len(RATES))


def _promise(leak: Callable[..., float], search: Search) -> None:
    """DP-FERMI as run: the weights after the last step alone miss the stated δ, by far."""
    search.part("DP-FERMI's promise")
    found = {}
    for data in DATA:
        origin = provenance(data)
        n = origin["data"]["rows"] * 3 // 4
        smallest = min(origin["data"]["groups"].values()) * 3 // 4
        for epsilon in (3, 9):
            found[data, epsilon] = leak(float(epsilon), n=n, smallest_group=smallest, epochs=50)
            case = {"data": data, "ε′": epsilon, "n": n}
            search.observe(found[data, epsilon] - 1e4 * DELTA, case)
            # whoever sees every step sees more than the last one shows
            search.observe(_every_step(epsilon, n, smallest) - found[data, epsilon], case)
    search.fact(
        "least δ of DP-FERMI's final weights at the stated ε′",
        ", ".join(f"{data}, {epsilon}: {value:.2f}" for (data, epsilon), value in found.items()),
    )


@cache
def _every_step(epsilon: float, n: int, smallest: int) -> float:
    """Return δ where all iterates are seen: 50 steps move the mean gradient by C, under Gaussian noise."""
    from dpfair_lib.learners.fermi_training import printed_noise
    from dpfair_lib.privacy import gaussian_delta

    deviation, _ = printed_noise(epsilon, DELTA, n, 50 * -(-n // 1024), (smallest - 1) / n)
    return gaussian_delta(epsilon, deviation, 5.0 * math.sqrt(50))


FAULTS: dict[str, dict[str, Any]] = {
    "the gap of the mean rates in place of the mean gap": {
        "beside": lambda rows: beside_printed(
            rows.assign(drawn_gap=rows.groupby(["data", "setting", "accountant", "target", "method", "strength"],
                                               dropna=False)["drawn_gap"].transform("median"))
        )
    },
    "interval with the divisor n": {
        "beside": lambda rows: beside_printed(rows).assign(
            **{"± gap": lambda found: found["± gap"] * math.sqrt(0.99)}
        )
    },
    "spread without our own error": {
        "beside": lambda rows: beside_printed(rows).assign(
            **{"spread accuracy": lambda found: (found["spread accuracy"] - 0.00005) / math.sqrt(1.1) + 0.00005}
        )
    },
    "ten of the hundred trials": {"beside": lambda rows: beside_printed(rows[rows["split"] < 10])},
    "chance of one group only": {
        "chance": lambda rate, sizes: chance_gap(rate, sizes) * math.sqrt(sizes[1] / sum(sizes))
    },
    "standard deviation in place of the mean distance": {
        "chance": lambda rate, sizes: math.sqrt(rate * (1 - rate) * sum(1 / size for size in sizes))
    },
    "the promise taken for the leak": {"leak": lambda *_, **__: DELTA},
    "everything leaks": {"leak": lambda *_, **__: float(np.nextafter(1, 2))},
}  # fmt: skip
