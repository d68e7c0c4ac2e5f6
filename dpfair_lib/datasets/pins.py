"""Recorded checksums of the parsed tables: how they are computed and compared.

The checksum is that of the table, not of a file, so that the publisher's format and an equal CSV are both
accepted. It covers values, types, the order of the columns and, since splits depend on it, of the rows.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import numpy as np
import pandas as pd

from dpfair_lib.datasets.canonical_table import wrong
from dpfair_lib.datasets.spec import Spec

WIDE = 64
"""Bytes of the longest value, with its end of line, that are gathered as bytes of one width."""


@dataclass(frozen=True)
class Pins:
    """The checksums of one data set.

    Attributes
    ----------
    rows : int
        Rows of the table.
    table : str
        SHA-256 of the table.
    columns : mapping
        SHA-256 of each column, so that an error can name the one that differs.
    files : mapping
        SHA-256 of the publisher's files, as far as known; a download must have it.
    """

    rows: int
    table: str
    columns: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)


def column_digest(values: pd.Series) -> str:
    """Return the SHA-256 of a column: its values as text, one per line."""
    if values.dtype == object:  # of which pandas takes some values for one that are written differently
        return hashlib.sha256("\n".join(map(str, values.tolist())).encode()).hexdigest()
    floats = values.dtype.kind == "f"
    # each value is written as text once; floats are told apart by their bits, since 0.0 equals −0.0
    keys = values.to_numpy(dtype="float64").view("int64") if floats else values
    codes, distinct = pd.factorize(keys, use_na_sentinel=False)
    plain = distinct.view("float64").tolist() if floats else distinct.tolist()
    lines = [f"{repr(one) if floats else one}\n".encode() for one in plain]
    if max(map(len, lines), default=0) <= WIDE and not any(b"\0" in line for line in lines):
        # bytes of one width are gathered at once; what fills them up is then left out
        text = np.array(lines, dtype=bytes)[codes].tobytes().translate(None, b"\0")
    else:
        text = b"".join(np.array(lines, dtype=object)[codes].tolist())
    return hashlib.sha256(text.removesuffix(b"\n")).hexdigest()


def measure(spec: Spec, table: pd.DataFrame, *, files: Mapping[str, str] | None = None) -> Pins:
    """Compute the checksums of a canonical table.

    Parameters
    ----------
    spec : Spec
        The data set.
    table : DataFrame
        Its canonical table.
    files : mapping or None
        Checksums of the publisher's files, taken over as they are.

    Returns
    -------
    Pins
        The checksums.
    """
    columns = {name: column_digest(table[name]) for name in spec.columns}
    lines = [f"{name}\t{spec.columns[name]}\t{digest}" for name, digest in columns.items()]
    whole = hashlib.sha256("\n".join([str(len(table)), *lines]).encode()).hexdigest()
    return Pins(len(table), whole, columns, dict(files or {}))


def verify(spec: Spec, table: pd.DataFrame, pins: Pins, where: str) -> None:
    """Hold a canonical table against its pinned checksums.

    Parameters
    ----------
    spec : Spec
        The data set.
    table : DataFrame
        What was read.
    pins : Pins
        What it should be.
    where : str
        The files, for the error message.

    Raises
    ------
    DataError
        If the table differs, naming the columns that do.
    """
    if len(table) != pins.rows:
        raise wrong(where, expected=f"{pins.rows:,} rows in all", found=f"{len(table):,}")
    found = measure(spec, table)
    if found.table == pins.table:
        return
    differing = [name for name in spec.columns if found.columns[name] != pins.columns.get(name)]
    some = ", ".join(repr(name) for name in differing) or "none of the columns, but their names or types"
    hint = (
        " (every column: perhaps only the order of the rows)" if len(differing) == len(spec.columns) else ""
    )
    raise wrong(
        where,
        expected=f"the table with SHA-256 {pins.table[:12]}…",
        found=f"{found.table[:12]}…; what differs: {some}{hint}",
        remedy="values were changed or rows moved: replace the file by the publisher's",
    )


@cache
def pinned() -> dict[str, Pins]:
    """Return the pins of every data set, as recorded in ``pins.toml``."""
    text = resources.files(__package__).joinpath("pins.toml").read_text(encoding="utf-8")
    return {name: Pins(**entry) for name, entry in tomllib.loads(text).items()}


def render(pins: Mapping[str, Pins]) -> str:
    """Return the text of ``pins.toml``; what `measure` found is recorded by writing it there.

    Parameters
    ----------
    pins : mapping
        Data set names and their checksums.

    Returns
    -------
    str
        TOML.
    """
    lines = [
        "# SHA-256 of the parsed tables, of their columns, and of the publishers' files.",
        "# Written by dpfair_lib.datasets.pins.render, never by hand.",
    ]
    for name, entry in pins.items():
        lines += ["", f"[{name}]", f"rows = {entry.rows}", f'table = "{entry.table}"']
        for section, digests in (("files", entry.files), ("columns", entry.columns)):
            lines += ["", f"[{name}.{section}]"]
            lines += [f'"{key}" = "{digest}"' for key, digest in digests.items()]
    return "\n".join(lines) + "\n"
