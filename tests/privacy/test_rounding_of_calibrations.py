"""What calibrations and filters compute on the way is rounded outwards, each number by itself.

A test of the last number alone cannot see this: where one rounding is left out, the margins of the others cover it.
"""

import math
import random
from fractions import Fraction

import mpmath
import pytest

from dpfair_lib.privacy import (
    Mechanism,
    PrivacyStatement,
    composition,
    optimal_composition_delta,
    optimal_composition_epsilon,
)
from dpfair_lib.privacy import objective_perturbation as objective
from dpfair_lib.privacy.budgets import filters, random_stopping
from dpfair_lib.privacy.budgets.filters import FAR, gaussian_distance, largest_rho, make_filter
from dpfair_lib.privacy.objective_perturbation import (
    curvature_cost,
    least_deviation,
    least_strong_convexity,
    objective_perturbation_delta,
    objective_perturbation_norm_scale,
    objective_perturbation_scale,
    objective_perturbation_sigma,
)

DRAWS = 200


@pytest.fixture(autouse=True)
def _long():
    with mpmath.workdps(60):
        yield


def num(value):
    return (
        mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpmath.mpf(value)
    )


def settings(draw, ratio=None):
    """Draw ε, Λ, μ and n, with κ some share of ε."""
    epsilon, lipschitz = 10 ** draw.uniform(-3, 1), 10 ** draw.uniform(-2, 2)
    n = draw.randint(1, 1000)
    kappa = epsilon * (ratio or 10 ** draw.uniform(-4, 0.5))
    return epsilon, {"lipschitz": lipschitz, "strong_convexity": lipschitz**2 / (kappa * n), "n": n}


def kappa_of(known):
    return Fraction(known["lipschitz"]) ** 2 / Fraction(known["strong_convexity"]) / known["n"]


def exact_cost(epsilon, known, curvature):
    """The least c with ln(1 + κu) ≤ c + u(ε − c)/2 on [0, ¼]; ln(1 + κL) where only the largest curvature is known."""
    kappa = num(kappa_of(known))
    if curvature is not None:
        return mpmath.log1p(kappa * num(curvature))
    if kappa <= num(epsilon) / 2:
        return mpmath.mpf(0)
    low, high = mpmath.mpf(0), mpmath.log1p(kappa / 4)
    for _ in range(120):
        c = (low + high) / 2
        slope = (num(epsilon) - c) / 2
        u = (
            min(max(1 / slope - 1 / kappa, mpmath.mpf(0)), mpmath.mpf(1) / 4)
            if slope > 0
            else mpmath.mpf(1) / 4
        )
        low, high = (low, c) if mpmath.log1p(kappa * u) - slope * u <= c else (c, high)
    return high


@pytest.mark.parametrize("curvature", [None, 0.25, 1.0])
def test_the_cost_of_the_curvature(curvature):
    draw = random.Random(0)
    for _ in range(DRAWS):
        epsilon, known = settings(draw)
        exact, cost = (
            exact_cost(epsilon, known, curvature),
            num(curvature_cost(epsilon, **known, curvature=curvature)),
        )
        assert exact <= cost
        assert cost <= exact * (1 + num(2) ** -45) + num(2) ** -45 * bool(exact)


@pytest.mark.parametrize("curvature", [1e-300, 1e-3, 1.0])
def test_a_cost_that_floats_lose_beside_1_counts(curvature):
    known = {"lipschitz": 1e-8, "strong_convexity": 1.0, "n": 1}
    assert curvature_cost(0.01, **known, curvature=curvature) >= exact_cost(0.01, known, curvature)


def test_the_ratio_of_the_curvatures():
    draw, nearest = random.Random(1), 0
    for _ in range(DRAWS):
        _, known = settings(draw)
        assert (
            kappa_of(known)
            <= Fraction(objective._kappa(**known))
            <= kappa_of(known) * (1 + Fraction(1, 2**45))
        )
        near = known["lipschitz"] * (known["lipschitz"] / known["strong_convexity"]) / known["n"]
        nearest += Fraction(near) < kappa_of(known)
    assert nearest > DRAWS / 4  # what is rounded to nearest is below it


@pytest.mark.parametrize("curvature", [None, 1.0])
def test_what_is_left_of_epsilon_and_what_noise_is_asked_for(curvature, monkeypatch):
    draw, nearest, asked = random.Random(2), 0, {}

    def keep(name, result):
        def kept(*arguments):
            asked[name] = arguments
            return result

        return kept

    monkeypatch.setattr(objective, "gaussian_delta", keep("delta", 0.5))
    monkeypatch.setattr(objective, "gaussian_sigma", keep("sigma", 1e300))
    monkeypatch.setattr(objective, "noise_scale", keep("scale", 7.0))
    for _ in range(DRAWS):
        epsilon, known = settings(draw, draw.uniform(0.001, 0.6))
        known["curvature"] = curvature
        left = Fraction(epsilon) - Fraction(curvature_cost(epsilon, **known))
        nearest += Fraction(epsilon - curvature_cost(epsilon, **known)) > left
        assert objective_perturbation_delta(epsilon, 1e300, **known) == 0.5
        assert objective_perturbation_sigma(epsilon, 1e-7, **known) == 1e300
        assert objective_perturbation_norm_scale(epsilon, 3.25, **known) == 7.0
        moved = 2 * known["lipschitz"]
        assert asked["delta"][1:] == (1e300, moved)
        assert asked["sigma"][1:] == (1e-7, moved, "analytic")
        assert Fraction(asked["scale"][0]) >= Fraction(6.5)
        for found in (asked["delta"][0], asked["sigma"][0], asked["scale"][1]):
            assert left * (1 - Fraction(1, 2**40)) <= Fraction(found) < left
    if curvature:
        assert nearest > DRAWS / 8


@pytest.mark.parametrize("curvature", [None, 1.0])
def test_least_deviations_scales_and_regularisations(curvature, monkeypatch):
    draw, factor = random.Random(3), 1 if curvature else 2
    for _ in range(DRAWS):
        # nearly all of ε may go to the curvature: there the difference has few digits
        epsilon, known = settings(
            draw, draw.choice([draw.uniform(0.001, 0.6), 1 - 10 ** draw.uniform(-9, -1)])
        )
        known["curvature"] = curvature
        left = num(Fraction(epsilon) - Fraction(curvature_cost(epsilon, **known)))
        if left <= 1e-12 * epsilon:
            continue
        lipschitz, p = num(known["lipschitz"]), draw.randint(1, 90)
        close = 1 + num(2) ** -46 * epsilon / left
        exact = lipschitz * mpmath.sqrt(factor / left)
        assert exact <= num(least_deviation(epsilon, **known)) <= exact * close
        scale = objective_perturbation_scale(epsilon, p, **known)
        exact = 2 * lipschitz * mpmath.sqrt(p) / left
        assert exact <= num(scale) <= exact * close
        own = num(objective_perturbation_scale(epsilon, p, **known, absolute=known["lipschitz"]))
        exact = 2 * lipschitz / left
        assert exact <= own <= exact * close
        largest = num(0.25 if curvature is None else curvature)
        exact = lipschitz**2 * largest / (known["n"] * mpmath.expm1(num(epsilon)))
        least = num(
            least_strong_convexity(epsilon, lipschitz=known["lipschitz"], n=known["n"], curvature=curvature)
        )
        assert exact <= least <= exact * (1 + num(2) ** -47)
    # the root of p is rounded up before the rest is
    longest = []
    monkeypatch.setattr(
        objective, "objective_perturbation_norm_scale", lambda _, norm, **__: longest.append(norm)
    )
    for p in range(2, 90):
        objective_perturbation_scale(1.0, p, lipschitz=1.5, strong_convexity=9.0, n=5)
        assert num(longest[-1]) >= num(1.5) * mpmath.sqrt(p)


def gaussian_profile(epsilon, mu):
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def zcdp_profile(rho, epsilon):
    """The least over all orders, by bisection on the slope in ln(α − 1)."""
    low, high = mpmath.mpf(-100), mpmath.mpf(100)
    for _ in range(200):
        middle = (low + high) / 2
        x = mpmath.exp(middle)
        low, high = (
            (low, middle) if (2 * x + 1) * rho - epsilon - mpmath.log1p(1 / x) >= 0 else (middle, high)
        )
    x = mpmath.exp(high)
    return mpmath.exp(x * ((x + 1) * rho - epsilon) - mpmath.log(x) - (x + 1) * mpmath.log1p(1 / x))


@pytest.mark.parametrize("kind", ["gaussian", "concentrated"])
def test_the_parts_of_a_filters_delta_are_at_most_all_of_it(kind):
    draw = random.Random(4)
    for _ in range(DRAWS // 4):
        epsilon, delta = 10 ** draw.uniform(-2, 1), 10 ** draw.uniform(-10, -2)
        kept = draw.choice([0.0, delta * draw.random()])
        noise, openly, far, pure = make_filter(kind, epsilon, delta, kept).limits
        assert openly == Fraction(kept)
        assert Fraction(epsilon) <= pure <= Fraction(epsilon) * (1 + Fraction(2, 10**12))
        share = (Fraction(delta) - Fraction(kept)) * FAR
        paid_twice = num(far) * (1 + mpmath.exp(num(epsilon)))
        assert num(share) * (1 - num(2) ** -45) <= paid_twice <= num(share)
        e, room = num(epsilon), num(Fraction(delta) - Fraction(kept) - share)
        shown = (
            gaussian_profile(e, mpmath.sqrt(num(noise)))
            if kind == "gaussian"
            else zcdp_profile(num(noise), e)
        )
        assert room * (1 - num(10) ** -9) <= shown <= room
        assert shown + num(openly) + paid_twice <= num(delta)


def test_the_delta_for_noise_is_rounded_down_and_its_scale_up(monkeypatch):
    draw, nearest, asked = random.Random(5), 0, []
    monkeypatch.setattr(filters, "gaussian_sigma", lambda *arguments: asked.append(arguments) or 3.0)
    monkeypatch.setattr(filters, "largest_rho", lambda *arguments: asked.append(arguments) or Fraction(1))
    for _ in range(DRAWS):
        delta = 10 ** draw.uniform(-10, -2)
        kept = delta * draw.random()
        exact = (Fraction(delta) - Fraction(kept)) * (1 - FAR)
        for kind in ("gaussian", "concentrated"):
            one = make_filter(kind, 2.5, delta, kept)
            assert asked[-1][0] == 2.5
            assert exact * (1 - Fraction(1, 2**52)) <= Fraction(asked[-1][1]) <= exact
            assert one.limits[0] == (Fraction(1, 9) if kind == "gaussian" else 1)
        assert asked[-2][2:] == (1.0, "analytic")
        nearest += Fraction((delta - kept) * (1 - float(FAR))) > exact
    assert nearest > DRAWS / 8


def test_the_largest_rho_is_from_below():
    draw = random.Random(6)
    for _ in range(DRAWS // 4):
        epsilon, delta = 10 ** draw.uniform(-2, 1), 10 ** draw.uniform(-10, -2)
        rho = num(largest_rho(epsilon, delta))
        assert (
            zcdp_profile(rho, num(epsilon))
            <= num(delta)
            <= zcdp_profile(rho * (1 + num(10) ** -10), num(epsilon))
        )


@pytest.mark.parametrize("kind", ["laplace", "stated"])
def test_the_gaussian_distance_of_a_release_is_not_below_it(kind):
    draw = random.Random(7)
    for _ in range(DRAWS):
        ratio = 10 ** draw.uniform(-9, 1.5)
        error = mpmath.exp(-num(ratio) / 2) / 2 if kind == "laplace" else 1 / (1 + mpmath.exp(num(ratio)))
        distance = num(gaussian_distance(Mechanism(kind, ratio)))
        assert mpmath.ncdf(-distance / 2) <= error
        loose = num(10) ** -7 + num(ratio) * (ratio < 1e-4)  # where the bound is a series
        tighter = distance * (1 - loose) - num(10) ** -13
        assert tighter < 0 or mpmath.ncdf(-tighter / 2) > error


def test_what_a_statement_takes_is_exact():
    draw = random.Random(8)
    concentrated, gaussian = (
        make_filter(kind, 1.0, 1e-3, 1e-4).cost for kind in ("concentrated", "gaussian")
    )
    for _ in range(DRAWS):
        steps, others = draw.randint(1, 50), draw.randint(1, 50)
        noise = Mechanism("gaussian", draw.random(), steps=steps, distance=draw.random() / 1e9)
        fails = Mechanism(
            "stated", draw.random(), draw.random() / 1e4, steps=others, distance=draw.random() / 1e9
        )
        told = PrivacyStatement(
            9 * draw.random(), draw.random() / 1e3, "replace-one", mechanism=(noise, fails)
        )
        openly, far = others * Fraction(fails.delta), Fraction(noise.distance) + Fraction(fails.distance)
        squares = steps * Fraction(noise.ratio) ** 2
        assert concentrated(told)[:3] == ((squares + others * Fraction(fails.ratio) ** 2) / 2, openly, far)
        own = Fraction(gaussian_distance(fails)) ** 2
        assert gaussian(told)[:3] == (squares + others * own, openly, far)
        assert concentrated(told)[3] == gaussian(told)[3] == Fraction(2**4000)  # a δ is never a pure release
        bare = PrivacyStatement(told.epsilon, told.delta, "replace-one")
        assert concentrated(bare)[:3] == (Fraction(told.epsilon) ** 2 / 2, Fraction(told.delta), 0)
        # of a pure release that is noise the last resource is its ε, not its mechanism's
        pure = PrivacyStatement(told.epsilon, 0.0, "replace-one", mechanism=(Mechanism("laplace", 0.25),))
        assert concentrated(pure) == (Fraction(1, 32), 0, 0, Fraction(told.epsilon))


@pytest.mark.parametrize("kind", ["gaussian", "concentrated", "sum"])
def test_what_is_left_is_rounded_down(kind):
    draw = random.Random(9)
    one = make_filter(kind, 4.0, 1e-3, 0.0 if kind == "sum" else 1e-4)
    for _ in range(DRAWS // 2):
        left = tuple(limit * Fraction(draw.random()) for limit in one.limits)
        if kind != "sum":  # so that noise, and not the sum of pure releases, decides
            left = (*left[:3], Fraction(0))
        epsilon, delta = one.left(left)
        if kind == "sum":
            assert Fraction(epsilon) <= left[0] < Fraction(math.nextafter(epsilon, 9))
        else:
            cost = one.cost(PrivacyStatement(epsilon, 0.0, "replace-one")) if epsilon else (0,)
            assert left[0] * (1 - Fraction(1, 10**8)) - Fraction(1, 10**11) <= cost[0] <= left[0]
        assert Fraction(delta) <= left[1] < Fraction(math.nextafter(delta, 1))


def test_each_amount_that_is_left_is_rounded_down(monkeypatch):
    # by itself: elsewhere the margins of the distances would cover it
    rounded = []
    monkeypatch.setattr(filters, "below", lambda value: rounded.append(value) or float(value))
    for kind in ("gaussian", "concentrated"):
        left = (Fraction(1, 3), Fraction(1, 7), Fraction(1, 11), Fraction(1, 13))
        make_filter(kind, 1.0, 1e-3).left(left)
        assert sorted(rounded[-3:]) == sorted([left[0], left[1], left[3] / filters.ROOM])


@pytest.mark.parametrize("kind", ["gaussian", "concentrated"])
def test_the_pure_release_that_fits_is_rounded_down(kind):
    draw, nearest = random.Random(10), 0
    for _ in range(DRAWS):
        pure = Fraction(draw.random())
        epsilon, _ = make_filter(kind, 1.0, 1e-3).left((Fraction(0), Fraction(0), Fraction(0), pure))
        assert Fraction(epsilon) * filters.ROOM <= pure < Fraction(math.nextafter(epsilon, 1)) * filters.ROOM
        nearest += Fraction(float(pure / filters.ROOM)) * filters.ROOM > pure
    assert nearest > DRAWS / 4


@pytest.mark.parametrize("part", ["logarithms", "sum"])
def test_what_random_stopping_costs(part, monkeypatch):
    draw, nearest = random.Random(11), 0
    if part == "logarithms":
        monkeypatch.setattr(random_stopping, "above", lambda value: value)
    for _ in range(DRAWS):
        rest, other, order = draw.random(), draw.random(), 1 + 10 ** draw.uniform(-1, 2)
        if part == "sum":  # so that no logarithm is left, and its margin with it
            order = 2.0**80
        shape, success = draw.uniform(-0.9, 3), 10 ** draw.uniform(-5, -0.01)
        second = math.inf if part == "sum" else 1 + 10 ** draw.uniform(-1, 1)
        found = random_stopping.stopped_renyi(
            order, rest, shape=shape, success=success, other_order=second, other_divergence=other
        )
        inverse = 0 if second == math.inf else 1 / Fraction(second)
        plain = Fraction(rest) + (1 + Fraction(shape)) * (1 - inverse) * Fraction(other)
        g, eta = num(success), num(shape)
        runs = eta * (1 - g) / (g * (1 - g**eta))  # E K of the truncated law
        of_law = (1 + num(shape)) * num(Fraction(inverse))
        exact = num(plain) - of_law * mpmath.log(g) + mpmath.log(runs) / (num(order) - 1)
        near = (
            num(plain) + of_law * num(math.log(1 / Fraction(success))) + mpmath.log(runs) / (num(order) - 1)
        )
        assert exact <= num(found) <= exact * (1 + num(10) ** -10)
        nearest += near < exact if part == "logarithms" else num(float(plain)) < exact
    assert nearest > DRAWS / 8


def test_what_a_poisson_number_of_runs_costs():
    draw, slack = random.Random(13), num(random_stopping.SLACK)
    for _ in range(DRAWS):
        rest, order = 10 ** draw.uniform(-3, 0), 1 + 10 ** draw.uniform(-1, 2)
        mean, delta = 10 ** draw.uniform(-2, 3), draw.random() / 1e5
        found = random_stopping.poisson_stopped_renyi(order, rest, mean=mean, epsilon=0.0, delta=delta)
        steps = num(order) - 1
        grown = num(mean) * mpmath.exp(num(mean) * steps * num(delta)) * mpmath.expm1(steps * num(rest))
        exact = mpmath.log1p(grown) / steps
        # all of the margin that is said, and hardly more
        assert exact * (1 + slack / 2) <= num(found) <= exact * (1 + 2 * slack)


def test_the_mean_of_the_runs_is_enlarged_by_its_own_error(monkeypatch):
    asked = []
    monkeypatch.setattr(random_stopping, "log_above", lambda value: asked.append(value) or 0.5)
    random_stopping.stopped_renyi(2.0, 0.1, shape=0.5, success=0.125, other_order=4.0, other_divergence=0.1)
    assert asked[0] == 8
    assert asked[1] >= random_stopping.mean_runs(0.5, 0.125) * (1 + 0.9 * random_stopping.SLACK)


def test_every_rounding_of_an_optimal_composition_counts(monkeypatch):
    # with roundings of a hundredth each can be seen in the result
    settings = [(0.3, 0.0, 5, 0.9), (0.3, 1e-3, 5, 0.9), (0.3, 1e-3, 5, 2.0), (0.3, 1e-3, 1, 2.0)]
    usual = [optimal_composition_delta(*one) for one in settings]
    monkeypatch.setattr(composition, "raised", lambda value: 1.01 * value)
    shares = [optimal_composition_delta(*one) / least for one, least in zip(settings, usual, strict=True)]
    assert shares == pytest.approx([1.01**2, 1.01**2, 1.01, 1.0], rel=1e-4)


def test_the_pure_total_of_releases_is_rounded_up():
    draw, nearest = random.Random(12), 0
    for _ in range(DRAWS):
        epsilon, k = draw.random(), draw.randint(2, 40)
        assert Fraction(optimal_composition_epsilon(epsilon, 0.0, k, 1e-300)) >= k * Fraction(epsilon)
        nearest += Fraction(k * epsilon) < k * Fraction(epsilon)
    assert nearest > DRAWS / 8
