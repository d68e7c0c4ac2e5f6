"""The fairness certificate of a fitted scikit-learn model, in one call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib._arguments import positive
from dpfair_lib._labels import places
from dpfair_lib._validation import as_groups, check_lengths, check_row_labels
from dpfair_lib.fairness.linear_form import check_notion, members
from dpfair_lib.margins.certificate import FairnessCertificate, fairness_certificate
from dpfair_lib.margins.fitted_models import FittedModel, Loss, read_model, unwrapped
from dpfair_lib.margins.margins import margin_lipschitz, table_of_numbers
from dpfair_lib.margins.projections import markov_reach
from dpfair_lib.margins.squared_losses import squared_perturbation_sensitivity
from dpfair_lib.privacy.gaussian import gaussian_sigma
from dpfair_lib.privacy.minimisers import logistic_perturbation_sensitivity, output_perturbation_sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGER = 1e-9  # relative: a row that is longer than the bound by rounding alone is clipped without a word


@dataclass(frozen=True)
class ModelCertificate:
    """How far privacy would move a fitted model, and between which bounds its fairness would stay.

    Attributes
    ----------
    certificate : FairnessCertificate
        The bounds on the fairness of the private model, on the given rows.
    n : int
        Number of rows.
    modulus : float
        μ of the regularised mean loss.
    lipschitz : float
        Λ: the largest norm of a row, with the entry of the intercept.
    distance : float
        Bound on how far the fitted weights are from the exact minimiser on these rows.
    sensitivity : float
        How far the weights, found to within ``tolerance``, can move if one row is replaced.
    sigma : float
        Standard deviation of the Gaussian noise in each weight.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from sklearn.linear_model import LogisticRegression
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = LogisticRegression(C=0.01, solver="liblinear").fit(X, adult.y)
    >>> found = dpf.certify_model(
    ...     model, X, adult.y, sensitive_features=adult.sensitive_features, notion="demographic_parity",
    ...     epsilon=1.0, delta=1e-5, zeta=0.05, feature_bound=1.5,
    ... )
    >>> found.n, round(found.modulus, 9)
    (2000, 0.05)
    """

    certificate: FairnessCertificate
    n: int
    modulus: float
    lipschitz: float
    distance: float
    sensitivity: float
    sigma: float

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the certificate, as `FairnessCertificate.plot` does.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        return self.certificate.plot(ax)


def certify_model(
    model: Any, X: Any, y: Any, *, sensitive_features: Any, notion: str, epsilon: float, delta: float, zeta: float,
    feature_bound: float, tolerance: float = 1e-3, slack: float = 1e-4, public_steps: Collection[str] = (),
    desirable: Any = None,
) -> ModelCertificate:  # fmt: skip
    """Bound the group fairness that a fitted scikit-learn model would keep, if it were trained with privacy.

    The private model is the minimiser of the same regularised loss on the same rows, found to within ``tolerance``,
    plus Gaussian noise on all weights (output perturbation). With probability at least 1 − ζ its fairness on these rows
    is within the bounds, for all groups at once. C, the penalty, the loss and the intercept are read from the model.

    The bounds are computed from the rows without noise, so publishing them reveals something about the rows.

    Parameters
    ----------
    model : estimator
        A fitted `LogisticRegression`, `LinearSVC` or `RidgeClassifier` of two labels, or a `Pipeline` that ends in one.
        Its squared-norm penalty covers all weights. An intercept is penalised by ``solver="liblinear"`` and by
        `LinearSVC`; for any other model use ``fit_intercept=False`` and a column of ones.
    X : array of shape (n, d)
        The rows that the model was trained on, before the steps of a pipeline.
    y : array of shape (n,)
        Their labels.
    sensitive_features : array of shape (n,)
        Group of each row. Every group needs every label.
    notion : str
        As in `fairness_coefficients`.
    epsilon, delta : float
        Privacy of the private model under replace-one: ε > 0 and δ in (0, 1).
    zeta : float
        ζ in (0, 1): the probability that some bound fails.
    feature_bound : float
        Largest Euclidean norm of a row that the model gets, without the entry of its intercept. A public number.
    tolerance : float
        Accuracy of the private model's solver relative to the effect of one row, as in `OutputPerturbation`.
    slack : float
        Share of each group's rows, in (0, 1), that may move further than the bound allows. It is added to the bound.
    public_steps : collection of str
        Names of the pipeline's steps that learned from public rows only. A step that learned from the rows themselves,
        as a `StandardScaler` usually does, is refused.
    desirable : label or tuple of labels, optional
        As in `fairness_coefficients`.

    Returns
    -------
    ModelCertificate
        The certificate, and each constant that it rests on.

    Raises
    ------
    ValueError
        If the model is of another kind, not fitted, not regularised, regularised by ℓ₁, or has an intercept without
        penalty; if its loss has no derivative; if a step learned from the rows; if a row is longer than the bound; if
        the weights are further from the minimiser on these rows than the noise would move them, as those of other rows,
        of sample weights, or of a coarse fit are; or if an argument is malformed.

    Notes
    -----
    The gradient g of the regularised mean loss at the fitted weights says how far these are from the exact minimiser:
    at most ‖g‖/μ. The bound holds whatever led to the weights. So the certificate rests on no claim of the solver, and
    not on the assumption that these are the training rows.

    References
    ----------
    Mangold et al. (2023), Theorem 4.4, with the reach of the chapter on tighter certificates (ours).

    Examples
    --------
    The model's accuracy for the first group would stay between these bounds, relative to that of all rows.

    >>> import dpfair_lib as dpf
    >>> from sklearn.linear_model import LogisticRegression
    >>> adult = dpf.synthetic("adult", n=2000, random_state=0)
    >>> X = adult.X[["age", "education-num"]] / [90, 16]
    >>> model = LogisticRegression(C=0.01, solver="liblinear").fit(X, adult.y)
    >>> found = dpf.certify_model(
    ...     model, X, adult.y, sensitive_features=adult.sensitive_features, notion="accuracy_parity",
    ...     epsilon=1.0, delta=1e-5, zeta=0.05, feature_bound=1.5,
    ... )
    >>> made = found.certificate
    >>> bool(made.lower[0] <= made.fairness[0] <= made.upper[0])
    True
    """
    from dpfair_lib.learners.minimiser import bounded_rows

    check_notion(notion)
    check_row_labels(X=X, y=y, sensitive_features=sensitive_features)
    last, rows = unwrapped(model, X, public_steps)
    read = read_model(last)
    table = table_of_numbers(rows, "X")
    scores = np.asarray(last.decision_function(rows), dtype=float)  # which compares the columns' names
    codes = places(y, read.classes, "y", of="label")
    check_lengths(X=table, y=codes)
    bound, tolerance = positive(feature_bound, "feature_bound"), positive(tolerance, "tolerance")
    if (margin_lipschitz(table, binary=True) > bound * (1 + LONGER)).any():
        raise ValueError(
            f"X: found rows longer than feature_bound={bound:g}, expected none, after the pipeline's steps"
        )
    n, modulus = len(table), read.regularization / len(table)
    clipped, _ = bounded_rows(table, bound, intercept=False)
    lipschitz = float(np.hypot(bound, read.constant)) * (1 + 2.0**-51)
    gradient = mean_gradient(read, _with_constant(clipped, read), codes, modulus)
    distance = float(np.linalg.norm(gradient)) / modulus
    sensitivity, missed = sensitivity_and_miss(read.loss, lipschitz, modulus, n, tolerance)
    sigma = gaussian_sigma(epsilon, delta, sensitivity, "analytic")
    parts = len(members(notion, 2, len(as_groups(sensitive_features)[0])))
    reach = markov_reach(sigma, zeta=zeta, slack=slack, groups=parts)
    if distance > reach:
        raise ValueError(
            f"model: found weights that may be {distance:.3g} from the minimiser on these rows, where the noise moves "
            f"rows by {reach:.3g}, expected a fit to these rows without sample weights, and a smaller tol"
        )
    certificate = fairness_certificate(
        scores, codes, X=_with_constant(table, read) if read.constant else table,
        sensitive_features=sensitive_features, notion=notion, radius=reach + distance + missed, bound="signed",
        slack=slack, desirable=_coded(desirable, read.classes), intercept=False,
    )  # fmt: skip
    named = replace(certificate, groups=_with_labels(certificate.groups, read.classes, notion))
    return ModelCertificate(named, n, modulus, lipschitz, distance, sensitivity, sigma)


def mean_gradient(model: FittedModel, rows: np.ndarray, codes: np.ndarray, modulus: float) -> np.ndarray:
    """Return the gradient of the mean loss plus μ‖h‖²/2 at the model's weights; rows have the constant entry."""
    from scipy.special import expit

    signs = 2.0 * codes - 1
    margins = signs * (rows @ model.weights)
    descent = {
        "logistic": lambda: expit(-margins),
        "squared": lambda: 2 * (1 - margins),
        "squared-hinge": lambda: 2 * np.maximum(0, 1 - margins),
    }[model.loss]()
    return modulus * model.weights - (descent * signs) @ rows / len(rows)


def sensitivity_and_miss(
    loss: Loss, lipschitz: float, modulus: float, n: int, tolerance: float
) -> tuple[float, float]:
    """Return how far weights found to within the tolerance move with one record, and how far they are from the minimum.

    The solver stops at a gradient of norm at most τΛ/n, as that of `OutputPerturbation` does.
    """
    constants: dict[str, Any] = {"lipschitz": lipschitz, "strong_convexity": modulus, "n": n}
    exact = (logistic_perturbation_sensitivity if loss == "logistic" else squared_perturbation_sensitivity)(
        **constants
    )
    twice = tolerance * output_perturbation_sensitivity(**constants)
    return exact + twice, twice / 2


def _with_constant(table: np.ndarray, model: FittedModel) -> np.ndarray:
    return np.hstack([table, np.full((len(table), 1), model.constant)]) if model.constant else table


def _coded(desirable: Any, classes: tuple[Any, ...]) -> Any:
    if desirable is None:
        return None
    listed = list(desirable) if isinstance(desirable, list | tuple | set | np.ndarray) else [desirable]
    return tuple(places(listed, classes, "desirable", of="label").tolist())


def _with_labels(groups: tuple[Any, ...], classes: tuple[Any, ...], notion: str) -> tuple[Any, ...]:
    if notion in ("accuracy", "accuracy_parity"):
        return groups
    return tuple((classes[code], level) for code, level in groups)
