import numpy as np
import pandas as pd
import pytest
import torch
from forty_rows import CPU, X, Y, seeds, settings
from sklearn.base import clone

from dpfair_lib import DPLogisticRegression
from dpfair_lib.learners.opacus_backend import train

GOOD = {
    "noise_multiplier": 2.0, "delta": 1e-5, "max_grad_norm": 1.5, "sample_rate": 0.25, "steps": 5,
    "learning_rate": 0.1, "random_state": 0, "noise": "study",
}  # fmt: skip


def test_replicates_are_independent_of_one_another_and_of_their_number():
    three, one = (DPLogisticRegression(**GOOD, replicates=r).fit(X, Y) for r in (3, 1))
    assert three.coef_.shape == (3, 1, 3)
    assert three.intercept_.shape == (3, 1)
    assert one.coef_.shape == (1, 3)
    assert np.array_equal(three.coef_[0], one.coef_)
    assert three.predict(X).shape == (3, 40)
    assert np.array_equal(three.predict_proba(X)[0], one.predict_proba(X))
    assert three.predict_proba(X).sum(axis=-1) == pytest.approx(np.ones((3, 40)))
    assert "each of 3 replicates alone" in three.privacy_statement_.note
    many = train(X, Y, settings(noise_multiplier=2.0, sample_rate=0.25), seeds(400), CPU)
    many -= many.mean(axis=0)
    assert abs(np.corrcoef(many[:200].ravel(), many[200:].ravel())[0, 1]) < 0.15
    assert len(np.unique(many[:, 0])) == 400


def test_containers_of_any_kind():
    wanted = DPLogisticRegression(**GOOD).fit(X, Y).coef_
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = DPLogisticRegression(**GOOD).fit(frame, pd.Series(Y))
    assert np.array_equal(model.coef_, wanted)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c"]])
    assert np.array_equal(
        DPLogisticRegression(**GOOD).fit(torch.as_tensor(X), torch.as_tensor(Y)).coef_, wanted
    )


def test_clone_keeps_every_parameter():
    model = DPLogisticRegression(**GOOD, replicates=2)
    assert clone(model).get_params() == model.get_params()
