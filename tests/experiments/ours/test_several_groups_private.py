from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpfair_lib as dpf
from dpfair_lib.experiments.ours import several_groups_data as parts
from dpfair_lib.experiments.ours import several_groups_private as private


@pytest.fixture(scope="module")
def split():
    """Drawn rows of COMPAS in four groups, race and sex."""
    found = dpf.synthetic("compas", n=1200, random_state=0)
    sex = np.where(found.X["sex_Male"] == 1, "male", "female")
    data = replace(found, sensitive_features=found.sensitive_features + " & " + pd.Series(sex))
    return parts.split_rows(data, 0, 0)


@pytest.fixture(scope="module")
def rows(split):
    return pd.DataFrame(private.run_trial(split, number=0, draws=2))


def test_a_trial_has_every_method_and_epsilon_once_in_each_scope(rows):
    assert not rows.duplicated(["scope", "method", "notion", "epsilon"]).any()
    each = len(private.EPSILONS) + 2  # and without noise, and without post-processing
    assert len(rows) == len(private.SCOPES) * len(private.METHODS) * each
    noisy = rows["epsilon"].notna()
    assert (rows["draws"].notna() == noisy).all()
    assert rows.loc[noisy, "bound"].between(0, 1).all()
    assert (rows.loc[noisy, "broken"] <= 2).all()


def test_the_same_split_gives_the_same_rows(split, rows):
    again = pd.DataFrame(private.run_trial(split, number=0, draws=2))
    assert rows.drop(columns=["fit_seconds", "predict_seconds"]).equals(
        again.drop(columns=["fit_seconds", "predict_seconds"])
    )
    other = pd.DataFrame(private.run_trial(split, number=1, draws=2))
    assert not other["test_gap"].equals(again["test_gap"])


def test_without_noise_the_gap_on_the_rows_of_the_fit_vanishes(rows):
    exact = rows[rows["epsilon"].isna() & rows["gamma"].notna()]
    assert (exact["post_gap"] < 1e-9).all()
    assert (rows[rows["gamma"].isna()]["post_gap"] > 0.05).all()


def test_the_largest_groups_are_kept_in_every_part(split):
    kept = private._of_largest(split, 2)
    names, counts = np.unique(split.post.groups, return_counts=True)
    largest = set(names[np.argsort(counts)[-2:]])
    for part, all_of_it in zip(kept, split, strict=True):
        assert set(part.groups) == largest
        assert len(part.labels) == np.isin(all_of_it.groups, list(largest)).sum()
    assert private._of_largest(split, None) is split


def everybody_alike(*_):
    """Leave labels as they are, and promise no gap."""
    return lambda those: those.guesses.astype(float), 0.0


@pytest.mark.parametrize("on_fit_rows", [True, False])
def test_a_broken_bound_is_seen(split, on_fit_rows):
    for method in private.METHODS:
        liar = method._replace(fit=everybody_alike, on_fit_rows=on_fit_rows)
        gap, bound = private.gap_and_bound(liar, split, 1.0, np.random.default_rng(0))
        assert gap > 0.05 > bound


def test_rows_are_drawn_from_people_of_both_parts_with_the_sizes_of_the_fit(split):
    seen = []

    def watch(rows, *_):
        seen.append(rows)
        return everybody_alike()

    watched = private.METHODS[0]._replace(fit=watch)
    gap, _ = private.gap_and_bound(watched, split, 1.0, np.random.default_rng(0))
    (drawn,) = seen
    names, counts = np.unique(split.post.groups, return_counts=True)
    assert dict(zip(*np.unique(drawn.groups, return_counts=True), strict=True)) == dict(
        zip(names, counts, strict=True)
    )
    known = set(split.post.scores.tolist()) | set(split.test.scores.tolist())
    assert set(drawn.scores.tolist()) <= known
    assert not set(drawn.scores.tolist()) <= set(split.post.scores.tolist())
    people = np.concatenate([split.post.groups, split.test.groups])
    guesses = np.concatenate([split.post.guesses, split.test.guesses])
    assert gap == pytest.approx(np.ptp([guesses[people == name].mean() for name in names]))


def test_what_is_recorded_is_offered():
    assert set(private.EXPERIMENTS) == {f"several-groups-private-{data}" for data in private.RECORDED}
    one = private.EXPERIMENTS["several-groups-private-compas"]("several-groups-private-compas")
    assert len(one.tasks) == 20
    assert one.parameters["epsilons"] == (0.5, 1.0, 3.0)
