"""Replacing columns of a CSV or Parquet file by random reports, with a privacy statement in a file of its own."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpfair_lib._files import sync, whole_file
from dpfair_lib.local import files_csv, files_parquet
from dpfair_lib.local.files_checks import check_form, kind_of_both, reading, said_of_second
from dpfair_lib.local.frames import Missing
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.releases import (
    KEY,
    Releases,
    as_json,
    record_path,
    release,
    releases_of,
    reports_from,
    statement_path,
)  # fmt: skip
from dpfair_lib.local.reported_columns import (
    ReportedColumn,
    checked,
    cleaning,
    drawing,
    joint_record,
    joint_statement,
    statement_of,
)
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.statements import PrivacyStatement

PASSED_ON = "the other columns, the order of the rows and the file's metadata are passed on as they are"
Progress = Callable[[int, int], None]
_log = logging.getLogger(__name__)


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
    missing: Missing = "refuse",
    delimiter: str = ",",
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
        Files of one kind: ``.csv``, or ``.parquet`` or ``.pq``. A CSV file may be compressed, by its name: ``.csv.gz``,
        ``.csv.bz2`` or ``.csv.xz``.
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
    missing : {"refuse", "label", "public"}
        What becomes of missing values, which are empty fields of a CSV file; see `randomize_frame`. The statement says
        it.
    delimiter : str
        The character between two fields of a CSV file.
    terms : mapping, optional
        How the channel was chosen, in plain values; copied into the statement.
    note : str
        What the choice assumes; copied into the statement.
    progress : callable, optional
        Called repeatedly with the amount done and the total, in rows (Parquet) or bytes of the source (CSV).

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
        If a value is not among the labels, or missing where that is refused (the message names the row); if the files
        are of different kinds, damaged, or the same file; if the source's list of reports cannot be read; if labels,
        column and randomiser do not fit.

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
    own = ReportedColumn(column, randomizer, labels, missing, terms or {}, note)
    return _randomize(
        source, target, [own], delimiter=delimiter, seed=seed, overwrite=overwrite, progress=progress
    )


def randomize_columns(
    source: str | Path,
    target: str | Path,
    columns: Sequence[ReportedColumn],
    *,
    delimiter: str = ",",
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> PrivacyStatement:
    """Copy a CSV or Parquet file with several columns replaced by random reports, and state what they cost together.

    It does what `randomize_file` does, for all columns in one pass. Each column has its own labels, channel and ε.

    Parameters
    ----------
    source, target : str or Path
        See `randomize_file`.
    columns : sequence of ReportedColumn
        The columns, each once.
    delimiter, seed, overwrite, progress
        See `randomize_file`.

    Returns
    -------
    PrivacyStatement
        What all reports of one person cost together, with the statements of the columns as its parts. For one column,
        what its report costs.

    Raises
    ------
    OSError, ValueError
        As `randomize_file`; also if a column is given twice.

    Warns
    -----
    SecondReportWarning, CutOffWarning
        As `randomize_file`.

    Notes
    -----
    The relation is "local": one person's own input changes, here the values in all these columns. The reports are drawn
    independently. So the probability of the reports y of a person with the values x is the product of Q_j(y_j | x_j),
    and its ratio for x and x′ is a product of ratios, each at most e^(ε_j). Hence the joint ε is the sum of the ε_j. It
    is no smaller: where all values may change at once, every factor reaches its bound. A person of whom one value
    changes alone is protected with that column's ε.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import ReportedColumn, randomize_columns
    >>> group = ReportedColumn("group", dpf.generalized_randomized_response(2, 1.0), ["a", "b"])
    >>> vote = ReportedColumn("vote", dpf.generalized_randomized_response(2, 0.5), ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = Path(folder) / "people.csv", Path(folder) / "reports.csv"
    ...     pd.DataFrame({"group": ["a", "b"], "vote": ["no", "yes"]}).to_csv(source, index=False)
    ...     statement = randomize_columns(source, target, [group, vote])
    >>> round(statement.epsilon, 6), [round(part.epsilon, 6) for part in statement.parts]
    (1.5, [1.0, 0.5])
    """
    return _randomize(
        source,
        target,
        checked(columns),
        delimiter=delimiter,
        seed=seed,
        overwrite=overwrite,
        progress=progress,
    )


def _randomize(
    source: str | Path,
    target: str | Path,
    columns: list[ReportedColumn],
    *,
    delimiter: str,
    seed: int | None,
    overwrite: bool,
    progress: Progress | None,
) -> PrivacyStatement:
    """Do what `randomize_columns` does."""
    source, target = Path(source), Path(target)
    kind = kind_of_both(source, target, overwrite)
    check_form(columns, kind, delimiter)
    before = reports_from(source)
    with reading(source, kind):
        inside = releases_of(source)
    noise = NoiseSource.given(None if seed is None else np.random.default_rng(seed))
    releases, statements = dict(inside), []
    for one in columns:
        statement = _with_notes(one, source, before, inside, noise)
        statements.append(statement)
        terms = {**one.terms, "labels": one.labels, "missing": one.missing, "seeded": seed is not None}
        made = release(statement, terms, before.get(one.name, []))
        releases[one.name] = [*inside.get(one.name, []), made]
    text = as_json(target.name, releases, joint_record(releases))
    with whole_file(target, wait=False, like=source, left=_cut_off) as partial:
        with reading(source, kind):
            _rewrite(source, partial, target.name, kind, columns, noise, delimiter, text, progress)
        sync(partial)
        with whole_file(statement_path(target)) as beside:
            beside.write_text(text, encoding="utf-8")
            sync(beside)  # a full disk is known by now, before anything that was there is touched
            # first, so that no report is ever out that the record does not know
            _remember(
                source, target, dict(zip([one.name for one in columns], statements, strict=True)), before
            )
            _make_room(target, overwrite)
    _log.info("%s: written, with reports of %s", target.name, ", ".join(one.name for one in columns))
    return joint_statement(columns, statements)


def _rewrite(
    source: Path,
    partial: Path,
    name: str,
    kind: str,
    columns: list[ReportedColumn],
    noise: NoiseSource,
    delimiter: str,
    text: str,
    progress: Progress | None,
) -> None:
    names, draw = [one.name for one in columns], drawing(columns, noise)
    report = progress or (lambda *_: None)
    if kind == "csv":
        files_csv.rewrite(source, partial, names, draw, name=name, delimiter=delimiter, progress=report)
    else:
        files_parquet.rewrite(
            source,
            partial,
            names,
            draw,
            metadata={KEY: text.encode()},
            cleaned=cleaning(columns),
            progress=report,
        )


def _with_notes(
    column: ReportedColumn, source: Path, before: Releases, inside: Releases, noise: NoiseSource
) -> PrivacyStatement:
    """Return a column's statement with all that is to be said of it; a second report is warned of."""
    statement = statement_of(column, noise.noise)
    warning = said_of_second(source, column.name, before, inside)
    if warning:
        warnings.warn(warning, SecondReportWarning, stacklevel=4)
    return replace(statement, note="; ".join(filter(None, [statement.note, PASSED_ON, column.note, warning])))


def _cut_off(partial: Path) -> None:
    warnings.warn(f"{partial}: removed; an interrupted run had left it", CutOffWarning, stacklevel=7)


def _make_room(target: Path, overwrite: bool) -> None:
    """Remove the target's predecessor, so that at no moment a file has another one's statement."""
    if overwrite:
        target.unlink(missing_ok=True)
    elif target.exists():
        raise FileExistsError(f"{target}: was created in the meantime, and overwrite is not set")


def _remember(
    source: Path, target: Path, statements: Mapping[str, PrivacyStatement], before: Releases
) -> None:
    """Add the reports to the source's record; other processes may be adding theirs at the same time.

    Raises
    ------
    ValueError
        If a column was reported meanwhile, which the statement does not say.
    """
    record = record_path(source)
    try:
        with whole_file(record, like=source) as partial:
            columns = reports_from(source)
            for column, statement in statements.items():
                known = before.get(column, [])
                if columns.get(column, []) != known:
                    raise ValueError(
                        f"{record}: {column} of {source.name} was reported into {columns[column][-1]['into']} in the "
                        "meantime, which this statement would not mention; nothing was written, run the command again"
                    )
                line = {"into": target.name, "epsilon": statement.epsilon, "guarantee": statement.guarantee}
                columns[column] = [*known, line]
            partial.write_text(as_json(source.name, columns), encoding="utf-8")
    except OSError as error:
        warnings.warn(
            f"{record}: could not be written ({error}); a second report of {', '.join(statements)} of {source.name} "
            "will not cause a warning",
            SecondReportWarning,
            stacklevel=4,
        )
