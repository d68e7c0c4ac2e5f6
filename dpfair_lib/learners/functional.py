"""The functional mechanism with a fairness penalty: a quadratic objective, released once as noisy coefficients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from dpfair_lib._arguments import inside_unit, nonnegative, positive
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._labels import declared_labels, places
from dpfair_lib._validation import as_groups, check_lengths
from dpfair_lib.learners.linear import HEAVIEST, LEFT_OUT, LinearClassifier, checked, two_labels
from dpfair_lib.learners.minimiser import bounded_rows
from dpfair_lib.privacy import PrivacyStatement, gaussian_sigma
from dpfair_lib.privacy.mechanisms import Mechanism
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import quotient_above, raised
from dpfair_lib.privacy.sampling import Noise

PUBLIC = ("the number of rows", "the two labels", "the two groups")
FINE = 2**22
"""Steps of the grid in Λ."""
EXACT = 2**53
"""Floats up to it hold every whole number."""
ROUNDED = 0.501
"""More than rounding to the grid moves a number, in steps: ½, and the products that came before."""
PIECE = 512
WIDEST_BOUND = 1e50


class Coefficients(NamedTuple):
    """The sums that decide the objective, in units of one row.

    Parameters
    ----------
    second : ndarray of shape (p, p)
        Σ x xᵀ, x with a last entry 1.
    labels : ndarray of shape (p,)
        Σ (y − ½) x.
    groups : ndarray of shape (p,)
        Σ (a − ½) x.
    """

    second: np.ndarray
    labels: np.ndarray
    groups: np.ndarray


def entries(p: int) -> int:
    """Return how many numbers are released for rows of p entries, the last of which is 1."""
    return p * (p + 1) // 2 - 1 + 2 * p


def sensitivity(p: int) -> float:
    """Return how far one row replaced moves the whole numbers of `coefficient_sums`, in Euclidean norm."""
    return raised(math.sqrt(2) * FINE + 2 * ROUNDED * math.sqrt(entries(p)))


def coefficient_sums(rows: np.ndarray, y: np.ndarray, a: np.ndarray, bound: float) -> np.ndarray:
    """Return the exact sums over all rows of (√w x xᵀ/(2Λ), (y − ½) x, (a − ½) x) on the grid, whole numbers.

    Of the symmetric matrix the upper triangle is taken without its last entry, which is n. w is 2 off the diagonal.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        Rows of norm at most Λ, the last entry 1.
    y, a : ndarray of shape (n,)
        Labels and groups, 0 and 1.
    bound : float
        Λ.

    Returns
    -------
    ndarray of int64
        Cut off at ±2⁵³, which moves no two sums further apart.
    """
    i, j = (at[:-1] for at in np.triu_indices(rows.shape[1]))
    weight = np.where(i == j, 1.0, math.sqrt(2)) * (FINE / 2)
    total = [0] * entries(rows.shape[1])
    for at in range(0, len(rows), PIECE):
        x = rows[at : at + PIECE] / bound
        signed = [x * FINE * (codes[at : at + PIECE, None] - 0.5) for codes in (y, a)]
        whole = np.rint(np.hstack([x[:, i] * x[:, j] * weight, *signed])).astype(np.int64)
        total = [one + more for one, more in zip(total, whole.sum(axis=0).tolist(), strict=True)]
    return np.array([max(-EXACT, min(one, EXACT)) for one in total], dtype=np.int64)


def coefficients(noisy: np.ndarray, p: int, n: int, bound: float) -> Coefficients:
    """Return the coefficients that noisy sums on the grid stand for."""
    i, j = (at[:-1] for at in np.triu_indices(p))
    size, second = len(i), np.zeros((p, p))
    second[i, j] = noisy[:size] / np.where(i == j, 1.0, math.sqrt(2)) * (2 * bound) * bound / FINE
    second[j, i] = second[i, j]
    second[-1, -1] = n
    rest = noisy[size:] * bound / FINE
    return Coefficients(second, rest[:p], rest[p:])


def minimiser(found: Coefficients, n: int, penalty: float, regularization: float) -> np.ndarray:
    """Return the w of least wᵀTw/(8n) − v·w/n + λ(g·w)² + μ‖w‖²/2, negative eigenvalues of T being set to 0.

    g is the covariance of group and features, Σ (a − ā) x/n, with ā from the noisy sums too.

    Parameters
    ----------
    found : Coefficients
        T, v, and Σ (a − ½) x.
    n : int
        Rows.
    penalty, regularization : float
        λ and μ.

    Raises
    ------
    ValueError
        If the numbers overflow.
    """
    levels, axes = np.linalg.eigh(found.second)
    curvature = (axes * np.maximum(levels, 0)) @ axes.T / (4 * n)
    g = covariance(found, n)
    with np.errstate(all="ignore"):
        matrix = curvature + regularization * np.eye(len(g)) + 2 * penalty * np.outer(g, g)
        try:
            weights = np.linalg.solve(matrix, found.labels / n)
        except np.linalg.LinAlgError:
            weights = np.array([np.nan])
    if not (abs(weights) <= HEAVIEST).all():  # known from the noisy sums alone; NaN among them
        raise ValueError(
            f"penalty, regularization: found {penalty:g}, {regularization:g}, at which the objective has no minimum "
            "in floats, expected numbers nearer to 1"
        )
    return np.asarray(weights)


def covariance(found: Coefficients, n: int) -> np.ndarray:
    """Return g, the covariance of group and features; 0 for the intercept."""
    centred = found.groups - found.groups[-1] / n * found.second[-1]
    return np.asarray(np.append(centred[:-1], 0.0) / n)


class FairFunctionalClassifier(LinearClassifier):
    """Logistic regression by the functional mechanism, with a penalty on the covariance of group and score.

    The logistic loss is replaced by its expansion at 0 to the second order. All rows together then enter the objective
    by a few sums only, and these are released with Gaussian noise, once. What minimises the noisy objective is
    post-processing. The penalty λ·(covariance of group and score)² brings the groups' mean scores together (decision
    boundary fairness), which is not the same as equal selection rates. The group is needed in `fit`, not in `predict`.

    The privacy statement covers the rows given to `fit` under replace-one: features, labels and groups. It includes
    the group's share, which centres the covariance.

    Parameters
    ----------
    penalty : float
        λ ≥ 0.
    feature_bound : float
        Longer rows are scaled down to this Euclidean norm. A public number.
    epsilon : float
        ε > 0.
    delta : float
        δ in (0, 1).
    regularization : float, optional
        μ > 0. By default √p σ_T/(2n), where σ_T is the noise on the diagonal of the sum of squares and p the number of
        weights: about as much as noise moves the curvature.
    groups : sequence of two, optional
        The two groups, chosen without looking at the data. By default those that occur, which are then public.
    classes : sequence of two labels, optional
        The two labels, likewise.
    noise : {"secure", "study"}, default="secure"
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.

    Attributes
    ----------
    classes_, groups_ : ndarray of shape (2,)
        The labels and the groups, sorted.
    coef_, intercept_ : ndarray of shape (1, d) and (1,)
        Weights.
    covariance_ : ndarray of shape (d,)
        The covariance of group and features that was penalised, from the noisy sums.
    privacy_statement_ : PrivacyStatement
        What the release costs.

    Notes
    -----
    *What one row moves.* Let x end with the entry 1 of the intercept, and ‖x‖ ≤ Λ. A row adds xxᵀ/(2Λ), (y − ½)x and
    (a − ½)x. Replace it by x′, y′, a′, and write p, q for the squared norms and u for x·x′. The first part moves by
    (p² + q² − 2u²)/(4Λ²) in squared norm, the two others by at most (p + q + 2|u|)/4 each. All of it grows in p and q,
    so p = q = Λ². What is left, Λ²/2 − u²/(2Λ²) + Λ² + |u|, grows in |u| up to Λ², where it is 2Λ². So all sums
    together move by √2Λ at most, attained where label and group change and x stays: the sum of squares is free. On a
    grid of Λ/2²² whole numbers are added up, and rounding of each is counted.

    *Where privacy is lost.* Centred by the exact share ā, Σ (a − ā) x changes in the terms of all rows if one a does,
    by less than twice as much as one row's own term can. Here ā comes from the noisy sums.

    *Differences from the publications*, of which only the abstract of Ding et al. and the description by others were at
    hand. Gaussian noise by the exact calibration (theirs is Laplace noise, or Gaussian noise by the classical formula);
    one noise level for each of the three parts instead of one for each attribute; the covariance is penalised by its
    square, so that the objective stays quadratic; negative curvature is cut off. No agreement with a public
    implementation was shown, since none was found.

    References
    ----------
    Xu, Yuan and Wu (2019), Achieving differential privacy and fairness in logistic regression; Ding et al. (2020),
    Differentially private and fair classification via calibrated functional mechanism; after Zhang et al. (2012). The
    joint sensitivity is ours.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16] - 0.5
    >>> model = dpf.FairFunctionalClassifier(penalty=10.0, feature_bound=1.0, epsilon=1.0, delta=1e-5)
    >>> model.fit(X, adult.y, sensitive_features=adult.sensitive_features).predict(X).shape
    (2000,)
    >>> print(model.privacy_statement_)
    ε = 1, δ = 1e-05, replace-one, per record; public: the number of rows, the two labels, the two groups; ...
    """

    stated_relation = "replace-one"

    def __init__(
        self, *, penalty: float, feature_bound: float, epsilon: float, delta: float,
        regularization: float | None = None, groups: Sequence[Any] | None = None, classes: Any = None,
        noise: Noise = "secure", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.penalty = penalty
        self.feature_bound = feature_bound
        self.epsilon = epsilon
        self.delta = delta
        self.regularization = regularization
        self.groups = groups
        self.classes = classes
        self.noise = noise
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Release the coefficients with noise, and minimise.

        Parameters
        ----------
        X : array of shape (n, d)
            Features, finite numbers.
        y : array of shape (n,)
            Labels: two different ones, or some of ``classes``.
        sensitive_features : array of shape (n,)
            Group of each row: two different ones, or some of ``groups``.

        Returns
        -------
        FairFunctionalClassifier
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if a seed is given with secure noise; if X, y or the groups are
            malformed or outside what was declared; if labels or groups are not declared and there are not two; if the
            minimiser overflows.
        """
        bound, penalty = positive(self.feature_bound, "feature_bound"), nonnegative(self.penalty, "penalty")
        if bound > WIDEST_BOUND:
            raise ValueError(f"feature_bound: found {bound}, expected at most {WIDEST_BOUND:g}")
        epsilon, delta = positive(self.epsilon, "epsilon"), inside_unit(self.delta, "delta")
        given = None if self.regularization is None else positive(self.regularization, "regularization")
        source = NoiseSource.of(self.noise, self.random_state)
        features, labels = checked(self, X, y)
        self.classes_, codes = two_labels(labels, self.classes)
        groups = self._places(sensitive_features)
        check_lengths(X=features, sensitive_features=groups)
        rows, lipschitz = bounded_rows(features, bound, intercept=True)
        n, p = rows.shape
        moved = sensitivity(p)
        sigma = gaussian_sigma(epsilon, delta, moved, "analytic")
        self.privacy_statement_: PrivacyStatement = source.mark(PrivacyStatement(
            epsilon, delta, "replace-one", public=PUBLIC, note=LEFT_OUT,
            mechanism=(Mechanism("gaussian", quotient_above(moved, sigma)),),
        ))  # fmt: skip
        sums = coefficient_sums(rows, codes, groups, lipschitz)
        found = coefficients(source.add_gaussian(sums, sigma), p, n, lipschitz)
        diagonal = sigma * 2 * lipschitz * lipschitz / FINE  # σ_T
        modulus = math.sqrt(p) * diagonal / (2 * n) if given is None else given
        weights = minimiser(found, n, penalty, modulus)
        self.coef_, self.intercept_ = weights[None, :-1], weights[-1:]
        self.covariance_ = covariance(found, n)[:-1]
        return self

    def _places(self, sensitive_features: Any) -> np.ndarray:
        if self.groups is not None:
            known = declared_labels(self.groups, "groups", least=2, most=2, ordered=True)
            self.groups_ = np.asarray(known)
            return np.asarray(places(sensitive_features, known, "sensitive_features"))
        self.groups_, found = as_groups(sensitive_features)
        if len(self.groups_) != 2:
            raise ValueError(
                f"sensitive_features: found {len(self.groups_)} groups {self.groups_.tolist()}, expected 2"
            )
        return np.asarray(found)
