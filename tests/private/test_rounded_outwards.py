"""What a learner asks the sampler for is never below what the statement's numbers ask for, not by one rounding.

Other tests compare scales up to 1e-12 or less closely. Here the exact least scale is computed in many digits from the
parameters alone, and whatever was rounded on the way must have been rounded outwards.
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from study_watching import exactly
from watching import watched

import dpfair_lib as dpf

DRAWS = 30


def delta_at(epsilon, mu):
    """The δ of two normal laws that are μ deviations apart."""
    epsilon = mpmath.mpf(epsilon)
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def power(rng, low, high):
    return float(10 ** rng.uniform(low, high))


def moves(rng, kind, loss):
    """Fit output perturbation with drawn settings; return the largest move, what was asked for, and (ε, δ)."""
    epsilon = power(rng, -2, 0 if kind == "classical" else 1)
    delta = 0.0 if kind == "laplace" else power(rng, -9, -2)
    bound, modulus, tolerance = power(rng, -1, 1), power(rng, -2, 1), power(rng, -4, -1)
    n = int(rng.integers(5, 40))
    model = dpf.OutputPerturbation(
        regularization=modulus, feature_bound=bound, epsilon=epsilon, delta=delta, noise_kind=kind, loss=loss,
        tolerance=tolerance, classes=(0, 1),
    )  # fmt: skip
    with watched(exactly) as requests:
        model.fit(rng.normal(size=(n, 2)), rng.integers(0, 2, n))
    (request,) = requests
    longest = mpmath.sqrt(mpmath.mpf(bound) ** 2 + 1)
    return 2 * longest * (1 + mpmath.mpf(tolerance)) / (mpmath.mpf(modulus) * n), request, epsilon, delta


@pytest.mark.parametrize("kind", ["analytic", "classical", "laplace"])
def test_output_perturbation(kind):
    rng = np.random.default_rng(0)
    with mpmath.workdps(60):
        for _ in range(DRAWS):
            moved, request, epsilon, delta = moves(rng, kind, "huberised-hinge")
            scale = mpmath.mpf(request.scale)
            if kind == "laplace":  # three weights: √3 times the Euclidean distance
                assert mpmath.sqrt(3) * moved / scale <= epsilon
            elif kind == "classical":
                assert scale >= moved * mpmath.sqrt(2 * mpmath.log(mpmath.mpf(1.25) / delta)) / epsilon
            else:
                assert delta_at(epsilon, moved / scale) <= delta


@pytest.mark.parametrize("kind", ["laplace", "geometric"])
def test_noisy_rates(kind):
    rng = np.random.default_rng(1)
    for _ in range(DRAWS):
        epsilon = power(rng, -2, 1)
        fair = dpf.PrivateFairPostprocessor(epsilon, mechanism=kind)
        with watched(exactly) as requests:
            fair.fit([0, 1, 1, 0], sensitive_features=[0, 0, 1, 1])
        # in one group one count moves by 1
        assert all(1 / Fraction(one.scale) <= Fraction(fair.privacy_statement_.epsilon) for one in requests)


def test_means_for_scaling():
    rng = np.random.default_rng(2)
    for columns in (1, 3):
        for _ in range(DRAWS // 2):
            scaler = dpf.PrivateScaler(dict.fromkeys(range(columns), (-1.0, 1.0)), epsilon=power(rng, -2, 1))
            with watched(exactly) as requests:
                scaler.fit(rng.uniform(-1, 1, size=(4, columns)))
            (request,) = requests
            # each column's sums move by its whole range
            loss = Fraction(2**22 * columns) / Fraction(request.scale)
            assert loss <= Fraction(scaler.privacy_statement_.epsilon)


def test_the_functional_mechanism():
    rng = np.random.default_rng(3)
    with mpmath.workdps(60):
        for _ in range(DRAWS // 3):
            epsilon, delta, d = power(rng, -2, 1), power(rng, -9, -2), int(rng.integers(1, 5))
            model = dpf.FairFunctionalClassifier(
                penalty=1.0, feature_bound=power(rng, -1, 1), epsilon=epsilon, delta=delta, regularization=10.0,
                groups=(0, 1), classes=(0, 1),
            )  # fmt: skip
            with watched(exactly) as requests:
                X, (y, group) = rng.normal(size=(6, d)), rng.integers(0, 2, size=(2, 6))
                model.fit(X, y, sensitive_features=group)
            (request,) = requests
            moved = mpmath.sqrt(2) * 2**22 + mpmath.sqrt(len(request.values))
            assert delta_at(epsilon, moved / mpmath.mpf(request.scale)) <= delta


@pytest.mark.parametrize("loss", ["huberised-hinge", "logistic"])
def test_noise_in_the_objective(loss):
    rng = np.random.default_rng(4)
    with mpmath.workdps(60):
        for _ in range(DRAWS // 3):
            epsilon, bound, n = power(rng, -1, 1), power(rng, -1, 1), int(rng.integers(20, 60))
            modulus = 10 * (bound**2 + 1) / (n * epsilon)
            model = dpf.ObjectivePerturbation(
                feature_bound=bound, epsilon=epsilon, delta=0.0, noise_kind="laplace", loss=loss, classes=(0, 1),
                regularization=modulus,
            )  # fmt: skip
            with watched(exactly) as requests:
                model.fit(rng.normal(size=(n, 2)), rng.integers(0, 2, n))
            objective, _ = requests
            longest = mpmath.sqrt(mpmath.mpf(bound) ** 2 + 1)
            left = mpmath.mpf(epsilon) * (1 - mpmath.mpf(2) / 1000)
            kappa = longest**2 / (mpmath.mpf(modulus) * n)
            if loss == "huberised-hinge":  # whose curvature is 1, and the determinant costs ln(1 + κ)
                left -= mpmath.log1p(kappa)
            else:
                assert kappa <= left / 2  # there the cost of the logistic loss is 0
            assert 2 * mpmath.sqrt(3) * longest / mpmath.mpf(objective.scale) <= left
