"""ε of DP-FERMI as run, from both sides: closed forms, planted faults, and all pairs of records of one step."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpfair_lib.learners import fermi_bounds
from dpfair_lib.learners.fermi_bounds import enough_epsilon, least_epsilon
from dpfair_lib.learners.fermi_leak import released_path_delta, released_weight_delta
from dpfair_lib.learners.fermi_penalty import clipped_w_sum
from dpfair_lib.learners.fermi_training import printed_noise
from dpfair_lib.privacy import gaussian_delta, gaussian_epsilon

RUN = {"n": 300, "smallest_group": 80, "epochs": 2}
START = 2 * 2.866515718791946e-07  # chance that a standard normal number is beyond 5


def distances(stated, *, n, smallest_group, epochs, batch_size, delta=1e-5, clip=5.0, radius=5.0):
    batches = math.ceil(n / batch_size)
    of_weights, of_w = printed_noise(
        stated, delta, n, epochs * batches, (smallest_group - 1) / n, lipschitz=clip, radius=radius
    )
    move = 2 * (radius + 1 / math.sqrt(smallest_group / n))
    return 2 * clip / of_weights, move / of_w


@pytest.mark.parametrize("epochs", [1, 7])
@pytest.mark.parametrize("stated", [0.5, 3.0])
@pytest.mark.parametrize(
    "norms", [{}, {"clip": 1.5}, {"radius": 6.5}, {"clip": 40.0, "radius": 4.5}], ids=str
)
def test_equal_batches_are_one_gaussian_release(stated, epochs, norms):
    run = {"n": 300, "smallest_group": 80, "epochs": epochs, "batch_size": 100} | norms
    step, of_w = distances(stated, **run)
    start = 2 * ndtr(-norms.get("radius", 5.0))
    exact = gaussian_epsilon(1e-5 - start, 1.0, math.sqrt(epochs) * math.hypot(step, of_w / 100))
    assert enough_epsilon(stated, **run) == pytest.approx(exact, rel=1e-6)


def test_the_last_batch_counts_as_often_as_the_record_is_in_it():
    run = {**RUN, "batch_size": 120}  # the last batch has 60 rows: a record is there with chance 1/5
    step, of_w = distances(2.0, **run)
    found = enough_epsilon(2.0, **run)
    mean = START + sum(
        chance
        * gaussian_delta(
            found, 1.0, math.sqrt(2 * step**2 + (2 - k) * (of_w / 120) ** 2 + k * (of_w / 60) ** 2)
        )
        for k, chance in enumerate((16 / 25, 8 / 25, 1 / 25))
    )
    assert mean == pytest.approx(1e-5, rel=1e-5)
    assert mean <= 1e-5


def test_from_below_it_is_where_the_curves_of_the_two_records_cross_delta():
    for seen, curve in (
        ("last weights", lambda epsilon: released_weight_delta(epsilon, features=4, stated=4.0, **RUN)),
        ("all weights", lambda epsilon: released_path_delta(epsilon, stated=4.0, **RUN)),
    ):
        found = least_epsilon(4.0, seen=seen, features=4, **RUN)
        assert curve(found) >= 1e-5 > curve(found * (1 + 1e-6))


@pytest.mark.parametrize("stated", [0.3, 1.0, 3.0, 9.0])
@pytest.mark.parametrize("epochs", [1, 5, 50])
def test_bounds_are_in_order(stated, epochs):
    sizes = {"n": 5000, "smallest_group": 1500, "epochs": epochs}
    last, path = (
        least_epsilon(stated, seen=seen, features=9, **sizes) for seen in ("last weights", "all weights")
    )
    assert last <= path < enough_epsilon(stated, **sizes)


def test_half_of_the_distance_would_be_too_little(monkeypatch):
    """With L in place of 2L the bound is below what two records reach: a mean can be turned around."""
    run = {"n": 2048, "smallest_group": 600, "epochs": 3}
    step, _ = distances(3.0, **run, batch_size=1024)
    turned = gaussian_epsilon(
        1e-5, 1.0, math.sqrt(3) * step
    )  # one record turns the clipped mean in each epoch
    assert enough_epsilon(3.0, **run) >= turned
    usual = printed_noise
    monkeypatch.setattr(
        fermi_bounds, "printed_noise", lambda *given, **more: (2 * usual(*given, **more)[0], 1e9)
    )
    assert enough_epsilon(3.0, **run) < turned


def test_no_two_records_move_the_derivative_by_w_further():
    share = 0.3
    most = 2 * (5 + 1 / math.sqrt(share))
    found = [
        clipped_w_sum(np.array([[p]]), np.array([group]), np.array([1 - share, share]), weight, math.inf)[
            0, 1, 1
        ]
        for w in np.linspace(-5, 5, 41)
        for weight in [np.array([[[0, 0], [0, w]]])]
        for p, group in itertools.product(np.linspace(0, 1, 11), (0, 1))
    ]
    per_w = np.reshape(found, (41, -1))
    widths = per_w.max(axis=1) - per_w.min(axis=1)
    assert widths.max() == pytest.approx(most)  # attained at w = −5
    assert (widths <= most * (1 + 1e-12)).all()


def test_every_epsilon_up_to_the_largest_is_found():
    run = {"n": 300, "smallest_group": 80, "epochs": 1, "batch_size": 100}
    step, of_w = distances(1.0, **run)
    distance = math.hypot(step, of_w / 100)
    wanted = gaussian_epsilon(1e-5 - START, 1.0, 137.0)  # the noise is in proportion to 1/stated
    assert fermi_bounds.MOST > wanted > 2**13  # beyond the last power of 2
    assert enough_epsilon(137.0 / distance, **run) == pytest.approx(wanted, rel=1e-6)
    with pytest.raises(ValueError, match="found δ above 1e-05 up to ε = 10000"):
        enough_epsilon(140.0 / distance, **run)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stated": 0}, "stated: found 0"), ({"n": 0}, "n: found 0"), ({"epochs": 0}, "epochs: found 0"),
        ({"smallest_group": 1}, "smallest_group: found 1, expected 2 to n = 300"),
        ({"smallest_group": 301}, "smallest_group: found 301"), ({"delta": 1}, "delta: found 1"),
        ({"clip": -1}, "clip: found -1"), ({"radius": 0}, "radius: found 0"),
        ({"batch_size": 0}, "batch_size: found 0"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        enough_epsilon(**{"stated": 3.0, **RUN, **wrong})


def test_what_is_seen_is_one_of_two():
    with pytest.raises(ValueError, match="seen: found 'W', expected"):
        least_epsilon(3.0, seen="W", features=4, **RUN)


@pytest.mark.parametrize("off", [-1e-3, 1e-3])
def test_a_root_that_is_none_is_refused(off, monkeypatch):
    """Below the crossing the curve is above δ at both ends, and beyond it below: each end is looked at."""
    monkeypatch.setattr(fermi_bounds, "brentq", lambda *_, **__: 0.5 + off)
    with pytest.raises(ValueError, match=r"crosses δ = 1e-05 more than once near ε = 0\.[45]"):
        fermi_bounds._crossing(lambda epsilon: 1e-5 * math.exp(0.5 - epsilon), 1e-5)


def test_a_crossing_next_to_0_is_between_0_and_a_little_more():
    low, high = fermi_bounds._crossing(lambda epsilon: 1e-5 * (1 + 1e-9 - epsilon), 1e-5)
    assert low == 0.0
    assert 1e-9 <= high < 1e-7
