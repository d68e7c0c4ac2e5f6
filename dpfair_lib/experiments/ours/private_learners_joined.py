"""The two comparisons of private learners as one table: that of all, and the one with several draws of noise."""

from __future__ import annotations

import pandas as pd

from dpfair_lib.experiments.ours import private_learners_summary as summary
from dpfair_lib.experiments.ours.private_learners_settings_blocks import BLOCKS

OURS = {"δ = 0": (BLOCKS,), "δ = 1/n²": (BLOCKS, "objective, Gaussian", "output, Gaussian", "DP-SGD")}
"""Our learners by the δ that is allowed. What holds at δ = 0 holds at any.

Laplace noise is none of them: noise for blocks has the same guarantee, and never a larger deviation.
"""


def joined(all_learners: pd.DataFrame, drawn_again: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the second, and of the first those of learners that the second lacks.

    Parameters
    ----------
    all_learners, drawn_again : DataFrame
        Both with a column ``method``: trials on the same splits of one data set, or candidates tried on held data. Of
        several draws of noise the means, from `private_learners_blocks.over_draws`.

    Raises
    ------
    ValueError
        If the constant is not equally often right on a split of both, so that these are not the same splits.
    """
    if "split" in all_learners:
        first, second = (summary.by_split(rows, ("constant", None)) for rows in (all_learners, drawn_again))
        both = first.index.intersection(second.index)
        if both.empty or (first[both] != second[both]).any():
            raise ValueError("drawn_again: found other splits than in all_learners, expected the same")
    kept = all_learners[~all_learners["method"].isin(drawn_again["method"])]
    return pd.concat([kept, drawn_again], ignore_index=True)
