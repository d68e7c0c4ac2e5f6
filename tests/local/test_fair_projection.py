import time

import cvxpy
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from dpfair_lib import FairProjection, demographic_parity_difference, mean_equalized_odds_difference
from dpfair_lib.local.projection import divergence_of, project

NOTIONS = ("demographic_parity", "mean_equalized_odds")
DIVERGENCES = ("kl", "ce")
EVERY = [(notion, divergence) for notion in NOTIONS for divergence in DIVERGENCES]


def example(seed=0, n=400, classes=2, groups=2):
    rng = np.random.default_rng(seed)
    group = np.append(rng.integers(0, groups, size=n - groups), np.arange(groups))
    logit = rng.normal(size=(n, classes))
    logit[:, 0] += 0.7 * group
    y_proba = np.exp(logit) / np.exp(logit).sum(axis=1, keepdims=True)
    return y_proba, group


def rates(h, y_proba, group, notion):
    """The rates r_a(c) and r(c), from the definition: one row per group, then that of all."""
    counted = np.ones_like(y_proba) if notion == "demographic_parity" else y_proba
    parts = [group == a for a in np.unique(group)] + [np.ones(len(group), dtype=bool)]
    return np.array([(counted * h)[rows].sum(axis=0) / counted[rows].sum(axis=0) for rows in parts])


def fitted(notion, divergence, tolerance, y_proba, group, y=None):
    fair = FairProjection(notion, divergence, tolerance=tolerance).fit(y_proba, y, sensitive_features=group)
    return fair, fair.predict_proba(y_proba, sensitive_features=group)


@pytest.mark.parametrize(("notion", "divergence"), EVERY)
@settings(max_examples=15)
@given(
    st.integers(0, 10_000), st.sampled_from([0, 1e-3, 0.05, 0.2, 1.0]), st.integers(2, 4), st.integers(2, 3)
)
def test_constraints_hold_and_nothing_fair_is_nearer(notion, divergence, seed, tolerance, classes, groups):
    y_proba, group = example(seed, 60, classes, groups)
    fair, h = fitted(notion, divergence, tolerance, y_proba, group)
    assert h.min() >= 0
    np.testing.assert_allclose(h.sum(axis=1), 1, atol=1e-12)
    *own, common = rates(h, y_proba, group, notion)
    assert (abs(np.array(own) - common) <= tolerance * common + 1e-8).all()
    assert fair.duality_gap_ <= 1e-8
    assert fair.violation_ <= 1e-9
    assert (fair.multipliers_ >= 0).all()
    assert fair.divergence_value_ == pytest.approx(divergence_of(h, y_proba, divergence), abs=1e-12)
    # the constant classifiers are fair under both notions; so is any mixture of them with h
    rng = np.random.default_rng(seed)
    for share in (1e-3, 0.1, 1.0):
        other = (1 - share) * h + share * rng.dirichlet(np.ones(classes))
        assert divergence_of(other, y_proba, divergence) >= fair.divergence_value_ - 1e-8


@pytest.mark.parametrize(("notion", "divergence"), EVERY)
@pytest.mark.parametrize(("tolerance", "labelled"), [(0.0, False), (0.03, False), (0.03, True)])
def test_equal_to_a_general_convex_solver(notion, divergence, tolerance, labelled):
    y_proba, group = example(3, 40, classes=3, groups=2)
    y = np.arange(40) % 3 if labelled else None
    fair, h = fitted(notion, divergence, tolerance, y_proba, group, y)
    wanted = cvxpy.Variable(y_proba.shape)
    pair = (wanted, y_proba) if divergence == "kl" else (y_proba, wanted)
    constraints = [cvxpy.sum(wanted, axis=1) == 1]
    for c in range(3):
        counted = np.ones(40) if notion == "demographic_parity" else y_proba[:, c]
        cell = np.ones(40) if notion == "demographic_parity" else y_proba[:, c]
        if labelled and notion == "mean_equalized_odds":
            cell = (y == c).astype(float)
        whole = counted @ wanted[:, c] / cell.sum()
        for a in (0, 1):
            rows = group == a
            rate = (counted * rows) @ wanted[:, c] / cell[rows].sum()
            constraints += [rate <= (1 + tolerance) * whole, rate >= (1 - tolerance) * whole]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(cvxpy.kl_div(*pair)) / 40), constraints)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert fair.divergence_value_ == pytest.approx(problem.value, abs=1e-8)
    np.testing.assert_allclose(
        h, wanted.value, atol=1e-4
    )  # where the value is 1e-8 off, h is off by its root


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_closed_form_where_a_group_has_one_probability(share):
    # parity makes one rate of the two: the mean of the log-odds for KL, the mean for cross-entropy
    group = np.arange(100) < 100 * share
    y_proba = np.where(group, 0.7, 0.3)
    weights, logit = np.array([share, 1 - share]), np.log(7 / 3) * np.array([1, -1])
    expected = {"kl": 1 / (1 + np.exp(-weights @ logit)), "ce": weights @ [0.7, 0.3]}
    for divergence, rate in expected.items():
        _, h = fitted("demographic_parity", divergence, 0, y_proba, group)
        np.testing.assert_allclose(h[:, 1], rate, atol=1e-10)


@pytest.mark.parametrize(("notion", "divergence"), EVERY)
def test_what_is_fair_already_is_left_alone(notion, divergence):
    y_proba, group = example()
    fair, h = fitted(notion, divergence, 10.0, y_proba, group)
    np.testing.assert_allclose(h, y_proba, atol=1e-12)
    assert fair.n_steps_ == 0
    assert not fair.multipliers_.any()


@pytest.mark.parametrize(("notion", "divergence"), EVERY)
def test_a_larger_tolerance_is_never_further_away(notion, divergence):
    y_proba, group = example(5)
    values = [
        fitted(notion, divergence, tolerance, y_proba, group)[0].divergence_value_
        for tolerance in (0, 0.01, 0.05, 0.2, 0.6)
    ]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[1] > 0


def test_rows_of_few_and_rare_cells_still_end():
    # small groups, probabilities near 0 and 1, and cells counted from labels that the probabilities contradict
    for seed in range(20):
        y_proba, group = example(seed, 24)
        y_proba = y_proba**6 / (y_proba**6).sum(axis=1, keepdims=True)
        y = np.arange(24) % 2
        if len({(a, c) for a, c in zip(group.tolist(), y.tolist(), strict=True)}) < 4:
            continue
        for divergence in DIVERGENCES:
            fair, _ = fitted("mean_equalized_odds", divergence, 0.01, y_proba, group, y)
            assert fair.duality_gap_ <= 1e-8


@pytest.mark.parametrize(("notion", "divergence"), EVERY)
def test_probabilities_near_0_and_1_are_projected_as_closely(notion, divergence):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        classes, groups = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        group = np.append(np.arange(groups), rng.integers(0, groups, 120))
        logit = 8 * rng.normal(size=(len(group), classes))
        logit[:, 0] += 8 * rng.normal(size=groups)[group]
        y_proba = np.maximum(np.exp(logit - logit.max(axis=1, keepdims=True)), 1e-6)
        y_proba /= y_proba.sum(axis=1, keepdims=True)
        fair, h = fitted(notion, divergence, float(rng.choice([0, 1e-3, 0.1])), y_proba, group)
        assert fair.duality_gap_ <= 1e-8
        *own, common = rates(h, y_proba, group, notion)
        assert (abs(np.array(own) - common) <= fair.tolerance * common + 1e-8).all()


def test_other_rows_names_and_forms_of_input():
    y_proba, group = example()
    names = pd.Series(np.where(group == 1, "b", "a"))
    fair = FairProjection("demographic_parity", "ce", tolerance=0.01)
    assert fair.get_params() == {"notion": "demographic_parity", "divergence": "ce", "tolerance": 0.01}
    fair = clone(fair).fit(pd.Series(y_proba[:, 1]), sensitive_features=names)
    whole = fair.predict_proba(y_proba, sensitive_features=names)
    one = fair.predict_proba(y_proba[[7]], sensitive_features=names[[7]])
    np.testing.assert_allclose(one[0], whole[7], atol=1e-12)
    assert (fair.predict(y_proba, sensitive_features=names) == (whole[:, 1] > 0.5)).all()
    assert demographic_parity_difference(None, whole[:, 1], sensitive_features=names) < 0.02


@pytest.mark.parametrize("classes", [2, 3])
def test_its_score_is_the_expected_accuracy_of_labels_drawn_with_its_probabilities(classes):
    y_proba, group = example(5, classes=classes)
    fair, new = fitted("demographic_parity", "kl", 0.05, y_proba, group)
    y = y_proba.argmax(axis=1)
    assert fair.classes_.tolist() == list(range(classes))
    expected = np.mean([row[label] for row, label in zip(new, y, strict=True)])
    assert fair.score(y_proba, y, sensitive_features=group) == pytest.approx(expected, abs=1e-12)
    likeliest = np.mean(fair.predict(y_proba, sensitive_features=group) == y)
    assert likeliest - expected > 0.1  # the score is not that of the likeliest labels
    twice = fair.score(y_proba, y, sensitive_features=group, sample_weight=np.where(y == 0, 2.0, 0.0))
    assert twice == pytest.approx(new[y == 0, 0].mean())
    with pytest.raises(ValueError, match=f"y: found label {classes} at position 0"):
        fair.score(y_proba, np.full(len(group), classes), sensitive_features=group)


def test_labels_set_the_sizes_of_cells_for_equalized_odds():
    y_proba, group = example(2)
    y = (np.random.default_rng(0).random(400) < y_proba[:, 1]).astype(int)
    _, h = fitted("mean_equalized_odds", "kl", 0.0, y_proba, group, y)
    for c in (0, 1):
        cells = [((y == c) & (group == a)).sum() for a in (0, 1)]
        found = [(y_proba[:, c] * h[:, c])[group == a].sum() / cells[a] for a in (0, 1)]
        assert found[0] == pytest.approx(found[1], abs=1e-8)
    assert mean_equalized_odds_difference(y, h[:, 1], sensitive_features=group) < 0.1


@pytest.mark.parametrize(("notion", "divergence"), EVERY)
def test_a_projection_of_a_few_thousand_rows_takes_milliseconds(notion, divergence):
    y_proba, group = example(0, 3_694)

    def seconds():
        start = time.process_time()
        FairProjection(notion, divergence, tolerance=0.01).fit(y_proba, sensitive_features=group)
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.05


GOOD, GROUPS = [0.2, 0.6, 0.5, 0.4], [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({"notion": "fair"}, {}, "notion: found 'fair', expected one of 'demographic_parity'"),
        ({"divergence": "l2"}, {}, "divergence: found 'l2', expected one of 'kl', 'ce'"),
        ({"tolerance": -0.1}, {}, "tolerance: found -0.1, expected a number of at least 0"),
        ({"tolerance": float("nan")}, {}, "tolerance: found nan"),
        ({"tolerance": float("inf")}, {}, "tolerance: found inf, expected a number from 0 to 1e.09"),
        ({}, {"y_proba": [0.2, 1.2, 0.5, 0.4]}, "y_proba: found 1.2 at position 1"),
        ({}, {"y_proba": [0.2, 1.0, 0.5, 0.4]}, "y_proba: found a probability of 0 in row 1"),
        ({}, {"y_proba": [[0.2, 0.2]] * 4}, "y_proba: found the sum 0.4 in row 0"),
        ({}, {"y_proba": GOOD[:3]}, "lengths differ: y_proba has 3, sensitive_features has 4"),
        ({}, {"sensitive_features": [1] * 4}, r"sensitive_features: found 1 group \[1\]"),
        ({}, {"y": [0, 1, 2, 1]}, "y: found 2 at position 2, expected labels 0 to 1"),
        ({}, {"y": [0, 1, 0, 1]}, "y: found no row of group 1 with label 0"),
    ],
)
def test_bad_input_is_named(parameters, arguments, message):
    chosen = {"notion": "mean_equalized_odds", "divergence": "kl", "tolerance": 0.1} | parameters
    given = {"y_proba": GOOD, "y": None, "sensitive_features": GROUPS} | arguments
    with pytest.raises(ValueError, match=message):
        FairProjection(**chosen).fit(
            given["y_proba"], given["y"], sensitive_features=given["sensitive_features"]
        )


def test_bad_rows_at_prediction_are_named():
    fair = FairProjection("demographic_parity", tolerance=0.1).fit(GOOD, sensitive_features=GROUPS)
    with pytest.raises(ValueError, match="sensitive_features: found group 2"):
        fair.predict_proba([0.5], sensitive_features=[2])
    with pytest.raises(ValueError, match="y_proba: found 3 classes, expected 2"):
        fair.predict_proba([[0.2, 0.3, 0.5]], sensitive_features=[1])


def test_constraints_that_nobody_can_meet_are_refused():
    from dpfair_lib.local.projection import Constraints

    y = np.full((4, 2), 0.5)
    never = Constraints([np.ones((4, 1)), np.ones((4, 1))])  # both classes of mean probability 0
    for divergence in DIVERGENCES:
        with pytest.raises(ValueError, match="tolerance: found constraints that no classifier"):
            project(y, never, divergence)
