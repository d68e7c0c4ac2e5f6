"""Learners that are run on each group separately, and the privacy of their results together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpfair_lib.privacy.budgets.joint_statements import SPLITS, compose
from dpfair_lib.privacy.rounding import above, sum_above
from dpfair_lib.privacy.statements import PrivacyStatement, convert


def decoupled_statement(statements: Sequence[PrivacyStatement], to: str) -> PrivacyStatement:
    """Return the statement of all learners together, each run on the records of one group.

    From add-remove statements (ε_a, δ_a): the largest ε and δ under add-remove; (2ε_a, (1 + e^ε_a)δ_a) under
    replace-within-group, where one learner's data lose a record and gain another; and, where a record changes
    group, one learner loses a record and another gains it, which costs (ε_a + ε_b, 1 − (1 − δ_a)(1 − δ_b)).
    From replace-within-group statements: the largest ε and δ under that relation, and nothing under any other.

    Parameters
    ----------
    statements : sequence of PrivacyStatement
        One for each group's learner, two or more, all under "add-remove" or all under "replace-within-group".
    to : str
        The relation wanted.

    Returns
    -------
    PrivacyStatement
        Of all learners' outputs together, with the given statements as its parts.

    Raises
    ------
    ValueError
        If there are fewer than two statements, or theirs imply nothing under the relation wanted.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), Theorem 3.3, for the δ of two releases; the attribute is the subject of
    ISIT, § III-B.
    """
    if len(statements) < 2:
        raise ValueError(f"statements: found {len(statements)}, expected one for each of at least two groups")
    for statement in statements:
        if statement.relation not in SPLITS["group"]:
            known = " or ".join(map(repr, SPLITS["group"]))
            raise ValueError(f"statements: found one under {statement.relation!r}, expected {known}")
    together = compose(*statements, parallel="group")
    if together.relation != "add-remove" or to not in ("replace-one", "sensitive-attribute"):
        return convert(together, to)  # or a refusal, with the reason
    epsilon = sum_above(sorted(s.epsilon for s in statements)[-2:])
    low, high = (Fraction(delta) for delta in sorted(s.delta for s in statements)[-2:])
    delta = above(low + high - low * high)  # as above
    if to == "replace-one":  # such a record may also stay in its group
        within = convert(together, "replace-within-group")
        epsilon, delta = max(epsilon, within.epsilon), max(delta, within.delta)
    notes = ("one learner loses a record, one gains it", *(s.note for s in statements if s.note))
    return replace(together, epsilon=epsilon, delta=delta, relation=to, note="; ".join(dict.fromkeys(notes)))
