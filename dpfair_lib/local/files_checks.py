"""What is refused before a file is randomised, and errors that say what is wrong with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpfair_lib._extras import extra
from dpfair_lib.local import files_csv
from dpfair_lib.local.frames import ColumnTypeError, LabelError
from dpfair_lib.local.opened import DAMAGE, NAMES, kind_of
from dpfair_lib.local.releases import statement_path
from dpfair_lib.local.reported_columns import ReportedColumn
from dpfair_lib.local.subsets import SubsetSelection


def kind_of_both(source: Path, target: Path, overwrite: bool) -> str:
    """Return "csv" or "parquet", the kind of two different files; the second may only be there if it is overwritten."""
    kinds = [kind_of(path) for path in (source, target)]
    if None in kinds or kinds[0] != kinds[1]:
        raise ValueError(
            f"source, target: found {source.name} and {target.name}, expected two files of one kind, "
            f"by their names: {', '.join(NAMES)}"
        )
    if not source.is_file():
        raise FileNotFoundError(f"{source}: no such file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder")
    if target.is_dir():
        raise IsADirectoryError(f"{target}: found a folder, expected the name of a file")
    if target.exists() and target.samefile(source):
        raise ValueError(f"target: found the source itself, {target}, expected another file")
    for path in (target, statement_path(target)):
        if path.exists() and not overwrite:
            alone = path != target
            left = "; its file is not there, so a run was interrupted at its very end" if alone else ""
            raise FileExistsError(f"{path}: exists already, and overwrite is not set{left}")
    return str(kinds[0])


@contextlib.contextmanager
def reading(source: Path, kind: str) -> Iterator[None]:
    """Give an error about the content of the source the name of the source, and say what is wrong with it."""
    with extra("files"):
        from pyarrow import ArrowException

    try:
        yield
    except LabelError:
        raise
    except (ValueError, LookupError, OSError, ArrowException, *DAMAGE) as error:
        # the system's errors have a number, and a file of their own; others raise OSError, too
        if source.name in str(error) or (isinstance(error, OSError) and error.errno is not None):
            raise
        if isinstance(error, ColumnTypeError) or (
            kind == "csv" and not isinstance(error, (OSError, *DAMAGE))
        ):
            raise ValueError(f"{source}: {error}") from error
        form = "compressed" if kind == "csv" else "Parquet"
        raise ValueError(
            f"{source}: found a damaged {form} file ({str(error).strip()}), expected a whole one"
        ) from error


def check_form(columns: Sequence[ReportedColumn], kind: str, delimiter: str) -> None:
    """Refuse labels that could not be told apart in a CSV file, and a delimiter where there is none."""
    if kind != "csv":
        if delimiter != ",":
            raise ValueError(f"delimiter: found {delimiter!r} beside a Parquet file, expected a CSV file")
        return
    files_csv.checked_delimiter(delimiter)
    for column in columns:
        if isinstance(column.randomizer, SubsetSelection) and (bad := _marked(column.labels)):
            raise ValueError(
                f"labels: found {bad!r}, expected none with {files_csv.BETWEEN!r}, which divides a set"
            )


def _marked(labels: Sequence[str]) -> str | None:
    return next((label for label in labels if files_csv.BETWEEN in label), None)


def said_of_second(source: Path, column: str, before: Mapping[str, Any], inside: Mapping[str, Any]) -> str:
    """Say what it means that the column is randomised again; nothing if it is not."""
    found = []
    if earlier := before.get(column):
        together = f"{sum(one['epsilon'] for one in earlier):.6g} before this one"
        if not all(one["guarantee"] for one in earlier):
            together = "some of them without a guarantee"
        found.append(
            f"SECOND REPORT: {column} of {source.name} was reported {len(earlier)} time(s) before, into "
            f"{', '.join(one['into'] for one in earlier)}; independent reports of one person can be averaged, and "
            f"their epsilons, {together}, add up; give out the same reports again instead"
        )
    if column in inside:
        found.append(
            f"REPORTS OF REPORTS: {column} of {source.name} holds reports already; this adds noise to them and takes "
            "nothing from their protection; if it is meant to be more private, report once, from the values, at a "
            "smaller epsilon"
        )
    return "; ".join(found)
