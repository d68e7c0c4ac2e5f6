"""Post-processors that count rows where they are."""

import numpy as np
import pytest
import torch
from elsewhere import GROUPS, MAKERS, ROWS, draw, on_device

import dpfair_lib as dpf
from dpfair_lib._arrays import HOST
from dpfair_lib.central.summed_rows import scaled_weights


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


@pytest.mark.parametrize("kind", [dpf.FairPostprocessor, dpf.PrivateFairPostprocessor])
def test_a_mixture_is_counted_on_the_host_if_it_is_there(kind):
    pred, words = np.arange(8) % 3 % 2, list("aabbaabb")
    fair = kind() if kind is dpf.FairPostprocessor else kind(1.0, noise="study", random_state=0)
    wanted = fair.fit(pred, sensitive_features=words).rules_
    assert fair.fit(torch.tensor(pred), sensitive_features=words).rules_ == wanted
    with pytest.raises(
        ValueError, match=r"sensitive_features: found rows of the type list, expected an array of .*device1"
    ):
        fair.fit(on_device(pred), sensitive_features=words)
    with pytest.raises(ValueError, match=r"found an array of torch on cpu, expected an array of .*device1"):
        fair.fit(on_device(pred), sensitive_features=torch.tensor(pred))


def test_only_weights_that_floats_would_lose_are_refused():
    """The least one that is not 0 counts, beside the largest."""
    scaled, unit = scaled_weights(np.array([3.0, 0.0, 3e-11]), HOST)
    assert unit == 4.0
    assert (scaled * unit).tolist() == [3.0, 0.0, 3e-11]
    with pytest.raises(ValueError, match="sample_weight: found 1e-13 beside 1, expected 0 or at least 1e-12"):
        scaled_weights(np.array([1.0, 0.5, 1e-13]), HOST)
