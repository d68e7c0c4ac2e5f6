import json
import re
import subprocess
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


def parts_of_the_run():
    return re.search(r"^parts=\((.*)\)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)[1].split()


def test_the_page_says_what_each_part_of_the_run_is():
    parts = parts_of_the_run()
    makefile = (ROOT / "Makefile").read_text()
    page = (ROOT / "notebooks" / "ci-times.md").read_text()
    targets = [name for part in parts for name in part.split("+")]
    for name in targets:
        assert re.search(
            rf"^{re.escape(name.replace('.venv/.ready', '$(READY)'))}:", makefile, re.MULTILINE
        ), name
    for part in parts:
        assert f'"{part}":' in page, f"notebooks/ci-times.md does not say what {part} is"
    test = re.search(r"^test: (.*?) *##", makefile, re.MULTILINE)[1].split()
    assert set(test) < set(targets)


def shell(part, made, folder):
    """Run a part of `.ci/run` with a `make` of ours, given as shell code; return the status and what it printed."""
    function = re.search(r"^make_all\(\) \{\n.*?^\}$", (ROOT / ".ci/run").read_text(), re.M | re.S)[0]
    code = f"set -euo pipefail\nprinted={folder}\nmake() {{ {made}; }}\n{function}\nmake_all {part}\necho all passed"
    ran = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout.split("\n")[:-1]


def test_targets_of_a_part_run_side_by_side_and_what_they_print_does_not_mix(tmp_path):
    # each waits until all three have begun
    wait = f'until [ $(ls {tmp_path} | grep -c "^[xyz]$") = 3 ]; do sleep .01; done'
    made = f"touch {tmp_path}/$1; {wait}; echo $1; echo $1"
    (tmp_path / "out").mkdir()
    assert shell("x+y+z", made, tmp_path / "out") == (0, [*"zzxxyy", "all passed"])


@pytest.mark.parametrize("part", ["bad", "bad+x", "x+bad", "x+bad+y", "bad+x+y"])
def test_a_part_fails_with_any_of_its_targets(tmp_path, part):
    status, said = shell(part, 'echo "$1"; [ "$1" != bad ]', tmp_path)
    assert status != 0
    assert sorted(said) == sorted(part.split("+"))


def shown(record, monkeypatch):
    """Run the cells of the page with a record's path; return what is glued into the text, and the last table."""
    glued = {}
    monkeypatch.setattr("myst_nb.glue", lambda name, value, **_: glued.update({name: value}))
    page = (ROOT / "notebooks" / "ci-times.md").read_text(encoding="utf-8")
    default = '"../results/ci-times.json"'
    assert page.count(f"record = {default}") == 1
    page, names = page.replace(f"record = {default}", f"record = {str(record)!r}"), {}
    for cell in re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        code = "".join(line for line in cell.splitlines(keepends=True) if not line.startswith(":"))
        exec(compile(code, "ci-times.md", "exec"), names)
    return glued, names["table"]


def test_the_page_shows_a_record_and_does_without_one(tmp_path, monkeypatch):
    glued, table = shown(tmp_path / "none.json", monkeypatch)
    assert glued["ci_times_total"] == "no run is recorded yet"
    assert set(table["seconds"].dropna()) == set()

    file = tmp_path / "times.json"
    parts = parts_of_the_run()
    ci_times.main([str(file), *(f"{name}={10 + at}" for at, name in enumerate(parts))])
    glued, table = shown(file, monkeypatch)
    assert glued["ci_times_total"] == f"{sum(range(10, 10 + len(parts))) // 60} min " + (
        f"{sum(range(10, 10 + len(parts))) % 60} s"
    )
    assert glued["ci_times_longest"] == f"`{parts[-1]}`, {9 + len(parts)} s"
    assert list(table["seconds"]) == list(range(10, 10 + len(parts)))


def test_the_stored_page_shows_the_recorded_run_and_no_other():
    """Without a record it says so; a record has the parts that run today."""
    file = ROOT / "results" / "ci-times.json"
    cells = json.loads((ROOT / "notebooks" / "ci-times.ipynb").read_text(encoding="utf-8"))["cells"]
    stored = json.dumps([cell.get("outputs", []) for cell in cells])
    if not file.exists():
        assert "no run is recorded yet" in stored
        return
    record = json.loads(file.read_text(encoding="utf-8"))
    total = sum(record["seconds"].values())
    assert list(record["seconds"]) == parts_of_the_run()
    assert f"{total // 60} min {total % 60} s" in stored, "store the page: tools/execute.py --store ci-times"
