"""Which features are blocks, how they are fitted, and that the records are whole."""

import math

import numpy as np
import pandas as pd
import pytest

import dpfair_lib as dpf
from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.ours import private_learners_blocks as trials
from dpfair_lib.experiments.ours import private_learners_fits as fits
from dpfair_lib.experiments.ours import private_learners_peer as peers
from dpfair_lib.experiments.ours import private_learners_settings as settings
from dpfair_lib.experiments.ours import private_learners_settings_blocks as choices
from dpfair_lib.experiments.recorded_results import RESULTS

RECORDED = [path.stem for path in sorted(RESULTS.glob("private-learners-blocks-*.json"))]
CHOICE = "private-learners-settings-blocks"
CANDIDATE = {"least": 1.0, "length": 10.0}


@pytest.mark.parametrize("name", settings.STANDS_FOR)
def test_every_column_is_a_block_whose_entries_add_up_to_its_share(name):
    data = dpf.synthetic(name, n=300, random_state=0)
    features, columns = fits.unit_ball(data)
    blocks = np.array(trials.blocks_of(data))
    assert len(blocks) == features.shape[1]
    assert len(set(blocks)) == columns
    for block in set(blocks):
        sums = abs(features[:, blocks == block]).sum(axis=1)
        assert sums.max() <= 1 / math.sqrt(columns) + 1e-12
        if (blocks == block).sum() > 1:  # coded: one entry of every row
            assert sums.min() >= 1 / math.sqrt(columns) - 1e-12


@pytest.mark.parametrize("noise", ["secure", "study"])
def test_the_noise_is_less_than_that_of_independent_coordinates(noise, monkeypatch):
    data = dpf.synthetic("compas", n=300, random_state=0)
    features, columns = fits.unit_ball(data)
    rows = fits.Rows(features, data.y.to_numpy(), columns)
    seen, fit = [], dpf.ObjectivePerturbation.fit

    def kept(self, X, y):
        seen.append(fit(self, X, y))
        return self

    monkeypatch.setattr(dpf.ObjectivePerturbation, "fit", kept)
    found = trials.fit_blocks(
        rows, trials.blocks_of(data), 1.0, CANDIDATE, noise=noise, seed=None if noise == "secure" else 0
    )
    fits.fit("objective, Laplace", rows, 1.0, CANDIDATE, delta=0.0, noise=noise, seed=0)
    ours, plain = seen
    assert ours.sigma_ < 0.7 * plain.sigma_
    # the regulariser is in proportion to the deviation before the price of the curvature: 2/ε times √(72/15) for three
    # entries and √(72/30) for four, over √2 · 2/ε · √5
    ratio = math.sqrt((3 * 2 * 72 / 6 + 4 * 2 * 72 / 12) / 5 / 7) / math.sqrt(10)
    least = max(1.0, plain.regularization * 300 * ratio)
    assert ours.regularization * 300 == pytest.approx(least, rel=1e-6)
    assert np.isfinite(found.weights).all()
    assert found.weights.any()


def test_the_choice_tries_every_candidate_with_each_loss(monkeypatch):
    seen, fit = [], dpf.ObjectivePerturbation.fit

    def kept(self, X, y):
        seen.append((self.loss, self.regularization, tuple(self.blocks), self.random_state))
        return fit(self, X, y)

    monkeypatch.setattr(dpf.ObjectivePerturbation, "fit", kept)
    monkeypatch.setitem(settings.SIZES, "small", settings.Size(400, 2, 1))
    people = dpf.synthetic("celeba", n=1000, random_state=0)
    one = {"size": "small", "label": "Young", "draw": 0, "seed": 0, "epsilons": (1.0,), "repeats": 2}
    found = pd.DataFrame(choices.run_choice(people, **one))
    assert found.groupby("candidate")["repeat"].apply(list).tolist() == [[0, 1]] * len(choices.CANDIDATES)
    assert [loss for loss, *_ in seen] == ["logistic"] * 8 + ["huberised-hinge"] * 8
    assert {blocks for _, _, blocks, _ in seen} == {("0", "1", "0", "1")}
    assert len({seed for *_, seed in seen}) == len(seen)  # fresh noise each time
    assert all(modulus >= candidate["least"] / 400 for (_, modulus, *_), candidate in zip(
        seen, np.repeat(choices.CANDIDATES, 2), strict=True))  # fmt: skip
    assert found["accuracy"].between(0, 1).all()


def test_the_best_mean_of_the_right_size_is_chosen():
    lines = [
        {"size": size, "level": epsilon, "candidate": at, "accuracy": value}
        for size, best in (("wide", 3), ("small", 6))
        for epsilon in settings.EPSILONS
        for at in range(8)
        for value in ((0.7, 0.9) if at == best else (0.95, 0.5))  # the largest mean, not the largest
    ]
    rows = pd.DataFrame(lines)
    assert choices.chosen_blocks(rows, "adult") == [choices.CANDIDATES[3]] * 4
    assert choices.chosen_blocks(rows, "compas") == [choices.CANDIDATES[6]] * 4


def test_the_record_of_the_choice_is_whole():
    rows, provenance = read_record(CHOICE)
    counts = rows.groupby(["size", "label", "draw", "level"])["candidate"].value_counts()
    assert set(counts) == {choices.REPEATS}
    draws = sum(size.draws for size in settings.SIZES.values())
    assert len(counts) == len(settings.LABELS) * draws * len(settings.EPSILONS) * len(choices.CANDIDATES)
    assert provenance["parameters"]["candidates"] == list(choices.CANDIDATES)


def test_a_trial_has_every_method_once_at_every_epsilon(monkeypatch):
    class Fake:
        def rows(self, features, _):
            self.width = features.shape[1]

        def fit(self, **_):
            return peers.Weights(np.ones(self.width), 0.0)

    fake = Fake()
    monkeypatch.setattr(trials, "peer", lambda: fake)
    monkeypatch.setattr(fits, "peer", lambda: fake)
    data = dpf.synthetic("compas", n=500, random_state=0)
    given = {method: [CANDIDATE] * 2 for method in trials.METHODS}
    found = pd.DataFrame(
        trials.run_trial(data, split=1, seed=0, settings=given, noise="study", epsilons=(1.0, 3.0))
    )
    assert not found.duplicated(["method", "level"]).any()
    assert set(found["method"]) == {*trials.METHODS, "no privacy", "constant"}
    assert len(found) == 2 + 2 * len(trials.METHODS)
    assert found["accuracy"].between(0, 1).all()


@pytest.mark.parametrize("name", RECORDED)
def test_a_record_is_whole_and_used_what_the_held_data_chose(name):
    rows, provenance = read_record(name)
    held, _ = read_record("private-learners-settings")
    of = name.removeprefix("private-learners-blocks-")
    chosen = settings.chosen(held, of) | {trials.BLOCKS: choices.chosen_blocks(read_record(CHOICE)[0], of)}
    assert provenance["parameters"]["settings"] == {method: chosen[method] for method in trials.METHODS}
    counts = rows.groupby(["method", "level"], dropna=False)["split"].nunique()
    assert len(counts) == 2 + len(trials.METHODS) * len(settings.EPSILONS)
    assert set(counts) == {trials.TRIALS} == {provenance["parameters"]["tasks"]}
    assert len(rows) == counts.sum()
    assert rows["accuracy"].between(0, 1).all()
