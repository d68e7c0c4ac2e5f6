from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib._arguments import nonnegative
from dpfair_lib.learners.settings import Steps, sources


def steps(**changes):
    plain = {
        "noise_multiplier": 1.0, "max_grad_norm": 1.5, "sample_rate": 1.0, "count": 1, "learning_rate": 1.0,
        "fit_intercept": True,
    }  # fmt: skip
    return Steps(**{**plain, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sample_rate": 1.5}, "sample_rate: found 1.5, expected a number in"),
        ({"sample_rate": np.nan}, "sample_rate: found nan"),
        ({"count": 0}, "count: found 0, expected an integer of at least 1"),
        ({"noise_multiplier": -1.0}, "noise_multiplier: found -1"),
        ({"max_grad_norm": 0.0}, "max_grad_norm: found 0"),
        ({"learning_rate": np.inf}, "learning_rate: found inf"),
    ],
)
def test_a_backend_is_told_no_nonsense(changes, message):
    with pytest.raises(ValueError, match=message):
        steps(**changes)


def test_settings_are_plain_numbers_whatever_was_given():
    steps = Steps(
        noise_multiplier=np.float32(1), max_grad_norm=np.int64(2), sample_rate=Fraction(1, 4), count=np.int8(3),
        learning_rate=1, fit_intercept=True,
    )  # fmt: skip
    numbers = steps.noise_multiplier, steps.max_grad_norm, steps.sample_rate, steps.learning_rate
    assert ({type(number) for number in numbers}, type(steps.count)) == ({float}, int)
    assert type(nonnegative(Fraction(1, 2), "t")) is float


def test_every_replicate_has_noise_of_its_own_and_batches_of_its_own_unless_they_are_shared():
    def words(seed):
        return tuple(seed.generate_state(4))

    for shared, different in ((False, 3), (True, 1)):
        found = sources(np.random.SeedSequence(5).spawn(3), shared_batches=shared)
        batches, noises = ({words(getattr(one, name)) for one in found} for name in ("batches", "noise"))
        assert (len(batches), len(noises)) == (different, 3)
        assert not batches & noises
        # the first replicate is the same either way
        alone = sources(np.random.SeedSequence(5).spawn(1), shared_batches=False)[0]
        assert (words(alone.batches), words(alone.noise)) == (words(found[0].batches), words(found[0].noise))
