"""DP-FERMI: private logistic regression with a penalty on the dependence between prediction and group."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from dpfair_lib._arguments import inside_unit, nonnegative, positive, positive_integer
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._validation import as_groups, check_lengths
from dpfair_lib.learners.fermi_exact import train_exact
from dpfair_lib.learners.fermi_training import Data, FermiSteps, printed_noise, train_as_run, train_private
from dpfair_lib.learners.linear import HEAVIEST, LEFT_OUT, WIDEST, LinearClassifier, checked, two_labels
from dpfair_lib.privacy import PrivacyStatement, compose, dp_sgd_noise, dp_sgd_statement
from dpfair_lib.privacy.grid_noise import continuous_delta, grid_statement
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.noise_source import NoiseSource, is_secure
from dpfair_lib.privacy.rounding import noise_scale
from dpfair_lib.privacy.sampling import Noise

PUBLIC = (
    "the sample rate and the expected batch size, so the number of rows",
    "the two labels",
    "the groups",
)
NO_PROOF = ", which as_run=True does not provide (the method as run has no proof of privacy)"
AS_RUN_CLIP, AS_RUN_RADIUS = 5.0, 5.0  # L and C of the published comparison
AS_RUN_NOTE = (
    "printed numbers of DP-FERMI as run: the gradient of the batch mean is clipped, not those of the records, so "
    "where features are unbounded one record can move what is released by up to twice the clipping norm, whatever "
    "the batch size; the formulas of the noise count on a move that shrinks with it, and on random batches, not "
    "shuffled ones; the frequencies of the groups are used without noise"
)


class DPFermiClassifier(LinearClassifier):
    """DP-FERMI: logistic regression with a fairness penalty, trained with differential privacy.

    The loss is cross-entropy + λ · Ψ. Ψ is the exponential Rényi mutual information between prediction and group, which
    is 0 if and only if they are independent. It is written as a maximum over a matrix W, so training takes noisy
    descent steps in the weights and ascent steps in W. The group is needed in `fit`, not in `predict`.

    There are two ways to train. The default follows the definition of the method, with what its privacy proof needs:
    Poisson batches, clipped gradients of single records, all entries of W, and noise calibrated with privacy loss
    distributions. ``as_run=True`` follows the published comparison: shuffled batches, clipping of the batch's mean
    gradient, one entry of W (which does not measure dependence), and noise by the published formulas. Its statement has
    no guarantee, and says why; `dpfair_lib.learners.fermi_leak` computes what one record gives away. In both ways the
    labels and groups that occur are treated as public: `fit` raises unless there are two labels and at least two
    groups.

    Parameters
    ----------
    penalty : float or sequence of floats
        λ ≥ 0. For a sequence, one model is trained for each λ.
    epsilon : float
        ε under add-remove; with ``as_run``, the ε of the published formulas.
    delta : float
        δ in (0, 1).
    steps : int
        Number of steps; with ``as_run``, epochs × ⌈n / batch_size⌉.
    batch_size : int
        Expected number of rows in a batch, at most n; with ``as_run``, the exact number.
    as_run : bool, default=False
        Whether to train as in the published comparison.
    learning_rate, w_learning_rate : float, default=0.005, 0.01
        Step lengths for the weights and for W. They multiply the sum of gradients divided by the (expected) batch size.
    max_grad_norm : float, default=5.0
        Clipping norm of each record's gradient by the weights; with ``as_run``, of the batch's mean gradient.
    w_max_grad_norm : float, optional
        Clipping norm of each record's gradient by W; by default 2 / √min P_s. With ``as_run`` it must be None.
    w_radius : float, optional
        Largest Frobenius norm of W. By default √(2 / min P_s), which the maximum never exceeds, since its entries are
        P(s | y) / √P_s; with ``as_run`` 5.
    group_frequencies : mapping, optional
        Group → P_s, the group's share, chosen without looking at the data.
    frequency_epsilon : float, optional
        The part of ε used to estimate P_s from noisy counts. Give either this or group_frequencies; with ``as_run``
        neither, because the data's own frequencies are used.
    penalised_group : group, optional
        With ``as_run``: the group whose entry of W is used; by default the group of the first row.
    replicates : int, default=1
        Number of times to train, with independent batches and noise. Within a replicate, models with different λ use
        the same batches and noise, so compare them in pairs.
    noise : {"secure", "study"}, default="secure"
        "secure" draws the noise with OpenDP's exact samplers, and the batches with the operating system's words. It
        raises with ``as_run``, for more than one λ, which would share their noise, and for more than one replicate.
        "study" is seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Source of study batches and noise; must be None for secure noise. Replicate r is the same for every number of
        replicates and of λ.
    verbose : bool, default=False
        Whether to show on the standard error how many steps are done, after two seconds and then every ten.

    Attributes
    ----------
    classes_, groups_ : ndarray
        Labels and groups, sorted.
    coef_ : ndarray of shape (1, d), with leading axes (replicates, penalties) if there are several
        Weights.
    intercept_ : ndarray of shape (1,), with the same leading axes
        Intercepts.
    W_ : ndarray of shape (k, 2), with the same leading axes
        The matrix W after the last step. It is released with the weights.
    group_frequencies_ : ndarray of shape (k,) or (replicates, k)
        P_s as used.
    noise_multiplier_ : float
        Noise divided by the sensitivity of both clipped sums together. Absent with ``as_run``.
    noise_deviations_ : (float, float)
        With ``as_run`` only: standard deviations of the noise on the mean gradients by the weights and by W.
    privacy_statement_ : PrivacyStatement
        What the training costs, for each model alone.

    References
    ----------
    Lowy, Gupta and Razaviyayn (2023), Algorithm 1; the comparison in Ghoukasian and Asoodeh (ISIT 2024), § IV.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.DPFermiClassifier(
    ...     penalty=1.0, epsilon=2.0, delta=1e-5, steps=20, batch_size=100, frequency_epsilon=0.5
    ... ).fit(X, adult.y, sensitive_features=adult.sensitive_features)
    >>> model.predict(X).shape, model.groups_.tolist()
    ((500,), ['Female', 'Male'])
    """

    stated_relation = property(lambda self: "replace-one" if self.as_run else "add-remove")

    def __init__(
        self, *, penalty: Any, epsilon: float, delta: float, steps: int, batch_size: int, as_run: bool = False,
        learning_rate: float = 0.005, w_learning_rate: float = 0.01, max_grad_norm: float = AS_RUN_CLIP,
        w_max_grad_norm: float | None = None, w_radius: float | None = None,
        group_frequencies: Mapping[Any, float] | None = None, frequency_epsilon: float | None = None,
        penalised_group: Any = None, replicates: int = 1, noise: Noise = "secure", random_state: Any = None,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        self.penalty = penalty
        self.epsilon = epsilon
        self.delta = delta
        self.steps = steps
        self.batch_size = batch_size
        self.as_run = as_run
        self.learning_rate = learning_rate
        self.w_learning_rate = w_learning_rate
        self.max_grad_norm = max_grad_norm
        self.w_max_grad_norm = w_max_grad_norm
        self.w_radius = w_radius
        self.group_frequencies = group_frequencies
        self.frequency_epsilon = frequency_epsilon
        self.penalised_group = penalised_group
        self.replicates = replicates
        self.noise = noise
        self.random_state = random_state
        self.verbose = verbose

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Train the model.

        Parameters
        ----------
        X : array of shape (n, d)
            Features without the group, finite numbers. Scale them by public numbers to similar sizes.
        y : array of shape (n,)
            Labels, two different ones.
        sensitive_features : array of shape (n,)
            Group of each row; two or more groups.

        Returns
        -------
        DPFermiClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range or belongs to the other way of training; if group_frequencies and
            frequency_epsilon are both missing or both given, or do not fit the groups; if secure noise comes with a
            seed, ``as_run``, several λ or several replicates; if X, y or the groups are malformed; if there is only one
            label or one group; if weights or W overflow.
        """
        for name in ("noise_multiplier_", "noise_deviations_"):  # of an earlier fit: each way has only one
            self.__dict__.pop(name, None)
        steps = self._check_steps()
        epsilon, delta = positive(self.epsilon, "epsilon"), inside_unit(self.delta, "delta")
        replicates = positive_integer(self.replicates, "replicates")
        no_secure = NO_PROOF if self.as_run else ""
        sources = NoiseSource.replicates(self.noise, self.random_state, replicates, no_secure=no_secure)
        if is_secure(self.noise) and len(steps.strengths) > 1:
            raise ValueError(
                f"penalty: found {len(steps.strengths)} numbers beside noise='secure', expected one: models that share "
                "their noise promise nothing together; fit again for another, with a statement of its own"
            )
        features, labels = checked(self, X, y)
        if not is_secure(self.noise) and (widest := abs(features).max()) > WIDEST:
            raise ValueError(f"X: found an entry of size {widest:.3g}, expected at most {WIDEST:g}")
        self.classes_, codes = two_labels(labels)
        self.groups_, groups = as_groups(sensitive_features)
        check_lengths(X=features, sensitive_features=groups)
        counts = np.bincount(groups)
        if len(counts) < 2:
            raise ValueError(
                f"sensitive_features: found one group ({self.groups_[0]!r}), expected two or more"
            )
        if steps.batch_size > len(labels):
            raise ValueError(f"batch_size: found {steps.batch_size}, expected at most the {len(labels)} rows")
        data = np.column_stack([features, np.ones(len(labels))]), codes.astype(float), groups
        with np.errstate(all="ignore"):
            if self.as_run:
                weights, W = self._fit_as_run(data, counts, steps, epsilon, delta, sources)
            else:
                weights, W = self._fit_private(data, counts, steps, epsilon, delta, sources)
        if not (abs(weights) <= HEAVIEST).all() or not (abs(W) <= HEAVIEST).all():  # NaN among them
            raise ValueError(
                f"learning_rate, w_learning_rate: found {self.learning_rate}, {self.w_learning_rate}, at which weights "
                "or W overflow and the loss is not finite, expected less"
            )
        lead = (replicates,) * (replicates > 1) + (len(steps.strengths),) * (np.ndim(self.penalty) > 0)
        weights = weights.reshape(*lead, 1, -1)
        self.W_ = W.reshape(*lead, len(counts), 2)
        self.coef_, self.intercept_ = weights[..., :-1], weights[..., -1]
        if lead:
            self._note(f"each of {math.prod(lead)} models alone; replicates add up, and models of one replicate "
                       "share their noise, so that together they promise nothing")  # fmt: skip
        return self

    def _fit_private(
        self,
        data: Data,
        counts: np.ndarray,
        steps: FermiSteps,
        epsilon: float,
        delta: float,
        sources: list[NoiseSource],
    ) -> tuple[np.ndarray, np.ndarray]:
        share, public = self._check_frequencies(epsilon)
        rate = steps.batch_size / len(data[1])
        secure = is_secure(self.noise)
        accounted = continuous_delta(delta) if secure else delta
        multiplier = dp_sgd_noise(epsilon - share, accounted, rate, steps.count, "pld")
        known = (*PUBLIC, "the group frequencies") if public is not None else PUBLIC
        if secure:
            width = data[0].shape[1] + 2 * len(counts)
            statement = grid_statement(multiplier, rate, steps.count, width, delta, public=known)
        else:
            statement = dp_sgd_statement(multiplier, rate, steps.count, delta, "pld", public=known)
        statement = replace(statement, note=LEFT_OUT)
        if public is None:
            counted = PrivacyStatement(
                share, 0.0, "add-remove", public=("the groups",), note="group frequencies from noisy counts",
                mechanism=(Mechanism("laplace", share),),
            )  # fmt: skip
            statement = compose(counted, statement)
        self.noise_multiplier_ = multiplier
        self.privacy_statement_: PrivacyStatement = sources[0].mark(statement)
        frequencies, models = [], []
        for source in sources:
            seeds = None if secure else source.replicate_seed().spawn(2)
            used = public
            if used is None:
                counting = source if seeds is None else NoiseSource("study", np.random.default_rng(seeds[1]))
                noisy = counting.add_laplace(counts.astype(float), noise_scale(1, share))
                used = np.maximum(noisy, 1) / np.maximum(noisy, 1).sum()
            least = used.min()
            exact = replace(
                steps,
                noise_multiplier=multiplier,
                w_clip=2 / math.sqrt(least) if self.w_max_grad_norm is None else steps.w_clip,
                w_radius=math.sqrt(2 / least) if self.w_radius is None else steps.w_radius,
            )
            frequencies.append(used)
            models.append(
                train_exact(data, used, exact)
                if seeds is None
                else train_private(data, used, exact, seeds[0])
            )
        self.group_frequencies_ = np.array(frequencies if len(sources) > 1 else frequencies[0])
        weights, W = zip(*models, strict=True)
        return np.array(weights), np.array(W)

    def _fit_as_run(
        self,
        data: Data,
        counts: np.ndarray,
        steps: FermiSteps,
        epsilon: float,
        delta: float,
        sources: list[NoiseSource],
    ) -> tuple[np.ndarray, np.ndarray]:
        n, groups = len(data[1]), data[2]
        chosen = int(groups[0])
        if self.penalised_group is not None:
            places = np.flatnonzero(self.groups_ == self.penalised_group)
            if len(places) != 1:
                raise ValueError(
                    f"penalised_group: found {self.penalised_group!r}, expected one of {self.groups_.tolist()}"
                )
            chosen = int(places[0])
        if counts.min() < 2:
            raise ValueError(
                "sensitive_features: found a group with one row, expected two or more: the printed formulas divide "
                "by (its size − 1)"
            )
        radius = AS_RUN_RADIUS if self.w_radius is None else steps.w_radius
        try:
            deviations = printed_noise(
                epsilon, delta, n, steps.count, (counts.min() - 1) / n, lipschitz=steps.clip, radius=radius
            )
        except OverflowError:
            raise ValueError(
                f"max_grad_norm, w_radius: found {steps.clip}, {radius}, at which the printed formulas of the noise "
                "overflow, expected less"
            ) from None
        steps = replace(steps, w_radius=radius, deviation=deviations[0], w_deviation=deviations[1])
        self.noise_deviations_ = deviations
        self.group_frequencies_ = counts / n
        self.privacy_statement_ = sources[0].mark(PrivacyStatement(
            epsilon, delta, "replace-one", sampling=f"shuffled batches of {steps.batch_size}, {steps.count} steps",
            accountant="printed formulas", public=("the group frequencies", "the number of rows"),
            guarantee=False, note=AS_RUN_NOTE,
        ))  # fmt: skip
        models = [
            train_as_run(data, self.group_frequencies_, steps, source.replicate_seed().spawn(2)[0], chosen)
            for source in sources
        ]
        weights, W = zip(*models, strict=True)
        return np.array(weights), np.array(W)

    def _note(self, more: str) -> None:
        statement = self.privacy_statement_
        self.privacy_statement_ = replace(statement, note=f"{statement.note}; {more}")

    def _check_steps(self) -> FermiSteps:
        if not isinstance(self.as_run, bool | np.bool_):
            raise ValueError(f"as_run: found {self.as_run!r}, expected True or False")
        refused = (
            ("group_frequencies", "frequency_epsilon", "w_max_grad_norm")
            if self.as_run
            else ("penalised_group",)
        )
        for name in refused:
            if (found := getattr(self, name)) is not None:
                raise ValueError(f"{name}: found {found!r} with as_run={bool(self.as_run)}, expected None")
        optional = {
            name: math.inf if value is None else positive(value, name)
            for name, value in (("w_max_grad_norm", self.w_max_grad_norm), ("w_radius", self.w_radius))
        }
        return FermiSteps(
            strengths=_strengths(self.penalty),
            count=positive_integer(self.steps, "steps"),
            batch_size=positive_integer(self.batch_size, "batch_size"),
            learning_rate=positive(self.learning_rate, "learning_rate"),
            w_learning_rate=positive(self.w_learning_rate, "w_learning_rate"),
            clip=positive(self.max_grad_norm, "max_grad_norm"),
            w_clip=optional["w_max_grad_norm"],
            w_radius=optional["w_radius"],
        )

    def _check_frequencies(self, epsilon: float) -> tuple[float, np.ndarray | None]:
        """Return the part of ε that the frequencies cost, and the frequencies if they are public."""
        if (self.group_frequencies is None) == (self.frequency_epsilon is None):
            found = "neither" if self.frequency_epsilon is None else "both"
            raise ValueError(
                f"group_frequencies, frequency_epsilon: found {found}, expected exactly one of the two to be given"
            )
        if self.group_frequencies is None:
            share = positive(self.frequency_epsilon, "frequency_epsilon")
            if share >= epsilon:
                raise ValueError(f"frequency_epsilon: found {share}, expected less than epsilon ({epsilon})")
            return share, None
        given = self.group_frequencies
        groups = self.groups_.tolist()
        if not isinstance(given, Mapping) or set(given) != set(groups):
            named = list(given) if isinstance(given, Mapping) else given
            raise ValueError(f"group_frequencies: found {named!r}, expected a frequency for each of {groups}")
        frequencies = np.array([positive(given[group], "group_frequencies") for group in groups])
        if abs(frequencies.sum() - 1) > 1e-6:
            raise ValueError(f"group_frequencies: found a sum of {frequencies.sum():.6g}, expected 1")
        return 0.0, frequencies


def _strengths(penalty: Any) -> np.ndarray:
    if np.ndim(penalty) > 1 or np.size(penalty) == 0:
        raise ValueError(
            f"penalty: found shape {np.shape(penalty)}, expected a number or a sequence of one or more"
        )
    values = [penalty] if np.ndim(penalty) == 0 else list(penalty)
    strengths = np.array([nonnegative(value, "penalty") for value in values])
    if not np.isfinite(strengths).all():
        raise ValueError("penalty: found an infinite number, expected finite numbers of at least 0")
    return strengths
