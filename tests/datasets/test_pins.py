import hashlib
from pathlib import Path

import pandas as pd
import pytest

from dpfair_lib.datasets import loading, pins

PUBLISHERS = {
    "compas": "https://raw.githubusercontent.com/propublica/",
    "adult-26k": "https://raw.githubusercontent.com/hharcolezi/",
    "lsac": "https://storage.googleapis.com/lawschool_dataset/",
    "celeba": "https://raw.githubusercontent.com/wearepal/",
}


def test_every_spec_has_pins_and_the_publishers_addresses():
    for name, spec in loading.SPECS.items():
        assert list(pins.pinned()[name].columns) == list(spec.columns)
        assert set(pins.pinned()[name].files) == {file.name for file in spec.layouts[0]}
        if not spec.unpinned:  # else the publisher's own files are not pinned, and what is has no address
            publisher = PUBLISHERS.get(name, "https://archive.ics.uci.edu/")
            assert all(file.url.startswith(publisher) for file in spec.layouts[0])
        assert all(sum(file.rows for file in layout) == pins.pinned()[name].rows for layout in spec.layouts)


def test_recorded_pins_are_what_render_writes():
    written = pins.render(pins.pinned())
    assert written == Path(pins.__file__).with_name("pins.toml").read_text(encoding="utf-8")


def test_digest_sees_order_type_and_neighbouring_values(tiny, table):
    digest = pins.measure(tiny(), table).table
    swapped = table.iloc[[1, 0, 2, 3, 4, 5]].reset_index(drop=True)
    assert pins.measure(tiny(), swapped).table != digest
    assert pins.measure(tiny(columns=tiny().columns | {"age": "float"}), table).table != digest
    assert pins.column_digest(pd.Series(["ab", "c"])) != pins.column_digest(pd.Series(["a", "bc"]))


@pytest.mark.parametrize("values", [
    [], ["a", "", "ab", "a"], [""], ["", ""], ["x" * 100, "y"], ["a\0b", "a", "a\0"], ["é", "e", "e\n"],
    [3, -12, 3, 10**18], [0.0, -0.0, 1.5, 1e300, 0.1 + 0.2], [float("nan"), 1.0],
], ids=repr)  # fmt: skip
def test_a_digest_is_that_of_the_values_as_lines_of_text(values):
    series = pd.Series(values, dtype="str" if not values or isinstance(values[0], str) else None)
    text = "\n".join(map(str, series.tolist()))
    assert pins.column_digest(series) == hashlib.sha256(text.encode()).hexdigest()
    assert pins.column_digest(series) != hashlib.sha256(f"{text}\n".encode()).hexdigest()
