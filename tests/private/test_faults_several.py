"""Faults that only several groups can have are caught."""

import importlib

import numpy as np
import pytest
from cases import cases
from checks import caught, check_neighbours, check_secure
from test_order import check_parameter

import dpfair_lib as dpf

CASES = {case.name: case for case in cases() if case.name.startswith("several rates")}
ROOM = importlib.import_module("dpfair_lib.central.private_postprocessor")
MOST_ACCURATE = "several rates replace-one geometric epsilon=(0.3, 0.9, 0.5, 0.7) rate=most-accurate"


def test_a_cost_that_counts_one_group_is_caught(monkeypatch):
    monkeypatch.setattr(ROOM, "release_epsilon", lambda epsilons, *_, **__: max(epsilons))
    assert caught(check_secure, CASES[MOST_ACCURATE], CASES[MOST_ACCURATE].data())


def test_a_group_that_has_no_noise_is_caught(monkeypatch):
    usual = dpf.PrivateFairPostprocessor._noisy

    def bare(self, count, epsilon, source):
        return float(count) if epsilon == 0.5 else usual(self, count, epsilon, source)

    monkeypatch.setattr(dpf.PrivateFairPostprocessor, "_noisy", bare)
    assert caught(check_secure, CASES[MOST_ACCURATE], CASES[MOST_ACCURATE].data())


def test_groups_in_the_order_in_which_they_are_declared_are_caught(monkeypatch):
    monkeypatch.setattr(dpf.PrivateFairPostprocessor, "_declared_groups", staticmethod(list))
    assert caught(check_parameter, CASES[MOST_ACCURATE], "group_sizes")


@pytest.mark.parametrize("noise", ["secure", "study"])
def test_a_group_that_is_left_out_if_nobody_is_in_it_is_caught(monkeypatch, noise):
    usual = dpf.PrivateFairPostprocessor.fit

    def fewer(self, y_pred, *arguments, sensitive_features, **options):
        fitted = usual(self, y_pred, *arguments, sensitive_features=sensitive_features, **options)
        found = {tuple(row) for row in np.asarray(sensitive_features).tolist()}
        fitted.rules_ = {group: rule for group, rule in fitted.rules_.items() if group in found}
        return fitted

    monkeypatch.setattr(dpf.PrivateFairPostprocessor, "fit", fewer)
    assert caught(check_neighbours, CASES["several rates sensitive-attribute laplace epsilon=0.6"], noise)
