"""Replacing one column of a pandas or Arrow table by random reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from dpfair_lib._arguments import one_of
from dpfair_lib._extras import extra
from dpfair_lib._labels import declared_labels
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.subsets import SubsetSelection
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.sampling import Noise

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Frame = TypeVar("Frame")
Missing = Literal["refuse", "label", "public"]
MISSING: dict[str, str] = {
    "refuse": "a missing value is an error",
    "label": "missing is a label of its own, the last one, and randomised like the others",
    "public": "missing values stay as they are: everybody learns whose value is missing",
}
"""What may become of missing values."""
PANDAS = b"pandas"
"""The key under which Arrow keeps, in JSON, what pandas knows of the columns."""
PLAIN = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
"""pandas' types that have no missing values."""


class ColumnTypeError(ValueError):
    """A column of a type that cannot be reported."""


class LabelError(ValueError):
    """A value that cannot be reported, because it is missing or not among the labels.

    Parameters
    ----------
    column : str
        The column in which it was found.
    row : int
        Its row, counted from 1.
    found : object
        The value, or None.
    labels : sequence
        The labels.

    Examples
    --------
    >>> import pandas as pd
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import LabelError, randomize_frame
    >>> people = pd.DataFrame({"group": ["a", "z"]})
    >>> try:
    ...     randomize_frame(people, "group", dpf.generalized_randomized_response(2, 1.0), labels=["a", "b"])
    ... except LabelError as error:
    ...     print(error)
    group: found 'z' in row 2, expected one of 'a', 'b'
    """

    def __init__(self, column: str, row: int, found: Any, labels: Sequence[Any]) -> None:
        self.column, self.row, self.found, self.labels = column, row, found, labels
        what, or_else = repr(found), ""
        if found is None:
            what, or_else = "a missing value", "; missing='label' or missing='public' allows it"
        expected = ", ".join(map(repr, labels))
        super().__init__(f"{column}: found {what} in row {row:,}, expected one of {expected}{or_else}")

    def after(self, rows: int) -> LabelError:
        """Return the same error in a longer table, so many rows of which came before this piece."""
        return LabelError(self.column, self.row + rows, self.found, self.labels)


def as_labels(labels: Any, randomizer: Randomizer, missing: Missing = "refuse") -> list[Any]:
    """Return the labels as a list: distinct, none missing, one for each value of the randomiser."""
    one_of(missing, "missing", MISSING)
    listed = declared_labels(labels, "labels")
    if "" in listed:  # in a CSV file it is the same as a missing value
        raise ValueError(f"labels: found {labels!r}, expected a list of distinct labels, none of them empty")
    wanted = randomizer.k - (missing == "label")
    if len(listed) != wanted:
        last = ", without the last, which stands for missing" if missing == "label" else ""
        raise ValueError(
            f"labels: found {len(listed)}, expected {wanted}: one for each value of {randomizer!r}{last}"
        )
    return listed


def randomize_frame(
    frame: Frame,
    column: str,
    randomizer: Randomizer,
    *,
    labels: Sequence[Any],
    missing: Missing = "refuse",
    noise: Noise = "secure",
    rng: np.random.Generator | None = None,
) -> Frame:
    """Return a table in which one column is replaced by random reports; everything else is unchanged.

    Nothing is stored between calls, so a large table may be processed in pieces and on several machines. For a Dask
    frame: ``ddf.map_partitions(randomize_frame, "race", randomizer, labels=labels, meta=ddf._meta)``. **Compute the
    result once, and store it.** If a lazy table is computed twice, everybody gives a second, independent report, and
    two reports of ε cost 2ε.

    Parameters
    ----------
    frame : pandas.DataFrame, pyarrow.Table or pyarrow.RecordBatch
        The table, possibly without rows. Arrow columns contain strings, whole numbers or booleans, or are dictionaries
        of these.
    column : str
        The column with the sensitive attribute.
    randomizer : Randomizer
        The channel. Its values are numbered in the order of the labels.
    labels : sequence
        All possible values, in a public order. Do not take them from the data: the list would reveal who is in them.
        Reports are labels too; those of subset selection are lists of labels.
    missing : {"refuse", "label", "public"}
        What becomes of missing values. "refuse" raises an error. "label" makes them a label of their own, the last
        value of the randomiser, which has one value more than there are labels; a report may then be missing too.
        "public" leaves them as they are and draws no report for them. Then everybody learns whose value is missing,
        and the guarantee holds for the other values only.
    noise : {"secure", "study"}
        Randomness from the operating system, or from ``rng``.
    rng : numpy.random.Generator, optional
        Source of study noise. Must be None for secure noise.

    Returns
    -------
    pandas.DataFrame, pyarrow.Table or pyarrow.RecordBatch
        A table of the same kind. The column keeps its type, or becomes a list of it for sets. The categories of a
        category or dictionary column are the labels, in their order. With ``missing="label"``, pandas columns of
        numbers become float64 and those of booleans object, whatever was missing.

    Raises
    ------
    LabelError
        A `ValueError`: if a value is not among the labels, or missing where that is refused. The message names the row.
    ValueError
        If the column does not exist, exists twice or has another type; if column, labels and randomiser do not fit; if
        the reports are neither labels nor sets of labels; if rng does not fit the noise.

    Examples
    --------
    Study noise makes the example repeatable, and protects nobody. The default is secure noise.

    >>> import numpy as np
    >>> import pandas as pd
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import randomize_frame
    >>> people = pd.DataFrame({"age": [30, 40, 50], "group": ["a", "b", "a"]})
    >>> channel = dpf.generalized_randomized_response(3, 1.0)
    >>> rng = np.random.default_rng(0)
    >>> randomize_frame(people, "group", channel, labels=["a", "b", "c"], noise="study", rng=rng)
       age group
    0   30     a
    1   40     b
    2   50     a
    """
    source = NoiseSource(noise, rng, sampled=False).generator
    listed = as_labels(labels, randomizer, missing)
    if not isinstance(randomizer, SubsetSelection) and randomizer.matrix.shape[1] != randomizer.k:
        raise ValueError(
            f"randomizer: found reports of another kind than the {randomizer.k} values, expected as many reports"
        )
    if hasattr(frame, "iloc"):
        return _pandas(frame, column, _Reporter(column, randomizer, listed, missing, source))
    if hasattr(frame, "schema"):
        return _arrow(frame, column, _Reporter(column, randomizer, listed, missing, source))
    raise ValueError(
        f"frame: found {type(frame).__name__}, expected a pandas DataFrame, an Arrow table or batch"
    )


class _Reporter(NamedTuple):
    """What draws the reports of a column."""

    column: str
    randomizer: Randomizer
    labels: list[Any]
    missing: Missing
    source: Any

    def draw(self, codes: np.ndarray, absent: np.ndarray, found: Any) -> np.ndarray:
        """Draw reports for values in numbers, −1 for what is no label; ``found(row)`` is the value of a row.

        Where values are absent and public, the reports mean nothing. Others are drawn for all rows alike.
        """
        if self.missing == "label":
            codes = np.where(absent, len(self.labels), codes)
        strange = codes < 0 if self.missing != "public" else (codes < 0) & ~absent
        if strange.any():
            row = int(np.argmax(strange))
            raise LabelError(self.column, row + 1, found(row), self.labels)
        present = codes[~absent] if self.missing == "public" else codes
        small = np.uint8 if self.randomizer.k <= 256 else codes.dtype
        sets = isinstance(self.randomizer, SubsetSelection)
        if len(present):
            drawn = self.randomizer.apply(present.astype(small), self.source)
        else:
            drawn = np.empty((0, self.randomizer.k) if sets else 0, dtype=np.uint8)
        if len(present) == len(codes):
            return drawn
        reports = np.zeros((len(codes), *drawn.shape[1:]), dtype=drawn.dtype)
        reports[~absent] = drawn
        return reports


def _pandas(frame: Any, column: str, reporter: _Reporter) -> Any:
    import pandas as pd

    if list(frame.columns).count(column) != 1:
        raise ValueError(f"column: found no single {column!r}, expected one of {list(frame.columns)}")
    old: pd.Series = frame[column]
    known = pd.Index(reporter.labels)
    absent = old.isna().to_numpy(dtype=bool)

    def found(row: int) -> Any:
        return None if absent[row] else old.iloc[row]

    codes = known.get_indexer(old.astype(object) if old.dtype.kind == "b" else old)
    reports = reporter.draw(codes, absent, found)
    kept = absent if reporter.missing == "public" else np.zeros(len(old), dtype=bool)
    names = [*reporter.labels, None]
    if reports.ndim == 2:
        sets = [
            None if gone else [names[i] for i in np.flatnonzero(row)]
            for row, gone in zip(reports, kept, strict=True)
        ]
        new = pd.Series(sets, old.index, dtype=object)
    else:
        places = np.where(kept | (reports == len(known)), -1, reports.astype(np.int64))
        new = _at(places, known, old, reporter.missing)
    return _with_column(frame, column, new)


def _at(places: np.ndarray, known: pd.Index, old: pd.Series, missing: Missing) -> pd.Series:
    """Return the labels in these places as a column like the old one; −1 is a missing one."""
    import pandas as pd

    kind = old.dtype
    if isinstance(kind, pd.CategoricalDtype):
        categories = pd.CategoricalDtype(known, ordered=kind.ordered)
        return pd.Series(pd.Categorical.from_codes(places, dtype=categories), old.index)
    if missing == "label" and isinstance(kind, np.dtype) and kind.kind in "iufb":
        # a type that holds missing values, whether there were any or not
        numbers = kind.kind != "b"
        kind = np.dtype(float if numbers else object)
        if numbers and [float(label) for label in known] != list(known):
            raise ValueError(f"labels: found {list(known)}, expected numbers that a float holds exactly")
    if (places >= 0).all():
        return pd.Series(known.take(places), old.index).astype(kind)
    entries = np.array([*known, None], dtype=object)[places]  # −1 is the last
    return pd.Series(entries, old.index, dtype=object).astype(kind)


def _with_column(frame: Any, column: str, new: Any) -> Any:
    """Return a copy of the table with a new column in the old one's place.

    Columns of one type may lie in one array, of which each is a view, so that the others would still hold the old one.
    """
    at = list(frame.columns).index(column)
    changed = frame.drop(columns=[column]).copy()
    changed.insert(at, column, new)
    return changed


def labels_as(labels: list[Any], kind: pa.DataType, column: str) -> pa.Array:
    """Return the labels as an array of the column's type; a dictionary's type is that of its entries."""
    with extra("files"):
        import pyarrow as pa

    entries = kind.value_type if pa.types.is_dictionary(kind) else kind
    known = pa.types.is_string(entries) or pa.types.is_large_string(entries) or pa.types.is_boolean(entries)
    if not (known or pa.types.is_integer(entries)):
        raise ColumnTypeError(
            f"{column}: found the type {kind}, expected strings, whole numbers, booleans or a dictionary of these"
        )
    try:
        # "1" becomes the number 1, as labels come from a command line as strings
        array = pa.array(labels).cast(entries)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(
            f"labels: found {labels!r}, which cannot be of the type {entries} ({error})"
        ) from None
    if len(array.unique()) < len(array):
        raise ValueError(
            f"labels: found {labels!r}, some of which are equal as {entries}, expected distinct ones"
        )
    return array


def _arrow(frame: Any, column: str, reporter: _Reporter) -> Any:
    with extra("files"):
        import pyarrow as pa
        import pyarrow.compute as pc

    if frame.schema.names.count(column) != 1:
        raise ValueError(f"column: found no single {column!r}, expected one of {frame.schema.names}")
    at = frame.schema.get_field_index(column)
    field, old = frame.schema.field(at), frame.column(at)
    known = labels_as(reporter.labels, field.type, column)
    if isinstance(old, pa.ChunkedArray):
        old = old.combine_chunks() if old.num_chunks != 1 else old.chunk(0)
    absent = _absent(old)
    reports = reporter._replace(labels=known.to_pylist()).draw(
        _codes(old, known), absent, lambda row: old[row].as_py()
    )
    if reporter.missing == "label":
        field = field.with_nullable(True)  # any report may be missing
    if reports.ndim == 2:
        ends = np.concatenate([[0], reports.sum(axis=1, dtype=np.int64).cumsum()]).astype(np.int32)
        named = pa.concat_arrays([known, pa.nulls(1, known.type)])
        entries = named.take(pa.array(np.nonzero(reports)[1]))
        gone = pa.array(absent) if reporter.missing == "public" else None
        new: Any = pa.ListArray.from_arrays(pa.array(ends), entries, mask=gone)
        field = field.with_type(new.type)
    else:
        hidden = absent if reporter.missing == "public" else reports == len(known)
        places = pa.array(reports, mask=hidden if reporter.missing != "refuse" else None)
        if pa.types.is_dictionary(field.type):
            indices = places.cast(field.type.index_type)
            new = pa.DictionaryArray.from_arrays(indices, known, ordered=field.type.ordered)
        else:
            new = pc.take(known, places)
    changed = frame.set_column(at, field, new)
    metadata = uncounted(changed.schema.metadata, column, missing=reporter.missing)
    return changed.replace_schema_metadata(metadata or None)


def _absent(old: pa.Array) -> np.ndarray:
    """Return where a value is missing."""
    with extra("files"):
        import pyarrow as pa

    absent = old.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_dictionary(old.type) and old.dictionary.null_count:
        absent |= old.dictionary_decode().is_null().to_numpy(zero_copy_only=False)
    return absent


def uncounted(
    metadata: Mapping[bytes, bytes] | None, column: str, *, missing: Missing = "refuse"
) -> dict[bytes, bytes]:
    """Return the metadata without what pandas knew of the column's values.

    That is how many categories it counted, and, where missing is a label, whether a type stood there that has no
    missing values.
    """
    kept = dict(metadata or {})
    if PANDAS in kept:
        said = json.loads(kept[PANDAS])
        for about in said.get("columns", []):
            if about.get("field_name", about.get("name")) == column:
                (about.get("metadata") or {}).pop("num_categories", None)
                if missing == "label" and str(about.get("numpy_type")) in PLAIN:
                    about["numpy_type"] = "object"
        kept[PANDAS] = json.dumps(said).encode()
    return kept


def _codes(old: pa.Array, known: pa.Array) -> np.ndarray:
    """Return the place of each value among the labels; −1 where it is none, or missing."""
    with extra("files"):
        import pyarrow as pa
        import pyarrow.compute as pc

    if not pa.types.is_dictionary(old.type):
        return pc.fill_null(pc.index_in(old, value_set=known), -1).to_numpy(zero_copy_only=False)
    entries = _codes(old.dictionary, known)
    if len(known) <= 1 << 15:
        entries = entries.astype(np.int16)  # a gather of small numbers is faster
    if not old.indices.null_count:
        return entries.take(old.indices.to_numpy())
    # one more entry, for what is missing
    places = pc.fill_null(old.indices.cast(pa.int64()), len(entries))
    return np.append(entries, np.int16(-1)).take(places.to_numpy())
