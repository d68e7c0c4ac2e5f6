"""Study noise: at the same scales as secure noise, and never with a guarantee."""

import pytest
from cases import cases, statement_of
from study_watching import exactly, study_requests
from watching import watched

from dpfair_lib.privacy import STUDY_NOTE

CASES = [case for case in cases() if not case.local]
PRINTED = {"support vectors", "exponential learner, repair=False", "no regret, printed"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_statement_of_study_noise_has_a_guarantee(case):
    statement = statement_of(case.release(case.data(), "study", 0))
    if case.relation is None:
        assert statement is None
        return
    assert not statement.guarantee
    assert STUDY_NOTE in statement.note or case.name in PRINTED


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.asked is not None and not case.apart], ids=str
)
def test_study_noise_has_the_scales_of_secure_noise(case):
    data = case.data()
    with watched(exactly) as secure:
        case.release(data)
    with study_requests() as study:
        case.release(data, "study", 0)
    assert len(secure) >= 1
    assert [kind for kind, _ in study] == [request.kind for request in secure]
    assert [scale for _, scale in study] == pytest.approx([request.scale for request in secure], rel=1e-12)
