"""Output perturbation: a regularised linear model, solved to a known accuracy, released with noise on its weights."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np

from dpfair_lib._arguments import inside_unit, number, one_of, positive, positive_integer
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib.learners.linear import LEFT_OUT, LinearClassifier, checked, two_labels
from dpfair_lib.learners.losses import LOSSES, Loss
from dpfair_lib.learners.minimiser import bounded_rows, gradient_rounding, minimise
from dpfair_lib.privacy import PrivacyStatement, gaussian_sigma
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.minimisers import logistic_perturbation_sensitivity, output_perturbation_sensitivity
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import quotient_above, raised
from dpfair_lib.privacy.sampling import Noise

PUBLIC = ("the number of rows", "the two labels")
NOISE_KINDS = ("analytic", "classical", "laplace")


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
    ε = 1, δ = 1e-05, replace-one, per record; public: the number of rows, the two labels; not counted: other fits on
    these rows, such as those of a scaler or of a grid search
    """

    stated_relation = "replace-one"

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
        epsilon, delta = self._terms()
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
        self.sigma_ = self._sigma(p, epsilon, delta)
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
        note = (
            f"each of {replicates} replicates alone; they add up; {LEFT_OUT}" if replicates > 1 else LEFT_OUT
        )
        statement = PrivacyStatement(
            epsilon, delta, "replace-one", public=PUBLIC, note=note, mechanism=(self._mechanism(epsilon),)
        )
        self.privacy_statement_: PrivacyStatement = sources[0].mark(statement)
        optimum = minimise(rows, 2.0 * codes - 1, modulus, accuracy - rounding, self.loss)
        weights = np.stack([self._noisy(optimum, source) for source in sources])
        weights = weights[:, None, :] if replicates > 1 else weights
        end = p - 1 if self.fit_intercept else p
        self.coef_ = weights[..., :end]
        self.intercept_ = weights[..., -1] if self.fit_intercept else np.zeros(weights.shape[:-1])
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
            if number(self.delta, "delta", "a number in (0, 1)") == 0:
                raise ValueError(
                    f"delta: found 0 beside noise_kind={self.noise_kind!r}, whose Gaussian noise is private at no ε "
                    "without δ; expected a number in (0, 1), or noise_kind='laplace'"
                )
            inside_unit(self.delta, "delta")
        elif number(self.delta, "delta", "0") != 0:
            raise ValueError(
                f"delta: found {self.delta} beside noise_kind='laplace', expected 0: Laplace noise is private at δ = 0"
            )

    def _terms(self) -> tuple[float, float]:
        """Return ε and δ as floats: a quotient by a number of lower precision would be rounded to that."""
        return positive(self.epsilon, "epsilon"), number(self.delta, "delta", "a number in [0, 1)")

    def _sigma(self, p: int, epsilon: float, delta: float) -> float:
        if self.noise_kind == "laplace":
            return raised(math.sqrt(2 * p) * self.sensitivity_ / epsilon)
        return gaussian_sigma(epsilon, delta, self.sensitivity_, self.noise_kind)

    def _mechanism(self, epsilon: float) -> Mechanism:
        if self.noise_kind == "laplace":
            return Mechanism("laplace", epsilon)
        return Mechanism("gaussian", quotient_above(self.sensitivity_, self.sigma_))

    def _noisy(self, optimum: np.ndarray, source: NoiseSource) -> np.ndarray:
        if self.noise_kind == "laplace":
            return source.add_laplace(optimum, raised(self.sigma_ / math.sqrt(2)))
        return source.add_gaussian(optimum, self.sigma_)
