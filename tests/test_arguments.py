import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib._arguments import (
    LARGEST_INTEGER,
    below_one,
    elementwise,
    inside_unit,
    nonnegative,
    number,
    one_of,
    positive,
    positive_integer,
)

BELOW, ABOVE = math.nextafter(0, -1), math.nextafter(1, 2)


@pytest.mark.parametrize(
    ("check", "accepted", "refused"),
    [
        (positive, [5e-324, 1, Fraction(1, 4)], [0, -1, math.inf]),
        (nonnegative, [0, -0.0, math.inf], [BELOW, -math.inf]),
        (inside_unit, [5e-324, math.nextafter(1, 0)], [0, 1, ABOVE]),
        (below_one, [0, math.nextafter(1, 0)], [BELOW, 1]),
        (positive_integer, [1, np.int64(7), LARGEST_INTEGER], [0, 1.0, LARGEST_INTEGER + 1]),
    ],
)
def test_ranges_end_where_they_say(check, accepted, refused):
    for value in accepted:
        assert check(value, "name") == value
    for value in [*refused, math.nan, True, np.True_, "1", None]:
        with pytest.raises(ValueError, match=r"^name: found .*, expected"):
            check(value, "name")


def test_an_integer_may_have_a_limit_of_its_own():
    assert positive_integer(5, "n", most=5) == 5
    with pytest.raises(ValueError, match="n: found 6, expected at most 5"):
        positive_integer(6, "n", most=5)
    with pytest.raises(ValueError, match="a number of more than 30 digits"):
        positive_integer(10**30, "n")


def test_a_number_that_no_float_can_hold_is_refused():
    with pytest.raises(ValueError, match="epsilon: found a number that no float can hold, expected a size"):
        number(10**400, "epsilon", "a size")
    for large in ("1e4000", "-1e4000"):  # which NumPy turns into infinity
        with pytest.raises(
            ValueError, match="epsilon: found a number that no float can hold, expected a size"
        ):
            number(np.longdouble(large), "epsilon", "a size")
    assert number(np.longdouble("1.5"), "epsilon", "a size") == 1.5
    assert (
        number(np.longdouble("inf"), "epsilon", "a size") == number(math.inf, "epsilon", "a size") == math.inf
    )


def test_a_word_is_one_of_the_known_ones_and_of_their_type():
    assert one_of("a", "kind", ("a", "b")) == "a"
    for value in ("c", 1, None, ["a"]):
        with pytest.raises(ValueError, match=r"kind: found .*, expected one of 'a', 'b'"):
            one_of(value, "kind", ("a", "b"))


def test_a_function_of_one_number_is_applied_to_each_entry_in_its_place():
    assert elementwise(lambda x: 2 * x, 1.5, "x") == 3.0
    assert elementwise(lambda x: 2 * x, np.array(1.5), "x") == 3.0
    assert elementwise(lambda x: x**2, [[1, 2, 3], [4, 5, 6]], "x").tolist() == [[1, 4, 9], [16, 25, 36]]
    with pytest.raises(ValueError, match="x: found -1"):
        elementwise(abs, [0, -1], "x")
