"""The estimator: what it minimises, how near it comes, what it says of itself. Its noise is judged in tests/private."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi, gamma
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpfair_lib as dpf
from dpfair_lib.learners import objective_perturbation as room
from dpfair_lib.learners.minimiser import absolutely_bounded_rows, bounded_rows, minimise
from dpfair_lib.learners.objective_perturbation import default_regularization
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.objective_perturbation import (
    objective_perturbation_scale,
    objective_perturbation_sigma,
)

KNOWN = {"feature_bound": 2.0, "epsilon": 1.0, "delta": 1e-5}
LAWS = [("gaussian", 1e-5), ("laplace", 0.0)]


def data(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)


def handed(model, X, y, monkeypatch):
    """Return what `fit` hands to its two noises: b, and the weights before the second."""
    seen = []

    def kept(law):
        def add(_, values, scale):
            noisy = np.array(values) + scale * np.linspace(-2, 1.5, len(values))
            seen.append((law, np.array(values), scale, noisy))
            return noisy

        return add

    for law in ("laplace", "gaussian"):
        monkeypatch.setattr(NoiseSource, f"add_{law}", kept(law))
    model.fit(X, y)
    return seen


@pytest.mark.parametrize("p", [1, 50])
@pytest.mark.parametrize("far", [1.0, 20.0])
def test_b_is_longer_than_said_as_seldom_as_said(p, far, monkeypatch):
    """Exactly: the sum of absolute values of Laplace noise is a Gamma variable, a Gaussian's length a chi variable."""
    monkeypatch.setattr(room, "FAR", far - 1.0)  # and ε = 1 beside it
    source, numbers = NoiseSource.of("study", 0), (p, 60, 1.5, 0.2, None, None)
    pure = dpf.ObjectivePerturbation(**KNOWN | {"delta": 0.0}, noise_kind="laplace")
    _, longest = pure._perturbation(source, *numbers)
    scale = pure.sigma_ / math.sqrt(2)
    assert gamma(p).sf(longest / scale) <= math.exp(-far) < gamma(p).sf(0.2 * longest / scale)
    approximate = dpf.ObjectivePerturbation(**KNOWN)
    _, longest = approximate._perturbation(source, *numbers)
    assert (
        chi(p).sf(longest / approximate.sigma_)
        <= math.exp(-far)
        < chi(p).sf(0.2 * longest / approximate.sigma_)
    )


@pytest.mark.parametrize(("law", "delta"), LAWS)
@pytest.mark.parametrize("loss", ["logistic", "huberised-hinge"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("empty", [[], [1], [0, 1, 2]])
def test_the_weights_minimise_the_perturbed_objective(law, delta, loss, intercept, empty, monkeypatch):
    X, y = data()
    X[:, empty] = (
        0  # of a column of zeros b alone decides the weight, which would tell of the zeros without it
    )
    model = dpf.ObjectivePerturbation(
        **(KNOWN | {"delta": delta}), noise_kind=law, loss=loss, fit_intercept=intercept, regularization=0.2
    )
    (first, zeros, scale, b), (second, weights, hiding, released) = handed(model, X, y, monkeypatch)
    assert first == second == law
    assert not zeros.any()
    rows, longest = bounded_rows(X, 2.0, intercept=intercept)
    exact = minimise(rows, 2.0 * y - 1, 0.2, 1e-13, loss, b / len(X))
    # within the distance that the noise on the weights hides: 1e-6 of one row's gradient over the modulus
    assert np.linalg.norm(weights - exact) <= 1e-6 * longest / (len(X) * 0.2)
    spread = math.sqrt(2) if law == "laplace" else 1
    assert (model.sigma_, model.output_sigma_) == pytest.approx((spread * scale, spread * hiding))
    assert np.append(model.coef_, model.intercept_ if intercept else []) == pytest.approx(released)


@pytest.mark.parametrize("d", [1, 4, 25])
@pytest.mark.parametrize(("law", "delta"), LAWS)
def test_noise_on_the_weights_hides_the_distance_in_the_norm_of_its_law(law, delta, d, monkeypatch):
    # both solvers may be that far away; in d + 1 weights absolute values add up to √(d + 1) times the length
    apart, usual = [], dpf.ObjectivePerturbation._accuracy

    def accuracy(*arguments):
        apart.append(2 * usual(*arguments)[1])
        return usual(*arguments)

    monkeypatch.setattr(dpf.ObjectivePerturbation, "_accuracy", accuracy)
    model = dpf.ObjectivePerturbation(**(KNOWN | {"delta": delta}), noise_kind=law)
    hiding = handed(model, *data(d=d), monkeypatch)[1][2]
    left = 1.0 - model._main(1.0)
    if law == "laplace":
        due = apart[0] * math.sqrt(d + 1) / left
    else:
        due = dpf.gaussian_sigma(left, delta - model._main(delta), apart[0], "analytic")
    assert due * (1 - 1e-9) <= hiding <= due * (1 + 1e-6)


def test_rounding_loosens_the_accuracy_and_more_noise_hides_it(monkeypatch):
    X, y = data()
    usual = dpf.ObjectivePerturbation(**KNOWN)
    before = handed(usual, X, y, monkeypatch)[1][2]
    exact = room.gradient_rounding
    monkeypatch.setattr(room, "gradient_rounding", lambda *a, **k: exact(*a, **k) + 1e-6)
    after = handed(usual, X, y, monkeypatch)[1][2]
    finest = 1e-6 * math.sqrt(5) / len(X)
    assert after / before == pytest.approx(4e-6 / finest, rel=1e-3)


@pytest.mark.parametrize(("law", "delta"), LAWS)
def test_where_rounding_grows_faster_than_it_is_hidden_the_fit_is_refused(law, delta):
    # for one rounding r at most largest − 2r is asked of the computed gradient: it must be below 2r at `largest` too
    X, y = data()
    for modulus, refused in ((1e-14, False), (1e-17, True)):
        model = dpf.ObjectivePerturbation(
            feature_bound=2.0, epsilon=40.0, delta=delta, noise_kind=law, regularization=modulus
        )
        known = {"lipschitz": math.sqrt(5), "modulus": modulus, "linear": 1.0}
        fine = room.gradient_rounding(60, 4, **known, accuracy=0.0)
        coarse = room.gradient_rounding(60, 4, **known, accuracy=4 * fine)
        assert (coarse > 2 * fine) == refused
        if refused:
            with pytest.raises(ValueError, match=r"regularization: found 1e-17, expected more: .* rounding"):
                model.fit(X, y)
        else:
            model.fit(X, y)


def test_far_noise_is_what_the_rounding_is_asked_for(monkeypatch):
    # the length that b has but for a probability of e^−(800 + ε), over n
    asked, exact = [], room.gradient_rounding
    monkeypatch.setattr(
        room, "gradient_rounding", lambda *a, **k: asked.append(k["linear"]) or exact(*a, **k)
    )
    X, y = data()
    for law, delta in LAWS:
        model = dpf.ObjectivePerturbation(**(KNOWN | {"delta": delta}), noise_kind=law).fit(X, y)
        if law == "gaussian":
            due = model.sigma_ * (2 + math.sqrt(2 * 801))
        else:
            due = model.sigma_ / math.sqrt(2) * (4 + math.sqrt(2 * 4 * 801) + 801)
        assert asked.pop() == pytest.approx(due / len(X))


@pytest.mark.parametrize(("loss", "factor"), [("logistic", 1), ("huberised-hinge", 8)])
def test_the_default_regularisation_is_the_documented_one(loss, factor):
    assert default_regularization(0.5, lipschitz=3.0, n=100, loss=loss) == pytest.approx(factor * 9 / 50)
    X, y = data()
    study = {"noise": "study", "random_state": 0, "loss": loss}
    left = dpf.ObjectivePerturbation(**KNOWN, **study).fit(X, y)
    modulus = factor * 5 / (len(X) * 0.998)
    right = dpf.ObjectivePerturbation(**KNOWN, **study, regularization=modulus).fit(X, y)
    assert left.coef_ == pytest.approx(right.coef_)
    other = dpf.ObjectivePerturbation(**KNOWN, **study, regularization=2 * modulus).fit(X, y)
    assert left.coef_ != pytest.approx(other.coef_)


@pytest.mark.parametrize(("loss", "curvature", "moduli"), [
    ("logistic", None, (0.02, 0.3)), ("huberised-hinge", 1.0, (0.06, 2.0)),
])  # fmt: skip
def test_the_noise_is_calibrated_to_the_regularisation_that_is_solved(loss, curvature, moduli):
    # a modulus below the default and one above it: the curvature costs more of ε, or less
    X, y = data()
    for modulus in moduli:
        known = {"lipschitz": math.sqrt(5), "strong_convexity": modulus, "n": len(X), "curvature": curvature}
        gaussian, laplace = (
            dpf.ObjectivePerturbation(
                **(KNOWN | {"delta": delta}), noise_kind=law, loss=loss, regularization=modulus
            ).fit(X, y)
            for law, delta in LAWS
        )
        due = objective_perturbation_sigma(0.998, 0.998e-5, **known)
        assert gaussian.sigma_ == pytest.approx(due, rel=1e-9)
        due = math.sqrt(2) * objective_perturbation_scale(0.998, 4, **known)
        assert laplace.sigma_ == pytest.approx(due, rel=1e-9)


def test_it_learns_where_output_perturbation_does_not():
    # one direction decides, and noise in the objective moves it less; medians over 15 seeds
    X, y = data(2000, 5)
    found = {}
    for kind, more in ((dpf.ObjectivePerturbation, {}), (dpf.OutputPerturbation, {"regularization": 1e-3})):
        scores = [
            kind(**KNOWN, **more, noise="study", random_state=s).fit(X, y).score(X, y) for s in range(15)
        ]
        found[kind] = np.median(scores)
    assert found[dpf.ObjectivePerturbation] > found[dpf.OutputPerturbation] + 0.05


def test_the_statement_has_a_guarantee_for_secure_noise_alone():
    X, y = data()
    secure = dpf.ObjectivePerturbation(**KNOWN).fit(X, y).privacy_statement_
    assert (secure.epsilon, secure.delta, secure.relation, secure.guarantee) == (
        1.0,
        1e-5,
        "replace-one",
        True,
    )
    study = dpf.ObjectivePerturbation(**KNOWN, noise="study", random_state=0).fit(X, y).privacy_statement_
    assert not study.guarantee


@parametrize_with_checks(
    [dpf.ObjectivePerturbation(**(KNOWN | {"epsilon": 1e6}), noise="study", random_state=0)]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": 0.0}, "epsilon: found 0"),
        (
            {"delta": 0.0},
            "delta: found 0 beside noise_kind='gaussian', .* expected a number in .* noise_kind='laplace'",
        ),
        ({"noise_kind": "laplace"}, "delta: found 1e-05 beside noise_kind='laplace', expected 0"),
        ({"noise_kind": "analytic"}, "noise_kind: found 'analytic'"),
        ({"loss": "hinge"}, "loss: found 'hinge'"),
        ({"fit_intercept": 1}, "fit_intercept: found 1"),
        ({"feature_bound": -1.0}, "feature_bound: found -1"),
        ({"regularization": 0.0}, "regularization: found 0"),
        ({"random_state": 3}, "random_state: found 3 beside noise='secure'"),
        ({"regularization": 1e-6}, "regularization: found 1e-06, expected more than 0.0"),
    ],
)
def test_bad_parameters_are_named(changed, message):
    X, y = data()
    with pytest.raises(ValueError, match=f"^{message}"):
        dpf.ObjectivePerturbation(**(KNOWN | changed)).fit(X, y)


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_are_bounded_in_absolute_values_and_the_noise_is_scaled_to_it(intercept):
    X, y = data()
    settings = {
        "feature_bound": 2.0,
        "epsilon": 1.0,
        "delta": 0.0,
        "noise_kind": "laplace",
        "fit_intercept": intercept,
    }
    settings |= {"noise": "study", "random_state": 0, "regularization": 0.1}
    plain = dpf.ObjectivePerturbation(**settings).fit(X, y)
    bounded = dpf.ObjectivePerturbation(**settings, absolute_bound=0.5).fit(X, y)
    p, longest = 3 + intercept, math.hypot(2, 1) if intercept else 2.0
    assert bounded.sigma_ / plain.sigma_ == pytest.approx(
        (0.5 + intercept) / (math.sqrt(p) * longest), rel=1e-9
    )
    short, _ = bounded_rows(X, 2.0, intercept=False)
    short = short * np.minimum(1, 0.5 / abs(short).sum(axis=1, keepdims=True))
    again = dpf.ObjectivePerturbation(**settings, absolute_bound=0.5).fit(short, y)
    np.testing.assert_allclose(again.coef_, bounded.coef_, rtol=1e-6)
    assert abs(again.coef_ - plain.coef_).max() > 1e-3
    # a bound that no row reaches changes nothing
    loose = dpf.ObjectivePerturbation(**settings, absolute_bound=50.0).fit(X, y)
    np.testing.assert_allclose(loose.coef_, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"absolute_bound": 1.0}, "absolute_bound: found 1.0 beside noise_kind='gaussian', expected None"),
        ({"absolute_bound": -1.0, "noise_kind": "laplace", "delta": 0.0}, "absolute_bound: found -1.0"),
    ],
)
def test_bad_absolute_bounds_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        dpf.ObjectivePerturbation(**(KNOWN | changed)).fit(*data())


@pytest.mark.parametrize("intercept", [True, False])
def test_shapes_of_what_is_learned(intercept):
    X, y = data()
    model = dpf.ObjectivePerturbation(**KNOWN, fit_intercept=intercept).fit(X, y)
    assert (model.coef_.shape, model.intercept_.shape) == ((1, 3), (1,))
    assert (model.intercept_[0] != 0) == intercept


@pytest.mark.parametrize("width", [1, 2, 7, 100])
def test_rows_that_are_scaled_down_reach_no_more_than_is_said(width):
    """Exactly, in fractions; and more than the bound itself, which rounding may pass."""
    rng, passed = np.random.default_rng(width), 0
    for bound in (0.75, 1e-300, 1e200):
        rows = absolutely_bounded_rows(
            rng.normal(size=(300, width)) * 10.0 ** rng.uniform(-3, 9, (300, 1)) * bound, bound
        )
        sums = [sum(abs(Fraction(entry)) for entry in row) for row in rows.tolist()]
        most = Fraction(room._reached(bound, width))
        assert max(sums) <= most <= Fraction(bound) * (1 + Fraction(1, 10**12))
        passed += sum(one > Fraction(bound) for one in sums)
    assert passed > 0
