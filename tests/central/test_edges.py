"""The edges of post-processing: groups at the common rate, gaps of one, inputs of different lengths."""

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.central.parity import gap_quantile
from dpfair_lib.central.several_groups.opportunity_law import opportunity_gap_quantile

Y, GROUPS = np.array([1, 0, 1, 0, 1, 0]), np.array(["f", "f", "m", "m", "m", "m"])
SCORES, TRUTH = np.linspace(0.2, 0.9, 6), np.array([1, 0, 0, 0, 1, 1])


@pytest.mark.parametrize("eta", [1e-9, 1e-6, 0.01])
def test_a_quantile_of_the_gap_is_at_most_one(eta):
    assert gap_quantile(eta, rates=(1.0, 0.0), n=1, epsilon=0.01) == 1
    assert 0 <= gap_quantile(eta, rates=(0.5, 0.5), n=(1, 2), epsilon=(0.01, 0.5)) <= 1


@pytest.mark.parametrize("short", ["y_pred", "sensitive_features", "y_true", "scores"])
def test_every_input_of_another_length_is_refused(short):
    given = {"y_pred": Y, "sensitive_features": GROUPS, "y_true": TRUTH, "scores": SCORES}
    fitted = dpf.FairPostprocessor().fit(**given)
    given[short] = given[short][1:]
    with pytest.raises(ValueError, match=rf"lengths differ: .*{short} has 5"):
        dpf.FairPostprocessor().fit(**given)
    if short != "y_true":
        del given["y_true"]
        with pytest.raises(ValueError, match="lengths differ"):
            fitted.predict_proba(**given)


DENORMAL = 5e-324


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize("quantile", [gap_quantile, opportunity_gap_quantile])
def test_denormal_rates_are_as_good_as_nothing(quantile, mechanism):
    more = {
        "n" if quantile is gap_quantile else "positives": [20] * 3,
        "epsilon": 1.0,
        "mechanism": mechanism,
    }
    for rates, near in (((DENORMAL, 0.5, 1 - 1e-16), (0, 0.5, 1)), ((1e-310, 1.0, DENORMAL), (0, 1, 0))):
        for rate, other in ((DENORMAL, 0.0), ("median", "median")):
            found = quantile(0.05, rates=rates, rate=rate, **more)
            assert found == pytest.approx(quantile(0.05, rates=near, rate=other, **more), abs=1e-5)


@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize("objective", ["change_rates", "changes", "errors"])
def test_denormal_weights_scores_and_gaps_are_ordinary_numbers(notion, objective):
    given = {"y_pred": Y, "sensitive_features": GROUPS, "y_true": np.array([1, 0, 1, 0, 1, 0])}
    plain = dpf.FairPostprocessor(notion=notion, objective=objective).fit(**given)
    for weight in (1e-310, DENORMAL):
        fair = dpf.FairPostprocessor(notion=notion, objective=objective, gamma=DENORMAL)
        fair = fair.fit(**given, sample_weight=[weight] * 6)
        assert fair.rates_ == plain.rates_
        scale = 1.0 if objective == "change_rates" else weight
        assert fair.cost_ == pytest.approx(plain.cost_ * scale, abs=1e-9 * scale)
    order = np.array([3.0, 1.0, 4.0, 2.0, 6.0, 5.0])
    fair = [dpf.FairPostprocessor(notion=notion, objective=objective) for _ in range(2)]
    costs = [f.fit(**given, scores=order * unit).cost_ for f, unit in zip(fair, (1.0, DENORMAL), strict=True)]
    assert costs[0] == costs[1]


def test_a_private_aim_and_band_may_be_denormal():
    fair = dpf.PrivateFairPostprocessor(
        epsilon=1.0, rate=DENORMAL, gamma=DENORMAL, noise="study", random_state=0
    ).fit(Y, sensitive_features=GROUPS)
    chances = fair.predict_proba(Y, sensitive_features=GROUPS)
    assert np.isfinite(chances).all()
    assert fair.band_[0] <= fair.band_[1] < 1e-300
