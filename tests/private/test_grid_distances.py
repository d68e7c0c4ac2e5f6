"""Every number that is drawn on the grid is in the distance that its statement pays for."""

from fractions import Fraction

import pytest
from cases import cases, statement_of
from watching import watched

from dpfair_lib.privacy.grid_noise import FINENESS, discrete_distance

SECURE = [case for case in cases() if case.secure and case.relation not in (None, "local")]


@pytest.mark.parametrize("case", SECURE, ids=str)
def test_no_draw_on_the_grid_is_left_out_of_the_distance(case):
    with watched() as calls:
        statement = statement_of(case.release(case.data()))
    drawn = sum(len(one.values) for one in calls if one.kind == "discrete gaussian")
    told = sum(Fraction(one.distance) for one in statement.mechanism) if drawn else 0
    assert told >= drawn * discrete_distance(FINENESS)
