"""A budget that several releases spend, each chosen after seeing the results of the earlier ones."""

from __future__ import annotations

import math
import os
import threading
from fractions import Fraction
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from dpfair_lib._arguments import below_one, one_of, positive
from dpfair_lib.privacy.budgets.filters import Amounts, make_filter
from dpfair_lib.privacy.budgets.open_budgets import close_budget, open_budget
from dpfair_lib.privacy.statements import RELATIONS, PrivacyStatement, check_unit, convert


class BudgetExceededError(ValueError):
    """A release would cost more than what is left.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.privacy import BudgetExceededError
    >>> budget = dpf.Budget(1.0, 0.0, "add-remove")
    >>> try:
    ...     budget.spend(dpf.PrivacyStatement(1.5, 0.0, "add-remove"))
    ... except BudgetExceededError as error:
    ...     print(error)
    epsilon: found 1.5 in total, expected at most 1.0
    """


class Remaining(NamedTuple):
    """What a budget has left, as (epsilon, delta).

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> dpf.Budget(1.0, 1e-6, "add-remove").remaining
    Remaining(epsilon=1.0, delta=1e-06)
    """

    epsilon: float
    delta: float


class Budget:
    """A total (ε, δ) that several releases from the same data may spend.

    The total is fixed first. Which release comes next, and what it costs, may then depend on the results of earlier
    ones.

    As a context, the budget is charged by every fit and every release with noise within, in all threads of the process,
    before anything is released; what costs more than is left is refused. Statements under another relation are
    converted where they imply one under the budget's. Statistics that you compute without this library are not charged,
    nor are this library's metrics, nor reports under local privacy, which each person protects alone. Nor is noise that
    you add with `dpfair_lib.privacy.add_laplace_noise` and its like, which do not know what the numbers are: give
    `spend` a statement of your own.

    An estimator whose fit states no cost, such as `FairPostprocessor`, is refused before it sees a row. With
    ``with dpfair_lib.privacy.released_values():`` you say that it sees public and released values only. A wrapper such
    as `PostprocessedClassifier` is judged by what it fits.

    Threads may share a budget and spend from it at once. It cannot be copied or pickled, because each copy could spend
    the whole; another process cannot spend from it, and one that is started while the budget is open refuses to fit.
    Idle workers that joblib keeps are stopped when a budget opens or closes. A process of another pool that was started
    before cannot know, and what it fits is not charged. A program of several processes keeps the budget in one of them.
    The budget lives in memory only.

    With ``composition="sum"`` the costs may exceed the total by a relative 10⁻¹². This lets ten times 0.1 fit into 1 in
    spite of floating point. `compose` gives the sum itself, rounded up.

    Parameters
    ----------
    epsilon : float
        Total ε > 0, finite.
    delta : float
        Total δ in [0, 1).
    relation : str
        Which data sets are neighbours, as in `PrivacyStatement`.
    unit : str
        What one record stands for.
    allow_unguaranteed : bool
        Whether statements without guarantee may be spent, for studies of published methods. The sum is then
        bookkeeping, not a promise.
    composition : {"sum", "gaussian", "concentrated"}
        What adds up: ε and δ, the right one for few releases or δ = 0; the squared distances of Gaussian releases,
        which loses nothing for Gaussian noise; or ρ of zero-concentrated privacy, better for many pure releases.
        Statements that carry no mechanism count by their ε and δ. Pure releases fit in any case while their sum is at
        most ε.
    open_delta : float
        The part of δ that releases with a δ of their own may use up, such as DP-SGD's, if it is not the sum that
        counts. The rest bounds what the noise leaves open.

    Attributes
    ----------
    spent : tuple of PrivacyStatement
        The statements spent so far.
    remaining : Remaining
        The ε of one more pure release that would fit, and the δ that releases may still fail with openly.

    Raises
    ------
    ValueError
        If a number is out of its range, the relation or the composition is unknown, or δ is 0 where it is needed.

    Notes
    -----
    scikit-learn's `cross_val_score` and `GridSearchCV` catch what a fit raises. Give them ``error_score="raise"``.
    Without it a refused fit has the score nan, with a `FitFailedWarning` that names `BudgetExceededError`; a search
    that fits its best candidate again then raises. What was refused was not fitted, and costs nothing.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan (2016), for the sum; `dpfair_lib.privacy.budgets.filters` for the others.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> budget = dpf.Budget(1.0, 1e-6, "replace-one")
    >>> budget.spend(dpf.PrivacyStatement(0.5, 0.0, "replace-one"))
    Remaining(epsilon=0.5, delta=1e-06)
    >>> budget.spend(dpf.PrivacyStatement(0.75, 0.0, "replace-one"))
    Traceback (most recent call last):
    dpfair_lib.privacy.budgets.budget.BudgetExceededError: epsilon: found 1.25 in total, expected at most 1.0

    As a context it is charged by what is fitted within.

    >>> model = dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=0.7, delta=1e-7, classes=[0, 1])
    >>> with dpf.Budget(1.0, 1e-6, "replace-one") as budget:
    ...     fitted = model.fit([[0.1], [0.9], [0.2]], [0, 1, 1])
    >>> round(budget.remaining.epsilon, 6)
    0.3

    Twenty Gaussian releases of ε = ½ at δ = 10⁻⁶, chosen one after another, fit into ε = 3.

    >>> noise = dpf.privacy.Mechanism("gaussian", 1 / dpf.gaussian_sigma(0.5, 1e-6, 1.0, "analytic"))
    >>> release = dpf.PrivacyStatement(0.5, 1e-6, "replace-one", mechanism=(noise,))
    >>> budget = dpf.Budget(3.0, 1e-6, "replace-one", composition="gaussian")
    >>> for _ in range(20):
    ...     left = budget.spend(release)
    """

    def __init__(
        self, epsilon: float, delta: float, relation: str, *, unit: str = "record", allow_unguaranteed: bool = False,
        composition: Literal["sum", "gaussian", "concentrated"] = "sum", open_delta: float = 0.0,
    ) -> None:  # fmt: skip
        self.epsilon = positive(epsilon, "epsilon")
        self.delta = below_one(delta, "delta")
        self.relation = one_of(relation, "relation", RELATIONS)
        check_unit(unit)
        self.unit = unit
        self.allow_unguaranteed = allow_unguaranteed
        self.composition = composition
        self._filter = make_filter(composition, self.epsilon, self.delta, open_delta)
        self._spent: tuple[PrivacyStatement, ...] = ()
        self._totals: Amounts = (Fraction(0),) * len(self._filter.limits)
        self._lock, self._process = threading.Lock(), os.getpid()

    @property
    def spent(self) -> tuple[PrivacyStatement, ...]:
        """What has been spent so far."""
        return self._spent

    @property
    def remaining(self) -> Remaining:
        """The ε of one more pure release that would fit, and the δ that is left for open failure, rounded down."""
        left = (limit - total for limit, total in zip(self._filter.limits, self._totals, strict=True))
        return Remaining(*self._filter.left(tuple(left)))

    def spend(self, statement: PrivacyStatement) -> Remaining:
        """Spend one statement. If it is refused, the budget does not change.

        Parameters
        ----------
        statement : PrivacyStatement
            What the next release costs, under the relation and the unit of this budget.

        Returns
        -------
        Remaining
            What is left afterwards.

        Raises
        ------
        BudgetExceededError
            If the statement costs more than what is left.
        ValueError
            If its relation or unit differs from the budget's, or if it has no guarantee.
        RuntimeError
            If this is another process than the one that made the budget.
        """
        self._check(statement)
        if statement.free:
            return self.remaining
        with self._lock:  # between the sum and the new list no other thread may spend
            costs = zip(self._totals, self._filter.cost(statement), strict=True)
            totals = tuple(total + cost for total, cost in costs)
            if too_much := self._filter.excess(totals):
                raise BudgetExceededError(too_much)
            self._spent, self._totals = (*self._spent, statement), totals
            return self.remaining

    def charge(self, statement: PrivacyStatement) -> Remaining:
        """Spend what a statement implies under the budget's relation, as releases within ``with budget:`` do.

        Parameters
        ----------
        statement : PrivacyStatement
            What the next release costs.

        Returns
        -------
        Remaining
            What is left afterwards.

        Raises
        ------
        ValueError, RuntimeError
            As `spend`; if the statement implies nothing under the budget's relation.
        """
        return self.spend(statement if statement.free else convert(statement, self.relation))

    def __enter__(self) -> Self:
        self._check_process()
        open_budget(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        close_budget(self)

    def _check(self, statement: PrivacyStatement) -> None:
        self._check_process()
        if not isinstance(statement, PrivacyStatement):
            raise ValueError(f"statement: found {statement!r}, expected a PrivacyStatement")
        if statement.free:  # what depends on no record stands beside any relation
            return
        if statement.relation != self.relation:
            raise ValueError(
                f"statement: found the relation {statement.relation!r}, expected {self.relation!r}; "
                "use convert(statement, to)"
            )
        if statement.unit != self.unit:
            raise ValueError(f"statement: found the unit {statement.unit!r}, expected {self.unit!r}")
        if not statement.guarantee and not self.allow_unguaranteed:
            raise ValueError(
                f"statement: found one without guarantee ({statement.note}), expected a guarantee"
            )
        if math.isinf(statement.epsilon):
            raise BudgetExceededError(f"epsilon: found inf in total, expected at most {self.epsilon}")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                f"budget: found process {os.getpid()}, expected {self._process}, where it was made: what is spent "
                "here would not be known there"
            )

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError(
            "budget: found a copy or a pickle to be made, expected none: each could spend the whole"
        )

    def __repr__(self) -> str:
        left = self.remaining
        return (
            f"Budget(ε = {self.epsilon}, δ = {self.delta}, {self.relation}, per {self.unit}; "
            f"left: ε = {left.epsilon:.6g}, δ = {left.delta:.6g})"
        )
