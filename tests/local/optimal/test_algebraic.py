"""The least Δ as a proved root of a polynomial."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.local.optimal.algebraic import (
    Constraint,
    algebraic_optimum,
    at_basis,
    certified,
    constraints,
    determinant,
    largest_degree,
    level_polynomial,
    tight_constraints,
)
from dpfair_lib.local.optimal.program import Program


@pytest.fixture
def three():
    p, rates = [Fraction(1, n) for n in (2, 3, 6)], [Fraction(n, 2) for n in range(3)]
    return Program(np.array(p, dtype=object), np.array(rates, dtype=object), Fraction(1, 2), Fraction(1, 2))


def test_three_groups_have_the_printed_surd(three):
    found = algebraic_optimum(three)
    assert found.polynomial == (-1, 2, 12)
    assert found.low < (Fraction(13**0.5) - 1) / 12 + Fraction(1, 10**12)
    assert (12 * found.low + 1) ** 2 < 13 < (12 * found.high + 1) ** 2
    assert float(found) == pytest.approx(0.2171292729553)
    kinds = {one.kind for one in found.basis}
    assert kinds == {"privacy", "row", "budget", "above", "below"}
    assert found.least_slack > 0


def test_a_basis_that_is_not_optimal_is_refused(three):
    near, basis = tight_constraints(three)
    with pytest.raises(ValueError, match="near: found no single root"):
        certified(three, basis, 2 * near)
    with pytest.raises(ValueError, match="basis: found 6 constraints, expected 7"):
        level_polynomial(three, basis[1:])
    with pytest.raises(ValueError, match="0 at every level"):
        level_polynomial(three, (*basis[1:], basis[-1]))
    refused = set()
    for out in basis:
        for new in constraints(3):
            changed = tuple(new if one == out else one for one in basis)
            if new in basis:
                continue
            try:
                roots = np.roots([float(c) for c in reversed(level_polynomial(three, changed))])
            except ValueError:
                continue
            for root in roots.real[(abs(roots.imag) < 1e-9) & (roots.real > 1e-6)]:
                with pytest.raises(ValueError, match="found") as complaint:
                    certified(three, changed, float(root))
                refused.add(str(complaint.value)[:26])
    assert {"basis: found a multiplier ", "basis: found a constraint "} <= refused


def test_what_a_basis_determines_is_not_judged(three):
    near, basis = tight_constraints(three)
    found = at_basis(three, basis, near)
    levels = [price for one, price in zip(basis, found.multipliers, strict=True) if one.of_level]
    assert sum(map(float, levels)) == pytest.approx(1)
    assert sum(map(float, found.channel[:3])) == pytest.approx(1)


def test_programs_without_a_single_basis_are_refused(three):
    with pytest.raises(ValueError, match="expected 7"):
        tight_constraints(replace(three, error=Fraction(9, 10)))
    with pytest.raises(ValueError, match="program"):
        tight_constraints(replace(three, error=Fraction(1, 100)))


def test_determinants():
    rows = [[Fraction(n) for n in row] for row in ([0, 2, 1], [3, 1, 0], [1, 1, 1])]
    assert determinant(rows) == -4
    assert determinant([rows[0], rows[0], rows[2]]) == 0


def test_the_largest_degree_is_one_less_than_the_groups():
    assert [largest_degree(k) for k in (2, 3, 6)] == [1, 2, 5]
    with pytest.raises(ValueError, match="groups: found 1"):
        largest_degree(1)


def test_all_inequalities_are_listed_once():
    every = constraints(3)
    assert len(every) == len(set(every)) == 3 * 6 + 1 + 6
    assert Constraint("above", 0, 2).of_level
    assert not Constraint("budget").of_level
