"""Replacing columns of a Parquet file in constant memory, one row group at a time."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dpfair_lib._extras import extra

ROWS, BYTES = 1 << 19, 1 << 25
"""A piece has at most so many rows, and so many bytes by what the file says of its other columns."""

Replace = Callable[[Any], Any]
Progress = Callable[[int, int], None]
Cleaned = Callable[[Mapping[bytes, bytes] | None], dict[bytes, bytes]]


def metadata_of(path: Path) -> dict[bytes, bytes]:
    """Return the metadata of a Parquet file, its own keys and values."""
    with extra("files"):
        import pyarrow.parquet as pq

    return dict(pq.read_metadata(path).metadata or {})


def rewrite(
    source: Path,
    target: Path,
    columns: Sequence[str],
    replace: Replace,
    *,
    metadata: Mapping[bytes, bytes],
    cleaned: Cleaned,
    progress: Progress,
) -> None:
    """Write a Parquet file with the columns replaced; schema, metadata and all other values are the source's.

    Columns of text that the file holds as dictionaries are carried over as such, which saves most of the time.

    Parameters
    ----------
    source, target : Path
        The files; the target is overwritten.
    columns : sequence of str
        The columns, not nested.
    replace : callable
        Returns a table of these columns with their reports for one with their values; called for each piece, in order.
    metadata : mapping
        Keys and values to add to the source's.
    cleaned : callable
        Returns the source's metadata without what they reveal about the columns.
    progress : callable
        Called after each piece with the number of rows that are done, and of all.

    Raises
    ------
    ValueError
        If a column is not there, once. Whatever ``replace`` raises.
    """
    with extra("files"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    about = pq.read_metadata(source)
    schema = pq.read_schema(source)
    for column in columns:
        if schema.names.count(column) != 1:
            raise ValueError(
                f"column: found no single {column!r} in {source.name}, expected one of {schema.names}"
            )
    places = {column: schema.get_field_index(column) for column in columns}
    _open_chunks(source)
    coded = _coded(about, schema)

    def reported(kinds: Any) -> Any:
        # the columns' types after the change, learned from a piece without rows
        changed = replace(pa.schema([kinds.field(at) for at in places.values()]).empty_table())
        for column, at in places.items():
            kinds = kinds.set(at, changed.schema.field(column))
        return kinds

    logical = reported(schema)
    added = {**cleaned(about.metadata), **metadata}
    if b"ARROW:schema" in added:
        known = logical.with_metadata({**cleaned(schema.metadata), **metadata})
        added[b"ARROW:schema"] = base64.b64encode(known.serialize().to_pybytes())
    with pq.ParquetFile(source, read_dictionary=coded, pre_buffer=False, buffer_size=1 << 20) as file:
        written = reported(file.schema_arrow).with_metadata(None)
        options = {
            "compression": _codecs(about, columns), "use_dictionary": _texts(schema, columns),
            "store_schema": False, "version": "2.6", "write_batch_size": 1 << 16,
        }  # fmt: skip
        with pq.ParquetWriter(target, written, **options) as writer:
            done = 0
            drawn = (
                _with_columns(piece, replace(piece.select(list(places))), written)
                for piece in _pieces(file, about, columns)
            )
            for piece in _ahead(drawn):
                writer.write_table(piece, row_group_size=ROWS)
                done += piece.num_rows
                progress(done, about.num_rows)
            writer.add_key_value_metadata(added)


def _open_chunks(source: Path) -> None:
    """Raise an error if the file's description of a column chunk is damaged.

    Asked for such a description directly, pyarrow 26 ends the process. Opening the chunk to read it meets the same
    damage first, and raises.
    """
    with extra("files"):
        import pyarrow.parquet as pq

    with pq.ParquetFile(source, pre_buffer=False, buffer_size=1 << 16) as file:
        for group in range(file.num_row_groups):
            next(file.iter_batches(1, row_groups=[group], use_threads=False), None)


def _with_columns(piece: Any, reports: Any, schema: Any) -> Any:
    """Return the piece with the reports in the places of the values."""
    for column in reports.schema.names:
        at = schema.get_field_index(column)
        piece = piece.set_column(at, schema.field(at), reports[column])
    return piece


def _pieces(file: Any, about: Any, columns: Sequence[str]) -> Iterator[Any]:
    """Read row group by row group, so that a piece never mixes two; an empty one has no pieces.

    A piece becomes a row group of the target. So its number of rows must not depend on the columns that are replaced,
    and how many bytes a column takes depends on its values.
    """
    with extra("files"):
        import pyarrow as pa

    for group in range(about.num_row_groups):
        size = about.row_group(group)
        chunks = (size.column(i) for i in range(size.num_columns))
        others = sum(one.total_uncompressed_size for one in chunks if one.path_in_schema not in columns)
        rows = min(ROWS, max(1024, BYTES * size.num_rows // max(others, 1)))
        for batch in file.iter_batches(rows, row_groups=[group], use_threads=False):
            yield pa.Table.from_batches([batch])


def _ahead(items: Iterator[Any]) -> Iterator[Any]:
    """Give the items; another thread makes the next one meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item


def _texts(schema: Any, columns: Sequence[str]) -> list[str]:
    """Return the columns to write as dictionaries: text, and the reports."""
    with extra("files"):
        import pyarrow as pa

    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
    texts = [field.name for field in schema if any(holds(field.type) for holds in kinds)]
    return [*texts, *columns, *map(_set_path, columns)]


def _set_path(column: str) -> str:
    """Return what a Parquet file calls the entries of a column of lists."""
    return f"{column}.list.element"


def _coded(about: Any, schema: Any) -> list[str]:
    """Return the columns of plain strings that the first row group holds as dictionaries."""
    with extra("files"):
        import pyarrow as pa

    if not about.num_row_groups:
        return []
    group = about.row_group(0)
    chunks = {group.column(i).path_in_schema: group.column(i) for i in range(about.num_columns)}
    return [
        field.name
        for field in schema
        if pa.types.is_string(field.type)
        and field.name in chunks
        and chunks[field.name].has_dictionary_page
        and schema.names.count(field.name) == 1
    ]


def _codecs(about: Any, columns: Sequence[str]) -> Any:
    """Return how each column is compressed, which stays as it is."""
    if not about.num_row_groups:
        return "snappy"
    group = about.row_group(0)
    chunks = [group.column(i) for i in range(about.num_columns)]
    known = {chunk.path_in_schema: chunk.compression.replace("UNCOMPRESSED", "NONE") for chunk in chunks}
    return {**known, **{_set_path(column): known[column] for column in columns}}
