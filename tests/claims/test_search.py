import numpy as np
import pytest

from dpfair_lib.claims import Search


def test_a_violation_is_found_inside_an_array():
    search = Search()
    search.observe(np.array([0.5, -1e-9, 0.1]), {"x": np.array([1, 2, 3]), "y": np.eye(3)})
    evidence = search.evidence()
    assert evidence.finding == "contradicted"
    assert evidence.violation == {"x": 2, "y": [0.0, 1.0, 0.0]}


@pytest.mark.parametrize("slack", [np.array([]), np.zeros((2, 2)), np.array([[]])])
def test_empty_arrays_and_tables_are_refused(slack):
    with pytest.raises(ValueError, match="slack: found shape"):
        Search().observe(slack, {})


@pytest.mark.parametrize("tolerance", [np.inf, np.nan, -1e-9])
def test_a_tolerance_must_be_a_small_number(tolerance):
    with pytest.raises(ValueError, match="tolerance: found"):
        Search().observe(1, {}, tolerance=tolerance)


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


def test_each_counterexample_is_verified_by_its_own_function():
    search = Search()
    search.against(-2, {"x": 1}, verify=lambda x: -2 * x)
    search.against(-1, {"y": 1}, verify=lambda y: -y)
    assert search.evidence().counterexample == {"x": 1}
    assert search.evidence().printed_slack == -2


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


def test_the_same_seed_gives_the_same_search():
    assert Search(seed=3).rng.integers(10**9) == Search(seed=3).rng.integers(10**9)
