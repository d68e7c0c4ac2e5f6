"""The one way to write a file: whole or as it was, by one process at a time, readable for whom the umask lets."""

import json
import re
import signal
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from accidents import full_disk, names_in, obey_modes, read_only, run, start, umask

from dpfair_lib import _files
from dpfair_lib._files import held, whole_file, write_whole
from dpfair_lib.claims import Evidence
from dpfair_lib.claims.stored_outcomes import Found, Place
from dpfair_lib.experiments.recorded_results import read_record, write_record
from dpfair_lib.experiments.resumable_runs import _write_part

OLD, NEW = "old\n" * 100, "new\n" * 100_000


def a_record(path, size=1):
    rows = pd.DataFrame({"at": range(size), "text": ["x" * 100] * size})
    write_record(path.stem, rows, parameters={}, data={}, folder=path.parent)


def a_part(path, size=1):
    _write_part(path, "key", "task", [{"text": "x" * 100 * size}])


def an_outcome(path, size=1):
    Place(path, "key").write(Found(Evidence(cases=1, slack=0, facts={"text": "x" * 100 * size}), {}, 1.0))


def a_file(path, size=1):
    write_whole(path, "x" * 100 * size)


def a_section(path, size=1):
    from benchmarks.recorded_timings import write_sections

    write_sections({"suite": {"title": "x" * 100 * size, "measured": False, "why": "none"}}, path)


WRITERS = [a_record, a_part, an_outcome, a_file, a_section]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_who_may_read_a_new_file_is_for_the_umask(tmp_path, write, mask, mode):
    path = tmp_path / "new.json"
    with umask(mask):
        write(path)
    assert path.stat().st_mode & 0o777 == mode
    assert names_in(tmp_path) == ["new.json"]


@pytest.mark.parametrize("write", WRITERS)
def test_a_full_disk_is_named_and_leaves_what_was_there(tmp_path, write):
    path = tmp_path / "file.json"
    write(path)
    before = path.read_bytes()
    with full_disk(4096), pytest.raises(OSError, match="File too large") as caught:
        write(path, 1000)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    assert names_in(tmp_path) == ["file.json"]
    with full_disk(10), pytest.raises(OSError, match="File too large"):
        write(tmp_path / "other.json", 1000)
    assert names_in(tmp_path) == ["file.json"]


def test_a_disk_that_is_full_only_when_it_is_asked_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, OLD)

    def refuse(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_files.os, "fsync", refuse)
    with pytest.raises(
        OSError, match=f"No space left on device; not written, and as it was before: '{path}'"
    ):
        write_whole(path, NEW)
    assert path.read_text() == OLD
    assert names_in(tmp_path) == ["file"]


def test_a_read_only_folder_is_named(tmp_path):
    path = tmp_path / "here" / "file"
    write_whole(path, OLD)
    code = "import sys; from pathlib import Path; from dpfair_lib._files import *; write_whole(Path(sys.argv[1]), 'x')"
    with read_only(path.parent):
        status, _, err = run("-c", code, path, before=obey_modes)
    assert status == 1
    assert err.splitlines()[-1] == (
        f"PermissionError: [Errno 13] Permission denied; not written, and as it was before: '{path}'"
    )
    assert path.read_text() == OLD
    assert run("-c", code, path, before=obey_modes)[0] == 0, "a folder that may be written"


KILLED = """
import os, signal, sys
from pathlib import Path
from dpfair_lib._files import whole_file, held
path = Path(sys.argv[1])
with held(path.with_name("work"), "the work is being done"), whole_file(path) as partial:
    partial.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_removed_by_the_next_and_never_read(tmp_path):
    path = tmp_path / "file"
    write_whole(path, OLD)
    assert run("-c", KILLED, path)[0] == -signal.SIGKILL
    assert names_in(tmp_path) == [".file.partial", "file", "work"]
    assert path.read_text() == OLD
    left = []
    with whole_file(path, wait=False, left=left.append) as partial:
        assert partial.read_bytes() == b""
        partial.write_text(NEW)
    assert left == [tmp_path / ".file.partial"]
    assert path.read_text() == NEW
    with held(tmp_path / "work", "the work is being done"):
        pass
    assert names_in(tmp_path) == ["file"]


def test_who_holds_it_is_said(tmp_path):
    held_by = "process [0-9]+" if _files.LOCKS.exists() else "another process"
    path = tmp_path / "file"
    with whole_file(path) as partial:
        partial.write_text(NEW)
        with (
            pytest.raises(BlockingIOError, match=f"file is being written by {held_by} now; wait for it"),
            whole_file(path, wait=False),
        ):
            pass
        assert partial.read_text() == NEW
    assert path.read_text() == NEW
    with (
        held(tmp_path / "work", "the work is being done"),
        pytest.raises(BlockingIOError, match="the work is being done"),
        held(tmp_path / "work", "the work is being done"),
    ):
        pass
    assert names_in(tmp_path) == ["file"]


def test_without_a_list_of_locks_it_is_another_process(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "LOCKS", tmp_path / "none")
    with (
        held(tmp_path / "work", "it is done"),
        pytest.raises(BlockingIOError, match="it is done by another process now"),
        held(tmp_path / "work", "it is done"),
    ):
        pass


def test_many_writers_take_turns(tmp_path):
    path = tmp_path / "file"
    texts = [str(number) * 10_000 for number in range(8)]
    write_whole(path, texts[0])
    with ThreadPoolExecutor(8) as pool:
        written = [pool.submit(write_whole, path, text) for text in texts * 5]
        while not all(one.done() for one in written):
            assert path.read_text() in texts
    assert [one.result() for one in written] == [None] * 40
    assert names_in(tmp_path) == ["file"]


COUNTED = """
import sys
from pathlib import Path
from dpfair_lib._files import whole_file
path = Path(sys.argv[1])
for _ in range(50):
    with whole_file(path) as partial:
        partial.write_text(str(int(path.read_text()) + 1))
"""


def test_what_is_read_while_the_file_is_owned_is_not_lost(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    counters = [start("-c", COUNTED, path) for _ in range(3)]
    assert [counter.communicate()[1] for counter in counters] == [""] * 3
    assert path.read_text() == "150"
    assert names_in(tmp_path) == ["count"]


def test_a_partial_file_is_its_owners_alone_where_its_readers_are_given(tmp_path):
    like, path = tmp_path / "like", tmp_path / "file"
    like.touch()
    for mode, mask, expected in ((0o600, 0o022, 0o600), (0o644, 0o022, 0o644), (0o666, 0o027, 0o640)):
        like.chmod(mode)
        with umask(mask), whole_file(path, like=like) as partial:
            assert partial.stat().st_mode & 0o777 == 0o600
        assert path.stat().st_mode & 0o777 == expected


def test_an_error_of_another_file_is_passed_on(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"No such file or directory: .*/none'"),
        whole_file(tmp_path / "file"),
    ):
        (tmp_path / "none").read_text()
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("damage", ["truncate", "flip"])
def test_no_damage_to_a_record_goes_unnoticed(tmp_path, damage):
    rows = pd.DataFrame({"at": [0, 1], "text": ["é", "b"], "rate": [0.25, 1e-7]})
    path = write_record("r", rows, parameters={"seed": 0}, data={"name": "none"}, folder=tmp_path)
    whole = path.read_bytes()
    content = json.loads(whole)
    noticed = 0
    for at in range(len(whole)):
        damaged = (
            whole[:at]
            if damage == "truncate"
            else whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :]
        )
        path.write_bytes(damaged)
        if _same(damaged, content):
            continue  # another way to write the same number
        with pytest.raises(ValueError, match=re.escape(str(path)) + '.*make record ONLY="r"'):
            read_record("r", folder=tmp_path)
        noticed += 1
    assert noticed >= len(whole) - 2
    path.write_bytes(whole)
    read_record("r", folder=tmp_path)
    assert names_in(tmp_path) == ["r.json"]


def _same(damaged, content):
    try:
        return json.loads(damaged) == content
    except ValueError:
        return False
