import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

import dpfair_lib as dpf
from dpfair_lib.experiments.sk import private_svms as svms
from dpfair_lib.experiments.sk import private_svms_summary as summary
from dpfair_lib.privacy import gaussian_sigma


@pytest.fixture(scope="module")
def trial():
    return pd.DataFrame(svms.run_trial(dpf.synthetic("compas", n=1500, random_state=0), split=0, seed=0))


def test_a_trial_has_every_method_once_at_every_level(trial):
    assert not trial.duplicated(["method", "level"]).any()
    assert set(trial["method"]) == set(svms.METHODS)
    without = {name for name, rows in trial.groupby("method") if rows["level"].isna().all()}
    assert without == set(list(svms.METHODS)[:5])
    assert len(trial) == 5 + len(svms.EPSILONS) * (len(svms.METHODS) - 5)
    numbers = trial[["error", "false_positive", "true_positive"]].to_numpy()
    assert ((numbers >= 0) & (numbers <= 1)).all()


def test_the_constant_has_no_gap(trial):
    constant = trial[trial["method"] == "constant"].iloc[0]
    assert constant["false_positive"] == constant["true_positive"] == 0


def test_the_constant_is_the_better_one_on_the_test_rows(trial):
    truth = dpf.synthetic("compas", n=1500, random_state=0).y.to_numpy()
    share = truth[np.random.default_rng([0, 0]).permutation(1500)[:300]].mean()
    constant = trial.loc[trial["method"] == "constant", "error"].item()
    assert constant == pytest.approx(min(share, 1 - share))


def test_a_trial_is_its_numbers_alone(trial):
    again = pd.DataFrame(svms.run_trial(dpf.synthetic("compas", n=1500, random_state=0), split=0, seed=0))
    pd.testing.assert_frame_equal(trial, again)


@pytest.mark.parametrize("name", ["adult", "compas"])
def test_rows_are_in_the_unit_ball_by_public_numbers_alone(name):
    data = dpf.synthetic(name, n=500, random_state=0)
    rows = svms.unit_ball(data)
    assert np.linalg.norm(rows, axis=1).max() <= 1
    # a row is scaled in the same way whoever else is in the data
    assert (svms.unit_ball(replace(data, X=data.X.iloc[:3])) == rows[:3]).all()
    # and the largest norm possible is 1
    extreme = data.X.iloc[[0]].copy()
    for column in data.numeric_features:
        extreme[column] = svms.RANGES[column][1] * 2
    assert np.linalg.norm(svms.unit_ball(replace(data, X=extreme))) == pytest.approx(1.0, abs=1e-12)
    # the columns of the categories add up to a constant: an intercept is among the weights
    categories = [at for at, column in enumerate(data.feature_names) if column not in data.numeric_features]
    assert np.ptp(rows[:, categories].sum(axis=1)) < 1e-12


@pytest.mark.parametrize(("noise", "n"), [(4.2, 36_000), (140.0, 4_000)])
def test_the_regularisation_minimises_the_bound(noise, n):
    best = minimize_scalar(
        lambda at: 2 * noise / (math.exp(at) * n) + math.exp(at) * 100 / 2, bounds=(-15, 5), method="bounded"
    )
    assert svms.regularization_for(noise, n) == pytest.approx(math.exp(best.x), rel=1e-3)


@pytest.mark.parametrize("name", svms.PRIVATE)
def test_private_machines_state_what_the_table_says(name):
    rng = np.random.default_rng(0)
    data = dpf.synthetic("compas", n=1000, random_state=0)
    rows = svms.Rows(svms.unit_ball(data), data.y.to_numpy(), data.sensitive_features.to_numpy())
    model = svms.private_svm(name, rows, 1.0, rng)
    statement = model.privacy_statement_
    assert (statement.delta, statement.relation) == (svms.METHODS[name].delta, "replace-one")
    assert statement.epsilon == pytest.approx(1.0, rel=1e-3)
    assert statement.epsilon <= 1.0
    if name != "DP-SGD":
        assert model.sensitivity_ == pytest.approx(2.002 / (1000 * model.regularization))
        noise = model.sigma_ / model.sensitivity_
        pure = name == "Laplace weights"
        assert noise == pytest.approx(math.sqrt(14) if pure else gaussian_sigma(1.0, 1e-6, 1.0, "analytic"))
        assert model.regularization == pytest.approx(svms.regularization_for(noise, 1000))


def test_differences_are_paired_by_split(trial):
    rows = summary.with_gap(pd.concat([trial.assign(split=at, error=trial["error"] + at) for at in range(5)]))
    mean, half = summary.difference(rows, "error", ("SVM", None), ("constant", None))
    one, other = (trial.loc[trial["method"] == name, "error"].item() for name in ("SVM", "constant"))
    assert mean == pytest.approx(one - other)
    assert half == pytest.approx(0, abs=1e-12)  # the splits' own level cancels
    assert summary.interval(rows, "error", ("SVM", None))[1] > 1
    cell = trial[trial["method"] == "SVM"].iloc[0]
    assert summary.interval(rows, "gap", ("SVM", None)) == pytest.approx(
        (max(cell["false_positive"], cell["true_positive"]), 0)
    )


def test_cells_that_are_not_there_are_named(trial):
    rows = summary.with_gap(trial)
    with pytest.raises(ValueError, match=r"cell: found 0 trials of \('SVM', 0.1\)"):
        summary.by_split(rows, ("SVM", 0.1))
    with pytest.raises(ValueError, match="cell: found 2 trials"):
        summary.by_split(pd.concat([rows, rows]), ("SVM", None))
    moved = pd.concat([rows[rows["method"] == "SVM"], rows[rows["method"] == "constant"].assign(split=9)])
    with pytest.raises(ValueError, match="other: found other splits"):
        summary.difference(moved, "error", ("SVM", None), ("constant", None))


def test_a_trial_has_every_method_at_the_levels_asked_for():
    data = dpf.synthetic("compas", n=600, random_state=0)
    asked = pd.DataFrame(svms.run_trial(data, split=0, seed=0, epsilons=(2.0,)))
    assert sorted(asked["method"]) == sorted(svms.METHODS)
    assert asked["level"].isna().sum() == 5
    assert set(asked["level"].dropna()) == {2.0}
