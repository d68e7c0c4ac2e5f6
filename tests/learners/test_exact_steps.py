"""DP-SGD on a grid: a record's integers are its own and short, sums are exact, noise and batches have exact laws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit

import dpfair_lib as dpf
from dpfair_lib.learners import exact_steps
from dpfair_lib.learners.exact_steps import (
    LARGEST_SUM,
    column_sums,
    exact_sum,
    grid_step,
    integer_gradients,
    prepared,
)
from dpfair_lib.learners.linear import LEFT_OUT
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import dp_sgd_noise
from dpfair_lib.privacy.grid_noise import continuous_delta

SETTING = {"noise_multiplier": 1.3, "max_grad_norm": 0.7, "sample_rate": 1.0, "count": 3, "learning_rate": 0.2,
           "fit_intercept": True}  # fmt: skip


def steps(**changes):
    return Steps(**SETTING | changes)


def rows(seed, n=40, d=7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-160, 110, size=(n, 1)) ** (np.arange(n) % 2)[:, None]
    X[::5] *= 10.0 ** rng.uniform(-20, 20, size=(len(X[::5]), d))
    return X, rng.integers(0, 2, n)


SETTINGS = [
    {}, {"loss": "huberised-hinge"}, {"fit_intercept": False}, {"max_grad_norm": 1e-100}, {"max_grad_norm": 1e100},
    {"noise_multiplier": 1e-3}, {"noise_multiplier": 1e6, "max_grad_norm": 3e-7},
]  # fmt: skip


def signed(X, y, setting):
    return np.column_stack([X, np.ones((len(X), int(setting.fit_intercept)))]) * (1 - 2 * y)[:, None]


def integers(X, y, setting, weights=None):
    step = grid_step(setting.noise_multiplier, setting.max_grad_norm)
    held = prepared(signed(X, y, setting), setting.max_grad_norm)
    if weights is None:
        weights = np.zeros(held.entries.shape[1])
    return integer_gradients(held, np.arange(len(X)), weights, step, setting.loss), step


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_no_record_is_longer_than_the_clipping_norm(changes):
    # in exact numbers; and the noise is no less than σC
    setting, closest = steps(**changes), 0.0
    bound = (
        Fraction(setting.max_grad_norm) / Fraction(grid_step(setting.noise_multiplier, setting.max_grad_norm))
    ) ** 2
    assert Fraction(2**40) ** 2 >= Fraction(setting.noise_multiplier) ** 2 * bound
    for seed in range(6):
        X, y = rows(seed)
        rng = np.random.default_rng(seed)
        for size in (0.0, 1.0, 1e200):
            weights = size * rng.uniform(-1, 1, X.shape[1] + setting.fit_intercept)
            found, _ = integers(np.clip(X, -1e300, 1e300), y, setting, weights)
            lengths = [sum(int(z) ** 2 for z in column) for column in found.T]
            assert max(lengths) <= bound
            closest = max(closest, float(max(lengths) / bound))
    assert closest > 1 - 1e-5 or setting.max_grad_norm == 1e100  # where no gradient is so long


def test_a_margin_of_nothing_is_too_small(monkeypatch):
    # planted: the norm is taken as computed
    monkeypatch.setattr(exact_steps, "MARGIN", 1.0)
    setting = steps(fit_intercept=False, noise_multiplier=1e-3)  # the finest grid
    bound = (Fraction(setting.max_grad_norm) / Fraction(grid_step(1e-3, setting.max_grad_norm))) ** 2
    rng, longer = np.random.default_rng(0), 0
    X = np.zeros((4000, 3))
    X[:, 0] = rng.uniform(1e6, 2e6, 4000)
    found, _ = integers(X, np.zeros(4000, dtype=int), setting)
    longer = sum(Fraction(int(z)) ** 2 > bound for z in found[0])
    assert longer > 0


def test_the_integers_are_the_gradients():
    X, y = np.random.default_rng(1).normal(size=(50, 4)), np.arange(50) % 2
    weights = np.array([0.3, -1.0, 2.0, 0.1, -0.4])
    found, step = integers(X, y, steps(), weights)
    ones = np.column_stack([X, np.ones(50)])
    gradient = (expit(ones @ weights) - y)[:, None] * ones
    gradient *= np.minimum(1, 0.7 / np.linalg.norm(gradient, axis=1, keepdims=True))
    assert found.T * step == pytest.approx(gradient, rel=1e-9, abs=2 * step)
    assert (abs(found.T) <= abs(gradient / step) + 1e-3).all()  # toward zero


@pytest.mark.parametrize("loss", ["logistic", "huberised-hinge"])
@pytest.mark.parametrize("short", [False, True])
def test_a_records_integers_do_not_depend_on_the_others(loss, short):
    X, y = rows(3, n=130, d=31)
    X = np.clip(X, -1e3, 1e3)
    weights = np.random.default_rng(0).normal(size=32)
    if short:  # hardly any gradient is clipped, so that the scores decide, to the last digit
        X, weights = np.random.default_rng(4).normal(size=X.shape) / 20, 8 * weights
    setting, at = steps(loss=loss, noise_multiplier=1e-3), np.random.default_rng(1)  # the finest grid
    whole, _ = integers(X, y, setting, weights)
    for size in (1, 2, 3, 5, 17, 64, 129):
        some = np.sort(at.choice(130, size, replace=False))
        alone, _ = integers(X[some], y[some], setting, weights)
        assert np.array_equal(alone, whole[:, some])


def test_matrix_products_would_depend_on_the_others(monkeypatch):
    # planted: sums in another order where another number of rows is added up, as a matrix product may take them
    def sums(terms):
        return terms.sum(axis=0) if terms.shape[1] % 2 else terms[::-1].sum(axis=0)

    monkeypatch.setattr(exact_steps, "column_sums", sums)
    with pytest.raises(AssertionError):
        test_a_records_integers_do_not_depend_on_the_others("logistic", False)


def test_sums_of_columns():
    rng = np.random.default_rng(0)
    for width in (1, 2, 3, 5, 8, 13, 103):
        terms = rng.normal(size=(width, 9))
        assert column_sums(terms.copy()) == pytest.approx(terms.sum(axis=0), rel=1e-12, abs=1e-12)


def test_a_sum_is_exact_in_any_order_and_of_none():
    X, y = rows(5, n=700, d=3)
    setting = steps(noise_multiplier=1e-3)
    held, step = prepared(signed(X, y, setting), 0.7), grid_step(1e-3, 0.7)
    weights = np.zeros(4)

    def whole(chosen):
        return integer_gradients(held, chosen, weights, step, "logistic")

    all_of_them = whole(np.arange(700))
    due = [sum(int(z) for z in entry) for entry in all_of_them]
    order = np.random.default_rng(0).permutation(700)
    for chosen in (np.arange(700), order):
        assert exact_sum(chosen, whole, 4).tolist() == due
    assert exact_sum(np.arange(0), whole, 4).tolist() == [0] * 4
    moved = np.array(due) - exact_sum(order[1:], whole, 4)
    assert np.array_equal(moved, all_of_them[:, order[0]])


def test_a_sum_beyond_all_integers_is_cut_off_and_does_not_wrap_around():
    def largest(chosen):
        return np.full((2, len(chosen)), [[2**50], [-(2**50)]])

    for count, due in [(4096, 2**62), (4095, 4095 * 2**50), (20_000, LARGEST_SUM)]:
        assert exact_sum(np.arange(count), largest, 2).tolist() == [due, -due]


@pytest.mark.parametrize("intercept", [True, False])
def test_without_an_intercept_its_weight_is_0(intercept):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    (weights,) = exact_steps.train(X, y, steps(fit_intercept=intercept))
    assert weights.shape == (4,)
    assert (weights[-1] != 0) == intercept


def model(kind=dpf.DPLogisticRegression, **changes):
    settings = {"noise_multiplier": 1.3, "delta": 1e-4, "max_grad_norm": 0.7, "sample_rate": 1.0, "steps": 4,
                "learning_rate": 0.2, "expected_batch_size": 5.0, "classes": (0, 1)}  # fmt: skip
    return kind(**settings | changes)


@pytest.mark.parametrize("kind", [dpf.DPLogisticRegression, dpf.DPLinearSVM])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_noise_for_an_epsilon_leaves_the_part_of_delta_for_its_being_discrete(kind, relation):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    asked = {"epsilon": 1.0, "noise_multiplier": None, "sample_rate": 0.1, "steps": 20, "relation": relation}
    numbers = 0.1, 20, "pld"
    secure = model(kind, **asked).fit(X, y)
    assert secure.noise_multiplier_ == dp_sgd_noise(1.0, continuous_delta(1e-4), *numbers, relation=relation)
    assert secure.privacy_statement_.epsilon <= 1.0
    study = model(kind, **asked, noise="study", random_state=0, device="cpu").fit(X, y)
    assert study.noise_multiplier_ == dp_sgd_noise(1.0, 1e-4, *numbers, relation=relation)
    assert study.noise_multiplier_ < secure.noise_multiplier_


@pytest.mark.parametrize("kind", [dpf.DPLogisticRegression, dpf.DPLinearSVM])
def test_secure_steps_take_the_way_of_study_steps(kind, monkeypatch):
    # without noise, or with so little that it does not matter; both take all rows
    monkeypatch.setattr(exact_steps, "add_discrete_gaussian_noise", lambda sums, _: sums)
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    secure = model(kind, steps=25).fit(X, y)
    quiet = {"noise_multiplier": 1e-3, "noise": "study", "random_state": 0, "device": "cpu"}
    study = model(kind, steps=25, **quiet).fit(X, y)
    assert secure.coef_ == pytest.approx(study.coef_, abs=1e-3)
    assert secure.intercept_ == pytest.approx(study.intercept_, abs=1e-3)


def test_the_noise_is_the_multiplier_times_the_clipping_norm(monkeypatch):
    asked = []

    def one(sums, scale):
        asked.append((len(sums), scale))
        return sums + 2**40  # one standard deviation

    X, y = np.random.default_rng(0).normal(size=(6, 3)), np.arange(6) % 2
    found = []
    for noisy in (lambda sums, _: sums, one):
        monkeypatch.setattr(exact_steps, "add_discrete_gaussian_noise", noisy)
        fitted = model(steps=1).fit(X, y)
        found.append(np.append(fitted.coef_, fitted.intercept_))
    assert asked == [(4, 2.0**40)]
    assert found[0] - found[1] == pytest.approx(np.full(4, 0.2 / 5 * 1.3 * 0.7), rel=1e-9)


def test_divisor_is_public_and_no_count_of_the_batch(monkeypatch):
    monkeypatch.setattr(exact_steps, "add_discrete_gaussian_noise", lambda sums, _: sums)
    X, y = np.ones((8, 1)), np.zeros(8, dtype=int)
    half, whole = (model(steps=1, sample_rate=1.0).fit(X[:n], y[:n]).intercept_[0] for n in (4, 8))
    assert whole == pytest.approx(2 * half, rel=1e-9)


def test_a_weight_beyond_the_range_ends_the_steps(monkeypatch):
    calls = []

    def far(sums, _):
        calls.append(1)
        return sums + 2**60

    monkeypatch.setattr(exact_steps, "add_discrete_gaussian_noise", far)
    with pytest.raises(ValueError, match="learning_rate: found"):
        model(learning_rate=1e250).fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert len(calls) == 1


def test_two_secure_fits_differ_and_say_so():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    one, two = (model(sample_rate=0.4, epsilon=1.0, noise_multiplier=None).fit(X, y) for _ in range(2))
    assert not np.array_equal(one.coef_, two.coef_)
    for fitted in (one, two):
        statement = fitted.privacy_statement_
        assert statement.guarantee
        assert statement.note == LEFT_OUT
        assert 0.9999 < statement.epsilon <= 1.0
        assert (statement.delta, statement.relation, statement.accountant) == (1e-4, "add-remove", "pld")
    assert math.isfinite(one.score(X, y))


def test_a_batch_of_nobody_is_a_step_like_the_others(monkeypatch):
    # a step that is left out where nobody enters tells, by its missing noise, that nobody did
    asked = []

    def one(sums, _):
        asked.append(sums.tolist())
        return sums + 2**40

    monkeypatch.setattr(exact_steps, "add_discrete_gaussian_noise", one)
    X, y = np.random.default_rng(0).normal(size=(6, 3)), np.arange(6) % 2
    fitted = model(sample_rate=1e-12).fit(X, y)
    assert asked == [[0] * 4] * 4
    assert np.append(fitted.coef_, fitted.intercept_) == pytest.approx(
        np.full(4, -4 * 0.2 / 5 * 1.3 * 0.7), rel=1e-9
    )
