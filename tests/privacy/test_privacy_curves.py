"""The curves of a privacy statement, against the worst release and against Gaussian noise."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import dpfair_lib as dpf
from dpfair_lib.privacy import Mechanism
from dpfair_lib.privacy.curves import least_second_error, profile, stated_delta
from dpfair_lib.privacy.finite_laws import hockey_stick

SETTINGS = [(1.0, 0.0), (0.3, 0.2), (2.0, 1e-3), (0.0, 0.4)]


def worst(epsilon, delta):
    """The reports of the worst release: two that give all away, and randomised response."""
    truth = 1 / (1 + math.exp(-epsilon))
    first = np.array([delta, (1 - delta) * truth, (1 - delta) * (1 - truth), 0.0])
    return first, first[::-1]


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_stated_numbers_imply_what_the_worst_release_has(epsilon, delta):
    for at in (0.0, 0.1, 0.5 * epsilon, epsilon, epsilon + 1):
        exact = hockey_stick(*worst(epsilon, delta), math.exp(at))
        assert stated_delta(at, epsilon, delta) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_no_test_errs_less_and_the_best_ones_are_met(epsilon, delta):
    """All tests of the worst release's four reports, with their vertices on the curve."""
    first, second = worst(epsilon, delta)
    for chosen in range(16):
        accepts = np.array([chosen >> bit & 1 for bit in range(4)])
        alpha, beta = accepts @ first, (1 - accepts) @ second
        assert beta >= least_second_error(alpha, np.array([epsilon]), np.array([delta])) - 1e-12
    vertex = first[3] + first[2], second[:2].sum()  # accept the two reports that speak for the other
    assert least_second_error(vertex[0], np.array([epsilon]), np.array([delta])) == pytest.approx(vertex[1])


def test_the_profile_of_a_gaussian_release_is_its_own():
    mechanism = Mechanism("gaussian", ratio=0.5)
    statement = dpf.PrivacyStatement(4.0, 1e-6, "replace-one", mechanism=(mechanism,))
    epsilons, deltas = profile(statement)
    positive = epsilons > 0
    assert positive.sum() > 20
    assert dpf.gaussian_delta(epsilons[positive], 1.0, 0.5) == pytest.approx(deltas[positive], rel=1e-6)
    assert epsilons[0] == 0
    assert deltas[0] == pytest.approx(float(dpf.gaussian_delta(0.0, 1.0, 0.5)), rel=2e-3)
    at = np.linspace(0.01, 0.99, 9)
    exact = norm.cdf(norm.isf(at) - 0.5)  # of the most powerful test
    found = least_second_error(at, epsilons, deltas)
    assert (found <= exact + 1e-9).all()
    assert found == pytest.approx(exact, abs=0.004)
    assert (found > least_second_error(at, np.array([4.0]), np.array([1e-6])) + 0.01).any()


def test_what_is_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    statement = dpf.PrivacyStatement(1.5, 1e-2, "add-remove")
    ax = statement.plot()
    line, point = ax.get_lines()
    assert line.get_ydata() == pytest.approx(stated_delta(line.get_xdata(), 1.5, 1e-2))
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (1.5, 1e-2)
    assert ax.get_title(loc="left") == "ε = 1.5, δ = 0.01, add-remove"
    ax = statement.plot(kind="trade-off")
    assert ax.lines[1].get_xydata().tolist() == [[0, 1], [1, 0]]  # a guess
    line = ax.get_lines()[0]
    # of all points of the profile none says more than the stated one
    stated = least_second_error(line.get_xdata(), np.array([1.5]), np.array([1e-2]))
    assert line.get_ydata() == pytest.approx(stated, abs=1e-9)
    assert "first kind (probability)" in ax.get_xlabel()
    _, own = pyplot.subplots()
    assert statement.plot(own) is own
    warned = dpf.PrivacyStatement(1.0, 0.0, "local", guarantee=False, note="a study").plot()
    assert warned.get_title(loc="left").startswith("NO GUARANTEE: ")
    pyplot.close("all")
    nothing = dpf.PrivacyStatement(math.inf, 0.0, "local", guarantee=False, note="reports tell values apart")
    with pytest.raises(ValueError, match="epsilon: found inf"):
        nothing.plot()
    with pytest.raises(ValueError, match="kind: found 'bars'"):
        statement.plot(kind="bars")
