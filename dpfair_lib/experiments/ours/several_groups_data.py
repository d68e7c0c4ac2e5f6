"""Data sets with several groups, and their rows in three parts: for the learner, for post-processing, for the test."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from dpfair_lib.datasets import Dataset

GROUPS = {"acs-income": ("RAC1P",), "adult": ("race", "sex"), "compas": ("race",), "lsac": ("race1",)}
"""The columns that make the groups."""
MOST_ROWS = 100_000
"""Rows that a data set has here at most: of ACSIncome these are drawn once, for all splits."""
SHARES = 0.4, 0.3, 0.3
"""Of the rows: for the learner, for post-processing, for the test."""
RACES = {
    1: "White",
    2: "Black or African American",
    3: "Asian",
    4: "American Indian or Alaska Native",
    5: "all others",
}
"""The codes of the reduced table of ACSIncome; the Bureau's own files have nine."""


class Part(NamedTuple):
    """Some rows, and what the learner says of them.

    Attributes
    ----------
    features : ndarray of shape (n, d)
        In the unit ball.
    labels : ndarray of shape (n,), int64
        0 and 1.
    groups : ndarray of shape (n,)
        Name of each row's group.
    scores : ndarray of shape (n,)
        The learner's probability of label 1.
    """

    features: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    scores: np.ndarray

    @property
    def guesses(self) -> np.ndarray:
        """The learner's labels."""
        return (self.scores > 0.5).astype(np.int64)


class Split(NamedTuple):
    """The learner's rows, those of post-processing, and those of the test."""

    train: Part
    post: Part
    test: Part


@functools.lru_cache(maxsize=1)
def dataset_of(name: str) -> Dataset:
    """Load a data set with its groups, once in a process. COMPAS keeps all recorded races."""
    from dpfair_lib.datasets.loading import load_spec, spec_of
    from dpfair_lib.datasets.pins import pinned

    spec = spec_of(name)
    if name == "acs-income":
        spec = dataclasses.replace(spec, sensitive=GROUPS[name], words={"RAC1P": RACES})  # type: ignore[dict-item]
    elif name == "compas":
        spec = dataclasses.replace(spec, clean=all_races)
    return load_spec(spec, pinned()[name], sensitive=GROUPS[name])


def all_races(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of COMPAS that are commonly studied, but those of every recorded race, one race after another."""
    import pandas as pd

    from dpfair_lib.datasets.compas import RACES as USUAL
    from dpfair_lib.datasets.compas import usual_rows

    # the usual preparation looks at the race only to drop rows
    parts = [usual_rows(part.assign(race=USUAL[0])).assign(race=race) for race, part in table.groupby("race")]
    return pd.concat(parts, ignore_index=True)


class Description(Mapping[str, Any]):
    """Name, checksum, number of rows and group sizes of a data set, which is read when they are asked for.

    So an experiment can be listed where the data are not at hand.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @functools.cached_property
    def _entries(self) -> dict[str, Any]:
        dataset = dataset_of(self.name)
        groups = dataset.sensitive_features.value_counts().sort_index().to_dict()
        return {
            "name": self.name, "checksum": dataset.card.checksum, "rows": len(dataset.y), "groups": groups
        }  # fmt: skip

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def three_parts(groups: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the positions of the rows of the three parts, each group and label divided in the same way.

    Parameters
    ----------
    groups, labels : ndarray of shape (n,)
        Of each row.
    rng : numpy.random.Generator
        Draws who is in which part.

    Returns
    -------
    list of ndarray
        For each of `SHARES` positions in random order.

    Raises
    ------
    ValueError
        If a group has so few rows of a label that a part would have none.
    """
    parts: list[list[np.ndarray]] = [[], [], []]
    for group in np.unique(groups):
        for label in (0, 1):
            rows = rng.permutation(np.flatnonzero((groups == group) & (labels == label)))
            ends = [round(SHARES[0] * len(rows)), round((SHARES[0] + SHARES[1]) * len(rows))]
            cut = np.split(rows, ends)
            if not all(map(len, cut)):
                raise ValueError(
                    f"groups: found {len(rows)} rows of group {group} with label {label}, expected some in each part"
                )
            for part, these in zip(parts, cut, strict=True):
                part.append(these)
    return [rng.permutation(np.concatenate(part)) for part in parts]


def split_rows(dataset: Dataset, split: int, seed: int) -> Split:
    """Fit the learner, logistic regression, on its rows, and return the three parts with its scores.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    split : int
        Number of the split, from 0.
    seed : int
        Of the rows that a large data set keeps, and of the splits.
    """
    from dpfair_lib.experiments.ours.private_learners_fits import unit_ball

    kept = np.random.default_rng(seed).permutation(len(dataset.y))[:MOST_ROWS]
    features = unit_ball(dataset)[0][kept]
    labels = dataset.y.to_numpy().astype(np.int64)[kept]
    groups = dataset.sensitive_features.to_numpy().astype(str)[kept]
    at = three_parts(groups, labels, np.random.default_rng([seed, split]))
    model = learner().fit(features[at[0]], labels[at[0]])
    return Split(
        *(
            Part(features[rows], labels[rows], groups[rows], model.predict_proba(features[rows])[:, 1])
            for rows in at
        )
    )


def learner() -> Any:
    """Return the learner, hardly regularised; some combination of the columns is constant."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1e4, fit_intercept=False, max_iter=5000)
