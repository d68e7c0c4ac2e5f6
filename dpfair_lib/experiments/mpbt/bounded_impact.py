"""Table 1 and Figures 1–3 of MPBT: the data, the models as run and as stated, the noise and its radius."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpfair_lib.learners.minimiser import minimise
from dpfair_lib.margins.radius import output_perturbation_radius, strong_convexity
from dpfair_lib.privacy.gaussian import classical_sigma_formula, gaussian_sigma
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity

BOUND = {"celeba": 6.0, "acs-income": 3.0}  # Λ, the largest norm of a row
EPSILON, ZETA, MODELS, SEED, SPLIT_SEED, TEST_SHARE, POINTS = 1.0, 0.01, 100, 42, 42, 0.1, 20
LARGEST_EPSILON = {"celeba": 10.0, "acs-income": 1.0}
STATED_MODULUS = 1.0  # μ, for which all noise is computed
PROBLEMS = ("as run", "as stated")
FITS = ("scikit-learn", "as run", "as run, optimum", "as stated")
LIPSCHITZ = {"as run": 2 * math.sqrt(2), "as stated": 2.0, "sharp": 1.0}  # of a margin, over ‖x‖
SLACK = 1e-4  # of the certificate by one projection, in each of the four cells
CELLS = 4
ACCURACY = 1e-9  # norm of the gradient of the mean loss at what is called the optimum


@dataclass(frozen=True)
class Prepared:
    """The rows as the published experiments have them.

    Attributes
    ----------
    rows, signs : arrays of shape (n, p) and (n,)
        Training rows of norm at most ``bound``, in the order of the published split, and labels −1 and 1.
    test_rows : array of shape (m, p)
        Test rows.
    test_labels, test_groups : arrays of shape (m,)
        Labels 0 and 1, and codes 0 and 1 of the groups.
    groups : tuple of str
        Names of the groups.
    bound : float
        Λ.
    """

    rows: np.ndarray
    signs: np.ndarray
    test_rows: np.ndarray
    test_labels: np.ndarray
    test_groups: np.ndarray
    groups: tuple[str, ...]
    bound: float

    def first(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first n training rows and their labels.

        Raises
        ------
        ValueError
            If there are fewer: noise and radius for n would then belong to other rows.
        """
        if not 1 <= n <= len(self.rows):
            raise ValueError(
                f"n: found {n:,} training rows asked for, expected from 1 to the {len(self.rows):,} there are"
            )
        return self.rows[:n], self.signs[:n]


@functools.lru_cache(maxsize=2)
def prepared(name: str, standin: int | None = None) -> Prepared:
    """Return a data set prepared and split as for Table 1.

    Parameters
    ----------
    name : str
        "celeba": 38 attributes of −1 and 1, every row scaled to norm 6. "acs-income": 9 columns of codes, standardised
        over all rows, the test rows among them; rows longer than 3 are shortened to 3.
    standin : int, optional
        Number of rows of the stand-in; by default the data themselves.

    References
    ----------
    MPBT, § 5 and Appendix G.1.
    """
    from sklearn.model_selection import train_test_split

    from dpfair_lib.experiments.sources import Source

    dataset = Source(name, standin).dataset()
    rows = np.array(dataset.X, dtype=float)
    if name == "acs-income":
        rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    length = np.linalg.norm(rows, axis=1)
    rows *= (BOUND[name] / (length if name == "celeba" else np.maximum(length, BOUND[name])))[:, None]
    groups, codes = np.unique(dataset.sensitive_features.to_numpy(), return_inverse=True)
    labels = np.asarray(dataset.y)
    train, test = train_test_split(np.arange(len(rows)), test_size=TEST_SHARE, random_state=SPLIT_SEED)
    return Prepared(
        rows[train], 2.0 * labels[train] - 1, rows[test], labels[test], codes[test],
        tuple(groups.tolist()), BOUND[name],
    )  # fmt: skip


def sizes(available: int) -> list[int]:
    """Return the 20 numbers of training rows, log-spaced from 10 and cut to integers, as published.

    Rounding makes the last one of CelebA's 182,339 rows 182,338.
    """
    return np.logspace(1, np.log10(available), POINTS, dtype=int).tolist()


def levels(name: str) -> list[float]:
    """Return the 20 values of ε, as run: up to 10 for CelebA, up to 1 for ACS."""
    return np.logspace(-3, math.log10(LARGEST_EPSILON[name]), POINTS).tolist()


def modulus(fit: str, n: int) -> float:
    """Return the strong-convexity modulus of the mean loss that a fit minimises; C = n/μ is what was run."""
    return STATED_MODULUS if fit == "as stated" else strong_convexity(n / STATED_MODULUS, n)


def fitted(fit: str, rows: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression without intercept.

    Parameters
    ----------
    fit : str
        "as run": L-BFGS on ½‖w‖² + n Σ log(1 + e^(−y wᵀx)), stopped as in the scikit-learn of the time.
        "scikit-learn": the same with the version installed, which divides the objective by n² and so stops sooner.
        "as run, optimum": the minimiser of the same.
        "as stated": the minimiser of the mean loss + ½‖w‖².
    rows, signs : arrays of shape (n, p) and (n,)
        Features, and labels −1 and 1.
    """
    n = len(rows)
    if fit == "scikit-learn":
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(fit_intercept=False, C=n / STATED_MODULUS, max_iter=10_000)
        return np.asarray(model.fit(rows, signs).coef_[0])
    if fit == "as run":
        return _unscaled(rows * signs[:, None], n / STATED_MODULUS)
    return minimise(rows, signs, modulus(fit, n), ACCURACY)


def _unscaled(signed: np.ndarray, C: float) -> np.ndarray:
    from scipy.optimize import minimize
    from scipy.special import expit

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signed @ w
        return C * np.logaddexp(0, -margins).sum() + w @ w / 2, w - C * (signed.T @ expit(-margins))

    options = {"gtol": 1e-4, "maxiter": 10_000, "maxls": 50}
    start = np.zeros(signed.shape[1])
    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x)


def noise_scale(
    bound: float, n: int, epsilon: float, kind: Literal["classical", "analytic"] = "classical"
) -> float:
    """Return σ for δ = 1/n² and the modulus 1, whatever was trained: Λ√(8 ln(1.25/δ))/(nμε), or the analytic σ."""
    allowed = output_perturbation_sensitivity(lipschitz=bound, strong_convexity=STATED_MODULUS, n=n)
    if kind == "classical":
        return classical_sigma_formula(epsilon, 1 / n**2, allowed)
    return gaussian_sigma(epsilon, 1 / n**2, allowed, "analytic")


def radius_of(bound: float, p: int, n: int, epsilon: float, delta: float) -> float:
    """Return Lemma 4.1's radius with μ = 1, whatever was trained."""
    return output_perturbation_radius(
        p, lipschitz=bound, strong_convexity=STATED_MODULUS, n=n, epsilon=epsilon, delta=delta, zeta=ZETA
    )


def searched_bound(distances: np.ndarray, radius: float) -> tuple[float, float]:
    """Return the bound that a golden-section search over t ends with, and its t.

    What is minimised is the mean of e^(t(radius − distance)) over the rows within the radius, the others counting as
    0. It rises with t, so that the search goes to t = 0, where it is the share of those rows; it stops where the ends
    of its bracket, at first 0 and 10⁻⁵, differ by 10⁻⁵ or less.

    Parameters
    ----------
    distances : array of shape (n,)
        |ρ|/L.
    radius : float
        ‖h − h′‖.

    References
    ----------
    MPBT, Appendix G.1.
    """
    gaps = radius - distances[distances <= radius]
    ratio = (math.sqrt(5) - 1) / 2

    def value(t: float) -> float:
        return float(np.exp(t * gaps).sum() / len(distances))

    low, high = 0.0, 1e-5
    while abs(value(high) - value(low)) > 1e-5:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if value(left) < value(right):
            high = right
        else:
            low = left
    t = (low + high) / 2
    return value(t), t
