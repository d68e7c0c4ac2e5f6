"""Logistic regression by DP-SGD that scales all gradients of a batch alike, by a norm that follows noisy counts."""

from __future__ import annotations

from typing import Any, Self

from dpfair_lib._arguments import nonnegative, positive
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib.learners.counted_descent import CountedDescent
from dpfair_lib.learners.counted_steps import GlobalRule, train_counted
from dpfair_lib.privacy.sampling import Noise


class DPGlobalScalingClassifier(CountedDescent):
    """Logistic regression by DP-SGD that scales all gradients alike instead of clipping the long ones.

    All gradients of norm at most Z are multiplied by min(1, C/Z), so that their sum keeps its direction; only longer
    ones are shortened to norm C. Z follows a noisy count of long gradients from step to step. The goal is that no
    group's gradients are shortened more than another's. No group is needed.

    The privacy statement covers the rows given to `fit` under add-remove. It includes the counts that set Z.

    Parameters
    ----------
    epsilon : float, optional
        ε under add-remove, of counts and gradients together. Calibrated with privacy loss distributions.
    noise_multiplier : float, optional
        σ of a whole step, instead of epsilon.
    delta : float
        δ in (0, 1).
    max_grad_norm : float
        C: no record adds more than this norm to a sum.
    sample_rate : float
        Probability, in (0, 1], with which each record enters a batch.
    steps : int
        Number of steps.
    learning_rate : float
        Step length, before the noisy sum over the expected batch size.
    scale_norm : float
        Z at the first step, a public number.
    threshold : float, default=1.0
        τ > 0: gradients longer than τZ are counted.
    scale_rate : float, default=0.1
        η: after a step, Z is multiplied by e^(s − η), s being the noisy count over the expected batch size.
    count_share : float, default=0.01
        In (0, 1): the part of 1/σ² that the count uses.
    expected_batch_size : float, optional
        Public number by which noisy sums and counts are divided. By default ``sample_rate`` times the number of rows,
        which is then public.
    classes : sequence of two labels, optional
        The two labels, chosen without looking at the data. By default those that occur, which are then public.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    noise : {"secure", "study"}, default="secure"
        Exact noise by OpenDP and batches by the operating system, or seeded ones, which protect nobody.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.
    verbose : bool, default=False
        Whether to show on the standard error how many steps are done, after two seconds and then every ten.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted.
    coef_, intercept_ : ndarray of shape (1, d) and (1,)
        Weights.
    noise_multiplier_ : float
        σ of a whole step.
    privacy_statement_ : PrivacyStatement
        What the training costs.

    Notes
    -----
    The proof stands in `dpfair_lib.learners.counted_steps`. It needs a public divisor. In the public code
    (layer6ai-labs/fair-dp) the noisy count is divided by the number of records that are in the batch. What sets Z is
    then (count + noise)/b, whose mean and deviation both depend on b, and no noise was added to b. If all gradients are
    long it is 1 + noise/b, so one record more makes its deviation smaller, which noise on the count does not cover. A
    test computes that for small batches it reveals more than the account allows. Other differences from that code: the
    accountant, which is RDP there; Z stays between e^−200 and e^200. Without noise a step agrees with that code as run.
    The rule for Z is taken from the code; the publication itself was not at hand.

    References
    ----------
    Esipova, Atiyeh Ashari Ghomi, Luo and Cresswell (2023), Disparate impact in differential privacy from gradient
    misalignment, DPSGD-Global-Adapt; after Bu et al. (2021).

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.DPGlobalScalingClassifier(
    ...     epsilon=1.0, delta=1e-5, max_grad_norm=0.5, scale_norm=1.5, sample_rate=0.1, steps=20, learning_rate=0.5
    ... ).fit(X, adult.y)
    >>> model.predict(X).shape
    (500,)
    """

    stated_relation = "add-remove"

    def __init__(
        self, *, epsilon: float | None = None, noise_multiplier: float | None = None, delta: float,
        max_grad_norm: float, sample_rate: float, steps: int, learning_rate: float, scale_norm: float,
        threshold: float = 1.0, scale_rate: float = 0.1, count_share: float = 0.01,
        expected_batch_size: float | None = None, classes: Any = None, fit_intercept: bool = True,
        noise: Noise = "secure", random_state: Any = None, verbose: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, noise_multiplier=noise_multiplier, delta=delta, max_grad_norm=max_grad_norm,
            sample_rate=sample_rate, steps=steps, learning_rate=learning_rate, count_share=count_share,
            expected_batch_size=expected_batch_size, classes=classes, fit_intercept=fit_intercept, noise=noise,
            random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.scale_norm = scale_norm
        self.threshold = threshold
        self.scale_rate = scale_rate

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Train the model.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers, scaled by public numbers.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.

        Returns
        -------
        DPGlobalScalingClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if neither or both of epsilon and noise_multiplier are given; if a seed
            comes with secure noise; if X or y is malformed or empty, or has a label outside ``classes``; if a weight
            overflows.
        """
        self._fit(X, y, None, train_counted, self._rule)
        return self

    def _rule(self, divisor: float, /) -> GlobalRule:
        return GlobalRule(
            positive(self.max_grad_norm, "max_grad_norm"),
            positive(self.scale_norm, "scale_norm"),
            positive(self.threshold, "threshold"),
            nonnegative(self.scale_rate, "scale_rate"),
            divisor,
        )
