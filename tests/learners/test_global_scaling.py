"""What only global scaling has: its own numbers. What it shares with group clipping is in `test_counted_clipping`."""

import numpy as np
import pytest

import dpfair_lib as dpf

SETTINGS = {
    "epsilon": 4.0, "delta": 1e-5, "max_grad_norm": 0.5, "sample_rate": 0.25, "steps": 10, "learning_rate": 1.0,
    "noise": "study", "random_state": 0,
}  # fmt: skip


def fitted(**changes):
    X = np.random.default_rng(0).normal(size=(200, 2))
    return dpf.DPGlobalScalingClassifier(**SETTINGS, **({"scale_norm": 2.0} | changes)).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(("parameter", "value"), [("scale_norm", 0), ("threshold", -1), ("scale_rate", -0.1)])
def test_bad_scales_are_refused_by_name(parameter, value):
    with pytest.raises(ValueError, match=f"{parameter}: found {value}"):
        fitted(**{parameter: value})


def test_each_of_its_numbers_changes_the_model():
    usual = fitted().coef_
    assert (usual == fitted(scale_norm=2.0, threshold=1.0, scale_rate=0.1).coef_).all()
    for changes in ({"scale_norm": 1.0}, {"threshold": 0.2}, {"scale_rate": 1.0}):
        assert (usual != fitted(**changes).coef_).any()
