import math

import pytest

from dpfair_lib.margins.finite_sample import sampling_terms, smallest_sample


def test_by_hand():
    assert smallest_sample([0.5, 0.25, 0.25], 0.1) == pytest.approx(8 * math.log(70) / 0.25)
    made = sampling_terms(100, [0.5, 0.5], 0.1, b3=2, b4=0.5)
    assert made.coefficients == pytest.approx(math.sqrt(math.log(100) / 50))
    assert made.accuracies == pytest.approx([math.sqrt(math.log(100) / 50)] * 2)
    made = sampling_terms(100, [0.5, 0.5], 0.1, b3=2, b4=0.5, dimension=3, labels=2)
    assert made.accuracies == pytest.approx(
        [math.sqrt(64 * (3 * math.log(25) + 6 * math.log(2) + math.log(400)) / 50)] * 2
    )
