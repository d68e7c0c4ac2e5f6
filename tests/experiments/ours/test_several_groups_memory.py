"""Memory of what makes several groups equal, on the rows of a data set."""

import pandas as pd
import pytest

from dpfair_lib.experiments.ours import several_groups_memory as memory
from dpfair_lib.experiments.ours import several_groups_summary as summary
from dpfair_lib.experiments.ours.several_groups_data import GROUPS
from dpfair_lib.experiments.ours.several_groups_methods import ERRORS, GRADIENT, OPTIMIZER

SMALL = "lsac"


@pytest.fixture
def stand_in(monkeypatch):
    """Let the tasks take a stand-in of few rows, in this process: another one would load the data."""
    from dpfair_lib.datasets import synthetic

    monkeypatch.setattr(memory, "dataset_of", lambda name: synthetic(name, n=900, random_state=0))


def test_each_method_and_notion_is_measured_on_each_split():
    listed = memory.experiment("several-groups-memory-lsac", data=SMALL)
    assert memory.EXPERIMENTS.keys() == {f"several-groups-memory-{name}" for name in GROUPS}
    found = {(task["split"], task["notion"], task["method"]) for task in listed.tasks}
    assert len(found) == len(listed.tasks) == memory.SPLITS * len(memory.NOTIONS) * len(memory.FITS)
    assert set(memory.FITS) == {ERRORS, OPTIMIZER, GRADIENT}


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("method", memory.FITS)
def test_a_task_measures_its_method(monkeypatch, method):
    fitted = []
    keep = memory.FITS[method]
    monkeypatch.setitem(
        memory.FITS, method, lambda *given, **named: fitted.append(named) or keep(*given, **named)
    )
    row = memory.measure(data=SMALL, split=0, seed=0, notion="demographic_parity", method=method)
    assert fitted == [{"notion": "demographic_parity"}]
    assert row["mebibytes"] is None or 0 <= row["mebibytes"] < 1000
    assert {name: row[name] for name in ("split", "notion", "method")} == {
        "split": 0, "notion": "demographic_parity", "method": method,
    }  # fmt: skip


def test_the_table_has_median_and_largest_peak():
    rows = pd.DataFrame(
        {"split": split, "notion": notion, "method": method, "mebibytes": at * (1.0 + split)}
        for split in range(3)
        for notion in memory.NOTIONS
        for at, method in enumerate((ERRORS, OPTIMIZER, GRADIENT), start=1)
    )
    table = summary.memory(rows)
    assert table.index.tolist() == list(memory.NOTIONS)
    assert table[ERRORS].tolist() == [(2.0, 3.0)] * len(memory.NOTIONS)
    assert table[GRADIENT].tolist() == [(6.0, 9.0)] * len(memory.NOTIONS)
