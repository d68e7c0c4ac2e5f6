import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from dpfair_lib.central import rate_bias_bound
from dpfair_lib.central.gap_law import signed_gap


def largest_bias(universe, epsilon, delta=0.0):
    """The largest P(x ∈ A | x) − mean of P(x′ ∈ A | x) of all mechanisms that release a set A, by linear programming.

    One row x, uniform on a few places; the other rows are fixed, so nothing is lost. The classifier selects A.
    """
    sets = np.arange(2**universe)
    inside = np.array([(sets >> x) & 1 for x in range(universe)])  # (universe, sets)
    size = universe * len(sets)
    gain = (inside - inside.mean(axis=0)) / universe
    pairs = [(x, z) for x in range(universe) for z in range(universe) if x != z]
    slack = len(pairs) * len(sets)
    upper = np.zeros((slack + len(pairs), size + slack))
    for at, (x, z) in enumerate(
        pairs
    ):  # p(A|x) − e^ε p(A|z) ≤ s(A), the s(A) of a pair adding up to δ at most
        rows = np.arange(at * len(sets), (at + 1) * len(sets))
        upper[rows, x * len(sets) + sets] = 1
        upper[rows, z * len(sets) + sets] = -math.exp(epsilon)
        upper[rows, size + rows] = -1
        upper[slack + at, size + rows] = 1
    limits = np.concatenate([np.zeros(slack), np.full(len(pairs), delta)])
    equal = np.kron(np.eye(universe), np.ones(len(sets)))
    found = linprog(
        -np.concatenate([gain.ravel(), np.zeros(slack)]), A_ub=upper, b_ub=limits,
        A_eq=np.hstack([equal, np.zeros((universe, slack))]), b_eq=np.ones(universe), method="highs",
    )  # fmt: skip
    return -found.fun


@pytest.mark.parametrize("universe", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2 * math.log(2), 2 * math.log(3), 4.0])
def test_no_mechanism_exceeds_the_bound(universe, epsilon):
    found = largest_bias(universe, epsilon)
    assert 0.5 * rate_bias_bound(epsilon) < found <= rate_bias_bound(epsilon) + 1e-9
    for delta in (1e-3, 0.1):
        assert found < largest_bias(universe, epsilon, delta) <= rate_bias_bound(epsilon, delta) + 1e-9


def test_the_bound_is_attained_where_its_share_of_places_is_whole():
    # of k places a share of 1/(1 + e^(ε/2)) is selected by chance
    for universe, ratio in ((3, 2), (4, 3)):
        epsilon = 2 * math.log(ratio)
        assert largest_bias(universe, epsilon) == pytest.approx(rate_bias_bound(epsilon), abs=1e-9)
        # a wrong bound would be seen
        assert largest_bias(universe, epsilon) > math.tanh(0.95 * epsilon / 4)
        assert largest_bias(universe, epsilon, 0.1) > rate_bias_bound(epsilon)


def test_a_table_of_randomised_labels_attains_it_among_many_places():
    # each place publishes its label through randomised response at ε/2, as a replaced row moves two places
    for ratio in (2, 3, 10):
        truth = Fraction(ratio, ratio + 1)
        seen, new = truth, 1 - truth  # rows with the label 1; a place without rows has the label 0
        assert float(seen - new) == pytest.approx(rate_bias_bound(2 * math.log(ratio)), rel=1e-12)


def test_the_worked_example_makes_a_fair_classifier_unfair():
    # group a has the label 1 throughout, group b never: 2/3 and 1/3 of the training rows are selected, 1/3 of new rows
    seen, new = (Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(1, 3))
    assert signed_gap(*new, *new) == 0
    assert signed_gap(*new, *seen) == Fraction(1, 4) - Fraction(1, 2)


@pytest.mark.parametrize(
    ("epsilon", "delta", "named"), [(0, 0, "epsilon"), (1, 1, "delta"), (1, -0.1, "delta")]
)
def test_bad_numbers_are_named(epsilon, delta, named):
    with pytest.raises(ValueError, match=f"^{named}: found"):
        rate_bias_bound(epsilon, delta)


@pytest.mark.parametrize("delta", [1e-9, 0.1, 0.9])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_the_bound_for_a_delta_is_the_total_variation_that_privacy_allows(epsilon, delta):
    """(e^ε − 1 + 2δ)/(e^ε + 1), which grows with both and reaches 1 only with them."""
    found, e = rate_bias_bound(epsilon, delta), math.exp(epsilon)
    assert found == pytest.approx((e - 1 + 2 * delta) / (e + 1), rel=1e-12)
    assert rate_bias_bound(epsilon) < found < 1
    assert rate_bias_bound(epsilon, delta / 2) < found < rate_bias_bound(2 * epsilon, delta)
