"""What kind of file a name stands for, and opening it: tables as CSV, plain or compressed, and Parquet."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

KINDS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
NAMES = (*KINDS, *(f".csv{ending}" for ending in COMPRESSED))
DAMAGE = (EOFError, zlib.error, lzma.LZMAError)
"""What unpacking a damaged file raises, beside errors of the system."""


def kind_of(path: Path) -> str | None:
    """Return "csv" or "parquet" by the name of a file, or None for any other.

    Only CSV files may be compressed as a whole: Parquet is compressed within.
    """
    ending = path.suffix.lower()
    if ending in COMPRESSED:
        return "csv" if path.with_suffix("").suffix.lower() == ".csv" else None
    return KINDS.get(ending)


@contextmanager
def unpacked(source: Path) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """Give a CSV file for reading, unpacked if its name says so, and a function that says how far it was read.

    Parameters
    ----------
    source : Path
        The file.

    Yields
    ------
    tuple
        The bytes of the table, and a function that returns how many bytes of the file itself were taken.
    """
    with source.open("rb") as file:
        if (kind := COMPRESSED.get(source.suffix.lower())) is None:
            yield file, file.tell
        else:
            with kind(file) as plain:
                yield plain, file.tell


@contextmanager
def packed(target: Path, name: str) -> Iterator[BinaryIO]:
    """Give a CSV file for writing; what is written is compressed if the name that the file will have says so.

    Parameters
    ----------
    target : Path
        The file that is written now; it is there already, and keeps its place on the disk.
    name : str
        The name that it will have.

    Yields
    ------
    BinaryIO
        Where the table goes.
    """
    with target.open("wb") as file:
        ending = Path(name).suffix.lower()
        if ending == ".gz":  # neither the name nor the time of the run belongs into what is given out
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as plain:
                yield plain  # type: ignore[misc]
        elif (kind := COMPRESSED.get(ending)) is not None:
            with kind(file, "wb") as plain:
                yield plain
        else:
            yield file
