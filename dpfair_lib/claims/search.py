"""The search for counterexamples, and the evidence that it leaves.

A check receives a `Search`, reports to it every case that it has judged, and returns
`search.evidence()`. A case is judged by its *slack*: how far the claim is from failing there. Slack below
zero (below minus the tolerance, where floats are used) is a violation; an equation has slack
``-abs(left - right)``.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

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
    universe : str
        What was enumerated without exception; empty if the search was not exhaustive.
    reproduced : bool or None
        Whether our numbers agree with the printed ones; None if none were compared.
    undecided : str
        What was tried on a question that stays open.
    not_run : str
        What is missing, if the check could not run.
    facts : mapping
        Named findings that the chapter shows.
    """

    cases: int
    slack: Number | None = None
    tolerance: float = 0.0
    violation: Case | None = None
    part: str = ""
    counterexample: Case | None = None
    printed_slack: Number | None = None
    universe: str = ""
    reproduced: bool | None = None
    undecided: str = ""
    not_run: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

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


@dataclass
class _Worst:
    """The case of the smallest margin (slack and tolerance together) seen so far."""

    cases: int = 0
    slack: Number | None = None
    margin: Number | None = None
    tolerance: float = 0.0
    case: Case | None = None
    part: str = ""
    verify: Callable[..., Number] | None = None

    def add(self, cases: int, slack: Number, tolerance: float, case: Case, part: str, verify: Any) -> None:
        self.cases += cases
        self.tolerance = max(self.tolerance, tolerance)
        # an exact slack is compared exactly: adding a float would round it
        margin = slack + Fraction(tolerance) if isinstance(slack, Fraction | int) else slack + tolerance
        if self.margin is None or margin < self.margin:
            self.slack, self.margin, self.part, self.verify = slack, margin, part, verify
            self.case = copy.deepcopy(dict(case))

    @property
    def violated(self) -> bool:
        return self.margin is not None and self.margin < 0


class Violated(Exception):
    """What ends a check, where it is to end, at the first case that what we defend fails; holds the part's name."""


class Search:
    """Collects the cases that a check judges.

    Parameters
    ----------
    seed : int
        Seed of ``rng``, so that a run can be repeated.
    effort : int
        Multiplies the random part of a search: 1 in the test suite, more by hand.
    ends_at_a_violation : bool
        Raise `Violated` at the first case that what we defend, or what the check relies on, fails.
    """

    def __init__(self, *, seed: int = 0, effort: int = 1, ends_at_a_violation: bool = False) -> None:
        self.rng = np.random.default_rng(seed)
        self.effort = effort
        self.ends_at_a_violation = ends_at_a_violation
        self._defended, self._sane, self._printed = _Worst(), _Worst(), _Worst()
        self._part = ""
        self._universe: list[str] = []
        self._enumerated = 0  # cases that an announced universe has accounted for
        self._agreements: list[bool] = []
        self._undecided = ""
        self._not_run = ""
        self._facts: dict[str, Any] = {}

    @staticmethod
    def grid(**axes: Iterable[Any]) -> Iterator[dict[str, Any]]:
        """Every combination of the axes, as keyword arguments."""
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))

    def part(self, name: str) -> None:
        """Name the part of the check that begins, so that a violation says who saw it."""
        self._part = name

    def fact(self, name: str, value: Any) -> None:
        """Keep a finding for the chapter."""
        self._facts[name] = value

    def exhausts(self, universe: str, *, cases: int) -> None:
        """State that the cases judged since the last such statement go through a universe without exception.

        Parameters
        ----------
        universe : str
            What it is, in words.
        cases : int
            How many cases it has, counted apart from the loop that judged them.

        Raises
        ------
        AssertionError
            If fewer were judged.
        """
        judged = self._judged - self._enumerated
        if cases < 1 or judged < cases:
            raise AssertionError(f"{universe}: announced {cases} cases, judged {judged}")
        self._enumerated = self._judged
        self._universe.append(universe)

    def observe(self, slack: Number | np.ndarray, case: Case, *, tolerance: float = 0.0) -> None:
        """Judge one case, or a vector of cases, of the statement that we defend.

        Parameters
        ----------
        slack : number or 1-D array
            How far the statement is from failing; NaN counts as a failure. A truth value is refused: it is
            never below zero.
        case : mapping
            The case. For an array of slacks, arrays of the same length are taken entry by entry; everything
            else is shared.
        tolerance : float
            What rounding may cost; 0 for exact arithmetic.

        Raises
        ------
        TypeError
            If the slack is not a signed number or a vector of them.
        ValueError
            If it is an empty array, or the tolerance is negative or not finite.
        """
        self._add(self._defended, slack, case, tolerance)

    def equal(self, left: Any, right: Any, case: Case, *, tolerance: float = 0.0) -> None:
        """Judge an equation; its slack is minus the distance of the two sides."""
        self.observe(-abs(_signed(left) - _signed(right)), case, tolerance=tolerance)

    def agree(self, left: Any, right: Any, case: Case) -> None:
        """Judge that two truth values, or vectors of them, are the same."""
        self.observe(np.where(np.atleast_1d(left) == np.atleast_1d(right), 0, -1), case)

    def sanity(self, slack: Number | np.ndarray, case: Case, *, tolerance: float = 0.0) -> None:
        """Judge a case of something that the check relies on, without defending it as the claim."""
        self._add(self._sane, slack, case, tolerance)

    def against(
        self,
        slack: Number | np.ndarray,
        case: Case,
        *,
        verify: Callable[..., Number],
        tolerance: float = 0.0,
    ) -> None:
        """Judge cases of the statement *as printed*, which we expect to fail.

        Parameters
        ----------
        slack : number or 1-D array
            As in `observe`.
        case : mapping
            As in `observe`.
        verify : callable
            Recomputes the slack of one case from scratch: ``verify(**case)``. Without a tolerance it has to
            return an exact number, so that no rounding can pass for a counterexample.
        tolerance : float
            What rounding may cost in the search and in ``verify``.
        """
        self._add(self._printed, slack, case, tolerance, verify)

    def compare(self, ours: float, printed: float, *, spread: float, case: Case, differs: bool) -> None:
        """Compare a number of a printed table with ours, allowing for the spread over trials.

        One number that differs makes a table one that is not reproduced, so that every fault that spoils another
        number would pass. Hence the check says which numbers differ, and each has to do as it is said to.

        Parameters
        ----------
        ours, printed : float
            The numbers.
        spread : float
            By how much they may differ.
        case : mapping
            Which number it is.
        differs : bool
            Whether it is known to differ. If it does and is not, or is and does not, what we defend is violated.
        """
        if not (math.isfinite(ours) and math.isfinite(printed) and 0 <= spread < math.inf):
            raise ValueError(f"found {ours}, {printed} and spread {spread}, expected finite numbers: {case}")
        agrees = abs(ours - printed) <= spread
        self._agreements.append(agrees)
        self.agree(agrees, not differs, case)

    def undecided(self, tried: str) -> None:
        """State what was tried on a question that stays open."""
        self._undecided = tried

    def not_run(self, missing: str) -> None:
        """State what is missing, such as a record of a long experiment, for the check to run."""
        self._not_run = missing

    @property
    def _judged(self) -> int:
        return self._defended.cases + self._sane.cases + self._printed.cases

    def _add(self, worst: _Worst, slack: Any, case: Case, tolerance: float, verify: Any = None) -> None:
        if not 0 <= tolerance < math.inf:
            raise ValueError(f"tolerance: found {tolerance}, expected a finite number of at least 0")
        slack = _signed(slack)
        self._put(worst, slack, case, tolerance, verify)
        if self.ends_at_a_violation and worst is not self._printed and worst.violated:
            raise Violated(self._part)

    def _put(self, worst: _Worst, slack: Any, case: Case, tolerance: float, verify: Any) -> None:
        if not isinstance(slack, np.ndarray):
            worst.add(1, _screened(slack), tolerance, case, self._part, verify)
            return
        if slack.ndim != 1 or slack.size == 0:
            raise ValueError(f"slack: found shape {slack.shape}, expected one number or a vector of them")
        # NaN is a failure; it is not equal to itself, in arrays of objects too
        screened = np.where(slack == slack, slack, -np.inf)
        at = int(np.argmin(screened))
        picked = {
            name: value[at] if isinstance(value, np.ndarray) and value.shape[:1] == slack.shape else value
            for name, value in case.items()
        }
        worst.add(slack.size, _plain(screened[at]), tolerance, picked, self._part, verify)

    def evidence(self) -> Evidence:
        """Return what was seen; a counterexample is verified once more.

        Raises
        ------
        AssertionError
            If the second computation does not confirm the counterexample: then the check is wrong.
        """
        counterexample, printed_slack = None, None
        if self._printed.violated:
            counterexample, printed_slack = self._printed.case, self._confirmed()
        violated = next((worst for worst in (self._defended, self._sane) if worst.violated), None)
        return Evidence(
            cases=self._judged,
            slack=self._defended.slack,
            tolerance=max(worst.tolerance for worst in (self._defended, self._sane, self._printed)),
            violation=_shown(violated.case) if violated else None,
            part=violated.part if violated else "",
            counterexample=_shown(counterexample),
            printed_slack=printed_slack,
            universe="; ".join(self._universe),
            reproduced=all(self._agreements) if self._agreements else None,
            undecided=self._undecided,
            not_run=self._not_run,
            facts=dict(self._facts),
        )

    def _confirmed(self) -> Number:
        worst = self._printed
        assert worst.verify is not None
        again = worst.verify(**{name: _plain(value) for name, value in (worst.case or {}).items()})
        exact = isinstance(again, int | Fraction) and not isinstance(again, bool)
        if not exact and worst.tolerance == 0:
            raise AssertionError(f"verify returned {again!r}: without a tolerance it must be exact")
        if not again + worst.tolerance < 0:
            raise AssertionError(
                f"counterexample not confirmed: slack {worst.slack} in the search, {again} when recomputed, "
                f"at {worst.case}"
            )
        return again


class _Noted:
    """Takes down what a part of a check reports, in the place of a `Search`; there is nothing to draw from."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in ("part", "fact", "exhausts", "observe", "equal", "agree", "sanity", "against"):
            raise AttributeError(f"{name}: a part that is run once must not use it")
        return lambda *given, **named: self.reports.append((name, given, named))


def once(part: Callable[..., None]) -> Callable[..., None]:
    """Run a part of a check once for what it examines, and report to every later search what it reported then.

    For parts that draw nothing: a planted fault in another part leaves them as they are.

    Parameters
    ----------
    part : callable
        ``part(*examined, search)``.

    Returns
    -------
    callable
        Does the same.
    """

    @functools.cache
    def reports(*examined: Any) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        noted = _Noted()
        part(*examined, noted)
        return noted.reports

    @functools.wraps(part)
    def again(*arguments: Any) -> None:
        *examined, search = arguments
        for name, given, named in reports(*examined):
            getattr(search, name)(*given, **named)

    return again


def _signed(value: Any) -> Any:
    """Return a number, or an array of numbers, whose differences cannot wrap around or be truth values."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, np.ndarray) and value.dtype.kind == "b"):
        raise TypeError("found a truth value, expected a number; use `agree` for truth values")
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iufO":
            raise TypeError(f"found an array of {value.dtype}, expected numbers")
        return value.astype(np.int64) if value.dtype.kind in "iu" else value
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, int | float | Fraction):
        raise TypeError(f"found {value!r}, expected a number")
    return value


def _screened(slack: Number) -> Number:
    return -math.inf if slack != slack else slack


def _plain(value: Any) -> Any:
    """NumPy scalars as Python numbers, arrays as lists."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _shown(case: Case | None) -> Case | None:
    return None if case is None else {name: _plain(value) for name, value in case.items()}
