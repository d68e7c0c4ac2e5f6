"""Audits of private models, of the rates of equal opportunity, and of what prepares rows and chooses among models."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib.experiments.ours.audited_release import Audited, changed, one_by_one

GROUP, LABEL = np.repeat([0, 1], 10), np.tile([0, 1], 10)
DELTA = 1e-2
"""Large enough for a few thousand runs to show something."""


def opportunity(relation: Any) -> Audited:
    """Audit the noisy counts of equal opportunity: one goes down, and unless a row is removed another one up."""
    from dpfair_lib.central.private_postprocessor import PrivateFairPostprocessor

    truth = np.ones(20, dtype=int)
    moved = LABEL, changed(GROUP, 1, 1), truth
    second = {
        "add-remove": tuple(np.delete(column, 1) for column in (LABEL, GROUP, truth)),
        "sensitive-attribute": moved,
    }.get(relation, (changed(LABEL, 1, 0), GROUP, truth))
    sizes = {} if relation == "replace-within-group" else {"group_sizes": {0: 10, 1: 10}}

    def fit(data: Any, _: int) -> Any:
        fair = PrivateFairPostprocessor(1.0, relation=relation, notion="equal_opportunity", **sizes)  # type: ignore[arg-type]
        return fair.fit(data[0], sensitive_features=data[1], y_true=data[2])

    def score(fitted: Any) -> float:
        (found, missed), (other, _) = fitted.noisy_counts_[0], fitted.noisy_counts_[1]
        up = {"add-remove": -np.inf, "sensitive-attribute": other}.get(relation, missed)
        return float(min(found - 4.5, 5.5 - up))

    return Audited(((LABEL, GROUP, truth), second), one_by_one(fit, score))


def objective(kind: Any) -> Audited:
    """Audit objective perturbation: one of two equal rows changes its label."""
    from dpfair_lib.learners.objective_perturbation import ObjectivePerturbation

    def fit(data: Any, _: int) -> Any:
        model = ObjectivePerturbation(
            feature_bound=1.0, epsilon=0.9, delta=0.0 if kind == "laplace" else DELTA, noise_kind=kind,
            fit_intercept=False, classes=(0, 1),
        )  # fmt: skip
        return model.fit(np.ones((2, 1)), data)

    pair = np.array([1, 1]), np.array([0, 1])
    return Audited(pair, one_by_one(fit, lambda fitted: float(fitted.coef_[0, 0])))


def joined() -> Audited:
    """Audit a model with its post-processing: by its weight and by a group's rate, as one row changes its label."""
    from dpfair_lib.central.private_classifier import PrivateFairClassifier

    def fit(data: Any, _: int) -> Any:
        model = PrivateFairClassifier(epsilon=1.0, delta=DELTA, feature_bound=1.0, classes=(0, 1), share=0.25)
        return model.fit(np.ones((4, 1)), data, sensitive_features=np.array([0, 0, 1, 1]))

    def score(fitted: Any) -> float:
        return float(fitted.learner_.coef_[0, 0] + fitted.learner_.intercept_[0])

    return Audited((np.ones(4, dtype=int), np.array([0, 1, 1, 1])), one_by_one(fit, score))


def secure_steps() -> Audited:
    """Audit a step of private descent with secure noise: a record with the largest gradient comes in."""
    from dpfair_lib.learners.logistic import DPLogisticRegression

    def fit(data: Any, _: int) -> Any:
        model = DPLogisticRegression(
            noise_multiplier=1.5, delta=DELTA, max_grad_norm=1.0, sample_rate=1.0, steps=1, learning_rate=1.0,
            expected_batch_size=1.0, classes=(0, 1), fit_intercept=False, device="cpu",
        )  # fmt: skip
        return model.fit(*data)

    whole = np.array([[1e-3], [1e3]]), np.array([0, 1])
    fewer = tuple(column[:1] for column in whole)
    return Audited((whole, fewer), one_by_one(fit, lambda fitted: float(fitted.coef_[0, 0])))


VALUES = np.full((20, 1), 0.5)
VALUES[0] = 1.0


def scaler(relation: Any) -> Audited:
    """Audit a scaler's mean: a value goes from one bound to the other, or leaves."""
    from dpfair_lib.preparation import PrivateScaler

    def fit(data: Any, _: int) -> Any:
        return PrivateScaler({0: (0.0, 1.0)}, epsilon=1.0, relation=relation).fit(data)

    other = changed(VALUES, 0, 0.0) if relation == "replace-one" else VALUES[1:]
    return Audited((VALUES, other), one_by_one(fit, lambda fitted: float(fitted.means_[0])))


def imputer(relation: Any) -> Audited:
    """Audit the choice of a frequent category: one of two equally frequent ones gains a row, or loses one."""
    from dpfair_lib.preparation import PrivateImputer

    def fit(data: Any, _: int) -> Any:
        return PrivateImputer(categories={0: ["a", "b"]}, epsilon=1.0, relation=relation).fit(data)

    rows = np.array([["a"], ["b"]] * 5, dtype=object)
    other = changed(rows, 0, "b") if relation == "replace-one" else rows[1:]
    return Audited((rows, other), one_by_one(fit, lambda fitted: float(fitted.values_[0] == "a")))


def pipeline() -> Audited:
    """Audit a pipeline by its scaler, which has most of ε: a value goes from one bound to the other."""
    from dpfair_lib.learners.objective_perturbation import ObjectivePerturbation
    from dpfair_lib.preparation import PrivatePipeline, PrivateScaler

    def fit(data: Any, _: int) -> Any:
        model = PrivatePipeline([
            ("scale", PrivateScaler({0: (0.0, 1.0)}, epsilon=0.9)),
            ("learn", ObjectivePerturbation(feature_bound=2.0, epsilon=0.3, delta=DELTA, classes=(0, 1))),
        ])  # fmt: skip
        return model.fit(data, np.tile([0, 1], 10))

    def score(fitted: Any) -> float:
        return float(fitted.named_steps["scale"].means_[0])

    return Audited((VALUES, changed(VALUES, 0, 0.0)), one_by_one(fit, score))


def selection() -> Audited:
    """Audit a choice between a model and a constant: a held-out row that spoke for the one speaks for the other."""
    from dpfair_lib.learners.output_perturbation import OutputPerturbation
    from dpfair_lib.preparation import PrivatePipeline, PrivateSelection, PublicScaler

    def learner() -> OutputPerturbation:
        return OutputPerturbation(
            regularization=0.1, feature_bound=1.0, epsilon=1.0, delta=1e-3, fit_intercept=False,
            classes=(0, 1),
        )  # fmt: skip

    # beyond the bounds of its scaler all rows are alike: the second model answers 0, whatever it learned
    constant = PrivatePipeline([("cut", PublicScaler({0: (5.0, 10.0)})), ("learn", learner())])

    def fit(data: Any, _: int) -> Any:
        chosen = PrivateSelection([learner(), constant], epsilon=2.0, holdout_every=2)
        return chosen.fit(np.ones((120, 1)), data)

    labels = np.ones(120, dtype=int)
    labels[np.arange(1, 60, 2)] = 0  # of the 60 that are held out one half
    return Audited(
        (labels, changed(labels, 119, 0)), one_by_one(fit, lambda fitted: -float(fitted.best_index_))
    )


RELATIONS = ("replace-within-group", "add-remove", "replace-one", "sensitive-attribute")
MODELS: dict[str, Audited] = {
    **{f"true positive rates, {relation}": opportunity(relation) for relation in RELATIONS},
    **{f"objective perturbation, {kind}": objective(kind) for kind in ("gaussian", "laplace")},
    "model and post-processing": joined(),
    "secure descent, 1 step": secure_steps(),
    **{f"scaler, {relation}": scaler(relation) for relation in ("replace-one", "add-remove")},
    **{f"frequent category, {relation}": imputer(relation) for relation in ("replace-one", "add-remove")},
    "pipeline": pipeline(),
    "choice among models": selection(),
}
"""Releases by name."""
