"""Ours: how far one record moves a regularised minimiser of a squared, hinge or softmax loss, and one noisy step."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.learners.losses import curvature, descent
from dpfair_lib.learners.objective_laws import noise_of
from dpfair_lib.margins.softmax_losses import (
    softmax_gradient_length,
    softmax_perturbation_sensitivity,
    softmax_reach,
)
from dpfair_lib.margins.squared_losses import (
    squared_gradient_radius,
    squared_perturbation_sensitivity,
    squared_reach,
)
from dpfair_lib.margins.step_noise import descent_sigma, step_sensitivity
from dpfair_lib.privacy.minimisers import (
    gradient_radius,
    logistic_perturbation_sensitivity,
    minimiser_reach,
    output_perturbation_sensitivity,
)
from dpfair_lib.privacy.objective_perturbation import objective_perturbation_scale

HALVES = [Fraction(i, 2) for i in range(-2, 3)]
MODULI = (Fraction(1, 4), Fraction(1), Fraction(4))
RADII = (Fraction(1, 4), Fraction(1), None)
SHOWN = tuple(map(float, np.geomspace(0.01, 1000, 60)[::6]))  # the κ of the chapter's figure
LENGTHS = (0.0, 0.1, 0.7, 1.0, 3.0, 20.0)
ROUNDED = 1e-9


def check(
    *,
    search: Search,
    squared: Callable[..., float] = squared_perturbation_sensitivity,
    softmax_moves: Callable[..., float] = softmax_perturbation_sensitivity,
    reach: Callable[..., float] = softmax_reach,
    length: Callable[..., float] = softmax_gradient_length,
    step: Callable[..., float] = step_sensitivity,
    sigma: Callable[..., float] = descent_sigma,
) -> Evidence:
    """Judge the constants on all small data sets of a line, on refits, and on the pairs that attain them."""
    _squared_on_a_line(squared, search)
    _squared_attained(squared, search)
    _softmax_lengths(length, search)
    _softmax_reach(reach, search)
    _softmax_refits(softmax_moves, search)
    shares = {classes: [(kappa, attained_softmax(kappa, classes)) for kappa in SHOWN] for classes in (3, 10)}
    search.fact("attained_softmax", shares)
    _steps(step, sigma, search)
    _without_regularised_intercept(search)
    _objective_perturbation(search)
    return search.evidence()


def _squared_on_a_line(squared: Callable[..., float], search: Search) -> None:
    """One feature: minimisers are fractions, and those of a ball are cut off."""
    search.part("squared loss on a line, exact")
    for n, modulus, radius in itertools.product((1, 2, 3), MODULI, RADII):
        known = {"lipschitz": 1.0, "strong_convexity": float(modulus), "n": n}
        bound = squared(**known) if radius is None else squared(**known, radius=float(radius))
        for rest in itertools.combinations_with_replacement(HALVES, n - 1):
            for one, two in itertools.combinations(HALVES, 2):
                ends = [_line_minimiser([*rest, z], modulus, radius) for z in (one, two)]
                case = {"others": rest, "replaced": (one, two), "μ": modulus, "B": radius}
                search.observe(Fraction(bound) - abs(ends[0] - ends[1]), case)
    others = sum(math.comb(len(HALVES) + n - 2, n - 1) for n in (1, 2, 3))
    cases = others * math.comb(len(HALVES), 2) * len(MODULI) * len(RADII)
    search.exhausts(
        "squared loss, up to three rows in halves on a line, every replacement, three balls", cases=cases
    )


def _line_minimiser(rows: list[Fraction], modulus: Fraction, radius: Fraction | None) -> Fraction:
    """Return the minimiser of the mean of (1 − hz)² + μh²/2 over |h| ≤ B."""
    h = 2 * sum(rows) / (len(rows) * modulus + 2 * sum(z * z for z in rows))
    return h if radius is None else min(max(h, -radius), radius)


def _squared_attained(squared: Callable[..., float], search: Search) -> None:
    """Many equal rows make weights as long as may be; two mirror images pull to either side."""
    search.part("squared loss, attained")
    n, least = 10**6, (1.0, 0.0, 0.0, 0.0)
    for modulus, radius, norm in itertools.product(
        (0.02, 0.3, 1.0, 4.0, 50.0), (0.3, 1.0, math.inf), (1.0, 2.5)
    ):
        kappa = norm**2 / modulus
        longest = min(squared_reach(kappa), norm * radius)
        # rows of the norm λ at which the minimiser is so long: μR/Λ = 2λ(1 − λR/Λ)
        target = longest / norm
        row = (1 - math.sqrt(max(0.0, 1 - 2 * modulus * target**2))) / (2 * target)
        s = 2 * longest / (1 + math.sqrt(1 + 8 * longest**2))
        ends = []
        for side in (1, -1):
            last = norm * np.array([-s, side * math.sqrt(1 - s * s)])
            gram = np.diag([(n - 1) * row**2, 0.0]) + np.outer(last, last)
            pull = np.array([(n - 1) * row, 0.0]) + last
            ends.append(np.linalg.solve(2 * gram + n * modulus * np.eye(2), 2 * pull))
        bound = squared(lipschitz=norm, strong_convexity=modulus, n=n, radius=radius)
        move = float(np.linalg.norm(ends[0] - ends[1])) / bound
        case = {"Λ": norm, "μ": modulus, "B": radius, "n": n}
        search.observe(radius * (1 + 1e-12) - float(np.linalg.norm(ends[0])), case)
        search.observe(1 - move, case, tolerance=ROUNDED)
        search.observe(move - 0.999, case | {"claim": "attained"})
        least = min(least, (move, norm, modulus, radius))
    slack, where = 0.999 - least[0], dict(zip(("Λ", "μ", "B"), least[1:], strict=True))
    search.needs("the squared loss's m: 0.999 of it", slack=slack, case=where)


def _softmax_lengths(length: Callable[..., float], search: Search) -> None:
    """No gradient is longer than φ, whatever the logits of that norm; φ is exact for two classes, and at the ends."""
    search.part("softmax, lengths of gradients")
    for classes, norm in itertools.product((2, 3, 5, 10), (*LENGTHS, 1000.0)):
        logits = search.rng.normal(size=(400, classes)) * search.rng.choice([1.0, 1.0, 5.0], size=(400, 1))
        logits[:classes] = np.eye(classes)
        logits[classes] = [-1.0, 1.0, *np.zeros(classes - 2)]
        logits *= norm / np.linalg.norm(logits, axis=1, keepdims=True)
        found = np.linalg.norm(softmax(logits, axis=1) - np.eye(classes)[0], axis=1)
        bound, case = length(norm, classes), {"K": classes, "‖Hx‖": norm}
        search.observe(bound - found, case, tolerance=ROUNDED)
        if classes == 2 or norm == 0:
            search.observe(float(found.max()) - bound, case | {"claim": "attained"}, tolerance=ROUNDED)
        search.observe(math.sqrt(2) - bound, case)  # as floats, without room for rounding


def _softmax_reach(reach: Callable[..., float], search: Search) -> None:
    """No minimiser is longer than the reach, and that of equal rows is as long, their length chosen well."""
    search.part("softmax, reach")
    shares = np.geomspace(0.001, 1, 4000)
    for classes, kappa in itertools.product((2, 3, 10), (0.1, 1.0, 10.0, 1000.0)):
        low, high = np.zeros_like(shares), np.full_like(shares, 60.0)
        for _ in range(80):  # t(e^t + K − 1) = Kκλ² for rows of norm λ
            t = (low + high) / 2
            below = t * (np.exp(t) + classes - 1) < classes * kappa * shares**2
            low, high = np.where(below, t, low), np.where(below, high, t)
        longest = float((low / shares).max() * math.sqrt(1 - 1 / classes))
        found, case = reach(kappa, classes), {"K": classes, "κ": kappa}
        search.observe(found - longest, case, tolerance=ROUNDED)
        search.observe(longest / found - 0.9999, case | {"claim": "attained"})


def softmax_minimiser(rows: np.ndarray, labels: np.ndarray, modulus: float, classes: int) -> np.ndarray:
    """Return the minimiser H of the mean softmax loss plus μ‖H‖²/2, from a general solver."""
    n, p = rows.shape
    marks = np.eye(classes)[labels]

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        h = flat.reshape(classes, p)
        logits = rows @ h.T
        value = (logsumexp(logits, axis=1) - (logits * marks).sum(axis=1)).mean() + modulus * (h**2).sum() / 2
        slope = (softmax(logits, axis=1) - marks).T @ rows / n + modulus * h
        return float(value), slope.ravel()

    found = minimize(
        objective, np.zeros(classes * p), jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 200}
    )
    return np.asarray(found.x.reshape(classes, p))


def _softmax_refits(moves: Callable[..., float], search: Search) -> None:
    """Random tables, and mirror images beside equal rows; with two classes the constant is the logistic one."""
    search.part("softmax, refits")
    rng, largest = search.rng, 0.0
    for trial in range(16 * search.effort):
        classes, n, modulus = 3 + trial % 2, int(rng.integers(2, 30)), float(rng.choice([0.02, 0.2, 1.0]))
        rows = np.tile([1.0, 0.0], (n + 1, 1)) if trial % 2 else rng.normal(size=(n + 1, 2))
        rows[-2:] = [[-0.6, 0.8], [-0.6, -0.8]]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        labels = rng.integers(0, classes, n + 1) * (trial % 4 != 1)
        labels[-2:] = 0
        ends = [
            softmax_minimiser(np.delete(rows, at, 0), np.delete(labels, at), modulus, classes)
            for at in (-1, -2)
        ]
        bound = moves(lipschitz=1.0, strong_convexity=modulus, n=n, classes=classes)
        share = float(np.linalg.norm(ends[0] - ends[1])) / bound
        largest = max(largest, share)
        search.observe(1 - share, {"K": classes, "n": n, "μ": modulus}, tolerance=1e-6)
    search.observe(largest - 0.5, {"claim": "half of it is attained", "share": largest})
    for norm, modulus, n in itertools.product((0.5, 2.0), (0.01, 1.0), (1, 100)):
        known: dict[str, Any] = {"lipschitz": norm, "strong_convexity": modulus, "n": n}
        two = logistic_perturbation_sensitivity(**known | {"lipschitz": math.sqrt(2) * norm})
        case = dict(known)
        search.equal(moves(**known, classes=2) / two, 1, case, tolerance=ROUNDED)
        for classes in (2, 3, 10, 100):
            usual = output_perturbation_sensitivity(**known | {"lipschitz": math.sqrt(2) * norm})
            search.observe(usual - moves(**known, classes=classes), case | {"K": classes}, tolerance=ROUNDED)


@functools.cache  # nothing examined enters it
def attained_softmax(kappa: float, classes: int) -> float:
    """Return a share of 2√2Λ/(μn) that many equal rows and two mirror images come close to as n grows, Λ = 1."""
    s, t, others = np.linspace(0, 1, 401), np.geomspace(1e-4, 12, 400)[:, None], classes - 1
    # rows of one class: t(e^t + K − 1) = Kκλ²; half with a second class and opposite features: 2α² = κλ²F(α)
    one = t * (np.exp(t) + others) / (classes * kappa)
    pull = 2 * t * np.sinh(t) / (2 * np.cosh(t) + others - 1)
    two = 2 * t**2 / (kappa * (t - pull))
    found = []
    for squared_norm, apart in ((one, False), (two, True)):
        up, down = (np.exp(side * s * t / np.sqrt(squared_norm)) for side in (-1, 1))
        # e to the logits of the class itself, of the second one, and of each other one
        masses = (up, down, 1.0) if apart else (up, 1.0, 1.0)
        total = masses[0] + masses[1] + (others - 1) * masses[2]
        lengths = ((total - masses[0]) ** 2 + masses[1] ** 2 + (others - 1) * masses[2] ** 2) / total**2
        found.append(np.where(squared_norm <= 1, (1 - s**2) * lengths, 0.0).max())
    return math.sqrt(max(found) / 2)


def _steps(step: Callable[..., float], sigma: Callable[..., float], search: Search) -> None:
    """At weights of any length no two gradients are further apart, and two are as far."""
    search.part("one step")
    angle = np.linspace(0, 2 * np.pi, 361)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    losses: tuple[Any, ...] = ("logistic", "huberised-hinge", "squared")
    for loss, norm, n in itertools.product(losses, (0.5, 2.0), (1, 50)):
        for reach in LENGTHS:
            rows = np.concatenate([share * norm * ring for share in (0.5, 1.0)])
            margins = rows[:, 0] * reach / norm
            slope = 2 * (1 - margins) if loss == "squared" else descent(margins, loss)
            gradients = slope[:, None] * rows / n
            apart = float(max(np.linalg.norm(gradients - one, axis=1).max() for one in gradients[361::2]))
            bound = step(reach / norm, lipschitz=norm, n=n, loss=loss)
            case = {"loss": loss, "Λ": norm, "n": n, "Λ‖h‖": reach}
            search.observe(1 - apart / bound, case, tolerance=ROUNDED)
            search.observe(apart / bound - 0.999, case | {"claim": "attained"})
            for rho in (0.01, 2.0):
                noise = sigma(reach / norm, rho, lipschitz=norm, n=n, loss=loss)
                search.equal(bound**2 / (2 * noise**2) / rho, 1, case | {"ρ": rho}, tolerance=ROUNDED)
    search.needs(
        "that logistic noise follows the length: that of no weights, at ΛR = 3",
        slack=gradient_radius(0.0) - gradient_radius(3.0),
        case={"Λ‖h‖": 3.0},
    )


def _without_regularised_intercept(search: Search) -> None:
    """All features 0, one label of n or two: the logistic intercept moves by more than ln 2, however many records."""
    search.part("an intercept without regulariser")
    for n in (10, 10**4, 10**8):
        move = math.log(n - 1) - math.log((n - 2) / 2)
        search.observe(move - math.log(2), {"n": n})
        bound = output_perturbation_sensitivity(lipschitz=1.0, strong_convexity=1.0, n=n)
        search.needs("that the intercept is regularised", slack=bound - move, case={"n": n})


def _objective_perturbation(search: Search) -> None:
    """In the objective, noise reaches weights of every length: m times the Laplace noise for Λ exceeds ε."""
    search.part("objective perturbation")
    epsilon, short = 1.0, 1e-3
    rows, others = np.array([[1.0, short]]), np.array([[-1.0, short]])
    norm = math.hypot(1, short)
    modulus = 2 * norm**2 / epsilon
    shift = np.linspace(1, 12, 400)
    weights = np.stack([shift, (-8 - shift) / short], axis=1)  # margins −8, and −8 − 2·shift
    # ln det of each Hessian, up to what both have
    bends = [np.log1p(curvature(weights @ t[0], "logistic") * norm**2 / modulus) for t in (rows, others)]
    share = gradient_radius(minimiser_reach(norm**2 / modulus))
    known: dict[str, Any] = {"lipschitz": norm, "strong_convexity": modulus, "n": 1}
    for factor in (1.0, share):
        scale = factor * objective_perturbation_scale(epsilon, 2, absolute=1 + short, **known)
        noises = [abs(noise_of(weights, table, modulus, "logistic")).sum(axis=-1) for table in (rows, others)]
        most = float(abs((noises[1] - noises[0]) / scale + bends[0] - bends[1]).max())
        if factor == 1:
            search.observe(epsilon - most, {"ε": epsilon}, tolerance=1e-6)
            search.observe(most - 0.99 * epsilon, {"ε": epsilon, "claim": "attained"})
        else:
            search.needs(
                "the scale of Laplace noise in the objective: with m times it",
                slack=epsilon - most,
                case={"m": share},
            )
    # a plausible mistake: weights that have the same margin, −8, with both rows have equally long noises
    alike = [abs(noise_of(np.array([0, -8 / short]), t, modulus, "logistic")).sum() for t in (rows, others)]
    search.equal(alike[0] / alike[1], 1, {"margins": (-8, -8)}, tolerance=ROUNDED)


FAULTS: dict[str, dict[str, Any]] = {
    "squared, without the reach": {
        "squared": lambda *, lipschitz, strong_convexity, n, radius=math.inf: (
            output_perturbation_sensitivity(lipschitz=2 * lipschitz, strong_convexity=strong_convexity, n=n)
            + 0 * min(radius, 1)
        )
    },
    "squared, the longest residual": {
        "squared": lambda *, lipschitz, strong_convexity, n, radius=math.inf: output_perturbation_sensitivity(
            lipschitz=2
            * lipschitz
            * (1 + min(squared_reach(lipschitz**2 / strong_convexity), radius * lipschitz)),
            strong_convexity=strong_convexity,
            n=n,
        )
    },
    "squared, the ball forgotten": {
        "squared": lambda *, radius=math.inf, **known: (
            squared_perturbation_sensitivity(**known) + 0 * min(radius, 1)
        )
    },
    "squared, the ball alone": {
        "squared": lambda *, lipschitz, strong_convexity, n, radius=math.inf: (
            4 * lipschitz * squared_gradient_radius(lipschitz * min(radius, 1.0)) / (strong_convexity * n)
        )
    },
    "softmax as two classes": {
        "softmax_moves": lambda *, classes, **known: (
            softmax_perturbation_sensitivity(classes=2, **known) + 0 * classes
        )
    },
    "softmax, the usual √2": {
        "softmax_moves": lambda *, lipschitz, classes, **known: (
            output_perturbation_sensitivity(lipschitz=math.sqrt(2) * lipschitz, **known) + 0 * classes
        )
    },
    "softmax, half": {"softmax_moves": lambda **known: softmax_perturbation_sensitivity(**known) / 2},
    "reach of two classes": {"reach": lambda kappa, classes: softmax_reach(kappa, 2) + 0 * classes},
    "reach a tenth too long": {"reach": lambda kappa, classes: 1.1 * softmax_reach(kappa, classes)},
    "length without the other classes": {
        "length": lambda norm, classes: softmax_gradient_length(norm, 2) + 0 * classes
    },
    "length of a unit for one": {"length": lambda norm, classes: softmax_gradient_length(norm / 2, classes)},
    "length rounded above √2": {
        "length": lambda norm, classes: math.nextafter(softmax_gradient_length(norm, classes), 2)
    },
    "length never short": {"length": lambda norm, classes: math.sqrt(2) + 0 * norm * classes},
    "a step of the Lipschitz constant": {
        "step": lambda length, *, lipschitz, n, loss: step_sensitivity(
            100.0 / lipschitz + 0 * length, lipschitz=lipschitz, n=n, loss=loss
        )
    },
    "a step of no weights": {"step": lambda length, **known: step_sensitivity(0 * length, **known)},
    "noise for 4ρ": {"sigma": lambda length, rho, **known: descent_sigma(length, 4 * rho, **known)},
    "noise of another length": {
        "sigma": lambda length, rho, **known: descent_sigma(length + 1, rho, **known)
    },
}


CLAIM = Claim(
    id="ours.sharp-losses",
    where="Sharp constants of other losses, Results 1 to 4",
    statement="Replace one of n records of norm at most Λ. A μ-regularised squared loss, over all weights or a ball of "
    "radius B, moves by at most 4Λm/(μn), m = max (1 + Rs)√(1 − s²), with R its reach, or ΛB if smaller. A softmax of "
    "K classes moves by at most 2Λφ/(μn), φ < √2, a huberised hinge by 2Λ/(μn). One logistic gradient at weights of "
    "length r moves by at most 2Λm(Λr)/n with the m of that loss. Noisy descent of fixed steps, its noise in "
    "proportion to it, has the ρ of its steps.",
    statement_uses=("mpbt.sensitivity",),
    verdict="holds",
    finding="From two dimensions on the constants of the squared loss and of the hinge are the least for all n, and "
    "that of a step for each n. The softmax's reach is attained; its constant is known within a bracket. "
    "Without a regularised intercept no bound of order 1/n exists for the logistic loss. In general Laplace noise in "
    "the logistic objective cannot be multiplied by an m < 1.",
    headline="A squared loss moves less than its longest gradients say, the huberised hinge does not; "
    "noisy logistic descent may begin with half of the usual noise.",
    kind="theorem",
    chapter="sharp-losses",
    check=check,
    faults=FAULTS,
)
