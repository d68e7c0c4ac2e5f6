"""A release under audit: two neighbours, and a score of what is released of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib.privacy import PrivacyStatement, audit_approximate

FAILURE = 1e-3
"""Probability that any of the bounds of a record exceeds the true ε."""


@dataclass(frozen=True)
class Audited:
    """A release under audit.

    Attributes
    ----------
    pair : (data, data)
        Two neighbours.
    release : callable
        ``release(data, size, seed)`` returns the scores of so many runs, and the statement of one of them.
    many : bool
        Whether runs come many at a time.
    """

    pair: tuple[Any, Any]
    release: Callable[[Any, int, int], tuple[np.ndarray, PrivacyStatement]]
    many: bool = False


def one_by_one(
    fit: Callable[[Any, int], Any], score: Callable[[Any], float]
) -> Callable[[Any, int, int], tuple[np.ndarray, PrivacyStatement]]:
    """Return a release of estimators that are fitted one by one, ``fit(data, seed)``, each reduced to its score."""

    def release(data: Any, size: int, seed: int) -> tuple[np.ndarray, PrivacyStatement]:
        fitted = [fit(data, seed + at) for at in range(size)]
        statement = getattr(fitted[0], "privacy_statement_", None) or fitted[0].privacy_statement
        return np.array([score(each) for each in fitted]), statement

    return release


def changed(values: np.ndarray, at: int, value: Any) -> np.ndarray:
    """Return an array with another value at one place."""
    other = values.copy()
    other[at] = value
    return other


def audit_of(
    name: str, one: Audited, size: int, *, seed: int, failure: float, noise: str
) -> dict[str, Any]:  # fmt: skip
    """Return what the audit of one release found, and what the release claims.

    Parameters
    ----------
    name : str
        Of the release.
    one : Audited
        The release.
    size : int
        Runs on each data set; half of them choose the event, half test it.
    seed : int
        Of study noise, and of what a learner draws for itself. Secure noise has none.
    failure : float
        Probability that the bound exceeds the true ε.
    noise : {"secure", "study"}
        What the release draws.

    Returns
    -------
    dict
        ``release, relation, noise, guarantee``; ``epsilon, delta`` as claimed; ``lower``, the bound; ``runs`` of the
        test, ``hits`` and ``others``, how many of them fell into the event on either data set.
    """
    rng = np.random.default_rng(seed)
    statements: list[PrivacyStatement] = []

    def mechanism(data: Any, count: int, source: np.random.Generator) -> np.ndarray:
        scores, statement = one.release(data, count, int(source.integers(2**31)))
        statements.append(statement)
        return scores

    _, statement = one.release(one.pair[0], 1, 0)
    found = audit_approximate(mechanism, [one.pair], size, failure, rng, statement.delta)
    assert all(each.epsilon == statement.epsilon for each in statements), "a statement depends on the data"
    return {
        "release": name, "relation": statement.relation, "noise": noise, "guarantee": statement.guarantee,
        "epsilon": statement.epsilon, "delta": statement.delta, "lower": found.epsilon_lower, "runs": found.runs,
        "hits": found.hits[0], "others": found.hits[1],
    }  # fmt: skip
