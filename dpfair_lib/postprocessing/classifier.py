"""`PostprocessedClassifier`: a classifier and a post-processor of its labels, as one estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _is_fitted, _num_samples, check_is_fitted, validate_data

from dpfair_lib._arguments import with_methods
from dpfair_lib._arrays import host_array
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._labels import places
from dpfair_lib._scoring import ScoredByChances
from dpfair_lib._validation import as_levels, same_rows
from dpfair_lib.fairness.draws import drawn_labels

SCORES = (None, "predict_proba", "decision_function")


class PostprocessedClassifier(MetaEstimatorMixin, ScoredByChances, ClassifierMixin, BaseEstimator):
    """Train a classifier, and let a post-processor change its labels; both from features, labels and groups.

    It can stand at the end of a pipeline, in a grid search and in a cross-validation: with scikit-learn's metadata
    routing (``set_fit_request(sensitive_features=True)`` and so on for predict and score), or inside a `GroupColumn`,
    which takes the groups from a column of the features.

    It states no privacy. A private post-processor protects the rows that it counts, and that is only worth something if
    the classifier is private too or fixed beforehand (``prefit=True``). `PrivateFairClassifier` makes both private, and
    adds up what they cost.

    Parameters
    ----------
    estimator : classifier or None
        Of two classes, which may be words. It is cloned, unless ``prefit``. With None there is no classifier, and X is
        the predicted labels themselves: so a post-processor alone takes and gives words.
    postprocessor : estimator
        `FairPostprocessor`, `PrivateFairPostprocessor` or `EqualizedOddsPostprocessor`. It is cloned.
    prefit : bool, default=False
        Whether the classifier was fitted before, on other rows. `fit` then leaves it as it is.
    scores : {None, "predict_proba", "decision_function"}, default=None
        What of the classifier orders the rows, for `FairPostprocessor`: the least certain are changed first. With None
        they are drawn at random.

    Attributes
    ----------
    estimator_, postprocessor_ : estimator
        Both, fitted; ``estimator_`` is None without a classifier.
    classes_ : ndarray of shape (2,)
        The two labels, sorted; the second is the positive one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, if there are any.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> X = adult.X[["age", "education-num"]].assign(sex=adult.sensitive_features.to_numpy())
    >>> learner = make_pipeline(StandardScaler(), LogisticRegression())
    >>> fair = dpf.PostprocessedClassifier(learner, dpf.FairPostprocessor(), scores="predict_proba")
    >>> model = dpf.GroupColumn(fair, "sex", keep=False).fit(X, adult.y)
    >>> chances = model.predict_proba(X)[:, 1]
    >>> print(f"{dpf.demographic_parity_difference(adult.y, chances, sensitive_features=X['sex']):.3f}")
    0.000

    Labels that a classifier of another library predicted, as words:

    >>> y_pred, group = ["yes", "yes", "no", "yes", "no", "no"], list("aaabbb")
    >>> alone = dpf.PostprocessedClassifier(None, dpf.FairPostprocessor())
    >>> alone = alone.fit(y_pred, ["yes", "no", "no", "yes", "yes", "no"], sensitive_features=group)
    >>> alone.classes_.tolist(), alone.predict_proba(y_pred, sensitive_features=group)[:, 1].tolist()
    (['no', 'yes'], [0.75, 0.75, 0.0, 1.0, 0.25, 0.25])
    """

    def __init__(
        self, estimator: Any, postprocessor: Any, *, prefit: bool = False, scores: str | None = None
    ) -> None:
        self.estimator = estimator
        self.postprocessor = postprocessor
        self.prefit = prefit
        self.scores = scores

    def _fits_with(self) -> list[Any]:
        kept = self.prefit or self.estimator is None
        return [self.postprocessor] if kept else [self.estimator, self.postprocessor]

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Train the classifier, and the post-processor on its labels of the same rows.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Features; without a classifier the predicted labels, of shape (n,) or (n, 1).
        y : array of shape (n,)
            Labels, of two kinds.
        sensitive_features : array of shape (n,) or (n, c)
            Group of each row.

        Returns
        -------
        PostprocessedClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If there are not two labels, if a parameter is unknown, or as the classifier and the post-processor.
        NotFittedError
            If ``prefit`` is True and the classifier is not fitted.
        """
        if not isinstance(self.prefit, bool | np.bool_):
            raise ValueError(f"prefit: found {self.prefit!r}, expected True or False")
        if self.scores not in SCORES:
            raise ValueError(f"scores: found {self.scores!r}, expected one of {', '.join(map(repr, SCORES))}")
        if self.estimator is not None:
            with_methods(self.estimator, "estimator", "fit", "predict", "get_params")
        elif self.prefit or self.scores is not None:
            found = f"prefit={self.prefit}, scores={self.scores!r}"
            raise ValueError(f"estimator: found None beside {found}, expected prefit=False and scores=None")
        with_methods(self.postprocessor, "postprocessor", "fit", "predict_proba", "get_params")
        y, sensitive_features = host_array(y, "y"), host_array(sensitive_features, "sensitive_features")
        if np.ndim(X) and _num_samples(X) == 0:
            raise ValueError("X: found 0 rows, expected at least 1")
        self._check(X, y)
        if self.prefit and not _is_fitted(self.estimator):
            raise NotFittedError(
                f"prefit: found True and {self.estimator!r} not fitted, expected a fitted estimator"
            )
        kept = self.prefit or self.estimator is None
        self.estimator_ = self.estimator if kept else clone(self.estimator).fit(X, y)
        classes = getattr(self.estimator_, "classes_", None)
        self.classes_ = as_levels(y, "y", of="label")[0] if classes is None else np.asarray(classes)
        if len(self.classes_) != 2:
            raise ValueError(
                f"y: found {len(self.classes_)} classes, expected 2. Only binary classification is supported. "
                f"The type of the target is {type_of_target(y)}."
            )
        truth = places(y, self.classes_.tolist(), "y", of="label")
        labels = {} if self.scores is None else {"scores": self._order(X)}
        self.postprocessor_ = clone(self.postprocessor).fit(
            self._labels(X), truth, sensitive_features=sensitive_features, **labels
        )
        return self

    @same_rows
    def predict_proba(self, X: Any, *, sensitive_features: Any) -> np.ndarray:
        """Return the exact probabilities of the two labels, over the random changes.

        Parameters
        ----------
        X, sensitive_features
            As in `fit`.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities, in the order of `classes_`.

        Raises
        ------
        ValueError
            If an argument is malformed, or if a group was not known in `fit`.
        """
        check_is_fitted(self, "postprocessor_")
        self._check(X, reset=False)
        more = {} if self.scores is None else {"scores": self._order(X)}
        chances = self.postprocessor_.predict_proba(
            self._labels(X), sensitive_features=sensitive_features, **more
        )
        return np.asarray(chances)

    def predict(self, X: Any, *, sensitive_features: Any, random_state: Any = None) -> np.ndarray:
        """Return labels after random changes.

        Parameters
        ----------
        X, sensitive_features
            As in `fit`.
        random_state : int, numpy.random.Generator, numpy.random.RandomState, PersonalDraws or None
            Source of the draws. With None, every call draws differently; with ``StableAnswers().of(identifiers)`` the
            same person gets the same answer at every call.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.

        Raises
        ------
        ValueError
            As `predict_proba`.
        """
        chances = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        return np.asarray(self.classes_[drawn_labels(chances, random_state)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = True
        return tags

    def _check(self, X: Any, *y: Any, reset: bool = True) -> None:
        if self.estimator is not None:
            validate_data(self, X, *y, skip_check_array=True, reset=reset)
        elif reset:
            self.n_features_in_ = 1

    def _labels(self, X: Any) -> np.ndarray:
        predicted = X if self.estimator_ is None else self.estimator_.predict(X)
        return places(predicted, self.classes_.tolist(), "y_pred", of="label")

    def _order(self, X: Any) -> np.ndarray:
        found = np.asarray(getattr(self.estimator_, str(self.scores))(X))
        return found[:, 1] if self.scores == "predict_proba" else found
