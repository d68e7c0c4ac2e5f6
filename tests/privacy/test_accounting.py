import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from dpfair_lib.privacy import (
    accounting,
    dp_sgd_epsilon,
    dp_sgd_noise,
    dp_sgd_statement,
    gaussian_epsilon,
    prv_interval,
)

ADULT = {"noise_multiplier": 3.13, "sample_rate": 1024 / 24421, "steps": 1200, "delta": 1e-5}
ALL = ("pld", "prv", "rdp", "gdp")


def test_known_numbers():
    found = {accountant: dp_sgd_epsilon(**ADULT, accountant=accountant) for accountant in ALL}
    assert found == pytest.approx({"pld": 1.9194, "prv": 1.9295, "rdp": 2.0924, "gdp": 1.8874}, abs=1e-4)
    interval = prv_interval(**ADULT)
    assert interval == pytest.approx((1.9093, 1.9194, 1.9295), abs=1e-4)
    assert interval.lower < found["pld"] < interval.upper
    assert found["gdp"] < interval.lower  # it reports less privacy loss than there is


def one_step_delta(sigma, rate, epsilon):
    """δ of a single step, by the closed form, for a removed and for an added record."""
    # (1 − q) + q e^((2x − 1)/(2σ²)) = e^ε at the edge
    removed = (math.log((math.exp(epsilon) - 1 + rate) / rate) * 2 * sigma**2 + 1) / 2
    delta = rate * ndtr((1 - removed) / sigma) + (1 - rate - math.exp(epsilon)) * ndtr(-removed / sigma)
    if math.exp(-epsilon) <= 1 - rate:
        return delta
    added = (math.log((math.exp(-epsilon) - 1 + rate) / rate) * 2 * sigma**2 + 1) / 2
    q = (1 - rate) * ndtr(added / sigma) + rate * ndtr((added - 1) / sigma)
    return max(delta, ndtr(added / sigma) - math.exp(epsilon) * q)


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.1), (2.0, 0.5), (0.7, 0.01)])
def test_one_step_by_its_closed_form(sigma, rate):
    for epsilon in (0.05, 0.3, 1.0):
        delta = one_step_delta(sigma, rate, epsilon)
        if delta < 1e-10:
            continue
        assert dp_sgd_epsilon(sigma, rate, 1, delta, "pld") == pytest.approx(epsilon, rel=1e-3)
        assert dp_sgd_epsilon(sigma, rate, 1, delta, "pld") >= epsilon * (1 - 1e-9)
        interval = prv_interval(sigma, rate, 1, delta)
        assert interval.lower <= epsilon <= interval.upper
        assert dp_sgd_epsilon(sigma, rate, 1, delta, "rdp") >= epsilon


def replaced_delta(sigma, rate, epsilon):
    """δ of a single step where a record of gradient C is replaced by one of gradient −C."""

    def loss(x):
        up, down = (math.log1p(rate * math.expm1((2 * s * x - 1) / (2 * sigma**2))) for s in (1, -1))
        return up - down

    edge = brentq(lambda x: loss(x) - epsilon, 0, 20 * sigma + 20)  # the loss increases in x
    first, second = ((1 - rate) * ndtr(-edge / sigma) + rate * ndtr((at - edge) / sigma) for at in (1, -1))
    return first - math.exp(epsilon) * second


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.1), (2.0, 0.5), (0.7, 0.01)])
@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_one_replacing_step_by_its_closed_form(sigma, rate, epsilon):
    delta = replaced_delta(sigma, rate, epsilon)
    found = dp_sgd_epsilon(sigma, rate, 1, delta, "pld", relation="replace-one")
    assert epsilon * (1 - 1e-9) <= found <= epsilon * (1 + 1e-4)
    # opposite gradients of full length are the worst pair: all others in the plane, on a grid
    x, y = np.meshgrid(*(np.linspace(-9 * sigma - 1, 9 * sigma + 1, 301),) * 2)
    area = (x[0, 1] - x[0, 0]) ** 2

    def mixture(to_x, to_y):
        normal = (np.exp(-((x - u) ** 2 + (y - v) ** 2) / (2 * sigma**2)) for u, v in ((0, 0), (to_x, to_y)))
        return ((1 - rate) * next(normal) + rate * next(normal)) / (2 * math.pi * sigma**2)

    for first, second, angle in itertools.product((1, 0.5), (1, 0.5, 0), (math.pi, 2, 1)):
        other = mixture(second * math.cos(angle), second * math.sin(angle))
        value = np.maximum(mixture(first, 0) - math.exp(epsilon) * other, 0).sum() * area
        assert value <= delta * 1.01
        if (first, second, angle) == (1, 1, math.pi):
            assert value == pytest.approx(delta, rel=0.01)
        elif (first, second, angle) == (1, 1, 2):
            assert value < delta * 0.995


@pytest.mark.parametrize(("relation", "move"), [("add-remove", 1), ("replace-one", 2)])
def test_without_sampling_it_is_one_gaussian_release(relation, move):
    exact = gaussian_epsilon(1e-5, 5 / math.sqrt(10), move)
    found = dp_sgd_epsilon(5, 1.0, 10, 1e-5, "pld", relation=relation)
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-5)


def test_replacing_one_record_costs_more_and_at_most_twice_the_epsilon():
    added = dp_sgd_epsilon(**ADULT, accountant="pld")
    replaced = dp_sgd_epsilon(**ADULT, accountant="pld", relation="replace-one")
    assert added < replaced
    # by conversion: 2ε at (1 + e^ε)δ, here the other way round
    smaller = {**ADULT, "delta": 1e-5 / (1 + math.exp(2.3))}
    assert replaced <= 2 * dp_sgd_epsilon(**smaller, accountant="pld")
    for accountant in ("prv", "rdp", "gdp"):
        with pytest.raises(ValueError, match="accounts for add-remove only"):
            dp_sgd_epsilon(**ADULT, accountant=accountant, relation="replace-one")


@pytest.mark.parametrize("accountant", ["pld", "rdp", "gdp"])
def test_epsilon_moves_as_it_must(accountant):
    def epsilon(**changes):
        return dp_sgd_epsilon(**{**ADULT, "steps": 200, **changes}, accountant=accountant)

    middle = epsilon()
    assert epsilon(noise_multiplier=3.5) < middle < epsilon(noise_multiplier=2.5)
    assert epsilon(sample_rate=0.03) < middle < epsilon(sample_rate=0.06)
    assert epsilon(steps=100) < middle < epsilon(steps=400)
    assert epsilon(delta=1e-4) < middle < epsilon(delta=1e-6)


@pytest.mark.parametrize("accountant", ["pld", "rdp", "gdp"])
@pytest.mark.parametrize("epsilon", [0.5, 1.9, 9.0])
def test_calibration_meets_its_target_from_below(accountant, epsilon):
    sigma = dp_sgd_noise(epsilon, 1e-5, 0.042, 1200, accountant)
    found = dp_sgd_epsilon(sigma, 0.042, 1200, 1e-5, accountant)
    assert epsilon * (1 - 1.001e-4) <= found <= epsilon


def test_calibration_for_prv_and_for_replacement():
    sigma = dp_sgd_noise(1.9, 1e-5, 0.042, 100, "prv")
    assert 1.9 * (1 - 1.001e-4) <= dp_sgd_epsilon(sigma, 0.042, 100, 1e-5, "prv") <= 1.9
    sigma = dp_sgd_noise(1.9, 1e-5, 0.042, 100, "pld", relation="replace-one")
    assert dp_sgd_epsilon(sigma, 0.042, 100, 1e-5, "pld", relation="replace-one") <= 1.9
    assert sigma > dp_sgd_noise(1.9, 1e-5, 0.042, 100, "pld")


def test_out_of_reach():
    with pytest.raises(
        ValueError, match=r"epsilon: found 1000000000\.0, expected a value that a noise multiplier"
    ):
        dp_sgd_noise(10**9, 1e-5, 0.042, 1200, "rdp")
    with pytest.raises(ValueError, match="'prv' fails at noise multiplier"):
        dp_sgd_epsilon(0.6, 0.5, 3000, 1e-6, "prv")


def test_little_noise_is_accounted_without_chatter(caplog):
    assert dp_sgd_epsilon(0.3, 0.04, 1200, 1e-5, "rdp") > dp_sgd_epsilon(0.3, 0.04, 1200, 1e-5, "pld") > 200
    assert not caplog.records


def test_statements_say_how_they_were_made():
    exact = dp_sgd_statement(**ADULT, accountant="pld", public=("number of records",))
    assert exact.guarantee
    assert (exact.relation, exact.accountant, exact.public) == ("add-remove", "pld", ("number of records",))
    assert exact.sampling == "Poisson at rate 0.0419311, 1200 steps"
    approximate = dp_sgd_statement(**ADULT, accountant="gdp")
    assert not approximate.guarantee
    assert "less privacy loss than there is" in approximate.note
    assert dp_sgd_statement(1000, 1e-3, 1, 1e-3, "pld").epsilon == 0  # δ alone covers the total variation
    with pytest.raises(ValueError, match="sampling: found 'shuffle', expected 'poisson'"):
        dp_sgd_statement(**ADULT, accountant="pld", sampling="shuffle")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise_multiplier": 0}, "noise_multiplier: found 0"),
        ({"noise_multiplier": 1e-200}, r"noise_multiplier: found 1e-200, expected a number in \[1e-3, 1e6\]"),
        ({"noise_multiplier": 1e7}, "noise_multiplier: found 10000000"),
        ({"delta": 1e-15}, "delta: found 1e-15, which floating-point convolution does not resolve"),
        ({"sample_rate": 1.2}, r"sample_rate: found 1\.2, expected a number in \(0, 1\]"),
        ({"sample_rate": float("nan")}, "sample_rate: found nan"),
        ({"steps": 2.5}, r"steps: found 2\.5, expected an integer"),
        ({"steps": np.int64(0)}, "steps: found"),
        ({"delta": 0}, "delta: found 0"),
        ({"accountant": "moments"}, "accountant: found 'moments', expected one of"),
        ({"relation": "local"}, "relation: found 'local'"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        dp_sgd_epsilon(**{**ADULT, "accountant": "pld", **changes})


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_many_steps_are_composed_as_few_are(relation, monkeypatch):
    case = (4.0, 0.003, 12_000, 1e-6, relation, 1.0)
    dense = accounting._pld.__wrapped__(*case)
    monkeypatch.setattr(accounting, "SPARSE_STEPS", 10**9)
    assert accounting._pld.__wrapped__(*case) == dense


@pytest.mark.parametrize("accountant", ["pld", "prv"])
def test_the_least_delta_is_the_last_that_is_taken(accountant):
    accounting.check_accountant(accountant, "add-remove", 1e-10)
    with pytest.raises(ValueError, match="delta: found"):
        accounting.check_accountant(accountant, "add-remove", math.nextafter(1e-10, 0))


def test_gdp_of_the_least_noise_is_a_number():
    assert math.isfinite(dp_sgd_epsilon(0.01, 0.01, 10, 1e-5, "gdp"))


@pytest.mark.parametrize("sigma", [0.0101, 0.015, 0.03])
def test_the_smallest_noise_that_is_promised_is_found(sigma):
    epsilon = dp_sgd_epsilon(sigma, 1.0, 1, 1e-5, "rdp")
    found = dp_sgd_noise(epsilon, 1e-5, 1.0, 1, "rdp")
    assert found == pytest.approx(sigma, rel=1e-3)
    assert 0.9999 * epsilon <= dp_sgd_epsilon(found, 1.0, 1, 1e-5, "rdp") <= epsilon


def test_the_error_of_convolutions_is_taken_off_delta_by_prv_too(monkeypatch):
    plain = prv_interval(1.0, 0.01, 100, 1e-5).upper
    monkeypatch.setattr(accounting, "convolution_error", lambda _: 5e-6)
    assert prv_interval(1.0, 0.01, 100, 1e-5).upper > plain * 1.01
