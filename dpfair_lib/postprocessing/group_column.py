"""`GroupColumn`: an estimator that reads the groups from a column, for tools that pass features and labels only."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from dpfair_lib._arguments import with_methods
from dpfair_lib._arrays import host_array
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._scoring import ScoredByLabels

Method = Callable[..., Any]


def _has(method: str) -> Callable[[Any], bool]:
    return lambda found: hasattr(getattr(found, "estimator_", found.estimator), method)


class GroupColumn(MetaEstimatorMixin, ScoredByLabels, BaseEstimator):
    """Give an estimator the groups that stand in columns of its features.

    Estimators of this library take ``sensitive_features``. Grid searches, cross-validation and pipelines pass features
    and labels only, unless metadata routing is switched on. This wrapper takes the groups from the features.

    The privacy is that of the estimator: the wrapper passes the values on, row by row, and keeps none.

    Parameters
    ----------
    estimator : estimator
        Whose ``fit`` takes ``sensitive_features``. It is cloned.
    group : str, int, list or callable
        The column, by name or place; a list of columns, whose tuples are the groups; or a function of the features
        that returns the group of each row, from this row alone.
    keep : bool, default=True
        Whether the estimator sees these columns among the features too. With a function it always does.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    classes_ : ndarray
        Its labels.
    n_features_in_ : int
        Number of features, with those of the group.
    feature_names_in_ : ndarray
        Their names, if there are any.

    Examples
    --------
    A cross-validation of a private and fair classifier, whose groups are in the column "sex":

    >>> import dpfair_lib as dpf
    >>> from sklearn.model_selection import cross_val_score
    >>> adult = dpf.synthetic("adult", n=600, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> X["sex"] = adult.sensitive_features.to_numpy()
    >>> model = dpf.PrivateFairClassifier(epsilon=1.0, delta=1e-6, feature_bound=1.5)
    >>> cross_val_score(dpf.GroupColumn(model, "sex", keep=False), X, adult.y, cv=3).shape
    (3,)

    scikit-learn hands the groups of a scorer to the metric alone, not to ``predict``. With this wrapper a
    post-processed classifier finds them in its features, so that a metric of this library can score it:

    >>> import sklearn
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import make_scorer
    >>> fair = dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor())
    >>> gap = make_scorer(dpf.demographic_parity_difference, greater_is_better=False)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scores = cross_val_score(
    ...         dpf.GroupColumn(fair, "sex", keep=False), X, adult.y, cv=3, params={"sensitive_features": X["sex"]},
    ...         scoring=gap.set_score_request(sensitive_features=True),
    ...     )
    >>> scores.shape
    (3,)
    """

    def __init__(self, estimator: Any, group: Any, *, keep: bool = True) -> None:
        self.estimator = estimator
        self.group = group
        self.keep = keep

    def _fits_with(self) -> list[Any]:
        return [self.estimator]

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of the estimator, with the groups.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Features, among them the group.
        y : array of shape (n,)
            Labels.

        Returns
        -------
        GroupColumn
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If there is no such column, if no other column is left, or as the estimator.
        """
        with_methods(self.estimator, "estimator", "fit", "predict", "get_params")
        y = host_array(y, "y")
        self._check(X, y)
        features, groups = self._parts(X)
        self.estimator_ = clone(self.estimator).fit(features, y, sensitive_features=groups)
        self.classes_ = np.asarray(getattr(self.estimator_, "classes_", [0, 1]))
        return self

    def predict(self, X: Any, **more: Any) -> Any:
        """Return the labels of rows; ``random_state=`` and the like go to the estimator."""
        return self._ask("predict", X, more)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the labels, in the order of `classes_`."""
        return self._ask("predict_proba", X, {})

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the estimator's score: of the randomised ones, the expected share of right labels.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Features, among them the group.
        y : array of shape (n,)
            True labels.
        sample_weight : array of shape (n,), optional
            Weights. By default all are equal.

        Returns
        -------
        float
            The score.
        """
        return float(self._ask("score", X, {"sample_weight": sample_weight}, y))

    def _ask(self, method: str, X: Any, more: dict[str, Any], *labels: Any) -> Any:
        check_is_fitted(self, "estimator_")
        self._check(X, reset=False)
        features, groups = self._parts(X)
        asked = getattr(self.estimator_, method)
        if "sensitive_features" in inspect.signature(asked).parameters:  # some need the groups to fit only
            more = {**more, "sensitive_features": groups}
        return asked(features, *labels, **more)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).classifier_tags
        tags.classifier_tags.multi_class = inner is not None and inner.multi_class
        tags.non_deterministic = True  # those that use the groups draw some labels
        return tags

    def _check(self, X: Any, *y: Any, reset: bool = True) -> None:
        if issparse(X):
            raise ValueError("X: found a sparse matrix, expected a dense array or a table")
        if np.ndim(X) != 2:
            raise ValueError(
                f"X: found {np.ndim(X)} dimension(s), expected rows and columns. Reshape your data"
            )
        validate_data(self, X, *y, skip_check_array=True, reset=reset)

    def _parts(self, X: Any) -> tuple[Any, Any]:
        """Return the features that the estimator sees, and the groups."""
        if callable(self.group):
            return X, self.group(X)
        if not isinstance(self.keep, bool | np.bool_):
            raise ValueError(f"keep: found {self.keep!r}, expected True or False")
        names = list(getattr(self, "feature_names_in_", []))
        wanted = self.group if isinstance(self.group, list) else [self.group]
        places = [names.index(one) if isinstance(one, str) and one in names else one for one in wanted]
        columns = range(self.n_features_in_)
        for one in places:
            if isinstance(one, bool) or not isinstance(one, int | np.integer) or one not in columns:
                known = names or f"places from 0 to {self.n_features_in_ - 1}"
                raise ValueError(f"group: found {one!r}, expected columns among {known}")
        rest = [at for at in columns if at not in places]
        if not self.keep and not rest:
            raise ValueError("keep: found False and no other column, expected features beside the group")
        groups = _safe_indexing(X, places, axis=1)
        return X if self.keep else _safe_indexing(X, rest, axis=1), groups
