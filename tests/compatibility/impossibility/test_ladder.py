from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.compatibility.impossibility.feasibility import keeps_promises
from dpfair_lib.compatibility.impossibility.ladder import least_chain_delta, mass_ladder

factors = st.fractions(1, 4, max_denominator=6)


def path(steps):
    at = np.arange(steps + 1)
    return np.ones((steps + 1, 2), dtype=bool), abs(np.subtract.outer(at, at)) == 1


@given(st.integers(1, 9), factors)
def test_the_least_delta_is_just_enough(steps, factor):
    delta = least_chain_delta(steps, factor=factor)
    ladder = mass_ladder(steps, factor=factor, delta=delta)
    assert ladder[-1] == 1
    assert mass_ladder(steps, factor=factor, delta=delta * Fraction(99, 100))[-1] < 1
    met, near = path(steps)
    mechanism = np.array([[q, 1 - q] for q in ladder], dtype=object)
    assert keeps_promises(mechanism, met, near, factor, delta)
    assert not keeps_promises(mechanism, met, near, factor, delta * Fraction(99, 100))


def test_known_values():
    assert [least_chain_delta(m, factor=1) for m in (1, 2, 5)] == [1, Fraction(1, 2), Fraction(1, 5)]
    assert least_chain_delta(3, factor=Fraction(2)) == Fraction(1, 4)
    assert mass_ladder(0, factor=2, delta=0.1) == [0]
    assert mass_ladder(9, factor=3, delta=0)[-1] == 0


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"factor: found 0\.5"):
        mass_ladder(3, factor=0.5, delta=0.1)
    with pytest.raises(ValueError, match="delta: found 2"):
        mass_ladder(3, factor=2, delta=2)
    with pytest.raises(ValueError, match="steps: found 0"):
        least_chain_delta(0, factor=2)
