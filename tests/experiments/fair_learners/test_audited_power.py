"""The power of audits, where it is known."""

import pytest

from dpfair_lib.experiments.fair_learners import audited_power
from dpfair_lib.experiments.fair_learners.audited_power import gaussian, power, seldom
from dpfair_lib.privacy import gaussian_sigma


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(audited_power, "AUDITS", 10)


def test_what_costs_nothing_or_the_claim_is_not_convicted_and_half_of_its_noise_is():
    claimed = 1 / gaussian_sigma(2.0, 0.05, 1.0, "analytic")
    found = [power(gaussian(times * claimed), 1600, 2.0, 0.05, 1e-3) for times in (0, 1, 2)]
    assert found == [0, 0, 1]


def test_an_event_without_noise_needs_enough_runs():
    assert power(seldom(1.0), 240, 2.0, 0.05, 1e-3) == 1  # the bound is ln((0.93 − 0.05)/0.07) = 2.5
    assert power(seldom(1.0), 100, 2.0, 0.05, 1e-3) == 0
    assert power(seldom(0.0), 1000, 2.0, 0.05, 1e-3) == 0
