"""Privacy statements: (ε, δ) together with the terms without which the two numbers mean nothing."""

from __future__ import annotations

import decimal
import json
import math
from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, dataclass, fields, replace
from typing import Any

from dpfair_lib._arguments import below_one, number, one_of
from dpfair_lib.privacy.curves import Drawn
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.rounding import exp_above, float_above, product_above, sum_above

RELATIONS: dict[str, str] = {
    "add-remove": "one record is added or removed",
    "replace-one": "one record is replaced by any other; how many there are is public",
    "replace-within-group": "one record is replaced by another of the same group; group sizes are public",
    "sensitive-attribute": "the group of one record changes; all else in it stays, and is public",
    "local": "one person's own input changes; the collector of the reports is not trusted",
}
BEHIND_PREDICTIONS = (
    "not covered: the classifier behind y_pred, which must be fixed beforehand or private itself"
)
"""What the statement of a release about predictions leaves out, unless the classifier is another part of it."""


@dataclass(frozen=True)
class PrivacyStatement(Drawn):
    """What one release promises: (ε, δ), which data sets are neighbours, and what is assumed to be public.

    For all neighbouring data sets D, D′ and all sets S of outputs, P(M(D) ∈ S) ≤ e^ε P(M(D′) ∈ S) + δ. Private
    estimators state one after `fit`. `compose` and `Budget` add statements up.

    Parameters
    ----------
    epsilon : float
        ε > 0. It may be 0 if δ is positive; δ then bounds the total variation distance. ε = δ = 0 is for what depends
        on no record, under "add-remove". It may be infinite, which promises nothing, only with ``guarantee=False``.
    delta : float
        δ in [0, 1); 0 for pure privacy.
    relation : str
        Which data sets are neighbours: "add-remove", "replace-one", "replace-within-group", "sensitive-attribute" or
        "local". `dpfair_lib.privacy.RELATIONS` explains each.
    unit : str
        What one record stands for, or which part of it is protected.
    public : tuple of str
        What is assumed to be known to everyone.
    sampling : str, optional
        How records were drawn into batches.
    accountant : str, optional
        The program that computed the numbers, if there is no closed formula.
    guarantee : bool
        False if the numbers were published or computed, but not proved.
    note : str
        Any other remark. Without guarantee it is required and gives the reason.
    parts : tuple of PrivacyStatement
        The statements of which this one was composed.
    mechanism : tuple of Mechanism
        The releases by the pairs that dominate them, for `compose` with a ``delta``. Empty where nothing but ε and δ is
        known.

    Raises
    ------
    ValueError
        If a number is out of its range, if the relation is unknown, or if there is neither a guarantee nor a reason.

    Notes
    -----
    A statement covers one release: what a method returns and keeps, for data as the method's docstring requires them.
    Another fit on the same rows is another release, and the costs add up.

    It does not cover the running time. It does not cover errors and warnings about malformed data either, such as a
    missing number, a label other than 0 and 1, or an unlisted group: these may name a record and its value. Only the
    holder of the data should see them. Clean the data first, by a rule that looks at one record at a time and that
    everybody may know.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> print(dpf.PrivacyStatement(0.5, 1e-6, "replace-one", public=("the number of rows",)))
    ε = 0.5, δ = 1e-06, replace-one, per record; public: the number of rows
    """

    epsilon: float
    delta: float
    relation: str
    _: KW_ONLY
    unit: str = "record"
    public: tuple[str, ...] = ()
    sampling: str | None = None
    accountant: str | None = None
    guarantee: bool = True
    note: str = ""
    parts: tuple[PrivacyStatement, ...] = ()
    mechanism: tuple[Mechanism, ...] = ()

    def __post_init__(self) -> None:
        number(self.epsilon, "epsilon", "a number above 0")
        below_one(self.delta, "delta")
        # of the numbers as given: an exact one between two floats is not to be rounded down
        epsilon, delta = float_above(self.epsilon), below_one(float_above(self.delta), "delta")
        if epsilon < 0 or (epsilon == delta == 0 and self.relation != "add-remove"):
            raise ValueError(
                f"epsilon: found {self.epsilon}, expected a number above 0 (or 0 beside a delta above 0, or under "
                "'add-remove' for what depends on no record)"
            )
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)
        one_of(self.relation, "relation", RELATIONS)
        object.__setattr__(self, "public", _tuple_of(str, self.public, "public", "strings"))
        object.__setattr__(
            self, "parts", _tuple_of(PrivacyStatement, self.parts, "parts", "PrivacyStatement")
        )
        object.__setattr__(
            self, "mechanism", _tuple_of(Mechanism, self.mechanism, "mechanism", "Mechanism objects")
        )
        check_unit(self.unit)
        if not isinstance(self.guarantee, bool):
            raise ValueError(f"guarantee: found {self.guarantee!r}, expected True or False")
        if self.guarantee and not all(part.guarantee for part in self.parts):
            raise ValueError(
                "guarantee: found True beside a part without guarantee, expected False with a note"
            )
        if math.isinf(epsilon) and self.guarantee:
            raise ValueError("guarantee: found True beside an infinite epsilon, expected False with a note")
        if not self.guarantee and not self.note:
            raise ValueError("note: found none, expected why there is no guarantee")

    @property
    def free(self) -> bool:
        """Whether ε = δ = 0: nothing here depends on a record, whatever the relation."""
        return self.epsilon == self.delta == 0

    def to_json(self) -> str:
        """Return the statement as JSON text, for a file beside what was released; `from_json` reads it.

        Returns
        -------
        str
            An object with a key for each parameter, always all of them and in their order, and ``text``, the printed
            line. An infinite ε is the text "inf", since JSON has no such number. It holds nothing but the statement.

        Examples
        --------
        >>> import dpfair_lib as dpf
        >>> statement = dpf.PrivacyStatement(0.5, 1e-6, "replace-one")
        >>> statement.to_json()[:47]
        '{"epsilon": 0.5, "delta": 1e-06, "relation": "r'
        >>> dpf.PrivacyStatement.from_json(statement.to_json()) == statement
        True
        """
        return json.dumps(_plain(self), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PrivacyStatement:
        """Return the statement that `to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON text. Keys that are missing have their defaults.

        Returns
        -------
        PrivacyStatement
            An equal statement.

        Raises
        ------
        ValueError
            If the text is not JSON, has other keys, or holds numbers that no statement has.
        """
        try:
            return _from_plain(json.loads(text))
        except (TypeError, AttributeError) as error:
            raise ValueError(f"text: found no statement ({error}), expected what to_json wrote") from None

    def __str__(self) -> str:
        numbers = f"ε = {_rounded_up(self.epsilon)}"
        numbers += f", δ = {_rounded_up(self.delta)}" if self.delta else " (pure)"
        terms = [f"{numbers}, {self.relation}, per {self.unit}"]
        terms += [f"sampling: {self.sampling}"] if self.sampling else []
        terms += [f"accountant: {self.accountant}"] if self.accountant else []
        terms += [f"public: {', '.join(self.public)}"] if self.public else []
        terms += [self.note] if self.note else []
        return ("" if self.guarantee else "NO GUARANTEE: ") + "; ".join(terms)


def _plain(statement: PrivacyStatement) -> dict[str, Any]:
    """Return the fields as JSON holds them."""
    values = {field.name: getattr(statement, field.name) for field in fields(statement)}
    return {
        **values,
        "epsilon": "inf" if statement.epsilon == math.inf else statement.epsilon,
        "parts": [_plain(part) for part in statement.parts],
        "mechanism": [asdict(one) for one in statement.mechanism],
        "text": str(statement),
    }


def _from_plain(values: dict[str, Any]) -> PrivacyStatement:
    given = {name: value for name, value in values.items() if name != "text"}
    unknown = given.keys() - {field.name for field in fields(PrivacyStatement)}
    if unknown:
        raise ValueError(f"text: found the keys {sorted(unknown)}, expected those that to_json writes")
    given["parts"] = tuple(_from_plain(part) for part in given.get("parts", ()))
    given["mechanism"] = tuple(Mechanism(**one) for one in given.get("mechanism", ()))
    for name in ("epsilon", "delta"):
        if given.get(name) == "inf":
            given[name] = math.inf
    return PrivacyStatement(**given)


def _tuple_of(kind: type, items: Any, name: str, described: str) -> tuple[Any, ...]:
    if not isinstance(items, list | tuple) or not all(isinstance(item, kind) for item in items):
        raise ValueError(f"{name}: found {items!r}, expected a tuple of {described}")
    return tuple(items)


def check_unit(unit: Any) -> None:
    """Raise unless the unit is a name."""
    if not isinstance(unit, str) or not unit:
        raise ValueError(f"unit: found {unit!r}, expected a name of what one record stands for")


_SIX_DIGITS_UP = decimal.Context(prec=6, rounding=decimal.ROUND_CEILING)


def _rounded_up(value: float) -> str:
    # six digits, which read as a float are never below the value: a printed bound must still be a bound
    return f"{float(_SIX_DIGITS_UP.create_decimal(repr(value))):.6g}"


def _unchanged(statement: PrivacyStatement) -> tuple[float, float]:
    # used where every pair of neighbours under the new relation is one under the old relation
    return statement.epsilon, statement.delta


def _twice(statement: PrivacyStatement) -> tuple[float, float]:
    # used where neighbours D, D′ under the new relation have a common neighbour D⁻ under the old one:
    # P(D) ≤ e^ε P(D⁻) + δ ≤ e^ε (e^ε P(D′) + δ) + δ
    epsilon, delta = statement.epsilon, statement.delta
    if delta == 0:
        return 2 * epsilon, 0.0
    # beyond ε = 700 the exponential overflows, and δ (1 + e^ε) may be taken as infinite
    return 2 * epsilon, product_above(
        delta, sum_above([1.0, exp_above(epsilon)])
    ) if epsilon < 700 else math.inf


_CONVERSIONS: dict[tuple[str, str], Callable[[PrivacyStatement], tuple[float, float]]] = {
    ("add-remove", "replace-one"): _twice,
    ("add-remove", "replace-within-group"): _twice,
    ("add-remove", "sensitive-attribute"): _twice,
    ("replace-one", "replace-within-group"): _unchanged,
    ("replace-one", "sensitive-attribute"): _unchanged,
    ("local", "replace-one"): _unchanged,
    ("local", "replace-within-group"): _unchanged,
    ("local", "sensitive-attribute"): _unchanged,
}


# units that are all there is to say about somebody, and not a part of it
_WHOLE = ("record", "person")


def convert(statement: PrivacyStatement, to: str) -> PrivacyStatement:
    """Return what a privacy statement implies under another neighbouring relation.

    These implications hold:

    * *add-remove ⇒ replace-one*, and so *⇒ replace-within-group, sensitive-attribute*, with (2ε, (1 + e^ε)δ):
      replacing a record is removing one and adding another.
    * *replace-one ⇒ replace-within-group, sensitive-attribute*, with the same numbers: those neighbours are replace-one
      neighbours.
    * *local ⇒ replace-one, replace-within-group, sensitive-attribute*, with the same numbers: changing one record
      changes one person's input and no other report.

    If the two relations let different parts of a record change, the whole record must have been protected (unit
    "record" or "person"). For *sensitive-attribute* it is enough that the attribute was protected (unit "sensitive
    attribute"). A guarantee for labels, for example, implies nothing.

    Nothing else is implied. *replace-one* and *local* may publish the number of records, which *add-remove* hides.
    *replace-within-group* may publish everyone's group, and *sensitive-attribute* everything else. No statement of a
    trusted curator is *local*.

    Parameters
    ----------
    statement : PrivacyStatement
        The given statement.
    to : str
        The relation wanted.

    Returns
    -------
    PrivacyStatement
        The implied statement, with the given one as its part (the given one itself if nothing changes).

    Raises
    ------
    ValueError
        If the implication does not hold, or holds only with δ ≥ 1; if the statement costs nothing.

    References
    ----------
    Dwork and Roth (2014), Theorem 2.2 for groups; here with both sides of the exchange written out.

    Examples
    --------
    To replace a record is to remove one and to add another.

    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.privacy import convert
    >>> statement = convert(dpf.PrivacyStatement(0.5, 0.0, "add-remove"), "replace-one")
    >>> statement.epsilon, statement.relation
    (1.0, 'replace-one')
    """
    one_of(to, "to", RELATIONS)
    if statement.relation == to:
        return statement
    if statement.free:
        raise ValueError(
            f"statement: found ε = δ = 0, expected a cost: what depends on no record needs no conversion to {to!r}, "
            "and compose takes it beside any relation"
        )
    conversion = _CONVERSIONS.get((statement.relation, to))
    if conversion is None:
        raise ValueError(
            f"to: found {to!r}, but a statement under {statement.relation!r} ({RELATIONS[statement.relation]}) "
            f"implies nothing under {to!r} ({RELATIONS[to]}); state the mechanism's privacy under {to!r} itself"
        )
    units = (*_WHOLE, "sensitive attribute") if to == "sensitive-attribute" else _WHOLE
    if (to == "sensitive-attribute" or statement.relation == "local") and statement.unit not in units:
        raise ValueError(
            f"statement: found a guarantee per {statement.unit} under {statement.relation!r}, expected one per "
            f"{' or '.join(units)}, since {to!r} may change what that guarantee leaves open"
        )
    epsilon, delta = numbers = conversion(statement)
    if delta >= 1:
        raise ValueError(f"statement: found {statement}, which implies only delta >= 1 under {to!r}")
    note = f"converted from {statement.relation}"
    return PrivacyStatement(
        epsilon, delta, to, unit=statement.unit, public=statement.public, sampling=statement.sampling,
        accountant=statement.accountant, guarantee=statement.guarantee,
        note=f"{statement.note}; {note}" if statement.note else note, parts=(statement,),
        mechanism=statement.mechanism if numbers == (statement.epsilon, statement.delta) else (),
    )  # fmt: skip


def without_guarantee(statement: PrivacyStatement, reason: str) -> PrivacyStatement:
    """Return the statement marked as one that is not guaranteed, the reason added to its note.

    Parameters
    ----------
    statement : PrivacyStatement
        The statement to mark.
    reason : str
        Why there is no guarantee: a claim's id in the ledger, or what is wrong with the run.

    Returns
    -------
    PrivacyStatement
        The same numbers with ``guarantee=False``.

    Raises
    ------
    ValueError
        If the reason is empty.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.privacy import without_guarantee
    >>> print(without_guarantee(dpf.PrivacyStatement(1.0, 0.0, "add-remove"), "the seed was published"))
    NO GUARANTEE: ε = 1 (pure), add-remove, per record; the seed was published
    """
    if not reason:
        raise ValueError("reason: found none, expected why there is no guarantee")
    changes: dict[str, Any] = {"guarantee": False}
    changes["note"] = f"{statement.note}; {reason}" if statement.note else reason
    return replace(statement, **changes)
