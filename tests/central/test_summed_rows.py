"""Post-processors that count rows where they are."""

import numpy as np
import pytest
from elsewhere import GROUPS, MAKERS, ROWS, draw

import dpfair_lib as dpf


@MAKERS
@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity"])
def test_private_counts_are_taken_where_the_rows_are(notion, make, travelled):
    rows = draw(11)

    def fit(put, group=rows["group"], **options):
        fair = dpf.PrivateFairPostprocessor(1.0, notion=notion, noise="study", random_state=0, **options)
        truth = put(rows["y"]) if notion == "equal_opportunity" else None
        return fair.fit(put(rows["pred"]), truth, sensitive_features=put(group))

    sizes = {2: 900, 0: 1000, 1: 1100}
    for options in ({}, {"group_sizes": sizes, "relation": "add-remove"}):
        assert fit(make, **options).noisy_rates_ == fit(np.asarray, **options).noisy_rates_
    assert max(travelled) <= 2 * GROUPS + 1
    messages = []
    for put in (np.asarray, make):
        with pytest.raises(
            ValueError, match="sensitive_features: found group 7 at position 5, expected one of"
        ) as bad:
            fit(
                put,
                np.where(np.arange(ROWS) == 5, 7, rows["group"]),
                group_sizes=sizes,
                relation="add-remove",
            )
        messages.append(str(bad.value))
    assert messages[0] == messages[1]


@MAKERS
@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_rules_come_from_sums_of_the_cells(notion, weighted, make, travelled):
    rows = draw(12)
    weight = np.where(np.arange(ROWS) % 5 == 0, 0, rows["weight"]) if weighted else None
    fitted = []
    for put in (np.asarray, make):
        fair = dpf.FairPostprocessor(notion=notion, gamma=0.01, objective="errors")
        fitted.append(fair.fit(
            put(rows["pred"]), put(rows["y"]), sensitive_features=put(rows["group"]),
            sample_weight=None if weight is None else put(weight),
        ))  # fmt: skip
    here, there = fitted
    assert there.cost_ == pytest.approx(here.cost_, rel=1e-9)
    for group, rates in here.fair_rates_.items():
        assert there.fair_rates_[group] == pytest.approx(rates, abs=1e-9)
    chances = [fair.predict_proba(rows["pred"], sensitive_features=rows["group"]) for fair in fitted]
    np.testing.assert_allclose(chances[1], chances[0], atol=1e-9)
    assert max(travelled) <= 4 * GROUPS
