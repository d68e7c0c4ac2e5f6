"""Objective perturbation: a regularised linear model that is trained with noise in its objective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from dpfair_lib._arguments import inside_unit, number, one_of, positive
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib.learners.block_noise import (
    INEXACT,
    Block,
    bundled,
    deviation,
    draw,
    largest_length,
    places_of,
)
from dpfair_lib.learners.linear import LEFT_OUT, LinearClassifier, checked, two_labels
from dpfair_lib.learners.losses import LARGEST_CURVATURE, LOSSES, Loss
from dpfair_lib.learners.minimiser import absolutely_bounded_rows, bounded_rows, gradient_rounding, minimise
from dpfair_lib.privacy import PrivacyStatement, gaussian_sigma
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.objective_perturbation import (
    least_strong_convexity,
    objective_perturbation_norm_scale,
    objective_perturbation_scale,
    objective_perturbation_sigma,
)
from dpfair_lib.privacy.rounding import lowered, noise_scale, raised
from dpfair_lib.privacy.sampling import Noise

PUBLIC = ("the number of rows", "the two labels")
SOLVER_SHARE = 2e-3
"""Share of ε and of δ that pays for hiding where the solver stopped."""
FAR = 800.0
"""The solver's accuracy may fail with probability e^−(800 + ε). That adds less to δ than any float can hold."""
SMALLEST = 5e-324
SMALLEST_BLOCK = 1e-100
FINEST = 1e-6
"""The solver's gradient is at most this share of one row's, unless rounding asks for more."""


class ObjectivePerturbation(LinearClassifier):
    """A regularised linear classifier trained with a random linear term in its objective (objective perturbation).

    It minimises the mean loss plus ``regularization``/2 times the squared norm of all parameters plus ⟨b, w⟩/n, where b
    is noise. The loss is logistic, or that of a soft-margin support vector machine. Where the data leave a direction of
    the weights free the noise moves them far, and where the data decide it moves them little; `OutputPerturbation` adds
    the same noise to all directions.

    The privacy statement covers the rows given to `fit`, under replace-one. It does not cover what was computed from
    the rows before, such as a standardisation or the choice of these parameters. Sample weights are not supported,
    because one record's effect would be another. `fit` shortens rows longer than `feature_bound`; `predict` does not.

    Parameters
    ----------
    feature_bound : float
        Longer rows are scaled down to this Euclidean norm. A public number.
    epsilon : float
        ε > 0.
    delta : float
        δ in (0, 1), or 0 for Laplace noise.
    regularization : float, optional
        μ > 0. scikit-learn's C on n rows corresponds to 1/(Cn). None takes Λ²/(nε) for the logistic loss, and eight
        times as much for the other, with Λ of the notes.
    noise_kind : {"gaussian", "laplace", "blocks"}, default="gaussian"
        The law of b. The other two are for δ = 0. The scale of "laplace" grows with the square root of the number of
        weights, or is in proportion to `absolute_bound` where that is smaller. "blocks" fits rows that were coded from
        columns, and needs `blocks`; it is less noise than "laplace" with the same bound for each column.
    absolute_bound : float, optional
        For noise at δ = 0. Rows whose absolute values add up to more are scaled down to this sum, too. A public number.
        Coded categories have few entries that are not 0, so a small bound costs such rows nothing and saves noise.
        With `blocks` it is the bound of each block, from 1e-100 to 1e100.
    blocks : sequence of d labels, optional
        For the noise "blocks": which entries of a row were coded from the same column, an equal label for each of them.
        The absolute values of each block add up to at most ``absolute_bound``; larger ones are scaled down to it. What
        the labels are does not matter, but they are public. The intercept is a block of its own. After a
        `PublicEncoder`, the part of a feature's name before "=" or " other" is such a label.
    loss : {"logistic", "huberised-hinge"}, default="logistic"
        "huberised-hinge" is the hinge loss with its corner rounded between the margins ½ and 3⁄2. It gives a support
        vector machine, without `predict_proba`.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is the weight of a constant feature 1, regularised and perturbed like the
        others.
    classes : sequence of two labels, optional
        The two labels, chosen without looking at the data; the rows may then lack either. By default the labels that
        occur in y. `fit` raises unless both occur, so that fact is treated as public.
    noise : {"secure", "study"}, default="secure"
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted.
    coef_ : ndarray of shape (1, d)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept.
    sigma_ : float
        Standard deviation of each coordinate of b; the root of the mean variance where they differ.
    output_sigma_ : float
        Standard deviation of the noise on each weight that hides where the solver stopped.
    privacy_statement_ : PrivacyStatement
        What the release costs; without guarantee for study noise.

    Notes
    -----
    The noise "blocks" has a density that falls with a norm in which no row is longer than 1; the sizes of the blocks
    decide that norm, see `dpfair_lib.learners.block_noise`.

    With exact arithmetic the minimiser alone would be private, see
    `dpfair_lib.privacy.objective_perturbation.objective_perturbation_delta`. The solver stops at a gradient of norm at
    most g, so at most g/μ from it. Here g follows from public numbers: it is four times the rounding error that is
    possible, or Λ/n times 1e-6 if that is more. Noise on the weights hides this distance, and 0.2 % of ε and of δ pays
    for it. Both noises come from secure samplers; b is rounded to floats, which counts as part of the distance.

    References
    ----------
    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 2; Kifer, Smith and Thakurta (2012); the solver's accuracy as in
    Iyengar et al. (2019); the calibration is proved in the chapter on objective perturbation (ours).

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=1.0, delta=1e-5)
    >>> model.fit(X, adult.y).predict(X).shape
    (500,)
    >>> print(model.privacy_statement_)
    ε = 1, δ = 1e-05, replace-one, per record; public: the number of rows, the two labels; not counted: other fits on
    these rows, such as those of a scaler or of a grid search
    """

    stated_relation = "replace-one"

    def __init__(
        self, *, feature_bound: float, epsilon: float, delta: float, regularization: float | None = None,
        noise_kind: Literal["gaussian", "laplace", "blocks"] = "gaussian", absolute_bound: float | None = None,
        loss: Loss = "logistic", fit_intercept: bool = True, classes: Any = None, noise: Noise = "secure",
        random_state: Any = None, blocks: Sequence[Any] | None = None,
    ) -> None:  # fmt: skip
        self.feature_bound = feature_bound
        self.epsilon = epsilon
        self.delta = delta
        self.regularization = regularization
        self.noise_kind = noise_kind
        self.absolute_bound = absolute_bound
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.noise = noise
        self.random_state = random_state
        self.blocks = blocks

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Minimise the regularised mean loss plus the random linear term.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.

        Returns
        -------
        ObjectivePerturbation
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if an ``absolute_bound`` is given beside Gaussian noise; if
            ``regularization`` is so small that the curvature of one record's
            loss costs all of ε, or that rounding could grow without limit; if a seed is given with secure noise; if X
            or y is malformed or empty; if y has one label only and ``classes`` is not given, or has a label outside
            ``classes``; if the solver does not converge. The last error would depend on the data, and the privacy
            statement does not cover it. The method converges from every starting point, and no data set is known that
            causes this error.
        """
        bound = self._check()
        source = NoiseSource.of(self.noise, self.random_state)
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        blocks = self._blocks(features.shape[1])
        rows, lipschitz, absolute = self._rows(features, bound, blocks)
        n, p = rows.shape
        modulus = self._modulus(lipschitz, n)
        statement = PrivacyStatement(*self._terms(), "replace-one", public=PUBLIC, note=LEFT_OUT)
        self.privacy_statement_: PrivacyStatement = source.mark(statement)
        drawn, farthest = self._perturbation(source, p, n, lipschitz, modulus, absolute, blocks)
        accuracy, distance = self._accuracy(n, p, lipschitz, modulus, farthest / n)
        optimum = minimise(rows, 2.0 * codes - 1, modulus, accuracy, self.loss, drawn / n)
        weights = self._hidden(optimum, distance, source)
        end = p - 1 if self.fit_intercept else p
        self.coef_ = weights[None, :end]
        self.intercept_ = weights[end:] if self.fit_intercept else np.zeros(1)
        return self

    def _check(self) -> float:
        positive(self.epsilon, "epsilon")
        one_of(self.loss, "loss", LOSSES)
        if one_of(self.noise_kind, "noise_kind", ("gaussian", "laplace", "blocks")) == "gaussian":
            if number(self.delta, "delta", "a number in (0, 1)") == 0:
                raise ValueError(
                    "delta: found 0 beside noise_kind='gaussian', which is private at no ε without δ; expected a "
                    "number in (0, 1), or noise_kind='laplace' or 'blocks'"
                )
            inside_unit(self.delta, "delta")
        elif number(self.delta, "delta", "0") != 0:
            raise ValueError(
                f"delta: found {self.delta} beside noise_kind={self.noise_kind!r}, expected 0: this noise is private "
                "at δ = 0"
            )
        if self.absolute_bound is not None:
            positive(self.absolute_bound, "absolute_bound")
            if self.noise_kind == "gaussian":
                raise ValueError(
                    f"absolute_bound: found {self.absolute_bound} beside noise_kind='gaussian', expected None: only "
                    "noise at δ = 0 depends on it"
                )
        needed = self.noise_kind == "blocks"
        if needed and self.absolute_bound is None:
            raise ValueError(
                "absolute_bound: found None beside noise_kind='blocks', expected each block's bound"
            )
        if (
            needed
            and self.absolute_bound is not None
            and not SMALLEST_BLOCK <= self.absolute_bound <= 1 / SMALLEST_BLOCK
        ):
            raise ValueError(
                f"absolute_bound: found {self.absolute_bound} beside noise_kind='blocks', expected a number from "
                f"{SMALLEST_BLOCK:g} to {1 / SMALLEST_BLOCK:g}, whose square is no rounding error and not infinite"
            )
        if needed != (self.blocks is not None):
            raise ValueError(
                f"blocks: found {'none' if needed else 'some'} beside noise_kind={self.noise_kind!r}, expected "
                + ("a label for each feature" if needed else "None, or noise_kind='blocks'")
            )
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept: found {self.fit_intercept!r}, expected True or False")
        return positive(self.feature_bound, "feature_bound")

    def _blocks(self, d: int) -> list[Block] | None:
        """Return the blocks of a row of d features and the 1 of an intercept, with bounds that hold for floats."""
        if self.blocks is None or self.absolute_bound is None:
            return None
        if len(self.blocks) != d:
            raise ValueError(
                f"blocks: found {len(self.blocks)} labels, expected one for each of the {d} features"
            )
        found = [Block(at, _reached(self.absolute_bound, len(at))) for at in places_of(self.blocks)]
        return [*found, Block((d,), 1.0)] if self.fit_intercept else found

    def _rows(
        self, features: np.ndarray, bound: float, blocks: list[Block] | None
    ) -> tuple[np.ndarray, float, float | None]:
        """Return the shortened rows with the 1 of an intercept, Λ, and what a row's absolute values add up to."""
        one = bool(self.fit_intercept)
        rows, lipschitz = bounded_rows(features, bound, intercept=one)
        if self.absolute_bound is None:
            return rows, lipschitz, None
        d = features.shape[1]
        if blocks is None:
            rows[:, :d] = absolutely_bounded_rows(rows[:, :d], self.absolute_bound)
            return rows, lipschitz, raised(_reached(self.absolute_bound, d) + one)
        for places, _ in blocks[: len(blocks) - one]:
            at = list(places)
            rows[:, at] = absolutely_bounded_rows(rows[:, at], self.absolute_bound)
        return rows, lipschitz, None

    def _modulus(self, lipschitz: float, n: int) -> float:
        if self.regularization is not None:
            modulus = positive(self.regularization, "regularization")
            least = least_strong_convexity(
                self._main(self._terms()[0]), lipschitz=lipschitz, n=n, curvature=self._curvature()
            )
            if modulus <= least:
                raise ValueError(
                    f"regularization: found {self.regularization}, expected more than {least:.3g}: below, the "
                    f"curvature of one row's loss costs all of epsilon = {self.epsilon} for {n:,} rows of norm "
                    f"{lipschitz:.3g}"
                )
            return modulus
        return default_regularization(self._main(self._terms()[0]), lipschitz=lipschitz, n=n, loss=self.loss)

    def _curvature(self) -> float | None:
        """Return L for the calibration, which knows the logistic loss."""
        return None if self.loss == "logistic" else LARGEST_CURVATURE[self.loss]

    def _terms(self) -> tuple[float, float]:
        """Return ε and δ as floats: arithmetic with a number of lower precision would be rounded to that."""
        return positive(self.epsilon, "epsilon"), number(self.delta, "delta", "a number in [0, 1)")

    def _main(self, whole: float) -> float:
        """Return what the noise in the objective may cost."""
        return lowered((1 - SOLVER_SHARE) * whole, whole)

    def _perturbation(
        self, source: NoiseSource, p: int, n: int, lipschitz: float, modulus: float, absolute: float | None,
        blocks: list[Block] | None,
    ) -> tuple[np.ndarray, float]:  # fmt: skip
        """Draw b, and return it with the length that it has but for a probability of e^−(FAR + ε); set ``sigma_``."""
        constants: dict[str, Any] = {"lipschitz": lipschitz, "strong_convexity": modulus, "n": n}
        curvature = self._curvature()
        whole, whole_delta = self._terms()
        epsilon, far = self._main(whole), FAR + whole
        if blocks is not None:
            bundles = bundled(blocks)  # no row is longer than 1 in their norm
            scale = objective_perturbation_norm_scale(epsilon, 1.0, **constants, curvature=curvature)
            self.sigma_ = deviation(bundles, scale)
            return draw(bundles, scale, source), largest_length(bundles, scale, far)
        if self.noise_kind == "laplace":
            scale = objective_perturbation_scale(
                epsilon, p, **constants, curvature=curvature, absolute=absolute
            )
            self.sigma_ = math.sqrt(2) * scale
            farthest = scale * (p + math.sqrt(2 * p * far) + far)  # of the sum of absolute values
            return source.add_laplace(np.zeros(p), scale), farthest
        delta = self._main(whole_delta)
        self.sigma_ = objective_perturbation_sigma(epsilon, delta, **constants, curvature=curvature)
        farthest = self.sigma_ * (math.sqrt(p) + math.sqrt(2 * far))
        return source.add_gaussian(np.zeros(p), self.sigma_), farthest

    def _accuracy(
        self, n: int, p: int, lipschitz: float, modulus: float, linear: float
    ) -> tuple[float, float]:
        """Return at which computed gradient the solver stops, and how far from the minimiser it is then at most."""
        finest = FINEST * lipschitz / n
        known: dict[str, Any] = {
            "lipschitz": lipschitz, "modulus": modulus, "loss": self.loss, "linear": linear,
        }  # fmt: skip
        inexact = 0.0 if self.blocks is None else INEXACT * linear
        rounding = gradient_rounding(n, p, **known, accuracy=finest) + inexact
        largest = max(4 * rounding, finest)
        # the coarser the solver stops the longer its weights may be, and the more their scores may be rounded
        coarsest = gradient_rounding(n, p, **known, accuracy=largest) + inexact
        if coarsest > 2 * rounding:  # by public numbers alone
            raise ValueError(
                f"regularization: found {modulus:.3g}, expected more: for {p} weights and rows of norm {lipschitz:.3g} "
                "rounding could grow without limit"
            )
        return largest - 2 * rounding, raised(largest / modulus)

    def _hidden(self, weights: np.ndarray, distance: float, source: NoiseSource) -> np.ndarray:
        """Return the solver's weights with noise that hides how far from the minimiser it stopped."""
        whole, whole_delta = self._terms()
        epsilon = lowered(whole - self._main(whole), whole)
        if self.noise_kind != "gaussian":
            scale = noise_scale(raised(2 * distance * math.sqrt(len(weights))), epsilon)
            self.output_sigma_ = math.sqrt(2) * scale
            return source.add_laplace(weights, scale)
        delta = lowered(whole_delta - self._main(whole_delta), whole_delta)
        self.output_sigma_ = gaussian_sigma(epsilon, delta, 2 * distance, "analytic")
        return source.add_gaussian(weights, self.output_sigma_)


def _reached(bound: float, width: int) -> float:
    """Return what the absolute values of so many entries add up to at most where they were scaled down to a bound."""
    return raised(bound * (1 + (width + 8) * 2.0**-50) + width * SMALLEST)


def default_regularization(epsilon: float, *, lipschitz: float, n: int, loss: Loss) -> float:
    """Return μ of `ObjectivePerturbation` where none is given: Λ²/(nε), or 8L times as much for another loss.

    The curvature of one record then costs about a tenth of ε. Less regularisation costs more, more of it shrinks the
    weights.
    """
    factor = 1.0 if loss == "logistic" else 8 * LARGEST_CURVATURE[loss]
    if not n * epsilon > 0:
        raise ValueError(f"epsilon: found hardly more than {max(epsilon, 0.0)}, expected a larger one")
    return factor * lipschitz * lipschitz / (n * epsilon)
