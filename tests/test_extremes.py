import os
import time

import numpy as np
import pytest
from extremes import SECONDS, Server, bases, defects, plan, says_what

import dpfair_lib as dpf

NAMED = [
    *(("subset_selection, default size", "k", extreme) for extreme in ("2**53", "2**63", "10**400")),
    *(("generalized_randomized_response", "k", extreme) for extreme in ("2**31", "2**53", "10**400")),
    *(("dp_sgd_epsilon, pld", "steps", extreme) for extreme in ("2**31", "2**53", "2**63", "10**400")),
    *(("dp_sgd_noise, rdp", "epsilon", extreme) for extreme in ("1e-300", "5e-324", "1e308")),
    *(("acceptable_hypotheses", argument, "text") for argument in ("population", "fair", "accurate")),
    *(
        ("pure_dp_feasible", "populations", extreme)
        for extreme in ("0", "objects", "0-D", "empty", "infinite")
    ),
    *(("acceptable_hypotheses", "population", extreme) for extreme in ("None", "0")),
    *((name, "channel", "3-D") for name in ("audit_channel", "estimate_frequencies", "estimate_rates")),
    *(("generic_linf_bound", "beta", extreme) for extreme in ("0", "text", "nan", "10**400", "Fraction")),
    ("data_unfairness", "y", "one"),
    *((name, "sensitive_features", "sets") for name in ("selection_rates", "EqualizedOddsPostprocessor")),
    *(("audit_channel", "channel", extreme) for extreme in ("ragged", "dict", "table of words")),
    *(("Randomizer", "matrix", extreme) for extreme in ("ragged", "sets")),
    *(("parity_bound", "n", extreme) for extreme in ("ragged", "sets")),
    *(("margins", argument, "ragged") for argument in ("scores", "y")),
    *((name, "scores", "ragged") for name in ("noise_certificate", "private_certificate")),
    *(("EqualizedOddsPostprocessor", "y_pred", "ragged"), ("FairProjection", "y_proba", "ragged")),
    *(("acceptable_hypotheses", "hypotheses", "ragged"), ("Population", "table", "ragged")),
    ("FairProjection", "tolerance", "1e308"),
    ("Population", "table", "3-D"),
    ("fairness_certificate", "radius", "10**400"),
    ("PrivateFairClassifier", "y", "None"),
    ("PrivateFairPostprocessor, equal opportunity", "epsilon", "1e-300"),
    *(("gaussian_sigma", "epsilon", extreme) for extreme in ("1e-300", "5e-324", "1e308")),
]
# seconds each, on a free machine, and no extreme in it is more than large
SLOW = {"dp_sgd_epsilon, prv", "dp_sgd_noise, pld", "PrivateNoRegretFair"}
# `make test-python` goes without torch, and then these refuse every argument alike
TRAINED = {"DPLogisticRegression", "DPLinearSVM"} if "DPFAIR_TESTS_WITHOUT" in os.environ else set()


def test_extreme_arguments_are_answered_or_refused_by_name():
    sample = [call for call in plan(0.07) if call[0] not in SLOW | TRAINED]
    assert len(sample) > 250
    assert defects([*NAMED, *sample]) == {}


def test_every_public_name_is_tried():
    tried = {name.split(",")[0].split(".")[0] for name in bases()}
    # an audit's result, a table of data and its loader take no numbers; the last two are covered by their kin
    known = {
        "AuditResult",
        "ChannelAudit",
        "Dataset",
        "load",
        "DPFermiClassifier",
        "FrequencyEstimate",
        "ModelCertificate",
        "RateEstimate",
        "SupportVectorPerturbation",
    }
    public = {name for name in dpf.__all__ if not name.startswith("__")}
    assert public - tried == known


def test_a_refusal_that_names_no_argument_of_the_call_is_found():
    given = {"channel": [[1.0]], "epsilon": 0.5}
    assert says_what("channel: found shape (1,), expected one row per value", "channel", given, "one")
    for message in (
        "matrix: found shape (1,), expected one row per value",
        "channel: shape (1,) is wrong, expected one row per value",
        "channel: found shape (1,)",
        "channels: found one, expected two",
        "too many values to unpack (expected 2)",
    ):
        assert not says_what(message, "channel", given, "one")


@pytest.fixture
def server():
    served = Server()
    yield served
    served.close()


def test_what_hangs_dies_or_takes_too_much_is_found(server, monkeypatch):
    answered = ["selection_rates", "y_pred", "text"]
    assert server.ask(answered) == "refused"
    monkeypatch.setattr("extremes.SECONDS", 1)
    assert server.ask(["test", "hang", "0"]) == "no answer within 1 s"
    assert server.ask(["test", "die", "0"]) == "the process ended"
    monkeypatch.setattr("extremes.SECONDS", SECONDS)
    assert server.ask(["test", "hold", "0"]).startswith("MemoryError")
    assert server.ask(["test", "wrong", "0"]) == "ValueError: something is off"
    assert server.ask(answered) == "refused"


def test_limits_of_integers_leave_ordinary_ones():
    started = time.process_time()
    assert dpf.subset_selection(2**20, 1.0).size == round(2**20 / (np.e + 1))
    with pytest.raises(ValueError, match="k, size: found a channel of at least"):
        _ = dpf.subset_selection(2**20, 1.0).matrix
    assert dpf.subset_selection(300, 1.0, size=300).epsilon == 0
    assert time.process_time() - started < 5
    with pytest.raises(ValueError, match=r"k: found 1,048,577, expected at most 1,048,576"):
        dpf.subset_selection(2**20 + 1, 1.0)
    with pytest.raises(ValueError, match="k: found a number of more than 30 digits"):
        dpf.subset_selection(10**5000, 1.0)
