"""Releases of learners: weights with noise, and a hypothesis chosen privately."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cases import Asked, Case, Data, Pairs, estimator
from neighbours import feature_pairs, features, replaced
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import norm

import dpfair_lib as dpf

ROWS, BOUND, MODULUS, TOLERANCE = 12, 2.0, 0.5, 1e-3


def _loss(signed: np.ndarray, loss: str) -> np.ndarray:
    if loss == "logistic":
        return np.logaddexp(0, -signed)
    # the hinge with its corner rounded between the margins ½ and 3⁄2
    return np.where(signed > 1.5, 0, np.where(signed < 0.5, 1 - signed, (1.5 - signed) ** 2 / 2))


def _minimiser(
    data: Data,
    loss: str,
    intercept: bool,
    classes: tuple[Any, Any],
    modulus: float = MODULUS,
    linear: Any = 0.0,
    absolute: float = math.inf,
) -> np.ndarray:
    """Return the weights before noise on them, by another solver."""
    X, y = np.asarray(data["X"], dtype=float), np.asarray(data["y"])
    second = y == sorted(classes)[1]
    rows = np.array([x * min(1, BOUND / max(math.hypot(*x), 5e-324)) for x in X])
    rows = np.array([x * min(1, absolute / max(math.fsum(abs(x)), 5e-324)) for x in rows])
    rows = np.hstack([rows, np.ones((len(X), 1))]) if intercept else rows
    signed = rows * np.where(second, 1, -1)[:, None]

    def objective(w: np.ndarray) -> float:
        return float(_loss(signed @ w, loss).mean() + modulus / 2 * w @ w + np.sum(linear * w))

    return minimize(objective, np.zeros(rows.shape[1]), method="BFGS", options={"gtol": 1e-9}).x


def _sensitivity(n: int, loss: str, intercept: bool) -> float:
    """Return 2Λ(m + τ)/(μn); m of the logistic loss is the largest σ(Rs)√(1 − s²), R² = κW(1/e), on a grid."""
    longest = math.hypot(BOUND, 1) if intercept else BOUND
    m = 1.0
    if loss == "logistic":
        s = np.linspace(0, 1, 100_001)
        m = float((np.sqrt(1 - s**2) * expit(math.sqrt(longest**2 / MODULUS * 0.2784645427610738) * s)).max())
    return 2 * longest * (m + TOLERANCE) / (MODULUS * n)


def _gaussian_deviation(epsilon: float, delta: float, sensitivity: float, kind: str) -> float:
    """Return σ: by the classical formula, or where the exact profile is δ (Balle and Wang, 2018)."""
    if kind == "classical":
        return math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon

    def excess(sigma: float) -> float:
        a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
        return norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b) - delta

    return brentq(excess, 1e-3 * sensitivity, 1e6 * sensitivity, xtol=1e-15, rtol=1e-14)


def _weights(
    loss: str, kind: str, intercept: bool = True, classes: tuple[Any, Any] = (0, 1), replicates: int = 1
) -> Case:
    def named(data: Data) -> Data:
        return data | {"y": np.array(classes)[data["y"]]}

    def asked(statement: Any, data: Data, _: Any) -> list[Asked]:
        moved, optimum = (
            _sensitivity(len(data["y"]), loss, intercept),
            _minimiser(data, loss, intercept, classes),
        )
        law, scale = "gaussian", 0.0
        if kind == "laplace":
            # in the sum of absolute values p numbers move by at most √p times their Euclidean distance
            law, scale = "laplace", math.sqrt(len(optimum)) * moved / statement.epsilon
        else:
            scale = _gaussian_deviation(statement.epsilon, statement.delta, moved, kind)
        return [Asked(law, scale, optimum, near=2 * TOLERANCE)] * replicates

    def numbers(fitted: Any) -> np.ndarray:
        coef, ends = fitted.coef_.reshape(replicates, -1), fitted.intercept_.reshape(replicates, 1)
        return np.hstack([coef, ends] if intercept else [coef]).ravel()

    more = "" if intercept else " without intercept"
    more += "" if classes == (0, 1) else f" {classes}"
    more += "" if replicates == 1 else f" x {replicates}"
    return Case(
        name=f"output perturbation {loss} {kind}{more}",
        covers=(dpf.OutputPerturbation,),
        relation="replace-one",
        make=estimator(
            dpf.OutputPerturbation, regularization=MODULUS, feature_bound=BOUND, epsilon=0.8,
            delta=0.0 if kind == "laplace" else 1e-3, noise_kind=kind, loss=loss, fit_intercept=intercept,
            classes=classes, tolerance=TOLERANCE, replicates=replicates,
        ),
        data=lambda: named(dict(zip("Xy", features(ROWS), strict=True))),
        pairs=lambda: {name: (named(one), named(two)) for name, (one, two) in feature_pairs().items()},
        asked=asked,
        numbers=numbers,
        through=lambda _, answers: np.concatenate(answers),
        noisy=frozenset({"coef_", "intercept_"}) if intercept else frozenset({"coef_"}),
    )  # fmt: skip


def objective_asked(
    cost: tuple[float, float], data: Data, answers: list[np.ndarray], *, loss: str = "logistic", law: str = "gaussian",
    intercept: bool = True, modulus: float | None = None, absolute: float | None = None,
) -> list[Asked]:  # fmt: skip
    """Return what objective perturbation of this cost asks for: noise in the objective, then on the weights."""
    whole, whole_delta = cost
    longest = math.hypot(BOUND, 1) if intercept else BOUND
    n, p = len(data["y"]), np.asarray(data["X"]).shape[1] + intercept
    epsilon, delta = 0.998 * whole, 0.998 * whole_delta
    modulus = modulus or longest**2 / (n * epsilon) * (1 if loss == "logistic" else 8)
    left = epsilon - _curvature_cost(epsilon, longest**2 / (modulus * n), loss)
    moved = 2 * 1e-6 * longest / (n * modulus)  # by what the solver may leave undone, on either data set
    if law == "laplace":
        widest = math.sqrt(p) * longest if absolute is None else absolute + intercept
        scales = 2 * widest / left, math.sqrt(p) * moved / (0.002 * whole)
    else:
        scales = (
            _gaussian_deviation(left, delta, 2 * longest, "analytic"),
            _gaussian_deviation(0.002 * whole, 0.002 * whole_delta, moved, "analytic"),
        )
    optimum = _minimiser(data, loss, intercept, (0, 1), modulus, answers[0] / n, absolute or math.inf)
    return [Asked(law, scales[0], np.zeros(p)), Asked(law, scales[1], optimum, near=1e-5)]


def _in_objective(
    loss: str,
    law: str,
    intercept: bool = True,
    regularization: float | None = None,
    absolute: float | None = None,
) -> Case:
    """Return objective perturbation; the default regularisation is Λ²/(nε), and eight times that for the hinge."""

    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        cost = statement.epsilon, statement.delta
        return objective_asked(
            cost,
            data,
            answers,
            loss=loss,
            law=law,
            intercept=intercept,
            modulus=regularization,
            absolute=absolute,
        )

    def numbers(fitted: Any) -> np.ndarray:
        return np.hstack([fitted.coef_.ravel(), fitted.intercept_] if intercept else [fitted.coef_.ravel()])

    more = ("" if intercept else " without intercept") + (f" {regularization}" if regularization else "")
    more += f" absolute values {absolute}" if absolute else ""
    return Case(
        name=f"objective perturbation {loss} {law}{more}",
        covers=(dpf.ObjectivePerturbation,),
        relation="replace-one",
        make=estimator(
            dpf.ObjectivePerturbation, feature_bound=BOUND, epsilon=0.8, delta=0.0 if law == "laplace" else 1e-3,
            regularization=regularization, noise_kind=law, absolute_bound=absolute, loss=loss, fit_intercept=intercept,
            classes=(0, 1),
        ),
        data=lambda: dict(zip("Xy", features(ROWS), strict=True)),
        pairs=feature_pairs,
        asked=asked,
        numbers=numbers,
        through=lambda _, answers: answers[1],
        noisy=frozenset({"coef_", "intercept_"}) if intercept else frozenset({"coef_"}),
    )  # fmt: skip


def _blocks_in_objective(
    blocks: tuple[int, ...], absolute: float, intercept: bool, bundles: tuple[tuple[Any, ...], ...] = ()
) -> Case:
    """Return objective perturbation with noise for blocks: of each bundle a length and a point, then of the weights.

    ``bundles`` are the blocks whose largest quotient counts, in the order in which they are drawn; by default one of
    all. A block that is a bundle by itself has plain Laplace noise. The shares w of the norm are proportional to the
    cube roots of the bundles' variances, and noise of a bundle has the scale s/w.
    """
    whole, labels = 0.8, [*blocks, "one"] if intercept else list(blocks)
    places = {label: [at for at, own in enumerate(labels) if own == label] for label in dict.fromkeys(labels)}
    bounds = {label: 1.0 if label == "one" else absolute for label in places}
    p, together = len(labels), bundles or (tuple(places),)

    def variances(bundle: tuple[Any, ...]) -> float:
        sizes = [(len(places[label]), bounds[label]) for label in bundle]
        width = sum(k for k, _ in sizes)
        return sum(k * b**2 * 2 * (width + 1) * (width + 2) / ((k + 1) * (k + 2)) for k, b in sizes)

    roots = [variances(bundle) ** (1 / 3) for bundle in together]
    shares = [root / sum(roots) for root in roots]

    def asked(_: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        n, longest = len(data["y"]), math.hypot(BOUND, 1) if intercept else BOUND
        epsilon = 0.998 * whole
        modulus = longest**2 / (n * epsilon)
        scale = 2 / (epsilon - _curvature_cost(epsilon, longest**2 / (modulus * n), "logistic"))
        noise, drawn, found = np.zeros(p), iter(answers), []

        def ask(scale: float, width: int) -> np.ndarray:
            found.append(Asked("laplace", scale, np.zeros(width)))
            return next(drawn, np.ones(width))  # none, if NumPy draws

        for bundle, share in zip(together, shares, strict=True):
            if len(bundle) == 1:
                (label,) = bundle
                noise[places[label]] = ask(scale / share * bounds[label], len(places[label]))
                continue
            length = abs(ask(scale / share, sum(len(places[label]) for label in bundle) + 1)).sum()
            for label in bundle:
                draws = ask(1.0, len(places[label]) + 1)
                noise[places[label]] = bounds[label] * length * draws[:-1] / abs(draws).sum()
        rows = np.array(data["X"], dtype=float)
        rows = np.array([x * min(1, BOUND / max(math.hypot(*x), 5e-324)) for x in rows])
        for at in list(places.values())[: len(places) - intercept]:
            rows[:, at] = [x * min(1, absolute / max(math.fsum(abs(x)), 5e-324)) for x in rows[:, at]]
        optimum = _minimiser(data | {"X": rows}, "logistic", intercept, (0, 1), modulus, noise / n)
        hidden = math.sqrt(p) * 2 * 1e-6 * longest / (n * modulus) / (0.002 * whole)
        return [*found, Asked("laplace", hidden, optimum, near=1e-5)]

    def numbers(fitted: Any) -> np.ndarray:
        return np.hstack([fitted.coef_.ravel(), fitted.intercept_] if intercept else [fitted.coef_.ravel()])

    return Case(
        name=f"objective perturbation blocks {blocks}"
        + ("" if intercept else " without intercept")
        + (f" {len(bundles)} bundles" if bundles else ""),
        covers=(dpf.ObjectivePerturbation,),
        relation="replace-one",
        make=estimator(
            dpf.ObjectivePerturbation, feature_bound=BOUND, epsilon=whole, delta=0.0, noise_kind="blocks",
            absolute_bound=absolute, blocks=blocks, fit_intercept=intercept, classes=(0, 1),
        ),
        data=lambda: dict(zip("Xy", features(ROWS), strict=True)),
        pairs=feature_pairs,
        asked=asked,
        numbers=numbers,
        through=lambda _, answers: answers[-1],
        noisy=frozenset({"coef_", "intercept_"}) if intercept else frozenset({"coef_"}),
    )  # fmt: skip


def _curvature_cost(epsilon: float, kappa: float, loss: str) -> float:
    """Return what the determinant costs: ln(1 + κ) for the hinge, else the least c of the theorem, on a grid of u."""
    if loss != "logistic":
        return math.log(1 + kappa)
    u = np.linspace(0, 0.25, 2001)

    def excess(c: float) -> float:
        return float((np.log(1 + kappa * u) - u * (epsilon - c) / 2).max() - c)

    return 0.0 if kappa <= epsilon / 2 else brentq(excess, 0, math.log(1 + kappa / 4), xtol=1e-15, rtol=1e-14)


def never(x: Any, _: Any) -> np.ndarray:
    """Select nobody."""
    return np.zeros(len(x))


def sign(x: Any, _: Any) -> np.ndarray:
    """Select whose first feature is positive."""
    return (np.asarray(x)[:, 0] > 0).astype(float)


def some(x: Any, _: Any) -> np.ndarray:
    """Select everyone with chance 0.3."""
    return np.full(len(x), 0.3)


def always(x: Any, _: Any) -> np.ndarray:
    """Select everyone."""
    return np.ones(len(x))


RULES = [never, sign, some, always]


def _losses(data: Data) -> tuple[np.ndarray, int, int]:
    """Return error plus discrimination of each rule, the smaller group's positives, and the number of rows."""
    y, group = np.asarray(data["y"]), np.asarray(data["sensitive_features"])
    cells = [(y == 1) & (group == a) for a in (0, 1)]
    smallest = min(int(cell.sum()) for cell in cells)
    found = []
    for rule in RULES:
        chance = rule(data["X"], group)
        error = np.where(y == 1, 1 - chance, chance).mean()
        apart = abs(chance[cells[0]].mean() - chance[cells[1]].mean()) if smallest else 0.0
        found.append(error + apart)
    return np.array(found), smallest, len(y)


def _chosen(repair: Any) -> Case:
    delta = 0.0 if repair == "pure" else 1e-2

    def asked(statement: Any, data: Data, answers: list[np.ndarray]) -> list[Asked]:
        losses, smallest, n = _losses(data)
        each = statement.epsilon / 2  # the count and the choice
        if repair == "pure":
            return [Asked("choice", 1.0, -2 * each * smallest / 5 * losses)]
        below = 1 / (2 * statement.delta) if repair else 1 / statement.delta
        count = float(answers[0][0]) - max(math.log(below), 0) / each
        if repair:
            count = max(count, 1)
            scale = max(2 / (count + 1), 1 / count + 1 / n)
        else:
            scale = 2 / (count - 1) + 1 / n
        return [
            Asked("laplace", 1 / each, np.array([smallest])), Asked("choice", 1.0, -each / (2 * scale) * losses)
        ]  # fmt: skip

    def through(_: Data, answers: list[np.ndarray]) -> np.ndarray:
        if repair == "pure":
            return answers[0].astype(float)
        # rounded as the learner does: where the noise leaves little of the count, another order of the logarithm's
        # parts is off by more than `rounded` allows, which fails 5 of 100,000 draws
        below = -math.log(delta) - (math.log(2) if repair else 0)
        return np.array([float(answers[1][0]), float(answers[0][0]) - below / 0.7])

    return Case(
        name=f"exponential learner, repair={repair}",
        covers=(dpf.ExponentialFairLearner,),
        relation="replace-one",
        make=estimator(dpf.ExponentialFairLearner, hypotheses=RULES, epsilon=0.7, delta=delta, repair=repair),
        data=lambda: grouped(),
        pairs=lambda: _printed_pairs() if repair is False else _chosen_pairs(),
        asked=asked,
        numbers=lambda fitted: np.array([fitted.index_, *_counted(fitted)], dtype=float),
        through=through,
        noisy=frozenset(
            {"index_", "hypothesis_", "noisy_count_"} - ({"noisy_count_"} if repair == "pure" else set())
        ),
    )


def _counted(fitted: Any) -> list[float]:
    return [fitted.noisy_count_] if hasattr(fitted, "noisy_count_") else []


def grouped() -> Data:
    X, y = features(ROWS)
    return {"X": X, "y": y, "sensitive_features": np.repeat([0, 1], ROWS // 2)}


def _chosen_pairs() -> Pairs:
    plain = grouped()
    pairs = feature_pairs(sensitive_features=plain["sensitive_features"])
    pairs["another group"] = (plain, replaced(plain, sensitive_features=1))
    alone = plain | {"sensitive_features": np.ones(ROWS, dtype=int)}
    pairs["one group only"] = (alone, replaced(alone, sensitive_features=0))
    pairs["one group and one label only"] = (
        alone | {"y": np.zeros(ROWS, dtype=int)},
        replaced(alone | {"y": np.zeros(ROWS, dtype=int)}, y=1, sensitive_features=0),
    )
    return pairs


def _printed_pairs() -> Pairs:
    # the printed algorithm assumes two positives in each group; it has no guarantee
    return {
        name: pair for name, pair in _chosen_pairs().items() if all(_losses(data)[1] >= 2 for data in pair)
    }


CASES = [
    *(
        _weights(loss, kind)
        for loss in ("logistic", "huberised-hinge")
        for kind in ("analytic", "classical", "laplace")
    ),
    _weights("logistic", "analytic", intercept=False),
    _weights("logistic", "analytic", classes=("yes", "no")),
    _weights("logistic", "analytic", classes=(0.0, 0.5)),
    _weights("huberised-hinge", "analytic", classes=(True, False)),
    *(
        _in_objective(loss, law)
        for loss in ("logistic", "huberised-hinge")
        for law in ("gaussian", "laplace")
    ),
    _in_objective("logistic", "gaussian", intercept=False),
    _in_objective("logistic", "gaussian", regularization=2.0),
    _in_objective("logistic", "laplace", absolute=0.75 * BOUND),
    _in_objective("logistic", "laplace", intercept=False, absolute=0.75 * BOUND),
    _blocks_in_objective((0, 1, 1, 2), 0.75 * BOUND, intercept=True),
    _blocks_in_objective((0, 1, 0, 1), 0.5 * BOUND, intercept=False),
    # blocks of unlike bounds: the intercept's is a bundle of its own
    _blocks_in_objective((0, 0, 1, 1), 0.1 * BOUND, intercept=True, bundles=(("one",), (0, 1))),
    *(_chosen(repair) for repair in (True, False, "pure")),
]
