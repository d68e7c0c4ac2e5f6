"""Descriptions of data sets (columns, labels, groups, origin), and the result of loading one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pandas as pd

Kind = Literal["int", "float", "str"]


@dataclass(frozen=True)
class File:
    """One file that holds a table, or a part of one.

    Attributes
    ----------
    name : str
        Its name in a folder.
    rows : int or None
        The rows that it must have; None where that is not recorded.
    read : callable
        Reads it into a frame with the file's own column names, in the file's order, whatever the types.
    url : str or None
        Where the publisher has it; None for other forms of the same table.
    """

    name: str
    rows: int | None
    read: Callable[[Path], pd.DataFrame]
    url: str | None = None


Layout = tuple[File, ...]  # the files whose rows, one file after the other, make the table


@dataclass(frozen=True)
class Spec:
    """A data set: where it comes from, how its files look, what its columns mean.

    Attributes
    ----------
    name : str
        Short name, also the name of its folder.
    title, publisher, homepage, licence, citation, people, period : str
        For the card; ``people`` says whom the rows describe and what one row is.
    caveats : tuple of str
        What a user of the data should know before concluding anything.
    columns : mapping
        Column names in canonical order, with their types.
    cleaned : mapping
        The columns after cleaning, if they are others.
    label : str
        The label's column.
    positive : int or str
        The value of the label that counts as 1.
    categorical : tuple of str
        Columns that are one-hot encoded; the other features are used as numbers.
    plain : tuple of str
        Categorical columns that are used as the numbers that they are, not one-hot.
    sensitive : tuple of str
        Columns that may be chosen as sensitive, all of them categorical; the first is the default.
    layouts : tuple of Layout
        The accepted forms of the table; the first is the publisher's.
    unpinned : tuple of Layout
        Further forms, of tables whose checksum is not recorded; looked for after the others, and flagged.
    words : mapping
        For coded columns, the words for each code as a sensitive attribute shows it.
    renamed : mapping
        Column names found in the wild, and the canonical name that they stand for.
    clean : callable
        From the table as published to the rows and codes that are used.
    tied : mapping
        Numeric columns that are a function of a categorical one, and which one.
    folders : tuple of str
        The folders in which its files may lie, by default one of its own name.
    signal : float
        How often the stand-in draws a value knowing the row's label (see `synthetic`).
    """

    name: str
    title: str
    publisher: str
    homepage: str
    licence: str
    citation: str
    people: str
    period: str
    caveats: tuple[str, ...]
    columns: Mapping[str, Kind]
    label: str
    positive: int | str
    categorical: tuple[str, ...]
    sensitive: tuple[str, ...]
    layouts: tuple[Layout, ...]
    words: Mapping[str, Mapping[object, str]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    cleaned: Mapping[str, Kind] = field(default_factory=dict)
    clean: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table
    tied: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    unpinned: tuple[Layout, ...] = ()
    signal: float = 1.0

    def __post_init__(self) -> None:
        if not set(self.plain) <= set(self.categorical):
            raise ValueError(f"{self.name}: plain columns must be categorical")
        named = {self.label, *self.categorical, *self.sensitive, *self.tied, *self.tied.values()}
        if unknown := sorted(named - set(self.used)):
            raise ValueError(f"{self.name}: not among the columns: {', '.join(unknown)}")
        if not set(self.sensitive) <= set(self.categorical) or not self.sensitive:
            raise ValueError(f"{self.name}: sensitive columns must be named, and be categorical")

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the folders in which its files are looked for."""
        return self.folders or (self.name,)

    @property
    def used(self) -> Mapping[str, Kind]:
        """The columns of the cleaned table, with their types."""
        return self.cleaned or self.columns

    @property
    def numeric(self) -> tuple[str, ...]:
        """The features that are used as numbers, in canonical order."""
        hot = set(self.categorical) - set(self.plain)
        return tuple(c for c in self.used if c != self.label and c not in hot)


@dataclass(frozen=True)
class DataCard:
    """Where a data set comes from, whom it describes, and how it was found.

    Attributes
    ----------
    title, publisher, homepage, licence, citation, people, period, caveats
        As in `Spec`.
    checksum : str or None
        SHA-256 of the parsed table; None for the stand-in.
    source : str
        ``"root"``, ``"$DPFAIR_DATA"``, ``"cache"``, ``"download"`` or ``"synthetic"``.
    verified : bool
        Whether the table was held against a recorded checksum.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> card = dpf.synthetic("adult", n=100, random_state=0).card
    >>> card.title, card.verified
    ('Synthetic stand-in for Adult (also "Census Income")', False)
    """

    title: str
    publisher: str
    homepage: str
    licence: str
    citation: str
    people: str
    period: str
    caveats: tuple[str, ...]
    checksum: str | None
    source: str
    verified: bool

    @property
    def synthetic(self) -> bool:
        """Whether the rows were drawn by a program and describe nobody."""
        return self.source == "synthetic"

    def __str__(self) -> str:
        lines = [
            self.title,
            f"publisher: {self.publisher} ({self.homepage}), {self.licence}",
            f"rows: {self.people}",
            f"period: {self.period}",
            *(f"caveat: {caveat}" for caveat in self.caveats),
            f"source: {self.source}, checksum of the table: {self.checksum or 'none'}"
            + ("" if self.verified or self.synthetic else ", NOT VERIFIED: none is recorded for this form"),
            f"cite: {self.citation}",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as features, labels and groups, ready for a classifier.

    `load` and `synthetic` return it.

    Attributes
    ----------
    X : DataFrame
        Features as float64. First the numeric columns, with the published values; then a column of zeros and ones for
        each value of the other columns, called ``column_value``.
    y : Series
        Labels 0 and 1.
    sensitive_features : Series
        Name of each row's group.
    feature_names : list of str
        The columns of ``X``.
    card : DataCard
        Where the data come from, whom they describe, and what to be careful about.
    numeric_features : list of str
        The numeric columns of ``X``, which `standardize` can scale.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> adult = dpf.synthetic("adult", n=1000, random_state=0)
    >>> adult.X.shape
    (1000, 102)
    >>> adult.sensitive_features.value_counts().to_dict()
    {'Male': 675, 'Female': 325}
    >>> adult.card.title
    'Synthetic stand-in for Adult (also "Census Income")'
    """

    X: pd.DataFrame
    y: pd.Series
    sensitive_features: pd.Series
    feature_names: list[str]
    card: DataCard
    numeric_features: list[str]


def card(spec: Spec, *, checksum: str, source: str, verified: bool) -> DataCard:
    """Return the card of a data set whose files were found.

    Parameters
    ----------
    spec : Spec
        The data set.
    checksum : str
        SHA-256 of the parsed table.
    source : str
        The kind of place where the files were found.
    verified : bool
        Whether the checksum was held against a recorded one.

    Returns
    -------
    DataCard
        The card.
    """
    return DataCard(
        title=spec.title,
        publisher=spec.publisher,
        homepage=spec.homepage,
        licence=spec.licence,
        citation=spec.citation,
        people=spec.people,
        period=spec.period,
        caveats=spec.caveats,
        checksum=checksum,
        source=source,
        verified=verified,
    )
