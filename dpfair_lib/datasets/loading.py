"""Data sets by name, and the way from a canonical table to features, labels and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from dpfair_lib.datasets import acs_income, adult, adult_26k, celeba, compas, credit, lsac
from dpfair_lib.datasets.find import obtain
from dpfair_lib.datasets.pins import Pins, measure, pinned
from dpfair_lib.datasets.spec import DataCard, Dataset, Spec, card

SPECS: Mapping[str, Spec] = MappingProxyType(
    {
        spec.name: spec
        for spec in (
            adult.SPEC,
            adult_26k.SPEC,
            credit.SPEC,
            compas.SPEC,
            lsac.SPEC,
            celeba.SPEC,
            acs_income.SPEC,
        )
    }
)


def spec_of(name: str, specs: Mapping[str, Spec] = SPECS) -> Spec:
    """Return what is known about a data set.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    if not isinstance(name, str) or name not in specs:
        raise ValueError(f"name: found {name!r}, expected one of {', '.join(specs)}")
    return specs[name]


def load(
    name: str,
    *,
    sensitive: str | Sequence[str] | None = None,
    root: str | Path | None = None,
    download: bool = True,
) -> Dataset:
    """Load a data set, verified against its pinned checksum.

    A form of the table whose checksum is not recorded (``"acs-income"`` as the Census Bureau gives it out) is read
    with a warning, and its card says that nothing was verified.

    The files are looked for in ``root/name`` and ``root``, then in ``$DPFAIR_DATA/name``, then in the user's
    cache, and are then downloaded from the publisher into the cache. The first place that has the files is
    used; if they are wrong there, that is an error. Rows keep the publisher's order.

    ``X`` holds every column except the label and the chosen sensitive columns: first the numeric columns, as
    published (not standardised; see `standardize`), then one-hot columns for the others. A column that could be
    sensitive but was not chosen is a feature like any other.

    Parameters
    ----------
    name : str
        ``"adult"`` (45,222 complete rows, label income above 50,000 dollars), ``"adult-26k"`` (45,849 rows, label
        income above 26,000 dollars), ``"credit"`` (30,000 rows, label default on the next payment), ``"compas"``
        (5,278 rows, label a new charge recorded), ``"lsac"`` (20,427 rows, label passed the bar examination),
        ``"celeba"`` (202,599 rows, label smiling) or ``"acs-income"`` (1,369,838 rows, label income above 50,000
        dollars).
    sensitive : str, sequence of str or None
        The sensitive column, or several, whose combined values ("Male & White") are then the groups. By
        default sex (gender, Male); for COMPAS race.
    root : str, Path or None
        A folder to look in first.
    download : bool
        Whether the publisher may be asked when the files are nowhere.

    Returns
    -------
    Dataset
        Features, labels, groups, feature names and card.

    Raises
    ------
    ValueError
        If the name or a sensitive column is unknown, or if a file is there and its content is wrong.
    FileNotFoundError
        If the files are nowhere and cannot be downloaded; the message says where to put what.
    """
    spec = spec_of(name)
    return load_spec(spec, pinned()[name], sensitive=sensitive, root=root, download=download)


def load_table(name: str, *, root: str | Path | None = None, download: bool = True) -> pd.DataFrame:
    """Load a data set's table as published, all rows and codes, for a preparation of one's own.

    Parameters
    ----------
    name, root, download
        See `load`.

    Returns
    -------
    DataFrame
        The canonical table, verified; label and sensitive columns included.

    Raises
    ------
    ValueError
        If the name is unknown, or if a file is there and its content is wrong.
    FileNotFoundError
        If the files are nowhere and cannot be downloaded.
    """
    spec = spec_of(name)
    return obtain(spec, pinned()[name], root=root, download=download)[0]


def load_spec(
    spec: Spec,
    pins: Pins,
    *,
    sensitive: str | Sequence[str] | None = None,
    root: str | Path | None = None,
    download: bool = True,
    cache: Path | None = None,
) -> Dataset:
    """Do what `load` does, for a data set described by the caller.

    Parameters
    ----------
    spec : Spec
        The data set.
    pins : Pins
        Its checksums.
    sensitive, root, download
        See `load`.
    cache : Path or None
        The folder of downloads, the user's cache by default.

    Returns
    -------
    Dataset
        Features, labels, groups, feature names and card.

    Raises
    ------
    ValueError
        If a sensitive column is unknown, or if a file is there and its content is wrong.
    FileNotFoundError
        If the files are nowhere and cannot be downloaded.
    """
    chosen = _chosen(spec, sensitive)  # before anything is read or downloaded
    table, found = obtain(spec, pins, root=root, download=download, cache=cache)
    checksum = pins.table if found.verified else measure(spec, table).table
    table = spec.clean(table)
    data_card = card(spec, checksum=checksum, source=found.kind, verified=found.verified)
    return prepare(table, spec, chosen, categories_of(table, spec), data_card)


def categories_of(table: pd.DataFrame, spec: Spec) -> dict[str, list[int | str]]:
    """Return the sorted values of each categorical column."""
    return {column: sorted(table[column].unique().tolist()) for column in spec.categorical}


def prepare(
    table: pd.DataFrame,
    spec: Spec,
    sensitive: tuple[str, ...],
    categories: Mapping[str, Sequence[int | str]],
    data_card: DataCard,
) -> Dataset:
    """Make features, labels and groups of a cleaned table.

    Parameters
    ----------
    table : DataFrame
        The cleaned table.
    spec : Spec
        The data set.
    sensitive : tuple of str
        The columns that make the groups and are left out of the features.
    categories : mapping
        For each categorical column its values, each of which becomes a one-hot column.
    data_card : DataCard
        The card to attach.

    Returns
    -------
    Dataset
        The prepared data.
    """
    names = numeric = [column for column in spec.numeric if column not in sensitive]
    blocks = [table[names].to_numpy(dtype="float64")]
    for column in spec.categorical:
        if column not in sensitive and column not in spec.plain:
            codes = pd.Index(categories[column]).get_indexer(pd.Index(table[column]))
            blocks.append((codes[:, np.newaxis] == np.arange(len(categories[column]))).astype("float64"))
            names = names + [f"{column}_{category}" for category in categories[column]]
    groups = zip(*(_in_words(table[column], spec) for column in sensitive), strict=True)
    combined = pd.Series([" & ".join(group) for group in groups], dtype="str", name=" & ".join(sensitive))
    return Dataset(
        X=pd.DataFrame(np.hstack(blocks), columns=names),
        y=(table[spec.label] == spec.positive).astype("int64"),
        sensitive_features=combined,
        feature_names=names,
        card=data_card,
        numeric_features=numeric,
    )


def _in_words(values: pd.Series, spec: Spec) -> pd.Series:
    words = spec.words.get(str(values.name))
    return (values if words is None else values.map(dict(words))).astype("str")


def _chosen(spec: Spec, sensitive: str | Sequence[str] | None) -> tuple[str, ...]:
    chosen = spec.sensitive[:1] if sensitive is None else sensitive
    chosen = (chosen,) if isinstance(chosen, str) else tuple(chosen)
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(spec.sensitive):
        known = ", ".join(repr(column) for column in spec.sensitive)
        raise ValueError(f"sensitive: found {sensitive!r}, expected one or several (each once) of {known}")
    return chosen
