"""Linear classifiers trained by DP-SGD: logistic regression and support vector machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of, positive, positive_integer
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib.learners import fused_backend, opacus_backend
from dpfair_lib.learners.linear import HEAVIEST, NOT_PROVIDED, WIDEST, LinearClassifier, checked, two_labels
from dpfair_lib.learners.settings import Backend, Precision, Steps
from dpfair_lib.privacy import PrivacyStatement, dp_sgd_noise, dp_sgd_statement
from dpfair_lib.privacy.accounting import DpSgdRelation
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.sampling import Noise

BACKENDS: dict[str, Backend] = {"fused": fused_backend.train, "opacus": opacus_backend.train}
COUNTED = "the expected batch size, which is sample rate × number of rows, so the number of rows"
FIXED = "the expected batch size, a number given by the user"
LABELS = "the two labels"
LARGEST = {"float64": (WIDEST, HEAVIEST), "float32": (1e15, 1e20)}  # entry of X and weight, per precision


class DPLogisticRegression(LinearClassifier):
    """Logistic regression by DP-SGD: Poisson batches, clipped gradients, Gaussian noise, from a start at 0.

    The statement protects the rows given to `fit`: features, label and the presence of each. It does not
    cover what was computed from the rows before, such as a standardisation or the choice of these parameters.
    The divisor of the noisy sums is assumed to be public. By default it is computed from the number of rows, which
    makes that public too; where a record may be added or removed and the number of rows has to be protected, give
    an ``expected_batch_size`` that was fixed before the rows were counted.

    Parameters
    ----------
    epsilon : float, optional
        ε wanted under `relation`; the noise is calibrated to it by privacy loss distributions.
    noise_multiplier : float, optional
        Standard deviation of the noise over ``max_grad_norm``; exactly one of the two is given.
    delta : float
        δ in (0, 1).
    max_grad_norm : float
        Norm to which the gradient of each record is clipped, weights and intercept together.
    sample_rate : float
        Probability with which each record enters a batch, in (0, 1].
    steps : int
        Number of steps.
    learning_rate : float
        Step length, times the noisy sum of clipped gradients over the expected batch size.
    expected_batch_size : float, optional
        Divisor of the noisy sums, a public number above 0 that does not depend on these rows: for example
        ``sample_rate`` times a published estimate of their number. By default ``sample_rate`` times the number of
        rows, which is then assumed to be public. The batches are drawn with ``sample_rate`` all the same.
    classes : sequence of two labels, optional
        The two labels, fixed without a look at the data: no row needs to have the one or the other. By default they are
        those that occur, and that both do is assumed to be public, since `fit` refuses rows of one label.
    fit_intercept : bool, default=True
        Whether there is an intercept. Its gradient is clipped and noised with the others.
    replicates : int, default=1
        How many models to train on the same rows, with batches and noise of their own; for studies of the
        mechanism's spread.
    shared_batches : bool, default=False
        Whether all replicates see the same batches, with noise of their own: for paired comparisons. They are
        then not independent of one another, so that their spread says too little, and the statement says so.
        Together, R of them cost what one does at noise multiplier σ/√R: a step releases all R noisy sums, which
        is one noisy sum of the records' R gradients in a row, over one Poisson batch, each of norm at most √R C.
        This is attained in the first step, where the replicates' gradients are equal.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        The neighbours to which ε refers. The steps are the same for both: Poisson batches, the only ones
        offered, since the accounting is not valid for shuffled batches of fixed size.
    device : str, default="auto"
        A PyTorch device; "auto" takes a GPU if there is one.
    backend : {"fused", "opacus"}, default="fused"
        What carries out the steps: matrix products made for logistic regression, or Opacus. The mechanism and the
        statement are the same, the random numbers are not.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the steps.
    noise : {"study"}, default="study"
        Seeded noise in floating point, which protects no real data: the statement is marked accordingly.
        "secure" is refused, because no backend here provides it.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Source of batches and noise; None takes fresh entropy. Replicate r has the same batches and noise
        however many there are.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted.
    coef_ : ndarray of shape (1, d), or (replicates, 1, d) for more than one replicate
        Weights.
    intercept_ : ndarray of shape (1,) or (replicates, 1)
        Intercepts.
    noise_multiplier_ : float
        The one used.
    privacy_statement_ : PrivacyStatement
        For each replicate alone.

    References
    ----------
    Abadi et al. (2016), Algorithm 1, with Poisson sampling; as used in ISIT, § IV.
    """

    def __init__(
        self, *, epsilon: float | None = None, noise_multiplier: float | None = None, delta: float,
        max_grad_norm: float, sample_rate: float, steps: int, learning_rate: float,
        expected_batch_size: float | None = None, classes: Any = None, fit_intercept: bool = True,
        replicates: int = 1, shared_batches: bool = False, relation: DpSgdRelation = "add-remove",
        device: str = "auto", backend: Literal["fused", "opacus"] = "fused", dtype: Precision = "float64",
        noise: Noise = "study", random_state: Any = None,
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

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Train.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers. Bring them to one scale by public numbers: clipping and one learning
            rate act on all.
        y : array of shape (n,)
            Labels, two different ones, or some of ``classes``.

        Returns
        -------
        DPLogisticRegression
            Itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if not exactly one of epsilon and noise_multiplier is given;
            if secure noise, or a device that is not there, is asked for; if X or y is malformed or empty; if there is
            one label only and no ``classes``, or a label that is none of them; if an entry of X is above 10¹⁰⁰ in size
            (10¹⁵ in 32 bits), which is out of the domain, or weights overflow.
        """
        train, delta = self._check_kind(), inside_unit(self.delta, "delta")
        replicates = positive_integer(self.replicates, "replicates")
        no_secure = NOT_PROVIDED.format(f"backend {self.backend!r}")
        sources = NoiseSource.replicates(self.noise, self.random_state, replicates, no_secure=no_secure)
        device = self._device()
        steps = self._check_steps(delta)
        features, labels = checked(self, X, y)
        widest, heaviest = LARGEST[self.dtype]
        if (found := abs(features).max()) > widest:
            raise ValueError(f"X: found an entry of size {found:.3g}, expected at most {widest:g}")
        self.classes_, codes = two_labels(labels, self.classes)
        statement = dp_sgd_statement(
            steps.noise_multiplier, steps.sample_rate, steps.count, delta, "pld", relation=self.relation,
            public=(COUNTED if steps.expected_batch_size is None else FIXED, LABELS),
        )  # fmt: skip
        with np.errstate(all="ignore"):
            weights = train(
                features,
                codes,
                steps,
                [source.replicate_seed() for source in sources],
                device,
                dtype=self.dtype,
                shared_batches=self.shared_batches,
            )
        if not (abs(weights) <= heaviest).all():  # NaN among them
            divisor = steps.divisor(len(features))
            raise ValueError(
                f"learning_rate: found {self.learning_rate}, at which weights overflow and the loss is not finite; "
                f"expected less, or less of what makes steps long beside it: max_grad_norm={steps.max_grad_norm:g}, "
                f"noise_multiplier={steps.noise_multiplier:g} over {divisor:g} expected records"
            )
        weights = weights[:, None, :] if replicates > 1 else weights
        self.coef_, self.intercept_ = weights[..., :-1], weights[..., -1]
        self.noise_multiplier_ = steps.noise_multiplier
        if replicates > 1:
            statement = replace(statement, note=self._note(replicates))
        self.privacy_statement_: PrivacyStatement = sources[0].mark(statement)
        return self

    def _note(self, replicates: int) -> str:
        if not self.shared_batches:
            return f"each of {replicates} replicates alone; they add up"
        # without the batches as a coin of their own, the steps of all replicates are one step with a sum as long
        return (
            f"each of {replicates} replicates alone; they share their batches, so that they are not independent, and "
            f"together they cost what one does at 1/√{replicates} of the noise multiplier"
        )

    def _check_kind(self) -> Backend:
        one_of(self.backend, "backend", BACKENDS)
        one_of(self.dtype, "dtype", LARGEST)
        one_of(self.relation, "relation", ("add-remove", "replace-one"))
        for name in ("fit_intercept", "shared_batches"):
            if not isinstance(value := getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name}: found {value!r}, expected True or False")
        return BACKENDS[self.backend]

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
    """A linear support vector machine by DP-SGD: `DPLogisticRegression` with the huberised hinge for a loss.

    Parameters, attributes and the statement are those of `DPLogisticRegression`: the mechanism sees clipped gradients,
    whatever the loss. The hinge's corner is rounded between the margins ½ and 3⁄2. There is no regulariser, and no
    `predict_proba`: the scores of a support vector machine are not log-odds.
    """

    loss = "huberised-hinge"
