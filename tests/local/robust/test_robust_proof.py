"""The lower bound holds whatever the multipliers are, and is exact."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfair_lib.local import CellBounds, robust_randomizer
from dpfair_lib.local.robust.proof import Proof, _below_exp, exact_cells, lower_bound

P, RATES = [0.5, 0.3, 0.2], [0.2, 0.5, 0.4]


def test_laws_are_moved_into_the_set():
    rng = np.random.default_rng(0)
    for between in ((0.0, 1.0), (0.32, 0.33)):
        laws = CellBounds.around(P, RATES, 0.02)
        laws = CellBounds(laws.low, laws.high, between)
        for _ in range(50):
            cells = exact_cells(rng.uniform(0, 0.5, (3, 2)), laws)
            assert sum(map(sum, cells)) == 1
            least, most = laws.exact_positives
            assert least <= sum(one for _, one in cells) <= most
            for found, low, high in zip(cells, laws.low, laws.high, strict=True):
                assert all(Fraction(a) <= c <= Fraction(b) for c, a, b in zip(found, low, high, strict=True))


def test_random_multipliers_never_prove_too_much():
    laws, rng = CellBounds.around(P, RATES, 0.02), np.random.default_rng(1)
    best = robust_randomizer(laws, 1.0, error=0.5)
    proof = best.certificate.proof

    def bent(values, size):
        return values * rng.uniform(1 - size, 1 + size, np.shape(values))

    above = 0
    for _ in range(200):
        size = float(rng.choice([0.001, 0.03, 1.0]))
        conditions = tuple(
            (j, side, bent(w, size), bent(cells, size)) for j, side, w, cells in proof.conditions
        )
        tables = [bent(table, size) for table in (proof.privacy, proof.column_truth, proof.row_truth)]
        wrong = Proof(
            bent(proof.t, size), conditions, *tables, bent(proof.error, size), bent(proof.shares, size)
        )
        found = lower_bound(laws, 1.0, 0.5, wrong)
        above += found > best.value / 2
        assert 0 <= found <= best.value
    assert 50 < above < 200


@pytest.mark.parametrize("name", ["error", "privacy", "column_truth", "row_truth", "conditions"])
def test_multipliers_below_0_count_as_0(name):
    laws, epsilon, error = (
        CellBounds.around([0.63, 0.24, 0.13], [0.5, 0.2, 0.7], 0.02),
        3.0,
        0.3,
    )  # all are needed
    proof = robust_randomizer(laws, epsilon, error=error).certificate.proof
    given = getattr(proof, name)
    if name == "conditions":
        signed = [tuple((j, side, sign * w, cells) for j, side, w, cells in given) for sign in (-1, 0)]
    else:
        signed = [-np.ones_like(given), 0 * given]
    below, none = (lower_bound(laws, epsilon, error, replace(proof, **{name: one})) for one in signed)
    assert below == none < lower_bound(laws, epsilon, error, proof) - Fraction(1, 50)


@pytest.mark.parametrize(("report", "side"), [(0, 2), (0, 0), (0, 1.5), (0, math.nan), (3, 1), (-1, 1)])
def test_a_condition_on_no_side_or_no_report_is_refused(report, side):
    # with a side of 2 the optimum of .139 would be "proved" to be .27 and more
    laws = CellBounds.around(P, RATES, 0.02)
    proof = robust_randomizer(laws, 1.0, error=0.5).certificate.proof
    forged = tuple((report, side, w, cells) for _, _, w, cells in proof.conditions)
    with pytest.raises(ValueError, match="proof: found a condition on side"):
        lower_bound(laws, 1.0, 0.5, replace(proof, conditions=forged, t=2 * proof.t))


def test_a_side_that_is_a_float_is_that_side():
    laws = CellBounds.around(P, RATES, 0.02)
    proof = robust_randomizer(laws, 1.0, error=0.5).certificate.proof
    floats = tuple((j, float(side), w, cells) for j, side, w, cells in proof.conditions)
    found = lower_bound(laws, 1.0, 0.5, replace(proof, conditions=floats))
    assert isinstance(found, Fraction)
    assert found == lower_bound(laws, 1.0, 0.5, proof)


def test_the_privacy_of_the_bound_is_not_above_the_true_one():
    for epsilon in (0.5, 10.0, 700.0, 720.0, 745.0, 800.0):
        found = _below_exp(epsilon)
        with mpmath.workdps(400):
            true = mpmath.exp(-mpmath.mpf(epsilon))
            assert mpmath.mpf(found.numerator) / found.denominator <= true
            assert epsilon > 700 or mpmath.mpf(found.numerator) / found.denominator > true * (1 - 1e-13)


def test_a_negative_price_of_the_error_would_prove_that_errors_are_large():
    # a truthful report is true at least once in three times; that errors are 0.9 at least would contradict it
    laws, nothing = CellBounds.around(P, RATES, 0.02), np.zeros((3, 3))
    condition = (0, 1, 1e-6, (laws.low + laws.high) / 2)
    truthful = np.tile(np.array(P)[:, None] / 3, (1, 3))
    for price in (-1.0, 0.0):
        proof = Proof(0.5, (condition,), nothing, nothing, truthful, price, np.array(P))
        assert lower_bound(laws, 1.0, 0.9, proof) == 0
    assert robust_randomizer(laws, 1.0, error=0.9).value < 1e-6


def test_the_bound_of_the_search_is_tight_and_each_multiplier_counts():
    laws = CellBounds.around(P, RATES, 0.02)
    found = robust_randomizer(laws, 1.0, error=0.5)
    proof = found.certificate.proof
    assert float(lower_bound(laws, 1.0, 0.5, proof)) == pytest.approx(found.value, abs=1e-6)
    assert float(lower_bound(laws, 1.0, 0.4999, proof)) > found.value  # less error: more unfair
    assert float(lower_bound(laws, 1.01, 0.5, proof)) < found.value - 1e-4  # less privacy: fairer
    wider = CellBounds.around(P, RATES, 0.01)
    assert float(lower_bound(wider, 1.0, 0.5, proof)) < found.value - 1e-3  # fewer laws: fairer
