"""``randomize`` that is killed, has no room, may not write, or is started twice: nothing half-made, nothing unsaid."""

import csv
import gzip
import json
import os
import shutil
import signal

import pandas as pd
import pytest
from accidents import full_disk, names_in, obey_modes, read_only, run, start, wait_until

from dpfair_lib.__main__ import main
from dpfair_lib.local import CutOffWarning, files, generalized_randomized_response, randomize_file
from dpfair_lib.local.releases import record_path, statement_path

GRR = generalized_randomized_response(2, 1.0)
# a busy machine takes longer than the two seconds after which progress is shown
CHANGED = ["--column", "race", "--epsilon", "1", "--labels", "Black,White", "--quiet"]
PARTIAL = ".out.{}.partial"
MANY = 3_000_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Give a file of each kind that takes a second or more, in which every value is the same."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("large")
    with (folder / "in.csv").open("w") as file:
        file.write("x,race\n" + "0123456789,Black\n" * MANY)
    table = pa.table({"x": range(MANY), "race": ["Black"] * MANY})
    pq.write_table(table, folder / "in.parquet", compression="none", row_group_size=100_000)
    yield folder
    shutil.rmtree(folder)


def source(folder, rows=2):
    path = folder / "in.csv"
    path.write_text("race\n" + "Black\nWhite\n" * (rows // 2))
    return path


HALTED = """
import os, signal, sys
from dpfair_lib.__main__ import main
from dpfair_lib.local import files_csv, files_parquet

def halting(rewrite):
    def rewritten(*arguments, progress, **options):
        halts = [signal.SIGSTOP]
        def halt_once(done, total):
            if 3 * done > total and halts:
                os.kill(os.getpid(), halts.pop())
            progress(done, total)
        rewrite(*arguments, progress=halt_once, **options)
    return rewritten

files_csv.rewrite, files_parquet.rewrite = halting(files_csv.rewrite), halting(files_parquet.rewrite)
sys.exit(main(sys.argv[1:]))
"""
"""The command, which halts itself when it has done a third: however busy the machine is, it is not done too early."""


def begun(large, folder, kind, suffix=""):
    """Start the command, and return when it has halted in the midst of its work."""
    target = folder / f"out.{kind}{suffix}"
    process = start("-c", HALTED, "randomize", large / f"in.{kind}", target, *CHANGED)
    halted = os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
    wait_until(lambda: os.waitid(os.P_PID, process.pid, halted) is not None)
    assert os.waitid(os.P_PID, process.pid, halted).si_code == os.CLD_STOPPED, process.communicate()
    return process, folder / PARTIAL.format(f"{kind}{suffix}")


def told(process, number):
    """Send a signal to a command that has halted, and let it go on."""
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_a_killed_run_left_is_its_owners_has_reports_only_and_is_named_and_removed(
    tmp_path, large, kind, capsys
):
    process, partial = begun(large, tmp_path, kind)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert names_in(tmp_path) == [partial.name], "nothing under the final name, and no statement"
    assert not record_path(large / f"in.{kind}").exists()
    assert partial.stat().st_mode & 0o777 == 0o600
    if kind == "csv":
        whole = partial.read_text().splitlines()[1:-1]
        told = sum(line.endswith(",White") for line in whole) / len(whole)
        assert 0.26 < told < 0.28, "reports: 1/(e + 1) of them are not the value"
    small = tmp_path / f"in.{kind}"
    frame = pd.DataFrame({"race": ["Black", "White"]})
    frame.to_csv(small, index=False) if kind == "csv" else frame.to_parquet(small)
    assert main(["randomize", str(small), str(tmp_path / f"out.{kind}"), *CHANGED]) == 0
    assert capsys.readouterr().err == f"warning: {partial}: removed; an interrupted run had left it\n"
    assert not partial.exists()
    assert {f"out.{kind}", f"out.{kind}.privacy.json"} <= set(names_in(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_told_to_end_removes_its_part_and_says_so(tmp_path, large, number):
    process, _ = begun(large, tmp_path, "csv")
    told(process, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert out == ""
    assert err == f"ended by {number.name}; the part of {tmp_path / 'out.csv'} that was written is removed\n"
    assert names_in(tmp_path) == []
    assert not record_path(large / "in.csv").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_run_that_compresses_is_ended(tmp_path, large, number, capsys):
    target = tmp_path / "out.csv.gz"
    process, partial = begun(large, tmp_path, "csv", ".gz")
    told(process, number)
    process.communicate(timeout=60)
    killed = number == signal.SIGKILL
    assert process.returncode == (-number if killed else 128 + number)
    assert names_in(tmp_path) == [partial.name] * killed
    assert main(["randomize", str(source(tmp_path)), str(target), *CHANGED]) == 0
    left = f"warning: {partial}: removed; an interrupted run had left it\n"
    assert capsys.readouterr().err == left * killed
    assert not partial.exists()
    assert len(gzip.decompress(target.read_bytes()).splitlines()) == 3


def test_a_run_that_was_killed_between_its_statement_and_its_file_is_named(tmp_path, capsys):
    statement_path(tmp_path / "out.csv").write_text("{}")
    assert main(["randomize", str(source(tmp_path)), str(tmp_path / "out.csv"), *CHANGED]) == 1
    said = capsys.readouterr().err
    assert "out.csv.privacy.json: exists already, and overwrite is not set" in said
    assert "its file is not there, so a run was interrupted at its very end" in said


def test_a_signal_that_is_ignored_stays_so(tmp_path):
    before, interrupt = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.getsignal(signal.SIGINT)
    try:
        assert main(["randomize", str(source(tmp_path)), str(tmp_path / "out.csv"), *CHANGED]) == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert signal.getsignal(signal.SIGINT) is interrupt  # put back


def test_two_runs_into_one_file(tmp_path, large):
    process, partial = begun(large, tmp_path, "csv")
    size = partial.stat().st_size
    status, out, err = run(
        "-m", "dpfair_lib", "randomize", source(tmp_path), tmp_path / "out.csv", *CHANGED, "--overwrite"
    )
    assert (status, out) == (4, "")
    assert f"out.csv is being written by process {process.pid} now; wait for it" in err
    assert partial.stat().st_size == size
    process.send_signal(signal.SIGCONT)
    assert "out.csv" in process.communicate(timeout=60)[0]
    record_path(large / "in.csv").unlink()
    assert process.returncode == 0
    with (tmp_path / "out.csv").open() as file:
        assert sum(1 for _ in file) == MANY + 1
    assert json.loads(statement_path(tmp_path / "out.csv").read_text())["file"] == "out.csv"


def reported(path):
    return json.loads(record_path(path).read_text())["columns"]


def test_two_runs_from_one_file_are_both_recorded(tmp_path, monkeypatch):
    """The second begins when the first has read the record, and before it adds to it."""
    path = tmp_path / "in.csv"
    path.write_text("race,sex\n" + "Black,f\nWhite,m\n" * 50)
    rewrite = files.files_csv.rewrite

    def meanwhile(column, labels):
        def rewritten(*arguments, **options):
            monkeypatch.setattr(files.files_csv, "rewrite", rewrite)
            randomize_file(path, tmp_path / "two.csv", column, GRR, labels=labels)
            return rewrite(*arguments, **options)

        monkeypatch.setattr(files.files_csv, "rewrite", rewritten)

    meanwhile("sex", ["f", "m"])
    randomize_file(path, tmp_path / "one.csv", "race", GRR, labels=["Black", "White"])
    assert {column: [line["into"] for line in lines] for column, lines in reported(path).items()} == {
        "race": ["one.csv"], "sex": ["two.csv"],
    }  # fmt: skip
    (tmp_path / "two.csv").unlink()
    statement_path(tmp_path / "two.csv").unlink()
    record_path(path).unlink()
    meanwhile("race", ["Black", "White"])
    # a statement that calls its reports the only ones would be false
    with pytest.raises(
        ValueError, match=r"race of in.csv was reported into two.csv in the meantime.*nothing was written"
    ):
        randomize_file(path, tmp_path / "three.csv", "race", GRR, labels=["Black", "White"])
    assert [line["into"] for line in reported(path)["race"]] == ["two.csv"]
    assert "three.csv" not in names_in(tmp_path)
    assert "three.csv.privacy.json" not in names_in(tmp_path)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_full_disk_leaves_what_was_there(tmp_path, large, kind, capsys):
    frame = pd.DataFrame({"race": ["Black", "White"]})
    small, target = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    frame.to_csv(small, index=False) if kind == "csv" else frame.to_parquet(small)
    assert main(["randomize", str(small), str(target), *CHANGED]) == 0
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    capsys.readouterr()
    with full_disk(1 << 20):
        status = main(["randomize", str(large / f"in.{kind}"), str(target), *CHANGED, "--overwrite"])
    printed = capsys.readouterr()
    assert (status, printed.out) == (1, "")
    assert "File too large" in printed.err
    assert f"not written, and as it was before: '{target}'" in printed.err
    assert {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)} == before
    assert not record_path(large / f"in.{kind}").exists()


@pytest.mark.parametrize("full", ["out.csv", "out.csv.privacy.json"])
def test_a_disk_that_is_full_at_the_end_leaves_what_was_there(tmp_path, monkeypatch, full):
    """Both files are on the disk before the one that was there is touched."""
    path, target = source(tmp_path), tmp_path / "out.csv"
    randomize_file(path, target, "race", GRR, labels=["Black", "White"])
    record_path(path).unlink()
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    sync = files.sync

    def refuse(written):
        if written.name == f".{full}.partial":
            raise OSError(28, "No space left on device")
        sync(written)

    monkeypatch.setattr(files, "sync", refuse)
    with pytest.raises(OSError, match=rf"No space left on device; not written.*{full}'"):
        randomize_file(path, target, "race", GRR, labels=["Black", "White"], overwrite=True)
    assert {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)} == before


def test_folders_that_may_not_be_written(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir(), outside.mkdir()
    path = source(inside)
    command = ["-m", "dpfair_lib", "randomize", path]
    with read_only(outside):
        status, _, err = run(*command, outside / "out.csv", *CHANGED, before=obey_modes)
    assert (status, names_in(tmp_path)) == (1, ["inside/in.csv"])
    assert (
        err == f"[Errno 13] Permission denied; not written, and as it was before: '{outside / 'out.csv'}'\n"
    )
    with read_only(inside):
        status, _, err = run(*command, outside / "out.csv", *CHANGED, before=obey_modes)
    assert (status, names_in(tmp_path)) == (
        0,
        ["inside/in.csv", "outside/out.csv", "outside/out.csv.privacy.json"],
    )
    assert err.startswith(f"warning: {record_path(path)}: could not be written ([Errno 13] Permission denied")
    assert "a second report of race of in.csv will not cause a warning" in err


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_who_may_not_read_the_source_may_not_read_the_target(tmp_path, mode):
    path = source(tmp_path)
    path.chmod(mode)
    randomize_file(path, tmp_path / "out.csv", "race", GRR, labels=["Black", "White"])
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in names_in(tmp_path)}
    assert modes == {
        "in.csv": mode, "in.csv.reports.json": mode, "out.csv": mode, "out.csv.privacy.json": 0o644,
    }  # fmt: skip


def test_a_file_of_the_callers_own_by_a_like_name_stays(tmp_path):
    path = source(tmp_path)
    (tmp_path / ".out.csv.mine.partial").write_text("mine")
    randomize_file(path, tmp_path / "out.csv", "race", GRR, labels=["Black", "White"])
    assert (tmp_path / ".out.csv.mine.partial").read_text() == "mine"
    (tmp_path / ".two.csv.partial").write_text("race\nBlack\n")
    (tmp_path / "in.csv.reports.json").unlink()
    with pytest.warns(CutOffWarning, match=r"\.two\.csv\.partial: removed; an interrupted run had left it"):
        randomize_file(path, tmp_path / "two.csv", "race", GRR, labels=["Black", "White"])
    with (tmp_path / "two.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 3
