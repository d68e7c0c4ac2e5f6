from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.claims import Search
from dpfair_lib.claims.once import once


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


@pytest.mark.parametrize(
    "slack", [True, False, np.True_, np.array([True, False]), "0", None, np.array(["a"])]
)
def test_what_can_never_fail_is_refused(slack):
    with pytest.raises(TypeError, match=r"found .*expected (a number|numbers)|truth value"):
        Search().observe(slack, {})


@pytest.mark.parametrize("slack", [np.array([]), np.zeros((2, 2)), np.array([[]])])
def test_empty_arrays_and_tables_are_refused(slack):
    with pytest.raises(ValueError, match="slack: found shape"):
        Search().observe(slack, {})


@pytest.mark.parametrize("tolerance", [np.inf, np.nan, -1e-9])
def test_a_tolerance_must_be_a_small_number(tolerance):
    with pytest.raises(ValueError, match="tolerance: found"):
        Search().observe(1, {}, tolerance=tolerance)


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


def test_a_case_is_kept_as_it_was_when_it_was_judged():
    search, case = Search(), {"x": [1]}
    search.observe(-1, case)
    case["x"].append(2)
    assert search.evidence().violation == {"x": [1]}


def test_truth_values_are_compared_one_by_one():
    search = Search()
    search.agree(np.array([True, False]), np.array([True, False]), {})
    assert search.evidence().finding == "holds"
    search.agree(np.array([True, False, True]), np.array([True, True, True]), {"x": np.array([1, 2, 3])})
    assert search.evidence().violation == {"x": 2}


def test_a_universe_must_have_been_judged():
    search = Search()
    search.observe(np.zeros(5), {})
    search.exhausts("five", cases=5)
    assert search.evidence().universe == "five"
    search.observe(np.zeros(2), {})
    with pytest.raises(AssertionError, match="three: announced 3 cases, judged 2"):
        search.exhausts("three", cases=3)
    with pytest.raises(AssertionError, match="none: announced 0 cases"):
        search.exhausts("none", cases=0)


def test_a_violation_says_which_part_saw_it():
    search = Search()
    search.part("first")
    search.observe(1, {})
    search.part("second")
    search.observe(-1, {})
    search.part("third")
    search.observe(0, {})
    assert search.evidence().part == "second"


def test_what_a_check_relies_on_is_not_what_it_defends():
    search = Search()
    search.sanity(0, {})
    search.against(-1, {"x": 1}, verify=lambda x: -x)
    assert search.evidence().finding == "refuted"
    search.sanity(-1, {"y": 1})
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


def test_each_counterexample_is_verified_by_its_own_function():
    search = Search()
    search.against(-2, {"x": 1}, verify=lambda x: -2 * x)
    search.against(-1, {"y": 1}, verify=lambda y: -y)
    assert search.evidence().counterexample == {"x": 1}
    assert search.evidence().printed_slack == -2


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


@pytest.mark.parametrize(("ours", "differs"), [(0.79, True), (0.85, False)])
def test_a_number_has_to_differ_if_and_only_if_it_is_said_to(ours, differs):
    table = Search()
    table.compare(0.9, 0.5, spread=0.02, case={"row": 1}, differs=True)  # one mismatch: not reproduced
    assert table.evidence().finding == "not-reproduced"
    table.compare(ours, 0.78, spread=0.02, case={"row": 2}, differs=differs)
    evidence = table.evidence()
    assert evidence.finding == "contradicted"
    assert evidence.violation == {"row": 2}


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


def test_a_part_runs_once_for_what_it_examines_and_reports_to_every_search():
    calls = []

    @once
    def part(twice, search):
        calls.append(twice)
        search.part("doubling")
        search.equal(twice(3), 6, {"x": 3})
        search.exhausts("the number three", cases=1)

    def right(x):
        return 2 * x

    first, second, wrong = Search(), Search(), Search()
    part(right, first)
    part(right, second)
    part(abs, wrong)
    assert calls == [right, abs]
    assert first.evidence() == second.evidence()
    assert (first.evidence().cases, first.evidence().universe) == (1, "the number three")
    assert (wrong.evidence().part, wrong.evidence().violation) == ("doubling", {"x": 3})


def test_a_part_that_draws_cannot_be_kept():
    @once
    def part(search):
        search.equal(search.rng.integers(2), 0, {})

    with pytest.raises(AttributeError, match="rng"):
        part(Search())
