import numpy as np
import pytest

from dpfair_lib.experiments.fair_learners import ticks

EXPECTED = {
    "Algorithm 2": (True, True, True),
    "odds by counts": (True, True, False),
    "odds by reports": (True, True, False),
    "functional mechanism": (False, False, True),
    "group clipping": (
        False,
        False,
        True,
    ),  # built here for linear models alone; the publication's for any gradient
    "global scaling": (False, False, True),
    "DP-FERMI": (False, True, True),  # its largest penalty leaves a constant; a smaller one leaves a gap
    "exponentiated gradient": (
        False,
        False,
        False,
    ),  # its learner here is least squares, which sees means alone
    "Lagrangian": (False, False, True),  # built here for linear models, and for the whole record
}


@pytest.mark.parametrize("name", ticks.PRINTED)
def test_the_ticks_that_stand(name):
    measured = ticks.measure(name)
    assert ticks.found(measured) == EXPECTED[name]
    # far from the tolerance on both sides
    for value in measured[:2]:
        assert value < 2 / 3 * ticks.TOLERANCE or value > 3 * ticks.TOLERANCE


def test_another_seed_gives_the_same_ticks():
    for name in ("Algorithm 2", "odds by reports", "group clipping", "exponentiated gradient", "Lagrangian"):
        assert ticks.found(ticks.measure(name, seed=1)) == EXPECTED[name]


def test_no_linear_model_has_all_three_labels():
    """Of the labels of two binary features only the exclusive or cannot be told by a line."""
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    target = corners[:, 0] ^ corners[:, 1]
    lines = np.random.default_rng(0).normal(size=(5000, 3))
    answers = (lines[:, :2] @ corners.T + lines[:, 2:] > 0).astype(int)
    assert (answers != target).mean(axis=1).min() == 0.25


def test_the_groups_have_equal_mean_features_and_unequal_labels():
    group = np.random.default_rng(1).integers(0, 2, 20_000)
    x, guesses, labels = ticks.skewed(group, np.random.default_rng(0))
    means = [x[group == one].mean(axis=0) for one in (0, 1)]
    np.testing.assert_allclose(means[0], means[1], atol=0.02)
    rates = [guesses[group == one].mean() for one in (0, 1)]
    assert abs(rates[0] - rates[1]) > 0.75
    assert (labels != guesses).mean() == pytest.approx(0.05, abs=0.01)


def test_least_squares_cannot_see_a_gap_between_groups_of_equal_means(monkeypatch):
    """The sum of a group's rows is all that the learner has of it: here it is the same for both, at any price."""
    for bound in (2.0, 32.0):
        monkeypatch.setattr(ticks, "BOUNDS", (bound,))
        assert ticks.measure("exponentiated gradient").gap > 0.75


def test_a_method_that_does_nothing_has_no_tick(monkeypatch):
    """Planted: answers are the guesses as they were, so that the gap stays."""
    monkeypatch.setattr(ticks, "_answers", lambda *given: (given[2], "none"))
    assert ticks.found(ticks.measure("Algorithm 2")) == (True, False, False)
    assert ticks.found(ticks.measure("odds by counts")) == (True, False, False)


def test_a_method_of_another_table_is_refused():
    with pytest.raises(ValueError, match="name: found 'constant'"):
        ticks.measure("constant")
