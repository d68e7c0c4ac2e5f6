"""What the comparison's training reveals of one record, against quadrature, simulation and real training."""

import inspect
import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, norm

from dpfair_lib.learners.fermi_leak import (
    bounded_rows_epsilon,
    bounded_rows_multiplier,
    law_delta,
    released_path_delta,
    released_weight_delta,
    weight_law,
)
from dpfair_lib.learners.fermi_penalty import clipped_w_sum, residuals
from dpfair_lib.learners.fermi_training import FermiSteps, printed_noise, train_as_run
from dpfair_lib.privacy import dp_sgd_epsilon, gaussian_delta

CLIP = 5.0
SIZES = {"adult": {"n": 33_916, "smallest_group": 11_007}, "credit": {"n": 22_500, "smallest_group": 8_916}}
FEATURES = {"adult": 102, "credit": 85}
PLAN = {"n": 64, "features": 1, "epochs": 6, "batch_size": 16, "learning_rate": 0.1, "clip": CLIP}


def tail(points, chances, threshold):
    """Return Pr(θ ≥ threshold)."""
    return chances[points >= threshold - 1e-9].sum()


@pytest.mark.parametrize(
    ("data", "epsilon", "least"),
    [("adult", 3.0, 0.32), ("adult", 9.0, 0.40), ("credit", 3.0, 0.33), ("credit", 9.0, 0.41)],
)
def test_final_weights_alone_break_the_stated_guarantee(data, epsilon, least):
    sizes = SIZES[data]
    certified = released_weight_delta(epsilon, features=FEATURES[data], epochs=50, **sizes)
    assert certified > least  # where 1e-5 is promised
    steps = 50 * -(-sizes["n"] // 1024)
    deviation, _ = printed_noise(epsilon, 1e-5, sizes["n"], steps, (sizes["smallest_group"] - 1) / sizes["n"])
    law = weight_law(deviation, n=sizes["n"], features=FEATURES[data], epochs=50)
    assert certified < law_delta(epsilon, *law) < certified + 0.18
    # the threshold is the best of all tests
    chances = law[1]
    assert law_delta(epsilon, *law) == pytest.approx(
        np.maximum(chances - math.exp(epsilon) * chances[::-1], 0).sum(), abs=1e-5
    )
    assert law_delta(epsilon, *law) < released_path_delta(epsilon, epochs=50, **sizes)


def test_noise_stated_for_another_epsilon():
    sizes = SIZES["credit"]
    plan = {"features": 85, "epochs": 50, **sizes}
    more = released_weight_delta(9.0, stated=3.0, **plan)
    assert more < released_weight_delta(4.0, stated=3.0, **plan) < released_weight_delta(3.0, **plan)
    assert released_weight_delta(800.0, stated=3.0, **plan) == 0
    assert released_path_delta(9.0, stated=3.0, epochs=50, **sizes) < released_path_delta(
        9.0, epochs=50, **sizes
    )


def test_law_of_one_step_is_that_of_quadrature():
    # one batch, one epoch: θ = u + J 1[u < 0] + noise, u uniform on ±1
    plan = {**PLAN, "n": 10, "epochs": 1}
    law, lower = (weight_law(3.0, kind=kind, cells=100, **plan) for kind in ("law", "below"))
    for threshold in (-0.6, -0.1, 0.0, 0.25, 0.7):
        exact = 0.5 * sum(
            quad(lambda u, to: norm.sf((to - u) / 0.3), *ends, args=(threshold - jump,))[0]
            for jump, ends in ((0.5, (-1, 0)), (0.0, (0, 1)))
        )
        at = round(threshold / 0.005) * 0.005
        assert tail(*law, at) == pytest.approx(exact, abs=1e-5)
        reached = tail(*lower, at)
        assert exact - 0.15 < reached < exact


def simulated(n, batch_size, epochs, noise, jump, runs, rng):
    """Draw θ after training, step by step."""
    theta = rng.uniform(-1, 1, runs)
    for _ in range(epochs):
        batch = rng.integers(n, size=runs) // batch_size
        for at in range(-(-n // batch_size)):
            theta += jump * ((batch == at) & (theta < 0)) + noise * rng.normal(size=runs)
    return theta


def holds(count, runs, chance, failing=1e-6):
    """Say whether a chance is in the exact interval of a count."""
    low, high = (
        beta.ppf(failing / 2, count, runs - count + 1),
        beta.ppf(1 - failing / 2, count + 1, runs - count),
    )
    return low < chance < high


def test_law_is_that_of_simulated_steps():
    # the last batch has one row of 21: a law with equal chances of the batches is told apart
    runs, rng = 200_000, np.random.default_rng(0)
    theta = simulated(21, 20, 3, 0.5, 0.5, runs, rng)
    plan = {**PLAN, "n": 21, "batch_size": 20, "epochs": 3}
    law, lower = (weight_law(5.0, kind=kind, **plan) for kind in ("law", "below"))
    fault = weight_law(5.0, **{**plan, "n": 40})
    missed = 0
    for threshold in (-1.0, -0.5, 0.0, 0.2, 0.5, 1.0):
        count = int((theta >= threshold).sum())
        assert holds(count, runs, tail(*law, threshold))
        assert tail(*lower, threshold) < count / runs
        missed += not holds(count, runs, tail(*fault, threshold))
    assert missed > 0


@pytest.mark.parametrize("deviation", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("features", [1, 100])
def test_process_from_below_stays_below(deviation, features):
    plan = {**PLAN, "features": features, "n": 100}
    points, chances = weight_law(deviation, cells=60, **plan)
    assert chances.sum() == pytest.approx(1, abs=1e-10)
    above = np.cumsum(chances[::-1])[::-1]
    last = np.inf
    for cells in (2, 10, 60):
        rough, lower = weight_law(deviation, kind="below", cells=cells, **plan)
        assert lower.sum() == pytest.approx(1, abs=1e-10)
        below = np.cumsum(lower[::-1])[::-1]
        excess = below - np.interp(rough, points, above)
        assert excess.max() < 1e-5
        assert -excess.min() < last  # finer grids come nearer
        last = -excess.min()
        assert law_delta(0.5, rough, lower) <= law_delta(0.5, points, chances)


def test_law_is_that_of_the_training():
    deviation, runs = 2.0, 400
    n, batch, epochs, rate = (PLAN[name] for name in ("n", "batch_size", "epochs", "learning_rate"))
    steps = FermiSteps(
        strengths=np.array([0.0, 3.0]), count=epochs * n // batch, batch_size=batch, learning_rate=rate,
        w_learning_rate=0.01, clip=CLIP, w_radius=5.0, deviation=deviation,
    )  # fmt: skip
    features = np.column_stack([np.zeros(n), np.ones(n)])
    features[0, 0] = 1e9
    data = features, np.arange(n) % 2 == 0, np.arange(n) % 2
    final = np.array(
        [
            train_as_run(data, np.array([0.5, 0.5]), steps, np.random.SeedSequence(r), 0)[0][:, 0]
            for r in range(runs)
        ]
    )
    assert final[:, 0] == pytest.approx(final[:, 1], abs=1e-9)  # whatever λ is
    points, chances = weight_law(deviation, **PLAN)
    for threshold in (0.0, 1.0, 2.0):
        count = int((final[:, 0] >= threshold).sum())
        assert holds(count, runs, tail(points, chances, threshold), failing=1e-4)
    # the other record's law is far off
    count = int((final[:, 0] >= 0).sum())
    assert not holds(count, runs, 1 - tail(points, chances, 0), failing=1e-4)


def test_loss_of_all_that_is_on_the_way():
    # −C and 0 where θ < 0, 0 and C where θ > 0: the privacy loss is normal with mean μ²/2 and variance μ²
    rng, runs, epochs, batches, sigma = np.random.default_rng(0), 100_000, 5, 3, 6.0
    theta, loss = rng.uniform(-1, 1, runs), np.zeros(runs)
    for _ in range(epochs):
        batch = rng.integers(batches, size=runs)
        for at in range(batches):
            drawn, wrong = batch == at, theta < 0
            seen = np.where(drawn & wrong, -CLIP, 0) + sigma * rng.normal(size=runs)
            other = np.where(drawn & ~wrong, CLIP, 0)
            loss += ((seen - other) ** 2 - (seen + np.where(drawn & wrong, CLIP, 0)) ** 2) / (2 * sigma**2)
            theta -= 0.1 * seen
    mu = CLIP * math.sqrt(epochs) / sigma
    assert loss.mean() == pytest.approx(mu**2 / 2, abs=6 * mu / math.sqrt(runs))
    assert loss.var() == pytest.approx(mu**2, rel=6 * math.sqrt(2 / runs))
    for epsilon in (0.5, 2.0):
        lost = np.maximum(1 - np.exp(epsilon - loss), 0)
        found = gaussian_delta(epsilon, sigma, CLIP * math.sqrt(epochs))
        assert lost.mean() == pytest.approx(found, abs=6 * lost.std() / math.sqrt(runs))
    n, steps = 33_916, 1700
    deviation, _ = printed_noise(3.0, 1e-5, n, steps, 11_006 / n)
    assert released_path_delta(150.0, stated=3.0, epochs=50, **SIZES["adult"]) == pytest.approx(
        gaussian_delta(150.0, deviation, CLIP * math.sqrt(50))
    )


# -- bounded rows


def test_moves_of_bounded_rows():
    # no record of norm R moves the two means by more, in units of the noise, than the multiplier says
    row_norm, strength, radius, deviations = 3.0, 1.3, 5.0, printed_noise(3.0, 1e-5, 5000, 250, 999 / 5000)
    plan = {
        "row_norm": row_norm,
        "penalty": strength,
        "n": 5000,
        "smallest_group": 1000,
        "epochs": 50,
        "batch_size": 1000,
    }
    multiplier = bounded_rows_multiplier(3.0, **plan)
    assert bounded_rows_epsilon(3.0, **plan) == dp_sgd_epsilon(multiplier, 0.2, 250, 1e-5, "pld")
    share, p, largest = np.array([0.2, 0.8]), np.linspace(0, 1, 2001)[:, None], 0.0
    for entry, group, label in itertools.product((-radius, radius), (0, 1), (0, 1)):
        W = np.zeros((len(p), 2, 2))
        W[:, 0, 1] = entry  # the smaller group's; one model for each p, of one record
        of_odds = residuals(p, np.array([label]), np.array([group]), share, np.full(len(p), strength), W)
        of_w = clipped_w_sum(p, np.array([group]), share, W, math.inf)[:, 0, 1]
        moves = np.hypot(row_norm * of_odds[:, 0] / deviations[0], of_w / deviations[1]) / 1000
        largest = max(largest, moves.max())
    assert 0.99 / multiplier < largest < 1.0001 / multiplier


def test_bounded_rows_on_adult():
    plan = {"epochs": 50, "row_norm": 15.0, **SIZES["adult"]}
    kept = bounded_rows_epsilon(3.0, penalty=0.5, **plan)
    assert 1.5 < kept < 1.7
    assert bounded_rows_epsilon(3.0, penalty=0.5, relation="replace-one", **plan) > 3.0
    assert bounded_rows_epsilon(3.0, penalty=0.0, **plan) < 0.05  # without W
    assert bounded_rows_epsilon(3.0, penalty=0.5, **{**plan, "row_norm": 1000.0}) > 10 * kept


# -- bad input


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": -1.0}, "epsilon: found -1"),
        ({"stated": 0.0}, "stated: found 0"),
        ({"n": 0}, "n: found 0"),
        ({"smallest_group": 1}, "smallest_group: found 1, expected 2 to half of the 1000 rows"),
        ({"smallest_group": 600}, "smallest_group: found 600"),
        ({"features": 0}, "features: found 0"),
        ({"epochs": 0}, "epochs: found 0"),
        ({"batch_size": 1.5}, "batch_size: found 1.5"),
        ({"delta": 0.0}, "delta: found 0"),
        ({"learning_rate": -0.1}, "learning_rate: found -0.1"),
        ({"clip": math.inf}, "clip: found inf"),
        ({"radius": 0}, "radius: found 0"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    good = {"epsilon": 1.0, "n": 1000, "smallest_group": 400, "features": 10, "epochs": 2}
    with pytest.raises(ValueError, match=message):
        released_weight_delta(**{**good, **changes})


def test_other_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="kind: found 'above', expected one of"):
        weight_law(1.0, kind="above", **PLAN)
    with pytest.raises(ValueError, match="cells: found 50, with which 4 batches need"):
        weight_law(2.0, **{**PLAN, "clip": 1e-6})
    with pytest.raises(ValueError, match="deviation: found 0"):
        weight_law(0.0, **PLAN)
    for changes, message in (
        ({"row_norm": 0.0}, "row_norm: found 0"),
        ({"penalty": -1.0}, "penalty: found -1"),
        ({"batch_size": 2000}, "batch_size: found 2000, expected at most the 1000 rows"),
        ({"relation": "local"}, "relation: found 'local'"),
    ):
        good = {
            "row_norm": 1.0,
            "penalty": 1.0,
            "n": 1000,
            "smallest_group": 400,
            "epochs": 2,
            "batch_size": 100,
        }
        with pytest.raises(ValueError, match=message):
            bounded_rows_epsilon(3.0, **{**good, **changes})


@pytest.mark.parametrize(
    "function", [released_weight_delta, released_path_delta, bounded_rows_epsilon, bounded_rows_multiplier]
)
def test_what_is_not_given_is_as_in_the_study(function):
    run = {"batch_size": 1024, "delta": 1e-5, "clip": 5.0, "radius": 5.0}
    parameters = inspect.signature(function).parameters
    assert {name: parameters[name].default for name in run} == run
    if "learning_rate" in parameters:
        assert parameters["learning_rate"].default == 0.005


def test_a_law_that_is_kept_cannot_be_changed():
    for part in weight_law(5.0, **PLAN):
        assert not part.flags.writeable
