"""Faults that only several groups can have are caught."""

import importlib

import numpy as np
import pytest
from cases import cases
from checks import caught, check_neighbours, check_secure
from test_order import check_parameter

import dpfair_lib as dpf

CASES = {case.name: case for case in cases() if case.name.startswith(("several rates", "opportunity"))}
ROOM = importlib.import_module("dpfair_lib.central.private_postprocessor")
MOST_ACCURATE = "several rates replace-one geometric epsilon=(0.3, 0.9, 0.5, 0.7) rate=most-accurate"


def test_a_cost_that_counts_one_group_is_caught(monkeypatch):
    monkeypatch.setattr(ROOM, "release_epsilon", lambda epsilons, *_, **__: max(epsilons))
    assert caught(check_secure, CASES[MOST_ACCURATE], CASES[MOST_ACCURATE].data())


def test_a_group_that_has_no_noise_is_caught(monkeypatch):
    usual = dpf.PrivateFairPostprocessor._noisy

    def bare(self, counts, epsilon, source):
        return tuple(map(float, counts)) if epsilon == 0.5 else usual(self, counts, epsilon, source)

    monkeypatch.setattr(dpf.PrivateFairPostprocessor, "_noisy", bare)
    assert caught(check_secure, CASES[MOST_ACCURATE], CASES[MOST_ACCURATE].data())


def test_groups_in_the_order_in_which_they_are_declared_are_caught(monkeypatch):
    monkeypatch.setattr(dpf.PrivateFairPostprocessor, "_declared_groups", lambda _, sizes: list(sizes))
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


OPPORTUNITY = "opportunity {} geometric epsilon=(0.4, 1.1, 0.7) rate=most-accurate"


@pytest.mark.parametrize("relation", ["replace-within-group", "replace-one"])
def test_a_record_that_moves_one_cell_only_is_caught(monkeypatch, relation):
    case = CASES[OPPORTUNITY.format(relation)]
    monkeypatch.setattr(
        ROOM.opportunity, "opportunity_epsilon", lambda epsilons, _: sum(sorted(epsilons)[-2:])
    )
    assert caught(check_secure, case, case.data())


@pytest.mark.parametrize("cell", [0, 1])
def test_one_cell_without_noise_is_caught(monkeypatch, cell):
    usual = dpf.PrivateFairPostprocessor._noisy

    def bare(self, counts, epsilon, source):
        noisy = list(usual(self, counts[1 - cell :][:1], epsilon, source))
        noisy.insert(cell, float(counts[cell]))
        return tuple(noisy)

    monkeypatch.setattr(dpf.PrivateFairPostprocessor, "_noisy", bare)
    case = CASES[OPPORTUNITY.format("add-remove")]
    assert caught(check_secure, case, case.data())
    assert caught(check_neighbours, case, "secure")


def test_an_error_for_a_group_without_positives_is_caught(monkeypatch):
    usual = ROOM.opportunity.count_positives

    def strict(*arguments):
        cells = usual(*arguments)
        if (cells.sum(axis=1) == 0).any():
            raise ValueError("y_true: found no label 1 in a group")
        return cells

    monkeypatch.setattr(ROOM.opportunity, "count_positives", strict)
    assert caught(check_neighbours, CASES[OPPORTUNITY.format("replace-one")], "secure")


def test_a_group_that_exact_counts_make_the_most_accurate_is_caught(monkeypatch):
    counted, most_accurate = ROOM.opportunity.count_positives, ROOM.most_accurate
    seen = []

    def counting(*arguments):
        seen[:] = [counted(*arguments)]
        return seen[0]

    def chosen(_, *others):
        return most_accurate(np.maximum(seen[0].sum(axis=1), 1).tolist(), *others)

    case = CASES["opportunity replace-within-group laplace epsilon=0.6 rate=most-accurate"]
    check_neighbours(case, "secure")
    monkeypatch.setattr(ROOM.opportunity, "count_positives", counting)
    monkeypatch.setattr(ROOM, "most_accurate", chosen)
    assert caught(check_neighbours, case, "secure")
