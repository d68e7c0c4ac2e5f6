"""How often each learner of a pair draws, what it is fitted with, and that the records are what was planned."""

import numpy as np
import pandas as pd
import pytest

import dpfair_lib as dpf
from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.ours import private_learners_blocks as before
from dpfair_lib.experiments.ours import private_learners_fits as fits
from dpfair_lib.experiments.ours import private_learners_joined as both
from dpfair_lib.experiments.ours import private_learners_missed as missed
from dpfair_lib.experiments.ours import private_learners_peer as peers
from dpfair_lib.experiments.ours import private_learners_settings as settings
from dpfair_lib.experiments.ours.private_learners_settings_blocks import BLOCKS
from dpfair_lib.learners import ObjectivePerturbation


def test_a_learner_of_two_pairs_draws_as_often_as_the_larger_asks_for():
    pairs = missed.Pair("a", "b", 1.0, 5), missed.Pair("a", "c", 1.0, 2), missed.Pair("a", "b", 3.0, 1)
    found = {("a", 1.0): 5, ("b", 1.0): 5, ("c", 1.0): 2, ("a", 3.0): 1, ("b", 3.0): 1}
    assert missed.draws_of(pairs) == found


class Fake:
    """diffprivlib's process, which keeps what it is asked for."""

    def __init__(self):
        self.asked = []

    def rows(self, features, _):
        self.width = features.shape[1]

    def fit(self, **told):
        self.asked.append(told)
        return peers.Weights(np.ones(self.width), 0.0)


def test_each_draw_is_a_fit_with_its_own_noise_and_the_candidate_of_its_epsilon(monkeypatch):
    made, seen, fit = Fake(), [], ObjectivePerturbation.fit

    def kept(self, X, y):
        seen.append(self)
        return fit(self, X, y)

    monkeypatch.setattr(ObjectivePerturbation, "fit", kept)
    monkeypatch.setattr(missed, "peer", lambda: made)
    monkeypatch.setattr(fits, "peer", lambda: made)
    candidates = [{"hinge": 0.0, "least": 1.0, "length": length} for length in (3.0, 10.0)]
    told = {BLOCKS: candidates, "diffprivlib": [{"least": 1.0, "length": 10.0}] * 2}
    pairs = (missed.Pair(BLOCKS, "diffprivlib", 3.0, 4),)
    people = dpf.synthetic("compas", n=400, random_state=0)
    rows = pd.DataFrame(
        missed.run_trial(people, split=0, seed=0, pairs=pairs, settings=told, epsilons=(1.0, 3.0))
    )
    counts = rows.groupby(["method", "level"], dropna=False)["draw"].apply(list).to_dict()
    assert counts[BLOCKS, 3.0] == counts["diffprivlib", 3.0] == [0, 1, 2, 3]
    assert len(counts) == 4  # and what has no ε, once
    assert [model.epsilon for model in seen] == [3.0] * 4
    assert {model.noise for model in seen} == {"secure"}
    assert len({tuple(model.coef_[0]) for model in seen}) == 4  # four draws
    assert len(made.asked) == 4
    assert rows["accuracy"].between(0, 1).all()


@pytest.mark.parametrize("data", missed.MISSED)
def test_the_record_is_what_was_planned_on_the_same_splits(data):
    rows, provenance = read_record(f"private-learners-missed-{data}")
    counts = rows.dropna().groupby(["method", "level", "split"])["draw"].nunique()
    for (method, epsilon), draws in missed.draws_of(missed.MISSED[data]).items():
        assert counts[method, epsilon].to_dict() == dict.fromkeys(range(missed.TRIALS), draws)
    first, earlier = read_record(f"private-learners-blocks-{data}")
    both.joined(first, rows)  # raises unless these are the same splits
    known = (
        settings.chosen(read_record("private-learners-settings")[0], data) | earlier["parameters"]["settings"]
    )
    for method, used in provenance["parameters"]["settings"].items():
        assert used == known[method]
    assert provenance["parameters"]["tasks"] == before.TRIALS
