"""Releases that were fixed beforehand: sums, maxima of disjoint parts, and what does not go together."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import RELATIONS, PrivacyStatement, compose
from dpfair_lib.privacy.budgets.joint_statements import SPLITS

EPSILON = st.floats(1e-3, 5)
DELTA = st.floats(0, 1e-3)


def stated(epsilon=1.0, delta=0.0, relation="replace-one", **details):
    return PrivacyStatement(epsilon, delta, relation, **details)


@given(st.lists(st.tuples(EPSILON, DELTA), min_size=1, max_size=6))
def test_the_same_data_add_up_and_disjoint_data_do_not(numbers):
    parts = [stated(*pair, "replace-within-group") for pair in numbers]
    total = compose(*parts)
    assert total.epsilon == pytest.approx(math.fsum(e for e, _ in numbers), rel=3e-16, abs=0)
    assert total.delta == pytest.approx(math.fsum(d for _, d in numbers), rel=3e-16, abs=0)
    assert total.parts == tuple(parts)
    apart = compose(*parts, parallel="group")
    assert (apart.epsilon, apart.delta) == (max(e for e, _ in numbers), max(d for _, d in numbers))
    assert apart.epsilon <= total.epsilon
    # in any grouping and any order
    assert compose(compose(*parts[:2]), *parts[2:]).epsilon == pytest.approx(total.epsilon, rel=1e-12, abs=0)
    assert compose(*reversed(parts)).delta == pytest.approx(total.delta, rel=1e-12, abs=0)


# Records are (place, group, feature). A part is named by what decides it; a neighbour may change what the
# relation says; the maximum is sound if no neighbour's record can be in another part.
MAY_CHANGE = {
    "replace-one": {"group", "features"},
    "replace-within-group": {"features"},
    "sensitive-attribute": {"group"},
    "local": {"group", "features"},
}
DECIDED_BY = {"position": {"place"}, "coin": set(), "group": {"group"}, "features": {"features"},
              "record": {"group", "features"}}  # fmt: skip


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("split", SPLITS)
def test_the_maximum_only_where_no_record_changes_its_part(relation, split):
    moves = DECIDED_BY[split] & MAY_CHANGE.get(relation, set())
    sound = not moves and (relation, split) != ("add-remove", "position")  # rows after a new one move on
    parts = (stated(1.0, 0, relation), stated(2.0, 0, relation))
    if sound:
        assert compose(*parts, parallel=split).epsilon == 2
    else:
        with pytest.raises(ValueError, match="parallel: found a division by"):
            compose(*parts, parallel=split)


def test_composition_refuses_what_does_not_go_together():
    with pytest.raises(ValueError, match="found the relations local, replace-one"):
        compose(stated(), stated(relation="local"))
    with pytest.raises(ValueError, match="found the units person, record"):
        compose(stated(), stated(unit="person"))
    with pytest.raises(ValueError, match="parallel: found True, expected how"):
        compose(stated(), parallel=True)
    with pytest.raises(ValueError, match="parallel: found 'halves'"):
        compose(stated(), parallel="halves")
    with pytest.raises(ValueError, match="statements: found none"):
        compose()
    with pytest.raises(ValueError, match=r"statements: found 1\.0"):
        compose(1.0)
    with pytest.raises(ValueError, match="add up to"):
        compose(stated(1, 0.6), stated(1, 0.6))


def test_composition_converts_when_told_to():
    total = compose(stated(1.0, 0, "add-remove"), stated(0.5), to="replace-one")
    assert (total.epsilon, total.relation) == (2.5, "replace-one")
    # disjoint under add-remove: first the maximum, then twice; a record may leave one part and enter another
    moved = compose(
        stated(1.0, 0, "add-remove"), stated(0.5, 0, "add-remove"), parallel="record", to="replace-one"
    )
    assert (moved.epsilon, moved.relation) == (2.0, "replace-one")
    with pytest.raises(ValueError, match="implies nothing"):
        compose(stated(relation="replace-within-group"), stated(), to="replace-one")


def test_what_costs_nothing_is_not_left_out_of_what_is_said():
    free = PrivacyStatement(
        0.0, 0.0, "add-remove", public=("the columns",), guarantee=False, note="not checked", sampling="none"
    )
    total = compose(stated(), free)
    assert (total.epsilon, total.relation, total.guarantee) == (1.0, "replace-one", False)
    assert "the columns" in total.public
    assert "not checked" in total.note
    assert total.sampling == "none"
    assert total.parts == (stated(), free)
