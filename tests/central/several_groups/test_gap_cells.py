"""Cells add up to integrals, are split where it is needed, and are cut where laws are."""

import numpy as np
import pytest

from dpfair_lib.central.several_groups import gap_cells


def trapezium(density):
    """Return the rule of a density: each cell by its ends, and by its two halves."""

    def rule(cells):
        left, middle, right = cells.nodes
        values = density(left), density(middle), density(right)
        width = right - left
        return width * (values[0] + values[2]) / 2, width * (values[0] + 2 * values[1] + values[2]) / 4

    return rule


@pytest.mark.parametrize("cuts", [2, 3, 17])
def test_integrals_of_smooth_and_of_steep_functions(cuts):
    cells = gap_cells.cells_between(np.linspace(0, 1, cuts)[None])
    sharp = 1e-3
    for density, right in (
        (lambda x: x**3, 0.25),  # extrapolated halves are exact for cubics
        (lambda x: np.exp(-x), 1 - np.exp(-1)),
        (lambda x: sharp / (sharp**2 + (x - 0.3) ** 2), np.arctan(0.7 / sharp) + np.arctan(0.3 / sharp)),
    ):
        found = gap_cells.integrated(trapezium(density), cells, halve=True, block=4, tolerance=None)
        assert found == pytest.approx(right, abs=1e-5)


def test_a_coarser_tolerance_asks_for_fewer_cells_and_errs_more():
    cells = gap_cells.cells_between(np.array([[0.0, 1.0]]))
    asked, errors = [], []
    for tolerance in (1e-2, 1e-6):
        counted = []

        def rule(some, counted=counted):
            counted.append(len(some.rows))
            return trapezium(lambda x: np.sqrt(x))(some)

        found = gap_cells.integrated(rule, cells, halve=True, block=100, tolerance=tolerance)
        asked.append(sum(counted))
        errors.append(abs(found - 2 / 3))
    assert asked[0] < asked[1]
    assert errors[0] > 10 * errors[1]


def test_cells_without_halves_are_added_once_and_rows_are_kept_apart():
    cells = gap_cells.cells_between(np.array([[0.0, 2.0, 1.0, 1.0], [5.0, 5.0, 5.0, 9.0]]))
    assert cells.rows.tolist() == [0, 0, 1]
    assert cells.nodes.tolist() == [[0, 1, 5], [1, 2, 9]]

    def lengths(some):
        width = (some.nodes[1] - some.nodes[0]) * (some.rows + 1)
        return width, width

    assert gap_cells.integrated(lengths, cells, halve=False, block=2, tolerance=None) == 2 + 2 * 4


def test_quantiles_and_jumps_of_a_law():
    points = np.array([0.0, 0.2, 0.5, 0.8, 1.0])
    masses = np.array([0.25, 0.25, 0.0, 0.25, 0.25])
    found = gap_cells.quantiles(points, masses)
    assert found.jumps.tolist() == [0.0, 1.0]  # nothing is at ½
    assert found.jump_masses.tolist() == [0.25, 0.25]
    assert found.spread == pytest.approx(np.sqrt((2 * 0.25 + 2 * 0.09) / 4))
    assert (np.diff(found.values) >= 0).all()
    assert 0.2 <= found.values[len(found.values) // 2] <= 0.5  # where half of the mass is reached


def test_close_cuts_fall_together_and_far_ones_do_not():
    far = 0.013 + np.array([[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
    cuts = gap_cells.starting_cuts([far, far + 1e-6])
    assert cuts.shape == (1, 14)
    assert len(np.unique(cuts)) == 7
    assert abs(np.unique(cuts) - far).max() < 0.1
