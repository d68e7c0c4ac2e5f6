import numpy as np
import pytest

from dpfair_lib.claims import Search


def test_nothing_observed_is_not_a_success():
    assert Search().evidence().finding == "empty"


def test_the_other_findings_can_be_reached():
    tables = Search()
    tables.compare(0.78, 0.79, spread=0.02, case={"row": 1}, differs=False)
    assert tables.evidence().finding == "reproduced"
    tables.compare(0.78, 0.85, spread=0.02, case={"row": 2}, differs=True)
    assert tables.evidence().finding == "not-reproduced"
    question = Search()
    question.undecided("all channels of four letters")
    assert question.evidence().finding == "open"
    question.not_run("no record of the experiment")
    assert question.evidence().finding == "not run"
    with pytest.raises(ValueError, match="expected finite numbers"):
        Search().compare(float("nan"), 0.5, spread=0.1, case={}, differs=True)


def test_refuted_without_a_repaired_statement():
    search = Search()
    search.against(np.array([1, -2]), {"x": np.array([0, 5])}, verify=lambda x: 3 - x)
    assert search.evidence().finding == "refuted"
    assert search.evidence().witness == {"x": 5}


def test_a_printed_statement_that_survives_refutes_nothing():
    search = Search()
    search.against(0, {"x": 1}, verify=lambda x: x)
    assert search.evidence().finding == "empty"
    search.observe(1, {})
    assert search.evidence().finding == "holds"
