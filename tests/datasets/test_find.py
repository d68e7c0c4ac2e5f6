"""Downloads from a local publisher: verified first, kept afterwards, never the other way round."""

import hashlib
import shutil
from dataclasses import replace

import pytest

from dpfair_lib import _progress
from dpfair_lib.datasets import DataError
from dpfair_lib.datasets.find import default_cache, fetch, find
from dpfair_lib.datasets.loading import load_spec


def _files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if folder.exists() else []


def _with_file_pins(tiny_pins, parts):
    return replace(tiny_pins, files={n: hashlib.sha256(c.encode()).hexdigest() for n, c in parts.items()})


def test_download_is_verified_and_cached(tiny, tiny_pins, parts, publisher, cache):
    publisher.files = parts
    pinned = _with_file_pins(tiny_pins, parts)
    assert load_spec(tiny(publisher.base), pinned).card.source == "download"
    assert publisher.asked == ["first.csv", "second.csv"]
    assert _files_in(cache) == ["tiny", "tiny/first.csv", "tiny/second.csv"]
    assert load_spec(tiny(publisher.base), pinned).card.source == "cache"
    assert len(publisher.asked) == 2


@pytest.mark.parametrize("length", ["told", "not told"])
def test_the_bytes_of_a_download_are_counted(length, tiny, tiny_pins, parts, publisher, capsys, monkeypatch):
    parts["first.csv"] += "\n" * 3000  # several pieces of 1,024 bytes, the last one shorter
    publisher.files, publisher.lengths = parts, length == "told"
    for name in ("AFTER", "EVERY"):
        monkeypatch.setattr(_progress, name, -1.0)
    load_spec(tiny(publisher.base), tiny_pins)
    assert capsys.readouterr().err == ""
    shutil.rmtree(default_cache())
    with _progress.shown(True):
        load_spec(tiny(publisher.base), tiny_pins)
    said = capsys.readouterr().err.splitlines()
    sizes = [len(parts[name]) for name in ("first.csv", "second.csv")]
    if length == "told":
        assert said[0] == f"1,024 of {sizes[0]:,} bytes of first.csv"
        pieces = [f"{size:,} of {size:,} bytes of {name}" for size, name in zip(sizes, parts, strict=True)]
    else:
        assert said[0] == "1,024 bytes of first.csv"
        pieces = [
            f"{-(-size // 1024) * 1024:,} bytes of {name}" for size, name in zip(sizes, parts, strict=True)
        ]
    assert set(pieces) < set(said)
    assert said[-1] == "2 of 2 files of tiny"


def test_download_without_known_file_checksum_is_held_against_the_table(tiny, tiny_pins, parts, publisher):
    publisher.files = parts
    assert load_spec(tiny(publisher.base), tiny_pins).card.checksum == tiny_pins.table


def test_nothing_is_asked_when_files_are_there_or_download_is_off(
    tiny, tiny_pins, parts, publisher, put, tmp_path
):
    publisher.files = parts
    load_spec(tiny(publisher.base), tiny_pins, root=put(tmp_path / "in", parts))
    with pytest.raises(FileNotFoundError):
        load_spec(tiny(publisher.base), tiny_pins, download=False)
    assert publisher.asked == []


def test_unknown_sensitive_column_asks_nothing(tiny, tiny_pins, publisher):
    with pytest.raises(ValueError, match="sensitive"):
        load_spec(tiny(publisher.base), tiny_pins, sensitive="height")
    assert publisher.asked == []


@pytest.mark.parametrize("pin_files", [False, True])
@pytest.mark.parametrize(
    "second",
    ["<html>sorry</html>", "", "age,score,sex,town,code,outcome\n25,3.0,f,Down,1,1\n36,7.5,m,Down,1,1\n"],
    ids=["web page", "empty", "a changed label"],
)
def test_unverified_download_leaves_no_trace(second, pin_files, tiny, tiny_pins, parts, publisher, cache):
    publisher.files = parts | {"second.csv": second}
    pinned = _with_file_pins(tiny_pins, parts) if pin_files else tiny_pins
    with pytest.raises(DataError, match=r"second\.csv"):
        load_spec(tiny(publisher.base), pinned)
    assert _files_in(cache) == []


def test_file_checksum_is_checked_even_where_the_table_is_equal(tiny, tiny_pins, parts, publisher, cache):
    publisher.files = parts | {"first.csv": parts["first.csv"] + "\n"}
    load_spec(tiny(publisher.base), tiny_pins, cache=cache / "other")
    with pytest.raises(DataError, match=r"with SHA-256 .* bytes with SHA-256 .*; nothing was kept"):
        load_spec(tiny(publisher.base), _with_file_pins(tiny_pins, parts))
    assert _files_in(cache / "tiny") == []


def test_missing_at_the_publisher(tiny, tiny_pins, parts, publisher, cache):
    publisher.files = {"first.csv": parts["first.csv"]}
    with pytest.raises(
        FileNotFoundError, match=r"Downloading failed \(404 .*second\.csv.*Get first\.csv from"
    ):
        load_spec(tiny(publisher.base), tiny_pins)
    assert _files_in(cache) == []


def test_broken_off_download(tiny, tiny_pins, parts, publisher, cache):
    publisher.files, publisher.broken = parts, {"first.csv"}
    with pytest.raises(FileNotFoundError, match="Downloading failed"):
        load_spec(tiny(publisher.base), tiny_pins)
    assert _files_in(cache) == []


def test_unreachable_publisher(tiny, tiny_pins, publisher, cache):
    base = publisher.base
    publisher.server.server_close()  # the port is free again, and nobody listens
    with pytest.raises(FileNotFoundError, match=r"Downloading failed .*DPFAIR_DATA names \(not set\)"):
        load_spec(tiny(base), tiny_pins)
    assert _files_in(cache) == []


def test_publisher_without_direct_download(tiny, tiny_pins):
    spec = tiny()
    by_hand = tuple(replace(file, url=None) for file in spec.layouts[0])
    with pytest.raises(
        FileNotFoundError, match=r"no direct download of first\.csv.*from http://127.0.0.1:9/"
    ):
        load_spec(replace(spec, layouts=(by_hand,)), tiny_pins)


def test_folder_of_that_name_keeps_what_else_is_in_it(tiny, tiny_pins, parts, publisher, put, cache):
    put(cache / "tiny", {"notes.txt": "mine"})
    publisher.files = parts
    assert load_spec(tiny(publisher.base), tiny_pins).card.source == "download"
    assert _files_in(cache / "tiny") == ["first.csv", "notes.txt", "second.csv"]


def test_two_downloads_at_once_leave_one_good_copy(tiny, tiny_pins, parts, publisher, cache):
    publisher.files = parts
    fetch(tiny(publisher.base), tiny_pins, cache=cache)
    _, found = fetch(tiny(publisher.base), tiny_pins, cache=cache)
    assert found.folder == cache / "tiny"
    assert load_spec(tiny(publisher.base), tiny_pins).card.source == "cache"


def test_default_cache_is_the_users(cache):
    assert default_cache() == cache


def test_places_are_tried_in_order(tiny, tiny_pins, parts, put, tmp_path, cache, monkeypatch):
    mine, shared = tmp_path / "mine", tmp_path / "shared"
    shared.mkdir()
    mine.mkdir()
    monkeypatch.setenv("DPFAIR_DATA", str(shared))

    def source():
        return load_spec(tiny(), tiny_pins, root=mine, download=False).card.source

    put(cache / "tiny", parts)
    assert source() == "cache"
    put(shared / "tiny", parts)
    assert source() == "$DPFAIR_DATA"
    put(mine, parts)
    assert source() == "root"
    assert find(tiny(), root=mine).folder == mine
    put(mine / "tiny", parts)
    assert find(tiny(), root=mine).folder == mine / "tiny"


def test_environment_folder_itself_is_not_searched(tiny, tiny_pins, parts, put, tmp_path, monkeypatch):
    monkeypatch.setenv("DPFAIR_DATA", str(put(tmp_path / "flat", parts)))
    with pytest.raises(FileNotFoundError, match=r"found no first\.csv"):
        load_spec(tiny(), tiny_pins, download=False)
