"""What a user of the k-ary solver relies on, judged without it: feasible, proved, in time, and nothing raised."""

import itertools
import math
import time
import types
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog

from dpfair_lib import optimal_randomizer, smallest_error
from dpfair_lib.local import Randomizer, fair_error_bounds, smallest_fair_error, verify_certificate
from dpfair_lib.local import optimal_certificate as certificates
from dpfair_lib.local import optimal_columns as columns
from dpfair_lib.local import optimal_interior as interior
from dpfair_lib.local.optimal_certificate import Multipliers, lagrangian_bound, lower_bound
from dpfair_lib.local.optimal_easy import first_channel
from dpfair_lib.local.optimal_program import Program, as_program

METHODS = ("interior", "columns", "dinkelbach", "bisection")
KINDS = ("even", "Dirichlet", "sparse", "power law", "tiny")
RATES = ("any", "two", "labels", "one", "small", "near")
EPSILONS = (0.0, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, "ln k + 1", 6.0, 12.0, 20.0, 100.0, math.inf)


def draw(seed, k=None):
    """Return shares, rates and ε of one of many kinds."""
    rng = np.random.default_rng(seed)
    k = k or int(rng.integers(2, 13))
    kind, rate, epsilon = (options[rng.integers(len(options))] for options in (KINDS, RATES, EPSILONS))
    p = {
        "even": np.ones(k), "Dirichlet": rng.dirichlet(np.full(k, 2.0)), "power law": 1 / np.arange(1.0, k + 1),
        "sparse": np.maximum(rng.dirichlet(np.full(k, 0.3)), 1e-6), "tiny": 10 ** rng.uniform(-8, 0, k),
    }[kind]  # fmt: skip
    uniform = rng.uniform(size=k)
    p1 = {
        "any": 0.05 + 0.55 * uniform, "two": np.where(uniform < 0.5, 0.2, 0.7), "labels": 1.0 * (uniform < 0.4),
        "one": np.full(k, 0.3), "small": 1e-3 * uniform, "near": 0.3 + 1e-6 * uniform,
    }[rate]  # fmt: skip
    p1[0], p1[-1] = (1.0, 0.0) if rate == "labels" else (p1[0], 0.8 * p1[-1])
    return p / p.sum(), p1, math.log(k) + 1 if epsilon == "ln k + 1" else epsilon


def flaws(channel, p, p1, epsilon, error):
    """Say which promises a channel does not keep; ε by rational arithmetic, the others to 1e-13."""
    q, found = channel.matrix, []
    truth = np.diagonal(q)
    for what, miss in (
        ("negative", -q.min()),
        ("row sums", abs(q.sum(axis=1) - 1).max()),
        ("columns", (q.max(axis=0) - truth).max()),
        ("rows", (q.max(axis=1) - truth).max()),
        ("budget", 1 - p @ truth - error),
        ("value", abs(channel.value - unfairness(q, p, p1)) / max(1, channel.value) - 1e-12),
        ("bound", channel.certificate.lower - channel.value * (1 + 1e-13)),
    ):
        if not miss <= 1e-13:
            found.append(what)
    with mpmath.workprec(200):
        largest = mpmath.exp(mpmath.mpf(epsilon))
        for column in q.T:
            high, low = (Fraction(float(end)) for end in (column.max(), column.min()))
            if math.isfinite(epsilon) and mpmath.mpf(high.numerator) / high.denominator > (
                largest * low.numerator / low.denominator
            ):
                found.append("epsilon")
                break
    return found


def unfairness(q, p, p1):
    """Return Δ of the channel in rational arithmetic."""
    q, p, p1 = (np.array([Fraction(float(x)) for x in a.ravel()]).reshape(a.shape) for a in (q, p, p1))
    p = p / p.sum()
    overall = p @ p1
    return float(max(abs((p * p1) @ q / (p @ q) / overall - 1)))


def budget(p, p1, epsilon, share):
    least = smallest_error(p, epsilon)
    return least + share * max(smallest_fair_error(p, p1, epsilon) - least, 0.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first", [0, 1000])
def test_no_instance_raises_and_every_channel_keeps_its_promises(method, first):
    for seed in range(first, first + 30):
        p, p1, epsilon = draw(seed)
        error = budget(p, p1, epsilon, (0, 1e-6, 0.25, 0.5, 0.9, 1)[seed % 6])
        channel = optimal_randomizer(p, p1, epsilon, error=error, method=method, tol=1e-8, time_limit=2.0)
        assert flaws(channel, p, p1, epsilon, error) == [], seed
        assert channel.certificate.ended in {"closed", "time", "rounding"}
        closed = channel.certificate.gap <= 1e-8 * max(1, channel.value)
        assert closed == (channel.certificate.ended == "closed")
        if epsilon <= 12 and p.min() >= 1e-6:
            assert channel.certificate.gap <= 1e-6 * max(1, channel.value), seed


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (lambda q: q * (1 - 1e-12), "row sums"),
        (lambda q: (1 - 1e-12) * q + 1e-12 * np.eye(len(q)), "epsilon"),
        (lambda q: (1 - 1e-10) * q + 1e-10 / len(q), "budget"),
        (lambda q: q[::-1], "columns"),
        (lambda q: np.roll(q, 1, axis=1), "rows"),
    ],
)
def test_a_channel_that_breaks_a_promise_is_noticed(broken, what):
    p, p1, epsilon = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.6, 0.9]), 3.0
    error = budget(p, p1, epsilon, 0.0)
    good = optimal_randomizer(p, p1, epsilon, error=error)
    assert flaws(good, p, p1, epsilon, error) == []
    bad = types.SimpleNamespace(matrix=broken(good.matrix), value=good.value, certificate=good.certificate)
    assert what in flaws(bad, p, p1, epsilon, error)


def test_a_wrong_value_or_bound_is_noticed():
    p, p1, epsilon = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.6, 0.9]), 1.0
    error = budget(p, p1, epsilon, 0.5)
    good = optimal_randomizer(p, p1, epsilon, error=error)
    for change, what in (({"value": good.value - 1e-9}, "value"), ({"lower": good.value + 1e-9}, "bound")):
        certificate = replace(good.certificate, **change)
        bad = Randomizer(good.matrix, value=certificate.value, certificate=certificate)
        assert what in flaws(bad, p, p1, epsilon, error)


def test_epsilon_would_be_exceeded_by_rounding_alone(monkeypatch):
    """With e^(−ε) as floats have it, a quarter of the channels are less private than asked, by 1e-16."""
    monkeypatch.setattr("dpfair_lib.local.optimal_program.privacy_ratio", lambda epsilon: math.exp(-epsilon))
    found = []
    for seed in range(40):
        p, p1, epsilon = draw(seed, k=5)
        if 0 < epsilon < 12:
            channel = optimal_randomizer(p, p1, epsilon, error=0.7 if epsilon > 1 else 0.8, tol=1e-6)
            found += flaws(channel, p, p1, epsilon, 0.8)
    assert "epsilon" in found


def random_multipliers(rng, k):
    scale = 10 ** rng.uniform(-3, 3)
    part = [scale * rng.exponential(size=k) * (rng.uniform(size=k) < 0.6) for _ in range(2)]
    caps = [scale * rng.exponential(0.1, (k, k)) * (rng.uniform(size=(k, k)) < 0.3) for _ in range(2)]
    return Multipliers(
        t=rng.uniform(), above=part[0], below=part[1], truth=scale * rng.exponential(), rows=scale * rng.normal(size=k),
        column_caps=caps[0], row_caps=caps[1],
    )  # fmt: skip


def exactly(x):
    """Return floats as fractions, entry by entry."""
    x = np.asarray(x)
    return np.array([Fraction(float(one)) for one in x.ravel()], dtype=object).reshape(x.shape)


def excess_of_floats(seeds):
    """Return by how much bounds in floats are above the same bounds in rational arithmetic."""
    above = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 9))
        program = as_program(rng.dirichlet(np.full(k, 0.5)), rng.uniform(size=k), rng.uniform(0.1, 6), 0.9)
        m = random_multipliers(rng, k)
        p = exactly(program.p)
        exact = Program(
            p / p.sum(), exactly(program.p1), Fraction(program.x), Fraction(program.error)
        )  # the shares, that floats let sum to nearly 1
        fields = {
            name: exactly(getattr(m, name)) for name in ("above", "below", "rows", "column_caps", "row_caps")
        }
        true = replace(m, t=Fraction(m.t), truth=Fraction(m.truth), **fields)
        above.append(float(Fraction(float(lagrangian_bound(program, m))) - lagrangian_bound(exact, true)))
        above.append(float(Fraction(float(lower_bound(program, m))) - lower_bound(exact, true)))
    return np.array(above)


def test_no_bound_in_floats_is_above_the_exact_one(monkeypatch):
    assert (excess_of_floats(range(150)) <= 0).all()
    monkeypatch.setattr(certificates, "_rounding", lambda *_: 0.0)  # without what is taken off for rounding
    assert (excess_of_floats(range(150)) > 0).mean() > 0.2


@pytest.mark.parametrize("method", METHODS)
def test_bounds_enclose_an_optimum_known_exactly(method):
    """The least Δ is (√13 − 1)/12 at these shares, rates and e^ε = 2, with half of the reports false."""
    arguments = [1 / 2, 1 / 3, 1 / 6], [0, 1 / 2, 1], math.log(2)
    channel = optimal_randomizer(*arguments, error=0.5, method=method)

    def below(number):
        return (12 * Fraction(number) + 1) ** 2 <= 13

    assert below(channel.certificate.lower)
    assert not below(channel.value + 1e-15)
    assert channel.certificate.gap <= 1e-9
    assert not below(channel.certificate.lower + 2e-9)  # a bound too high by so little would be noticed


def least_by_plain_programs(p, p1, epsilon, error):
    """Return the least Δ by bisection over linear programs in the entries themselves, with nothing of the library."""
    k, x, overall = len(p), math.exp(-epsilon), p @ p1
    entry = np.eye(k * k).reshape(k, k, k * k)
    limits = [
        row
        for i, j in itertools.permutations(range(k), 2)
        for row in (x * entry[j, j] - entry[i, j], entry[i, j] - entry[j, j], entry[i, j] - entry[i, i])
    ]
    truth = -sum(p[i] * entry[i, i] for i in range(k))
    biased = [sum(p[i] * (p1[i] - overall) * entry[i, j] for i in range(k)) for j in range(k)]
    reported = [sum(p[i] * overall * entry[i, j] for i in range(k)) for j in range(k)]

    def excess(t):
        rows = [sign * n - t * d for n, d in zip(biased, reported, strict=True) for sign in (1, -1)]
        found = linprog(
            np.append(np.zeros(k * k), 1.0),
            A_ub=np.column_stack([[*limits, truth, *rows], [0.0] * (len(limits) + 1) + [-1.0] * len(rows)]),
            b_ub=np.append(np.zeros(len(limits)), [error - 1] + [0.0] * len(rows)),
            A_eq=np.column_stack([entry.sum(axis=1), np.zeros(k)]), b_eq=np.ones(k),
            bounds=[(0, 1)] * (k * k) + [(None, None)],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )  # fmt: skip
        return found.fun

    low, high = 0.0, 20.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 1e-12 else (low, middle)
    return high


@pytest.mark.parametrize("seed", range(6))
def test_bounds_enclose_the_optimum_of_plain_programs(seed):
    rng = np.random.default_rng(seed)
    k, epsilon = 2 + seed % 4, float(rng.uniform(0.3, 3))
    p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
    error = budget(p, p1, epsilon, 0.4)
    true = least_by_plain_programs(p, p1, epsilon, error)
    for method in ("interior", "columns"):
        channel = optimal_randomizer(p, p1, epsilon, error=error, method=method)
        assert channel.certificate.lower - 1e-8 <= true <= channel.value + 1e-8
        assert channel.certificate.gap <= 1e-8


class Clock:
    """A clock on which every look takes a second, or longer."""

    def __init__(self):
        self.now, self.look = 0.0, 1.0

    def monotonic(self):
        self.now += self.look
        return self.now


@pytest.mark.parametrize("method", ["interior", "columns", "dinkelbach", "bisection", "branch-and-bound"])
def test_no_step_begins_after_the_time_limit(method, monkeypatch):
    rng = np.random.default_rng(3)
    k = 3 if method == "branch-and-bound" else 30
    p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
    error = budget(p, p1, 3.0, 0.3)
    free = optimal_randomizer(p, p1, 3.0, error=error, method=method, tol=1e-9, time_limit=math.inf)
    assert free.certificate.ended == "closed"
    clock = Clock()
    for module in ("optimal", "optimal_interior", "optimal_columns", "optimal_levels", "optimal_branching"):
        monkeypatch.setattr(f"dpfair_lib.local.{module}.time", clock)
    channel = optimal_randomizer(p, p1, 3.0, error=error, method=method, tol=1e-9, time_limit=3.5)
    assert clock.now <= 12
    assert channel.certificate.gap > free.certificate.gap
    assert channel.certificate.ended == "time"
    assert flaws(channel, p, p1, 3.0, error) == []
    assert verify_certificate(channel, p, p1, 3.0, error=error) == pytest.approx(channel.certificate.gap)
    clock.look = 20.0
    usual = optimal_randomizer(p, p1, 3.0, error=error, method=method, tol=1e-9)
    assert usual.certificate.ended == "time"  # a minute, unless another limit is given


@pytest.mark.parametrize("method", ["interior", "columns", "dinkelbach", "bisection"])
def test_the_time_limit_holds_inside_one_program(method):
    rng = np.random.default_rng(0)
    p, p1 = rng.dirichlet(np.full(120, 2.0)), rng.uniform(0.05, 0.6, 120)
    started = time.process_time()
    channel = optimal_randomizer(
        p, p1, 1.0, error=smallest_error(p, 1.0) + 1e-4, method=method, time_limit=0.5
    )
    assert time.process_time() - started < 6  # one whole program would take minutes, to closure
    assert channel.certificate.ended == "time"
    assert flaws(channel, p, p1, 1.0, channel.certificate.error) == []


def test_every_linear_program_is_told_how_much_time_is_left():
    rng = np.random.default_rng(0)
    program = as_program(rng.dirichlet(np.full(9, 2.0)), rng.uniform(0.05, 0.6, 9), 1.0, 0.8)
    restricted = columns._Restricted(program, np.ones((9, 9), dtype=bool) ^ np.eye(9, dtype=bool))
    scale = program.overall * program.p
    for limit in (1e6, 10.0):
        assert restricted.solve(0.0, scale, time.monotonic() + limit) is not None
        told = restricted.highs.getOptionValue("time_limit")[1]
        assert 0.9 * limit <= told <= limit + restricted.highs.getRunTime()


def test_the_time_limit_of_the_fair_error():
    rng = np.random.default_rng(0)
    p, p1 = rng.dirichlet(np.full(40, 2.0)), rng.uniform(0.05, 0.6, 40)
    stopped, found = fair_error_bounds(p, p1, 3.0, time_limit=1e-9), fair_error_bounds(p, p1, 3.0)
    assert stopped.gap > 1e-3 > found.gap
    assert stopped.lower <= found.upper
    assert found.lower <= stopped.upper


def test_the_interior_finds_it_alone():
    """Without the columns that would go on where rounding ends it."""
    rng = np.random.default_rng(8)
    for k, epsilon in itertools.product((2, 3, 8, 25, 50), (0.5, 1.0, 2.0, "ln k + 1")):
        p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
        epsilon = math.log(k) + 1 if epsilon == "ln k + 1" else epsilon
        program = as_program(p, p1, epsilon, budget(p, p1, epsilon, 0.5))
        matrix, proof, rounds = interior.by_interior(
            program, first_channel(program), tol=1e-8, deadline=math.inf
        )
        assert program.ratio(matrix) - lower_bound(program, proof) <= 1e-8
        assert rounds <= 80


def both_sides(p, p1, epsilon, error):
    """Return a proved lower bound of the least Δ a little below an error budget, and an upper one at it."""
    before = optimal_randomizer(p, p1, epsilon, error=error - 1e-6)
    return before.certificate.lower, optimal_randomizer(p, p1, epsilon, error=error).value


@pytest.mark.parametrize("seed", range(8))
def test_the_fair_error_is_where_unfairness_ends(seed):
    rng = np.random.default_rng(seed)
    k, epsilon = int(rng.integers(3, 40)), float(rng.uniform(0.3, 5))
    p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
    found = fair_error_bounds(p, p1, epsilon)
    assert found.gap <= 1e-9
    certificate = types.SimpleNamespace(lower=0.0)
    channel = types.SimpleNamespace(
        matrix=found.channel.matrix, value=found.unfairness, certificate=certificate
    )
    assert flaws(channel, p, p1, epsilon, found.upper) == []
    assert found.unfairness <= 1e-10
    lower, upper = both_sides(p, p1, epsilon, found.upper)
    assert upper <= 2e-9 < 1e-8 < lower
    # a figure on either wrong side would be noticed
    assert both_sides(p, p1, epsilon, found.upper - 2e-6)[1] > 2e-9
    assert both_sides(p, p1, epsilon, found.upper + 2e-6)[0] == 0


def test_the_proof_of_the_fair_error_holds_in_rational_arithmetic():
    rng = np.random.default_rng(1)
    for k in (2, 3, 5, 7):
        p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
        found = fair_error_bounds(p, p1, 1.2)
        program, m = as_program(p, p1, 1.2, 1.0), found.multipliers
        shares = exactly(program.p)
        exact = Program(shares / shares.sum(), exactly(program.p1), Fraction(program.x), Fraction(1))
        fields = {
            name: exactly(getattr(m, name)) for name in ("above", "below", "rows", "column_caps", "row_caps")
        }
        proved = 1 + lagrangian_bound(exact, replace(m, t=Fraction(0), truth=Fraction(1), **fields))
        assert found.lower <= proved <= found.upper + 1e-9
        assert proved + 1e-8 > found.upper  # a proof of more would be noticed


@pytest.mark.parametrize("seed", range(4))
def test_the_fair_error_is_that_of_a_plain_program(seed):
    rng = np.random.default_rng(seed)
    k, epsilon = 3 + 2 * seed, float(rng.uniform(0.3, 3))
    p, p1 = rng.dirichlet(np.full(k, 2.0)), rng.uniform(0.05, 0.6, k)
    x, entry = math.exp(-epsilon), np.eye(k * k).reshape(k, k, k * k)
    limits = [
        row
        for i, j in itertools.permutations(range(k), 2)
        for row in (x * entry[j, j] - entry[i, j], entry[i, j] - entry[j, j], entry[i, j] - entry[i, i])
    ]
    biased = [sum(p[i] * (p1[i] - p @ p1) * entry[i, j] for i in range(k)) for j in range(k)]
    plain = linprog(
        -sum(p[i] * entry[i, i] for i in range(k)), A_ub=np.array(limits), b_ub=np.zeros(len(limits)),
        A_eq=np.array([*entry.sum(axis=1), *biased]), b_eq=np.repeat([1.0, 0.0], k), bounds=(0, 1),
    )  # fmt: skip
    assert smallest_fair_error(p, p1, epsilon) == pytest.approx(1 + plain.fun, abs=1e-8)


def test_two_groups_have_to_guess_exactly():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p, p1 = rng.dirichlet([2.0, 2.0]), rng.uniform(0.05, 0.6, 2)
        found = fair_error_bounds(p, p1, float(rng.uniform(0.1, 6)))
        assert found.lower <= 0.5 <= found.upper + 1e-12
        assert found.gap <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_fifty_groups_at_the_usual_budget_raise_nothing(seed):
    """Where `smallest_fair_error` once raised ArithmeticError: k = 50, ε = ln k + 1."""
    rng = np.random.default_rng(seed)
    found = fair_error_bounds(rng.dirichlet(np.full(50, 2.0)), rng.uniform(0.05, 0.6, 50), math.log(50) + 1)
    assert found.gap <= 1e-9


@pytest.mark.parametrize("first", [0, 500])
def test_no_fair_error_raises(first):
    for seed in range(first, first + 80):
        p, p1, epsilon = draw(seed, k=2 + seed % 21)
        found = fair_error_bounds(p, p1, epsilon, time_limit=2.0)
        assert smallest_error(p, epsilon) - 1e-12 <= found.lower <= found.upper <= 1
        assert found.unfairness <= 1e-10
        # what rounding leaves of a rate's distance from the mean limits what can be proved
        if p.min() >= 1e-6 and (abs(p1 - p @ p1) >= 1e-4).all() and epsilon <= 12:
            assert found.gap <= 1e-7, seed
