"""The sentences of MPBT §§ 5.1–5.3, each compared with the recorded bounds and private models, as run and as stated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from dpfair_lib.experiments.mpbt.bounded_impact_summary import (
    COLUMNS,
    FigurePoint,
    column_bounds,
    fairness_columns,
    projection_bounds,
)

Outcome = Literal["confirmed", "in part", "contradicted"]
BANDS = ("within", "empirical", "first", "farthest")
PRINTED_MOST = {"celeba": 0.105, "acs-income": 0.0026}  # § 5.1
FROM_N, FROM_EPSILON = 100_000, {"celeba": 1.0, "acs-income": 0.1}  # § 5.2
SMALL = 3.0  # "a small multiplicative constant"
SIGNIFICANT = 2.0  # "significantly tightened": by a factor of two
ROUNDING = 1e-12  # levels are shares of test rows; below this, none moved
WORST = {
    "equal_opportunity": {"as run": 0.5, "as stated": 0.25}
}  # the largest level of a notion, 0.5 of the others
Points = Mapping[tuple[str, str, int, float], FigurePoint]


class Point(NamedTuple):
    """One measure at one point of a figure.

    Attributes
    ----------
    n, epsilon : int, float
        Training rows, ε.
    level : float
        Of the model without noise.
    private : ndarray
        Levels of the private models.
    widths : dict
        Bounds: Lemma 4.1's radius, the empirical radius, the first private model's projections, the farthest's.
    projection : float
        The bound by one projection of the noise per row.
    """

    n: int
    epsilon: float
    level: float
    private: np.ndarray
    widths: dict[str, float]
    projection: float

    @property
    def moved(self) -> np.ndarray:
        """How far the level of each private model is from that of the model without noise."""
        return np.abs(self.private - self.level)


def line(points: Points, problem: str, axis: str, *, grouping: str | None = None) -> dict[str, list[Point]]:
    """Return the points of a line of the figures for each measure, in the grouping of the problem unless given.

    Parameters
    ----------
    points : mapping
        Of `figure_points`.
    problem, axis : str
        Which line.
    grouping : str, optional
        As in `column_bounds`.
    """
    grouping = grouping or problem
    found: dict[str, list[Point]] = {name: [] for name in COLUMNS}
    for (of, along, n, epsilon), at in points.items():
        if (of, along) != (problem, axis):
            continue
        level = fairness_columns(at.rows, at.counts["right"], grouping=grouping)
        private = fairness_columns(at.rows, at.private, grouping=grouping)
        widths = {
            band: column_bounds(at.rows, at.counts[band] / at.rows, grouping=grouping) for band in BANDS
        }
        narrow = projection_bounds(at.rows, at.counts["near"], grouping=grouping)
        for name in COLUMNS:
            found[name].append(
                Point(
                    n, epsilon, float(level[name]), np.asarray(private[name]),
                    {band: float(width[name]) for band, width in widths.items()}, float(narrow[name]),
                )
            )  # fmt: skip
    return found


def worst_level(name: str, grouping: str) -> float:
    """Return the largest level that a notion can have: ½, and for opportunity with both labels ¼."""
    return WORST.get(name, {}).get(grouping, 0.5)


def meaningful(name: str, point: Point, grouping: str) -> bool:
    """Return whether a band excludes anything above the level: that the measure is at its worst."""
    if name == "accuracy":
        return point.level - point.widths["within"] > 0
    return point.level + point.widths["within"] < worst_level(name, grouping)


def log_slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the least-squares slope of log y against log x and the half-width of its 95 % interval."""
    from scipy.stats import linregress, t

    fit = linregress(np.log(x), np.log(y))
    return float(fit.slope), float(t.ppf(0.975, len(x) - 2) * fit.stderr)


def dependence(points: list[Point], axis: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return slopes with half-widths, on double-logarithmic axes, of the bound and of the private models' distances.

    The distances are root mean squares over the models, the bound is that for the empirical radius; taken at the points
    where the latter is below 0.9.
    """
    chosen = [point for point in points if point.widths["empirical"] < 0.9]
    x = np.array([getattr(point, axis) for point in chosen], dtype=float)
    bounds = np.array([point.widths["empirical"] for point in chosen])
    moved = np.array([np.sqrt(np.mean(point.moved**2)) for point in chosen])
    return log_slope(x, bounds), log_slope(x, moved)


class Judged(NamedTuple):
    """A sentence, what was counted, and the outcome."""

    name: str
    where: str
    says: str
    found: str
    met: int
    of: int
    outcome: Outcome


def outcome_of(met: int, of: int) -> Outcome:
    """Return "confirmed" if all cases are as the sentence says, "contradicted" if none is."""
    if not 0 <= met <= of or of == 0:
        raise ValueError(
            f"met: found {met} of {of}, expected a number of cases from 0 to all of at least one"
        )
    return "confirmed" if met == of else "in part" if met else "contradicted"


def judged(points: Points, data: str, problem: str, epsilon: float) -> list[Judged]:
    """Hold every sentence to the records of one data set, as run or as stated.

    Parameters
    ----------
    points : mapping
        As in `line`.
    data, problem : str
        Which data set; "as run" or "as stated".
    epsilon : float
        The ε, at the stated δ, that the release has: guaranteed, or below what a pair of data sets shows.
    """
    by_n, by_epsilon = (line(points, problem, axis) for axis in ("n", "epsilon"))
    last = {name: found[-1] for name, found in by_n.items()}
    every = [(name, found) for of in (by_n, by_epsilon) for name, found in of.items()]
    largest = max(point.widths["within"] for point in last.values())

    def row(name: str, where: str, says: str, cases: list[bool], found: str) -> Judged:
        met = sum(cases)
        return Judged(name, where, says, found, met, len(cases), outcome_of(met, len(cases)))

    enough = [
        meaningful(name, point, problem)
        for name, found in by_n.items()
        for point in found
        if point.n >= FROM_N
    ]
    budgets = [
        meaningful(name, point, problem)
        for name, found in by_epsilon.items()
        for point in found
        if point.epsilon >= FROM_EPSILON[data]
    ]
    slopes = [(name, axis, *dependence(of[name], axis)) for of, axis in ((by_n, "n"), (by_epsilon, "epsilon"))
              for name in COLUMNS]  # fmt: skip
    alike = [abs(bound[0] - moved[0]) <= bound[1] + moved[1] for _, _, bound, moved in slopes]
    # of the first private model, bound and move of the same one: which model is the farthest is not recorded
    tight = [factor(point.widths["first"], float(point.moved[0])) for _, found in every for point in found]
    gains = [last[name].widths["within"] / last[name].projection for name in COLUMNS]
    far = [point.widths["within"] / point.widths["empirical"] for point in last.values()]
    lipschitz = [point.widths["empirical"] / point.widths["farthest"] for point in last.values()]
    return [
        row("largest bound", "§ 5.1", f"All bounds are at most {PRINTED_MOST[data]}.",
            [point.widths["within"] <= PRINTED_MOST[data] for point in last.values()], f"largest {largest:.4f}"),
        row("non-trivial", "§ 5.1", "In all cases the guarantee is non-trivial.",
            [meaningful(name, point, problem) for name, point in last.items()], "bands below the worst level"),
        row("private", "§ 5.1", "The released model is (1, 1/n²)-private.", [epsilon <= 1], f"ε {epsilon:.3g}"),
        row("from 100,000", "§ 5.2", "At ε = 1 the bounds are meaningful from n = 100,000 on.", enough,
            "bands below the worst level"),
        row("from ε", "§ 5.2", f"With all records they are meaningful for ε ≥ {FROM_EPSILON[data]:g}.", budgets,
            "bands below the worst level"),
        row("both sides", "§ 5.2", "There are lower bounds on the levels too, not only upper ones.",
            [point.level > point.widths["within"] for point in last.values()], "lower ends above 0, all records"),
        row("convergence", "§ 5.2", "Private levels approach those without privacy as n and ε grow.",
            [found[0].moved.max() > found[-1].moved.max() for _, found in every], "farthest model, both ends"),
        row("dependence", "§ 5.2", "The bounds have the right dependence on n and ε.", alike,
            f"slopes of bounds {_range([s[2][0] for s in slopes])}, of models {_range([s[3][0] for s in slopes])}"),
        row("distance", "§ 5.3", "The bound on the distance is a major factor of looseness.",
            [times >= SIGNIFICANT for times in far], f"factors {_range(far)}"),
        row("Lipschitz", "§ 5.3", "Assumption 2.1 is a major factor of looseness.",
            [times >= SIGNIFICANT for times in lipschitz], f"factors {_range(lipschitz)}"),
        row("tight", "§ 5.3", "With both models known the bound is tight up to a small constant.",
            [times <= SMALL for times in tight], f"first model, median factor {np.median(tight):.2g}"),
        row("not improvable", "§ 5.3", "Without such knowledge no significantly tighter bound is to be had.",
            [gain < SIGNIFICANT for gain in gains], f"one projection gains factors {_range(gains)}"),
    ]  # fmt: skip


def factor(bound: float, move: float) -> float:
    """Return how many times as large as a move its bound is; 1 if both are 0, infinity if the move alone is."""
    if move > ROUNDING:
        return bound / move
    return 1.0 if bound <= ROUNDING else math.inf


def _range(values: list[float]) -> str:
    return f"{min(values):.2g} to {max(values):.2g}".replace("-", "−")
