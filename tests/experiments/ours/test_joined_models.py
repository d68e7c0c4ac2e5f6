import numpy as np
import pytest

from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.ours.joined_models import EPSILONS, TRIALS, WAYS, run_trial
from dpfair_lib.experiments.sources import Source


@pytest.fixture(scope="module")
def rows():
    return list(run_trial(Source("compas", standin=1500).dataset(), split=0, seed=0, epsilons=(1.0, 1e4)))


def test_a_trial_has_every_way_once(rows):
    assert [(row["epsilon"], row["way"]) for row in rows] == [(e, way) for e in (1.0, 1e4) for way in WAYS]
    for row in rows:
        assert 0 < row["share"] <= 0.5
        assert 0 <= row["gap"] <= 1
        assert abs(row["excess_0"]) < 0.5
        assert row["share"] == WAYS[row["way"]].get("share", 0.5 if row["way"] == "split" else row["share"])


def test_with_hardly_any_noise_the_fitted_rows_have_no_gap(rows):
    for row in rows[len(WAYS) :]:
        assert row["fitted_gap"] < 0.01
        assert row["plain_accuracy"] > 0.55
    assert max(row["fitted_gap"] for row in rows[: len(WAYS)]) > 0.003  # noise makes one


def test_a_trial_repeats(rows):
    again = list(run_trial(Source("compas", standin=1500).dataset(), split=0, seed=0, epsilons=(1.0,)))
    assert again == rows[: len(WAYS)]


@pytest.mark.parametrize("data", ["adult", "compas"])
def test_what_the_chapter_says_of_the_records(data):
    found, provenance = read_record(f"joined-models-{data}")
    assert len(found) == TRIALS * len(EPSILONS) * len(WAYS)
    assert provenance["parameters"]["trials"] == TRIALS
    means = found.groupby(["epsilon", "way"])[["accuracy", "gap", "plain_gap", "plain_accuracy"]].mean()
    for epsilon in EPSILONS:
        shared, split = means.loc[epsilon, "shared"], means.loc[epsilon, "split"]
        assert shared["gap"] < split["gap"]
        assert shared["plain_accuracy"] > split["plain_accuracy"] - 0.002
    # rows that trained are selected about as often as others: no bias beyond four standard errors, or half a per cent
    for name in ("excess_0", "excess_1"):
        by_split = found[found["way"] == "shared"].groupby("split")[name].mean()
        assert abs(by_split.mean()) < max(4 * by_split.std() / np.sqrt(TRIALS), 0.005)
