"""The twelve noise levels that ISIT prints, with the settings that they are printed for."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dpfair_lib.experiments.printed import (
    BATCH,
    CLIP,
    DELTA,
    EPOCHS,
    GROUP_EPSILON,
    printed_sampling,
    printed_tables,
)

TRAINING_ROWS = {"adult": 22_611, "credit": 15_000}  # half of 45,222 and of 30,000, as stated
HALF_OF_ALL = 24_421  # of Adult's 48,842 rows, incomplete ones included: "around 48,000"
CALIBRATION_ROWS = {"adult": 30_162, "credit": 15_000}  # what the printed levels turn out to rest on
READINGS = {"noise over clip": CLIP, "multiplier": 1.0}  # of the printed "standard deviation"
SIZES = {  # rows that a training part could have: of the whole, of its complete rows, of one published file
    "adult": {
        22_611: "half of the complete rows", HALF_OF_ALL: "half of all rows", 30_162: "complete rows of adult.data",
        32_561: "all rows of adult.data", 33_916: "75 % of the complete rows", 36_631: "75 % of all rows",
        45_222: "the complete rows", 48_842: "all rows",
    },
    "credit": {15_000: "half of the rows", 22_500: "75 % of the rows", 30_000: "all rows"},
}  # fmt: skip


class Level(NamedTuple):
    """One printed noise level: for which data and ε′, by which accountant, and how many epochs."""

    data: str
    target: int
    accountant: str
    noise: float

    @property
    def epochs(self) -> int:
        """As printed."""
        return EPOCHS[self.data, self.target]

    @property
    def for_rates(self) -> float:
        """What the two rates cost, ε₀ + ε₁."""
        return 2 * GROUP_EPSILON[self.data]


ACCOUNTANTS = {"PRV": "prv", "moments": "rdp", "GDP": "gdp"}
LEVELS = tuple(
    Level(row["data"], row["epsilon"], ACCOUNTANTS[row["accountant"]], row["sigma"])
    for row in printed_tables().query("method == 'Algorithm 2'").to_dict("records")
)


def sampling(level: Level, rows: int, *, by_batches: bool = True) -> tuple[float, int]:
    """Return sampling rate and number of steps for a training part of so many rows.

    Parameters
    ----------
    level : Level
        Its number of epochs counts.
    rows : int
        Training rows.
    by_batches : bool
        True for the rate 1/(number of batches), as the library named in the source draws; False for 1024/rows.
    """
    rate, steps = printed_sampling(rows, level.epochs)
    return (rate if by_batches else BATCH / rows), steps


def matches(level: Level, rows: int, *, divisor: float, spent: float, noise: Callable[..., float]) -> bool:
    """Say whether calibrating for a training part of so many rows gives the printed digits.

    Parameters
    ----------
    level : Level
        With an accountant that is fast, "gdp" or "rdp".
    rows : int
        Training rows; the rate is 1024/rows, the steps are epochs × batches.
    divisor : float
        Printed number over noise multiplier.
    spent : float
        What the target ε′ is reduced by.
    noise : callable
        Calibrates, as `dp_sgd_noise`.
    """
    rate, steps = sampling(level, rows, by_batches=False)
    digits = len(f"{level.noise}".partition(".")[2])
    found = divisor * noise(level.target - spent, DELTA, rate, steps, level.accountant)
    return round(found, digits) == level.noise
