"""`SupportVectorPerturbation`: Laplace noise on the support vectors of a fitted SVC (Algorithm 1 of SK)."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from dpfair_lib._arguments import inside_unit, one_of, positive, positive_integer
from dpfair_lib._labels import places
from dpfair_lib._validation import as_generator, as_groups, check_lengths, renamed, same_rows
from dpfair_lib.privacy.budgets.open_budgets import charge
from dpfair_lib.privacy.statements import PrivacyStatement

if TYPE_CHECKING:
    from sklearn.svm import SVC

NoiseKind = Literal["coordinate", "vector"]
NOTE = (
    "printed, and refuted: how many support vectors there are and their labels are released without noise, see "
    "sk.alg-1-privacy"
)


class SupportVectorPerturbation:
    """Algorithm 1 of Seiders and Kumar: add Laplace noise to the support vectors of a fitted support vector machine.

    **This method is not private.** It releases the number of support vectors, their labels and their weights without
    noise. It is here to be examined, and its statement has ``guarantee=False``. The noise is drawn in floating point
    with a given seed.

    Parameters
    ----------
    svc : sklearn.svm.SVC
        Fitted, with two classes and dense features, and with a kernel that scikit-learn knows by name.
    epsilon : float
        ε of the published noise scales, 2/(kε) for the k support vectors and 2/(mε) for the counts of m records.
    noise_kind : {"coordinate", "vector"}
        "coordinate" draws a number for every coordinate. "vector" draws one number for each support vector and adds it
        to all of its coordinates. The paper, "sample W for all x_i", allows both readings.
    classifier : {"perturbed", "retrained"}
        "perturbed" puts the noisy vectors into the trained classifier and keeps its dual coefficients and intercept.
        "retrained" fits another SVC with the same settings to the noisy vectors and their labels.
    noise
        Deprecated name of `noise_kind`.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (k, d)
        The noisy support vectors, those of the first class first.
    scale_ : float
        2/(kε), the scale of the Laplace noise.
    classifier_ : sklearn.svm.SVC
        The classifier that predicts.
    privacy_statement_ : PrivacyStatement
        The published ε, without guarantee.

    References
    ----------
    Seiders and Kumar (2024), Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> import dpfair_lib as dpf
    >>> compas = dpf.synthetic("compas", n=200, random_state=0)
    >>> X = compas.X[["age", "priors_count"]]
    >>> noisy = dpf.SupportVectorPerturbation(SVC().fit(X, compas.y), epsilon=1.0).perturb(np.random.default_rng(0))
    >>> print(noisy.privacy_statement_)
    NO GUARANTEE: ε = 1 (pure), replace-one, per record; printed, and refuted: ...
    """

    def __init__(
        self, svc: SVC, *, epsilon: float, noise_kind: NoiseKind = "coordinate",
        classifier: Literal["perturbed", "retrained"] = "perturbed", noise: NoiseKind | None = None,
    ) -> None:  # fmt: skip
        self.svc = svc
        self.epsilon = epsilon
        self.noise_kind = noise_kind
        self.classifier = classifier
        self.noise = noise

    def perturb(self, rng: np.random.Generator) -> Self:
        """Draw the noise on the support vectors, and build the classifier.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the noise.

        Returns
        -------
        SupportVectorPerturbation
            The object itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range, if the SVC was not fitted on two classes, or if its kernel is not
            evaluated at support vectors.
        """
        one_of(self.classifier, "classifier", ("perturbed", "retrained"))
        noise_kind = renamed("noise", self.noise, "noise_kind", self.noise_kind)
        epsilon = positive(self.epsilon, "epsilon")
        self.privacy_statement_ = PrivacyStatement(epsilon, 0.0, "replace-one", guarantee=False, note=NOTE)
        charge(self.privacy_statement_)
        noisy = noisy_support_vectors(self.svc, self.epsilon, 1, rng, noise_kind=noise_kind)[0]
        self.support_vectors_ = noisy
        self.scale_ = printed_scale(len(noisy), self.epsilon)
        if self.classifier == "perturbed":
            self.classifier_ = copy.deepcopy(self.svc)
            self.classifier_.support_vectors_ = noisy
        else:
            self.classifier_ = clone(self.svc).fit(noisy, np.repeat(self.svc.classes_, self.svc.n_support_))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows by the perturbed classifier."""
        return np.asarray(self._drawn().decision_function(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of rows by the perturbed classifier."""
        return np.asarray(self._drawn().predict(X))

    def _drawn(self) -> SVC:
        if not hasattr(self, "classifier_"):
            raise NotFittedError("SupportVectorPerturbation: found no noise drawn yet; call perturb first")
        return self.classifier_

    @same_rows
    def noisy_joint(
        self, X: Any, y: Any, *, sensitive_features: Any, rng: np.random.Generator
    ) -> tuple[np.ndarray, list[Any]]:
        """Return noisy frequencies of (prediction, group, label), called q̃ in the paper.

        The frequencies of (group, label) get Laplace noise. Each is then split in the proportions in which the
        perturbed classifier predicts 0 and 1 on its records. The paper does not say how to split; this reading uses the
        records again, without noise.

        Parameters
        ----------
        X : array of shape (m, d)
            Features of the records.
        y : array of shape (m,)
            Their labels, of the SVC's two classes.
        sensitive_features : array of shape (m,)
            Their groups; one group is allowed.
        rng : numpy.random.Generator
            Source of the noise, whose scale is 2/(mε).

        Returns
        -------
        q : ndarray of shape (2, groups, 2)
            q̃ by prediction, group and label. Entries may be negative and need not sum to 1.
        groups : list
            The group labels, sorted.

        Raises
        ------
        ValueError
            If the arguments do not fit one another, or if a group has no record of some label.
        """
        self._drawn()
        counts, groups = joint_counts(
            self.predict(X), y, sensitive_features=sensitive_features, classes=self.svc.classes_
        )
        m, cells = int(counts.sum()), counts.sum(axis=0)
        if (cells == 0).any():
            a, label = np.argwhere(cells == 0)[0]
            raise ValueError(
                f"sensitive_features: found nobody of group {groups[a]} with label {self.svc.classes_[label]}, "
                "expected every group with both labels"
            )
        noisy = cells / m + as_generator(rng, "rng").laplace(
            scale=printed_scale(m, self.epsilon), size=cells.shape
        )
        return noisy * counts / cells, groups


def printed_scale(number: int, epsilon: float) -> float:
    """Return 2/(kε) for k support vectors, or 2/(mε) for m records."""
    return 2 / (positive_integer(number, "number") * positive(epsilon, "epsilon"))


def joint_counts(
    predicted: Any, y: Any, *, sensitive_features: Any, classes: Any
) -> tuple[np.ndarray, list[Any]]:
    """Return how many records have each prediction, group and label, and the sorted groups.

    Raises
    ------
    ValueError
        If lengths differ or a label is none of the two classes.
    """
    levels, codes = as_groups(sensitive_features)
    at = []
    for values, name in ((predicted, "predicted"), (y, "y")):
        at.append(places(values, np.asarray(classes).tolist(), name, of=""))
    check_lengths(predicted=at[0], y=at[1], sensitive_features=codes)
    counts = np.zeros((2, len(levels), 2), dtype=int)
    np.add.at(counts, (at[0], codes, at[1]), 1)
    return counts, levels.tolist()


def noisy_support_vectors(
    svc: SVC, epsilon: float, size: int, rng: np.random.Generator, *, noise_kind: NoiseKind = "coordinate"
) -> np.ndarray:
    """Return so many independent draws of the noisy support vectors of a fitted SVC.

    Parameters
    ----------
    svc, epsilon, noise_kind
        As for `SupportVectorPerturbation`.
    size : int
        Number of draws.
    rng : numpy.random.Generator
        Source of the noise.

    Returns
    -------
    ndarray of shape (size, k, d)
        The vectors, those of the first class first.

    Raises
    ------
    ValueError
        As `SupportVectorPerturbation.perturb`.
    """
    vectors = _support_vectors(svc)
    one_of(noise_kind, "noise_kind", ("coordinate", "vector"))
    scale = printed_scale(len(vectors), epsilon)
    shape = (
        positive_integer(size, "size"),
        len(vectors),
        vectors.shape[1] if noise_kind == "coordinate" else 1,
    )
    return vectors + as_generator(rng, "rng").laplace(scale=scale, size=shape)


def flippable_share(
    svc: SVC, X: Any, y: Any, *, sensitive_features: Any, epsilon: float, failure: float
) -> float:
    """Return the largest share of all records that the noise can move across the boundary in one cell (a, y).

    For a linear kernel f̃(x) − f(x) = Σᵢ αᵢ⟨Wᵢ, x⟩ with αᵢ the signed dual coefficients. Except with probability
    `failure` all kd noises are at most t = (2/(kε)) ln(kd/failure), and then |f̃(x) − f(x)| ≤ t ‖α‖₁ ‖x‖₁.

    Parameters
    ----------
    svc : sklearn.svm.SVC
        Fitted, with a linear kernel.
    X, y, sensitive_features
        The records, as for `SupportVectorPerturbation.noisy_joint`.
    epsilon : float
        ε of the noise, one number per coordinate.
    failure : float
        In (0, 1).

    Returns
    -------
    float
        φ of `svm_linf_bound`.

    Raises
    ------
    ValueError
        If the kernel is not linear or an argument does not fit.
    """
    vectors = _support_vectors(svc)
    if svc.kernel != "linear":
        raise ValueError(f"svc: found the kernel {svc.kernel!r}, expected 'linear'")
    rows = np.asarray(X, dtype=float)
    largest = printed_scale(len(vectors), epsilon) * np.log(vectors.size / inside_unit(failure, "failure"))
    reach = largest * abs(svc.dual_coef_).sum() * abs(rows).sum(axis=1)
    within = (abs(svc.decision_function(rows)) <= reach).astype(int)
    counts, _ = joint_counts(
        svc.classes_[within], y, sensitive_features=sensitive_features, classes=svc.classes_
    )
    return float(counts[1].max() / counts.sum())


def _support_vectors(svc: Any) -> np.ndarray:
    from sklearn.svm import SVC  # a caller who has one has imported it; others need not wait for it

    if not isinstance(svc, SVC) or not hasattr(svc, "support_vectors_"):
        raise ValueError(f"svc: found {svc!r}, expected a fitted sklearn.svm.SVC")
    if len(svc.classes_) != 2:
        raise ValueError(f"svc: found {len(svc.classes_)} classes, expected 2")
    if callable(svc.kernel) or svc.kernel == "precomputed":
        raise ValueError(
            "svc: found a kernel that is given by its matrix, expected one that is evaluated at vectors, such as "
            "'linear' or 'rbf'"
        )
    # scikit-learn leaves a sparse matrix here if the features were sparse
    if not isinstance(svc.support_vectors_, np.ndarray):
        raise ValueError("svc: found sparse support vectors, expected an SVC fitted on dense features")
    if len(svc.support_vectors_) == 0:
        raise ValueError("svc: found no support vectors, expected at least one: 2/(kε) has no value at k = 0")
    return svc.support_vectors_
