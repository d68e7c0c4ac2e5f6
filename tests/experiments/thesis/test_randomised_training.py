"""Training on randomised reports, on the stand-ins."""

import math

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.experiments.thesis import randomised_training as training
from dpfair_lib.experiments.thesis.randomised_training import coded_table, mechanisms, run_trial
from dpfair_lib.local import smallest_error

TASK = {"setting": "lsac-family-income", "seed": 1, "levels": (0.5, 20.0), "tuned": False, "standin": 4_000}
P, P1 = np.array([0.05, 0.15, 0.8]), np.array([0.9, 0.3, 0.6])


@pytest.fixture(scope="module")
def trial():
    return pd.DataFrame(run_trial(**TASK))


def test_a_trial_has_every_method_once(trial):
    assert not trial.duplicated(["method", "epsilon"]).any()
    assert trial["method"].value_counts().to_dict() == {
        "none": 1, "left out": 1,
        **dict.fromkeys(("OPT", "GRR", "SS", "no unfairness", *training.ROUNDED), 2),
    }  # fmt: skip
    numbers = trial[["accuracy", "f1", "parity", "opportunity"]].to_numpy()
    assert ((numbers >= 0) & (numbers <= 1)).all()
    plain = trial["method"] == "none"
    assert (trial["parity floor"].notna() == plain).all()
    assert 0 < trial.loc[plain, "parity floor"].iloc[0] < 0.1
    sets = (trial["method"] == "SS") & (trial["epsilon"] == 0.5)
    assert (trial["truth"].isna() == (sets | (trial["method"] == "left out"))).all()


def test_channels_without_noise_train_the_classifier_of_the_data(trial):
    columns = ["accuracy", "f1", "parity", "opportunity", "truth", "reported"]
    plain = trial.loc[trial["method"] == "none", columns].iloc[0]
    for method in ("GRR", "SS"):
        found = trial[(trial["method"] == method) & (trial["epsilon"] == 20)].iloc[0]
        assert found[columns].tolist() == plain.tolist()


def test_a_trial_is_its_task_alone(trial):
    assert pd.DataFrame(run_trial(**TASK)).equals(trial)
    other = pd.DataFrame(run_trial(**TASK | {"seed": 2}))
    assert not other["accuracy"].equals(trial["accuracy"])


def test_the_reports_have_the_truth_probability_of_the_channel(trial):
    table = coded_table(TASK["setting"], TASK["standin"])
    p = np.bincount(table.a) / len(table.a)
    for method in ("OPT", "GRR"):
        found = trial[(trial["method"] == method) & (trial["epsilon"] == 0.5)]["truth"].iloc[0]
        channel = mechanisms(p, np.full(table.k, 0.5) + 0.01 * np.arange(table.k), 0.5)[method]
        assert abs(found - channel.truth_probability(p)) < 5 * math.sqrt(0.25 / 3_200)


def test_only_the_training_rows_are_randomised(monkeypatch):
    asked = []
    usual = training._Learner.__call__

    def watched(self, indicators):
        asked.append(self.asked[:, -self.coded.k :].copy())
        return usual(self, indicators)

    monkeypatch.setattr(training._Learner, "__call__", watched)
    run_trial(**TASK | {"levels": (0.5,)})
    assert all((one == asked[0]).all() for one in asked)
    assert (asked[0].sum(axis=1) == 1).all()


def test_two_groups_have_the_channels_that_beat_theorem_14():
    p, p1 = np.array([0.3, 0.7]), np.array([0.2, 0.6])
    for epsilon in (0.25, 2.0, 10.0):
        found = mechanisms(p, p1, epsilon)
        truths = {
            name: float(found[name].truth_probability(p)) for name in found if name not in ("GRR", "SS")
        }
        assert max(truths.values()) - min(truths.values()) < 1e-12
        gaps = {name: np.ptp(found[name].pushforward(p, p1)[1]) for name in truths}
        assert gaps["RR, as true as OPT"] < gaps["OPT"]
        assert found["RR, as true as OPT"].epsilon < found["OPT"].epsilon
        assert all(channel.epsilon <= epsilon + 1e-9 or name == "OPT" for name, channel in found.items())


def test_more_groups_have_opt_at_the_least_error_and_at_rounded_ones():
    found = mechanisms(P, P1, 4.0)
    least = smallest_error(P, 4.0)
    assert float(1 - found["OPT"].truth_probability(P)) == pytest.approx(least, abs=1e-9)
    for name, steps in training.ROUNDED.items():
        assert 1 - found[name].truth_probability(P) <= math.ceil(least * steps) / steps + 1e-9
    assert np.ptp(found["no unfairness"].pushforward(P, P1)[1]) < 1e-9
    assert all(channel.epsilon <= 4 + 1e-6 for channel in found.values())


@pytest.mark.parametrize("setting", training.SETTINGS)
def test_the_coding_leaves_the_attribute_out_of_the_other_columns(setting):
    table = coded_table(setting, 3_000)
    name, columns = training.SETTINGS[setting]
    assert table.k == {"adult-race-gender": 10, "adult-race": 5, "lsac-family-income": 5}.get(setting, 2)
    others = {"adult-26k": 10, "lsac": 6}[name] - len(columns)
    assert (table.X.sum(axis=1) == others).all()
    assert set(table.y) == {0, 1}


SMALL = {"setting": "lsac-gender", "seed": 3, "levels": (1.0,), "tuned": False, "standin": 3_000}


def test_a_trial_measures_what_it_says_recomputed_from_the_table():
    """Another way from the stand-in to every number: pandas, LightGBM and scikit-learn, group by group."""
    from lightgbm import LGBMClassifier
    from sklearn.metrics import f1_score
    from sklearn.model_selection import train_test_split

    found = pd.DataFrame(run_trial(**SMALL)).set_index(["method", "epsilon"])
    coded = coded_table("lsac-gender", 3_000)
    train, test = train_test_split(np.arange(3_000), test_size=0.2, random_state=3, stratify=coded.y)
    settings = {"n_jobs": 1, "verbose": -1, "deterministic": True, "force_row_wise": True, "random_state": 3}

    def predicted(indicators):
        X = np.column_stack([coded.X[train], indicators])
        model = LGBMClassifier(**settings).fit(pd.DataFrame(X), coded.y[train])
        own = np.column_stack([coded.a[test] == 0, coded.a[test] == 1]).astype(np.float32)
        return model.predict(pd.DataFrame(np.column_stack([coded.X[test], own])))

    p = np.bincount(coded.a[train]) / len(train)
    p1 = np.array([coded.y[train][coded.a[train] == group].mean() for group in (0, 1)])
    reports = mechanisms(p, p1, 1.0)["OPT"].apply(coded.a[train], np.random.default_rng([3, 0]))
    seen = {
        ("none", np.nan): np.column_stack([coded.a[train] == 0, coded.a[train] == 1]),
        ("left out", np.nan): np.zeros((len(train), 2)),
        ("OPT", 1.0): np.column_stack([reports == 0, reports == 1]),
    }
    for (method, epsilon), indicators in seen.items():
        pred = predicted(indicators.astype(np.float32))
        y, a = coded.y[test], coded.a[test]
        rates = [[pred[(a == group) & (y >= least)].mean() for group in (0, 1)] for least in (0, 1)]
        line = found.xs(method).loc[[epsilon]].iloc[0] if epsilon == epsilon else found.xs(method).iloc[0]
        assert line["accuracy"] == pytest.approx((pred == y).mean(), abs=1e-7)
        assert line["f1"] == pytest.approx(f1_score(y, pred), abs=1e-7)
        assert line["parity signed"] == pytest.approx(rates[0][1] - rates[0][0], abs=1e-7)
        assert line["opportunity signed"] == pytest.approx(rates[1][1] - rates[1][0], abs=1e-7)
        assert line["parity"] == pytest.approx(abs(rates[0][1] - rates[0][0]), abs=1e-7)
        assert line["opportunity"] == pytest.approx(abs(rates[1][1] - rates[1][0]), abs=1e-7)
    assert found.xs("OPT")["truth"].iloc[0] == pytest.approx((reports == coded.a[train]).mean(), abs=1e-7)


def test_the_tuned_classifier_is_another(monkeypatch):
    monkeypatch.setitem(training.TUNED, "lsac", {"n_estimators": 3})
    usual, tuned = (pd.DataFrame(run_trial(**SMALL | {"tuned": tuned})) for tuned in (False, True))
    assert not usual["accuracy"].equals(tuned["accuracy"])


def test_channels_are_made_for_the_rates_of_the_training_rows(monkeypatch):
    asked = []

    def watched(p, p1, epsilon):
        asked.append((p, p1, epsilon))
        return {"GRR": training.Randomizer(np.eye(len(p)))}

    monkeypatch.setattr(training, "mechanisms", watched)
    run_trial(**SMALL)
    coded = coded_table("lsac-gender", 3_000)
    shares = np.bincount(coded.a) / 3_000
    rates = np.bincount(coded.a, weights=coded.y) / np.bincount(coded.a)
    assert np.abs(asked[0][0] - shares).max() < 0.02
    assert np.abs(asked[0][1] - rates).max() < 0.02
    assert asked[0][2] == 1.0
