"""Replacing one column of a CSV or Parquet file by random reports, with a privacy statement in a file of its own."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpfair_lib._extras import extra
from dpfair_lib._files import sync, whole_file
from dpfair_lib.local import files_csv, files_parquet
from dpfair_lib.local.frames import LabelError, as_labels, randomize_frame
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.releases import (
    KEY,
    as_json,
    record_path,
    release,
    releases_of,
    reports_from,
    statement_path,
)  # fmt: skip
from dpfair_lib.local.subsets import SubsetSelection
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.statements import PrivacyStatement

KINDS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
PASSED_ON = "the other columns, the order of the rows and the file's metadata are passed on as they are"
Progress = Callable[[int, int], None]


class SecondReportWarning(UserWarning):
    """The same column is randomised a second time.

    Examples
    --------
    >>> import tempfile
    >>> import warnings
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import randomize_file
    >>> channel = dpf.generalized_randomized_response(2, 1.0)
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     source = Path(folder) / "people.csv"
    ...     pd.DataFrame({"group": ["a", "b"]}).to_csv(source, index=False)
    ...     for name in ("first.csv", "second.csv"):
    ...         _ = randomize_file(source, Path(folder) / name, "group", channel, labels=["a", "b"])
    >>> [warning.category.__name__ for warning in said]
    ['SecondReportWarning']
    """


class CutOffWarning(UserWarning):
    """An earlier run was interrupted and left an unfinished file, which was removed.

    Examples
    --------
    >>> import tempfile
    >>> import warnings
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import randomize_file
    >>> channel = dpf.generalized_randomized_response(2, 1.0)
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     source, target = Path(folder) / "people.csv", Path(folder) / "reports.csv"
    ...     pd.DataFrame({"group": ["a", "b"]}).to_csv(source, index=False)
    ...     _ = (Path(folder) / ".reports.csv.partial").write_text("half a file")
    ...     _ = randomize_file(source, target, "group", channel, labels=["a", "b"])
    >>> [warning.category.__name__ for warning in said]
    ['CutOffWarning']
    """


def randomize_file(
    source: str | Path,
    target: str | Path,
    column: str,
    randomizer: Randomizer,
    *,
    labels: Sequence[str],
    seed: int | None = None,
    overwrite: bool = False,
    terms: Mapping[str, Any] | None = None,
    note: str = "",
    progress: Progress | None = None,
) -> PrivacyStatement:
    """Copy a CSV or Parquet file with one column replaced by random reports, and write a privacy statement.

    The file is processed in pieces, so its size does not matter. Until the copy is complete it is called
    ``.TARGET.partial`` and only its owner may read it; then it gets its name. The statement, ``TARGET.privacy.json``,
    is written before. A Parquet file also has the statement in its metadata. The copy is never readable by more users
    than the source.

    ``SOURCE.reports.json``, in the source's folder, lists which columns were reported, and with which ε. It causes a
    warning if a column is reported twice, because independent reports of one person can be averaged.

    Parameters
    ----------
    source, target : str or Path
        Files of one kind: ``.csv``, or ``.parquet`` or ``.pq``.
    column : str
        The column with the sensitive attribute.
    randomizer : Randomizer
        The channel. Its values are numbered in the order of the labels.
    labels : sequence of str
        All possible values. They are public and must not be taken from the data. In a column of numbers they are read
        as numbers.
    seed : int, optional
        For experiments only: anybody who knows the seed can draw the same reports, so nothing is protected. By default
        the randomness comes from the operating system.
    overwrite : bool
        Whether an existing target may be replaced. It is removed when the new file is complete.
    terms : mapping, optional
        How the channel was chosen, in plain values; copied into the statement.
    note : str
        What the choice assumes; copied into the statement.
    progress : callable, optional
        Called repeatedly with the amount done and the total, in rows (Parquet) or bytes (CSV).

    Returns
    -------
    PrivacyStatement
        What one report costs.

    Raises
    ------
    FileNotFoundError
        If the source does not exist.
    FileExistsError
        If the target or its statement exists, and ``overwrite`` is False.
    BlockingIOError
        If another process is writing the same target.
    OSError
        If the target or its statement cannot be written. Existing files are then unchanged.
    ValueError
        If a value is missing or not among the labels (the message names the row); if the files are of different kinds,
        or the same file; if the source's list of reports cannot be read; if labels, column and randomiser do
        not fit.

    Warns
    -----
    SecondReportWarning
        If the column was reported from this source before, or if the source's column already contains reports.
    CutOffWarning
        If an earlier run into the same target was interrupted and left an unfinished file, which is removed.

    Notes
    -----
    Reports of subset selection are sets. In Parquet the column becomes a list of its type; in CSV a field contains the
    labels with ``|`` between them. The other columns and the source's metadata are copied unchanged, except for the
    number of categories that pandas may have stored for the column; whatever else they reveal is public. Encodings,
    pages and indexes of a Parquet file are made again. A copy of the source is not recognised: copy the list of reports
    with it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import randomize_file
    >>> channel = dpf.generalized_randomized_response(2, 1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = Path(folder) / "people.csv", Path(folder) / "reports.csv"
    ...     pd.DataFrame({"age": [30, 40], "group": ["a", "b"]}).to_csv(source, index=False)
    ...     statement = randomize_file(source, target, "group", channel, labels=["a", "b"])
    ...     print(round(statement.epsilon, 9), sorted(path.name for path in Path(folder).iterdir()))
    1.0 ['people.csv', 'people.csv.reports.json', 'reports.csv', 'reports.csv.privacy.json']
    """
    source, target = Path(source), Path(target)
    kind = _kind(source, target, overwrite)
    listed = as_labels(labels, randomizer)
    if kind == "csv" and isinstance(randomizer, SubsetSelection) and (bad := _marked(listed)):
        raise ValueError(
            f"labels: found {bad!r}, expected none with {files_csv.BETWEEN!r}, which divides a set"
        )
    before = reports_from(source)
    with _reading(source, kind):
        inside = releases_of(source)
    noise = NoiseSource.given(None if seed is None else np.random.default_rng(seed))
    statement = randomizer.privacy_statement(attribute=column, noise=noise.noise)
    warning = _second(source, column, before, inside)
    statement = replace(statement, note="; ".join(filter(None, [statement.note, PASSED_ON, note, warning])))
    if warning:
        warnings.warn(warning, SecondReportWarning, stacklevel=2)
    made = release(
        statement, {**(terms or {}), "labels": listed, "seeded": seed is not None}, before.get(column, [])
    )
    columns = {**inside, column: [*inside.get(column, []), made]}
    text = as_json(target.name, columns)
    draw = _drawing(column, randomizer, listed, noise)
    report_progress = progress or (lambda *_: None)

    with whole_file(target, wait=False, like=source, left=_cut_off) as partial:
        with _reading(source, kind):
            if kind == "csv":
                files_csv.rewrite(source, partial, column, draw, progress=report_progress)
            else:
                files_parquet.rewrite(
                    source, partial, column, draw, metadata={KEY: text.encode()}, progress=report_progress
                )
        sync(partial)
        with whole_file(statement_path(target)) as beside:
            beside.write_text(text, encoding="utf-8")
            sync(beside)  # a full disk is known by now, before anything that was there is touched
            # first, so that no report is ever out that the record does not know
            _remember(source, target, column, statement, before.get(column, []))
            _make_room(target, overwrite)
    return statement


def _cut_off(partial: Path) -> None:
    warnings.warn(f"{partial}: removed; an interrupted run had left it", CutOffWarning, stacklevel=6)


def _kind(source: Path, target: Path, overwrite: bool) -> str:
    kinds = [KINDS.get(path.suffix.lower()) for path in (source, target)]
    if None in kinds or kinds[0] != kinds[1]:
        raise ValueError(
            f"source, target: found {source.name} and {target.name}, expected two files of one kind, "
            f"by their names: {', '.join(KINDS)}"
        )
    if not source.is_file():
        raise FileNotFoundError(f"{source}: no such file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder")
    if target.exists() and target.samefile(source):
        raise ValueError(f"target: found the source itself, {target}, expected another file")
    for path in (target, statement_path(target)):
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path}: exists already, and overwrite is not set")
    return str(kinds[0])


@contextlib.contextmanager
def _reading(source: Path, kind: str) -> Iterator[None]:
    """Give an error about the content of the source the name of the source, and say what is wrong with it."""
    with extra("files"):
        from pyarrow import ArrowException

    try:
        yield
    except LabelError:
        raise
    except (ValueError, LookupError, OSError, ArrowException) as error:
        # the system's errors have a number, and a file of their own; pyarrow raises others as OSError, too
        if source.name in str(error) or (isinstance(error, OSError) and error.errno is not None):
            raise
        if kind == "csv":
            raise ValueError(f"{source}: {error}") from error
        raise ValueError(
            f"{source}: found a damaged Parquet file ({str(error).strip()}), expected a whole one"
        ) from error


def _marked(labels: Sequence[str]) -> str | None:
    return next((label for label in labels if files_csv.BETWEEN in label), None)


def _second(source: Path, column: str, before: Mapping[str, Any], inside: Mapping[str, Any]) -> str:
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


def _drawing(
    column: str, randomizer: Randomizer, labels: Sequence[str], noise: NoiseSource
) -> Callable[[Any], Any]:
    """Return the function that replaces the column in a piece; it counts rows, so that an error names the row."""
    rows = 0

    def draw(piece: Any) -> Any:
        nonlocal rows
        try:
            drawn = randomize_frame(
                piece, column, randomizer, labels=labels, noise=noise.noise, rng=noise.generator
            )
        except LabelError as error:
            raise error.after(rows) from None
        rows += piece.num_rows
        return drawn

    return draw


def _make_room(target: Path, overwrite: bool) -> None:
    """Remove the target's predecessor, so that at no moment a file has another one's statement."""
    if overwrite:
        target.unlink(missing_ok=True)
    elif target.exists():
        raise FileExistsError(f"{target}: was created in the meantime, and overwrite is not set")


def _remember(
    source: Path, target: Path, column: str, statement: PrivacyStatement, known: Sequence[Mapping[str, Any]]
) -> None:
    """Add the reports to the source's record; other processes may be adding theirs at the same time.

    Raises
    ------
    ValueError
        If the column was reported meanwhile, which the statement does not say.
    """
    line = {"into": target.name, "epsilon": statement.epsilon, "guarantee": statement.guarantee}
    record = record_path(source)
    try:
        with whole_file(record, like=source) as partial:
            columns = reports_from(source)
            if columns.get(column, []) != known:
                raise ValueError(
                    f"{record}: {column} of {source.name} was reported into {columns[column][-1]['into']} in "
                    "the meantime, which this statement would not mention; nothing was written, run the command again"
                )
            columns[column] = [*known, line]
            partial.write_text(as_json(source.name, columns), encoding="utf-8")
    except OSError as error:
        warnings.warn(
            f"{record}: could not be written ({error}); a second report of {column} of {source.name} "
            "will not cause a warning",
            SecondReportWarning,
            stacklevel=3,
        )
