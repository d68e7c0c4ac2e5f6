"""The exponential-mechanism learner: a hypothesis chosen privately for small error and small discrimination."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from dpfair_lib._arguments import below_one, positive
from dpfair_lib._fitting import UnseededIfSecure, whole_or_not_at_all
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._scoring import ScoredByChances
from dpfair_lib._validation import as_binary, as_probabilities, check_lengths, same_rows
from dpfair_lib.compatibility.private_learner.choice_law import (
    Rule,
    inverse_scale,
    printed_delta,
    pure_slope,
    shift,
)
from dpfair_lib.compatibility.private_learner.sample_losses import SampleLosses, sample_losses
from dpfair_lib.fairness.draws import drawn_labels
from dpfair_lib.learners.linear import LEFT_OUT
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import noise_scale
from dpfair_lib.privacy.sampling import Noise

Hypothesis = Callable[[Any, Any], Any]

_ALIKE = (
    1e-6  # two values of one hypothesis for one row; a product of matrices rounds by how many rows it has
)
_LEAST = 2 / float(np.finfo(float).max)  # below, the scale of the noise, 1/ε, is infinite
_NOT_PRIVATE = (
    "cgkm.thm-2.privacy: the printed scale is too small, or negative, where a group has few positives"
)


class ExponentialFairLearner(ScoredByChances, UnseededIfSecure):
    """Choose privately one of finitely many hypotheses, for small error plus small discrimination.

    The loss of a hypothesis h is u(h) = Γ(h) + err(h): the difference between the two groups' true positive rates, plus
    the error rate. A noisy count M of positives, for the group with fewer of them, determines the scale Δ. Then h is
    drawn with probability proportional to exp(−ε u(h)/(2Δ)). The count costs ε and the choice costs ε, so the release
    costs **2ε**.

    Parameters
    ----------
    hypotheses : sequence or array of callables
        Each maps ``(X, sensitive_features)`` to the probabilities of label 1, an array of shape (n,) in [0, 1]. Fix
        them without looking at the data. The value for a row must depend on that row alone; a hypothesis that
        standardises X, for example, would void the guarantee. `fit` also evaluates halves of the rows and raises if a
        value changes by more than 10⁻⁶. This test never rejects a function of one row, but it cannot find every other
        function.
    epsilon : float
        ε of each of the two steps, as published.
    delta : float or "printed"
        δ in (0, 1); "printed" means exp(−√n), as published. With ``repair="pure"`` it must be 0.
    repair : bool or "pure"
        True: M is raised to at least 1, and Δ = max(2/(M + 1), 1/M + 1/n), the exact joint sensitivity. This is (2ε,
        δ)-private for every sample, even if a group has no positives. False: Δ = 2/(M − 1) + 1/n, as published, which
        is not private. "pure": no noisy count; h is drawn with probability proportional to exp(−2ε m u(h)/5), where m
        is the exact smaller count, which is (2ε, 0)-private.
    groups : pair
        The two labels in ``sensitive_features``, known beforehand. A group may have no rows.
    noise : {"secure", "study"}
        "secure" uses OpenDP's samplers. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    hypothesis_ : callable
        The chosen hypothesis.
    index_ : int
        Its position among the hypotheses.
    noisy_count_ : float
        M, which the statement covers too; absent with ``repair="pure"``.
    privacy_statement_ : PrivacyStatement
        What the release costs, for neighbours that differ in one record.

    References
    ----------
    Cummings et al. (2019), Algorithm 1 and Theorem 2. The repaired scale and the pure learner are ours.

    Examples
    --------
    Choose one of two rules for adults' incomes.

    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=1000, random_state=0)
    >>> rules = [lambda X, group: (X["age"] > 40) * 1.0, lambda X, group: (X["education-num"] > 12) * 1.0]
    >>> learner = dpf.ExponentialFairLearner(rules, epsilon=1.0, delta=1e-6, groups=("Female", "Male"))
    >>> learner = learner.fit(adult.X, adult.y, sensitive_features=adult.sensitive_features)
    >>> print(learner.privacy_statement_)
    ε = 2, δ = 1e-06, replace-one, per record; public: number of rows, the hypotheses, each a function of one row, the
    two group labels; not counted: other fits on these rows, such as those of a scaler or of a grid search
    """

    privacy_statement_: PrivacyStatement
    stated_relation = "replace-one"

    def __init__(
        self, hypotheses: Sequence[Hypothesis], *, epsilon: float, delta: Any, repair: Any = True,
        groups: tuple[Any, Any] = (0, 1), noise: Noise = "secure", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.hypotheses = hypotheses
        self.epsilon = epsilon
        self.delta = delta
        self.repair = repair
        self.groups = groups
        self.noise = noise
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Choose a hypothesis.

        Parameters
        ----------
        X : array or table with n rows
            Anything that the hypotheses accept.
        y : array of shape (n,)
            Labels 0 and 1.
        sensitive_features : array of shape (n,)
            Group of each row, one of ``groups``.

        Returns
        -------
        ExponentialFairLearner
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If there are no hypotheses; if a hypothesis does not return n numbers in [0, 1], or returns other values for
            half of the rows; if an argument is out of its range; if pandas inputs have different row labels; if a group
            is unknown. With ``repair=False`` also if a group has fewer than two positives.
        """
        self.__dict__.pop("noisy_count_", None)  # of an earlier fit: the pure learner has none
        epsilon, source = positive(self.epsilon, "epsilon"), NoiseSource.of(self.noise, self.random_state)
        labels = as_binary(y, "y")
        statement = self._statement(len(labels), source)
        codes = places(
            sensitive_features, declared_labels(self.groups, "groups", least=2, most=2), "sensitive_features"
        )
        check_lengths(y=labels, sensitive_features=codes)
        hypotheses = _listed(self.hypotheses)
        losses = sample_losses(_predictions(hypotheses, X, sensitive_features, len(labels)), labels, codes)
        slope = self._slope(losses, epsilon, statement.delta, len(labels), source)
        self.index_ = source.choose(-slope * losses.total)
        self.hypothesis_: Hypothesis = hypotheses[self.index_]
        self.privacy_statement_ = statement
        return self

    @same_rows
    def predict_proba(self, X: Any, *, sensitive_features: Any) -> np.ndarray:
        """Return the probabilities of the labels 0 and 1 under the chosen hypothesis, an array of shape (n, 2)."""
        check_is_fitted(self, "hypothesis_")
        check_consistent_length(X, sensitive_features)  # the hypothesis may look at one of them alone
        chances = _values(self.hypothesis_, X, sensitive_features, self.index_)
        return np.column_stack([1 - chances, chances])

    @same_rows
    def predict(self, X: Any, *, sensitive_features: Any, random_state: Any = None) -> np.ndarray:
        """Return labels by the chosen hypothesis.

        If the hypothesis is randomised, the label of each row is drawn with ``random_state``.
        """
        chances = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        return drawn_labels(chances, random_state)

    def _slope(
        self, losses: SampleLosses, epsilon: float, delta: float, n: int, source: NoiseSource
    ) -> float:
        """How fast the logarithm of the probability falls with the loss."""
        smallest = min(losses.counts)
        if _is_pure(self.repair):
            return pure_slope(smallest, epsilon)
        if not self.repair and smallest < 2:
            raise ValueError(
                f"y: found {losses.counts[0]} and {losses.counts[1]} records with label 1 in the two groups, expected "
                "at least 2 in each: the printed algorithm assumes it, and repair=True does not need it"
            )
        noisy = float(source.add_laplace([smallest], noise_scale(1, epsilon))[0])
        rule: Rule = "repaired" if self.repair else "printed"
        self.noisy_count_ = noisy - shift(epsilon, delta, rule)
        return float(np.clip(inverse_scale(self.noisy_count_, n, rule), -1e300, 1e300)) * epsilon / 2

    def _statement(self, n: int, source: NoiseSource) -> PrivacyStatement:
        epsilon = 2 * positive(self.epsilon, "epsilon")
        if math.isinf(epsilon) or epsilon < _LEAST:
            raise ValueError(
                f"epsilon: found {self.epsilon!r}, expected a number for which 2·epsilon and 1/epsilon are finite"
            )
        if not (isinstance(self.repair, bool | np.bool_) or _is_pure(self.repair)):
            raise ValueError(f"repair: found {self.repair!r}, expected True, False or 'pure'")
        if _is_pure(self.repair):
            if isinstance(self.delta, str) or below_one(self.delta, "delta") != 0:
                raise ValueError(f"delta: found {self.delta!r} beside repair='pure', expected 0")
            delta = 0.0
        else:
            delta = printed_delta(n) if self.delta == "printed" else below_one(self.delta, "delta")
            shift(1.0, delta)  # refuses δ = 0
        public = ("number of rows", "the hypotheses, each a function of one row", "the two group labels")
        if self.repair:
            return source.mark(PrivacyStatement(epsilon, delta, "replace-one", public=public, note=LEFT_OUT))
        statement = PrivacyStatement(
            epsilon, delta, "replace-one", public=public, guarantee=False, note=_NOT_PRIVATE
        )
        return source.mark(statement)


def _is_pure(repair: Any) -> bool:
    return isinstance(repair, str) and repair == "pure"


def _listed(hypotheses: Any) -> list[Hypothesis]:
    found = hypotheses.tolist() if isinstance(hypotheses, np.ndarray) else hypotheses
    if not isinstance(found, Sequence) or isinstance(found, str) or not found:
        raise ValueError(f"hypotheses: found {hypotheses!r}, expected a sequence of at least one callable")
    return list(found)


def _predictions(hypotheses: list[Hypothesis], X: Any, sensitive_features: Any, n: int) -> np.ndarray:
    rows = []
    for place, hypothesis in enumerate(hypotheses):
        rows.append(_values(hypothesis, X, sensitive_features, place))
        if len(rows[-1]) != n:
            raise ValueError(f"hypotheses[{place}]: found {len(rows[-1])} values, expected {n}")
        for half in (np.arange(n // 2), np.arange(n // 2, n)):
            part = _safe_indexing(X, half), _safe_indexing(sensitive_features, half)
            if not len(half):
                continue
            again = _values(hypothesis, *part, place)
            if len(again) != len(half) or not np.allclose(again, rows[-1][half], rtol=0, atol=_ALIKE):
                raise ValueError(
                    f"hypotheses[{place}]: found other values for the same rows when called with half of them, "
                    "expected a function of each row alone: privacy rests on that"
                )
    return np.array(rows)


def _values(hypothesis: Any, X: Any, sensitive_features: Any, place: int) -> np.ndarray:
    if not callable(hypothesis):
        raise ValueError(f"hypotheses[{place}]: found {hypothesis!r}, expected a callable")
    return as_probabilities(hypothesis(X, sensitive_features), f"hypotheses[{place}]").astype(float)
