"""One-hot encoding: declared categories, and one column for all else, in fit as in prediction."""

import numpy as np
import pandas as pd
import pytest
from rows import ODD
from sklearn.preprocessing import OneHotEncoder

import dpfair_lib as dpf
from dpfair_lib.preparation.encoding import category_places


def test_columns_are_those_of_scikit_learn_where_all_is_declared():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"job": rng.choice(["a", "b", "c"], 50), "sex": rng.choice(["f", "m"], 50)})
    expected = OneHotEncoder(categories=[["a", "b", "c"], ["f", "m"]], sparse_output=False).fit_transform(
        frame
    )
    made = dpf.PublicEncoder({"job": ["a", "b", "c"], "sex": ["f", "m"]}).fit_transform(frame)
    assert list(made) == ["job=a", "job=b", "job=c", "job other", "sex=f", "sex=m", "sex other"]
    assert np.array_equal(made.to_numpy()[:, [0, 1, 2, 4, 5]], expected)
    assert not made[["job other", "sex other"]].any(axis=None)


def test_whatever_was_not_declared_is_other_and_the_columns_stay():
    known = np.array([["a"], ["b"]], dtype=object)
    odd = np.empty((len(ODD), 1), dtype=object)
    odd[:, 0] = ODD
    encoder = dpf.PublicEncoder({0: ["a", "b"]})
    for rows in (known, odd):
        made = encoder.fit(rows).transform(odd)
        assert made.shape == (len(ODD), 3)
        assert made[:, 2].tolist() == [1.0] * len(ODD)
    assert encoder.transform(known).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_a_name_that_is_taken_is_refused():
    taken = pd.DataFrame({"sex": ["f"], "sex=f": [1.0]})
    with pytest.raises(ValueError, match="X: found two columns that become 'sex=f', expected distinct names"):
        dpf.PublicEncoder({"sex": ["f"]}).fit(taken).transform(taken)


def test_categories_are_compared_as_python_compares_them():
    values = np.array([1, 1.0, True, "1", 2, None, float("nan"), [1]], dtype=object)
    assert category_places(values, [1, "1"]).tolist() == [0, 0, 0, 1, -1, -1, -1, -1]
    assert category_places(np.array([3, 1]), [1, 3]).tolist() == [1, 0]


@pytest.mark.parametrize("listed", [[], "ab", ["a", "a"], ["a", None], 3, [[1]]])
def test_bad_categories(listed):
    with pytest.raises(ValueError, match=r"categories: found .* for 0, expected a list of distinct labels"):
        dpf.PublicEncoder({0: listed}).fit([["a"]])
    with pytest.raises(ValueError, match=r"categories: found .*, expected a mapping"):
        dpf.PublicEncoder(listed).fit([["a"]])
