"""Parsing files into a table with fixed columns, order and types; errors say what is wrong and what to do."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pandas as pd

from dpfair_lib._progress import Progress
from dpfair_lib.datasets.spec import File, Kind, Layout, Spec

_HTML = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_UNDO = "replace the file by the publisher's"


class DataError(ValueError):
    """A file is there, but its content is not the data set's.

    Examples
    --------
    A file of another content is refused.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dpfair_lib.datasets import DataError, load_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "compas-scores-two-years.csv").write_text("another file")
    ...     try:
    ...         load_table("compas", root=folder, download=False)
    ...     except DataError as error:
    ...         print("expected" in str(error))
    True
    """


def wrong(path: Path | str, *, expected: str, found: str, remedy: str = _UNDO) -> DataError:
    """Return the error that names the file, the expectation, what was found, and the remedy."""
    return DataError(f"{path}: expected {expected}, found {found}; {remedy}")


def read_bytes(path: Path, *, member: str = "*") -> bytes:
    """Read a file that must be neither empty nor a web page; what is compressed, one file of it, is unpacked.

    Parameters
    ----------
    path : Path
        The file.
    member : str
        The name, with ``*`` for anything, that exactly one file in a zip archive must have.

    Returns
    -------
    bytes
        Its content, without a byte-order mark.

    Raises
    ------
    DataError
        If the file is empty, is an HTML page (what a failed download usually leaves), or a damaged archive.
    """
    content = path.read_bytes()
    if path.suffix == ".zip" and content.startswith(b"PK"):
        content = _unpacked(path, content, member)
    if path.suffix == ".gz" and content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except Exception as error:  # as for zip
            raise wrong(path, expected="a gzip file", found=f"a damaged one ({error})") from None
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise wrong(path, expected="a table", found="an empty file")
    if _HTML.match(content):
        remedy = "the page was saved under the data's name: download the file itself"
        raise wrong(path, expected="a table", found="an HTML page", remedy=remedy)
    return content


def _unpacked(path: Path, content: bytes, member: str) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if len(names := [name for name in archive.namelist() if fnmatch(name, member)]) != 1:
                which = "" if member == "*" else f" {member}"
                raise wrong(
                    path, expected=f"an archive of one file{which}", found=f"{len(names)} files{which}"
                )
            return archive.read(names[0])
    except DataError:
        raise
    except Exception as error:  # what zipfile and its codecs raise on a damaged archive has no common class
        raise wrong(path, expected="a zip archive", found=f"a damaged one ({error})") from None


def read_csv(
    path: Path, *, columns: tuple[str, ...] | None = None, comment: str | None = None
) -> pd.DataFrame:
    """Read a comma-separated file as text, exactly as it is, but without spaces around values.

    Parameters
    ----------
    path : Path
        The file.
    columns : tuple of str or None
        The column names of a file without a header row; None if the first row is the header.
    comment : str or None
        Lines that begin so are skipped.

    Returns
    -------
    DataFrame
        One string per cell.

    Raises
    ------
    DataError
        If the file is empty, an HTML page, not UTF-8 text, or if a line has too few or too many fields.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise wrong(path, expected="UTF-8 text", found=f"other bytes at {error.start:,}") from None
    if "\0" in text:
        raise wrong(path, expected="UTF-8 text", found="a binary file")
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    try:
        for row in reader:
            if row and not (comment and row[0].startswith(comment)):
                rows.append([value.strip() for value in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        found = f"at line {reader.line_num:,}: {error}"
        raise wrong(path, expected="comma-separated values", found=found) from None
    if not rows:
        raise wrong(path, expected="a table", found="only comments")
    header = list(columns) if columns else rows[0]
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(header):
            last = ", the last: the file may have been cut off" if line == lines[-1] else ""
            raise wrong(path, expected=f"{len(header)} fields", found=f"{len(row)} in line {line:,}{last}")
    return pd.DataFrame(rows if columns else rows[1:], columns=header, dtype="str")


def canonical(raw: pd.DataFrame, spec: Spec, file: File, path: Path | str) -> pd.DataFrame:
    """Bring one file's frame into the data set's columns, order and types; further columns are left out.

    Column names are compared without regard to case, and with ``_``, ``.`` and spaces read as ``-``.

    Parameters
    ----------
    raw : DataFrame
        As the file was read.
    spec : Spec
        The data set.
    file : File
        What the file should be.
    path : Path or str
        Where it lies, for error messages.

    Returns
    -------
    DataFrame
        The canonical table, rows in the file's order.

    Raises
    ------
    DataError
        If a column is missing or there twice, the number of rows is another, or a value is no number.
    """
    names = [_key(name) for name in raw.columns]
    aliases = {_key(alias): _key(name) for alias, name in spec.renamed.items()}
    names = [aliases.get(name, name) for name in names]
    for column in spec.columns:
        if (times := names.count(_key(column))) != 1:
            found = "it twice" if times else "only " + ", ".join(str(name) for name in raw.columns)
            raise wrong(path, expected=f"a column {column!r}", found=found)
    if file.rows is not None and len(raw) != file.rows:
        short = "it may have been cut off" if len(raw) < file.rows else "rows were added"
        found = f"{len(raw):,}"
        raise wrong(path, expected=f"{file.rows:,} rows", found=found, remedy=f"{short}: {_UNDO}")
    return pd.DataFrame(
        {
            column: _typed(raw.iloc[:, names.index(_key(column))], kind, column, path)
            for column, kind in spec.columns.items()
        }
    )


def read_layout(spec: Spec, layout: Layout, folder: Path) -> pd.DataFrame:
    """Read a data set's files and put their rows together in the layout's order.

    Parameters
    ----------
    spec : Spec
        The data set.
    layout : Layout
        The files.
    folder : Path
        Where they lie.

    Returns
    -------
    DataFrame
        The canonical table, not yet verified.

    Raises
    ------
    DataError
        If one of the files is not what it should be.
    """
    parts, progress = [], Progress(f"files of {spec.name}", len(layout))
    for file in layout:
        parts.append(canonical(file.read(folder / file.name), spec, file, folder / file.name))
        progress.add()
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def _key(name: object) -> str:
    return re.sub(r"[\s._-]+", "-", str(name).strip().lower())


def _typed(values: pd.Series, kind: Kind, column: str, path: Path | str) -> pd.Series:
    values = values.reset_index(drop=True)
    if kind == "str":
        return values.astype("str").str.strip()
    numbers = pd.to_numeric(values, errors="coerce")
    bad = numbers.isna() | (numbers % 1 != 0 if kind == "int" else False)
    if bad.any():
        at = int(bad.to_numpy().argmax())
        expected = f"{'a whole number' if kind == 'int' else 'a number'} in column {column!r}"
        raise wrong(path, expected=expected, found=f"{values[at]!r} in row {at + 1:,} of the table")
    return numbers.astype("int64" if kind == "int" else "float64")
