"""Compute ``pins.toml`` and ``standin.toml`` from files on disk, when a data set is added or updated.

This command does not verify the files: compare them with the publisher's before recording them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from dpfair_lib._files import write_whole
from dpfair_lib.datasets import pins, standin
from dpfair_lib.datasets.canonical_table import read_layout
from dpfair_lib.datasets.find import find
from dpfair_lib.datasets.spec import Spec


def measure(spec: Spec, root: Path, files: Mapping[str, str]) -> tuple[pins.Pins, standin.Facts]:
    """Compute one data set's pins and facts.

    Parameters
    ----------
    spec : Spec
        The data set.
    root : Path
        A folder with its files, or with a folder of its name that has them.
    files : mapping
        SHA-256 of the publisher's files, as far as known.

    Returns
    -------
    pins : Pins
        Checksums of the table as published.
    facts : mapping
        What the stand-in is drawn from.

    Raises
    ------
    FileNotFoundError
        If the files are not there.
    DataError
        If they are no table of the right shape.
    """
    table = _read(spec, root)
    return pins.measure(spec, table, files=files), standin.describe(spec.clean(table), spec)


def write(
    folder: Path, specs: Mapping[str, Spec], *, root: Path, files: Mapping[str, Mapping[str, str]]
) -> None:
    """Write both TOML files.

    Parameters
    ----------
    folder : Path
        Where to write them; the package's own folder to take effect.
    specs : mapping
        The data sets.
    root : Path
        A folder with one folder for each data set.
    files : mapping
        For each data set, SHA-256 of the publisher's files, as far as known.

    Raises
    ------
    FileNotFoundError
        If a data set's files are not there.
    DataError
        If they are no table of the right shape.
    """
    measured = {name: measure(spec, root, files.get(name, {})) for name, spec in specs.items()}
    all_pins = {name: found for name, (found, _) in measured.items()}
    facts = {name: found for name, (_, found) in measured.items()}
    write_whole(folder / "pins.toml", pins.render(all_pins))
    write_whole(folder / "standin.toml", standin.render(facts))


def _read(spec: Spec, root: Path) -> pd.DataFrame:
    found = find(spec, root=root)
    if found is None or found.kind != "root":
        raise FileNotFoundError(f"{spec.name}: found no files in {root}")
    return read_layout(spec, found.layout, found.folder)
