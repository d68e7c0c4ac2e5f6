from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.margins.corollary import corollary_constants, theorem_constants

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
JOINT = np.array([[HALF, QUARTER], [Fraction(1, 8), Fraction(1, 8)]])
MEANS = np.array([[Fraction(3), Fraction(6)], [Fraction(1), Fraction(2)]])


@pytest.mark.parametrize(
    ("notion", "theorem", "corollary"),
    [
        # label 0: e = 4 in all, groups of shares 2/3 and 1/3; label 1: e = 3/2, equal shares
        ("equalized_odds", [3, 6, Fraction(3, 2), Fraction(3, 2)], [7, 10, Fraction(5, 2), Fraction(7, 2)]),
        ("equal_opportunity", [0, 0, Fraction(3, 2), Fraction(3, 2)], [0, 0, Fraction(5, 2), Fraction(7, 2)]),
        ("accuracy", [Fraction(27, 8)], [Fraction(27, 8)]),
    ],
)
def test_by_hand(notion, theorem, corollary):
    assert theorem_constants(JOINT, MEANS, notion, (0, 1)).tolist() == theorem
    assert corollary_constants(JOINT, MEANS, notion, (0, 1)).tolist() == corollary


def test_parities_by_hand():
    # groups of shares 5/8 and 3/8 with means 13/5 and 14/3, 27/8 in all
    for notion, times in (("accuracy_parity", 1), ("demographic_parity", 2)):
        made = corollary_constants(JOINT, MEANS, notion, (0, 1)).tolist()
        assert made == [Fraction(27, 8) + Fraction(13, 5), Fraction(27, 8) + Fraction(14, 3)] * times
        made = theorem_constants(JOINT, MEANS, notion, (0, 1)).tolist()
        assert made == [Fraction(109, 40), Fraction(109, 24)] * times


def test_an_unknown_notion_is_named():
    for constants in (theorem_constants, corollary_constants):
        with pytest.raises(ValueError, match="notion: found 'odds'"):
            constants(JOINT, MEANS, "odds", (0, 1))
