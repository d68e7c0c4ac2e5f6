from fractions import Fraction

import fairlearn.metrics
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfair_lib as dpf

EVERY = (dpf.demographic_parity_ratio, dpf.equal_opportunity_ratio, dpf.equalized_odds_ratio)


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(0, 50), st.integers(1, 4), st.booleans())
def test_equal_to_fairlearn_where_theirs_is_a_number(metric, method, seed, n, k, weighted):
    rng = np.random.default_rng(seed)
    n += 2 * k
    y, pred, groups = rng.integers(0, 2, size=n), rng.integers(0, 2, size=n), rng.integers(0, k, size=n)
    y[: 2 * k], groups[: 2 * k] = np.tile([0, 1], k), np.repeat(np.arange(k), 2)  # no cell is empty
    weight = rng.uniform(0.1, 3, size=n) if weighted else None
    same = {"sensitive_features": groups, "method": method, "sample_weight": weight}
    if metric is dpf.equalized_odds_ratio:
        # label by label, as the order of the labels decides what theirs makes of one that is no number
        both = [_theirs(fairlearn.metrics.equal_opportunity_ratio, truth, pred, same) for truth in (y, 1 - y)]
        assert metric(y, pred, **same) == pytest.approx(min(both), abs=1e-12)
        assert metric(y, pred, **same, agg="mean") == pytest.approx(sum(both) / 2, abs=1e-12)
        if all(pred[y == label].any() for label in (0, 1)):
            for agg in ("worst_case", "mean"):
                theirs = fairlearn.metrics.equalized_odds_ratio(y, pred, **same, agg=agg)
                assert metric(y, pred, **same, agg=agg) == pytest.approx(theirs, abs=1e-12)
    else:
        theirs = _theirs(getattr(fairlearn.metrics, metric.__name__), y, pred, same)
        assert metric(y, pred, **same) == pytest.approx(theirs, abs=1e-12)


def _theirs(metric, y, pred, same):
    found = metric(y, pred, **same)
    return 1.0 if np.isnan(found) else found


@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
def test_equal_rates_have_the_ratio_1_also_if_nobody_is_selected(method):
    y, groups = [1, 0, 1, 0], ["a", "a", "b", "b"]
    for metric in EVERY:
        assert metric(y, [0] * 4, sensitive_features=groups, method=method) == 1
        assert metric(y, y, sensitive_features=groups, method=method) == 1
        assert metric(y, [0, 0, 1, 1], sensitive_features=groups, method=method) == 0
        exact = np.array([Fraction(0)] * 4, dtype=object)
        assert isinstance(metric(y, exact, sensitive_features=groups, method=method), Fraction)


def test_by_hand():
    y = [1, 1, 1, 0, 0, 1, 1, 0, 0]
    pred = [1, 1, 0, 1, 0, 1, 0, 0, 0]
    groups = list("aaaaabbbb")
    same = {"sensitive_features": groups}
    # selected: 3/5 and 1/4 of 4/9; true positives 2/3 and 1/2 of 3/5; false positives 1/2 and 0 of 1/4
    assert dpf.demographic_parity_ratio(y, pred, **same) == pytest.approx(5 / 12)
    assert dpf.demographic_parity_ratio(y, pred, **same, method="to_overall") == pytest.approx(9 / 16)
    assert dpf.equal_opportunity_ratio(y, pred, **same) == pytest.approx(3 / 4)
    assert dpf.equal_opportunity_ratio(y, pred, **same, method="to_overall") == pytest.approx(5 / 6)
    assert dpf.equalized_odds_ratio(y, pred, **same) == 0
    assert dpf.equalized_odds_ratio(y, pred, **same, agg="mean") == pytest.approx(3 / 8)
    weights = {**same, "sample_weight": [1, 1, 1, 1, 1, 3, 1, 0, 0]}
    assert dpf.demographic_parity_ratio(y, pred, **weights) == pytest.approx(4 / 5)  # 3/5 and 3/4


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
def test_labels_may_be_words_and_bad_choices_are_refused(metric):
    y, pred, groups = np.array([1, 0, 1, 0]), np.array([1, 1, 1, 0]), pd.Series(list("aabb"))
    words = np.array(["no", "yes"])
    found = metric(words[y], words[pred], sensitive_features=groups, pos_label="yes")
    assert found == metric(y, pred, sensitive_features=groups)
    assert found < 1 or metric is dpf.equal_opportunity_ratio
    with pytest.raises(ValueError, match="method: found"):
        metric(y, pred, sensitive_features=groups, method="overall")
    with pytest.raises(TypeError, match="y_pred"):
        metric(pred, sensitive_features=groups)


def test_an_undefined_rate_and_an_unknown_aggregate_are_refused():
    for metric in EVERY[1:]:
        with pytest.raises(ValueError, match="y_true: found no label 1 in group 1"):
            metric([1, 0, 0], [1, 0, 1], sensitive_features=[0, 0, 1])
    with pytest.raises(ValueError, match="agg: found None"):
        dpf.equalized_odds_ratio([1, 0], [1, 0], sensitive_features=[0, 0], agg=None)
