import pandas as pd
import pytest

from dpfair_lib.experiments.cgkm import subgroup_fairness as subgroups

TASK = {"subgroups": "sex × race", "split": 0, "seed": 0, "rounds": 150, "standin": 4000}


@pytest.fixture(scope="module")
def trial():
    return pd.DataFrame(subgroups.run_trial(**TASK))


def test_a_trial_has_every_method_once(trial):
    assert not trial.duplicated(["method", "level"]).any()
    assert set(trial["level"].dropna()) == set(subgroups.EPSILONS)
    numbers = trial[["error", "violation", "test error", "test violation"]].to_numpy()
    assert ((numbers >= 0) & (numbers <= 1)).all()


def test_the_program_is_fair_and_dearer_than_the_least_error(trial):
    least, program = (trial[trial["method"] == name].iloc[0] for name in ("least error", "linear program"))
    assert program["violation"] <= subgroups.TOLERANCE + 1e-6
    assert least["error"] <= program["error"]


def test_a_trial_is_its_numbers_alone(trial):
    assert repr(trial.to_dict()) == repr(pd.DataFrame(subgroups.run_trial(**TASK)).to_dict())


def test_classes_have_the_subgroups_that_they_say():
    assert [len(subgroups.subgroups_of(name)) for name in subgroups.CLASSES] == [2, 5, 10, 71]
