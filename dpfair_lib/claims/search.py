"""The search for counterexamples, and the evidence that it leaves.

A check receives a `Search`, reports to it every case that it has judged, and returns
`search.evidence()`. A case is judged by its *slack*: how far the claim is from failing there. Slack below
zero (below minus the tolerance, where floats are used) is a violation; an equation has slack
``-abs(left - right)``.
"""

from __future__ import annotations

import itertools
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
        What was forgiven where the worst slack was seen; 0 where the arithmetic was exact.
    violation : mapping or None
        The case of the smallest slack, if that is a violation.
    counterexample : mapping or None
        A case that the *printed* statement fails, verified a second time from scratch.
    printed_slack : Number or None
        Slack of the printed statement at the counterexample.
    universe : str
        What was enumerated without exception; empty if the search was not exhaustive.
    facts : mapping
        Named findings that the chapter shows.
    """

    cases: int
    slack: Number | None = None
    tolerance: float = 0.0
    violation: Case | None = None
    counterexample: Case | None = None
    printed_slack: Number | None = None
    universe: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def finding(self) -> str:
        """What these observations say, whatever was expected of them."""
        if self.violation is not None:
            return "contradicted"
        if self.counterexample is not None:
            return "refuted" if self.slack is None else "corrected"
        return "empty" if self.slack is None else "holds"

    @property
    def witness(self) -> Case | None:
        """The case that decides: a violation of our statement, else a counterexample to the printed one."""
        return self.violation if self.violation is not None else self.counterexample


@dataclass
class _Worst:
    """The smallest slack seen so far."""

    cases: int = 0
    slack: Number | None = None
    margin: Number | None = None  # slack + tolerance, which decides
    tolerance: float = 0.0
    case: Case | None = None

    def add(self, cases: int, slack: Number, tolerance: float, case: Case) -> None:
        self.cases += cases
        margin = slack + tolerance if tolerance else slack
        if self.margin is None or margin < self.margin:
            self.slack, self.margin, self.tolerance, self.case = slack, margin, tolerance, dict(case)

    @property
    def violated(self) -> bool:
        return self.margin is not None and self.margin < 0


class Search:
    """Collects the cases that a check judges.

    Parameters
    ----------
    seed : int
        Seed of ``rng``, so that a run can be repeated.
    effort : int
        Multiplies the random part of a search: 1 in the test suite, more by hand.
    """

    def __init__(self, *, seed: int = 0, effort: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.effort = effort
        self._defended = _Worst()
        self._printed = _Worst()
        self._verify: Callable[..., Number] | None = None
        self._universe: list[str] = []
        self._facts: dict[str, Any] = {}

    @staticmethod
    def grid(**axes: Iterable[Any]) -> Iterator[dict[str, Any]]:
        """Every combination of the axes, as keyword arguments."""
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))

    def exhausts(self, universe: str) -> None:
        """State, in words, a universe that the check enumerates without exception."""
        self._universe.append(universe)

    def fact(self, name: str, value: Any) -> None:
        """Keep a finding for the chapter."""
        self._facts[name] = value

    def observe(self, slack: Number | np.ndarray, case: Case, *, tolerance: float = 0.0) -> None:
        """Judge one case, or an array of cases, of the statement that we defend.

        Parameters
        ----------
        slack : number or array
            How far the statement is from failing. NaN counts as a failure.
        case : mapping
            The case. For an array of slacks the values are arrays of the same length (or scalars, which
            all cases share).
        tolerance : float
            What rounding may cost; 0 for exact arithmetic.
        """
        self._add(self._defended, slack, case, tolerance)

    def equal(self, left: Any, right: Any, case: Case, *, tolerance: float = 0.0) -> None:
        """Judge an equation; its slack is minus the distance of the two sides."""
        self.observe(-abs(left - right), case, tolerance=tolerance)

    def against(self, slack: Number | np.ndarray, case: Case, *, verify: Callable[..., Number]) -> None:
        """Judge cases of the statement *as printed*, which we expect to fail.

        Parameters
        ----------
        slack : number or array
            As in `observe`.
        case : mapping
            As in `observe`.
        verify : callable
            Recomputes the slack of one case from scratch: ``verify(**case)``.
        """
        self._verify = verify
        self._add(self._printed, slack, case, 0.0)

    @staticmethod
    def _add(worst: _Worst, slack: Any, case: Case, tolerance: float) -> None:
        if not isinstance(slack, np.ndarray):
            worst.add(1, -np.inf if slack != slack else slack, tolerance, case)
            return
        if slack.size == 0:
            return
        if slack.dtype.kind == "f":
            slack = np.where(np.isnan(slack), -np.inf, slack)
        at = int(np.argmin(slack))
        picked = {name: value[at] if isinstance(value, np.ndarray) else value for name, value in case.items()}
        worst.add(slack.size, _plain(slack.flat[at]), tolerance, {k: _plain(v) for k, v in picked.items()})

    def evidence(self) -> Evidence:
        """Return what was seen; a counterexample is verified once more.

        Raises
        ------
        AssertionError
            If the second computation does not confirm the counterexample: then the check is wrong.
        """
        counterexample, printed_slack = None, None
        if self._printed.violated:
            assert self._verify is not None
            assert self._printed.case is not None
            again = self._verify(**self._printed.case)
            if not again < 0:
                raise AssertionError(
                    f"counterexample not confirmed: slack {self._printed.slack} in the search, {again} "
                    f"when recomputed, at {dict(self._printed.case)}"
                )
            counterexample, printed_slack = self._printed.case, again
        return Evidence(
            cases=self._defended.cases + self._printed.cases,
            slack=self._defended.slack,
            tolerance=self._defended.tolerance,
            violation=self._defended.case if self._defended.violated else None,
            counterexample=counterexample,
            printed_slack=printed_slack,
            universe="; ".join(self._universe),
            facts=dict(self._facts),
        )


def _plain(value: Any) -> Any:
    """NumPy scalars as Python numbers, arrays as lists."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
