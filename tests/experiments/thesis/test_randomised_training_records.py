"""The recorded trials of Figures 5.1–5.10, as checks and chapters read them."""

import pytest

from dpfair_lib.experiments.thesis.randomised_training import SETTINGS, SIGNED
from dpfair_lib.experiments.thesis.randomised_training_records import KEY, collected, trials
from dpfair_lib.experiments.thesis.randomised_training_summary import Configuration


@pytest.mark.parametrize("tuned", [False, True])
def test_each_configuration_is_there_once_for_each_seed(tuned):
    rows = trials(tuned=tuned)
    assert not rows[KEY].duplicated().any()
    assert set(rows["setting"]) == set(SETTINGS)
    two_groups = rows["setting"].isin(["adult-gender", "lsac-gender"])
    assert (rows[list(SIGNED)].notna().all(axis=1) == two_groups).all()


def test_a_configuration_has_the_values_of_its_rows():
    rows = trials().query("setting == 'lsac-gender' and method == 'none'").sort_values("seed")
    assert collected()["accuracy", Configuration("lsac-gender", "none")].tolist() == rows["accuracy"].tolist()
