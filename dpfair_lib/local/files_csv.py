"""Replacing columns of a CSV file in constant memory; all other bytes stay as they are.

The file is split at delimiters and line ends, in large blocks. Quotes follow RFC 4180: a quoted field begins and ends
with a quote, and a quote inside is written twice. Anything else raises an error, because a wrongly placed delimiter or
line end could leave a person's value in the file unchanged.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib.local.opened import packed, unpacked

BLOCK, LONGEST_ROW = 1 << 20, 1 << 26  # bytes; a block stays in the processor's cache
QUOTE, NEWLINE, RETURN = b'"\n\r'
EDGE = np.array([NEWLINE], dtype=np.uint8)
BETWEEN = "|"
"""Stands between the labels of a set."""

Replace = Callable[[Any], Any]
Progress = Callable[[int, int], None]


class Rows(NamedTuple):
    """Where the fields of some whole rows lie: ``start`` and ``end`` have the shape (rows, fields)."""

    start: np.ndarray
    end: np.ndarray
    size: int  # bytes up to the end of the last row


class Form(NamedTuple):
    """How the rows are written."""

    fields: int
    mark: int  # the delimiter's byte


def checked_delimiter(delimiter: str) -> str:
    """Return a delimiter of one ASCII character that is neither a quote nor a line end.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if not isinstance(delimiter, str) or len(delimiter) != 1 or not "\0" < delimiter <= "\x7f":
        raise ValueError(f"delimiter: found {delimiter!r}, expected one ASCII character, as ';'")
    if delimiter in '"\r\n' or delimiter.isalnum():
        raise ValueError(
            f"delimiter: found {delimiter!r}, expected a character that is no quote, line end, letter or digit"
        )
    return delimiter


def rewrite(
    source: Path,
    target: Path,
    columns: Sequence[str],
    replace: Replace,
    *,
    name: str,
    delimiter: str,
    progress: Progress,
) -> None:
    """Write a CSV file with the columns replaced, and all else as it was written.

    Parameters
    ----------
    source, target : Path
        The files, in UTF-8 or another encoding that has ASCII in it; the target is overwritten.
    columns : sequence of str
        The columns, by the names in the first row.
    replace : callable
        Returns a table of these columns with their reports for one with their values; called for each block, in order.
    name : str
        The name that the target will have, which says whether it is compressed.
    delimiter : str
        The character between two fields.
    progress : callable
        Called after each block with the number of bytes of the source that are done, and of all.

    Raises
    ------
    ValueError
        If a column is not there, once; if a row has more or fewer fields than the first, or its quotes do not
        match. Whatever ``replace`` raises.
    """
    total = source.stat().st_size
    with unpacked(source) as (file, done), packed(target, name) as out:
        names, header = _header(file.readline(LONGEST_ROW), source.name, delimiter)
        while header.count(b'"') % 2 and (more := file.readline(LONGEST_ROW)):  # a name with a line end
            names, header = _header(header + more, source.name, delimiter)
        for column in columns:
            if names.count(column) != 1:
                raise ValueError(
                    f"column: found no single {column!r} in {source.name}, expected one of {names}"
                )
        # in the order of the file, as the fields lie in it
        chosen = sorted(columns, key=names.index)
        form = Form(len(names), ord(delimiter))
        bare = header.removeprefix(codecs.BOM_UTF8)
        starts = _cut(bare, form, 0, bare.endswith(b"\n")).start[0]
        places = {column: names.index(column) for column in chosen}
        written = {
            column: _Written(bare[starts[place] : starts[place] + 1] == b'"', form)
            for column, place in places.items()
        }
        out.write(header)
        for data, found in _blocks(file, form):
            _replaced(data, found, places, replace, written, out)
            progress(min(done(), total), total)


def _header(line: bytes, name: str, delimiter: str) -> tuple[list[str], bytes]:
    """Return the names of the columns, and the bytes that they were read from."""
    if not line.strip():
        raise ValueError(f"{name}: found no first row, expected the names of the columns")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: found names that are not UTF-8 ({error}), expected UTF-8") from None
    return next(csv.reader(text.splitlines(keepends=True), delimiter=delimiter)), line


def _blocks(file: Any, form: Form) -> Iterator[tuple[bytes, Rows]]:
    """Give blocks of whole rows, and where their fields lie."""
    rest, rows = b"", 0
    while True:
        new = file.read(BLOCK)
        data = rest + new
        if not data:
            return
        found = _cut(data, form, rows, complete=bool(new) or data.endswith(b"\n"))
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


def _cut(data: bytes, form: Form, rows: int, complete: bool) -> Rows:
    """Find the fields of all whole rows; the last row of a file may lack its line end (``complete`` is then False)."""
    fields, mark = form
    text = np.frombuffer(data if complete else data + b"\n", dtype=np.uint8)
    quotes = np.flatnonzero(text == QUOTE)
    stop = (text == mark) | (text == NEWLINE)
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
    _check_marks(text[:size], quotes[quotes < size], start, rows, mark)
    return Rows(start, end, size)


def _check_marks(text: np.ndarray, quotes: np.ndarray, start: np.ndarray, rows: int, mark: int) -> None:
    """Refuse quotes inside of unquoted fields, and line ends that are a return alone."""
    around = np.concatenate([EDGE, text, EDGE])
    opens, closes = quotes[0::2], quotes[1::2]
    before, after = np.zeros((2, 256), dtype=bool)
    before[[mark, NEWLINE, QUOTE]] = after[[mark, NEWLINE, RETURN, QUOTE]] = True
    wrong = [opens[~before[around[opens]]], closes[~after[around[closes + 2]]]]
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


class _Written:
    """How the reports of a column are written: quoted where they need it, or all if the column's name is.

    Never as the replaced value was quoted: where only some are quoted, that would reveal which it was.
    """

    def __init__(self, quoted: bool, form: Form) -> None:
        self.quoted = quoted
        self.needing = f'[{re.escape(chr(form.mark))}",\r\n]|^ | $'
        # an empty line would be no row for many who read a file of one column
        self.missing = '""' if quoted or form.fields == 1 else ""

    def fields(self, reports: Any) -> Any:
        """Return the reports as text; a report that is missing is an empty field."""
        with extra("files"):
            import pyarrow as pa
            import pyarrow.compute as pc

        text = pc.binary_join(_named(reports), BETWEEN) if pa.types.is_list(reports.type) else reports
        marked = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
        if not self.quoted:
            marked = pc.if_else(pc.match_substring_regex(text, self.needing), marked, text)
        return pc.fill_null(marked, self.missing)


def _named(sets: Any) -> Any:
    """Return sets of labels in which the missing one is the empty word."""
    with extra("files"):
        import pyarrow as pa
        import pyarrow.compute as pc

    return pa.ListArray.from_arrays(sets.offsets, pc.fill_null(sets.values, ""), mask=sets.is_null())


def _replaced(
    data: bytes,
    rows: Rows,
    places: dict[str, int],
    replace: Replace,
    written: dict[str, _Written],
    out: Any,
) -> None:
    """Write the block with new fields in the columns, which are in the order of their places."""
    with extra("files"):
        import pyarrow as pa
        import pyarrow.compute as pc

    n, width = len(rows.start), len(places)
    inside = list(places.values())
    bounds = np.empty(2 * n * width + 2, dtype=np.int32)
    bounds[0], bounds[-1] = 0, len(data)
    bounds[1:-1:2], bounds[2:-1:2] = rows.start[:, inside].ravel(), rows.end[:, inside].ravel()
    pieces = pa.Array.from_buffers(
        pa.binary(), 2 * n * width + 1, [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    )  # between, value, between, value, …, between
    own = np.arange(1, 2 * n * width, 2).reshape(n, width)
    values = {column: _values(pieces.take(pa.array(own[:, at])), column) for at, column in enumerate(places)}
    new = replace(pa.table(values))
    texts = [written[column].fields(_joined(new[column])).cast(pa.binary()) for column in places]
    between = pieces.take(pa.array(own.ravel() - 1))
    # the reports of the first row, then those of the second, and so on
    order = pa.array(np.arange(n * width).reshape(width, n).T.ravel())
    text = texts[0] if width == 1 else pa.concat_arrays(texts).take(order)
    joined = pc.binary_join_element_wise(between, text, b"")
    if n:
        offsets = np.frombuffer(joined.buffers()[1], dtype=np.int32)
        ends = offsets[joined.offset : joined.offset + n * width + 1]
        out.write(memoryview(joined.buffers()[2])[int(ends[0]) : int(ends[-1])])
    out.write(data[bounds[-2] :])


def _joined(column: Any) -> Any:
    """Return a column in one piece."""
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


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
