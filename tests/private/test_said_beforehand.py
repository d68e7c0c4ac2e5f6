"""An estimator says before its fit of which relation its statement will be, so that a pipeline can refuse in time."""

import pytest
from cases import cases, statement_of

from dpfair_lib.preparation.pipeline import declares_statement, stated_relation

LISTED = [case for case in cases() if case.relation is not None and hasattr(case.make("study", 0), "fit")]
CASES = [case for case in LISTED if declares_statement(case.make("study", 0))]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_relation_is_said_and_is_that_of_the_statement(case):
    statement = statement_of(case.release(case.data(), *(() if case.secure else ("study", 0))))
    assert statement.free or stated_relation(case.make("study", 0)) == statement.relation


def test_relations_of_all_kinds_are_looked_at():
    assert {"add-remove", "replace-one", "sensitive-attribute"} <= {case.relation for case in CASES}
    assert {type(case.make("study", 0)).__name__ for case in CASES} >= {
        "DPFermiClassifier", "PrivatePipeline", "PrivateSelection", "ExponentialFairLearner", "PrivateNoRegretFair",
        "DPGroupClippingClassifier", "DPLagrangianClassifier", "PrivateExponentiatedGradient",
    }  # fmt: skip
