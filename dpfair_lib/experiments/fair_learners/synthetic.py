"""Private synthetic rows with ordinary learners, on splits of `trials`: dpmm's MST, then what has no privacy.

Numeric columns are cut into equal bins of their public ranges. What is learned from the released rows costs nothing
more: it is computed from the release alone, and the group that a rule asks for at prediction is the asked person's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib.experiments.fair_learners.bases import PRESENT, Bases
from dpfair_lib.experiments.fair_learners.methods import GAMMAS, PLAIN, Fit
from dpfair_lib.experiments.fair_learners.people import (
    MOST_ROWS,
    NOTIONS,
    TEST_SHARE,
    People,
    group_codes,
    split_people,
)
from dpfair_lib.experiments.fair_learners.summary import Case, method_rows
from dpfair_lib.experiments.fair_learners.synthesizer import Release, synthesizer
from dpfair_lib.experiments.fair_learners.trials import CONSTANT, row_of, unprotected
from dpfair_lib.experiments.ours.private_learners_fits import RANGES, unit_ball
from dpfair_lib.privacy import PrivacyStatement, composed_zcdp, zcdp_delta

if TYPE_CHECKING:
    from dpfair_lib.datasets import Dataset

BINS = 20
"""Equal bins of each numeric column: dpmm's default."""
STEPS = 1000
"""Of each fit of the graphical model. By default dpmm makes 2,500 and 5,000; they see noisy counts only."""
GAMMA = 0.0
"""The gap that the shown rules allow on the synthetic rows, fixed beforehand. For parity and opportunity no other gap
has a smaller sum of error and gap there: a rate moved by g costs at most g times the share of those whom it counts."""
SYNTHETIC = "synthetic data"
NOTE = (
    "pairs of columns are chosen by draws of NumPy's seeded generator, and noise is added to floats: no proof for the "
    "program as it runs"
)
PUBLIC = "the number of rows", "columns, their codes and ranges", "which labels and groups there are"


class Column(NamedTuple):
    """A column of the table that is synthesised.

    Attributes
    ----------
    name : str
        Of a numeric feature; of a coded one what stands before the last underscore.
    size : int
        How many codes it has.
    numeric : bool
        Whether codes are bins.
    """

    name: str
    size: int
    numeric: bool


def columns_of(dataset: Dataset) -> list[Column]:
    """Return the columns of the features, from their names and public ranges alone; labels and groups come after them.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled.
    """
    blocks: dict[str, int] = {}
    for name in dataset.X.columns.drop(dataset.numeric_features):
        blocks[_block(name)] = blocks.get(_block(name), 0) + 1
    numeric = [Column(name, BINS, True) for name in dataset.numeric_features]
    return numeric + [Column(name, size, False) for name, size in blocks.items()]


def coded(features: pd.DataFrame, columns: list[Column]) -> np.ndarray:
    """Return the code of each row in each column; a row's codes do not depend on other rows.

    Parameters
    ----------
    features : DataFrame
        Not yet scaled.
    columns : list of Column
        From `columns_of`.

    Raises
    ------
    ValueError
        If a row has not exactly one code of a column.
    """
    found = []
    for column in columns:
        if column.numeric:
            low, high = RANGES[column.name]
            place = (features[column.name].to_numpy(dtype=float) - low) / (high - low)
            found.append(np.clip(np.floor(place * BINS), 0, BINS - 1).astype(np.int64))
        else:
            one = features[_members(features, column)].to_numpy()
            if not ((one == 0) | (one == 1)).all() or (one.sum(axis=1) != 1).any():
                raise ValueError(f"{column.name}: found a row without exactly one code, expected one in each")
            found.append(one.argmax(axis=1).astype(np.int64))
    return np.column_stack(found)


def decoded(codes: np.ndarray, columns: list[Column], like: pd.DataFrame) -> pd.DataFrame:
    """Return features not yet scaled, with the middle of each bin, in the columns of a table.

    Parameters
    ----------
    codes : ndarray of shape (n, k)
        As `coded` gives them.
    columns : list of Column
        From `columns_of`.
    like : DataFrame
        Whose columns the features get; its rows do not matter.
    """
    found: dict[Any, np.ndarray] = {}
    for code, column in zip(codes.T, columns, strict=True):
        if column.numeric:
            low, high = RANGES[column.name]
            found[column.name] = low + (high - low) * (code + 0.5) / BINS
        else:
            members = _members(like, column)
            found |= {name: (code == at).astype(float) for at, name in enumerate(members)}
    return pd.DataFrame(found)[list(like.columns)]


def training_rows(dataset: Dataset, split: int, seed: int) -> np.ndarray:
    """Return the positions of the rows that `split_people` trains on, in its order."""
    kept = np.random.default_rng(seed).permutation(len(dataset.y))[:MOST_ROWS]
    order = np.random.default_rng([seed, split]).permutation(len(kept))
    return kept[order[round(len(order) * TEST_SHARE) :]]


def released(
    train: np.ndarray, sizes: list[int], epsilon: float, seed: int
) -> tuple[Release, PrivacyStatement]:
    """Return synthetic rows and what they cost.

    Parameters
    ----------
    train : ndarray of shape (n, k)
        Codes, labels and groups of the training rows.
    sizes : list of int
        How many codes each column has.
    epsilon : float
        ε under add-remove.
    seed : int
        Of what is not noise.

    Raises
    ------
    RuntimeError
        If the release was not made with this ε and δ = 1/n², or its noise is not enough for them.
    """
    delta = len(train) ** -2.0
    found = synthesizer().release(train, sizes, epsilon=epsilon, delta=delta, steps=STEPS, seed=seed)
    rho = concentrated(found, len(sizes))
    if (found.epsilon, found.delta) != (epsilon, delta) or zcdp_delta(rho, epsilon) > delta:
        raise RuntimeError(
            f"release: found ε = {found.epsilon}, δ = {found.delta} and ρ = {rho} of all phases, expected "
            f"ε = {epsilon}, δ = {delta} and no more ρ than they allow"
        )
    return found, PrivacyStatement(
        epsilon,
        delta,
        PRESENT,
        public=PUBLIC,
        accountant="zCDP of all three phases",
        guarantee=False,
        note=NOTE,
    )


def concentrated(release: Release, columns: int) -> float:
    """Return ρ of MST's three phases under add-remove, rounded up.

    Counts of k columns, then of at most k − 1 pairs, each with noise of deviation σ√k: 1/(2σ²k) each, since a record
    moves one count by 1. Between them k − 1 exponential mechanisms of ε² = 8(ρ/3)/(k − 1) choose the pairs; each costs
    ε²/8, since a record moves each score by at most 1.

    Parameters
    ----------
    release : Release
        With ρ and σ.
    columns : int
        k.
    """
    each = 1 / (2 * release.sigma**2 * columns)
    return composed_zcdp(columns * each, (columns - 1) * each, release.rho / 3)


def run_trial(dataset: Dataset, *, split: int, seed: int, epsilon: float) -> Iterator[dict[str, Any]]:
    """Release synthetic rows of one split once, learn from them, and judge on the real test rows.

    Parameters
    ----------
    dataset : Dataset
        Features not yet scaled, and two groups.
    split, seed : int
        As for `split_people`; both seed what is not noise.
    epsilon : float
        ε.

    Yields
    ------
    dict
        ``split, protection, method, notion, level`` (ε), ``dial``, what `measured` gives, ``seconds`` of processor
        time; ``label_pairs``, how many counted pairs have the label; ``direct``, whether one is label and group.
    """
    train, test = split_people(dataset, split, seed)
    at, columns = training_rows(dataset, split, seed), columns_of(dataset)
    outcome = np.column_stack(
        [dataset.y.to_numpy().astype(np.int64), group_codes(dataset.sensitive_features)]
    )
    table = np.hstack([coded(dataset.X.iloc[at], columns), outcome[at]])
    if not (np.array_equal(table[:, -2], train.labels) and np.array_equal(table[:, -1], train.groups)):
        raise RuntimeError("training_rows: found other rows than those of split_people")
    sizes = [*(column.size for column in columns), 2, 2]
    drawn = int(np.random.default_rng([seed, split, round(1000 * epsilon)]).integers(2**32))
    release, statement = released(table, sizes, epsilon, drawn)
    features, _ = unit_ball(replace(dataset, X=decoded(release.codes[:, :-2], columns, dataset.X)))
    made = People(features, release.codes[:, -2], release.codes[:, -1])
    label = len(columns)
    about = {
        "label_pairs": sum(label in pair for pair in release.pairs),
        "direct": any(set(pair) == {label, label + 1} for pair in release.pairs),
    }
    for method, notion, fit in learned(made, test):
        whole = fit._replace(statement=statement, seconds=fit.seconds + release.seconds)
        yield {
            "split": split, "protection": statement.relation, "method": method, "notion": notion,
            "level": statement.epsilon, **row_of(whole, test), **about,
        }  # fmt: skip


def learned(made: People, test: People) -> Iterator[tuple[str, str, Fit]]:
    """Yield what is learned from synthetic rows: logistic regression, and its fair post-processing for each notion.

    It is what `unprotected` learns from real ones. Where a group has no synthetic row of a label, fair rules are not
    defined, and all is the constant.

    Parameters
    ----------
    made : People
        Synthetic rows.
    test : People
        Whose chances of the label 1 are computed.
    """
    if (np.bincount(2 * made.groups + made.labels, minlength=4) == 0).any():
        often = np.full(len(test.labels), float(2 * made.labels.sum() > len(made.labels)))
        yield f"{SYNTHETIC}, {PLAIN}", "", Fit(None, often, None, 0.0)
        for notion in NOTIONS:
            for gamma in GAMMAS:
                yield f"{SYNTHETIC}, {notion}", notion, Fit(gamma, often, None, 0.0)
        return
    for method, notion, fit in unprotected(Bases(made, {}, ()), test):
        if method != CONSTANT:
            yield f"{SYNTHETIC}, {notion or PLAIN}", notion, fit


def candidates(rows: pd.DataFrame, case: Case) -> dict[str, pd.DataFrame]:
    """Return what stands in a case: the learner without fairness, and the rule for the notion with no gap allowed.

    Parameters
    ----------
    rows : DataFrame
        From `run_trial`, of one data set.
    case : Case
        Which; nothing stands under other protections than add-remove.
    """
    if case.protection != PRESENT:
        return {}
    names = {f"{SYNTHETIC}, {PLAIN}": None, f"{SYNTHETIC}, {case.notion}": GAMMA}
    return {name: method_rows(rows, case.protection, name, case.level, dial) for name, dial in names.items()}


def _block(name: str) -> str:
    return name.rpartition("_")[0]


def _members(features: pd.DataFrame, column: Column) -> list[str]:
    """Return the names of a coded column's columns, in their order."""
    return [name for name in features.columns if _block(name) == column.name]
