"""A private choice among several private models, with the cost of every fit and of the choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from dpfair_lib._arguments import positive
from dpfair_lib._fitting import UnseededIfSecure, declares_statement, whole_or_not_at_all
from dpfair_lib._progress import Progress
from dpfair_lib._scoring import ScoredByLabels
from dpfair_lib._validation import as_count, as_vector, check_lengths
from dpfair_lib.preparation.cells import columns_of
from dpfair_lib.preparation.choices import choose_largest
from dpfair_lib.preparation.pipeline import stated_relation
from dpfair_lib.privacy import PrivacyStatement, compose
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.sampling import Noise

Method = TypeVar("Method", bound=Callable[..., Any])


def _best_has(method: str) -> Callable[[Method], Method]:
    def has(selection: Any) -> bool:
        one = getattr(selection, "best_estimator_", None) or selection.candidates[0]
        getattr(one, method)  # its AttributeError says what is lacking
        return True

    return cast("Callable[[Method], Method]", available_if(has))


class PrivateSelection(MetaEstimatorMixin, ScoredByLabels, UnseededIfSecure):
    """Fit several private classifiers, and choose one by its correct answers on held-out rows, privately.

    All fits are counted, also those whose model is not chosen. Every ``holdout_every``-th row is held out; the other
    rows train all candidates. The exponential mechanism chooses, by the number of correct answers on the held-out
    rows. One replaced row is in one part only, so the whole costs the larger of the two: all fits together, or the
    choice. So the choice is free as long as its ε is at most that of the fits.

    Parameters
    ----------
    candidates : list of classifiers
        Private ones, pipelines for example; their classes declare ``privacy_statement_``. Their statements must be of
        one relation, which is not "add-remove": there a row more would move the rows after it into the other part.
    epsilon : float
        ε > 0 of the choice.
    holdout_every : int, default=5
        Which rows are held out, at least 2. If the order of the rows has this period, shuffle them first.
    delta : float, optional
        δ in (0, 1) of the fits together, as in `PrivatePipeline`. None adds ε and δ up.
    noise : {"secure", "study"}, default="secure"
        Noise of the choice. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Seed of study noise. Must be None for secure noise.
    verbose : bool, default=False
        Whether to show on the standard error how many candidates are done, after two seconds and then every ten.

    Attributes
    ----------
    best_index_ : int
        Place of the chosen candidate.
    best_estimator_ : estimator
        The chosen one, fitted on the rows that are not held out.
    classes_ : ndarray
        Its labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Their names, if there are any.
    privacy_statement_ : PrivacyStatement
        What all fits and the choice cost together.

    Notes
    -----
    The number of correct answers of each candidate moves by at most 1 if a held-out row is replaced. It is not kept,
    since that would be a release of its own. An open `Budget` is charged by each fit and by the choice, one by one. It
    does not know that they use different rows.

    The candidates could also be drawn at random a random number of times, and the best released. That costs 2 + η times
    one fit *with its score*, however many candidates there are (`privacy.stopped_epsilon`). It is not used here, for
    three reasons. Each score would have to be private, or be counted as part of its fit. The number of fits must stay
    unseen, and the time of `fit` shows it. And that bound is for pure ε or Rényi divergences, while a candidate may
    state any (ε, δ). With two candidates of equal ε this class costs 2ε, and the other way more. With many, the other
    way costs less.

    References
    ----------
    McSherry and Talwar (2007) for the choice; McSherry (2009) for disjoint parts.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> candidates = [
    ...     dpf.PrivatePipeline([
    ...         ("scale", dpf.PublicScaler({0: bounds, 1: bounds})),
    ...         ("learn", dpf.ObjectivePerturbation(feature_bound=1.5, epsilon=1.0, delta=1e-6)),
    ...     ])
    ...     for bounds in ((100, 200), (-3, 3))
    ... ]
    >>> chosen = dpf.PrivateSelection(candidates, epsilon=2.0).fit(X, y)
    >>> chosen.best_index_, chosen.privacy_statement_.epsilon
    (1, 2.0)
    """

    privacy_statement_: PrivacyStatement

    def __init__(
        self, candidates: list[Any], *, epsilon: float, holdout_every: int = 5, delta: float | None = None,
        noise: Noise = "secure", random_state: Any = None, verbose: bool = False,
    ) -> None:  # fmt: skip
        self.candidates = candidates
        self.epsilon = epsilon
        self.holdout_every = holdout_every
        self.delta = delta
        self.noise = noise
        self.random_state = random_state
        self.verbose = verbose

    @property
    def stated_relation(self) -> str:
        """Which data sets are neighbours in the statement, as far as the candidates say it before they are fitted."""
        return next(filter(None, map(stated_relation, self.candidates)), "")

    @property
    def classes_(self) -> Any:
        """The labels of the chosen candidate."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any) -> Self:
        """Fit all candidates on one part of the rows, and choose one by the other part.

        Parameters
        ----------
        X : DataFrame or array of shape (n, d)
            Rows.
        y : array of shape (n,)
            Labels.

        Returns
        -------
        PrivateSelection
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range, if a candidate does not declare its statement, if there are too few
            rows, if the candidates' statements speak of several relations or of "add-remove"; whatever a candidate
            raises.
        """
        every, epsilon = self._check()
        source = NoiseSource.of(self.noise, self.random_state)
        if y is None:
            raise ValueError(
                "y: found None, expected a label for every row; it requires y to be passed, but the target y is None"
            )
        labels, columns = as_vector(y, "y"), columns_of(X)
        if not columns:
            raise ValueError(f"X: found 0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required.")
        check_lengths(X=next(iter(columns.values())), y=labels)
        validate_data(self, X, skip_check_array=True)
        held = np.arange(len(labels)) % every == every - 1
        if not held.any():
            raise ValueError(f"X: found {len(labels)} rows, expected at least holdout_every = {every}")
        fitted, progress = [], Progress("candidates", len(self.candidates))
        for one in self.candidates:
            fitted.append(clone(one).fit(_rows(X, ~held), labels[~held]))
            progress.add()
        fits = compose(*(one.privacy_statement_ for one in fitted), delta=self.delta)
        choice = source.mark(PrivacyStatement(
            epsilon, 0.0, fits.relation, unit=fits.unit, public=("which rows are held out",),
            mechanism=(Mechanism("stated", epsilon),),
        ))  # fmt: skip
        self.privacy_statement_ = compose(fits, choice, parallel="position")
        unseen = _rows(X, held)
        with np.errstate(
            all="ignore"
        ):  # a huge entry of a held-out row overflows, and the warning would tell
            answers = [np.asarray(one.predict(unseen)) for one in fitted]
        correct = np.array([int((answer == labels[held]).sum()) for answer in answers])
        self.best_index_ = choose_largest(correct, epsilon, source)
        self.best_estimator_ = fitted[self.best_index_]
        return self

    def _check(self) -> tuple[int, float]:
        if not isinstance(self.candidates, list | tuple) or not self.candidates:
            raise ValueError(
                f"candidates: found {self.candidates!r}, expected a list of one private classifier or more"
            )
        for one in self.candidates:
            if not declares_statement(one):
                raise ValueError(
                    f"candidates: found a {type(one).__name__}, which does not declare privacy_statement_, expected "
                    "private classifiers only: the choice tells of every model that it looks at"
                )
        relations = sorted(set(filter(None, map(stated_relation, self.candidates))))
        if len(relations) > 1:
            raise ValueError(
                f"candidates: found the relations {', '.join(relations)}, expected one for all candidates"
            )
        if relations == ["add-remove"]:
            raise ValueError(
                "candidates: found the relation 'add-remove', under which a row more moves the rows after it into the "
                "other part; expected another relation"
            )
        return as_count(self.holdout_every, "holdout_every", 2), positive(self.epsilon, "epsilon")

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> Any:
        """Return the chosen candidate's predictions."""
        return self._best().predict(X)

    @_best_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the chosen candidate's probabilities."""
        return self._best().predict_proba(X)

    @_best_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the chosen candidate's scores."""
        return self._best().decision_function(X)


def _rows(X: Any, chosen: np.ndarray) -> Any:
    return _safe_indexing(X if hasattr(X, "shape") else np.array(X, dtype=object), np.flatnonzero(chosen))
