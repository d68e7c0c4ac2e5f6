"""The questions of the front page have the answers that were found."""

import pytest
from shown_outcomes import every_statement

from dpfair_lib.claims import Claim
from dpfair_lib.claims.evidence import Evidence
from dpfair_lib.claims.ledger import Outcome
from dpfair_lib.claims.questions import questions


def test_questions_are_answered_with_what_was_found():
    def answers(celeba):
        facts = {
            "isit.noise-multipliers": {"adult_releases": "3.22 for 3"},
            "mpbt.table-1": {
                "celeba_as_run_record_epsilon": celeba,
                "acs_income_as_run_record_epsilon": 8.99,
                "celeba_as_run_182338_digits": "5 of 5",
            },
        }
        found = Evidence(1, facts=facts["mpbt.table-1"])
        other = Evidence(1, facts=facts["isit.noise-multipliers"])
        return [
            *every_statement(),
            Outcome(Claim("mpbt.table-1", "here", "x"), found),
            Outcome(Claim("isit.noise-multipliers", "here", "x"), other),
        ]

    shown = questions(answers(62.9))
    lines = repr(shown).splitlines()
    assert len(lines) == 4
    assert "0 printed statements are false" in lines[0]
    assert "3.22 for 3" in lines[1]
    assert "ε ≥ 62.9 there and ≥ 8.99" in lines[2]
    assert "ε ≥ 7 there" in repr(questions(answers(7)))
    assert lines[3].endswith("CGKM's Theorem 1, Theorem 2 and Theorem 3 hold as printed.")
    assert 'href="../notebooks/findings.html#statements-cgkm"' in shown._repr_html_()
    with pytest.raises(ValueError, match="adult_releases"):
        questions(answers(1)[:-1])
