import math

import numpy as np
import pytest

from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.ours.privacy_audits import (
    FAILURE,
    FITS,
    MODELS,
    RECORDS,
    RELEASES,
    STUDY,
    Audited,
    audited,
)
from dpfair_lib.privacy import PrivacyStatement


@pytest.mark.parametrize("name", [*RELEASES, *MODELS])
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
    assert above["release"].tolist() == ["support vectors, printed"] * (name == "privacy-audits")
    # every bound follows from the counts that were recorded, at a share of the failure probability
    from scipy.stats import beta

    share = FAILURE / len(rows) / 2 / 2  # two orders of the pair, two limits
    for row in rows.itertuples():
        low = beta.ppf(share, row.hits, row.runs - row.hits + 1) if row.hits else 0.0
        high = beta.isf(share, row.others + 1, row.runs - row.others) if row.others < row.runs else 1.0
        assert row.lower == pytest.approx(max(math.log(max((low - row.delta) / high, 1)), 0), abs=1e-9)
    assert provenance["parameters"]["fits"] == FITS
