import dataclasses

import numpy as np
import pandas as pd
import pytest

from dpfair_lib import synthetic
from dpfair_lib.datasets import split_isit
from dpfair_lib.experiments import mean_interval, read_record
from dpfair_lib.experiments.isit.algorithm_1 import METHODS, compare_on_splits
from dpfair_lib.experiments.isit.algorithm_1_summary import sampling_gap, summarize


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        mean, half = mean_interval(rng.normal(3, 2, size=5), level=0.9)
        covered += abs(mean - 3) <= half
    # exact binomial bounds at a failure probability of 1e-6
    assert 1730 <= covered <= 1863


def test_overlapping_splits_of_one_data_set_need_the_correction():
    # the mean of a fresh quarter of n rows, over 10 splits: what does the interval say of the true mean?
    rng = np.random.default_rng(1)
    plain, corrected = 0, 0
    for _ in range(400):
        rows = rng.normal(0, 1, size=400)
        values = [rng.permutation(rows)[:100].mean() for _ in range(10)]
        mean, half = mean_interval(values)
        plain += abs(mean) <= half
        corrected += abs(mean) <= mean_interval(values, test_to_train=1 / 3)[1]
    assert plain < 300  # a nominal 95 % covers less than three quarters
    assert corrected > 360


@pytest.mark.parametrize(("values", "level"), [([1.0], 0.9), ([1.0, np.nan], 0.9), ([1.0, 2.0], 1.0)])
def test_bad_intervals_are_refused(values, level):
    with pytest.raises(ValueError, match=r"(values|level): found"):
        mean_interval(values, level=level)


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


@pytest.mark.parametrize("by_score", [False, True])
def test_sampling_gap_agrees_with_simulation(by_score):
    rng = np.random.default_rng(0)
    rates, n_fit, n_test, cut = (0.5, 0.25), (900, 1600), (900, 1600), 0.0
    gaps = []
    for _ in range(3000):
        new = []
        fitted = [rng.normal(cut, 1, size=n) + shift for n, shift in zip(n_fit, (0.0, -0.6745), strict=True)]
        tested = [rng.normal(cut, 1, size=n) + shift for n, shift in zip(n_test, (0.0, -0.6745), strict=True)]
        target = sum((scores > cut).mean() for scores in fitted) / 2
        for old, scores in zip(fitted, tested, strict=True):
            if by_score:
                new.append((scores > np.quantile(old, 1 - target)).mean())
                continue
            before, now = (old > cut).mean(), (scores > cut).mean()
            new.append(
                now * target / before if before > target else 1 - (1 - now) * (1 - target) / (1 - before)
            )
        gaps.append(abs(new[0] - new[1]))
    expected = sampling_gap(rates, sum(rates) / 2, n_fit, n_test, by_score=by_score)
    assert np.mean(gaps) == pytest.approx(expected, rel=0.06)
    other = sampling_gap(rates, sum(rates) / 2, n_fit, n_test, by_score=not by_score)
    assert np.mean(gaps) != pytest.approx(other, rel=0.06)  # the two formulas are told apart


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
