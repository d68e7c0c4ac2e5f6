"""Audits of the private network: that each pair is a worst case, that faults are what they say, and the record."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.fair_learners import audited_network, audited_power
from dpfair_lib.experiments.fair_learners.audited_network import (
    DELTA,
    EPSILON,
    FAILURE,
    FAULTS,
    INNER,
    NETWORKS,
    ONE_STEP,
    REPEATS,
    SAMPLED,
    TURNED,
    audited,
    distance,
    in_one,
    run_audit,
)
from dpfair_lib.experiments.ours.audited_release import audit_of
from dpfair_lib.learners.networks import network, network_steps
from dpfair_lib.privacy import gaussian_sigma


@pytest.mark.parametrize("name", NETWORKS)
def test_a_record_moves_the_weights_as_far_as_the_account_allows(name):
    one = NETWORKS[name]
    assert one.statement.relation == "add-remove"
    assert one.statement.guarantee
    assert EPSILON - 1e-3 < one.statement.epsilon <= EPSILON
    # no step moves the sum by more than C; a step that the inner layer has, and four more, nearly in one direction
    expected = 0.8386 if one is INNER else 1.0
    assert one.share() == pytest.approx(expected, abs=1e-4)
    assert one.share() <= 1


def test_the_move_of_the_inner_layer_is_of_weights_that_no_first_step_moves():
    move = INNER.moved()
    assert np.linalg.norm(move[:3]) > 3.99  # four of five steps
    assert abs(move[3]) < 0.02  # by the outer weight
    first = ONE_STEP.moved()
    assert first[:4] == pytest.approx(0, abs=1e-9)


def test_the_other_row_of_a_sampled_batch_is_not_in_the_score():
    with audited_network.replaced(network_steps, noise_and_batches=audited_network.silent):
        before = network_steps.starting_weights(2, 2, 1)
        found = SAMPLED.fit(SAMPLED.pair[1])
    alone = in_one(found) - np.concatenate(
        [np.ravel(before[:6].reshape(2, 3)[:, :2].T), [0, 0], before[2:6:3], [0]]
    )
    alone = alone / (SAMPLED.rate * SAMPLED.clip)
    assert np.linalg.norm(alone) == pytest.approx(1, abs=1e-3)
    assert alone @ SAMPLED.moved() == pytest.approx(0, abs=1e-3)


def test_faults_move_a_record_as_far_as_they_say():
    claimed = 1 / ONE_STEP.multiplier
    assert claimed == pytest.approx(1 / gaussian_sigma(EPSILON, DELTA, 1.0, "analytic"), rel=1e-3)
    found = {name: distance(planted) / claimed for name, planted in FAULTS.items()}
    assert found["half of the noise"] == pytest.approx(2)
    assert found["no clipping"] == pytest.approx(math.sqrt(3) / 2 / 0.1)  # ½ (h, 1), over C
    assert 1.8 < found["the sum clipped, not records"] <= 2
    assert 1.8 < found["each array clipped by itself"] <= 2  # of four arrays
    assert found["a start from the rows"] > 1e9
    assert found["long rows in every batch"] == pytest.approx(ONE_STEP.multiplier / SAMPLED.multiplier)
    assert TURNED.share() == pytest.approx(1)  # as it should be it is a pair like the others


def test_a_fault_leaves_nothing_behind():
    usual = dict(vars(network_steps)), dict(vars(network))
    for planted in FAULTS.values():
        with pytest.raises(ZeroDivisionError), planted.fault():
            raise ZeroDivisionError
    assert (dict(vars(network_steps)), dict(vars(network))) == usual


@pytest.mark.parametrize("name", NETWORKS)
def test_an_audit_finds_no_more_than_is_stated(name):
    # secure noise has no seed: fewer than one run in 100,000 fails by chance
    row = audit_of(name, audited(NETWORKS[name]), 200, seed=0, failure=1e-6, noise="secure")
    assert row["lower"] < row["epsilon"]


@pytest.mark.parametrize("name", ["no clipping", "a start from the rows"])
def test_a_fault_is_convicted(name, monkeypatch):
    monkeypatch.setattr(audited_power, "AUDITS", 3)
    (row,) = run_audit(
        release=name, repeat=0, size=300
    )  # the record moves the score by at least ten deviations
    assert row["convicted"]
    assert row["lower"] > row["epsilon"] == ONE_STEP.statement.epsilon
    assert row["power"] == 1


def test_no_recorded_bound_is_above_its_claim_but_those_of_planted_faults():
    rows, provenance = read_record("privacy-audits-networks")
    planted = rows[rows["release"].isin(FAULTS)]
    honest = rows[rows["release"].isin(NETWORKS)]
    assert honest["release"].tolist() == list(NETWORKS)
    assert planted["release"].tolist() == [name for name in FAULTS for _ in range(REPEATS)]
    assert (honest["lower"] <= honest["epsilon"]).all()
    assert planted["convicted"].all()
    assert (planted["power"] > 0.9).all()
    assert (rows["convicted"] == (rows["lower"] > rows["epsilon"])).all()
    sizes = {name: one.size for part in (NETWORKS, FAULTS) for name, one in part.items()}
    assert provenance["parameters"]["runs"] == sizes
    assert (rows["runs"] == rows["release"].map(sizes) // 2).all()
    # every bound follows from the counts that were recorded
    for row in rows.itertuples():
        share = (FAILURE / len(NETWORKS) if row.release in NETWORKS else FAILURE) / 2 / 2
        low = beta.ppf(share, row.hits, row.runs - row.hits + 1)
        high = beta.isf(share, row.others + 1, row.runs - row.others)
        assert row.lower == pytest.approx(math.log((low - row.delta) / high), abs=1e-9)
