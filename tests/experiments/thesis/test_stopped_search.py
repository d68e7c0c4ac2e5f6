"""The search of the later paper's public code, and classifiers trained with what it returns."""

import math

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.experiments.thesis import stopped_search as search
from dpfair_lib.experiments.thesis.randomised_training import TEST_SHARE, coded_table
from dpfair_lib.experiments.thesis.randomised_training import run_trial as trial_of_figures
from dpfair_lib.local import optimal_randomizer
from dpfair_lib.local.optimal.program import as_program

P, P1 = np.array([0.2, 0.3, 0.5]), np.array([0.9, 0.3, 0.6])
TASK = {"setting": "lsac-family-income", "seed": 1, "levels": (0.5, 4.0), "tuned": False, "standin": 4_000}


def entries(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


def test_the_program_has_the_ratios_of_the_channel():
    rng = np.random.default_rng(0)
    for _ in range(20):
        matrix = rng.dirichlet(np.ones(3), size=3)
        reports = P @ matrix
        away = (P * P1) @ matrix / reports / (P @ P1) - 1
        it, y = search.as_ratios(P, P1, 1.0), entries(matrix)
        found = (it.C @ y + it.f) / (it.E @ y + it.g)
        assert np.allclose(found, np.r_[away, -away], atol=1e-12)
        assert it.worst(y) == pytest.approx(abs(away).max(), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_polytope_is_that_of_private_truthful_channels_without_a_bound_on_the_error(epsilon):
    it, program = search.as_ratios(P, P1, epsilon), as_program(P, P1, epsilon, 1.0)
    rng, inside = np.random.default_rng(1), 0
    for _ in range(400):
        mixed = rng.uniform()
        near = (np.eye(3) + rng.dirichlet(np.full(3, 5.0), size=3)) / 2
        matrix = (1 - mixed) * np.full((3, 3), 1 / 3) + mixed * near
        fits = (it.A @ entries(matrix) <= it.b + 1e-12).all()
        assert fits == (program.violation(matrix) <= 1e-12)
        inside += fits
    assert 20 < inside < 380  # both happen


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_the_search_stops_near_the_best_value_which_is_zero(epsilon):
    found = search.searched(P, P1, epsilon)
    program = as_program(P, P1, epsilon, 1.0)
    assert found.stopped
    assert found.bound <= 1e-9
    assert found.value == pytest.approx(program.ratio(found.matrix), abs=1e-9)
    assert found.value <= found.bound + search.STOP
    assert program.violation(found.matrix) < 1e-7
    assert found.value - optimal_randomizer(P, P1, epsilon, error=1.0).value <= search.STOP
    # nearer the best value with a smaller stop, and never below it
    nearer = search.searched(P, P1, epsilon, stop=1e-4)
    assert nearer.value <= 1e-4 + 1e-9


def test_every_bound_of_a_box_is_below_its_channels():
    """On the whole box, and on halves of halves, the relaxation's value is at most that of any channel inside."""
    it, rng = search.as_ratios(P, P1, 1.0), np.random.default_rng(2)
    ends = [[search._least(it, s * it.E[n]) * s + it.g[n] for s in (1, -1)] for n in range(6)]
    whole = [search._range(it, n) for n in range(6)]
    channels = []
    while len(channels) < 50:
        y = entries(0.5 / 3 + 0.5 * rng.dirichlet(np.full(3, 3.0), size=3))
        if (it.A @ y <= it.b).all():
            channels.append(y)
    boxes, met = [whole], 0
    for _ in range(4):
        boxes = [half for box in boxes for half in search.halves(box)]
    for box in [whole, *boxes]:
        found = search._relaxed(it, box, ends)
        for y in channels:
            t = (it.C @ y + it.f) / (it.E @ y + it.g)
            if all(low - 1e-12 <= one <= high + 1e-12 for one, (low, high) in zip(t, box, strict=True)):
                met += 1
                assert found is not None
                assert found[0] <= t.max() + 1e-7
    assert met >= 100  # each channel is in the whole box and in one of the others


def test_a_search_that_may_solve_no_more_says_so():
    found = search.searched(P, P1, 6.0, stop=0.0, most=200)
    assert not found.stopped
    assert 200 <= found.programs < 2_000
    with pytest.raises(ValueError, match="found no channel at epsilon=1: the solver calls every"):
        search.searched(P, P1, 1.0, most=1)


def test_a_trial_is_that_of_the_figures_but_for_the_channel(monkeypatch):
    """With GRR's channel in place of the search's, every number is GRR's."""
    found = pd.DataFrame(search.run_trial(**TASK))
    assert found["epsilon"].tolist() == [0.5, 4.0]
    assert (found["stopped"] == 1).all()
    assert (found["delta"] <= search.STOP + found["bound"]).all()
    coded = coded_table(TASK["setting"], TASK["standin"])
    p = np.bincount(coded.a) / len(coded.a)
    for row in found.itertuples():
        matrix = search.channel_of(TASK["setting"], row.epsilon, TASK["standin"]).matrix
        assert abs(row.truth - p @ np.diag(matrix)) < 5 * math.sqrt(0.25 / (4_000 * (1 - TEST_SHARE)))
    stay = math.exp(4.0) / (math.exp(4.0) + 4)
    plain = np.full((5, 5), (1 - stay) / 4)
    np.fill_diagonal(plain, stay)
    monkeypatch.setattr(search, "channel_of", lambda *_: search.Searched(plain, 0.0, 0.0, 0, True))
    ours = pd.DataFrame(search.run_trial(**TASK | {"levels": (4.0,)})).iloc[0]
    theirs = pd.DataFrame(trial_of_figures(**TASK | {"levels": (4.0,)}))
    theirs = theirs[theirs["method"] == "GRR"].iloc[0]
    for name in ("accuracy", "f1", "parity", "opportunity", "truth"):
        assert ours[name] == theirs[name]
