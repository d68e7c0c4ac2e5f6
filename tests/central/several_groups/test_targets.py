"""Where the band lies: by the rule, by public numbers, and always within [0, 1]."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib import FairPostprocessor, PrivateFairPostprocessor
from dpfair_lib.central.several_groups.targets import most_accurate, noise_variance, target_band
from dpfair_lib.postprocessing.bands import least_total_change
from dpfair_lib.privacy import DiscreteLaplaceMechanism

GRID = [0.0, 0.125, 0.5, 0.625, 1.0]


@pytest.mark.parametrize("gamma", [0.0, 0.25, 1.0])
def test_the_midpoint_needs_the_fewest_changes_and_is_the_middle_of_those(gamma):
    starts = np.arange(0, 1 - gamma + 1e-9, 1 / 16)
    for rates in itertools.chain.from_iterable(itertools.product(GRID, repeat=k) for k in (2, 3, 4)):
        low, high = target_band(rates, "midpoint", gamma, 0)
        assert high == low + gamma

        def change(start, rates=rates):
            return sum(abs(rate - min(max(rate, start), start + gamma)) for rate in rates)

        exact = least_total_change([Fraction(rate) for rate in rates], Fraction(gamma))
        assert change(low) == pytest.approx(float(exact), abs=1e-12)
        best = [start for start in starts if change(start) <= float(exact) + 1e-9]
        assert low == pytest.approx((best[0] + best[-1]) / 2, abs=1e-12)


def test_the_other_rules_are_centred_and_stay_in_the_unit_interval():
    rates = [0.1, 0.9, 0.3, 0.4]
    assert target_band(rates, "median", 0.0, 1) == (0.3, 0.3)
    assert target_band(rates[:3], "median", 0.2, 1) == pytest.approx((0.2, 0.4))
    assert target_band(rates, "most-accurate", 0.0, 1) == (0.9, 0.9)
    assert target_band(rates, "most-accurate", 0.5, 1) == (0.5, 1.0)
    assert target_band(rates, 0.1, 0.5, 1) == (0.0, 0.5)
    assert target_band(rates, 1.0, 0.0, 1) == (1.0, 1.0)


def test_the_variance_of_noise_is_its_sum():
    k = np.arange(-4000, 4001)
    for epsilon in (0.05, 1.0, 6.0):
        law = DiscreteLaplaceMechanism(1 / epsilon, 1).pmf(k)
        assert noise_variance(epsilon, "geometric") == pytest.approx(float(k**2 @ law), rel=1e-9)
    assert noise_variance(math.inf, "geometric") == noise_variance(math.inf, "laplace") == 0
    assert noise_variance(2000.0, "geometric") == 0


def test_the_most_accurate_group_is_chosen_by_public_numbers():
    assert most_accurate((100, 100, 100), (1.0, 1.0, 1.0), "laplace") == 0
    assert most_accurate((100, 5000, 4000), (1.0, 0.001, 1.0), "laplace") == 2
    assert most_accurate((100, 5000, 4000), (1.0, math.inf, 1.0), "geometric") == 1
    fair = PrivateFairPostprocessor(
        0.5, relation="add-remove", group_sizes={"a": 5, "b": 9, "c": 7}, rate="most-accurate", noise="study",
        random_state=0,
    )  # fmt: skip
    for groups in ("aaaaaaaabc", "cccccccccc", "b"):  # whatever the rows are
        fitted = fair.fit([1] * len(groups), sensitive_features=list(groups))
        assert fitted.target_rate_ == fitted.noisy_rates_["b"]
        assert fitted.rules_["b"].probability == 0


@pytest.mark.parametrize("gamma", [0.0, 0.1])
@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_without_noise_it_is_the_post_processor_without_privacy(k, gamma):
    rng = np.random.default_rng(k)
    for _ in range(20):
        groups = np.concatenate([np.arange(k), rng.integers(0, k, 60)])
        labels = (rng.uniform(size=len(groups)) < rng.uniform(size=k)[groups]).astype(int)
        data = {"y_pred": labels, "sensitive_features": groups}
        private = PrivateFairPostprocessor(math.inf, gamma=gamma).fit(**data)
        plain = FairPostprocessor(gamma=gamma).fit(**data)
        assert private.noisy_rates_ == pytest.approx(plain.rates_)
        assert private.band_ == pytest.approx(plain.band_, abs=1e-12)
        assert private.predict_proba(**data) == pytest.approx(plain.predict_proba(**data), abs=1e-9)


def test_several_columns_make_groups_of_tuples():
    columns = [("f", 1), ("f", 2), ("m", 1), ("f", 1), ("m", 1), ("m", 1)]
    fair = PrivateFairPostprocessor(1.0, noise="study", random_state=0)
    fitted = fair.fit([1, 0, 1, 0, 1, 1], sensitive_features=columns)
    assert fitted.groups_ == [("f", 1), ("f", 2), ("m", 1)]
    assert "the group labels" in str(fitted.privacy_statement_)
    with pytest.raises(ValueError, match=r"sensitive_features: found group \('m', 2\)"):
        fitted.predict([1], sensitive_features=[("m", 2)], random_state=0)


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({"rate": "accuracy"}, {}, "rate: found 'accuracy'"),
        ({"rate": 1.5}, {}, "rate: found 1.5"),
        ({"rate": True}, {}, "rate: found True"),
        ({"gamma": 1.5}, {}, "gamma: found 1.5"),
        ({"gamma": None}, {}, "gamma: found None"),
        ({"notion": "equalized_odds"}, {}, "notion: found 'equalized_odds'"),
        ({"epsilon": (1.0, 2.0)}, {}, "epsilon: found 2 values"),
        ({}, {"scores": [0.1] * 6}, "scores: found scores"),
        ({}, {"sample_weight": [1.0] * 6}, "sample_weight: found weights"),
        ({"group_sizes": {1: 2}}, {}, "group_sizes: found {1: 2}"),
        (
            {},
            {"sensitive_features": [1] * 6},
            "sensitive_features: found 1 group(s) [1], expected at least 2",
        ),
    ],
)
def test_what_is_not_offered_is_refused(options, data, message):
    rows = {"y_pred": [0, 1] * 3, "sensitive_features": [1, 2, 3] * 2} | data
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        PrivateFairPostprocessor(**({"epsilon": 1.0} | options)).fit(**rows)
