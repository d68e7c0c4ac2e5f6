import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpfair_lib as dpf
from dpfair_lib.learners import minimiser
from dpfair_lib.learners.minimiser import bounded_rows, gradient_rounding, minimise
from dpfair_lib.margins.radius import changed_prediction_probability, changed_share_bound

SETTING = {
    "regularization": 0.1, "feature_bound": 2.0, "epsilon": 1.0, "delta": 1e-6, "noise": "study", "random_state": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, np.where(X[:, 0] + rng.normal(size=400) > 0, "yes", "no")


def test_the_minimiser_is_that_of_scikit_learn_at_the_same_modulus(rows):
    X, y = rows
    clipped, _ = bounded_rows(X, 2.0, intercept=True)
    C = 1 / (0.1 * len(X))
    assert dpf.strong_convexity(C, len(X)) == pytest.approx(0.1)
    known = LogisticRegression(C=C, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(clipped, y)
    found = minimise(clipped, np.where(y == "yes", 1.0, -1.0), 0.1, 1e-13)
    assert found == pytest.approx(known.coef_[0], abs=1e-7)


def test_sensitivity_sigma_and_statement(rows):
    model = dpf.OutputPerturbation(**SETTING).fit(*rows)
    # κ = 5/0.1, R = √(κW), and the largest σ(Rs)√(1 − s²) on a grid
    s = np.linspace(0, 1, 1_000_001)
    m = (np.sqrt(1 - s**2) / (1 + np.exp(-math.sqrt(50 * 0.2784645427610738) * s))).max()
    assert model.sensitivity_ == pytest.approx((m + 0.001) * 2 * math.sqrt(5) / (0.1 * 400), rel=1e-9)
    hinge = dpf.OutputPerturbation(**(SETTING | {"loss": "huberised-hinge"})).fit(*rows)
    assert hinge.sensitivity_ == pytest.approx(1.001 * 2 * math.sqrt(5) / (0.1 * 400))
    assert dpf.gaussian_delta(1.0, model.sigma_, model.sensitivity_) == pytest.approx(1e-6, rel=1e-6)
    statement = model.privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (1.0, 1e-6, "replace-one")
    assert not statement.guarantee  # study noise
    assert (
        dpf.OutputPerturbation(**(SETTING | {"noise": "secure", "random_state": None}))
        .fit(*rows)
        .privacy_statement_.guarantee
    )


@pytest.mark.parametrize("epsilon", [np.float16(1.13), np.float32(1.13), np.int64(1), Fraction(113, 100)])
def test_an_epsilon_of_another_type_is_paid_in_full(rows, epsilon):
    # a quotient by NumPy's half-precision number is rounded to half precision, as noise was once
    laplace = {"epsilon": epsilon, "delta": 0, "noise_kind": "laplace"}
    model = dpf.OutputPerturbation(**(SETTING | laplace)).fit(*rows)
    p, statement = 4, model.privacy_statement_
    assert math.sqrt(2 * p) * model.sensitivity_ / model.sigma_ <= statement.epsilon == float(epsilon)
    assert statement.mechanism[0].ratio == statement.epsilon
    assert type(statement.epsilon) is float
    assert statement.to_json()
    own = {"feature_bound": 2.0, "noise": "study", "random_state": 0}
    for kind in (laplace, {"epsilon": epsilon, "delta": 1e-6}):
        usual = dpf.ObjectivePerturbation(**own, **kind | {"epsilon": float(epsilon)}).fit(*rows)
        found = dpf.ObjectivePerturbation(**own, **kind).fit(*rows)
        assert found.sigma_ == usual.sigma_
        assert found.output_sigma_ == usual.output_sigma_
        assert (found.coef_ == usual.coef_).all()
        assert found.privacy_statement_ == usual.privacy_statement_


def test_replacing_a_record_moves_the_unreleased_model_by_less_than_the_sensitivity(rows):
    X, y = rows
    tiny = SETTING | {"epsilon": 1e8, "noise_kind": "analytic", "replicates": 1}
    one = dpf.OutputPerturbation(**tiny).fit(X[:20], y[:20])
    other = X[:20].copy()
    other[0] *= -100
    two = dpf.OutputPerturbation(**tiny).fit(other, y[:20])
    moved = np.linalg.norm(np.append(one.coef_ - two.coef_, one.intercept_ - two.intercept_))
    assert 0 < moved < one.sensitivity_


def test_replicates_have_the_noise_of_the_mechanism(rows):
    model = dpf.OutputPerturbation(**(SETTING | {"replicates": 4000})).fit(*rows)
    assert model.coef_.shape == (4000, 1, 3)
    assert model.intercept_.shape == (4000, 1)
    spread = np.append(model.coef_[:, 0].std(axis=0), model.intercept_.std())
    assert spread == pytest.approx(np.full(4, model.sigma_), rel=0.06)  # five standard errors
    assert "4000 replicates" in model.privacy_statement_.note
    assert model.predict(rows[0][:5]).shape == (4000, 5)


def test_rows_are_clipped_whatever_their_size():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1e300, 1e300], [0.1, 0.0]])
    clipped, lipschitz = bounded_rows(X, 2.0, intercept=False)
    assert np.linalg.norm(clipped, axis=1) == pytest.approx([2, 0, 2, 0.1])
    assert lipschitz == 2.0
    extended, lipschitz = bounded_rows(X, 2.0, intercept=True)
    assert (extended[:, -1] == 1).all()
    assert lipschitz == pytest.approx(math.sqrt(5))


@pytest.mark.parametrize("columns", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("bound", [0.1, 1.0, 3.7, 1e-3])
def test_no_clipped_row_is_longer_than_stated_in_exact_arithmetic(columns, bound):
    rng = np.random.default_rng(columns)
    long = rng.normal(size=(200, columns)) * 10.0 ** rng.integers(-3, 4, size=(200, 1))
    near = long / np.linalg.norm(long, axis=1, keepdims=True) * bound  # on the sphere, up to rounding
    for intercept in (False, True):
        clipped, lipschitz = bounded_rows(np.vstack([long, near]), bound, intercept=intercept)
        longest = max(sum(Fraction(x) ** 2 for x in row) for row in clipped.tolist())
        assert longest <= Fraction(lipschitz) ** 2
        assert (
            longest >= (Fraction(lipschitz) * (1 - Fraction(columns + 20, 2**52))) ** 2
        )  # and nothing is given away


def test_separable_labels_and_weak_regularisation_are_solved():
    x = np.linspace(-1, 1, 50)[:, None]
    weights = minimise(x, np.sign(x[:, 0]), 1e-9, 1e-12)
    assert np.isfinite(weights).all()
    assert weights[0] > 100


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("regularization", 0), ("regularization", None), ("regularization", math.inf), ("feature_bound", 0),
        ("epsilon", 0), ("delta", 0), ("delta", 1.0), ("tolerance", 0), ("replicates", 0), ("noise_kind", "uniform"),
        ("noise", "none"), ("fit_intercept", "yes"), ("random_state", -1),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(rows, name, value):
    with pytest.raises(ValueError, match=f"{name}: found"):
        dpf.OutputPerturbation(**(SETTING | {name: value})).fit(*rows)


def test_settings_in_which_the_formula_fails_are_refused(rows):
    with pytest.raises(ValueError, match="without regularisation"):
        dpf.OutputPerturbation(**(SETTING | {"regularization": 0.0})).fit(*rows)
    with pytest.raises(ValueError, match=r"epsilon: found 1\.0 .*use noise_kind='analytic'"):
        dpf.OutputPerturbation(**(SETTING | {"noise_kind": "classical"})).fit(*rows)
    with pytest.raises(ValueError, match="random_state: found 0 beside noise='secure'"):
        dpf.OutputPerturbation(**(SETTING | {"noise": "secure"})).fit(*rows)
    with pytest.raises(ValueError, match="replicates: found 2 beside noise='secure', expected 1"):
        dpf.OutputPerturbation(**(SETTING | {"noise": "secure", "random_state": None, "replicates": 2})).fit(
            *rows
        )
    for tight in ({"tolerance": 1e-30}, {"regularization": 1e-30}, {"feature_bound": 1e90}):
        with pytest.raises(ValueError, match=r"tolerance: found .*, expected at least .* rounding"):
            dpf.OutputPerturbation(**(SETTING | tight)).fit(*rows)


def test_it_is_a_scikit_learn_estimator(rows):
    model = clone(dpf.OutputPerturbation(**SETTING))
    assert model.get_params()["regularization"] == 0.1
    no_intercept = dpf.OutputPerturbation(**(SETTING | {"fit_intercept": False})).fit(*rows)
    assert no_intercept.coef_.shape == (1, 3)
    assert no_intercept.intercept_.tolist() == [0.0]


@parametrize_with_checks([dpf.OutputPerturbation(**(SETTING | {"epsilon": 1e6}))])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_passes_scikit_learns_checks(estimator, check):
    check(estimator)


def test_many_noisy_models_change_as_few_predictions_as_certified(rows):
    X, y = rows
    model = dpf.OutputPerturbation(**(SETTING | {"replicates": 600, "fit_intercept": False})).fit(X, y)
    clipped, _ = bounded_rows(X, 2.0, intercept=False)
    optimum = minimise(clipped, np.where(y == "yes", 1.0, -1.0), 0.1, 1e-13)
    scores, norms = clipped @ optimum, np.linalg.norm(clipped, axis=1)
    changed = (np.sign(model.coef_[:, 0] @ clipped.T) != np.sign(scores)).mean(axis=1)
    expected = changed_prediction_probability(abs(scores) / norms, model.sigma_).mean()
    assert changed.mean() == pytest.approx(expected, abs=5 * changed.std() / math.sqrt(600))
    zeta, slack = 0.2, 0.02
    certified = changed_share_bound(abs(scores) / norms, model.sigma_, zeta=zeta, slack=slack)
    assert (changed > certified).mean() < zeta


def _exact_gradient(signed, weights, modulus):
    with mpmath.workdps(60):
        slope = [modulus * mpmath.mpf(float(w)) for w in weights]
        for row in signed:
            score = mpmath.fsum(
                mpmath.mpf(float(x)) * mpmath.mpf(float(w)) for x, w in zip(row, weights, strict=True)
            )
            pull = 1 / (1 + mpmath.exp(score)) / len(signed)
            slope = [a - pull * mpmath.mpf(float(x)) for a, x in zip(slope, row, strict=True)]
        return mpmath.sqrt(mpmath.fsum(a * a for a in slope))


@pytest.mark.parametrize("modulus", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("share", [2.0, 10.0, 1e4])
def test_the_gradient_where_the_solver_stops_is_as_small_as_said_rounding_included(rows, modulus, share):
    X, y = rows
    clipped, lipschitz = bounded_rows(X[:60] * 50, 2.0, intercept=True)
    signs = np.where(y[:60] == "yes", 1.0, -1.0)
    accuracy = share * gradient_rounding(60, 4, lipschitz=lipschitz, modulus=modulus, accuracy=1e-12)
    rounding = gradient_rounding(60, 4, lipschitz=lipschitz, modulus=modulus, accuracy=accuracy)
    weights = minimise(clipped, signs, modulus, accuracy - rounding)
    assert _exact_gradient(clipped * signs[:, None], weights, modulus) <= accuracy


def test_rounding_does_not_grow_with_the_rows_and_is_refused_by_public_numbers_only(rows):
    known = {"lipschitz": 3.0, "modulus": 1.0, "accuracy": 1e-9}
    assert gradient_rounding(10**8, 9, **known) < 3 * gradient_rounding(minimiser.SUMMED, 9, **known)
    assert gradient_rounding(1_664_500, 9, **known) < 1e-3 * 3 / 1_664_500 / 100  # ACSIncome, at the default
    X, y = rows
    messages = []
    for features in (X, np.zeros_like(X)):
        with pytest.raises(ValueError, match="rounding") as caught:
            dpf.OutputPerturbation(**(SETTING | {"tolerance": 1e-14})).fit(features, y)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_sums_in_parts_are_the_sum(rows, monkeypatch):
    X, y = rows
    signs = np.where(y == "yes", 1.0, -1.0)
    whole = minimise(X, signs, 0.1, 1e-13)
    monkeypatch.setattr(minimiser, "SUMMED", 7)
    assert minimise(X, signs, 0.1, 1e-13) == pytest.approx(whole, abs=1e-13)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_worst_replacements_move_the_unreleased_model_by_less_than_the_sensitivity(intercept):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(6, 2)) * 3, np.array([0, 1, 0, 1, 0, 1])
    modulus, bound, loose = 0.5, 1.0, 0.3
    rows, lipschitz = bounded_rows(X, bound, intercept=intercept)
    settings = SETTING | {"regularization": modulus, "feature_bound": bound, "tolerance": loose}
    allowed = dpf.OutputPerturbation(**settings, fit_intercept=intercept).fit(X, y).sensitivity_
    assert allowed < (1 + loose) * 2 * lipschitz / (modulus * 6)
    first = minimise(rows, 2.0 * y - 1, modulus, loose * lipschitz / 6)
    worst = 0.0
    for angle in np.linspace(0, 2 * np.pi, 40):
        for label in (0, 1):
            other, labels = X.copy(), y.copy()
            other[0], labels[0] = 1e6 * np.array([np.cos(angle), np.sin(angle)]), label
            changed, _ = bounded_rows(other, bound, intercept=intercept)
            second = minimise(changed, 2.0 * labels - 1, modulus, loose * lipschitz / 6)
            worst = max(worst, float(np.linalg.norm(second - first)))
    assert allowed / 20 < worst < allowed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(400)}, "y: found one class"),
        ({"y": np.arange(400) % 3}, "y: found 3 classes"),
        ({"y": np.linspace(0, 1, 400)}, "Unknown label type: continuous"),
        ({"X": np.full((400, 3), np.nan)}, "Input X contains NaN"),
        ({"X": np.full((400, 3), np.inf)}, "Input X contains infinity"),
        ({"X": np.zeros((0, 3)), "y": []}, "0 sample"),
    ],
)
def test_bad_rows_and_labels_are_named(rows, change, message):
    X, y = rows
    with pytest.raises(ValueError, match=message):
        dpf.OutputPerturbation(**SETTING).fit(change.get("X", X), change.get("y", y))


def test_sample_weights_are_refused(rows):
    with pytest.raises(TypeError, match="sample_weight"):
        dpf.OutputPerturbation(**SETTING).fit(*rows, sample_weight=np.ones(400))


@pytest.mark.parametrize("loss", ["logistic", "huberised-hinge"])
def test_weak_regularisation_is_solved_for_neighbours_alike(loss):
    # of these neighbours one was refused: where no row has curvature, the step has to be cut to a 1e-13th
    rng = np.random.default_rng(0)
    equal = np.repeat(rng.normal(size=(20, 1)), 2, axis=1)
    other = equal * np.where(np.arange(20) == 0, -1, 1)[:, None] ** [[0, 1]]
    assert (equal != other).any(axis=1).tolist() == [True] + [False] * 19
    setting = SETTING | {"regularization": 1e-14, "feature_bound": 1.0, "loss": loss, "fit_intercept": False}
    for features in (equal, other):
        dpf.OutputPerturbation(**setting).fit(features, np.tile([0, 1], 10))


def test_the_solver_gives_up_on_no_table_that_the_public_numbers_allow():
    rng = np.random.default_rng(0)
    tried = 0
    for trial in range(400):
        n, d = int(rng.integers(2, 40)), int(rng.integers(1, 5))
        modulus, bound, loose = 10 ** rng.uniform([-18, -2, -3], [-6, 2, 1])
        X = [rng.integers(-2, 3, size=(n, d)).astype(float), rng.normal(size=(n, d))][trial % 2]
        if trial % 4 > 1:  # equal rows, but for one
            X[1:] = X[0]
        rows, lipschitz = bounded_rows(X * bound * rng.choice([0.1, 1, 10]), bound, intercept=trial % 3 == 0)
        accuracy = loose * lipschitz / n
        loss = ("logistic", "huberised-hinge")[trial // 4 % 2]
        rounding = gradient_rounding(
            n, rows.shape[1], lipschitz=lipschitz, modulus=modulus, accuracy=accuracy, loss=loss
        )
        if rounding <= accuracy / 2:
            minimise(rows, rng.choice([-1.0, 1.0], size=n), modulus, accuracy - rounding, loss)
            tried += 1
    assert tried > 100


def test_many_rows_of_very_different_length_take_many_steps_and_are_solved():
    rng = np.random.default_rng(43)
    X = np.exp(6 * rng.normal(size=(100, 60))) * rng.choice([-1, 1], size=(100, 60))
    rows, lipschitz = bounded_rows(X, 1.0, intercept=False)
    known = {"lipschitz": lipschitz, "modulus": 3e-11, "accuracy": 2e-5, "loss": "huberised-hinge"}
    rounding = gradient_rounding(100, 60, **known)
    assert rounding < 1e-5
    signs = np.sign(rng.normal(size=100))
    assert np.isfinite(minimise(rows, signs, 3e-11, 2e-5 - rounding, "huberised-hinge")).all()


@pytest.mark.parametrize("row", [1.7e308, 5e-324])
def test_no_row_makes_the_fit_warn(rows, row):
    X, y = rows[0][:20].copy(), rows[1][:20]
    X[0] = row
    dpf.OutputPerturbation(**SETTING).fit(X, y)  # a warning is an error here


def test_with_the_labels_given_a_record_decides_no_refusal(rows):
    X = rows[0][:20]
    one = np.where(np.arange(20) == 7, "yes", "no")
    nobody = np.full(20, "no")
    given = SETTING | {"classes": ["yes", "no"], "epsilon": 1e8}
    first, second = (dpf.OutputPerturbation(**given).fit(X, y) for y in (one, nobody))
    assert first.classes_.tolist() == second.classes_.tolist() == ["no", "yes"]
    assert (first.coef_ == dpf.OutputPerturbation(**(SETTING | {"epsilon": 1e8})).fit(X, one).coef_).all()
    moved = np.linalg.norm(np.append(first.coef_ - second.coef_, first.intercept_ - second.intercept_))
    assert 0 < moved < first.sensitivity_
    assert set(second.predict(X)) == {"no"}
    with pytest.raises(ValueError, match="y: found one class"):
        dpf.OutputPerturbation(**SETTING).fit(X, nobody)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["no"], "classes: found"),
        (["no", "no"], "classes: found"),
        ("no", "classes: found"),
        ([[0, 1]], "classes: found"),
        (["yes", "maybe"], r"y: found .*no.*, expected one of \['maybe', 'yes'\]"),
        ([0, 1], r"y: found .*expected one of \[0, 1\]"),
    ],
)
def test_bad_classes_are_named(rows, classes, message):
    with pytest.raises(ValueError, match=message):
        dpf.OutputPerturbation(**(SETTING | {"classes": classes})).fit(*rows)


@pytest.mark.parametrize("kind", ["analytic", "classical", "laplace"])
@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, "1"])
def test_an_epsilon_that_is_none_is_refused_whatever_the_noise(kind, epsilon):
    delta = 0 if kind == "laplace" else 1e-3
    method = dpf.OutputPerturbation(
        regularization=0.1, feature_bound=1.0, epsilon=epsilon, delta=delta, noise_kind=kind
    )
    with pytest.raises(ValueError, match="epsilon: found"):
        method.fit(np.eye(4), np.array([0, 1, 0, 1]))
