"""Scalers: what they make of columns, that their statements are those of their noise, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import dpfair_lib as dpf
from dpfair_lib import privacy
from dpfair_lib.preparation import scaling
from dpfair_lib.privacy import compose

RNG = np.random.default_rng(0)
X = RNG.normal([40, -3], [10, 0.5], size=(5000, 2))
BOUNDS = {0: (0, 100), 1: (-5, 0)}


def test_public_bounds_map_to_the_unit_interval():
    inside = np.clip(X, [0, -5], [100, 0])
    expected = MinMaxScaler().fit([[0, -5], [100, 0]]).transform(inside)
    made = dpf.PublicScaler(BOUNDS).fit(X).transform(X)
    assert np.allclose(made, expected, rtol=0, atol=1e-15)
    assert (np.linalg.norm(made, axis=1) <= np.sqrt(2)).all()
    far = dpf.PublicScaler(BOUNDS).fit_transform(np.array([[-np.inf, 1e308], [np.nan, -2.5]]))
    assert np.array_equal(far, [[0, 1], [np.nan, 0.5]], equal_nan=True)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_private_means_and_deviations_are_near_those_of_the_rows(relation):
    exact = StandardScaler().fit(np.clip(X, [0, -5], [100, 0]))
    # secure noise: by Chernoff's bound a deviation is missed with a probability below 1e-9, at ε = 1 with 1.5e-4
    fitted = dpf.PrivateScaler(BOUNDS, epsilon=3.0, relation=relation).fit(X)
    assert np.allclose(list(fitted.means_.values()), exact.mean_, rtol=0, atol=[1, 0.05])
    assert np.allclose(list(fitted.deviations_.values()), exact.scale_, rtol=0.2)
    made = fitted.transform(X)
    assert np.allclose(made.mean(axis=0), 0, atol=0.1)
    statement = fitted.privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (3.0, 0.0, relation)
    assert [one.kind for one in statement.mechanism] == ["laplace"]


def test_missing_values_and_nearly_constant_columns():
    rows = np.where(RNG.random(X.shape) < 0.3, np.nan, X)
    fitted = dpf.PrivateScaler(BOUNDS, epsilon=5.0).fit(rows)
    assert abs(fitted.means_[0] - 40) < 1
    assert np.array_equal(np.isnan(fitted.transform(rows)), np.isnan(rows))
    constant = dpf.PrivateScaler({0: (0, 100)}, epsilon=15.0).fit(np.full((5000, 1), 7.0))
    # 2 % of the range; the noise alone is more with a probability below 1e-10, at ε = 5 with 1.4e-4
    assert constant.deviations_[0] == 2.0


def test_columns_are_counted_in_the_tables_order():
    frame = pd.DataFrame(X, columns=["p", "q"])
    made = [
        dpf.PrivateScaler(bounds, epsilon=1.0, noise="study", random_state=3).fit(frame).means_
        for bounds in ({"p": (0, 100), "q": (-5, 0)}, {"q": (-5, 0), "p": (0, 100)})
    ]
    assert made[0] == made[1]


def test_study_noise_has_no_guarantee_and_repeats():
    first, second = (
        dpf.PrivateScaler(BOUNDS, epsilon=1.0, noise="study", random_state=5).fit(X) for _ in range(2)
    )
    assert first.means_ == second.means_
    assert not first.privacy_statement_.guarantee


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "epsilon: found 0, expected a positive"),
        ({"epsilon": None}, "epsilon: found None"),
        ({"relation": "local"}, "relation: found 'local', expected one of 'replace-one', 'add-remove'"),
        ({"noise": "none"}, "noise: found 'none'"),
        ({"random_state": 1}, "random_state: found 1 beside noise='secure'"),
        ({"bounds": {7: (0, 1)}}, "X: found no column 7"),
        ({"bounds": {0: (1, 1)}}, r"bounds: found \(1, 1\) for 0, expected \(low, high\)"),
    ],
)
def test_bad_parameters(changes, message):
    with pytest.raises(ValueError, match=message):
        dpf.PrivateScaler(**{"bounds": BOUNDS, "epsilon": 1.0} | changes).fit(X)


def test_what_costs_nothing_goes_beside_any_relation():
    free = dpf.PublicScaler(BOUNDS).fit(X).privacy_statement_
    other = dpf.PrivacyStatement(0.5, 1e-6, "sensitive-attribute", unit="sensitive attribute")
    whole = compose(free, other)
    assert (whole.epsilon, whole.delta, whole.relation) == (0.5, 1e-6, "sensitive-attribute")
    assert whole.unit == "sensitive attribute"
    assert set(free.public) <= set(whole.public)
    assert compose(free, free).free
    assert compose(free, dpf.PrivacyStatement(0.5, 0.0, "add-remove"), to="replace-one").epsilon == 1.0
    # the tight total of Gaussian noise is exact, beside what costs nothing too
    noisy = dpf.PrivacyStatement(1.0, 1e-5, "replace-one", mechanism=(privacy.Mechanism("gaussian", 0.3),))
    assert compose(free, noisy, delta=1e-5).epsilon == compose(noisy, delta=1e-5).epsilon
    budget = dpf.Budget(1.0, 0.0, "local")
    assert budget.spend(free) == (1.0, 0.0)
    assert budget.spent == ()
    with pytest.raises(ValueError, match="found ε = δ = 0, expected a cost"):
        privacy.convert(free, "local")


def test_the_bounds_are_what_a_statement_calls_public():
    assert scaling.BOUNDS in dpf.PublicScaler(BOUNDS).fit(X).privacy_statement_.public
