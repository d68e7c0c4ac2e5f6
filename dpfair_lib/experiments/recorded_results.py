"""Recorded results: one small file for each experiment, with all settings needed to repeat it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dpfair_lib._files import write_whole
from dpfair_lib.experiments.provenance import LIBRARY, commit, versions
from dpfair_lib.experiments.provenance import code as whole_library

INSTALLED = LIBRARY / "results"  # where a wheel has them
RESULTS = INSTALLED if INSTALLED.is_dir() else LIBRARY.parent / "results"
FIELDS = (
    "experiment", "parameters", "data", "versions", "code", "commit", "columns", "checksum", "rows",
)  # fmt: skip


def write_record(
    name: str,
    rows: pd.DataFrame,
    *,
    parameters: Mapping[str, Any],
    data: Mapping[str, Any],
    folder: Path = RESULTS,
    code: str | None = None,
) -> Path:
    """Write results with their provenance, in one step: the file is whole or not there.

    Parameters
    ----------
    name : str
        Name of the experiment and of the file, without suffix.
    rows : DataFrame
        One row per trial and method; floats are rounded to ten digits.
    parameters : mapping
        Everything that was chosen, seeds among it.
    data : mapping
        Name and checksum of the data.
    folder : Path
        Where to write.
    code : str, optional
        Digest of the code that the results depend on; by default that of the whole library.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from dpfair_lib.experiments import read_record, write_record
    >>> folder, rows = Path(tempfile.mkdtemp()), pd.DataFrame({"seed": [0, 1], "error": [0.2, 0.3]})
    >>> _ = write_record("tried", rows, parameters={"n": 100}, data={}, folder=folder)
    >>> read_record("tried", folder=folder)[0]
       seed  error
    0     0    0.2
    1     1    0.3
    """
    record = {
        "experiment": name,
        "parameters": dict(parameters),
        "data": dict(data),
        "versions": versions(),
        "code": whole_library() if code is None else code,
        "commit": commit(),
        "columns": list(rows.columns),
    }
    lines = [[_rounded(cell) for cell in row] for row in rows.itertuples(index=False)]
    record["checksum"] = checksum({**record, "rows": lines})
    head = json.dumps(record, indent=1, ensure_ascii=False)[:-2]
    text = ",\n".join("  " + json.dumps(line, ensure_ascii=False) for line in lines)
    target = folder / f"{name}.json"
    write_whole(target, f'{head},\n "rows": [\n{text}\n ]\n}}\n')
    return target


def read_record(name: str, *, folder: Path = RESULTS) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the rows of a recorded experiment, and its provenance.

    Parameters
    ----------
    name : str
        Name of the experiment.
    folder : Path
        Where its file is.

    Returns
    -------
    rows, provenance : DataFrame, dict
        The latter with ``experiment, parameters, data, versions, code, commit``.

    Raises
    ------
    FileNotFoundError
        If there is no such record.
    ValueError
        If the file is not a whole record, was altered since it was written, or is another experiment's.

    Examples
    --------
    >>> from dpfair_lib.experiments import read_record
    >>> rows, provenance = read_record("isit-tables-adult")
    >>> "accuracy" in rows, provenance["experiment"]
    (True, 'isit-tables-adult')
    """
    path = folder / f"{name}.json"
    again = f'`make record ONLY="{name}"` makes it from the data'
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such record; {again}")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: found broken JSON ({error}), expected a record; {again}") from None
    missing = [field for field in FIELDS if not isinstance(record, dict) or field not in record]
    if missing:
        raise ValueError(
            f"{path}: found no {', '.join(missing)}, expected the fields {', '.join(FIELDS)}; {again}"
        )
    if record.pop("checksum") != checksum(record):
        raise ValueError(
            f"{path}: found content that does not fit its checksum, expected it as recorded; {again}"
        )
    if record["experiment"] != name:
        raise ValueError(
            f"{path}: found the record of {record['experiment']!r}, expected that of {name!r}; {again}"
        )
    rows = pd.DataFrame(record.pop("rows"), columns=record.pop("columns"))
    return rows, record


def checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256, in hexadecimal, of content as it comes back from JSON."""
    plain = json.loads(json.dumps(content))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _rounded(cell: Any) -> Any:
    return round(cell, 10) if isinstance(cell, float) else cell
