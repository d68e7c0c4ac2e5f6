"""Auditing: a lower bound on the ε of a mechanism, computed from its outputs alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import below_one, inside_unit, positive_integer
from dpfair_lib._progress import Progress, shown
from dpfair_lib._validation import as_generator, as_vector

Mechanism = Callable[[Any, int, np.random.Generator], Any]

MOST_RUNS = 1 << 27  # whose outputs are stored, gigabytes of them


@dataclass(frozen=True)
class Event:
    """A set of outputs: those at most a threshold, those at least a threshold, or a list of values.

    Examples
    --------
    >>> from dpfair_lib import privacy
    >>> event = privacy.Event("at least", (2,))
    >>> str(event), event.contains([1, 2, 3])
    ('output at least 2', array([False,  True,  True]))
    """

    kind: Literal["at most", "at least", "one of"]
    values: tuple[Any, ...]

    def contains(self, outputs: Any) -> np.ndarray:
        """Return for each output whether it is in the event."""
        array = np.asarray(outputs)
        if self.kind == "one of":
            return np.isin(array, np.array(self.values))
        edge = np.asarray(self.values[0])  # an array, lest the threshold be rounded to shorter floats
        return array <= edge if self.kind == "at most" else array >= edge

    def __str__(self) -> str:
        return f"output {self.kind} {', '.join(str(value) for value in self.values)}"


@dataclass(frozen=True, eq=False)
class AuditResult:
    """The result of `audit`: a lower bound on ε, and the event that shows it.

    Attributes
    ----------
    epsilon_lower : float
        With probability at least 1 − alpha, the ε of the mechanism is at least this number. It is 0 if the audit found
        nothing.
    event : Event
        The set of outputs that shows it.
    pair : tuple
        The two data sets, in the order in which P(event | first) > e^ε P(event | second).
    hits : tuple of int
        How often the event occurred under the first and under the second data set, in the runs used for the test.
    runs : int
        How many runs with each data set were used for the test.

    Examples
    --------
    A mechanism that publishes the data as they are has no finite ε; a finite number of runs shows a part of that.

    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> def publish(data, size, rng):
    ...     return np.full(size, data)
    >>> found = dpf.audit(publish, [(0, 1)], n=1000, alpha=0.05, rng=np.random.default_rng(0))
    >>> str(found.event), found.pair, found.hits
    ('output at most 0', (0, 1), (500, 0))
    >>> round(found.epsilon_lower, 2)
    4.73
    """

    epsilon_lower: float
    event: Event
    pair: tuple[Any, Any]
    hits: tuple[int, int]
    runs: int


def audit(
    mechanism: Mechanism, pairs: Sequence[tuple[Any, Any]], n: int, alpha: float, rng: np.random.Generator,
    *, verbose: bool = False,
) -> AuditResult:  # fmt: skip
    """Run a mechanism many times on neighbouring data sets, and return a lower bound on its ε at δ = 0.

    With probability at least 1 − alpha the bound is valid. Each data set is run n times. Half of the runs are used to
    choose an event for each ordered pair of data sets. The other half test this event with exact (Clopper–Pearson)
    bounds on its two probabilities. The failure probability is divided among the ordered pairs, so the largest bound is
    valid too.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(data, size, rng)`` returns the outputs of `size` independent runs. Each output is one number or
        label; turn a vector into a score first.
    pairs : sequence of (data, data)
        Neighbouring data sets. Each pair is examined in both orders.
    n : int
        Runs for each data set, at least 4.
    alpha : float
        Probability, in (0, 1), that the bound exceeds the true ε.
    rng : numpy.random.Generator
        Passed to the mechanism.
    verbose : bool, default=False
        Whether to show on the standard error how many runs are done, after two seconds and then every ten.

    Returns
    -------
    AuditResult
        The bound, with the event and the pair that give it.

    Raises
    ------
    ValueError
        If an argument is out of its range, or if the mechanism returns NaN or outputs of another shape.

    References
    ----------
    Jagielski, Ullman and Oprea (2020), Section 3. The choice of events and the correction for several pairs are ours.

    Examples
    --------
    Randomised response that reports one bit truthfully with probability ¾ has ε = ln 3 ≈ 1.10.

    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> def respond(bit, size, rng):
    ...     return np.where(rng.random(size) < 0.75, bit, 1 - bit)
    >>> found = dpf.audit(respond, [(0, 1)], n=20_000, alpha=0.05, rng=np.random.default_rng(0))
    >>> round(found.epsilon_lower, 2)
    1.05
    """
    with shown(verbose):
        return _audit(mechanism, pairs, n, alpha, rng, 0.0)


def audit_approximate(
    mechanism: Mechanism, pairs: Sequence[tuple[Any, Any]], n: int, alpha: float, rng: np.random.Generator,
    delta: float, *, verbose: bool = False,
) -> AuditResult:  # fmt: skip
    """Return a lower bound on the ε that a mechanism has at a given δ; else as `audit`.

    Parameters
    ----------
    mechanism, pairs, n, alpha, rng
        As in `audit`.
    delta : float
        δ in [0, 1).
    verbose : bool, default=False
        As in `audit`.

    Returns
    -------
    AuditResult
        With probability at least 1 − alpha, the mechanism is (ε, δ)-DP for no ε below ``epsilon_lower``.

    Raises
    ------
    ValueError
        As `audit`; if δ is out of its range.

    Examples
    --------
    A mechanism that publishes the data with probability 0.3, and else nothing, is (0, 0.3)-private:

    >>> import numpy as np
    >>> from dpfair_lib.privacy import audit_approximate
    >>> def rarely(data, size, rng):
    ...     return np.where(rng.random(size) < 0.3, data, -1)
    >>> found = [
    ...     audit_approximate(rarely, [(0, 1)], 10_000, 0.05, np.random.default_rng(0), delta).epsilon_lower
    ...     for delta in (0.0, 0.3)
    ... ]
    >>> [round(epsilon, 1) for epsilon in found]
    [5.8, 0.0]
    """
    with shown(verbose):
        return _audit(mechanism, pairs, n, alpha, rng, below_one(delta, "delta"))


def _audit(
    mechanism: Mechanism, pairs: Sequence[tuple[Any, Any]], n: int, alpha: float, rng: np.random.Generator,
    delta: float,
) -> AuditResult:  # fmt: skip
    runs = positive_integer(n, "n", most=MOST_RUNS) // 2
    if runs < 2:
        raise ValueError(f"n: found {n}, expected at least 4 runs, half of them for choosing the event")
    failure = inside_unit(alpha, "alpha")
    as_generator(rng, "rng")
    if (
        not isinstance(pairs, list | tuple)
        or not pairs
        or any(not isinstance(pair, Sequence) or len(pair) != 2 for pair in pairs)
    ):
        raise ValueError("pairs: expected at least one pair of data sets, found none or no pair")
    failure /= 2 * len(pairs)
    best: AuditResult | None = None
    progress = Progress("runs of the mechanism", 4 * runs * len(pairs))
    for pair in pairs:
        outputs = []
        for data in pair:
            outputs.append(_outputs(mechanism, data, 2 * runs, rng))
            progress.add(2 * runs)
        # of one type, so that an event is the same set for both data sets
        outputs = [each.astype(np.result_type(*outputs), copy=False) for each in outputs]
        chosen_on, tested_on = zip(*((each[:runs], each[runs:]) for each in outputs), strict=True)
        for first, second in ((0, 1), (1, 0)):
            event = _most_promising(chosen_on[first], chosen_on[second], failure, delta)
            hits = tuple(int(event.contains(tested_on[i]).sum()) for i in (first, second))
            bound = float(_lower_bound(np.array(hits[0]), np.array(hits[1]), runs, failure, delta))
            if best is None or bound > best.epsilon_lower:
                best = AuditResult(bound, event, (pair[first], pair[second]), (hits[0], hits[1]), runs)
    assert best is not None
    return best


def _outputs(mechanism: Mechanism, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    outputs = as_vector(mechanism(data, size, rng), "mechanism")
    if len(outputs) != size:
        raise ValueError(f"mechanism: found {len(outputs)} outputs, expected {size}, one per run")
    if outputs.dtype.kind == "f" and np.isnan(outputs).any():
        raise ValueError("mechanism: found NaN among the outputs, expected numbers or labels")
    return outputs


def _lower_bound(
    first: np.ndarray, second: np.ndarray, runs: int, failure: float, delta: float
) -> np.ndarray:
    """Return ln((p − δ)/q) with p at its Clopper–Pearson lower and q at its upper end, at least 0."""
    from scipy.special import betaincinv

    hit = np.maximum(first, 1)
    low = np.where(first > 0, betaincinv(hit, runs - hit + 1, failure / 2), 0.0)
    missed = np.maximum(runs - second, 1)
    high = np.where(second < runs, 1 - betaincinv(missed, second + 1, failure / 2), 1.0)
    return np.log(np.maximum((low - delta) / high, 1.0))


_MANY = 64


def _most_promising(first: np.ndarray, second: np.ndarray, failure: float, delta: float) -> Event:
    runs = len(first)
    values, inverse = np.unique(np.concatenate([first, second]), return_inverse=True)
    counts = np.stack([np.bincount(part, minlength=len(values)) for part in (inverse[:runs], inverse[runs:])])
    events: list[Event] = []
    hits: list[np.ndarray] = []
    if values.dtype.kind in "biuf":
        below = np.cumsum(counts, axis=1)
        # thresholds at up to 1000 places, closer together in the tails, where small probabilities matter
        places = np.unique(
            np.concatenate(
                [np.arange(min(len(values), 200)), np.linspace(0, len(values) - 1, 600).astype(int),
                 np.arange(max(len(values) - 200, 0), len(values))]
            )
        )  # fmt: skip
        for i in places.tolist():
            events += [Event("at most", (values[i].item(),)), Event("at least", (values[i].item(),))]
            hits += [below[:, i], runs - below[:, i] + counts[:, i]]
    # values that come often, such as labels, counts or the ends of a clipped range: by falling ratio
    often = np.argsort(-counts.sum(axis=0), kind="stable")[:_MANY]
    often = often[counts[:, often].sum(axis=0) > 1]
    often = often[np.argsort(-(counts[0, often] + 0.5) / (counts[1, often] + 0.5), kind="stable")]
    for size in range(1, len(often) + 1):
        events.append(Event("one of", tuple(values[often[:size]].tolist())))
        hits.append(counts[:, often[:size]].sum(axis=1))
    if not events:
        return Event("one of", (values[0].item(),))
    seen = np.array(hits)
    return events[int(np.argmax(_lower_bound(seen[:, 0], seen[:, 1], runs, failure, delta)))]
