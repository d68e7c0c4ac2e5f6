"""Totals of lists by several ways: they are of the same lists, and what the page says of the record holds."""

import math
from dataclasses import replace

import pytest

from dpfair_lib.experiments.accounting import composition_totals as module
from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.privacy import Mechanism, to_dp_event, total_epsilon

LISTS = {
    "Laplace": (Mechanism("laplace", 0.2, steps=10),), "known δ": (Mechanism("stated", 0.2, 1e-6, steps=10),),
    "Gaussian": (Mechanism("gaussian", 0.5, steps=4),),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
def test_all_ways_count_the_same_list(name):
    listed = LISTS[name]
    ours = total_epsilon(listed, 1e-3)
    ways = module._all_ways(listed, 1e-3)
    for way in set(ways) - {"ours", "divergences"}:
        assert ways[way]() == pytest.approx(ours, rel=2e-3), way
    shorter = [replace(listed[0], steps=listed[0].steps - 1)]
    assert module.by_losses(to_dp_event(shorter, rest=True), 1e-3) != pytest.approx(ours, rel=2e-3)


def test_an_accountant_that_does_not_know_an_event_has_no_total():
    assert math.isnan(module.by_divergences(to_dp_event(Mechanism("stated", 0.5)), 1e-3))


def test_the_record_has_every_list_and_way():
    rows, _ = read_record("composition-totals")
    assert tuple(dict.fromkeys(rows["kind"])) == module.KINDS
    assert {(kind, at) for kind in module.KINDS for at in range(len(module.releases(kind)))} == set(
        zip(rows["kind"], rows["list"], strict=True)
    )
    assert (rows["seconds"] > 0).all()
