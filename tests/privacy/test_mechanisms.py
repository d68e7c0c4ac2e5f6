"""Tight totals of fixed releases, against exact profiles."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import dpfair_lib as dpf
from dpfair_lib.privacy import (
    Mechanism,
    convert,
    dp_sgd_epsilon,
    dp_sgd_epsilon_lower_bound,
    gaussian_epsilon,
    laplace_composition_delta,
    mechanisms,
    optimal_composition_epsilon,
    total_epsilon,
)
from dpfair_lib.privacy.grid_noise import discrete_distance, grid_statement


def of_gaussian(epsilon, ratio):
    """Return δ(ε) of the pair N(0, 1), N(ratio, 1), at any real ε."""
    return norm.cdf(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * norm.cdf(-ratio / 2 - epsilon / ratio)


def exact(epsilons, ratio, delta):
    """Return the least ε of randomised responses and one Gaussian release, by a sum over all answers."""

    def profile(at):
        total = 0.0
        for signs in itertools.product((1, -1), repeat=len(epsilons)):
            lost = sum(s * e for s, e in zip(signs, epsilons, strict=True))
            weight = math.prod(1 / (1 + math.exp(-s * e)) for s, e in zip(signs, epsilons, strict=True))
            total += weight * (of_gaussian(at - lost, ratio) if ratio else max(1 - math.exp(at - lost), 0))
        return total - delta

    return brentq(profile, 0, sum(epsilons) + 20 * ratio + 1, xtol=1e-12)


@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-2])
def test_gaussian_releases_are_one_with_the_root_of_the_sum_of_squares(delta):
    ratios = [0.3, 0.1, 0.7]
    found = total_epsilon([Mechanism("gaussian", r) for r in ratios], delta)
    assert found == pytest.approx(gaussian_epsilon(delta, 1.0, math.sqrt(0.59)), rel=1e-12)
    assert total_epsilon([Mechanism("gaussian", 0.1, steps=9)], delta) == pytest.approx(
        gaussian_epsilon(delta, 1.0, 0.3), rel=1e-12
    )


@pytest.mark.parametrize(
    ("epsilons", "ratio"),
    [
        ([0.1] * 10, 0.0),
        ([0.5, 0.1, 0.05, 0.3, 0.2], 0.0),
        ([0.2, 0.4], 0.5),
        ([1.0], 0.1),
        ([0.01] * 3, 2.0),
    ],
)
@pytest.mark.parametrize("delta", [1e-8, 1e-4])
def test_stated_and_gaussian_releases_against_the_sum_over_all_answers(epsilons, ratio, delta):
    releases = [Mechanism("stated", e) for e in epsilons] + ([Mechanism("gaussian", ratio)] if ratio else [])
    least, found = exact(epsilons, ratio, delta), total_epsilon(releases, delta)
    assert least * (1 - 1e-9) <= found <= least * (1 + 1e-3) + 1e-6


@pytest.mark.parametrize(("epsilon", "own", "releases"), [(0.5, 1e-6, 4), (0.1, 1e-7, 30), (0.3, 0.0, 20)])
def test_stated_deltas_fail_openly(epsilon, own, releases):
    optimal = optimal_composition_epsilon(epsilon, own, releases, 1e-5)
    found = total_epsilon([Mechanism("stated", epsilon, own)] * releases, 1e-5)
    assert optimal * (1 - 1e-9) <= found <= optimal * (1 + 1e-3)
    assert total_epsilon([Mechanism("stated", epsilon, 2e-5)], 1e-5) == math.inf


@pytest.mark.parametrize(("epsilon", "releases"), [(0.1, 100), (0.5, 7), (1.0, 2)])
def test_laplace_releases_between_two_bounds(epsilon, releases):
    found = total_epsilon([Mechanism("laplace", epsilon)] * releases, 1e-5)
    assert laplace_composition_delta(epsilon, releases, found)[0] <= 1e-5
    assert laplace_composition_delta(epsilon, releases, found * 0.995 - 1e-4, cells=2000)[1] > 1e-5
    assert found < optimal_composition_epsilon(epsilon, 0.0, releases, 1e-5)


@pytest.mark.parametrize("rate", [1.0, 0.3, 1e-6])
@pytest.mark.parametrize("ratio", [1e-3, 0.7, 9.0, 28.7, 28.8, 29.5, 1e3, 1e150])
def test_the_widest_loss_that_counts_is_a_number_however_little_noise_there_is(ratio, rate):
    step = Mechanism("poisson-gaussian", ratio, rate=rate, relation="add-remove")
    exponent = mpmath.mpf(10 * ratio + ratio**2 / 2)
    least = mpmath.log1p(rate * mpmath.expm1(exponent))
    found = mechanisms._widest(step)
    assert found >= least * (1 - 1e-12)
    assert found == pytest.approx(float(least if exponent < 700 else exponent), rel=1e-12)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("ratio", "rate", "steps"), [(1.0, 0.01, 300), (0.5, 0.2, 20), (2.0, 0.05, 10)])
def test_steps_of_dp_sgd_as_the_accountant_has_them(relation, ratio, rate, steps):
    found = total_epsilon(
        [Mechanism("poisson-gaussian", ratio, rate=rate, steps=steps, relation=relation)], 1e-5
    )
    assert found == pytest.approx(
        dp_sgd_epsilon(1 / ratio, rate, steps, 1e-5, "pld", relation=relation), rel=2e-3
    )
    assert found >= dp_sgd_epsilon_lower_bound(1 / ratio, rate, steps, 1e-5, relation=relation)


@pytest.mark.parametrize("sort", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("ratio", "steps"), [(0.5, 1), (0.2, 10), (1.0, 3)])
@pytest.mark.parametrize("beside", [0.0, 0.4])
def test_steps_on_all_rows_are_gaussian_releases_of_the_relations_own_distance(sort, ratio, steps, beside):
    # a record that is replaced moves the sum of clipped gradients by twice the norm that clips them
    moved = (2 if sort == "replace-one" else 1) * ratio
    releases = [Mechanism("poisson-gaussian", ratio, rate=1.0, steps=steps, relation=sort)]
    releases += [Mechanism("gaussian", beside)] if beside else []
    least = gaussian_epsilon(1e-5, 1.0, math.sqrt(moved**2 * steps + beside**2))
    assert least * (1 - 1e-9) <= total_epsilon(releases, 1e-5) <= least * (1 + 1e-3)


def laplace_losses(ratio, cells):
    """Return the losses of a Laplace release on a grid, each moved down, and their probabilities."""
    edges = np.linspace(-ratio, ratio, 2 * cells + 1)
    law = np.append(np.diff(np.exp((edges - ratio) / 2)) / 2, 0.5)
    law[0] += math.exp(-ratio) / 2
    return edges, law


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 0.25), (0.05, 2.0)])
def test_a_laplace_vector_is_dominated_by_one_coordinate(a, b):
    (one, chances), (other, weights) = laplace_losses(a, 1500), laplace_losses(b, 1500)
    for epsilon in np.linspace(0, a + b, 13):
        lost = np.add.outer(one, other)
        shown = np.outer(chances, weights)[lost > epsilon] @ -np.expm1(epsilon - lost[lost > epsilon])
        assert shown <= 1 - math.exp((epsilon - a - b) / 2) + 1e-12
    # a coordinate that moves by less than the sum would not dominate it
    assert shown == pytest.approx(0, abs=1e-12)
    lost = np.add.outer(one, other)
    assert np.outer(chances, weights)[lost > 0] @ -np.expm1(-lost[lost > 0]) > 1 - math.exp(-max(a, b) / 2)


def test_a_distance_is_paid_for_twice():
    release = Mechanism("gaussian", 0.3)
    for distance in (1e-9, 1e-7, 1e-6):
        found = total_epsilon([Mechanism("gaussian", 0.3, distance=distance)], 1e-5)
        spent = of_gaussian(found, 0.3) + (1 + math.exp(found)) * distance
        assert 0.99e-5 <= spent <= 1e-5
        assert found > total_epsilon([release], 1e-5)
    assert total_epsilon([Mechanism("gaussian", 0.3, distance=1e-5)], 1e-5) == math.inf


def test_a_statement_is_never_below_its_own_mechanism():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    for kind, delta in (("analytic", 1e-5), ("laplace", 0.0)):
        model = dpf.OutputPerturbation(
            regularization=0.1, feature_bound=1.0, epsilon=0.7, delta=delta, noise_kind=kind
        ).fit(X, y)
        statement = model.privacy_statement_
        at = statement.delta or 1e-12
        assert total_epsilon(statement.mechanism, at) <= 0.7 * (1 + 2e-3)
        assert total_epsilon(statement.mechanism, at) >= 0.7 * (1 - 2e-3)
    steps = grid_statement(1.0, 0.01, 100, 5, 1e-5)
    (mechanism,) = steps.mechanism
    # without a tolerance of its own, approx takes any two numbers below 1e-12 for equal
    assert mechanism.distance == pytest.approx(500 * float(discrete_distance(2.0**40)), rel=1e-12, abs=0)
    assert total_epsilon(steps.mechanism, 1e-5) == pytest.approx(steps.epsilon, rel=2e-3)


def test_twenty_fixed_releases_cost_less_than_their_sum():
    one = dpf.PrivacyStatement(
        0.5, 1e-6, "replace-one", mechanism=(Mechanism("gaussian", 1 / dpf.gaussian_sigma(0.5, 1e-6, 1.0, "analytic")),)
    )  # fmt: skip
    tight = dpf.compose(*[one] * 20, delta=1e-6)
    assert (tight.epsilon, tight.delta) == (pytest.approx(2.53, abs=0.01), 1e-6)
    assert tight.guarantee
    assert "tight total of 20 parts" in str(tight)
    assert dpf.compose(*[one] * 20).epsilon == 10
    # a total of totals, and a part that names no mechanism
    nested = dpf.compose(dpf.compose(*[one] * 10), dpf.compose(*[one] * 10, delta=1e-7), delta=1e-6)
    assert nested.epsilon == pytest.approx(tight.epsilon)
    plain = dpf.PrivacyStatement(0.25, 0.0, "replace-one")
    assert tight.epsilon < dpf.compose(*[one] * 20, plain, delta=1e-6).epsilon < tight.epsilon + 0.25


def test_the_sum_is_taken_where_it_is_less():
    plain = dpf.PrivacyStatement(0.5, 1e-6, "replace-one")
    assert dpf.compose(plain, delta=1e-6).epsilon == 0.5
    with pytest.raises(ValueError, match="delta: found 1e-07, expected more than the parts fail by openly"):
        dpf.compose(plain, delta=1e-7)
    with pytest.raises(ValueError, match="delta: found 1e-06 beside parallel='coin'"):
        dpf.compose(plain, plain, parallel="coin", delta=1e-6)
    with pytest.raises(ValueError, match="delta: found 2"):
        dpf.compose(plain, delta=2.0)


def test_what_is_known_of_a_mechanism_goes_where_it_still_holds():
    release = dpf.PrivacyStatement(0.3, 0.0, "replace-one", mechanism=(Mechanism("laplace", 0.3),))
    assert convert(release, "replace-within-group").mechanism == release.mechanism
    added = dpf.PrivacyStatement(0.3, 0.0, "add-remove", mechanism=(Mechanism("laplace", 0.3),))
    assert convert(added, "replace-one").mechanism == ()  # it costs twice as much there
    assert dpf.compose(release, release, parallel="coin").mechanism == ()
    assert dpf.compose(release, dpf.PrivacyStatement(0.1, 0.0, "replace-one")).mechanism == (
        Mechanism("laplace", 0.3), Mechanism("stated", 0.1)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"kind": "cauchy"}, "kind"), ({"ratio": 0.0}, "ratio"), ({"delta": 1.0}, "delta"), ({"steps": 0}, "steps"),
        ({"rate": 0.0}, "rate"), ({"distance": -1.0}, "distance"), ({"kind": "poisson-gaussian"}, "relation"),
    ],
)  # fmt: skip
def test_bad_mechanisms_are_named(changed, name):
    with pytest.raises(ValueError, match=f"^{name}: found"):
        Mechanism(**({"kind": "gaussian", "ratio": 1.0} | changed))
    with pytest.raises(ValueError, match="mechanisms: found none"):
        total_epsilon([], 1e-5)
    with pytest.raises(ValueError, match="mechanism: found"):
        dpf.PrivacyStatement(0.3, 0.0, "replace-one", mechanism=(0.3,))


def test_wrong_pairs_are_caught(monkeypatch):
    # a discretisation that rounds losses down, and a stated δ that is forgotten
    exact_pairs = mechanisms._distribution

    def forgetful(mechanism, interval):
        return exact_pairs(Mechanism(mechanism.kind, mechanism.ratio), interval)

    mechanisms._composed.cache_clear()
    monkeypatch.setattr(mechanisms, "_distribution", forgetful)
    try:
        assert total_epsilon([Mechanism("stated", 0.5, 3e-6)] * 3, 1e-5) < optimal_composition_epsilon(
            0.5, 3e-6, 3, 1e-5
        )
    finally:
        mechanisms._composed.cache_clear()


@pytest.mark.parametrize("steps", [np.uint8(200), np.int8(100), np.uint16(40_000), np.int64(200)])
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_steps_of_narrow_integers_do_not_wrap(kind, steps):
    # NumPy would count twice 200 steps as 144
    ratio = 1e-3
    narrow, wide = Mechanism(kind, ratio, steps=steps), Mechanism(kind, ratio, steps=int(steps))
    assert narrow == wide
    assert type(narrow.steps) is int
    assert total_epsilon([narrow, narrow], 1e-5) == total_epsilon([wide, wide], 1e-5)
    budgets = [dpf.Budget(9.0, 1e-3, "replace-one", composition="gaussian") for _ in range(2)]
    for budget, one in zip(budgets, (narrow, wide), strict=True):
        budget.spend(dpf.PrivacyStatement(9.0, 1e-3, "replace-one", mechanism=(one,)))
    assert budgets[0].remaining == budgets[1].remaining


@pytest.mark.parametrize(
    "number", [np.float32(0.1), np.float16(0.1), np.longdouble(1) / 3, Fraction(1, 3), np.int8(1), 1]
)
def test_numbers_of_any_kind_are_rounded_up_to_pythons(number):
    mechanism = Mechanism("stated", number)
    assert type(mechanism.ratio) is float
    exact = Fraction(1) if number == 1 else Fraction(*number.as_integer_ratio())
    assert exact <= Fraction(mechanism.ratio) <= exact * (1 + Fraction(1, 2**52))
    step = Mechanism("poisson-gaussian", 0.5, rate=number, relation="add-remove", distance=number)
    assert step.rate == step.distance == mechanism.ratio
    assert Mechanism("gaussian", number) == Mechanism("gaussian", mechanism.ratio)


@pytest.mark.parametrize("kind", ["gaussian", "laplace", "poisson-gaussian"])
def test_only_a_stated_release_fails_openly(kind):
    # total_epsilon would forget the delta of the others
    with pytest.raises(ValueError, match=rf"delta: found 0.1 beside kind='{kind}'.*'stated', 0, delta"):
        Mechanism(kind, 0.5, 0.1, relation="add-remove")
    assert total_epsilon([Mechanism("gaussian", 0.5), Mechanism("stated", 0, 0.1)], 1e-6) == math.inf


@pytest.mark.parametrize("rate", ["1", 1 + 0j, math.nan, True, None, 0, 1.5, -0.1])
def test_a_rate_is_a_number(rate):
    with pytest.raises(ValueError, match="rate: found"):
        Mechanism("poisson-gaussian", 0.5, rate=rate, relation="add-remove")
