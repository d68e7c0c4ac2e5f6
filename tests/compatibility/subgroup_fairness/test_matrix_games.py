import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.compatibility.subgroup_fairness.matrix_games import average_regrets, equilibrium_gaps


@given(st.integers(0, 10_000))
def test_gaps_of_the_averages_add_up_to_the_regrets(seed):
    rng = np.random.default_rng(seed)
    rounds, rows, columns = rng.integers(1, 6, size=3)
    payoffs = rng.normal(size=(rows, columns))
    learner, auditor = rng.dirichlet(np.ones(rows), size=rounds), rng.dirichlet(np.ones(columns), size=rounds)
    gaps = equilibrium_gaps(payoffs, learner, auditor)
    assert min(gaps) >= -1e-12
    assert sum(gaps) == pytest.approx(sum(average_regrets(payoffs, learner, auditor)), abs=1e-12)


@pytest.mark.parametrize(
    ("learner", "auditor", "match"),
    [
        (np.eye(3), np.eye(2), "learner, auditor: found shapes"),
        (np.eye(2)[:1], np.eye(2), "learner, auditor: found shapes"),
        (np.ones(2), np.eye(2), "expected tables"),
    ],
)
def test_what_cannot_be_is_refused(learner, auditor, match):
    with pytest.raises(ValueError, match=match):
        average_regrets(np.ones((2, 2)), learner, auditor)
