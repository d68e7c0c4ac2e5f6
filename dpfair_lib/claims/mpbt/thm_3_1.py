"""MPBT, Theorem 3.1: a group's accuracy is pointwise Lipschitz in the model, with ties."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.margins.certificate_samples import correctness
from dpfair_lib.margins.margins import margin_lipschitz, margins
from dpfair_lib.margins.terms import exact_terms, markov_terms, relative_margins, signed_terms

SCORES = range(4)


def check(
    *,
    exact: Callable[..., np.ndarray] = exact_terms,
    signed: Callable[..., np.ndarray] = signed_terms,
    markov: Callable[..., np.ndarray] = markov_terms,
    search: Search,
) -> Evidence:
    """Judge every pair of small score vectors, then random multi-class models with ties."""
    _all_score_vectors(exact, signed, markov, search)
    _random_models(exact, signed, markov, search)
    for n in (10**2, 10**4, 10**6):
        mean = float(np.mean(n / (np.arange(n) + 0.5)))
        search.fact(
            f"uniform_mean_{n}", round(mean, 2), f"|ρ|/L uniform on (0, 1), {n:,} rows: mean of L/|ρ|"
        )
    return search.evidence()


def _all_score_vectors(exact: Any, signed: Any, markov: Any, search: Search) -> None:
    """One row for each pair of models; L‖h − h′‖ is as small as it can be, |ρ − ρ′|."""
    search.part("all small score vectors")
    undefined = 0
    for labels in (2, 3):
        vectors = np.array(list(itertools.product(SCORES, repeat=labels)))
        first, second = np.divmod(np.arange(len(vectors) ** 2), len(vectors))
        for label in range(labels):
            y = np.full(len(first), label)
            here, there = vectors[first], vectors[second]
            rho, other = (margins(scores, y) for scores in (here, there))
            lipschitz = np.abs(rho - other)
            right, right_there = correctness(here, y), correctness(there, y)
            # a margin that stays 0 has L = 0: the ratio is 0/0, and the number of ties can still change
            still = (lipschitz == 0) & (rho == 0)
            undefined += int((still & (right != right_there)).sum())
            relative = np.where(still, 0.0, rho / np.where(lipschitz == 0, 1e-9, lipschitz))
            case = {"h": here, "h′": there, "y": label}
            _judge(relative, right, right_there, 1.0, np.arange(len(y)), exact, signed, markov, search, case)
    pairs = 2 * len(SCORES) ** 4 + 3 * len(SCORES) ** 6
    search.exhausts("two and three labels, all pairs of scores among 0 … 3, every label", cases=pairs)
    search.fact(
        "undefined",
        undefined,
        "pairs of scores where the ratio is 0/0 and the accuracy differs (ties change)",
    )


def _judge(
    relative: np.ndarray,
    right: np.ndarray,
    right_there: np.ndarray,
    radius: float,
    codes: np.ndarray,
    exact: Any,
    signed: Any,
    markov: Any,
    search: Search,
    case: Any,
) -> None:
    """Compare what each cell's accuracy does with the three bounds."""
    cells = int(codes.max()) + 1
    counts = np.bincount(codes, minlength=cells)
    change = np.bincount(codes, right_there - right, minlength=cells) / (12 * counts)
    one, two = exact(relative, codes, cells, radius), signed(relative, codes, cells, radius)
    three = markov(relative, codes, cells, radius)
    shown = {
        name: value if np.ndim(value) and len(value) == cells else str(np.shape(value))
        for name, value in case.items()
    }
    search.observe(one - np.abs(change), shown, tolerance=1e-12)
    search.observe(np.minimum(two[:, 1] - change, two[:, 0] + change), shown, tolerance=1e-12)
    finite = np.where(np.isinf(three), 1e300, three)
    search.observe(finite - one, shown, tolerance=1e-12)
    search.observe(one - two.max(axis=1), shown, tolerance=1e-12)
    # a row of an end is at most one of both, unless it ties
    search.observe(two.sum(axis=1) - one, shown, tolerance=1e-12)


def _random_models(exact: Any, signed: Any, markov: Any, search: Search) -> None:
    """Integer weights and features: ties occur, and the other model aims at one row until it ties or is past it."""
    search.part("random models with ties")
    for _ in range(150 * search.effort):
        labels, features, rows, cells = search.rng.integers([2, 1, 30, 1], [5, 4, 90, 5])
        X = search.rng.integers(-2, 3, size=(rows, features)).astype(float)
        W = search.rng.integers(-2, 3, size=(labels, features)).astype(float)
        y, codes = search.rng.integers(0, labels, size=rows), np.arange(rows) % cells
        rho = margins(X @ W.T, y)
        aim = int(search.rng.integers(0, rows))
        step = np.zeros_like(W)
        step[y[aim]] = -X[aim] * np.sign(rho[aim])
        rival = int(np.argmax(np.where(np.arange(labels) == y[aim], -np.inf, X[aim] @ W.T)))
        step[rival] = X[aim] * np.sign(rho[aim])
        length = (X[aim] ** 2).sum()
        far = abs(rho[aim]) / (2 * length) if length else 0.0
        for reach in (far, 1.5 * far, 0.25):
            other = W + reach * step
            radius = float(np.sqrt(((W - other) ** 2).sum())) * (1 + 1e-9)
            if radius == 0:
                continue
            lipschitz = margin_lipschitz(X)
            right, there = (correctness(np.round(X @ model.T, 9), y) for model in (W, other))
            case = {"W": W.tolist(), "W′": other.tolist(), "X": X.tolist(), "y": y.tolist()}
            _judge(
                relative_margins(rho, lipschitz),
                right,
                there,
                radius,
                codes,
                exact,
                signed,
                markov,
                search,
                case,
            )
            back = relative_margins(np.round(margins(X @ other.T, y), 9), lipschitz)
            _judge(back, there, right, radius, codes, exact, signed, markov, search, case)


FAULTS: dict[str, dict[str, Any]] = {
    "strictly inside the radius": {
        "exact": lambda relative, codes, cells, radius: exact_terms(
            relative, codes, cells, radius * (1 - 1e-6)
        )
    },
    "half of the radius": {
        "exact": lambda relative, codes, cells, radius: exact_terms(relative, codes, cells, radius / 2)
    },
    "losses and gains exchanged": {"signed": lambda *rows: signed_terms(*rows)[:, ::-1]},
    "ties forgotten": {
        "signed": lambda relative, codes, cells, radius: signed_terms(
            np.where(relative == 0, np.inf, relative), codes, cells, radius
        )
    },
    "signed bound twice as small": {"signed": lambda *rows: signed_terms(*rows) / 2},
    "Markov with the square of the ratio": {
        "markov": lambda relative, codes, cells, radius: (
            markov_terms(np.sign(relative) * relative**2, codes, cells, radius**2) / 2
        )
    },
    "Markov over the rows outside": {
        "markov": lambda relative, codes, cells, radius: markov_terms(
            np.where(np.abs(relative) <= radius, np.inf, relative), codes, cells, radius
        )
    },
}


CLAIM = Claim(
    id="mpbt.thm-3.1",
    where="Theorem 3.1, § 3.1 and Appendix B",
    statement="For every event E with a finite E[L/|ρ| | E], |P(H(X) = Y | E) − P(H′(X) = Y | E)| ≤ "
    "E[L_{X,Y}/|ρ(h, X, Y)| | E]·‖h − h′‖; ties are broken at random.",
    statement_uses=("mpbt.margin-lipschitz",),
    verdict="holds",
    kind="as-printed",
    impact="none",
    because="No pair of models breaks the bound, with the margins of either model and with ties; the errata are "
    "misprints.",
    headline="Accuracy is pointwise Lipschitz in the model as printed, with either model's margins; where margins "
    "have a density at zero the bound is infinite.",
    finding="Either model's margins will do; ties are covered, with L/0 = ∞. Where L = ρ = 0 the ratio is "
    "undefined: 0 is right for linear models, not in general. If |ρ|/L has a positive density at 0, "
    "the mean is infinite: then the theorem says nothing, while the share of margins within ‖h − h′‖ "
    "does.",
    chapter="mpbt-thm-3-1",
    errata=(
        Erratum(
            where="Theorem 3.1, § 3.1, assumption",
            printed="E[L/|ρ(h′, X, Y)| | E] < ∞",
            correct="E[L/|ρ(h, X, Y)| | E] < ∞, as in Appendix B; the bound has h's margins (that of h′ holds too)",
            band="slip",
            why="The bound uses the margins of h, so the mean that must be finite is that of h.",
            used="Appendix B, the theorem restated",
        ),
        Erratum(
            where="Appendix B, first sentence of the proof",
            printed="… ≤ P(L/|ρ(h, X, Y)| ≤ ‖h − h′‖ | E)",
            correct="… ≤ P(|ρ(h, X, Y)|/L ≤ ‖h − h′‖ | E), as at the end of the proof",
            band="slip",
            why="A prediction can only change where the margin is small, not where its reciprocal is.",
            used="Appendix B, end of the proof",
        ),
    ),
    check=check,
    faults=FAULTS,
)
