"""Standardisation by the training part alone, and the published split."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.datasets import Split, check_groups, split_isit, standardize


@pytest.fixture
def frames():
    rng = np.random.default_rng(0)
    return [pd.DataFrame(rng.normal(5, 3, (n, 3)), columns=["a", "b", "c"]) for n in (50, 20, 30)]


def test_standardize_uses_the_training_part_with_ddof_1(frames):
    train, test, more = standardize(*frames, columns=["a", "c"])
    assert train[["a", "c"]].mean().abs().max() < 1e-12
    assert np.allclose(train[["a", "c"]].std(ddof=1), 1)
    raw = frames[0]["a"].to_numpy()
    expected = (frames[1]["a"] - raw.sum() / 50) / np.sqrt(((raw - raw.mean()) ** 2).sum() / 49)
    assert np.allclose(test["a"], expected)
    assert test["b"].equals(frames[1]["b"])
    assert list(more.columns) == ["a", "b", "c"]


def test_standardize_leaves_its_input_alone(frames):
    before = frames[0].copy()
    standardize(frames[0], columns=["a"])
    pd.testing.assert_frame_equal(frames[0], before)


def test_standardize_keeps_index_and_takes_one_name(frames):
    shuffled = frames[0].iloc[::-1]
    (done,) = standardize(shuffled, columns="a")
    assert list(done.index) == list(shuffled.index)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_standardize_refuses_constant_columns(frames, value):
    with pytest.raises(ValueError, match="train: found only one value in b; leave such columns out"):
        standardize(frames[0].assign(b=value), columns=["a", "b"])


def test_standardize_refuses_what_it_cannot_use(frames):
    with pytest.raises(ValueError, match="columns: part 1 has no column 'c'"):
        standardize(frames[0], frames[1].drop(columns="c"), columns=["a", "c"])
    with pytest.raises(ValueError, match="found 1 rows, expected two or more"):
        standardize(frames[0][:1], columns=["a"])
    with pytest.raises(ValueError, match="not finite in a"):
        standardize(frames[0].assign(a=np.inf), columns=["a"])
    with pytest.raises(ValueError, match="missing or not finite in b"):
        standardize(frames[0].assign(b=[np.nan, *range(49)]), columns=["a", "b"])


@given(n=st.integers(4, 3_000), seed=st.integers(0, 2**32 - 1), fixed=st.booleans())
def test_split_is_a_partition_of_the_right_sizes(n, seed, fixed):
    split = split_isit(n, rng=np.random.default_rng(seed), fixed_test=fixed)
    assert sorted(np.concatenate(split)) == list(range(n))
    assert abs(len(split.train) - n / 2) <= 1
    assert abs(len(split.post) - n / 4) <= 1
    assert abs(len(split.test) - n / 4) <= 1


@pytest.mark.parametrize(
    ("n", "sizes"), [(45_222, (22_611, 11_305, 11_306)), (30_000, (15_000, 7_500, 7_500))]
)
def test_test_rows_are_those_of_the_published_call(n, sizes):
    frame = pd.DataFrame({"x": np.arange(n) * 2.0, "y": 1})
    published = frame.drop(frame.sample(frac=0.75, random_state=100).index)
    split = split_isit(n, rng=np.random.default_rng(0))
    assert list(split.test) == list(published.index)
    assert tuple(map(len, split)) == sizes


def test_trials_share_the_test_rows_unless_asked():
    one, two = (split_isit(1_000, rng=np.random.default_rng(seed)) for seed in (1, 2))
    assert np.array_equal(one.test, two.test)
    assert set(one.train) != set(two.train)
    again = split_isit(1_000, rng=np.random.default_rng(1))
    assert np.array_equal(one.train, again.train)
    free = [split_isit(1_000, rng=np.random.default_rng(seed), fixed_test=False).test for seed in (1, 2)]
    assert not np.array_equal(*free)
    assert not np.array_equal(free[0], one.test)


def test_training_rows_are_in_no_order():
    train = split_isit(1_000, rng=np.random.default_rng(1)).train
    assert abs(np.corrcoef(train, np.arange(len(train)))[0, 1]) < 0.2


def test_split_needs_four_rows():
    with pytest.raises(ValueError, match="n: found 3, expected at least four rows"):
        split_isit(3, rng=np.random.default_rng(0))


@pytest.mark.parametrize("part", ["train", "post", "test"])
def test_a_group_that_is_missing_from_a_part_is_named(part):
    groups = np.array(["men", "women"] * 6)
    split = Split(train=np.arange(6), post=np.arange(6, 9), test=np.arange(9, 12))
    assert check_groups(split, groups) is None
    groups[getattr(split, part)] = "men"
    with pytest.raises(
        ValueError, match=f"no row of group women in the part '{part}' .*, expected every group in"
    ):
        check_groups(split, groups)
