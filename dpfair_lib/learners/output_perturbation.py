"""Output perturbation: a regularised linear model, solved to a known accuracy, released with noise on its weights."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np

from dpfair_lib._arguments import inside_unit, number, one_of, positive, positive_integer
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib.learners.linear import LinearClassifier, checked, two_labels
from dpfair_lib.learners.losses import LARGEST_CURVATURE, LOSSES, Loss, curvature, descent, loss_values
from dpfair_lib.privacy import PrivacyStatement, gaussian_sigma
from dpfair_lib.privacy.minimisers import logistic_perturbation_sensitivity, output_perturbation_sensitivity
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import raised
from dpfair_lib.privacy.sampling import Noise

PUBLIC = ("the number of rows", "the two labels")
MOST_STEPS = 10_000  # those of the huberised hinge cross one corner at a time; some 500 were seen
NOISE_KINDS = ("analytic", "classical", "laplace")
# Of a Newton step, which is up to 2Λ/μ long where no row has curvature. What is needed of it may be μ/Λ², and `fit` has
# refused, for its rounding, what is below 1e-16.
SHORTEST = 1e-30
ROUNDING = 1e-13  # relative, of the mean loss
SUMMED = 1 << 14  # rows whose gradients are summed at a time


class OutputPerturbation(LinearClassifier):
    """A regularised linear classifier whose weights are released with noise (output perturbation).

    It minimises the mean loss plus ``regularization``/2 times the squared norm of all parameters, and adds noise to the
    minimiser. The loss is logistic, or that of a soft-margin support vector machine.

    The privacy statement covers the rows given to `fit`, under replace-one. It does not cover what was computed from
    the rows before, such as a standardisation or the choice of these parameters. Sample weights are not supported,
    because the sensitivity would be another. `fit` shortens rows longer than `feature_bound`; `predict` does not.

    Parameters
    ----------
    regularization : float
        μ > 0. scikit-learn's C on n rows corresponds to 1/(Cn), see `strong_convexity`.
    feature_bound : float
        Longer rows are scaled down to this Euclidean norm. A public number.
    epsilon : float
        ε > 0.
    delta : float
        δ in (0, 1), or 0 for Laplace noise.
    noise_kind : {"analytic", "classical", "laplace"}, default="analytic"
        "analytic" and "classical" are Gaussian noise with two calibrations (see `gaussian_sigma`); "classical" raises
        for ε ≥ 1, where it is not always private. "laplace" is Laplace noise on each of the p weights, for δ = 0 and
        the ℓ₁-sensitivity √p times the Euclidean one. Noise of density ∝ exp(−ε‖z‖₂/Δ), usual at δ = 0, would have √((p
        + 1)/(2p)) of its standard deviation, but no established secure sampler exists for it.
    loss : {"logistic", "huberised-hinge"}, default="logistic"
        "huberised-hinge" is the hinge loss with its corner rounded between the margins ½ and 3⁄2. It gives a support
        vector machine, without `predict_proba`.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is the weight of a constant feature 1, regularised and noised like the others.
    classes : sequence of two labels, optional
        The two labels, chosen without looking at the data; the rows may then lack either. By default the labels that
        occur in y. `fit` raises unless both occur, so that fact is treated as public.
    tolerance : float, default=0.001
        τ > 0, the accuracy of the solver relative to the effect of one row.
    replicates : int, default=1
        Number of noisy copies of the minimiser, to study their spread. More than one raises with secure noise, because
        the mean of several reveals more than the statement for one allows.
    noise : {"secure", "study"}, default="secure"
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted.
    coef_ : ndarray of shape (1, d), or (replicates, 1, d) for more than one replicate
        Weights with noise.
    intercept_ : ndarray of shape (1,) or (replicates, 1)
        Intercepts with noise.
    sensitivity_ : float
        Largest Euclidean distance between the solver's weights on neighbouring data sets, 2Λ(m + τ)/(μn); see Notes.
    sigma_ : float
        Standard deviation of the noise in each coordinate, Gaussian or Laplace.
    privacy_statement_ : PrivacyStatement
        What the release costs. With study noise for each replicate alone, and without guarantee.

    Notes
    -----
    The loss of a record is Λ-Lipschitz in the parameters, with Λ = `feature_bound`, or √(`feature_bound`² + 1) with
    intercept. The objective is strongly convex with modulus μ. Replacing one of n rows moves the minimiser by at most
    2Λm/(μn). Here m is 1 for the huberised hinge, and a number in [½, 1] that depends on Λ²/μ for the logistic loss
    (see `dpfair_lib.privacy.minimisers.logistic_perturbation_sensitivity`). The solver stops at a gradient of norm at
    most τΛ/n, so at most τΛ/(μn) from the minimiser. `fit` raises if rounding could be more than half of τ.

    References
    ----------
    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1 and § 3.4.2; Mangold et al. (2023), § 4.1.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.OutputPerturbation(regularization=0.01, feature_bound=1.0, epsilon=1.0, delta=1e-5)
    >>> model.fit(X, adult.y).predict(X).shape
    (500,)
    >>> print(model.privacy_statement_)
    ε = 1, δ = 1e-05, replace-one, per record; public: the number of rows, the two labels
    """

    def __init__(
        self, *, regularization: float, feature_bound: float, epsilon: float, delta: float,
        noise_kind: Literal["analytic", "classical", "laplace"] = "analytic", loss: Loss = "logistic",
        fit_intercept: bool = True, classes: Any = None, tolerance: float = 1e-3, replicates: int = 1,
        noise: Noise = "secure", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.regularization = regularization
        self.feature_bound = feature_bound
        self.epsilon = epsilon
        self.delta = delta
        self.noise_kind = noise_kind
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.tolerance = tolerance
        self.replicates = replicates
        self.noise = noise
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Minimise the regularised mean loss, and add noise to the weights.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.

        Returns
        -------
        OutputPerturbation
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if noise_kind does not fit ε and δ; if a seed or more than one replicate
            is given with secure noise; if X or y is malformed or empty; if y has one label only and ``classes`` is not
            given, or has a label outside ``classes``; if rounding could exceed half of the tolerance; if the solver
            does not converge. The last error would depend on the data, and the privacy statement does not cover it. The
            method converges from every starting point, and no data set is known that causes this error.
        """
        modulus, bound, tolerance, replicates = self._check()
        sources = NoiseSource.replicates(self.noise, self.random_state, replicates)
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        rows, lipschitz = bounded_rows(features, bound, intercept=bool(self.fit_intercept))
        n, p = rows.shape
        constants = {"lipschitz": lipschitz, "strong_convexity": modulus, "n": n}
        classical = output_perturbation_sensitivity(**constants)
        logistic = self.loss == "logistic"
        exact = logistic_perturbation_sensitivity(**constants) if logistic else classical
        # each of the two minimisers is missed by at most τΛ/(μn), half of the classical sensitivity times τ
        self.sensitivity_ = exact + tolerance * classical
        self.sigma_ = self._sigma(p)
        accuracy = tolerance * lipschitz / n
        rounding = gradient_rounding(
            n, p, lipschitz=lipschitz, modulus=modulus, accuracy=accuracy, loss=self.loss
        )
        if rounding > accuracy / 2:  # decided by public numbers alone
            least = 2 * rounding * n / lipschitz
            raise ValueError(
                f"tolerance: found {tolerance}, expected at least {least:.2g} for {n:,} rows of norm {lipschitz:.3g} "
                f"and regularization {modulus:.3g}, where rounding could exceed half of it"
            )
        optimum = minimise(rows, 2.0 * codes - 1, modulus, accuracy - rounding, self.loss)
        weights = np.stack([self._noisy(optimum, source) for source in sources])
        weights = weights[:, None, :] if replicates > 1 else weights
        end = p - 1 if self.fit_intercept else p
        self.coef_ = weights[..., :end]
        self.intercept_ = weights[..., -1] if self.fit_intercept else np.zeros(weights.shape[:-1])
        note = f"each of {replicates} replicates alone; they add up" if replicates > 1 else ""
        statement = PrivacyStatement(self.epsilon, self.delta, "replace-one", public=PUBLIC, note=note)
        self.privacy_statement_: PrivacyStatement = sources[0].mark(statement)
        return self

    def _check(self) -> tuple[float, float, float, int]:
        try:
            modulus = positive(self.regularization, "regularization")
        except ValueError:
            raise ValueError(
                f"regularization: found {self.regularization!r}, expected a positive finite number: without "
                "regularisation one record can move the minimiser without limit, and no noise is enough"
            ) from None
        positive(self.epsilon, "epsilon")
        one_of(self.noise_kind, "noise_kind", NOISE_KINDS)
        if self.noise_kind == "classical" and self.epsilon >= 1:
            raise ValueError(
                f"epsilon: found {self.epsilon} beside noise_kind='classical', expected a number below 1, where the "
                "classical formula is proved; use noise_kind='analytic'"
            )
        one_of(self.loss, "loss", LOSSES)
        self._check_delta()
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept: found {self.fit_intercept!r}, expected True or False")
        bound, tolerance = (
            positive(self.feature_bound, "feature_bound"),
            positive(self.tolerance, "tolerance"),
        )
        return modulus, bound, tolerance, positive_integer(self.replicates, "replicates")

    def _check_delta(self) -> None:
        if self.noise_kind != "laplace":
            inside_unit(self.delta, "delta")
        elif number(self.delta, "delta", "0") != 0:
            raise ValueError(
                f"delta: found {self.delta} beside noise_kind='laplace', expected 0: Laplace noise is private at δ = 0"
            )

    def _sigma(self, p: int) -> float:
        if self.noise_kind == "laplace":
            return raised(math.sqrt(2 * p) * self.sensitivity_ / self.epsilon)
        return gaussian_sigma(self.epsilon, self.delta, self.sensitivity_, self.noise_kind)

    def _noisy(self, optimum: np.ndarray, source: NoiseSource) -> np.ndarray:
        if self.noise_kind == "laplace":
            return source.add_laplace(optimum, raised(self.sigma_ / math.sqrt(2)))
        return source.add_gaussian(optimum, self.sigma_)


def bounded_rows(features: np.ndarray, bound: float, *, intercept: bool) -> tuple[np.ndarray, float]:
    """Return the rows clipped to a norm, with a constant feature for the intercept, and the largest norm possible.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        Features.
    bound : float
        Norm to which each row is scaled down.
    intercept : bool
        Whether to append the feature 1.

    Returns
    -------
    tuple of ndarray and float
        Rows, and Λ.
    """
    largest = abs(features).max(axis=1, keepdims=True)
    scale = np.where(largest > 0, largest, 1)
    with np.errstate(over="ignore"):  # a warning would tell of a very long row, or of a very short one
        norms = scale * np.linalg.norm(features / scale, axis=1, keepdims=True)  # no square overflows
        rows = features * np.minimum(1, bound / np.where(norms > 0, norms, 1))
    if not intercept:
        return rows, bound
    return np.hstack([rows, np.ones((len(rows), 1))]), math.hypot(bound, 1)


def gradient_rounding(
    n: int, p: int, *, lipschitz: float, modulus: float, accuracy: float, loss: Loss = "logistic"
) -> float:
    """Return a bound on the rounding error of the gradient in `minimise` at the weights where it stops.

    The minimiser has norm at most √(2ℓ(0)/μ), as the loss there is at most that of no weights, and at most Λ/μ; the
    weights are at most accuracy/μ further. A sum of m products has a relative error of m/2 times the machine's
    precision, and ℓ′ hands on at most a score's error times the largest curvature.

    Parameters
    ----------
    n, p : int
        Rows and parameters.
    lipschitz : float
        Λ, the largest norm of a row.
    modulus : float
        μ.
    accuracy : float
        Norm of the gradient there, at most.
    loss : {"logistic", "huberised-hinge"}
        ℓ.

    Returns
    -------
    float
        The bound; it may be infinite.
    """
    at_zero = float(loss_values(np.zeros(1), loss)[0])
    reach = min(math.sqrt(2 * at_zero / modulus), lipschitz / modulus) + accuracy / modulus
    terms = min(n, SUMMED) + n // SUMMED + p * lipschitz * reach * LARGEST_CURVATURE[loss] + 12
    return float(np.finfo(float).eps) / 2 * lipschitz * terms


def minimise(
    rows: np.ndarray, signs: np.ndarray, modulus: float, accuracy: float, loss: Loss = "logistic"
) -> np.ndarray:
    """Return weights at which the gradient of the regularised mean loss is small.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        Features.
    signs : ndarray of shape (n,)
        Labels −1 and 1.
    modulus : float
        μ: the regulariser is μ‖w‖²/2.
    accuracy : float
        Largest norm of the gradient; the weights are then at most accuracy/μ from the minimiser.
    loss : {"logistic", "huberised-hinge"}
        The loss.

    Returns
    -------
    ndarray of shape (p,)
        Weights.

    Raises
    ------
    ValueError
        If the accuracy is not reached.

    References
    ----------
    Newton's method with steps halved until the slope along them is still downward: by convexity that keeps at least
    half of what the best length would gain, so that it converges from everywhere. Where the huberised hinge has no
    second derivative, one of its two sides serves, since the regulariser keeps every such matrix positive definite.
    """
    signed, weights = rows * signs[:, None], np.zeros(rows.shape[1])

    def objective(w: np.ndarray) -> float:
        return float(loss_values(signed @ w, loss).mean() + modulus / 2 * (w @ w))

    def gradient(w: np.ndarray) -> np.ndarray:
        pulls = descent(signed @ w, loss)
        # in parts, so that rounding does not grow with the number of rows
        starts = range(0, len(signed), SUMMED)
        total = sum(signed[start : start + SUMMED].T @ pulls[start : start + SUMMED] for start in starts)
        return np.asarray(modulus * w - total / len(signed))

    slope = gradient(weights)
    for _ in range(MOST_STEPS):
        if np.linalg.norm(slope) <= accuracy:
            return weights
        second = (rows.T * curvature(signed @ weights, loss)) @ rows / len(rows)
        step = np.linalg.solve(second + modulus * np.eye(len(weights)), slope)
        length, level = 1.0, objective(weights)
        while length > SHORTEST:
            trial = weights - length * step
            after = gradient(trial)
            # either the objective still falls there, and so it fell all the way, which rounding cannot hide; or it
            # does not rise and the gradient halves, as it does when a Newton step goes a little beyond the minimum
            halved = 2 * np.linalg.norm(after) <= np.linalg.norm(slope)
            if after @ step >= 0 or (halved and objective(trial) <= level * (1 + ROUNDING)):
                break
            length /= 2
        weights, slope = trial, after
    # the norm that was found stays untold: it is the data's
    raise ValueError(
        f"tolerance: found a gradient larger than allowed after {MOST_STEPS} steps, expected at most {accuracy:.3g}; "
        "allow a larger tolerance"
    )
