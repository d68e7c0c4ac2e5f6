"""What a check saw: the evidence that a `Search` leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Number = int | float | Fraction
Case = Mapping[str, Any]


@dataclass(frozen=True)
class Evidence:
    """What a check saw.

    Attributes
    ----------
    cases : int
        Cases judged, of the statement that we defend and of the printed one together.
    slack : Number or None
        The smallest slack of the statement that we defend; None if the check defends none.
    tolerance : float
        The largest tolerance that was granted anywhere; 0 where all arithmetic was exact.
    violation : mapping or None
        A case that what we defend fails, if there is one.
    part : str
        The part of the check that saw the violation.
    counterexample : mapping or None
        A case that the *printed* statement fails, verified a second time from scratch.
    printed_slack : Number or None
        Slack of the printed statement at the counterexample.
    readings : mapping
        For each reading of the printed statement that was judged, whether some case fails it.
    condition : tuple of int
        Of the printed statement under a hypothesis that it does not name (`Search.under`): cases that keep the
        hypothesis, cases that break it, and how many of these fail.
    attained : int
        Cases in which a sharper form is an equality while the printed one has room (`Search.sharper`).
    constants : tuple
        For each constant (`Search.constant`) the printed one, ours, and the least slack found at ours.
    broken : tuple
        For each guarantee that does not hold (`Search.broken`) what was measured, its value, and the stated one.
    needed : tuple
        What a theorem of ours cannot do without (`Search.needs`): a hypothesis or a constant, and the slack of the
        theorem without it in a case.
    compared : tuple of int
        How many printed numbers came out again, of how many (`Search.compare`).
    answer : tuple of str
        How far an open question is answered, and what is left of it (`Search.answers`).
    universe : str
        What was enumerated without exception; empty if the search was not exhaustive.
    reproduced : bool or None
        Whether our numbers agree with the printed ones; None if none were compared.
    undecided : str
        What was tried on a question that stays open.
    not_run : str
        What is missing, if the check could not run.
    facts : mapping
        Results that the chapter shows, by their keys.
    says : mapping
        What each fact is, in words, by the same keys.

    Examples
    --------
    >>> from dpfair_lib.claims import claim, judge
    >>> evidence = judge(claim("isit.prop-1")).evidence
    >>> evidence.violation is None, sorted(evidence.facts)[:2]
    (True, ['configurations', 'distinct'])
    """

    cases: int
    slack: Number | None = None
    tolerance: float = 0.0
    violation: Case | None = None
    part: str = ""
    counterexample: Case | None = None
    printed_slack: Number | None = None
    readings: Mapping[str, bool] = field(default_factory=dict)
    condition: tuple[int, int, int] = (0, 0, 0)
    attained: int = 0
    constants: tuple[tuple[str, str, Number], ...] = ()
    broken: tuple[tuple[str, Number, Number], ...] = ()
    needed: tuple[tuple[str, Number], ...] = ()
    compared: tuple[int, int] = (0, 0)
    answer: tuple[str, str] = ("", "")
    universe: str = ""
    reproduced: bool | None = None
    undecided: str = ""
    not_run: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    says: Mapping[str, str] = field(default_factory=dict)

    @property
    def finding(self) -> str:
        """What these observations say, whatever was expected of them."""
        if self.violation is not None:
            return "contradicted"
        if self.not_run:
            return "not run"
        if self.reproduced is not None:
            return "reproduced" if self.reproduced else "not-reproduced"
        if self.counterexample is not None:
            return "refuted" if self.slack is None else "corrected"
        if self.undecided:
            return "open"
        return "empty" if self.slack is None else "holds"

    @property
    def witness(self) -> Case | None:
        """The case that decides: a violation of what we defend, else a counterexample to the printed."""
        return self.violation if self.violation is not None else self.counterexample
