"""Releases of people's own reports: channels, columns of tables, and columns of files."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from cases import Case, Data, Pairs

import dpfair_lib as dpf
from dpfair_lib.local.files import randomize_file
from dpfair_lib.local.frames import randomize_frame
from dpfair_lib.local.reported_columns import drawing
from dpfair_lib.local.response import GeneralizedRandomizedResponse
from dpfair_lib.local.subsets import SubsetSelection

# labels that need quotes in a CSV file, sort before others, or are longer than all others
LABELS = ["b", 'a "quoted", longer one', " c"]
CHANNEL = dpf.Randomizer([[0.5, 0.25, 0.25], [0.2, 0.6, 0.2], [0.25, 0.25, 0.5]])
CHANNELS = {
    "matrix": CHANNEL,
    "response": dpf.generalized_randomized_response(3, 1.0),
    "subsets": dpf.subset_selection(3, 1.0, size=2),
}
KINDS: dict[str, Any] = {
    "matrix": dpf.Randomizer,
    "response": GeneralizedRandomizedResponse,
    "subsets": SubsetSelection,
}


def _values() -> Data:
    return {"values": np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 2])}


def _value_pairs() -> Pairs:
    plain = _values()["values"]
    starts = {"mixed": plain, "all alike": np.ones(12, dtype=int), "one person": plain[:1]}
    found: Pairs = {}
    for name, start in starts.items():
        for at, value in {(0, 2), (0, 1 - start[0]), (-1, 0), (-1, 2)}:
            other = start.copy()
            other[at] = value
            if (other != start).any():
                found[f"{name}, person {at} has {value}"] = ({"values": start}, {"values": other})
    return found


def _case(
    name: str, covers: tuple[Any, ...], make: Callable[[str, Any], Any], numbers: Callable[[Any], Any]
) -> Case:
    return Case(
        name=name, covers=covers, relation="local", make=make, data=_values, pairs=_value_pairs, asked=None,
        numbers=lambda released: np.asarray(numbers(released), dtype=float).ravel(), through=None,
        noisy=frozenset({"value"}), local=True,
    )  # fmt: skip


def _channel(kind: str) -> Case:
    def make(noise: str, seed: Any) -> Any:
        source = None if noise == "secure" else np.random.default_rng(seed)
        return lambda values: CHANNELS[kind].apply(values, source)

    return _case(f"reports, {kind}", (KINDS[kind],), make, lambda reports: reports)


def _names(values: Any, labels: list[Any]) -> list[Any]:
    """Return the labels of values; what has none is missing."""
    return [labels[value] if value < len(labels) else None for value in values]


def _place(report: Any, labels: list[Any]) -> int:
    return labels.index(report) if report in labels else len(labels)


def _as_frame(form: str, values: Any, labels: list[Any]) -> Any:
    """Return a table with other columns beside, as the form says; of categories only those that occur are known."""
    names = _names(values, labels)
    # numbers have another type in pandas where one is missing, as in any file that it reads
    whole = None not in names
    kind = "str" if form != "numbers" else "int64" if whole else "float64"
    frame = pd.DataFrame({"at": range(len(values)), "own": pd.Series(names, dtype=kind)})
    if form == "categories":
        frame["own"] = frame["own"].astype("category")
    if form == "arrow":
        return pa.Table.from_pandas(frame)
    if form == "dictionary":
        return pa.Table.from_pandas(frame.assign(own=frame["own"].astype("category")))
    return frame


def _said(missing: str) -> str:
    return "" if missing == "refuse" else f", missing {missing}"


def _frame(form: str, channel: str, missing: str = "refuse") -> Case:
    labels: list[Any] = [0, 1, 2] if form == "numbers" else LABELS
    labels = labels[:2] if missing == "label" else labels

    def make(noise: str, seed: Any) -> Any:
        source = None if noise == "secure" else np.random.default_rng(seed)

        def released(values: Any) -> Any:
            return randomize_frame(
                _as_frame(form, values, labels), "own", CHANNELS[channel], labels=labels, missing=missing,
                noise=noise, rng=source,
            )  # fmt: skip

        return released

    def numbers(table: Any) -> list[float]:
        reports = table["own"].to_pylist() if isinstance(table, pa.Table) else table["own"].tolist()
        sets = [one if isinstance(one, list) else [one] for one in reports]
        return [float(sum(1 << _place(label, labels) for label in one)) for one in sets]

    return _case(f"column, {form}, {channel}{_said(missing)}", (randomize_frame,), make, numbers)


def _file(kind: str, channel: str, missing: str = "refuse") -> Case:
    labels = LABELS[:2] if missing == "label" else LABELS

    def released(values: Any, *, seed: Any) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / f"from.{kind}", Path(folder) / f"into.{kind}"
            if kind == "parquet":
                pq.write_table(_as_frame("dictionary", values, labels), source)
            else:
                _as_frame("strings", values, labels).to_csv(source, index=False)
            before = source.read_bytes()
            randomize_file(
                source, target, "own", CHANNELS[channel], labels=labels, missing=missing, seed=seed
            )
            files = {
                path.name: path.read_bytes() for path in sorted(Path(folder).iterdir()) if path != source
            }
            assert source.read_bytes() == before
            return files

    def make(noise: str, seed: Any) -> Any:
        return functools.partial(released, seed=None if noise == "secure" else int(seed or 0))

    def numbers(files: dict[str, bytes]) -> list[float]:
        text = files[f"into.{kind}"]
        if kind == "parquet":
            reports = pq.read_table(pa.BufferReader(text))["own"].to_pylist()
            sets = [one if isinstance(one, list) else [one] for one in reports]
        else:
            import csv

            rows = list(csv.reader(text.decode().splitlines()))[1:]
            sets = [row[1].split("|") for row in rows]
        return [float(sum(1 << _place(label, labels) for label in one)) for one in sets]

    return _case(f"file, {kind}, {channel}{_said(missing)}", (randomize_file, drawing), make, numbers)


CASES = [
    *(_channel(kind) for kind in CHANNELS),
    *(_frame(form, "response") for form in ("strings", "categories", "numbers", "arrow", "dictionary")),
    _frame("strings", "subsets"),
    _frame("arrow", "subsets"),
    *(_file(kind, channel) for kind in ("csv", "parquet") for channel in ("response", "subsets")),
    *(
        _frame(form, "response", "label")
        for form in ("strings", "categories", "numbers", "arrow", "dictionary")
    ),
    *(_file(kind, channel, "label") for kind in ("csv", "parquet") for channel in ("response", "subsets")),
]
