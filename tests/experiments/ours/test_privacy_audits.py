import math

import numpy as np
import pytest

from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.ours import audited_joint
from dpfair_lib.experiments.ours.audited_joint import JOINT, PLANTED
from dpfair_lib.experiments.ours.privacy_audits import (
    BOTH,
    FAILURE,
    FITS,
    MODELS,
    RECORDS,
    RELEASES,
    STUDY,
    TOGETHER,
    Audited,
    audited,
)
from dpfair_lib.privacy import PrivacyStatement


@pytest.mark.parametrize("name", [*RELEASES, *MODELS, *JOINT])
def test_every_release_can_be_audited_and_tells_what_it_claims(name):
    row = audited(name, 8)
    assert row["guarantee"] == (row["noise"] == "secure") == (name not in STUDY)
    assert 0 <= row["lower"] < 5
    assert row["runs"] == 4
    assert 0 < row["epsilon"] < math.inf


def test_half_of_the_noise_is_convicted(monkeypatch):
    def release(data, size, seed):
        drawn = data + np.random.default_rng(seed).laplace(scale=0.5, size=size)
        return drawn, PrivacyStatement(1.0, 0.0, "add-remove")

    monkeypatch.setitem(RELEASES, "half", Audited((0.0, 1.0), release))
    row = audited("half", 20_000)
    assert row["epsilon"] == 1.0 < row["lower"] <= 2.0


def test_a_release_whose_statement_depends_on_the_data_is_refused(monkeypatch):
    def release(data, size, seed):  # noqa: ARG001
        return np.full(size, data), PrivacyStatement(1.0 + data, 0.0, "add-remove")

    monkeypatch.setitem(RELEASES, "tells", Audited((0.0, 1.0), release))
    with pytest.raises(AssertionError, match="depends on the data"):
        audited("tells", 8)


@pytest.mark.parametrize("name", RECORDS)
def test_no_recorded_bound_is_above_its_claim_but_that_of_the_refuted_method(name):
    rows, provenance = read_record(name)
    assert rows["release"].tolist() == list(RECORDS[name])
    assert provenance["parameters"]["failure"] == FAILURE
    above = rows[rows["lower"] > rows["epsilon"]]
    broken = {"privacy-audits": ["support vectors, printed"], "privacy-audits-joint": list(PLANTED)}
    assert above["release"].tolist() == broken.get(name, [])
    # every bound follows from the counts that were recorded, at a share of the failure probability
    from scipy.stats import beta

    share = FAILURE / len(rows) / 2 / 2  # two orders of the pair, two limits
    for row in rows.itertuples():
        low = beta.ppf(share, row.hits, row.runs - row.hits + 1) if row.hits else 0.0
        high = beta.isf(share, row.others + 1, row.runs - row.others) if row.others < row.runs else 1.0
        assert row.lower == pytest.approx(max(math.log(max((low - row.delta) / high, 1)), 0), abs=1e-9)
    assert provenance["parameters"]["fits"] == FITS


def test_the_two_parts_of_a_joint_release_show_more_than_either_could():
    rows = read_record("privacy-audits-joint")[0].set_index("release")
    assert (rows.loc[list(JOINT), "epsilon"] == 2 * audited_joint.EACH).all()
    claims = audited_joint.partial_claims()
    assert list(claims) == list(JOINT)
    for name, partial in claims.items():  # a total that leaves a part out is convicted by the same draws
        assert partial == audited_joint.EACH < rows.loc[name, "lower"]
    assert (rows.loc[list(PLANTED), "epsilon"] == 2 * audited_joint.EACH).all()
    assert (rows.loc[list(BOTH), "runs"] == TOGETHER // 2).all()


@pytest.mark.parametrize("name", JOINT)
def test_the_score_of_a_joint_release_is_its_privacy_loss(name):
    one = JOINT[name]
    high, low = (one.release(data, 150, 0)[0] for data in one.pair)
    for scores in (high, low):
        assert abs(scores).max() <= 2 * audited_joint.EACH  # no more than what was paid for
    assert high.max() > 1.9  # and both parts lose all at once
    assert low.min() < -1.9
    # the noise is secure: a mean of 150 scores is about 0.68 ± 0.09 in size, and misses in some 4 of 10⁷ runs
    assert high.mean() > 0.2 > -0.2 > low.mean()


@pytest.mark.parametrize(("bound", "rows", "total"), [(1.0, 4, 4.0), (0.5, audited_joint.ROWS, 0.0)])
def test_margins_stay_where_the_slope_of_the_hinge_is_1(bound, rows, total):
    model = audited_joint.learner(bound).fit(np.ones((rows, 1)), np.arange(rows) % 2)
    scale = model.sigma_ / math.sqrt(2)
    assert scale == pytest.approx(2 * bound / audited_joint.EACH, rel=0.05)  # and little is lost to curvature
    # a margin of ½ asks for so much noise, beyond what the rows pull
    needed = audited_joint.MODULUS * rows * 0.5 / bound - total
    assert math.exp(-needed / scale) < 1e-3
