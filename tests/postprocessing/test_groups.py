"""One group's people: weights, costs and rates at each level, against sums over the rows."""

import itertools

import numpy as np
import pytest

from dpfair_lib.postprocessing.bands import change_curve, opportunity_curve
from dpfair_lib.postprocessing.groups import Group

OBJECTIVES = ("change_rates", "changes", "errors")


def example(seed, n=30):
    rng = np.random.default_rng(seed)
    y_pred, y_true = rng.integers(0, 2, size=(2, n))
    y_true[:2], y_pred[:2] = (0, 1), (0, 1)
    return y_pred, rng.integers(0, 4, n).astype(float), rng.integers(1, 4, n).astype(float), y_true


def cost_of(new, rows, objective):
    y_pred, _, weights, y_true = rows
    wrong = new != (y_true if objective == "errors" else y_pred)
    total = (weights * wrong).sum()
    return total / weights.sum() if objective == "change_rates" else total


@pytest.mark.parametrize(("seed", "objective"), list(itertools.product(range(5), OBJECTIVES)))
def test_thresholds_cost_and_reach_what_they_do_on_the_rows(seed, objective):
    rows = y_pred, scores, weights, y_true = example(seed)
    group = Group.of(*rows)
    thresholds, errors = group.thresholds(objective), group.errors()
    places = sorted(set(zip(y_pred.tolist(), scores.tolist(), strict=True)))
    at = [places.index(row) for row in zip(y_pred.tolist(), scores.tolist(), strict=True)]
    for count in range(len(places) + 1):
        new = (np.array(at) >= len(places) - count).astype(int)
        rates = [(weights * new)[y_true == label].sum() / weights[y_true == label].sum() for label in (0, 1)]
        assert thresholds.rates([(count, 1.0)]) == pytest.approx(rates, abs=1e-12)
        assert thresholds.costs[count] == pytest.approx(cost_of(new, rows, objective), abs=1e-12)
        assert errors[count] == cost_of(new, rows, "errors")
    for notion, counted in (("demographic_parity", weights), ("equal_opportunity", weights * y_true)):
        curve = group.curve(notion, objective)
        for rate, cost, count in zip(*curve, strict=True):
            new = (np.array(at) >= len(places) - count).astype(int)
            assert rate == pytest.approx((counted * new).sum() / counted.sum(), abs=1e-12)
            assert cost == pytest.approx(cost_of(new, rows, objective), abs=1e-12)


def test_rates_before_are_weighted_shares():
    y_pred, _, weights, y_true = rows = example(7)
    group = Group.of(*rows)
    assert group.rate() == (weights * y_pred).sum() / weights.sum()
    for label in (0, 1):
        of = y_true == label
        assert group.rate(label) == (weights * y_pred)[of].sum() / weights[of].sum()


@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity"])
@pytest.mark.parametrize("objective", ["change_rates", "changes"])
def test_where_nobody_changes_nothing_costs(notion, objective):
    y_pred, scores, weights, y_true = example(3)
    group = Group.of(y_pred, scores, weights, y_true)
    curve = group.curve(notion, objective)
    before = group.rate(None if notion == "demographic_parity" else 1)
    assert curve.best_rate == pytest.approx(before, abs=1e-12)
    assert curve.cost(curve.best_rate) == 0
    rule = group.levels.rule(curve.mixture(curve.best_rate))
    assert rule.positive_probability(y_pred, scores).tolist() == y_pred.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_without_scores_the_curves_are_those_of_the_closed_forms(seed):
    y_pred, _, weights, y_true = example(seed)
    group = Group.of(y_pred, np.zeros(len(y_pred)), weights, y_true)
    parity, opportunity = (
        group.curve(notion, "change_rates") for notion in ("demographic_parity", "equal_opportunity")
    )
    for rate in np.linspace(0, 1, 21):
        assert parity.cost(rate) == pytest.approx(change_curve(group.rate()).cost(rate), abs=1e-12)
        closed = opportunity_curve(group.rate(1), group.rate())
        assert opportunity.cost(rate) == pytest.approx(closed.cost(rate), abs=1e-12)
