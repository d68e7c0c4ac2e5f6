"""A release under audit: two neighbours, and a score of what is released of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfair_lib.privacy import PrivacyStatement


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
