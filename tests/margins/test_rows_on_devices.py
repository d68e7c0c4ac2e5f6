"""Margins and certificates of rows on a device, and the check that scores are linear there and on the host."""

import numpy as np
import pytest
from elsewhere import FEATURES, GROUPS, MAKERS, ROWS, as_tensor, draw, equal, numbers, on_device

import dpfair_lib as dpf
from dpfair_lib._arrays import Space


@MAKERS
def test_margins_stay_on_the_device(make):
    rows = draw(3)
    for scores, labels in ((rows["scores"], rows["y"]), (rows["table"], rows["three"])):
        found = dpf.margins(make(scores), make(labels))
        assert found.device == make(labels).device
        assert np.array_equal(numbers(found), dpf.margins(scores, labels))
    for norm in ("frobenius", "largest-row"):
        found = dpf.margin_lipschitz(make(rows["X"]), norm=norm)
        np.testing.assert_allclose(numbers(found), dpf.margin_lipschitz(rows["X"], norm=norm), rtol=1e-14)


@MAKERS
@pytest.mark.parametrize("bound", ["markov", "chernoff", "exact", "signed"])
def test_certificates_are_those_of_numpy_and_only_counts_travel(bound, make, travelled):
    rows = draw(4)
    X = rows["X"].copy()
    X[7], rows["scores"][7] = 0, 0  # a row of zeros ties under every model
    for scores, y, notion in (
        (rows["scores"], rows["y"], "demographic_parity"),
        (np.where(X.any(axis=1)[:, None], rows["table"], 0), rows["three"], "equalized_odds"),
    ):
        here, there = (
            dpf.fairness_certificate(
                put(scores), put(y), X=put(X), sensitive_features=put(rows["group"]),
                notion=notion, radius=0.05, bound=bound, intercept=False,
            )
            for put in (np.asarray, make)
        )  # fmt: skip
        equal(there, here, 1e-9 if bound in {"markov", "chernoff"} else 1e-14)
    assert max(travelled) <= 8 * 3 * GROUPS


@MAKERS
def test_a_private_certificate_counts_on_the_device(make, travelled):
    rows = draw(5)
    here, there = (
        dpf.private_certificate(
            put(rows["scores"]), put(rows["y"]), X=put(rows["X"]), sensitive_features=put(rows["group"]),
            notion="accuracy_parity", sigma=0.01, zeta=0.05, epsilon=1.0, noise="study", rng=np.random.default_rng(0),
        )
        for put in (np.asarray, make)
    )  # fmt: skip
    equal(there, here, 1e-14)
    assert max(travelled) <= 8 * GROUPS


@pytest.mark.parametrize("make", [np.asarray, on_device, as_tensor])
def test_bad_scores_are_named_alike_everywhere(make):
    rows = draw(8)
    given = {name: make(rows[name]) for name in ("scores", "y", "X")}
    options = {"sensitive_features": make(rows["group"]), "notion": "accuracy_parity", "radius": 0.1}

    def certify(**changed):
        found = given | {name: make(value) for name, value in changed.items()}
        return dpf.fairness_certificate(found["scores"], found["y"], X=found["X"], **options)

    with pytest.raises(ValueError, match=r"y: found 7\.0 at position 0, expected a column of scores, 0 to 2"):
        dpf.margins(make(rows["table"]), make(np.full(ROWS, 7)))
    with pytest.raises(ValueError, match="scores: found numbers that are not linear in X"):
        certify(scores=1 / (1 + np.exp(-5 * rows["scores"])))
    with pytest.raises(ValueError, match="X: found no column of ones"):
        certify(X=rows["X"][:, :-1])
    with pytest.raises(ValueError, match=r"X: found a row of zeros at position 0 with a margin of "):
        certify(X=np.where(np.arange(ROWS)[:, None] == 0, 0, rows["X"]))
    with pytest.raises(ValueError, match="found no row of group 1 with label 1"):
        certify(y=np.where(rows["group"] == 1, 0, rows["y"]))
    with pytest.raises(ValueError, match="a: found 2, expected integers in 0, …, 1"):
        dpf.generalized_randomized_response(2, 1.0).apply(make(rows["three"]))


def test_a_copy_of_rows_would_be_noticed(monkeypatch, travelled):
    rows = draw(9)
    monkeypatch.setattr(Space, "many", lambda self, bad: sum(self.listed(bad)))
    dpf.fairness_certificate(
        as_tensor(rows["scores"]), as_tensor(rows["y"]), X=as_tensor(rows["X"]),
        sensitive_features=as_tensor(rows["group"]), notion="accuracy_parity", radius=0.1,
    )  # fmt: skip
    assert max(travelled) > 4 * (FEATURES + 1)
