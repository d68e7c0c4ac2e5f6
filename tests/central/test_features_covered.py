"""Which features a release with noisy counts covers."""

import numpy as np
import pytest

from dpfair_lib.central.features_covered import (
    FEATURES,
    NEVER,
    RECORDS,
    _neighbours,
    _universe,
    largest_ratio,
)

COUNTS = np.arange(RECORDS + 1)
ODDS = 2 ** abs(COUNTS[:, None] - COUNTS)


@pytest.mark.parametrize("feature", FEATURES)
def test_neighbours_differ_in_one_feature_of_one_record(feature):
    records, _, data = _universe()
    before, after = _neighbours(feature)
    assert len(before) == len(after) == RECORDS * len(data)
    moved = records[before] ^ records[after]  # (pairs, records, features)
    assert (moved.sum(axis=(1, 2)) == 1).all()
    assert (moved[:, :, FEATURES[feature]].sum(axis=1) == 1).all()


@pytest.mark.parametrize("counted", ["selected", "cells"])
def test_a_classifier_trained_without_noise_covers_the_group_alone(counted):
    covered = [feature for feature in FEATURES if largest_ratio(feature, counted, "trained", ODDS) < NEVER]
    assert covered == ["a"]


@pytest.mark.parametrize("feature", FEATURES)
def test_a_private_classifier_covers_all_features_and_more_counts_tell_more(feature):
    selected, cells = (largest_ratio(feature, counted, "private", ODDS) for counted in ("selected", "cells"))
    assert 1 < selected <= cells <= 2 * 2 * 4


def test_counts_without_noise_tell_every_group():
    exact = np.where(np.eye(RECORDS + 1, dtype=bool), 1, NEVER)
    assert largest_ratio("a", "selected", "trained", exact) >= NEVER


def test_without_counts_the_group_is_not_told():
    assert largest_ratio("a", "selected", "private", np.ones_like(ODDS)) == 1
