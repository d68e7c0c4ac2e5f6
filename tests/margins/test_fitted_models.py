"""What is read from scikit-learn's models, against the objective that each of them minimises."""

import numpy as np
import pytest
import sklearn.linear_model
from scipy.optimize import minimize
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

import dpfair_lib as dpf
from dpfair_lib.margins.fitted_models import read_model, unwrapped

RNG = np.random.default_rng(0)
X = RNG.normal(loc=[0.4, 0, 0], size=(150, 3))
Y = np.where(X @ [1.0, -0.5, 0.2] + RNG.normal(size=150) > 0, "yes", "no")
LOSSES = {
    "logistic": lambda m: np.logaddexp(0, -m),
    "squared": lambda m: (1 - m) ** 2,
    "squared-hinge": lambda m: np.maximum(0, 1 - m) ** 2,
}
MODELS = {
    "logistic": LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10, max_iter=10_000),
    "liblinear": LogisticRegression(
        C=0.3, solver="liblinear", tol=1e-10, max_iter=10_000, intercept_scaling=2.5
    ),
    "support vectors": LinearSVC(C=0.02, tol=1e-10, max_iter=100_000, intercept_scaling=0.5),
    "ridge": RidgeClassifier(alpha=7.0, fit_intercept=False),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_read_is_what_the_model_minimises(name):
    read = read_model(MODELS[name].fit(X, Y))
    rows = np.hstack([X, np.full((len(X), 1), read.constant)]) if read.constant else X
    signs, loss = np.where(read.classes[1] == Y, 1, -1), LOSSES[read.loss]

    own = read.regularization / len(X)

    def objective(h, modulus=own):
        return loss(signs * (rows @ h)).mean() + modulus / 2 * h @ h

    found = minimize(objective, np.zeros(rows.shape[1]), method="BFGS", options={"gtol": 1e-9}).x
    assert read.weights == pytest.approx(found, abs=2e-5)
    # planted: twice the regularisation, another constant entry
    other = minimize(objective, 0 * found, args=(2 * own,), method="BFGS").x
    assert abs(read.weights - other).max() > 1e-2
    if read.constant:
        assert read.weights[-1] * read.constant == pytest.approx(MODELS[name].intercept_[0])


REFUSED = {
    "an intercept without penalty": (LogisticRegression(), "an intercept that is regularised"),
    "of ridge": (RidgeClassifier(), "an intercept that is regularised"),
    "no penalty": (LogisticRegression(C=np.inf, fit_intercept=False), "expected a regularised model"),
    "ridge without penalty": (RidgeClassifier(alpha=0.0, fit_intercept=False), "expected a regularised model"),
    "l1": (LogisticRegression(l1_ratio=1, solver="liblinear"), "the ℓ₁ penalty has no modulus"),
    "mixed": (LogisticRegression(l1_ratio=0.5, solver="saga", fit_intercept=False), "the ℓ₁ penalty has no modulus"),
    "l1 of support vectors": (LinearSVC(penalty="l1"), "the ℓ₁ penalty has no modulus"),
    "hinge": (LinearSVC(loss="hinge"), "no derivative"),
    "weights of classes": (LinearSVC(class_weight="balanced"), "class_weight='balanced'"),
    "positive": (RidgeClassifier(fit_intercept=False, positive=True), "positive=True"),
    "joint classes": (LinearSVC(multi_class="crammer_singer"), "multi_class="),
    "another class": (Perceptron(), "found Perceptron, expected LogisticRegression, LinearSVC"),
    "a kernel": (SVC(), "found SVC"),
    "stochastic": (SGDClassifier(), "found SGDClassifier"),
    "chosen C": (LogisticRegressionCV(l1_ratios=(0,), use_legacy_attributes=False), "C or alpha chosen from the rows"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # some of these fits are not meant to converge
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_why(name):
    model, why = REFUSED[name]
    with pytest.raises(ValueError, match=why):
        read_model(model.fit(X, Y))


LINEAR = [
    kind
    for name in sklearn.linear_model.__all__
    if isinstance(kind := getattr(sklearn.linear_model, name), type)
    and (issubclass(kind, ClassifierMixin) or kind in (Ridge, LinearRegression))
]
LINEAR += [LinearDiscriminantAnalysis, SVC, NuSVC]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", LINEAR, ids=lambda kind: kind.__name__)
def test_every_linear_model_of_scikit_learn_is_read_or_refused_with_a_reason(kind):
    """Of the kind that is refused a reason stands behind the list of those that are not."""
    with pytest.raises(ValueError, match=r"that ends in one; \w|an intercept that is regularised"):
        read_model(kind().fit(X, Y if issubclass(kind, ClassifierMixin) else np.where(Y == "yes", 1.0, -1.0)))


@pytest.mark.parametrize("made", [CalibratedClassifierCV, OneVsRestClassifier, BaggingClassifier])
def test_of_a_model_around_another_the_one_inside_is_asked_for(made):
    around = made(RidgeClassifier(fit_intercept=False)).fit(X, Y)
    with pytest.raises(ValueError, match="give the fitted model inside"):
        read_model(around)


def test_nothing_inside_a_forest_is_asked_for():
    with pytest.raises(ValueError, match=r"found RandomForestClassifier, expected .* that ends in one$"):
        read_model(RandomForestClassifier(2).fit(X, Y))


def test_private_models_unfitted_ones_classes_and_three_labels():
    model = dpf.OutputPerturbation(regularization=1.0, feature_bound=9.0, epsilon=1.0, delta=1e-5)
    with pytest.raises(ValueError, match="noise_certificate certifies the one without"):
        read_model(model)
    with pytest.raises(NotFittedError):
        read_model(LogisticRegression(fit_intercept=False))
    with pytest.raises(ValueError, match="found the class LogisticRegression"):
        read_model(LogisticRegression)
    three = RidgeClassifier(fit_intercept=False).fit(X, np.arange(150) % 3)
    with pytest.raises(ValueError, match="found 3 classes, expected two"):
        read_model(three)


def test_steps_that_learn_from_rows_are_refused_unless_said_to_be_public():
    model = make_pipeline(StandardScaler(), MODELS["ridge"]).fit(X, Y)
    with pytest.raises(
        ValueError, match=r"the step 'standardscaler' \(StandardScaler\), which learns from rows"
    ):
        unwrapped(model, X, ())
    last, rows = unwrapped(model, X, ("standardscaler",))
    assert last is model[-1]
    assert rows.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    ranges = dict.fromkeys(range(3), (-5.0, 5.0))
    for step in (Normalizer(), FunctionTransformer(np.tanh), dpf.PublicScaler(ranges), "passthrough"):
        made = make_pipeline(step, MODELS["ridge"]).fit(X, Y)
        assert np.array_equal(unwrapped(made, X, ())[1], made[:-1].transform(X))
    with pytest.raises(ValueError, match=r"public_steps: found \['scale'\], expected names of steps"):
        unwrapped(model, X, ("scale",))
    assert unwrapped(MODELS["ridge"], X, ())[1] is X
