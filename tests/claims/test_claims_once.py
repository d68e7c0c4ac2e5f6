import pytest

from dpfair_lib.claims.once import once
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


def test_a_part_that_draws_cannot_be_kept():
    @once
    def part(search):
        search.equal(search.rng.integers(2), 0, {})

    with pytest.raises(AttributeError, match="rng"):
        part(Search())


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
