"""The search for counterexamples, and the evidence that it leaves.

A check receives a `Search`, reports to it every case that it has judged, and returns `search.evidence()`. A case is
judged by its *slack*: how far the claim is from failing there. Below zero (with floats: minus the tolerance) it is
violated; an equation has slack ``-abs(left - right)``.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dpfair_lib.claims.evidence import Case, Evidence, Number
from dpfair_lib.claims.slacks import Worst, picked, shown, signed

__all__ = ["Evidence", "Search", "Violated"]
AS_PRINTED = "as printed"


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

    Examples
    --------
    >>> from dpfair_lib.claims import Search
    >>> (search := Search()).observe(2 * 2 - 2, {"x": 2})
    >>> search.evidence().slack
    2
    """

    def __init__(self, *, seed: int = 0, effort: int = 1, ends_at_a_violation: bool = False) -> None:
        self.rng = np.random.default_rng(seed)
        self.effort = effort
        self.ends_at_a_violation = ends_at_a_violation
        self._defended, self._sane = Worst(), Worst()
        self._printed: dict[str, Worst] = {}  # by reading
        self._part = ""
        self._universe: list[str] = []
        self._enumerated = 0  # cases that an announced universe has accounted for
        self._agreements: list[bool] = []
        self._undecided = ""
        self._not_run = ""
        self._facts: dict[str, tuple[Any, str]] = {}
        self._condition = [0, 0, 0]
        self._attained = 0
        self._constants: list[tuple[str, str, Number]] = []
        self._broken: list[tuple[str, Number, Number]] = []
        self._needed: list[tuple[str, Number]] = []
        self._answer = ("", "")

    @staticmethod
    def grid(**axes: Iterable[Any]) -> Iterator[dict[str, Any]]:
        """Every combination of the axes, as keyword arguments."""
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))

    def part(self, name: str) -> None:
        """Name the part of the check that begins, so that a violation says who saw it."""
        self._part = name

    def fact(self, key: str, value: Any, says: str = "") -> None:
        """Record a result for the chapter.

        Parameters
        ----------
        key : str
            The name by which a chapter finds it: lower case, digits and underscores.
        value : Any
            The result.
        says : str
            What it is, in words, as the card shows it. Without words it is for the chapter alone.

        Raises
        ------
        ValueError
            If the key is not of this form, or is taken.
        """
        if not re.fullmatch("[a-z][a-z0-9_]*", key):
            raise ValueError(f"key: found {key!r}, expected lower case letters, digits and underscores")
        if key in self._facts:
            raise ValueError(f"key: found {key!r} twice, expected a key for each fact")
        self._facts[key] = value, says

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

    def aside(self) -> Search:
        """Return a search for one part of the check, which draws from the same stream; `include` puts it in."""
        part = Search(effort=self.effort, ends_at_a_violation=self.ends_at_a_violation)
        part.rng, part._part = self.rng, self._part
        part._enumerated = self._enumerated - self._judged  # the part may account for cases judged before it
        return part

    def include(self, part: Search) -> None:
        """Put in what a part of the check has found, as if it had been reported here.

        Raises
        ------
        Violated
            If the part has a violation, and this search ends there.
        """
        before, self._part = self._judged, part._part
        printed = ((self._printed.setdefault(name, Worst()), worst) for name, worst in part._printed.items())
        for mine, found in ((self._defended, part._defended), (self._sane, part._sane), *printed):
            mine.include(found)
        if part._universe:
            self._enumerated = before + part._enumerated
        for name in ("_universe", "_agreements", "_constants", "_broken", "_needed"):
            getattr(self, name).extend(getattr(part, name))
        for key, (value, says) in part._facts.items():
            self.fact(key, value, says)
        self._condition = [a + b for a, b in zip(self._condition, part._condition, strict=True)]
        self._attained += part._attained
        self._answer = part._answer if any(part._answer) else self._answer
        self._undecided, self._not_run = part._undecided or self._undecided, part._not_run or self._not_run
        violated = [worst for worst in (part._defended, part._sane) if worst.violated]
        if self.ends_at_a_violation and violated:
            raise Violated(violated[0].part)

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
        self.observe(-abs(signed(left) - signed(right)), case, tolerance=tolerance)

    def agree(self, left: Any, right: Any, case: Case) -> None:
        """Judge that two truth values, or vectors of them, are the same."""
        if isinstance(left, bool | np.bool_) and isinstance(right, bool | np.bool_):
            self.observe(0 if left == right else -1, case)
            return
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
        reading: str = AS_PRINTED,
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
        reading : str
            Which reading of the printed statement this is, in words, if it has several.
        """
        self._add(self._printed.setdefault(reading, Worst()), slack, case, tolerance, verify)

    def under(
        self,
        kept: bool | np.ndarray,
        slack: Number | Sequence[Number] | np.ndarray,
        case: Case,
        *,
        verify: Callable[..., Number],
        tolerance: float = 0.0,
    ) -> None:
        """Judge the printed statement where a hypothesis that it does not name holds, and where it does not.

        Where the hypothesis holds we defend the printed statement. Where it does not, we expect the statement to fail
        in some case.

        Parameters
        ----------
        kept : bool or array
            Whether the hypothesis holds in the case.
        slack, case, verify, tolerance
            As in `against`.
        """
        kept, slack = np.atleast_1d(kept), np.atleast_1d(np.asarray(slack))
        if kept.dtype != bool or kept.shape != slack.shape:
            raise TypeError(
                f"kept: found {kept.dtype} of shape {kept.shape}, expected truth values of {slack.shape}"
            )
        for cases, where in ((kept, self.observe), (~kept, functools.partial(self.against, verify=verify))):
            if cases.any():
                where(slack[cases], picked(case, cases, kept.shape), tolerance=tolerance)
        failing = ~kept & ~(slack + tolerance >= 0)
        for at, mask in enumerate((kept, ~kept, failing)):
            self._condition[at] += int(mask.sum())

    def sharper(self, ours: Number, printed: Number, case: Case, *, tolerance: float = 0.0) -> None:
        """Judge that our form is an equality in a case in which the printed one has room.

        Parameters
        ----------
        ours, printed : number
            The slack of either form.
        case : mapping
            The case.
        tolerance : float
            What rounding may cost; the room must be larger.
        """
        self.equal(ours, 0, case, tolerance=tolerance)
        self.agree(printed > tolerance, True, {**case, "room of the printed form": printed})
        self._attained += 1

    def constant(self, printed: str, ours: str, *, slack: Number, case: Case, tolerance: float = 0.0) -> None:
        """State a printed constant, or range, and ours, and judge the least slack found at ours.

        Parameters
        ----------
        printed, ours : str
            Either constant, in words or symbols.
        slack : number
            The least slack found at ours: 0 if it is attained, else how loose it was found to be.
        case : mapping
            Where it was found.
        tolerance : float
            What rounding may cost.
        """
        self.observe(slack, case, tolerance=tolerance)
        self._constants.append((printed, ours, slack))

    def broken(self, guarantee: str, *, measured: Number, stated: Number, case: Case) -> None:
        """Judge that a guarantee does not hold: what it states is exceeded.

        Parameters
        ----------
        guarantee : str
            What is measured, such as ``"ε of the release"``.
        measured, stated : number
            A proved lower bound of it, and the stated value.
        case : mapping
            Where it is exceeded.
        """
        self.sanity(0 if measured > stated else -1, {**case, "measured": measured, "stated": stated})
        self._broken.append((guarantee, measured, stated))

    def needs(self, what: str, *, slack: Number, case: Case, tolerance: float = 0.0) -> None:
        """Judge that a theorem of ours fails in a case if something is left out, or a constant is smaller.

        Parameters
        ----------
        what : str
            What is left out, such as ``"that the rows are independent"`` or ``"the factor 2: with 1.99"``.
        slack : number
            The slack of the theorem without it; it must be below zero by more than the tolerance.
        case : mapping
            Where it fails.
        tolerance : float
            What rounding may cost.
        """
        self.sanity(0 if slack < -tolerance else -1, {**case, "left out": what, "slack without it": slack})
        self._needed.append((what, slack))

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

    def answers(self, how_far: str, *, left: str) -> None:
        """State how far an open question is answered by what the check defends, and what is left of it."""
        self._answer = (how_far, left)

    def undecided(self, tried: str) -> None:
        """State what was tried on a question that stays open."""
        self._undecided = tried

    def not_run(self, missing: str) -> None:
        """State what is missing, such as a record of a long experiment, for the check to run."""
        self._not_run = missing

    @property
    def _judged(self) -> int:
        return sum(worst.cases for worst in (self._defended, self._sane, *self._printed.values()))

    def _add(self, worst: Worst, slack: Any, case: Case, tolerance: float, verify: Any = None) -> None:
        if not 0 <= tolerance < math.inf:
            raise ValueError(f"tolerance: found {tolerance}, expected a finite number of at least 0")
        worst.see(signed(slack), tolerance, case, self._part, verify)
        if self.ends_at_a_violation and worst in (self._defended, self._sane) and worst.violated:
            raise Violated(self._part)

    def evidence(self) -> Evidence:
        """Return what was seen; a counterexample is verified once more.

        Raises
        ------
        AssertionError
            If the second computation does not confirm the counterexample: then the check is wrong.
        """
        failing = [worst for worst in self._printed.values() if worst.violated]
        slacks = [worst.confirmed() for worst in failing]
        violated = next((worst for worst in (self._defended, self._sane) if worst.violated), None)
        worsts = (self._defended, self._sane, *self._printed.values())
        return Evidence(
            cases=self._judged,
            slack=self._defended.slack,
            tolerance=max(worst.tolerance for worst in worsts),
            violation=shown(violated.case) if violated else None,
            part=violated.part if violated else "",
            counterexample=shown(failing[0].case) if failing else None,
            printed_slack=slacks[0] if failing else None,
            readings={reading: worst.violated for reading, worst in self._printed.items()},
            condition=(self._condition[0], self._condition[1], self._condition[2]),
            attained=self._attained,
            constants=tuple(self._constants),
            broken=tuple(self._broken),
            needed=tuple(self._needed),
            compared=(sum(self._agreements), len(self._agreements)),
            answer=self._answer,
            universe="; ".join(self._universe),
            reproduced=all(self._agreements) if self._agreements else None,
            undecided=self._undecided,
            not_run=self._not_run,
            facts={key: value for key, (value, _) in self._facts.items()},
            says={key: says for key, (_, says) in self._facts.items()},
        )
