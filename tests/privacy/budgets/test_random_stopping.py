"""Random stopping against exact laws: a base mechanism with few outputs, and the law of the best of K of them.

If f(x) = E x^K and F is the distribution function of one output in the order, the best is at most y with probability
f(F(y)). So its law is exact, in fractions where f is rational, whatever K is.
"""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp

from dpfair_lib import privacy

F = Fraction


def generating(shape, success):
    """Return x ↦ E x^K; exact for a whole shape of at least 1."""
    if shape == 0:
        return lambda x: math.log1p(-(1 - float(success)) * float(x)) / math.log(success)

    def found(x):
        kept = 1 - (1 - success) * x
        return (kept ** (-shape) - 1) / (success ** (-shape) - 1)

    return found


def selected(law, f):
    """Return the law of the best of K outputs; the last output is the best. P(K = 0) is left out."""
    below = [F(0), *itertools.accumulate(law)]
    values = [f(x) for x in below]
    return [high - low for low, high in itertools.pairwise(values)]


def largest_ratio(one, other):
    return max(max(a / b, b / a) for a, b in zip(one, other, strict=True))


def divergence(one, other, order, nothing=0.0):
    """Return the larger of the Rényi divergences in both directions; `nothing` is the chance of no output."""
    if nothing:
        one, other = [*one, nothing], [*other, nothing]
    logs = np.log([[float(x) for x in law] for law in (one, other)])
    return max(logsumexp(order * a + (1 - order) * b) / (order - 1) for a, b in (logs, logs[::-1]))


def close_laws(count=200, outputs=4):
    """Return pairs of laws in fractions, some with a rare best output, where stopping costs most."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        weights = [F(int(w)) for w in rng.integers(1, 40, outputs)]
        if rng.random() < 0.5:
            weights[-1] /= 10 ** int(rng.integers(1, 5))
        factors = [F(int(rng.integers(8, 17)), 8) for _ in weights]
        pair = weights, [w * f for w, f in zip(weights, factors, strict=True)]
        yield tuple([w / sum(law) for w in law] for law in pair)


PAIRS = list(close_laws())


def tight(ratio, released, better):
    """Return laws of three outputs: the middle one is likelier on one side, the best one on the other."""
    one = [1 - ratio * released - better, ratio * released, better]
    other = [1 - released - ratio * better, released, ratio * better]
    return one, other


TIGHT = [
    tight(F(3, 2), F(1, 10**8), F(1, 10**4)), tight(F(9, 8), F(1, 10**8), F(1, 10**4)),
    tight(F(3, 2), F(1, 10**6), F(1, 100)),
]  # fmt: skip


@pytest.mark.parametrize("shape", [1, 2, 3])
def test_pure_privacy_in_fractions(shape):
    for one, other in PAIRS + TIGHT:
        ratio = largest_ratio(one, other)
        for success in (F(1, 2), F(1, 10), F(1, 1000)):
            f = generating(shape, success)
            best = selected(one, f), selected(other, f)
            assert sum(best[0]) == sum(best[1]) == 1
            assert largest_ratio(*best) <= ratio ** (2 + shape)


@pytest.mark.parametrize("shape", [-0.9, -0.5, 0, 0.3, 1, 2.5])
def test_pure_privacy_for_every_shape(shape):
    for one, other in PAIRS + TIGHT:
        epsilon = privacy.stopped_epsilon(math.log(largest_ratio(one, other)), shape=shape)
        for success in (0.5, 0.1, 1e-3):
            f = generating(shape, success)
            best = selected([float(x) for x in one], f), selected([float(x) for x in other], f)
            assert math.log(largest_ratio(*best)) <= epsilon + 1e-9


@pytest.mark.parametrize("shape", [-0.5, 0, 1, 2])
@pytest.mark.parametrize("order", [1.5, 2.0, 8.0, 40.0])
def test_renyi_divergences(shape, order):
    for one, other in PAIRS[:60] + TIGHT:
        rho = divergence(one, other, order)
        for success in (0.5, 1e-2, 1e-4):
            f = generating(shape, success)
            exact = divergence(*(selected([float(x) for x in law], f) for law in (one, other)), order)
            for second in (1.0, 1.3, 4.0, math.inf):
                other_rho = (
                    math.log(largest_ratio(one, other)) if math.isinf(second)
                    else 0.0 if second == 1 else divergence(one, other, second)
                )  # fmt: skip
                bound = privacy.stopped_renyi(
                    order, rho, shape=shape, success=success, other_order=second, other_divergence=other_rho
                )
                assert exact <= bound + 1e-9


@pytest.mark.parametrize("order", [1.2, 2.0, 5.0])
@pytest.mark.parametrize("mean", [0.1, 1.0, 1.5, 10.0, 300.0])
def test_poisson_stopping(order, mean):
    held = 0
    for one, other in PAIRS + TIGHT:
        epsilon = math.log(largest_ratio(one, other))
        if epsilon > math.log1p(1 / (order - 1)):
            continue
        held += 1
        best = [
            selected([float(x) for x in law], lambda x: math.exp(mean * (float(x) - 1)))
            for law in (one, other)
        ]
        exact = divergence(*best, order, nothing=math.exp(-mean))
        bound = privacy.poisson_stopped_renyi(
            order, divergence(one, other, order), mean=mean, epsilon=epsilon * (1 - 1e-11), delta=0.0
        )
        assert exact <= bound + 1e-9
    assert held >= 3


def fails(shape, of_pure, of_runs, orders=(1.5, 2.0, 8.0, 40.0)):
    """Return whether some exact law has more than ρ + of_pure · ε + of_runs · ln(E K)/(λ − 1)."""
    for one, other in PAIRS[:60] + TIGHT:
        pure = math.log(largest_ratio(one, other))
        for success, order in itertools.product((0.5, 1e-2, 1e-4), orders):
            f = generating(shape, success)
            exact = divergence(*(selected([float(x) for x in law], f) for law in (one, other)), order)
            runs = math.log(privacy.mean_runs(shape, success)) / (order - 1)
            if exact > divergence(one, other, order) + of_pure * pure + of_runs * runs + 1e-9:
                return True
    return False


@pytest.mark.parametrize("shape", [0, 1, 2])
def test_wrong_formulas_are_noticed(shape):
    assert not fails(shape, 1 + shape, 1)
    assert fails(shape, 0, 0)  # nothing for stopping
    assert fails(shape, 0.2, 0)  # nothing for the number of runs


@pytest.mark.parametrize("shape", [1, 2, 3])
def test_no_smaller_factor_holds(shape):
    ratio = F(3, 2)
    one, other = tight(ratio, F(1, 10**12), F(1, 10**6))
    assert largest_ratio(one, other) == ratio
    f = generating(shape, F(1, 10**12))
    found = largest_ratio(selected(one, f), selected(other, f))
    assert 0.999 * (2 + shape) < math.log(found) / math.log(ratio) <= 2 + shape


def published(order, rho, mean, delta):
    """Return the bound of Papernot and Steinke (2022)."""
    return rho + mean * delta + math.log(mean) / (order - 1)


def test_poisson_below_1_where_the_published_bound_is_false():
    """A mechanism that releases nothing has divergence 0, and ln μ is negative."""
    law = [F(1, 2), F(1, 2)]
    best = selected([float(x) for x in law], lambda x: math.exp(0.5 * (float(x) - 1)))
    exact = divergence(best, best, 2.0, nothing=math.exp(-0.5))
    assert exact == pytest.approx(0, abs=1e-12)
    assert exact > published(2.0, 0.0, 0.5, 0.0)
    assert privacy.poisson_stopped_renyi(2.0, 0.0, mean=0.5, epsilon=0.0, delta=0.0) == 0


def test_the_poisson_bound_is_at_most_the_published_one_and_its_formula():
    rng = np.random.default_rng(2)
    for _ in range(300):
        order, rho, mean = 1 + 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-6, 2), 10 ** rng.uniform(-3, 3)
        delta = 10 ** rng.uniform(-9, -2)
        found = privacy.poisson_stopped_renyi(order, rho, mean=mean, epsilon=0.0, delta=delta)
        if mean >= 1:
            assert found <= published(order, rho, mean, delta) * (1 + 1e-11)
        with localcontext(prec=60):
            a, m, d = Decimal(order) - 1, Decimal(mean), Decimal(delta)
            exact = (1 + m * (m * a * d).exp() * ((a * Decimal(rho)).exp() - 1)).ln() / a
        assert exact <= Decimal(found) <= exact * (1 + Decimal("1e-11"))


@pytest.mark.parametrize("tiny", [1e-308, 5e-324, 1e-200])
def test_a_tiny_divergence_is_not_lost(tiny):
    for order in (1 + 1e-12, 2.0, 1e6):
        found = privacy.poisson_stopped_renyi(order, tiny, mean=7.0, epsilon=0.0, delta=0.0)
        assert found >= 7 * tiny
        assert privacy.poisson_stopped_renyi(order, tiny, mean=tiny, epsilon=0.0, delta=0.0) > 0


@pytest.mark.parametrize("shape", [-0.9, -0.5, 0.0, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("success", [0.9, 0.3, 0.05])
def test_the_mean_is_that_of_the_law(shape, success):
    """By its definition: P(K = k) in proportion to (1 − γ)^k Γ(k + η)/k!."""
    k = np.arange(1, 3000)
    logs = k * math.log(1 - success) + np.array(
        [math.lgamma(i + shape) - math.lgamma(i + 1) for i in k.tolist()]
    )
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    assert privacy.mean_runs(shape, success) == pytest.approx(float((k * weights).sum()), rel=1e-9)
    # and the generating function is that of the law
    for x in (0.2, 0.7, 0.99):
        assert generating(shape, success)(x) == pytest.approx(float((weights * x**k).sum()), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: privacy.mean_runs(-1, 0.5), "shape: found -1, expected a finite number above −1"),
        (lambda: privacy.mean_runs(math.inf, 0.5), "shape: found inf"),
        (lambda: privacy.mean_runs(1, 1), r"success: found 1, expected a number in \(0, 1\)"),
        (lambda: privacy.mean_runs(1, 1e-301), r"success: found 1e-301, expected at least 1e-300"),
        (lambda: privacy.stopped_epsilon(-0.1, shape=1), "epsilon: found -0.1"),
        (
            lambda: privacy.stopped_renyi(1, 0, shape=1, success=0.5, other_order=2, other_divergence=0),
            "order: found 1",
        ),
        (
            lambda: privacy.stopped_renyi(2, 0, shape=1, success=0.5, other_order=0.9, other_divergence=0),
            "other_order: found 0.9",
        ),
        (
            lambda: privacy.poisson_stopped_renyi(3, 0.1, mean=2, epsilon=0.41, delta=0),
            r"epsilon: found 0\.41, expected at most ln\(1 \+ 1/\(order − 1\)\)",
        ),
    ],
)
def test_what_is_out_of_range_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_infinite_costs_stay_infinite():
    assert math.isinf(privacy.stopped_epsilon(math.inf, shape=0))
    assert math.isinf(
        privacy.stopped_renyi(2, math.inf, shape=0, success=0.5, other_order=2, other_divergence=0)
    )
    assert math.isinf(privacy.poisson_stopped_renyi(2, math.inf, mean=1, epsilon=0, delta=0))
    assert math.isinf(
        privacy.stopped_renyi(2, 0, shape=1e10, success=1e-300, other_order=2, other_divergence=0)
    )


@pytest.mark.parametrize("success", [0.9999999, 0.3, 1e-3, 1e-300])
def test_the_mean_at_shapes_that_nearly_vanish_and_at_the_least_success(success):
    """η(1 − γ)/(γ(1 − γ^η)) by Decimal with 1,000 digits, so that nothing cancels or leaves the range."""
    with localcontext(prec=1000, Emin=-(10**6), Emax=10**6):
        g = Decimal(success)
        for shape in (5e-324, 1e-323, 1e-310, -1e-320, 1e-16, -1e-9, -0.9999, -0.5, 700.0):
            eta = Decimal(shape)
            exact = eta * (1 - g) / (g * (1 - (eta * g.ln()).exp()))
            assert privacy.mean_runs(shape, success) == pytest.approx(float(exact), rel=1e-12, abs=0)
    assert privacy.mean_runs(0, 0.3) == pytest.approx(privacy.mean_runs(1e-20, 0.3), rel=1e-12, abs=0)


def test_the_result_is_at_least_the_exact_product():
    rng = np.random.default_rng(1)
    for epsilon, shape in rng.random((200, 2)).tolist():
        assert F(privacy.stopped_epsilon(epsilon, shape=shape)) >= (2 + F(shape)) * F(epsilon)


@pytest.mark.parametrize("kind", [int, np.int64, np.float16, np.float32, np.longdouble, Fraction])
def test_numbers_of_every_kind_give_what_floats_give(kind):
    two, one = kind(2), kind(1)  # of a narrow kind, sums would lose digits
    success, tenth = 0.3, 0.1
    assert privacy.mean_runs(two, success) == privacy.mean_runs(2.0, success)
    assert privacy.stopped_epsilon(one, shape=two) == privacy.stopped_epsilon(1.0, shape=2.0)
    given = {"shape": one, "success": success, "other_order": two, "other_divergence": one}
    floats = {name: float(value) for name, value in given.items()}
    assert privacy.stopped_renyi(two, one, **given) == privacy.stopped_renyi(2.0, 1.0, **floats)
    found = privacy.poisson_stopped_renyi(two, one, mean=two, epsilon=tenth, delta=1e-6)
    assert found == privacy.poisson_stopped_renyi(2.0, 1.0, mean=2.0, epsilon=tenth, delta=1e-6)
    results = [privacy.mean_runs(two, success), privacy.stopped_epsilon(one, shape=two), found]
    assert all(type(result) is float for result in results)


FUNCTIONS = {
    privacy.mean_runs: {"shape": 0.5, "success": 0.5},
    privacy.stopped_epsilon: {"epsilon": 0.5, "shape": 0.5},
    privacy.stopped_renyi: {
        "order": 2.0, "divergence": 0.1, "shape": 0.5, "success": 0.5, "other_order": 3.0, "other_divergence": 0.2,
    },
    privacy.poisson_stopped_renyi: {"order": 2.0, "divergence": 0.1, "mean": 2.0, "epsilon": 0.1, "delta": 0.01},
}  # fmt: skip
LEAST = {"shape": -1.0, "success": 0.0, "order": 1.0, "mean": 0.0}  # not allowed themselves; else 0 is, or 1


@pytest.mark.parametrize(
    ("function", "name"), [(function, name) for function, given in FUNCTIONS.items() for name in given]
)
def test_every_argument_is_refused_below_its_least_and_if_it_is_no_number(function, name):
    given = FUNCTIONS[function]
    least = 1.0 if name == "other_order" else LEAST.get(name, 0.0)
    below = least if name in LEAST else math.nextafter(least, -math.inf)
    assert function(**given | {name: math.nextafter(max(least, 1e-300), math.inf)}) >= 0
    for bad in (below, -math.inf, math.nan, True, "1", None):
        with pytest.raises(ValueError, match=f"^{name}: found"):
            function(**given | {name: bad})
