import dataclasses

import numpy as np
import pandas as pd
import pytest

from dpfair_lib import synthetic
from dpfair_lib.datasets import split_isit
from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.isit.algorithm_1 import METHODS, compare_on_splits
from dpfair_lib.experiments.isit.algorithm_1_summary import sampling_gap, summarize


def test_comparison_on_the_stand_in():
    dataset = synthetic("adult", n=4000, random_state=0)
    rows = pd.DataFrame(compare_on_splits(dataset, splits=3))
    assert len(rows) == 3 * len(METHODS)
    table = summarize(rows)
    assert table.loc["constant", "gap"] == 0
    # parity is known up to sampling; the gap before is far larger
    assert table.loc["Algorithm 1 (midpoint)", "gap"] < 0.5 * table.loc["group-aware", "gap"]
    assert table.loc["midpoint, flips by score", "accuracy"] > table.loc["Algorithm 1 (midpoint)", "accuracy"]
    expected = sampling_gap((0.1, 0.3), 0.2, (300, 700), (300, 700))
    assert 0 < table.loc["Algorithm 1 (midpoint)", "gap"] < 5 * expected
    again = pd.DataFrame(compare_on_splits(dataset, splits=1))
    pd.testing.assert_frame_equal(again, rows[rows["split"] == 0])


def test_what_each_baseline_sees():
    dataset = synthetic("adult", n=3000, random_state=1)
    rng = np.random.default_rng(0)
    # a label that is the group and nothing else: only a model that sees the group can tell
    group = dataset.sensitive_features == "Male"
    noise = pd.DataFrame({name: rng.normal(size=3000) for name in ("age", "hours-per-week")})
    told = dataclasses.replace(
        dataset, X=noise, y=group.astype(int), feature_names=list(noise), numeric_features=list(noise)
    )
    rows = pd.DataFrame(compare_on_splits(told, splits=1)).set_index("method")
    assert rows.loc["group-aware", "accuracy"] == 1
    assert rows.loc["group-blind", "accuracy"] < 0.8
    # the constant model knows the training labels only: here 0 in training, 1 in the test rows
    parts = split_isit(3000, rng=np.random.default_rng([0, 0]))
    labels = np.zeros(3000, dtype=int)
    labels[parts.test] = 1
    labels[parts.train[:50]] = labels[parts.post[:50]] = 1
    flipped = dataclasses.replace(told, y=pd.Series(labels))
    rows = pd.DataFrame(compare_on_splits(flipped, splits=1)).set_index("method")
    assert rows.loc["constant", "accuracy"] == 0


def test_stored_records_are_whole():
    for name in ("isit-alg-1-adult", "isit-alg-1-adult-fresh-test"):
        rows, provenance = read_record(name)
        assert rows.groupby("method").size().eq(provenance["parameters"]["splits"]).all()
        assert set(rows["method"]) == set(METHODS)
        assert provenance["data"]["checksum"]


@pytest.mark.parametrize("part", ["train", "post", "test"])
def test_a_group_missing_from_a_part_of_the_split_is_an_error(part):
    dataset = synthetic("adult", n=400, random_state=0)
    groups = dataset.sensitive_features.copy()
    groups.iloc[getattr(split_isit(400, rng=np.random.default_rng([0, 0])), part)] = "Male"
    lacking = dataclasses.replace(dataset, sensitive_features=groups)
    with pytest.raises(ValueError, match=f"found no row of group Female in the part '{part}'"):
        next(compare_on_splits(lacking, splits=1))
