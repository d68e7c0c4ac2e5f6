"""Audits of the private network by its weights, and of the same with planted faults, which they must convict.

A record comes in whose gradient is as long as clipping permits, in the same direction in every step. The score of a run
is the projection of its final weights on the move that the record makes without noise. Noise in all weights is alike,
so among the scores that are linear in the weights this one shows most. If the move does not depend on earlier noise, it
is the logarithm of the likelihood ratio of the final weights, up to a factor and a constant.

**At the start** the outer weights are 0. So the gradient by the inner ones is 0, and the whole of it is g (h, 1), with
slope g = ±½ and units h: at least ½ long. A clipping norm C below ½ is reached by every record. With steps of 10⁻¹² all
steps are as the first one, and T of them move the sum by TC, beside noise of √T σC: all that T steps may cost.

**The inner layer** has a gradient once the outer weights have grown. Public rows, all alike, make them grow in the
first step to about 0.01, far above their noise. Then a record of length L has a gradient by the inner weights that is
about 0.001 L long; the other parts are about ½ long, and C is 0.001, so that every part would be clipped by itself.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.fair_learners.audited_power import AUDITS, gaussian, power
from dpfair_lib.experiments.ours.audited_release import FAILURE, Audited, audit_of
from dpfair_lib.learners.exact_steps import exact_sum
from dpfair_lib.learners.networks import network, network_steps
from dpfair_lib.privacy import PrivacyStatement, dp_sgd_noise
from dpfair_lib.privacy.grid_noise import FINENESS, continuous_delta

EPSILON, DELTA = 2.0, 0.05
"""Claimed. δ is so large that a few thousand runs come near ε."""
REPEATS = 2
"""Audits of each planted fault. Its power is that of simulated audits, whose scores have the law that follows."""

Data = tuple[np.ndarray, np.ndarray]
"""Features and labels."""
Fault = Callable[[], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def replaced(module: Any, **functions: Any) -> Iterator[None]:
    """Run with other functions in a module."""
    usual = {name: getattr(module, name) for name in functions}
    try:
        for name, function in functions.items():
            setattr(module, name, function)
        yield
    finally:
        for name, function in usual.items():
            setattr(module, name, function)


def silent(n: int, steps: Any, _: Any) -> Any:
    """Return no noise, and all rows in each batch."""
    return (lambda total: total), (np.arange(n) for _ in range(steps.count))


@dataclass(frozen=True)
class Trained:
    """A network under audit.

    Attributes
    ----------
    pair : (Data, Data)
        Two neighbours; the second has no first row.
    hidden, steps : int
        Numbers of units and of steps.
    clip, rate, sample_rate : float
        C, the factor of a noisy sum, and the probability of entering a batch.
    size : int
        Runs on each data set.
    """

    pair: tuple[Data, Data]
    hidden: int
    steps: int
    clip: float
    rate: float
    sample_rate: float
    size: int

    @functools.cached_property
    def multiplier(self) -> float:
        """σ for the claim."""
        return float(dp_sgd_noise(EPSILON, continuous_delta(DELTA), self.sample_rate, self.steps, "pld"))

    def fit(self, data: Data, less: float = 1.0) -> Any:
        """Return a network fitted with secure noise, so much of it as is due times a factor."""
        from dpfair_lib.learners.networks.network import DPNetworkClassifier

        model = DPNetworkClassifier(
            hidden=self.hidden, noise_multiplier=self.multiplier * less, delta=DELTA, max_grad_norm=self.clip,
            sample_rate=self.sample_rate, steps=self.steps, learning_rate=self.rate, expected_batch_size=1.0,
            classes=(0, 1),
        )  # fmt: skip
        return model.fit(*data)

    @functools.cached_property
    def statement(self) -> PrivacyStatement:
        """What it claims as it should be."""
        found: PrivacyStatement = self.fit(self.pair[0]).privacy_statement_
        return found

    def moved(self) -> np.ndarray:
        """Return how far the record moves the weights without noise, all rows being in each batch, in units of C."""
        with replaced(network_steps, noise_and_batches=silent):
            first, second = (in_one(self.fit(data)) for data in self.pair)
        return (first - second) / (self.rate * self.clip)

    def share(self) -> float:
        """Return how much of the account's move is seen in the final weights: T steps may move them by T."""
        return float(np.linalg.norm(self.moved())) / self.steps


def in_one(model: Any) -> np.ndarray:
    """Return the weights of a fitted network in one vector."""
    return np.concatenate([np.ravel(part) for part in (*model.coefs_, *model.intercepts_)])


def audited(one: Trained, fault: Fault = contextlib.nullcontext, less: float = 1.0) -> Audited:
    """Audit a network, as it is or with a fault, against what it claims as it should be."""

    def release(data: Data, size: int, _: int) -> tuple[np.ndarray, PrivacyStatement]:
        with fault():
            move = one.moved()
            found = np.array([in_one(one.fit(data, less)) for _ in range(size)])
        return found @ move / one.rate, one.statement

    return Audited(one.pair, release)


# Networks.

STEP = 1e-12
FULL = 40.0
"""Input of a unit at which it is ±1."""


def row_with(inputs: np.ndarray) -> np.ndarray:
    """Return the row at which the units of a network of as many features have these inputs at the start."""
    many = len(inputs)
    inner = network_steps.starting_weights(many, many, 1)[: many * (many + 1)].reshape(many, -1)
    return np.asarray(np.linalg.solve(inner[:, :-1], inputs - inner[:, -1]))


def outer(steps: int, sample_rate: float, size: int, other: np.ndarray, label: int) -> Trained:
    """Return a network of two units and two rows, in which a record moves the outer layer.

    Parameters
    ----------
    steps : int
        How many.
    sample_rate : float
        Probability of entering a batch.
    size : int
        Runs.
    other : ndarray of shape (2,)
        Inputs of the units for the other row.
    label : int
        Of the other row; the record's is 0.
    """
    rows = np.array([row_with(np.full(2, FULL)), row_with(other)])
    data = rows, np.array([0, label])
    return Trained((data, (rows[1:], data[1][1:])), 2, steps, 0.1, STEP, sample_rate, size)


OTHERS, OUTER, SHORT = 500, 0.01, 1e-3


def inner(size: int) -> Trained:
    """Return a network of one unit and 501 rows, in which a record moves the inner layer from the second step on."""
    first, second, constant = network_steps.starting_weights(2, 1, 1)[:3]
    along = np.array([second, -first]) / math.hypot(first, second)  # a unit's input does not change along it
    base = np.array([first, second]) * (1 - constant) / (first**2 + second**2)  # input 1
    rows = np.vstack([base + 3000 * along, np.tile(base, (OTHERS, 1))])
    labels = np.repeat([0, 1], [1, OTHERS])
    rate = OUTER / (OTHERS * SHORT)
    return Trained(((rows, labels), (rows[1:], labels[1:])), 1, 5, SHORT, rate, 1.0, size)


# Orthogonal: (h, 1)·(h', 1) = −1 + 0 + 1. Opposite: less is seen of one row, and its sum with the record turns round.
ORTHOGONAL, OPPOSITE = np.array([-FULL, 0.0]), np.full(2, math.atanh(0.8))
ONE_STEP, MANY_STEPS = outer(1, 1.0, 5000, ORTHOGONAL, 0), outer(5, 1.0, 1600, ORTHOGONAL, 0)
INNER, SAMPLED = inner(2000), outer(1, 0.25, 3000, ORTHOGONAL, 0)
NETWORKS: dict[str, Trained] = {
    "network, 1 step": ONE_STEP,
    "network, 5 steps": MANY_STEPS,
    "network, inner layer, 5 steps": INNER,
    "network, a quarter of the rows in a batch": SAMPLED,
}
"""Networks by name."""


# Faults, each a way in which what `network_steps` rests on may fail.


def without_clipping() -> contextlib.AbstractContextManager[None]:
    """Leave gradients as long as they are."""
    return replaced(network_steps, clipped=_unclipped)


def _unclipped(
    inputs: np.ndarray,
    signs: np.ndarray,
    limits: np.ndarray,
    layers: Any,
    _: float,
    usual: Any = network_steps.clipped,
) -> Any:
    return usual(inputs, signs, limits, layers, math.inf)


def sum_clipped(one: Trained) -> contextlib.AbstractContextManager[None]:
    """Clip the sum of a batch to C, and no record's gradient."""
    usual, longest = exact_sum, FINENESS / one.multiplier  # C in steps of the grid

    def short(chosen: np.ndarray, integers: Any, width: int) -> np.ndarray:
        total = usual(chosen, integers, width)
        norm = np.linalg.norm(total.astype(float))
        return np.asarray((total * min(1.0, longest / norm)).astype(np.int64)) if norm else total

    return replaced(network_steps, clipped=_unclipped, exact_sum=short)


def arrays_clipped(one: Trained) -> contextlib.AbstractContextManager[None]:
    """Clip each of the four arrays of weights to C by itself."""
    usual, many = network_steps.integer_gradients, one.hidden * (one.pair[0][0].shape[1] + 1)
    at = np.arange(many + one.hidden + 1)
    constant = (at < many) & (at % (many // one.hidden) == many // one.hidden - 1)
    arrays = [(at < many) & ~constant, constant, (at >= many) & (at < at[-1]), at == at[-1]]

    def apart(rows: Any, signs: Any, chosen: Any, layers: Any, clip: float, step: float) -> np.ndarray:
        with replaced(network_steps, clipped=_unclipped):
            found = usual(rows, signs, chosen, layers, clip, step).astype(float)
        for part in arrays:
            norms = np.linalg.norm(found[part], axis=0)
            found[part] *= np.minimum(1.0, clip / step / np.maximum(norms, 1.0))
        return np.asarray(found.astype(np.int64))

    return replaced(network_steps, integer_gradients=apart)


def started_from_rows() -> contextlib.AbstractContextManager[None]:
    """Start each unit's weights a thousandth of the rows' mean from where they should start."""
    usual, start = network_steps.train_network, network_steps.starting_weights

    def train(X: np.ndarray, *rest: Any) -> np.ndarray:
        def near(d: int, hidden: int, number: int) -> np.ndarray:
            shift = np.tile([*X.mean(axis=0) / 1000, 0.0], hidden)
            return start(d, hidden, number) + np.pad(shift, (0, hidden + 1))

        with replaced(network_steps, starting_weights=near):
            return usual(X, *rest)

    return replaced(network, train_network=train)


def chosen_by_length() -> contextlib.AbstractContextManager[None]:
    """Let long rows enter every batch."""
    usual = network_steps.train_network

    def train(X: np.ndarray, *rest: Any) -> np.ndarray:
        drawn = vars(network_steps)["noise_and_batches"]  # silent, perhaps
        long = np.flatnonzero(abs(X).max(axis=1) > FULL / 4)

        def with_long(n: int, steps: Any, study: Any) -> Any:
            add, batches = drawn(n, steps, study)
            return add, (np.union1d(batch, long).astype(np.intp) for batch in batches)

        with replaced(network_steps, noise_and_batches=with_long):
            return usual(X, *rest)

    return replaced(network, train_network=train)


class Planted(NamedTuple):
    """A network with a fault.

    Attributes
    ----------
    network : Trained
        As it should be, with its claim.
    fault : callable
        Returns the context in which the fault is there.
    less : float
        By what noise is multiplied.
    size : int
        Runs on each data set, of each of `REPEATS` audits.
    """

    network: Trained
    fault: Fault
    less: float
    size: int


TURNED = outer(1, 1.0, 0, OPPOSITE, 1)
FAULTS: dict[str, Planted] = {
    "half of the noise": Planted(ONE_STEP, contextlib.nullcontext, 0.5, 1600),
    "no clipping": Planted(ONE_STEP, without_clipping, 1.0, 400),
    "the sum clipped, not records": Planted(TURNED, functools.partial(sum_clipped, TURNED), 1.0, 1800),
    "each array clipped by itself": Planted(INNER, functools.partial(arrays_clipped, INNER), 1.0, 1400),
    "a start from the rows": Planted(ONE_STEP, started_from_rows, 1.0, 400),
    "long rows in every batch": Planted(SAMPLED, chosen_by_length, 1.0, 1200),
}
"""Planted faults by name."""


def run_audit(*, release: str, repeat: int, size: int | None = None) -> list[dict[str, Any]]:
    """Return the row of an audit of a network, or of a planted fault, with the recorded number of runs by default.

    Parameters
    ----------
    release : str
        A key of `NETWORKS` or of `FAULTS`.
    repeat : int
        Which of the audits of a fault; noise has no seed.
    size : int, optional
        Runs on each data set.
    """
    chance = None
    if release in NETWORKS:
        one = NETWORKS[release]
        under, runs, failure = audited(one), one.size, FAILURE / len(NETWORKS)
    else:
        planted = FAULTS[release]
        one, runs, failure = planted.network, planted.size, FAILURE
        under = audited(one, planted.fault, planted.less)
        claim = one.statement
        chance = power(gaussian(distance(planted)), size or runs, claim.epsilon, claim.delta, failure)
    row = audit_of(release, under, size or runs, seed=repeat, failure=failure, noise="secure")
    return [row | {"repeat": repeat, "convicted": row["lower"] > row["epsilon"], "power": chance}]


def distance(planted: Planted) -> float:
    """Return by how many deviations of its noise the record moves the score under a fault, in every run."""
    one = planted.network
    with planted.fault():
        move = float(np.linalg.norm(one.moved()))
    return move / (math.sqrt(one.steps) * one.multiplier * planted.less)


def experiment(name: str) -> Experiment:
    """Return a lower bound on the ε of each network, then of each planted fault `REPEATS` times, on made-up rows."""
    parameters = {
        "runs": {key: one.size for part in (NETWORKS, FAULTS) for key, one in part.items()}, "repeats": REPEATS,
        "epsilon": EPSILON, "delta": DELTA, "failure": FAILURE, "simulated": AUDITS,
    }  # fmt: skip
    tasks = [{"release": key, "repeat": at} for key in FAULTS for at in range(REPEATS)]
    tasks = [{"release": key, "repeat": 0} for key in NETWORKS] + tasks
    return Experiment(name, {"name": "made up"}, parameters, run_audit, tasks)


EXPERIMENTS: Experiments = {"privacy-audits-networks": experiment}
