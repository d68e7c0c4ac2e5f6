"""Equalized odds: against one linear program over all thresholds, and against mixtures on a grid."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import linprog

from dpfair_lib import FairPostprocessor
from dpfair_lib.postprocessing import odds
from dpfair_lib.postprocessing.groups import Group
from dpfair_lib.postprocessing.odds import OddsRules, cheapest_odds
from dpfair_lib.postprocessing.thresholds import Thresholds


def by_one_program(groups, gamma):
    """Return the least cost over all thresholds at once: each pair of groups has its own limits, there are no bands."""
    sizes = [len(g.costs) for g in groups]
    at = np.cumsum([0, *sizes])
    rows, limits = [], []
    for one, other in itertools.permutations(range(len(groups)), 2):
        for rate in ("false_positive", "true_positive"):
            row = np.zeros(at[-1])
            row[at[one] : at[one + 1]] = getattr(groups[one], rate)
            row[at[other] : at[other + 1]] = -getattr(groups[other], rate)
            rows.append(row)
            limits.append(gamma)
    sums = np.repeat(np.eye(len(groups)), sizes, axis=1)
    costs = np.concatenate([g.costs for g in groups])
    scale = max(costs.max(), 1e-300)
    solved = linprog(
        costs / scale, np.array(rows), limits, sums, np.ones(len(groups)), bounds=(0, None), method="highs"
    )
    assert solved.status == 0
    return solved.fun * scale


def random_groups(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    groups = []
    for _ in range(int(rng.integers(2, 5))):
        n = int(rng.integers(2, 200))
        y_true, y_pred = rng.integers(0, 2, size=(2, n))
        y_true[:2] = 0, 1
        scores = rng.choice([rng.normal(size=n), np.zeros(n), rng.integers(0, 4, n).astype(float)])
        groups.append(Group.of(y_pred, scores, scale * rng.uniform(0.1, 2, size=n), y_true))
    return groups


def defects(find, groups, gamma, *, least):
    """Yield what is wrong with the rules that were found."""
    solved = find(groups, gamma)
    size = sum(g.costs.max() for g in groups)
    rates = np.array([g.rates(mixture) for g, mixture in zip(groups, solved.mixtures, strict=True)])
    if (np.ptp(rates, axis=0) > gamma + 1e-9).any():
        yield "rates"
    chances = [[chance for _, chance in mixture] for mixture in solved.mixtures]
    if any(min(own) <= 0 or abs(sum(own) - 1) > 1e-12 for own in chances):
        yield "chances"
    cost = sum(
        g.costs[count] * chance
        for g, mixture in zip(groups, solved.mixtures, strict=True)
        for count, chance in mixture
    )
    if abs(cost - solved.cost) > 1e-12 * size or abs(cost - least) > 1e-8 * size:
        yield "cost"
    if not solved.bound <= solved.cost <= solved.bound + 2e-9 * size:
        yield "bound"


@pytest.mark.parametrize("seed", range(40))
def test_no_mixture_of_all_thresholds_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    objective = ("change_rates", "changes", "errors")[seed % 3]
    groups = [g.thresholds(objective) for g in random_groups(seed, scale=10.0 ** rng.integers(-30, 30))]
    for gamma in (0.0, float(rng.uniform(0, 0.2)), 0.5, 1.0):
        assert not list(defects(cheapest_odds, groups, gamma, least=by_one_program(groups, gamma)))


FAULTS = {
    "the width is halved": lambda groups, gamma: cheapest_odds(groups, gamma / 2),
    "the width is doubled": lambda groups, gamma: cheapest_odds(groups, 2 * gamma),
    "one threshold beside": lambda groups, gamma: cheapest_odds(groups, gamma)._replace(
        mixtures=[
            [(max(count - 1, 0), chance) for count, chance in mixture]
            for mixture in cheapest_odds(groups, gamma).mixtures
        ]
    ),
    "false positives alone": lambda groups, gamma: cheapest_odds(
        [g._replace(true_positive=g.false_positive) for g in groups], gamma
    ),
    "the thresholds of the start alone": lambda groups, gamma: _few(groups, gamma),
    "a bound that proves nothing": lambda groups, gamma: cheapest_odds(groups, gamma)._replace(bound=0.0),
}


def _few(groups, gamma):
    """Mix eight thresholds of each group, as if no other helped."""
    columns = [np.unique(np.linspace(0, len(g.costs) - 1, 8).round().astype(int)) for g in groups]
    fewer = [Thresholds(*(part[at] for part in g)) for g, at in zip(groups, columns, strict=True)]
    found = cheapest_odds(fewer, gamma)
    mixtures = [
        [(int(at[count]), chance) for count, chance in mixture]
        for at, mixture in zip(columns, found.mixtures, strict=True)
    ]
    return OddsRules(found.cost, found.bound, mixtures)


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_rules_are_found(fault):
    groups = [g.thresholds("errors") for g in random_groups(2)]
    assert list(defects(FAULTS[fault], groups, 0.05, least=by_one_program(groups, 0.05)))


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_the_groups_does_not_matter_and_equal_groups_get_one_rule(seed):
    groups = [g.thresholds(("errors", "changes")[seed % 2]) for g in random_groups(seed)]
    groups.append(Thresholds(*(part.copy() for part in groups[0])))
    order = np.random.default_rng(seed).permutation(len(groups))
    for gamma in (0.0, 0.05, 0.3):
        found = cheapest_odds(groups, gamma)
        other = cheapest_odds([groups[at] for at in order], gamma)
        assert [found.mixtures[at] for at in order] == other.mixtures
        assert found.mixtures[0] == found.mixtures[-1]
        assert found.cost == pytest.approx(other.cost, rel=1e-12)
        assert not list(defects(cheapest_odds, groups, gamma, least=by_one_program(groups, gamma)))


def test_little_is_left_to_chance():
    """Two groups of one score; the better one has to come down to the other, where many mixtures have its rates."""
    rng = np.random.default_rng(0)
    groups = []
    for informative in (2.0, 0.7):
        y_true = np.tile([0, 1], 400)
        scores = rng.normal(size=800) + informative * y_true
        groups.append(Group.of((scores > 0.5).astype(int), scores, np.ones(800), y_true).thresholds("errors"))
    found = cheapest_odds(groups, 0.0).mixtures[0]
    selected = groups[0].selected[[count for count, _ in found]]
    assert np.ptp(selected) < 0.8  # 1 of the corners of the hull: nobody, everybody and one more
    assert groups[0].rates(found) == pytest.approx(
        groups[1].rates(cheapest_odds(groups, 0.0).mixtures[1]), abs=1e-9
    )


def test_nothing_on_a_grid_of_mixtures_is_cheaper():
    """Groups of two levels with up to two people of each label at each; mixtures of the thresholds in quarters."""
    quarters = [c for c in itertools.product(range(5), repeat=3) if sum(c) == 4]
    chances = np.array(quarters) / 4
    kinds = [
        (np.array(zeros, dtype=float), np.array(ones, dtype=float))
        for zeros in itertools.product(range(3), repeat=2)
        for ones in itertools.product(range(3), repeat=2)
        if sum(zeros) and sum(ones)
    ]
    rng = np.random.default_rng(0)
    reached = 0
    for first, second in rng.integers(len(kinds), size=(150, 2)):
        groups = [Thresholds.of(*kinds[i], if_one=kinds[i][0], if_zero=kinds[i][1]) for i in (first, second)]
        for gamma in (0.0, 0.25, 0.5):
            found = cheapest_odds(groups, gamma)
            rates = [
                np.stack([chances @ g.false_positive, chances @ g.true_positive], axis=1) for g in groups
            ]
            costs = [chances @ g.costs for g in groups]
            apart = abs(rates[0][:, None] - rates[1][None]).max(axis=2)
            total = (costs[0][:, None] + costs[1][None])[apart <= gamma + 1e-12]
            assert found.cost <= total.min() + 1e-9
            reached += abs(found.cost - total.min()) < 1e-9
    assert reached > 200  # the grid often has a best one, so that a cost which is too high would be seen


def test_an_unsolved_program_is_an_error(monkeypatch):
    groups = [g.thresholds("changes") for g in random_groups(2)]
    monkeypatch.setattr(odds, "OPTIMAL", -1.0)  # no value lies so far below its bound
    with pytest.raises(RuntimeError, match=r"the program's value .* and bound .* still differ"):
        cheapest_odds(groups, 0.0)


def two_of_one_curve(high, low):
    """Two groups of the same people at each score, who are selected from the score ``high`` on, or ``low``."""
    scores = np.repeat(np.tile(np.arange(5), 2), 6).astype(float)
    y_true = np.concatenate([np.arange(6) <= score for score in np.tile(np.arange(5), 2)]).astype(int)
    codes = np.repeat([0, 1], 30)
    return scores, y_true, codes, (scores >= np.where(codes == 0, high, low)).astype(int)


def test_of_optima_with_different_rates_one_is_taken_whatever_the_order_of_rows_and_groups():
    scores, y_true, codes, y_pred = two_of_one_curve(4, 1)
    groups = [
        Group.of(*(part[codes == at] for part in (y_pred, scores, np.ones(60), y_true))) for at in (0, 1)
    ]
    thresholds = [group.thresholds("changes") for group in groups]
    taken = cheapest_odds(thresholds, 0.0)
    # meeting anywhere between the two costs the same: a price of selection, either way, changes the rates and no cost
    costs, rates = [], []
    for price in (1e-4, -1e-4):
        pushed = [one._replace(costs=one.costs + price * one.selected) for one in thresholds]
        mixtures = cheapest_odds(pushed, 0.0).mixtures
        costs.append(sum(one.cost(mixture) for one, mixture in zip(thresholds, mixtures, strict=True)))
        rates.append(thresholds[0].rates(mixtures[0])[1])
    assert costs == pytest.approx([taken.cost] * 2, abs=1e-9)
    assert abs(rates[0] - rates[1]) > 0.3

    def after(order, names):
        fair = FairPostprocessor(notion="equalized_odds", objective="changes")
        named = np.array(list(names), dtype=object)[codes]
        given = {"scores": scores[order], "y_true": y_true[order], "sensitive_features": named[order]}
        fair.fit(y_pred[order], **given)
        return fair.predict_proba(y_pred, sensitive_features=named, scores=scores)[:, 1], fair.target_rate_

    first, target = after(np.arange(60), "ab")
    for seed, names in itertools.product(range(5), ("ab", "ba", "zy")):
        found, other = after(np.random.default_rng(seed).permutation(60), names)
        assert np.array_equal(found, first)
        assert other == target
    # of one rate there is a rule for it: the middle
    fair = FairPostprocessor().fit(y_pred, sensitive_features=codes, scores=scores)
    assert fair.target_rate_ == pytest.approx(sum(fair.rates_.values()) / 2)


def test_what_was_solved_before_changes_nothing():
    """A thread keeps its solver: the rules are the same as from a new thread's, whatever came before."""
    cases = [[group.thresholds("errors") for group in random_groups(seed)] for seed in range(8)]
    with ThreadPoolExecutor(1) as one:
        alone = [one.submit(cheapest_odds, groups, 0.05).result() for groups in cases]
    for order in (range(8), reversed(range(8))):
        for at in order:
            assert cheapest_odds(cases[at], 0.05) == alone[at]
    for groups, first in zip(cases, alone, strict=True):
        with ThreadPoolExecutor(1) as new:
            assert new.submit(cheapest_odds, groups, 0.05).result() == first
