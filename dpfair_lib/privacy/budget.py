"""Composition of privacy statements, and a budget that several releases spend."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from dpfair_lib._arguments import below_one, inside_unit, one_of, positive
from dpfair_lib.privacy.mechanisms import Mechanism, total_epsilon
from dpfair_lib.privacy.rounding import above, below, sum_above
from dpfair_lib.privacy.statements import RELATIONS, PrivacyStatement, check_unit, convert

# How the data were divided → the relations under which neighbours differ within one part only, by one step
# of the same relation. A position or the record's own coin does not look at the record; a group or a feature
# does, and then a record that may change it can leave one part and enter another.
SPLITS: dict[str, tuple[str, ...]] = {
    "position": ("replace-one", "replace-within-group", "sensitive-attribute", "local"),
    "coin": tuple(RELATIONS),
    "group": ("add-remove", "replace-within-group"),
    "features": ("add-remove", "sensitive-attribute"),
    "record": ("add-remove",),
}


def compose(
    *statements: PrivacyStatement,
    parallel: Literal[False, "position", "coin", "group", "features", "record"] = False,
    to: str | None = None,
    delta: float | None = None,
) -> PrivacyStatement:
    """Return the privacy statement of several releases taken together.

    Releases from the same data add up to (Σε, Σδ), even if each was chosen after seeing the earlier ones. If their
    number and their noise were fixed before the first, less is spent: with ``delta`` the result is the least ε that is
    known at this δ. What each release computes may still depend on the earlier ones.

    Releases from disjoint parts of the data cost the largest ε and the largest δ, provided that neighbouring data sets
    differ within one part only. Whether they do depends on how the parts were made:

    ==========  ==============================================================  ==============================
    parallel    the part of a record is decided by                              valid under
    ==========  ==============================================================  ==============================
    position    its place in the table, or a shuffle of a fixed number of rows  all but add-remove
    coin        a random draw that looks at no record                           all
    group       the sensitive attribute                                         add-remove,
                                                                                replace-within-group
    features    the other columns                                               add-remove,
                                                                                sensitive-attribute
    record      anything in it                                                  add-remove
    ==========  ==============================================================  ==============================

    For example, training on one half of the rows and post-processing on the other half is "position". One release for
    each group is "group": it costs the maximum under replace-within-group, but not under replace-one, where the new
    record may belong to another group.

    Parameters
    ----------
    *statements : PrivacyStatement
        One or more statements with the same unit. One of ε = δ = 0 goes beside any unit and relation.
    parallel : False or {"position", "coin", "group", "features", "record"}
        False for releases from the same data; otherwise how the data were divided into disjoint parts.
    to : str, optional
        The relation of the result. Statements under another relation are converted (see `convert`). For parallel
        releases the composed statement is converted, not the given ones.
    delta : float, optional
        δ in (0, 1) of the total of releases that were fixed beforehand. None adds up. The statements' mechanisms are
        composed by their privacy loss distributions, and statements that name none as the worst of their ε and δ.

    Returns
    -------
    PrivacyStatement
        The composed statement, with the given ones as its parts. It has no guarantee if one of the parts has none. Sums
        are rounded up.

    Raises
    ------
    ValueError
        If no statement is given, if units or relations differ, if the division is not valid under the relation, or if
        the sum of the δ reaches 1; if ``delta`` is out of its range, comes with ``parallel``, or is less than the δ of
        the parts leave.

    References
    ----------
    Dwork and Roth (2014), Theorem 3.16; McSherry (2009), Theorem 4, for add-remove.

    Examples
    --------
    Two releases from the same data, then the same two from two halves of the rows.

    >>> import dpfair_lib as dpf
    >>> training = dpf.PrivacyStatement(0.5, 0.0, "replace-one")
    >>> adjusting = dpf.PrivacyStatement(0.25, 1e-6, "replace-one")
    >>> print(dpf.compose(training, adjusting))
    ε = 0.75, δ = 1e-06, replace-one, per record; sum of 2 parts
    >>> dpf.compose(training, adjusting, parallel="position").epsilon
    0.5

    Twenty fixed releases with Laplace noise cost less than their sum at δ = 10⁻⁶.

    >>> laplace = dpf.PrivacyStatement(0.1, 0.0, "replace-one", mechanism=(dpf.privacy.Mechanism("laplace", 0.1),))
    >>> for delta in (None, 1e-6):
    ...     print(round(dpf.compose(*[laplace] * 20, delta=delta).epsilon, 2))
    2.0
    1.77
    """
    if not statements:
        raise ValueError("statements: found none, expected at least one")
    for statement in statements:
        if not isinstance(statement, PrivacyStatement):
            raise ValueError(f"statements: found {statement!r}, expected PrivacyStatement objects")
    if parallel is False and to is not None:
        return compose(*(s if s.free else convert(s, to) for s in statements), delta=delta)
    # what depends on no record stands beside any relation; of several such statements alone it keeps its own
    counted = [s for s in statements if not s.free] or statements
    units, relations = {s.unit for s in counted}, {s.relation for s in counted}
    if len(units) > 1:
        raise ValueError(f"statements: found the units {', '.join(sorted(units))}, expected one unit")
    if len(relations) > 1:
        raise ValueError(
            f"statements: found the relations {', '.join(sorted(relations))}, expected one; convert them with "
            "convert(statement, to)" + (", or pass to=" if parallel is False else "")
        )
    (relation,) = relations
    epsilons, deltas = [s.epsilon for s in statements], [s.delta for s in statements]
    mechanism: tuple[Mechanism, ...] = ()
    if parallel is not False:
        _check_split(parallel, relation)
        if delta is not None:
            raise ValueError(
                f"delta: found {delta} beside parallel={parallel!r}, expected None: the maximum counts"
            )
        epsilon, total, how = max(epsilons), max(deltas), "maximum"
    else:
        epsilon, total, how = sum_above(epsilons), sum_above(deltas), "sum"
        mechanism = tuple(
            m for s in counted for m in s.mechanism or (Mechanism("stated", s.epsilon, s.delta),)
        )
        if delta is not None:
            epsilon, total, how = _fixed_total(mechanism, epsilon, total, delta), float(delta), "tight total"
    if total >= 1:
        raise ValueError(f"statements: found deltas that add up to {total}, which says nothing; expected < 1")
    notes = [f"{how} of {len(statements)} parts" + (f" split by {parallel}" if parallel else "")]
    composed = PrivacyStatement(
        epsilon, total, relation, unit=units.pop(), public=tuple(_unique(i for s in statements for i in s.public)),
        sampling=_joined(s.sampling for s in statements), accountant=_joined(s.accountant for s in statements),
        guarantee=all(s.guarantee for s in statements),
        note="; ".join(notes + _unique(s.note for s in statements if s.note)), parts=statements, mechanism=mechanism,
    )  # fmt: skip
    return composed if to is None else convert(composed, to)


def _fixed_total(mechanism: tuple[Mechanism, ...], summed: float, summed_delta: float, delta: float) -> float:
    """Return the least ε known at δ: of the sum, if its δ is enough, or of the distributions of the losses."""
    known = [total_epsilon(mechanism, delta)] if math.isfinite(summed) else []
    known += [summed] if summed_delta <= inside_unit(delta, "delta") else []
    if not known or math.isinf(min(known)):
        raise ValueError(
            f"delta: found {delta}, expected more than the parts fail by openly; their deltas add up to "
            f"{summed_delta:.3g}"
        )
    return min(known)


def _check_split(parallel: Any, relation: str) -> None:
    if parallel is True or parallel is None:
        raise ValueError(
            f"parallel: found {parallel}, expected how the data were divided into disjoint parts: {', '.join(SPLITS)}"
        )
    one_of(parallel, "parallel", SPLITS)
    if relation not in SPLITS[parallel]:
        why = (
            "a row more or less moves the rows after it"
            if parallel == "position"
            else "a record that changes may leave one part and enter another"
        )
        raise ValueError(
            f"parallel: found a division by {parallel} under {relation!r}, where {why}; expected a relation "
            f"among {', '.join(SPLITS[parallel])}, or the sum"
        )


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def _joined(items: Iterable[str | None]) -> str | None:
    return ", ".join(_unique(item for item in items if item)) or None


class BudgetExceededError(ValueError):
    """A release would cost more than what is left."""


class Remaining(NamedTuple):
    """What a budget has left, as (epsilon, delta)."""

    epsilon: float
    delta: float


class Budget:
    """A total (ε, δ) that several releases from the same data may spend.

    The total is fixed first. Which release comes next, and what it costs, may then depend on the results of earlier
    ones.

    Threads may share a budget and spend from it at once. It cannot be copied or pickled, because each copy could spend
    the whole; a forked process cannot spend from it. A program of several processes keeps the budget in one of them.
    The budget lives in memory only.

    The sum of the costs may exceed the total by a relative 10⁻¹². This lets ten times 0.1 fit into 1 in spite of
    floating point. `compose` gives the sum itself, rounded up.

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

    Attributes
    ----------
    spent : tuple of PrivacyStatement
        The statements spent so far.
    remaining : Remaining
        What is left, as (epsilon, delta).

    Raises
    ------
    ValueError
        If a number is out of its range or the relation is unknown.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan (2016): sums are valid for adaptively chosen costs.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> budget = dpf.Budget(1.0, 1e-6, "replace-one")
    >>> budget.spend(dpf.PrivacyStatement(0.4, 0.0, "replace-one"))
    Remaining(epsilon=0.6, delta=1e-06)
    >>> budget.spend(dpf.PrivacyStatement(0.8, 0.0, "replace-one"))
    Traceback (most recent call last):
    dpfair_lib.privacy.budget.BudgetExceededError: epsilon: found 1.2000000000000002 in total, expected at most 1.0
    """

    _ROOM = 1 + Fraction(1, 10**12)

    def __init__(
        self, epsilon: float, delta: float, relation: str, *, unit: str = "record", allow_unguaranteed: bool = False
    ) -> None:  # fmt: skip
        self.epsilon = positive(epsilon, "epsilon")
        self.delta = below_one(delta, "delta")
        self.relation = one_of(relation, "relation", RELATIONS)
        check_unit(unit)
        self.unit = unit
        self.allow_unguaranteed = allow_unguaranteed
        self._spent: tuple[PrivacyStatement, ...] = ()
        self._lock, self._process = threading.Lock(), os.getpid()

    @property
    def spent(self) -> tuple[PrivacyStatement, ...]:
        """What has been spent so far."""
        return self._spent

    @property
    def remaining(self) -> Remaining:
        """What is left, as (epsilon, delta), rounded down."""
        return self._left(_totals(self._spent))

    def _left(self, totals: tuple[Fraction, Fraction]) -> Remaining:
        epsilon, delta = totals
        return Remaining(
            max(below(Fraction(self.epsilon) - epsilon), 0.0), max(below(Fraction(self.delta) - delta), 0.0)
        )

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
        if os.getpid() != self._process:
            raise RuntimeError(
                f"budget: found process {os.getpid()}, expected {self._process}, where it was made: what is spent "
                "here would not be known there"
            )
        if not isinstance(statement, PrivacyStatement):
            raise ValueError(f"statement: found {statement!r}, expected a PrivacyStatement")
        if statement.free:
            return self.remaining
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
        with self._lock:  # between the sum and the new list no other thread may spend
            totals = _totals((*self._spent, statement))
            for name, total, allowed in zip(
                ("epsilon", "delta"), totals, (self.epsilon, self.delta), strict=True
            ):
                if total > allowed * self._ROOM:
                    raise BudgetExceededError(
                        f"{name}: found {above(total)} in total, expected at most {allowed}"
                    )
            self._spent = (*self._spent, statement)
            return self._left(totals)

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


def _totals(statements: Iterable[PrivacyStatement]) -> tuple[Fraction, Fraction]:
    # exactly, so that the order of spending does not matter
    spent = tuple(statements)
    epsilon = sum((Fraction(s.epsilon) for s in spent), Fraction(0))
    return epsilon, sum((Fraction(s.delta) for s in spent), Fraction(0))
