"""The statement that goes with a randomised file, and the note in its source's folder of what was reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpfair_lib.local.files_parquet import metadata_of
from dpfair_lib.local.opened import kind_of
from dpfair_lib.privacy.rounding import sum_above
from dpfair_lib.privacy.statements import PrivacyStatement

STATEMENT, RECORD = ".privacy.json", ".reports.json"
KEY = b"dpfair_lib.privacy"

Releases = dict[str, list[dict[str, Any]]]


def statement_path(path: Path) -> Path:
    """Return where the privacy statement of a randomised file is: it is published with the file."""
    return path.with_name(path.name + STATEMENT)


def record_path(path: Path) -> Path:
    """Return the record of what was reported from a file: it stays with the file, and is not published."""
    return path.with_name(path.name + RECORD)


def release(
    statement: PrivacyStatement, terms: Mapping[str, Any], earlier: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what is recorded of one randomised column, as plain values.

    Parameters
    ----------
    statement : PrivacyStatement
        Of the reports.
    terms : mapping
        How they were made.
    earlier : list
        The record of independent reports of the same values. Their ε is added; where one has no guarantee there is
        no sum, and None in its place.
    """
    total: float | None = statement.epsilon
    if not statement.guarantee or not all(one["guarantee"] for one in earlier):
        total = None
    elif earlier:
        total = sum_above([statement.epsilon, *(one["epsilon"] for one in earlier)])
    return {
        **terms, "statement": json.loads(statement.to_json()), "text": str(statement),
        "earlier_reports": [dict(one) for one in earlier],
        "epsilon_with_earlier_reports": total,
    }  # fmt: skip


def releases_of(path: Path) -> Releases:
    """Return what has been randomised in a file: by its statement, or the metadata of a Parquet file.

    Raises
    ------
    ValueError
        If a statement is there and cannot be read.
    """
    beside = statement_path(path)
    if beside.exists():
        return _columns(beside.read_bytes(), str(beside))
    if kind_of(path) == "parquet" and (inside := metadata_of(path).get(KEY)):
        return _columns(inside, f"{path}: metadata")
    return {}


def reports_from(path: Path) -> Releases:
    """Return the record of what has been reported from a file; empty if nothing was.

    Raises
    ------
    ValueError
        If the record is there and cannot be read.
    """
    record = record_path(path)
    return _columns(record.read_bytes(), str(record)) if record.exists() else {}


def _columns(text: bytes, where: str) -> Releases:
    try:
        columns = json.loads(text)["columns"]
        return {str(column): [dict(one) for one in made] for column, made in columns.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{where}: found no record of randomised columns ({error}), expected one") from None


def as_json(file: str, columns: Releases, joint: Mapping[str, Any] | None = None) -> str:
    """Return the text of a statement or a record; what all columns cost together stands in it where it is given."""
    both = {} if joint is None else {"joint": joint}
    return json.dumps({"file": file, "columns": columns, **both}, indent=1, ensure_ascii=False) + "\n"
