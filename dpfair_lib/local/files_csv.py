"""Replacing one column of a CSV file in constant memory; all other bytes stay as they are.

The file is split at commas and line ends, in large blocks. Quotes follow RFC 4180: a quoted field begins and ends with
a quote, and a quote inside is written twice. Anything else raises an error, because a wrongly placed comma or line end
could leave a person's value in the file unchanged.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._extras import extra

BLOCK, LONGEST_ROW = 1 << 20, 1 << 26  # bytes; a block stays in the processor's cache
COMMA, QUOTE, NEWLINE, RETURN = b',"\n\r'
EDGE = np.array([NEWLINE], dtype=np.uint8)
BEFORE_A_QUOTE, AFTER_A_QUOTE = np.zeros((2, 256), dtype=bool)
BEFORE_A_QUOTE[[COMMA, NEWLINE, QUOTE]] = AFTER_A_QUOTE[[COMMA, NEWLINE, RETURN, QUOTE]] = True
BETWEEN = "|"
"""Stands between the labels of a set."""

Replace = Callable[[Any], Any]
Progress = Callable[[int, int], None]


class Rows(NamedTuple):
    """Where the fields of some whole rows lie: ``start`` and ``end`` have the shape (rows, fields)."""

    start: np.ndarray
    end: np.ndarray
    size: int  # bytes up to the end of the last row


def rewrite(source: Path, target: Path, column: str, replace: Replace, *, progress: Progress) -> None:
    """Write a CSV file with the column replaced, and all else as it was written.

    Parameters
    ----------
    source, target : Path
        The files, in UTF-8 or another encoding that has ASCII in it; the target is overwritten.
    column : str
        The column, by the name in the first row.
    replace : callable
        Returns a table of one column with its reports for one with its values; called for each block, in order.
    progress : callable
        Called after each block with the number of bytes that are done, and of all.

    Raises
    ------
    ValueError
        If the column is not there, once; if a row has more or fewer fields than the first, or its quotes do not
        match. Whatever ``replace`` raises.
    """
    total = source.stat().st_size
    with source.open("rb") as file, target.open("wb") as out:
        names, header = _header(file.readline(LONGEST_ROW), source.name)
        while header.count(b'"') % 2 and (more := file.readline(LONGEST_ROW)):  # a name with a line end
            names, header = _header(header + more, source.name)
        if names.count(column) != 1:
            raise ValueError(f"column: found no single {column!r} in {source.name}, expected one of {names}")
        place, bare = names.index(column), header.removeprefix(codecs.BOM_UTF8)
        at = _cut(bare, len(names), 0, bare.endswith(b"\n")).start[0, place]
        quoted = bare[at : at + 1] == b'"'
        out.write(header)
        done = len(header)
        for data, found in _blocks(file, len(names)):
            _replaced(data, found, place, column, replace, quoted, out)
            done += found.size
            progress(min(done, total), total)


def _header(line: bytes, name: str) -> tuple[list[str], bytes]:
    """Return the names of the columns, and the bytes that they were read from."""
    if not line.strip():
        raise ValueError(f"{name}: found no first row, expected the names of the columns")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: found names that are not UTF-8 ({error}), expected UTF-8") from None
    return next(csv.reader(text.splitlines(keepends=True))), line


def _blocks(file: Any, fields: int) -> Iterator[tuple[bytes, Rows]]:
    """Give blocks of whole rows, and where their fields lie."""
    rest, rows = b"", 0
    while True:
        new = file.read(BLOCK)
        data = rest + new
        if not data:
            return
        found = _cut(data, fields, rows, complete=bool(new) or data.endswith(b"\n"))
        if not new and found.size < len(data):
            raise ValueError(f"row {rows + len(found.start) + 1:,}: found an unterminated quoted field")
        if found.size:
            yield data[: found.size], found
        rows, rest = rows + len(found.start), data[found.size :]
        if not new:
            return
        if len(rest) > LONGEST_ROW:
            raise ValueError(
                f"row {rows + 1:,}: found no end of the row within {LONGEST_ROW:,} bytes, perhaps an unterminated quote"
            )


def _cut(data: bytes, fields: int, rows: int, complete: bool) -> Rows:
    """Find the fields of all whole rows; the last row of a file may lack its line end (``complete`` is then False)."""
    text = np.frombuffer(data if complete else data + b"\n", dtype=np.uint8)
    quotes = np.flatnonzero(text == QUOTE)
    stop = (text == COMMA) | (text == NEWLINE)
    if len(quotes):
        stop &= np.cumsum(text == QUOTE, dtype=np.uint8) & 1 == 0  # an even number of quotes before it
    stops = np.flatnonzero(stop)
    ends = np.flatnonzero(text[stops] == NEWLINE)
    stops = stops[: ends[-1] + 1] if len(ends) else stops[:0]
    size = min(int(stops[-1]) + 1, len(data)) if len(stops) else 0
    before = np.concatenate([[-1], stops])[: len(stops)]
    if fields > 1:
        # empty lines are passed on with whatever follows
        gap = stops - before
        line = (text[stops] == NEWLINE) & ((before < 0) | (text[before] == NEWLINE))
        empty = line & ((gap == 1) | ((gap == 2) & (text[stops - 1] == RETURN)))
        if empty.any():
            stops, before = stops[~empty], before[~empty]
            ends = np.flatnonzero(text[stops] == NEWLINE)
    counts = np.diff(ends, prepend=-1)
    if (counts != fields).any():
        bad = int(np.argmax(counts != fields))
        raise ValueError(f"row {rows + bad + 1:,}: found {counts[bad]} fields, expected {fields}")
    start, end = (before + 1).reshape(-1, fields), stops.reshape(-1, fields).copy()
    if len(end):
        end[:, -1] -= (text[end[:, -1] - 1] == RETURN) & (end[:, -1] > start[:, -1])
    _check_marks(text[:size], quotes[quotes < size], start, rows)
    return Rows(start, end, size)


def _check_marks(text: np.ndarray, quotes: np.ndarray, start: np.ndarray, rows: int) -> None:
    """Refuse quotes inside of unquoted fields, and line ends that are a return alone."""
    around = np.concatenate([EDGE, text, EDGE])
    opens, closes = quotes[0::2], quotes[1::2]
    wrong = [
        opens[~BEFORE_A_QUOTE[around[opens]]],
        closes[~AFTER_A_QUOTE[around[closes + 2]]],
    ]
    returns = np.flatnonzero(text == RETURN)
    alone = returns[around[returns + 2] != NEWLINE]
    wrong.append(alone[np.searchsorted(quotes, alone) % 2 == 0] if len(alone) else alone)
    places = np.concatenate(wrong)
    if len(places):
        row = rows + int(np.searchsorted(start[:, 0], places.min(), side="right"))
        raise ValueError(
            f"row {row:,}: found a quote inside of an unquoted field, or a line end without a newline, expected "
            "quotes around whole fields, doubled inside, and rows that end with a newline"
        )


def _replaced(
    data: bytes, rows: Rows, place: int, column: str, replace: Replace, quoted: bool, out: Any
) -> None:
    """Write the block with new fields in the one column."""
    with extra("files"):
        import pyarrow as pa
        import pyarrow.compute as pc

    n = len(rows.start)
    bounds = np.empty(2 * n + 2, dtype=np.int32)
    bounds[0], bounds[-1] = 0, len(data)
    bounds[1:-1:2], bounds[2:-1:2] = rows.start[:, place], rows.end[:, place]
    pieces = pa.Array.from_buffers(
        pa.binary(), 2 * n + 1, [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    )  # between, value, between, value, …, between
    new = replace(pa.table({column: _values(pieces.take(pa.array(np.arange(1, 2 * n, 2))), column)})).column(
        0
    )
    text = _fields(new.combine_chunks() if new.num_chunks != 1 else new.chunk(0), quoted)
    between = pieces.take(pa.array(np.arange(0, 2 * n, 2)))
    joined = pc.binary_join_element_wise(between, text.cast(pa.binary()), b"")
    if n:
        ends = np.frombuffer(joined.buffers()[1], dtype=np.int32)[joined.offset : joined.offset + n + 1]
        out.write(memoryview(joined.buffers()[2])[int(ends[0]) : int(ends[-1])])
    out.write(data[bounds[-2] :])


def _values(fields: Any, column: str) -> Any:
    """Return the fields as strings, without quotes; an empty one is a missing value."""
    with extra("files"):
        import pyarrow as pa
        import pyarrow.compute as pc

    try:
        text = fields.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise ValueError(f"{column}: found values that are not UTF-8 ({error}), expected UTF-8") from None
    quoted = pc.starts_with(text, '"')
    if pc.any(quoted).as_py():
        inner = pc.replace_substring(pc.utf8_slice_codeunits(text, 1, -1), '""', '"')
        text = pc.if_else(quoted, inner, text)
    return pc.if_else(pc.equal(text, ""), None, text)


def _fields(reports: Any, quoted: bool) -> Any:
    """Return the reports as they are written: quoted where they need it, or all if the column's name is.

    Never as the replaced value was quoted: where only some are quoted, that would reveal which it was.
    """
    with extra("files"):
        import pyarrow as pa
        import pyarrow.compute as pc

    text = pc.binary_join(reports, BETWEEN) if pa.types.is_list(reports.type) else reports
    marked = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
    if quoted:
        return marked
    return pc.if_else(pc.match_substring_regex(text, '[",\r\n]|^ | $'), marked, text)
