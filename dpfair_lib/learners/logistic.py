"""Logistic regression and linear support vector machines, trained by DP-SGD."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of, positive, positive_integer
from dpfair_lib._extras import extra
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib.learners import exact_steps, fused_backend, opacus_backend
from dpfair_lib.learners.linear import HEAVIEST, LEFT_OUT, WIDEST, LinearClassifier, checked, two_labels
from dpfair_lib.learners.settings import Backend, Precision, Steps
from dpfair_lib.privacy import PrivacyStatement, dp_sgd_noise, dp_sgd_statement
from dpfair_lib.privacy.accounting import DpSgdRelation
from dpfair_lib.privacy.grid_noise import continuous_delta, grid_statement
from dpfair_lib.privacy.noise_source import NoiseSource, is_secure
from dpfair_lib.privacy.sampling import Noise

BACKENDS: dict[str, Backend] = {"fused": fused_backend.train, "opacus": opacus_backend.train}
COUNTED = "the expected batch size, which is sample rate × number of rows, so the number of rows"
FIXED = "the expected batch size, a number given by the user, and that there is a row"
LABELS = "the two labels"
SECURE = {"backend": ("fused",), "dtype": ("float64",), "device": ("auto", "cpu")}
"""What goes with secure noise: its steps are exact sums of integers, which neither backend computes."""
LARGEST = {"float64": (WIDEST, HEAVIEST), "float32": (1e15, 1e20)}  # entry of X and weight, per precision


class DPLogisticRegression(LinearClassifier):
    """Logistic regression trained by DP-SGD: Poisson batches, clipped gradients and Gaussian noise.

    The privacy statement covers the rows given to `fit`: their features, their labels, and whether a record is present.
    It does not cover what was computed from the rows before, such as a standardisation or the choice of these
    parameters. It is a guarantee for secure noise, the default: batches by coins of the operating system, exact sums of
    gradients that are rounded to a fine grid, and exactly drawn Gaussian noise on that grid.

    Each noisy sum of gradients is divided by a number that is assumed to be public. By default it is computed from the
    number of rows, which is then public too. If records may be added or removed and their number must be protected,
    give an ``expected_batch_size`` that was fixed before the rows were counted.

    Parameters
    ----------
    epsilon : float, optional
        ε under `relation`. The noise is calibrated to it with privacy loss distributions.
    noise_multiplier : float, optional
        Standard deviation of the noise divided by ``max_grad_norm``. Give either this or epsilon.
    delta : float
        δ in (0, 1).
    max_grad_norm : float
        The gradient of each record, weights and intercept together, is clipped to this norm.
    sample_rate : float
        Probability, in (0, 1], with which each record enters a batch.
    steps : int
        Number of steps.
    learning_rate : float
        Step length: a step adds −learning_rate · (noisy sum of clipped gradients) / (expected batch size) to the
        weights.
    expected_batch_size : float, optional
        Public number above 0 by which the noisy sums are divided, chosen without looking at these rows: for example
        ``sample_rate`` times a published estimate of their number. By default ``sample_rate`` times the number of rows.
        The batches are drawn with ``sample_rate`` in either case. That there is a row at all is public.
    classes : sequence of two labels, optional
        The two labels, chosen without looking at the data; the rows may then lack either. By default the labels that
        occur in y. `fit` raises unless both occur, so that fact is treated as public.
    fit_intercept : bool, default=True
        Whether there is an intercept. Its gradient is clipped and gets noise like the others.
    replicates : int, default=1
        Number of models to train on the same rows, with independent batches and noise, to study the spread of the
        results. More than one raises with secure noise.
    shared_batches : bool, default=False
        Whether all replicates use the same batches with independent noise, for paired comparisons. The replicates are
        then dependent, and their spread is too small; the statement says so. Together, R of them cost as much as one
        model with noise multiplier σ/√R, since a step releases one noisy vector of the R gradients of norm at most √R
        C. The first step, in which the replicates' gradients are equal, attains this.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Which data sets are neighbours. It changes the accounting, not the steps.
    device : str, default="auto"
        With study noise a PyTorch device; "auto" uses a GPU if there is one. Secure noise uses the CPU, and raises for
        another device, backend or precision than the defaults.
    backend : {"fused", "opacus"}, default="fused"
        Program that carries out the steps with study noise: matrix products written for linear models, or Opacus. The
        mechanism and the numbers of the statement are the same, the random numbers differ.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the steps.
    noise : {"secure", "study"}, default="secure"
        "secure" draws the noise with OpenDP's exact sampler, and the batches with the operating system's words. "study"
        is seeded floating-point noise, for experiments. It protects nobody, and the statement says so.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Source of study batches and noise; None uses fresh entropy. Must be None for secure noise. Replicate r is the
        same for every number of replicates.
    verbose : bool, default=False
        Whether to show on the standard error how many steps are done, after two seconds and then every ten.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted.
    coef_ : ndarray of shape (1, d), or (replicates, 1, d) for more than one replicate
        Weights.
    intercept_ : ndarray of shape (1,) or (replicates, 1)
        Intercepts.
    noise_multiplier_ : float
        The noise multiplier used.
    privacy_statement_ : PrivacyStatement
        What the training costs, for each replicate alone.

    Notes
    -----
    The noise is calibrated for a δ smaller by the factor 1 − 2⁻¹⁴, if it is secure. What is left covers that it is
    discrete (see `dpfair_lib.privacy.grid_noise` for the proof, and `dpfair_lib.learners.exact_steps` for the steps).

    References
    ----------
    Abadi et al. (2016), Algorithm 1, with Poisson sampling; Ghoukasian and Asoodeh (ISIT 2024), § IV; Canonne, Kamath
    and Steinke (2020) for the sampler.

    Examples
    --------
    Scale the features by public numbers first, here 90 years of age and 16 years of education.

    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.DPLogisticRegression(
    ...     epsilon=1.0, delta=1e-5, max_grad_norm=1.0, sample_rate=0.1, steps=20, learning_rate=0.5
    ... ).fit(X, adult.y)
    >>> model.predict(X).shape, round(model.noise_multiplier_, 2)
    ((500,), 2.1)
    >>> print(model.privacy_statement_)
    ε = 0.999951, δ = 1e-05, add-remove, per record; ...
    """

    def __init__(
        self, *, epsilon: float | None = None, noise_multiplier: float | None = None, delta: float,
        max_grad_norm: float, sample_rate: float, steps: int, learning_rate: float,
        expected_batch_size: float | None = None, classes: Any = None, fit_intercept: bool = True,
        replicates: int = 1, shared_batches: bool = False, relation: DpSgdRelation = "add-remove",
        device: str = "auto", backend: Literal["fused", "opacus"] = "fused", dtype: Precision = "float64",
        noise: Noise = "secure", random_state: Any = None, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.noise_multiplier = noise_multiplier
        self.delta = delta
        self.max_grad_norm = max_grad_norm
        self.sample_rate = sample_rate
        self.steps = steps
        self.learning_rate = learning_rate
        self.expected_batch_size = expected_batch_size
        self.classes = classes
        self.fit_intercept = fit_intercept
        self.replicates = replicates
        self.shared_batches = shared_batches
        self.relation = relation
        self.device = device
        self.backend = backend
        self.dtype = dtype
        self.noise = noise
        self.random_state = random_state
        self.verbose = verbose

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Train the model.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers. Scale them by public numbers to similar sizes, because one clipping norm and one
            learning rate act on all of them.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.

        Returns
        -------
        DPLogisticRegression
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if neither or both of epsilon and noise_multiplier are given; if a seed,
            replicates, or another backend, precision or device than the defaults come with secure noise; if the device
            does not exist; if X or y is malformed or empty; if y has one label only and ``classes`` is not given, or
            has a label outside ``classes``; with study noise if an entry of X is above 10¹⁰⁰ in size (10¹⁵ in 32 bits;
            with secure noise it is cut down to 10¹⁰⁰); if a weight overflows.
        """
        self._check_kind()
        delta, secure = inside_unit(self.delta, "delta"), is_secure(self.noise)
        replicates = positive_integer(self.replicates, "replicates")
        sources = NoiseSource.replicates(self.noise, self.random_state, replicates)
        steps = self._check_steps(continuous_delta(delta) if secure else delta)
        train = self._train_secure if secure else self._train_study
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        statement = self._statement(steps, features.shape[1] + steps.fit_intercept, delta, secure=secure)
        note = f"{self._note(replicates)}; {LEFT_OUT}" if replicates > 1 else LEFT_OUT
        statement = replace(statement, note=note)
        self.privacy_statement_: PrivacyStatement = sources[0].mark(statement)
        with np.errstate(all="ignore"):
            weights = train(features, codes, steps, sources)
        if not (abs(weights) <= LARGEST[self.dtype][1]).all():  # NaN among them
            divisor = steps.divisor(len(features))
            raise ValueError(
                f"learning_rate: found {self.learning_rate}, at which weights overflow and the loss is not finite; "
                f"expected less, or less of what makes steps long beside it: max_grad_norm={steps.max_grad_norm:g}, "
                f"noise_multiplier={steps.noise_multiplier:g} over {divisor:g} expected records"
            )
        weights = weights[:, None, :] if replicates > 1 else weights
        self.coef_, self.intercept_ = weights[..., :-1], weights[..., -1]
        self.noise_multiplier_ = steps.noise_multiplier
        return self

    def _statement(self, steps: Steps, width: int, delta: float, *, secure: bool) -> PrivacyStatement:
        """Return what the steps cost, before it is marked by the kind of noise."""
        public = (COUNTED if steps.expected_batch_size is None else FIXED, LABELS)
        numbers = steps.noise_multiplier, steps.sample_rate, steps.count
        if secure:
            return grid_statement(*numbers, width, delta, relation=self.relation, public=public)
        return dp_sgd_statement(*numbers, delta, "pld", relation=self.relation, public=public)

    def _train_secure(
        self, X: np.ndarray, codes: np.ndarray, steps: Steps, _: list[NoiseSource]
    ) -> np.ndarray:
        return exact_steps.train(X, codes, steps)

    def _train_study(
        self, X: np.ndarray, codes: np.ndarray, steps: Steps, sources: list[NoiseSource]
    ) -> np.ndarray:
        widest = LARGEST[self.dtype][0]
        if (found := abs(X).max()) > widest:
            raise ValueError(f"X: found an entry of size {found:.3g}, expected at most {widest:g}")
        return BACKENDS[self.backend](
            X,
            codes,
            steps,
            [source.replicate_seed() for source in sources],
            self._device(),
            dtype=self.dtype,
            shared_batches=self.shared_batches,
        )

    def _note(self, replicates: int) -> str:
        if not self.shared_batches:
            return f"each of {replicates} replicates alone; they add up"
        # without the batches as a coin of their own, the steps of all replicates are one step with a sum as long
        return (
            f"each of {replicates} replicates alone; they share their batches, so that they are not independent, and "
            f"together they cost what one does at 1/√{replicates} of the noise multiplier"
        )

    def _check_kind(self) -> None:
        one_of(self.backend, "backend", BACKENDS)
        one_of(self.dtype, "dtype", LARGEST)
        one_of(self.relation, "relation", ("add-remove", "replace-one"))
        for name in ("fit_intercept", "shared_batches"):
            if not isinstance(value := getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name}: found {value!r}, expected True or False")
        if is_secure(self.noise):
            for name, provided in SECURE.items():
                if (value := getattr(self, name)) not in provided:
                    raise ValueError(
                        f"{name}: found {value!r} beside noise='secure', expected {' or '.join(map(repr, provided))}"
                    )

    def _check_steps(self, delta: float) -> Steps:
        if (self.epsilon is None) == (self.noise_multiplier is None):
            found = "neither" if self.epsilon is None else "both"
            raise ValueError(
                f"epsilon, noise_multiplier: found {found}, expected exactly one of the two to be given"
            )
        steps = Steps(
            noise_multiplier=0.0
            if self.epsilon is not None
            else positive(self.noise_multiplier, "noise_multiplier"),
            max_grad_norm=self.max_grad_norm,
            sample_rate=self.sample_rate,
            count=positive_integer(self.steps, "steps"),
            learning_rate=self.learning_rate,
            fit_intercept=bool(self.fit_intercept),
            expected_batch_size=self.expected_batch_size,
            loss=self.loss,
        )
        if self.epsilon is None:
            return steps
        multiplier = dp_sgd_noise(
            self.epsilon, delta, steps.sample_rate, steps.count, "pld", relation=self.relation
        )
        return replace(steps, noise_multiplier=multiplier)

    def _device(self) -> Any:
        with extra("learners"):
            import torch

        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        try:
            device = torch.device(self.device)
            torch.zeros(1, dtype=getattr(torch, self.dtype), device=device).cpu()  # there and back
        except (RuntimeError, TypeError, AssertionError) as problem:
            reason = (str(problem).splitlines() or ["no reason given"])[0]
            raise ValueError(
                f"device: found {self.device!r} ({reason}), expected 'auto' or a PyTorch device of this machine"
            ) from problem
        return device


class DPLinearSVM(DPLogisticRegression):
    """A linear support vector machine trained by DP-SGD.

    It is `DPLogisticRegression` with another loss: the hinge loss with its corner rounded between the margins ½ and
    3⁄2. Parameters, attributes and privacy statement are the same, because the mechanism sees clipped gradients only.
    There is no regulariser. There is no `predict_proba`, because the scores of a support vector machine are not
    log-odds.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.DPLinearSVM(
    ...     epsilon=1.0, delta=1e-5, max_grad_norm=1.0, sample_rate=0.1, steps=20, learning_rate=0.5
    ... ).fit(X, adult.y)
    >>> model.decision_function(X).shape
    (500,)
    """

    loss = "huberised-hinge"
