import sys
from pathlib import Path

import pytest

for folder in (".", "tools", "tests/accidents"):  # scripts in folders, not packages
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / folder))


@pytest.fixture(autouse=True)
def _plain_settings(monkeypatch):
    for name in ("DPFAIR_DASK", "DPFAIR_DATA", "DPFAIR_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DPFAIR_WORKERS", "1")
