"""A table with columns of many types, what randomises it, and the command that does."""

from decimal import Decimal

import numpy as np
import pyarrow as pa

from dpfair_lib.__main__ import main
from dpfair_lib.local import generalized_randomized_response

LABELS = ["Black", "Other", "White, not Hispanic"]
GRR = generalized_randomized_response(3, 1.0)


def a_table(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    race = rng.integers(0, 3, n)
    names = [["a", "", None, 'say "b"', "é, ü"][i] for i in rng.integers(0, 5, n)]
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), metadata={"unit": "person"}), pa.field("race", pa.string(), nullable=False),
            pa.field("zip", pa.string()), pa.field("name", pa.large_string()),
            pa.field("income", pa.float64()), pa.field("born", pa.timestamp("us", "Europe/Vienna")),
            pa.field("sex", pa.dictionary(pa.int8(), pa.string())), pa.field("sure", pa.bool_()),
            pa.field("visits", pa.list_(pa.int32())), pa.field("price", pa.decimal128(9, 2)),
        ],
        metadata={"made": "for a test"},
    )  # fmt: skip
    columns = [
        pa.array(np.arange(n)), pa.array(np.array(LABELS)[race]), pa.array([f"{i % 100:05d}" for i in range(n)]),
        pa.array(names, pa.large_string()), pa.array(rng.normal(size=n), mask=rng.random(n) < 0.1),
        pa.array(rng.integers(0, 2**48, n)).cast(pa.timestamp("us", "Europe/Vienna")),
        pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 2, n).astype(np.int8)), pa.array(["F", "M"])),
        pa.array(rng.random(n) < 0.5, mask=rng.random(n) < 0.1), pa.array([[1, None]] * n, pa.list_(pa.int32())),
        pa.array([Decimal(int(cents)) / 4 for cents in rng.integers(0, 999, n)], pa.decimal128(9, 2)),
    ]  # fmt: skip
    return pa.table(columns, schema=schema)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def run(*arguments):
    return main(["randomize", *map(str, arguments)])
