"""A column of a file randomised: ours beside a copy by pyarrow, which changes nothing, and pandas with our reports.

``python -m benchmarks.randomize 20000000 100000000`` makes Parquet files of so many rows, randomises each in a process
of its own, as the command line does it, and says how long that took and how much memory it had at most. Ten columns are
about 21 bytes a row in the file, and the copy is as large.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.timing import Check, Contender, check, target
from dpfair_lib import generalized_randomized_response, subset_selection
from dpfair_lib.local import randomize_file, randomize_frame
from dpfair_lib.local.releases import record_path

TITLE = "A file of ten columns, one of which is randomised (k = 5, ε = 1), secure randomness"
UNIT = "one whole file"
AXES = {"rows": (500_000, 2_000_000, 8_000_000)}
REHEARSAL = {"AXES": {"rows": (2_000,)}}
LABELS = ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"]
GRR = generalized_randomized_response(5, 1.0)
FASTEST, LARGEST = 5e6, 0.5  # what is asked for: rows a second, and gigabytes at any size
PIECE = 1 << 20


def table(first: int, n: int) -> pa.Table:
    """Return made-up people: integers of four kinds, floats of two, truth values, and two columns of text."""
    rng = np.random.default_rng(first)
    jobs = [f"occupation {i}" for i in range(14)]
    gain = np.where(rng.random(n) < 0.9, 0, rng.integers(0, 99_999, n))
    return pa.table({
        "id": np.arange(first, first + n), "age": rng.integers(17, 90, n).astype(np.int8),
        "race": pa.array(LABELS).take(pa.array(rng.integers(0, 5, n))),
        "occupation": pa.array(jobs).take(pa.array(rng.integers(0, 14, n))),
        "sex": rng.random(n) < 0.5, "hours": rng.integers(0, 99, n).astype(np.int32), "gain": gain,
        "weight": rng.normal(size=n), "score": rng.random(n, dtype=np.float32),
        "y": rng.integers(0, 2, n).astype(np.int8),
    })  # fmt: skip


def make(path: Path, rows: int) -> None:
    """Write such a file, in pieces."""
    first = table(0, min(rows, PIECE))
    csv = path.suffix == ".csv"
    with (pyarrow.csv.CSVWriter if csv else pq.ParquetWriter)(path, first.schema) as writer:
        writer.write_table(first)
        for start in range(PIECE, rows, PIECE):
            writer.write_table(table(start, min(PIECE, rows - start)))


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def contenders(rows: int) -> dict[str, Contender]:
    here = Path(folder().name)
    parquet, csv = here / f"{rows}.parquet", here / f"{rows}.csv"
    for path in (parquet, csv):
        if not path.exists():
            make(path, rows)
    sets = subset_selection(5, 1.0)

    def ours(source: Path, channel: Any = GRR) -> Contender:
        def run() -> None:
            record_path(source).unlink(missing_ok=True)  # the file is nobody's; no second report to warn of
            randomize_file(
                source, here / f"out{source.suffix}", "race", channel, labels=LABELS, overwrite=True
            )

        return Contender(run)

    def copied() -> None:
        pq.write_table(pq.read_table(parquet), here / "copy.parquet")

    def by_pandas() -> None:
        frame = pd.read_parquet(parquet)
        randomize_frame(frame, "race", GRR, labels=LABELS).to_parquet(here / "pandas.parquet")

    return {
        "Parquet, GRR": ours(parquet), "Parquet, SS": ours(parquet, sets), "CSV, GRR": ours(csv),
        "pyarrow: Parquet copied, nothing changed": Contender(copied),
        "pandas: Parquet, GRR, all in memory": Contender(by_pandas),
    }  # fmt: skip


def targets(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = AXES["rows"][-1]
    ours = next(row["median"] for row in found if row["value"] == rows)
    return [target("Parquet, GRR, 5 million rows a second: time allowed", ours, rows / FASTEST, 1)]


def checks() -> list[Check]:
    _, peak = alone(AXES["rows"][-1])
    return [check(f"peak memory at {AXES['rows'][-1]:,} rows of Parquet, in GB", peak, LARGEST)]


ALONE = """
import sys
from pathlib import Path
from dpfair_lib.__main__ import main
assert main(["randomize", *sys.argv[1:]]) == 0
# not ru_maxrss, which a child inherits from the process that started it
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def alone(rows: int) -> tuple[float, float]:
    """Return seconds and gigabytes of one process that randomises a file of so many rows, start and end included."""
    with tempfile.TemporaryDirectory() as here:
        source, out = Path(here, "in.parquet"), Path(here, "out.parquet")
        make(source, rows)
        options = ("--column", "race", "--epsilon", "1", "--labels", ",".join(LABELS))
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", ALONE, source, out, *options],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return time.perf_counter() - started, int(done.stdout.split()[-1]) * 1024 / 1e9


def main() -> None:
    """Say how long files of the sizes given take, and how much memory."""
    for rows in map(int, sys.argv[1:]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, peak = alone(rows)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        sys.stdout.write(
            f"{rows:,} rows: {seconds:.1f} s, {rows / seconds / 1e6:.2f} million rows a second, "
            f"{used:.1f} s of one core, at most {1e3 * peak:.0f} MB\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
