"""What a fitted scikit-learn model minimises, read from its parameters, or why there is no certificate for it."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

Loss = Literal["logistic", "squared", "squared-hinge"]
CERTIFIED = ("LogisticRegression", "LinearSVC", "RidgeClassifier", "Pipeline")
SUPPORTED = "LogisticRegression, LinearSVC, RidgeClassifier, or a Pipeline that ends in one"
UNMINIMISED = "what it fits minimises no regularised loss, so nothing bounds how far one record moves it"
CORNER = (
    "the hinge loss has no derivative at its corner, and the intercept no penalty, where LinearSVC has both"
)
NOISY = "of a model that has noise already, noise_certificate certifies the one without"
REASONS = {
    "SGDClassifier": "its log_loss without intercept has the same minimum as LogisticRegression(C=1/(alpha*n))",
    "Perceptron": UNMINIMISED,
    "PassiveAggressiveClassifier": UNMINIMISED,
    "LinearDiscriminantAnalysis": "it inverts the covariance of the rows; nothing bounds how far one record moves that",
    "SVC": CORNER,
    "NuSVC": CORNER,
    "OutputPerturbation": NOISY,
    "ObjectivePerturbation": NOISY,
    "DPLogisticRegression": NOISY,
    "DPLinearSVM": NOISY,
}
"""Why there is no certificate of some models, and what to do instead."""


@dataclass(frozen=True)
class FittedModel:
    """A linear model that minimises the mean loss plus μ/2 times the squared norm of all its weights.

    Attributes
    ----------
    weights : ndarray of shape (p,)
        All weights; the last one is that of the constant entry, if there is one.
    classes : tuple of two labels
        The second has the positive scores.
    loss : {"logistic", "squared", "squared-hinge"}
        Which loss.
    regularization : float
        μn, which does not depend on the rows.
    constant : float
        The entry that the model appends to every row; 0 if it has no intercept.
    """

    weights: np.ndarray
    classes: tuple[Any, ...]
    loss: Loss
    regularization: float
    constant: float


def unwrapped(model: Any, X: Any, public_steps: Collection[str]) -> tuple[Any, Any]:
    """Return the last step of a pipeline, and the rows as it gets them; of any other model both as they are.

    Raises
    ------
    ValueError
        If a step before the last was learned from rows and is not named as public; if a name is no such step.
    """
    from sklearn.pipeline import Pipeline

    steps = model.steps[:-1] if isinstance(model, Pipeline) else []
    unknown = set(public_steps) - {name for name, _ in steps}
    if unknown:
        raise ValueError(
            f"public_steps: found {sorted(map(str, unknown))}, expected names of steps before the last one: "
            f"{[name for name, _ in steps]}"
        )
    for name, step in steps:
        if step is None or step == "passthrough":
            continue
        if name not in public_steps and _learns(step):
            _refuse(
                f"the step {name!r} ({type(step).__name__}), which learns from rows",
                f"one that learns nothing, such as Normalizer or PublicScaler, or its name in public_steps if it was "
                f"fitted to public rows: replacing one record changes every row that {type(step).__name__} returns",
            )
        X = step.transform(X)
    return (model.steps[-1][1] if isinstance(model, Pipeline) else model), X


def _learns(step: Any) -> bool:
    from sklearn.utils import get_tags

    from dpfair_lib.preparation import PublicEncoder, PublicImputer, PublicScaler

    return not isinstance(step, PublicEncoder | PublicImputer | PublicScaler) and get_tags(step).requires_fit


def read_model(model: Any) -> FittedModel:
    """Return what a fitted model of scikit-learn minimises.

    Raises
    ------
    ValueError
        If it is not fitted, of another class, or of more than two labels; if it is not regularised by the squared norm
        of all weights, the intercept included; if its loss has no derivative, or weighs the labels.
    """
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.svm import LinearSVC
    from sklearn.utils.validation import check_is_fitted

    readers = {LogisticRegression: _logistic, LinearSVC: _support_vectors, RidgeClassifier: _ridge}
    reader = readers.get(type(model))
    if reader is None:
        _refuse(_named(model), SUPPORTED + _instead(model))
    check_is_fitted(model)
    classes = tuple(np.asarray(model.classes_).tolist())
    if len(classes) != 2:
        _refuse(f"{len(classes)} classes", "two")
    if model.class_weight is not None:
        _refuse(
            f"class_weight={model.class_weight!r}",
            "None: with weights the largest effect of a record is another",
        )
    loss, regularization, constant = reader(model)
    weights = np.asarray(model.coef_, dtype=float).ravel()
    if constant:
        weights = np.append(weights, float(np.ravel(model.intercept_)[0]) / constant)
    return FittedModel(weights, classes, loss, regularization, constant)


def _named(model: Any) -> str:
    return type(model).__name__ if not isinstance(model, type) else f"the class {model.__name__}"


def _instead(model: Any) -> str:
    from sklearn.base import RegressorMixin

    name = _named(model)
    if name in REASONS:
        return f"; {REASONS[name]}"
    if name.endswith("CV") and hasattr(model, "coef_"):
        return "; C or alpha chosen from the rows depends on them, so fit the chosen model alone"
    if isinstance(model, RegressorMixin):
        return "; it predicts numbers, where a certificate is about two labels"
    if not isinstance(model, type) and type(getattr(model, "estimator", None)).__name__ in CERTIFIED:
        return "; give the fitted model inside, such as an entry of estimators_"
    return ""


def _logistic(model: Any) -> tuple[Loss, float, float]:
    penalty, mixed = getattr(model, "penalty", "l2"), getattr(model, "l1_ratio", None)
    if penalty in (None, "none") or math.isinf(model.C):
        _unregularised(f"penalty={penalty!r}" if math.isfinite(model.C) else "C=inf")
    if penalty not in ("l2", "deprecated") or (penalty == "deprecated" and mixed):
        _refuse(f"penalty={penalty!r}, l1_ratio={mixed!r}", "the squared norm: the ℓ₁ penalty has no modulus")
    if getattr(model, "multi_class", "auto") not in ("auto", "ovr", "deprecated", "warn"):
        _refuse(f"multi_class={model.multi_class!r}", "one weight vector for two labels")
    if model.fit_intercept and model.solver != "liblinear":
        _free_intercept(f"fit_intercept=True with solver={model.solver!r}", ", or solver='liblinear'")
    return "logistic", 1 / model.C, float(model.intercept_scaling) if model.fit_intercept else 0.0


def _support_vectors(model: Any) -> tuple[Loss, float, float]:
    if model.penalty != "l2":
        _refuse(f"penalty={model.penalty!r}", "'l2': the ℓ₁ penalty has no modulus")
    if model.loss != "squared_hinge":
        _refuse(
            f"loss={model.loss!r}",
            "'squared_hinge': the hinge loss has no derivative at its corner, so that nothing says how far the fit "
            "is from the minimum",
        )
    if model.multi_class != "ovr":
        _refuse(f"multi_class={model.multi_class!r}", "'ovr'")
    return "squared-hinge", 1 / model.C, float(model.intercept_scaling) if model.fit_intercept else 0.0


def _ridge(model: Any) -> tuple[Loss, float, float]:
    if np.ndim(model.alpha) or not model.alpha > 0:
        _unregularised(f"alpha={model.alpha!r}")
    if model.fit_intercept:
        _free_intercept("fit_intercept=True", "")
    if model.positive:
        _refuse("positive=True", "False: the minimum over positive weights has another gradient")
    return "squared", 2 * float(model.alpha), 0.0


def _unregularised(found: str) -> NoReturn:
    _refuse(
        found,
        "a regularised model: otherwise one record can move the weights without limit, and no noise is enough",
    )


def _free_intercept(found: str, or_else: str) -> NoReturn:
    _refuse(
        found,
        f"an intercept that is regularised: fit_intercept=False and a column of ones in X{or_else}. One record can "
        "move an intercept without penalty much further than any bound here allows",
    )


def _refuse(found: str, expected: str) -> NoReturn:
    raise ValueError(f"model: found {found}, expected {expected}")
