import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfair_lib as dpf
from dpfair_lib.compatibility.impossibility.acceptable import hypothesis_grid
from dpfair_lib.compatibility.impossibility.constructions import sign_pair
from dpfair_lib.compatibility.impossibility.criteria import beats_constants, fair_within
from dpfair_lib.compatibility.impossibility.feasibility import (
    Infeasible,
    decide,
    is_contradiction,
    keeps_promises,
)
from dpfair_lib.compatibility.impossibility.mechanism_programs import largest_mass

FAIR, ACCURATE = fair_within("opportunity"), beats_constants()


@st.composite
def programs(draw):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    met = np.array(draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m))).reshape(n, m)
    near = np.array(draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    near = np.triu(near, 1)
    return met, near | near.T, draw(st.integers(1, 4))


@given(programs())
def test_the_answer_is_proved_and_a_linear_programming_solver_agrees(program):
    met, near, factor = program
    answer = decide(met, near, factor)
    if answer.feasible:
        assert keeps_promises(answer.mechanism, met, near, 1)
    else:
        assert is_contradiction(answer.infeasible, met, near, factor)
        assert not is_contradiction(answer.infeasible, np.ones_like(met), near, factor)
    everything = np.ones(met.shape[1], dtype=bool)
    solved = largest_mass(met, near, factor=factor, delta=0, at=0, favoured=everything)
    assert (solved is not None) == answer.feasible


def test_a_chain_forbids_what_no_two_neighbours_do():
    met = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    near = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    assert decide(met[:2], near[:2, :2], 3).feasible
    answer = decide(met, near, 3)
    assert not answer.feasible
    assert max(answer.infeasible.ratio.values()) == 3  # two steps: the second row is multiplied by the factor
    apart = near.copy()
    apart[1, 2] = apart[2, 1] = False
    assert decide(met, apart, 3).components == ((0, 1), (2,))
    assert decide(met, apart, 3).feasible


def test_wrong_proofs_are_not_accepted():
    met = np.array([[1, 0], [0, 1]], dtype=bool)
    near = ~np.eye(2, dtype=bool)
    good = decide(met, near, 2).infeasible
    assert is_contradiction(good, met, near, 2)
    small = Infeasible(*({at: v / 1000 for at, v in part.items()} for part in (good.total, good.ratio)))
    assert is_contradiction(small, met, near, 2)
    assert not is_contradiction(Infeasible({0: Fraction(1)}, good.ratio), met, near, 2)
    assert not is_contradiction(Infeasible(good.total, {}), met, near, 2)
    assert not is_contradiction(good, met, np.zeros((2, 2), dtype=bool), 2)
    assert not is_contradiction(dataclasses.replace(good, ratio={(0, 1, 0): Fraction(-1)}), met, near, 2)
    half = np.full((2, 2), Fraction(1, 2))
    assert not keeps_promises(half, met, near, 1)
    assert keeps_promises(half, np.ones((2, 2), dtype=bool), near, 1)
    assert not keeps_promises(half * 2, np.ones((2, 2), dtype=bool), near, 1)


def test_delta_is_what_the_worst_event_may_exceed():
    mechanism = np.array(
        [[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], [0, Fraction(1, 2), Fraction(1, 2)]]
    )
    everywhere, near = np.ones((2, 3), dtype=bool), ~np.eye(2, dtype=bool)
    # D₁ → D₂: ½ on the first; D₂ → D₁: ¼ on each of the others
    assert keeps_promises(mechanism, everywhere, near, 1, Fraction(1, 2))
    assert not keeps_promises(mechanism, everywhere, near, 1, Fraction(49, 100))
    assert keeps_promises(mechanism, everywhere, near, 2, Fraction(1, 2))


def test_the_public_function_on_two_opposite_laws():
    laws, grid = sign_pair(Fraction(1, 50)), hypothesis_grid(2)
    answer = dpf.pure_dp_feasible(laws, grid, zeta=Fraction(1, 50), epsilon=2.5, fair=FAIR, accurate=ACCURATE)
    assert not answer.feasible
    assert answer.factor == 27
    assert answer.mechanism is None
    closer = {"zeta": Fraction(1, 51), "fair": FAIR, "accurate": ACCURATE}
    apart = dpf.pure_dp_feasible(laws, grid, epsilon=0, **closer)
    assert apart.feasible
    assert apart.infeasible is None
    assert apart.components == ((0,), (1,))
    with pytest.raises(ValueError, match="epsilon: found inf, expected a finite number"):
        dpf.pure_dp_feasible(laws, grid, epsilon=np.inf, **closer)
    with pytest.raises(ValueError, match=r"epsilon: found 1e.308, expected at most 1000"):
        dpf.pure_dp_feasible(laws, grid, epsilon=1e308, **closer)
    with pytest.raises(ValueError, match="epsilon: found -1"):
        dpf.pure_dp_feasible(laws, grid, epsilon=-1, **closer)
