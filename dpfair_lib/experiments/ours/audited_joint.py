"""Audits of joint releases: what two releases on the same rows show together, held against one total ε.

An audit by one of two parts can show that part's ε at most, and so never that a total leaves the other part out. Here
the score of a run is the logarithm of the likelihood ratio of both parts, the best score there is: of the weight, and
of what else was released, given the weight or before it. The pairs are such that one record moves both as far as it
can.

**The weight.** Of one feature, without intercept, the hinge's slope is 1 while margins are below ½, and much
regularisation keeps them there. Then the minimiser *w* gives away the noise *b* in its objective: b = Σ yx − μnw, with
labels −1 and 1. So its ratio is that of two Laplace densities. Where a record's x changes its sign, Σ yx moves by 2|x|,
which is all that one record can do.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpfair_lib.central.private_classifier import PrivateFairClassifier
from dpfair_lib.experiments.ours.audited_release import Audited, changed, one_by_one
from dpfair_lib.learners.objective_perturbation import ObjectivePerturbation
from dpfair_lib.preparation import PrivatePipeline, PrivateScaler
from dpfair_lib.privacy import PrivacyStatement

MODULUS = 10.0
"""So much regularisation that no margin comes near ½."""
EACH = 1.0
"""ε of each part; the claim is twice as much."""


def laplace_ratio(seen: float, first: float, second: float, epsilon: float) -> float:
    """Return ln of the ratio of two Laplace densities of scale 1/ε, the first one's over the second one's."""
    return epsilon * (abs(seen - second) - abs(seen - first))


def weight_ratio(model: ObjectivePerturbation, sums: tuple[float, float], n: int) -> float:
    """Return ln of the ratio of the weight's densities on two data sets.

    Parameters
    ----------
    model : ObjectivePerturbation
        Fitted on n rows of one feature.
    sums : (float, float)
        Σ yx of both data sets.
    n : int
        Number of rows.
    """
    scale = model.sigma_ / math.sqrt(2)
    return laplace_ratio(MODULUS * n * float(model.coef_[0, 0]), *sums, 1 / scale)


def learner(bound: float) -> ObjectivePerturbation:
    """Return a learner of one feature, whose ε others may set."""
    return ObjectivePerturbation(
        feature_bound=bound, epsilon=EACH, delta=0.0, regularization=MODULUS, noise_kind="laplace",
        loss="huberised-hinge", fit_intercept=False, classes=(0, 1),
    )  # fmt: skip


def model_and_counts(made: type[PrivateFairClassifier] = PrivateFairClassifier) -> Audited:
    """Audit a model with its post-processing: a record turns round, which moves the weight, and one count by 1.

    A positive weight selects both rows of the first group, and one of them after the change; a negative weight none,
    and one.

    Parameters
    ----------
    made : class
        The estimator, or one with a planted fault.
    """
    X, y, group = np.ones((4, 1)), np.ones(4, dtype=int), np.array([0, 0, 1, 1])

    def fit(data: Any, _: int) -> Any:
        model = made(epsilon=2 * EACH, delta=0.0, learner=learner(1.0), classes=(0, 1), share=0.5)
        return model.fit(data, y, sensitive_features=group)

    def score(fitted: Any) -> float:
        counted = 2 if fitted.learner_.coef_[0, 0] > 0 else 0
        noisy = 2 * fitted.postprocessor_.noisy_rates_[0]
        return weight_ratio(fitted.learner_, (4.0, 2.0), 4) + laplace_ratio(noisy, counted, 1, EACH)

    return Audited((X, changed(X, 0, -1.0)), one_by_one(fit, score))


ROWS = 200


def scaler_and_model(
    made: type[PrivatePipeline] = PrivatePipeline, first: type[PrivateScaler] = PrivateScaler
) -> Audited:
    """Audit a pipeline: a value goes from one bound to the other, which moves the mean, and the scaled row's sign.

    Half of the rows are at either bound, so the sum around the middle is 0, or −1 after the change. The learner cuts
    scaled rows to ±½, whatever the scaler released.

    Parameters
    ----------
    made, first : class
        The pipeline and its scaler, or those with a planted fault.
    """
    values = np.tile([1.0, 0.0], ROWS // 2)[:, None]

    def fit(data: Any, _: int) -> Any:
        steps = [("scale", first({0: (0.0, 1.0)}, epsilon=EACH)), ("learn", learner(0.5))]
        return made(steps).fit(data, np.ones(ROWS, dtype=int))

    def score(fitted: Any) -> float:
        noisy = ROWS * (float(fitted.named_steps["scale"].means_[0]) - 0.5)
        learned = weight_ratio(fitted.named_steps["learn"], (0.0, -1.0), ROWS)
        return laplace_ratio(noisy, 0, -1, EACH) + learned

    return Audited((values, changed(values, 0, 0.0)), one_by_one(fit, score))


class CountsTheLearner(PrivateFairClassifier):
    """Planted fault: the total leaves the noisy counts out."""

    def _together(self, relation: str, trained: PrivacyStatement, _: PrivacyStatement) -> PrivacyStatement:
        return replace(trained, relation=relation)


class HalfForTheCounts(PrivateFairClassifier):
    """Planted fault: the counts have half of the noise that their statement says."""

    def _estimators(self, *planned: Any) -> Any:
        model, after = super()._estimators(*planned)
        return model, after.set_params(epsilon=2 * after.epsilon)

    def _together(
        self, relation: str, trained: PrivacyStatement, counted: PrivacyStatement
    ) -> PrivacyStatement:
        return super()._together(
            relation, trained, replace(counted, epsilon=counted.epsilon / 2, mechanism=())
        )


class CountsTheScaler(PrivatePipeline):
    """Planted fault: the total is that of the first step."""

    def _composed(self, statements: list[PrivacyStatement]) -> PrivacyStatement:
        return statements[0]


class HalfForTheScaler(PrivateScaler):
    """Planted fault: the means have half of the noise that the statement says."""

    def _learn(self, columns: Any) -> Any:
        self.epsilon *= 2
        cells, statement = super()._learn(columns)
        self.epsilon /= 2
        return cells, replace(statement, epsilon=self.epsilon, mechanism=())


JOINT: dict[str, Audited] = {
    "model and post-processing, by both": model_and_counts(),
    "pipeline, by both": scaler_and_model(),
}
"""Releases by name."""

PLANTED: dict[str, Audited] = {
    "model and post-processing, half of the noise of the counts": model_and_counts(HalfForTheCounts),
    "pipeline, half of the noise of the scaler": scaler_and_model(first=HalfForTheScaler),
}
"""The same with less noise than they claim, by name: an audit has to show more than the claim."""

PARTIAL: dict[str, Audited] = {
    "model and post-processing, by both": model_and_counts(CountsTheLearner),
    "pipeline, by both": scaler_and_model(CountsTheScaler),
}
"""By the name in `JOINT`, the same release with a total that leaves a part out: only the claim differs."""


def partial_claims() -> dict[str, float]:
    """Return what the totals of `PARTIAL` claim, by name."""
    return {name: one.release(one.pair[0], 1, 0)[1].epsilon for name, one in PARTIAL.items()}
