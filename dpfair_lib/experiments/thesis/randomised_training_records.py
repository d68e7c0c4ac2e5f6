"""The recorded trials of Figures 5.1–5.10, read once."""

from __future__ import annotations

from functools import cache

import pandas as pd

from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.experiments.thesis.randomised_training import SIGNED
from dpfair_lib.experiments.thesis.randomised_training_summary import Trials, by_configuration

DATA = ("adult", "lsac")
KEY = ["setting", "seed", "method", "epsilon"]


@cache
def trials(*, tuned: bool = False) -> pd.DataFrame:
    """Return all recorded trials; of two groups the signed differences too, from records of their own."""
    suffix = "-tuned" if tuned else ""
    every = pd.concat([read_record(f"thesis-figures-{data}{suffix}")[0] for data in DATA], ignore_index=True)
    signed = pd.concat([read_record(f"thesis-figures-{data}-gender{suffix}")[0] for data in DATA])
    return every.merge(signed[[*KEY, *SIGNED]], on=KEY, how="left", validate="one_to_one")


@cache
def collected(*, tuned: bool = False) -> Trials:
    """Return the trials by configuration."""
    return by_configuration(trials(tuned=tuned))
