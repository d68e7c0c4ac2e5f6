"""Parquet copies of verified tables in the user's cache, so that a large one is parsed once.

A copy is named after its data set, and carries the checksums of the files that it was made from. It is used only if the
files are the same now, and if the table that is read from it has the pinned checksum. Otherwise it is made again. So a
copy can save time, and nothing else: what it holds is never taken on trust.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dpfair_lib._extras import MissingExtraError, extra
from dpfair_lib._files import whole_file
from dpfair_lib.datasets.pins import Pins, measure
from dpfair_lib.datasets.spec import Kind, Layout, Spec

KEY = b"dpfair_lib.copy"
FOLDER = "copies"
LARGE = 100_000
"""Tables with fewer rows are not copied: they are parsed in the time that it takes to import what reads Parquet."""

TYPES: Mapping[Kind, str] = {"int": "int64", "float": "float64", "str": "str"}
_log = logging.getLogger(__name__)


def checksums(layout: Layout, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the files of a table, as they are now.

    Parameters
    ----------
    layout : Layout
        The files.
    folder : Path
        Where they lie.

    Returns
    -------
    dict
        For each name its checksum.
    """
    found = {}
    for file in layout:
        with (folder / file.name).open("rb") as content:
            found[file.name] = hashlib.file_digest(content, "sha256").hexdigest()
    return found


def place(spec: Spec, cache: Path) -> Path:
    """Return where the copy of a table is, in the user's cache."""
    return cache / FOLDER / f"{spec.name}.parquet"


def take(spec: Spec, pins: Pins, made_from: Mapping[str, str], cache: Path) -> pd.DataFrame | None:
    """Return the table from its copy if that is whole, was made from these files, and has the pinned checksum.

    Parameters
    ----------
    spec : Spec
        The data set.
    pins : Pins
        Its checksums.
    made_from : mapping
        The checksums of the files now.
    cache : Path
        The user's cache.

    Returns
    -------
    DataFrame or None
        The canonical table; None if there is no such copy, or pyarrow is missing.
    """
    path = place(spec, cache)
    if not path.is_file():
        return None
    try:
        with extra("files"):
            import pyarrow.parquet as pq
    except MissingExtraError:
        return None
    try:
        read = pq.read_table(path, use_threads=False)
        noted = json.loads((read.schema.metadata or {}).get(KEY, b"null"))
        if noted != dict(made_from):
            _log.info("%s: %s was made from other files; it is made again", spec.name, path)
            return None
        table = _typed(read, spec)
        right = measure(spec, table).table == pins.table
    except Exception as error:  # what a damaged file of this format raises has no common class
        _log.info("%s: %s cannot be read (%s); it is made again", spec.name, path, error)
        return None
    if not right:
        _log.info("%s: %s has another checksum than is pinned; it is made again", spec.name, path)
        return None
    _log.info("%s: %s was used, and verified", spec.name, path)
    return table


def keep(spec: Spec, table: pd.DataFrame, made_from: Mapping[str, str], cache: Path) -> None:
    """Write the copy of a table that was verified. What prevents it is logged, and does no harm.

    Parameters
    ----------
    spec : Spec
        The data set.
    table : DataFrame
        Its canonical table, verified.
    made_from : mapping
        The checksums of the files that it was read from.
    cache : Path
        The user's cache; made if it is not there.
    """
    path = place(spec, cache)
    try:
        with extra("files"):
            import pyarrow as pa
            import pyarrow.parquet as pq
        content = pa.table({name: pa.array(_plain(table[name])) for name in spec.columns})
        content = content.replace_schema_metadata({KEY: json.dumps(dict(made_from)).encode()})
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, wait=False) as partial:
            pq.write_table(content, partial)
    except (MissingExtraError, OSError) as error:
        _log.info("%s: no copy was kept (%s)", spec.name, error)
    else:
        _log.info("%s: %s was written", spec.name, path)


def _plain(values: pd.Series) -> Any:
    return values.tolist() if values.dtype.kind not in "if" else values.to_numpy()


def _typed(read: Any, spec: Spec) -> pd.DataFrame:
    """Return the columns in canonical order, with the types that parsing the files gives."""
    columns = {}
    for name, kind in spec.columns.items():
        if kind == "str":
            columns[name] = pd.Series(read[name].to_pandas(), dtype=TYPES[kind])
        else:
            values = read[name].to_numpy()
            columns[name] = pd.Series(values, dtype=TYPES[kind], copy=not values.flags.writeable)
    return pd.DataFrame(columns, copy=False)
