"""MPBT, §§ 5.1–5.3: the cases of every sentence, and the numbers reported of them, a second time from the records."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import t

from dpfair_lib.claims.shared.recomputed.bounded_impact import (
    cells_of,
    exact_levels,
    exact_point,
    exact_widths,
    moved_levels,
)
from dpfair_lib.experiments.mpbt.bounded_impact_records import points
from dpfair_lib.experiments.mpbt.bounded_impact_sentences import FROM_EPSILON, FROM_N, PRINTED_MOST
from dpfair_lib.experiments.mpbt.bounded_impact_summary import COLUMNS

AXES = ("n", "epsilon")
Key = tuple[str, str, int, float]


def keys_of(data: str, problem: str, axis: str) -> list[Key]:
    """Return the points of a line of the figures, in their order."""
    return [key for key in points(data) if key[:2] == (problem, axis)]


@cache
def cases_of(data: str, problem: str, epsilon: float) -> dict[str, list[bool]]:
    """Return for every sentence whether each of its cases is as it says."""
    lines = {axis: keys_of(data, problem, axis) for axis in AXES}
    last = lines["n"][-1]
    widths, most = exact_widths(data, last, problem), Fraction(str(PRINTED_MOST[data]))
    from_n = [key for key in lines["n"] if key[2] >= FROM_N]
    from_epsilon = [key for key in lines["epsilon"] if key[3] >= FROM_EPSILON[data]]
    slopes = slopes_of(data, problem)
    factors = factors_of(data, problem)
    return {
        "largest bound": [widths["within"][name] <= most for name in COLUMNS],
        "non-trivial": [_below_worst(data, last, name, problem) for name in COLUMNS],
        "private": [epsilon <= 1],
        "from 100,000": [_below_worst(data, key, name, problem) for key in from_n for name in COLUMNS],
        "from ε": [_below_worst(data, key, name, problem) for key in from_epsilon for name in COLUMNS],
        "both sides": [_level(data, last, name, problem) > widths["within"][name] for name in COLUMNS],
        "convergence": [
            moved_levels(data, keys[0], problem)[name].max()
            > moved_levels(data, keys[-1], problem)[name].max()
            for keys in lines.values()
            for name in COLUMNS
        ],
        "dependence": [abs(bound[0] - moved[0]) <= bound[1] + moved[1] for bound, moved in slopes],
        "distance": [factor >= 2 for factor in factors["distance"]],
        "Lipschitz": [factor >= 2 for factor in factors["Lipschitz"]],
        "tight": [factor <= 3 for factor in factors["tight"]],
        "not improvable": [factor < 2 for factor in factors["not improvable"]],
    }


@cache
def stated_numbers(data: str, problem: str, epsilon: float) -> dict[str, str]:
    """Return, for the sentences that come with numbers, those numbers as they are shown."""
    last = keys_of(data, problem, "n")[-1]
    largest = max(exact_widths(data, last, problem)["within"].values())
    bounds, models = zip(*slopes_of(data, problem), strict=True)
    factors = factors_of(data, problem)
    shown = {name: f"factors {_ends(values)}" for name, values in factors.items()}
    shown["tight"] = f"first model, median factor {np.median(factors['tight']):.2g}"
    return shown | {
        "largest bound": f"largest {float(largest):.4f}",
        "private": f"ε {epsilon:.3g}",
        "dependence": f"bounds {_ends([s for s, _ in bounds])}, of models {_ends([s for s, _ in models])}",
    }


def factors_of(data: str, problem: str) -> dict[str, list[float]]:
    """Return the factors that the sentences of § 5.3 speak of."""
    last = exact_widths(data, keys_of(data, problem, "n")[-1], problem)
    return {
        "distance": [float(last["within"][name] / last["empirical"][name]) for name in COLUMNS],
        "Lipschitz": [float(last["empirical"][name] / last["farthest"][name]) for name in COLUMNS],
        "tight": [
            math.inf if bound and not move else float(bound / move) if move else 1.0
            for bound, move in pairs_of_one_model(data, problem)
        ],
        "not improvable": [float(last["within"][name] / last["projection"][name]) for name in COLUMNS],
    }


def pairs_of_one_model(data: str, problem: str) -> list[tuple[Fraction, Fraction]]:
    """Return bound and move of the first private model at every point, for every measure, in fractions."""
    pairs = []
    for key in (key for axis in AXES for key in keys_of(data, problem, axis)):
        rows, point = cells_of(points(data)[key].rows), points(data)[key]
        own, private = (
            exact_levels(rows, cells_of(table), problem)
            for table in (point.counts["right"], point.private[0])
        )
        bounds = exact_widths(data, key, problem)["first"]
        pairs += [(bounds[name], abs(private[name] - own[name])) for name in COLUMNS]
    return pairs


def slopes_of(data: str, problem: str) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Return slopes and half-widths of the bounds and of the root mean square distances, by axis and measure."""
    found = []
    for at, axis in enumerate(AXES):
        for name in COLUMNS:
            keys = [
                key
                for key in keys_of(data, problem, axis)
                if exact_widths(data, key, problem)["empirical"][name] < Fraction(9, 10)
            ]
            x = [float(key[2 + at]) for key in keys]
            bounds = [float(exact_widths(data, key, problem)["empirical"][name]) for key in keys]
            moved = [float(np.sqrt((moved_levels(data, key, problem)[name] ** 2).mean())) for key in keys]
            found.append((slope_by_sums(x, bounds), slope_by_sums(x, moved)))
    return found


def slope_by_sums(x: Any, y: Any) -> tuple[float, float]:
    """Return the slope of log y against log x and the half-width of its 95 % interval, from sums of squares."""
    u, v = (np.log(np.asarray(values, dtype=float)) for values in (x, y))
    u, v = u - u.mean(), v - v.mean()
    slope = float(u @ v / (u @ u))
    error = np.sqrt(((v - slope * u) ** 2).sum() / (len(u) - 2) / (u @ u))
    return slope, float(t.ppf(0.975, len(u) - 2) * error)


def _level(data: str, key: Key, name: str, problem: str) -> Fraction:
    return exact_point(data, key, 0, problem)["right"][name]


def _below_worst(data: str, key: Key, name: str, problem: str) -> bool:
    """With two labels and groups the worst level is ½, of opportunity over both labels ¼; of accuracy it is 0."""
    level, width = _level(data, key, name, problem), exact_widths(data, key, problem)["within"][name]
    if name == "accuracy":
        return bool(level > width)
    worst = Fraction(1, 4 if (name, problem) == ("equal_opportunity", "as stated") else 2)
    return bool(level + width < worst)


def _ends(values: list[float]) -> str:
    return f"{min(values):.2g} to {max(values):.2g}".replace("-", "−")
