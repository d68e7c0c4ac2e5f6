"""Linear classifiers, private and not, fitted to rows in the unit ball: ours and those of other libraries.

All private ones have the same (ε, δ) under the same relation, replace-one, and no intercept: a combination of the
columns is constant. What is chosen about each is a small table of candidates, from which other data choose.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpfair_lib.experiments.ours.private_learners_peer import Weights, peer
from dpfair_lib.experiments.public_bounds import BOUNDS

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset
    from dpfair_lib.privacy.sampling import Noise

Candidate = dict[str, float]

# LSAC: the scale of the test until 1991, and of grades. ACSIncome: code lists of the survey of 2018. COMPAS: by hand.
RANGES: dict[str, tuple[float, float]] = BOUNDS | {
    "priors_count": (0, 30), "length_of_stay": (0, 60), "lsat": (10, 48), "ugpa": (0, 4),
    "AGEP": (17, 99), "COW": (1, 9), "SCHL": (1, 24), "MAR": (1, 5), "OCCP": (10, 9830), "POBP": (1, 554),
    "RELP": (0, 17), "WKHP": (1, 99), "RAC1P": (1, 9),
}  # fmt: skip
"""Public ranges of the numeric columns; values beyond are clipped."""


class Rows(NamedTuple):
    """Features in the unit ball, labels 0 and 1, and from how many columns the features were coded.

    Of c columns each gives one entry of a row that is not 0, at most 1/√c: the absolute values add up to √c at most.
    """

    features: np.ndarray
    labels: np.ndarray
    columns: int


class Learner(NamedTuple):
    """A way to learn.

    Attributes
    ----------
    maker : str
        Who made it.
    pure : bool
        Whether its δ is 0.
    candidates : tuple of dict
        What may be chosen about it.
    """

    maker: str
    pure: bool
    candidates: tuple[Candidate, ...]


def unit_ball(dataset: Dataset) -> tuple[np.ndarray, int]:
    """Return the features scaled by public numbers, so that no row has a norm above 1, and their columns before coding.

    Numeric columns are clipped to `RANGES` and mapped to [−1, 1]; of the columns that stand for one categorical column
    exactly one is 1. Where there is none of these, a column of ones is added. With c columns before the coding, a row
    has norm √c at most, by which it is divided.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled, with numeric columns named in `RANGES`.

    Returns
    -------
    ndarray of shape (n, d), int
        Rows, of which some combination of the columns is constant; and c.
    """
    numeric = dataset.X[dataset.numeric_features].to_numpy(dtype=float)
    low, high = np.array([RANGES[name] for name in dataset.numeric_features], dtype=float).T
    coded = dataset.X.drop(columns=dataset.numeric_features).to_numpy(dtype=float)
    if coded.shape[1] == 0:
        coded = np.ones((len(numeric), 1))
    columns = numeric.shape[1] + int(coded[0].sum())  # the same for every row
    scaled = np.hstack([2 * (numeric.clip(low, high) - low) / (high - low) - 1, coded]) / math.sqrt(columns)
    return scaled, columns


def _grid(**values: tuple[float, ...]) -> tuple[Candidate, ...]:
    found: list[Candidate] = [{}]
    for name, options in values.items():
        found = [{**one, name: option} for one in found for option in options]
    return tuple(found)


OBJECTIVE = _grid(least=(1.0, 4.0), length=(3.0, 10.0, 30.0, 100.0))
OUTPUT = _grid(length=(3.0, 10.0, 30.0, 100.0))
STEPS = _grid(sample_rate=(0.05,), steps=(200,), learning_rate=(1.0, 3.0, 10.0)) + _grid(
    sample_rate=(0.2,), steps=(50,), learning_rate=(3.0, 10.0, 30.0)
)
LEARNERS = {
    "objective, Laplace": Learner("ours", True, OBJECTIVE),
    "output, Laplace": Learner("ours", True, OUTPUT),
    "diffprivlib": Learner("diffprivlib", True, OBJECTIVE),
    "diffprivlib, as it comes": Learner("diffprivlib", True, ({},)),
    "objective, Gaussian": Learner("ours", False, OBJECTIVE),
    "output, Gaussian": Learner("ours", False, OUTPUT),
    "DP-SGD": Learner("ours", False, STEPS),
    "DP-SGD of Opacus": Learner("Opacus", False, STEPS),
}
"""Every learner with an ε. Opacus takes the steps of ours, so what is chosen for the one is chosen for both."""


def objective_regularization(
    deviation: float, epsilon: float, p: int, *, least: float, length: float
) -> float:
    """Return λ = μn for objective perturbation: the larger of ``least``/ε and √p s/B.

    With curvature h along a direction the noise costs at most s²h/(2(h + λ)²) there, and the regulariser
    λ²w²h/(2(h + λ)²). As h/(h + λ)² ≤ 1/(4λ), both together cost at most (ps² + λ²‖w‖²)/(8λ) over p directions, which
    is least at λ = √p s/‖w‖. The curvature of one record asks for at least a multiple of 1/ε.

    Parameters
    ----------
    deviation : float
        s: standard deviation of the noise in each coordinate.
    epsilon : float
        ε.
    p : int
        Number of weights.
    least : float
        Multiple of 1/ε.
    length : float
        B, a guess at the norm of good weights.
    """
    return max(least / epsilon, math.sqrt(p) * deviation / length)


def output_regularization(noise: float, n: int, *, length: float) -> float:
    """Return μ = (2/B)√(k/n) for output perturbation, where k is the noise over the sensitivity.

    The noise moves a row's score by 2k/(μn), and the regulariser costs at most μB²/2: the sum is least there.
    """
    return 2 / length * math.sqrt(noise / n)


def fit(
    name: str, train: Rows, epsilon: float, chosen: Candidate, *, delta: float, noise: Noise, seed: Any = None
) -> Weights:
    """Return the weights of one learner.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`.
    train : Rows
        Training rows. diffprivlib fits those that were sent to its process last.
    epsilon : float
        ε under replace-one.
    chosen : dict
        One of the learner's candidates.
    delta : float
        δ of the learners that are not pure.
    noise : {"secure", "study"}
        Of our own learners. Those of diffprivlib draw floats from the operating system; those of Opacus study noise.
    seed : int, optional
        Of study noise.

    Returns
    -------
    Weights
        With intercept 0.
    """
    n, p = train.features.shape
    kind, _, law = name.partition(", ")
    if law == "as it comes":
        return peer().fit(
            epsilon=epsilon, data_norm=1.0
        )  # with C = 1, and an intercept that is not regularised
    if kind == "diffprivlib":
        # its noise has a length of Γ(p) times 2/ε in a uniform direction
        modulus = objective_regularization(math.sqrt(p + 1) * 2 / epsilon, epsilon, p, **chosen)
        return peer().fit(
            epsilon=epsilon, data_norm=1.0, C=1 / modulus, fit_intercept=False, max_iter=2000, tol=1e-7
        )
    settings = {"noise": noise, "random_state": None if noise == "secure" else seed, "classes": (0, 1)}
    if kind == "objective":
        model = _objective(law == "Laplace", train, epsilon, chosen, delta, settings)
    elif kind == "output":
        model = _output(law == "Laplace", n, p, epsilon, chosen, delta, settings)
    else:
        model = _descending(kind, epsilon, chosen, delta, settings | {"random_state": seed})
    model.fit(train.features, train.labels)
    statement = model.privacy_statement_
    assert statement.relation == "replace-one", statement
    assert statement.epsilon <= epsilon, statement
    assert statement.delta <= delta, statement
    return Weights(model.coef_[0], float(model.intercept_[0]))


def _objective(
    pure: bool, train: Rows, epsilon: float, chosen: Candidate, delta: float, settings: dict[str, Any]
) -> Any:
    from dpfair_lib.learners import ObjectivePerturbation
    from dpfair_lib.privacy import gaussian_sigma

    (n, p), absolute = train.features.shape, math.sqrt(train.columns)
    if pure:
        deviation = math.sqrt(2) * 2 * absolute / epsilon
        law: dict[str, Any] = {"noise_kind": "laplace", "delta": 0.0, "absolute_bound": absolute}
    else:
        deviation = gaussian_sigma(epsilon, delta, 2.0, "analytic")
        law = {"noise_kind": "gaussian", "delta": delta}
    modulus = objective_regularization(deviation, epsilon, p, **chosen) / n
    return ObjectivePerturbation(
        regularization=modulus, feature_bound=1.0, epsilon=epsilon, fit_intercept=False, **law, **settings
    )


def _output(
    pure: bool, n: int, p: int, epsilon: float, chosen: Candidate, delta: float, settings: dict[str, Any]
) -> Any:
    from dpfair_lib.learners import OutputPerturbation
    from dpfair_lib.privacy import gaussian_sigma

    noise = math.sqrt(2 * p) / epsilon if pure else gaussian_sigma(epsilon, delta, 1.0, "analytic")
    return OutputPerturbation(
        regularization=output_regularization(noise, n, **chosen), feature_bound=1.0, epsilon=epsilon,
        delta=0.0 if pure else delta, noise_kind="laplace" if pure else "analytic", fit_intercept=False, **settings,
    )  # fmt: skip


def _descending(kind: str, epsilon: float, chosen: Candidate, delta: float, settings: Any) -> Any:
    from dpfair_lib.learners import DPLogisticRegression

    if kind == "DP-SGD of Opacus":
        settings = settings | {"noise": "study", "backend": "opacus"}
    elif settings["noise"] == "secure":
        settings = settings | {"random_state": None}
    rate, steps = chosen["sample_rate"], int(chosen["steps"])
    # a record's gradient is its row times a number in [−1, 1]: nothing is clipped
    return DPLogisticRegression(
        noise_multiplier=noise_multiplier(epsilon, delta, rate, steps), delta=delta, max_grad_norm=1.0,
        fit_intercept=False, relation="replace-one", sample_rate=rate, steps=steps,
        learning_rate=chosen["learning_rate"], device="cpu", **settings,
    )  # fmt: skip


@functools.lru_cache(maxsize=64)
def noise_multiplier(epsilon: float, delta: float, sample_rate: float, steps: int) -> float:
    """Return what `DPLogisticRegression` calibrates for secure noise, once for all splits; Opacus gets the same."""
    from dpfair_lib.privacy import dp_sgd_noise
    from dpfair_lib.privacy.grid_noise import continuous_delta

    return dp_sgd_noise(epsilon, continuous_delta(delta), sample_rate, steps, "pld", relation="replace-one")


def unprotected(train: Rows) -> Iterator[tuple[str, Weights]]:
    """Yield what has no ε: logistic regression, and the more frequent label of the training rows."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e4, fit_intercept=False, max_iter=5000)
    yield "no privacy", Weights(model.fit(train.features, train.labels).coef_[0], 0.0)
    sign = 1.0 if 2 * train.labels.sum() > len(train.labels) else -1.0
    yield "constant", Weights(np.zeros(train.features.shape[1]), sign)


def accuracy(found: Weights, test: Rows) -> float:
    """Return the share of test rows whose label is right; a score of 0 means the label 0."""
    guessed = test.features @ found.weights + found.intercept > 0
    return float((guessed == test.labels).mean())
