import pandas as pd

from dpfair_lib import synthetic
from dpfair_lib.experiments.isit.preparation import SCALINGS, compare_scaling_once, others_moves


def test_a_replaced_record_moves_the_others_only_through_the_constants():
    dataset = synthetic("adult", n=600, random_state=0)
    rows = pd.DataFrame(others_moves(dataset, seed=0)).set_index(["replaced", "model"])
    assert len(rows) == 2 * (len(dataset.numeric_features) + 1)
    assert (rows.loc["all numeric columns", "sum"] > 0).all()
    assert (rows["sum"] <= rows["total"] * (1 + 1e-12)).all()
    every = rows.loc[("all numeric columns", "start"), "total"]
    assert every > rows.loc[("age", "start"), "total"]
    # each of the other 299 gradients moves by 2C at most
    assert (rows["total"] <= 2 * 299).all()


def test_every_scaling_is_trained_and_tested_on_the_same_split():
    dataset = synthetic("credit", n=2000, random_state=0)
    rows = pd.DataFrame(compare_scaling_once(dataset, trial=1, seed=0))
    again = pd.DataFrame(compare_scaling_once(dataset, trial=1, seed=0))
    pd.testing.assert_frame_equal(rows, again)
    assert rows["scaling"].tolist() == list(SCALINGS)
    assert rows["accuracy"].between(0, 1).all()
