"""The privacy that published runs promise, and bounds of what they keep, from below and from above."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from dpfair_lib.claims.printed_figures import bounds
from dpfair_lib.claims.shared.recomputed.printed_means import FEATURES
from dpfair_lib.experiments.digits import RAISED
from dpfair_lib.experiments.isit.noise_levels import LEVELS, READINGS, TRAINING_ROWS, sampling
from dpfair_lib.experiments.isit.twelve_tables_records import DATA, provenance
from dpfair_lib.experiments.mpbt.bounded_impact import EPSILON, PROBLEMS
from dpfair_lib.experiments.mpbt.bounded_impact_records import cut_n
from dpfair_lib.experiments.printed import DELTA
from dpfair_lib.learners.fermi_bounds import enough_epsilon, least_epsilon
from dpfair_lib.privacy import dp_sgd_epsilon, dp_sgd_epsilon_lower_bound
from dpfair_lib.privacy.accounting import DpSgdRelation

FERMI_EPOCHS = 50  # of every printed run of DP-FERMI
TITLES = {
    "adult": "Adult", "credit": "Credit", "celeba": "CelebA", "acs-income": "ACSIncome", "prv": "PRV",
    "rdp": "moments", "gdp": "GDP",
}  # fmt: skip


class PublishedRun(NamedTuple):
    """What a published run promises, and between which bounds its ε lies at the stated δ.

    Parameters
    ----------
    paper : str
        Source, as in ids of entries.
    run : str
        Method, data and setting.
    seen : str
        What is released.
    relation : str
        Which data sets are neighbours.
    stated : float
        The printed ε.
    least : float
        No smaller ε is true; infinite where no ε is.
    most : float
        This ε is true; infinite where none is known.
    page : str
        Chapter that derives both.
    """

    paper: str
    run: str
    seen: str
    relation: str
    stated: float
    least: float
    most: float
    page: str

    @property
    def kept(self) -> str:
        """Whether the promise is kept: "yes", "no", or "not known"."""
        return "yes" if self.most <= self.stated else "no" if self.least > self.stated else "not known"


def published_runs() -> list[PublishedRun]:
    """Return every published run whose privacy can be bounded, in the order of the papers."""
    return [*_algorithm_2(), *_dp_fermi(), *_table_1()]


def _algorithm_2() -> Iterator[PublishedRun]:
    """DP-SGD and two noisy rates; the printed noise is a standard deviation. Prepared rows count as given."""
    seen: dict[DpSgdRelation, str] = {
        "add-remove": "one record added or removed",
        "replace-one": "one record replaced",
    }
    for relation, words in seen.items():
        for level in LEVELS:
            multiplier = level.noise / READINGS["noise over clip"]
            rate, steps = sampling(level, TRAINING_ROWS[level.data])
            how = f"{TITLES[level.data]}, ε′ = {level.target}, {TITLES[level.accountant]}"
            yield PublishedRun(
                "isit", f"Algorithm 2, {how}", "all steps and both rates", words, level.target,
                # all releases cost what the training costs at least, and the sum of their parts at most
                dp_sgd_epsilon_lower_bound(multiplier, rate, steps, DELTA, relation=relation),
                dp_sgd_epsilon(multiplier, rate, steps, DELTA, "pld", relation=relation) + level.for_rates,
                "isit-noise",
            )  # fmt: skip


def _dp_fermi() -> Iterator[PublishedRun]:
    for data in DATA:
        origin = provenance(data)["data"]
        # three quarters train; the smaller group has about its share of them
        sizes = {"n": origin["rows"] * 3 // 4, "smallest_group": min(origin["groups"].values()) * 3 // 4}
        for stated in (3, 9):
            options = sizes | {"epochs": FERMI_EPOCHS}
            most = enough_epsilon(stated, **options)
            for seen in ("last weights", "all weights"):
                yield PublishedRun(
                    "isit", f"DP-FERMI, {TITLES[data]}, ε′ = {stated}", seen, "one record of a group replaced", stated,
                    least_epsilon(stated, seen=seen, features=FEATURES[data], **options), most, "isit-dp-fermi",
                )  # fmt: skip


def _table_1() -> Iterator[PublishedRun]:
    for fit in PROBLEMS:
        for data in ("celeba", "acs-income"):
            least, most = bounds(data, fit, cut_n(data), EPSILON)
            yield PublishedRun(
                "mpbt", f"Table 1, {TITLES[data]}, {fit}", "the weights", "one record replaced", EPSILON, least, most,
                "decisive-label",
            )  # fmt: skip


def table(runs: list[PublishedRun], names: Mapping[str, str]) -> pd.DataFrame:
    """Return the runs as a table; bounds from below are rounded down, those from above up, to three digits."""
    return pd.DataFrame([
        {
            "paper": names[run.paper], "run": run.run, "neighbours": run.relation, "seen": run.seen,
            "stated ε": f"{run.stated:g}", "at least": rounded(run.least, math.floor),
            "at most": rounded(run.most, math.ceil), "kept": run.kept,
        }
        for run in runs
    ])  # fmt: skip


def rounded(value: float, towards: Any, digits: int = 3) -> str:
    """Return a positive number with some digits, rounded down (`math.floor`) or up (`math.ceil`)."""
    if not math.isfinite(value):
        return "∞"
    size = math.floor(math.log10(value)) - digits + 1
    found = towards(value / 10.0**size) * 10.0**size
    if found >= 1e5:
        exponent = math.floor(math.log10(found) + 1e-12)
        return f"{found / 10.0**exponent:.2f}·10{str(exponent).translate(RAISED)}"
    return f"{found:,.{max(-size, 0)}f}"
