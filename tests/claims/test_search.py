from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.claims import Search


def test_worst_slack_and_its_case_are_kept():
    search = Search()
    search.observe(2, {"x": "loose"})
    search.observe(Fraction(1, 3), {"x": "close"})
    search.observe(np.array([0.5, 0.75]), {"x": np.array([1, 2]), "shared": "yes"})
    evidence = search.evidence()
    assert (evidence.cases, evidence.slack, evidence.finding) == (4, Fraction(1, 3), "holds")
    assert evidence.violation is None


def test_a_violation_is_found_inside_an_array():
    search = Search()
    search.observe(np.array([0.5, -1e-9, 0.1]), {"x": np.array([1, 2, 3]), "y": np.eye(3)})
    evidence = search.evidence()
    assert evidence.finding == "contradicted"
    assert evidence.violation == {"x": 2, "y": [0.0, 1.0, 0.0]}


def test_a_tolerance_forgives_only_where_it_was_given():
    search = Search()
    search.observe(-1e-13, {}, tolerance=1e-12)
    assert search.evidence().finding == "holds"
    search.observe(-1e-13, {"x": 1})
    assert search.evidence().violation == {"x": 1}


def test_a_small_exact_violation_is_not_hidden_by_a_large_forgiven_one():
    search = Search()
    search.observe(-1e-6, {"x": "forgiven"}, tolerance=1e-3)
    search.observe(Fraction(-1, 10**9), {"x": "exact"})
    assert search.evidence().violation == {"x": "exact"}


@pytest.mark.parametrize("slack", [float("nan"), np.array([1.0, np.nan])])
def test_not_a_number_is_a_violation(slack):
    search = Search()
    search.observe(slack, {"x": 1})
    assert search.evidence().finding == "contradicted"


def test_nothing_observed_is_not_a_success():
    assert Search().evidence().finding == "empty"
    search = Search()
    search.observe(np.array([]), {})
    assert search.evidence().finding == "empty"


def test_equations_fail_on_either_side():
    for left, right in ((1, 2), (2, 1)):
        search = Search()
        search.equal(left, right, {})
        assert search.evidence().slack == -1


def test_counterexamples_are_verified_from_scratch():
    search = Search()
    search.observe(0, {})
    search.against(-1, {"x": 3}, verify=lambda x: 2 - x)
    evidence = search.evidence()
    assert evidence.finding == "corrected"
    assert evidence.counterexample == {"x": 3}
    assert evidence.printed_slack == -1
    wrong = Search()
    wrong.against(-1, {"x": 1}, verify=lambda x: 2 - x)
    with pytest.raises(AssertionError, match="counterexample not confirmed"):
        wrong.evidence()


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


def test_the_same_seed_gives_the_same_search():
    assert Search(seed=3).rng.integers(10**9) == Search(seed=3).rng.integers(10**9)
