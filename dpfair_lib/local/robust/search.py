"""`robust_randomizer`: the truthful private channel whose reports are fairest under the worst law of a set."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpfair_lib._arguments import positive
from dpfair_lib._validation import as_rate
from dpfair_lib.local.levels import as_epsilon
from dpfair_lib.local.optimal.program import privacy_ratio
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import generalized_randomized_response
from dpfair_lib.local.robust.ball import Laws
from dpfair_lib.local.robust.program import Cut, Program, least_truth, mended, most_truthful, solve
from dpfair_lib.local.robust.proof import Proof, lower_bound
from dpfair_lib.local.robust.worst_law import WorstLaw, worst_of_reports

_NEAR = 1e-7  # two P(Y = 1) as near as this are one
_MARGIN = 1e-8  # of the constraints in the linear program, so that rounding breaks none
_WEIGHT = 1e-6  # relative: a condition of less is idle
_STALLED = 3  # rounds with neither progress nor a new condition after which rounding has the last word
_IDLE = 2  # rounds after which an idle condition is left out


@dataclass(frozen=True)
class RobustCertificate:
    """What is proved of a channel for a set of laws.

    Parameters
    ----------
    lower : float
        Every truthful private channel that errs at most so often is at least so unfair under some law of the set.
    worst : WorstLaw
        The law of the set under which this channel is most unfair.
    error : float
        The largest error allowed, as in `robust_randomizer`.
    proof : Proof
        The multipliers of ``lower``, for `lower_bound`.
    rounds : int
        How many linear programs were solved.
    ended : {"proved", "time limit", "rounding"}
        Why the search stopped.

    Examples
    --------
    >>> from dpfair_lib.local import CellBounds, robust_randomizer
    >>> laws = CellBounds.around([0.6, 0.4], [0.3, 0.5], radius=0.05)
    >>> found = robust_randomizer(laws, epsilon=1.0, error=0.4).certificate
    >>> found.ended, found.gap < 1e-6
    ('proved', True)
    """

    lower: float
    worst: WorstLaw
    error: float
    proof: Proof | None
    rounds: int
    ended: str

    @property
    def gap(self) -> float:
        """The largest possible distance from the optimum."""
        return max(self.worst.unfairness - self.lower, 0.0)


def robust_randomizer(
    laws: Laws,
    epsilon: float,
    *,
    error: float | None = None,
    tol: float = 1e-6,
    time_limit: float = 60.0,
) -> Randomizer:
    """Return the channel whose reports are fairest under the worst law of a set.

    It minimises the largest Δ over the laws, among ε-locally private channels that are truthful (q_ij ≤ q_ii and
    q_ij ≤ q_jj) and err with probability at most ζ, in the sense of ``error``.

    Parameters
    ----------
    laws : CellBounds or CellBall
        The set of laws of group A and label Y.
    epsilon : float
        ε > 0, finite.
    error : float, optional
        ζ, the largest P(Z ≠ A) under any law of a ball, or for any shares of the groups within ``laws.shares`` of
        bounds. By default the smallest possible.
    tol : float
        Stop when the unfairness is within this distance of the proved lower bound.
    time_limit : float
        Seconds after which the best channel so far is returned; the step under way is finished first.

    Returns
    -------
    Randomizer
        ``value`` is the largest Δ over the laws; ``certificate`` a `RobustCertificate`.

    Raises
    ------
    ValueError
        If ε is not above 0, or ``error`` is below the smallest possible one, which the message gives.

    Notes
    -----
    A round solves a linear program with k² entries of the channel. The search takes seconds for 20 groups, and up to
    a few minutes for 50. Where ``time_limit`` ends it, the bounds so far are returned.

    References
    ----------
    Derived in the chapter on the distribution that is not known.

    Examples
    --------
    >>> from dpfair_lib.local import CellBounds, robust_randomizer
    >>> laws = CellBounds.around([0.5, 0.3, 0.2], [0.2, 0.5, 0.4], radius=0.02)
    >>> channel = robust_randomizer(laws, epsilon=1.0, error=0.5)
    >>> print(round(channel.value, 3), channel.certificate.ended)
    0.139 proved
    """
    tol, deadline = positive(tol, "tol"), time.monotonic() + positive(time_limit, "time_limit")
    eps = float(as_epsilon(epsilon))
    if not 0 < eps < math.inf:
        raise ValueError(f"epsilon: found {eps}, expected a finite number above 0")
    x = privacy_ratio(eps)
    start = mended(most_truthful(laws, x * (1 + _MARGIN)))
    truth = least_truth(start, laws)
    if error is None:
        budget = 1 - truth
    else:
        budget = float(as_rate(error, "error"))
        if budget < 1 - truth:
            raise ValueError(
                f"error: found {budget}, expected at least {math.nextafter(1 - truth, 1):.17g}, the smallest "
                f"error under the worst law at epsilon={eps:.6g}"
            )
    search = _Search(Program(laws, x * (1 + _MARGIN), min(1 - budget + _MARGIN, truth)), eps, budget)
    for channel in _starts(laws.k, eps, budget, start):
        search.take(channel)
    ended = search.run(tol, deadline)
    assert search.best is not None
    worst = search.worst
    certificate = RobustCertificate(float(search.lower), worst, budget, search.proof, search.rounds, ended)
    return Randomizer(search.best, value=worst.unfairness, certificate=certificate)


def _starts(k: int, epsilon: float, error: float, truthful: np.ndarray) -> list[np.ndarray]:
    """Return channels that keep the constraints: the most truthful one, and plain response where it does."""
    starts, truth = [truthful], max(1 - error, 1 / k)
    level = math.log((k - 1) * truth / (1 - truth)) if truth < 1 else math.inf
    if level <= epsilon:
        starts.append(np.asarray(generalized_randomized_response(k, max(level, 0.0)).matrix, dtype=float))
    return starts


class _Search:
    """The best channel so far, the bound proved so far, and the conditions."""

    def __init__(self, program: Program, epsilon: float, error: float) -> None:
        self.program, self.epsilon, self.error = program, epsilon, error
        self.best: np.ndarray | None = None
        self.worst = WorstLaw(math.inf, 0, 1, program.laws.middle)
        self.lower, self.rounds = Fraction(0), 0
        self.proof: Proof | None = None
        self.idle: dict[Cut, int] = {}

    def take(self, matrix: np.ndarray) -> None:
        """Judge a channel, keep it if it is the best that keeps the constraints, and add its worst laws."""
        matrix = mended(matrix)
        found = worst_of_reports(matrix, self.program.laws)
        worst = max(found, key=lambda law: law.unfairness)
        if worst.unfairness < self.worst.unfairness and self._allowed(matrix):
            self.best, self.worst = matrix, worst
        for law in found:
            self._add(law)

    def _allowed(self, matrix: np.ndarray) -> bool:
        private = (matrix >= privacy_ratio(self.epsilon) * matrix.max(axis=0)).all()
        return bool(private) and 1 - least_truth(matrix, self.program.laws) <= self.error

    def _add(self, law: WorstLaw) -> None:
        cut = Cut(law.report, law.side, float(law.cells[:, 1].sum()))
        near = (
            one for one in self.idle if one[:2] == cut[:2] and abs(one.share - cut.share) <= _NEAR * cut.share
        )
        self.idle[next(near, cut)] = 0

    def run(self, tol: float, deadline: float) -> str:
        """Solve linear programs until the bound meets the value; say why the search ended."""
        stalled = 0
        while self.worst.unfairness - self.lower > tol:
            if time.monotonic() >= deadline:
                return "time limit"
            before = self._state()
            if not self._round() or stalled >= _STALLED:
                return "rounding"
            stalled = stalled + 1 if before == self._state() else 0
        return "proved"

    def _state(self) -> tuple[float, Fraction, int]:
        return self.worst.unfairness, self.lower, len(self.idle)

    def _round(self) -> bool:
        assert self.best is not None
        cuts, laws = list(self.idle), self.program.laws
        often = laws.middle.sum(axis=1) @ self.best
        scale = np.array([cut.share * often[cut.report] for cut in cuts])
        solved = solve(self.program, cuts, self.worst.unfairness, scale)
        self.rounds += 1
        if solved is None:
            return False
        bound = lower_bound(laws, self.epsilon, self.error, solved.proof)
        if bound > self.lower or self.proof is None:
            self.lower, self.proof = max(bound, self.lower), solved.proof
        for cut, weight in zip(cuts, solved.weights, strict=True):
            self.idle[cut] = 0 if weight > _WEIGHT * solved.weights.max() else self.idle[cut] + 1
        before = self.worst.unfairness
        self.take(solved.matrix)
        # without a better channel, conditions that were left out would come back one after another
        if self.worst.unfairness < before:
            self.idle = {cut: rounds for cut, rounds in self.idle.items() if rounds < _IDLE}
        return True
