"""The summed changes: two groups by enumeration, the estimator itself, the bound, and what is refused."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib import PrivateFairPostprocessor
from dpfair_lib.central import changes as room
from dpfair_lib.central import (
    changes_probability,
    changes_quantile,
    excess_change_bound,
    expected_changes,
    rate_errors,
)
from dpfair_lib.claims.shared.central.noisy_rates import SMALL, epsilons, gap_outcomes
from dpfair_lib.postprocessing.bands import least_total_change


@pytest.mark.parametrize("setting", SMALL[::5])
def test_two_groups_halfway_equal_the_enumeration(setting):
    outcomes = gap_outcomes(**setting)
    given = {
        "rates": [float(rate) for rate in setting["rates"]],
        "n": setting["n"],
        "epsilon": epsilons(setting["decays"]),
        "mechanism": "geometric",
    }
    mean = sum(changes * p for _, changes, p in outcomes)
    assert expected_changes(**given) == pytest.approx(float(mean), abs=1e-12)
    cuts = [*sorted({changes for _, changes, _ in outcomes})[:6], Fraction(31, 97)]
    exact = [float(sum(p for _, changes, p in outcomes if changes > cut)) for cut in cuts]
    assert changes_probability([float(cut) for cut in cuts], **given) == pytest.approx(exact, abs=1e-12)
    for eta in (0.4, 0.05):
        quantile = changes_quantile(eta, **given)
        assert changes_probability(quantile, **given) <= eta
        assert quantile < 1e-9 or changes_probability(quantile - 1e-9, **given) > eta


@pytest.mark.parametrize("groups", [2, 3])
def test_masses_that_add_up_to_more_than_1_are_a_probability(groups, monkeypatch):
    class Rounded:
        def exceeds(self, _):
            return 1 + 2.0**-50

    monkeypatch.setattr(room, "change_law", lambda *_: Rounded())
    monkeypatch.setattr(room, "change_probability", lambda *_: 1 + 2.0**-50)
    given = {"rates": [0.3, 0.5, 0.4][:groups], "n": 50, "epsilon": 0.1}
    assert changes_probability(0.1, **given) == 1
    assert changes_probability([0.1, 0.2], **given).tolist() == [1, 1]


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_the_estimator_follows_it(mechanism):
    rng = np.random.default_rng(1)
    n, rates, epsilon = [40, 90, 60], [0.25, 0.6, 0.4], [0.5, 0.2, 1.0]
    groups, draws = np.repeat(np.arange(3), n), 200
    for k, rate, gamma in (
        (2, "midpoint", 0.0),
        (3, "midpoint", 0.0),
        (3, "most-accurate", 0.1),
        (3, 0.45, 0.0),
    ):
        seen = []
        for _ in range(draws):
            labels = (rng.uniform(size=len(groups)) < np.array(rates)[groups]).astype(int)
            fair = PrivateFairPostprocessor(
                epsilon[:k], mechanism=mechanism, rate=rate, gamma=gamma, noise="study", random_state=rng
            ).fit(labels[groups < k], sensitive_features=groups[groups < k])
            ask = fair.predict_proba([1] * k + [0] * k, sensitive_features=[*range(k), *range(k)])[:, 1]
            seen.append((rates[:k] * (1 - ask[:k])).sum() + ((1 - np.array(rates[:k])) * ask[k:]).sum())
        law = {
            "rates": rates[:k],
            "n": n[:k],
            "epsilon": epsilon[:k],
            "mechanism": mechanism,
            "rate": rate,
            "gamma": gamma,
        }
        spread = 4.5 * np.std(seen) / math.sqrt(draws)
        assert np.mean(seen) == pytest.approx(expected_changes(**law), abs=spread)
        cut = changes_quantile(0.3, **law)
        assert changes_probability(cut, **law) == pytest.approx(0.3, abs=0.05)
        assert np.mean(np.array(seen) > cut) == pytest.approx(0.3, abs=4.5 * math.sqrt(0.21 / draws) + 0.02)


def test_laplace_noise_is_the_limit_of_geometric_noise():
    # a group of very many rows: a unit of noise no longer shows
    given = {"rates": (0.3, 0.5, 0.6), "n": 20_000, "epsilon": 0.01}
    for rate in ("median", 0.4):
        laplace, geometric = (
            expected_changes(**given, mechanism=name, rate=rate) for name in ("laplace", "geometric")
        )
        assert laplace == pytest.approx(geometric, abs=1e-6)


def test_the_bound_leaves_out_the_smallest_error_of_an_odd_number():
    for k in (2, 3, 4, 5):
        n = [100 * (at + 1) for at in range(k)]
        errors = rate_errors(n, 0.5, 0.1)
        assert excess_change_bound(n, 0.5, 0.1) == pytest.approx(sum(errors) - k % 2 * min(errors), abs=1e-12)


@pytest.mark.parametrize("rates", list(itertools.product((0.1, 0.5), repeat=3)))
def test_the_bound_holds(rates):
    n, eta = (50, 90, 20), 0.2
    allowed = least_total_change(rates, 0.0) + excess_change_bound(n, 1.0, eta)
    assert changes_probability(min(allowed, 3.0), rates=rates, n=n, epsilon=1.0) <= eta


@pytest.mark.parametrize(
    ("changes", "given", "message"),
    [
        (-0.1, {}, "changes: found -0.1"),
        (math.inf, {}, "changes: found inf"),
        ("many", {}, "changes: found 'many'"),
        (0.1, {"rates": [0.3] * 4}, "rate: found 'midpoint' with 4 groups"),
        (0.1, {"epsilon": 0}, "epsilon: found 0"),
    ],
)
def test_bad_input_is_refused(changes, given, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        changes_probability(changes, **{"rates": [0.3] * 3, "n": 50, "epsilon": 1.0} | given)
    with pytest.raises(ValueError, match=r"^eta: found 1"):
        changes_quantile(1.0, rates=[0.3] * 3, n=50, epsilon=1.0)
