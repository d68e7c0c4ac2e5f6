"""The divisor of the noisy sums: computed from the number of rows, or a public number given beforehand."""

import numpy as np
import pytest
import torch

from dpfair_lib import DPLogisticRegression
from dpfair_lib.learners import fused_backend, opacus_backend
from dpfair_lib.learners.settings import Steps

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [0.5, 1.0, 4.0]
Y = (X @ [1.0, -1.0, 0.3] + RNG.normal(size=60) > 0).astype(int)
CPU = torch.device("cpu")
GOOD = {
    "noise_multiplier": 2.0, "delta": 1e-5, "max_grad_norm": 1.5, "sample_rate": 0.25, "steps": 5,
    "learning_rate": 0.1, "random_state": 0, "noise": "study",
}  # fmt: skip
BACKENDS = {"fused": fused_backend.train, "opacus": opacus_backend.train}


def steps(**changes):
    plain = {
        "noise_multiplier": 1.0, "max_grad_norm": 1.5, "sample_rate": 1.0, "count": 1, "learning_rate": 1.0,
        "fit_intercept": True,
    }  # fmt: skip
    return Steps(**{**plain, **changes})


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_default_is_rate_times_rows(backend):
    default, same, other = (
        DPLogisticRegression(**GOOD, backend=backend, expected_batch_size=size).fit(X, Y)
        for size in (None, 0.25 * 60, 30.0)
    )
    assert np.array_equal(default.coef_, same.coef_)
    assert not np.allclose(default.coef_, other.coef_)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("rate", [0.3, 1.0])
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_divides_the_sum_and_its_noise_and_nothing_else(backend, rate, shared):
    # the first step starts at 0, so that it is the released sum over the divisor
    sums = [
        BACKENDS[backend](
            X, Y, steps(sample_rate=rate, expected_batch_size=size), np.random.SeedSequence(0).spawn(2), CPU,
            shared_batches=shared,
        ) * (rate * 60 if size is None else size)
        for size in (None, 7.0, 1000.5)
    ]  # fmt: skip
    assert sums[1] == pytest.approx(sums[0], rel=1e-12, abs=1e-13)
    assert sums[2] == pytest.approx(sums[0], rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_a_given_divisor_keeps_a_further_record_within_the_clipping_norm(backend):
    """What the statement says of add-remove: with one record more, the release moves by at most C / divisor."""
    more = np.vstack([X, [[0.0, 0.0, 0.0]]]), np.append(Y, 1)  # its gradient is −1/2 for the intercept alone
    moves = {}
    for size in (None, 15.0):
        given = steps(noise_multiplier=3.0, expected_batch_size=size)
        pair = [
            BACKENDS[backend](x, y, given, np.random.SeedSequence(1).spawn(1), CPU)[0]
            for x, y in ((X, Y), more)
        ]
        moves[size] = pair[1] - pair[0]
    assert moves[15.0] == pytest.approx([0, 0, 0, 0.5 / 15], abs=1e-12)
    # the default's divisor is another with 61 rows, and all weights move, the noise with them
    assert (abs(moves[None][:3]) > 1e-4).all()


def test_the_statement_says_what_is_public():
    counted, fixed = (
        DPLogisticRegression(**GOOD, expected_batch_size=size).fit(X, Y).privacy_statement_
        for size in (None, 15)
    )
    assert any("so the number of rows" in known for known in counted.public)
    assert not any("number of rows" in known for known in fixed.public)
    assert any("expected batch size, a number given" in known for known in fixed.public)
    assert (counted.epsilon, counted.delta, counted.relation) == (fixed.epsilon, fixed.delta, fixed.relation)
    assert "two labels" in str(fixed)


@pytest.mark.parametrize("size", [0, -1.0, np.nan, np.inf, "ten", True])
def test_bad_sizes_are_refused(size):
    with pytest.raises(ValueError, match=r"expected_batch_size: found .*, expected a positive finite number"):
        DPLogisticRegression(**GOOD, expected_batch_size=size).fit(X, Y)
