"""Releases with equal statements are as many releases: each counts, wherever costs are put together."""

import math

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.local import ReportedColumn
from dpfair_lib.local.reported_columns import joint_statement, statement_of
from dpfair_lib.preparation import pipeline
from dpfair_lib.privacy import Mechanism, PrivacyStatement, compose
from dpfair_lib.privacy.budgets.filters import adaptive_epsilon
from dpfair_lib.privacy.mechanisms import total_epsilon

ONE = PrivacyStatement(0.5, 1e-7, "replace-one", mechanism=(Mechanism("gaussian", 0.1),))
PURE = PrivacyStatement(0.25, 0.0, "replace-one", mechanism=(Mechanism("laplace", 0.25),))
ROWS, LABELS = np.random.default_rng(0).uniform(0, 1, (60, 2)), np.arange(60) % 2


def composed(statement, times):
    return compose(*[statement] * times).epsilon


def composed_and_converted(statement, times):
    return compose(*[statement] * times, to="sensitive-attribute").epsilon


def spent(statement, times):
    budget = dpf.Budget(10.0, 1e-3, "replace-one")
    for _ in range(times):
        budget.spend(statement)
    return 10.0 - budget.remaining.epsilon


def piped(statement, times):
    scaler = dpf.PrivateScaler({0: (0, 1), 1: (0, 1)}, epsilon=statement.epsilon)
    return (
        dpf.PrivatePipeline([(f"step {at}", scaler) for at in range(times)])
        .fit(ROWS)
        .privacy_statement_.epsilon
    )


def chosen_among(statement, times):
    model = dpf.ObjectivePerturbation(
        feature_bound=2.0, epsilon=statement.epsilon, delta=1e-6, classes=(0, 1)
    )
    return dpf.PrivateSelection([model] * times, epsilon=0.1).fit(ROWS, LABELS).privacy_statement_.epsilon


def reported(statement, times):
    channel = dpf.generalized_randomized_response(3, statement.epsilon)
    columns = [ReportedColumn(f"column {at}", channel, ["a", "b", "c"]) for at in range(times)]
    alone = statement_of(ReportedColumn("column", channel, ["a", "b", "c"]), "secure")
    return joint_statement(columns, [alone] * times).epsilon


def planned(statement, times):
    return adaptive_epsilon([statement] * times, 1e-3, "sum")


SUMS = [composed, composed_and_converted, spent, piped, chosen_among, reported, planned]


@pytest.mark.parametrize("count", SUMS)
@pytest.mark.parametrize("statement", [PURE, ONE], ids=["pure", "approximate"])
def test_so_many_equal_ones_cost_so_many_times_as_much(count, statement):
    one = count(statement, 1)
    assert one == pytest.approx(statement.epsilon, rel=1e-8)
    assert [count(statement, times) for times in (2, 5)] == pytest.approx([2 * one, 5 * one], rel=1e-8)


def test_so_many_equal_distributions_of_losses_cost_more():
    for step in (ONE.mechanism[0], PURE.mechanism[0]):
        costs = [total_epsilon((step,) * times, 1e-6) for times in (1, 2, 8, 32)]
        assert np.all(np.diff(costs) > 0)
    exact = dpf.gaussian_delta(
        costs_of_gaussians := total_epsilon(ONE.mechanism * 9, 1e-6), 1.0, 0.1 * math.sqrt(9)
    )
    assert exact == pytest.approx(1e-6, rel=1e-3)
    assert costs_of_gaussians > total_epsilon(ONE.mechanism, 1e-6)


def test_equal_steps_that_count_once_are_caught(monkeypatch):
    monkeypatch.setattr(
        pipeline, "compose", lambda *statements, **options: compose(*dict.fromkeys(statements), **options)
    )
    with pytest.raises(AssertionError):
        test_so_many_equal_ones_cost_so_many_times_as_much(piped, PURE)
