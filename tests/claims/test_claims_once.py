import numpy as np
import pytest

from dpfair_lib.claims.once import drawn_once, known, once
from dpfair_lib.claims.search import Search, Violated


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


def test_a_part_that_draws_is_run_again_where_the_stream_stands_elsewhere():
    drawn = []

    @once
    def part(search):
        drawn.append(search.rng.random() + search.rng.spawn(1)[0].random())
        search.observe(drawn[-1], {})

    def stand(search):
        return search.rng.random(), search.rng.spawn(1)[0].random()

    searches = [Search(seed=1), Search(seed=1), Search(seed=2), Search(seed=1), Search(seed=1, effort=2)]
    searches[3].rng.spawn(1)  # the same stream, and other children
    for search in searches:
        part(search)
    # the second search is given what the first one drew, and goes on where it went on
    assert (len(drawn), len(set(drawn))) == (4, 3)
    assert searches[0].evidence() == searches[1].evidence()
    assert stand(searches[0]) == stand(searches[1])


def test_a_part_counts_as_if_it_had_been_reported_in_its_place():
    def reported(search):
        search.observe(0.25, {"x": 1}, tolerance=0.5)
        search.exhausts("one and two", cases=2)
        search.observe(0.5, {"x": 3})
        search.fact("found", 3, "what was found")
        search.against(-1, {"x": 4}, verify=lambda **_: -1, reading="wide")
        search.compare(1.0, 2.0, spread=0.5, case={"x": 5}, differs=True)
        search.constant("1", "2", slack=0, case={"x": 6})
        search.broken("ε", measured=3, stated=2, case={"x": 7})
        search.sharper(0, 1, {"x": 8})
        search.answers("half", left="the rest")
        search.undecided("tried")
        search.part("the last")

    found = []
    for part in (reported, once(reported), once(reported)):
        search = Search()
        search.part("before")
        search.observe(0.125, {"x": 2})
        part(search)
        search.sanity(-1, {"x": 9})
        search.exhausts("the others", cases=8)
        with pytest.raises(ValueError, match="twice"):
            search.fact("found", 3, "again")
        found.append(search.evidence())
    assert found[0].universe == "one and two; the others"
    assert found[0].part == "the last"
    assert found[0] == found[1] == found[2]


def test_a_violation_found_before_ends_a_search_that_ends_there():
    @once
    def part(search):
        search.part("first")
        search.observe(-1, {})
        search.part("second")

    part(Search())
    with pytest.raises(Violated, match="first"):
        part(Search(ends_at_a_violation=True))


def test_a_part_that_a_fault_ends_is_not_kept():
    runs = []

    @once
    def part(value, search):
        runs.append(value)
        search.observe(value, {})
        search.observe(0, {})

    for _ in range(2):
        with pytest.raises(Violated):
            part(-1, Search(ends_at_a_violation=True))
    search = Search()
    part(-1, search)
    part(-1, search)
    assert runs == [-1, -1, -1]
    assert search.evidence().cases == 4


def test_cases_are_drawn_once_and_the_stream_goes_on_behind_them():
    runs = []

    @drawn_once
    def cases(search):
        runs.append(search.effort)
        return [search.rng.random() for _ in range(search.effort)]

    found = []
    for how in ({}, {}, {"seed": 2}, {"effort": 2}):
        search = Search(**({"seed": 1} | how))
        found.append((cases(search), search.rng.random()))
    assert runs == [1, 1, 2]  # the second search is given what the first one drew
    assert found[0] == found[1] != found[2]
    assert found[3][0] == [found[0][0][0], found[0][1]]
    # where the stream stands elsewhere, others are drawn
    search = Search(seed=1)
    assert cases(search) == found[0][0]
    assert cases(search) == [found[0][1]]
    assert runs == [1, 1, 2, 1]


def test_a_known_function_is_asked_again_for_other_values_types_and_shapes_only():
    asked = []

    @known
    def total(values, *, times=1):
        asked.append((values, times))
        return times * float(np.sum(values))

    for values in (
        np.ones(4),
        np.ones(4),
        np.ones((2, 2)),
        np.ones(4, dtype=int),
        [1, 1],
        (1, 1),
        [1.0, 1],
        1,
        1.0,
    ):
        assert total(values) == np.sum(values)
    assert (len(asked), total.__name__) == (8, "total")
    assert total([1, 1], times=2) == 2 * total([1, 1], times=1)
    assert len(asked) == 10
