"""The edges of post-processing: groups at the common rate, gaps of one, inputs of different lengths."""

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.central.parity import gap_quantile

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
