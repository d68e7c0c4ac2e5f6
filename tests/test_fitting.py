"""A fit that fails leaves the estimator as it was: no statement stands beside a model of which it does not speak."""

import numpy as np
import pytest

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
    "rates": (
        dpf.PrivateFairPostprocessor(1.0, mechanism="geometric", **STUDY),
        ((FLAG,), {"sensitive_features": GROUP}), ((FLAG,), {"sensitive_features": OTHER}), {"epsilon": 1e-13},
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
    # of these two nothing is private, and the machine's fit is that of logistic regression
    rest = {dpf.FairPostprocessor, dpf.FairProjection, dpf.DPLinearSVM}
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


def test_an_interrupted_refit_changes_nothing(monkeypatch):
    estimator, (first, with_first), (second, with_second), _ = CASES["rates"]
    estimator.fit(*first, **with_first)
    before = _fitted(estimator)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(estimator), "_noisy", interrupt)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(*second, **with_second)
    assert _fitted(estimator) == before


def test_a_refit_in_another_way_keeps_nothing_of_the_first():
    estimator, (first, with_first), _, _ = CASES["fermi"]
    estimator = type(estimator)(**estimator.get_params()).fit(*first, **with_first)
    assert hasattr(estimator, "noise_multiplier_")
    estimator.set_params(as_run=True, frequency_epsilon=None).fit(*first, **with_first)
    assert hasattr(estimator, "noise_deviations_")
    assert not hasattr(estimator, "noise_multiplier_")
    estimator.set_params(as_run=False, frequency_epsilon=1.0).fit(*first, **with_first)
    assert not hasattr(estimator, "noise_deviations_")
