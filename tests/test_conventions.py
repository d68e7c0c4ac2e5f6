"""scikit-learn's own checks of every estimator; each check that is not passed has its reason here."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

import dpfair_lib as dpf


def halves(X):
    """Return a group for each row, from the row alone, whatever X is."""
    raw = np.atleast_2d(np.asarray(getattr(X, "toarray", lambda: X)()))
    table = np.real(raw).astype(float)
    return (np.nan_to_num(table, posinf=0, neginf=0).sum(axis=1) * 1000 * np.pi // 1 % 2).astype(int)


STUDY = {"noise": "study", "random_state": 0}
LOOSE = {"delta": 1e-3, **STUDY}
STEPS = {"max_grad_norm": 1.0, "sample_rate": 0.5, "steps": 30, "learning_rate": 0.5, **LOOSE}
NO_ARRAY = {"check_classifier_data_not_an_array": "the rule of the groups calls NumPy"}
DRAWN = {"check_classifiers_train": "labels are drawn, so they are not always the likelier ones"}
SMALL = dict.fromkeys(
    ("check_n_features_in_after_fitting", "check_fit2d_1feature"),
    "in some of these few rows a group lacks a label, and then the notion has no meaning",
)
PREPARED = {
    "check_estimators_empty_data_messages": "no rows are a neighbour of one row, so an error would tell",
    "check_transformer_data_not_an_array": "lists give objects: one cell's type changes no other cell",
}
CHOSEN = {
    "check_supervised_y_2d": "one column of labels is taken without a warning",
    "check_fit2d_1sample": "the message says rows, not samples",
}


class Settled(dpf.GroupColumn):
    """The same with the same draws at each call: the checks compare labels."""

    def predict(self, X):
        return super().predict(X, random_state=0)


def told(postprocessor):
    """Return a post-processor behind a classifier, which takes groups from the rows."""
    return Settled(dpf.PostprocessedClassifier(LogisticRegression(), postprocessor), halves)


CHECKED = {
    "output, secure noise": (
        dpf.OutputPerturbation(regularization=1.0, feature_bound=20.0, epsilon=1e9, delta=1e-3),
        {"check_fit_idempotent": "each fit draws noise of its own"},
    ),
    "objective": (dpf.ObjectivePerturbation(feature_bound=20.0, epsilon=1e6, **LOOSE), {}),
    "logistic": (dpf.DPLogisticRegression(noise_multiplier=1.0, **STEPS), {}),
    "svm": (dpf.DPLinearSVM(noise_multiplier=1.0, **STEPS), {}),
    "fermi": (
        dpf.GroupColumn(
            dpf.DPFermiClassifier(
                penalty=0.1, epsilon=1e4, batch_size=5, frequency_epsilon=1.0, steps=5, learning_rate=0.1, **LOOSE
            ), halves
        ), NO_ARRAY,
    ),
    "group clipping": (
        dpf.GroupColumn(dpf.DPGroupClippingClassifier(noise_multiplier=0.1, groups=[0, 1], **STEPS), halves), NO_ARRAY,
    ),
    "lagrangian": (
        dpf.GroupColumn(
            dpf.DPLagrangianClassifier(notion="equalized_odds", noise_multiplier=0.1, groups=[0, 1], **STEPS), halves
        ), NO_ARRAY,
    ),
    "exponentiated gradient": (
        dpf.GroupColumn(
            dpf.PrivateExponentiatedGradient(
                notion="equalized_odds", feature_bound=20.0, epsilon=1e6, multiplier_bound=1e-9, groups=[0, 1], **LOOSE
            ), halves
        ), NO_ARRAY | DRAWN,
    ),
    "global scaling": (dpf.DPGlobalScalingClassifier(noise_multiplier=0.1, scale_norm=2.0, **STEPS), {}),
    "network": (dpf.DPNetworkClassifier(noise_multiplier=0.1, hidden=4, **STEPS), {}),
    "functional mechanism": (
        dpf.GroupColumn(
            dpf.FairFunctionalClassifier(penalty=0.1, feature_bound=20.0, epsilon=1e6, groups=[0, 1], **LOOSE), halves
        ), NO_ARRAY,
    ),
    "private and fair": (
        Settled(dpf.PrivateFairClassifier(epsilon=1e4, feature_bound=20.0, **LOOSE), halves),
        NO_ARRAY | DRAWN,
    ),
    "fair": (told(dpf.FairPostprocessor()), NO_ARRAY | DRAWN),
    "private rates": (told(dpf.PrivateFairPostprocessor(1e6, **STUDY)), NO_ARRAY | DRAWN),
    "private true positive rates": (
        told(dpf.PrivateFairPostprocessor(1e6, notion="equal_opportunity", **STUDY)), NO_ARRAY | DRAWN,
    ),
    "odds": (told(dpf.EqualizedOddsPostprocessor(gamma=0.1)), NO_ARRAY | SMALL),
    "private odds": (told(dpf.EqualizedOddsPostprocessor(gamma=0.1, epsilon=1e6, **STUDY)), NO_ARRAY),
    "pipeline": (
        dpf.PrivatePipeline(
            [("learn", dpf.OutputPerturbation(regularization=0.1, feature_bound=20.0, epsilon=1e6, **LOOSE))]
        ),
        {"check_estimators_pickle": "missing numbers are for an imputer, which this pipeline has not"},
    ),
    "selection": (
        dpf.PrivateSelection(
            [dpf.ObjectivePerturbation(feature_bound=20.0, epsilon=1e6, **LOOSE)], epsilon=1.0, **STUDY
        ), CHOSEN,
    ),
    "private scaler": (dpf.PrivateScaler({0: (-1, 1)}, epsilon=1.0, **STUDY), PREPARED),
    "private imputer": (dpf.PrivateImputer({0: (-1, 1)}, epsilon=1.0, **STUDY), PREPARED),
    "public scaler": (dpf.PublicScaler({0: (-1, 1)}), PREPARED),
    "public imputer": (dpf.PublicImputer({0: 1.0}), PREPARED),
    "encoder": (dpf.PublicEncoder({0: [1.0]}), PREPARED),
}  # fmt: skip
NOT_CHECKED = {
    dpf.ExponentialFairLearner: "chooses one of the caller's functions, of labels 0 and 1 and rows of any kind",
    dpf.PrivateNoRegretFair: "takes columns of few declared values, and the checks give real numbers",
    dpf.ReportedOddsPostprocessor: "takes reports of a channel, and the checks give features",
    dpf.FairProjection: "takes probabilities, and the checks give features",
}
"""What has `fit` and is no classifier of features, with the reason."""


@pytest.mark.parametrize("name", CHECKED)
def test_scikit_learns_own_checks(name):
    estimator, reasons = CHECKED[name]
    ran = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=reasons)
    failed = {one["check_name"]: one["exception"] for one in ran if one["status"] == "failed"}
    assert not failed
    assert len(ran) > 40


def kinds(estimator):
    """Return the classes of an estimator and of those inside of it."""
    return {kind for one in (estimator, *estimator.get_params().values()) for kind in type(one).__mro__}


def test_every_estimator_is_checked_or_says_why_not():
    fitted = {kind for name in dir(dpf) if hasattr(kind := getattr(dpf, name), "fit")}
    checked = set().union(*(kinds(estimator) for estimator, _ in CHECKED.values()))
    assert fitted - checked == set(NOT_CHECKED)
    assert all(kind.__name__ and len(why) > 20 for kind, why in NOT_CHECKED.items())


def test_a_check_that_fails_without_a_reason_is_noticed():
    class Forgetful(dpf.ObjectivePerturbation):
        def predict(self, X):
            return super().predict(X)[::-1]

    ran = check_estimator(Forgetful(feature_bound=20.0, epsilon=1e6, **LOOSE), on_skip=None, on_fail=None)
    assert any(one["status"] == "failed" for one in ran)


@pytest.mark.parametrize("name", ["private scaler", "encoder", "selection"])
def test_tables_without_columns_sparse_and_complex_ones_are_refused(name):
    from scipy.sparse import csr_array

    estimator, rows, labels = CHECKED[name][0], np.zeros((6, 2)), np.tile([0, 1], 3)
    for given, message in [
        (csr_array(rows), "X: found a sparse table, expected a dense one"),
        (rows.astype(complex), "Complex data not supported"),
        (rows[:, 0], r"X: found shape \(6,\), expected two dimensions"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator.fit(given, labels)
