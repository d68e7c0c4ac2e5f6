"""What a user of the k-ary solver relies on, judged without it: feasible, proved, in time, and nothing raised."""

import itertools
import math
import time
import types
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from optima import budget, draw, exactly, flaws
from scipy.optimize import linprog

from dpfair_lib import optimal_randomizer, smallest_error
from dpfair_lib.local import Randomizer, verify_certificate
from dpfair_lib.local.optimal import certificate as certificates
from dpfair_lib.local.optimal import columns as columns
from dpfair_lib.local.optimal import interior_point as interior
from dpfair_lib.local.optimal.certificate import Multipliers, lagrangian_bound, lower_bound
from dpfair_lib.local.optimal.closed_forms import first_channel
from dpfair_lib.local.optimal.program import Program, as_program

METHODS = ("interior", "columns", "dinkelbach", "bisection")


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
    monkeypatch.setattr("dpfair_lib.local.optimal.program.privacy_ratio", lambda epsilon: math.exp(-epsilon))
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


def excess_of_floats(seeds, groups=(2, 9)):
    """Return by how much bounds in floats are above the same bounds in rational arithmetic."""
    above = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        k = int(rng.integers(*groups))
        program = as_program(
            rng.dirichlet(np.full(k, 0.5)), rng.uniform(size=k), rng.uniform(0.1, 6), 0.9 if k < 9 else 0.99
        )
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
    assert (
        excess_of_floats(range(12), groups=(20, 60)) <= 0
    ).all()  # what is taken off grows with log k only
    monkeypatch.setattr(certificates, "_rounding", lambda *_: 0.0)  # without what is taken off for rounding
    assert (excess_of_floats(range(150)) > 0).mean() > 0.2


@pytest.mark.parametrize("number", [0.0, 5e-324, 1e-290, 1e308])
def test_multipliers_that_speak_of_no_level_prove_nothing(number):
    """With no weight on fairness every level would pass; with tiny ones products underflow, with huge ones overflow."""
    p, p1, epsilon = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.5, 0.7]), 1.0
    error = budget(p, p1, epsilon, 0.5)
    good = optimal_randomizer(p, p1, epsilon, error=error)
    worse = optimal_randomizer(p, p1, epsilon, error=budget(p, p1, epsilon, 0.1))
    assert worse.value > good.value + 1e-3
    part, caps = np.full(3, number), np.full((3, 3), number)
    claimed = Multipliers(
        t=worse.value, above=part, below=part, truth=number, rows=part, column_caps=caps, row_caps=caps
    )
    forged = replace(worse.certificate, multipliers=(claimed,), lower=worse.value)
    channel = Randomizer(worse.matrix, value=worse.value, certificate=forged)
    with np.errstate(all="ignore"):
        assert lower_bound(as_program(p, p1, epsilon, error), claimed) == 0
        with pytest.raises(ValueError, match="lower"):
            verify_certificate(channel, p, p1, epsilon, error=error)


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
    for module in ("search", "interior_point", "columns", "level_programs", "branching"):
        monkeypatch.setattr(f"dpfair_lib.local.optimal.{module}.time", clock)
    channel = optimal_randomizer(p, p1, 3.0, error=error, method=method, tol=1e-9, time_limit=3.5)
    assert clock.now <= 12
    assert channel.certificate.gap > free.certificate.gap
    assert channel.certificate.ended == "time"
    assert flaws(channel, p, p1, 3.0, error) == []
    assert verify_certificate(channel, p, p1, 3.0, error=error) == pytest.approx(channel.certificate.gap)
    clock.look = 20.0
    usual = optimal_randomizer(p, p1, 3.0, error=error, method=method, tol=1e-9)
    assert usual.certificate.ended == "time"  # a minute, unless another limit is given


@pytest.mark.parametrize(
    ("method", "limit"),  # the first closes in half a second
    [("interior", 0.02), ("columns", 0.5), ("dinkelbach", 0.5), ("bisection", 0.5)],
)
def test_the_time_limit_holds_inside_one_program(method, limit):
    rng = np.random.default_rng(0)
    p, p1 = rng.dirichlet(np.full(120, 2.0)), rng.uniform(0.05, 0.6, 120)
    started = time.process_time()
    channel = optimal_randomizer(
        p, p1, 1.0, error=smallest_error(p, 1.0) + 1e-4, method=method, time_limit=limit
    )
    assert time.process_time() - started < 6  # one whole program would take minutes, to closure
    assert channel.certificate.ended == "time"
    assert flaws(channel, p, p1, 1.0, channel.certificate.error) == []


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
