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


@pytest.mark.parametrize(
    "slack", [True, False, np.True_, np.array([True, False]), "0", None, np.array(["a"])]
)
def test_what_can_never_fail_is_refused(slack):
    with pytest.raises(TypeError, match=r"found .*expected (a number|numbers)|truth value"):
        Search().observe(slack, {})


def test_unsigned_numbers_do_not_wrap_around():
    for left, right in (([0], [1]), ([3], [4]), ([4], [3])):
        search = Search()
        search.equal(np.array(left, dtype=np.uint8), np.array(right, dtype=np.uint8), {})
        assert search.evidence().slack == -1


def test_not_a_number_among_fractions_is_a_violation():
    for values in ([Fraction(1, 2), float("nan")], [float("nan"), Fraction(-1, 2)]):
        search = Search()
        search.observe(np.array(values, dtype=object), {})
        assert search.evidence().finding == "contradicted"


def test_a_fraction_is_compared_with_its_tolerance_exactly():
    search = Search()
    search.observe(Fraction(-1, 1000) - Fraction(1, 10**25), {}, tolerance=float(Fraction(1, 1000)))
    tolerance = Fraction(float(Fraction(1, 1000)))
    expected = "holds" if tolerance >= Fraction(1, 1000) + Fraction(1, 10**25) else "contradicted"
    assert search.evidence().finding == expected
    search.observe(-tolerance - Fraction(1, 10**30), {}, tolerance=float(tolerance))
    assert search.evidence().finding == "contradicted"


def test_rounding_is_no_counterexample():
    search = Search()
    search.against((0.1 + 0.7) - 0.7 - 0.1, {"x": 0.7}, verify=lambda x: (0.1 + x) - x - 0.1)
    with pytest.raises(AssertionError, match="without a tolerance it must be exact"):
        search.evidence()
    forgiving = Search()
    forgiving.observe(0, {})
    forgiving.against(-1e-17, {"x": 0.7}, verify=lambda x: -1e-17 * x, tolerance=1e-12)
    assert forgiving.evidence().finding == "holds"


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
