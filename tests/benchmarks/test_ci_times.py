import json
import re
from pathlib import Path

import pytest

from benchmarks import ci_times

ROOT = Path(__file__).resolve().parents[2]


def test_the_record_has_the_parts_in_order_and_what_they_ran_on(tmp_path, capsys):
    file = tmp_path / "new" / "times.json"
    assert ci_times.main([str(file), "lint=20", "book=300", "a=b=4"]) == 0
    record = json.loads(file.read_text())
    assert list(record["seconds"].items()) == [("lint", 20), ("book", 300), ("a=b", 4)]
    assert record["limit"] == 2400
    assert record["machine"]["cores"] >= 1
    assert record["commit"]
    assert "all parts took 324 s, at most 2400 s" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["lint", "lint=", "=20", "lint=-3", "lint=2.5"])
def test_what_is_no_part_is_named_and_nothing_is_written(tmp_path, text, capsys):
    with pytest.raises(SystemExit):
        ci_times.main([str(tmp_path / "times.json"), text])
    assert f"found {text!r}, expected a part" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_the_page_says_what_each_part_of_the_run_is():
    parts = re.search(r"^parts=\((.*)\)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)[1].split()
    makefile = (ROOT / "Makefile").read_text()
    page = (ROOT / "notebooks" / "ci-times.md").read_text()
    for name in parts:
        assert re.search(
            rf"^{re.escape(name.replace('.venv/.ready', '$(READY)'))}:", makefile, re.MULTILINE
        ), name
        assert f'"{name}":' in page, f"notebooks/ci-times.md does not say what {name} is"
    test = re.search(r"^test: (.*?) *##", makefile, re.MULTILINE)[1].split()
    assert set(test) < set(parts)
