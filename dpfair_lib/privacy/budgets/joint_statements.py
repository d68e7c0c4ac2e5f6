"""Composition of privacy statements: what several releases that were fixed beforehand cost together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib.privacy.mechanisms import Mechanism, total_epsilon
from dpfair_lib.privacy.rounding import sum_above
from dpfair_lib.privacy.statements import RELATIONS, PrivacyStatement, convert

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

    Releases from the same data add up to (Σε, Σδ). What each release computes may depend on the earlier ones; if its
    cost does so too, no sum of what was spent in the end is a bound, and a `Budget` is needed. If the number of
    releases and their noise were fixed before the first, less is spent: with ``delta`` the result is the least ε that
    is known at this δ.

    Releases from disjoint parts of the data cost the largest ε and the largest δ, provided that neighbouring data sets
    differ within one part only. Whether they do depends on how it is decided in which part a record is:

    - "position": by its place in the table, or by a shuffle of a fixed number of rows. Valid under all relations but
      add-remove.
    - "coin": by a random draw that looks at no record. Valid under all relations.
    - "group": by the sensitive attribute. Valid under add-remove and replace-within-group.
    - "features": by the other columns. Valid under add-remove and sensitive-attribute.
    - "record": by anything in it. Valid under add-remove.

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
