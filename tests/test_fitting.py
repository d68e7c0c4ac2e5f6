"""A fit that fails leaves the estimator as it was: no statement stands beside a model of which it does not speak."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline

import dpfair_lib as dpf

RNG = np.random.default_rng(0)
X, FLAG = RNG.normal(size=(40, 3)), np.tile([0, 1], 20)
GROUP, OTHER = np.repeat([0, 1], 20), np.repeat(["f", "m"], 20)
YES = np.where(FLAG == 1, "yes", "no")
STUDY = {"noise": "study", "random_state": 0}
TRAINED = {"delta": 1e-3, "steps": 3, "learning_rate": 0.1, "noise": "study", "random_state": 0}
RULES = [lambda x, _: np.zeros(len(x)), lambda x, _: np.ones(len(x))]

PERTURBED = dpf.OutputPerturbation(regularization=0.1, feature_bound=1.0, epsilon=1.0, delta=1e-3, **STUDY)

# the estimator, a fit of it, and one that fails late: other data, and a setting that is found to be wrong in the end
CASES = {
    "output perturbation": (
        dpf.OutputPerturbation(regularization=0.1, feature_bound=1.0, epsilon=1.0, delta=1e-3, **STUDY),
        ((X, FLAG), {}), ((X[:, :2], YES), {}), {"tolerance": 1e-30},
    ),
    "objective perturbation": (
        dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=1.0, delta=1e-3, **STUDY),
        ((X, FLAG), {}), ((X[:, :2], YES), {}), {"regularization": 1e-9},
    ),
    "private scaler": (
        dpf.PrivateScaler({0: (-1, 1)}, epsilon=1.0, **STUDY), ((X,), {}), ((X[:, :2],), {}), {"epsilon": -1.0},
    ),
    "private imputer": (
        dpf.PrivateImputer({0: (-1, 1)}, epsilon=1.0, **STUDY), ((X,), {}), ((X[:, :2],), {}), {"epsilon": -1.0},
    ),
    "public scaler": (
        dpf.PublicScaler({0: (-1, 1)}), ((X,), {}), ((X[:, :2],), {}), {"bounds": {2: (0, 1)}},
    ),
    "public imputer": (dpf.PublicImputer({0: 1.0}), ((X,), {}), ((X[:, :2],), {}), {"values": {2: 0.0}}),
    "encoder": (dpf.PublicEncoder({0: [1.0]}), ((X,), {}), ((X[:, :2],), {}), {"categories": {2: [0.0]}}),
    "pipeline": (
        dpf.PrivatePipeline([("scale", dpf.PrivateScaler({0: (-1, 1)}, epsilon=1.0, **STUDY)), ("learn", PERTURBED)]),
        ((X, FLAG), {}), ((X[:, :2], YES), {}), {"delta": 1e-300},
    ),
    "selection": (
        dpf.PrivateSelection(
            [dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=1.0, delta=1e-3, **STUDY)], epsilon=1.0, **STUDY
        ), ((X, FLAG), {}), ((X[:, :2], YES), {}),
        {"delta": 1e-300},
    ),
    "private and fair": (
        dpf.PrivateFairClassifier(feature_bound=1.0, epsilon=1.0, delta=1e-3, **STUDY),
        ((X, FLAG), {"sensitive_features": GROUP}), ((X[:, :2], YES), {"sensitive_features": OTHER}),
        {"share": 1e-13},
    ),
    "logistic regression": (
        dpf.DPLogisticRegression(noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, **TRAINED),
        ((X, FLAG), {}), ((X[:, :2], YES), {}), {"learning_rate": 1e300},
    ),
    "fermi": (
        dpf.DPFermiClassifier(penalty=1.0, epsilon=5.0, batch_size=10, frequency_epsilon=1.0, **TRAINED),
        ((X, FLAG), {"sensitive_features": GROUP}), ((X[:, :2], YES), {"sensitive_features": OTHER}),
        {"learning_rate": 1e300},
    ),
    "functional mechanism": (
        dpf.FairFunctionalClassifier(penalty=1.0, feature_bound=9.0, epsilon=1.0, delta=1e-3, **STUDY),
        ((X, FLAG), {"sensitive_features": GROUP}), ((X[:, :2], YES), {"sensitive_features": OTHER}),
        {"feature_bound": 1e60},
    ),
    "group clipping": (
        dpf.DPGroupClippingClassifier(noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, **TRAINED),
        ((X, FLAG), {"sensitive_features": GROUP}), ((X[:, :2], YES), {"sensitive_features": OTHER}),
        {"learning_rate": 1e300},
    ),
    "lagrangian": (
        dpf.DPLagrangianClassifier(
            notion="equalized_odds", noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, **TRAINED
        ),
        ((X, FLAG), {"sensitive_features": GROUP}), ((X[:, :2], YES), {"sensitive_features": OTHER}),
        {"learning_rate": 1e300},
    ),
    "exponentiated gradient": (
        dpf.PrivateExponentiatedGradient(
            notion="equalized_odds", feature_bound=9.0, epsilon=1.0, delta=1e-3, rounds=3, **STUDY
        ),
        ((X, FLAG), {"sensitive_features": GROUP}), ((X[:, :2], YES), {"sensitive_features": OTHER}),
        {"feature_bound": 1e60},
    ),
    "network": (
        dpf.DPNetworkClassifier(noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, **TRAINED),
        ((X, FLAG), {}), ((X[:, :2], YES), {}), {"learning_rate": 1e300},
    ),
    "global scaling": (
        dpf.DPGlobalScalingClassifier(
            noise_multiplier=1.0, max_grad_norm=1.0, sample_rate=0.5, scale_norm=2.0, **TRAINED
        ),
        ((X, FLAG), {}), ((X[:, :2], YES), {}), {"learning_rate": 1e300},
    ),
    "rates": (
        dpf.PrivateFairPostprocessor(1.0, mechanism="geometric", **STUDY),
        ((FLAG,), {"sensitive_features": GROUP}), ((FLAG,), {"sensitive_features": OTHER}), {"epsilon": 1e-13},
    ),
    "true positive rates": (
        dpf.PrivateFairPostprocessor(1.0, mechanism="geometric", notion="equal_opportunity", **STUDY),
        ((FLAG, GROUP), {"sensitive_features": FLAG}), ((FLAG, GROUP), {"sensitive_features": OTHER}),
        {"epsilon": 1e-13},
    ),
    "equalized odds": (
        dpf.EqualizedOddsPostprocessor(gamma=0.1, epsilon=1.0, **STUDY),
        ((FLAG, GROUP), {"sensitive_features": FLAG}), ((FLAG, GROUP), {"sensitive_features": OTHER}),
        {"epsilon": 1e-13},
    ),
    "exponential learner": (
        dpf.ExponentialFairLearner(RULES, epsilon=1.0, delta=0.1, **STUDY),
        ((X, FLAG), {"sensitive_features": GROUP}), ((X, FLAG), {"sensitive_features": OTHER}), {"delta": 0.2},
    ),
    "no regret": (
        dpf.PrivateNoRegretFair(epsilon=1.0, delta=1e-3, subgroups=[{0: 1}], rounds=5, samples=3, **STUDY),
        ((FLAG, GROUP), {"sensitive_features": FLAG}),
        ((np.column_stack([FLAG, GROUP]), GROUP), {"sensitive_features": FLAG}), {"epsilon": 1e308},
    ),
}  # fmt: skip


def _fitted(estimator):
    """What `fit` has set, and what else it remembers; parameters are not its own."""
    return {name: value for name, value in vars(estimator).items() if name not in estimator.get_params()}


def test_every_private_estimator_is_refitted():
    fitted = {kind for name in dir(dpf) if hasattr(kind := getattr(dpf, name), "fit")}
    # of these nothing is private by itself, and the machine's fit is that of logistic regression
    rest = {
        dpf.FairPostprocessor, dpf.FairProjection, dpf.ReportedOddsPostprocessor,
        dpf.DPLinearSVM, dpf.GroupColumn, dpf.PostprocessedClassifier
    }  # fmt: skip
    assert {type(case[0]) for case in CASES.values()} == fitted - rest
    assert dpf.DPLinearSVM.fit is dpf.DPLogisticRegression.fit


@pytest.mark.parametrize("case", CASES)
def test_a_refit_that_fails_changes_nothing(case):
    estimator, (first, with_first), (second, with_second), change = CASES[case]
    estimator.fit(*first, **with_first)
    before = _fitted(estimator)
    kept = {name: getattr(estimator, name) for name in change}
    estimator.set_params(**change)
    with pytest.raises(ValueError, match="found"):
        estimator.fit(*second, **with_second)
    after = _fitted(estimator)
    assert list(after) == list(before)
    assert all(after[name] is before[name] for name in before)
    estimator.set_params(**kept).fit(*first, **with_first)
    assert set(_fitted(estimator)) == set(before)


@pytest.mark.parametrize("case", CASES)
def test_a_first_fit_that_fails_leaves_nothing(case):
    estimator, _, (second, with_second), change = CASES[case]
    fresh = type(estimator)(**(estimator.get_params(deep=False) | change))
    with pytest.raises(ValueError, match="found"):
        fresh.fit(*second, **with_second)
    assert not _fitted(fresh)


@pytest.mark.parametrize("case", CASES)
def test_a_refit_that_is_interrupted_at_its_end_changes_nothing(case, monkeypatch):
    # after the last attribute was set: what was interrupted before had hardly changed anything
    estimator, (data, options), *_ = CASES[case]
    usual, counted, end = type(estimator).__setattr__, [], [0]

    def counting(self, name, value):
        usual(self, name, value)
        if self is estimator:
            counted.append(name)
            if len(counted) == end[0]:
                raise KeyboardInterrupt

    monkeypatch.setattr(type(estimator), "__setattr__", counting)
    estimator.fit(*data, **options)
    sets = len(counted)
    before = _fitted(estimator)
    counted.clear()
    end[0] = sets
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(*data, **options)
    after = _fitted(estimator)
    assert list(after) == list(before)
    assert all(after[name] is before[name] for name in before)


def test_a_refit_in_another_way_keeps_nothing_of_the_first():
    estimator, (first, with_first), _, _ = CASES["fermi"]
    estimator = type(estimator)(**estimator.get_params()).fit(*first, **with_first)
    assert hasattr(estimator, "noise_multiplier_")
    estimator.set_params(as_run=True, frequency_epsilon=None).fit(*first, **with_first)
    assert hasattr(estimator, "noise_deviations_")
    assert not hasattr(estimator, "noise_multiplier_")
    estimator.set_params(as_run=False, frequency_epsilon=1.0).fit(*first, **with_first)
    assert not hasattr(estimator, "noise_deviations_")


BOUNDED = {"feature_bound": 1.0, "epsilon": 1.0, "delta": 1e-3}
UNFITTED = (
    dpf.OutputPerturbation(regularization=0.1, **BOUNDED),
    dpf.ObjectivePerturbation(**BOUNDED),
    dpf.PrivateFairClassifier(**BOUNDED),
    dpf.PrivateFairPostprocessor(1.0),
    dpf.EqualizedOddsPostprocessor(gamma=0.1, epsilon=1.0),
    dpf.PrivateSelection([dpf.ObjectivePerturbation(**BOUNDED)], epsilon=1.0),
    dpf.PrivateScaler({0: (-1, 1)}, epsilon=1.0),
    dpf.PrivateImputer({0: (-1, 1)}, epsilon=1.0),
    dpf.ExponentialFairLearner(RULES, epsilon=1.0, delta=0.1),
    dpf.PrivateNoRegretFair(epsilon=1.0, delta=1e-3, subgroups=[{0: 1}], rounds=2, samples=2),
)


@pytest.mark.parametrize("estimator", UNFITTED, ids=lambda one: type(one).__name__)
def test_a_seed_that_is_set_is_kept_so_that_fit_can_refuse_it(estimator):
    made = clone(estimator).set_params(random_state=3)
    assert made.random_state == 3
    make_pipeline(made).set_params(**{f"{type(made).__name__.lower()}__random_state": 4})
    assert made.random_state == 4
    estimator = clone(estimator)
    estimator.set_params(noise="study", random_state=3)
    assert estimator.random_state == 3
    estimator.set_params(noise="secure", random_state=None)
    assert estimator.get_params(deep=False)["noise"] == "secure"
    with pytest.raises(ValueError, match="Invalid parameter 'seed'"):
        estimator.set_params(seed=3)


def test_a_seed_that_stands_beside_secure_noise_is_refused_all_the_same():
    model = dpf.OutputPerturbation(regularization=0.1, **BOUNDED, **STUDY).set_params(noise="secure")
    with pytest.raises(ValueError, match="random_state: found 0 beside noise='secure'"):
        model.fit(X, FLAG)
    model = dpf.OutputPerturbation(regularization=0.1, **BOUNDED)
    for seeded in (model, make_pipeline(model)):
        seeded.set_params(**{"random_state" if seeded is model else "outputperturbation__random_state": 3})
        with pytest.raises(ValueError, match="random_state: found 3 beside noise='secure'"):
            seeded.fit(X, FLAG)
        model.set_params(random_state=None)


def test_bags_of_private_learners_draw_secure_noise_of_their_own():
    bag = BaggingClassifier(
        dpf.OutputPerturbation(regularization=0.1, **BOUNDED), n_estimators=2, bootstrap=False, random_state=0
    )
    first, second = (bag.fit(X, FLAG).estimators_ for _ in range(2))
    weights = [tuple(one.coef_.ravel()) for one in (*first, *second)]
    assert len(set(weights)) == 4  # the rows are the same
    assert all(one.random_state is None and one.privacy_statement_.guarantee for one in first)
    steps = make_pipeline("passthrough", dpf.OutputPerturbation(regularization=0.1, **BOUNDED))
    within = BaggingClassifier(steps, n_estimators=2, random_state=0).fit(X, FLAG).estimators_
    assert all(one[-1].random_state is None and one[-1].privacy_statement_.guarantee for one in within)


@pytest.mark.parametrize(
    "estimator",
    [*UNFITTED, dpf.FairPostprocessor(), dpf.EqualizedOddsPostprocessor(gamma=0.1),
     dpf.FairProjection("demographic_parity", tolerance=0.1), dpf.PublicScaler({0: (0, 1)})],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_what_an_estimator_has_can_be_listed_before_it_is_fitted(estimator):
    assert {"fit", "get_params"} <= set(dir(estimator))


PAIRED = {
    "output": (dpf.OutputPerturbation(regularization=0.1, **BOUNDED), {"X": pd.DataFrame(X), "y": pd.Series(FLAG)}),
    "private and fair": (
        dpf.PrivateFairClassifier(**BOUNDED),
        {"X": pd.DataFrame(X), "y": FLAG, "sensitive_features": pd.Series(GROUP)},
    ),
    "fair": (dpf.FairPostprocessor(), {"y_pred": pd.Series(FLAG), "sensitive_features": pd.Series(GROUP)}),
    "private rates": (
        dpf.PrivateFairPostprocessor(1.0), {"y_pred": pd.Series(FLAG), "sensitive_features": pd.Series(GROUP)},
    ),
    "odds": (
        dpf.EqualizedOddsPostprocessor(gamma=0.1),
        {"y_pred": pd.Series(FLAG), "sensitive_features": pd.Series(GROUP), "y_true": np.roll(FLAG, 7)},
    ),
    "projection": (
        dpf.FairProjection("demographic_parity", tolerance=0.1),
        {"y_proba": pd.Series(0.3 + 0.4 * FLAG), "sensitive_features": pd.Series(GROUP)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRED)
def test_rows_with_other_labels_are_refused_in_fits_and_predictions(name):
    estimator, rows = PAIRED[name]
    last = [key for key, value in rows.items() if isinstance(value, pd.Series)][-1]
    shuffled = {**rows, last: rows[last].sample(frac=1, random_state=0)}
    with pytest.raises(ValueError, match=f"{last}: found other row labels than those of"):
        estimator.fit(**shuffled)
    estimator.fit(**rows)
    if last == "sensitive_features":
        given = {key: value for key, value in shuffled.items() if key not in {"y", "y_true"}}
        for method in (estimator.predict, estimator.predict_proba):
            with pytest.raises(ValueError, match="sensitive_features: found other row labels than those of"):
                method(**given)
