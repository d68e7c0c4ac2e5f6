"""What linear classifiers have in common: prediction and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from dpfair_lib._arrays import host_array
from dpfair_lib._fitting import UnseededIfSecure
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._lists import labels_of_list
from dpfair_lib._scoring import ScoredByLabels
from dpfair_lib._validation import written_alike
from dpfair_lib.learners.losses import Loss
from dpfair_lib.privacy import PrivacyStatement

# The largest entry of X and the largest weight. Beyond, the norm of a gradient overflows, and clipping by it would
# drop the record; or the loss does.
WIDEST, HEAVIEST = 1e100, 1e200


LEFT_OUT = "not counted: other fits on these rows, such as those of a scaler or of a grid search"
"""What a learner's statement adds for those who fit more than once: it covers its own fit only."""


class LinearClassifier(ScoredByLabels, UnseededIfSecure):
    """One linear model of two classes, or an array of them that is trained in one call.

    A subclass sets ``classes_``, ``coef_`` of shape (…, 1, d) and ``intercept_`` of shape (…, 1); the leading axes
    are those of the array. It sets ``privacy_statement_`` too. ``loss`` says what the scores are: log-odds under the
    logistic loss, which alone gives probabilities.
    """

    loss: Loss = "logistic"
    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    privacy_statement_: PrivacyStatement

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows. A positive score means the second of `classes_`.

        Under the logistic loss the score is the log-odds of the second class.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,), or (…, n) for several models
            Scores.

        Raises
        ------
        ValueError
            If X is malformed, or if its features differ from those in `fit`.
        """
        check_is_fitted(self, "coef_")
        (features,) = checked(self, X, reset=False)
        return np.asarray((features @ np.swapaxes(self.coef_, -1, -2))[..., 0] + self.intercept_)

    @available_if(lambda self: self.loss == "logistic")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the model's probabilities of the two classes.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n, 2), or (…, n, 2) for several models
            Probabilities, in the order of `classes_`.

        Raises
        ------
        ValueError
            If X is malformed, or if its features differ from those in `fit`.
        """
        odds = self.decision_function(X)
        return np.stack([expit(-odds), expit(odds)], axis=-1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the more likely class of each row.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, as in `decision_function`.

        Returns
        -------
        ndarray of shape (n,), or (…, n) for several models
            Labels from `classes_`.

        Raises
        ------
        ValueError
            If X is malformed, or if its features differ from those in `fit`.
        """
        second = self.decision_function(X) > 0
        return np.asarray(self.classes_[second.astype(int)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def checked(estimator: Any, X: Any, *y: Any, reset: bool = True) -> tuple[np.ndarray, ...]:
    """Return features as 64-bit floats, and labels if given, after scikit-learn's checks; no finite entry warns.

    scikit-learn adds all entries up before it looks at each. For large entries of both signs halves of that sum are
    ∞ and −∞, and NumPy warns of what they make together, which would tell of a row.

    Parameters
    ----------
    estimator : LinearClassifier
        Which keeps the number of features and their names, or compares them if ``reset`` is False.
    X, y : array
        Features, and labels or nothing.
    reset : bool
        Whether this is a fit.

    Returns
    -------
    tuple of ndarray
        Features; labels too, if they were given.

    Raises
    ------
    ValueError
        As `validate_data`; if an integer is larger than any float.
    """
    try:
        with np.errstate(all="ignore"):
            labels = [host_array(labels_of_list(values), "y") for values in y]
            found = validate_data(estimator, host_array(X, "X"), *labels, reset=reset, dtype=np.float64)
    except OverflowError:
        raise ValueError("X: found a number that no float can hold, expected smaller ones") from None
    return found if y else (found,)


def two_labels(labels: np.ndarray, known: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the two labels, sorted, and each row's index into them.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Label of each row.
    known : sequence of two labels, optional
        The labels, fixed beforehand; one of them may then be that of no row.

    Raises
    ------
    ValueError
        If there are not two labels, or another than the known ones.
    """
    if known is not None:
        return _known_labels(
            labels, known
        )  # scikit-learn's check would refuse halves, but only where one occurs
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"y: found {len(classes)} classes, expected 2. Only binary classification is supported. "
            f"The type of the target is {type_of_target(labels)}."
        )
    if len(classes) < 2:
        raise ValueError(f"y: found one class ({classes[0]!r}), expected 2")
    return written_alike(classes), codes


def _known_labels(labels: np.ndarray, known: Any) -> tuple[np.ndarray, np.ndarray]:
    pair = declared_labels(known, "classes", least=2, most=2, ordered=True)
    return np.sort(np.asarray(known)), places(labels, pair, "y", of="")
