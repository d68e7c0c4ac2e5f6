"""Private gradient descent: what a step clips, what noise it adds, and what all steps cost, by accounts of our own."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from study_watching import Watched, study_requests

import dpfair_lib as dpf
from dpfair_lib.privacy import dp_sgd_epsilon

EXACT = 1e-12
C, RATE, DIVISOR = 0.7, 0.3, 5.0


class Fixed(Watched):
    """Standard normal variables that are all 0, or all 1."""

    value = 0.0

    def standard_normal(self, size=None, dtype=np.float64, out=None):  # noqa: ARG002
        return np.full(size, self.value)


def with_normals(value, fit, monkeypatch):
    monkeypatch.setattr(Fixed, "value", value)
    monkeypatch.setattr(np.random, "default_rng", Fixed)
    try:
        return fit()
    finally:
        monkeypatch.undo()


def model(kind=dpf.DPLogisticRegression, **changes):
    settings = {
        "noise_multiplier": 1.3, "delta": 1e-4, "max_grad_norm": C, "sample_rate": 1.0, "steps": 1,
        "learning_rate": 0.2, "expected_batch_size": DIVISOR, "classes": (0, 1), "device": "cpu", "noise": "study",
        "random_state": 0,
    }  # fmt: skip
    return kind(**settings | changes)


def weights(fitted):
    return np.append(fitted.coef_, fitted.intercept_)


def rows(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, 3)) * 10.0 ** rng.uniform(-3, 6, size=(4, 1)), rng.integers(0, 2, 4)


KINDS = [dpf.DPLogisticRegression, dpf.DPLinearSVM]


@pytest.mark.parametrize("backend", ["fused", "opacus"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_record_moves_a_steps_sum_by_the_clipping_norm_at_most(kind, backend):
    # the noise, of one seed, cancels in the difference
    moves = []
    for seed in range(6 if backend == "opacus" else 20):
        X, y = rows(seed)
        one = weights(model(kind, backend=backend).fit(X, y))
        two = weights(model(kind, backend=backend).fit(X[1:], y[1:]))
        moves.append(float(np.linalg.norm(one - two)) * DIVISOR / 0.2)
    assert max(moves) <= C * (1 + 1e-9)
    assert max(moves) >= C * (1 - 1e-4)
    assert min(moves) > 0


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_noise_of_the_steps(kind, intercept, monkeypatch):
    X, y = rows(0)
    for rate, steps in [(1.0, 1), (RATE, 1)]:
        found = [
            weights(with_normals(
                value, lambda: model(kind, steps=steps, sample_rate=rate, fit_intercept=intercept).fit(X, y),  # noqa: B023
                monkeypatch,
            ))
            for value in (0.0, 1.0)
        ]  # fmt: skip
        due = np.full(4, 0.2 / DIVISOR * 1.3 * C)
        due[3] *= intercept
        assert abs(found[1] - found[0]) == pytest.approx(due, rel=EXACT)


# The account. A step's worst pair is, in units of C, N(0, σ²) against (1 − q)N(0, σ²) + qN(1, σ²), in either order,
# where a record is added or removed, and both mixtures, with 1 and with −1, where it is replaced. Losses of steps add
# up.
def pair(sigma, rate, relation):
    """The two distribution functions, and the logarithm of the first density over the second, increasing in x."""

    def mixture(x, at):
        return (1 - rate) * ndtr(x / sigma) + rate * ndtr((x - at) / sigma)

    def log_mixture(x, at):  # over the density of N(0, σ²)
        with np.errstate(divide="ignore"):
            return np.logaddexp(
                np.log1p(-rate) if rate < 1 else -np.inf, math.log(rate) + at * (2 * x - at) / (2 * sigma**2)
            )

    if relation == "replace-one":
        loss = lambda x: log_mixture(x, 1.0) - log_mixture(x, -1.0)  # noqa: E731
        return (lambda x: mixture(x, 1.0)), (lambda x: mixture(x, -1.0)), loss
    return (lambda x: mixture(x, 1.0)), (lambda x: ndtr(x / sigma)), lambda x: log_mixture(x, 1.0)


def one_step_delta(sigma, rate, relation, epsilon):
    """Exactly: the event L > ε is x > t, and −L > ε is x < t."""
    first, second, loss = pair(sigma, rate, relation)
    xs = []
    for level in (epsilon, -epsilon):
        low, high = -60 * sigma, 60 * sigma
        if loss(np.array(low)) > level:
            xs.append(-np.inf)
            continue
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if loss(np.array(middle)) < level else (low, middle)
        xs.append(low)
    up, down = xs
    removed = (1 - first(up)) - math.exp(epsilon) * (1 - second(up))
    added = second(down) - math.exp(epsilon) * first(down) if down > -np.inf else 0.0
    return max(removed, added)


def delta_bounds(sigma, rate, steps, relation, epsilon, width=2e-4):
    """An interval for δ(ε) of all steps: losses rounded up and down to a grid, their laws convolved."""
    first, second, loss = pair(sigma, rate, relation)
    x = np.linspace(-9 * sigma - 1, 9 * sigma + 1, 200_001)
    found = []
    for law, sign in ((first, 1), (second, -1)):
        masses, losses = np.diff(law(x)), sign * loss(x)
        low, high = np.minimum(losses[1:], losses[:-1]), np.maximum(losses[1:], losses[:-1])
        beyond = 1 - masses.sum()
        bounds = []
        for at, rest in ((np.floor(low / width), 0.0), (np.ceil(high / width), steps * max(beyond, 0.0))):
            at = at.astype(int)
            law_of_one = np.bincount(at - at.min(), masses)
            size = 1 << (steps * len(law_of_one)).bit_length()
            law_of_all = np.fft.irfft(np.fft.rfft(law_of_one, size) ** steps, size)
            total = (np.arange(size) + steps * at.min()) * width
            bounds.append(float(law_of_all @ -np.expm1(np.minimum(epsilon - total, 0))) + rest)
        found.append(bounds)
    return max(low for low, _ in found), max(high for _, high in found)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("sigma", "rate"), [(0.8, 0.2), (2.0, 0.05), (1.5, 1.0)])
def test_the_cost_of_one_step(sigma, rate, relation):
    fitted = model(noise_multiplier=sigma, sample_rate=rate, relation=relation).fit(*rows(0))
    statement = fitted.privacy_statement_
    assert (statement.delta, statement.relation) == (1e-4, relation)
    assert statement.sampling == f"Poisson at rate {rate:.6g}, 1 steps"
    assert one_step_delta(sigma, rate, relation, statement.epsilon) <= 1e-4 * (1 + 1e-9)
    assert one_step_delta(sigma, rate, relation, statement.epsilon * 0.999) > 1e-4
    assert one_step_delta(0.95 * sigma, rate, relation, statement.epsilon) > 1.05 * 1e-4  # planted


@pytest.mark.parametrize("move", [1, 2])
def test_the_cost_of_many_steps_on_all_rows(move):
    # Gaussian noise on T sums: together that of one sum, √T times as long
    sigma, steps, delta = 4.0, 30, 1e-4
    relation = {1: "add-remove", 2: "replace-one"}[move]
    epsilon = dp_sgd_epsilon(sigma, 1.0, steps, delta, "pld", relation=relation)
    mu = move * math.sqrt(steps) / sigma

    def exact(e):
        return ndtr(mu / 2 - e / mu) - math.exp(e) * ndtr(-mu / 2 - e / mu)

    assert exact(epsilon) <= delta < exact(0.999 * epsilon)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_the_noise_for_a_cost(relation):
    fitted = model(noise_multiplier=None, epsilon=1.5, sample_rate=0.1, steps=8, relation=relation).fit(
        *rows(0)
    )
    statement, sigma = fitted.privacy_statement_, fitted.noise_multiplier_
    assert 1.4998 <= statement.epsilon <= 1.5
    low, high = delta_bounds(sigma, 0.1, 8, relation, statement.epsilon)
    assert high < 1.02 * low  # the account is narrow
    assert low <= statement.delta
    assert delta_bounds(sigma, 0.1, 8, relation, 0.997 * statement.epsilon)[0] > statement.delta
    assert delta_bounds(0.95 * sigma, 0.1, 8, relation, statement.epsilon)[0] > statement.delta  # planted


def test_the_account_is_exact_where_a_formula_is_known():
    for rate, relation in ((0.3, "add-remove"), (0.3, "replace-one")):
        low, high = delta_bounds(1.2, rate, 1, relation, 0.5)
        assert low <= one_step_delta(1.2, rate, relation, 0.5) <= high
    mu = math.sqrt(6) / 3.0
    low, high = delta_bounds(3.0, 1.0, 6, "add-remove", 0.5)
    assert low <= ndtr(mu / 2 - 0.5 / mu) - math.exp(0.5) * ndtr(-mu / 2 - 0.5 / mu) <= high


# DP-FERMI: the gradients by the weights and by W are clipped to C and C_W. In units of these the two sums move by a
# vector of length √2 at most, so that noise of √2 σ in each unit is a step of multiplier σ.
def fermi(**changes):
    settings = {
        "penalty": 1.5, "epsilon": 2.0, "delta": 1e-3, "steps": 1, "batch_size": 6, "max_grad_norm": C,
        "w_max_grad_norm": 0.4, "w_radius": 1e6, "group_frequencies": {0: 0.5, 1: 0.5}, "noise": "study",
        "random_state": 0,
    }  # fmt: skip
    return dpf.DPFermiClassifier(**settings | changes)


def penalised_rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 2)) * 10.0 ** rng.uniform(-1, 4, size=(6, 1))
    return {"X": X, "y": np.array([0, 1] * 3), "sensitive_features": np.array([0, 1, 1, 0, 1, 0])}


def test_a_record_moves_penalised_sums_by_the_clipping_norms_at_most():
    moves, w_moves = [], []
    for seed in range(20):
        data = penalised_rows(seed)
        fewer = {name: values[1:] for name, values in data.items()}
        # the whole of the rows in every batch, so that both runs have the multiplier of one Gaussian step
        one, two = fermi().fit(**data), fermi(batch_size=5).fit(**fewer)
        assert one.noise_multiplier_ == two.noise_multiplier_
        moves.append(np.linalg.norm(6 * weights(one) - 5 * weights(two)) / 0.005)
        start = np.full((2, 2), math.sqrt(0.5))
        w_moves.append(np.linalg.norm(6 * (one.W_ - start) - 5 * (two.W_ - start)) / (0.01 * 1.5))
    assert C * (1 - 1e-6) <= max(moves) <= C * (1 + 1e-9)
    assert 0.4 * (1 - 1e-6) <= max(w_moves) <= 0.4 * (1 + 1e-9)


@pytest.mark.parametrize("penalty", [1.5, 0.0])
def test_the_noise_of_a_penalised_step(penalty, monkeypatch):
    none, unit = (
        with_normals(value, lambda: fermi(penalty=penalty).fit(**penalised_rows()), monkeypatch)
        for value in (0.0, 1.0)
    )
    root = math.sqrt(2) if penalty else 1.0  # without a penalty W is not released
    due = 0.005 / 6 * root * unit.noise_multiplier_ * C
    assert abs(weights(unit) - weights(none)) == pytest.approx(np.full(3, due), rel=1e-10)
    w_due = 0.01 * penalty / 6 * root * unit.noise_multiplier_ * 0.4
    assert pytest.approx(np.full((2, 2), w_due), rel=1e-10) == unit.W_ - none.W_


def test_clip_and_radius_of_w_follow_from_the_released_frequencies(monkeypatch):
    # unless they are given; those of the rows would tell how large the smaller group is, for nothing
    counted = {"group_frequencies": None, "frequency_epsilon": 0.4, "w_max_grad_norm": None, "w_radius": None}
    none, unit = (
        with_normals(value, lambda: fermi(**counted).fit(**penalised_rows()), monkeypatch)
        for value in (0.0, 1.0)
    )
    least = unit.group_frequencies_.min()
    assert abs(least - 0.5) > 0.02  # the rows' own
    w_due = 0.01 * 1.5 / 6 * math.sqrt(2) * unit.noise_multiplier_ * 2 / math.sqrt(least)
    assert pytest.approx(np.full((2, 2), w_due), rel=1e-10) == unit.W_ - none.W_
    far = fermi(**counted, w_learning_rate=1e6).fit(**penalised_rows())
    assert far.group_frequencies_.min() == pytest.approx(least, rel=EXACT)
    assert np.linalg.norm(far.W_) == pytest.approx(math.sqrt(2 / least), rel=1e-9)


def test_the_cost_of_penalised_steps_and_of_the_frequencies():
    data = penalised_rows()
    with study_requests() as asked:
        fitted = fermi(group_frequencies=None, frequency_epsilon=0.4, steps=3, batch_size=2).fit(**data)
    statement = fitted.privacy_statement_
    (counted, steps) = statement.parts
    assert (counted.epsilon, counted.delta, counted.relation) == (0.4, 0.0, "add-remove")
    # one record more moves one group's count by 1
    assert [(kind, scale) for kind, scale in asked if kind == "laplace"] == [
        ("laplace", pytest.approx(1 / 0.4, rel=EXACT))
    ]
    assert statement.epsilon == pytest.approx(0.4 + steps.epsilon, rel=EXACT)
    assert 1.9995 <= statement.epsilon <= 2.0
    low, high = delta_bounds(fitted.noise_multiplier_, 2 / 6, 3, "add-remove", steps.epsilon)
    assert high < 1.02 * low
    assert low <= 1e-3
    assert delta_bounds(0.95 * fitted.noise_multiplier_, 2 / 6, 3, "add-remove", steps.epsilon)[0] > 1e-3
