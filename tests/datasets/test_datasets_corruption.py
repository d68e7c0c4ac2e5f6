"""Damaged files of every container: each gives the table or the library's error that names the file.

``python tests/datasets/test_datasets_corruption.py 3000`` tries as many of each and counts what came.
"""

import gzip
import io
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from workbooks import biff2, sheet

from dpfair_lib.datasets import acs_income, celeba, credit
from dpfair_lib.datasets.canonical_table import canonical, read_csv
from dpfair_lib.datasets.spec import File
from dpfair_lib.local import generalized_randomized_response
from dpfair_lib.local.files import randomize_file

ROWS, FEW = 40, 100
_rng = np.random.default_rng(0)
NUMBERS = pd.DataFrame({name: _rng.integers(0, 99, ROWS) for name in acs_income.COLUMNS})
MARKS = pd.DataFrame({name: _rng.choice([-1, 1], ROWS) for name in celeba.COLUMNS}).assign(
    filename=[f"{at:06}.jpg" for at in range(ROWS)]
)
BILLS = pd.DataFrame({name: _rng.integers(0, 9_999, ROWS) for name in credit.COLUMNS})
PEOPLE = pd.DataFrame({
    "id": np.arange(ROWS), "race": _rng.choice(["a", "b", "c"], ROWS), "weight": _rng.normal(size=ROWS),
    "job": _rng.choice(["cook", "clerk"], ROWS),
})  # fmt: skip


def zipped(name, text, method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(name, text)
    return file.getvalue()


def parquet(**options):
    file = io.BytesIO()
    PEOPLE.to_parquet(file, **options)
    return file.getvalue()


def table_of(spec, read, path):
    canonical(read(path), spec, File(path.name, ROWS, read), path)


def randomised(path):
    target = path.with_name(f"out{path.suffix}")
    randomize_file(
        path, target, "race", generalized_randomized_response(3, 1.0), labels=["a", "b", "c"], overwrite=True
    )


def acs(path):
    acs_income.read_state(path, state=1)


def bills(path):
    table_of(credit.SPEC, read_csv, path)


STATES = NUMBERS.assign(ST=1, PWGTP=1, AGEP=30, PINCP=NUMBERS["PINCP"] + 200, WKHP=40).to_csv(index=False)
FORMS = {
    "zip, deflated": (
        "celeba.csv.zip", zipped("celeba.csv", MARKS.to_csv(index=False), zipfile.ZIP_DEFLATED),
        lambda path: table_of(celeba.SPEC, read_csv, path),
    ),
    "zip, stored": ("csv_pal.zip", zipped("psam_p01.csv", STATES, zipfile.ZIP_STORED), acs),
    "zip, LZMA": ("csv_pal.zip", zipped("psam_p01.csv", STATES, zipfile.ZIP_LZMA), acs),
    "gzip": ("psam_p01.csv.gz", gzip.compress(STATES.encode(), mtime=0), acs),
    "text": ("credit-card-clients.csv", BILLS.to_csv(index=False).encode(), bills),
    "text, a state": ("psam_p01.csv", STATES.encode(), acs),
    "workbook": (
        "credit.xls", biff2(sheet(BILLS)),
        lambda path: table_of(credit.SPEC, credit.read_workbook, path),
    ),
    "Parquet, snappy": ("people.parquet", parquet(), randomised),
    "Parquet, plain": ("people.parquet", parquet(compression=None, use_dictionary=False), randomised),
    "Parquet, gzip": ("people.parquet", parquet(compression="gzip"), randomised),
    "CSV to be randomised": ("people.csv", PEOPLE.to_csv(index=False).encode(), randomised),
}  # fmt: skip


def corrupted(content, rng):
    """Return the content with bits flipped, cut off, with a run of other bytes, or with a piece left out or doubled."""
    data, kind = bytearray(content), rng.integers(5)
    at, length = int(rng.integers(len(data))), int(rng.integers(1, 20))
    if kind == 0:
        for place in rng.integers(len(data), size=int(rng.integers(1, 4))):
            data[place] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        run = rng.bytes(length) if rng.random() < 0.5 else bytes([rng.choice([0, 255, 32])]) * length
        data[at : at + length] = run
    elif kind == 3:
        del data[at : at + length]
    else:
        data[at:at] = data[at : at + length]
    return bytes(data)


def attempt(form, folder, rng):
    """Return what came of one corruption: "read", "refused", or the error or warning that should not have come."""
    name, content, read = FORMS[form]
    path = folder / name
    path.write_bytes(corrupted(content, rng))
    for left in folder.glob(f"{name}.*.json"):
        left.unlink()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(path)
    except (ValueError, OSError) as error:
        own = type(error).__module__.startswith(("builtins", "dpfair_lib"))
        told = name in str(error) and ("found" in str(error) or "no such" in str(error))
        labels = str(error).startswith("race: found ")  # a value, with its row: not the file, what it holds
        return "refused" if own and (told or labels) else f"{type(error).__name__}: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "read"


@pytest.mark.parametrize("form", FORMS)
def test_the_whole_file_is_read(form, tmp_path):
    name, content, read = FORMS[form]
    (tmp_path / name).write_bytes(content)
    if read is acs:
        assert len(acs_income.read_state(tmp_path / name, state=1)) > 10
    else:
        read(tmp_path / name)


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_file_is_read_or_refused_by_name(form, tmp_path):
    rng = np.random.default_rng(list(form.encode()))
    found = Counter(attempt(form, tmp_path, rng) for _ in range(FEW))
    assert set(found) <= {"read", "refused"}
    assert found["refused"] > FEW / 20


def main():
    for form in FORMS:
        rng = np.random.default_rng(1)
        with tempfile.TemporaryDirectory() as folder:
            found = Counter(attempt(form, Path(folder), rng)[:110] for _ in range(int(sys.argv[1])))
        kinds = Counter()
        for what, times in found.items():
            kinds[what.split(":")[0]] += times
        sys.stdout.write(f"{form}: {dict(kinds)}\n")
        for what, times in Counter({k: v for k, v in found.items() if ":" in k}).most_common(6):
            sys.stdout.write(f"    {times:5d} {what!r}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
