"""Standardisation of features with training rows, and the train-test split of the published experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpfair_lib._validation import as_groups

_PUBLISHED_SEED = 100  # of the published code: DataFrame.sample(frac=0.75, random_state=100)


class Split(NamedTuple):
    """Row positions of the three parts.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfair_lib.datasets import split_isit
    >>> parts = split_isit(100, rng=np.random.default_rng(0))
    >>> len(parts.train), len(parts.post), len(parts.test)
    (50, 25, 25)
    """

    train: np.ndarray
    post: np.ndarray
    test: np.ndarray


def standardize(
    train: pd.DataFrame, *others: pd.DataFrame, columns: Sequence[str]
) -> tuple[pd.DataFrame, ...]:
    """Shift and scale columns by the training part's mean and standard deviation (ddof 1).

    The mean and deviation are those of the training rows, so they are not covered by a privacy statement that
    does not name them; state them as public or spend budget on them.

    Parameters
    ----------
    train : DataFrame
        The training rows.
    *others : DataFrame
        Further parts, which are transformed with the training part's numbers.
    columns : sequence of str
        The columns to transform, usually ``Dataset.numeric_features``; the others stay as they are.

    Returns
    -------
    tuple of DataFrame
        The training part and the others, as new frames.

    Raises
    ------
    ValueError
        If a part lacks a column, or a training column has fewer than two rows, is not finite or is constant.

    Examples
    --------
    >>> import pandas as pd
    >>> from dpfair_lib.datasets import standardize
    >>> train, test = pd.DataFrame({"age": [20, 30, 40]}), pd.DataFrame({"age": [50]})
    >>> train, test = standardize(train, test, columns=["age"])
    >>> train["age"].tolist(), test["age"].tolist()
    ([-1.0, 0.0, 1.0], [2.0])
    """
    columns = [columns] if isinstance(columns, str) else list(columns)
    for at, part in enumerate((train, *others)):
        if missing := [column for column in columns if column not in part]:
            raise ValueError(f"columns: part {at} has no column {', '.join(map(repr, missing))}")
    if len(train) < 2:
        raise ValueError(f"train: found {len(train)} rows, expected two or more")
    finite = np.isfinite(train[columns].to_numpy(dtype="float64")).all(axis=0)
    if not finite.all():
        endless = [column for column, good in zip(columns, finite, strict=True) if not good]
        raise ValueError(f"train: found values that are missing or not finite in {', '.join(endless)}")
    # Equal values can leave a deviation of a few units in the last place, so constancy is asked directly.
    if constant := [column for column in columns if train[column].nunique() == 1]:
        raise ValueError(f"train: found only one value in {', '.join(constant)}; leave such columns out")
    mean, deviation = train[columns].mean(), train[columns].std(ddof=1)
    done = []
    for part in (train, *others):
        scaled = (part[columns] - mean) / deviation
        done.append(part.assign(**{column: scaled[column] for column in columns}))
    return tuple(done)


def check_groups(split: Split, sensitive_features: Any) -> None:
    """Raise unless every group has rows in every part of a split.

    Parameters
    ----------
    split : Split
        Row positions of the parts.
    sensitive_features : array of shape (n,)
        Group of every row.

    Raises
    ------
    ValueError
        If a group is missing from a part: which group, from which part, and where its rows are.

    Examples
    --------
    One person alone cannot be in every part.

    >>> import numpy as np
    >>> from dpfair_lib.datasets import check_groups, split_isit
    >>> groups = np.array(["a"] * 99 + ["b"])
    >>> try:
    ...     check_groups(split_isit(100, rng=np.random.default_rng(0)), groups)
    ... except ValueError as error:
    ...     print(str(error).partition(",")[0])
    sensitive_features: found no row of group b in the part 'post' (1 in train
    """
    levels, codes = as_groups(sensitive_features)
    counts = {name: np.bincount(codes[rows], minlength=len(levels)) for name, rows in split._asdict().items()}
    for part, counted in counts.items():
        if not counted.all():
            missing = int(np.argmin(counted))
            elsewhere = ", ".join(f"{counts[name][missing]} in {name}" for name in counts if name != part)
            raise ValueError(
                f"sensitive_features: found no row of group {levels[missing]!s} in the part {part!r} ({elsewhere}), "
                "expected every group in every part: draw another split, or take more rows"
            )


def split_isit(n: int, *, rng: np.random.Generator, fixed_test: bool = True) -> Split:
    """Draw the published split: 50 % training, 25 % post-processing, 25 % test.

    First 75 % of the rows are drawn, by the published code's own call and seed, so that the test rows are the
    same in every trial; the rest is the test part. The 75 % are then divided 2 : 1 by ``rng``.

    Parameters
    ----------
    n : int
        Number of rows.
    rng : numpy.random.Generator
        Draws what differs between trials.
    fixed_test : bool
        False draws the 75 % by ``rng`` too, so that the spread over trials includes the test rows.

    Returns
    -------
    Split
        Row positions; the training and post-processing parts are in the order drawn, the test part in the
        file's.

    Raises
    ------
    ValueError
        If there are fewer than four rows.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfair_lib.datasets import split_isit
    >>> first, second = (split_isit(100, rng=np.random.default_rng(seed)) for seed in (0, 1))
    >>> set(first.test) == set(second.test), set(first.train) == set(second.train)
    (True, False)
    """
    if n < 4:
        raise ValueError(f"n: found {n}, expected at least four rows")
    state = _PUBLISHED_SEED if fixed_test else rng
    pool = pd.Series(np.arange(n)).sample(frac=0.75, random_state=state).to_numpy()
    test = np.setdiff1d(np.arange(n), pool)
    pool = rng.permutation(pool)
    cut = round(len(pool) * 2 / 3)
    return Split(train=pool[:cut], post=pool[cut:], test=test)
