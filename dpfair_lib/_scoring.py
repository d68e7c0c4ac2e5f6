"""The score of a classifier that answers at random: the expected share of right labels, computed without drawing."""

from __future__ import annotations

from inspect import isfunction
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from dpfair_lib._labels import places
from dpfair_lib._validation import as_numbers, check_lengths, check_row_labels, same_rows


def expected_accuracy(chances: np.ndarray, y: Any, classes: Any, sample_weight: Any) -> float:
    """Return the mean chance of the true label, of rows with weights.

    Raises
    ------
    ValueError
        If a label is unknown, or a weight is negative, or all are 0.
    """
    right = places(y, np.asarray(classes).tolist(), "y", of="label")
    weights = np.ones(len(right)) if sample_weight is None else as_numbers(sample_weight, "sample_weight")
    check_lengths(X=chances, y=right, sample_weight=weights)
    if (weights < 0).any() or not weights.any():
        raise ValueError(
            "sample_weight: found a negative number or only 0, expected numbers of at least 0, not all 0"
        )
    return float(np.average(chances[np.arange(len(right)), right], weights=weights.astype(float)))


def named(method: Any, owner: type) -> Any:
    """Return a copy of an inherited method whose errors name the class that the caller knows.

    Python names the class that defines a method where an argument is missing, and that one is not public.
    """
    inner = getattr(method, "__wrapped__", method)
    copy: Any = FunctionType(inner.__code__, inner.__globals__, inner.__name__, None, inner.__closure__)
    for detail in ("__defaults__", "__kwdefaults__", "__annotations__", "__doc__", "__module__"):
        setattr(copy, detail, getattr(inner, detail))
    copy.__qualname__ = f"{owner.__qualname__}.{inner.__name__}"
    return copy if inner is method else same_rows(copy)


def _is_plain(method: Any) -> bool:
    """Say whether nothing but `same_rows` wraps a method: a copy would lose any other decorator."""
    inner = getattr(method, "__wrapped__", None)
    return inner is None or (method.__code__ is _PAIRED and not hasattr(inner, "__wrapped__"))


_PAIRED = same_rows(named).__code__


class ScoredByChances:
    """Adds a score to a classifier whose ``predict_proba`` takes the groups, and names such methods after its class."""

    predict_proba: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("predict", "predict_proba", "score"):
            method = getattr(cls, name, None)
            if isfunction(method) and name not in vars(cls) and _is_plain(method):
                setattr(cls, name, named(method, cls))

    def score(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
        """Return the expected accuracy, over the random changes, on some rows.

        Parameters
        ----------
        X : array
            What `predict_proba` takes first: features, predicted labels, or probabilities.
        y : array of shape (n,)
            True labels.
        sensitive_features : array of shape (n,) or (n, c)
            Group of each row.
        sample_weight : array of shape (n,), optional
            Weight of each row, at least 0. By default all are equal.

        Returns
        -------
        float
            A number in [0, 1]. The same at every call, as nothing is drawn.

        Raises
        ------
        ValueError
            As `predict_proba`; if a label is unknown, or a weight is negative, or all are 0.
        """
        check_row_labels(X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        chances = self.predict_proba(X, sensitive_features=sensitive_features)
        return expected_accuracy(chances, y, getattr(self, "classes_", [0, 1]), sample_weight)


class ScoredByLabels(ClassifierMixin):
    """A classifier whose ``score`` refuses rows of other labels, as its ``fit`` does."""

    @same_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose predicted label is the true one.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        y : array of shape (n,)
            True labels.
        sample_weight : array of shape (n,), optional
            Weight of each row.

        Returns
        -------
        float
            A number in [0, 1].
        """
        return float(super().score(X, y, sample_weight))
