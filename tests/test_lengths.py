"""Arrays that belong together have one length and one index.

An array that lacks its last entry is refused, whichever it is, and so is a table of pandas whose rows have other labels
than those of another one.
"""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from test_signatures import public

import dpfair_lib as dpf
from dpfair_lib import fairness, local, privacy
from dpfair_lib.margins import margins

N = 40
RNG = np.random.default_rng(0)
Y, GROUP = np.tile([0, 1], N // 2), np.tile([0, 0, 1, 1], N // 4)
X = np.column_stack([Y - 0.5 + 0.1 * RNG.normal(size=N), RNG.normal(size=N), np.ones(N)])
SCORES, GUESSED = X[:, 0], np.tile([0, 1, 1, 0, 1, 1, 0, 0], N // 8)
LABELLED = {"X": X, "y": Y}
ROWS = {**LABELLED, "sensitive_features": GROUP}
MODEL = {"scores": SCORES, **ROWS}
JUDGED = {"y_pred": GUESSED, "sensitive_features": GROUP}
TOLD = {"y_true": Y, **JUDGED}
WEIGHED = {**TOLD, "sample_weight": np.ones(N)}
ADJUSTED = {"y_pred": GUESSED, "sensitive_features": GROUP}
TAUGHT = {**ADJUSTED, "y": Y}
CHANCES = {"y_proba": np.linspace(0.1, 0.9, N), "sensitive_features": GROUP}
SHARES = {"p": np.array([0.5, 0.3, 0.2]), "p1": np.array([0.2, 0.5, 0.4])}
COUNTED = {"positives": np.array([2, 3, 4]), "counts": np.array([5, 6, 7])}
UTILITIES = {"utilities": np.array([0.5, 0.2, 0.1]), "neighbour": np.array([0.4, 0.2, 0.3])}
CELLS = {"prob": np.full(8, 0.125), "x": GUESSED[:8], "a": GROUP[:8], "y": Y[:8]}
STUDY = {"noise": "study", "random_state": 0}
TRAINED = {"delta": 1e-3, "steps": 1, "learning_rate": 0.1, "noise": "study", "random_state": 0}
SCORED = {"y": Y, "sensitive_features": GROUP, "sample_weight": np.ones(N)}
FLIPS, HIDDEN = dpf.FairPostprocessor(), dpf.PrivateFairPostprocessor(1.0, **STUDY)
ODDS = dpf.EqualizedOddsPostprocessor(gamma=0.1)
REPORTED = dpf.ReportedOddsPostprocessor(dpf.Randomizer([[0.75, 0.25], [0.25, 0.75]]), gamma=0.1)
GAVE = {"y_pred": GUESSED, "reports": GROUP}
PROJECTION = dpf.FairProjection("demographic_parity", tolerance=0.1)
RULES = [lambda x, _: np.zeros(len(x)), lambda x, _: np.ones(len(x))]
JOINED = dpf.PrivateFairClassifier(feature_bound=9.0, epsilon=1.0, delta=1e-3, **STUDY)
SEEN = {"X": X, "sensitive_features": GROUP}
CHANGED = dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor())
JUDGED_BY_COLUMN = dpf.GroupColumn(clone(CHANGED), lambda X: (X[:, 1] > 0).astype(int))
BOUNDED = dpf.ObjectivePerturbation(feature_bound=9.0, epsilon=1.0, delta=1e-3, **STUDY)
PIPELINE = dpf.PrivatePipeline([("scale", dpf.PublicScaler({0: (-1, 1)})), ("learn", clone(BOUNDED))])
SELECTION = dpf.PrivateSelection([clone(BOUNDED)], epsilon=1.0, **STUDY)
WEIGHTED = {**LABELLED, "sample_weight": np.ones(N)}
LEARNER = dpf.ExponentialFairLearner(RULES, epsilon=1.0, delta=0.1, **STUDY)
CERTIFIED = {"notion": "accuracy", "sigma": 1.0, "zeta": 0.1, "rng": np.random.default_rng(0)}

# the arguments that have one entry per row, group or outcome, and the others
CASES = {
    "DPFermiClassifier.fit": (
        dpf.DPFermiClassifier(penalty=1.0, epsilon=5.0, batch_size=10, frequency_epsilon=1.0, **TRAINED).fit,
        ROWS, {},
    ),
    "ReportedOddsPostprocessor.fit": (REPORTED.fit, {**GAVE, "y_true": Y}, {}),
    "ReportedOddsPostprocessor.predict": (
        REPORTED.fit(**GAVE, y_true=Y).predict, GAVE, {"random_state": 0},
    ),
    "ReportedOddsPostprocessor.predict_proba": (REPORTED.predict_proba, GAVE, {}),
    "ReportedOddsPostprocessor.score": (
        REPORTED.score, {"X": GUESSED, "y": Y, "reports": GROUP, "sample_weight": np.ones(N)}, {},
    ),
    "FairFunctionalClassifier.fit": (
        dpf.FairFunctionalClassifier(penalty=1.0, feature_bound=9.0, epsilon=1.0, delta=1e-3, **STUDY).fit, ROWS, {},
    ),
    "DPGroupClippingClassifier.fit": (
        dpf.DPGroupClippingClassifier(
            noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, **TRAINED
        ).fit, ROWS, {},
    ),
    "DPLagrangianClassifier.fit": (
        dpf.DPLagrangianClassifier(
            notion="equalized_odds", noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, **TRAINED
        ).fit, ROWS, {},
    ),
    "PrivateExponentiatedGradient.score": (
        dpf.PrivateExponentiatedGradient(
            notion="equalized_odds", feature_bound=9.0, epsilon=1.0, delta=1e-3, rounds=3, **STUDY
        ).fit(**ROWS).score, WEIGHTED, {},
    ),
    "PrivateExponentiatedGradient.fit": (
        dpf.PrivateExponentiatedGradient(
            notion="equalized_odds", feature_bound=9.0, epsilon=1.0, delta=1e-3, rounds=3, **STUDY
        ).fit, ROWS, {},
    ),
    "DPGlobalScalingClassifier.fit": (
        dpf.DPGlobalScalingClassifier(
            noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, scale_norm=2.0, **TRAINED
        ).fit, LABELLED, {},
    ),
    "DPNetworkClassifier.fit": (
        dpf.DPNetworkClassifier(noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, **TRAINED).fit,
        LABELLED, {},
    ),
    "DPLogisticRegression.fit": (
        dpf.DPLogisticRegression(noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, **TRAINED).fit,
        LABELLED, {},
    ),
    "ObjectivePerturbation.fit": (clone(BOUNDED).fit, LABELLED, {}),
    "OutputPerturbation.fit": (
        dpf.OutputPerturbation(regularization=0.1, feature_bound=9.0, epsilon=1.0, delta=1e-3, **STUDY).fit,
        LABELLED, {},
    ),
    "PrivatePipeline.fit": (clone(PIPELINE).fit, LABELLED, {}),
    "PrivateSelection.fit": (clone(SELECTION).fit, LABELLED, {}),
    "ObjectivePerturbation.score": (BOUNDED.fit(**LABELLED).score, WEIGHTED, {}),
    "PrivatePipeline.score": (PIPELINE.fit(**LABELLED).score, WEIGHTED, {}),
    "PrivateSelection.score": (SELECTION.fit(**LABELLED).score, WEIGHTED, {}),
    "SupportVectorPerturbation.noisy_joint": (
        dpf.SupportVectorPerturbation(SVC().fit(X, Y), epsilon=1.0).perturb(np.random.default_rng(0)).noisy_joint,
        ROWS, {"rng": np.random.default_rng(0)},
    ),
    "EqualizedOddsPostprocessor.fit": (ODDS.fit, TAUGHT, {}),
    "EqualizedOddsPostprocessor.predict": (ODDS.fit(**TAUGHT).predict, ADJUSTED, {"random_state": 0}),
    "EqualizedOddsPostprocessor.predict_proba": (ODDS.predict_proba, ADJUSTED, {}),
    "EqualizedOddsPostprocessor.score": (ODDS.score, {"X": GUESSED, **SCORED}, {}),
    "GroupColumn.fit": (JUDGED_BY_COLUMN.fit, LABELLED, {}),
    "GroupColumn.score": (JUDGED_BY_COLUMN.fit(**LABELLED).score, {**LABELLED, "sample_weight": np.ones(N)}, {}),
    "PostprocessedClassifier.fit": (CHANGED.fit, ROWS, {}),
    "PostprocessedClassifier.predict": (CHANGED.fit(**ROWS).predict, SEEN, {"random_state": 0}),
    "PostprocessedClassifier.predict_proba": (CHANGED.predict_proba, SEEN, {}),
    "PostprocessedClassifier.score": (CHANGED.score, {"X": X, **SCORED}, {}),
    "FairPostprocessor.fit": (
        dpf.FairPostprocessor().fit, {**TAUGHT, "scores": SCORES, "sample_weight": np.ones(N)}, {},
    ),
    "FairPostprocessor.predict": (FLIPS.fit(**TAUGHT).predict, ADJUSTED, {"random_state": 0}),
    "FairPostprocessor.predict_proba": (FLIPS.predict_proba, ADJUSTED, {}),
    "FairPostprocessor.score": (FLIPS.score, {"X": GUESSED, **SCORED}, {}),
    "PrivateFairClassifier.fit": (JOINED.fit, ROWS, {}),
    "PrivateFairClassifier.predict": (JOINED.fit(**ROWS).predict, SEEN, {"random_state": 0}),
    "PrivateFairClassifier.predict_proba": (JOINED.predict_proba, SEEN, {}),
    "PrivateFairClassifier.score": (JOINED.score, {"X": X, **SCORED}, {}),
    "PrivateFairPostprocessor.fit": (HIDDEN.fit, ADJUSTED, {}),
    "PrivateFairPostprocessor.predict": (HIDDEN.fit(**ADJUSTED).predict, ADJUSTED, {"random_state": 0}),
    "PrivateFairPostprocessor.predict_proba": (HIDDEN.predict_proba, ADJUSTED, {}),
    "PrivateFairPostprocessor.score": (HIDDEN.score, {"X": GUESSED, **SCORED}, {}),
    "PrivateFairPostprocessor.fit, equal opportunity": (
        dpf.PrivateFairPostprocessor(1.0, notion="equal_opportunity", **STUDY).fit, TAUGHT, {},
    ),
    "FairProjection.fit": (PROJECTION.fit, {**CHANCES, "y": Y}, {}),
    "FairProjection.predict": (PROJECTION.fit(**CHANCES, y=Y).predict, CHANCES, {}),
    "FairProjection.predict_proba": (PROJECTION.predict_proba, CHANCES, {}),
    "FairProjection.score": (PROJECTION.score, {"X": CHANCES["y_proba"], **SCORED}, {}),
    "ExponentialFairLearner.fit": (LEARNER.fit, ROWS, {}),
    "ExponentialFairLearner.predict": (
        LEARNER.fit(**ROWS).predict, {"X": X, "sensitive_features": GROUP}, {"random_state": 0},
    ),
    "ExponentialFairLearner.predict_proba": (LEARNER.predict_proba, {"X": X, "sensitive_features": GROUP}, {}),
    "ExponentialFairLearner.score": (LEARNER.score, {"X": X, **SCORED}, {}),
    "PrivateNoRegretFair.fit": (
        dpf.PrivateNoRegretFair(
            epsilon=1.0, delta=1e-3, subgroups=[{0: 1}], rounds=2, samples=2, tolerance=0.5, **STUDY
        ).fit,
        {**ROWS, "X": GUESSED[:, None]}, {},
    ),
    "Population": (dpf.Population, CELLS, {}),
    "estimate_rates": (dpf.estimate_rates, {"reports": GUESSED, "y": Y}, {"channel": np.eye(2)}),
    "Randomizer.pushforward": (dpf.Randomizer(np.full((3, 3), 1 / 3)).pushforward, SHARES, {}),
    "accuracy_parity_difference": (dpf.accuracy_parity_difference, WEIGHED, {}),
    "demographic_parity_difference": (dpf.demographic_parity_difference, WEIGHED, {}),
    "demographic_parity_ratio": (dpf.demographic_parity_ratio, WEIGHED, {}),
    "equal_opportunity_difference": (dpf.equal_opportunity_difference, WEIGHED, {}),
    "equal_opportunity_ratio": (dpf.equal_opportunity_ratio, WEIGHED, {}),
    "equalized_odds_difference": (dpf.equalized_odds_difference, WEIGHED, {}),
    "equalized_odds_ratio": (dpf.equalized_odds_ratio, WEIGHED, {}),
    "gap_interval_from_rows": (dpf.gap_interval_from_rows, TOLD, {}),
    "mean_equalized_odds_difference": (dpf.mean_equalized_odds_difference, WEIGHED, {}),
    "selection_rates": (dpf.selection_rates, JUDGED, {}),
    "data_unfairness": (dpf.data_unfairness, {"y": Y, "sensitive_features": GROUP}, {"kind": "ratio"}),
    "data_unfairness_from_rates": (dpf.data_unfairness_from_rates, SHARES, {"kind": "ratio"}),
    "fairness_coefficients": (
        dpf.fairness_coefficients, {"y_true": Y, "sensitive_features": GROUP}, {"notion": "accuracy"},
    ),
    "group_fairness": (
        dpf.group_fairness, {"y_true": Y, "y_pred": GUESSED, "sensitive_features": GROUP}, {"notion": "accuracy"},
    ),
    "fairness_certificate": (dpf.fairness_certificate, MODEL, {"notion": "accuracy", "radius": 0.1}),
    "certify_model": (
        dpf.certify_model, {**ROWS, "X": X[:, :2]},
        {"model": LogisticRegression(C=1e-3, fit_intercept=False).fit(X[:, :2], Y), "notion": "accuracy",
         "epsilon": 1.0, "delta": 1e-5, "zeta": 0.1, "feature_bound": 9.0},
    ),
    "noise_certificate": (dpf.noise_certificate, MODEL, {**CERTIFIED, "draws": 200}),
    "private_certificate": (
        dpf.private_certificate, MODEL, {**CERTIFIED, "epsilon": 1.0, "noise": "study"},
    ),
    "binary_optimum": (
        dpf.binary_optimum, {"p": np.array([0.6, 0.4]), "p1": np.array([0.2, 0.5])}, {"epsilon": 1.0},
    ),
    "optimal_randomizer": (dpf.optimal_randomizer, SHARES, {"epsilon": 1.0}),
    "local.smallest_fair_error": (local.smallest_fair_error, SHARES, {"epsilon": 1.0}),
    "local.fair_error_bounds": (local.fair_error_bounds, SHARES, {"epsilon": 1.0}),
    "margins": (dpf.margins, {"scores": SCORES, "y": Y}, {}),
    "margins.margins": (margins, {"scores": SCORES, "y": Y}, {}),
    "privacy.ExponentialMechanism.losses": (
        privacy.ExponentialMechanism(1.0, 1.0).losses, UTILITIES, {},
    ),
    "privacy.ExponentialMechanism.delta_between": (
        privacy.ExponentialMechanism(1.0, 1.0).delta_between, UTILITIES, {"epsilon": 0.5},
    ),
    "privacy.laplace_vector_loss": (
        privacy.laplace_vector_loss, {"output": np.zeros(3), "first": np.ones(3), "second": np.zeros(3)},
        {"scale": 1.0},
    ),
    "fairness.accuracies": (fairness.accuracies, TOLD, {}),
    "fairness.expected_parity_difference": (
        fairness.expected_parity_difference, {"pred": SCORES / 10 + 0.5, "sensitive_features": GROUP}, {},
    ),
    "fairness.label_rates": (fairness.label_rates, TOLD, {"label": 1}),
    "fairness.gap_interval": (fairness.gap_interval, COUNTED, {}),
    "fairness.mean_odds_interval": (
        fairness.mean_odds_interval, {name: np.stack([count] * 2) for name, count in COUNTED.items()}, {},
    ),
    "fairness.rate_interval": (fairness.rate_interval, COUNTED, {}),
}  # fmt: skip
PAIRED = {
    "X", "y", "y_true", "y_pred", "pred", "scores", "sensitive_features", "y_proba", "p", "p1", "prob", "utilities",
    "neighbour", "positives", "counts", "first", "second",
}  # fmt: skip
BROADCAST = {
    "privacy.laplace_vector_loss", "fairness.gap_interval", "fairness.mean_odds_interval", "fairness.rate_interval",
}  # fmt: skip
OTHERWISE = {
    "Dataset": "a record of what a loader has made",
    "local.verify_certificate": "p and p1 stand beside a channel whose rows they must fit, see its own tests",
}


@pytest.mark.parametrize("name", CASES)
def test_whichever_array_is_shorter_is_refused(name):
    function, arrays, others = CASES[name]
    function(**arrays, **others)  # they are right as they are
    last = -1 if name.endswith("mean_odds_interval") else 0  # the axis along which they belong together
    for short, array in arrays.items():
        with pytest.raises(
            ValueError, match="broadcast" if name in BROADCAST else r"(?i)found|lengths differ"
        ):
            function(**{**arrays, short: np.delete(array, -1, axis=last)}, **others)


def labelled(array, index):
    kind = pd.DataFrame if np.ndim(array) == 2 else pd.Series
    return kind(array, index=index)


@pytest.mark.parametrize("name", [name for name, (_, arrays, _) in CASES.items() if len(arrays) > 1])
def test_whichever_table_has_other_row_labels_is_refused(name):
    function, arrays, others = CASES[name]
    # the rule of these groups reads the columns of an array
    left = {"X": arrays["X"]} if name.startswith("GroupColumn") else {}
    compared = [one for one in arrays if one not in left]
    index = np.arange(len(arrays[compared[0]])) + 5
    tables = {one: labelled(arrays[one], index) for one in compared} | left
    function(**tables, **others)  # equal labels are right, whatever they are
    for other in compared[1:]:
        with pytest.raises(ValueError, match="found other row labels than those of"):
            function(**{**tables, other: labelled(arrays[other], index[::-1])}, **others)


def test_every_public_function_of_paired_arrays_has_a_case():
    paired = {
        name.removeprefix("dpfair_lib.")
        for name, found in public()
        if len(PAIRED & set(inspect.signature(found).parameters)) > 1
    }
    assert paired - CASES.keys() == OTHERWISE.keys()
