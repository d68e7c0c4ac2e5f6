"""Downloads that are cut off, refused, tampered with, or made twice: the cache has the whole data set, or nothing."""

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dpfair_lib.__main__ import main
from dpfair_lib.datasets import DataError, find
from dpfair_lib.datasets.find import fetch
from dpfair_lib.datasets.loading import SPECS, load_spec

sys.path.insert(0, str(Path(__file__).parents[1] / "accidents"))
from accidents import full_disk, names_in, obey_modes, read_only

LEFT = """
import os, signal, sys
from pathlib import Path
from dpfair_lib._files import scratch_folder
with scratch_folder(Path(sys.argv[1]), "tiny") as folder:
    (folder / "first.csv").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def offline(monkeypatch):
    """Take the network away: no name is found."""

    def unknown(host, *_, **__):
        raise socket.gaierror(socket.EAI_AGAIN, f"Temporary failure in name resolution: {host}")

    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("name", SPECS)
def test_without_a_network_it_is_said_at_once_which_file_and_where_to_put_it(name, cache, capsys):
    began = time.monotonic()
    assert main(["data", "fetch", name]) == 1
    assert time.monotonic() - began < 30
    printed = capsys.readouterr()
    assert printed.out == ""
    first = SPECS[name].layouts[0][0]
    reason = "Temporary failure in name resolution" if first.url else f"no direct download of {first.name}"
    for told in (reason, str(cache / name), "DPFAIR_DATA names (not set)", first.url or SPECS[name].homepage):
        assert told in printed.err
    assert names_in(cache) == []


def test_whoever_does_not_answer_is_not_waited_for_long(tiny, tiny_pins, monkeypatch):
    asked = []
    monkeypatch.setattr("pooch.HTTPDownloader", lambda **options: asked.append(options) or (lambda *_: None))
    with pytest.raises(FileNotFoundError):
        load_spec(tiny(), tiny_pins)
    ((until_an_answer, without_a_piece),) = (options["timeout"] for options in asked)
    assert until_an_answer <= 10 < without_a_piece


def test_what_a_killed_download_left_is_removed_by_the_next(tiny, tiny_pins, parts, publisher, cache):
    cache.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", LEFT, cache], check=False)
    (left,) = cache.iterdir()
    assert names_in(cache) == [f"{left.name}/first.csv"]
    assert find.find(tiny(publisher.base)) is None, "a half is no data set"
    (cache / ".tiny-notes").mkdir()
    publisher.files = parts
    assert load_spec(tiny(publisher.base), tiny_pins).card.source == "download"
    assert sorted(path.name for path in cache.iterdir()) == [".tiny-notes", "tiny"]


def test_two_downloads_at_once_are_both_right_and_neither_removes_the_others(
    tiny, tiny_pins, parts, publisher, cache, monkeypatch
):
    publisher.files = parts
    begun, go = threading.Semaphore(0), threading.Event()
    download = find._download

    def together(*arguments):
        begun.release()
        go.wait(20)
        download(*arguments)

    monkeypatch.setattr(find, "_download", together)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(fetch(tiny(publisher.base), tiny_pins, cache=cache)[0]))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
        begun.acquire(timeout=20)
    assert len(list(cache.glob(".tiny-*"))) == 3
    go.set()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert all(table.equals(found[0]) for table in found)
    assert names_in(cache) == ["tiny/first.csv", "tiny/second.csv"]
    assert load_spec(tiny(publisher.base), tiny_pins).card.source == "cache"


def test_a_full_disk_keeps_nothing(tiny, tiny_pins, parts, publisher, cache):
    publisher.files = parts
    message = rf"Downloading failed \(\[Errno 27\] File too large.*put it into {cache / 'tiny'}"
    with full_disk(50), pytest.raises(FileNotFoundError, match=message):
        load_spec(tiny(publisher.base), tiny_pins)
    assert list(cache.iterdir()) == []


FETCH = "import sys; from dpfair_lib.__main__ import main; sys.exit(main(['data', 'fetch', 'adult']))"


def test_a_cache_that_may_not_be_written_is_named(cache):
    cache.mkdir(parents=True)
    with read_only(cache):
        done = subprocess.run(
            [sys.executable, "-c", FETCH], capture_output=True, text=True, preexec_fn=obey_modes
        )
    assert done.returncode == 1
    assert "The cache cannot be written ([Errno 13] Permission denied: " in done.stderr
    assert str(cache) in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("at", range(0, 120, 7))
def test_no_byte_of_a_cached_file_changes_unnoticed(tiny, tiny_pins, parts, put, cache, at):
    put(cache / "tiny", parts)
    path = cache / "tiny" / "first.csv"
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"tiny/(first|second)\.csv"):
        load_spec(tiny(), tiny_pins)
    assert path.read_bytes() == bytes(content), "the user's file is left to the user"


def test_the_clock_says_nothing_about_what_is_cached(tiny, tiny_pins, parts, put, cache):

    folder = put(cache / "tiny", parts)
    for path, when in zip(sorted(folder.iterdir()), (0, 2**33), strict=True):
        os.utime(path, (when, when))
    assert load_spec(tiny(), tiny_pins).card.checksum == tiny_pins.table
