"""Loading data sets by name, as features, labels and groups."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from dpfair_lib._progress import shown
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
    verbose: bool = False,
) -> Dataset:
    """Load a data set from disk or from its publisher, and verify its checksum.

    The files are looked for in ``root/name`` and ``root``, then in ``$DPFAIR_DATA/name``, then in the user's cache. If
    they are in none of these places, they are downloaded from the publisher into the cache. The first place that has
    the files is used; wrong content there is an error. Rows keep the publisher's order.

    ``X`` holds every column except the label and the chosen sensitive columns. A column that could be sensitive but was
    not chosen is a feature like any other.

    Parameters
    ----------
    name : str
        ``"adult"`` (45,222 complete rows, label income above 50,000 dollars), ``"adult-26k"`` (45,849 rows, label
        income above 26,000 dollars), ``"credit"`` (30,000 rows, label default on the next payment), ``"compas"``
        (5,278 rows, label a new charge recorded), ``"lsac"`` (20,427 rows, label passed the bar examination),
        ``"celeba"`` (202,599 rows, label smiling) or ``"acs-income"`` (1,369,838 rows, label income above 50,000
        dollars).
    sensitive : str, sequence of str or None
        The sensitive column. If several are given, the groups are the combinations of their values, such as
        "Male & White". By default the column of sex (called gender or Male in some data sets); for COMPAS, race.
    root : str, Path or None
        A folder to look in first.
    download : bool
        Whether to download files that are in none of the places.
    verbose : bool, default=False
        Whether to show on the standard error how much is downloaded and read, after two seconds and then every ten.

    Returns
    -------
    Dataset
        Features, labels, groups, feature names and card.

    Raises
    ------
    ValueError
        If the name or a sensitive column is unknown, or if a file was found and its content is wrong.
    FileNotFoundError
        If the files were not found and cannot be downloaded. The message says which file to put where.

    Warns
    -----
    UserWarning
        If the table is of a kind for which no checksum is recorded, such as ``"acs-income"`` as the Census Bureau
        publishes it. Its card then says that nothing was verified.

    See Also
    --------
    synthetic : rows drawn by a program, with the same columns; needs no file.

    Examples
    --------
    If the files are not there, use synthetic rows with the same columns.

    >>> import dpfair_lib as dpf
    >>> try:
    ...     adult = dpf.load("adult", download=False)
    ... except FileNotFoundError:
    ...     adult = dpf.synthetic("adult", random_state=0)
    >>> adult.X.shape
    (45222, 102)
    """
    spec = spec_of(name)
    with shown(verbose):
        return load_spec(spec, pinned()[name], sensitive=sensitive, root=root, download=download)


def load_table(
    name: str, *, root: str | Path | None = None, download: bool = True, verbose: bool = False
) -> pd.DataFrame:
    """Load a data set's table as published, all rows and codes, for your own preparation.

    Parameters
    ----------
    name, root, download, verbose
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

    Examples
    --------
    >>> from dpfair_lib.datasets import load_table
    >>> try:
    ...     columns = load_table("compas", download=False).columns
    ... except FileNotFoundError as error:  # it says which file to put where
    ...     columns = str(error).split()
    >>> len(columns) > 5
    True
    """
    spec = spec_of(name)
    with shown(verbose):
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
    words = [_in_words(table[column], spec).reset_index(drop=True) for column in sensitive]
    groups = functools.reduce(lambda first, second: first + " & " + second, words)
    # a second copy of a large table costs more than all that is computed
    values = blocks[0] if len(blocks) == 1 else np.hstack(blocks)
    return Dataset(
        X=pd.DataFrame(values, columns=names, copy=not values.flags.writeable),
        y=(table[spec.label] == spec.positive).astype("int64"),
        sensitive_features=groups.astype("str").rename(" & ".join(sensitive)),
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
