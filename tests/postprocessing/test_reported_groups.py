"""Equalized odds from reports of the group: estimates, the program, the public code as run, and what is refused."""

import itertools

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.postprocessing import reported_groups
from dpfair_lib.postprocessing.reported_groups import cheapest_reported_rule, rates_through, true_counts

RESPONSE = np.array([[0.75, 0.25], [0.25, 0.75]])
AS_RUN = [  # counts by prediction, report and label; the chance of the truth; γ; the rule that the public code returns
    ([[[528, 879], [492, 933]], [[276, 347], [223, 322]]], 0.6, 0.0001, [1.0, 1.0, 1.0, 1.0]),
    ([[[616, 516], [703, 411]], [[513, 458], [384, 399]]], 0.75, 0.05, [0.0, 0.0, 0.0, 0.18849837]),
    ([[[494, 326], [872, 339]], [[456, 636], [353, 524]]], 0.9, 0.0001, [0.0, 0.45110105, 1.0, 0.83099207]),
    ([[[913, 429], [740, 332]], [[360, 450], [385, 392]]], 0.6, 0.05, [0.0, 0.0, 0.54737779, 0.0]),
    ([[[351, 1021], [256, 610]], [[328, 542], [557, 335]]], 0.75, 0.0001, [1.0, 1.0, 1.0, 0.99979385]),
    ([[[361, 418], [781, 365]], [[658, 555], [322, 540]]], 0.9, 0.05, [1.0, 0.038572988, 0.0, 0.80080888]),
]  # fmt: skip
"""Made by the class of husseinmozannar/fairlearn_private_data, with the solver CBC."""


def rates(counts, rule):
    """Return the rates of the new label 1 by true group and label."""
    return (counts * rule[:, :, None]).sum(axis=0) / counts.sum(axis=0)


def tables(seed, k=2, m=2):
    rng = np.random.default_rng(seed)
    channel = rng.dirichlet(np.ones(m), size=k) + 2 * np.eye(k, m)
    channel /= channel.sum(axis=1, keepdims=True)
    return rng.integers(1, 300, size=(2, k, 2)).astype(float), channel


@pytest.mark.parametrize("case", AS_RUN, ids=lambda case: f"{case[1]}, {case[2]}")
def test_it_agrees_with_the_public_code_as_run(case):
    counts, truth, gamma, rule = case
    channel = np.array([[truth, 1 - truth], [1 - truth, truth]])
    found = cheapest_reported_rule(true_counts(np.array(counts, dtype=float), channel), channel, gamma)
    assert found.rule.ravel() == pytest.approx(rule, abs=1e-7)


def test_a_rule_for_another_channel_is_another():
    # planted: reports taken for the truth
    counts, truth, gamma, rule = AS_RUN[2]
    channel = np.array([[truth, 1 - truth], [1 - truth, truth]])
    taken = cheapest_reported_rule(np.array(counts, dtype=float), np.eye(2), gamma)
    assert abs(taken.rule.ravel() - rule).max() > 0.01
    estimated = true_counts(np.array(counts, dtype=float), channel)
    gaps = np.ptp(rates(estimated, taken.rule @ channel.T), axis=0)
    assert gaps.max() > 10 * gamma


@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 3), (2, 4), (4, 5)])
def test_estimates_are_without_bias(k, m):
    counts, channel = tables(1, k, m)
    expected = np.einsum("ykt,kz->yzt", counts, channel)
    assert true_counts(expected, channel) == pytest.approx(counts)


@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 3), (2, 4)])
@pytest.mark.parametrize("gamma", [0.0, 0.02, 0.3])
def test_no_rule_of_a_grid_is_better_and_all_limits_are_kept(k, m, gamma):
    for seed in range(5):
        counts, channel = tables(seed, k, m)
        found = cheapest_reported_rule(counts, channel, gamma)
        acting = found.rule @ channel.T
        assert np.ptp(rates(counts, acting), axis=0).max() <= gamma + 1e-8
        assert found.gap == pytest.approx(np.ptp(rates(counts, acting), axis=0).max(), abs=1e-9)
        errors = (counts[:, :, 0] * acting + counts[:, :, 1] * (1 - acting)).sum()
        assert found.errors == pytest.approx(errors)
        rng = np.random.default_rng(seed)
        for _ in range(300):
            other = rng.integers(0, 2, (2, m)) if rng.random() < 0.5 else rng.random((2, m))
            mixed = other @ channel.T
            if np.ptp(rates(counts, mixed), axis=0).max() <= gamma:
                worse = (counts[:, :, 0] * mixed + counts[:, :, 1] * (1 - mixed)).sum()
                assert worse >= errors - 1e-6 * counts.sum()
        assert errors <= min(counts[:, :, 0].sum(), counts[:, :, 1].sum()) + 1e-6  # the constants


def test_counts_that_are_cut_off_at_0_have_a_bias():
    # one person of group 0: the report is 0 with ¾, and the estimates are (3/2, −½) or (−½, 3/2)
    channel = dpf.Randomizer([[0.75, 0.25], [0.25, 0.75]])
    kept = []
    for z in (0, 1):
        fitted = dpf.ReportedOddsPostprocessor(channel, gamma=1.0, noise="study").fit(
            [1], y_true=[1], reports=[z]
        )
        kept.append(fitted.counts_[1, :, 1])
    assert 0.75 * kept[0] + 0.25 * kept[1] == pytest.approx([9 / 8, 3 / 8])


def test_empty_cells_and_empty_tables_have_a_rule():
    channel = RESPONSE
    for counts in (np.zeros((2, 2, 2)), np.pad(np.ones((1, 2, 2)), ((0, 1), (0, 0), (0, 0)))):
        assert cheapest_reported_rule(counts, channel, 0.0).rule.shape == (2, 2)


def people(n=60_000, seed=0, truth=0.75):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    y = (rng.random(n) < 0.3 + 0.2 * a).astype(int)
    y_pred = (rng.random(n) < np.where(y == 1, 0.6 + 0.25 * a, 0.1 + 0.15 * a)).astype(int)
    channel = dpf.Randomizer([[truth, 1 - truth], [1 - truth, truth]])
    return y_pred, y, a, channel.apply(a, rng), channel


def test_the_rates_of_the_true_groups_come_together():
    y_pred, y, a, reports, channel = people()
    before = dpf.equalized_odds_difference(y, y_pred, sensitive_features=a)
    fair = dpf.ReportedOddsPostprocessor(channel, gamma=0.0).fit(y_pred, y_true=y, reports=reports)
    after = fair.predict_proba(y_pred, reports=reports)[:, 1]
    assert before > 0.2
    assert dpf.equalized_odds_difference(y, after, sensitive_features=a) < 0.03
    assert fair.gap_ < 1e-9
    assert fair.group_rule_ == pytest.approx(fair.rule_ @ RESPONSE.T)
    drawn = fair.predict(y_pred, reports=reports, random_state=0)
    assert set(drawn.tolist()) <= {0, 1}
    assert drawn.mean() == pytest.approx(after.mean(), abs=0.01)


def test_what_is_kept_is_a_function_of_the_counts_of_reports():
    # the same people in another order, and a person of another report and label, whom the counts tell
    y_pred, y, _, reports, channel = people(500)
    order, others = np.random.default_rng(1).permutation(500), reports.copy()
    others[0] = 1 - others[0]
    kept = []
    for rows, told in ((np.arange(500), reports), (order, reports), (np.arange(500), others)):
        fair = dpf.ReportedOddsPostprocessor(channel, gamma=0.1)
        fair.fit(y_pred[rows], y_true=y[rows], reports=told[rows])
        kept.append({name: value for name, value in vars(fair).items() if name not in fair.get_params()})
    assert set(kept[0]) == {"counts_", "rule_", "group_rule_", "gap_", "privacy_statement_"}
    same = [[name for name, value in kept[0].items() if np.all(value == other[name])] for other in kept[1:]]
    assert set(same[0]) == set(kept[0])
    assert "counts_" not in same[1]


def test_the_score_is_the_expected_accuracy():
    y_pred, truth, _, reports, channel = people(4000)
    fair = dpf.ReportedOddsPostprocessor(channel, gamma=0.05).fit(y_pred, y_true=truth, reports=reports)
    chances = fair.predict_proba(y_pred, reports=reports)
    assert fair.score(y_pred, truth, reports=reports) == pytest.approx(chances[np.arange(4000), truth].mean())
    weights = np.where(truth == 1, 3.0, 0.0)
    weighted = fair.score(y_pred, truth, reports=reports, sample_weight=weights)
    assert weighted == pytest.approx(chances[truth == 1, 1].mean())
    with pytest.raises(ValueError, match="sample_weight: found a negative number or only 0"):
        fair.score(y_pred, truth, reports=reports, sample_weight=0 * weights)
    with pytest.raises(ValueError, match="lengths differ"):
        fair.score(y_pred, truth[:-1], reports=reports)


def test_the_statement_is_the_channels():
    y_pred, y, _, reports, channel = people(500)
    secure = dpf.ReportedOddsPostprocessor(channel, gamma=0.1).fit(y_pred, y_true=y, reports=reports)
    statement = secure.privacy_statement_
    assert (statement.relation, statement.unit, statement.delta) == ("local", "sensitive attribute", 0)
    assert statement.epsilon == pytest.approx(np.log(3))
    assert statement.guarantee
    study = dpf.ReportedOddsPostprocessor(channel, gamma=0.1, noise="study").fit(
        y_pred, y_true=y, reports=reports
    )
    assert not study.privacy_statement_.guarantee
    # by the channel itself: the largest ratio of two groups' chances of one report
    log_ratios = [np.log(RESPONSE[a, z] / RESPONSE[b, z]) for a, b, z in itertools.product((0, 1), repeat=3)]
    assert max(log_ratios) <= statement.epsilon
    assert max(log_ratios) > 0.99 * statement.epsilon


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma": -0.1}, "gamma: found"),
        ({"channel": RESPONSE}, "channel: found"),
        ({"channel": dpf.Randomizer([[0.5, 0.5], [0.5, 0.5]])}, "channel: found rows that are dependent"),
        ({"channel": dpf.Randomizer([[0.5, 0.5]])}, "channel: found one group"),
        ({"channel": dpf.Randomizer([[1.0], [1.0]])}, "channel: found rows that are dependent"),
        ({"noise": "none"}, "noise: found 'none'"),
    ],
)
def test_bad_parameters_are_refused_by_name(changes, message):
    y_pred, y, _, reports, channel = people(200)
    settings = {"channel": channel, "gamma": 0.1} | changes
    with pytest.raises(ValueError, match=message):
        dpf.ReportedOddsPostprocessor(**settings).fit(y_pred, y_true=y, reports=reports)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"reports": [0, 1, 2]}, "reports: found"),
        ({"y_pred": [0, 1, 2]}, "y_pred"),
        ({"y_true": [0, 1]}, "y_true|length"),
    ],
)
def test_bad_data_are_refused_by_name(data, message):
    good = {"y_pred": [0, 1, 1], "y_true": [0, 1, 1], "reports": [0, 1, 1]}
    estimator = dpf.ReportedOddsPostprocessor(dpf.Randomizer(RESPONSE), gamma=0.1)
    with pytest.raises(ValueError, match=message):
        estimator.fit(**good | data)
    fitted = estimator.fit(**good)
    with pytest.raises(ValueError, match="reports: found"):
        fitted.predict_proba([0, 1], reports=[0, 5])


def test_a_solver_that_gives_up_is_told(monkeypatch):
    class Failed:
        status, message = 4, "no luck"

    monkeypatch.setattr(reported_groups, "linprog", lambda *_, **__: Failed())
    with pytest.raises(RuntimeError, match="no luck"):
        cheapest_reported_rule(*tables(0), 0.1)


def test_a_rule_acts_on_the_groups_through_all_that_stands_between():
    shares = np.array([[[0.75, 0.5], [0.5, 0.25]], [[0.25, 0.5], [0.5, 0.75]]])  # of the predicted label
    rule = np.array([[0.0, 0.5], [1.0, 0.25]])
    np.testing.assert_allclose(rates_through(shares, rule, np.eye(2)), [[0.25, 0.5], [0.375, 0.3125]])
    exchanged = np.array([[0.5, 0.5], [0.0, 1.0]])
    # group 0 takes the other rule half of the time: 0.75·0.5 + 0.25·0.25 and 0.5·0.5 + 0.5·0.25 under it
    np.testing.assert_allclose(
        rates_through(shares, rule, exchanged), [[(0.25 + 0.4375) / 2, (0.5 + 0.375) / 2], [0.375, 0.3125]]
    )
