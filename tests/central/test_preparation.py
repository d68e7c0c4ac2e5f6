from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.central.preparation import (
    SMALLEST_DEVIATION,
    _unit_sums,
    clipped_gradients,
    private_constants,
    scale_rows,
    unit_moments,
    unit_moments_sensitivity,
)

BOUNDS = np.array([[0.0, 10.0], [-1.0, 1.0]])


def test_rows_are_clipped_shifted_and_scaled():
    scaled = scale_rows([[12, 0.5], [4, -3]], [5, 0], [2.5, 0.5], BOUNDS)
    assert np.array_equal(scaled, [[2, 1], [-0.4, -2]])


def test_fractions_stay_exact():
    bounds = np.array([[Fraction(0), Fraction(1)]], dtype=object)
    scaled = scale_rows(
        np.array([[Fraction(1, 3)]], dtype=object), [Fraction(1, 7)], [Fraction(2, 5)], bounds
    )
    assert scaled[0, 0] == (Fraction(1, 3) - Fraction(1, 7)) / Fraction(2, 5)
    moments = unit_moments(np.array([[Fraction(1, 3)], [Fraction(3)]], dtype=object), bounds)
    assert moments.tolist() == [Fraction(2, 3), Fraction(5, 9)]


def test_constants_without_much_noise_are_mean_and_deviation():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.uniform(2, 8, 4000), rng.uniform(-0.5, 0.5, 4000)])
    center, deviation, statement = private_constants(values, BOUNDS, 1e6, noise="study", rng=rng)
    assert center == pytest.approx(values.mean(axis=0), abs=1e-4)
    assert deviation == pytest.approx(values.std(axis=0), abs=1e-4)
    assert (statement.epsilon, statement.delta, statement.relation) == (1e6, 0, "replace-one")
    assert "number of rows" in statement.public
    assert not statement.guarantee


def test_noise_has_the_promised_scale_and_secure_noise_is_a_guarantee():
    values = np.tile([5.0, 0.0], (1000, 1))
    rng, scale = np.random.default_rng(1), float(unit_moments_sensitivity(1000, 2)) / 0.5
    centers = [private_constants(values, BOUNDS, 0.5, noise="study", rng=rng).center[0] for _ in range(4000)]
    assert np.mean(np.abs(np.array(centers) - 5)) == pytest.approx(10 * scale, rel=0.1)
    secure = private_constants(values, BOUNDS, 0.5)
    assert secure.privacy_statement.guarantee
    assert (secure.deviation >= SMALLEST_DEVIATION * np.array([10, 2])).all()


def test_gradients_are_those_of_the_logistic_loss_clipped_one_by_one():
    rng = np.random.default_rng(2)
    x, y, w = rng.normal(size=(50, 3)), rng.integers(0, 2, 50), rng.normal(size=3)

    def loss(at):
        return np.logaddexp(0, x @ at) - y * (x @ at)

    free = clipped_gradients(x, y, w, 1e6)
    step = 1e-6
    for column, unit in enumerate(np.eye(3)):
        slope = (loss(w + step * unit) - loss(w - step * unit)) / (2 * step)
        assert free[:, column] == pytest.approx(slope, abs=1e-6)
    clipped = clipped_gradients(x, y, w, 0.3)
    norms = np.linalg.norm(free, axis=1)
    assert np.linalg.norm(clipped, axis=1) == pytest.approx(np.minimum(norms, 0.3))
    assert clipped == pytest.approx(free * (np.minimum(norms, 0.3) / norms)[:, None])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scale_rows([[1, 2]], [0], [1, 1], BOUNDS), "center, deviation: found shapes"),
        (
            lambda: scale_rows([[1, 2]], [0, 0], [1, 0], BOUNDS),
            "deviation: found a value that is not above 0",
        ),
        (lambda: scale_rows([[1, 2]], [0, 0], [1, 1], [[0, 1]]), r"bounds: found shape \(1, 2\)"),
        (lambda: unit_moments(np.empty((0, 2)), BOUNDS), "bounds: found shape"),
        (lambda: unit_moments([[1, 2]], [[1, 1], [0, 1]]), "bounds: found a pair that is not"),
        (lambda: private_constants([[1, 2]], [[0, np.inf], [0, 1]], 1), "bounds: found a pair that is not"),
        (lambda: unit_moments([[np.nan, 2]], BOUNDS), "values: found a missing value"),
        (lambda: private_constants([[1, 2]], BOUNDS, 0), "epsilon: found 0"),
        (lambda: clipped_gradients([[1.0]], [2], [0], 1), "labels: found 2"),
        (lambda: clipped_gradients([[1.0]], [1], [0, 0], 1), "features: found shape"),
        (lambda: clipped_gradients([[1.0]], [1], [0], 0), "clip: found 0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_row_moves_the_sums_by_one_at_most_rounding_included():
    rng = np.random.default_rng(0)
    unit = np.array([[0, 1]])
    largest, floats = Fraction(0), Fraction(0)
    for _ in range(200):
        first = rng.random((100, 1))
        first[0] = 0
        second = first.copy()
        second[0] = 1
        sums = (_unit_sums(rows, unit).tolist() for rows in (second, first))
        largest = max([largest, *(Fraction(a) - Fraction(b) for a, b in zip(*sums, strict=True))])
        floats = max(floats, Fraction(float(second.sum())) - Fraction(float(first.sum())))
    assert largest == 1
    assert floats > 1  # sums as floats are would not do
    assert unit_moments(first, unit)[0] == pytest.approx(first.mean(), abs=1e-12)
