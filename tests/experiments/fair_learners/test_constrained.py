"""Learners under constraints in the comparison: everything is paid for, dials are chosen elsewhere."""

import pandas as pd
import pytest

import dpfair_lib as dpf
from dpfair_lib.experiments.fair_learners import constrained, constrained_runs, people, trials
from dpfair_lib.experiments.fair_learners.bases import Bases
from dpfair_lib.experiments.fair_learners.summary import Case
from dpfair_lib.experiments.ours.private_learners_settings import STANDS_FOR
from dpfair_lib.experiments.recorded_results import read_record

BASES = {
    "objective, Gaussian": [{"least": 1.0, "length": 10.0}] * 4,
    "DP-SGD": [{"sample_rate": 0.2, "steps": 5, "learning_rate": 3.0}] * 4,
}
TUNING = {f"{one.protection}/{one.name}": [one.candidates[0]] for one in constrained.METHODS}


@pytest.fixture(scope="module")
def data():
    return dpf.synthetic("compas", n=900, random_state=0)


def trial(data, number):
    found = constrained.run_trial(
        data, split=number, seed=0, settings=BASES, tuning=TUNING, epsilons=(1.0,)
    )  # fmt: skip
    return pd.DataFrame(found)


def test_a_trial_has_every_method_at_every_setting_of_its_dial_once(data):
    rows = trial(data, 0)
    assert not rows.duplicated(["protection", "method", "level", "dial"]).any()
    for one in constrained.METHODS:
        dials = rows[(rows["protection"] == one.protection) & (rows["method"] == one.name)]["dial"].tolist()
        assert dials == list(constrained.RATES if one.name.startswith("Lagrangian") else constrained.BOUNDS)
    assert rows[["error", *people.NOTIONS]].stack().between(0, 1).all()
    pd.testing.assert_frame_equal(rows.drop(columns="seconds"), trial(data, 0).drop(columns="seconds"))
    assert not trial(data, 1)["error"].equals(rows["error"])


def test_a_method_that_costs_more_is_refused(data):
    train, test = people.split_people(data, 0, 0)
    bases = Bases(train, BASES, (0, 0))
    for one in constrained.METHODS:
        assert next(trials.checked(one, bases, test, 1.0, one.candidates[0])).statement.epsilon <= 1
        dear = one._replace(
            fit=lambda bases, test, _, candidate, one=one: one.fit(bases, test, 2.0, candidate)
        )
        with pytest.raises(RuntimeError, match=r"expected ε = 1\.0"):
            next(trials.checked(dear, bases, test, 1.0, one.candidates[0]))


def held():
    """Return held rows in which the second candidate is best, at the last dial."""
    lines = []
    for one in constrained.METHODS:
        dials = constrained.RATES if one.name.startswith("Lagrangian") else constrained.BOUNDS
        for level in constrained.EPSILONS:
            for at in range(2):
                for dial in dials:
                    best = at == 1 and dial == dials[-1]
                    gaps = dict.fromkeys(people.NOTIONS, 0.1)
                    lines.append({
                        "protection": one.protection, "method": one.name, "level": level, "candidate": at,
                        "dial": dial, "error": 0.2 if best else 0.3, **gaps,
                    })  # fmt: skip
    return pd.DataFrame(lines)


def test_candidates_and_dials_are_those_that_the_held_rows_choose():
    tuning, dials = constrained.tuned(held()), constrained.dials(held(), "parity")
    for one in constrained.METHODS:
        assert tuning[f"{one.protection}/{one.name}"] == [one.candidates[1]] * 4
        last = (constrained.RATES if one.name.startswith("Lagrangian") else constrained.BOUNDS)[-1]
        assert {dials[one.protection, one.name, level] for level in constrained.EPSILONS} == {last}


@pytest.mark.parametrize("size", constrained_runs.CHOSEN)
def test_every_candidate_was_tried_on_the_held_rows_at_every_dial(size):
    held, _ = read_record(f"private-constrained-settings-{size}")
    draws = held.groupby([*constrained.KEYS, "dial"])[["label", "draw"]].apply(
        lambda its: len(its.drop_duplicates())
    )
    assert set(draws) == {len(held.groupby(["label", "draw"]))}
    for one in constrained.METHODS:
        dials = constrained.RATES if one.name.startswith("Lagrangian") else constrained.BOUNDS
        for epsilon in constrained.EPSILONS:
            for at in range(len(one.candidates)):
                tried = draws[one.protection, one.name, epsilon, at].index
                assert set(tried) == set(dials)
    assert set(constrained.tuned(held)) == {f"{one.protection}/{one.name}" for one in constrained.METHODS}


@pytest.mark.parametrize("data", constrained_runs.RECORDED)
def test_the_record_has_every_split_and_the_settings_that_were_chosen(data):
    rows, record = read_record(f"private-constrained-{data}")
    assert record["parameters"]["tuning"] == constrained.tuned(constrained.held_rows(data))
    assert STANDS_FOR[data] in constrained_runs.CHOSEN
    assert record["parameters"]["tasks"] == trials.TRIALS
    splits = set(range(trials.TRIALS))
    assert rows.groupby(["protection", "method", "level", "dial"])["split"].agg(set).eq(splits).all()
    for protection in ("add-remove", "sensitive-attribute"):
        found = constrained.candidates(rows, constrained.held_rows(data), Case(protection, "parity", 1.0))
        assert len(found) == 3
        assert all(len(those) == len(splits) for those in found.values())
