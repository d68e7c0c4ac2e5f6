"""Every private release of the library, listed once; the tests of this folder go over the list.

How to list a new one
---------------------
1. Add a `Case` to one of the modules `cases_*`, beside those of its room. Choose small parameters and at most some
   twelve rows: a fit should take milliseconds.
2. ``make(noise, seed)`` returns what can be run: an estimator, or a function whose settings are filled in. `run` calls
   ``fit``, or the function, with the data as keywords; give a ``run`` of its own to anything else.
3. ``data`` are ordinary rows; ``pairs`` names neighbours under the statement's relation, adversarial ones. Those for
   common tables are in `neighbours`: take them, and add what is special. Declare classes, groups, bounds and levels:
   what the data alone decide has to be named as public by the statement.
4. ``asked`` says what the secure sampler must be asked for, in order: kind, scale **from the statement's numbers**, and
   the exact numbers that the noise is added to, counted anew from the data, not by the library. ``numbers`` reads the
   released numbers, and ``through`` computes them from the sampler's answers.
5. ``noisy`` names the attributes that noise reaches. All others must be equal for neighbours.
   Where bounds on so few rows are 1 whatever the noise, list the case once more with a larger ε.
6. Write what its statement says beside the numbers into `TERMS` of `test_terms`.

A public class that sets or holds ``privacy_statement``, or a function that takes ``noise`` or makes a statement, is
found by `test_listed`, which fails until it is in ``covers`` of a case or, with the reason, in `NO_RELEASE`.

What is not covered: how long anything takes. `PrivacyStatement` says so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import dpfair_lib as dpf
from dpfair_lib.privacy import PrivacyStatement

Data = dict[str, Any]
Pairs = dict[str, tuple[Data, Data]]
ROUNDED = 1e-12
"""A few roundings."""


@dataclass(frozen=True)
class Asked:
    """One call of the sampler.

    Attributes
    ----------
    kind : {"laplace", "geometric", "gaussian", "discrete gaussian", "choice"}
        Its law.
    scale : float
        b of the first two, σ or s of the next two, 1 of an exponential choice.
    values : ndarray
        What it is handed: the exact numbers, or the scores of the choice; NaN stands for one that is not told here.
    near : float
        How far the numbers may be off, where they are found by a solver.
    """

    kind: str
    scale: float
    values: np.ndarray
    near: float = 1e-9


@dataclass(frozen=True)
class Case:
    """One private release.

    Attributes
    ----------
    name : str
        For messages.
    covers : tuple
        The public classes and functions that it runs.
    relation : str or None
        Under which the statement speaks; None for a bare sampler.
    make : callable
        ``make(noise, seed)``; seed is None for secure noise.
    data : callable
        Ordinary data, as keywords.
    pairs : callable
        Name → neighbours.
    asked : callable or None
        ``asked(statement, data, answers)``, the sampler's calls in order, the answers to the earlier ones being known;
        None where OpenDP's sampler is not what draws.
    numbers : callable
        Release → the released numbers, one array.
    through : callable or None
        ``through(data, answers)``, what `numbers` must be; None where a game is played on the answers.
    noisy : frozenset of str
        Attributes that depend on the noise.
    run : callable
        ``run(subject, data)``, the release: a fitted estimator, or what a function returns.
    learns : bool
        Whether it draws random numbers for other purposes than privacy, after the release (they are no noise).
    batches : bool
        Whether the operating system's words say which rows are in a batch.
    apart : bool
        Whether its study noise is drawn in a way of its own, and not by the sampler's stand-in.
    local : bool
        Whether each person's report is drawn from the operating system's words, and not from OpenDP's sampler.
    by_position : bool
        Whether a row's position decides what it is used for.
    rounded : float
        How far, relative to its size, a released number may be off because it is computed in another order. More than
        `ROUNDED` is relative to the largest number of the release.
    """

    name: str
    covers: tuple[Any, ...]
    relation: str | None
    make: Callable[[str, Any], Any]
    data: Callable[[], Data]
    pairs: Callable[[], Pairs]
    asked: Callable[[Any, Data, list[np.ndarray]], list[Asked]] | None
    numbers: Callable[[Any], np.ndarray]
    through: Callable[[Data, list[np.ndarray]], np.ndarray] | None
    noisy: frozenset[str]
    run: Callable[[Any, Data], Any] = field(default=lambda subject, data: run(subject, data))
    learns: bool = False
    batches: bool = False
    apart: bool = False
    local: bool = False
    by_position: bool = False
    rounded: float = ROUNDED

    def __str__(self) -> str:
        return self.name

    def release(self, data: Data, noise: str = "secure", seed: Any = None) -> Any:
        """Return what is released of data, by a new estimator or function."""
        return self.run(self.make(noise, seed), data)

    @property
    def secure(self) -> bool:
        """Whether secure noise is to be had."""
        return self.asked is not None or self.local


def run(subject: Any, data: Data) -> Any:
    """Fit an estimator, or call a function."""
    return subject.fit(**data) if hasattr(subject, "fit") else subject(**data)


def estimator(kind: type, **settings: Any) -> Callable[[str, Any], Any]:
    """Return what makes the estimator with these settings."""
    return lambda noise, seed: kind(**settings, noise=noise, random_state=seed)


def function(called: Callable[..., Any], **settings: Any) -> Callable[[str, Any], Any]:
    """Return what fills in a function's settings and source of noise."""

    def make(noise: str, seed: Any) -> Any:
        source = None if noise == "secure" else np.random.default_rng(seed)
        return functools.partial(called, **settings, noise=noise, rng=source)

    return make


def statement_of(release: Any) -> PrivacyStatement | None:
    """Return the statement beside a release; None if a bare sampler made it."""
    return getattr(release, "privacy_statement_", getattr(release, "privacy_statement", None))


def parts(release: Any) -> dict[str, Any]:
    """Return all that a release holds, by name; of an estimator what `fit` has set, its parameters being its user's."""
    if isinstance(release, BaseEstimator):
        return {name: value for name, value in vars(release).items() if name not in release.get_params()}
    if isinstance(release, dpf.SupportVectorPerturbation):
        return {name: value for name, value in vars(release).items() if name.endswith("_")}
    if hasattr(release, "_asdict"):
        return dict(release._asdict())
    if is_dataclass(release):
        return {one.name: getattr(release, one.name) for one in fields(release)} | vars(release)
    return {"value": release}


def cases() -> list[Case]:
    """Return all cases."""
    import cases_constrained
    import cases_counted
    import cases_counts
    import cases_functional
    import cases_game
    import cases_joined
    import cases_learners
    import cases_local
    import cases_networks
    import cases_opportunity
    import cases_preparation
    import cases_samplers
    import cases_several
    import cases_steps
    import cases_study

    rooms = (
        cases_constrained, cases_counted, cases_counts, cases_functional, cases_game, cases_joined, cases_learners,
        cases_local, cases_networks, cases_opportunity, cases_preparation, cases_samplers, cases_several, cases_steps,
        cases_study,
    )  # fmt: skip
    return [case for room in rooms for case in room.CASES]
