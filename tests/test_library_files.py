import os

import pytest

from dpfair_lib._files import whole_file, write_whole


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("content", "written"), [("π\n", "π\n".encode()), (b"\x00\r\n", b"\x00\r\n")])
def test_text_and_bytes_are_written_as_given_into_a_folder_that_is_made(tmp_path, content, written):
    path = tmp_path / "new" / "file"
    write_whole(path, content)
    assert path.read_bytes() == written
    assert names_in(path.parent) == ["file"]


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_half():
        with whole_file(path) as partial:
            partial.write_text("half")
            assert path.read_text() == "old"
            raise RuntimeError("ended")

    with pytest.raises(RuntimeError, match="ended"):
        write_half()
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["file"]


def test_a_second_writer_that_does_not_wait_is_refused(tmp_path):
    path = tmp_path / "file"
    with whole_file(path) as partial:
        partial.write_text("first")
        with pytest.raises(BlockingIOError, match="file is being written"), whole_file(path, wait=False):
            pass
    assert path.read_text() == "first"


def test_a_copy_is_readable_for_no_one_who_may_not_read_the_original(tmp_path):
    original, path = tmp_path / "original", tmp_path / "copy"
    original.write_text("")
    original.chmod(0o640)
    before = os.umask(0o022)
    try:
        with whole_file(path, like=original) as partial:
            assert partial.stat().st_mode & 0o777 == 0o600
            partial.write_text("rows")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_a_process_left_that_was_cut_off_is_removed_and_reported(tmp_path):
    path, left = tmp_path / "file", []
    partial = tmp_path / ".file.partial"
    partial.write_text("half a file")
    with whole_file(path, left=left.append) as again:
        assert again.read_text() == ""
        again.write_text("whole")
    assert left == [partial]
    assert path.read_text() == "whole"


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as refused, whole_file(tmp_path / "none" / "file"):
        pass
    assert str(tmp_path / "none" / "file") in str(refused.value)
