"""Logistic regression by DP-SGD on a Lagrangian, whose multipliers follow noisy gaps between groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from dpfair_lib._arguments import below_one, one_of, positive
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib.learners.constrained.lagrangian_steps import CONDITIONS, Ascent, Notion, train_lagrangian
from dpfair_lib.learners.counted_descent import CountedByGroup
from dpfair_lib.privacy.sampling import Noise

HIGHEST = 1e9


class DPLagrangianClassifier(CountedByGroup):
    """Logistic regression by DP-SGD under fairness constraints whose multipliers follow noisy counts (Lagrangian dual).

    Each step first counts, for every group, how many records of its batch the model selects and how many it does not,
    with noise. A multiplier for each group grows while the group's noisy rate is more than γ above the mean rate, and
    falls while it is not; another one does so below the mean. Then a noisy gradient of the loss plus multipliers times
    gaps moves the weights. The group is needed in `fit`, not in `predict`. The constraint need not hold in the end: the
    rates are those of noisy counts, and the steps may be too few.

    The privacy statement covers the rows given to `fit` under add-remove: features, labels, groups, and whether a
    record is present. It includes the counts.

    Parameters
    ----------
    notion : {"demographic_parity", "equal_opportunity", "equalized_odds"}
        Whether the rates of all records are compared, those of label 1 (the second), or those of each label.
    gamma : float, default=0.0
        γ in [0, 1): how far a group's rate may be from the mean rate, at no price.
    multiplier_rate : float, default=0.1
        By how much a rate that is 1 too far away moves its multiplier in a step.
    largest_multiplier : float, default=5.0
        No multiplier grows beyond it. At most 10⁹.
    memory : float, default=0.9
        In [0, 1): what noisy counts still weigh in the next step. Rates are those of the weighted sums.
    epsilon : float, optional
        ε under add-remove, of counts and gradients together. Calibrated with privacy loss distributions.
    noise_multiplier : float, optional
        σ of a whole step, instead of epsilon.
    delta : float
        δ in (0, 1).
    max_grad_norm : float
        C: no record adds more than this norm to a sum, whatever the multipliers.
    sample_rate : float
        Probability, in (0, 1], with which each record enters a batch.
    steps : int
        Number of steps.
    learning_rate : float
        Step length, before the noisy sum over the expected batch size.
    count_share : float, default=0.05
        In (0, 1): the part of 1/σ² that the counts use. Counts get noise of deviation σ/√share, sums of gradients
        Cσ/√(1 − share).
    expected_batch_size : float, optional
        Public number by which noisy sums are divided. By default ``sample_rate`` times the number of rows, which is
        then public.
    groups : sequence, optional
        The groups, chosen without looking at the data; some may have no row. By default those that occur, which are
        then public.
    classes : sequence of two labels, optional
        The two labels, likewise.
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
    classes_, groups_ : ndarray
        The labels and the groups, sorted.
    coef_, intercept_ : ndarray of shape (1, d) and (1,)
        Weights: the mean over the second half of the steps.
    multipliers_ : ndarray of shape (2, conditions, groups)
        The multipliers after the last step, for rates above the mean and below it. Equalised odds has two conditions,
        label 0 and label 1.
    noise_multiplier_ : float
        σ of a whole step.
    privacy_statement_ : PrivacyStatement
        What the training costs.

    Notes
    -----
    The proof stands in `dpfair_lib.learners.constrained.lagrangian_steps`. It needs multipliers that follow noisy
    counts, and sizes of groups that are noisy, too. Multipliers that follow the exact gaps are not private, whatever
    noise the gradients get: they are a function of the data without noise, and the weights follow them. A test shows
    two data sets that differ in one record and are told apart so. The same holds for a gradient in which a group's
    share of it is divided by the exact size of the group.

    *Differences from the publications*, of which only the abstracts were at hand. Tran et al. protect the group alone;
    here the whole record is protected. Their multipliers follow losses or probabilities, here the counts of selected
    records, since one record moves all counts together by 1. That the additional cost of a constraint on rates is a
    noisy histogram of the batch is the idea of the second publication. Here the gradient of the whole Lagrangian is
    clipped for each record, and the weights are averaged. No agreement with a public implementation was shown, since
    none was found.

    References
    ----------
    Tran, Fioretto and Van Hentenryck (2021), Differentially private and fair deep learning: a Lagrangian dual approach;
    Private rate-constrained optimization with applications to fair learning (2025), arXiv:2505.22703. The steps and
    the account are ours.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=500, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = dpf.DPLagrangianClassifier(
    ...     notion="demographic_parity", epsilon=1.0, delta=1e-5, max_grad_norm=0.5, sample_rate=0.1, steps=20,
    ...     learning_rate=0.5,
    ... ).fit(X, adult.y, sensitive_features=adult.sensitive_features)
    >>> model.predict(X).shape
    (500,)
    >>> print(model.privacy_statement_)
    ε = 0.9999..., δ = 1e-05, add-remove, per record; ...
    """

    stated_relation = "add-remove"

    def __init__(
        self, *, notion: Notion, gamma: float = 0.0, multiplier_rate: float = 0.1, largest_multiplier: float = 5.0,
        memory: float = 0.9, epsilon: float | None = None, noise_multiplier: float | None = None, delta: float,
        max_grad_norm: float, sample_rate: float, steps: int, learning_rate: float, count_share: float = 0.05,
        expected_batch_size: float | None = None, groups: Sequence[Any] | None = None, classes: Any = None,
        fit_intercept: bool = True, noise: Noise = "secure", random_state: Any = None, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.notion = notion
        self.gamma = gamma
        self.multiplier_rate = multiplier_rate
        self.largest_multiplier = largest_multiplier
        self.memory = memory
        super().__init__(
            epsilon=epsilon, noise_multiplier=noise_multiplier, delta=delta, max_grad_norm=max_grad_norm,
            sample_rate=sample_rate, steps=steps, learning_rate=learning_rate, count_share=count_share,
            expected_batch_size=expected_batch_size, classes=classes, fit_intercept=fit_intercept, noise=noise,
            random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.groups = groups

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Train the model.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers, scaled by public numbers.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.
        sensitive_features : array of shape (n,)
            Group of each row; at least two groups, or some of ``groups``.

        Returns
        -------
        DPLagrangianClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if neither or both of epsilon and noise_multiplier are given; if a seed
            comes with secure noise; if X, y or the groups are malformed or outside what was declared; if labels or
            groups are not declared and there is one only; if a weight overflows.
        """
        numbers = self._numbers()
        counted = self._fit(
            X,
            y,
            sensitive_features,
            train_lagrangian,
            lambda divisor: Ascent(self.notion, len(self.groups_), *numbers, divisor),
        )
        self.multipliers_ = counted.multipliers
        return self

    def _numbers(self) -> tuple[float, float, float, float]:
        one_of(self.notion, "notion", CONDITIONS)
        largest = positive(self.largest_multiplier, "largest_multiplier")
        if largest > HIGHEST:
            raise ValueError(f"largest_multiplier: found {largest}, expected at most {HIGHEST:g}")
        rate = positive(self.multiplier_rate, "multiplier_rate")
        return below_one(self.gamma, "gamma"), rate, largest, below_one(self.memory, "memory")
