"""Each rounding of a calibration counts: with roundings of a hundredth, none can be left out without being seen."""

import math
import random

import mpmath
import pytest

from dpfair_lib.privacy import Mechanism, mechanisms, statements
from dpfair_lib.privacy import objective_perturbation as objective

UP, DOWN = 1.01, 0.99


@pytest.fixture
def coarse(monkeypatch):
    """Let what rounds up add a hundredth, and what rounds down take one away."""
    for name in ("raised", "above", "exp_above", "log_above", "quotient_above", "sum_above"):
        usual = {
            "exp_above": math.exp, "log_above": lambda x: math.log(float(x)), "quotient_above": lambda a, b: a / b,
            "sum_above": math.fsum,
        }.get(name, lambda x, _=0.0: float(x))  # fmt: skip
        for module in (mechanisms, objective):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, lambda *given, usual=usual: UP * usual(*given))
    monkeypatch.setattr(objective, "lowered", lambda x, _=0.0: DOWN * x)
    monkeypatch.setattr(objective, "noise_scale", lambda sensitivity, epsilon: (sensitivity, epsilon))


KNOWN = {"lipschitz": 1.5, "strong_convexity": 0.5, "n": 30}
KAPPA = 1.5**2 / (0.5 * 30) * UP**2


@pytest.mark.usefixtures("coarse")
def test_those_of_objective_perturbation():
    assert objective._kappa(**KNOWN) == pytest.approx(KAPPA)
    cost = UP * math.log(1 + UP * KAPPA)
    assert objective.curvature_cost(2.0, **KNOWN, curvature=1.0) == pytest.approx(cost)
    assert objective.curvature_cost(0.1, **KNOWN) == pytest.approx(UP * _least_cost(0.1), rel=1e-9)
    left = DOWN * (2.0 - cost)
    assert objective._left(2.0, *KNOWN.values(), 1.0) == pytest.approx(left)
    deviation = objective.least_deviation(2.0, **KNOWN, curvature=1.0)
    assert deviation == pytest.approx(UP * 1.5 * math.sqrt(1 / left))
    assert objective.objective_perturbation_norm_scale(2.0, 3.0, **KNOWN, curvature=1.0) == pytest.approx(
        (UP * 2 * 3.0, left)
    )
    assert objective.objective_perturbation_scale(2.0, 4, **KNOWN, curvature=1.0) == pytest.approx(
        (UP * 2 * UP * 1.5 * 2, left)
    )
    least = objective.least_strong_convexity(2.0, lipschitz=1.5, n=30)
    assert least == pytest.approx(UP * 1.5**2 / 4 / math.expm1(2.0) / 30)


@pytest.mark.usefixtures("coarse")
def test_what_is_left_for_the_profile_of_objective_perturbation(monkeypatch):
    asked = []
    monkeypatch.setattr(objective, "gaussian_delta", lambda *given: asked.append(given) or 0.25)
    assert objective.objective_perturbation_delta(2.0, 9.0, **KNOWN, curvature=1.0) == 0.25
    cost = UP * math.log(1 + UP * KAPPA)
    assert asked[0] == pytest.approx((DOWN * (2.0 - cost), 9.0, 3.0))


def _least_cost(epsilon):
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        excess = objective._excess(KAPPA, (epsilon - middle) / 2)
        low, high = (low, middle) if excess <= middle else (middle, high)
    return high


@pytest.mark.usefixtures("coarse")
def test_those_of_gaussian_totals(monkeypatch):
    asked = []
    monkeypatch.setattr(mechanisms, "gaussian_epsilon", lambda *given: asked.append(given) or 0.5)
    releases = [Mechanism("gaussian", 0.3, steps=4), Mechanism("gaussian", 0.2)]
    assert mechanisms.total_epsilon(releases, 1e-6) == 0.5
    # of each square, of their sum, and of its root
    assert asked == [(1e-6, 1.0, pytest.approx(UP * math.sqrt(UP * UP * (4 * 0.09 + 0.04))))]


@pytest.mark.usefixtures("coarse")
def test_those_of_totals_on_a_grid(monkeypatch):
    asked = []

    class Composed:
        def get_epsilon_for_delta(self, delta):
            asked.append(delta)
            return 0.5

    monkeypatch.setattr(mechanisms, "_composed", lambda _: Composed())
    releases = [Mechanism("laplace", 0.3, steps=3, distance=1e-8), Mechanism("laplace", 0.2, distance=2e-8)]
    assert mechanisms.total_epsilon(releases, 1e-6) == pytest.approx(UP * 0.5)
    room = 1e-6 - 4 * 2.0**-52  # of four convolutions
    far = (1 + UP * math.exp(UP * 0.5)) * 3e-8
    assert asked == pytest.approx([room, room - far], rel=1e-12)


def test_those_of_a_replacement_as_two_changes(monkeypatch):
    monkeypatch.setattr(statements, "exp_above", lambda x: UP * math.exp(x))
    monkeypatch.setattr(statements, "sum_above", lambda values: UP * math.fsum(values))
    monkeypatch.setattr(statements, "product_above", lambda *factors: UP * math.prod(factors))
    found = statements.convert(statements.PrivacyStatement(0.7, 1e-4, "add-remove"), "replace-one")
    assert (found.epsilon, found.delta) == (1.4, pytest.approx(UP * UP * 1e-4 * (1 + UP * math.exp(0.7))))


def test_a_replacement_as_two_changes_is_rounded_up():
    draw, nearest = random.Random(0), 0
    with mpmath.workdps(40):
        for _ in range(300):
            epsilon, delta = draw.uniform(0, 5), draw.random() / 1e3
            found = statements.convert(
                statements.PrivacyStatement(epsilon, delta, "add-remove"), "replace-one"
            )
            exact = mpmath.mpf(delta) * (1 + mpmath.exp(mpmath.mpf(epsilon)))
            assert found.epsilon == 2 * epsilon
            assert exact <= mpmath.mpf(found.delta) <= exact * (1 + mpmath.mpf(2) ** -49)
            nearest += mpmath.mpf(delta * (1 + math.exp(epsilon))) < exact
    assert nearest > 60
