import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfair_lib.compatibility.private_learner import choice_law
from dpfair_lib.compatibility.private_learner.choice_law import (
    choice_probabilities,
    inverse_scale,
    learner_delta,
    learner_epsilon,
    over_count_probability,
    printed_delta,
    pure_slope,
    shift,
)
from dpfair_lib.compatibility.private_learner.sensitivity import utility_sensitivity
from dpfair_lib.privacy import LaplaceMechanism


def integrate(losses, smallest, n, epsilon, delta, rule):
    """The chance of the first of two hypotheses, to 25 digits."""
    with mpmath.workdps(30):
        eps, log = mpmath.mpf(epsilon), -mpmath.log(mpmath.mpf(delta))
        center = smallest - (log if rule == "printed" else log - mpmath.log(2)) / eps

        def integrand(noisy):
            if rule == "printed":
                inverse = n * (noisy - 1) / (2 * n + noisy - 1)
            else:
                m = max(noisy, mpmath.mpf(1))
                inverse = 1 / max(2 / (m + 1), 1 / m + mpmath.mpf(1) / n)
            odds = mpmath.exp(eps / 2 * inverse * (mpmath.mpf(losses[0]) - mpmath.mpf(losses[1])))
            return eps / 2 * mpmath.exp(-eps * abs(noisy - center)) / (1 + odds)

        root = mpmath.sqrt(max((n - 1) ** 2 - 4 * n, 0))
        kinks = [mpmath.mpf(1), (n - 1 - root) / 2, (n - 1 + root) / 2, mpmath.mpf(1 - 2 * n)]
        low, high = center - 80 / eps, center + 80 / eps
        points = {low, high, center, center - 8 / eps, center + 8 / eps}
        points |= {at for at in [*kinks, *(mpmath.mpf(2) ** k for k in range(12))] if low < at < high}
        return mpmath.quad(integrand, sorted(points))


@pytest.mark.parametrize("rule", ["printed", "repaired"])
@pytest.mark.parametrize(
    ("smallest", "n", "epsilon"), [(2, 16, 1.0), (5, 100, 0.3), (2, 4, 0.02), (25, 100, 2.0), (40, 90, 0.05)]
)
def test_probabilities_agree_with_high_precision_quadrature(rule, smallest, n, epsilon):
    delta = printed_delta(n)
    found = choice_probabilities([0.3, 0.9], smallest, n, epsilon=epsilon, delta=delta, rule=rule)
    exact = integrate((0.3, 0.9), smallest, n, epsilon, delta, rule)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert abs(found[0] - exact) <= 1e-10 * exact


def test_copies_count_as_so_many_hypotheses():
    settings = {"epsilon": 0.5, "delta": 1e-3}
    apart = choice_probabilities([0.1, 0.4, 0.4, 0.4], 5, 40, **settings)
    together = choice_probabilities([0.1, 0.4], 5, 40, copies=[1, 3], **settings)
    assert together == pytest.approx([apart[0], apart[1:].sum()], abs=1e-13)


def test_the_noisy_count_exceeds_the_true_one_exactly_as_often_as_stated():
    for delta in (1e-9, 0.01, 0.4):
        for rule, expected in (("printed", delta / 2), ("repaired", delta)):
            assert over_count_probability(0.3, delta, rule) == pytest.approx(expected, rel=1e-12)
            tail = LaplaceMechanism(1 / 0.3, 1).tail(shift(0.3, delta, rule)) / 2
            assert tail == pytest.approx(expected, rel=1e-12)
    assert shift(1.0, 0.9) == 0


def test_the_repaired_scale_is_the_sensitivity_at_whole_counts():
    for n in (4, 11, 60):
        for m in range(1, n // 2 + 1):
            assert inverse_scale(m, n) == pytest.approx(float(1 / utility_sensitivity((m, m), n)), rel=1e-14)
    assert inverse_scale(-1e9, 7) == inverse_scale(1.0, 7) == pytest.approx(7 / 8)


def test_the_printed_scale_changes_its_sign_and_has_a_pole():
    assert inverse_scale(np.array([-20.0, 0.0, 1.0, 3.0]), 10, "printed") == pytest.approx(
        [210, -10 / 19, 0, 20 / 22]
    )
    assert math.isinf(inverse_scale(-19.0, 10, "printed"))
    # and the law is still computed there, with all its mass near the pole
    chances = choice_probabilities([0.0, 1.0], 1, 100, epsilon=0.05, delta=printed_delta(100), rule="printed")
    assert np.isfinite(chances).all()


@settings(max_examples=40)
@given(
    st.integers(2, 60),
    st.data(),
    st.floats(0.02, 3),
    st.sampled_from([1e-9, 1e-3, 0.2]),
    st.integers(1, 10**6),
)
def test_the_repaired_learner_is_private_for_whatever_moves_within_the_sensitivity(
    n, data, epsilon, delta, many
):
    m = data.draw(st.integers(1, n // 2))
    most = float(utility_sensitivity((m, m), n))
    start = data.draw(st.lists(st.floats(0, 2), min_size=3, max_size=3))
    moves = data.draw(st.lists(st.floats(-1, 1), min_size=3, max_size=3))
    losses = (np.array(start), np.array(start) + most * np.array(moves))
    for smallest in ((m, m - 1), (m - 1, m), (m, m)):
        needed = learner_delta(
            losses, smallest, n, at=2 * epsilon, epsilon=epsilon, delta=delta, copies=[1, many, 1]
        )
        assert needed <= delta + 1e-12


def test_epsilon_and_delta_belong_together():
    losses, smallest = ([0.0, 0.6], [0.6, 0.0]), (2, 1)
    settings = {"epsilon": 1.0, "delta": printed_delta(400), "rule": "printed"}
    needed = learner_epsilon(losses, smallest, 400, to=1e-4, **settings)
    assert learner_delta(losses, smallest, 400, at=needed, **settings) == pytest.approx(1e-4, rel=1e-6)
    assert needed > 2  # more than the promise 2ε


def test_the_pure_slope():
    assert pure_slope(0, 1.0) == 0
    assert pure_slope(10, 0.5) == pytest.approx(2)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="delta: found 0"):
        shift(1.0, 0.0)
    with pytest.raises(ValueError, match="epsilon: found 0"):
        shift(0.0, 0.1)
    with pytest.raises(ValueError, match="rule: found 'mended'"):
        inverse_scale(2.0, 5, "mended")
    with pytest.raises(ValueError, match="n: found 0"):
        printed_delta(0)


def test_the_printed_delta_never_becomes_zero():
    assert printed_delta(400) == pytest.approx(math.exp(-20))
    assert printed_delta(10**8) > 0


@pytest.mark.parametrize("rule", ["printed", "repaired"])
@pytest.mark.parametrize("smallest", [1, 40, 3000])
@pytest.mark.parametrize("epsilon", [0.005, 0.5, 20.0])
def test_finer_panels_change_nothing(monkeypatch, rule, smallest, epsilon):
    losses, settings = [0.0, 0.4, 1.5], {"epsilon": epsilon, "delta": 1e-6, "rule": rule}
    coarse = choice_probabilities(losses, smallest, 10_000, **settings)
    panels = choice_law.noise_panels

    def finer(*arguments):
        cuts = panels(*arguments)
        return np.unique(
            np.concatenate([cuts, cuts[:-1] + np.diff(cuts) / 3, cuts[:-1] + np.diff(cuts) / 1.5])
        )

    monkeypatch.setattr(choice_law, "noise_panels", finer)
    fine = choice_probabilities(losses, smallest, 10_000, **settings)
    rounding = 4 * epsilon * smallest * 2**-53  # of the exponents
    assert coarse == pytest.approx(fine, abs=1e-12 + rounding)


@pytest.mark.parametrize("rule", ["printed", "repaired"])
def test_panels_reach_from_below_the_least_center_to_above_the_largest(rule):
    cuts = choice_law.noise_panels([3.0, 500.0, 20.0], 0.5, 1000, rule)
    assert (cuts[0], cuts[-1]) == (3.0 - 40 / 0.5, 500.0 + 40 / 0.5)
    assert (np.diff(cuts) > 0).all()
