"""The trials behind Tables II–XIII, on the stand-ins."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.datasets import split_isit, synthetic
from dpfair_lib.experiments.isit import twelve_tables as tables
from dpfair_lib.experiments.isit.twelve_tables import BASELINES, LENGTHS, run_trial
from dpfair_lib.experiments.printed import DELTA, GROUP_EPSILON, printed_tables
from dpfair_lib.privacy import dp_sgd_epsilon


@pytest.fixture(scope="module", autouse=True)
def few_passes():
    """Two passes in place of 50 or 100, four where the text has twice as many as was run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "EPOCHS", {key: 2 * epochs // 50 for key, epochs in tables.EPOCHS.items()})
        patch.setattr(tables, "FERMI_EPOCHS", 2)
        yield


@pytest.fixture(scope="module")
def dataset():
    return synthetic("credit", random_state=0)


@pytest.fixture(scope="module")
def printed(dataset):
    return pd.DataFrame(run_trial(dataset, data="credit", split=1))


def test_a_trial_has_every_printed_row_and_every_baseline(printed):
    columns = ["method", "accountant", "target", "strength"]
    found = {tuple(map(str, row)) for row in printed[columns].itertuples(index=False)}
    for row in printed_tables().query("data == 'credit'").to_dict("records"):
        fermi = row["method"] == "DP-FERMI"
        key = (row["method"], "" if fermi else row["accountant"], float(row["epsilon"]), row["strength"])
        assert tuple(map(str, key)) in found
    assert printed.loc[printed["setting"] == "no privacy", "method"].tolist() == list(BASELINES)
    assert printed[["accuracy", "rate_0", "rate_1"]].map(lambda number: 0 <= number <= 1).all(axis=None)


def test_only_flips_are_drawn(printed):
    drawn = printed.loc[printed["drawn_accuracy"].notna(), "method"].unique().tolist()
    assert drawn == ["Algorithm 1 (midpoint)", "most accurate rate", "Algorithm 2", "coin"]


def test_a_trial_is_its_numbers_alone(dataset):
    task = {"data": "credit", "split": 2, "parts": ("passes",)}
    once = run_trial(dataset, seed=5, **task)
    assert once == run_trial(dataset, seed=5, **task)
    other = run_trial(dataset, seed=6, **task)
    assert [row["accuracy"] for row in other] != [row["accuracy"] for row in once]


def test_the_other_coding_and_the_stated_passes_are_other_runs(dataset, printed):
    fermi = printed[printed["method"] == "DP-FERMI"]
    for part, setting in (("coding", "other coding"), ("passes", "stated passes")):
        found = pd.DataFrame(run_trial(dataset, data="credit", split=1, parts=(part,)))
        assert set(found["setting"]) == {setting}
        both = fermi.merge(found, on=["target", "strength"])
        assert len(both) == len(found) > 0
        assert (both["accuracy_x"] != both["accuracy_y"]).any()
    assert set(found["target"]) == {9.0}


def test_both_methods_spend_the_same_certified_epsilon(dataset):
    parts = split_isit(len(dataset.y), rng=np.random.default_rng(0))
    aware, blind = (tables._sides(dataset, parts, aware=know) for know in (True, False))
    assert len(aware.y) == len(blind.y) == len(parts.train) + len(parts.post)
    assert aware.X.shape[1] == blind.X.shape[1] + 1
    model, fair = tables.certified_algorithm_2("credit", 3, aware, np.random.default_rng(0))
    penalised = tables.certified_fermi("credit", 3, [1.0], blind, np.random.default_rng(0))
    for statement in (tables.certified_statement(model, fair), penalised.privacy_statement_):
        assert statement.relation == "add-remove"
        assert statement.epsilon == pytest.approx(3, abs=2e-3)
        assert statement.epsilon <= 3 + 1e-9
        assert statement.delta == DELTA
    steps = tables.printed_sampling(len(aware.y), 2)[1]
    spent = dp_sgd_epsilon(model.noise_multiplier_, 1024 / len(aware.y), steps, DELTA, "pld")
    assert spent <= 3 - GROUP_EPSILON["credit"] + 1e-9


def test_both_methods_are_run_with_both_lengths_of_the_steps(dataset):
    found = pd.DataFrame(run_trial(dataset, data="credit", split=0, parts=("certified",)))
    for _, rows in found.groupby("setting"):
        assert set(rows["method"]) == {"DP-SGD", "Algorithm 2", "coin", "DP-FERMI"}
        assert set(rows["target"]) == {3.0, 9.0}
    assert found["setting"].unique().tolist() == list(LENGTHS)


def test_tenfold_steps_go_further(dataset):
    sides = tables._sides(dataset, split_isit(len(dataset.y), rng=np.random.default_rng(0)), aware=True)
    for train in (
        lambda length: tables.certified_algorithm_2(
            "credit", 3, sides, np.random.default_rng(0), length=length
        )[0],
        lambda length: tables.certified_fermi(
            "credit", 3, [1.0], sides, np.random.default_rng(0), length=length
        ),
    ):
        short, long = (np.linalg.norm(train(length).coef_) for length in (1, 10))
        assert long > 4 * short


def test_unknown_parts_are_named(dataset):
    with pytest.raises(ValueError, match=r"parts: found \['nothing'\], expected some of"):
        run_trial(dataset, data="credit", split=0, parts=("nothing",))


def test_a_group_without_test_rows_is_named(dataset):
    groups = np.full(len(dataset.y), "most")
    groups[split_isit(len(groups), rng=np.random.default_rng([0, 0])).train[:2]] = "few"
    few = dataclasses.replace(dataset, sensitive_features=pd.Series(groups))
    with pytest.raises(ValueError, match="found no row of group few in the part 'post'"):
        run_trial(few, data="credit", split=0)
