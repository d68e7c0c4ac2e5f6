"""MPBT, Figures 1–3: recorded levels of private models and bands, the noise drawn again, levels in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.recomputed.bounded_impact import exact_point, key_of
from dpfair_lib.experiments.mpbt.bounded_impact import (
    BOUND,
    CELLS,
    MODELS,
    POINTS,
    PROBLEMS,
    SEED,
    ZETA,
    noise_scale,
    radius_of,
)
from dpfair_lib.experiments.mpbt.bounded_impact_records import data_sets, points, recorded
from dpfair_lib.experiments.mpbt.bounded_impact_summary import (
    COLUMNS,
    COUNTS,
    GROUPINGS,
    column_bounds,
    fairness_columns,
)

ROUNDING = 1e-9
DIMENSION = {"celeba": 38, "acs-income": 9}
AXES = ("n", "epsilon")


def check(
    *,
    bounds: Callable[..., dict[str, float]] = column_bounds,
    levels: Callable[..., dict[str, np.ndarray]] = fairness_columns,
    scale: Callable[..., float] = noise_scale,
    radius: Callable[..., float] = radius_of,
    band: str = "within",
    seed: int = SEED,
    search: Search,
) -> Evidence:
    """Judge the records, draw the noise again, and count the private models outside the band."""
    for data in data_sets():
        _whole(data, search)
        _noise(data, scale, radius, seed, search)
        _exact(data, bounds, levels, search)
        _bands(data, bounds, levels, band, search)
    return search.evidence()


def _whole(data: str, search: Search) -> None:
    """Both problems have both axes, each 20 points of four cells; a smaller radius has no more rows."""
    search.part("record")
    rows = recorded("figures", data)
    search.agree(len(rows), len(PROBLEMS) * len(AXES) * POINTS * CELLS, {"data": data, "what": "rows"})
    search.agree(
        len(points(data)), len(PROBLEMS) * len(AXES) * POINTS, {"data": data, "what": "points, each once"}
    )
    private = np.array(rows["private"].tolist())
    search.agree(private.shape, (len(rows), MODELS), {"data": data, "what": "private models"})
    size = rows["rows"].to_numpy()
    for counts in (*(rows[name].to_numpy()[:, None] for name in COUNTS), private):
        search.observe(np.minimum(counts, size[:, None] - counts).ravel(), {"data": data})
    for small, large in (("empirical", "within"), ("within", "late")):
        search.observe((rows[large] - rows[small]).to_numpy(), {"data": data, "small": small, "large": large})
    search.exhausts(f"every recorded cell, {data}", cases=len(rows))


def _noise(data: str, scale: Any, radius: Any, seed: int, search: Search) -> None:
    """The recorded distances are those of the noise drawn again; none exceeds the radius."""
    search.part("noise")
    p, ratios, first = DIMENSION[data], [], 0
    for problem, axis in itertools.product(PROBLEMS, AXES):
        rng = np.random.default_rng(seed)
        line = [key for key in points(data) if key[:2] == (problem, axis)]
        last = line[-1][2]
        for key in line:
            n, epsilon = key[2:]
            row, case = points(data)[key].distances, {"data": data, "problem": problem, "n": n, "ε": epsilon}
            sigma = scale(BOUND[data], n, epsilon)
            apart = np.linalg.norm(rng.normal(0, sigma, size=(MODELS, p)), axis=1)
            found = {
                "sigma": sigma,
                "radius": radius(BOUND[data], p, n, epsilon, 1 / n**2),
                "late radius": radius(BOUND[data], p, n, epsilon, 1 / last**2),
                "empirical radius": float(np.quantile(apart, 1 - ZETA)),
                "first distance": float(apart[0]),
                "farthest distance": float(apart.max()),
            }
            for name, value in found.items():
                far = 1e-6 * value + ROUNDING
                search.equal(row[name], value, {**case, "of": name}, tolerance=far)
            search.observe(row["radius"] - row["farthest distance"], case)
            ratios.append(row["late radius"] / row["radius"])
            first += bool(row["first distance"] == row["farthest distance"])
    search.fact(
        key_of(data, "late"),
        f"{max(ratios):.2f}",
        f"{data}: largest ratio of the radius as drawn to Lemma 4.1's",
    )
    search.fact(
        key_of(data, "first_is_farthest"),
        f"{first} of {len(ratios)}",
        f"{data}: points at which the first private model is the farthest",
    )


def _exact(data: str, bounds: Any, levels: Any, search: Search) -> None:
    """Levels and bounds a second time in fractions: of the model without noise, and of one private model."""
    search.part("levels and bounds")
    for at, (key, point) in enumerate(points(data).items()):
        model, grouping = at % MODELS, GROUPINGS[at % 2]
        exact = exact_point(data, key, model, grouping)
        found = {
            "right": levels(point.rows, point.counts["right"], grouping=grouping),
            "private": levels(point.rows, point.private[model], grouping=grouping),
            "within": bounds(point.rows, point.counts["within"] / point.rows, grouping=grouping),
        }
        for what, name in itertools.product(exact, COLUMNS):
            case = {"data": data, "point": key, "grouping": grouping, "what": what, "of": name}
            search.equal(float(found[what][name]), float(exact[what][name]), case, tolerance=ROUNDING)


def _bands(data: str, bounds: Any, levels: Any, band: str, search: Search) -> None:
    """No private model leaves the band, grouped as run or as stated; the band of the first model some do leave."""
    search.part("bands")
    outside, left, models = 0, 0, 0
    ends: dict[tuple[str, ...], list[float]] = {}
    for key, point in points(data).items():
        for grouping in GROUPINGS:
            private = levels(point.rows, point.private, grouping=grouping)
            own = levels(point.rows, point.counts["right"], grouping=grouping)
            widths, of_first = (
                bounds(point.rows, point.counts[name] / point.rows, grouping=grouping)
                for name in (band, "first")
            )
            for name in COLUMNS:
                moved = np.abs(private[name] - own[name])
                case = {"data": data, "point": key, "grouping": grouping, "of": name}
                search.observe(widths[name] - moved, case, tolerance=ROUNDING)
                search.observe(float(of_first[name] - moved[0]), case, tolerance=ROUNDING)
                outside, models = outside + int((moved > widths[name] + ROUNDING).sum()), models + len(moved)
                left += bool((moved > of_first[name] + ROUNDING).any())
                ends.setdefault((*key[:2], grouping, name), []).append(float(moved.max()))
            if grouping == "as run":
                same = np.abs(private["equalized_odds"] - private["accuracy_parity"]).max()
                search.equal(float(same), 0.0, {"data": data, "point": key, "what": "panel of odds"})
    for named, moved_most in ends.items():
        search.observe(moved_most[0] - moved_most[-1], {"data": data, "line": named})
    case = {"data": data, "what": "models outside the band"}
    search.compare(outside / models, 0.0, spread=ZETA, case=case, differs=False)
    search.fact(
        key_of(data, "outside"), f"{outside:,} of {models:,}", f"{data}: private levels outside the band"
    )
    search.fact(
        key_of(data, "leaves_first"),
        f"{left} of {models // MODELS}",
        f"{data}: lines and points at which some model leaves the first one's band",
    )


def _two_labels(rows: np.ndarray, right: Any, *, grouping: str) -> dict[str, np.ndarray]:
    found = fairness_columns(rows, right, grouping=grouping)
    return found | {"equal_opportunity": found["equal_opportunity"] / 2}


def _one_term(rows: np.ndarray, shares: np.ndarray, *, grouping: str) -> dict[str, float]:
    return {name: value / 2 for name, value in column_bounds(rows, shares, grouping=grouping).items()}


FAULTS: dict[str, dict[str, Any]] = {
    "opportunity over both labels": {"levels": _two_labels},
    "half the bound": {"bounds": _one_term},
    "noise of half the sensitivity": {
        "scale": lambda bound, n, epsilon: noise_scale(bound, n, epsilon) / 2
    },
    "δ = 1/n in the radius": {
        "radius": lambda bound, p, n, epsilon, delta: radius_of(bound, p, n, epsilon, delta**0.5)
    },
    "the first model's band for all": {"band": "first"},
    "another seed": {"seed": SEED + 1},
}  # fmt: skip


CLAIM = Claim(
    id="mpbt.figs-1-3",
    where="Figure 1, § 5.2; Figures 2 and 3, Appendix G.2",
    statement="For five measures on CelebA and folktables, over 20 values of n and 20 of ε from 10⁻³ to "
    "10, the levels of 100 output-perturbed models lie within Theorem 4.4's band round h*'s "
    "and close in on it.",
    statement_uses=("mpbt.thm-4.4", "mpbt.cor-3.3", "mpbt.g3-refined"),
    proof_uses=("mpbt.remark-b1", "mpbt.remark-b2", "mpbt.lemma-4.1"),
    verdict="reproduced",
    kind="digits",
    impact="condition",
    because="The bands and their closing in come out again; ε on the axis is that of a 1-strongly convex problem, "
    "not of the models as run.",
    headline="None of 160,000 recorded levels of private models leaves the printed band, and the models close in; "
    "but the panel of odds shows accuracy parity.",
    finding="Of 100 models at each of 160 points none leaves Lemma 4.1's band, as run or as stated, and they close "
    "in. But the panel of odds shows accuracy parity, δ of the largest n is in every radius, the dotted line is "
    "the first model's, not the farthest's, and ε is not the privacy of the models as run.",
    chapter="mpbt-figures",
    errata=(
        Erratum(
            where="Appendix G.1, last paragraph",
            printed="ε up to 10 for both data sets",
            correct="up to 1 for folktables, as run",
            band="slip",
            why="The published runs stop at ε = 1 for folktables.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
