"""The certificate of a fitted model: each constant by hand, the promise by releases, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.fitted_models import read_model
from dpfair_lib.margins.model_certificate import mean_gradient, sensitivity_and_miss
from dpfair_lib.margins.projections import markov_reach
from dpfair_lib.privacy.minimisers import logistic_perturbation_sensitivity

RNG = np.random.default_rng(0)
N, BOUND = 2000, 1.0
X = RNG.normal(loc=[0.5, 0, 0], size=(N, 3))
X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
SIDE = np.where(RNG.random(N) < 0.4, "b", "a")
Y = np.where(X @ [1.0, -0.5, 0.2] + 0.5 * RNG.normal(size=N) + 0.2 * (SIDE == "a") > 0.2, "yes", "no")
ASKED = {
    "sensitive_features": SIDE, "notion": "equalized_odds", "epsilon": 1.0, "delta": 1e-5, "zeta": 0.05,
    "feature_bound": BOUND,
}  # fmt: skip
MODELS = {
    "logistic": LogisticRegression(C=0.01, fit_intercept=False, tol=1e-8),
    "liblinear": LogisticRegression(C=0.01, solver="liblinear", tol=1e-8, intercept_scaling=2.0),
    "support vectors": LinearSVC(C=0.0005, tol=1e-8, max_iter=100_000),
    "ridge": RidgeClassifier(alpha=300.0, fit_intercept=False),
}


def fitted(name):
    return MODELS[name].fit(X, Y)


def certified(model, rows=X, labels=Y, **changes):
    return dpf.certify_model(model, rows, labels, **(ASKED | changes))


@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_is_that_of_the_objective(name):
    read = read_model(fitted(name))
    rows = np.hstack([X, np.full((N, 1), read.constant)]) if read.constant else X
    codes, signs = (Y == "yes").astype(int), np.where(Y == "yes", 1, -1)
    losses = {
        "logistic": lambda m: np.logaddexp(0, -m), "squared": lambda m: (1 - m) ** 2,
        "squared-hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    }  # fmt: skip
    moved = read.weights + 0.1
    by_steps = approx_fprime(
        moved, lambda h: losses[read.loss](signs * (rows @ h)).mean() + 0.035 * h @ h, 1e-7
    )
    given = type(read)(moved, read.classes, read.loss, read.regularization, read.constant)
    assert mean_gradient(given, rows, codes, 0.07) == pytest.approx(by_steps, abs=1e-5)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("name", MODELS)
def test_every_constant_as_by_hand(name, notion):
    model = fitted(name)
    made, entry = certified(model, notion=notion), {"liblinear": 2.0, "support vectors": 1.0}.get(name, 0.0)
    modulus = 2 * 300 / N if name == "ridge" else 1 / (model.C * N)
    assert (made.n, made.modulus) == (N, pytest.approx(modulus))
    assert made.lipschitz == pytest.approx(np.hypot(BOUND, entry))
    if name in ("logistic", "liblinear"):
        exact = logistic_perturbation_sensitivity(lipschitz=made.lipschitz, strong_convexity=modulus, n=N)
        assert made.sensitivity == pytest.approx(exact + 1e-3 * 2 * made.lipschitz / (modulus * N))
    assert made.sigma == dpf.gaussian_sigma(1.0, 1e-5, made.sensitivity, "analytic")
    parts = len(made.certificate.groups)
    reach = markov_reach(made.sigma, zeta=0.05, slack=1e-4, groups=parts)
    missed = 1e-3 * made.lipschitz / (modulus * N)
    assert made.certificate.radius == pytest.approx(reach + made.distance + missed)
    assert made.distance < 0.01 * reach
    by_hand = dpf.fairness_certificate(
        model.decision_function(X), Y == "yes", X=np.hstack([X, np.full((N, 1), entry)]), sensitive_features=SIDE,
        notion=notion, radius=made.certificate.radius, bound="signed", slack=1e-4, intercept=False,
    )  # fmt: skip
    assert np.array_equal(made.certificate.lower, by_hand.lower)
    assert np.array_equal(made.certificate.upper, by_hand.upper)
    truth = dpf.group_fairness(Y, model.predict(X), sensitive_features=SIDE, notion=notion)
    assert made.certificate.groups == tuple(truth)
    assert made.certificate.fairness == pytest.approx(list(truth.values()), abs=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_private_models_stay_inside(name):
    """Noise of the stated size on the weights, with the intercept's: at most ζ of the releases may leave the bounds."""
    model = fitted(name)
    made, read = certified(model, zeta=0.2, epsilon=3.0), read_model(model)
    rows = np.hstack([X, np.full((N, 1), read.constant)]) if read.constant else X
    within = dpf.fairness_certificate(
        rows @ read.weights, (Y == "yes"), X=rows, sensitive_features=SIDE, notion="equalized_odds",
        radius=made.sigma / 10, bound="signed", intercept=False,
    )  # fmt: skip
    rng, missed = np.random.default_rng(1), np.zeros(2)
    for _ in range(200):
        labels = np.where(
            rows @ (read.weights + made.sigma * rng.normal(size=len(read.weights))) > 0, "yes", "no"
        )
        found = list(dpf.group_fairness(Y, labels, sensitive_features=SIDE, notion="equalized_odds").values())
        missed += [
            bool((found < one.lower - 1e-12).any() or (found > one.upper + 1e-12).any())
            for one in (made.certificate, within)
        ]
    assert made.certificate.deviation.max() < 0.5  # it says something
    assert missed[0] <= 0.2 * 200 < missed[1]  # planted: a tenth of the noise


def test_a_coarse_fit_is_paid_for_and_other_rows_are_refused():
    exact, coarse = fitted("logistic"), LogisticRegression(C=0.01, fit_intercept=False, tol=1e-2).fit(X, Y)
    fine, rough = certified(exact), certified(coarse)
    apart = np.linalg.norm(exact.coef_ - coarse.coef_)
    assert 0 < apart <= fine.distance + rough.distance
    assert rough.certificate.radius - fine.certificate.radius == pytest.approx(rough.distance - fine.distance)
    far = "model: found weights that may be .* from the minimiser on these rows"
    with pytest.raises(ValueError, match=far):
        certified(exact, labels=np.roll(Y, 7))
    weighed = LogisticRegression(C=0.01, fit_intercept=False).fit(
        X, Y, sample_weight=np.where(SIDE == "a", 5.0, 1.0)
    )
    with pytest.raises(ValueError, match=far):
        certified(weighed)
    exact.coef_ = exact.coef_ + 1.0  # planted: other weights than those of the fit
    with pytest.raises(ValueError, match=far):
        certified(exact)


def test_a_column_of_ones_is_a_column_like_any_other():
    with_ones = np.hstack([X, np.ones((N, 1))])
    asked = {"feature_bound": np.sqrt(2) * BOUND}
    own = certified(
        LogisticRegression(C=0.01, fit_intercept=False, tol=1e-10).fit(with_ones, Y), with_ones, **asked
    )
    solver = LogisticRegression(C=0.01, solver="liblinear", tol=1e-10, max_iter=10_000).fit(X, Y)
    within = certified(solver)
    assert own.certificate.lower == pytest.approx(within.certificate.lower, abs=2e-3)
    assert own.sigma == pytest.approx(within.sigma)
    with pytest.raises(ValueError, match="an intercept that is regularised"):
        certified(LogisticRegression(C=0.01).fit(with_ones, Y), with_ones, **asked)


def test_pipelines_long_rows_labels_and_bad_arguments():
    raw = 30 * X + 1
    model = make_pipeline(Normalizer(), MODELS["ridge"]).fit(raw, Y)
    assert certified(model, raw).lipschitz == pytest.approx(1.0)
    with pytest.raises(ValueError, match=r"X: found rows longer than feature_bound=0.5, expected none"):
        certified(model, raw, feature_bound=0.5)
    ridge = fitted("ridge")
    with pytest.raises(ValueError, match="y: found label 'maybe' at position 3"):
        certified(ridge, labels=np.where(np.arange(N) == 3, "maybe", Y))
    wanted = certified(ridge, notion="equal_opportunity", desirable="no").certificate
    by_code = certified(ridge, notion="equal_opportunity").certificate
    assert wanted.fairness[:2].any()
    assert not wanted.fairness[2:].any()
    assert not by_code.fairness[:2].any()
    with pytest.raises(ValueError, match="desirable: found label 'perhaps'"):
        certified(ridge, notion="equal_opportunity", desirable="perhaps")
    for name, value in {
        "epsilon": 0,
        "delta": 0,
        "zeta": 1,
        "feature_bound": -1,
        "tolerance": 0,
        "slack": 2,
    }.items():
        with pytest.raises(ValueError, match=f"{name}: found"):
            certified(ridge, **{name: value})
    with pytest.raises(ValueError, match="notion: found 'parity'"):
        certified(ridge, notion="parity")
    with pytest.raises(ValueError, match="lengths differ"):
        certified(ridge, rows=X[:-1])


def test_the_solver_s_tolerance_is_in_the_sensitivity():
    tight, loose = (sensitivity_and_miss("logistic", 1.0, 0.1, 100, tolerance) for tolerance in (1e-6, 0.1))
    assert loose[0] - tight[0] == pytest.approx(2 * (loose[1] - tight[1]))
    assert loose[1] == pytest.approx(0.1 * 1.0 / (0.1 * 100))
