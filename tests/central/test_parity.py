import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpfair_lib as dpf
from dpfair_lib.central import (
    excess_change_probability,
    expected_parity_bound,
    expected_parity_gap,
    gap_quantile,
    parity_bound,
    parity_violation_probability,
)
from dpfair_lib.central.gap_law import signed_gap, summed_changes
from dpfair_lib.central.parity import mean_noise
from dpfair_lib.privacy import DiscreteLaplaceMechanism, LaplaceMechanism

ADULT = {"rates": (0.08, 0.25), "n": (3670, 7635), "epsilon": 0.05}


def test_bound_gives_each_of_its_four_terms_a_quarter_of_the_failure():
    eta = 0.05
    noise = (
        LaplaceMechanism(1 / 0.1, 1).error_bound(eta / 4) / 400
        + LaplaceMechanism(1 / 0.2, 1).error_bound(eta / 4) / 900
    )
    sampling = parity_bound((400, 900), math.inf, eta)
    assert parity_bound((400, 900), (0.1, 0.2), eta) == pytest.approx(noise + sampling, rel=1e-14)
    for n, term in ((400, None), (900, None)):
        term = parity_bound((n, 10**12), math.inf, eta) - parity_bound((10**12, 10**12), math.inf, eta) / 2
        assert 2 * math.exp(-2 * n * term**2) == pytest.approx(eta / 4, rel=1e-4)


def test_geometric_bound_uses_the_exact_tail():
    for epsilon in (0.05, 0.3, 1.0, 3.0):
        tail = DiscreteLaplaceMechanism(1 / epsilon, 1)
        t = round(
            (parity_bound(100, epsilon, 0.1, mechanism="geometric") - parity_bound(100, math.inf, 0.1)) * 50
        )
        assert tail.tail(t) <= 0.025
        assert t == 0 or tail.tail(t - 1) > 0.025
        # its quantile is a whole number, and may round up what it gains: by less than one count per group
        excess = parity_bound(100, epsilon, 0.1, mechanism="geometric") - parity_bound(100, epsilon, 0.1)
        assert excess < 2 / 100


def test_mean_size_of_geometric_noise_is_its_sum():
    for epsilon in (0.05, 1.0, 5.0):
        k = np.arange(-3000, 3001)
        law = DiscreteLaplaceMechanism(1 / epsilon, 1).pmf(k)
        assert mean_noise(epsilon, "geometric") == pytest.approx(float(abs(k) @ law), rel=1e-12)
    assert mean_noise(1e4, "geometric") == 0


@settings(max_examples=25)
@given(
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.tuples(st.floats(0.05, 5), st.floats(0.05, 5)),
    st.sampled_from(["laplace", "geometric"]),
    st.floats(0.01, 0.99),
)
@example((0.0, 1.1125369292536007e-308), (1, 1), (1.0, 0.25), "laplace", 0.5)
def test_violation_is_within_the_bound_and_falls_with_the_gap(rates, n, epsilon, mechanism, eta):
    given_law = {"rates": rates, "n": n, "epsilon": epsilon, "mechanism": mechanism}
    bound = parity_bound(n, epsilon, eta, mechanism=mechanism)
    assert bound >= 1 or parity_violation_probability(bound, **given_law) <= eta
    chances = parity_violation_probability(np.linspace(0, 1, 9), **given_law)
    assert (np.diff(chances) <= 1e-12).all()
    assert chances[-1] == 0
    quantile = gap_quantile(eta, **given_law)
    assert parity_violation_probability(quantile, **given_law) <= eta + 1e-12
    if mechanism == "geometric":
        assert expected_parity_gap(**given_law) <= expected_parity_bound(n, epsilon, mechanism=mechanism)


def test_law_at_the_size_of_adult():
    chance = parity_violation_probability(0.01, **ADULT)
    assert parity_violation_probability(gap_quantile(0.1, **ADULT), **ADULT) == pytest.approx(0.1, rel=1e-6)
    # without noise: a two-sided normal approximation of the difference
    spread = math.sqrt((0.165 / 0.25) ** 2 * 0.25 * 0.75 / 7635 + (0.835 / 0.92) ** 2 * 0.08 * 0.92 / 3670)
    exact = parity_violation_probability(0.01, rates=(0.08, 0.25), n=(3670, 7635), epsilon=math.inf)
    assert exact == pytest.approx(math.erfc(0.01 / spread / math.sqrt(2)), rel=0.15)
    assert exact < chance
    assert expected_parity_gap(**ADULT) == pytest.approx(0.0069722377765, abs=1e-11)


def test_swapping_the_groups_changes_nothing():
    first = parity_violation_probability(0.03, rates=(0.2, 0.6), n=(50, 30), epsilon=(0.3, 1.0))
    second = parity_violation_probability(0.03, rates=(0.6, 0.2), n=(30, 50), epsilon=(1.0, 0.3))
    assert first == pytest.approx(second, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parity_bound(0, 1.0, 0.1), "n: found 0"),
        (lambda: parity_bound((3, 4, 5), (1.0, 2.0), 0.1), "epsilon: found 2 values"),
        (lambda: parity_bound((3,), 1.0, 0.1), "n: found 1 values"),
        (lambda: excess_change_probability(0.1, rates=0.5, n=(3, 4, 5), epsilon=1.0), "n: found 3 values"),
        (lambda: parity_bound(2.5, 1.0, 0.1), "n: found 2.5"),
        (lambda: parity_bound(5, 0.0, 0.1), "epsilon: found 0.0"),
        (lambda: parity_bound(5, math.nan, 0.1), "epsilon: found nan"),
        (lambda: parity_bound(5, 1.0, 1.0), "eta: found 1.0"),
        (lambda: parity_bound(5, 1.0, 0.0), "eta: found 0.0"),
        (lambda: parity_bound(5, 1.0, 0.1, mechanism="gauss"), "mechanism: found 'gauss'"),
        (lambda: parity_violation_probability(1.5, **ADULT), "gap: found 1.5"),
        (lambda: parity_violation_probability(0.1, rates=(0.2, 1.2), n=5, epsilon=1), "rates: found 1.2"),
        (lambda: gap_quantile(0, **ADULT), "eta: found 0"),
        (
            lambda: parity_violation_probability(0.1, rates=(0.2, 0.3), n=5, epsilon=1e5),
            "epsilon: found 100000",
        ),
        (
            lambda: parity_violation_probability(0.1, rates=(0.2, 0.3), n=10**8, epsilon=1),
            "n: found 100000000",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call()


def test_one_row_and_no_noise_are_defined():
    assert parity_bound(1, math.inf, 0.5) > 1
    # one row in each group, no noise: the noisy rates are 0 or 1
    chance = parity_violation_probability(0.4, rates=(0.5, 0.5), n=1, epsilon=math.inf)
    assert chance == pytest.approx(0.5)  # rates (0, 1) or (1, 0) leave a gap of ½, equal ones leave 0


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize("rates", [(0.8, 0.1), (0.1, 0.8), (0.5, 0.5), (0.3, 0.35), (0.0, 1.0)])
def test_excess_changes_follow_their_exact_law(rates, mechanism):
    rng, n, epsilon, draws = np.random.default_rng(2), (10, 15), (0.7, 1.0), 100_000
    noisy = []
    for rate, k, e in zip(rates, n, epsilon, strict=True):
        noise = rng.laplace(0, 1 / e, draws)
        if mechanism == "geometric":
            noise = rng.geometric(-np.expm1(-e), draws) - rng.geometric(-np.expm1(-e), draws)
        noisy.append(np.clip((rng.binomial(k, rate, draws) + noise) / k, 0, 1))
    gap = abs(signed_gap(*rates, *noisy))
    excess = summed_changes(*rates, *noisy) - np.maximum(abs(rates[0] - rates[1]) - gap, 0)
    assert (excess <= 2 * gap + 1e-12).all()
    at = np.array([0.013, 0.111, 0.333])
    chances = excess_change_probability(at, rates=rates, n=n, epsilon=epsilon, mechanism=mechanism)
    for t, chance in zip(at, chances, strict=True):
        spread = 6 * np.sqrt(chance * (1 - chance) / draws)
        assert (excess > t).mean() == pytest.approx(chance, abs=spread + 1e-12)


def test_the_largest_noise_level_of_the_exact_law_is_close_to_no_noise():
    law = {"rates": (0.3, 0.4), "n": 10}
    near = parity_violation_probability(0.05, epsilon=1e4, **law)
    assert near == pytest.approx(parity_violation_probability(0.05, epsilon=math.inf, **law), abs=1e-3)


def test_the_quantile_is_not_below_an_atom():
    at = gap_quantile(0.05, rates=(0.5, 0.5), n=1, epsilon=1e3)
    assert at >= 0.5


def test_the_bound_has_the_noise_and_the_sampling_of_both_groups():
    noise = 1 / (0.5 * 20) + 1 / (2.0 * 5)
    assert expected_parity_bound((20, 5), (0.5, 2.0)) == pytest.approx(
        noise + math.sqrt(1 / 80) + math.sqrt(1 / 20), rel=1e-12
    )


def test_a_failure_that_is_attained_exactly_is_enough():
    law = {"rates": (0.5, 0.25), "n": (8, 4), "epsilon": 1.0, "mechanism": "geometric"}
    for gap in (0.15, 0.3, 0.55):  # between two places where the probability falls
        eta = parity_violation_probability(gap, **law)
        assert 0 < eta < 1
        assert gap_quantile(eta, **law) <= gap


def test_other_divisors_than_the_numbers_of_rows_leave_a_gap_beyond_the_bound():
    # as the docstring and the chapter say: equal rates, no noise, and still a gap that no number of rows closes
    rows, divisors, rate = 2000, (1600, 2400), 0.5
    y_pred, groups = np.tile([0, 1], rows), np.repeat([0, 1], rows)
    fair = dpf.PrivateFairPostprocessor(
        math.inf, relation="add-remove", group_sizes=dict(enumerate(divisors)), noise="study", random_state=0
    ).fit(y_pred, sensitive_features=groups)
    after = fair.predict_proba(y_pred, sensitive_features=groups)[:, 1]
    gap = abs(after[groups == 0].mean() - after[groups == 1].mean())
    assert gap > dpf.parity_bound((rows, rows), 1.0, 0.05)
    assert gap > dpf.parity_bound(divisors, 1.0, 0.05)
    # what the chapter adds for each group
    assert gap <= sum(abs(rows / divisor - 1) * rate for divisor in divisors)
