import numpy as np
import pytest
import torch

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.coverage import coverage, fairness_of_models, right_counts, signed_cells


def data(n=600, d=4, groups=3, models=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    return X, y, rng.integers(0, groups, size=n), rng.normal(size=(models, d))


def test_levels_are_those_of_every_model_by_itself():
    X, y, s, models = data()
    names = np.array(["a", "b", "c"])[s]
    found = fairness_of_models(models, y, X=X, sensitive_features=names)
    assert tuple(found) == NOTIONS
    for notion, levels in found.items():
        for model, row in zip(models, levels, strict=True):
            alone = dpf.group_fairness(
                y, (X @ model > 0).astype(int), sensitive_features=names, notion=notion
            )
            assert row == pytest.approx(list(alone.values()), abs=1e-12)


def test_ties_count_as_wrong_for_both_labels():
    X, y, s = np.array([[1.0], [1.0], [-2.0], [3.0]]), [0, 1, 0, 1], [0, 0, 0, 0]
    found = fairness_of_models([[0.0], [1.0], [-1.0]], y, X=X, sensitive_features=s, notions=["accuracy"])
    assert found["accuracy"].tolist() == [[0.0], [0.75], [0.25]]


def test_rows_of_zeros_are_predicted_as_the_certificate_has_it():
    X, y, s, models = data()
    X[:200] = 0.0
    model, names = models[0], np.array(["a", "b", "c"])[s]
    found = fairness_of_models(models[:1], y, X=X, sensitive_features=names)
    for notion, levels in found.items():
        call = {"X": X, "sensitive_features": names, "notion": notion}
        for radius in (0.0, 0.1):
            assert coverage(dpf.fairness_certificate(X @ model, y, radius=radius, **call), levels) == 1
        truth = dpf.group_fairness(y, (X @ model > 0).astype(int), sensitive_features=names, notion=notion)
        assert levels[0] == pytest.approx(list(truth.values()), abs=1e-12)


@pytest.mark.parametrize("block", [1, 7, 10**9])
def test_blocks_do_not_change_the_counts(block):
    X, y, s, models = data()
    parts = signed_cells(X, y, s, 3)
    whole = [(part @ models.T > 0).sum(axis=0).tolist() for part in parts]
    assert [count.tolist() for count in right_counts(parts, models, block=block)] == whole


def test_tensors_are_counted_like_arrays():
    X, y, s, models = data(n=5_000, d=9, models=50)
    here = right_counts(signed_cells(X, y, s, 3), models)
    tensors = [torch.from_numpy(values) for values in (X, y, s)]
    there = right_counts(signed_cells(*tensors, 3), torch.from_numpy(models), block=10_000)
    assert [count.tolist() for count in there] == [count.tolist() for count in here]


def test_coverage_of_a_certificate_and_of_one_that_is_too_narrow():
    X, y, s, _ = data()
    rng = np.random.default_rng(3)
    model, radius = np.array([1.0, 0.2, 0.0, -0.1]), 0.3
    steps = rng.normal(size=(300, 4))
    others = model + radius * steps / np.linalg.norm(steps, axis=1, keepdims=True)
    call = {"X": X, "sensitive_features": s, "notion": "equalized_odds"}
    levels = fairness_of_models(others, y, X=X, sensitive_features=s)["equalized_odds"]
    assert coverage(dpf.fairness_certificate(X @ model, y, radius=radius, **call), levels) == 1
    assert coverage(dpf.fairness_certificate(X @ model, y, radius=radius / 100, **call), levels) < 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": [[1.0, 2.0]]}, r"models: found shape \(1, 2\), expected \(R, 4\)"),
        ({"models": [1.0, 2.0, 3.0, 4.0]}, r"models: found shape \(4,\)"),
        ({"models": [[1.0, 2.0, 3.0, np.nan]]}, "models: found nan"),
        ({"X": np.full((600, 4), np.inf)}, "X: found inf"),
        ({"y": np.full(600, 2)}, "y: found 2"),
        ({"y": np.ones(600, dtype=int)}, "no row of group 0 with label 0"),
        ({"sensitive_features": [0, 1]}, "lengths differ"),
        ({"notions": ["odds"]}, "notion: found 'odds'"),
    ],
)
def test_bad_input_is_named(change, message):
    X, y, s, models = data()
    with pytest.raises(ValueError, match=message):
        fairness_of_models(**({"models": models, "y": y, "X": X, "sensitive_features": s} | change))


def test_a_certificate_of_another_notion_is_refused():
    X, y, s, models = data()
    made = dpf.fairness_certificate(
        X @ models[0], y, X=X, sensitive_features=s, notion="accuracy", radius=0.1
    )
    levels = fairness_of_models(models, y, X=X, sensitive_features=s)["equalized_odds"]
    with pytest.raises(ValueError, match=r"levels: found shape \(20, 6\), expected \(R, 1\)"):
        coverage(made, levels)
