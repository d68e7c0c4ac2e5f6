"""Imputers: which values stand for missing ones, that they were released with noise, and what is refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from watching_counts import choices_of

import dpfair_lib as dpf
from dpfair_lib.preparation import imputation

PEOPLE = pd.DataFrame({
    "age": [20.0, 40.0, None, 30.0] * 1000,
    "job": ["cook", "cook", "nurse", None] * 1000,
    "sex": ["f", "m", "f", "x"] * 1000,
})  # fmt: skip


def test_declared_constants_fill_what_is_missing():
    imputer = dpf.PublicImputer({"age": 35, "job": "none"}).fit(PEOPLE)
    made = imputer.transform(PEOPLE)
    assert made["age"].tolist() == [20.0, 40.0, 35.0, 30.0] * 1000
    assert made["job"].tolist() == ["cook", "cook", "nurse", "none"] * 1000
    assert made["sex"].equals(PEOPLE["sex"])
    odd = np.array([["12", None], ["?", float("nan")]], dtype=object)
    assert dpf.PublicImputer({0: Fraction(1, 2), 1: True}).fit_transform(odd).tolist() == [
        [12.0, True],
        [0.5, True],
    ]


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_private_means_and_frequent_categories(relation):
    imputer = dpf.PrivateImputer(
        {"age": (0, 100)}, {"job": ["nurse", "cook"]}, epsilon=1.0, relation=relation
    ).fit(PEOPLE)
    assert abs(imputer.values_["age"] - 30) < 1
    assert imputer.values_["job"] == "cook"
    made = imputer.transform(PEOPLE)
    assert not made[["age", "job"]].isna().any(axis=None)
    statement = imputer.privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (1.0, 0.0, relation)
    assert [one.kind for one in statement.mechanism] == ["laplace", "stated"]
    assert sum(Fraction(one.ratio) for one in statement.mechanism) <= 1


@pytest.mark.parametrize("epsilon", [0.7, 1.1, 0.1, 2.3])
def test_the_shares_of_the_columns_are_no_more_than_the_whole(epsilon):
    # in exact numbers, also where a third of it, or a seventh, is no float
    for jobs in (2, 6):
        table = pd.DataFrame({"age": [20.0, 40.0], **{f"job {at}": ["cook", "nurse"] for at in range(jobs)}})
        categories = {name: ["cook", "nurse"] for name in table.columns[1:]}
        statement = (
            dpf.PrivateImputer({"age": (0, 100)}, categories, epsilon=epsilon).fit(table).privacy_statement_
        )
        shares = [Fraction(one.ratio) for one in statement.mechanism]
        assert len(shares) == jobs + 1
        assert Fraction(epsilon) * (1 - Fraction(1, 10**12)) <= sum(shares) <= Fraction(epsilon)
        assert all(share <= Fraction(epsilon) / (jobs + 1) for share in shares[1:])


def test_the_mean_is_not_the_exact_one():
    # a fault: the exact mean of the rows; with noise two fits never agree
    means = {dpf.PrivateImputer({"age": (0, 100)}, epsilon=1.0).fit(PEOPLE).values_["age"] for _ in range(3)}
    assert len(means) == 3
    assert 30.0 not in means


def test_an_exact_mean_behind_the_statement_is_caught(monkeypatch):
    from dpfair_lib.preparation.moments import Moments, row_sums

    def exact(columns, *_, **__):
        sums = [row_sums(*column, squares=False) for column in columns]
        return [Moments(s[0] / s[1] / 2 * 1.0, 0.0) for s in sums]

    monkeypatch.setattr(imputation, "noisy_moments", exact)
    with pytest.raises(AssertionError):
        test_the_mean_is_not_the_exact_one()


@pytest.mark.parametrize(("relation", "weight"), [("replace-one", 0.5), ("add-remove", 1.0)])
def test_the_choice_is_the_exponential_mechanism(relation, weight):
    rows = np.array([["a"]] * 3 + [["b"]] * 2, dtype=object)
    chosen = choices_of(
        lambda seed: (
            dpf.PrivateImputer(
                categories={0: ["a", "b"]}, epsilon=1.0, relation=relation, noise="study", random_state=seed
            )
            .fit(rows)
            .values_[0]
            == "a"
        )
    )
    assert (
        abs(chosen - 1 / (1 + np.exp(-weight))) < 0.072
    )  # 5 standard deviations; the other weight is .109 away


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "bounds, categories: found none of them"),
        ({"bounds": {0: (0, 1)}, "categories": {0: ["a"]}}, "bounds, categories: found 0 in both"),
        ({"categories": {0: ["a", "a"]}}, "categories: found .* for 0, expected a list of distinct labels"),
        ({"categories": {5: ["a"]}}, "X: found no column 5"),
        ({"bounds": {0: (0, 1)}, "epsilon": -1}, "epsilon: found -1"),
        ({"bounds": {0: (0, 1)}, "relation": "sensitive-attribute"}, "relation: found 'sensitive-attribute'"),
        (
            {"bounds": {0: (0, 1), 1: (0, 1)}, "epsilon": 5e-324},
            "epsilon: found 5e-324, expected .* shares are above 0",
        ),
    ],
)
def test_bad_parameters(given, message):
    with pytest.raises(ValueError, match=message):
        dpf.PrivateImputer(**{"epsilon": 1.0} | given).fit([[1, 2], [3, 4]])


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, pd.NaT, [1], np.zeros(2)])
def test_a_constant_that_is_missing_itself_is_refused(value):
    with pytest.raises(ValueError, match=r"values: found .* for 0, expected one value that is not missing"):
        dpf.PublicImputer({0: value}).fit([[1]])
    with pytest.raises(ValueError, match=r"values: found .*, expected a mapping"):
        dpf.PublicImputer(value).fit([[1]])
