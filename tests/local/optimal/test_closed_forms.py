import itertools
import math

import numpy as np
import pytest

from dpfair_lib import (
    optimal_randomizer,
    smallest_error,
)
from dpfair_lib.local.optimal.closed_forms import perfect_channel, perfect_truth
from dpfair_lib.local.optimal.program import as_program

P, P1 = [0.5, 0.3, 0.15, 0.05], [0.2, 0.6, 0.35, 0.9]


def test_without_unfairness_in_closed_form():
    for k, x in itertools.product((2, 3, 7), (0.0, 0.1, 0.9)):
        p1 = np.linspace(0.1, 0.8, k)
        program = as_program(np.full(k, 1 / k), p1, -math.log(x) if x else math.inf, 1.0)
        channel = perfect_channel(program)
        assert program.violation(channel) <= 1e-15
        assert program.ratio(channel) <= 1e-14
        assert np.diagonal(channel) == pytest.approx(perfect_truth(k, x))


def test_equal_rates_leave_the_most_truthful_channel():
    for rate in (0.3, 1.0):
        channel = optimal_randomizer(P, [rate] * 4, 4.0, error=0.6)
        assert channel.value == 0
        assert 1 - channel.truth_probability(P) == pytest.approx(smallest_error(P, 4.0))
