"""Which features are blocks, how they are fitted, and that the records are whole."""

import math

import numpy as np
import pandas as pd
import pytest

import dpfair_lib as dpf
from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.ours import private_learners_blocks as trials
from dpfair_lib.experiments.ours import private_learners_fits as fits
from dpfair_lib.experiments.ours import private_learners_joined as both
from dpfair_lib.experiments.ours import private_learners_peer as peers
from dpfair_lib.experiments.ours import private_learners_settings as settings
from dpfair_lib.experiments.ours import private_learners_settings_blocks as choices
from dpfair_lib.experiments.ours import private_learners_summary as summary
from dpfair_lib.experiments.recorded_results import RESULTS
from dpfair_lib.learners.block_noise import Block, bundled, deviation, places_of

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
    found = choices.fit_blocks(
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


class Fake:
    """diffprivlib's process, which keeps what it is asked for."""

    def __init__(self):
        self.asked = []

    def rows(self, features, _):
        self.width = features.shape[1]

    def fit(self, **settings):
        self.asked.append(settings)
        return peers.Weights(np.ones(self.width), 0.0)


@pytest.fixture
def fake(monkeypatch):
    made = Fake()
    for module in (trials, choices, fits):
        monkeypatch.setattr(module, "peer", lambda: made)
    return made


def test_the_choice_tries_every_candidate_of_each_learner(monkeypatch, fake):
    seen, fit = [], dpf.ObjectivePerturbation.fit

    def kept(self, X, y):
        seen.append(self)
        return fit(self, X, y)

    monkeypatch.setattr(dpf.ObjectivePerturbation, "fit", kept)
    monkeypatch.setitem(settings.SIZES, "small", settings.Size(400, 2, 1))
    people = dpf.synthetic("celeba", n=1000, random_state=0)
    one = {"size": "small", "label": "Young", "draw": 0, "seed": 0, "epsilons": (1.0,), "repeats": 2}
    found = pd.DataFrame(choices.run_choice(people, **one))
    assert found["accuracy"].between(0, 1).all()
    counts = found.groupby(["method", "candidate"])["repeat"].apply(list)
    assert len(counts) == 8 * len(choices.METHODS)
    assert all(count == [0, 1] for count in counts)
    blocks, gaussian = seen[:16], seen[16:]
    assert [model.loss for model in blocks] == ["logistic"] * 8 + ["huberised-hinge"] * 8
    assert {tuple(model.blocks) for model in blocks} == {("0", "1", "0", "1")}
    assert {(model.noise_kind, model.loss, model.delta) for model in gaussian} == {
        ("gaussian", "logistic", 400**-2)
    }
    assert len({model.random_state for model in seen}) == len(seen) == 32  # fresh noise each time
    for models, candidates in zip((blocks, gaussian), choices.METHODS.values(), strict=False):
        for model, candidate in zip(models, np.repeat(candidates, 2), strict=True):
            assert model.regularization >= candidate["least"] / 400
    assert [1 / settings["C"] for settings in fake.asked] == pytest.approx(
        [max(c["least"], math.sqrt(4 * 5) * 2 / c["length"]) for c in np.repeat(fits.OBJECTIVE, 2)]
    )


def test_the_best_mean_of_the_right_size_is_chosen_for_each_learner():
    best = {("wide", "diffprivlib"): 2, ("wide", "objective, blocks"): 3, ("small", "objective, blocks"): 6}
    lines = [
        {"size": size, "method": method, "level": epsilon, "candidate": at, "accuracy": value}
        for size in ("wide", "small")
        for method in choices.METHODS
        for epsilon in settings.EPSILONS
        for at in range(8)  # the largest mean, not the largest
        for value in ((0.7, 0.9) if at == best.get((size, method), 0) else (0.95, 0.5))
    ]
    rows = pd.DataFrame(lines)
    assert choices.chosen_blocks(rows, "adult") == {
        "objective, blocks": [choices.CANDIDATES[3]] * 4,
        "objective, Gaussian": [fits.OBJECTIVE[0]] * 4,
        "diffprivlib": [fits.OBJECTIVE[2]] * 4,
    }
    assert choices.chosen_blocks(rows, "compas")["objective, blocks"] == [choices.CANDIDATES[6]] * 4


def test_the_record_of_the_choice_is_whole():
    rows, provenance = read_record(CHOICE)
    counts = rows.groupby(["size", "label", "draw", "method", "level"])["candidate"].value_counts()
    assert set(counts) == {choices.REPEATS}
    draws = sum(size.draws for size in settings.SIZES.values())
    assert len(counts) == len(settings.LABELS) * draws * len(settings.EPSILONS) * 8 * len(choices.METHODS)
    assert provenance["parameters"]["candidates"] == {
        method: list(candidates) for method, candidates in choices.METHODS.items()
    }
    assert {len(candidates) for candidates in choices.METHODS.values()} == {8}  # as many for each


@pytest.mark.usefixtures("fake")
def test_a_trial_draws_every_noise_of_every_method_at_every_epsilon():
    data = dpf.synthetic("compas", n=500, random_state=0)
    given = {method: [CANDIDATE] * 2 for method in choices.METHODS}
    found = pd.DataFrame(
        trials.run_trial(data, split=1, seed=0, settings=given, noise="study", epsilons=(1.0, 3.0), draws=3)
    )
    assert not found.duplicated(["method", "level", "draw"]).any()
    assert set(found["method"]) == {*choices.METHODS, "no privacy", "constant"}
    assert len(found) == 2 + 3 * 2 * len(choices.METHODS)
    assert found["accuracy"].between(0, 1).all()
    ours = found[found["method"] == choices.BLOCKS]
    assert ours.groupby("level")["accuracy"].nunique().max() > 1  # each draw has its own noise
    mean = trials.over_draws(found).set_index(["method", "level"])["accuracy"]
    assert mean[choices.BLOCKS, 1.0] == pytest.approx(ours.query("level == 1")["accuracy"].mean())
    assert len(mean) == 2 + 2 * len(choices.METHODS)
    assert mean["no privacy"].notna().all()


@pytest.mark.parametrize("name", RECORDED)
def test_a_record_is_whole_and_used_what_the_held_data_chose(name):
    rows, provenance = read_record(name)
    chosen = choices.chosen_blocks(read_record(CHOICE)[0], name.removeprefix("private-learners-blocks-"))
    assert provenance["parameters"]["settings"] == chosen
    means = trials.over_draws(rows)
    counts = means.groupby(["method", "level"], dropna=False)["split"].nunique()
    assert len(counts) == 2 + len(choices.METHODS) * len(settings.EPSILONS)
    assert set(counts) == {trials.TRIALS} == {provenance["parameters"]["tasks"]}
    assert len(rows) == (2 + trials.DRAWS * len(choices.METHODS) * len(settings.EPSILONS)) * trials.TRIALS
    assert not rows.duplicated(["split", "draw", "method", "level"]).any()
    assert rows["accuracy"].between(0, 1).all()


def test_what_was_drawn_again_takes_the_place_of_the_first_trials():
    def trials_of(methods, shift, splits=3):
        right = [("constant", None, [0.5, 0.6, 0.7]), *((name, 1.0, [0.8 + shift] * 3) for name in methods)]
        lines = [
            {"split": at, "method": name, "level": level, "accuracy": values[at]}
            for name, level, values in right
            for at in range(splits)
        ]
        return pd.DataFrame(lines)

    first = trials_of(["diffprivlib", "DP-SGD"], 0.0, splits=2)
    second = trials_of(["diffprivlib", choices.BLOCKS], 0.1)
    found = both.joined(first, second)
    assert summary.by_split(found, ("diffprivlib", 1.0)).tolist() == [0.9] * 3
    assert summary.by_split(found, ("DP-SGD", 1.0)).tolist() == [0.8] * 2
    assert summary.by_split(found, ("constant", None)).tolist() == [0.5, 0.6, 0.7]
    assert summary.difference(found, (choices.BLOCKS, 1.0), ("DP-SGD", 1.0), level=0.9)[0] == pytest.approx(
        0.1
    )
    other = second.assign(split=second["split"] + 1)
    with pytest.raises(ValueError, match="drawn_again: found other splits"):
        both.joined(first, other)
    with pytest.raises(ValueError, match="drawn_again: found other splits"):
        both.joined(first, second.assign(split=second["split"] + 9))
    held = pd.DataFrame({"method": ["diffprivlib", "DP-SGD"], "accuracy": [0.1, 0.2]})
    tried = pd.DataFrame({"method": ["diffprivlib"], "accuracy": [0.3]})
    assert both.joined(held, tried).sort_values("method")["accuracy"].tolist() == [0.2, 0.3]
    assert both.OURS.keys() == summary.PEERS.keys()
    assert {*both.OURS["δ = 0"]} < {*both.OURS["δ = 1/n²"]} < {choices.BLOCKS, *fits.LEARNERS}


@pytest.mark.parametrize("name", settings.STANDS_FOR)
def test_laplace_noise_is_never_less_and_so_is_not_among_ours(name):
    data = dpf.synthetic(name, n=300, random_state=0)
    _, columns = fits.unit_ball(data)
    bundles = bundled([Block(places, 1 / math.sqrt(columns)) for places in places_of(trials.blocks_of(data))])
    assert deviation(bundles, 1.0) < math.sqrt(2 * columns)
