import numpy as np
import pytest
import torch

from dpfair_lib.learners.gathered_steps import clipped_factors, compiled_steps, steps_in_order

WIDTH, RECORDS_, MODELS = 3, 7, 2
BATCHES = ([0, 3, 3], [], [6, 1], [5])


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(RECORDS_, WIDTH))
    reach, slack = np.linalg.norm(rows, axis=1) / 0.8, np.zeros(RECORDS_)
    noise, weights = rng.normal(size=(len(BATCHES), MODELS, WIDTH)), rng.normal(size=(MODELS, WIDTH))
    return rows, reach, slack, noise, weights


def by_hand(rows, reach, noise, weights, half_width, length):
    weights = weights.copy()
    for batch, added in zip(BATCHES, noise, strict=True):
        for model in range(MODELS):
            total = np.zeros(WIDTH)
            for record in batch:
                z = rows[record] @ weights[model]
                logistic, hinge = (
                    1 / (1 + np.exp(-z)),
                    np.clip((1 + half_width + z) / (2 * half_width or 1), 0, 1),
                )
                factor = hinge if half_width else logistic
                total += factor / max(factor * reach[record], 1.0) * rows[record]
            weights[model] = weights[model] - length * total + added[model]
    return weights


@pytest.mark.parametrize("half_width", [0.0, 0.5])
@pytest.mark.parametrize("steps", [steps_in_order, compiled_steps()])
def test_steps_are_those_of_loops_over_records_and_change_the_weights_in_place(problem, half_width, steps):
    rows, reach, slack, noise, weights = (torch.tensor(array) for array in problem)
    drawn = torch.tensor([at for batch in BATCHES for at in batch])
    edges = [0, *np.cumsum([len(batch) for batch in BATCHES]).tolist()]
    found = steps(rows, reach, slack[:1], half_width, drawn, edges, noise, weights, 0.3)
    assert found.data_ptr() == weights.data_ptr()
    raw_rows, raw_reach, _, raw_noise, raw_weights = problem
    expected = by_hand(raw_rows, raw_reach, raw_noise, raw_weights, half_width, 0.3)
    assert found.numpy() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_no_clipped_gradient_is_longer_than_the_norm(problem):
    rows, reach, _, _, weights = problem
    factors = clipped_factors(
        torch.tensor(rows),
        torch.tensor(reach),
        torch.zeros(1, dtype=torch.float64),
        0.0,
        torch.tensor(9 * weights),
    ).numpy()
    lengths = factors * np.linalg.norm(rows, axis=1)
    assert lengths.max() == pytest.approx(0.8, rel=1e-12)
    assert (lengths < 0.79).any()  # and what is shorter is left as it is
